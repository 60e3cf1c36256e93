/* SPDX-License-Identifier: GPL-2.0-only */
/* Pictures: well-formed whatever is on the canvas, with the same text, and nothing from outside. */
#include "ui/svg.h"

#include <string.h>

struct parsed {
	GString *text;			/* of all rows, each ended by a newline */
	unsigned rects, depth, rows;
	bool in_text;
};

static void begin(GMarkupParseContext *context, const char *name, const char **keys, const char **values,
		  gpointer data, GError **error)
{
	struct parsed *p = data;

	g_assert_true(strstr(" svg rect g path text tspan ", name));
	p->depth++;
	p->in_text |= !strcmp(name, "text");
	p->rects += !strcmp(name, "rect");
	for (; *keys; keys++, values++) {
		g_assert_false(g_str_has_suffix(*keys, "href") || g_str_has_prefix(*keys, "on"));
		g_assert_null(strstr(*values, "url("));
	}
}

static void end(GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
	struct parsed *p = data;

	p->depth--;
	if (strcmp(name, "text"))
		return;
	g_string_append_c(p->text, '\n');
	p->in_text = false;
	p->rows++;
}

static void text(GMarkupParseContext *context, const char *s, gsize len, gpointer data, GError **error)
{
	struct parsed *p = data;

	if (p->in_text)
		g_string_append_len(p->text, s, (gssize)len);
}

static struct parsed parse(const char *svg)
{
	static const GMarkupParser parser = { .start_element = begin, .end_element = end, .text = text };
	struct parsed p = { .text = g_string_new(NULL) };
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &p, NULL);
	g_autoptr(GError) error = NULL;

	g_assert_true(g_utf8_validate(svg, -1, NULL));
	g_markup_parse_context_parse(context, svg, -1, &error);
	g_assert_no_error(error);
	g_markup_parse_context_end_parse(context, &error);
	g_assert_no_error(error);
	g_markup_parse_context_free(context);
	g_assert_cmpuint(p.depth, ==, 0);
	return p;
}

static void check_text(const struct canvas *c, const char *expected)
{
	for (int scheme = 0; scheme < SCHEME_N; scheme++) {
		g_autofree char *svg = svg_of_canvas(c, scheme, NULL);
		struct parsed p = parse(svg);

		g_assert_cmpstr(p.text->str, ==, expected);
		g_assert_cmpuint(p.rows, ==, c->rows);
		g_string_free(p.text, TRUE);
	}
}

static void test_text(void)
{
	struct canvas *c = canvas_new(3, 20);

	canvas_put(c, 0, 0, 20, ROLE_TITLE, "a <b> & \"c\" ]]>");
	canvas_put(c, 1, 2, 20, ROLE_HOT, "作e\u0301x\U0001f600y");
	canvas_put(c, 2, 0, 20, ROLE_SPARK, "▁▂▃▄▅▆▇█▌▐▀░▒▓│end");
	canvas_add_attr(c, 2, 3, 4, STYLE_REVERSE);
	canvas_add_attr(c, 0, 3, 4, STYLE_UNDERLINE | STYLE_BOLD | STYLE_DIM);
	check_text(c, "a <b> & \"c\" ]]>\n  作e\u0301x\U0001f600y\n▁▂▃▄▅▆▇█▌▐▀░▒▓│end\n");
	canvas_resize(c, 0, 0);
	check_text(c, "");
	canvas_free(c);
}

/* Even if something reached the cells that the canvas refuses. */
static void test_hostile(void)
{
	static const char *const bad[] = {
		"\x01", "\x1b", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xc2\x85", "\x7f",
		"<\xff&",
	};
	struct canvas *c = canvas_new(1, G_N_ELEMENTS(bad));

	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct cell *cell = &c->cells[i];

		g_strlcpy(cell->ch, bad[i], sizeof cell->ch);
	}
	g_autofree char *svg = svg_of_canvas(c, SCHEME_DARK_256, NULL);
	struct parsed p = parse(svg);

	g_assert_cmpint(p.text->str[0], ==, '?');
	g_assert_nonnull(strstr(p.text->str, "<?&"));
	for (const char *s = svg; *s; s++)
		g_assert_true((guchar)*s >= 0x20 || *s == '\n');
	g_assert_null(strstr(svg, "\x7f"));
	g_assert_null(strstr(svg, "\xc2\x85"));
	g_assert_null(strstr(svg, "\xef\xbf\xbe"));
	g_string_free(p.text, TRUE);
	canvas_free(c);
}

/* Colours of the scheme, the user's own, reversed cells. */
static void test_colors(void)
{
	struct canvas *c = canvas_new(1, 10);
	struct prefs *prefs = prefs_new();

	canvas_put(c, 0, 0, 10, ROLE_PART + PART_DISK, "D");
	canvas_put(c, 0, 1, 10, ROLE_HOT, "h");
	canvas_put(c, 0, 2, 10, ROLE_SELECTED, "s");
	canvas_put(c, 0, 4, 10, ROLE_PART + PART_FUTEX, "f");
	canvas_add_attr(c, 0, 4, 1, STYLE_FILL);
	prefs->own[ROLE_HOT] = (struct style){ 21, 46, 0 };
	prefs->has_own[ROLE_HOT] = true;
	g_autofree char *dark = svg_of_canvas(c, SCHEME_DARK_256, prefs);
	g_autofree char *mono = svg_of_canvas(c, SCHEME_MONO, prefs);

	g_assert_nonnull(strstr(dark, ">D</tspan>"));
	g_assert_nonnull(strstr(dark, "fill=\"#ff5f5f\">D"));
	g_assert_nonnull(strstr(dark, "fill=\"#0000ff\">h"));
	g_assert_nonnull(strstr(dark, "<rect x=\"8\" y=\"0\" width=\"8\" height=\"8\" fill=\"#00ff00\"/>"));
	g_assert_nonnull(strstr(dark, "<rect x=\"-6\" y=\"-6\" width=\"102\" height=\"30\" fill=\"#121212\"/>"));
	g_assert_nonnull(strstr(dark, "<rect x=\"32\" y=\"0\" width=\"8\" height=\"8\" fill=\"#d75fd7\"/>"));
	g_assert_null(strstr(mono, "#ff5f5f"));
	g_assert_nonnull(strstr(mono, "<rect x=\"16\" y=\"0\" width=\"8\" height=\"8\" fill=\"#000000\"/>"));
	g_assert_nonnull(strstr(mono, "fill=\"#ffffff\">s"));
	prefs_free(prefs);
	canvas_free(c);
}

/* Areas in 24 bits: a shade fills its cell, a letter is black or white on it; the text stays. */
static void test_shades(void)
{
	struct canvas *c = canvas_new(1, 6);

	canvas_put(c, 0, 0, 6, ROLE_HEAT, "░▒7▂x");
	canvas_shade(c, 0, 0, 1, 1, true);
	canvas_shade(c, 0, 1, 1, SHADES, true);
	canvas_shade(c, 0, 2, 1, SHADES, true);
	canvas_set_role(c, 0, 3, 1, ROLE_SPARK);
	canvas_shade(c, 0, 3, 1, SHADES, false);
	g_autofree char *svg = svg_of_canvas(c, SCHEME_DARK_RGB, NULL), *old = svg_of_canvas(c, SCHEME_DARK_256, NULL);
	struct parsed p = parse(svg);

	g_assert_cmpstr(p.text->str, ==, "░▒7▂x\n");
	g_assert_nonnull(strstr(svg, "<rect x=\"0\" y=\"0\" width=\"8\" height=\"8\" fill=\"#2f63cc\"/>"));
	g_assert_nonnull(strstr(svg, "<rect x=\"8\" y=\"0\" width=\"8\" height=\"8\" fill=\"#fbf08a\"/>"));
	g_assert_nonnull(strstr(svg, "<rect x=\"16\" y=\"0\" width=\"8\" height=\"8\" fill=\"#fbf08a\"/>"));
	g_assert_nonnull(strstr(svg, "fill=\"#000000\">7<"));
	g_assert_nonnull(strstr(svg, "y=\"6\" width=\"8\" height=\"2\" fill=\"#a5e2ff\"/>"));
	g_assert_null(strstr(old, "#fbf08a"));
	g_assert_nonnull(strstr(old, "opacity=\"0.3\""));
	g_string_free(p.text, TRUE);
	canvas_free(c);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/svg/text", test_text);
	g_test_add_func("/svg/hostile", test_hostile);
	g_test_add_func("/svg/colors", test_colors);
	g_test_add_func("/svg/shades", test_shades);
	return g_test_run();
}
