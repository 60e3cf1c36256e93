/* SPDX-License-Identifier: GPL-2.0-only */
/* The log on the screen: what the rest of it needs to know. */
#ifndef BLK_UI_SCREEN_LOG_H
#define BLK_UI_SCREEN_LOG_H

#include "ui/app_state.h"

/* The command: the log at the present instant, of the selected row's process or thread. */
void screen_log_open(struct app *app, struct place *p, enum command_id id);
void screen_log_take(struct app *app);	/* when the backend may have an answer */
void screen_log_clear(struct app *app);

#endif
