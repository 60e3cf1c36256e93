/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of lines typed in prompts, for each kind of prompt, without duplicates, at most LIMIT_TYPED_LINES of a
 * kind. In its file each is a line "filter<Tab>LINE", the newest last.
 */
#ifndef BLK_UI_RECALL_H
#define BLK_UI_RECALL_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

struct recall *recall_new(void);
void recall_free(struct recall *r);		/* NULL is fine */

/* Copies the line and drops an equal older one. Ignores lines that cannot be typed. */
void recall_add(struct recall *r, const char *kind, const char *line);
/* The line that is `back` lines before the newest; NULL: there are fewer. */
const char *recall_get(const struct recall *r, const char *kind, size_t back);
bool recall_changed(const struct recall *r);	/* by recall_add() */

/* Ignores lines that cannot be typed: control characters, invalid UTF-8, too long. */
void recall_read(struct recall *r, const char *text, size_t len);
/* The lines of `text` with those added to `r` after them, within the limits. Free with g_free. */
char *recall_merge(const struct recall *r, const char *text, size_t len);

#endif
