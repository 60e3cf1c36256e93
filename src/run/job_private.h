/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two sides of a job: job.c is the main thread's, job_thread.c the reading one's.
 *
 * What both touch is `struct shared`, which each of them holds a reference to: a
 * thread that hangs in a library keeps its part alive when the job itself is long
 * gone. Publications cross by a GAsyncQueue, wake-ups by an eventfd, everything else
 * is under the mutex. Only for src/run/.
 */
#ifndef BLK_RUN_JOB_PRIVATE_H
#define BLK_RUN_JOB_PRIVATE_H

#include "run/job.h"
#include "run/parallel.h"
#include "run/preview.h"

struct post {
	struct publication *publication;
	int64_t closed_to;		/* with it, the timeline is final before that */
	int kib;			/* of its spans */
	unsigned corrected;		/* seconds in it that were read again */
};

/* Seconds of [from, to) that were read again, for the model. */
struct again {
	struct publication *publication;
	int64_t from, to;
};

struct shared {
	gatomicrefcount refs;
	GAsyncQueue *posts;		/* struct post * */
	int queued_kib;			/* atomic: of spans, in posts */
	GAsyncQueue *again;		/* struct again * */
	int collected;			/* atomic: posts so far, wraps around */
	int event_fd;
	int stop;			/* atomic: end soon */
	int discard;			/* atomic: nobody collects any more */

	/* Only the thread's. */
	job_open open;
	void *data;
	GDestroyNotify free_data;
	struct job_options options;
	int64_t started_us;

	GMutex lock;			/* what follows */
	GCond changed;			/* the phase, or stop */
	struct source *source;		/* to cancel them; NULL while there is none */
	struct parallel *parallel;
	struct preview *preview;	/* NULL: none (any more) */
	int64_t kept_from;		/* as the owner's timeline_retained_from(); TIME_UNKNOWN: not known */
	struct look look;		/* told before there was one */
	struct outline *outline;
	struct job_status status;	/* .message, .reader, .warning owned */
	bool ended;			/* everything is posted */
	bool unwanted;			/* the owner is going: no looks any more */
	bool gone;			/* the thread only has to return */
};

void shared_unref(struct shared *s);
void shared_wake_owner(struct shared *s);

void *job_thread_main(void *shared);	/* takes over one reference */

#endif
