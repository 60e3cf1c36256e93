/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists from which the user chooses columns (f) and the order (o). */
#ifndef BLK_UI_CHOOSER_H
#define BLK_UI_CHOOSER_H

#include "ui/app_state.h"

void chooser_open(struct app *app, struct place *p, enum command_id command);
/* A command while the list is open. false: not one of the chooser's. */
bool chooser_command(struct app *app, enum command_id command);
void chooser_free(struct app *app);

#endif
