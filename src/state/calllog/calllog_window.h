/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A piece of the journal as the screen asks for it and gets it: lines around an instant, or
 * what the system did at one. Plain data that crosses threads whole.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_WINDOW_H
#define BLK_STATE_CALLLOG_CALLLOG_WINDOW_H

#include "state/calllog/calllog.h"

enum journal_ask {
	ASK_AFTER,			/* lines from at_ns on */
	ASK_BEFORE,			/* lines before at_ns */
	ASK_INSTANT,			/* what goes on at at_ns */
};

struct journal_want {
	enum journal_ask ask;
	int64_t at_ns;
	int64_t until_ns;		/* of what grows: not all has come from there on; 0: it does not */
	int32_t pid, tid;		/* lines of these alone; -1: all. ASK_INSTANT: who it is about */
	char host[64];			/* ASK_INSTANT: where; "" else */
};

struct journal_cpu { uint32_t cpu; int32_t tid; GRefString *comm; };	/* tid -1: not known */

struct journal_window {
	struct journal_want want;
	int64_t from_ns, to_ns;		/* covered: no line of it is missing */
	bool at_begin, at_end;		/* nothing before, behind */
	bool names;			/* descriptors have names from before it */
	GPtrArray *lines;		/* struct journal_line *, by time. ASK_INSTANT: calls in progress */
	GArray *fds;			/* ASK_INSTANT: struct journal_fd, open ones of want.pid */
	GArray *cpus;			/* ASK_INSTANT: struct journal_cpu, by number */
	char *error;			/* NULL, or why there is nothing */
};
struct journal_window *journal_window_new(const struct journal_want *want);
void journal_window_free(struct journal_window *w);	/* NULL is fine */

/* Sorts the lines; one line for each call of which both ends are there. */
void journal_join_lines(GPtrArray *lines);

#endif
