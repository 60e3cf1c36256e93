/* SPDX-License-Identifier: GPL-2.0-only */
/* The messages of the screen with their time (key !). The newest LIMIT_MESSAGES are retained, others are counted. */
#ifndef BLK_UI_MESSAGES_H
#define BLK_UI_MESSAGES_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct messages;

struct messages *messages_new(void);
void messages_free(struct messages *m);		/* NULL is fine */

/* Copies text. A message equal to the last one is counted with it. */
void messages_add(struct messages *m, int64_t at_ns, bool error, const char *text);
uint64_t messages_version(const struct messages *m);	/* grows with each message */
/* Lines of at most `cols` columns (char *, visible text, freed by the array), oldest first. Long messages are
 * wrapped. */
GPtrArray *messages_lines(const struct messages *m, unsigned cols);

#endif
