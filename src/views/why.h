/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of a slow span (column id: verdict): where its time went beyond the usual of its operation (usual.h), what
 * its thread waited for there, and what the thread that ended the wait was doing.
 *
 * A span within the usual (usual_includes()) has no cause. If the usual is unknown, the whole duration counts. All
 * screens, lists and exports take the cause from here, so they agree.
 */
#ifndef BLK_VIEWS_WHY_H
#define BLK_VIEWS_WHY_H

#include "state/store/span_tree.h"
#include "views/history.h"

#define WHY_CAUSES 4

struct why_cause {
	int node;			/* the span to blame: the requested one, or one below it in the tree */
	enum part part;			/* what its thread did, on the critical path */
	int64_t ns;			/* time on the critical path in this phase (service and name) and part */
	int64_t excess_ns;		/* how much of .ns exceeds its usual; above 0, at most why.excess_ns */
	const struct span_wait *wait;	/* the longest wait of that part; NULL: none retained */
	const struct span_link *message;	/* the part is the way of this message to the span; or NULL */
	/* Set if a thread ended the wait: */
	uint32_t waker;			/* thread; ID_NONE */
	uint32_t culprit;		/* end of the waker chain, if the waker was waiting, too; ID_NONE */
	const char *culprit_did;	/* what the culprit did most of the time: "slept"; NULL: unknown */
	int64_t culprit_ns;		/* duration of that */
	uint32_t culprit_cpu_holder;	/* thread that ran on its CPU while it waited for one; ID_NONE */
	bool culprit_behind_own;	/* that thread worked for the request itself */
	const char *culprit_also;	/* what it did second longest; NULL: unknown */
	int64_t culprit_also_ns;
	uint64_t culprit_trace;		/* trace that it worked for; 0: unknown */
	const char *culprit_span;	/* name of that span; NULL: unknown. Of a message: of the span in which the
					 * thread that took it was meanwhile */
};

struct why {
	int node;			/* the first cause's; without a cause the requested span */
	int64_t ns;			/* duration of the span, or of the trace (trace_duration()) */
	int64_t usual_ns;		/* usual duration of the operation; -1: unknown */
	int64_t excess_ns;		/* the duration above it */
	unsigned n;			/* causes; 0: within the usual, or no duration is known */
	struct why_cause cause[WHY_CAUSES];	/* largest excess first */
};

void why_find(struct history *h, const struct tree *t, int node, struct why *ret);
/* Of the whole trace: with messages, of its critical path (path_of_trace()); else of its root. Its sentences are asked
 * of the root. */
void why_find_trace(struct history *h, const struct tree *t, struct why *ret);
/* "lock: waited 54.7ms for a lock; thumbd-w0/254 slept holding it (1e9873c2) (52.1ms of 54.9ms over the usual)".
 * NULL: within the usual. Free with g_free(), here and below. */
char *why_sentence(struct history *h, const struct tree *t, int asked, const struct why *why);
/* "lock: futex, woken by thumbd-w0/254"; NULL: within the usual. */
char *why_short(struct history *h, const struct tree *t, int asked, const struct why *why);
/* why_find_trace() of a trace, with why_short() or why_sentence(). */
char *why_trace(struct history *h, uint64_t trace_id);
char *why_trace_sentence(struct history *h, uint64_t trace_id);

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
