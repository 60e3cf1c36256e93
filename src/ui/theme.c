/* SPDX-License-Identifier: GPL-2.0-only */
/* The schemes, as rows of one table: see theme.h. */
#include "ui/theme.h"

#include <stddef.h>

struct role_row {
	const char *id;
	struct style style[SCHEME_N];	/* mono, 8 colours, 256 colours */
};

#define MONO(attrs) { -1, -1, attrs }
#define C8(fg_, attrs) { fg_, -1, attrs }
#define C256(fg_, attrs) { fg_, -1, attrs }
#define B STYLE_BOLD
#define D STYLE_DIM
#define R STYLE_REVERSE
#define U STYLE_UNDERLINE

/* 256 colours: hues that stay apart for colour-blind eyes; every one has its letter. */
static const struct role_row roles[ROLE_N] = {
	[ROLE_TEXT] = { "text", { MONO(0), C8(-1, 0), C256(-1, 0) } },
	[ROLE_DIM] = { "dim", { MONO(0), C8(-1, 0), C256(245, 0) } },
	[ROLE_TITLE] = { "title", { MONO(0), C8(6, 0), C256(117, 0) } },
	[ROLE_CRUMB] = { "crumb", { MONO(B), C8(-1, B), C256(-1, B) } },
	[ROLE_LIVE] = { "live", { MONO(B), C8(2, B), C256(114, B) } },
	[ROLE_PAUSED] = { "paused", { MONO(B), C8(3, B), C256(221, B) } },
	[ROLE_TRUST] = { "trust", { MONO(0), C8(2, 0), C256(108, 0) } },
	[ROLE_DISTRUST] = { "distrust", { MONO(B), C8(1, B), C256(209, B) } },
	[ROLE_HEADER] = { "header", { MONO(U), C8(6, 0), C256(109, 0) } },
	[ROLE_SORTED] = { "sorted", { MONO(B | U), C8(6, B), C256(153, B) } },
	[ROLE_SELECTED] = { "selected", { MONO(R), C8(-1, R), { -1, 237, B } } },
	[ROLE_MARKED] = { "marked", { MONO(B), C8(1, B), C256(209, B) } },
	[ROLE_OPEN] = { "open", { MONO(B), C8(3, 0), C256(179, 0) } },
	[ROLE_KEY] = { "key", { MONO(B), C8(-1, B), C256(-1, B) } },
	[ROLE_KEYNAME] = { "keyname", { MONO(0), C8(6, 0), C256(109, 0) } },
	[ROLE_STATUS] = { "status", { MONO(0), C8(-1, 0), C256(-1, 0) } },
	[ROLE_ERROR] = { "error", { MONO(B), C8(1, B), C256(209, B) } },
	[ROLE_COACH] = { "coach", { MONO(R), C8(3, R), { 16, 179, 0 } } },
	[ROLE_WHY] = { "why", { MONO(B), C8(3, B), C256(221, B) } },
	[ROLE_SPARK] = { "spark", { MONO(0), C8(6, 0), C256(67, 0) } },
	[ROLE_HOT] = { "hot", { MONO(B), C8(1, B), C256(209, B) } },
	[ROLE_MATCH] = { "match", { MONO(B | U), C8(3, B | U), C256(221, B | U) } },
	[ROLE_AXIS] = { "axis", { MONO(0), C8(-1, 0), C256(245, 0) } },
	[ROLE_SOFT] = { "soft", { MONO(0), C8(3, 0), C256(179, 0) } },
	[ROLE_UNREAD] = { "unread", { MONO(0), C8(-1, 0), C256(245, 0) } },
	[ROLE_PART + 0] = { "user", { MONO(0), C8(2, 0), C256(107, 0) } },
	[ROLE_PART + 1] = { "syscall", { MONO(0), C8(6, 0), C256(73, 0) } },
	[ROLE_PART + 2] = { "kernel", { MONO(0), C8(6, 0), C256(30, 0) } },
	[ROLE_PART + 3] = { "irq", { MONO(B), C8(6, B), C256(159, 0) } },
	[ROLE_PART + 4] = { "preempted", { MONO(B), C8(3, 0), C256(178, 0) } },
	[ROLE_PART + 5] = { "wakeup", { MONO(B), C8(3, B), C256(221, 0) } },
	[ROLE_PART + 6] = { "disk", { MONO(B), C8(1, 0), C256(167, 0) } },
	[ROLE_PART + 7] = { "socket", { MONO(B), C8(4, B), C256(75, 0) } },
	[ROLE_PART + 8] = { "pipe", { MONO(B), C8(4, 0), C256(110, 0) } },
	[ROLE_PART + 9] = { "futex", { MONO(B), C8(5, B), C256(170, 0) } },
	[ROLE_PART + 10] = { "timer", { MONO(0), C8(5, 0), C256(139, 0) } },
	[ROLE_PART + 11] = { "poll", { MONO(0), C8(4, 0), C256(61, 0) } },
	[ROLE_PART + 12] = { "fault", { MONO(B), C8(1, B), C256(203, 0) } },
	[ROLE_PART + 13] = { "handoff", { MONO(0), C8(-1, 0), C256(180, 0) } },
	[ROLE_PART + 14] = { "other", { MONO(0), C8(-1, 0), C256(250, 0) } },
	[ROLE_PART + 15] = { "unknown", { MONO(0), C8(-1, 0), C256(245, 0) } },
};

enum scheme theme_choose(int wanted, int colors, const char *no_color)
{
	if (wanted < 0 || colors < 8)
		return SCHEME_MONO;
	if (wanted == 0 && no_color && *no_color)
		return SCHEME_MONO;
	return colors >= 256 ? SCHEME_DARK_256 : SCHEME_DARK_8;
}

const struct style *theme_style(enum scheme scheme, enum role role)
{
	return &roles[role].style[scheme];
}

const char *theme_role_id(enum role role)
{
	return roles[role].id;
}
