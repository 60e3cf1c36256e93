/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Aligns the clocks of hosts. The offsets are measured from calls between hosts (views/clocks.h) and apply to all
 * readers that are opened later (trace/align.h). --align-hosts reads the trace once to measure, or listens to a live
 * session for some seconds; the screen measures from what was read so far. A clock is moved only if its offset
 * exceeds the error of the measurement. Main thread only.
 */
#ifndef BLK_APP_HOST_CLOCKS_H
#define BLK_APP_HOST_CLOCKS_H

#include "app/exit_code.h"
#include "app/reading.h"

#include "state/store/timeline.h"

/* Can clocks be moved? False: *ret_message (g_free) says why not, with the name of a slice file. */
bool hosts_can_align(const struct read_options *o, char **ret_message);

/* --align-hosts. Prints what was moved, or why nothing was. all_spans: however much memory they need. EXIT_FINE, else
 * the exit status after a printed error. */
int hosts_align(const struct read_options *o, bool all_spans);

/* Measures from tl and moves clocks. true: a clock was moved, so the trace must be read again. *ret_message (g_free):
 * what was moved, or why nothing was, in one line. */
bool hosts_move(const struct timeline *tl, char **ret_message);

#endif
