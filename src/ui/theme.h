/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roles say what a cell means. A scheme has colours and attributes for every role; screens use roles, never colours.
 * No information is in colour alone, so mono is a complete scheme. All schemes suit colour-blind users: good and bad
 * differ in lightness, and heat goes from blue and green over yellow to red. The hue of a part is that of its group
 * (state/store/part.h).
 *
 * Schemes of 24 bits have gradients for heat and graphs (base/color.h); else they are those of 256 colours.
 */
#ifndef BLK_UI_THEME_H
#define BLK_UI_THEME_H

#include "views/view.h"

enum role {
	ROLE_TEXT, ROLE_DIM, ROLE_TITLE, ROLE_CRUMB, ROLE_LIVE, ROLE_PAUSED,
	ROLE_COMPLETENESS, ROLE_DISTRUST, ROLE_HEADER, ROLE_SORTED, ROLE_SELECTED, ROLE_MARKED,
	ROLE_OPEN, ROLE_KEY, ROLE_KEYNAME, ROLE_STATUS, ROLE_ERROR, ROLE_COACH, ROLE_WHY,
	ROLE_SPARK, ROLE_HOT, ROLE_MATCH, ROLE_AXIS, ROLE_PROVISIONAL, ROLE_UNREAD,
	ROLE_PART,		/* + enum part: one for each part of a thread's time */
	ROLE_HEAT = ROLE_PART + PART_N,	/* + 0 .. HEAT_LEVELS - 1: little to much */
	ROLE_N = ROLE_HEAT + 8
};
#define HEAT_LEVELS 8

#define STYLE_BOLD 1u
#define STYLE_DIM 2u
#define STYLE_REVERSE 4u
#define STYLE_UNDERLINE 8u
#define STYLE_FILL 16u		/* of cells: inverts STYLE_REVERSE if the role has a colour: letters become a bar */
#define STYLE_SOLID 32u		/* of cells with a shade: an area, see struct cell */
#define STYLE_SELECTED 64u	/* of cells: on the background of ROLE_SELECTED, if the scheme has one */

#define COLOR_RGB (1 << 24)	/* a colour that is no number of the terminal: COLOR_RGB | 0xRRGGBB */
#define COLORS_RGB (1 << 24)	/* the number of colours of a terminal with 24-bit colours */

struct style {
	int32_t fg, bg;		/* colour numbers of the terminal, -1: its default; or COLOR_RGB */
	uint8_t attr;		/* STYLE_ bits */
};

#define SHADES 24		/* steps of a gradient, a multiple of HEAT_LEVELS */

/* The user's choice. THEME_AUTO: as the terminal answers (ui/background.h), else by $COLORFGBG, else dark. */
enum theme { THEME_AUTO, THEME_DARK, THEME_LIGHT, THEME_MONO, THEME_N };
extern const char *const theme_ids[THEME_N + 1];	/* NULL at the end */

enum scheme {
	SCHEME_MONO, SCHEME_DARK_8, SCHEME_DARK_256, SCHEME_LIGHT_8, SCHEME_LIGHT_256, SCHEME_DARK_RGB,
	SCHEME_LIGHT_RGB, SCHEME_N
};

enum theme_background { BACKGROUND_UNKNOWN, BACKGROUND_DARK, BACKGROUND_LIGHT };

/* Which scheme: `colors` as the terminal has them (COLORS_RGB: 24 bits); `wanted` < 0 never, > 0 always,
 * 0 as NO_COLOR and the terminal say; `answered` is what the terminal answered, `background` is $COLORFGBG or NULL. */
enum scheme theme_choose(int wanted, enum theme theme, int colors, const char *no_color,
			 enum theme_background answered, const char *background);
enum theme theme_of_scheme(enum scheme scheme);		/* never THEME_AUTO */
struct style theme_style(enum scheme scheme, enum role role);
/* The same of a place in the role's gradient: shade 1 to SHADES, 0: none. ROLE_HOT and
 * areas of other roles fade to the background. `s`: the style of the role, perhaps the
 * user's, which has no gradient. solid: of an area. */
struct style theme_shaded(enum scheme scheme, enum role role, const struct style *s, unsigned shade, bool solid);
unsigned theme_shade(double share);	/* the shade of 0 to 1 */
enum role theme_letter_role(char letter);	/* of a part's letter; ROLE_AXIS: no part has it */
/* The attributes of a cell with this style and `extra` ones, without those that only cells have. */
unsigned theme_attrs(const struct style *s, unsigned extra);
const char *theme_role_id(enum role role);		/* "title", "disk", "heat3" */
int theme_role_find(const char *id);			/* -1: no such role */

/* A style of the user's: "cyan bold", "209 on 237 underline", "default". A colour is a
 * name, a number below 256 or #RRGGBB. */
bool theme_parse_style(const char *text, struct style *ret);
/* The user's style in a scheme: without colours in mono; with the scheme's colour if the terminal does not have the
 * user's. */
struct style theme_own_style(enum scheme scheme, enum role role, const struct style *own);

#endif
