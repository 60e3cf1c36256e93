/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verdicts of one tree ask for again and again, found once for all its spans: a
 * request may be a hundred thousand spans deep, and each of them has a sentence. Made when
 * it is first asked for, kept by the tree, freed with it. Private to why.c.
 */
#ifndef BLK_VIEWS_WHY_INDEX_H
#define BLK_VIEWS_WHY_INDEX_H

#include "views/why.h"

struct why_index;

struct why_index *why_index_of(const struct tree *t);

/* Down the tree from node, while one child covers more than half. */
int why_index_blamed(const struct why_index *ix, int node);
/* Further down on the same thread, while one child has more than half of the part. */
int why_index_holder(struct why_index *ix, const struct tree *t, int node, enum part part);
/* The longest wait of the part below node, on its thread; NULL: none is kept. */
const struct span_wait *why_index_wait_below(struct why_index *ix, const struct tree *t, int node,
					     enum part part);
/* Sets .node, .part and .ns of ret: what of `asked` and below is worth telling, was not told
 * yet, and took longest. In a huge tree only as many as it has time for are looked at, the
 * longest first. false: nothing. */
bool why_index_other(struct why_index *ix, struct history *h, const struct tree *t, int asked,
		     const struct why *told, unsigned n_told, struct why *ret);

/* Who was waited for, by (node, part, whether in none of its children): what was set, until
 * the next one is; NULL: nobody has asked. */
const struct why *why_index_get(const struct why_index *ix, int node, enum part part, bool own);
void why_index_set(struct why_index *ix, int node, enum part part, bool own, const struct why *why);

/* Preempted and woken are one want: of a CPU. */
static inline bool part_is_runnable(enum part p)
{
	return p == PART_PREEMPTED || p == PART_WAKEUP;
}

static inline enum part larger_runnable(const struct span *s)
{
	return s->part[PART_PREEMPTED] >= s->part[PART_WAKEUP] ? PART_PREEMPTED : PART_WAKEUP;
}

/* Of a part; of either runnable one, both. */
static inline int64_t part_ns(const struct span *s, enum part p)
{
	return part_is_runnable(p) ? part_sum_runnable(s->part) : s->part[p];
}

#endif
