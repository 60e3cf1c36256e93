/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen as a picture: of key D, and without a terminal (ui_screenshot() in ui.h). */
#ifndef BLK_UI_SCREENSHOT_H
#define BLK_UI_SCREENSHOT_H

#include "ui/app_state.h"

/* Draws the screen without the prompt, at the size of its canvas, in the theme that is shown. Free with g_free. */
char *screenshot_svg(struct app *app);

#endif
