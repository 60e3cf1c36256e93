/* SPDX-License-Identifier: GPL-2.0-only */
/* The log on the screen: calls and events around an instant, read by the backend on request. */
#ifndef BLK_UI_SCREEN_LOG_H
#define BLK_UI_SCREEN_LOG_H

#include "ui/app_state.h"

/* Opens the log at the current instant, for the process or thread of the selected row. */
void screen_log_open(struct app *app, struct place *p, enum command_id id);
void screen_log_take(struct app *app);	/* takes an answer of the backend, if there is one */
/* Is an answer about the lines on the screen still to come? */
bool screen_log_is_waiting(const struct app *app);
/* Rows of all lines in memory, whatever the filter. Free with rows_free(). */
struct rows *screen_log_rows(const struct app *app, const struct view_query *query);
void screen_log_clear(struct app *app);

#endif
