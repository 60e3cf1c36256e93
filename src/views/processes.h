/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the processes, which the overview shows as well. Private to src/views/.
 */
#ifndef BLK_VIEWS_PROCESSES_H
#define BLK_VIEWS_PROCESSES_H

#include "views/common.h"

GETTER(processes_get_cpu_ratio);	/* of one CPU */
GETTER(processes_get_runq_ratio);
GETTER(processes_get_block_ratio);
GETTER(processes_get_calls_rate);

struct rows *processes_build(const struct timeline *tl, const struct view_query *query);

#endif
