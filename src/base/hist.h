/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear histograms of latencies. All use the same buckets: one for each value from 0 to 31 ns; above that 32 for
 * each octave, so a bucket is at most 1/32 = 3.125 % wide; up to 2^44 ns (4.9 hours). Larger values are counted in
 * the last bucket; min, max and sum are exact. A quantile is the upper bound of a bucket, at most 3.2 % above the
 * true value. Memory grows with the buckets in use.
 *
 * Merging is commutative and associative, so cut, stitched and summed ranges give the same result. Not thread safe. A
 * zeroed struct hist is empty.
 *
 * A histogram has one of three forms and changes its form when needed:
 *
 *     few		up to HIST_FEW values as they are, without an allocation; enough for most cells
 *     growing		blocks of counters: adding neither searches nor moves anything
 *     packed		the buckets in use, sorted; smaller, for histograms that are stored and only read
 */
#ifndef BLK_BASE_HIST_H
#define BLK_BASE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 5		/* 32 buckets an octave */
#define HIST_MAX_BITS 44
#define HIST_BUCKETS ((HIST_MAX_BITS - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

#define HIST_BLOCK_BITS 4
#define HIST_BLOCK (1u << HIST_BLOCK_BITS)	/* buckets in a block */
#define HIST_BLOCKS (HIST_BUCKETS / HIST_BLOCK)
#define HIST_FEW 3
#define HIST_GROWING (HIST_FEW + 1)	/* values of struct hist.n that mark the other forms */
#define HIST_PACKED (HIST_FEW + 2)

/* Private to hist.c and the inline functions below. */
struct hist_many {
	uint64_t count;
	int64_t sum, max, min;		/* ns, exact; without meaning if count is 0 */
	uint16_t n, alloc;		/* in use, allocated; blocks if growing, buckets if packed */
	union {
		struct {
			uint8_t place[HIST_BLOCKS];	/* index in .counts + 1, by block; 0: not in use */
			uint32_t counts[][HIST_BLOCK];	/* in the order of first use */
		};
		struct hist_bucket { uint32_t index, count; } bucket[1];	/* .n of them */
	};
};

struct hist {
	uint32_t n;			/* number of values in .few; or HIST_GROWING, HIST_PACKED: see .many */
	union {
		int64_t few[HIST_FEW];
		struct hist_many *many;
	};
};

/* The bucket of a value: 0 .. HIST_BUCKETS - 1. */
static inline unsigned hist_bucket_index(int64_t ns)
{
	const int64_t first = 1 << HIST_SUB_BITS, end = INT64_C(1) << HIST_MAX_BITS;
	if ((uint64_t)ns - first >= (uint64_t)(end - first))	/* rarely true */
		return ns >= end ? HIST_BUCKETS - 1 : ns < 0 ? 0 : (unsigned)ns;
	unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns) - HIST_SUB_BITS;
	return ((octave + 1) << HIST_SUB_BITS) +
	       ((unsigned)(ns >> octave) & ((1 << HIST_SUB_BITS) - 1));
}

int64_t hist_bucket_low(unsigned index);		/* smallest value in it, ns */
int64_t hist_bucket_high(unsigned index);		/* largest value in it, ns */

/* For hist_add_at(). */
void hist_grow(struct hist *h);				/* from few or packed */
void hist_add_block(struct hist *h, unsigned block);

/* `bucket` must be hist_bucket_index(ns). Negative values count as 0. */
static inline void hist_add_at(struct hist *h, int64_t ns, unsigned bucket)
{
	unsigned block = bucket >> HIST_BLOCK_BITS;

	ns = ns < 0 ? 0 : ns;
	if (__builtin_expect(h->n != HIST_GROWING, 0)) {
		if (h->n < HIST_FEW) {
			h->few[h->n++] = ns;
			return;
		}
		hist_grow(h);
	}

	struct hist_many *m = h->many;
	unsigned place = m->place[block];
	if (__builtin_expect(!place, 0)) {
		hist_add_block(h, block);
		m = h->many;
		place = m->place[block];
	}
	m->counts[place - 1u][bucket & (HIST_BLOCK - 1)]++;
	m->count++;
	if (__builtin_add_overflow(m->sum, ns, &m->sum))
		m->sum = INT64_MAX;
	if (ns > m->max)
		m->max = ns;
	if (ns < m->min)
		m->min = ns;
}

static inline void hist_add(struct hist *h, int64_t ns)
{
	hist_add_at(h, ns, hist_bucket_index(ns));
}

static inline uint64_t hist_count(const struct hist *h)
{
	return h->n <= HIST_FEW ? h->n : h->many->count;
}

/* ns, exact. Minimum and maximum of an empty histogram are 0. */
int64_t hist_sum(const struct hist *h);
int64_t hist_min(const struct hist *h);
int64_t hist_max(const struct hist *h);

/* Nearest rank: the value v with at least ceil(q * count) values <= v, as the upper bound of its bucket, within [min,
 * max]. q in (0, 1]. -1: empty. */
int64_t hist_quantile(const struct hist *h, double q);
/* Calls visit() with buckets and counts above 0 that together are all values; a bucket may come several times. */
void hist_foreach(const struct hist *h, void (*visit)(void *data, unsigned bucket, uint64_t count), void *data);

/* Removes a value that was added before. True: it may have been the minimum or maximum, which are not changed. Then
 * the caller should set them again: hist_reset_bounds(), and hist_widen() with each remaining value. */
bool hist_remove(struct hist *h, int64_t ns);
void hist_reset_bounds(struct hist *h);
void hist_widen(struct hist *h, int64_t ns);

void hist_merge(struct hist *into, const struct hist *from);
void hist_copy(struct hist *to, const struct hist *from);	/* packed; the old content of `to` is ignored */
void hist_unshare_many(struct hist *h);
/* For a struct hist whose bytes were copied: gives it a packed copy of the data that both point to. */
static inline void hist_unshare(struct hist *h)
{
	if (h->n > HIST_FEW)
		hist_unshare_many(h);
}
void hist_pack(struct hist *h);				/* when nothing more will be added */
struct coder;
void hist_code(struct coder *c, struct hist *h);	/* writes or reads it; what is read is packed */
void hist_clear(struct hist *h);			/* frees all; the histogram is empty */
size_t hist_bytes(const struct hist *h);		/* allocated, struct hist not included */

#endif
