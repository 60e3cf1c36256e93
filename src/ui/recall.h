/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines typed in prompts, of each kind of prompt, the newest last; none twice, and at
 * most LIMIT_TYPED_LINES of a kind. As text for a file: a line each, "filter<Tab>LINE".
 */
#ifndef BLK_UI_RECALL_H
#define BLK_UI_RECALL_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

struct recall *recall_new(void);
void recall_free(struct recall *r);		/* NULL is fine */

/* Copied; an older one that is the same goes. Nothing that is no text is taken. */
void recall_add(struct recall *r, const char *kind, const char *line);
/* `back` 0 is the newest; NULL: there are not so many. */
const char *recall_get(const struct recall *r, const char *kind, size_t back);
bool recall_changed(const struct recall *r);	/* by recall_add() */

/* What can't be a line typed (control characters, no UTF-8, too long) is left out. */
void recall_read(struct recall *r, const char *text, size_t len);
/* What was added to `r` goes behind the lines of `text`; both bounded. Free with g_free. */
char *recall_merge(const struct recall *r, const char *text, size_t len);

#endif
