/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that were evicted, as views count them: sums whose spans all ended in the range. Where
 * only some did, or names had no room, it can't be told which: they are told of, not counted.
 * Private to src/views/.
 */
#ifndef BLK_VIEWS_EVICTED_H
#define BLK_VIEWS_EVICTED_H

#include "views/common.h"

struct evicted {
	uint64_t counted;
	uint64_t left_out;		/* some of these are of the range */
};

/* Does the query ask for spans by more than service and name, which is all that sums tell? */
bool evicted_are_narrowed(const struct view_query *q);
/* Is the sum to be counted in the range? The caller asks only for sums that it would want. */
bool evicted_counts(struct evicted *e, const struct range *range, const struct span_sum *s);
/* Does the sum pass the query's service and operation, by these texts? Names of others are
 * unknown: they may. */
bool evicted_wanted(const struct rows *rows, const struct span_sum *s, const char *service,
		    const char *operation);
/* Tells in rows->about, after what is there, how many `what` are counted, and how many can't be;
 * `lacks`: what is not known of those counted. Nothing where there are none. */
void evicted_tell(struct rows *rows, const struct evicted *e, const char *what, const char *lacks);
/* For lists of what is there: tells how many spans (or traces) of the range are not. Of those only
 * names are known: no thread, process and host. */
void evicted_tell_missing(struct rows *rows, const struct range *range, bool traces);
/* The same for the list of what was open at an instant: as many as may have been. */
void evicted_tell_open(struct rows *rows, int64_t at);

#endif
