/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of evicted spans. When memory is short, the timeline evicts whole traces and adds their closed spans to sums by
 * time, so that totals stay right. Each span counts several times, once for each way in which views group spans.
 *
 * Sums are in steps of time. A step is as long as a second of the timeline at first. When there are too many sums,
 * old steps are folded: to 2 s, these to 4 s, and so on, so that each length has about as many sums. The newest steps
 * are the last to be folded, and the two newest ones never are. The number of sums is bounded, also within a step:
 * hostile traces can name each span differently. Spans beyond the bound go into one sum of each kind of the step,
 * .others. The sums belong to a timeline and to its thread.
 */
#ifndef BLK_STATE_STORE_SPAN_SUMS_H
#define BLK_STATE_STORE_SPAN_SUMS_H

#include "base/hist.h"
#include "base/intmap.h"
#include "state/store/span.h"

struct tree;

enum span_sum_of {
	SUM_SPAN,			/* each span by service, name and kind; top: a request */
	SUM_PHASE,			/* each span below the root of its tree; top: the root itself */
	SUM_SELF,			/* roots, without the time that their children cover */
	SUM_CALL,			/* each span that another service called, as the caller saw it */
	SUM_TRACE,			/* the span that the trace is named after; top: a true root */
};
struct span_sum_key {
	enum span_sum_of of;
	enum span_kind kind;
	const char *service, *name;	/* reftexts, referenced; SUM_CALL: only the service */
	const char *operation_service, *operation;	/* of the root; SUM_CALL: the caller's service (NULL: from
							 * outside) */
	bool top;
	bool partial, failed;		/* SUM_SPAN, SUM_TRACE: of an unknown duration; with errors */
	bool others;			/* the sum of spans beyond the bound; all texts are NULL */
};
struct span_sum {
	struct span_sum_key key;
	int64_t begin_ns, end_ns;	/* the first of the spans ended at begin_ns, the last one before end_ns
					 * (SUM_PHASE: the ends of their roots) */
	uint64_t count, errors;		/* errors: of the partial ones, too */
	uint64_t partial;		/* further spans: their duration is unknown */
	int64_t partial_ns;		/* what is known of that */
	int64_t self_ns;
	int64_t parents_ns;		/* SUM_PHASE: duration of the parents of these spans, each counted once */
	int64_t part[PART_N];		/* ns */
	struct hist duration;		/* ns */
	struct hist gaps;		/* SUM_CALL: the caller's duration minus the callee's (ns), if positive */
	uint64_t skewed;		/* SUM_CALL: calls with a negative gap */
};

/* The spans (SUM_PHASE: their roots) that ended in [begin_ns, begin_ns + length_ns). */
struct sum_step {
	int64_t begin_ns, length_ns;	/* length: .shortest_ns times a power of two; begin: a multiple of it */
	struct span_sum *sum;		/* n of them, unordered */
	guint n, room;
	struct intmap index;		/* hash of key -> index of .sum; empty: it must be made before it is used */
	size_t bytes;			/* as of the last span_sums_bytes() */
	bool changed;			/* since then */
};

struct span_sums {
	GArray *steps;			/* struct sum_step, by time; they do not overlap */
	size_t n;			/* sums in all steps */
	guint most;			/* bound of .n, as long as steps can be folded */
	int64_t shortest_ns;		/* the length of a step that is not folded */
	int64_t retained_from;		/* ns; steps that end after it are not folded */
};

void span_sums_init(struct span_sums *sums, size_t memory_budget);	/* 0: no bound by memory */
void span_sums_clear(struct span_sums *sums);
/* Adds all closed spans of a trace that is about to be evicted. */
void span_sums_add(struct span_sums *sums, const struct tree *t);
/* Memory of the sums. Packs those of old steps: they seldom change. */
size_t span_sums_bytes(struct span_sums *sums);

/* A place among the sums. It is valid until the next span_sums_add() or span_sums_bytes(). */
struct sum_place {
	const struct span_sum *sum;	/* NULL: there is no further one */
	guint step, i;
	int64_t to_ns;
};
/* The sums of steps that overlap [from_ns, to_ns), in no order within a step. */
struct sum_place span_sums_first(const struct span_sums *sums, int64_t from_ns, int64_t to_ns);
void span_sums_next(const struct span_sums *sums, struct sum_place *at);

#endif
