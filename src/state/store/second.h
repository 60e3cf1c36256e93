/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A closed second: what happened in [begin_ns, end_ns), as cells (schema.h). Cells are keyed by ids of the
 * registries (registry.h). A second is immutable and has an atomic reference count: the worker makes it, any
 * thread may read it without locks. A correction is a new version with the same begin_ns.
 * A second is longer than the step where nothing was recorded for a minute (kernel/coverage.h), or where several
 * seconds were folded into one (.fold_ns).
 */
#ifndef BLK_STATE_STORE_SECOND_H
#define BLK_STATE_STORE_SECOND_H

#include "state/store/schema.h"

struct slow_call {			/* one of the slowest system calls */
	uint32_t thread, name, cpu;	/* name: string id */
	uint32_t file;			/* file id; ID_NONE: none */
	int64_t begin_ns, duration_ns, ret;
	uint8_t wait;			/* enum call_wait */
	uint8_t list;			/* enum slow_list */
};

/* The order of second.slow: by list, and in each list the slowest first. True also for equal ones. */
static inline bool slow_call_precedes(const struct slow_call *a, const struct slow_call *b)
{
	return a->list != b->list ? b->list > a->list : a->duration_ns >= b->duration_ns;
}

/* Completeness of a second or of a range: what was lost, late or not resolved. */
struct completeness {
	uint64_t lost_events;		/* of losses that ended in this second */
	uint64_t lost_packets;
	uint64_t damaged;		/* packets read only in part or not at all; their number of events is unknown */
	uint64_t provisional;		/* facts that stay unresolved, as unpaired exits */
	uint64_t late;			/* records that count later than their own time: they came after the second was
					 * closed, or after their stream's clock went back. Also records of spans of
					 * traces that were given up for lack of memory */
	uint32_t touched;		/* losses that overlap this second */
	int64_t lost_ns;		/* time of it in which events may be missing, summed over CPUs */
	uint64_t lost_cpus;		/* bits of these CPUs: their numbers modulo 64 */
	uint64_t reordered_pairs;	/* pairs of events of two CPUs that were stamped in the wrong order, or equally,
					 * and were put in order */
	int64_t reordered_max_ns;	/* of them: the greatest time by which they were stamped in the wrong order */
	uint32_t corrected;		/* times the second was decoded again because of late events
					 * (publish/adopt.h); of a folded second: how many of its seconds were */
};

/* Events of annotations by rules that no span has. */
struct notes_left_out {
	uint64_t alone;			/* no span was open on their thread, or their thread is unknown */
	uint64_t over;			/* their span has LIMIT_SPAN_NOTES already */
};

/* Adds the counters, except .touched and .corrected: the caller sets those. */
static inline void completeness_add(struct completeness *to, const struct completeness *t)
{
	to->lost_events += t->lost_events;
	to->lost_packets += t->lost_packets;
	to->damaged += t->damaged;
	to->provisional += t->provisional;
	to->late += t->late;
	to->lost_ns += t->lost_ns;
	to->lost_cpus |= t->lost_cpus;
	to->reordered_pairs += t->reordered_pairs;
	to->reordered_max_ns = MAX(to->reordered_max_ns, t->reordered_max_ns);
}

/* What graphs of the whole trace show of a second. */
struct second_totals {
	int64_t run_ns, known_ns, unknown_ns;	/* of all CPUs: a thread ran; running or idle; unknown */
	int64_t wakeup_p99_ns, disk_p99_ns;	/* of wakeups, of requests to all devices; -1: there were none */
	int64_t slowest_call_ns;		/* of calls that wait for nothing or for a lock; -1: none ended */
	int64_t waiting_ns;			/* of all threads: waited for a CPU or a disk */
	bool has_calls;				/* there are cells of calls */
	bool has_unpaired;			/* some of them have calls without a latency: call_cell.unpaired */
	uint8_t counts;				/* bits of enum count_kind: there are such cells */
};

/* Where the cells of an outline are stored. */
struct second_place {
	uint64_t at;			/* in the file */
	uint32_t stored, size;		/* bytes there, and as they are coded */
};

struct second {
	int64_t begin_ns, end_ns;	/* end exclusive; coverage may cut the first and the last one */
	int64_t sums_end_ns;		/* time is summed until here: .end_ns; in the trace's last second its last
					 * event, which is 1 ns less */
	uint32_t version;		/* 1, 2, ...: grows with each correction; 0: still open, complete up to
					 * end_ns */
	int64_t fold_ns;		/* 0; else the length to which several seconds were folded (coarsen.h) */
	struct completeness completeness;
	struct second_totals totals;	/* set by second_seal() */
	bool is_outline;		/* of the following only .bytes is known */
	struct second_place place;	/* of a second of which an outline was read; else .stored is 0 */
	uint64_t used;			/* private to the timeline: when it was looked at */
	/* threads, n_threads; calls, n_calls; ... */
#define SECOND_CELLS(kind, array, list, built) struct kind##_cell *array; uint32_t n_##array;
	CELL_KINDS(SECOND_CELLS)
	struct slow_call *slow;		/* n_slow, in order of slow_call_precedes(); at most LIMIT_SECOND_CALLS of
					 * each list */
	uint32_t n_slow;
	struct hist wakeup;		/* wakeup latency of all threads (ns) */
	size_t bytes;			/* memory, approximate; set by second_seal() */
	gatomicrefcount refs;		/* private */
};

struct second *second_ref(struct second *s);
void second_unref(struct second *s);		/* NULL is fine */

/* The array of cells of a kind; cell_layout() describes an element. */
char *second_cells(const struct second *s, enum cell_kind kind, uint32_t *ret_n);

/*
 * Reads the rest of outlines. It is shared by publications and the timeline. Only the thread of the timeline calls
 * read(): it fills the second, or leaves an outline and returns false.
 */
struct second_reader {
	bool (*read)(struct second_reader *r, struct second *s);
	void (*free)(struct second_reader *r);	/* with the last reference */
	gatomicrefcount refs;			/* 1 at the beginning */
};
struct second_reader *second_reader_ref(struct second_reader *r);	/* NULL is fine, here and below */
void second_reader_unref(struct second_reader *r);

/* ---- for makers of seconds ---- */

/* An outline with the given one's times, version, completeness, totals, bytes and place; one reference. */
struct second *second_outline(const struct second *of);
void second_fill(struct second *s);	/* the cells of an outline are there now: seals it, with the same totals */
void second_empty(struct second *s);	/* frees what an outline does not have */

struct second *second_new(int64_t begin_ns, int64_t end_ns);	/* empty, with one reference */
/* Moves the cells of the table into the second. The table is empty afterwards. */
void second_set_cells(struct second *s, struct cell_table *from, enum cell_kind kind);
/* Packs the complete second and sets .bytes. The second must not change afterwards. */
void second_seal(struct second *s);

#endif
