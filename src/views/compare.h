/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a span with another span, or with the typical span of its operation, by phase and kernel state. The
 * view "compare" takes the span from query->trace_id, span_id and span_kind (span 0: the root; trace 0: the slowest
 * trace of the range), the other one from other_trace, other_span and other_kind (trace 0: typical).
 *
 * A phase has the own time of its spans: their parts without those of children on the same thread. So the rows
 * of one thread sum to the first row, the whole span.
 *
 * The usual one is a mean over other spans of the operation: the quarter around the usual duration (history.h), at most
 * COMPARE_MOST, nearest to it. Means of phases sum to the mean of the whole, medians do not.
 */
#ifndef BLK_VIEWS_COMPARE_H
#define BLK_VIEWS_COMPARE_H

#include "views/view.h"

#define COMPARE_MOST 200

struct compare {
	uint64_t trace_id, span_id;	/* the compared span; trace 0: there is none */
	int span_kind;
	bool usual;			/* compared with the typical span */
	uint64_t other_trace;		/* else with a span of this trace */
	uint32_t n_all, n_usual;	/* other spans of the operation; those in the mean */
	uint64_t n_evicted;		/* other spans that were evicted */
	int64_t a_ns, b_ns;		/* durations of both sides; b_ns -1: no other side */
	bool a_at_least, b_at_least;	/* it is a part of a request whose root is missing */
};

extern const struct view view_compare;

#endif
