/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a trace in pieces on several threads: workers make slices; the caller takes them in order of time and merges
 * (stitches) them.
 *
 *     struct parallel *p = parallel_start(&pieces, &plan);
 *     while ((st = parallel_next(p, &slice, until, &error)) <= PARALLEL_LATER)
 *             if (st == PARALLEL_SLICE)
 *                     model_stitch(m, slice);
 *     parallel_free(p);
 *
 * At most a few finished slices wait for the caller; then workers wait. So memory does not depend on the trace's
 * length.
 */
#ifndef BLK_RUN_PARALLEL_H
#define BLK_RUN_PARALLEL_H

#include "run/pieces.h"

struct slice;

struct parallel_plan {
	unsigned threads, slices;	/* both > 0 */
	unsigned most;			/* most slices that are read as one, while much is left */
	int64_t most_ns;		/* longest time of these together; 0: no bound */
	int64_t step_ns;
	bool background;		/* workers run at lower priority */
};

/*
 * Chooses the plan for a trace. `threads`, `slices`: as requested, 0: choose (one thread for each core; one
 * alone for a small trace); `memory`: bytes, 0: no bound. With one slice nothing is merged.
 */
struct parallel_plan parallel_choose(const struct pieces *p, unsigned threads, unsigned slices,
				     size_t memory);

/* Bytes of read buffers for each of n_sources sources. */
size_t parallel_buffers(unsigned n_sources);

struct parallel;
/* Borrows the trace, which must be indexed() (pieces.h). */
struct parallel *parallel_start(const struct pieces *p, const struct parallel_plan *plan);
void parallel_free(struct parallel *p);		/* stops, waits for the workers; NULL is fine */

enum parallel_status {
	PARALLEL_SLICE,		/* *ret is set; it is the caller's */
	PARALLEL_LATER,		/* no slice was ready by `until_us` (monotonic, us) */
	PARALLEL_END,		/* all slices were taken */
	PARALLEL_STOPPED,	/* parallel_stop() */
	PARALLEL_ERROR,		/* *error; *ret: the slice up to the error, or NULL */
};
enum parallel_status parallel_next(struct parallel *p, struct slice **ret, int64_t until_us,
				   GError **error);

/* Any thread: makes the workers and parallel_next() end soon. */
void parallel_stop(struct parallel *p);

unsigned parallel_n_slices(const struct parallel *p);	/* may be less than planned */
unsigned parallel_n_done(const struct parallel *p);	/* given to the caller */
double parallel_progress(struct parallel *p);		/* 0..1, of bytes, all threads */
uint64_t parallel_n_events(struct parallel *p);		/* read so far, all threads */
/* Bytes of spans in slices that are not taken yet, estimated. */
size_t parallel_span_bytes(struct parallel *p);

#endif
