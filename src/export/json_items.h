/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of a JSON text, one by one, however many: what is in lists, and in lists of
 * lists. Each is handed out as text that is safe to parse: no deeper than LIMIT_SPAN_OBJECT_DEPTH,
 * no longer than LIMIT_SPAN_OBJECT_BYTES. A file is read in windows, and held no further than the object
 * at hand. Not thread safe. Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_ITEMS_H
#define BLK_EXPORT_JSON_ITEMS_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json_items {
	const char *error;		/* why it ended before its end; NULL: it did not */
	/* private */
	const char *text;		/* the current window */
	size_t len, at;
	uint64_t passed;		/* bytes before the window */
	unsigned lists;			/* open lists around the position */
	bool comma;			/* the next one needs one before it */
	int fd;				/* -1: none, or nothing more comes */
	char *window;			/* NULL: the text is the caller's */
	size_t room;
};

/* Of the file, from where it stands; the caller closes it after json_items_clear(). */
void json_items_open(struct json_items *j, int fd);
void json_items_clear(struct json_items *j);
/* The next object: borrowed until the next call, not terminated. False: there is none; .error
 * says why, if it is not the end. */
bool json_items_next(struct json_items *j, const char **ret_text, size_t *ret_len);
/* Number of bytes consumed so far. */
uint64_t json_items_at(const struct json_items *j);

#endif
