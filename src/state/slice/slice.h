/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices: any contiguous piece of a trace, analysed from nothing, and stitched.
 *
 * A slice is cells (counters, histograms per second), logs (waits, annotations,
 * facts about names) and, for each thread and CPU, a function from what was before
 * to what is after. What depends on what was before is a symbol:
 *
 *   the initial task of a CPU      an anonymous thread, until a switch names it or
 *                                  the left neighbour does
 *   the initial run state          the few records up to the first switch ("head"),
 *                                  run again from the left's final state
 *   the pending call of a thread   time in it is kept apart (PART_SOFT_*), its exit
 *                                  is kept (soft exit), until the left tells
 *   fd F of a thread at an instant cells are keyed by it; names.h resolves them at
 *                                  the end, when all facts are known
 *
 * slice_stitch(a, b) substitutes a's final state into b's symbols and adds the
 * rest. Laws (tests/unit/test-laws.c): cut invariance, associativity, loss, honesty.
 *
 * A rooted slice begins at the trace's begin: nothing older will ever come, so what
 * is not known at once is charged as unknown and its symbols are final.
 *
 * Cuts are instants: all events in [t0, t1) of all streams. Pieces whose streams are
 * cut elsewhere (rotation chunks) are struct ragged.
 */
#ifndef BLK_STATE_SLICE_SLICE_H
#define BLK_STATE_SLICE_SLICE_H

#include "state/store/publication.h"
#include "trace/event.h"

struct slice;

/* step_ns: length of a "second", > 0. */
struct slice *slice_new(bool from_start, int64_t step_ns);
void slice_free(struct slice *s);			/* NULL is fine */

/* The subscription table of all handlers. Static. */
const struct blk_subscription *slice_subscriptions(size_t *ret_n);

/* The same, and every other event: what comes is counted by thread, too (COUNT_EVENT). For
 * those who ask for that only, since then all events take the long way. */
const struct blk_subscription *slice_subscriptions_counting(size_t *ret_n);

/* No event that spans are made of will ever come, neither here nor left or right of it, or
 * nobody asks for spans: there will be none, and what only they need is not kept. Before
 * anything is fed. slice_row_makes_spans() tells of the rows of the source's classes. */
void slice_without_spans(struct slice *s);
bool slice_row_makes_spans(unsigned row);

/* Only cells of these kinds (READS(call), ...), and the slowest calls (READS_SLOW), are made; and always those of
 * threads, events, CPUs and losses. Without file cells the parts of a thread's time are wrong. 0: all kinds. Before
 * anything is fed. */
void slice_read_cells(struct slice *s, uint32_t kinds);

/*
 * Its end is not known yet. Where no kernel tells who is there, threads are in the seconds in which
 * they tell something themselves; of what is recorded whole, from its begin to its end. Before
 * anything is fed; not for slices that are stitched.
 */
void slice_live(struct slice *s);

/*
 * Names of files and of peers may take so much memory (bytes, about, with what else is kept of each); of new ones
 * beyond it the folder or address is kept, with a star, and beyond twice that only that there are others.
 * 0: no bound. Before anything is fed; not for slices that are stitched: it depends on what came before.
 */
void slice_bound_paths(struct slice *s, size_t bytes);

/* Every event goes through its handler, none takes the fast path (plain.c), which has to give the
 * same: for tests that compare both. Before anything is fed. */
void slice_without_fast_path(struct slice *s);

/* Records in time order; `tables` is what their indexes mean. */
void slice_feed(struct slice *s, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n);

/* a, then b: both are consumed, the result may be either. b must not be rooted, and
 * all its events come after all of a's (equal instants are never parted). */
struct slice *slice_stitch(struct slice *a, struct slice *b);

uint64_t slice_n_events(const struct slice *s);
size_t slice_span_bytes(const struct slice *s);		/* of what spans are made of, about */
int64_t slice_first(const struct slice *s);		/* INT64_MAX when empty */
int64_t slice_last(const struct slice *s);		/* INT64_MIN when empty */

/*
 * Windows of lost events that are open when the slice begins: told from the packet
 * index (or the left neighbour's records) before anything is fed, since the slice
 * itself only sees their end.
 */
void slice_begin_lost(struct slice *s, const struct blk_tables *tables, unsigned stream,
		      const struct blk_loss *loss);

/* The finished account of a rooted slice, everything closed at the end of coverage;
 * it must not be fed again. Free the publication. */
struct publication *slice_finish(struct slice *s);

/*
 * Of a slice that is read for a window's sake, before anything is fed: only [from, to),
 * multiples of the step, is kept as seconds; what is around it are two more, one before
 * and one behind, for the caller to leave out. Never stitched.
 */
void slice_window(struct slice *s, int64_t from, int64_t to);
/* slice_finish() of what is known to go on until an instant after the last event: the
 * trace does. */
struct publication *slice_finish_at(struct slice *s, int64_t until);

#endif
