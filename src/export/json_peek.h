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
	const char *text;		/* of a value, as written, with its quotes; into what was given */
	size_t n;			/* bytes; 0: there is no such member */
};

/* The last member of each key, as parsers have it. False: it is written so that only a parser can
 * tell (escapes in keys), or it is no object. */
bool json_peek(const char *text, size_t len, const char *const *keys, struct json_slice *ret, size_t n);

#endif
