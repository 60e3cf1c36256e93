/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log-linear histogram: a sorted array of the buckets that are used. Sums saturate
 * instead of overflowing, so absurd durations in a trace cannot make them negative.
 */
#include "base/hist.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define SUB_BITS HIST_SUB_BITS
#define MAX_BITS HIST_MAX_BITS
#define FEW 4			/* buckets that are sooner added one by one */

int64_t hist_bucket_low(unsigned index)
{
	if (index >= HIST_BUCKETS)
		return INT64_C(1) << MAX_BITS;
	if (index < 1 << SUB_BITS)
		return index;
	unsigned octave = (index >> SUB_BITS) - 1;
	int64_t mantissa = (1 << SUB_BITS) + (index & ((1 << SUB_BITS) - 1));
	return mantissa << octave;
}

int64_t hist_bucket_high(unsigned index)
{
	return hist_bucket_low(MIN(index, HIST_BUCKETS - 1) + 1) - 1;
}

static int64_t sum_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static uint32_t count_saturating(uint32_t a, uint32_t b)
{
	uint32_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

/* Position of the first bucket whose index is not below `index`. */
static unsigned lower_bound(const struct hist *h, unsigned index)
{
	unsigned low = 0, high = h->n;

	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (h->buckets[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void reserve(struct hist *h, unsigned n)
{
	if (n <= h->alloc)
		return;
	h->alloc = (uint16_t)MIN(MAX(n, h->alloc * 2u), MAX(n, (unsigned)HIST_BUCKETS));
	h->buckets = g_renew(struct hist_bucket, h->buckets, h->alloc);
}

static void insert_bucket(struct hist *h, unsigned at, unsigned index)
{
	reserve(h, h->n + 1u);
	memmove(h->buckets + at + 1, h->buckets + at, (h->n - at) * sizeof(*h->buckets));
	h->buckets[at] = (struct hist_bucket){ .index = (uint16_t)index };
	h->n++;
}

static void add_to_bucket(struct hist *h, unsigned index, uint32_t count)
{
	unsigned at = lower_bound(h, index);
	if (at == h->n || h->buckets[at].index != index)
		insert_bucket(h, at, index);
	h->buckets[at].count = count_saturating(h->buckets[at].count, count);
}

void hist_add(struct hist *h, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	if (h->count == 0) {
		h->min = h->max = ns;
	} else if (ns < h->min) {
		h->min = ns;
	} else if (ns > h->max) {
		h->max = ns;
	}
	h->count++;
	h->sum = sum_saturating(h->sum, ns);

	add_to_bucket(h, hist_bucket_index(ns), 1);
}

bool hist_remove(struct hist *h, int64_t ns)
{
	ns = MAX(ns, 0);
	unsigned index = hist_bucket_index(ns), at = lower_bound(h, index);

	if (at == h->n || h->buckets[at].index != index)
		return false;
	h->count--;
	h->sum -= ns;
	if (--h->buckets[at].count == 0) {
		h->n--;
		memmove(h->buckets + at, h->buckets + at + 1, (h->n - at) * sizeof(*h->buckets));
	}
	return h->count && (ns <= h->min || ns >= h->max);
}

/* How many different buckets the two use together. */
static unsigned union_size(const struct hist *a, const struct hist *b)
{
	unsigned i = 0, j = 0, n = 0;

	while (i < a->n && j < b->n) {
		unsigned x = a->buckets[i].index, y = b->buckets[j].index;
		i += x <= y;
		j += y <= x;
		n++;
	}
	return n + (a->n - i) + (b->n - j);
}

/* Merges from the back, in place: the room for the union is at the end. */
static void merge_buckets(struct hist *into, const struct hist *from)
{
	unsigned total = union_size(into, from);
	int i = into->n - 1, j = from->n - 1;

	reserve(into, total);
	for (unsigned k = total; k-- > 0;) {
		if (j < 0)
			break;		/* what is left is in its place already */
		const struct hist_bucket *b = &from->buckets[j];
		if (i >= 0 && into->buckets[i].index > b->index) {
			into->buckets[k] = into->buckets[i--];
		} else if (i >= 0 && into->buckets[i].index == b->index) {
			uint32_t count = count_saturating(into->buckets[i--].count, b->count);
			into->buckets[k] = (struct hist_bucket){ b->index, count };
			j--;
		} else {
			into->buckets[k] = *b;
			j--;
		}
	}
	into->n = (uint16_t)total;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0) {
		into->min = from->min;
		into->max = from->max;
	} else {
		into->min = MIN(into->min, from->min);
		into->max = MAX(into->max, from->max);
	}
	into->count += from->count;
	into->sum = sum_saturating(into->sum, from->sum);
	if (from->n > FEW) {
		merge_buckets(into, from);
		return;
	}
	for (unsigned i = 0; i < from->n; i++)
		add_to_bucket(into, from->buckets[i].index, from->buckets[i].count);
}

void hist_copy(struct hist *to, const struct hist *from)
{
	*to = *from;
	to->alloc = from->n;
	to->buckets = g_memdup2(from->buckets, from->n * sizeof(*from->buckets));
}

void hist_clear(struct hist *h)
{
	g_free(h->buckets);
	memset(h, 0, sizeof(*h));
}

int64_t hist_quantile(const struct hist *h, double q)
{
	if (h->count == 0)
		return -1;

	/* q * count may round up past an integer it should be (0.07 * 100); a tenth
	 * of a millionth of a rank is below what any sample can tell. */
	double wanted = ceil(q * (double)h->count - 1e-7);
	uint64_t rank = wanted < 1 ? 1 : (uint64_t)MIN(wanted, (double)h->count);
	uint64_t seen = 0;

	for (unsigned i = 0; i < h->n; i++) {
		seen += h->buckets[i].count;
		if (seen < rank)
			continue;
		if (h->buckets[i].index == HIST_BUCKETS - 1)
			break;		/* this one is open at the top */
		return CLAMP(hist_bucket_high(h->buckets[i].index), h->min, h->max);
	}
	return h->max;
}

uint64_t hist_count_between(const struct hist *h, unsigned from, unsigned to)
{
	uint64_t count = 0;

	for (unsigned i = lower_bound(h, from); i < h->n && h->buckets[i].index <= to; i++)
		count += h->buckets[i].count;
	return count;
}

/* ---- while it is made ---- */

#define FIRST_BLOCKS 2

static struct hist_many *many_resize(struct hist_many *m, unsigned blocks)
{
	m = g_realloc(m, sizeof(*m) + blocks * sizeof(m->counts[0]));
	m->alloc = (uint8_t)blocks;
	return m;
}

void hist_log_turn(struct hist_log *h)
{
	struct hist_log few = *h;

	h->many = many_resize(NULL, FIRST_BLOCKS);
	memset(h->many, 0, sizeof(*h->many));
	h->many->alloc = FIRST_BLOCKS;
	h->many->min = INT64_MAX;
	h->n = HIST_FEW + 1;
	for (unsigned i = 0; i < HIST_FEW; i++)
		hist_log_add(h, few.few[i], hist_bucket_index(few.few[i]));
}

void hist_log_grow(struct hist_log *h, unsigned block)
{
	struct hist_many *m = h->many;

	if (m->n == m->alloc)
		h->many = m = many_resize(m, MIN(m->alloc * 2u, HIST_BLOCKS));
	memset(m->counts[m->n], 0, sizeof(m->counts[0]));
	m->block[block] = ++m->n;
}

void hist_log_clear(struct hist_log *h)
{
	if (h->n > HIST_FEW)
		g_free(h->many);
	memset(h, 0, sizeof(*h));
}

void hist_log_merge(struct hist_log *into, const struct hist_log *from)
{
	if (from->n <= HIST_FEW) {
		for (unsigned i = 0; i < from->n; i++)
			hist_log_add(into, from->few[i], hist_bucket_index(from->few[i]));
		return;
	}
	const struct hist_many *f = from->many;
	struct hist_log few = *into;
	if (into->n <= HIST_FEW) {
		*into = (struct hist_log){ .n = HIST_FEW + 1, .many = many_resize(NULL, f->alloc) };
		memcpy(into->many, f, sizeof(*f) + f->n * sizeof(f->counts[0]));
		into->many->alloc = f->alloc;
		for (unsigned i = 0; i < few.n; i++)
			hist_log_add(into, few.few[i], hist_bucket_index(few.few[i]));
		return;
	}
	into->many->sum = sum_saturating(into->many->sum, f->sum);
	into->many->max = MAX(into->many->max, f->max);
	into->many->min = MIN(into->many->min, f->min);
	for (unsigned b = 0; b < HIST_BLOCKS; b++) {
		if (!f->block[b])
			continue;
		if (!into->many->block[b])
			hist_log_grow(into, b);
		uint32_t *to = into->many->counts[into->many->block[b] - 1u];
		const uint32_t *add = f->counts[f->block[b] - 1u];
		for (unsigned i = 0; i < HIST_BLOCK; i++)
			to[i] = count_saturating(to[i], add[i]);
	}
}

/* The buckets in use, in order; returns how many. */
static unsigned many_buckets(const struct hist_many *m, struct hist_bucket *to)
{
	unsigned n = 0;

	for (unsigned b = 0; b < HIST_BLOCKS; b++) {
		if (!m->block[b])
			continue;
		const uint32_t *count = m->counts[m->block[b] - 1u];
		for (unsigned i = 0; i < HIST_BLOCK; i++)
			if (count[i])
				to[n++] = (struct hist_bucket){ (uint16_t)(b * HIST_BLOCK + i), count[i] };
	}
	return n;
}

static void merge_few(struct hist *into, const struct hist_log *from)
{
	struct hist_bucket room[HIST_FEW];
	struct hist h = { .buckets = room, .alloc = HIST_FEW };

	if (into->count) {
		for (unsigned i = 0; i < from->n; i++)
			hist_add(into, from->few[i]);
		return;
	}
	for (unsigned i = 0; i < from->n; i++)
		hist_add(&h, from->few[i]);
	hist_copy(into, &h);
}

void hist_merge_log(struct hist *into, const struct hist_log *from)
{
	struct hist_bucket buckets[HIST_BUCKETS];

	if (!from->n)
		return;
	if (from->n <= HIST_FEW) {
		merge_few(into, from);
		return;
	}
	const struct hist_many *m = from->many;
	struct hist h = {
		.min = m->min, .max = m->max, .sum = m->sum, .buckets = buckets,
		.n = (uint16_t)many_buckets(m, buckets),
	};
	for (unsigned i = 0; i < h.n; i++)
		h.count += buckets[i].count;
	if (into->count)
		hist_merge(into, &h);
	else
		hist_copy(into, &h);
}
