/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys e and E: export at once, or from a list of formats and targets with the recent choices on top, which then asks
 * for the file. */
#ifndef BLK_UI_EXPORT_PICKER_H
#define BLK_UI_EXPORT_PICKER_H

#include "ui/app_state.h"

void export_picker_command(struct app *app, struct place *p, enum command_id command);
/* The file was typed; "": the default name. false and *error: nothing is exported, and the prompt stays open. */
bool export_picker_file(struct app *app, const char *path, GError **error);

#endif
