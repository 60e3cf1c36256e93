/* SPDX-License-Identifier: GPL-2.0-only */
/* Key F7: what a view shows, in which units, which events it needs, and the commands that record them. */
#ifndef BLK_UI_VIEW_INFO_H
#define BLK_UI_VIEW_INFO_H

#include "ui/app_state.h"

void view_info_open(struct app *app, struct place *p, enum command_id command);

#endif
