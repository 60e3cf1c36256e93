/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape sequences of keys that are missing in the terminal's description: terminals often send others than TERM says
 * (Home of PuTTY and tmux, Shift-Left in screen). Read as single characters they would be Esc and other keys.
 */
#ifndef BLK_UI_ESCAPE_H
#define BLK_UI_ESCAPE_H

#include <glib.h>
#include <stdbool.h>

#define ESCAPE_MAX 16		/* bytes; longer sequences are not keys */

/* Can this character after Esc begin a sequence? */
bool escape_begins(gunichar c);
/* Is the sequence complete? s: the characters after Esc. */
bool escape_is_whole(const char *s);
/* The key (ui/keys.h) of a complete sequence; UI_KEY_OTHER: unknown. */
int escape_key(const char *s);

#endif
