/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks of hosts that are moved to where their calls of each other agree: what the spans tell
 * of them (views/clocks.h) is told to every reader from then on (trace/align.h). For
 * --align-hosts the trace is read once for that, a live session for some seconds; on the screen
 * what was read so far tells. What is not significant, that is not more than its error, is
 * not moved. Main thread.
 */
#ifndef BLK_APP_HOST_CLOCKS_H
#define BLK_APP_HOST_CLOCKS_H

#include "cli/options.h"

#include "state/store/timeline.h"

/* EXIT_FINE, also where there is nothing to move (that is told); else the program's exit
 * code, after the message was printed. */
int hosts_align(const struct options *o);

/* Of what was read: true where a clock is moved now, so that all has to be read again.
 * *ret_told (g_free): what was done, or why nothing was, in one line. */
bool hosts_move(const struct timeline *tl, char **ret_told);

#endif
