/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions for all JSON exports. Private to src/export/.
 */
#ifndef BLK_EXPORT_JSON_H
#define BLK_EXPORT_JSON_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdint.h>

/* Appends the builder's finished root as text and frees the builder. The text is printable: control and format
 * characters become \uNNNN escapes. */
void json_append(GString *out, JsonBuilder *builder);

/* Appends the first character of the text, or its escape; no control character of ASCII. Returns what follows. */
const char *json_append_printable(GString *out, const char *text);

/* Add members to the object that is open in the builder. */
void json_add_int(JsonBuilder *b, const char *key, int64_t n);
void json_add_text(JsonBuilder *b, const char *key, const char *text);	/* any bytes; NULL: null */
void json_add_hex(JsonBuilder *b, const char *key, uint64_t id);
void json_add_null(JsonBuilder *b, const char *key);
/* Adds the text as the next value. */
void json_put_text(JsonBuilder *b, const char *text);

char *json_hex(uint64_t id);			/* 16 lower-case digits */
char *json_valid_text(const char *text);	/* valid UTF-8: invalid bytes become \xNN */

#endif
