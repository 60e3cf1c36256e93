/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path of a span: what its time was really spent on, in whatever thread that was.
 *
 * At any instant it is on the span's thread while that runs or waits for a CPU, the clock or a
 * disk. Where it is blocked on others it is with them: on the child of another thread that ended
 * last before it went on; else on the thread that woke it, and on the one that woke that, which
 * need no span (state/spans/waker_chain.h). Where an interrupt woke it nobody else is known: the path stays,
 * and says on what it was blocked.
 */
#ifndef BLK_VIEWS_PATH_H
#define BLK_VIEWS_PATH_H

#include "state/store/span_tree.h"
#include "views/history.h"

struct path_segment {
	int64_t begin_ns, end_ns;
	int node;			/* of the tree: its innermost span there; -1: none */
	const struct span *span;	/* of that node; else of another trace, as the history has it; or NULL */
	uint32_t thread;		/* ID_NONE: unknown */
	enum part part;			/* what it did. PART_UNKNOWN and on_cpu: the mode is not known */
	bool on_cpu;
	bool mixed;			/* only mostly: what is too short to be told is in it */
	uint32_t call, file, waker, waker_irq;	/* of a blocked one, as in struct span_wait */
	uint32_t behind;		/* of a runnable one: who had its CPU; ID_NONE */
	unsigned hops;			/* wakers away from a span of the tree: */
	int via;			/* the node that waited; of no hops .node itself */
};

/* Of the span of a node, in order of time: each begins where the one before it ended, from the
 * span's begin to its end. h outlives it. g_array_unref. */
GArray *path_of(struct history *h, const struct tree *t, int node);

/* Sets .critical of the nodes below the tree's root with which, or with whom they waited for, the
 * root's path spends at least a tenth of their parent's time, and whose parents are so. */
void path_mark(struct tree *t);

/* Of all threads but the waiting one, that of node's: with whom [from, to) was spent most. */
struct path_culprit {
	uint32_t thread;
	int64_t ns;			/* of it in what it did most: */
	enum part part;			/* PART_UNKNOWN, where not on_cpu: nobody knows */
	bool on_cpu;
	const struct span *span;	/* what it worked for meanwhile; NULL: unknown */
	int64_t second_ns;		/* of what the thread did for longest but one; 0: nothing else */
	enum part second;
	bool second_on_cpu;
};
/* false: the path stays with the thread itself. */
bool path_culprit(struct history *h, const struct tree *t, int node, int64_t from, int64_t to,
		  struct path_culprit *ret);

/* "timer: clock_nanosleep", "futex, woken by b/12": what it did. g_free. */
char *path_words(const struct timeline *tl, const struct path_segment *p);
/* "cpu", or the id of its part. */
const char *path_state(const struct path_segment *p);

#endif
