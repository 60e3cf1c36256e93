/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen without a terminal: takes keys, draws on a canvas, asks the backend.
 * loop.c connects it to the terminal; unit tests use it alone.
 *
 *     struct app *app = app_new(&options, &backend, tl, true);
 *     app_resize(app, 24, 80);
 *     app_key(app, UI_KEY_ENTER);
 *     app_draw(app);		// app->canvas holds the screen
 *     app_free(app);
 *
 * Rows are built when they are drawn or used. Rows point into the timeline: after timeline_apply() call
 * app_timeline_changed() before anything else. Call progressive_take() (progressive.h) after that, and whenever the
 * backend's pump reported something.
 */
#ifndef BLK_UI_APP_H
#define BLK_UI_APP_H

#include "ui/app_state.h"

/* Draws the needed size when the canvas is smaller than that. */
bool app_too_small(struct canvas *c);

/* Options, backend and timeline stay the caller's and must live longer. */
struct app *app_new(const struct ui_options *options, const struct ui_backend *backend,
		    struct timeline *tl, bool utf8);
void app_free(struct app *app);		/* NULL is fine */
void app_resize(struct app *app, unsigned rows, unsigned cols);
void app_key(struct app *app, int key);
void app_timeline_changed(struct app *app);
void app_second_passed(struct app *app);	/* once a second, for playing */
void app_draw(struct app *app);

#endif
