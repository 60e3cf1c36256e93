/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explanation of a slow span in one sentence (column id: verdict). It names the largest part of the time, what the
 * thread waited for, and what the thread that ended the wait was doing.
 */
#ifndef BLK_VIEWS_WHY_H
#define BLK_VIEWS_WHY_H

#include "state/store/span_tree.h"
#include "views/history.h"

struct why {
	int node;			/* the span to blame: the requested one, or one below it in the tree */
	enum part part;			/* the largest part of its time */
	int64_t ns;			/* of that part */
	const struct span_wait *wait;	/* the longest wait of that part; NULL: none retained */
	/* Set if a thread ended the wait: */
	uint32_t waker;			/* thread; ID_NONE */
	uint32_t culprit;		/* end of the waker chain, if the waker was waiting, too; ID_NONE */
	const char *culprit_did;	/* what the culprit did most of the time: "slept"; NULL: unknown */
	int64_t culprit_ns;		/* duration of that */
	const char *culprit_also;	/* what it did second longest; NULL: unknown */
	int64_t culprit_also_ns;
	uint64_t culprit_trace;		/* trace that it worked for; 0: unknown */
	const char *culprit_span;	/* name of that span; NULL: unknown */
};

void why_find(struct history *h, const struct tree *t, int node, struct why *ret);
/* "waited 54.7ms for a lock; thumbd-w0/254 slept holding it (1e9873c2)" */
char *why_sentence(const struct history *h, const struct tree *t, int asked,
		   const struct why *why);
/* "lock: futex, woken by thumbd-w0/254" */
char *why_short(const struct history *h, const struct tree *t, int asked,
		const struct why *why);
/* why_find() and why_short() for the root of a trace. */
char *why_trace(struct history *h, uint64_t trace_id);

/* The longest wait of the span that counts as this part (PART_N: any part). NULL: none. */
const struct span_wait *why_longest_wait(const struct span *s, enum part part);
/* The file or peer that was waited for, without the name of the part. NULL: unknown. */
const char *wait_object(const struct timeline *tl, const struct span_wait *w);
/* Time until the waking, in ns; of a preempted thread, which needs no waking, the whole wait. */
static inline int64_t wait_blocked(const struct span_wait *w)
{
	return w->part == PART_PREEMPTED ? w->end_ns - w->begin_ns : w->wake_ns - w->begin_ns;
}

#endif
