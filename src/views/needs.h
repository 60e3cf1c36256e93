/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a view needs, one by one: there or not, and what would record them. */
#ifndef BLK_VIEWS_NEEDS_H
#define BLK_VIEWS_NEEDS_H

#include "views/view.h"

struct need {
	char *events;		/* "sched_switch", "a or b", "syscall_*" */
	bool there;		/* in this trace: one of them is enough */
};

/* Of struct need, freed with it; empty where the view needs nothing. */
GPtrArray *needs_of(const struct view *v, const struct timeline *tl);
/* The lttng commands (char *, freed with it) that enable what lacks in the current
 * session; empty when nothing does. */
GPtrArray *needs_commands(const struct view *v, const struct timeline *tl);
/* What to do about losses: a command as one would type it, for the channel of the kernel,
 * or, where a trace has only user-space events, of those. Constant text. */
const char *needs_for_losses(const struct timeline *tl);

/* The missing events of the view as one text: "sched_switch, sched_waking". NULL: the trace has all of
 * them. Free with g_free(). */
char *view_lacks(const struct view *v, const struct timeline *tl);

#endif
