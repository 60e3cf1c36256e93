/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all spans kept tell together: what is usual of an operation, which the timeline
 * counts as they come, and what a thread worked for at an instant: an index that is made
 * when it is first asked for, once for all views of one version of the timeline. It must not
 * outlive the timeline; after a timeline_apply() it tells of what is there then.
 */
#ifndef BLK_VIEWS_HISTORY_H
#define BLK_VIEWS_HISTORY_H

#include "state/store/timeline.h"

struct thread_index;

struct history {
	const struct timeline *tl;
	struct thread_index *threads;	/* private; NULL: nobody has asked for it yet */
	uint64_t serial, version;	/* of the timeline; of what .threads was made from */
	unsigned refs;
};

struct history *history_new(const struct timeline *tl);	/* made, or shared */
void history_free(struct history *h);		/* NULL is fine */
typedef struct history blk_history;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_history, history_free)

/* The operation of a span; NULL: none of it has ended. */
const struct operation_info *history_operation(const struct history *h, const struct span *s);
/* p50 of its operation, -1 unknown; and how many times that the span took, < 0 unknown. */
int64_t history_usual(const struct history *h, const struct span *s);
/* p50 of what its operation computes, in user mode; -1 unknown. */
int64_t history_usual_user(const struct history *h, const struct span *s);
double history_x_usual(const struct history *h, const struct span *s);

/* The innermost span that runs on the thread at the instant; NULL: none. */
const struct span *history_span_at(struct history *h, uint32_t thread, int64_t at);
/* The spans of a thread that overlap [from, to), latest begin first. */
typedef void (*history_visit)(const struct span *s, void *data);
void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data);

#endif
