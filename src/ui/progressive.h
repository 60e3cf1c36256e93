/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that is shown before all of it is read. What was read in order is shown from the main timeline,
 * other seconds from a preview that the backend reads on request, and the rest from the outline.
 */
#ifndef BLK_UI_PROGRESSIVE_H
#define BLK_UI_PROGRESSIVE_H

#include "ui/app_state.h"

/* Takes new outlines and previews from the backend. */
void progressive_take(struct app *app);
/* Sets app->tl and app->cover for the range of p; drops rows that were built from another timeline. */
void progressive_choose(struct app *app, struct place *p);
/* Tells the backend which range is on the screen. */
void progressive_show_range(struct app *app);
/* The timeline for the lanes of a waterfall: a preview of [from_ns, to_ns) in steps of at most a quarter of cell_ns;
 * NULL: it is requested, or cannot be had. Valid until the next progressive_take(). */
const struct timeline *progressive_lanes(struct app *app, int64_t from_ns, int64_t to_ns, int64_t cell_ns);
/* Can the backend decode steps below a second? */
bool progressive_decodes(const struct app *app);
/* The strip of the whole trace. Valid until the timelines change. */
const struct extent_strip *progressive_strip(struct app *app);
void progressive_clear(struct app *app);

#endif
