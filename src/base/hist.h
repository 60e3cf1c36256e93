/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear histogram of latencies, the one layout of all histograms: values 0 to 31 ns have a
 * bucket each, then each octave has 32 (at most 1/32 = 3.125 % wide), up to 2^44 ns (4.9 hours; larger
 * values are counted in the last bucket; min, max and sum stay exact). A quantile is a bucket's upper
 * bound, so it is at most 3.2 % above the value that it stands for. Sparse: memory grows with
 * the buckets used.
 *
 * Histograms add: adding is commutative and associative, so cut, stitched and
 * summed ranges agree. Not thread safe. A zeroed struct hist is an empty one.
 *
 * A histogram has one of three forms, and becomes another one by itself:
 *
 *     few		the values as they are, without any allocation: most cells have no more
 *     growing		blocks of counters, where adding neither searches nor moves
 *     packed		the buckets in use, sorted: smaller, for what is stored and read only
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
#define HIST_GROWING (HIST_FEW + 1)	/* struct hist.n of the other forms */
#define HIST_PACKED (HIST_FEW + 2)

/* Private to hist.c and the inline functions below. */
struct hist_many {
	uint64_t count;
	int64_t sum, max, min;		/* ns, exact; meaningless when count is 0 */
	uint16_t n, alloc;		/* growing: blocks; packed: buckets */
	union {
		struct {
			uint8_t place[HIST_BLOCKS];	/* of the block in .counts, from 1; 0: not used */
			uint32_t counts[][HIST_BLOCK];	/* in the order of their first use */
		};
		struct hist_bucket { uint32_t index, count; } bucket[1];	/* .n of them */
	};
};

struct hist {
	uint32_t n;			/* values in .few; or HIST_GROWING, HIST_PACKED: .many */
	union {
		int64_t few[HIST_FEW];
		struct hist_many *many;
	};
};

/* 0 .. HIST_BUCKETS - 1 */
static inline unsigned hist_bucket_index(int64_t ns)
{
	const int64_t first = 1 << HIST_SUB_BITS, end = INT64_C(1) << HIST_MAX_BITS;
	if ((uint64_t)ns - first >= (uint64_t)(end - first))	/* none of most */
		return ns >= end ? HIST_BUCKETS - 1 : ns < 0 ? 0 : (unsigned)ns;
	unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns) - HIST_SUB_BITS;
	return ((octave + 1) << HIST_SUB_BITS) +
	       ((unsigned)(ns >> octave) & ((1 << HIST_SUB_BITS) - 1));
}

int64_t hist_bucket_low(unsigned index);		/* smallest ns in it */
int64_t hist_bucket_high(unsigned index);		/* largest ns in it */

/* For hist_add_at(). */
void hist_grow(struct hist *h);				/* from few or packed to growing */
void hist_add_block(struct hist *h, unsigned block);

/* `bucket`: hist_bucket_index(ns). Negative values count as 0. */
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

/* ns, exact. The least and greatest value are 0 where there is none. */
int64_t hist_sum(const struct hist *h);
int64_t hist_min(const struct hist *h);
int64_t hist_max(const struct hist *h);

/* Nearest rank: the value v with at least ceil(q * count) values <= v, as the
 * bucket's upper bound clamped to [min, max]. q in (0, 1]. -1 when empty. */
int64_t hist_quantile(const struct hist *h, double q);
uint64_t hist_count_between(const struct hist *h, unsigned from, unsigned to); /* buckets [from, to] */

/* Takes one value out that was added. true: it may have been the least or the greatest one, which stay
 * as they were; who knows the values sets both anew: hist_reset_bounds(), then hist_widen() by each. */
bool hist_remove(struct hist *h, int64_t ns);
void hist_reset_bounds(struct hist *h);
void hist_widen(struct hist *h, int64_t ns);

void hist_merge(struct hist *into, const struct hist *from);
void hist_copy(struct hist *to, const struct hist *from);	/* packed; `to` is not cleared first */
void hist_unshare_many(struct hist *h);
/* Of a histogram whose bytes were copied: from now on it has a copy of its own, packed, of what both point to. */
static inline void hist_unshare(struct hist *h)
{
	if (h->n > HIST_FEW)
		hist_unshare_many(h);
}
void hist_pack(struct hist *h);				/* for what will not be added to */
void hist_clear(struct hist *h);			/* frees, empty again */
size_t hist_bytes(const struct hist *h);		/* allocated, without struct hist itself */

#endif
