/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscription rows of the log: those of the model that follow threads, system calls and names. They have all
 * fields of each event (field "*") in addition to those that the handlers need. For calllog.c and kernel/feed.c.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_PRIVATE_H
#define BLK_STATE_CALLLOG_CALLLOG_PRIVATE_H

#include "state/calllog/calllog.h"
#include "state/kernel/event_class.h"
#include "state/kernel/syscalls.h"
#include "state/kernel/handlers.h"
#include "state/slice/slice_state.h"

struct log_row {
	handler on;		/* the model's handler; NULL: the event only gives a line */
	uint8_t all;		/* slot of the field "*" */
};

/* A row of calllog_subscriptions() and of calllog_name_subscriptions(), which have the same numbers. */
const struct log_row *log_row(unsigned row);

#endif
