/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes JSON text directly, for exports of many spans: a tree of json-glib's costs five times as much. The text is
 * the same: control and format characters become escapes, and any bytes may be given. Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_TEXT_H
#define BLK_EXPORT_JSON_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct json_text {
	GString *out;			/* borrowed */
	bool follows;			/* a value stands before: the next one needs a comma */
};

/* `key` NULL: a value of a list, or the outermost one. */
void json_text_open(struct json_text *t, const char *key, char bracket);
void json_text_close(struct json_text *t, char bracket);
void json_text_string(struct json_text *t, const char *key, const char *text);
void json_text_int(struct json_text *t, const char *key, int64_t n);
void json_text_true(struct json_text *t, const char *key);
void json_text_hex(struct json_text *t, const char *key, uint64_t id);		/* 16 digits, as a string */
void json_text_decimal(struct json_text *t, const char *key, int64_t n);	/* as a string */

#endif
