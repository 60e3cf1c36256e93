/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paints the cells of a lane (views/lanes.h): threads by letter and colour of the dominant part; CPUs by how much they
 * ran, with the name of the thread where it fits; devices and interrupts by their share of the lane's highest cell;
 * events, where nothing else is known, likewise, with the name of the most frequent one where it fits; and spans above
 * them as lines.
 * Names, and the reason why cells are unknown, are not put where the cursor is drawn.
 */
#ifndef BLK_UI_LANE_CELLS_H
#define BLK_UI_LANE_CELLS_H

#include "ui/app_state.h"
#include "views/lanes.h"

#define LANE_SPAN_ROLE (ROLE_HEAT + 2)	/* of spans in lanes of events */
#define LANE_NO_CURSOR G_MAXUINT

struct lane_axis {
	unsigned x, cells;		/* first column and width */
	unsigned cursor;		/* the cell with the cursor, from 0; or LANE_NO_CURSOR */
};

void lane_cells_draw(struct app *app, const struct rows *rows, const struct lane_row *r, const struct lane_axis *a,
		     unsigned y);

#endif
