/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop save: writes a range of a recorded trace as a trace (trace/native/cut.h). */
#ifndef BLK_CMD_SAVE_H
#define BLK_CMD_SAVE_H

#include "app/read_options.h"
#include "trace/native/cut.h"

/* Writes the range to the directory `to`. Returns the exit status. */
int save_write(const struct read_options *read, const char *to, bool statedump);

/* "3 streams, 12 packets, 1.2M, 14:03:05.123 to 14:03:07.456; 2 damaged packets are left
 * out": describes what was saved (g_free). */
char *save_describe(const struct trace_cut *cut, const struct trace_cut_result *r);

#endif
