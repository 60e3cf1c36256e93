/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop report: a page about the worst requests (export/report.h). */
#ifndef BLK_CMD_REPORT_H
#define BLK_CMD_REPORT_H

#include "cli/options.h"

int report_write(const struct options *o);	/* the exit status */

#endif
