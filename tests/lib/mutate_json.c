/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of JSON: values become others of the same text, limits, and words of the specification of CTF 2;
 * members, elements and fragments are taken away, doubled, moved.
 */
#include <string.h>

#include "lib/mutate.h"

struct token {
	uint32_t at, end;		/* of a value: to its closing bracket */
	char kind;			/* of { } [ ] : , RS, " (a string), 0 (a number or word) */
};

static const char *const values[] = {
	"0", "-0", "1", "-1", "2", "7", "8", "16", "31", "32", "63", "64", "65", "128", "255", "256", "1e3", "1e999",
	"1.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
	"18446744073709551616", "null", "true", "false", "{}", "[]", "[null]", "[[]]", "[[0,0]]", "[[5,1]]",
	"\"\"", "\"a\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\ud83d\\ude42\"",
#define WORD(w) "\"" w "\"",
#include "fuzz/metadata2-words.h"
};

static const char *const members[] = {
	"\"minimum-alignment\":8", "\"alignment\":64", "\"bit-order\":\"first-to-last\"",
	"\"bit-order\":\"last-to-first\"", "\"byte-order\":\"big-endian\"",
	"\"roles\":[\"default-clock-timestamp\"]", "\"roles\":[\"event-record-class-id\"]",
	"\"roles\":[\"packet-magic-number\"]", "\"mappings\":{\"a\":[[0,5],[3,9]]}", "\"encoding\":\"utf-16be\"",
	"\"selector-field-ranges\":[[0,3]]", "\"length\":8", "\"length-field-location\":{\"path\":[null,\"id\"]}",
	"\"extensions\":{\"a\":{\"b\":1}}", "\"attributes\":{}", "\"data-stream-class-id\":1", "\"id\":1",
};

static size_t token_end(const char *s, size_t at, size_t n)
{
	size_t end = at + 1;
	if (s[at] == '"') {
		while (end < n && s[end] != '"')
			end += s[end] == '\\' ? 2 : 1;
		return MIN(end + 1, n);
	}
	if (strchr("{}[]:,\x1e", s[at]))
		return end;
	while (end < n && !strchr("{}[]:,\"\x1e \t\r\n", s[end]))
		end++;
	return end;
}

static GArray *tokens_of(const char *s, size_t n)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(struct token));
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint));
	for (size_t at = 0; at < n;) {
		if (strchr(" \t\r\n", s[at]) && s[at]) {
			at++;
			continue;
		}
		struct token t = { .at = (uint32_t)at, .end = (uint32_t)token_end(s, at, n) };
		t.kind = s[at] && strchr("{}[]:,\"\x1e", s[at]) ? s[at] : 0;
		if (t.kind == '{' || t.kind == '[') {
			g_array_append_val(open, out->len);
		} else if ((t.kind == '}' || t.kind == ']') && open->len) {
			guint i = g_array_index(open, guint, open->len - 1);
			g_array_index(out, struct token, i).end = t.end;
			g_array_set_size(open, open->len - 1);
		}
		at = (t.kind == '{' || t.kind == '[') ? t.at + 1 : t.end;
		g_array_append_val(out, t);
	}
	return out;
}

static bool is_value(const struct token *t)
{
	return t->kind == 0 || t->kind == '"' || t->kind == '{' || t->kind == '[';
}

/* One of them that is a value; NULL: none was met. */
static const struct token *any_value(GRand *r, const GArray *t)
{
	for (int i = 0; t->len && i < 50; i++) {
		const struct token *v = &g_array_index(t, struct token, g_rand_int_range(r, 0, (gint32)t->len));
		if (is_value(v))
			return v;
	}
	return NULL;
}

static const char *any_text(GRand *r, const char *const *all, size_t n)
{
	return all[g_rand_int_range(r, 0, (gint32)n)];
}

static void splice(GString *s, size_t at, size_t end, const char *text, size_t n)
{
	g_autofree char *copy = g_strndup(text, n);
	g_string_erase(s, (gssize)at, (gssize)(end - at));
	g_string_insert_len(s, (gssize)at, copy, (gssize)n);
}

static void change_value(GRand *r, GString *s, const GArray *t)
{
	const struct token *v = any_value(r, t), *w = any_value(r, t);
	if (!v || !w)
		return;
	if (g_rand_boolean(r)) {
		const char *text = any_text(r, values, G_N_ELEMENTS(values));
		splice(s, v->at, v->end, text, strlen(text));
		return;
	}
	g_autofree char *text = g_strndup(s->str + w->at, w->end - w->at);
	splice(s, v->at, v->end, text, strlen(text));
}

/* A member or an element, up to the next comma: away, or twice; or a new one. */
static void change_member(GRand *r, GString *s, const GArray *t)
{
	guint first = t->len ? (guint)g_rand_int_range(r, 0, (gint32)t->len) : 0, last;
	int depth = 0;
	for (last = first; last < t->len; last++) {
		char kind = g_array_index(t, struct token, last).kind;
		depth += (kind == '{' || kind == '[') - (kind == '}' || kind == ']');
		if (depth < 0 || (!depth && kind == ','))
			break;
	}
	if (last >= t->len)
		return;
	size_t at = g_array_index(t, struct token, first).at, end = g_array_index(t, struct token, last).at;
	g_autofree char *text = g_strndup(s->str + at, end - at);
	g_autofree char *twice = g_strconcat(text, ",", text, NULL);
	g_autofree char *more = g_strconcat(any_text(r, members, G_N_ELEMENTS(members)), ",", text, NULL);
	switch (g_rand_int_range(r, 0, 3)) {
	case 0:
		splice(s, at, end + (g_array_index(t, struct token, last).kind == ','), "", 0);
		break;
	case 1:
		splice(s, at, end, twice, strlen(twice));
		break;
	default:
		splice(s, at, end, more, strlen(more));
	}
}

static void change_fragments(GRand *r, GString *s)
{
	g_auto(GStrv) parts = g_strsplit(s->str, "\x1e", -1);
	guint n = g_strv_length(parts);
	if (n < 2)
		return;
	guint i = (guint)g_rand_int_range(r, 0, (gint32)n), j = (guint)g_rand_int_range(r, 0, (gint32)n);
	int how = g_rand_int_range(r, 0, 3);
	char *part = parts[i];
	if (how == 0) {
		parts[i] = parts[j];
		parts[j] = part;
	}
	g_string_truncate(s, 0);
	for (guint k = 0; k < n; k++) {
		if (how == 1 && k == i)
			continue;
		if (how == 2 && k == j)
			g_string_append_printf(s, "%s\x1e", part);
		g_string_append_printf(s, "%s%s", parts[k], k + 1 < n ? "\x1e" : "");
	}
}

void mutate_json(GString *s, GRand *r)
{
	for (int i = g_rand_int_range(r, 1, 4); i > 0; i--) {
		g_autoptr(GArray) t = tokens_of(s->str, s->len);
		int what = g_rand_int_range(r, 0, 10);
		if (what < 5)
			change_value(r, s, t);
		else if (what < 8)
			change_member(r, s, t);
		else
			change_fragments(r, s);
	}
}
