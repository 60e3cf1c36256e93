/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A window of the log: lines around an instant, or the state of the system at one (pending calls, open descriptors,
 * running threads). The screen requests it with a struct calllog_want. Plain data, passed as a whole between threads.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_WINDOW_H
#define BLK_STATE_CALLLOG_CALLLOG_WINDOW_H

#include "state/calllog/calllog.h"

enum calllog_ask {
	ASK_AFTER,			/* lines from at_ns on */
	ASK_BEFORE,			/* lines before at_ns */
	ASK_INSTANT,			/* the state at at_ns */
};

struct calllog_want {
	enum calllog_ask ask;
	int64_t at_ns;
	int64_t until_ns;		/* of a growing input: later data is incomplete; 0: the input does not grow */
	int32_t pid, tid;		/* only lines of these; -1: all. ASK_INSTANT: the process and the thread */
	char host[64];			/* ASK_INSTANT: host of .pid and .tid; else "" */
};

struct calllog_window {
	struct calllog_want want;
	int64_t from_ns, to_ns;		/* range that is covered completely */
	bool at_begin, at_end;		/* no lines exist before it, after it */
	bool names;			/* names of descriptors from before the window are known */
	GPtrArray *lines;		/* struct calllog_line *, by time. ASK_INSTANT: calls in progress */
	GArray *fds;			/* ASK_INSTANT: struct calllog_fd, open ones of want.pid */
	GArray *cpus;			/* ASK_INSTANT: struct calllog_cpu, by number */
	char *error;			/* NULL, or why there are no lines */
};
struct calllog_window *calllog_window_new(const struct calllog_want *want);
void calllog_window_free(struct calllog_window *w);	/* NULL is fine */

/* Sorts the lines, and joins entry and exit of a call to one line. */
void calllog_join_lines(GPtrArray *lines);

#endif
