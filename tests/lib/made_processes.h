/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live run of processes with buffers of their own: each is a trace and a stream, makes one request (two
 * annotations of a span, half of ns_a_process long) and ends MADE_ALIVE processes later. From the feed through the
 * model into a timeline, as the live job does it.
 */
#ifndef BLK_TEST_MADE_PROCESSES_H
#define BLK_TEST_MADE_PROCESSES_H

#include "state/publish/model.h"
#include "state/store/timeline.h"
#include "trace/native/native_feed.h"

#define MADE_ALIVE 100

struct made_processes {
	struct native_feed *feed;
	struct source *source;
	struct model *model;
	struct timeline *timeline;
	int64_t ns_a_process;			/* from the begin of one to that of the next; set by who makes it */
	int32_t (*pid_of)(unsigned i);		/* likewise */
	bool counts;				/* events are counted by thread, and do not say which one it is */
	unsigned n;				/* begun so far */
	struct made_process { unsigned trace, stream; } alive[MADE_ALIVE];
};

void made_processes_init(struct made_processes *m, size_t memory, bool counts);
void made_processes_run(struct made_processes *m, unsigned n);	/* so many more */
void made_processes_end(struct made_processes *m);		/* of all; the last publication */
void made_processes_clear(struct made_processes *m);

#endif
