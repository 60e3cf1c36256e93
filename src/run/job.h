/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job: a thread that reads a trace, feeds a model and posts publications to the owner of the timeline. A trace that
 * can be read in pieces is read by several threads. All functions are for the main thread.
 *
 *     struct job *j = job_start(open_fn, data, free_fn, &options);
 *     poll(job_fd(j)) ... job_collect(j, tl) ...
 *     job_free(j);
 *
 * The threads never touch the timeline. A thread that hangs in a library is abandoned.
 *
 * A trace in pieces is shown before it is read:
 *
 *     job_outline()		bytes and losses over the whole trace, from the packet index
 *     job_show_range()		sets the range that the screen shows
 *     job_take_preview()	a timeline of this range only, read before all else
 *     job_collect()		the timeline itself, final, from the trace's beginning on
 */
#ifndef BLK_RUN_JOB_H
#define BLK_RUN_JOB_H

#include "base/view_range.h"
#include "base/watch.h"
#include "run/pieces.h"
#include "state/publish/model.h"
#include "state/store/timeline.h"

enum job_phase {
	JOB_OPENING,		/* the source is being opened / connected */
	JOB_LOADING,		/* records flow (live: attached) */
	JOB_DONE,		/* the source has ended; all is posted */
	JOB_CANCELLED,		/* job_cancel(); what was read is posted */
	JOB_FAILED,		/* .message says what, on what, why; what was read is posted */
};

struct job_status {
	enum job_phase phase;
	double progress;	/* 0..1; < 0: unknown */
	uint64_t n_events;	/* read so far */
	double events_per_s;	/* since the start */
	int64_t newest_ns;	/* newest instant read; TIME_UNKNOWN: none */
	char *message;		/* NULL or one line, borrowed until the next call */
	char *reader;		/* "native", "babeltrace2: WHY NOT NATIVE"; NULL: unknown or
				 * live. Borrowed as message is */
	char *warning;		/* NULL, or one line: what is left out because it cannot be read;
				 * live: until now. Borrowed as message is */
	char *remark;		/* NULL, or one line: what is unusual, though nothing is left out. Borrowed as message
				 * is */
	char *cache;		/* what happened with the cache (cache_message()), or NULL. Borrowed as message is */
	unsigned jobs;		/* threads that read; 1 without pieces */
	unsigned pieces_done, pieces;	/* merged pieces, all pieces; 0: not read in pieces */
	int64_t final_to_ns;	/* the timeline is final before this instant; TIME_UNKNOWN: nothing
				 * is final. DONE: past the trace's end. CANCELLED, FAILED: up to
				 * where it was read */
	double index_progress;	/* 0..1 of the packet index; < 0: no index */
	int64_t closed_to_ns;	/* seconds before it that the timeline does not have had no event;
				 * TIME_UNKNOWN: no second is closed */
	uint64_t late;		/* live: events that arrived after their second was published */
	unsigned corrected;	/* live: seconds that were decoded again because of these, and
				 * collected; only of stored packets */
	bool corrects;		/* live: packets are stored, so late events are corrected */
	bool has_missing;	/* live: .missing is valid */
	struct missing missing;	/* what was not received, until now */
};

struct job_options {
	struct model_options model;
	int64_t publish_every_ns;	/* shortest time between posts; 0: 100 ms */

	/* only for traces in pieces: */
	unsigned threads;	/* that read; 0: as parallel_choose() */
	unsigned slices;	/* number of pieces; 0: chosen from bytes and threads */
	size_t memory;		/* bytes: --memory; 0: no bound */
	bool preview;		/* for a screen: provide job_outline(), job_take_preview() */
	int64_t preview_ns;	/* the instant to preview first; 0: the trace's end */

	bool without_spans;	/* make no spans */
	bool skip_free;		/* the process exits soon after: do not free the model */
};

struct job;

/* A maker makes publications itself, without a model, on the job's thread (export/import). */
struct job_maker {
	/* The next publication; NULL without *error: there are no more. It is called once more after the job was
	 * stopped, to publish what was read. */
	struct publication *(*next)(void *self, GError **error);
	char *(*warning)(void *self);	/* called at the end: as in struct job_status (g_free), or NULL */
	GDestroyNotify free;
	void *self;			/* NULL: no maker */
};

/* Slices that others make, in order of time. There can be more later. */
struct job_slices {
	/* The next slice; NULL: there is none now. *ret_more: false after the last one. */
	struct slice *(*next)(void *self, bool *ret_more);
	char *(*message)(void *self);	/* the next line about what was left out (g_free), or NULL */
	GDestroyNotify free;
	void *self;			/* NULL: no slices */
};

/* What to read: a source, pieces, slices or a maker. A live source whose packets are stored has also pieces, which grow
 * (piece_ops.renew): previews are read from them, and seconds with late events are decoded again. */
struct job_trace {
	struct source *source;
	struct pieces pieces;
	struct job_slices slices;
	struct job_maker maker;		/* it may have pieces, too: then previews are read from these */
	char *reader, *warning;		/* as in struct job_status, g_free()d by the job */
	struct cache *cache;		/* of .pieces (cache.h), freed by the job; or NULL */
	/* Set by the job: a .maker reports its progress here, also while it is opened (then the job is LOADING), and
	 * stops when the callback returns false. */
	const struct watch *watch;
	const int *stop;		/* set by the job, as source_stop_by() takes it */
};
/* Opens the trace on the job's thread. `data` is freed there with `free_data` (may be NULL) when reading has ended,
 * before the source is freed. */
typedef bool (*job_open)(void *data, struct job_trace *ret, GError **error);
struct job *job_start(job_open open, void *data, GDestroyNotify free_data,
		      const struct job_options *options);

int job_fd(const struct job *j);	/* an eventfd, readable when there is something to collect or take */
/* Applies posted publications: at least one, and for at most a tenth of a second. If some remain, job_fd() stays
 * readable. False: there was none. */
bool job_collect(struct job *j, struct timeline *tl);
void job_get_status(struct job *j, struct job_status *ret);
/* Of slices that others make: the next line about what was left out, once (g_free); NULL: nothing new. */
char *job_take_message(struct job *j);

/*
 * The newest outline of the whole trace, a new reference; NULL: none yet, or the reader has none. It is made before
 * the first record is read, and again while files without index are scanned (the last one is .complete). Each
 * makes job_fd() readable.
 */
struct outline *job_outline(struct job *j);

/*
 * Sets the range that the screen shows. If the main pass has not reached it, it is read ahead: first this range, then
 * wider windows around it. If the timeline cannot show it (look->again), windows are decoded separately, at any step;
 * also after all was read. Cheap: call it whenever the range may have changed.
 */
void job_show_range(struct job *j, const struct view_range *range);

/*
 * A timeline of the window *ret, for the range of job_show_range(); whole steps, except at the trace's ends. Unless it
 * is exact, rows are provisional: names and pending calls from before are missing. The timeline is the caller's, and
 * replaces the one taken before. NULL: nothing new. Each makes job_fd() readable. Without look.again none is made
 * before job_status.final_to_ns.
 */
struct timeline *job_take_preview(struct job *j, struct decoded_range *ret);

void job_cancel(struct job *j);		/* asks it to stop reading; returns at once. Previews are still made */
/* Waits until the job is DONE, CANCELLED or FAILED, or timeout_ms (-1: for ever)
 * has passed, collecting meanwhile; true when it has ended. For batch use. */
bool job_wait(struct job *j, struct timeline *tl, int timeout_ms);
void job_free(struct job *j);		/* cancels; abandons a thread that hangs. NULL is fine */

#endif
