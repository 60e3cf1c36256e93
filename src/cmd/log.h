/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop log: prints the calls and events of a range, as they are read. */
#ifndef BLK_CMD_LOG_H
#define BLK_CMD_LOG_H

#include "cli/command.h"
#include "state/calllog/calllog.h"

/* Returns the exit status. */
int log_print(const struct read_options *read, const struct shown_options *o);
/* Calls back with every line of the whole trace (the callback owns it). False after a printed error. */
bool log_each_line(const struct read_options *read, calllog_emit emit, void *data);

#endif
