/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of durations, for a heatmap or a distribution. Their bounds are those of buckets of base/hist.h, so a
 * histogram says exactly how many values a row has. All rows are exact but the last: it also has every duration of
 * 2^44 ns (4.9 hours) and more. Negative durations count as 0.
 *
 * `bits` says how fine rows are: 2: four rows an octave (from 2^n to 2^(n+1) ns), 1: two, 0: one, -1: one for two
 * octaves, -2: one for four. Rows of coarse ones are sums of rows of finer ones.
 */
#ifndef BLK_VIEWS_LATENCY_ROWS_H
#define BLK_VIEWS_LATENCY_ROWS_H

#include "base/hist.h"

#define LATENCY_FINEST 2
#define LATENCY_COARSEST (-2)
#define LATENCY_ROWS_N ((HIST_MAX_BITS - LATENCY_FINEST + 1) << LATENCY_FINEST)

unsigned latency_row(int bits, int64_t ns);		/* its number, from 0 */
int64_t latency_row_low(int bits, unsigned row);	/* its shortest duration, ns */
int64_t latency_row_high(int bits, unsigned row);	/* its longest one; INT64_MAX: of the last row */
/* The finest rows of which at most `most` cover [from_ns, to_ns]; the coarsest, if there are always more. */
int latency_rows_fit(int64_t from_ns, int64_t to_ns, unsigned most);

/* The columns of a row's bounds: their getters. */
#define COLUMNS_LATENCY_ROW(get_low_, get_high_) \
	{ .id = "low_ns", .title = "FROM", .kind = VALUE_NS, .width = 7, .help = "shortest duration of the row", \
	  .get = get_low_ }, \
	{ .id = "high_ns", .title = "TO", .kind = VALUE_NS, .width = 7, \
	  .help = "longest one; unknown: the last row, which has all that are longer", .get = get_high_ }

#endif
