/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms: see hist.h. Sums and counts saturate instead of overflowing, so they are never negative. */
#include "base/hist.h"

#include "base/coder.h"
#include "base/sort.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define SUB_BITS HIST_SUB_BITS
#define MAX_BITS HIST_MAX_BITS
#define FIRST_BLOCKS 2
#define MALLOC_BYTES 16		/* what malloc() adds to an allocation, about */

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

static bool is_few(const struct hist *h)
{
	return h->n <= HIST_FEW;
}

/* ---- growing ---- */

static size_t growing_size(unsigned blocks)
{
	return offsetof(struct hist_many, counts) + blocks * sizeof(((struct hist_many *)NULL)->counts[0]);
}

static struct hist_many *resize_blocks(struct hist_many *m, unsigned blocks)
{
	m = g_realloc(m, growing_size(blocks));
	m->alloc = (uint16_t)blocks;
	return m;
}

static struct hist_many *growing_new(void)
{
	struct hist_many *m = resize_blocks(NULL, FIRST_BLOCKS);

	memset(m, 0, offsetof(struct hist_many, counts));
	m->alloc = FIRST_BLOCKS;
	m->min = INT64_MAX;
	return m;
}

void hist_add_block(struct hist *h, unsigned block)
{
	struct hist_many *m = h->many;

	G_STATIC_ASSERT(HIST_BLOCKS <= UINT8_MAX);	/* .place */
	g_assert(block < HIST_BLOCKS && !m->place[block] && m->n < HIST_BLOCKS);
	if (m->n == m->alloc)
		h->many = m = resize_blocks(m, MIN(m->alloc * 2u, HIST_BLOCKS));
	memset(m->counts[m->n], 0, sizeof(m->counts[0]));
	m->place[block] = (uint8_t)++m->n;
}

static void add_count(struct hist *h, unsigned index, uint32_t count)
{
	unsigned block = index >> HIST_BLOCK_BITS;

	if (!h->many->place[block])
		hist_add_block(h, block);
	uint32_t *to = &h->many->counts[h->many->place[block] - 1u][index & (HIST_BLOCK - 1)];
	*to = count_saturating(*to, count);
}

static void merge_packed(struct hist *into, const struct hist_many *from)
{
	for (unsigned i = 0; i < from->n; i++)
		add_count(into, from->bucket[i].index, from->bucket[i].count);
}

static void merge_growing(struct hist *into, const struct hist_many *from)
{
	for (unsigned b = 0; b < HIST_BLOCKS; b++) {
		if (!from->place[b])
			continue;
		if (!into->many->place[b])
			hist_add_block(into, b);
		uint32_t *to = into->many->counts[into->many->place[b] - 1u];
		const uint32_t *add = from->counts[from->place[b] - 1u];
		for (unsigned i = 0; i < HIST_BLOCK; i++)
			to[i] = count_saturating(to[i], add[i]);
	}
}

/* `into` is growing, `from` has many. */
static void merge_many(struct hist *into, const struct hist *from)
{
	g_assert(into->n == HIST_GROWING && !is_few(from));
	const struct hist_many *f = from->many;

	if (from->n == HIST_PACKED)
		merge_packed(into, f);
	else
		merge_growing(into, f);
	struct hist_many *m = into->many;
	m->count += f->count;
	m->sum = sum_saturating(m->sum, f->sum);
	m->max = MAX(m->max, f->max);
	m->min = MIN(m->min, f->min);
}

void hist_grow(struct hist *h)
{
	struct hist before = *h;

	if (h->n == HIST_GROWING)
		return;
	*h = (struct hist){ .n = HIST_GROWING, .many = growing_new() };
	if (is_few(&before))
		hist_merge(h, &before);
	else
		merge_many(h, &before);
	hist_clear(&before);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	g_assert(into != from);
	if (is_few(from)) {
		for (unsigned i = 0; i < from->n; i++)
			hist_add(into, from->few[i]);
		return;
	}
	if (!into->n) {			/* often nothing else is merged: stays packed until then */
		hist_copy(into, from);
		return;
	}
	hist_grow(into);
	merge_many(into, from);
}

/* ---- packed ---- */

static size_t packed_size(unsigned buckets)
{
	return offsetof(struct hist_many, bucket) + buckets * sizeof(((struct hist_many *)NULL)->bucket[0]);
}

/* Most counts are 0, so two are tested at once. */
static unsigned pack_block(struct hist_bucket *to, unsigned first, const uint32_t *count)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HIST_BLOCK; i += 2) {
		uint64_t two;
		memcpy(&two, &count[i], sizeof two);
		for (unsigned k = i; two && k < i + 2; k++)
			if (count[k])
				to[n++] = (struct hist_bucket){ .index = first + k, .count = count[k] };
	}
	return n;
}

static struct hist_many *packed_of(const struct hist_many *m)
{
	struct hist_bucket bucket[HIST_BLOCKS * HIST_BLOCK];
	unsigned n = 0;

	g_assert(m->n <= HIST_BLOCKS);
	for (unsigned b = 0; b < HIST_BLOCKS; b++)
		if (m->place[b])
			n += pack_block(bucket + n, b * HIST_BLOCK, m->counts[m->place[b] - 1u]);
	struct hist_many *p = g_malloc(packed_size(n));
	memcpy(p, m, offsetof(struct hist_many, bucket));	/* the allocation may be smaller than the struct */
	p->n = p->alloc = (uint16_t)n;
	memcpy(p->bucket, bucket, n * sizeof *bucket);
	return p;
}

void hist_unshare_many(struct hist *h)
{
	h->many = h->n == HIST_GROWING ? packed_of(h->many) : g_memdup2(h->many, packed_size(h->many->n));
	h->n = HIST_PACKED;
}

void hist_copy(struct hist *to, const struct hist *from)
{
	*to = *from;
	hist_unshare(to);
}

void hist_pack(struct hist *h)
{
	struct hist before = *h;

	if (h->n != HIST_GROWING)
		return;
	hist_copy(h, &before);
	hist_clear(&before);
}

void hist_clear(struct hist *h)
{
	if (!is_few(h))
		g_free(h->many);
	memset(h, 0, sizeof(*h));
}

size_t hist_bytes(const struct hist *h)
{
	if (is_few(h))
		return 0;
	return MALLOC_BYTES + (h->n == HIST_PACKED ? packed_size(h->many->n) : growing_size(h->many->alloc));
}

/* ---- removing values ---- */

static bool remove_few(struct hist *h, int64_t ns)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->few[i] == ns) {
			h->few[i] = h->few[--h->n];
			break;
		}
	return false;
}

bool hist_remove(struct hist *h, int64_t ns)
{
	unsigned index = hist_bucket_index(ns);

	ns = MAX(ns, 0);
	if (is_few(h))
		return remove_few(h, ns);
	hist_grow(h);
	struct hist_many *m = h->many;
	unsigned place = m->place[index >> HIST_BLOCK_BITS];
	uint32_t *count = place ? &m->counts[place - 1u][index & (HIST_BLOCK - 1)] : NULL;
	if (!count || !*count)
		return false;
	g_assert(m->count > 0);
	--*count;
	m->sum -= ns;
	if (--m->count == 0) {
		hist_clear(h);
		return false;
	}
	return ns <= m->min || ns >= m->max;
}

void hist_reset_bounds(struct hist *h)
{
	if (is_few(h))
		return;
	h->many->min = INT64_MAX;
	h->many->max = 0;
}

void hist_widen(struct hist *h, int64_t ns)
{
	if (is_few(h))
		return;
	ns = MAX(ns, 0);
	h->many->min = MIN(h->many->min, ns);
	h->many->max = MAX(h->many->max, ns);
}

/* ---- reading ---- */

int64_t hist_sum(const struct hist *h)
{
	int64_t sum = 0;

	if (!is_few(h))
		return h->many->sum;
	for (unsigned i = 0; i < h->n; i++)
		sum = sum_saturating(sum, h->few[i]);
	return sum;
}

int64_t hist_min(const struct hist *h)
{
	int64_t min = h->n ? INT64_MAX : 0;

	if (!is_few(h))
		return h->many->count ? h->many->min : 0;
	for (unsigned i = 0; i < h->n; i++)
		min = MIN(min, h->few[i]);
	return min;
}

int64_t hist_max(const struct hist *h)
{
	int64_t max = 0;

	if (!is_few(h))
		return h->many->max;
	for (unsigned i = 0; i < h->n; i++)
		max = MAX(max, h->few[i]);
	return max;
}

/* The bucket of the value with that rank, counted from 1; HIST_BUCKETS: there is none. */
static unsigned bucket_of_rank(const struct hist *h, uint64_t rank)
{
	const struct hist_many *m = h->many;
	uint64_t seen = 0;

	if (h->n == HIST_PACKED) {
		for (unsigned i = 0; i < m->n; i++)
			if ((seen += m->bucket[i].count) >= rank)
				return m->bucket[i].index;
		return HIST_BUCKETS;
	}
	for (unsigned b = 0; b < HIST_BLOCKS; b++) {
		const uint32_t *count = m->place[b] ? m->counts[m->place[b] - 1u] : NULL;
		for (unsigned i = 0; count && i < HIST_BLOCK; i++)
			if ((seen += count[i]) >= rank)
				return b * HIST_BLOCK + i;
	}
	return HIST_BUCKETS;
}

static unsigned bucket_of_few(const struct hist *h, uint64_t rank)
{
	g_assert(rank >= 1 && rank <= h->n);
	struct hist sorted = *h;

	qsort(sorted.few, sorted.n, sizeof(sorted.few[0]), order_i64);
	return hist_bucket_index(sorted.few[rank - 1]);
}

int64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t count = hist_count(h);

	if (!count)
		return -1;

	/* q * count may be slightly above the integer that it should be (0.07 * 100): a ten millionth of a rank does
	 * not matter. */
	double wanted = ceil(q * (double)count - 1e-7);
	uint64_t rank = wanted < 1 ? 1 : (uint64_t)MIN(wanted, (double)count);
	unsigned bucket = is_few(h) ? bucket_of_few(h, rank) : bucket_of_rank(h, rank);

	if (bucket >= HIST_BUCKETS - 1)		/* the last one is open at the top */
		return hist_max(h);
	return CLAMP(hist_bucket_high(bucket), hist_min(h), hist_max(h));
}

void hist_foreach(const struct hist *h, void (*visit)(void *data, unsigned bucket, uint64_t count), void *data)
{
	for (unsigned i = 0; is_few(h) && i < h->n; i++)
		visit(data, hist_bucket_index(h->few[i]), 1);
	if (is_few(h))
		return;
	const struct hist_many *m = h->many;
	for (unsigned i = 0; h->n == HIST_PACKED && i < m->n; i++)
		visit(data, m->bucket[i].index, m->bucket[i].count);
	for (unsigned b = 0; h->n == HIST_GROWING && b < HIST_BLOCKS; b++)
		for (unsigned i = 0; m->place[b] && i < HIST_BLOCK; i++)
			if (m->counts[m->place[b] - 1u][i])
				visit(data, b * HIST_BLOCK + i, m->counts[m->place[b] - 1u][i]);
}

/* ---- as bytes ---- */

/* Buckets as differences of their numbers. Sums of counts may be below .count: counts saturate. */
static void code_packed(struct coder *c, struct hist_many *m)
{
	uint64_t sum = 0;
	uint32_t index = UINT32_MAX;

	for (unsigned i = 0; i < m->n; i++) {
		uint32_t difference = m->bucket[i].index - index;
		code_u32(c, &difference);
		code_u32(c, &m->bucket[i].count);
		index += difference;
		if (!difference || difference > HIST_BUCKETS || index >= HIST_BUCKETS || !m->bucket[i].count)
			coder_refuse(c, "a histogram is wrong");
		m->bucket[i].index = c->fault ? 0 : index;
		sum += m->bucket[i].count;
	}
	m->count -= sum;
	code_u64(c, &m->count);
	m->count += sum;
	code_i64(c, &m->sum);
	code_i64(c, &m->min);
	code_i64(c, &m->max);
	if (m->count < sum || m->sum < 0 || m->min < 0 || m->max < m->min)
		coder_refuse(c, "a histogram is wrong");
}

void hist_code(struct coder *c, struct hist *h)
{
	struct hist packed = { 0 };
	uint32_t n = coder_writes(c) ? h->n : 0;

	if (n > HIST_FEW) {
		hist_copy(&packed, h);
		n = HIST_FEW + packed.many->n;
	}
	n = code_len(c, n, 1, 0);
	if (n <= HIST_FEW) {
		h->n = n;
		for (unsigned i = 0; i < n; i++) {
			code_i64(c, &h->few[i]);
			h->few[i] = MAX(h->few[i], 0);
		}
		return;
	}
	n -= HIST_FEW;
	if (coder_writes(c)) {
		code_packed(c, packed.many);
		hist_clear(&packed);
		return;
	}
	if (n > HIST_BUCKETS) {
		coder_refuse(c, "a histogram is wrong");
		n = 1;
	}
	coder_take(c, packed_size(n) + CODER_OWN_BYTES);
	*h = (struct hist){ .n = HIST_PACKED, .many = g_malloc0(packed_size(n)) };
	h->many->n = h->many->alloc = (uint16_t)n;
	code_packed(c, h->many);
}
