/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop log: prints the calls and events of a range, as they are read. */
#ifndef BLK_CMD_LOG_H
#define BLK_CMD_LOG_H

#include "cli/options.h"

int print_log(const struct options *o);		/* the exit status */

#endif
