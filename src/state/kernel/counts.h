/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by thread: page faults, probe hits, perf counters and, on request, all events.
 *
 * Perf counters in events are running sums: of a CPU in kernel events, of a thread in its own user space events. The
 * difference between two switches of a CPU belongs to the thread that ran in between. The difference across a slice
 * border is added when slices are merged. What a CPU counted while events were lost belongs to no thread.
 */
#ifndef BLK_STATE_KERNEL_COUNTS_H
#define BLK_STATE_KERNEL_COUNTS_H

#include "state/kernel/event_class.h"
#include "state/kernel/slice_state.h"

struct counter {		/* of a CPU or of a thread */
	uint32_t name;		/* string */
	uint32_t losses;	/* number of losses of its CPU in this slice before .last */
	uint64_t first, last;	/* first and last value in the slice */
	int64_t first_ts;
	uint32_t first_thread;	/* the thread that ran before .first; ID_NONE: unknown */
};

/* thread: ID_NONE if unknown. */
void count_for(struct slice *s, int64_t ts, uint32_t host, uint32_t thread, enum count_kind kind,
	       uint32_t name, uint64_t value);
/* Counts a user space event whose thread is unknown, by its stream's CPU (UINT32_MAX: unknown, too). */
void count_on_cpu(struct slice *s, int64_t ts, uint32_t host, uint32_t cpu, uint32_t name);

/* Reads the event's counters into *all (allocated if NULL); differences count for `thread`. */
void counters_read(struct slice *s, GArray **all, uint32_t losses, const struct fed_event *f,
		   uint32_t thread);
/* Merging: appends the right's counters, with the left's ids, and frees them. losses: of the left CPU. */
void counters_join(struct slice *s, GArray **left, uint32_t losses, uint32_t host, GArray **right);
void counters_map(GArray *all, const uint32_t *string, const uint32_t *thread);

#endif
