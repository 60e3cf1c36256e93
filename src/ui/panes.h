/* SPDX-License-Identifier: GPL-2.0-only */
/* Screens with several tables: moving between them, and distributing the rows of the screen. */
#ifndef BLK_UI_PANES_H
#define BLK_UI_PANES_H

#include "ui/app_state.h"

/* Moves up, down and to the ends across all tables of the place. false: not such a command, or the table itself
 * handles it. */
bool panes_command(struct app *app, struct place *p, enum command_id id);
/* Distributes `room` rows: each of the n tables in `order`, in which one may be several times, gets one in turn, until
 * it has room for all its rows. */
void panes_share(struct place *p, unsigned room, const enum pane *order, size_t n, unsigned ret[PANE_N]);

#endif
