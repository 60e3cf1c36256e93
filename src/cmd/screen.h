/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen's other end: gives ui/ what it asks for.
 */
#ifndef BLK_CMD_SCREEN_H
#define BLK_CMD_SCREEN_H

#include "cli/options.h"

int screen_run(const struct options *o);	/* the program's exit code */

#endif
