/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A span beside another one, or beside what is usual for its operation: what differs, by
 * phase and by kernel state. Built by the view "compare" for query->trace_id, span_id,
 * span_kind (0: the root of the trace; no trace: the slowest of the range), against
 * query->other_trace, other_span, other_kind (trace 0: the usual).
 *
 * A phase is what its spans did themselves: their parts less those of their children on
 * the same thread. So the rows of one thread add up to the first row, the whole.
 *
 * The usual is the mean of the middle half of the other spans of the operation, by
 * duration, of at most COMPARE_MOST of them: those next to the median. A mean adds up
 * where medians don't, and the middle half leaves outliers out.
 */
#ifndef BLK_VIEWS_COMPARE_H
#define BLK_VIEWS_COMPARE_H

#include "views/view.h"

#define COMPARE_MOST 200

struct compare {
	uint64_t trace_id, span_id;	/* what is compared; trace 0: there is nothing */
	int span_kind;
	bool usual;			/* with what is usual */
	uint64_t other_trace;		/* else with this */
	uint32_t n_all, n_usual;	/* others of the operation; of these, taken */
	uint64_t n_evicted;		/* others that are no more */
	int64_t a_ns, b_ns;		/* durations; b_ns -1: there is nothing to compare with */
};

extern const struct view view_compare;

#endif
