/* SPDX-License-Identifier: GPL-2.0-only */
/* The first screen, as other modules of the screen see it; drawing and commands: screen.h. */
#ifndef BLK_UI_SCREEN_OVERVIEW_H
#define BLK_UI_SCREEN_OVERVIEW_H

#include "ui/nav.h"

/* What stands after WHY, whole; NULL: nothing. g_free. */
char *screen_overview_why(struct place *p);

#endif
