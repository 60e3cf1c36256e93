/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a trace in pieces on several threads: workers make slices, the caller gets
 * them in order of time, ready to be stitched.
 *
 *     struct parallel *p = parallel_start(&pieces, &plan);
 *     while ((st = parallel_next(p, &slice, until, &error)) <= PARALLEL_LATER)
 *             if (st == PARALLEL_SLICE)
 *                     model_stitch(m, slice);
 *     parallel_free(p);
 *
 * At most a few finished slices wait for the caller: who reads faster than they are
 * stitched waits, so that memory does not depend on the trace's length.
 */
#ifndef BLK_RUN_PARALLEL_H
#define BLK_RUN_PARALLEL_H

#include "run/pieces.h"

struct slice;

struct parallel_plan {
	unsigned threads, slices;	/* both > 0 */
	unsigned most;			/* while much is left, so many slices are read as one */
	int64_t most_ns;		/* but no more of time than that; 0: no bound */
	int64_t step_ns;
	bool background;		/* with less urgency than other threads */
};

/*
 * What is best for a trace: `threads` and `slices` as asked for (0: choose), `memory`
 * in bytes (0: no bound). One slice means that nothing is stitched.
 */
struct parallel_plan parallel_choose(const struct pieces *p, unsigned threads, unsigned slices,
				     size_t memory);

/* Bytes of buffers for each of so many sources. */
size_t parallel_buffers(unsigned n_sources);

struct parallel;
/* Borrows the trace, which must be indexed. */
struct parallel *parallel_start(const struct pieces *p, const struct parallel_plan *plan);
void parallel_free(struct parallel *p);		/* stops, waits for the workers; NULL is fine */

enum parallel_status {
	PARALLEL_SLICE,		/* *ret is the caller's */
	PARALLEL_LATER,		/* not ready at `until_us` (monotonic) */
	PARALLEL_END,		/* that was all */
	PARALLEL_STOPPED,	/* parallel_stop() */
	PARALLEL_ERROR,		/* *error; *ret: what its piece had before, or NULL */
};
enum parallel_status parallel_next(struct parallel *p, struct slice **ret, int64_t until_us,
				   GError **error);

/* From any thread: the workers end soon, and so does parallel_next(). */
void parallel_stop(struct parallel *p);

unsigned parallel_n_slices(const struct parallel *p);	/* may be less than planned */
unsigned parallel_n_done(const struct parallel *p);	/* given to the caller */
double parallel_progress(struct parallel *p);		/* 0..1, of bytes, all threads */
uint64_t parallel_n_events(struct parallel *p);		/* read so far, all threads */
/* What slices that are not taken yet hold for spans: bytes, about. */
size_t parallel_span_bytes(struct parallel *p);

#endif
