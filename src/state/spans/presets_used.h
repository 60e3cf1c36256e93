/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines about the presets (state/spans/presets.h) whose events a trace has, for the screen and stderr. */
#ifndef BLK_STATE_SPANS_PRESETS_USED_H
#define BLK_STATE_SPANS_PRESETS_USED_H

#include "state/store/timeline.h"

struct presets_used {			/* begins as zeros */
	size_t n_names;			/* names of events that were looked at */
	char *line;			/* the newest */
};

/* The line (g_free) if there is one, and it was not the last: call it again while events come. */
char *presets_used_next(struct presets_used *u, const struct timeline *tl);
void presets_used_clear(struct presets_used *u);	/* frees what it has; it is zeros again */
/* The same at once; NULL: none is in use, or offered. */
char *presets_used_text(const struct timeline *tl);

#endif
