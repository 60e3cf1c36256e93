/* SPDX-License-Identifier: GPL-2.0-only */
/* Themes: what eyes can tell, on the backgrounds that terminals have; and which theme is chosen. */
#include "ui/theme.h"

#include <math.h>
#include <string.h>

static void rgb_of(int n, double ret[3])
{
	static const double steps[] = { 0, 95, 135, 175, 215, 255 };

	g_assert_cmpint(n, >=, 16);
	for (int i = 0; i < 3; i++) {
		double v = n & COLOR_RGB ? n >> (16 - 8 * i) & 255 : n >= 232 ? 8 + 10 * (n - 232) :
			steps[(n - 16) / (i == 0 ? 36 : i == 1 ? 6 : 1) % 6];

		v /= 255;
		ret[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	}
}

static double luminance(const double c[3])
{
	return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

static double contrast(int fg, int bg)
{
	double f[3], b[3];

	rgb_of(fg, f);
	rgb_of(bg, b);
	return (MAX(luminance(f), luminance(b)) + 0.05) / (MIN(luminance(f), luminance(b)) + 0.05);
}

static double lab_f(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* As seen with that loss of colour (Machado 2009). */
static void lab_of(int n, const double m[3][3], double ret[3])
{
	double c[3], s[3], x, y, z;

	rgb_of(n, c);
	for (int i = 0; i < 3; i++)
		s[i] = CLAMP(m[i][0] * c[0] + m[i][1] * c[1] + m[i][2] * c[2], 0, 1);
	x = lab_f((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.9505);
	y = lab_f(luminance(s));
	z = lab_f((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.089);
	ret[0] = 116 * y - 16;
	ret[1] = 500 * (x - y);
	ret[2] = 200 * (y - z);
}

static double difference(int a, int b, const double m[3][3])
{
	double p[3], q[3];

	lab_of(a, m, p);
	lab_of(b, m, q);
	return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

static const double normal[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const double deutan[3][3] = {
	{ .367, .861, -.228 }, { .280, .673, .047 }, { -.012, .043, .969 },
};
static const double protan[3][3] = {
	{ .152, 1.053, -.205 }, { .115, .786, .099 }, { -.004, -.048, 1.052 },
};

/* The backgrounds of terminals, and the colours of text on them that they are assumed to have. */
static const struct { enum scheme scheme; int background, text; } themes[] = {
	{ SCHEME_DARK_256, 16, 252 }, { SCHEME_DARK_256, 234, 252 },
	{ SCHEME_LIGHT_256, 231, 235 }, { SCHEME_LIGHT_256, 230, 235 },
	{ SCHEME_DARK_RGB, 16, 252 }, { SCHEME_DARK_RGB, 234, 252 },
	{ SCHEME_LIGHT_RGB, 231, 235 }, { SCHEME_LIGHT_RGB, 230, 235 },
};

/* Drawn, not written: bars and lines, whose letters and glyphs are large. */
static bool is_graphics(int role)
{
	return role == ROLE_SPARK || role == ROLE_AXIS || role == ROLE_UNREAD ||
	       (role >= ROLE_PART && role < ROLE_HEAT);
}

/* WCAG 2.1: 4.5 for text, 3 for graphics. */
static void test_contrast(void)
{
	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		for (int r = 0; r < ROLE_N; r++) {
			struct style style = theme_style(themes[s].scheme, r);
			int bg = style.bg >= 0 ? style.bg : themes[s].background;
			int fg = style.fg >= 0 ? style.fg : themes[s].text;
			double least = is_graphics(r) ? 3 : 4.5;

			g_test_message("%s: %d on %d %.2f", theme_role_id(r), fg, bg, contrast(fg, bg));
			g_assert_cmpfloat(contrast(fg, bg), >=, least);
			g_assert_false(style.attr & STYLE_DIM);	/* its contrast is unknown */
		}
	}
}

/* The groups and hues as the documents have them: written down again, since themes are made from the other table. */
static const struct { const char *hue, *parts; } documented[] = {
	{ "green", "user syscall kernel irq" }, { "yellow", "preempted wakeup" }, { "magenta", "futex" },
	{ "red", "disk writeback fault" }, { "blue", "socket pipe poll" }, { "grey", "timer stopped" },
	{ "outline", "handoff" }, { "none", "unknown other" },
};

static const char *documented_hue(enum part p)
{
	for (size_t i = 0; i < G_N_ELEMENTS(documented); i++) {
		g_auto(GStrv) words = g_strsplit(documented[i].parts, " ", -1);

		if (g_strv_contains((const char *const *)words, part_info[p].id))
			return documented[i].hue;
	}
	g_assert_not_reached();
}

/* The hue's name of a colour of 256, by its angle. */
static const char *hue_name(int color)
{
	static const struct { const char *name; int from, to; } angles[] = {
		{ "red", 0, 12 }, { "yellow", 34, 64 }, { "green", 75, 165 }, { "blue", 200, 240 },
		{ "magenta", 285, 320 }, { "red", 348, 360 },
	};
	double c[3], most, least, angle;

	if (color < 0)
		return "none";
	rgb_of(color, c);
	for (int i = 0; i < 3; i++)	/* angles are of values, not of light */
		c[i] = c[i] <= 0.0031308 ? 12.92 * c[i] : 1.055 * pow(c[i], 1 / 2.4) - 0.055;
	most = MAX(MAX(c[0], c[1]), c[2]);
	least = MIN(MIN(c[0], c[1]), c[2]);
	if (most - least < 0.1)
		return "grey";
	angle = most == c[0] ? (c[1] - c[2]) / (most - least) : most == c[1] ? 2 + (c[2] - c[0]) / (most - least) :
		4 + (c[0] - c[1]) / (most - least);
	angle = fmod(60 * angle + 360, 360);
	for (size_t i = 0; i < G_N_ELEMENTS(angles); i++) {
		if (angle >= angles[i].from && angle <= angles[i].to)
			return angles[i].name;
	}
	return "other";
}

static void check_256(enum part p, const char *hue)
{
	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		int fg = theme_style(themes[s].scheme, ROLE_PART + p).fg;

		g_test_message("%s: %d", part_info[p].id, fg);
		if (!strcmp(hue, "outline"))
			g_assert_cmpint(fg, ==, theme_style(themes[s].scheme, ROLE_AXIS).fg);
		else
			g_assert_cmpstr(hue_name(fg), ==, hue);
	}
}

/* The first colours of a terminal. */
static void check_8(enum part p, const char *hue)
{
	static const char *const names[] = { "", "red", "green", "yellow", "blue", "magenta" };
	static const enum scheme schemes[] = { SCHEME_DARK_8, SCHEME_LIGHT_8 };

	for (size_t s = 0; s < G_N_ELEMENTS(schemes); s++) {
		int fg = theme_style(schemes[s], ROLE_PART + p).fg;
		bool named = fg > 0 && fg < (int)G_N_ELEMENTS(names);

		g_assert_cmpstr(named ? names[fg] : "", ==, strchr("gon", hue[0]) && strcmp(hue, "green") ? "" : hue);
	}
}

/* Each part has the hue of its group. */
static void test_hues(void)
{
	unsigned all = 0;

	for (int g = 0; g < PART_GROUP_N; g++) {
		g_assert_cmpuint(all & part_groups[g].parts, ==, 0);
		all |= part_groups[g].parts;
	}
	g_assert_cmpuint(all, ==, (1u << PART_N) - 1);
	for (int p = 0; p < PART_N; p++) {
		check_256(p, documented_hue(p));
		check_8(p, documented_hue(p));
	}
}

/* Parts of different groups differ clearly; the first of each also for people who see less colour. */
static void test_groups_apart(void)
{
	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		for (int a = 0; a < PART_N; a++) {
			for (int b = 0; b < a; b++) {
				int first = theme_style(themes[s].scheme, ROLE_PART + a).fg;
				int second = theme_style(themes[s].scheme, ROLE_PART + b).fg;
				bool coloured = first >= 0 && second >= 0;

				if (part_group_of(a) == part_group_of(b) || !coloured ||
				    part_groups[part_group_of(a)].hue >= HUE_OUTLINE ||
				    part_groups[part_group_of(b)].hue >= HUE_OUTLINE)
					continue;
				g_test_message("%s %s", part_info[a].id, part_info[b].id);
				g_assert_cmpfloat(difference(first, second, normal), >=, 35);
				if (part_shade(a) || part_shade(b))
					continue;
				g_assert_cmpfloat(difference(first, second, deutan), >=, 5);
				g_assert_cmpfloat(difference(first, second, protan), >=, 5);
			}
		}
	}
}

/* Parts of one group differ in their shade. */
static void test_shades(void)
{
	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		for (int a = 0; a < PART_N; a++) {
			for (int b = 0; b < a; b++) {
				int first = theme_style(themes[s].scheme, ROLE_PART + a).fg;
				int second = theme_style(themes[s].scheme, ROLE_PART + b).fg;

				if (part_group_of(a) == part_group_of(b) && first >= 0)
					g_assert_cmpfloat(difference(first, second, normal), >=, 12);
			}
		}
	}
}

static void test_color_blind(void)
{
	static const enum role apart[][2] = {
		{ ROLE_COMPLETENESS, ROLE_DISTRUST }, { ROLE_LIVE, ROLE_PAUSED }, { ROLE_LIVE, ROLE_ERROR },
		{ ROLE_PAUSED, ROLE_ERROR }, { ROLE_SPARK, ROLE_HOT },
	};

	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		for (size_t i = 0; i < G_N_ELEMENTS(apart); i++) {
			int a = theme_style(themes[s].scheme, apart[i][0]).fg;
			int b = theme_style(themes[s].scheme, apart[i][1]).fg;

			g_assert_cmpfloat(difference(a, b, normal), >=, 15);
			g_assert_cmpfloat(difference(a, b, deutan), >=, 12);
			g_assert_cmpfloat(difference(a, b, protan), >=, 12);
		}
	}
}

/* From calm to alarm: never less red against green and blue; the hottest is a full red, neither pale nor dark. */
static void test_heat(void)
{
	for (size_t s = 0; s < G_N_ELEMENTS(themes); s++) {
		double red = -2, c[3];

		for (int i = 0; i < HEAT_LEVELS; i++) {
			int fg = theme_style(themes[s].scheme, ROLE_HEAT + i).fg;
			double blue_yellow, red_green;

			rgb_of(fg, c);
			blue_yellow = c[0] - c[2];
			red_green = c[0] - c[1];
			g_assert_cmpfloat(blue_yellow + red_green, >, red);
			red = blue_yellow + red_green;
			g_assert_true(i || (blue_yellow < 0 && red_green < 0));
			if (i)
				g_assert_cmpfloat(difference(fg, theme_style(themes[s].scheme, ROLE_HEAT + i - 1).fg,
							     normal), >=, 8);
		}
		g_assert_cmpfloat(c[0], >=, 0.6);
		g_assert_cmpfloat(MAX(c[1], c[2]), <=, 0.12);
		g_assert_cmpfloat(difference(theme_style(themes[s].scheme, ROLE_HEAT).fg,
					     theme_style(themes[s].scheme, ROLE_HEAT + 7).fg, deutan), >=, 25);
		g_assert_cmpfloat(difference(theme_style(themes[s].scheme, ROLE_HEAT).fg,
					     theme_style(themes[s].scheme, ROLE_HEAT + 7).fg, protan), >=, 25);
	}
}

/* The gradients of 24 bits: of cells with a shade, and not of the user's colours. */
static void test_shaded(void)
{
	static const enum scheme rgb[] = { SCHEME_DARK_RGB, SCHEME_LIGHT_RGB };
	static const enum role with[] = { ROLE_HEAT, ROLE_HEAT + 7, ROLE_SPARK };

	for (size_t i = 0; i < G_N_ELEMENTS(rgb) * G_N_ELEMENTS(with); i++) {
		enum scheme scheme = rgb[i % 2];
		enum role role = with[i / 2];
		struct style s = theme_style(scheme, role), own = { 208, -1, 0 };
		struct style least = theme_shaded(scheme, role, &s, 1, false);
		struct style most = theme_shaded(scheme, role, &s, SHADES, false);

		g_assert_true(least.fg & COLOR_RGB && most.fg & COLOR_RGB && least.fg != most.fg);
		g_assert_cmpint(theme_shaded(scheme, role, &s, 0, false).fg, ==, s.fg);
		g_assert_cmpint(theme_shaded(scheme, role, &own, 5, false).fg, ==, 208);
	}
	/* Columns of the graph: legible at each height, those that stand out differ from the others. */
	for (size_t t = 0; t < G_N_ELEMENTS(themes); t++) {
		enum scheme scheme = themes[t].scheme;
		struct style spark = theme_style(scheme, ROLE_SPARK), hot = theme_style(scheme, ROLE_HOT);

		for (unsigned shade = 1; shade <= SHADES; shade++) {
			int a = theme_shaded(scheme, ROLE_SPARK, &spark, shade, false).fg;
			int b = theme_shaded(scheme, ROLE_HOT, &hot, shade, false).fg;

			g_assert_cmpfloat(contrast(a, themes[t].background), >=, 3);
			g_assert_cmpfloat(contrast(b, themes[t].background), >=, 3);
			g_assert_cmpfloat(difference(a, b, normal), >=, 30);
			g_assert_cmpfloat(difference(a, b, deutan), >=, 12);
			g_assert_cmpfloat(difference(a, b, protan), >=, 12);
		}
	}
	for (int scheme = 0; scheme < SCHEME_DARK_RGB; scheme++) {
		struct style s = theme_style(scheme, ROLE_HEAT + 3);

		g_assert_cmpint(theme_shaded(scheme, ROLE_HEAT + 3, &s, SHADES, true).fg, ==, s.fg);
	}
	g_assert_cmpuint(theme_shade(0), ==, 1);
	g_assert_cmpuint(theme_shade(1), ==, SHADES);
	g_assert_cmpuint(theme_shade(7), ==, SHADES);
	/* Table cells: the steps of heat without a shade are those of the gradient. */
	for (int i = 0; i < HEAT_LEVELS; i++) {
		struct style s = theme_style(SCHEME_DARK_RGB, ROLE_HEAT + i);
		struct style same = theme_shaded(SCHEME_DARK_RGB, ROLE_HEAT + i, &s, theme_shade(i / 7.0), false);

		g_assert_cmpfloat(difference(s.fg, same.fg, normal), <, 6);
	}
}

static void test_theme_choice(void)
{
	struct style s;

	g_assert_cmpint(theme_choose(0, THEME_AUTO, COLORS_RGB, "", BACKGROUND_UNKNOWN, "0;15"), ==, SCHEME_LIGHT_RGB);
	g_assert_cmpint(theme_choose(0, THEME_DARK, COLORS_RGB, NULL, BACKGROUND_LIGHT, NULL), ==, SCHEME_DARK_RGB);
	g_assert_cmpint(theme_choose(0, THEME_DARK, COLORS_RGB, "1", BACKGROUND_DARK, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_choose(-1, THEME_DARK, COLORS_RGB, NULL, BACKGROUND_DARK, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_of_scheme(SCHEME_LIGHT_RGB), ==, THEME_LIGHT);
	g_assert_cmpint(theme_of_scheme(SCHEME_DARK_RGB), ==, THEME_DARK);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, NULL, BACKGROUND_UNKNOWN, "0;15"), ==, SCHEME_LIGHT_256);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 8, NULL, BACKGROUND_UNKNOWN, "0;default;7"), ==, SCHEME_LIGHT_8);
	g_assert_cmpint(theme_choose(0, THEME_AUTO, 256, NULL, BACKGROUND_UNKNOWN, "15;0"), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_DARK, 256, NULL, BACKGROUND_UNKNOWN, "0;15"), ==, SCHEME_DARK_256);
	g_assert_cmpint(theme_choose(0, THEME_LIGHT, 256, "1", BACKGROUND_UNKNOWN, NULL), ==, SCHEME_MONO);
	g_assert_cmpint(theme_choose(1, THEME_MONO, 256, NULL, BACKGROUND_UNKNOWN, NULL), ==, SCHEME_MONO);
	g_assert_true(theme_parse_style("  cyan on  236 bold underline", &s));
	g_assert_cmpint(s.fg, ==, 6);
	g_assert_cmpint(s.bg, ==, 236);
	g_assert_true(theme_parse_style("default", &s) && s.fg == -1 && !s.attr);
	g_assert_true(theme_parse_style("reverse", &s) && s.attr == STYLE_REVERSE);
	g_assert_true(theme_parse_style("#ff8000 on #00000A bold", &s));
	g_assert_cmphex((guint)s.fg, ==, COLOR_RGB | 0xff8000);
	g_assert_cmphex((guint)s.bg, ==, COLOR_RGB | 0x00000a);
	s = theme_own_style(SCHEME_DARK_256, ROLE_HOT, &s);
	g_assert_true(s.fg == 209 && s.bg == -1);
	g_assert_false(theme_parse_style("#ff80", &s));
	g_assert_false(theme_parse_style("#ff80000", &s));
	g_assert_false(theme_parse_style("#+f8000", &s));
	g_assert_false(theme_parse_style("#ff80zz", &s));
	g_assert_false(theme_parse_style("#0x12ab", &s));
	g_assert_false(theme_parse_style("", &s));
	g_assert_false(theme_parse_style("256", &s));
	g_assert_false(theme_parse_style("red blue", &s));
	g_assert_false(theme_parse_style("red on", &s));
	theme_parse_style("200 on 201", &s);
	s = theme_own_style(SCHEME_MONO, ROLE_ERROR, &s);
	g_assert_true(s.fg == -1 && s.bg == -1 && s.attr == STYLE_BOLD);
	for (int r = 0; r < ROLE_N; r++)
		g_assert_cmpint(theme_role_find(theme_role_id(r)), ==, r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/theme/contrast", test_contrast);
	g_test_add_func("/theme/hues", test_hues);
	g_test_add_func("/theme/groups-apart", test_groups_apart);
	g_test_add_func("/theme/shades", test_shades);
	g_test_add_func("/theme/color-blind", test_color_blind);
	g_test_add_func("/theme/heat", test_heat);
	g_test_add_func("/theme/shaded", test_shaded);
	g_test_add_func("/theme/choice", test_theme_choice);
	return g_test_run();
}
