/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lookups over all retained spans: the usual of an operation (counted by the timeline), and the span that a thread
 * worked on at an instant. The second one needs an index of threads. It is made at its first use and shared by all
 * views of one version of the timeline. A history must not outlive its timeline; after timeline_apply() it describes
 * the new version.
 */
#ifndef BLK_VIEWS_HISTORY_H
#define BLK_VIEWS_HISTORY_H

#include "state/store/timeline.h"

struct thread_index;
struct lock_waits;
struct usuals;

struct history {
	const struct timeline *tl;
	struct thread_index *threads;	/* private; NULL: not made yet */
	struct lock_waits *locks;	/* private; NULL: not made yet */
	struct usuals *usuals, *usual_traces;	/* private to usual.c; NULL: not made yet */
	uint64_t serial, version;	/* of the timeline; the version that .threads was made from */
	unsigned refs;
};

struct history *history_new(const struct timeline *tl);	/* a new one, or a reference to the shared one */
void history_free(struct history *h);		/* NULL is fine */
typedef struct history blk_history;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_history, history_free)

/* The operation of a span; NULL: no span of it has ended. */
const struct operation_info *history_operation(const struct history *h, const struct span *s);
/* The usual duration (ns) of the span's operation; -1: none of it has ended. It is the 25th percentile, the median of
 * the faster half: it does not move when up to half of the requests become slow. */
int64_t history_usual(const struct history *h, const struct span *s);
double history_x_usual(const struct history *h, const struct span *s);	/* duration / usual; < 0: unknown */
/* Is a duration (ns) within the usual (ns)? Others, from 1.75 times the usual on, are slow. */
static inline bool usual_includes(int64_t usual, int64_t duration)
{
	return duration - usual < usual - usual / 4;
}
/* Is a duration slow? false: no, or the usual is unknown. */
static inline bool usual_is_slow(int64_t usual, int64_t duration)
{
	return usual > 0 && !usual_includes(usual, duration);
}

/* The innermost span on the thread at the instant; NULL: none. */
const struct span *history_span_at(struct history *h, uint32_t thread, int64_t at);
/* The spans of a thread that overlap [from, to), latest begin first. */
typedef void (*history_visit)(const struct span *s, void *data);
void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data);

/* Does the thread work for the same request as the span, in [from, to)? It has a span of the trace then; or it has none
 * at all, and answers the span by a socket or pipe. */
bool history_works_for(struct history *h, const struct span *s, uint32_t thread, int64_t from, int64_t to);

/* The number of other threads with spans that waited in [from, to) for a lock that the thread released at `to` or
 * later. */
unsigned history_held_up(struct history *h, uint32_t thread, int64_t from, int64_t to);

#endif
