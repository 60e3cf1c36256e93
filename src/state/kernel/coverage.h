/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage: the time for which a recording exists. Several recordings may be read together, of hosts or boots that
 * were traced at different times. Time is charged to a host only from its first to its last record. A void is a minute
 * or more without any record of any host. It has no unknown time: else two sessions a month apart would have millions
 * of seconds of it.
 */
#ifndef BLK_STATE_KERNEL_COVERAGE_H
#define BLK_STATE_KERNEL_COVERAGE_H

#include "state/kernel/slice_state.h"

#define COVERED_VOID_NS UINT64_C(60000000000)	/* a longer gap is a void */
#define COVERED_SILENT_NS INT64_C(1500000000)	/* live: a kernel without events for longer is not traced */
#define COVERED_TOGETHER_NS 250000000	/* recordings that begin (or end) within this did so together */

static inline bool covered_are_far(int64_t from, int64_t to, uint64_t least)
{
	return to > from && (uint64_t)to - (uint64_t)from > least;
}

/* The host has a record or loss at ts. */
static inline void covered_begins(struct slice *s, uint32_t host, int64_t ts)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	if (h->first == INT64_MIN)
		h->first = ts;
}

/* The beginning or end of the host's packets was set or changed. */
static inline void covered_add_host(struct slice *s, const struct slice_host *h)
{
	s->traced_from = MIN(s->traced_from, h->begin);
	s->traced_to = MAX(s->traced_to, h->end);
}

/* The beginning (ns) of the host's coverage, in a slice that is not empty. If its kernel was traced later than other
 * hosts, it is its first record: packets may begin seconds earlier, when buffers are allocated. */
static inline int64_t covered_from(const struct slice *s, uint32_t host)
{
	const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	bool later = h->has_kernel && s->traced_from != INT64_MIN &&
		covered_are_far(s->traced_from, h->begin, COVERED_TOGETHER_NS);
	return later ? MAX(s->first, MAX(h->begin, h->first)) : s->first;
}

/* The instant, limited to the end of the host's coverage: that of its packets, if other hosts were traced longer. */
static inline int64_t covered_until(const struct slice *s, uint32_t host, int64_t until)
{
	const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	bool earlier = h->has_kernel && s->traced_to != INT64_MAX &&
		covered_are_far(h->end, s->traced_to, COVERED_TOGETHER_NS);
	return earlier ? MIN(until, h->end) : until;
}

struct time_void { int64_t begin, end; };	/* ns; no record lies between them */

/* Adds a void between the consecutive records at `from` and `to`. Call it in order of time; covered_to() is cheap. */
void covered_add_void(struct slice *s, int64_t from, int64_t to);
static inline void covered_to(struct slice *s, int64_t ts)
{
	if (G_UNLIKELY(s->last != INT64_MIN && covered_are_far(s->last, ts, COVERED_VOID_NS)))
		covered_add_void(s, s->last, ts);
}

/* Merging: adds the void between a and b, and b's voids. mine, other: the coverage of one host in a and in b. */
void covered_join(struct slice *a, const struct slice *b);
void covered_join_host(struct slice_host *mine, const struct slice_host *other);

/* The voids of two slices of the same time together: struct time_void, in order. */
GArray *covered_common_voids(const struct slice *a, const struct slice *b);
/* Number of steps that lie wholly in the void v and not wholly in one of `voids`. */
uint64_t covered_steps_outside(const struct slice *s, const struct time_void *v, const GArray *voids);

/* Limits the part of [from, to) that is charged; returns its beginning, at most LIMIT_GAP_STEPS steps before `to`.
 * So a wrong clock cannot make billions of seconds. */
int64_t covered_newest(const struct slice *s, int64_t from, int64_t to);

/*
 * Is the instant in the whole steps of a void longer than `least` ns? Sets *ret to these steps (multiples of the
 * step). All time in a void goes into one bin, however long the void is. Else thousands of threads that sleep for
 * hours would make thousands of cells each second. Always false in a slice with a window.
 *
 * Time is charged to such a bin as to any other, since uniting slices (unite.c) can end a void: another host may have
 * records in it. A bin of a void becomes a second without unknown time; if the void is longer than COVERED_DAY_NS it
 * becomes none.
 */
#define COVERED_DAY_NS UINT64_C(86400000000000)
bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret);

#endif
