/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log as a table: rows are made of lines of the journal, which no timeline has. It is
 * no view of batch mode (that is `blktop log`), so view_all does not list it.
 */
#ifndef BLK_VIEWS_LOGVIEW_H
#define BLK_VIEWS_LOGVIEW_H

#include "state/calllog/calllog_window.h"
#include "views/view.h"

extern const struct view view_log;

/* Rows of these lines (GPtrArray of struct journal_line *); takes references. */
struct rows *logview_rows(const struct timeline *tl, const struct view_query *query,
			  const GPtrArray *lines);
/* The line of a row of those. */
const struct journal_line *logview_line(const struct row *row);

/* All that is known of a line, and what the system did at an instant: visible lines of
 * text (char *), to read. */
GPtrArray *logview_details(const struct journal_line *l);
GPtrArray *logview_instant(const struct journal_line *l, const struct journal_window *w);

#endif
