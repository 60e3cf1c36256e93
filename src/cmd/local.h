/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session of this machine, around a screen or a batch run: made, watched by the normal live
 * way, destroyed; and snapshots, by hand or by a rule. The main thread's; what blocks is done
 * by the session helper (live/session/helper.h), a process of its own.
 */
#ifndef BLK_CMD_LOCAL_H
#define BLK_CMD_LOCAL_H

#include "cli/options.h"

struct local;

/* Makes what `o` asks for, once the user has agreed, and calls `run` with options that say
 * where it is. The exit code: the program's own, if one was run and ended by itself. */
int local_run(const struct options *o, int (*run)(const struct options *o));
int local_sweep(const struct options *o);	/* --sweep */

/* For who reads the session; `l` may be NULL: nothing happens then. Quick. */

/* Now and then: lets the program run when the reader is attached. */
void local_tick(struct local *l, struct input *in);
/* When the program that is followed began, ns since the epoch: seconds that ended before
 * are of the session alone. INT64_MAX: not yet; INT64_MIN: there is no program. */
int64_t local_program_ns(const struct local *l);
/* After the timeline may have changed: holds the rule against seconds that were closed. */
void local_watch(struct local *l, const struct timeline *tl);
/* A line that the user should see (g_free); NULL: none now. */
char *local_told(struct local *l, bool *ret_error);
/* By hand. false: there is no snapshot session; *ret_message (g_free) says so, or that it was
 * asked for: what came of it is told later. */
bool local_snapshot(struct local *l, char **ret_message);

#endif
