/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbered things in pages, against a plain table. */
#include "base/pages.h"

#include <string.h>

#define MOST 5000

struct thing { uint64_t value; char more[20]; };

static void test_random(void)
{
	struct pages p = { .size = sizeof(struct thing) };
	g_autofree uint64_t *have = g_new0(uint64_t, MOST);
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);

	for (int step = 0; step < 20000; step++) {
		uint32_t id = g_rand_int(rand) % MOST;
		struct thing *t = pages_at(&p, struct thing, id);
		g_assert_true((t != NULL) == (have[id] != 0));
		if (t)
			g_assert_cmpuint(t->value, ==, have[id]);
		if (g_rand_int(rand) % 2) {
			t = pages_put(&p, id);
			g_assert_cmpuint(t->value, ==, have[id]);	/* zeroed when new */
			t->value = have[id] = g_rand_int(rand) | 1u;
		} else {
			pages_drop(&p, id);
			have[id] = 0;
		}
	}
	uint32_t expected = 0;
	PAGES_EACH(&p, id) {
		while (!have[expected])
			expected++;
		g_assert_cmpuint(id, ==, expected++);
	}
	while (expected < MOST)
		g_assert_cmpuint(have[expected++], ==, 0);
	pages_clear(&p);
	g_assert_null(pages_get(&p, 0));
	g_assert_cmpuint(pages_next(&p, 0), ==, PAGES_NONE);
}

/* Numbers go on and on, what is over goes: it takes what is there, and eight bytes for each page of before. */
static void test_bounded(void)
{
	struct pages p = { .size = sizeof(struct thing) };

	for (uint32_t id = 0; id < 1000000; id++) {
		pages_put(&p, id);
		if (id >= 100)
			pages_drop(&p, id - 100);
	}
	g_assert_cmpuint(pages_bytes(&p), <, 4 * PAGE_ENTRIES * sizeof(struct thing) + 2 * 1000000 / PAGE_ENTRIES * 8);
	g_assert_cmpuint(p.n, ==, 1000000);
	pages_clear(&p);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pages/random", test_random);
	g_test_add_func("/pages/bounded", test_bounded);
	return g_test_run();
}
