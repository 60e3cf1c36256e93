/* SPDX-License-Identifier: GPL-2.0-only */
/* The writer and the scanner of JSON: what is valid, what is refused, and that each reads what the other writes. */
#include "base/json_read.h"
#include "base/json_write.h"

#include <math.h>
#include <string.h>

static const char *problem_of(const char *text, size_t n)
{
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_problem why = { NULL, 0 };
	bool valid = json_scan(text, n, tokens, &why);
	g_assert_cmpint(valid, ==, !why.text);
	g_assert_cmpuint(why.at, <=, n);
	return why.text;
}

static void test_refused(void)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "", "a value is missing" }, { " \t\r\n", "a value is missing" }, { "[1,]", "not a JSON value" },
		{ "{\"a\":1,}", "a property name" }, { "{a:1}", "a property name" }, { "{'a':1}", "a property name" },
		{ "{\"a\" 1}", "no ':'" }, { "[1 2]", "no ','" }, { "1 2", "text after" }, { "[1]]", "text after" },
		{ "[1", "unterminated" }, { "{\"a\":1", "unterminated" }, { "\"x", "unterminated" },
		{ "\"x\\", "unterminated" }, { "\"\\q\"", "escape" }, { "\"\\u12g4\"", "escape" },
		{ "\"\\u12\"", "escape" }, { "\"tab\there\"", "control character" },
		{ "\"\x1f\"", "control character" },
		{ "01", "text after" }, { "-", "not a number" }, { "+1", "not a JSON value" },
		{ ".5", "not a JSON value" },
		{ "1.", "not a number" }, { "1e", "not a number" }, { "1e+", "not a number" },
		{ "0x1", "text after" },
		{ "NaN", "not a JSON value" }, { "Infinity", "not a JSON value" }, { "nul", "not a JSON value" },
		{ "True", "not a JSON value" }, { "/* */1", "not a JSON value" },
		{ "\xef\xbb\xbf" "1", "not a JSON value" },
		{ "\"\xff\"", "UTF-8" }, { "\"\xc0\xaf\"", "UTF-8" }, { "\"\xed\xa0\x80\"", "UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "UTF-8" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const char *why = problem_of(cases[i].text, strlen(cases[i].text));
		g_test_message("%s: %s", cases[i].text, why);
		g_assert_nonnull(why);
		g_assert_nonnull(strstr(why, cases[i].why));
	}
	g_assert_nonnull(problem_of("1\0", 2));
	g_assert_nonnull(problem_of("\"\0\"", 3));
}

/* The byte that is told is the first that does not belong there. */
static void test_where(void)
{
	static const struct { const char *text; size_t at; } cases[] = {
		{ "{a:1}", 1 }, { "{\"a\" 1}", 5 }, { "{\"a\":1,}", 7 }, { "[1 2]", 3 }, { "1 2", 2 }, { "{", 1 },
		{ "{\"a\"", 4 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GArray) tokens = json_tokens_new();
		struct json_problem why = { NULL, 0 };
		g_assert_false(json_scan(cases[i].text, strlen(cases[i].text), tokens, &why));
		g_test_message("%s: byte %zu: %s", cases[i].text, why.at, why.text);
		g_assert_cmpuint(why.at, ==, cases[i].at);
	}
}

/* Each beginning of a valid text is refused or valid, and nothing is read behind its end. */
static void test_beginnings(void)
{
	static const char text[] = "{\"a\":[1,-2.5e+3,true,false,null,\"\\ud83d\\ude00 \xc3\xa9\"],\"b\":{}}";
	for (size_t n = 0; n < sizeof text - 1; n++) {
		g_autofree char *cut = g_memdup2(text, n ? n : 1);
		g_autoptr(GArray) tokens = json_tokens_new();
		g_assert_nonnull(problem_of(cut, n));
		json_scan_beginning(cut, n, tokens);
		struct json_value root = { cut, tokens, 0 }, key, at = JSON_NONE;
		unsigned members = 0;
		while (json_next_member(root, &key, &at))
			members++;
		g_assert_cmpuint(members, <=, 2);
		g_assert_cmpint(json_is(json_member(root, "a"), JSON_ARRAY), ==, n > strlen("{\"a\":"));
	}
	g_assert_null(problem_of(text, sizeof text - 1));
}

static struct json_value scanned(const char *text, GArray *tokens)
{
	struct json_problem why;
	g_assert_true(json_scan(text, strlen(text), tokens, &why));
	return (struct json_value){ text, tokens, 0 };
}

static void test_members(void)
{
	static const char text[] =
		"{\"a\":1,\"b\":{\"a\":2},\"\\u0061\":3,\"\":4,\"c\":[5,[6],{\"d\":7}],\"e\\u0000f\":8}";
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_value o = scanned(text, tokens), at = JSON_NONE;
	int64_t n = 0;
	unsigned count = 0;
	g_assert_true(json_int(json_member(o, "a"), &n) && n == 3);	/* the last one */
	g_assert_true(json_int(json_member(o, ""), &n) && n == 4);
	g_assert_true(json_int(json_member(json_member(o, "b"), "a"), &n) && n == 2);
	g_assert_null(json_token(json_member(o, "d")));
	g_assert_null(json_token(json_member(o, "e")));
	g_assert_null(json_token(json_member(json_member(o, "a"), "a")));
	g_assert_null(json_token(json_member(JSON_NONE, "a")));
	while (json_next(json_member(o, "c"), &at))
		count++;
	g_assert_cmpuint(count, ==, 3);
	at = JSON_NONE;
	g_assert_false(json_next(json_member(o, "a"), &at));
	g_assert_null(json_text(json_member(o, "a")));
}

static void test_numbers(void)
{
	static const struct { const char *text; bool is_int; int64_t n; double d; } cases[] = {
		{ "0", true, 0, 0 }, { "-0", true, 0, 0 }, { "9223372036854775807", true, INT64_MAX, 0x1p63 },
		{ "-9223372036854775808", true, INT64_MIN, -0x1p63 }, { "9223372036854775808", false, 0, 0x1p63 },
		{ "-9223372036854775809", false, 0, -0x1p63 }, { "18446744073709551616", false, 0, 0x1p64 },
		{ "1.0", false, 0, 1 }, { "1e3", false, 0, 1000 }, { "1e400", false, 0, INFINITY },
		{ "5E-400", false, 0, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GArray) tokens = json_tokens_new();
		struct json_value v = scanned(cases[i].text, tokens);
		int64_t n = 0;
		double d = 0;
		g_assert_cmpint(json_int(v, &n), ==, cases[i].is_int);
		g_assert_cmpint(n, ==, cases[i].n);
		g_assert_true(json_real(v, &d) && (d == cases[i].d || fabs(d - cases[i].d) < 1));
	}
	g_autofree char *digits = g_strnfill(100000, '1');
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_value v = scanned(digits, tokens);
	int64_t n;
	double d;
	g_assert_false(json_int(v, &n));
	g_assert_false(json_real(v, &d));
}

static void test_surrogates(void)
{
	static const struct { const char *text, *value; } cases[] = {
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" }, { "\"\\u00e9\"", "\xc3\xa9" }, { "\"\\ud83d\"", NULL },
		{ "\"\\ude00\"", NULL }, { "\"\\ud83dx\"", NULL }, { "\"\\ud83d\\u0061\"", NULL },
		{ "\"a\\u0000b\"", "a" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GArray) tokens = json_tokens_new();
		g_autofree char *text = json_text(scanned(cases[i].text, tokens));
		g_assert_cmpstr(text, ==, cases[i].value);
	}
}

/* ---- writing ---- */

static void test_text(void)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json_out w = { .out = out };
	json_open(&w, NULL, '{');
	json_put_text(&w, "a\n\"", "\x1b[31m\t\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x80\x81 \xc3\xa9\\");
	json_put_text(&w, "bad", "\xff\xc3");
	json_put_text(&w, "none", NULL);
	json_put_text_len(&w, "cut", "abc", 2);
	json_put_text_len(&w, "nul", "a\0b", 3);
	json_open(&w, "list", '[');
	json_newline(&w);
	json_put_int(&w, NULL, INT64_MIN);
	json_newline(&w);
	json_put_uint(&w, NULL, UINT64_MAX);
	json_put_hex(&w, NULL, 0xab);
	json_put_decimal(&w, NULL, -100);
	json_put_bool(&w, NULL, true);
	json_put_known(&w, NULL, 7, false);
	json_close(&w, ']');
	json_put_null(&w, "end");
	json_close(&w, '}');
	g_assert_cmpstr(out->str, ==, "{\"a\\n\\\"\":"
			"\"\\u001b[31m\\t\\u007f\\u009b\\u202e\\u2028\\udb40\\udc01 \xc3\xa9\\\\\","
			"\"bad\":\"\\\\xff\\\\xc3\",\"none\":null,\"cut\":\"ab\",\"nul\":\"a\",\"list\":["
			"\n-9223372036854775808,\n18446744073709551615,"
			"\"00000000000000ab\",\"-100\",true,null],\"end\":null}");
	g_assert_null(problem_of(out->str, out->len));
	g_string_truncate(out, 0);
	w = (struct json_out){ .out = out, .long_escapes = true };
	json_put_text(&w, NULL, "a\n\"\\");
	g_assert_cmpstr(out->str, ==, "\"a\\u000a\\\"\\\\\"");
}

static void test_reals(void)
{
	static const double some[] = { 0, 1, -1.5, 0.1, 1e20, 1e300, 1e-10, 123456789012345678.0, 5e-324, 1.0 / 3 };
	for (size_t i = 0; i < G_N_ELEMENTS(some); i++) {
		g_autoptr(GArray) tokens = json_tokens_new();
		g_autoptr(GString) out = g_string_new(NULL);
		struct json_out w = { .out = out };
		double d = -1;
		int64_t n;
		json_put_real(&w, NULL, some[i]);
		struct json_value v = scanned(out->str, tokens);
		g_assert_true(json_real(v, &d) && d == some[i]);
		g_assert_false(json_int(v, &n));
	}
	g_autoptr(GString) out = g_string_new(NULL);
	struct json_out w = { .out = out };
	json_put_real(&w, NULL, INFINITY);
	json_put_real(&w, NULL, NAN);
	g_assert_cmpstr(out->str, ==, "null,null");
}

/* Writes a value as it was read. */
static void write_again(struct json_out *w, const char *key, struct json_value v)
{
	const struct json_token *t = json_token(v);
	struct json_value name, at = JSON_NONE;
	g_autofree char *text = json_text(v);
	if (t->kind == JSON_OBJECT) {
		json_open(w, key, '{');
		while (json_next_member(v, &name, &at)) {
			g_autofree char *member = json_text(name);
			write_again(w, member, at);
		}
		json_close(w, '}');
	} else if (t->kind == JSON_ARRAY) {
		json_open(w, key, '[');
		while (json_next(v, &at))
			write_again(w, NULL, at);
		json_close(w, ']');
	} else if (t->kind == JSON_STRING) {
		json_put_text(w, key, text);
	} else {
		g_autofree char *raw = g_strndup(v.text + t->at, t->n);
		json_put_raw(w, key, raw);
	}
}

/* Any change of a text is refused, or read as what the writer writes again. */
static void test_mutations(void)
{
	static const char good[] = "{\"a\":[1,-2.5e3,true,null,\"\\ud83d\\ude00\\n\"],"
		"\"b\":{\"\\u0061\":\"x\\\"y\",\"c\":[[],{}]}}";
	static const char some[] = "\"\\{}[]:, \t\n0123456789eE+-.u/ntf\xff\xc3\x00";
	g_autoptr(GRand) rand = g_rand_new_with_seed(11);
	unsigned valid = 0;
	for (int round = 0; round < 100000; round++) {
		g_autofree char *text = g_memdup2(good, sizeof good - 1);
		g_autoptr(GArray) tokens = json_tokens_new(), again = json_tokens_new();
		g_autoptr(GString) one = g_string_new(NULL), two = g_string_new(NULL);
		struct json_out w = { .out = one };
		struct json_problem why;
		for (int i = g_rand_int_range(rand, 1, 4); i > 0; i--)
			text[g_rand_int_range(rand, 0, sizeof good - 1)] = some[g_rand_int_range(rand, 0, sizeof some)];
		if (!json_scan(text, sizeof good - 1, tokens, &why))
			continue;
		valid++;
		write_again(&w, NULL, (struct json_value){ text, tokens, 0 });
		w = (struct json_out){ .out = two };
		write_again(&w, NULL, scanned(one->str, again));
		g_assert_cmpstr(one->str, ==, two->str);
	}
	g_assert_cmpuint(valid, >, 1000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/json/refused", test_refused);
	g_test_add_func("/json/where", test_where);
	g_test_add_func("/json/beginnings", test_beginnings);
	g_test_add_func("/json/members", test_members);
	g_test_add_func("/json/numbers", test_numbers);
	g_test_add_func("/json/surrogates", test_surrogates);
	g_test_add_func("/json/text", test_text);
	g_test_add_func("/json/reals", test_reals);
	g_test_add_func("/json/mutations", test_mutations);
	return g_test_run();
}
