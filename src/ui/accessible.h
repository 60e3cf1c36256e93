/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Screens for screen readers (setting accessible): text only, one fact a line. Above, what the screen is about; then
 * the rows, one a line, with the terminal's cursor on the selected one; below, the figures of the selected row.
 */
#ifndef BLK_UI_ACCESSIBLE_H
#define BLK_UI_ACCESSIBLE_H

#include "ui/app_state.h"

/* Draws the place into the box, over what was drawn before. Sets app->cursor_y. */
void accessible_draw(struct app *app, struct place *p, struct box box);

#endif
