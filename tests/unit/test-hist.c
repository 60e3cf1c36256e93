/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms against sorted arrays of the same values. */
#include "base/hist.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define ROUNDS 200

/* Values of every size, with many small and equal ones. */
static int64_t random_ns(GRand *rand)
{
	unsigned bits = (unsigned)g_rand_int_range(rand, 0, 48);
	uint64_t v = ((uint64_t)g_rand_int(rand) << 32) | g_rand_int(rand);

	return (int64_t)(v & ((UINT64_C(1) << bits) - 1));
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static GRand *seeded(void)
{
	return g_rand_new_with_seed((guint32)g_test_rand_int());
}

static void test_buckets(void)
{
	g_assert_cmpint(hist_bucket_low(0), ==, 0);
	g_assert_cmpint(hist_bucket_high(HIST_BUCKETS - 1), ==, (INT64_C(1) << 44) - 1);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		int64_t low = hist_bucket_low(i), high = hist_bucket_high(i);
		g_assert_cmpint(low, <=, high);
		g_assert_cmpuint(hist_bucket_index(low), ==, i);
		g_assert_cmpuint(hist_bucket_index(high), ==, i);
		if (i)
			g_assert_cmpint(hist_bucket_high(i - 1) + 1, ==, low);
		if (i >= 32)		/* at most 3.125 % wide */
			g_assert_cmpint((high - low + 1) * 32, <=, low);
	}
	g_assert_cmpuint(hist_bucket_index(-5), ==, 0);
	g_assert_cmpuint(hist_bucket_index(INT64_C(1) << 44), ==, HIST_BUCKETS - 1);
	g_assert_cmpuint(hist_bucket_index(INT64_MAX), ==, HIST_BUCKETS - 1);
}

static void add_count(void *counts, unsigned bucket, uint64_t count)
{
	g_assert_cmpuint(bucket, <, HIST_BUCKETS);
	((uint64_t *)counts)[bucket] += count;
}

/* The number of values in each bucket. */
static uint64_t *counts_of(const struct hist *h)
{
	uint64_t *counts = g_new0(uint64_t, HIST_BUCKETS);
	hist_foreach(h, add_count, counts);
	return counts;
}

static uint64_t count_all(const struct hist *h)
{
	g_autofree uint64_t *counts = counts_of(h);
	uint64_t all = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		all += counts[i];
	return all;
}

static void test_empty(void)
{
	struct hist h = { 0 }, copy;

	g_assert_cmpint(hist_quantile(&h, 0.5), ==, -1);
	g_assert_cmpuint(count_all(&h), ==, 0);
	hist_copy(&copy, &h);
	hist_merge(&copy, &h);
	g_assert_cmpuint(hist_count(&copy), ==, 0);
	hist_clear(&copy);
	hist_clear(&h);
}

static void check_quantile(const struct hist *h, const int64_t *sorted, size_t n, double q)
{
	/* The rank in exact arithmetic: q is a multiple of 1/1000. */
	uint64_t rank = ((uint64_t)llround(q * 1000) * n + 999) / 1000;
	int64_t exact = sorted[MAX(rank, 1) - 1];
	int64_t got = hist_quantile(h, q);

	g_assert_cmpint(got, >=, exact);
	if (hist_bucket_index(exact) < HIST_BUCKETS - 1)	/* that one is open */
		g_assert_cmpint(got, <=, hist_bucket_high(hist_bucket_index(exact)));
	g_assert_cmpint(got, <=, sorted[n - 1]);
}

static void test_quantiles(void)
{
	g_autoptr(GRand) rand = seeded();

	for (int round = 0; round < ROUNDS; round++) {
		size_t n = (size_t)g_rand_int_range(rand, 1, 500);
		g_autofree int64_t *values = g_new(int64_t, n);
		struct hist h = { 0 };
		int64_t sum = 0;

		for (size_t i = 0; i < n; i++) {
			values[i] = random_ns(rand);
			sum += values[i];
			hist_add(&h, values[i]);
		}
		qsort(values, n, sizeof(*values), compare_ns);
		g_assert_cmpuint(hist_count(&h), ==, n);
		g_assert_cmpint(hist_sum(&h), ==, sum);
		g_assert_cmpint(hist_min(&h), ==, values[0]);
		g_assert_cmpint(hist_max(&h), ==, values[n - 1]);
		for (int q = 1; q <= 1000; q += 37)
			check_quantile(&h, values, n, q / 1000.0);
		check_quantile(&h, values, n, 0.99);
		check_quantile(&h, values, n, 1.0);
		g_assert_cmpuint(count_all(&h), ==, n);
		hist_clear(&h);
	}
}

static void assert_equal(const struct hist *a, const struct hist *b)
{
	g_assert_cmpuint(hist_count(a), ==, hist_count(b));
	g_assert_cmpint(hist_sum(a), ==, hist_sum(b));
	g_assert_cmpint(hist_min(a), ==, hist_min(b));
	g_assert_cmpint(hist_max(a), ==, hist_max(b));
	g_autofree uint64_t *of_a = counts_of(a), *of_b = counts_of(b);
	g_assert_cmpmem(of_a, HIST_BUCKETS * sizeof *of_a, of_b, HIST_BUCKETS * sizeof *of_b);
	for (int q = 1; q <= 100; q++)
		g_assert_cmpint(hist_quantile(a, q / 100.0), ==, hist_quantile(b, q / 100.0));
}

/* The forms hold the same values, and go on from each other. */
static void test_forms(void)
{
	g_autoptr(GRand) rand = seeded();

	for (int round = 0; round < ROUNDS; round++) {
		struct hist growing = { 0 }, packed = { 0 }, copy, sum = { 0 }, twice = { 0 };
		int n = g_rand_int_range(rand, 0, round % 2 ? 8 : 300);

		hist_grow(&growing);
		for (int i = 0; i < n; i++) {
			int64_t v = random_ns(rand);
			hist_add(&growing, v);
			hist_add(&packed, v);
			if (g_rand_boolean(rand))
				hist_pack(&packed);
		}
		assert_equal(&growing, &packed);
		hist_copy(&copy, &growing);
		assert_equal(&copy, &growing);
		g_assert_cmpuint(hist_bytes(&copy), <=, hist_bytes(&growing) + 16);
		hist_merge(&sum, &copy);
		hist_merge(&sum, &packed);
		hist_merge(&twice, &growing);
		hist_merge(&twice, &growing);
		assert_equal(&sum, &twice);
		struct hist *all[] = { &growing, &packed, &copy, &sum, &twice };
		for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
			hist_clear(all[i]);
	}
}

/* (a + b) + c = a + (b + c) = all values added to one. */
static void test_merge(void)
{
	g_autoptr(GRand) rand = seeded();

	for (int round = 0; round < ROUNDS; round++) {
		struct hist part[3] = { 0 }, all = { 0 }, left, right;

		for (int i = g_rand_int_range(rand, 0, 200); i > 0; i--) {
			int64_t v = random_ns(rand);
			hist_add(&part[g_rand_int_range(rand, 0, 3)], v);
			hist_add(&all, v);
		}
		hist_copy(&left, &part[0]);
		hist_merge(&left, &part[1]);
		hist_merge(&left, &part[2]);
		hist_copy(&right, &part[2]);
		hist_merge(&right, &part[1]);
		hist_merge(&right, &part[0]);
		assert_equal(&left, &all);
		assert_equal(&right, &all);
		for (int i = 0; i < 3; i++)
			hist_clear(&part[i]);
		hist_clear(&left);
		hist_clear(&right);
		hist_clear(&all);
	}
}

static void test_clamping(void)
{
	struct hist h = { 0 };

	hist_add(&h, -7);
	g_assert_cmpint(hist_min(&h), ==, 0);
	g_assert_cmpint(hist_quantile(&h, 1), ==, 0);
	hist_add(&h, INT64_MAX);
	hist_add(&h, INT64_MAX);
	g_assert_cmpint(hist_sum(&h), ==, INT64_MAX);		/* not negative */
	g_assert_cmpint(hist_quantile(&h, 0.99), ==, INT64_MAX);
	g_assert_cmpint(hist_quantile(&h, 0.01), ==, 0);
	hist_clear(&h);

	/* One value: every quantile is that value, not its bucket's end. */
	hist_add(&h, 1000001);
	g_assert_cmpint(hist_quantile(&h, 0.5), ==, 1000001);
	hist_clear(&h);
}

/* What is taken out again was never there; min and max only where it is said. */
static void test_remove(void)
{
	struct hist h = { 0 };
	static const int64_t values[] = { 5, 700, 700, 1000000, -3 };

	g_assert_false(hist_remove(&h, 5));		/* not there */
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		hist_add(&h, values[i]);
	g_assert_false(hist_remove(&h, 700));
	g_assert_cmpint(hist_quantile(&h, 1), ==, 1000000);
	g_assert_false(hist_remove(&h, 12345));
	g_assert_cmpuint(hist_count(&h), ==, 4);
	g_assert_cmpint(hist_sum(&h), ==, 5 + 700 + 1000000);
	g_assert_true(hist_remove(&h, -3));		/* the least: that counted as 0 */
	g_assert_true(hist_remove(&h, 1000000));
	g_assert_cmpuint(hist_count(&h), ==, 2);
	hist_reset_bounds(&h);
	hist_widen(&h, 5);
	hist_widen(&h, 700);
	g_assert_cmpint(hist_min(&h), ==, 5);
	g_assert_cmpint(hist_max(&h), ==, 700);
	g_assert_true(hist_remove(&h, 5));
	g_assert_false(hist_remove(&h, 700));		/* nothing is left to have bounds */
	g_assert_cmpuint(hist_count(&h), ==, 0);
	g_assert_cmpint(hist_sum(&h), ==, 0);
	hist_add(&h, 42);
	g_assert_cmpint(hist_min(&h), ==, 42);
	g_assert_cmpint(hist_max(&h), ==, 42);
	hist_clear(&h);
}

static void test_nearest_rank(void)
{
	struct hist h = { 0 };

	for (int i = 0; i < 100; i++)
		hist_add(&h, i < 7 ? 1 : 5);
	g_assert_cmpint(hist_quantile(&h, 0.07), ==, 1);	/* 0.07 * 100 > 7 in doubles */
	g_assert_cmpint(hist_quantile(&h, 0.08), ==, 5);
	hist_clear(&h);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hist/buckets", test_buckets);
	g_test_add_func("/hist/empty", test_empty);
	g_test_add_func("/hist/quantiles", test_quantiles);
	g_test_add_func("/hist/merge", test_merge);
	g_test_add_func("/hist/forms", test_forms);
	g_test_add_func("/hist/clamping", test_clamping);
	g_test_add_func("/hist/remove", test_remove);
	g_test_add_func("/hist/nearest-rank", test_nearest_rank);
	return g_test_run();
}
