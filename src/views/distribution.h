/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distribution of a metric's durations in a range: how many there are in each row of durations
 * (latency_rows.h), from the shortest to the longest one; beside it that of another time, or of another metric.
 */
#ifndef BLK_VIEWS_DISTRIBUTION_H
#define BLK_VIEWS_DISTRIBUTION_H

#include "views/latency_rows.h"
#include "views/metric.h"

enum distribution_which { DISTRIBUTION_NOW, DISTRIBUTION_BEFORE, DISTRIBUTION_SIDES };

/* A row of the view: a row of durations. */
struct distribution_row {
	struct row row;
	int64_t low_ns, high_ns;	/* both included; .high_ns INT64_MAX: all that are longer */
	uint64_t count[DISTRIBUTION_SIDES];
	uint64_t at_least[DISTRIBUTION_SIDES];	/* of .low_ns and longer: of this row and all later ones */
};

struct distribution_side {
	bool known;			/* false: nothing is compared, or there is no such time */
	uint64_t count, most;		/* of all rows; of the largest one */
	uint64_t over, over_most;	/* that crossed the query's line: at least, at most (a bucket of base/hist.h can
					 * have both) */
	int64_t mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;	/* -1: count is 0 */
};

/* rows->extra. */
struct distribution {
	const struct metric_query *metric;
	int64_t begin_ns, end_ns;	/* the seconds that are summed now */
	struct distribution_side side[DISTRIBUTION_SIDES];
};
const struct distribution *distribution_of(const struct rows *rows);
/* "over 64.0ms: 14 of 700 (2.0%)", "13-14 of 700". Free with g_free(). */
char *distribution_line_text(const struct distribution_side *side, int64_t line_ns);
/* "count 700 mean 20.1ms p50 16.8ms ...", brief: "700: mean 20.1ms ...". Free with g_free(). */
char *distribution_text(const struct distribution_side *side, bool brief);

extern const struct view view_distribution;

#endif
