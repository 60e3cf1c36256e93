/* SPDX-License-Identifier: GPL-2.0-only */
/* Going to other views: by number, from the list of views, and with Enter on a row. */
#ifndef BLK_UI_GOTO_VIEW_H
#define BLK_UI_GOTO_VIEW_H

#include "ui/app_state.h"

void goto_view_command(struct app *app, struct place *p, enum command_id command);

#endif
