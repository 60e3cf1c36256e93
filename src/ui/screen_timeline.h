/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of the view timeline: lanes of cells with a time cursor. */
#ifndef BLK_UI_SCREEN_TIMELINE_H
#define BLK_UI_SCREEN_TIMELINE_H

#include "ui/app_state.h"

/* Key v: opens it for the range and the selected row of p; if rows of p are tagged, with these lanes only. */
void screen_timeline_open(struct app *app, struct place *p, enum command_id command);
/* Opens it for the process of a thread of app->tl, with this range, the thread selected, and the cursor at `at_ns`. */
void screen_timeline_open_thread(struct app *app, uint32_t thread, int64_t at_ns, int64_t from_ns, int64_t to_ns);
/* Enter on a row of the view holders: goes to its longest wait (.drill). Opens the span that the thread was in, else
 * the timeline of its process as above. False: it is another view, or has no such row. */
bool screen_timeline_open_wait(struct app *app, struct place *p);
/* Is a timeline shown whose cells are still being decoded? */
bool screen_timeline_is_waiting(struct app *app);

/* The line about the cell under the cursor, visible text. NULL: there is none. Free with g_free(). */
char *screen_timeline_text(struct app *app, struct place *p);

#endif
