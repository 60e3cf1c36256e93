/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds a few members of a JSON object without parsing the rest. Does not validate: only a parser does that.
 * Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_PEEK_H
#define BLK_EXPORT_JSON_PEEK_H

#include <glib.h>
#include <stdbool.h>

struct json_slice {
	const char *text;		/* the value as written, with quotes; points into the given text */
	size_t n;			/* bytes; 0: there is no such member */
};

/* Finds the last member of each key, like parsers do. False: keys contain escapes, which only a parser can compare,
 * or the text is not an object. */
bool json_peek(const char *text, size_t len, const char *const *keys, struct json_slice *ret, size_t n);

#endif
