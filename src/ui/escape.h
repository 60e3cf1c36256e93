/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape sequences of keys that the terminal's description does not have: a terminal
 * often sends others than TERM says (Home of PuTTY and tmux, Shift-Left in screen). Taken
 * apart they would be Esc and keys that do something.
 */
#ifndef BLK_UI_ESCAPE_H
#define BLK_UI_ESCAPE_H

#include <glib.h>
#include <stdbool.h>

#define ESCAPE_MAX 16		/* longer ones are no keys */

/* May this follow Esc as the begin of a sequence? */
bool escape_begins(gunichar c);
/* Is it whole: `s` is what followed Esc so far? */
bool escape_is_whole(const char *s);
/* The key (ui/keys.h) of a whole one; UI_KEY_OTHER: it has none here. */
int escape_key(const char *s);

#endif
