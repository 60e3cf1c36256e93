/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job: one thread that reads a source, feeds a model and posts publications to
 * the owner of the timeline. All functions are the main thread's.
 *
 *     struct job *j = job_start(open_fn, data, free_fn, &options);
 *     poll(job_fd(j)) ... job_collect(j, tl) ...
 *     job_free(j);
 *
 * The thread never touches the timeline. A thread that hangs in a library (a relay
 * that went silent) is abandoned, not waited for.
 */
#ifndef BLK_RUN_JOB_H
#define BLK_RUN_JOB_H

#include "state/model.h"
#include "trace/reader.h"

enum job_phase {
	JOB_OPENING,		/* the source is being opened / connected */
	JOB_LOADING,		/* records flow (live: attached) */
	JOB_DONE,		/* the source has ended; everything is posted */
	JOB_CANCELLED,		/* job_cancel(); what was read is posted */
	JOB_FAILED,		/* .message says what, on what, why; what was read is posted */
};

struct job_status {
	enum job_phase phase;
	double progress;	/* 0..1, < 0 unknown */
	uint64_t n_events;	/* read so far */
	double events_per_s;	/* since the start */
	int64_t newest_ns;	/* newest instant read; TIME_UNKNOWN: none */
	char *message;		/* NULL or one line, borrowed until the next call */
};

struct job_options {
	struct model_options model;
	int64_t publish_every_ns;	/* wall clock between posts; 0: 100 ms */
};

struct job;

/* Runs on the job's thread; its data is freed there with `free_data` (may be NULL)
 * when reading has ended, before the source is: a last chance to forget the source. */
typedef struct source *(*job_open)(void *data, GError **error);

struct job *job_start(job_open open, void *data, GDestroyNotify free_data,
		      const struct job_options *options);
int job_fd(const struct job *j);	/* an eventfd, readable when there is something to collect */
bool job_collect(struct job *j, struct timeline *tl);	/* applies what was posted; anything? */
void job_get_status(struct job *j, struct job_status *ret);
void job_cancel(struct job *j);		/* asks it to stop; returns at once */
/* Waits until the job is DONE, CANCELLED or FAILED, or timeout_ms (-1: for ever)
 * has passed, collecting meanwhile; true when it has ended. For batch use. */
bool job_wait(struct job *j, struct timeline *tl, int timeout_ms);
void job_free(struct job *j);		/* cancels; abandons a thread that hangs. NULL is fine */

#endif
