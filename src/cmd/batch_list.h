/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a list of spans or traces that exceeds --memory: what is evicted is printed just before, the rest at the
 * end. Rows are in order within a piece, and pieces are mostly in order of time. If everything fits, this prints
 * nothing.
 */
#ifndef BLK_CMD_BATCH_LIST_H
#define BLK_CMD_BATCH_LIST_H

#include "cli/options.h"

#include "export/export.h"

struct batch_list {
	const struct options *o;
	const struct view *view;	/* with the columns to print */
	struct timeline *tl;
	bool in_pieces;			/* it can be: the whole of a recorded trace, not sorted */
	struct rows_pieces pieces;
	int broken;			/* errno after a failed write; nothing more is printed then */
};

void batch_list_begin(struct batch_list *list, const struct options *o, const struct view *view,
		      struct timeline *tl);
/* Prints traces that are about to be evicted: call it from timeline_on_evicting(). */
void batch_list_evicting(struct batch_list *list, const uint64_t *trace_ids, size_t n);
/* Was a part printed? Then batch_list_finish() must print the rest. */
bool batch_list_is_begun(const struct batch_list *list);
void batch_list_finish(struct batch_list *list, int64_t from_ns, int64_t to_ns);
void batch_list_clear(struct batch_list *list);

#endif
