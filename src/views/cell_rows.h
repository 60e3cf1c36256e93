/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that are sums of cells. The row of a view embeds a sum (cell_sum.h), and its columns show members of it. The
 * view says which row a cell belongs to and how a new row is named. Private to src/views/.
 */
#ifndef BLK_VIEWS_CELL_ROWS_H
#define BLK_VIEWS_CELL_ROWS_H

#include "views/common.h"

#include "state/store/cell_sum.h"

#include <stddef.h>

/* How the cells of one kind are summed into rows. */
struct cell_rows {
	enum cell_kind kind;
	size_t size;			/* bytes of a row, which begins with struct common */
	size_t sum;			/* offset in the row of its sum of that kind; 0: .each adds */
	/* Cells of one row have one key. NULL: a row for each key of the cells, whose threads are grouped as the
	 * query's .by says. Kinds that share rows, or that are built together, need keys that differ. */
	uint64_t (*key)(const struct rows *rows, const void *cell);
	void (*fill)(struct rows *rows, void *row, const void *cell);	/* names a new row after its first cell */
	void (*each)(struct rows *rows, void *row, const void *cell);	/* after each cell was added; NULL: nothing */
	bool (*wants)(const struct rows *rows, const void *cell);	/* NULL: all cells that the query wants */
};

/* Sums the cells of n kinds in the query's range. The caller completes the rows: common_finish(). */
struct rows *cell_rows_sum(const struct timeline *tl, const struct view_query *query, const struct cell_rows *how,
			   size_t n);
/* The same, and completes them. `end` (NULL: nothing) completes a row when all cells are added: it moves a histogram to
 * .latency of struct common, and takes the others out of the sum. `compare`: see common_finish(). */
struct rows *cell_rows_build(const struct timeline *tl, const struct view_query *query, const struct cell_rows *how,
			     size_t n, void (*end)(struct rows *rows, void *row), GCompareFunc compare);

#endif
