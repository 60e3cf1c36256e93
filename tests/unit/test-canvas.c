/* SPDX-License-Identifier: GPL-2.0-only */
/* The canvas, the schemes, the glyph sets: no terminal needed. */
#include "lib/canvas_text.h"
#include "ui/canvas.h"
#include "ui/glyphs.h"

#include "base/text.h"

#include <string.h>

static void check_line(const struct canvas *c, unsigned y, const char *expected)
{
	g_autofree char *line = canvas_line(c, y);

	g_assert_cmpstr(line, ==, expected);
}

static void test_text(void)
{
	struct canvas *c = canvas_new(3, 10);

	g_assert_cmpuint(canvas_put(c, 0, 0, 10, ROLE_TEXT, "hello"), ==, 5);
	g_assert_cmpuint(canvas_put(c, 1, 8, 10, ROLE_TEXT, "hello"), ==, 2);
	g_assert_cmpuint(canvas_put(c, 2, 2, 3, ROLE_HOT, "hello"), ==, 3);
	g_assert_cmpuint(canvas_put(c, 3, 0, 3, ROLE_HOT, "hello"), ==, 0);
	g_assert_cmpuint(canvas_put(c, 0, 10, 3, ROLE_HOT, "hello"), ==, 0);
	check_line(c, 0, "hello");
	check_line(c, 1, "        h…");
	check_line(c, 2, "  he…");
	g_assert_cmpint(canvas_cell(c, 2, 2)->role, ==, ROLE_HOT);
	canvas_put_right(c, 0, 5, 5, ROLE_TEXT, "42");
	check_line(c, 0, "hello   42");
	canvas_put_right(c, 0, 5, 2, ROLE_TEXT, "1234");
	check_line(c, 0, "hello … 42");
	canvas_free(c);
}

static void test_wide(void)
{
	struct canvas *c = canvas_new(2, 6);

	g_assert_cmpuint(canvas_put(c, 0, 0, 6, ROLE_TEXT, "作者é!"), ==, 6);
	check_line(c, 0, "作者é!");
	/* No half of a wide character stays behind. */
	canvas_put(c, 0, 1, 1, ROLE_TEXT, "x");
	check_line(c, 0, " x者é!");
	canvas_put(c, 0, 2, 1, ROLE_TEXT, "y");
	check_line(c, 0, " xy é!");
	/* No room for both halves. */
	g_assert_cmpuint(canvas_put(c, 1, 0, 3, ROLE_TEXT, "作者"), ==, 3);
	g_assert_cmpuint(canvas_put(c, 1, 5, 6, ROLE_TEXT, "作"), ==, 1);
	check_line(c, 1, "作…  …");
	/* What combines takes no column. */
	g_assert_cmpuint(canvas_put(c, 1, 0, 6, ROLE_TEXT, "e\xcc\x81z"), ==, 2);
	check_line(c, 1, "e\xcc\x81z…  …");
	/* A figure is whole or not there at all. */
	canvas_clear(c);
	g_assert_cmpuint(canvas_put(c, 0, 0, 5, ROLE_TEXT, "12.6ms"), ==, 1);
	canvas_put_right(c, 1, 0, 5, ROLE_TEXT, "97.3ms");
	check_line(c, 0, "…");
	check_line(c, 1, "    …");
	c->ascii_cut = true;		/* as with --ascii in a terminal that takes more */
	canvas_clear(c);
	canvas_put(c, 0, 0, 5, ROLE_TEXT, "élong text");
	check_line(c, 0, "élon~");
	canvas_free(c);
}

static void test_hostile(void)
{
	struct canvas *c = canvas_new(1, 40);
	g_autofree char *many = NULL;
	GString *s = g_string_new("e");

	canvas_put(c, 0, 0, 40, ROLE_TEXT, "a\033[31mb\nc\xff\xc2\x9b" "d");
	check_line(c, 0, "a?[31mb?c??d");
	for (int i = 0; i < 1000; i++)
		g_string_append(s, "\xcc\x81");
	many = g_string_free(s, FALSE);
	g_assert_cmpuint(canvas_put(c, 0, 0, 40, ROLE_TEXT, many), ==, 1);
	g_assert_cmpuint(strlen(canvas_cell(c, 0, 0)->ch), <, CELL_BYTES);
	g_assert_true(g_utf8_validate(canvas_cell(c, 0, 0)->ch, -1, NULL));
	c->ascii_only = true;
	canvas_clear(c);
	canvas_put(c, 0, 0, 40, ROLE_TEXT, "作é▶");
	check_line(c, 0, "???");
	canvas_free(c);
}

/* A sparkline in the selected row is in its own colour, on the background of the selection. */
static void test_selected(void)
{
	struct canvas *c = canvas_new(1, 2);

	canvas_put(c, 0, 0, 2, ROLE_SPARK, "▁▁");
	canvas_add_attr(c, 0, 0, 1, STYLE_SELECTED);
	for (enum scheme scheme = 0; scheme < SCHEME_N; scheme++) {
		struct style spark = theme_style(scheme, ROLE_SPARK);
		struct look look = cell_look(canvas_cell(c, 0, 0), scheme, &spark);

		g_assert_cmpint(look.style.fg, ==, spark.fg);
		g_assert_cmpint(look.style.bg, ==, theme_style(scheme, ROLE_SELECTED).bg);
		g_assert_cmpint(look.style.attr, ==, spark.attr);
		g_assert_cmpint(cell_look(canvas_cell(c, 0, 1), scheme, &spark).style.bg, ==, -1);
	}
	canvas_free(c);
}

static void test_resize(void)
{
	struct canvas *c = canvas_new(2, 2);
	g_autofree char *dump = NULL;

	canvas_put(c, 0, 0, 2, ROLE_TEXT, "ab");
	canvas_resize(c, 3, 4);
	canvas_put(c, 2, 3, 2, ROLE_TEXT, "z");
	dump = canvas_dump(c);
	g_assert_cmpstr(dump, ==, "\n\n   z\n");
	canvas_resize(c, 0, 0);
	g_assert_null(canvas_cell(c, 0, 0));
	g_assert_cmpuint(canvas_put(c, 0, 0, 2, ROLE_TEXT, "ab"), ==, 0);
	canvas_free(c);
}

static void test_schemes(void)
{
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, NULL, BACKGROUND_UNKNOWN, NULL), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, "", BACKGROUND_UNKNOWN, NULL), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, "1", BACKGROUND_UNKNOWN, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_choose(1, THEME_AUTO, 256, "1", BACKGROUND_UNKNOWN, NULL), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(-1, THEME_AUTO, 256, NULL, BACKGROUND_UNKNOWN, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 8, NULL, BACKGROUND_UNKNOWN, NULL), ==, SCHEME_DARK_8);
	g_assert_cmpint(theme_choose(1, THEME_AUTO, 0, NULL, BACKGROUND_UNKNOWN, NULL), ==, SCHEME_MONO);
	for (int role = 0; role < ROLE_N; role++) {
		g_assert_nonnull(theme_role_id(role));
		g_assert_cmpint(theme_style(SCHEME_MONO, role).fg, ==, -1);
		g_assert_cmpint(theme_style(SCHEME_MONO, role).bg, ==, -1);
		g_assert_cmpint(theme_style(SCHEME_DARK_8, role).fg, <, 8);
		for (int other = 0; other < role; other++)
			g_assert_cmpstr(theme_role_id(role), !=, theme_role_id(other));
	}
}

static void check_glyph(const char *glyph, bool ascii)
{
	g_assert_nonnull(glyph);
	g_assert_cmpuint(text_width(glyph), ==, 1);
	g_assert_true(!ascii || g_str_is_ascii(glyph));
}

static void test_glyphs(void)
{
	for (int utf8 = 0; utf8 < 2; utf8++) {
		const struct glyphs *g = glyphs_get(utf8);
		const char *all[] = {
			g->cursor, g->expanded, g->collapsed, g->critical,
			g->sort_up, g->sort_down, g->more_up, g->more_down, g->crumb, g->edge,
			g->bar,
		};

		g_assert_cmpint(g->utf8, ==, utf8);
		for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
			check_glyph(all[i], !utf8);
		for (int i = 0; i < 9; i++)
			check_glyph(g->spark[i], !utf8);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/canvas/text", test_text);
	g_test_add_func("/canvas/wide", test_wide);
	g_test_add_func("/canvas/selected", test_selected);
	g_test_add_func("/canvas/hostile", test_hostile);
	g_test_add_func("/canvas/resize", test_resize);
	g_test_add_func("/theme/schemes", test_schemes);
	g_test_add_func("/glyphs/sets", test_glyphs);
	return g_test_run();
}
