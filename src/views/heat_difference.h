/* SPDX-License-Identifier: GPL-2.0-only */
/* What durations in a rectangle of a heatmap have in common, and others have not: shares of the values of fields. */
#ifndef BLK_VIEWS_HEAT_DIFFERENCE_H
#define BLK_VIEWS_HEAT_DIFFERENCE_H

#include "views/metric.h"

/* Seconds [begin_ns, end_ns), durations [low_ns, high_ns]: bounds of rows (latency_rows.h). */
struct heat_rectangle { int64_t begin_ns, end_ns, low_ns, high_ns; };

struct heat_difference {
	enum metric_field field;
	char *value;			/* owned; NULL: unknown */
	uint64_t inside, outside;	/* durations that have the value, */
	uint64_t all_inside, all_outside;	/* and all of them */
};

/* The largest difference of shares for each field that seconds have and the query does not, other than pid and tid; the
 * greatest first. `all`
 * is what is compared, the rectangle included. Free with g_array_unref(). */
GArray *heat_differences(const struct timeline *tl, const struct metric_query *q, const struct heat_rectangle *r,
			 int64_t all_from_ns, int64_t all_to_ns);

#endif
