/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON from json-glib that is safe for a terminal: strings of a trace must not become escape sequences, not even in
 * UTF-8.
 */
#include "export/json.h"

#include "base/text.h"

#include <string.h>

/* Only strings contain characters other than ASCII. */
static bool is_unprintable(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
		return true;
	default:
		return false;
	}
}

static void append_escaped(GString *out, gunichar c)
{
	if (c < 0x10000) {
		g_string_append_printf(out, "\\u%04x", c);
		return;
	}
	c -= 0x10000;
	g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

static void append_printable(GString *out, const char *text, gsize len)
{
	const char *end = text + len, *done = text;
	for (const char *p = text; p < end; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		if (c < 0x7f || !is_unprintable(c))
			continue;
		g_string_append_len(out, done, p - done);
		append_escaped(out, c);
		done = g_utf8_next_char(p);
	}
	g_string_append_len(out, done, end - done);
}

const char *json_append_printable(GString *out, const char *text)
{
	const char *next = g_utf8_next_char(text);
	append_printable(out, text, (gsize)(next - text));
	return next;
}

void json_append(GString *out, JsonBuilder *builder)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	JsonNode *root = json_builder_get_root(builder);
	gsize len;
	json_generator_set_root(generator, root);
	g_autofree char *text = json_generator_to_data(generator, &len);
	append_printable(out, text, len);
	json_node_unref(root);
	g_object_unref(builder);
}

char *json_valid_text(const char *text)
{
	return g_utf8_validate(text, -1, NULL) ? g_strdup(text) : text_visible(text);
}

char *json_hex(uint64_t id)
{
	return g_strdup_printf("%016" G_GINT64_MODIFIER "x", id);
}

void json_put_text(JsonBuilder *b, const char *text)
{
	g_autofree char *valid = json_valid_text(text);
	json_builder_add_string_value(b, valid);
}

void json_add_int(JsonBuilder *b, const char *key, int64_t n)
{
	json_builder_set_member_name(b, key);
	json_builder_add_int_value(b, n);
}

void json_add_text(JsonBuilder *b, const char *key, const char *text)
{
	json_builder_set_member_name(b, key);
	if (text)
		json_put_text(b, text);
	else
		json_builder_add_null_value(b);
}

void json_add_hex(JsonBuilder *b, const char *key, uint64_t id)
{
	g_autofree char *hex = json_hex(id);
	json_builder_set_member_name(b, key);
	json_builder_add_string_value(b, hex);
}

void json_add_null(JsonBuilder *b, const char *key)
{
	json_builder_set_member_name(b, key);
	json_builder_add_null_value(b);
}
