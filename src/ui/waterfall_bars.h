/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A span of the waterfall on the screen: its bar, with both ends within an eighth of a
 * cell and its annotations as ticks, and what its thread did, as letters.
 */
#ifndef BLK_UI_WATERFALL_BARS_H
#define BLK_UI_WATERFALL_BARS_H

#include "ui/app_state.h"

/* What is drawn of each span; BARS_AUTO: both where all rows have room for two lines. */
enum bars { BARS_AUTO, BARS_STATES, BARS_BOTH, BARS_ALONE, BARS_N };

struct bars_axis {
	int64_t from_ns, to_ns;
	unsigned x, cells;		/* without its edges */
};

void bars_draw_edges(struct app *app, const struct bars_axis *axis, unsigned y);
void bars_draw_bar(struct app *app, const struct bars_axis *axis, const struct waterfall_row *r,
		   unsigned y);
/* marks: annotations are underlined, where there is no bar to put ticks on. */
void bars_draw_states(struct app *app, const struct bars_axis *axis, const struct rows *rows,
		      const struct waterfall_row *r, bool marks, unsigned y);

#endif
