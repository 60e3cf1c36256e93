/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evicted spans in views. A sum of evicted spans is counted only if all its spans ended in the range. Sums that overlap
 * the range partly, or have no names, cannot be attributed: they are reported as left out.
 * Private to src/views/.
 */
#ifndef BLK_VIEWS_EVICTED_H
#define BLK_VIEWS_EVICTED_H

#include "views/common.h"

struct evicted {
	uint64_t counted;
	uint64_t left_out;		/* spans of sums that cannot be attributed; some of them ended in the range */
};

/* Is the query narrowed by more than service and name, the only keys of sums? */
bool evicted_are_narrowed(const struct view_query *q);
/* Does the sum count in the range? Adds it to *e. Call it only for sums that pass the query. */
bool evicted_counts(struct evicted *e, const struct range *range, const struct span_sum *s);
/* Does the sum, with these texts, pass the query's service and operation? Unknown names pass. */
bool evicted_wanted(const struct rows *rows, const struct span_sum *s, const char *service,
		    const char *operation);
/* All three report first how many traces history does not have.
 *
 * Appends to rows->about how many evicted `what` are counted and how many are left out: then figures are unknown.
 * `missing` names what is unknown of the counted ones. Appends nothing if there are none. */
void evicted_describe(struct rows *rows, const struct evicted *e, const char *what, const char *missing);
/* For lists of single spans or traces: appends how many of the range were evicted and are not listed. Only names are
 * known of those, no thread, process or host. */
void evicted_describe_missing(struct rows *rows, const struct range *range, bool traces);
/* The same for spans open at an instant: an upper bound of how many were evicted. */
void evicted_describe_open(struct rows *rows, int64_t at);

#endif
