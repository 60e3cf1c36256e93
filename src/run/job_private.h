/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of a job, for src/run/ only: job.c is for the main thread, job_thread.c for the reading thread.
 *
 * Both hold a reference to struct shared, so a thread that hangs in a library can outlive its job. Publications pass
 * through a GAsyncQueue and wake-ups through an eventfd; everything else is under the mutex.
 */
#ifndef BLK_RUN_JOB_PRIVATE_H
#define BLK_RUN_JOB_PRIVATE_H

#include "run/job.h"
#include "run/parallel.h"
#include "run/preview.h"

/* Live, the shortest time between two malloc_trim(): what is freed in a second is used again in the next one. */
#define TRIM_LIVE_US (10 * G_USEC_PER_SEC)

struct post {
	struct publication *publication;
	int64_t closed_to;		/* the timeline is final before this instant once it is applied */
	int kib;			/* size of its spans */
	unsigned corrected;		/* number of its seconds that were decoded again */
};

/* The seconds of [from, to), decoded again; for the model. */
struct redecoded {
	struct publication *publication;
	int64_t from, to;
};

struct shared {
	gatomicrefcount refs;
	GAsyncQueue *posts;		/* struct post * */
	int queued_kib;			/* atomic: size of spans in .posts */
	GAsyncQueue *redecoded;		/* struct redecoded * */
	GAsyncQueue *messages;		/* char *: job_take_message() */
	int collected;			/* atomic: number of posts collected; wraps around */
	int event_fd;
	int stop;			/* atomic: stop reading */
	int discard;			/* atomic: posts are not collected any more */

	/* the reading thread's */
	job_open open;
	void *data;
	GDestroyNotify free_data;
	struct job_options options;
	int64_t started_us;
	struct cache *cache;		/* what is posted is stored there; NULL: nowhere. Borrowed */

	GMutex lock;			/* what follows */
	GCond changed;			/* the phase, or stop */
	struct source *source;		/* for cancelling; NULL: none */
	struct parallel *parallel;
	struct preview *preview;	/* NULL: none */
	int64_t retained_from;		/* as timeline_retained_from() of the owner's timeline */
	struct view_range shown_range;		/* the newest job_show_range(), for a preview that is made later */
	struct outline *outline;
	struct job_status status;	/* .message, .reader, .warning, .remark owned */
	bool ended;			/* all is posted */
	bool previews_ended;			/* the job is being freed: no more previews */
	bool thread_done;			/* the thread will only return */
};

void shared_unref(struct shared *s);
void shared_wake_owner(struct shared *s);

void *job_thread_main(void *shared);	/* takes over one reference */

#endif
