/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time axis of the timeline's screen: cells of 1, 2 or 5 times a power of ten ns, from 1 ns on. It is the state of
 * a place. At first it is the range that is shown, in cells that divide it (then lengths between those are used, too),
 * and follows it. After zooming or scrolling it has as many cells as the screen is wide, and moves with the range.
 */
#ifndef BLK_UI_TIMELINE_AXIS_H
#define BLK_UI_TIMELINE_AXIS_H

#include "ui/app_state.h"

struct timeline_axis {
	int64_t from_ns, to_ns;		/* multiples of .cell_ns */
	int64_t cell_ns;
	unsigned cells;
	unsigned x;			/* column of the first cell; left of it are the lanes' names and an edge */
};

/* The axis of a place of the view timeline, as wide as the screen. False: nothing was read yet. */
bool timeline_axis(const struct app *app, struct place *p, struct timeline_axis *ret);
/* Shows this range in the shortest cells that fit, and puts the cursor at its middle. */
void timeline_axis_fit(const struct app *app, struct place *p, int64_t from_ns, int64_t to_ns);
/* To be called after the range changed: the axis does not follow it, and stays where it is. */
void timeline_axis_stay(const struct app *app, struct place *p);
/* Longer or shorter cells around the cursor; false: there are none. */
bool timeline_axis_zoom(const struct app *app, struct place *p, bool in);
void timeline_axis_scroll(const struct app *app, struct place *p, int cells);
/* Moves the cursor by cells, within the trace; false: it is at the end. */
bool timeline_axis_move(const struct app *app, struct place *p, int cells);
/* The step to decode it in; 0: seconds do, or it is too long. */
int64_t timeline_axis_step(const struct app *app, const struct timeline_axis *a);
/* The longest length of 1, 2, 5, 10, ... that is not longer than this, and the shortest that is not shorter. */
int64_t timeline_axis_length(int64_t ns);
int64_t timeline_axis_length_from(int64_t ns);
/* Is it little enough to be decoded in steps finer than a second? */
bool timeline_axis_is_short(const struct app *app, int64_t from_ns, int64_t to_ns);
/* The cell of the cursor. */
unsigned timeline_axis_cursor(const struct place *p, const struct timeline_axis *a);

/* Of a timeline with a CPU selected: the thread that ran longest in the cell under the cursor. ID_NONE: none, or
 * another lane is selected. */
uint32_t timeline_axis_ran(struct app *app, struct place *p);

#endif
