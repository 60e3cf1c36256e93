/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heatmap of a metric: how many durations there were in each second, or several seconds, and in each row of
 * durations (latency_rows.h), and which value of a field most of them have.
 */
#ifndef BLK_VIEWS_HEATMAP_H
#define BLK_VIEWS_HEATMAP_H

#include "views/latency_rows.h"
#include "views/metric.h"

/* A row of the view: one cell that is not empty. */
struct heat_cell {
	struct row row;
	int64_t begin_ns, end_ns;	/* the seconds that are summed in it */
	uint64_t column;		/* from the left; 0 is that of .begin_ns of the grid */
	unsigned level;			/* number of its row of durations */
	uint64_t count;
	bool has_dominant;		/* the metric is split by a field */
	const char *dominant;		/* its value that most of them have, as text; NULL: unknown */
	uint64_t dominant_count;	/* how many */
};

/* A value of the field, and how many durations are in cells where it dominates. */
struct heat_value { const char *text; uint64_t count; };

/* rows->extra. */
struct heat_grid {
	const struct metric_query *metric;
	int bits;			/* of the rows of durations */
	int64_t begin_ns, cell_ns;	/* column 0 begins there; a column is so long */
	uint64_t n_columns;
	uint64_t total, most;		/* of all cells; of the largest one */
	GArray *values;			/* struct heat_value, the most frequent first; texts belong to the rows */
};
const struct heat_grid *heat_grid_of(const struct rows *rows);

#define HEAT_STEPS 24
/* How deep the shade of a cell with so many is, 1 to HEAT_STEPS: by the logarithm, since single ones matter. */
unsigned heat_step(const struct heat_grid *g, uint64_t n);
uint64_t heat_step_least(const struct heat_grid *g, unsigned step);	/* the least number with it; 0: none has it */

/* What was counted: seconds that did not change are not counted again. One for a metric, on one thread. */
struct heatmap;
/* The size of the picture: several seconds are summed in a column, and rows are as fine, as fits. 0: each second is a
 * column, four rows an octave. */
struct heatmap *heatmap_new(unsigned max_columns, unsigned max_rows);
void heatmap_free(struct heatmap *h);		/* NULL is fine */
bool heatmap_is_sized(const struct heatmap *h, unsigned max_columns, unsigned max_rows);

extern const struct view view_heatmap;

#endif
