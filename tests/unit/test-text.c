/* SPDX-License-Identifier: GPL-2.0-only */
/* Hostile text: made visible, measured, cut, quoted. */
#include "base/address.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define AUTHOR "\344\275\234\350\200\205"	/* two wide characters */
#define E_ACUTE "e\314\201"			/* e and a combining acute */

static void test_visible(void)
{
	static const struct { const char *in, *out; } table[] = {
		{ NULL, "" }, { "", "" }, { "plain text", "plain text" }, { "a\\b", "a\\b" },
		{ "\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m" },
		{ "\033]0;title\007", "\\x1b]0;title\\x07" }, { "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "\177", "\\x7f" }, { "\302\233" "31m", "\\x9b31m" },	/* C1 CSI */
		{ "\233" "31m", "\\x9b31m" },				/* the raw byte */
		{ "\377\376", "\\xff\\xfe" }, { "a\303", "a\\xc3" },	/* cut short */
		{ "\300\257", "\\xc0\\xaf" },				/* overlong */
		{ "\355\240\200", "\\xed\\xa0\\x80" },			/* a surrogate */
		{ "\364\220\200\200", "\\xf4\\x90\\x80\\x80" },		/* beyond Unicode */
		{ AUTHOR, AUTHOR }, { E_ACUTE, E_ACUTE }, { "caf\303\251", "caf\303\251" },
		{ "\342\200\256gpj.exe", "\\u{202e}gpj.exe" },		/* right-to-left override */
		{ "a\342\201\246b\342\201\251", "a\\u{2066}b\\u{2069}" },	/* isolates */
		{ "a\342\200\213b", "a\\u{200b}b" }, { "\357\273\277", "\\u{feff}" },
		{ "\342\200\250", "\\u{2028}" }, { "\363\240\201\201", "\\u{e0041}" },
		{ "\302\255", "\\u{00ad}" },				/* soft hyphen */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *got = text_visible(table[i].in);
		g_assert_cmpstr(got, ==, table[i].out);
	}
	g_autofree char *part = text_visible_len("abc\033def", 4);
	g_assert_cmpstr(part, ==, "abc\\x1b");
	g_autofree char *cut = text_visible_len(AUTHOR, 4);	/* within a character */
	g_assert_cmpstr(cut, ==, "\344\275\234\\xe8");
	g_autofree char *nul = text_visible_len("ab\0cd", 5);
	g_assert_cmpstr(nul, ==, "ab");
}

static void test_width(void)
{
	g_assert_cmpuint(text_width(""), ==, 0);
	g_assert_cmpuint(text_width("abc"), ==, 3);
	g_assert_cmpuint(text_width(AUTHOR), ==, 4);
	g_assert_cmpuint(text_width(E_ACUTE), ==, 1);
	g_assert_cmpuint(text_width("\360\237\230\200"), ==, 2);	/* an emoji */
	g_assert_cmpuint(text_width("\377\303"), ==, 2);		/* not valid: no overrun */
}

static void test_prefix(void)
{
	unsigned cols;

	g_assert_cmpuint(text_prefix("abc", 2, &cols), ==, 2);
	g_assert_cmpuint(cols, ==, 2);
	g_assert_cmpuint(text_prefix("abc", 9, NULL), ==, 3);
	g_assert_cmpuint(text_prefix(AUTHOR, 3, &cols), ==, 3);
	g_assert_cmpuint(cols, ==, 2);
	g_assert_cmpuint(text_prefix(E_ACUTE "x", 1, &cols), ==, 3);	/* the accent stays */
	g_assert_cmpuint(text_prefix("abc", 0, &cols), ==, 0);
	g_assert_cmpuint(cols, ==, 0);
}

static void test_pad(void)
{
	static const struct { const char *in; unsigned cols; const char *out; } table[] = {
		{ "ab", 4, "ab  " }, { "", 2, "  " }, { "abc", 2, "abc" }, { "\u4f5c\u8005", 5, "\u4f5c\u8005 " },
		{ "e\u0301", 3, "e\u0301  " },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *padded = text_pad(table[i].in, table[i].cols);

		g_assert_cmpstr(padded, ==, table[i].out);
	}
}

static void test_clip(void)
{
	static const struct { const char *in; unsigned cols; bool utf8; const char *out; } table[] = {
		{ "abc", 3, false, "abc" }, { "abcd", 3, false, "ab~" },
		{ "abcd", 3, true, "ab\342\200\246" }, { "abcd", 1, false, "~" },
		{ "abcd", 0, false, "" }, { "", 0, false, "" }, { "", 5, true, "" },
		{ AUTHOR, 4, false, AUTHOR }, { AUTHOR, 3, false, "\344\275\234~" },
		{ AUTHOR, 2, false, "~" }, { E_ACUTE, 1, false, E_ACUTE },
		{ E_ACUTE E_ACUTE, 1, false, "~" },
		/* Between words, and figures are whole. */
		{ "worked 44.6ms", 12, false, "worked~" }, { "usual 12.6ms more", 13, false, "usual 12.6ms~" },
		{ "usual 12.6ms more", 14, false, "usual 12.6ms~" }, { "12.6ms", 5, false, "~" },
		{ "12.6ms", 6, false, "12.6ms" }, { "slept 59.9ms (44.8ms of it", 18, false, "slept 59.9ms~" },
		{ "took 44 of 70 requests", 14, false, "took 44 of~" }, { "of 70 requests", 8, false, "of~" },
		{ "computed: more", 12, false, "computed~" }, { "here 53% of all", 9, false, "here 53%~" },
		{ "at 06:08:38.123 PAUSED", 12, false, "at~" }, { "06:08:38.123", 8, false, "~" },
		/* A word that is most of it is cut, also a name with digits. */
		{ "a kworker/0:1-events", 12, false, "a kworker/0~" }, { "thumbd-w1/284", 12, false, "thumbd-w1/2~" },
		{ "7f8efb3a8bed4f37", 9, false, "7f8efb3a~" }, { "   ", 2, false, "~" },
		{ "the columns are: --columns comm,syscall_ns,user_ns,syscalls", 52, false,
		  "the columns are: --columns comm,syscall_ns,user_ns,~" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *got = text_clip(table[i].in, table[i].cols, table[i].utf8);
		g_assert_cmpstr(got, ==, table[i].out);
	}
}

static void test_clip_left(void)
{
	static const struct { const char *in; unsigned cols; bool utf8; const char *out; } table[] = {
		{ "/a/bc", 5, false, "/a/bc" }, { "/a/bc", 4, false, "~/bc" },
		{ "/a/bc", 3, true, "\342\200\246bc" }, { "/a/bc", 1, false, "~" }, { "/a", 0, true, "" },
		{ "/" AUTHOR, 4, false, "~\350\200\205" },	/* half a character is none */
		{ "/" E_ACUTE "b", 2, false, "~b" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *got = text_clip_left(table[i].in, table[i].cols, table[i].utf8);
		g_assert_cmpstr(got, ==, table[i].out);
	}
}

static void test_filename(void)
{
	static const struct { const char *in, *out; } table[] = {
		{ "a-b_c.9Z", "a-b_c.9Z" }, { "../etc/passwd", "___etc_passwd" }, { "", "_" },
		{ NULL, "_" }, { ".", "_" }, { "..", "__" }, { "...", "___" }, { "a b\n", "a_b_" },
		{ AUTHOR, "______" }, { "--help", "__help" }, { ".hid.den-", "_hid.den-" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *got = text_filename(table[i].in);
		g_assert_cmpstr(got, ==, table[i].out);
	}
	g_autofree char *many = g_strnfill(5000, 'x');
	g_autofree char *name = text_filename(many);
	g_assert_cmpuint(strlen(name), ==, 100);
}

/* Whatever the bytes: what the shell makes of the quoted word is the word. */
static void test_shell_quote(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	g_autofree char *plain = text_shell_quote("/a/b-c_d.e:1");
	g_autofree char *empty = text_shell_quote("");
	g_autofree char *null = text_shell_quote(NULL);

	g_assert_cmpstr(plain, ==, "/a/b-c_d.e:1");
	g_assert_cmpstr(empty, ==, "''");
	g_assert_cmpstr(null, ==, "''");
	for (int i = 0; i < 20; i++) {
		g_autofree char *word = g_strnfill(20, 'x');
		for (char *p = word; *p; p++)
			*p = (char)g_rand_int_range(rand, 1, i % 2 ? 128 : 48);

		g_autofree char *quoted = text_shell_quote(word);
		char *argv[] = { "sh", "-c", g_strconcat("printf %s ", quoted, NULL), NULL };
		g_autofree char *out = NULL;
		g_assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
					   NULL, NULL, NULL));
		g_assert_cmpstr(out, ==, word);
		g_free(argv[2]);
	}
}

/* Nothing that is not shown as itself, and widths that add up. */
static void check_visible(const char *visible)
{
	g_assert_true(g_utf8_validate(visible, -1, NULL));
	for (const char *p = visible; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		g_assert_true(c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0));
		g_assert_cmpint(g_unichar_type(c), !=, G_UNICODE_FORMAT);
	}
	unsigned width = text_width(visible);
	for (unsigned cols = 0; cols <= width + 1; cols += 3) {
		unsigned taken;
		size_t len = text_prefix(visible, cols, &taken);
		g_autofree char *prefix = g_strndup(visible, len);
		g_autofree char *left = text_clip_left(visible, cols, cols % 2);
		g_autofree char *clip = text_clip(visible, cols, cols % 2);

		g_assert_cmpuint(text_width(left), <=, cols);
		g_assert_true(g_utf8_validate(left, -1, NULL));
		g_assert_cmpuint(taken, <=, cols);
		g_assert_cmpuint(text_width(prefix), ==, taken);
		g_assert_cmpuint(text_width(prefix) + text_width(visible + len), ==, width);
		g_assert_cmpuint(text_width(clip), <=, cols);
		g_assert_true(g_utf8_validate(clip, -1, NULL));
		g_assert_true(cols == 0 || cols < width || strcmp(clip, visible) == 0);
	}
}

static void test_garbage(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int i = 0; i < 4000; i++) {
		g_autoptr(GString) s = g_string_new(NULL);
		for (int n = g_rand_int_range(rand, 0, 30); n > 0; n--) {
			if (g_rand_boolean(rand))
				g_string_append_c(s, (char)g_rand_int_range(rand, 0, 256));
			else
				g_string_append_unichar(s, (gunichar)g_rand_int_range(rand, 1,
					g_rand_boolean(rand) ? 0x3000 : 0x10ffff));
		}
		g_autofree char *visible = text_visible(s->str);
		g_autofree char *other = text_visible_len(s->str, s->len);
		g_assert_cmpstr(visible, ==, other);
		check_visible(visible);
		text_width(s->str);		/* also what is not valid does no harm */
		g_free(text_clip(s->str, 5, true));

		g_autofree char *name = text_filename(s->str);
		g_assert_cmpuint(strlen(name), >, 0);
		g_assert_cmpuint(strlen(name), <=, 100);
		g_assert_null(strchr(name, '/'));
		g_assert_cmpstr(name, !=, "..");
	}
}

static void test_address(void)
{
	static const struct { unsigned family; uint8_t bytes[16]; int port; const char *text; } cases[] = {
		{ 4, { 10, 0, 2, 255 }, 80, "10.0.2.255:80" },
		{ 4, { 127, 0, 0, 1 }, -1, "127.0.0.1" },
		{ 6, { 0 }, -1, "::" },
		{ 6, { [15] = 1 }, 65535, "[::1]:65535" },
		{ 6, { 0xfe, 0x80, [8] = 0x2, [15] = 0x1f }, -1, "fe80::200:0:0:1f" },
		{ 6, { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 }, 0,
		  "[2001:db8:0:1:1:1:1:1]:0" },
		{ 6, { 0x20, 1, [4] = 1, [8] = 1, [9] = 1 }, -1, "2001:0:100:0:101::" },
		{ 6, { 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1 }, -1, "101::101:0:0:101:101" },
		{ 6, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		       0xff, 0xff }, 65535, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char text[ADDRESS_MAX];
		address_text(text, cases[i].family, cases[i].bytes, cases[i].port);
		g_assert_cmpstr(text, ==, cases[i].text);
	}
}

static void test_parse_id(void)
{
	static const struct { const char *text; unsigned most; bool ok; uint64_t id; } cases[] = {
		{ "1e9873C2aa104f01", TEXT_ID, true, UINT64_C(0x1e9873c2aa104f01) },
		{ "0x7f", TEXT_ID, true, 0x7f }, { "0X7f", TEXT_ID, true, 0x7f }, { "0", TEXT_ID, true, 0 },
		{ "463ac35c9f6413ad48485a3953bb6124", TEXT_TRACE_ID, true, UINT64_C(0x48485a3953bb6124) },
		{ "a48485a3953bb6124", TEXT_TRACE_ID, true, UINT64_C(0x48485a3953bb6124) },
		{ "a48485a3953bb6124", TEXT_ID, false, 0 }, { "", TEXT_ID, false, 0 }, { "0x", TEXT_ID, false, 0 },
		{ "12g", TEXT_ID, false, 0 }, { "-1", TEXT_ID, false, 0 }, { " 1", TEXT_ID, false, 0 },
		{ "463ac35c9f6413ad48485a3953bb61240", TEXT_TRACE_ID, false, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t id = 5;
		g_assert_cmpint(text_parse_id(cases[i].text, cases[i].most, &id), ==, cases[i].ok);
		g_assert_cmphex(id, ==, cases[i].ok ? cases[i].id : 5);
	}
}

static void test_real(void)
{
	static const struct { double d; bool single; const char *text; } cases[] = {
		{ 0, false, "0" }, { -0.0, false, "-0" }, { 1, false, "1" }, { 0.1, false, "0.1" },
		{ 0.1f, true, "0.1" }, { 0.1f, false, "0.10000000149011612" }, { 1.0 / 3, false, "0.3333333333333333" },
		{ 0.1 + 0.2, false, "0.30000000000000004" }, { 1e300, false, "1e+300" }, { 5e-324, false, "5e-324" },
		{ 1e-45f, true, "1e-45" }, { 123456789, false, "123456789" }, { 16777216, true, "16777216" },
		{ INFINITY, true, "inf" }, { -INFINITY, false, "-inf" }, { NAN, false, "nan" }, { -NAN, false, "nan" },
		{ -1.7976931348623157e308, false, "-1.7976931348623157e+308" }, { 2.2250738585072014e-308, false,
		  "2.2250738585072014e-308" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char to[TEXT_REAL_BYTES];
		g_assert_cmpstr(text_real(cases[i].d, cases[i].single, to), ==, cases[i].text);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/text/visible", test_visible);
	g_test_add_func("/text/width", test_width);
	g_test_add_func("/text/prefix", test_prefix);
	g_test_add_func("/text/clip", test_clip);
	g_test_add_func("/text/clip-left", test_clip_left);
	g_test_add_func("/text/pad", test_pad);
	g_test_add_func("/text/filename", test_filename);
	g_test_add_func("/text/shell-quote", test_shell_quote);
	g_test_add_func("/text/parse-id", test_parse_id);
	g_test_add_func("/text/garbage", test_garbage);
	g_test_add_func("/text/address", test_address);
	g_test_add_func("/text/real", test_real);
	return g_test_run();
}
