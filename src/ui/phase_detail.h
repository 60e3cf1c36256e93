/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Details of the selected phase, over all its spans in the range: system calls, distribution of durations, wakers,
 * and the slowest requests. Made from the rows of the view "spans" when a phase is selected.
 */
#ifndef BLK_UI_PHASE_DETAIL_H
#define BLK_UI_PHASE_DETAIL_H

#include "views/view.h"

#define PHASE_WORST 6
#define PHASE_BUCKETS 4

/* System calls of a name, or waits that a thread ended. */
struct phase_sum {
	uint32_t id;			/* of the thread, or of the call's name; ID_NONE: user time, outside of calls */
	uint64_t count;
	int64_t total_ns, max_ns;
};

struct phase_detail {
	uint64_t key[2];		/* of the row it is about */
	char *name;			/* visible */
	char *service;			/* visible; NULL: not known */
	uint64_t n;			/* spans */
	int64_t sum_ns;
	GArray *calls;			/* struct phase_sum, by time */
	GArray *wakers;			/* struct phase_sum, by time */
	int64_t bound_ns[PHASE_BUCKETS];	/* upper ends, inclusive; 0: none */
	uint64_t spread[PHASE_BUCKETS];
	struct { uint64_t trace_id; int64_t ns; } worst[PHASE_WORST];
	unsigned n_worst;
};

/* NULL: the row has no spans, as "(self)". */
struct phase_detail *phase_detail_new(const struct view *phases, const struct rows *rows,
				      const struct row *row);
void phase_detail_free(struct phase_detail *d);

#endif
