/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call log as a table on the screen. Rows are made of lines of the call log (state/calllog), not of a timeline.
 * Batch mode has `blktop log` instead, so view_all does not list this view.
 */
#ifndef BLK_VIEWS_LOGVIEW_H
#define BLK_VIEWS_LOGVIEW_H

#include "state/calllog/calllog_window.h"
#include "views/view.h"

extern const struct view view_log;

/* Rows of these lines (GPtrArray of struct calllog_line *); takes references. */
struct rows *logview_rows(const struct timeline *tl, const struct view_query *query,
			  const GPtrArray *lines);
/* The line of a row that logview_rows() made. */
const struct calllog_line *logview_line(const struct row *row);

/* Details of a line, and the state of the system at an instant. Lines (char *) that are safe for a terminal. */
GPtrArray *logview_details(const struct calllog_line *l);
GPtrArray *logview_instant(const struct calllog_line *l, const struct calllog_window *w);

#endif
