/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "What else ran" below a waterfall: who ran on each CPU, and the requests at block devices, on the same axis; and
 * which threads woke the selected span's. The lanes are there once the range has been decoded for them.
 */
#ifndef BLK_UI_WATERFALL_LANES_H
#define BLK_UI_WATERFALL_LANES_H

#include "ui/app_state.h"
#include "ui/waterfall_bars.h"

/* Draws at most box.rows rows. r: the selected row; mark_ns: the time cursor, or TIME_UNKNOWN. Returns the number of
 * rows; 0: there are no lanes (yet). */
unsigned waterfall_lanes_draw(struct app *app, const struct rows *rows, const struct waterfall_row *r,
			      const struct bars_axis *axis, int64_t mark_ns, struct box box);

#endif
