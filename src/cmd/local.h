/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live session of this machine, around a screen or a batch run: it is made, read like any live session, and
 * destroyed. Also snapshots and programs, on request or for alerts. Main thread only; blocking work is done by the
 * session helper, a process of its own (live/session/helper.h).
 */
#ifndef BLK_CMD_LOCAL_H
#define BLK_CMD_LOCAL_H

#include "cli/command.h"

struct local;
struct threshold;

/* Makes the session after the user agreed, and calls `run` with options that have its URL. The exit status is that of
 * the followed program, if it ended by itself. */
int local_run(const struct options *o, int (*run)(const struct options *o));
int local_sweep(const struct options *o);	/* --sweep */

/* For readers of the session. They do not block; with `l` NULL they do nothing. */

/* To be called regularly: starts the followed program when the reader is attached. */
void local_tick(struct local *l, struct input *in);
/* Ends the program and the recording. What was recorded arrives, and then the source ends. */
void local_stop(struct local *l);
/* Why the kernel is not recorded; "": it is. Borrowed; not NULL. */
const char *local_no_kernel(const struct local *l);
/* When the followed program was started, ns since the epoch. INT64_MAX: not yet; INT64_MIN: there is no program. */
int64_t local_program_ns(const struct local *l);
/* What is to be done when a threshold is reached: a snapshot, the program of --exec-on-alert. */
void local_alert(struct local *l, const struct threshold *t, const char *reason);
/* The next message for the user (g_free); NULL: none now. */
char *local_next_message(struct local *l, bool *ret_error);
/* No event of it is known: why, and what to do next (g_free); as ui_backend.nothing. `ended`: none will come. */
char *local_nothing(const struct local *l, bool ended);
/* Requests a snapshot. false: there is no snapshot session. *ret_message (g_free) says so, or that it was requested;
 * the result is a later message. */
bool local_snapshot(struct local *l, char **ret_message);

#endif
