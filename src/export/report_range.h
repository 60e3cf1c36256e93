/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says about a range whatever requests it has, for each language of the page. Private to src/export/. */
#ifndef BLK_EXPORT_REPORT_RANGE_H
#define BLK_EXPORT_REPORT_RANGE_H

#include "export/report_head.h"

/* Gets a table: the first `max` of the rows with the named columns (NULL-terminated); what: the name of the rows. */
typedef void (*report_table)(void *data, const char *title, const struct view *v, const struct rows *rows,
			     const char *const *columns, guint max, const char *what);

/* Causes of slow requests. */
void report_causes(const struct timeline *tl, const struct report_options *o, report_table visit, void *data);
/* The busiest processes, and their system calls. */
void report_machine(const struct timeline *tl, const struct report_options *o, report_table visit, void *data);

/* Gets a question (views/questions.h), "yes", "partly" or "no", and what is not recorded ("-": nothing). */
typedef void (*report_question)(void *data, const char *question, const char *answer, const char *missing);
/* The questions that depend on what was recorded. */
void report_questions(const struct timeline *tl, report_question visit, void *data);

#endif
