/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of lines typed in prompts, for each kind of prompt, without duplicates, at most LIMIT_TYPED_LINES of a
 * kind. In its file each is a line "filter<Tab>LINE", the newest last.
 */
#ifndef BLK_UI_PROMPT_HISTORY_H
#define BLK_UI_PROMPT_HISTORY_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

struct prompt_history *prompt_history_new(void);
void prompt_history_free(struct prompt_history *r);		/* NULL is fine */

/* Copies the line and drops an equal older one. Ignores lines that cannot be typed. */
void prompt_history_add(struct prompt_history *r, const char *kind, const char *line);
/* The line that is `back` lines before the newest; NULL: there are fewer. */
const char *prompt_history_get(const struct prompt_history *r, const char *kind, size_t back);
bool prompt_history_changed(const struct prompt_history *r);	/* by prompt_history_add() */

/* Ignores lines that cannot be typed: control characters, invalid UTF-8, too long. */
void prompt_history_read(struct prompt_history *r, const char *text, size_t len);
/* The lines of `text` with those added to `r` after them, within the limits. Free with g_free. */
char *prompt_history_merge(const struct prompt_history *r, const char *text, size_t len);

#endif
