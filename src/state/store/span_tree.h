/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans of one trace as a tree: halves under one another, siblings by time,
 * whatever the trace claims (missing parents, cycles, ids used twice). For the
 * waterfall, phases, services and exports.
 */
#ifndef BLK_STATE_STORE_SPAN_TREE_H
#define BLK_STATE_STORE_SPAN_TREE_H

#include "state/store/timeline.h"

struct tree_node {
	struct span *span;		/* a reference */
	int parent;			/* index, -1: a root */
	int first_child, next;		/* indexes, -1: none */
	int end;			/* one past the last node of its subtree */
	uint16_t depth;
	bool orphan;			/* a root whose parent is not in the trace */
	bool critical;			/* path_mark() has set it, see views/path.h */
};

struct tree {
	const struct timeline *tl;	/* outlives it */
	uint64_t trace_id;
	struct tree_node *nodes;	/* in display order: a parent, then its children */
	int n;				/* 0: no such trace */
	int root;			/* the one the trace is named after: a true root, else the
					 * first orphan; -1 when empty */
	int *by_id;			/* nodes by span id, kind, index: see tree_find() */
	/* What views found out about all of it, so that they do once; made and freed by
	 * views/why.c. NULL: nothing yet. */
	void *index;
	void (*free_index)(void *index);
};

struct tree *tree_new(const struct timeline *tl, uint64_t trace_id);
void tree_free(struct tree *t);			/* NULL is fine */
/* One past the last node of the subtree of node i. */
static inline int tree_end(const struct tree *t, int i)
{
	return t->nodes[i].end;
}
/* The node of a span (kind -1: its first half), the first of several; -1: not in it. */
int tree_find(const struct tree *t, uint64_t span_id, int kind);
/* How much of node i's time node `child` covers. */
int64_t tree_covers(const struct tree *t, int i, int child);
/* Do both run on the same known thread? */
bool tree_same_thread(const struct span *a, const struct span *b);

/* The parts of node i without those of its children, as far as they run on its thread. */
void tree_self_parts(const struct tree *t, int i, int64_t part[PART_N]);

/* Did another service, or (NULL) the outside, ask for the closed span of node i? */
bool tree_is_call(const struct tree *t, int i, const struct span **ret_caller);
/* The service (a reftext) that the closed client span of node i says it called, where nothing below it
 * is of another service, as with databases: nothing of such a one is in the trace. NULL: none. */
#define TAG_PEER_SERVICE "peer.service"
const char *tree_called_outside(const struct tree *t, int i);
/* How long it took, as the caller saw it; and what the caller's span took longer: the way
 * there and back, for that one ends when it has the answer. Durations need no common clock. */
int64_t tree_call_ns(const struct span *caller, const struct span *s);
bool tree_call_gap(const struct span *caller, const struct span *s, int64_t *ret);

typedef struct tree blk_tree;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_tree, tree_free)

#endif
