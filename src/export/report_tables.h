/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables about one request for the report. Private to src/export/. */
#ifndef BLK_EXPORT_REPORT_TABLES_H
#define BLK_EXPORT_REPORT_TABLES_H

#include "views/waterfall.h"

void report_phases(GString *out, const struct timeline *tl, uint64_t trace_id);
/* From the rows of a waterfall: its system calls, and its longest waits. */
void report_calls(GString *out, const struct rows *rows);
void report_waits(GString *out, const struct rows *rows);
/* The longest segments of the root's critical path, by time. */
void report_path(GString *out, const struct rows *rows);

#endif
