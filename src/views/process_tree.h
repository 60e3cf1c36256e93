/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes below their parents, threads below their process. Private to src/views/. */
#ifndef BLK_VIEWS_PROCESS_TREE_H
#define BLK_VIEWS_PROCESS_TREE_H

#include "views/common.h"

/*
 * Arranges rows of struct common as a tree; siblings retain their order. The parent of a process has the pid that
 * `parent` returns (-1: unknown) and is the latest process with it that began before the row. The parent of a thread is
 * its process. Rows without a parent are roots.
 */
void process_tree_arrange(struct rows *rows, int32_t (*parent)(const struct row *row));

#endif
