/* SPDX-License-Identifier: GPL-2.0-only */
/* Screens of several tables: moving through them, and sharing the rows there are. */
#ifndef BLK_UI_PANES_H
#define BLK_UI_PANES_H

#include "ui/app_state.h"

/* Up, down and to the ends, over all tables of the place. false: nothing of that. */
bool panes_command(struct place *p, enum command_id id);
/* How many of `room` rows each table gets: one after the other in `order`, as long as they
 * have rows. */
void panes_share(struct place *p, unsigned room, const enum pane *order, unsigned ret[PANE_N]);

#endif
