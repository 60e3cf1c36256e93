/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of roles and schemes: see theme.h. */
#include "ui/theme.h"

#include "base/color.h"

#include <glib.h>
#include <string.h>

struct role_row {
	const char *id;
	uint8_t mono, attr;		/* STYLE_ bits: without colours; with colours */
	int16_t fg[4];			/* dark: of 8 colours, of 256; light: of 8, of 256 */
	int16_t bg[2];			/* dark, light: of 256; 0: the terminal's */
	uint8_t attr_8;			/* instead of .attr and .bg, where there are 8 colours */
};

#define MONO(attrs) { -1, -1, attrs }
#define C8(fg_, attrs) { fg_, -1, attrs }
#define L8(fg_, attrs) { fg_, -1, attrs }
#define C256(fg_, attrs) { fg_, -1, attrs }
#define B STYLE_BOLD
#define D STYLE_DIM
#define R STYLE_REVERSE
#define U STYLE_UNDERLINE

/* Of all roles but parts. 256 colours: hues that colour-blind users can distinguish. */
static const struct role_row roles[ROLE_N] = {
	[ROLE_TEXT] = { "text", .fg = { -1, -1, -1, -1 } },
	[ROLE_DIM] = { "dim", .fg = { -1, 245, -1, 242 } },
	[ROLE_TITLE] = { "title", .fg = { 6, 117, 4, 24 } },
	[ROLE_CRUMB] = { "crumb", B, B, .fg = { -1, -1, -1, -1 } },
	[ROLE_LIVE] = { "live", B, B, .fg = { 2, 114, 4, 25 } },
	[ROLE_PAUSED] = { "paused", B, B, .fg = { 3, 221, 5, 130 } },
	[ROLE_COMPLETENESS] = { "trust", .fg = { 2, 108, 4, 24 } },
	[ROLE_DISTRUST] = { "distrust", B, B, .fg = { 1, 209, 1, 124 } },
	[ROLE_HEADER] = { "header", U, 0, .fg = { 6, 109, 4, 24 } },
	[ROLE_SORTED] = { "sorted", B | U, B, .fg = { 6, 153, 4, 18 } },
	[ROLE_SELECTED] = { "selected", R, B, .fg = { -1, -1, -1, -1 }, .bg = { 237, 252 }, .attr_8 = R },
	[ROLE_MARKED] = { "marked", B, B, .fg = { 1, 209, 1, 124 } },
	[ROLE_OPEN] = { "open", B, 0, .fg = { 3, 179, 5, 94 } },
	[ROLE_KEY] = { "key", B, B, .fg = { -1, -1, -1, -1 } },
	[ROLE_KEYNAME] = { "keyname", .fg = { 6, 109, 4, 24 } },
	[ROLE_STATUS] = { "status", .fg = { -1, -1, -1, -1 } },
	[ROLE_ERROR] = { "error", B, B, .fg = { 1, 209, 1, 124 } },
	[ROLE_COACH] = { "coach", R, 0, .fg = { 3, 16, 5, 16 }, .bg = { 179, 222 }, .attr_8 = R },
	[ROLE_WHY] = { "why", B, B, .fg = { 3, 221, 5, 88 } },
	[ROLE_SPARK] = { "spark", .fg = { 6, 67, 4, 25 } },
	[ROLE_HOT] = { "hot", B, B, .fg = { 1, 209, 1, 124 } },
	[ROLE_MATCH] = { "match", B | U, B | U, .fg = { 3, 221, 5, 130 } },
	[ROLE_AXIS] = { "axis", .fg = { -1, 245, -1, 242 } },
	[ROLE_PROVISIONAL] = { "soft", .fg = { 3, 179, 5, 94 } },
	[ROLE_UNREAD] = { "unread", .fg = { -1, 245, -1, 242 } },
	[ROLE_HEAT + 0] = { "heat0", .fg = { 6, 73, 4, 25 } },
	[ROLE_HEAT + 1] = { "heat1", .fg = { 6, 72, 4, 24 } },
	[ROLE_HEAT + 2] = { "heat2", .fg = { 2, 108, 6, 23 } },
	[ROLE_HEAT + 3] = { "heat3", .fg = { 2, 143, 6, 58 } },
	[ROLE_HEAT + 4] = { "heat4", .fg = { 3, 179, 5, 94 } },
	[ROLE_HEAT + 5] = { "heat5", .fg = { 3, 215, 5, 130 } },
	[ROLE_HEAT + 6] = { "heat6", B, 0, .fg = { 1, 209, 1, 124 } },
	[ROLE_HEAT + 7] = { "heat7", B, B, .fg = { 1, 203, 1, 160 } },
};

#define HUE_SHADES 4

/* Shades of the hues of parts (part_groups), in the order of the schemes as above. */
static const struct style hues[HUE_N][HUE_SHADES][SCHEME_LIGHT_256 + 1] = {
	[HUE_GREEN] = {
		{ MONO(0), C8(2, 0), C256(71, 0), L8(2, 0), C256(28, 0) },
		{ MONO(0), C8(2, B), C256(114, 0), L8(2, B), C256(22, 0) },
		{ MONO(0), C8(2, 0), C256(34, 0), L8(2, 0), C256(29, 0) },
		{ MONO(B), C8(2, B), C256(120, 0), L8(2, B), C256(64, 0) },
	},
	[HUE_YELLOW] = {
		{ MONO(B), C8(3, 0), C256(178, 0), L8(3, 0), C256(136, 0) },
		{ MONO(B), C8(3, B), C256(220, 0), L8(3, B), C256(94, 0) },
	},
	[HUE_MAGENTA] = {
		{ MONO(B), C8(5, B), C256(170, 0), L8(5, 0), C256(127, 0) },
	},
	[HUE_RED] = {
		{ MONO(B), C8(1, B), C256(203, 0), L8(1, 0), C256(160, 0) },
		{ MONO(B), C8(1, B), C256(210, 0), L8(1, B), C256(196, 0) },
		{ MONO(B), C8(1, 0), C256(167, 0), L8(1, 0), C256(124, 0) },
	},
	[HUE_BLUE] = {
		{ MONO(B), C8(4, B), C256(75, 0), L8(4, 0), C256(26, 0) },
		{ MONO(B), C8(4, B), C256(69, 0), L8(4, B), C256(20, 0) },
		{ MONO(0), C8(4, 0), C256(117, 0), L8(4, 0), C256(32, 0) },
	},
	[HUE_GREY] = {
		{ MONO(0), C8(7, 0), C256(246, 0), L8(0, B), C256(242, 0) },
		{ MONO(B), C8(7, 0), C256(242, 0), L8(0, 0), C256(237, 0) },
	},
	[HUE_OUTLINE] = {
		{ MONO(0), C8(-1, 0), C256(245, 0), L8(-1, 0), C256(242, 0) },
	},
	[HUE_NONE] = {
		{ MONO(0), C8(-1, 0), C256(-1, 0), L8(-1, 0), C256(-1, 0) },
		{ MONO(0), C8(-1, 0), C256(-1, 0), L8(-1, 0), C256(-1, 0) },
	},
};

static bool is_part(enum role role)
{
	return role >= ROLE_PART && role < ROLE_HEAT;
}

/* In a scheme without 24-bit colours. */
static struct style style_of(enum scheme scheme, enum role role)
{
	const struct role_row *r = &roles[role];
	bool few = scheme == SCHEME_DARK_8 || scheme == SCHEME_LIGHT_8;
	int bg = few ? 0 : r->bg[scheme == SCHEME_LIGHT_256];

	if (is_part(role)) {
		enum part p = (enum part)(role - ROLE_PART);

		return hues[part_groups[part_group_of(p)].hue][part_shade(p)][scheme];
	}
	if (scheme == SCHEME_MONO)
		return (struct style){ -1, -1, r->mono };
	return (struct style){ r->fg[scheme - SCHEME_DARK_8], bg ? bg : -1, few && r->bg[0] ? r->attr_8 : r->attr };
}

const char *const theme_ids[THEME_N + 1] = { "auto", "dark", "light", "mono", NULL };

/* "15;0", "0;default;15": the last number is the background's; 7 and 15 are light. */
static bool is_light(const char *background)
{
	const char *last = background ? strrchr(background, ';') : NULL;

	return last && (!strcmp(last, ";7") || !strcmp(last, ";15"));
}

enum scheme theme_choose(int wanted, enum theme theme, int colors, const char *no_color,
			 enum theme_background answered, const char *background)
{
	bool light = theme == THEME_LIGHT;

	if (wanted < 0 || colors < 8 || theme == THEME_MONO)
		return SCHEME_MONO;
	if (wanted == 0 && no_color && *no_color)
		return SCHEME_MONO;
	if (theme == THEME_AUTO)
		light = answered == BACKGROUND_UNKNOWN ? is_light(background) : answered == BACKGROUND_LIGHT;
	if (colors >= COLORS_RGB)
		return light ? SCHEME_LIGHT_RGB : SCHEME_DARK_RGB;
	if (light)
		return colors >= 256 ? SCHEME_LIGHT_256 : SCHEME_LIGHT_8;
	return colors >= 256 ? SCHEME_DARK_256 : SCHEME_DARK_8;
}

static bool is_light_scheme(enum scheme scheme)
{
	return scheme == SCHEME_LIGHT_8 || scheme == SCHEME_LIGHT_256 || scheme == SCHEME_LIGHT_RGB;
}

static bool is_rgb(enum scheme scheme)
{
	return scheme == SCHEME_DARK_RGB || scheme == SCHEME_LIGHT_RGB;
}

/* The largest colour of a scheme; -1: it has none. */
static int last_color(enum scheme scheme)
{
	if (is_rgb(scheme))
		return COLOR_RGB | 0xffffff;
	return scheme == SCHEME_MONO ? -1 : scheme == SCHEME_DARK_8 || scheme == SCHEME_LIGHT_8 ? 7 : 255;
}

enum theme theme_of_scheme(enum scheme scheme)
{
	if (scheme == SCHEME_MONO)
		return THEME_MONO;
	return is_light_scheme(scheme) ? THEME_LIGHT : THEME_DARK;
}

static int32_t rgb(uint32_t color)
{
	return (int32_t)(COLOR_RGB | color);
}

struct style theme_style(enum scheme scheme, enum role role)
{
	g_assert((unsigned)role < ROLE_N && (unsigned)scheme < SCHEME_N);
	if (!is_rgb(scheme))
		return style_of(scheme, role);
	struct style s = style_of(is_light_scheme(scheme) ? SCHEME_LIGHT_256 : SCHEME_DARK_256, role);
	if (role >= ROLE_HEAT)
		s.fg = rgb(gradient_color(GRADIENT_HEAT, is_light_scheme(scheme),
					  (double)(role - ROLE_HEAT) / (HEAT_LEVELS - 1)));
	return s;
}

unsigned theme_shade(double share)
{
	return 1 + (unsigned)(CLAMP(share, 0, 1) * (SHADES - 1) + 0.5);
}

/* The colour of a role without a gradient, nearer to the background. */
static uint32_t faded(int32_t fg, bool light, double share)
{
	uint32_t color = fg < 0 ? (light ? 0x262626 : 0xd0d0d0) : fg & COLOR_RGB ? (uint32_t)fg & 0xffffff :
		color_of_number((unsigned)fg);

	return color_mix(color, light ? 0xffffff : 0, share);
}

struct style theme_shaded(enum scheme scheme, enum role role, const struct style *s, unsigned shade, bool solid)
{
	bool light = is_light_scheme(scheme), own = s->fg != theme_style(scheme, role).fg;
	double share = (double)(MAX(shade, 1) - 1) / (SHADES - 1);
	struct style ret = *s;

	if (!is_rgb(scheme) || !shade || own)
		return ret;
	if (role >= ROLE_HEAT)
		ret.fg = rgb(gradient_color(solid ? GRADIENT_DEPTH : GRADIENT_HEAT, light, share));
	else if (role == ROLE_SPARK)
		ret.fg = rgb(gradient_color(GRADIENT_GRAPH, light, share));
	else if (solid || role == ROLE_HOT)
		ret.fg = rgb(faded(s->fg, light, (solid ? 0.5 : 0.3) * (1 - share)));
	return ret;
}

unsigned theme_attrs(const struct style *s, unsigned extra)
{
	unsigned attr = s->attr | extra;

	if ((extra & STYLE_FILL) && s->fg >= 0)
		attr ^= STYLE_REVERSE;		/* a cell that stands out of a bar has STYLE_REVERSE, too */
	return attr & ~(STYLE_FILL | STYLE_SOLID | STYLE_SELECTED);
}

enum role theme_letter_role(char letter)
{
	enum part part = part_of_letter(letter);
	return part < PART_N ? (enum role)(ROLE_PART + part) : ROLE_AXIS;
}

const char *theme_role_id(enum role role)
{
	return is_part(role) ? part_info[role - ROLE_PART].id : roles[role].id;
}

int theme_role_find(const char *id)
{
	for (int i = 0; i < ROLE_N; i++) {
		if (!strcmp(theme_role_id((enum role)i), id))
			return i;
	}
	return -1;
}

/* A colour's number, -1 for the terminal's own, -2 when it is none. */
static int parse_color(const char *word)
{
	static const char *const names[] = {
		"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	};
	char *end;
	guint64 n;

	if (!strcmp(word, "default"))
		return -1;
	for (int i = 0; i < (int)G_N_ELEMENTS(names); i++) {
		if (!strcmp(word, names[i]))
			return i;
	}
	if (*word == '#') {
		bool digits = strlen(word) == 7 && strspn(word + 1, "0123456789abcdefABCDEF") == 6;
		return digits ? (int)(COLOR_RGB | g_ascii_strtoull(word + 1, NULL, 16)) : -2;
	}
	n = g_ascii_strtoull(word, &end, 10);
	return g_ascii_isdigit(*word) && !*end && n < 256 ? (int)n : -2;
}

static unsigned parse_attr(const char *word)
{
	static const struct { const char *word; unsigned attr; } words[] = {
		{ "bold", B }, { "dim", D }, { "reverse", R }, { "underline", U },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		if (!strcmp(word, words[i].word))
			return words[i].attr;
	}
	return 0;
}

bool theme_parse_style(const char *text, struct style *ret)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);
	struct style s = { -1, -1, 0 };
	bool any = false, behind = false;

	for (char **w = words; *w; w++) {
		int32_t *at = behind ? &s.bg : &s.fg;
		unsigned attr = parse_attr(*w);
		int color;

		if (!**w)
			continue;
		any = true;
		if (!strcmp(*w, "on") && !behind) {
			behind = true;
			continue;
		}
		s.attr |= (uint8_t)attr;
		if (attr)
			continue;
		color = parse_color(*w);
		if (color < -1 || *at >= 0)
			return false;
		*at = color;
	}
	*ret = s;
	return any && !(behind && s.bg < 0 && !strstr(text, "default"));
}

struct style theme_own_style(enum scheme scheme, enum role role, const struct style *own)
{
	struct style s = *own, had = theme_style(scheme, role);
	int most = last_color(scheme);

	if (s.fg > most)
		s.fg = had.fg;
	if (s.bg > most)
		s.bg = had.bg;
	/* Without colours and attributes the role would be invisible: keep the scheme's attributes. */
	if (most < 0 && !s.attr)
		s.attr = had.attr;
	return s;
}
