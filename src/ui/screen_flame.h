/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of the view flame: frames as wide as their share of the time, the frame of all on top. */
#ifndef BLK_UI_SCREEN_FLAME_H
#define BLK_UI_SCREEN_FLAME_H

#include "ui/app_state.h"

/* Key V: opens it for the range that is shown; from a table for the process, operation or trace of the selected row. */
void screen_flame_open(struct app *app, struct place *p, enum command_id command);
/* row.key[0] of the frame as wide as the screen; 0: that of all, or another view. */
uint64_t screen_flame_zoomed(struct place *p);
void screen_flame_zoom(struct place *p, uint64_t key);

#endif
