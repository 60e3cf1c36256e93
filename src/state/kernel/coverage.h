/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage: the time for which a recording exists. Several recordings may be read together, of hosts or boots that
 * were traced at different times. Time is charged to a host only from its first to its last record. A void is a minute
 * or more without any record. It is not charged: else two sessions a month apart would have millions of seconds of
 * unknown time.
 */
#ifndef BLK_STATE_KERNEL_COVERAGE_H
#define BLK_STATE_KERNEL_COVERAGE_H

#include "state/slice/slice_state.h"

/* The host has a record or loss at ts. Its coverage begins with the first one. Packets may begin seconds earlier,
 * when buffers are allocated. */
static inline void covered_begins(struct slice *s, uint32_t host, int64_t ts)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	if (!h->seen && h->begin != INT64_MIN)
		h->begin = MAX(h->begin, ts);
	h->seen = true;
}

/* The beginning (ns) of the host's coverage, in a slice that is not empty. */
static inline int64_t covered_from(const struct slice *s, uint32_t host)
{
	return MAX(s->first, g_array_index(s->hosts, struct slice_host, host).begin);
}

/* The instant, limited to the end of the host's coverage. */
static inline int64_t covered_until(const struct slice *s, uint32_t host, int64_t until)
{
	return MIN(until, g_array_index(s->hosts, struct slice_host, host).end);
}

struct time_void { int64_t begin, end; };	/* ns; no record lies between them */

#define COVERED_VOID_NS UINT64_C(60000000000)	/* a longer gap is a void */
#define COVERED_SILENT_NS INT64_C(1500000000)	/* live: a kernel without events for longer is not traced */

static inline bool covered_are_far(int64_t from, int64_t to, uint64_t least)
{
	return to > from && (uint64_t)to - (uint64_t)from > least;
}

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

/* Limits the part of [from, to) that is charged; returns its beginning, at most LIMIT_GAP_STEPS steps before `to`.
 * So a wrong clock cannot make billions of seconds. */
int64_t covered_newest(const struct slice *s, int64_t from, int64_t to);

/*
 * Is the instant in the whole steps of a void longer than `least` ns? Sets *ret to these steps (multiples of the
 * step). All time in a void goes into one bin, however long the void is. Else thousands of threads that sleep for
 * hours would make thousands of cells each second. Always false in a slice with a window.
 */
bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret);

/*
 * The beginning of the next piece of [from, to) to be charged; `to`: there is none. Whole steps of voids are skipped:
 * of every void for unknown time, only of voids longer than a day for known time (for example a long call).
 */
int64_t covered_piece(const struct slice *s, int64_t from, int64_t to, bool known);

#endif
