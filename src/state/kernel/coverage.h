/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage: the time for which there is a recording. Several recordings may be read together, of hosts or boots that
 * were traced at different times. Time is charged to a host only from its first to its last record. Time without any
 * record for a minute or more is a void, and is not charged: else two sessions a month apart would be millions of
 * seconds of unknown time.
 */
#ifndef BLK_STATE_KERNEL_COVERAGE_H
#define BLK_STATE_KERNEL_COVERAGE_H

#include "state/slice/slice_state.h"

/* The host has a record or loss at ts. Its coverage begins with the first one; packets may begin seconds earlier, when
 * buffers are made. */
static inline void covered_begins(struct slice *s, uint32_t host, int64_t ts)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	if (!h->seen && h->begin != INT64_MIN)
		h->begin = MAX(h->begin, ts);
	h->seen = true;
}

/* The begin (ns) of the host's coverage, in a slice that is not empty. */
static inline int64_t covered_from(const struct slice *s, uint32_t host)
{
	return MAX(s->first, g_array_index(s->hosts, struct slice_host, host).begin);
}

/* The instant, but not after the end of the host's coverage. */
static inline int64_t covered_until(const struct slice *s, uint32_t host, int64_t until)
{
	return MIN(until, g_array_index(s->hosts, struct slice_host, host).end);
}

struct time_void { int64_t begin, end; };	/* ns; no record lies between them */

#define COVERED_VOID_NS UINT64_C(60000000000)	/* a gap longer than that is a void */

static inline bool covered_are_far(int64_t from, int64_t to, uint64_t least)
{
	return to > from && (uint64_t)to - (uint64_t)from > least;
}

/* The records at `from` and `to` follow one another: adds a void. Call it in order of time; covered_to() is cheap. */
void covered_add_void(struct slice *s, int64_t from, int64_t to);
static inline void covered_to(struct slice *s, int64_t ts)
{
	if (G_UNLIKELY(s->last != INT64_MIN && covered_are_far(s->last, ts, COVERED_VOID_NS)))
		covered_add_void(s, s->last, ts);
}

/* Merging: adds the void between a and b, and those of b; the coverage of one host in a (mine) and in b (other). */
void covered_join(struct slice *a, const struct slice *b);
void covered_join_host(struct slice_host *mine, const struct slice_host *other);

/* The begin of what is charged of [from, to): at most LIMIT_GAP_STEPS steps before `to`, since a wrong clock must not
 * make billions of seconds. */
int64_t covered_newest(const struct slice *s, int64_t from, int64_t to);

/*
 * Does the instant lie within the whole steps of a void longer than `least` ns? Fills *ret with these steps (multiples
 * of the step). All that is charged to a void goes into one bin, however long it is: thousands of threads that sleep
 * for hours must not make thousands of cells a second. Always false in a slice with a window.
 */
bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret);

/*
 * The begin of the next piece of [from, to) to be charged; `to`: there is none. Whole steps of voids are left out:
 * for unknown time of any void, for known time (as in a long call) only of voids longer than a day.
 */
int64_t covered_piece(const struct slice *s, int64_t from, int64_t to, bool known);

#endif
