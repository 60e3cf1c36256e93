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
 */
#ifndef BLK_BASE_HIST_H
#define BLK_BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_SUB_BITS 5		/* 32 buckets an octave */
#define HIST_MAX_BITS 44
#define HIST_BUCKETS ((HIST_MAX_BITS - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist_bucket {
	uint16_t index;
	uint32_t count;
};

struct hist {
	uint64_t count;
	int64_t min, max;		/* ns, exact; meaningless when count == 0 */
	int64_t sum;			/* ns, exact */
	struct hist_bucket *buckets;	/* sorted by index; private */
	uint16_t n, alloc;		/* private */
};

void hist_add(struct hist *h, int64_t ns);		/* negative counts as 0 */
/* One value that was added. Min and max stay as they were: true, when it may have been one of
 * them, and who knows the values has to set both anew (for quantiles are clamped to them). */
bool hist_remove(struct hist *h, int64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
void hist_copy(struct hist *to, const struct hist *from);	/* `to` is not cleared first */
void hist_clear(struct hist *h);			/* frees, empty again */

/* Nearest rank: the value v with at least ceil(q * count) values <= v, as the
 * bucket's upper bound clamped to [min, max]. q in (0, 1]. -1 when empty. */
int64_t hist_quantile(const struct hist *h, double q);

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
uint64_t hist_count_between(const struct hist *h, unsigned from, unsigned to); /* buckets [from, to] */

/*
 * The same while values are added, for the hot path: an addition neither searches nor moves. The
 * first few values are stored as they are, since most cells have no more; then each block of
 * buckets in use has its counts. A zeroed one is empty. It holds less than 2^32 values.
 */
#define HIST_BLOCK_BITS 4
#define HIST_BLOCK (1u << HIST_BLOCK_BITS)	/* buckets in a block */
#define HIST_BLOCKS (HIST_BUCKETS / HIST_BLOCK)
#define HIST_FEW 3

struct hist_many {
	int64_t sum, max, min;
	uint8_t n, alloc;		/* blocks */
	uint8_t block[HIST_BLOCKS];	/* place of the block in .counts, from 1; 0: not used */
	uint32_t counts[][HIST_BLOCK];	/* in the order of their first use */
};

struct hist_log {
	uint32_t n;			/* values in .few; above HIST_FEW: .many */
	union {
		int64_t few[HIST_FEW];
		struct hist_many *many;
	};
};

void hist_log_grow(struct hist_log *h, unsigned block);	/* for hist_log_add() */
void hist_log_turn(struct hist_log *h);				/* the same: from few to many */
void hist_log_merge(struct hist_log *into, const struct hist_log *from);
void hist_log_clear(struct hist_log *h);
void hist_merge_log(struct hist *into, const struct hist_log *from);

/* `bucket`: hist_bucket_index(ns); negative counts as 0. */
static inline void hist_log_add(struct hist_log *h, int64_t ns, unsigned bucket)
{
	unsigned block = bucket >> HIST_BLOCK_BITS;

	ns = ns < 0 ? 0 : ns;
	if (__builtin_expect(h->n <= HIST_FEW, 0)) {
		if (h->n < HIST_FEW) {
			h->few[h->n++] = ns;
			return;
		}
		hist_log_turn(h);
	}

	struct hist_many *m = h->many;
	unsigned place = m->block[block];
	if (__builtin_expect(!place, 0)) {
		hist_log_grow(h, block);
		m = h->many;
		place = m->block[block];
	}
	m->counts[place - 1u][bucket & (HIST_BLOCK - 1)]++;
	if (__builtin_add_overflow(m->sum, ns, &m->sum))
		m->sum = INT64_MAX;
	if (ns > m->max)
		m->max = ns;
	if (ns < m->min)
		m->min = ns;
}

static inline bool hist_log_empty(const struct hist_log *h)
{
	return !h->n;
}

#endif
