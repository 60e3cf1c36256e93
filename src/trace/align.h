/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets that are added to the clocks of host boots, so that the times of several hosts agree. Every reader adds
 * the offset to all timestamps of that boot's traces. A boot is identified by its clock's UUID; traces without one are
 * never changed. Clocks of files of spans have names of their own (state/store/span.h). The offsets are global, as all
 * readers of a trace (timeline, windows, log, saved ranges) must agree. Open sources do not change: install offsets
 * before opening, and read again what was read before. Any thread.
 */
#ifndef BLK_TRACE_ALIGN_H
#define BLK_TRACE_ALIGN_H

#include <stdint.h>

void align_install(const char *boot, int64_t ns);	/* replaces the boot's offset */
int64_t align_of(const char *boot);			/* ns to add; 0 for NULL, "" and boots without an offset */
char *align_text(void);		/* all offsets in one text (g_free), the same for the same offsets */

#endif
