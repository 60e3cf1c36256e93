/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges streams by time: a heap of the next record of each stream. The earliest record is first; of equal timestamps,
 * the one with the lowest rank. Only for src/trace/.
 */
#ifndef BLK_TRACE_NATIVE_MERGE_H
#define BLK_TRACE_NATIVE_MERGE_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

struct merge_head {
	int64_t ts;		/* ns; of the stream's next record */
	uint32_t rank;		/* order of streams; no two have the same */
	uint32_t cursor;	/* the stream's number */
};

/* Without branches, as the result cannot be predicted. */
static inline bool merge_before(const struct merge_head *a, const struct merge_head *b)
{
	return (a->ts < b->ts) | ((a->ts == b->ts) & (a->rank < b->rank));
}

/* Place i of the n is free: puts `moved` there, or moves smaller heads up and puts it below them. */
static inline void merge_sink(struct merge_head *h, size_t n, size_t i, struct merge_head moved)
{
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n)
			child += merge_before(&h[child + 1], &h[child]);
		if (!merge_before(&h[child], &moved))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moved;
}

/* Restores the heap after the timestamp of head i was increased. */
static inline void merge_sift_down(struct merge_head *h, size_t n, size_t i)
{
	merge_sink(h, n, i, h[i]);
}

/* Makes a heap of n > 0 heads in any order. */
static inline void merge_build(struct merge_head *h, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		merge_sift_down(h, n, i);
}

/* The index of the second head in order; 0: there is no other. */
static inline size_t merge_second(const struct merge_head *h, size_t n)
{
	return n > 2 ? 1u + merge_before(&h[2], &h[1]) : n > 1;
}

/* The second head in order; later than any time if it is missing. */
static inline struct merge_head merge_rival(const struct merge_head *h, size_t n)
{
	size_t i = merge_second(h, n);
	return i ? h[i] : (struct merge_head){ INT64_MAX, UINT32_MAX, UINT32_MAX };
}

#endif
