/* SPDX-License-Identifier: GPL-2.0-only */
/* What every screen has around it: title, completeness, status line, hints, key bar. */
#ifndef BLK_UI_FRAME_H
#define BLK_UI_FRAME_H

#include "ui/app_state.h"

void frame_draw(struct app *app, struct place *p);
/* What is left for the screen. */
struct box frame_body(const struct app *app);
/* Why there is no instant to show: nothing was read (yet). `otherwise`, if there is one. */
const char *frame_nothing(const struct app *app, const char *otherwise);
/* No event is known: says why and what to do next, if the backend knows. false: nothing was drawn. */
bool frame_page(struct app *app, struct box box);
/* The line "DATA ok lost 0   history ...": what is missing in the range, and in the whole trace. */
void frame_completeness(struct app *app, unsigned y, const struct completeness *completeness);
/* A sentence, wrapped into the box. Returns the number of lines. */
unsigned frame_sentence(struct app *app, struct box box, enum role role, const char *text);
/* The cause of a delay after "WHY", wrapped into the box; if it is cut, the key that shows all of it. Returns the
 * number of lines. */
unsigned frame_why(struct app *app, struct box box, const char *text);
/* Adds a text at (y, x) if all of it fits. Returns the column after it; x: it did not fit. */
unsigned frame_add(struct app *app, unsigned y, unsigned x, enum role role, const char *format,
		   ...) G_GNUC_PRINTF(5, 6);

/* A bar from (y, x) on, so many eighths of a cell long. `cells`: of the longest bar; each has its place in the role's
 * gradient. */
void frame_bar(struct app *app, unsigned y, unsigned x, enum role role, unsigned eighths, unsigned cells);

#endif
