/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One JSON value (RFC 8259) as an array of tokens that point into its text: nothing is
 * copied, so that 750 kB of kernel metadata take a few milliseconds (json-glib: 25).
 * Inside src/trace/.
 *
 *     g_autoptr(GArray) tokens = json_tokens_new();
 *     struct json_problem why;
 *     if (!json_scan(text, n, tokens, &why)) ...
 *     const struct json_token *root = json_at(tokens, 0);
 *
 * The members of an object stand behind it: key, value, key, value ...; the elements of
 * an array likewise. The next member or element after token i is token json_at(i)->next.
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
	uint32_t at, n;			/* bytes of the text; of a string without its quotes */
	uint32_t next;			/* index of the token behind it and all that is in it */
	uint32_t count;			/* members of an object, elements of an array */
};

struct json_problem {
	const char *text;		/* static: "a string without end" */
	size_t at;			/* byte of the text */
};

GArray *json_tokens_new(void);		/* struct json_token */

static inline const struct json_token *json_at(const GArray *tokens, uint32_t i)
{
	return &g_array_index(tokens, struct json_token, i);
}

/* Replaces the tokens by those of the value in text[0, n), n up to LIMIT_FRAGMENT_BYTES, which
 * is valid UTF-8 with nothing but white space around the value. False: *why. */
bool json_scan(const char *text, size_t n, GArray *tokens, struct json_problem *why);

/*
 * The token's string, unescaped, to `ret` (cleared before). False: a lone surrogate. It
 * may hold NULs ("\u0000").
 */
bool json_string(const char *text, const struct json_token *t, GString *ret);

/* The token's number, an integer: its sign and magnitude. False: it has a fraction or an
 * exponent, or the magnitude has more than 64 bits. */
bool json_integer(const char *text, const struct json_token *t, bool *ret_negative, uint64_t *ret);

#endif
