/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read for the log: the account's rows that follow threads, system calls and names, with all
 * fields of each event beside the ones that the handlers want. Only for src/state/.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_ROWS_H
#define BLK_STATE_CALLLOG_CALLLOG_ROWS_H

#include "state/kernel/event_class.h"
#include "state/kernel/syscalls.h"

struct log_row {
	handler on;		/* the account's; NULL: the event is only a line */
	uint8_t all;		/* slot of the field "*" */
};

/* Of both tables of journal.h, whose rows have the same numbers. */
const struct log_row *log_row(unsigned row);

#endif
