/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists from which the user chooses columns (f) and the order (o). */
#ifndef BLK_UI_CHOOSER_H
#define BLK_UI_CHOOSER_H

#include "ui/app_state.h"

void chooser_open(struct app *app, struct place *p, enum command_id command);

#endif
