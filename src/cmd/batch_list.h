/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of spans (or traces) that memory has no room for, printed all the same: what goes is
 * printed just before it goes, the rest in the end. Rows are in order within a piece, and
 * pieces mostly in order of time. Where all fits, nothing is printed by this.
 */
#ifndef BLK_CMD_BATCH_LIST_H
#define BLK_CMD_BATCH_LIST_H

#include "cli/options.h"

#include "export/export.h"

struct batch_list {
	const struct options *o;
	const struct view *view;	/* with the columns asked for */
	struct timeline *tl;
	struct rows_pieces pieces;
	int broken;			/* errno, once output failed: nothing more is printed */
};

/* Listens to the timeline, if this is a view, and a question, that can be answered in pieces: of
 * the whole of a recorded trace, not sorted. The list stays where it is. */
void batch_list_begin(struct batch_list *list, const struct options *o, const struct view *view,
		      struct timeline *tl);
/* Was a part of it printed? Then the rest has to be, by: */
bool batch_list_is_begun(const struct batch_list *list);
void batch_list_finish(struct batch_list *list, int64_t from_ns, int64_t to_ns);
void batch_list_clear(struct batch_list *list);

#endif
