/* SPDX-License-Identifier: GPL-2.0-only */
/* What terminals answer about their background, and what hostile ones do. */
#include "ui/background.h"

#include <string.h>

/* Feeds the characters after Esc. Returns how many of them are keys; Esc that begins no answer is one. */
static unsigned feed(struct background *b, const char *s)
{
	unsigned keys = 0;
	gunichar first = 0;
	bool after_esc = true;

	for (; *s; s++) {
		gunichar c = (guchar)*s;

		if (background_is_open(b)) {
			enum background_taken taken = background_take(b, (int)c);

			keys += taken == BACKGROUND_KEY ? 1 : taken == BACKGROUND_ESC_KEY ? 2 : 0;
		} else if (after_esc && background_begins(b, first, c)) {
			after_esc = false;
			first = 0;
		} else if (c == 0x1b) {
			after_esc = true;
			first = 0;
		} else if (after_esc && !first && c == '[') {
			first = c;
		} else {
			after_esc = false;
			keys++;
		}
	}
	return keys;
}

static void check(const char *answer, enum theme_background color)
{
	struct background b = { 0 };

	background_asked(&b);
	g_test_message("%s", answer);
	g_assert_cmpuint(feed(&b, answer), ==, 0);
	g_assert_cmpint(b.color, ==, color);
	g_assert_false(background_is_open(&b));
}

static void test_answers(void)
{
	check("]11;rgb:ffff/ffff/ffff\x1b\\", BACKGROUND_LIGHT);
	check("]11;rgb:0000/0000/0000\x1b\\", BACKGROUND_DARK);
	check("]11;rgb:fd/f6/e3\a", BACKGROUND_LIGHT);
	check("]11;rgb:002b/0036/0042\a", BACKGROUND_DARK);
	check("]11;rgba:ffff/ffff/ffff/8000\x1b\\", BACKGROUND_LIGHT);
	check("]11;#ffffdd\a", BACKGROUND_LIGHT);
	check("]11;#123\a", BACKGROUND_DARK);
	check("]11;rgb:f/f/0\a", BACKGROUND_LIGHT);
	check("]11;rgb:0000/0000/ffff\a", BACKGROUND_DARK);
}

/* Neither a colour nor a key. */
static void test_hostile(void)
{
	static const char *const bad[] = {
		"]11;rgb:\a", "]11;rgb:ffff/ffff\a", "]11;rgb:ffff/ffff/ffff/ffff\a", "]11;rgb:fffff/ffff/ffff\a",
		"]11;rgb:gggg/ffff/ffff\a", "]11;rgb: fff/ffff/ffff\a", "]11;rgb:-fff/ffff/ffff\a", "]11;#ffff\a",
		"]11;#\a", "]11;#fffffffffffffff\a", "]11;?\a", "]10;rgb:ffff/ffff/ffff\a", "]11;white\a", "]\a",
		"]11;rgb:ffff//ffff\a", "]11;rgba:ffff/ffff/ffff\a", "]11;rgb:ffff/ffff/ffff;\x1b\\",
		"]52;c;cXV", "]0;qqqqQQQQ\a", "]11;rgb:\xff\xff/ffff/ffff\a",
	};
	struct background b = { 0 };

	for (size_t i = 0; i + 3 < G_N_ELEMENTS(bad); i++)
		check(bad[i], BACKGROUND_UNKNOWN);
	check(bad[G_N_ELEMENTS(bad) - 2], BACKGROUND_UNKNOWN);
	check(bad[G_N_ELEMENTS(bad) - 1], BACKGROUND_UNKNOWN);
	background_asked(&b);
	g_assert_cmpuint(feed(&b, "]52;c;cXV"), ==, 0);
	g_assert_true(background_is_open(&b));
	background_abort(&b);
	g_assert_cmpuint(feed(&b, "q"), ==, 1);
}

/* Keys are keys again after what interrupts an answer; Ctrl-C always is. */
static void test_interrupted(void)
{
	struct background b = { 0 };

	g_assert_cmpuint(feed(&b, "]"), ==, 1);		/* not asked: Alt-] */
	background_asked(&b);
	g_assert_cmpuint(feed(&b, "]11;rgb:ff\x03"), ==, 1);
	g_assert_false(background_is_open(&b));
	g_assert_cmpuint(feed(&b, "]11;rgb:ff\x1b" "x"), ==, 2);
	g_assert_cmpuint(feed(&b, "]11;rgb:ff/ff/ff\x1b\\q"), ==, 1);
	g_assert_cmpint(b.color, ==, BACKGROUND_LIGHT);
	g_assert_cmpuint(feed(&b, "]11;nonsense\x1b\\"), ==, 0);
	g_assert_cmpint(b.color, ==, BACKGROUND_LIGHT);
}

static void test_kind(void)
{
	struct background b = { 0 };

	background_asked(&b);
	g_assert_cmpuint(feed(&b, "[?64;1;2;6;9;15;16;17;18;21;22;28;29cq"), ==, 1);
	g_assert_true(b.has_kind);
	b.has_kind = false;
	g_assert_cmpuint(feed(&b, "\x1b[?2026;2$y\x1b[?1" "\x03"), ==, 1);
	g_assert_false(b.has_kind);
	g_assert_cmpint(b.color, ==, BACKGROUND_UNKNOWN);
}

static void test_precedence(void)
{
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, NULL, BACKGROUND_LIGHT, "15;0"), ==, SCHEME_LIGHT_256);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, NULL, BACKGROUND_DARK, "0;15"), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 8, NULL, BACKGROUND_LIGHT, NULL), ==, SCHEME_LIGHT_8);
	g_assert_cmpint(theme_choose(0, THEME_DARK, 256, NULL, BACKGROUND_LIGHT, "0;15"), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_MONO, 256, NULL, BACKGROUND_LIGHT, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, "1", BACKGROUND_LIGHT, NULL), ==, SCHEME_MONO);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/background/answers", test_answers);
	g_test_add_func("/background/hostile", test_hostile);
	g_test_add_func("/background/interrupted", test_interrupted);
	g_test_add_func("/background/kind", test_kind);
	g_test_add_func("/background/precedence", test_precedence);
	return g_test_run();
}
