/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorting, filtering, tagging and folding of the tables that a place shows. */
#ifndef BLK_UI_TABLES_H
#define BLK_UI_TABLES_H

#include "ui/app_state.h"

/* Filters, sorts and orders the rows of a pane after they were built. */
void tables_prepare(struct app *app, struct place *p, enum pane pane);
void tables_command(struct app *app, struct place *p, enum command_id command);
/* Sorts by a column, by that of now in the other direction. Reports it in the status line, and stores it in the
 * settings. */
void tables_sort_by(struct app *app, struct focus *f, size_t column);

#endif
