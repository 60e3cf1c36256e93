/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of all screens. Screens have commands of their own, which come first (screen.h). */
#ifndef BLK_UI_COMMANDS_H
#define BLK_UI_COMMANDS_H

#include "ui/app_state.h"

void app_command(struct app *app, enum command_id command);
/* Carries out the line of the open prompt. Closes the prompt, or shows why the line is wrong. */
void app_prompt_done(struct app *app, const char *text);
/* Selects the next row that contains place->search, in any pane. direction: 1 down, -1 up. */
void app_search(struct app *app, int direction, bool from_here);

#endif
