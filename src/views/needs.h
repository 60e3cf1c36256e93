/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a view needs, whether the trace has them, and the commands that record them. */
#ifndef BLK_VIEWS_NEEDS_H
#define BLK_VIEWS_NEEDS_H

#include "views/view.h"

struct need {
	char *events;		/* "sched_switch", "a or b", "syscall_*" */
	bool there;		/* the trace has at least one of them */
};

/* Does the trace have it? "a|b": one of them is enough. Also words of registry.h (NEED_*). */
bool view_has_need(const struct timeline *tl, const char *need);

/* struct need, owned by the array; empty if the view needs no events. */
GPtrArray *needs_of(const struct view *v, const struct timeline *tl);
/* The lttng commands (char *, owned by the array) that enable the missing events in the current session; empty if none
 * is missing. */
GPtrArray *needs_commands(const struct view *v, const struct timeline *tl);

/* The missing events of the view as one text: "sched_switch, sched_waking". NULL: the trace has all of
 * them. Free with g_free(). */
char *view_missing_text(const struct view *v, const struct timeline *tl);

#endif
