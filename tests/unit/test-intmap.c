/* SPDX-License-Identifier: GPL-2.0-only */
/* The integer map against a GHashTable: random operations, all answers equal. */
#include "base/intmap.h"

#define OPERATIONS 100000

/* Keys that collide and wrap around, and the odd ones of 64 bits. */
static uint64_t random_key(GRand *rand)
{
	switch (g_rand_int_range(rand, 0, 4)) {
	case 0:
		return (uint64_t)g_rand_int_range(rand, 0, 64);
	case 1:
		return (uint64_t)g_rand_int_range(rand, 0, 300) << 32;
	case 2:
		return UINT64_MAX - (uint64_t)g_rand_int_range(rand, 0, 50);
	default:
		return (uint64_t)g_rand_int_range(rand, 0, 2000) * 0x100000001u;
	}
}

struct visited {
	GHashTable *expected;
	uint32_t n;
};

static void visit(uint64_t key, uint32_t value, void *data)
{
	struct visited *v = data;
	gint64 k = (gint64)key;
	gpointer found;

	g_assert_true(g_hash_table_lookup_extended(v->expected, &k, NULL, &found));
	g_assert_cmpuint(GPOINTER_TO_UINT(found), ==, value);
	v->n++;
}

static void check_all(const struct intmap *m, GHashTable *expected)
{
	struct visited v = { expected, 0 };

	intmap_foreach(m, visit, &v);
	g_assert_cmpuint(v.n, ==, g_hash_table_size(expected));
	g_assert_cmpuint(m->n, ==, v.n);

	GHashTableIter iter;
	gpointer key, value;
	g_hash_table_iter_init(&iter, expected);
	while (g_hash_table_iter_next(&iter, &key, &value))
		g_assert_cmpuint(intmap_get(m, (uint64_t)*(gint64 *)key), ==,
				 GPOINTER_TO_UINT(value));
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	g_autoptr(GHashTable) expected =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct intmap m = { 0 };

	for (int i = 0; i < OPERATIONS; i++) {
		uint64_t key = random_key(rand);
		gint64 k = (gint64)key;
		/* Phases of growing and of shrinking. */
		if (g_rand_int_range(rand, 0, 10) < ((i / 20000) % 2 ? 3 : 6)) {
			uint32_t value = (uint32_t)g_rand_int_range(rand, 0, G_MAXINT32);
			intmap_set(&m, key, value);
			g_hash_table_insert(expected, g_memdup2(&k, sizeof(k)),
					    GUINT_TO_POINTER(value));
		} else {
			g_assert_true(intmap_remove(&m, key) == g_hash_table_remove(expected, &k));
		}
		key = random_key(rand);
		k = (gint64)key;
		gpointer value = NULL;
		bool there = g_hash_table_lookup_extended(expected, &k, NULL, &value);
		g_assert_cmpuint(intmap_get(&m, key), ==,
				 there ? GPOINTER_TO_UINT(value) : INTMAP_NONE);
		if (i % 5000 == 0) {
			intmap_reserve(&m, (uint32_t)g_rand_int_range(rand, 0, 1 << 14));
			check_all(&m, expected);
		}
	}
	check_all(&m, expected);
	intmap_clear(&m);
	g_assert_cmpuint(intmap_get(&m, 1), ==, INTMAP_NONE);
}

static void test_empty(void)
{
	struct intmap m = { 0 };

	g_assert_cmpuint(intmap_get(&m, 0), ==, INTMAP_NONE);
	g_assert_false(intmap_remove(&m, 0));
	intmap_foreach(&m, visit, NULL);
	intmap_set(&m, 0, 0);
	g_assert_cmpuint(intmap_get(&m, 0), ==, 0);
	g_assert_true(intmap_remove(&m, 0));
	g_assert_cmpuint(m.n, ==, 0);
	intmap_clear(&m);
	intmap_clear(&m);
}

/* So many come without growing. */
static void test_reserve(void)
{
	for (uint32_t n = 1; n < 300; n++) {
		struct intmap m = { 0 };
		intmap_reserve(&m, n);
		uint32_t mask = m.mask;
		for (uint32_t i = 0; i < n; i++)
			intmap_set(&m, i, i);
		g_assert_cmpuint(m.mask, ==, mask);
		intmap_reserve(&m, 1);
		g_assert_cmpuint(m.mask, ==, mask);
		intmap_clear(&m);
	}
}

static void test_many(void)
{
	struct intmap m = { 0 };

	for (uint32_t i = 0; i < 300000; i++)
		intmap_set(&m, (uint64_t)i << 12, i);
	for (uint32_t i = 0; i < 300000; i++)
		g_assert_cmpuint(intmap_get(&m, (uint64_t)i << 12), ==, i);
	for (uint32_t i = 0; i < 300000; i += 2)
		g_assert_true(intmap_remove(&m, (uint64_t)i << 12));
	for (uint32_t i = 0; i < 300000; i++)
		g_assert_cmpuint(intmap_get(&m, (uint64_t)i << 12), ==, i % 2 ? i : INTMAP_NONE);
	intmap_clear(&m);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/intmap/empty", test_empty);
	g_test_add_func("/intmap/random", test_random);
	g_test_add_func("/intmap/reserve", test_reserve);
	g_test_add_func("/intmap/many", test_many);
	return g_test_run();
}
