/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of a JSON text, one by one, however many: what is in lists, and in lists of
 * lists. Each is handed out as text that is safe to parse: no deeper than JSON_MAX_DEPTH,
 * no longer than JSON_MAX_ITEM. Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_ITEMS_H
#define BLK_EXPORT_JSON_ITEMS_H

#include <glib.h>
#include <stdbool.h>

#define JSON_MAX_DEPTH 32
#define JSON_MAX_LISTS 4		/* around the objects */
#define JSON_MAX_ITEM (4u << 20)	/* bytes */

struct json_items {
	const char *text;
	size_t len, at;
	unsigned lists;			/* that are open */
	const char *error;		/* why it ended before its end; NULL: it did not */
	bool comma;			/* the next one needs one before it; private */
};

void json_items_init(struct json_items *j, const char *text, size_t len);
/* The next object: borrowed, not terminated. False: there is none, see .error and .at. */
bool json_items_next(struct json_items *j, const char **ret_text, size_t *ret_len);

#endif
