/* SPDX-License-Identifier: GPL-2.0-only */
/* Which seconds are read again, and when. */
#include "run/stale.h"

#define S INT64_C(1000000000)
#define US INT64_C(1000000)		/* a second, of the clock of noting */

/* Events of [from, to) that were told at `at`, all in seconds. */
static void note(struct stale *s, double from, double to, double at, double now)
{
	struct source_late late = {
		.n = 1, .from_ns = (int64_t)(from * S), .to_ns = (int64_t)(to * S),
		.at_from_ns = (int64_t)(at * S), .at_to_ns = (int64_t)(at * S),
	};
	stale_note(s, &late, (int64_t)(now * US));
}

static bool takes(struct stale *s, double closed, bool hurry, double now, int64_t from, int64_t to)
{
	struct decoded_range w;

	if (!stale_take(s, (int64_t)(closed * S), hurry, (int64_t)(now * US), &w))
		return false;
	g_assert_cmpint(w.from_ns, ==, from * S);
	g_assert_cmpint(w.to_ns, ==, to * S);
	g_assert_cmpint(w.step_ns, ==, S);
	g_assert_true(w.exact);
	return true;
}

/* Those of the events, those in which they were told, and those between. */
static void test_range(void)
{
	struct stale *s = stale_new(S);

	g_assert_true(stale_is_empty(s));
	note(s, 3.2, 4.1, 7.5, 0);
	g_assert_false(takes(s, 20, false, 0.9, 0, 0));		/* more may come */
	g_assert_true(takes(s, 20, false, 1, 3, 8));
	g_assert_true(stale_is_empty(s));
	g_assert_false(takes(s, 20, true, 1, 0, 0));
	stale_free(s);
	stale_free(NULL);
}

/* Only what is closed, and of what is still noted only after a while. */
static void test_due(void)
{
	struct stale *s = stale_new(S);

	note(s, 3, 3.5, 5, 0);
	g_assert_false(takes(s, 3.9, true, 0, 0, 0));
	g_assert_true(takes(s, 5.9, true, 0, 3, 5));
	for (int i = 1; i < 20; i++)
		note(s, 5.5, 5.6, 5.7, i / 2.0);		/* again and again */
	g_assert_false(takes(s, 9, false, 9.9, 0, 0));
	g_assert_true(takes(s, 9, false, 10, 5, 6));
	g_assert_true(stale_is_empty(s));
	stale_free(s);
}

/* What is apart comes apart, the oldest first; of very much the newest, some at a time. */
static void test_apart(void)
{
	struct stale *s = stale_new(S);
	int64_t at = 9401;

	note(s, 20, 20.5, 20.9, 0);
	note(s, 10, 10.5, 11, 0);
	g_assert_true(takes(s, 99, true, 0, 10, 12));
	g_assert_true(takes(s, 99, true, 0, 20, 21));
	g_assert_true(stale_is_empty(s));
	note(s, 0, 1, 10000, 0);
	g_assert_true(takes(s, 20000, true, 0, 0, 2));
	while (!stale_is_empty(s)) {
		g_assert_true(takes(s, 20000, true, 0, at, at + 30));
		at += 30;
	}
	g_assert_cmpint(at, ==, 10001);
	stale_free(s);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stale/range", test_range);
	g_test_add_func("/stale/due", test_due);
	g_test_add_func("/stale/apart", test_apart);
	return g_test_run();
}
