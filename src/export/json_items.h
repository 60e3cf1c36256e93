/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splits a JSON text of any length into its objects, including those in lists and in lists of lists. Each object is
 * returned as text that is safe to parse: no deeper than LIMIT_SPAN_OBJECT_DEPTH, no longer than
 * LIMIT_SPAN_OBJECT_BYTES.
 *
 * A file is read in windows that hold one object at a time. Not thread safe. Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_ITEMS_H
#define BLK_EXPORT_JSON_ITEMS_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json_items {
	const char *error;		/* why reading failed; NULL: no error */
	/* private */
	const char *text;		/* the current window */
	size_t len, at;
	uint64_t passed;		/* bytes before the window */
	unsigned lists;			/* open lists around the position */
	bool comma;			/* the next object needs a comma before it */
	int fd;				/* -1: no file, or its end is reached */
	char *window;			/* buffer; NULL: .text is owned by the caller */
	size_t room;
};

/* Reads from the file's current position. The caller closes fd after json_items_clear(). */
void json_items_open(struct json_items *j, int fd);
void json_items_clear(struct json_items *j);
/* The next object, borrowed until the next call, not NUL-terminated. False: the end, or an error (.error). */
bool json_items_next(struct json_items *j, const char **ret_text, size_t *ret_len);
/* After an error in an object: what was read of it, borrowed, perhaps 0 bytes. It is not safe to parse. */
const char *json_items_failed(const struct json_items *j, size_t *ret_len);
/* Number of bytes consumed so far. */
uint64_t json_items_at(const struct json_items *j);

#endif
