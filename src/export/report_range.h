/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of views in a report, and what a report says about a range with or without requests, for each language of the
 * page. Private to src/export/.
 */
#ifndef BLK_EXPORT_REPORT_RANGE_H
#define BLK_EXPORT_REPORT_RANGE_H

#include "export/report_head.h"

struct report_table {
	const char *title, *view;
	enum view_by by;
	const char *sort;		/* column: the largest value first; NULL: the order of the view */
	const char *const *columns;	/* NULL-terminated */
	guint max;			/* rows that are shown */
	const char *rows;		/* the name of the rows */
};

/* Gets all rows of a table, of which it shows the first .max. */
typedef void (*report_visit)(void *data, const struct report_table *t, const struct view *v, const struct rows *rows);

/* The table of the range, or of one trace in it. trace_id NULL: of all. */
void report_rows(const struct timeline *tl, const struct report_options *o, const struct report_table *t,
		 const uint64_t *trace_id, report_visit visit, void *data);
/* Causes of slow requests. */
void report_causes(const struct timeline *tl, const struct report_options *o, report_visit visit, void *data);
/* The busiest processes, and their system calls. */
void report_machine(const struct timeline *tl, const struct report_options *o, report_visit visit, void *data);

/* Gets a question (views/questions.h), "yes", "partly" or "no", and what is not recorded ("-": nothing). */
typedef void (*report_question)(void *data, const char *question, const char *answer, const char *missing);
/* The questions that depend on what was recorded. */
void report_questions(const struct timeline *tl, report_question visit, void *data);

#endif
