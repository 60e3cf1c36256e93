/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CTF 2 metadata: any bytes behind a record separator. What is read is the same in pieces, cut
 * anywhere; what is refused says so in words that a terminal can bear.
 *
 * The mutator knows JSON: it exchanges values for others of the same text, for limits and for
 * words of the specification, and takes away, doubles and moves members and fragments; so that
 * most inputs get past the scanner.
 */
#include <string.h>

#include "lib/ctf_dump.h"
#include "lib/fuzz_metas.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Without the fuzzer there is none: replay.c. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

#define RS '\x1e'

/* ---- one input ---- */

static struct ctf_meta *parse(const uint8_t *bytes, size_t n, bool *ret_refused)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();
	*ret_refused = !ctf_meta_append(m, bytes, n, &error);
	if (!*ret_refused)
		return m;
	fuzz_check_error(error);
	ctf_meta_free(m);
	return NULL;
}

/* What the whole says, pieces say; or they wait for more. */
static void check_pieces(const uint8_t *bytes, size_t n, const struct ctf_meta *whole, size_t step)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	struct ctf_pieces *x = ctf_pieces_new(m);
	bool ok = true;
	for (size_t at = 0, size; ok && at < n; at += size) {
		size = MIN(step, n - at);
		g_autofree uint8_t *exact = g_memdup2(bytes + at, size);
		ok = ctf_pieces_append(x, exact, size, &error);
	}
	bool waits = ok && ctf_pieces_wait(x);
	ctf_pieces_free(x);
	if (!ok)
		fuzz_check_error(error);
	if (!whole) {
		g_assert_true(!ok || waits);
		return;
	}
	g_assert_no_error(error);
	g_assert_false(waits);
	g_autofree char *one = ctf_dump(whole), *two = ctf_dump(m);
	g_assert_cmpstr(one, ==, two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree uint8_t *exact = g_malloc(size + 1);
	bool refused;
	exact[0] = RS;
	memcpy(exact + 1, data, size);
	g_autoptr(blk_ctf_meta) m = parse(exact, size + 1, &refused);
	check_pieces(exact, size + 1, m, 1 + size / 3);
	if (size < 2000)
		check_pieces(exact, size + 1, m, 1);
	return 0;
}

/* ---- the mutator ---- */

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
#include "metadata2-words.h"
};

static const char *const members[] = {
	"\"minimum-alignment\":8", "\"alignment\":64", "\"bit-order\":\"first-to-last\"", "\"bit-order\":\"last-to-first\"",
	"\"byte-order\":\"big-endian\"", "\"roles\":[\"default-clock-timestamp\"]", "\"roles\":[\"event-record-class-id\"]",
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

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	if (!size || memchr(data, 0, size) || !g_rand_int_range(r, 0, 5))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
	g_autoptr(GString) s = g_string_new_len((char *)data, (gssize)size);
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
	size = MIN(s->len, max_size);
	memcpy(data, s->str, size);
	return size;
}
