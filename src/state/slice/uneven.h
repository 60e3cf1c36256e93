/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges pieces of a trace with uneven edges: their streams begin and end at different instants, as in rotation
 * chunks. Events outside of the instants that all streams of a piece cover are its edges. Edges are stored as records
 * and replayed when the neighbour's edge is available.
 */
#ifndef BLK_STATE_SLICE_UNEVEN_H
#define BLK_STATE_SLICE_UNEVEN_H

#include "state/slice/slice.h"

struct uneven;
/*
 * begin, end: for each stream of `tables` the first instant that the piece covers, and the first instant after it.
 * INT64_MIN, INT64_MAX: the trace's own. The records are borrowed until uneven_finish() or uneven_free().
 */
struct uneven *uneven_new(int64_t step_ns, const struct blk_tables *tables,
			  const int64_t *begin, const int64_t *end,
			  const struct blk_event *const *ev, size_t n);
/* Merges a and b, which follows a; takes ownership of both. */
struct uneven *uneven_stitch(struct uneven *a, struct uneven *b);
/* Takes ownership of r. Returns a slice that starts at the trace's beginning. */
struct slice *uneven_finish(struct uneven *r);
void uneven_free(struct uneven *r);

#endif
