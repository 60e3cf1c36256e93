/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What evicted traces come to: sums by what the views ask for (timeline.h), in steps of
 * time that get coarser as they get many. Bounded: what still does not fit (as hostile
 * traces have a name for every span) goes into one sum of each kind, .others. Belongs to a
 * timeline, and to its thread.
 */
#ifndef BLK_STATE_STORE_SPAN_SUMS_H
#define BLK_STATE_STORE_SPAN_SUMS_H

#include "base/intmap.h"
#include "state/store/span_tree.h"

struct span_sums {
	GArray *list;			/* struct span_sum */
	struct intmap index;		/* a hash of what they are of -> in list */
	int64_t step_ns;
	guint most;
};

void span_sums_init(struct span_sums *sums, size_t memory_budget);	/* 0: no bound */
void span_sums_clear(struct span_sums *sums);
/* All closed spans of a trace that goes. */
void span_sums_add(struct span_sums *sums, const struct tree *t);
size_t span_sums_bytes(const struct span_sums *sums);

#endif
