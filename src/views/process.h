/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of one process: facts about it (rows->rows), and its threads, files, system calls and slowest calls in the
 * range, as rows of those views. The view "process" builds it for query->pid and host (pid -1: the process with the
 * most CPU time).
 */
#ifndef BLK_VIEWS_PROCESS_H
#define BLK_VIEWS_PROCESS_H

#include "views/view.h"

enum process_part { PROCESS_THREADS, PROCESS_FILES, PROCESS_CALLS, PROCESS_SLOW, PROCESS_PARTS };

struct process_page {
	int32_t pid;			/* -1: there is none */
	struct rows *part[PROCESS_PARTS];
};

extern const struct view view_process;
/* NULL when the rows are not of the view "process". */
const struct process_page *process_page_of(const struct rows *rows);
/* The view of a part's rows: the registered one of that name with another target of Enter. */
const struct view *process_part_view(enum process_part part);
/* The columns that fit on the page, in the syntax of --columns. */
const char *process_part_columns(enum process_part part);
/* A fact as text by its id ("comm"); NULL: unknown. */
const char *process_fact(const struct rows *rows, const char *id);

#endif
