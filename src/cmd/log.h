/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop log: prints the calls and events of a range, as they are read. */
#ifndef BLK_CMD_LOG_H
#define BLK_CMD_LOG_H

#include "cli/options.h"
#include "state/calllog/calllog.h"

int print_log(const struct options *o);		/* the exit status */
/* Calls back with every line of the whole trace (the callback owns it). False after a printed error. */
bool log_each_line(const struct options *o, calllog_emit emit, void *data);

#endif
