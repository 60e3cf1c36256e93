/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop report: a page about the worst requests (export/report.h). */
#ifndef BLK_CMD_REPORT_H
#define BLK_CMD_REPORT_H

#include "cli/command.h"

/* Returns the exit status. */
int report_write(const struct read_options *read, const struct shown_options *shown,
		 const struct output_options *output, const struct page_options *o);

#endif
