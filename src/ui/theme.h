/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roles say what a cell means. A scheme has colours and attributes for every role; screens use roles, never colours.
 * No information is in colour alone, so mono is a complete scheme. All schemes suit colour-blind users: good and bad
 * differ in lightness, and heat goes from blue and green over yellow to red. The hue of a part is that of its group
 * (state/store/part.h).
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

struct style {
	int16_t fg, bg;		/* colour numbers of the terminal, -1: its default */
	uint8_t attr;		/* STYLE_ bits */
};

/* The user's choice. THEME_AUTO: as the terminal answers (ui/background.h), else by $COLORFGBG, else dark. */
enum theme { THEME_AUTO, THEME_DARK, THEME_LIGHT, THEME_MONO, THEME_N };
extern const char *const theme_ids[THEME_N + 1];	/* NULL at the end */

enum scheme {
	SCHEME_MONO, SCHEME_DARK_8, SCHEME_DARK_256, SCHEME_LIGHT_8, SCHEME_LIGHT_256, SCHEME_N
};

enum theme_background { BACKGROUND_UNKNOWN, BACKGROUND_DARK, BACKGROUND_LIGHT };

/* Which scheme: `colors` as the terminal has them; `wanted` < 0 never, > 0 always,
 * 0 as NO_COLOR and the terminal say; `answered` is what the terminal answered, `background` is $COLORFGBG or NULL. */
enum scheme theme_choose(int wanted, enum theme theme, int colors, const char *no_color,
			 enum theme_background answered, const char *background);
enum theme theme_of_scheme(enum scheme scheme);		/* never THEME_AUTO */
const struct style *theme_style(enum scheme scheme, enum role role);
enum role theme_letter_role(char letter);	/* of a part's letter; ROLE_AXIS: no part has it */
/* The attributes of a cell with this style and `extra` ones, without STYLE_FILL. */
unsigned theme_attrs(const struct style *s, unsigned extra);
const char *theme_role_id(enum role role);		/* "title", "disk", "heat3" */
int theme_role_find(const char *id);			/* -1: no such role */

/* A style of the user's: "cyan bold", "209 on 237 underline", "default". A colour is a
 * name or a number below 256. */
bool theme_parse_style(const char *text, struct style *ret);
/* The user's style in a scheme: without colours in mono; with the scheme's colour if the terminal does not have the
 * user's. */
struct style theme_own_style(enum scheme scheme, enum role role, const struct style *own);

#endif
