/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks of host boots that are to be moved, so that several hosts agree: what every reader
 * adds to the instants of traces of that boot. By the clock's uuid; one without is never
 * moved. Of the process, as all that reads a trace (timeline, windows, log, ranges that are
 * saved) has to agree: install before sources are opened, for those that are open keep
 * theirs. What was read before is to be read again. Any thread.
 */
#ifndef BLK_TRACE_ALIGN_H
#define BLK_TRACE_ALIGN_H

#include <stdint.h>

void align_install(const char *boot, int64_t ns);	/* in place of what that boot had */
int64_t align_of(const char *boot);			/* ns to add; NULL, "", others: 0 */

#endif
