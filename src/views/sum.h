/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Totals of a table: one value for each column over several rows. Times, counts and bytes are added; min_ is the least,
 * max_ the greatest. Values that rows do not determine (percentiles, names, unknown in one row) are VALUE_NONE.
 */
#ifndef BLK_VIEWS_SUM_H
#define BLK_VIEWS_SUM_H

#include "views/view.h"

/* The total of a column over the rows for which `wanted` returns true; NULL: all rows. */
struct value rows_sum(const struct view *v, const struct rows *rows, size_t column,
		      bool (*wanted)(const struct row *row, const void *data), const void *data);

#endif
