/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of the time was recorded: several recordings may be read together, of hosts or boots that were
 * traced at other times, or of one that was traced again a week later. Nothing is charged to a host
 * before it was traced and after, and nothing where nobody recorded anything for long: else a
 * directory of sessions would be months of seconds in which nothing is known. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_COVERAGE_H
#define BLK_STATE_KERNEL_COVERAGE_H

#include "state/slice/slice_state.h"

/* The host's first record, or loss: packets may begin seconds before that, when buffers are made. */
static inline void covered_begins(struct slice *s, uint32_t host, int64_t ts)
{
	struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	if (!h->seen && h->begin != INT64_MIN)
		h->begin = MAX(h->begin, ts);
	h->seen = true;
}

/* Since when the host was traced (ns), of a slice that has begun. */
static inline int64_t covered_from(const struct slice *s, uint32_t host)
{
	return MAX(s->first, g_array_index(s->hosts, struct slice_host, host).begin);
}

/* The instant, or the host's end, if that is earlier. */
static inline int64_t covered_until(const struct slice *s, uint32_t host, int64_t until)
{
	return MIN(until, g_array_index(s->hosts, struct slice_host, host).end);
}

struct time_void { int64_t begin, end; };	/* nothing was recorded between them */

#define COVERED_VOID_NS UINT64_C(60000000000)	/* without any record */

static inline bool covered_are_far(int64_t from, int64_t to, uint64_t least)
{
	return to > from && (uint64_t)to - (uint64_t)from > least;
}

/* Records follow one another at `from` and `to`; cheap, where they are near. In order of time. */
void covered_add_void(struct slice *s, int64_t from, int64_t to);
static inline void covered_to(struct slice *s, int64_t ts)
{
	if (G_UNLIKELY(s->last != INT64_MIN && covered_are_far(s->last, ts, COVERED_VOID_NS)))
		covered_add_void(s, s->last, ts);
}

/* Before a and b become one: the time between them, and b's; of the host `mine`, which b has as `other`. */
void covered_join(struct slice *a, const struct slice *b);
void covered_join_host(struct slice_host *mine, const struct slice_host *other);

/* Of what is charged for [from, to): where it begins at most, since a clock that lies must not make
 * steps without end. */
int64_t covered_newest(const struct slice *s, int64_t from, int64_t to);

/*
 * All that is charged to a void is one second, however long: thousands of threads that sleep over hours
 * must not become thousands of cells a second. Does the instant lie within whole steps of a void of that
 * length at least? Fills *ret with these steps (multiples of the step). Not of a slice with a window,
 * whose seconds are steps.
 */
bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret);

/*
 * Where the next piece of [from, to) begins that is to be charged; `to`: there is none. Steps in which
 * nobody recorded anything, and before and after which there was nothing for a minute, are left out of
 * what is not known; of what is known (a call that lasts, in a trace that tells little else) for a day.
 */
int64_t covered_piece(const struct slice *s, int64_t from, int64_t to, bool known);

#endif
