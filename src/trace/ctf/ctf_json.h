/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scanner of JSON values (RFC 8259). The tokens point into the text, nothing is copied: 750 kB of kernel metadata
 * take a few milliseconds (with json-glib: 25). Inside src/trace/.
 *
 *     g_autoptr(GArray) tokens = json_tokens_new();
 *     struct json_problem why;
 *     if (!json_scan(text, n, tokens, &why)) ...
 *     const struct json_token *root = json_at(tokens, 0);
 *
 * The members of an object are the tokens after it: key, value, key, value ...; the elements of an array likewise. The
 * next member or element after token i is token json_at(i)->next.
 */
#ifndef BLK_TRACE_CTF_CTF_JSON_H
#define BLK_TRACE_CTF_CTF_JSON_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_TRUE, JSON_FALSE, JSON_NULL,
};

struct json_token {
	uint8_t kind;			/* enum json_kind */
	bool escaped;			/* string: has backslashes */
	uint32_t at, n;			/* range of the text, bytes; a string's without its quotes */
	uint32_t next;			/* index of the first token after it and its content */
	uint32_t count;			/* members of an object, elements of an array */
};

struct json_problem {
	const char *text;		/* a static text: "an unterminated string" */
	size_t at;			/* offset in the text, bytes */
};

GArray *json_tokens_new(void);		/* struct json_token */

static inline const struct json_token *json_at(const GArray *tokens, uint32_t i)
{
	g_assert(i < tokens->len);
	return &g_array_index(tokens, struct json_token, i);
}

/* Replaces the tokens with those of the value in text[0, n); n is at most LIMIT_FRAGMENT_BYTES. The text must be
 * valid UTF-8 and may have white space around the value. False: see *why. */
bool json_scan(const char *text, size_t n, GArray *tokens, struct json_problem *why);

/* Unescapes the token's string into `ret` (cleared first). It may contain NULs ("\u0000"). False: a lone
 * surrogate. */
bool json_string(const char *text, const struct json_token *t, GString *ret);

/* The sign and magnitude of the token's number. False: it is not an integer, or its magnitude has more than 64
 * bits. */
bool json_integer(const char *text, const struct json_token *t, bool *ret_negative, uint64_t *ret);

#endif
