/* SPDX-License-Identifier: GPL-2.0-only */
/* What a place shows of a range that was not read: what the outline knows of it, and no zeros. */
#ifndef BLK_UI_UNREAD_H
#define BLK_UI_UNREAD_H

#include "ui/app_state.h"

void unread_draw(struct app *app, struct place *p, struct box box);

#endif
