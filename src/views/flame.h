/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flame view: where the time of a range went, as a tree of frames (an icicle, or a flame graph upside down).
 *
 * Of requests: operation, phases, another thread that was waited for, system call, part. The time is that of their
 * critical paths (path.h), so a frame's children never exceed it and all sums to the durations of the requests. Of
 * threads: host if there are several, process, thread, then system calls and the parts outside of them; the time is
 * that of the threads' lives. Their waits for work are one frame beside the others, with hosts, processes, threads and
 * calls below it. Narrowed to a trace, an operation or a service it is of requests whatever the query's
 * `by` is.
 *
 * Rows are struct flame_row in the order of the tree: a frame, then its children, those with the most time first.
 */
#ifndef BLK_VIEWS_FLAME_H
#define BLK_VIEWS_FLAME_H

#include "views/view.h"

enum flame_kind {
	FLAME_ALL, FLAME_HOST, FLAME_OPERATION, FLAME_PHASE, FLAME_PROCESS, FLAME_THREAD, FLAME_CALL, FLAME_PART,
	FLAME_IDLE,			/* of threads: all waits for work (waited.h); below it, whose */
	FLAME_KIND_N
};
extern const char *const flame_kind_name[FLAME_KIND_N];

struct flame_row {
	struct row row;			/* .depth 0: the frame of all */
	enum flame_kind kind;
	const char *name;		/* raw text of the trace */
	struct flame_row *parent;	/* NULL: the frame of all */
	int64_t begin_ns;		/* in the picture: a first child begins as its parent */
	int64_t total_ns, self_ns;	/* total: self and the totals of all children */
	int64_t part[PART_N];		/* of the total, as far as the part is known */
	guint end;			/* index of the first row behind its subtree, in rows as built */
	const char *path;			/* private: see flame_path() */
};

/* The names from the operation (or process) down, joined by ';', as flamegraph.pl reads them: a ';' of a name becomes
 * ':', control characters become visible. "" for the frame of all. Owned by the rows. */
const char *flame_path(struct rows *rows, struct flame_row *r);
/* The part with most of the time; PART_N: no part is known. */
enum part flame_mainly(const struct flame_row *r);

#endif
