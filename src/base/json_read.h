/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scanner of JSON values (RFC 8259): the only reader of JSON. Its limits are LIMIT_FRAGMENT_BYTES and
 * LIMIT_JSON_DEPTH. The tokens point into the text, nothing is copied: 750 kB of kernel metadata take a few
 * milliseconds.
 *
 *     g_autoptr(GArray) tokens = json_tokens_new();
 *     struct json_problem why;
 *     if (!json_scan(text, n, tokens, &why)) ...
 *     struct json_value root = { text, tokens, 0 };
 *     g_autofree char *name = json_text_member(root, "name");
 *
 * The members of an object are the tokens after it: key, value, key, value ...; the elements of an array likewise. The
 * next member or element after token i is token json_at(i)->next.
 */
#ifndef BLK_BASE_JSON_READ_H
#define BLK_BASE_JSON_READ_H

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
 * valid UTF-8 and may have white space around the value. False: see *why; the tokens are
 * those of what was read until then. */
bool json_scan(const char *text, size_t n, GArray *tokens, struct json_problem *why);
/* The tokens of a text that may be cut off, and is not valid or too long. */
void json_scan_beginning(const char *text, size_t n, GArray *tokens);

/* Unescapes the token's string into `ret` (cleared first). It may contain NULs ("\u0000"). False: a lone
 * surrogate. */
bool json_string(const char *text, const struct json_token *t, GString *ret);

/* The sign and magnitude of the token's number. False: it is not an integer, or its magnitude has more than 64
 * bits. */
bool json_integer(const char *text, const struct json_token *t, bool *ret_negative, uint64_t *ret);

/* ---- values by name ---- */

/* A value of a scanned text. Valid as long as its text and tokens. */
struct json_value {
	const char *text;
	const GArray *tokens;		/* NULL: there is no such value */
	uint32_t i;			/* its token */
};
#define JSON_NONE ((struct json_value){ 0 })

const struct json_token *json_token(struct json_value v);	/* NULL: there is no such value */
bool json_is(struct json_value v, enum json_kind kind);		/* false, if there is none */

/* The object's member of that name: of several the last one, as in other parsers. O(members). */
struct json_value json_member(struct json_value object, const char *name);
/* The next value of an object or list; *at is JSON_NONE before the first one. False: there are no more. */
bool json_next(struct json_value outer, struct json_value *at);
bool json_next_member(struct json_value object, struct json_value *key, struct json_value *at);

/* The text of a string (g_free), up to a NUL. NULL: it is not a string, or has half of a surrogate pair. */
char *json_text(struct json_value v);
char *json_text_member(struct json_value object, const char *name);
/* False: it is not such a number. */
bool json_int(struct json_value v, int64_t *ret);
bool json_real(struct json_value v, double *ret);	/* below 512 digits */

#endif
