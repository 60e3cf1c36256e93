/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws a span of the waterfall: its bar, exact to an eighth of a cell, with annotations as ticks; the states of its
 * thread as letters; and the way of the messages that it takes.
 */
#ifndef BLK_UI_WATERFALL_BARS_H
#define BLK_UI_WATERFALL_BARS_H

#include "ui/app_state.h"

/* What is drawn of a span: the states, on one row, unless key t chooses otherwise. */
enum bars { BARS_STATES, BARS_BOTH, BARS_ALONE, BARS_N };

struct bars_axis {
	int64_t from_ns, to_ns;
	unsigned x, cells;		/* first column and width, without the edges */
};

void bars_draw_edges(struct app *app, const struct bars_axis *axis, unsigned y);
void bars_draw_bar(struct app *app, const struct bars_axis *axis, const struct waterfall_row *r,
		   unsigned y);
/* The messages that the span takes, from when they were sent, outside of the span itself. */
void bars_draw_messages(struct app *app, const struct bars_axis *axis, const struct span *s, unsigned y);
/* marks: underlines annotations, for when no bar is drawn that could have ticks. */
void bars_draw_states(struct app *app, const struct bars_axis *axis, const struct rows *rows,
		      const struct waterfall_row *r, bool marks, unsigned y);
/* The time cursor in a row: what is there in reverse, a line where nothing is. */
void bars_draw_cursor(struct app *app, unsigned y, unsigned x);
/* A sign and its word. */
struct legend_item {
	const char *sign;
	enum role role;
	const char *word;
};
/* Explains in row y the letters of parts and the bars that are in the box, then `more` signs: each whole or not at all,
 * as they fit. disk: the word for PART_DISK; NULL: its id. */
void bars_draw_legend(struct app *app, struct box cells, unsigned y, const char *disk, const struct legend_item *more,
		      size_t n);

#endif
