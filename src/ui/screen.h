/* SPDX-License-Identifier: GPL-2.0-only */
/* A screen is how a kind of view is drawn and used. A place's rows are built and prepared here. */
#ifndef BLK_UI_SCREEN_H
#define BLK_UI_SCREEN_H

#include "ui/app_state.h"

/* A command that a screen carries out itself, instead of the general one. */
struct screen_command {
	enum command_id id;
	void (*run)(struct app *app, struct place *p, enum command_id id);
};

struct screen {
	/* Draws into the box below the title. Sets app->cursor_y. */
	void (*draw)(struct app *app, struct place *p, struct box box);
	const struct screen_command *commands;		/* ends with CMD_NONE; NULL: it has none */
	/* Of those that are not in the table. false: the general command. NULL: of all of them. */
	bool (*command)(struct app *app, struct place *p, enum command_id command);
	/* Sorts, filters and finds the selection, after the rows were built. */
	void (*prepare)(struct app *app, struct place *p);
	/* Adds to the query of the rows. NULL: nothing. If range, cells or number of rows are others than those that
	 * the rows were built for, they are built again. */
	void (*query)(struct app *app, struct place *p, struct view_query *q);
	/* Adds what is selected to the popup of CMD_EXPLAIN, in sentences. NULL: it is a row of a table. */
	void (*explain)(struct app *app, struct place *p, GPtrArray *lines);
	/* A row was clicked and selected, at that column. NULL: nothing more happens. */
	void (*click)(struct app *app, struct place *p, unsigned x);
	bool rests;			/* rows may take long: they are built again at most a tenth of the time */
	bool detached;			/* rows point to nothing of the timeline, which may change */
};
extern const struct screen screen_table, screen_overview, screen_waterfall, screen_phases;
extern const struct screen screen_process, screen_log, screen_heatmap, screen_distribution, screen_timeline;
extern const struct screen screen_flame;
const struct screen *screen_of(const struct view *view);
void screen_table_prepare(struct app *app, struct place *p);

/* The place on top, with its rows built for the timeline and range that are shown; never NULL. */
struct place *app_place(struct app *app);

#endif
