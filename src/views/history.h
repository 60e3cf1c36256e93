/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all spans kept tell together: the traces, what is usual of an operation (evicted spans
 * count there, too), and what a thread worked for at an instant. Made from the timeline in one pass, once for
 * all views of one version of it, and from the one of the version before when nobody holds
 * that any more; holds references, so it outlives the next timeline_apply().
 */
#ifndef BLK_VIEWS_HISTORY_H
#define BLK_VIEWS_HISTORY_H

#include "base/intmap.h"
#include "state/timeline.h"

struct trace_info {
	uint64_t trace_id;
	const struct span *root;	/* its true root, else the earliest of its spans */
	bool has_root;			/* .root is a true one */
	bool open, partial;		/* one of its spans is */
	int64_t begin_ns, end_ns;	/* of all its spans */
	uint32_t n_spans, errors;
};

struct operation_info {
	uint32_t service, name;
	bool server;			/* the server halves of that name */
	struct hist duration;		/* of closed spans, of evicted ones too */
	uint64_t evicted;		/* of these */
	struct hist user;		/* what those that are kept computed, in user mode */
	bool changed;			/* p50, p99, user_p50 are of before; private */
	int64_t p50, p99, user_p50;	/* -1: no closed one */
};

/* By thread, then begin. */
struct thread_span {
	int64_t begin_ns, end_ns;
	int64_t max_end;		/* of this thread's spans so far */
	const struct span *span;
	uint32_t thread;
};

struct history {
	const struct timeline *tl;
	struct span **spans;		/* all, referenced; in the timeline's order */
	size_t n_spans, alloc;
	GArray *traces;			/* struct trace_info, in order of publication */
	struct intmap by_trace;
	GArray *operations;		/* struct operation_info */
	struct intmap by_operation;
	GArray *by_thread;		/* struct thread_span; made when first asked for, or NULL */
	unsigned refs;
	uint64_t version;		/* of the timeline */
	uint64_t evicted;		/* spans, until then */
	int64_t kept_from;		/* the same as timeline_kept_from() */
};

struct history *history_new(const struct timeline *tl);	/* made, or shared */
void history_free(struct history *h);		/* NULL is fine */
typedef struct history blk_history;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_history, history_free)

/* The operation of a span; NULL: none of it has ended. */
const struct operation_info *history_operation(const struct history *h, const struct span *s);
/* p50 of its operation, -1 unknown; and how many times that the span took, < 0 unknown. */
int64_t history_usual(const struct history *h, const struct span *s);
double history_x_usual(const struct history *h, const struct span *s);
/* p50 of what its operation computes, in user mode; -1 unknown. */
int64_t history_usual_user(const struct history *h, const struct span *s);
const struct trace_info *history_trace(const struct history *h, uint64_t trace_id);

/* The innermost span that runs on the thread at the instant; NULL: none. */
const struct span *history_span_at(struct history *h, uint32_t thread, int64_t at);
/* The spans of a thread that overlap [from, to), latest begin first. */
typedef void (*history_visit)(const struct span *s, void *data);
void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data);

#endif
