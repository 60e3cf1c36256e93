/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several rows of a view as one figure a column: times, counts and bytes are added,
 * the least is the least of all, the longest the longest. What can't be had from the
 * rows (a percentile, a name, what is unknown of one of them) is VALUE_NONE.
 */
#ifndef BLK_VIEWS_SUM_H
#define BLK_VIEWS_SUM_H

#include "views/view.h"

/* Over the rows that `wanted` wants; NULL: all of them. */
struct value rows_sum(const struct view *v, const struct rows *rows, size_t column,
		      bool (*wanted)(const struct row *row, const void *data), const void *data);

#endif
