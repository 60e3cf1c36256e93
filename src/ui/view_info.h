/* SPDX-License-Identifier: GPL-2.0-only */
/* Key F7: what a view shows, in which units, which events it needs, and the commands that record them. */
#ifndef BLK_UI_VIEW_INFO_H
#define BLK_UI_VIEW_INFO_H

#include "ui/app_state.h"

void view_info_open(struct app *app, struct place *p, enum command_id command);

/* Why what the view shows is slow: of the selected requests, of the trace, or what explains `rows`. NULL: not known.
 * Free with g_free(). */
char *view_info_why(struct place *p, const struct rows *rows);

#endif
