/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads are counted for: page faults, hits of probes, perf counters, and, where
 * somebody asks, all events. Only for src/state/.
 *
 * A perf counter is told as a running sum: of a CPU (the kernel's; then each step between
 * two switches is the thread's that ran meanwhile) or of a thread (user space's own). The
 * step from before a slice to its first value is the left neighbour's to tell. What a CPU
 * counted while events were lost is nobody's.
 */
#ifndef BLK_STATE_KERNEL_COUNTS_H
#define BLK_STATE_KERNEL_COUNTS_H

#include "state/kernel/event_class.h"
#include "state/slice/slice_state.h"

struct counter {		/* of a CPU or of a thread */
	uint32_t name;		/* string */
	uint32_t losses;	/* of its CPU before .last, in this slice */
	uint64_t first, last;	/* values */
	int64_t first_ts;
	uint32_t first_thread;	/* who ran before .first; ID_NONE: unknown */
};

/* thread: ID_NONE where nobody knows. */
void count_for(struct slice *s, int64_t ts, uint32_t host, uint32_t thread, enum count_kind kind,
	       uint32_t name, uint64_t value);

/* The values that the event tells: steps of *all (made when it is NULL) are `thread`'s. */
void counters_told(struct slice *s, GArray **all, uint32_t losses, const struct feed *f,
		   uint32_t thread);
/* The right neighbour's, in the left's ids: consumed. losses: the left's. */
void counters_join(struct slice *s, GArray **left, uint32_t losses, uint32_t host, GArray **right);
void counters_map(GArray *all, const uint32_t *string, const uint32_t *thread);
void counters_free(GArray *all);		/* NULL is fine */

#endif
