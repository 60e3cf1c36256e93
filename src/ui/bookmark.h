/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys m and ': bookmarks (views/bookmarks.h), which the backend stores. */
#ifndef BLK_UI_BOOKMARK_H
#define BLK_UI_BOOKMARK_H

#include "ui/app_state.h"

/* Commands CMD_BOOKMARK and CMD_BOOKMARKS. */
void bookmark_command(struct app *app, struct place *p, enum command_id command);
/* The instants of all bookmarks, ascending: int64_t. They are read once; what cannot be read counts as none. */
const GArray *bookmark_instants(struct app *app);
/* The note was typed: sets the bookmark, or removes it if the note is "-". false: *error. */
bool bookmark_set(struct app *app, const char *note, GError **error);

#endif
