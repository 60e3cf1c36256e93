/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: what is added stays, sorting is stable, whatever their length. */
#include "base/slab.h"
#include "base/vec.h"

#include <string.h>

struct pair { uint32_t key, place; };

static int by_key(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pair *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

static void test_add(void)
{
	struct vec v = { 0 };
	uint32_t more[] = { 100, 101, 102 };

	for (uint32_t i = 0; i < 100; i++)
		*vec_add(&v, uint32_t) = i;
	vec_append(&v, more, G_N_ELEMENTS(more), sizeof more[0]);
	vec_append(&v, NULL, 0, sizeof more[0]);
	g_assert_cmpuint(v.len, ==, 103);
	for (uint32_t i = 0; i < v.len; i++)
		g_assert_cmpuint(*vec_at(&v, uint32_t, i), ==, i);
	vec_drop(&v, 40, sizeof(uint32_t));
	vec_drop(&v, 0, sizeof(uint32_t));
	g_assert_cmpuint(v.len, ==, 63);
	g_assert_cmpuint(*vec_at(&v, uint32_t, 0), ==, 40);
	g_assert_cmpuint(*vec_at(&v, uint32_t, 62), ==, 102);
	vec_drop(&v, v.len, sizeof(uint32_t));
	g_assert_cmpuint(v.len, ==, 0);
	vec_free(&v);
	g_assert_null(v.data);
	vec_free(&v);
}

static void test_grow(void)
{
	struct vec v = { 0 };

	vec_grow(&v, 1000, sizeof(uint64_t));
	g_assert_cmpuint(v.len, ==, 0);
	g_assert_cmpuint(v.room, >=, 1000);
	void *data = v.data;
	for (uint64_t i = 0; i < 1000; i++)
		*vec_add(&v, uint64_t) = i;
	g_assert_true(v.data == data);
	vec_free(&v);
}

static void test_sort(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (uint32_t n = 0; n < 80; n++) {
		struct vec v = { 0 };
		for (uint32_t i = 0; i < n; i++)
			*vec_add(&v, struct pair) =
				(struct pair){ (uint32_t)g_rand_int_range(rand, 0, 10), i };
		vec_sort(&v, sizeof(struct pair), by_key, NULL);
		for (uint32_t i = 1; i < n; i++) {
			const struct pair *a = vec_at(&v, struct pair, i - 1), *b = a + 1;
			g_assert_true(a->key < b->key || (a->key == b->key && a->place < b->place));
		}
		vec_free(&v);
	}
}

/* What is given is nobody else's until it is given back, and what was another's stays what it is. */
static void test_slab(void)
{
	struct slab a = { 0 }, b = { 0 };
	uint64_t *of[300];

	for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
		of[i] = slab_get(i < 200 ? &a : &b, 3 * sizeof(uint64_t));
		of[i][0] = of[i][1] = of[i][2] = i;
		if (i % 3 == 0)
			slab_put(i < 200 ? &a : &b, g_steal_pointer(&of[i]));
	}
	slab_put(&a, NULL);
	slab_take(&a, &b);
	g_assert_null(b.chunks);
	slab_clear(&b);
	for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
		if (!of[i])
			of[i] = slab_get(&a, 3 * sizeof(uint64_t));
		of[i][0] = of[i][1] = of[i][2] = i;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(of); i++)
		for (size_t k = 0; k < 3; k++)
			g_assert_cmpuint(of[i][k], ==, i);
	slab_clear(&a);
	slab_take(&a, &b);		/* nothing */
	g_assert_null(a.chunks);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vec/add", test_add);
	g_test_add_func("/vec/grow", test_grow);
	g_test_add_func("/vec/sort", test_sort);
	g_test_add_func("/vec/slab", test_slab);
	return g_test_run();
}
