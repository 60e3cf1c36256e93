/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paints the cells of a lane (views/lanes.h): threads by letter and colour of the dominant part; CPUs by how much they
 * ran, with the name of the thread where it fits; devices and interrupts by their share of the lane's highest cell.
 */
#ifndef BLK_UI_LANE_CELLS_H
#define BLK_UI_LANE_CELLS_H

#include "ui/app_state.h"
#include "views/lanes.h"

void lane_cells_draw(struct app *app, const struct rows *rows, const struct lane_row *r, unsigned cells, unsigned y,
		     unsigned x);

#endif
