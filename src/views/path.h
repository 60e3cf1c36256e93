/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path of a span: for each instant, the thread that the span's progress depended on.
 *
 * The path is on the span's thread while that runs, or waits for a CPU, a timer or a disk. While it is blocked on
 * another thread, the path is on that one: the child span of another thread that ended last before the wait ended;
 * else the waker chain (state/spans/waker_chain.h), whose threads need no span. If an interrupt ended the wait,
 * the path stays on the blocked thread and names what it was blocked on.
 */
#ifndef BLK_VIEWS_PATH_H
#define BLK_VIEWS_PATH_H

#include "state/store/span_tree.h"
#include "views/history.h"

#define PATH_MODES (PART_IRQ + 1)		/* the parts on a CPU are the first */

struct path_segment {
	int64_t begin_ns, end_ns;
	int node;			/* innermost span of the tree on that thread; -1: none */
	const struct span *span;	/* the node's; else a span of another trace (history.h); or NULL */
	uint32_t thread;		/* ID_NONE: unknown */
	enum part part;			/* what it did; with on_cpu the largest mode, PART_UNKNOWN: not known */
	bool on_cpu;
	bool mixed;			/* the part is the largest; shorter ones are merged into the segment */
	bool divided;			/* private, as is .part_ns: see path_part_ns() */
	int64_t part_ns[PART_N];
	uint32_t call, file, waker, waker_irq;	/* of a blocked segment, as in struct span_wait */
	uint32_t cpu_holder;		/* of a runnable segment: the thread on its CPU; of a message's: as in struct
					 * span_link; or ID_NONE */
	bool holder_is_own;		/* that thread worked for the request itself */
	unsigned depth;			/* distance in wakers from a span of the tree; 0: on the span */
	int via;			/* the node that waited; .node itself if depth is 0 */
	const struct span_link *message;	/* that was on its way to .node; the span's; or NULL */
};

/* The segments (struct path_segment) of a node's span by time, without gaps, from its beginning to its end. h must
 * outlive the array. Free with g_array_unref(). */
GArray *path_of(struct history *h, const struct tree *t, int node);
/* The same of a trace whose spans are linked by messages: backwards from the last span that took one, and on to the
 * spans that sent them, to the root. Before a link that is unsure, it is unknown. Only that of the root if it ended
 * last. The segments sum to trace_duration(). */
GArray *path_of_trace(struct history *h, const struct tree *t);

/* How much of the segment the thread spent in the part; all parts sum to the segment's length. The times of several
 * segments of a span outside of its retained waits are shares of what is known of all of them; together they are
 * exact. */
int64_t path_part_ns(const struct path_segment *p, enum part part);

/* Time (ns) of a path by span and part; several may have the same span and part. While the path is on a waker chain, it
 * is time of the span that waits, and of the part that it waits in. */
struct path_share {
	int node;
	enum part part;
	int64_t ns;			/* above 0 */
};
/* The shares of a node's path; they sum to its span's duration. Of the way of a message, the node is the span that took
 * it, and the part PART_HANDOFF. Free with g_array_unref(). */
GArray *path_shares(const struct tree *t, int node);
#define PATH_TRACE (-1)			/* as the node: path_of_trace() */

/* Sets .critical of nodes below the root. A node is critical if its parent is, and if the trace's path spends at least
 * a tenth of the parent's time on it or on threads that it waited for. */
void path_mark(struct tree *t);

/* The thread, other than the node's, on which the path spent most of [from, to). */
struct path_culprit {
	uint32_t thread;
	int64_t ns;			/* time in the part below */
	enum part part;			/* its largest part; PART_UNKNOWN without on_cpu: unknown */
	bool on_cpu;
	uint32_t cpu_holder;		/* if that is waiting for a CPU: the thread that ran there; or ID_NONE */
	const struct span *span;	/* span that it worked on meanwhile; NULL: unknown */
	int64_t second_ns;		/* time in its second largest part; 0: none */
	enum part second;
	bool second_on_cpu;
};
/* false: the path stays with the thread itself. */
bool path_culprit(struct history *h, const struct tree *t, int node, int64_t from, int64_t to,
		  struct path_culprit *ret);

/* What the segment did: "timer: clock_nanosleep", "futex, woken by b/12". Free with g_free(). */
char *path_words(const struct timeline *tl, const struct path_segment *p);
/* "cpu", or the id of its part. */
const char *path_state(const struct path_segment *p);

#endif
