/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen as a command: opens the input, and implements the backend of the screen (ui/ui.h). */
#ifndef BLK_CMD_SCREEN_H
#define BLK_CMD_SCREEN_H

#include "cli/command.h"

/* Returns the exit status. */
int screen_run(const struct read_options *read, const struct shown_options *shown, const struct screen_options *o);

#endif
