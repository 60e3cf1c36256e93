/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roles: what a cell means. A scheme gives every role its colours and attributes;
 * screens name roles and never colours. Nothing is told by colour alone, so mono
 * is a scheme like any other.
 */
#ifndef BLK_UI_THEME_H
#define BLK_UI_THEME_H

#include <stdbool.h>
#include <stdint.h>

enum role {
	ROLE_TEXT, ROLE_DIM, ROLE_TITLE, ROLE_CRUMB, ROLE_LIVE, ROLE_PAUSED,
	ROLE_TRUST, ROLE_DISTRUST, ROLE_HEADER, ROLE_SORTED, ROLE_SELECTED, ROLE_MARKED,
	ROLE_OPEN, ROLE_KEY, ROLE_KEYNAME, ROLE_STATUS, ROLE_ERROR, ROLE_COACH, ROLE_WHY,
	ROLE_SPARK, ROLE_HOT, ROLE_MATCH, ROLE_AXIS, ROLE_SOFT, ROLE_UNREAD,
	ROLE_PART,		/* + enum part: one a cause of time */
	ROLE_N = ROLE_PART + 16
};

#define STYLE_BOLD 1u
#define STYLE_DIM 2u
#define STYLE_REVERSE 4u
#define STYLE_UNDERLINE 8u

struct style {
	int16_t fg, bg;		/* colour numbers of the terminal, -1: its default */
	uint8_t attr;		/* STYLE_ bits */
};

enum scheme { SCHEME_MONO, SCHEME_DARK_8, SCHEME_DARK_256, SCHEME_N };

/* Which scheme: `colors` as the terminal has them; `wanted` < 0 never, > 0 always,
 * 0 as NO_COLOR and the terminal say. */
enum scheme theme_choose(int wanted, int colors, const char *no_color);
const struct style *theme_style(enum scheme scheme, enum role role);
const char *theme_role_id(enum role role);

#endif
