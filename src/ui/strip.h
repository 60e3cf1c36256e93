/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The strip and the graph: cells by time, each for one second, or for several in a long trace. In every view a second
 * is in the same column. Seconds that were read show a figure (enum graph), or bytes or events where there is none;
 * others show their bytes with other glyphs; a preview is '~'.
 */
#ifndef BLK_UI_STRIP_H
#define BLK_UI_STRIP_H

#include "ui/app_state.h"

#include "base/timefmt.h"

/* The graph that is shown: the user's choice (key a) if the trace has its figures, else the first that it has.
 * GRAPH_N: it has none. */
enum graph strip_graph(struct app *app);
enum graph strip_next_graph(struct app *app);		/* the next one, cyclic */
/* A figure as text: "166ms", "24%"; "-" if it is unknown. */
const char *strip_figure(enum graph graph, double figure, char buf[TIMEFMT_LEN]);

#define STRIP_X 8		/* first column: left of it is the scale */
/* Columns of the cells, at the terminal's width. */
unsigned strip_n_columns(const struct app *app);
/* The column, from 0 on, in which the cell of an instant begins: the first one before the trace, the end of the last
 * one after it. */
unsigned strip_column(struct app *app, int64_t at_ns);

/* The whole trace in one row: the graph's figure (else bytes or events), losses, gaps, the range A-B, bookmarks. */
void strip_draw_whole(struct app *app, unsigned y);
/* The same in a box of at least two rows: a scale, the graph, marks if there are any, and an axis of clock times with
 * the shown range in brackets. `usual` and `here`: figures of all time and of the range, below 0: unknown. */
void strip_draw_graph(struct app *app, struct box box, double usual, double here);

#endif
