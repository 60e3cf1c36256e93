/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes below their parents, threads below their process. Private to src/views/. */
#ifndef BLK_VIEWS_PTREE_H
#define BLK_VIEWS_PTREE_H

#include "views/common.h"

/*
 * Rows of struct common, in whatever order: it is kept among those of one parent. The
 * parent is the process with the pid that `parent` gives (-1: unknown) which began last
 * before the row did; a thread's is its process. Rows without one are roots.
 */
void ptree_arrange(struct rows *rows, int32_t (*parent)(const struct row *row));

#endif
