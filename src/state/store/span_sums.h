/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of evicted spans. When memory is short, the timeline evicts whole traces and adds their closed spans to sums by
 * time, so that totals stay right. Each span counts several times, once for each way in which views group spans. A
 * time step is one second at first and doubles when there are too many sums. Their number is bounded: hostile traces
 * can name each span differently. Spans beyond the bound go into one sum of each kind, .others. The sums belong to a
 * timeline and to its thread.
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
	bool others;			/* the sum of spans beyond the bound; all texts are NULL */
};
struct span_sum {
	struct span_sum_key key;
	int64_t begin_ns, end_ns;	/* the first of the spans ended at begin_ns, the last one before end_ns
					 * (SUM_PHASE: the ends of their roots) */
	uint64_t count, errors;
	int64_t self_ns;
	int64_t parents_ns;		/* SUM_PHASE: duration of the parents of these spans, each counted once */
	int64_t part[PART_N];		/* ns */
	struct hist duration;		/* ns */
	struct hist gaps;		/* SUM_CALL: the caller's duration minus the callee's (ns), if positive */
	uint64_t skewed;		/* SUM_CALL: calls with a negative gap */
	int64_t slot;			/* private: beginning of its time step (ns) */
};

struct span_sums {
	GArray *list;			/* struct span_sum */
	struct intmap index;		/* hash of key and slot -> index in list */
	int64_t step_ns;		/* length of a time step */
	guint most;			/* bound on the number of sums; .others are extra */
};

void span_sums_init(struct span_sums *sums, size_t memory_budget);	/* 0: no bound by memory */
void span_sums_clear(struct span_sums *sums);
/* Adds all closed spans of a trace that is about to be evicted. */
void span_sums_add(struct span_sums *sums, const struct tree *t);
size_t span_sums_bytes(const struct span_sums *sums);

#endif
