/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans of one trace as a tree, for the waterfall, phases, services and exports. Siblings are in order of time, and
 * a server half is below its client half. Every input gives a tree: missing parents, cycles and ids used twice
 * are allowed.
 */
#ifndef BLK_STATE_STORE_SPAN_TREE_H
#define BLK_STATE_STORE_SPAN_TREE_H

#include "state/store/span.h"

struct tree_node {
	struct span *span;		/* referenced */
	int parent;			/* index, -1: a root */
	int first_child, next;		/* indexes, -1: none */
	int end;			/* one past the last node of its subtree */
	uint16_t depth;			/* 0: a root; saturates */
	bool orphan;			/* a root: its parent is not in the trace, or unknown (span_cycles.h) */
	bool critical;			/* set by path_mark() of views/path.h */
};

struct tree {
	uint64_t trace_id;
	struct tree_node *nodes;	/* n, in display order: a parent, then its children */
	int n;				/* 0: no such trace */
	int root;			/* node that the trace is named after: a true root, else the best orphan;
					 * -1: empty */
	int *by_id;			/* private: nodes by span id, kind, index: see tree_find() */
};

/* Makes a tree of these spans and takes references to them. Sorts the array. See also timeline_tree_new(). */
struct tree *tree_new(uint64_t trace_id, struct span **spans, int n);
void tree_free(struct tree *t);			/* NULL is fine */
/* One past the last node of the subtree of node i. */
static inline int tree_end(const struct tree *t, int i)
{
	return t->nodes[i].end;
}
/* May a view walk the subtree of each node for which this is true? Each node is then visited at most 128 times, also in
 * a chain of 60,000 spans: far down only small subtrees are walked. */
static inline bool tree_is_walked(const struct tree *t, int i)
{
	return t->nodes[i].depth <= 64 || tree_end(t, i) - i <= 64;
}
/* The first node of a span of that kind (-1: of any kind); -1: not in the tree. */
int tree_find(const struct tree *t, uint64_t span_id, int kind);
/* Do both run on the same known thread? */
bool tree_same_thread(const struct span *a, const struct span *b);

/* The parts of node i (ns) minus those of its children on the same thread. Never below 0. */
void tree_self_parts(const struct tree *t, int i, int64_t part[PART_N]);

/* Is the closed span of node i a call from another service, or (*ret_caller NULL) from outside of the trace? */
bool tree_is_call(const struct tree *t, int i, const struct span **ret_caller);
/* The untraced service (a reftext), such as a database, that the closed client span of node i names as its callee.
 * NULL: no name, or a span below it is of another service, so the callee is traced. */
#define TAG_PEER_SERVICE "peer.service"
const char *tree_called_outside(const struct tree *t, int i);
/* The span that lasts as long as a call, as the caller saw it. */
const struct span *tree_call_span(const struct span *caller, const struct span *s);
/* The caller's duration minus the callee's (ns): the time for request and answer in transit, as the caller's span
 * ends with the answer. Durations need no common clock. False: one of both is unknown, or it is a message, which has no
 * answer. */
bool tree_call_gap(const struct span *caller, const struct span *s, int64_t *ret);

typedef struct tree blk_tree;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_tree, tree_free)

#endif
