/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A closed second: what happened in [begin_ns, end_ns), as cells (schema.h) keyed by the ids
 * of the timeline's registries (thread, file, string, host). Immutable and
 * reference-counted (atomically): made by the worker, read by anybody without
 * locks. What was late or soft makes a new version under the same begin_ns. As long as
 * the step; longer where nothing was recorded for a minute (covered.h), or where several
 * were made one (.fold_ns).
 */
#ifndef BLK_STATE_STORE_SECOND_H
#define BLK_STATE_STORE_SECOND_H

#include "state/store/schema.h"

struct slow_call {			/* one call kept whole */
	uint32_t thread, name, cpu;
	uint32_t file;			/* UINT32_MAX: none */
	int64_t begin_ns, duration_ns, ret;
};

struct trust {
	uint64_t lost_events;		/* ended in this second */
	uint64_t lost_packets;
	uint64_t damaged;		/* packets that were read in part, or not at all: what events they
					 * held is not known */
	uint64_t soft;			/* facts that stay open: unpaired exits, ... */
	uint64_t late;			/* records that came after the second was closed, or of spans after their trace
					 * was given up for lack of room */
	uint32_t touched;		/* losses that overlap this second */
	int64_t lost_ns;		/* how much of it they take, summed over CPUs */
	uint64_t lost_cpus;		/* bits of these CPUs, their numbers modulo 64 */
	uint32_t corrected;		/* made again since events came too late for it (adopt.h);
					 * of several seconds: how many of them were */
};

/* What is counted; .touched and .corrected are each sum's own. */
static inline void trust_add(struct trust *to, const struct trust *t)
{
	to->lost_events += t->lost_events;
	to->lost_packets += t->lost_packets;
	to->damaged += t->damaged;
	to->soft += t->soft;
	to->late += t->late;
	to->lost_ns += t->lost_ns;
	to->lost_cpus |= t->lost_cpus;
}

struct second {
	int64_t begin_ns, end_ns;	/* end exclusive; the first and last may be cut by coverage */
	uint32_t version;		/* 1, 2, ...: corrected since; 0: still open, shown as far
					 * as it is known (end_ns) */
	int64_t fold_ns;		/* 0; else: several seconds made one of this length, for lack
					 * of room (coarsen.h) */
	struct trust trust;
	/* threads, n_threads; calls, n_calls; ... */
#define SECOND_CELLS(kind, array, list, built, needs) struct kind##_cell *array; uint32_t n_##array;
	CELL_KINDS(SECOND_CELLS)
	struct slow_call *slow;		/* slowest first */
	uint32_t n_slow;
	struct hist wakeup;		/* of all threads */
	size_t bytes;			/* memory held, about */
	gatomicrefcount refs;		/* private */
};

struct second *second_ref(struct second *s);
void second_unref(struct second *s);		/* NULL is fine */

/* Its cells of a kind, to be walked by cell_layout(). */
char *second_cells(const struct second *s, enum cell_kind kind, uint32_t *ret_n);

#endif
