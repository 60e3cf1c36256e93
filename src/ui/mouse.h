/* SPDX-License-Identifier: GPL-2.0-only */
/* The mouse: what clicks, dragging and the wheel do, on the picture that was drawn last. */
#ifndef BLK_UI_MOUSE_H
#define BLK_UI_MOUSE_H

#include "ui/app_state.h"

enum app_mouse { APP_OTHER_BUTTON, APP_CLICK, APP_WHEEL_UP, APP_WHEEL_DOWN, APP_DRAG, APP_RELEASE };
/* y, x: cell of the canvas. now_us: monotonic, to tell double clicks. */
void app_mouse(struct app *app, enum app_mouse what, unsigned y, unsigned x, gint64 now_us);

#endif
