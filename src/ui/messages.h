/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that the screen has said, with its time: what ! shows. Nothing goes before
 * LIMIT_MESSAGES; what goes then is counted.
 */
#ifndef BLK_UI_MESSAGES_H
#define BLK_UI_MESSAGES_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct messages;

struct messages *messages_new(void);
void messages_free(struct messages *m);		/* NULL is fine */

/* Copied. The same as the last one is counted with it. */
void messages_add(struct messages *m, int64_t at_ns, bool error, const char *text);
uint64_t messages_version(const struct messages *m);	/* grows with each */
/* Lines of at most `cols` columns to show (char *, visible, freed by the array), the
 * oldest first; long messages go on below, indented. */
GPtrArray *messages_lines(const struct messages *m, unsigned cols);

#endif
