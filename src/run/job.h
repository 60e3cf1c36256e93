/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job: a thread that reads a source, feeds a model and posts publications to the
 * owner of the timeline; with helpers, where a trace can be read in pieces. All
 * functions are the main thread's.
 *
 *     struct job *j = job_start(open_fn, data, free_fn, &options);
 *     poll(job_fd(j)) ... job_collect(j, tl) ...
 *     job_free(j);
 *
 * The threads never touch the timeline. A thread that hangs in a library (a relay
 * that went silent) is abandoned, not waited for.
 *
 * A trace in pieces is shown before it is read:
 *
 *     job_outline()		bytes and losses over its whole time, from the index alone
 *     job_look()		"the screen shows these instants"
 *     job_take_preview()	a timeline of just these instants, read ahead of all else
 *     job_collect()		the timeline itself, hard, from the trace's begin on
 */
#ifndef BLK_RUN_JOB_H
#define BLK_RUN_JOB_H

#include "base/look.h"
#include "base/watch.h"
#include "run/pieces.h"
#include "state/slice/model.h"
#include "state/store/timeline.h"

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
	char *reader;		/* "native", "babeltrace2: WHY NOT NATIVE"; NULL: not known
				 * (yet), or live. Borrowed as message is */
	char *warning;		/* NULL, or one line: what of the trace is left out, as it can't be
				 * read at all; live: by now. Borrowed as message is */
	unsigned jobs;		/* threads that read; 1 without pieces */
	unsigned pieces_done, pieces;	/* stitched, and all; 0: not read in pieces */
	int64_t final_to_ns;	/* the timeline is final before this instant; TIME_UNKNOWN:
				 * nowhere yet. Once DONE: past the trace's end; what was stopped
				 * or failed is final as far as it was read */
	double index_progress;	/* 0..1 of the packet index; < 0: no index is used */
	int64_t closed_to_ns;	/* of what was collected: seconds before it that are not in the timeline
				 * had no event. TIME_UNKNOWN: nothing is closed yet */
	uint64_t late;		/* live: events that came too late for their seconds */
	unsigned corrected;	/* live: seconds that were made again since, and collected; of kept
				 * ones only */
	bool corrects;		/* live: what comes is kept, so that this is done */
	bool has_missing;	/* live: .missing tells something */
	struct missing missing;	/* by now */
};

struct job_options {
	struct model_options model;
	int64_t publish_every_ns;	/* wall clock between posts; 0: 100 ms */

	/* Of traces that can be read in pieces: */
	unsigned threads;	/* that read; 0: one a core */
	unsigned slices;	/* pieces; 0: as bytes and threads ask for */
	size_t memory;		/* what the whole may hold (--memory); 0: no bound */
	bool preview;		/* somebody looks: job_outline, job_take_preview */
	int64_t look_ns;	/* the instant looked at first; 0: the trace's end */

	bool without_spans;	/* nobody asks for spans: none are made */
	bool skip_free;		/* the process exits soon after: do not free the model */
};

struct job;

/* What needs no model: makes publications itself, on the job's thread. */
struct job_maker {
	/* The next one; NULL: there are no more, and *error: it failed. */
	struct publication *(*next)(void *self, GError **error);
	char *(*warning)(void *self);	/* at the end: as in struct job_status (g_free), or NULL */
	GDestroyNotify free;
	void *self;			/* NULL: there is no maker */
};

/* What is to be read: one of a source, pieces and a maker (which needs no model) is set; or a live source
 * together with the pieces, which grow (piece_ops.renew), where what it delivers is kept. These are looked
 * at, and read again for what came late. */
struct job_trace {
	struct source *source;
	struct pieces pieces;
	struct job_maker maker;
	char *reader, *warning;		/* as in struct job_status, g_free()d by the job */
	/* Set by the job: a .maker tells how far it is, also while it is opened (from then on the job is
	 * LOADING), and ends with what it has when it is asked to. */
	const struct watch *watch;
};
/* Runs on the job's thread; its data is freed there with `free_data` (may be NULL)
 * when reading has ended, before the source is: a last chance to forget the source. */
typedef bool (*job_open)(void *data, struct job_trace *ret, GError **error);
struct job *job_start(job_open open, void *data, GDestroyNotify free_data,
		      const struct job_options *options);

int job_fd(const struct job *j);	/* an eventfd, readable when there is something to collect */
/* Applies what was posted, at least one and for no longer than a tenth of a second: then
 * job_fd() is readable again. Anything? */
bool job_collect(struct job *j, struct timeline *tl);
void job_get_status(struct job *j, struct job_status *ret);

/*
 * The newest outline of the whole trace: a reference of the caller's, or NULL (nothing
 * known yet, or no reader that could tell). It comes before the first record is read and,
 * where packets have no index files, again while they are walked (.complete: the last
 * one). job_fd() rings for each.
 */
struct outline *job_outline(struct job *j);

/*
 * The screen shows these instants from now on. What the main pass has not come to is read
 * ahead: what is looked at first, then a wider window around it. Where it is said that
 * the timeline can't answer (look->again), windows are decoded out of turn, at any step;
 * also when all is read, as long as the job is there. Cheap: call it whenever it may have
 * changed.
 */
void job_look(struct job *j, const struct look *look);

/*
 * A timeline of what job_look() asked for: of the window *ret, and nothing but (whole
 * steps but at the trace's ends). Rows are real; unless it is exact, they lack what came
 * before (names, calls that were pending): soft. The caller's; it replaces the one taken
 * before (wider, exact, or elsewhere). NULL: nothing new. job_fd() rings for each.
 * Without look.again none is made for what job_status.hard_to_ns has passed.
 */
struct timeline *job_take_preview(struct job *j, struct look_window *ret);

void job_cancel(struct job *j);		/* asks it to stop; returns at once. Looks go on */
/* Waits until the job is DONE, CANCELLED or FAILED, or timeout_ms (-1: for ever)
 * has passed, collecting meanwhile; true when it has ended. For batch use. */
bool job_wait(struct job *j, struct timeline *tl, int timeout_ms);
void job_free(struct job *j);		/* cancels; abandons a thread that hangs. NULL is fine */

#endif
