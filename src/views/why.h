/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a span took so long, in one sentence: the part of it that matters, what that
 * waited for, and what the one it waited for did meanwhile.
 */
#ifndef BLK_VIEWS_WHY_H
#define BLK_VIEWS_WHY_H

#include "state/store/span_tree.h"
#include "views/history.h"

struct why {
	int node;			/* the one to blame: the asked one or below it */
	enum part part;			/* the largest part of its time */
	int64_t ns;			/* of that part */
	const struct span_wait *wait;	/* the longest of that part; NULL: none kept */
	/* Who it waited for, when the wait was woken by a thread: */
	uint32_t waker;			/* thread; ID_NONE */
	uint32_t culprit;		/* behind the waker when that only waited as well; ID_NONE */
	const char *culprit_did;	/* what that did most of the time: "slept"; NULL: unknown */
	int64_t culprit_ns;		/* and for how long */
	const char *culprit_also;	/* what it did for longest but that; NULL: nothing known */
	int64_t culprit_also_ns;
	uint64_t culprit_trace;		/* what it worked for; 0: unknown */
	const char *culprit_span;	/* name of that span; NULL: unknown */
};

void why_find(struct history *h, const struct tree *t, int node, struct why *ret);
/* "waited 54.7ms for a lock; thumbd-w0/254 slept holding it (1e9873c2)" */
char *why_sentence(const struct history *h, const struct tree *t, int asked,
		   const struct why *why);
/* "lock: futex, woken by thumbd-w0/254" */
char *why_short(const struct history *h, const struct tree *t, int asked,
		const struct why *why);
/* Both steps for a whole trace: the short text of its root. */
char *why_trace(struct history *h, uint64_t trace_id);

/* The longest wait of a span, of one part (PART_N: of any); NULL. */
const struct span_wait *why_longest_wait(const struct span *s, enum part part);
/* The file, peer, ... it waited for, without the word for its part; NULL: unknown. */
const char *wait_object(const struct timeline *tl, const struct span_wait *w);
static inline int64_t wait_blocked(const struct span_wait *w)
{
	return w->part == PART_PREEMPTED ? w->end_ns - w->begin_ns : w->wake_ns - w->begin_ns;
}

#endif
