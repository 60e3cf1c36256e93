/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One process on a page: what it is (rows->rows: a fact each), and its threads, files,
 * system calls and slowest calls in the range, as rows of those views. Built by the view
 * "process" for query->pid and host (pid -1: the process with the most time on a CPU).
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
/* The view that the rows of a part are of: the one of that name, but for where Enter leads. */
const struct view *process_part_view(enum process_part part);
/* The columns of it that there is room for, as --columns has them. */
const char *process_part_columns(enum process_part part);
/* A fact by its id, "comm", as text; NULL: not known. */
const char *process_fact(const struct rows *rows, const char *id);

#endif
