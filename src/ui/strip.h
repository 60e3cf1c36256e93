/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The strip: a row of cells, each for one second, or for several in a long trace. Seconds that were read show their
 * p99 (without spans: bytes), others their bytes with other glyphs; a preview is '~'.
 */
#ifndef BLK_UI_STRIP_H
#define BLK_UI_STRIP_H

#include "ui/app_state.h"

struct strip_data {
	const struct overview_point *points;
	size_t n;
	int64_t max_ns;			/* largest p99; -1: bytes are drawn */
	double max_bytes;
};
/* The cell of a point. */
unsigned strip_cell(const struct strip_data *s, size_t point, unsigned cells);
/* marks_below: marks have a row of their own below the cells. */
void strip_draw_cells(struct app *app, const struct strip_data *s, unsigned y, unsigned x,
		      unsigned cells, bool marks_below);
/* The whole trace in one row: bytes, p99 or events, losses, gaps, the range A-B. */
void strip_draw_whole(struct app *app, unsigned y);

#endif
