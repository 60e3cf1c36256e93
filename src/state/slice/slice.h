/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices: contiguous pieces of a trace, each analysed without knowing what came before, then merged ("stitched").
 *
 * A slice has cells (counters and histograms for each second) and logs (waits, annotations, facts about names). For
 * each thread and CPU it has the state at the slice's end. What depends on the time before the slice is unresolved:
 *
 *   the initial task of a CPU      an anonymous thread, until a switch or the left neighbour identifies it
 *   the initial state of a thread  the records up to its first switch or call are stored (the "head") and applied to
 *                                  the left neighbour's final state
 *   the pending call of a thread   its time is charged to PART_UNRESOLVED_*, its exit is stored, until the left
 *                                  neighbour's call is known
 *   fd F of a thread at an instant cells have it as a key; names.h resolves it when all facts are known
 *
 * slice_stitch(a, b) resolves b's unknowns with a's final state and adds the rest. Laws (tests/unit/test-laws.c): cuts
 * do not change the result, merging is associative, losses are respected, and unknown is never reported as known.
 *
 * A slice with from_start starts at the trace's beginning: no older slice will be merged, so what is unresolved is
 * charged as unknown and is final.
 *
 * Cuts are instants: a slice has all events in [t0, t1) of all streams.
 */
#ifndef BLK_STATE_SLICE_SLICE_H
#define BLK_STATE_SLICE_SLICE_H

#include "state/kernel/feed.h"
#include "state/kernel/subscriptions.h"
#include "state/store/publication.h"
#include "trace/event.h"

struct slice;

/* step_ns: length of a "second", > 0. */
struct slice *slice_new(bool from_start, int64_t step_ns);
void slice_free(struct slice *s);			/* NULL is fine */

/* Bounds the memory of all slices that were read from files, and not freed yet: LIMIT_SLICE_RATIO times what their
 * files have, and beside that `bytes` for all together. Without a call there is no bound. Call before threads. */
void slice_bound_memory(size_t bytes);
/* Only for src/state/: the slice takes so many bytes of memory more (> 0), or its file allows so many (< 0). It gives
 * them back when it is freed. */
void slice_take(struct slice *s, gssize bytes);
uint64_t slice_room(void);			/* only for src/state/: the bytes that are left */

/* There will be no spans, in this slice or any that is merged with it, and logs that only they need are not written.
 * Call it before anything is fed. */
void slice_without_spans(struct slice *s);
bool slice_is_without_spans(const struct slice *s);

/* Makes only cells of these kinds (READS(call), ...; READS_SLOW: the slowest calls), and always those of threads,
 * events, CPUs and losses. Without file cells the parts of a thread's time are wrong. 0: all kinds. Call it before
 * anything is fed. */
void slice_read_cells(struct slice *s, uint32_t kinds);

/*
 * A live run: the end of threads is not known in advance. Without a kernel trace a thread is in the seconds in which
 * it has events (in a recorded trace: from its first to its last event). Call it before anything is fed; such a slice
 * cannot be merged.
 */
void slice_live(struct slice *s);

/*
 * Bounds the memory (bytes, estimated) for names of files and peers. New ones beyond it are stored as their folder or
 * address with a star; beyond twice the bound as one name for all. 0: no bound. Call it before anything is fed; such a
 * slice cannot be merged, since the result depends on what came before.
 */
void slice_bound_paths(struct slice *s, size_t bytes);

/* No event takes the fast path (fast_path.c): for tests that compare both ways. Call it before anything is fed. */
void slice_without_fast_path(struct slice *s);

/* Merges a and b: consumes both; the result may be either. b must not be from_start, and all its events come after
 * all of a's (events of equal time are in one slice). */
struct slice *slice_stitch(struct slice *a, struct slice *b);

/* No older slice will be merged, as the slice is of the trace's beginning: drops calls outside of spans. For slices
 * that are stored; slice_stitch() with a slice that is from_start drops them, too. */
void slice_begins_trace(struct slice *s);

/* A slice of [from, to), a piece that is missing before `after`: all events of its hosts are lost there. */
struct slice *slice_gap(const struct slice *after, int64_t from, int64_t to);

/*
 * Merges slices of the same time and of other machines: consumes both; the result may be either. Neither is
 * from_start. No boot id is in both, and without_spans() is the same of both, or they are of the whole trace.
 *
 * In a quiet time of one of them in which the other has records, its time is charged to each step. slice_unite_cells():
 * about how many cells that makes.
 */
struct slice *slice_unite(struct slice *a, struct slice *b);
uint64_t slice_unite_cells(const struct slice *a, const struct slice *b);

GPtrArray *slice_bins_in_order(const struct slice *s);	/* struct bin *, in order of time */
int slice_bin_order(const void *a, const void *b);	/* of pointers to them */
uint64_t slice_n_events(const struct slice *s);
int64_t slice_step(const struct slice *s);		/* ns: length of a "second" */
size_t slice_span_bytes(const struct slice *s);		/* of what spans are made of, about */
int64_t slice_first(const struct slice *s);		/* INT64_MAX when empty */
int64_t slice_last(const struct slice *s);		/* INT64_MIN when empty */

/*
 * Only [from, to), multiples of the step, is stored as seconds; all before is one more second, and all after another
 * one, for the caller to ignore. Call it before anything is fed; such a slice cannot be merged.
 */
void slice_window(struct slice *s, int64_t from, int64_t to);
#endif
