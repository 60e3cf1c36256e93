/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes JSON as text: the only writer of JSON. Texts may be any bytes: those that are not valid UTF-8 become \xNN, and
 * what a terminal would not print (control and format characters, unassigned ones) becomes an escape, \uNNNN.
 *
 *     struct json_out w = { .out = text };
 *     json_open(&w, NULL, '{');
 *     json_put_int(&w, "pid", 7);
 *     json_close(&w, '}');
 *
 * The caller pairs brackets. Any depth is fine: the writer remembers nothing of the values around. `out` may be emptied
 * between two calls, after it was written to a file.
 */
#ifndef BLK_BASE_JSON_WRITE_H
#define BLK_BASE_JSON_WRITE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json_out {
	GString *out;			/* borrowed */
	bool follows;			/* a value stands before: the next one needs a comma */
	bool long_escapes;		/* \u000a instead of \n */
};

/* `key`: the name of a member, any bytes; NULL: a value of a list, or the outermost one. */
void json_open(struct json_out *w, const char *key, char bracket);
void json_close(struct json_out *w, char bracket);
void json_newline(struct json_out *w);			/* the next value begins a line */

void json_put_text(struct json_out *w, const char *key, const char *text);	/* NULL: null */
void json_put_text_len(struct json_out *w, const char *key, const char *text, size_t len);	/* ends at a NUL, too */
void json_put_int(struct json_out *w, const char *key, int64_t n);
void json_put_uint(struct json_out *w, const char *key, uint64_t n);
void json_put_known(struct json_out *w, const char *key, int64_t n, bool known);	/* not known: null */
void json_put_decimal(struct json_out *w, const char *key, int64_t n);	/* as a string */
void json_put_hex(struct json_out *w, const char *key, uint64_t id);	/* 16 digits, as a string */
void json_put_real(struct json_out *w, const char *key, double d);	/* all digits; infinite, not a number: null */
void json_put_bool(struct json_out *w, const char *key, bool is);
void json_put_null(struct json_out *w, const char *key);
void json_put_raw(struct json_out *w, const char *key, const char *value);	/* a value that is JSON already */

char *json_valid_text(const char *text);	/* valid UTF-8: invalid bytes become \xNN */

#endif
