/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The background of the terminal, asked with OSC 11. The answer comes among the keys, at any time or never, in any
 * number of pieces, and it is hostile input: what is no answer is ignored, and nothing of it becomes a key.
 *
 *     background_asked(&b);			// BACKGROUND_QUERY was written
 *     ... after Esc and c: if (background_begins(&b, before, c)) ...
 *     while (background_is_open(&b)) background_take(&b, next byte);
 *     if (b.color != BACKGROUND_UNKNOWN) ...
 */
#ifndef BLK_UI_BACKGROUND_H
#define BLK_UI_BACKGROUND_H

#include "ui/theme.h"

#include "base/limits.h"

#include <glib.h>

/* Colour, then the kind of terminal: nearly every terminal answers the second, in this order, so that no one waits for
 * the first in vain. */
#define BACKGROUND_QUERY "\033]11;?\033\\\033[c"

struct background {
	enum theme_background color;
	bool asked;			/* the query was written */
	bool has_kind;			/* the second answer came */
	enum { BACKGROUND_NONE, BACKGROUND_OSC, BACKGROUND_OSC_ESC, BACKGROUND_CSI } open;
	char text[LIMIT_TERMINAL_ANSWER_BYTES + 1];	/* of OSC so far, a string */
	size_t len;
	bool too_long;
};

enum background_taken {
	BACKGROUND_MINE,		/* a part of an answer, perhaps its end */
	BACKGROUND_KEY,			/* not of the answer, which ended: it is a key */
	BACKGROUND_ESC_KEY,		/* so are Esc and this character */
};

void background_asked(struct background *b);
/* Do these characters after Esc begin an answer? first 0: `c` is the first one. Opens the answer. */
bool background_begins(struct background *b, gunichar first, gunichar c);
bool background_is_open(const struct background *b);
enum background_taken background_take(struct background *b, int c);
/* Ends an answer that stays incomplete. */
void background_abort(struct background *b);

#endif
