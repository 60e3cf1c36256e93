/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear histogram of latencies: 8 buckets an octave (at most 12.5 % wide),
 * values 0 .. 2^44 ns (4.9 hours; larger ones are clamped into the last bucket,
 * min, max and sum stay exact). Sparse: memory grows with the buckets used.
 *
 * Histograms add: adding is commutative and associative, so cut, stitched and
 * summed ranges agree. Not thread safe. A zeroed struct hist is an empty one.
 */
#ifndef BLK_BASE_HIST_H
#define BLK_BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_BUCKETS 336	/* enough for 2^44 with 8 an octave */

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
void hist_merge(struct hist *into, const struct hist *from);
void hist_copy(struct hist *to, const struct hist *from);	/* `to` is not cleared first */
void hist_clear(struct hist *h);			/* frees, empty again */

/* Nearest rank: the value v with at least ceil(q * count) values <= v, as the
 * bucket's upper bound clamped to [min, max]. q in (0, 1]. -1 when empty. */
int64_t hist_quantile(const struct hist *h, double q);

unsigned hist_bucket_index(int64_t ns);			/* 0 .. HIST_BUCKETS - 1 */
int64_t hist_bucket_low(unsigned index);		/* smallest ns in it */
int64_t hist_bucket_high(unsigned index);		/* largest ns in it */
uint64_t hist_count_between(const struct hist *h, unsigned from, unsigned to); /* buckets [from, to] */

#endif
