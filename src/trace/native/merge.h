/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heads of streams that are merged by time: a heap of the next record of each, the
 * earliest first; of equal timestamps that of the lowest rank. Only for src/trace/.
 */
#ifndef BLK_TRACE_NATIVE_MERGE_H
#define BLK_TRACE_NATIVE_MERGE_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

struct merge_head {
	int64_t ts;		/* ns; of the stream's next record */
	uint32_t rank;		/* order of streams; no two have the same */
	uint32_t cursor;	/* whose it is */
};

/* Without a jump: which stream is next can't be foretold. */
static inline bool merge_before(const struct merge_head *a, const struct merge_head *b)
{
	return (a->ts < b->ts) | ((a->ts == b->ts) & (a->rank < b->rank));
}

/* The place i of the n is free: puts `moved` there, or those below up and it below them. */
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

/* Head i is too late in its place of the n. */
static inline void merge_sift_down(struct merge_head *h, size_t n, size_t i)
{
	merge_sink(h, n, i, h[i]);
}

/* Of n > 0 heads in any order. */
static inline void merge_build(struct merge_head *h, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		merge_sift_down(h, n, i);
}

/* Where the head is that comes after the first one; 0: there is no other. */
static inline size_t merge_second(const struct merge_head *h, size_t n)
{
	return n > 2 ? 1u + merge_before(&h[2], &h[1]) : n > 1;
}

/* The same head; past all time where there is no other. */
static inline struct merge_head merge_rival(const struct merge_head *h, size_t n)
{
	size_t i = merge_second(h, n);
	return i ? h[i] : (struct merge_head){ INT64_MAX, UINT32_MAX, UINT32_MAX };
}

#endif
