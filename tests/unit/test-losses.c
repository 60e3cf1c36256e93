/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses: what is found by search is what is found by looking at every one; and a live session that
 * loses events all day holds no more in the evening than in the morning, and tells the same.
 */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/report.h"
#include "state/kernel/losses.h"
#include "state/publish/model.h"
#include "trace/reader.h"

#include <string.h>

#define STEP INT64_C(1000000000)
#define MS INT64_C(1000000)

/* --- against every one --- */

#define HOSTS 3
#define SPAN 400		/* instants */

static GArray *all;		/* struct loss, each once */

static void add(struct losses *l, const struct loss *x)
{
	bool there = false;

	losses_add(l, x);
	for (guint i = 0; i < all->len && !there; i++)
		there = !memcmp(&g_array_index(all, struct loss, i), x, sizeof *x);
	if (!there)
		g_array_append_val(all, *x);
}

static uint64_t touching(int64_t begin, int64_t end)
{
	uint64_t n = 0;

	for (guint i = 0; i < all->len; i++) {
		const struct loss *x = &g_array_index(all, struct loss, i);

		n += !x->silence && x->begin < end && x->end >= begin;
	}
	return n;
}

static bool find(uint32_t host, bool kernel, int64_t from, int64_t to, int64_t *ret_begin)
{
	bool found = false;

	for (guint i = 0; i < all->len; i++) {
		const struct loss *x = &g_array_index(all, struct loss, i);

		if (x->host != host || x->kernel != kernel || x->end <= from || x->begin >= to)
			continue;
		*ret_begin = found ? MIN(*ret_begin, MAX(x->begin, from)) : MAX(x->begin, from);
		found = true;
	}
	return found;
}

static struct loss random_loss(GRand *rand, int64_t at)
{
	struct loss x;

	memset(&x, 0, sizeof x);	/* compared by bytes */
	x.begin = MAX(at - g_rand_int_range(rand, 0, 3) * g_rand_int_range(rand, 0, 40), 0);
	x.end = x.begin + (g_rand_boolean(rand) ? 0 : g_rand_int_range(rand, 0, 30));
	x.host = (uint32_t)g_rand_int_range(rand, 0, HOSTS);
	x.stream_cpu = (uint32_t)g_rand_int_range(rand, 0, 3);
	x.kernel = g_rand_boolean(rand);
	x.silence = g_rand_int_range(rand, 0, 5) == 0;
	return x;
}

static void check(const struct losses *l, GRand *rand)
{
	g_assert_cmpuint(losses_touching(l, INT64_MIN, INT64_MAX), ==, touching(INT64_MIN, INT64_MAX));
	for (int i = 0; i < 500; i++) {
		int64_t from = g_rand_int_range(rand, -2, SPAN), to = from + g_rand_int_range(rand, 0, 60);
		int64_t a = 0, b = 0;
		uint32_t host = (uint32_t)g_rand_int_range(rand, 0, HOSTS + 1);
		bool kernel = g_rand_boolean(rand);

		g_assert_cmpuint(losses_touching(l, from, to + 1), ==, touching(from, to + 1));
		g_assert_cmpint(losses_find(l, host, kernel, from, to, &a), ==, find(host, kernel, from, to, &b));
		g_assert_cmpint(a, ==, b);
	}
}

static void test_every(void)
{
	GRand *rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int round = 0; round < 40; round++) {
		struct losses l, right;
		const uint32_t same[HOSTS] = { 0, 1, 2 };
		int n = g_rand_int_range(rand, 1, 150);

		all = g_array_new(false, false, sizeof(struct loss));
		losses_init(&l);
		losses_init(&right);
		for (int i = 0; i < n; i++) {
			struct loss x = random_loss(rand, (int64_t)i * (SPAN - 40) / n);

			add(i < n / 2 ? &l : &right, &x);
			if (g_rand_boolean(rand))
				add(i < n / 2 ? &l : &right, &x);
		}
		losses_join(&l, &right, same);
		check(&l, rand);
		losses_clear(&l);
		losses_clear(&right);
		g_array_unref(all);
	}
	g_rand_free(rand);
}

/* What is forgotten is summed; what is asked about it is answered carefully. */
static void test_forget(void)
{
	struct losses l;
	const int n = 5 * LOSSES_RETAINED;
	int64_t begin;

	losses_init(&l);
	for (int64_t i = 0; i < n; i++)
		losses_add(&l, &(struct loss){ .begin = i * 10, .end = i * 10 + 3, .kernel = true });
	size_t before = losses_bytes(&l);
	losses_forget(&l, n * 10 - 1000);
	g_assert_cmpuint(losses_bytes(&l), <, before / 3);
	g_assert_cmpuint(losses_touching(&l, INT64_MIN, INT64_MAX), ==, (uint64_t)n);
	g_assert_cmpuint(losses_touching(&l, n * 10 - 1000, n * 10 - 900), ==, 10);
	g_assert_true(losses_find(&l, 0, true, (n - 500) * 10 + 5, n * 10, &begin));
	g_assert_cmpint(begin, ==, (n - 499) * 10);	/* older than the instant, and known still */
	g_assert_false(losses_find(&l, 0, true, (n - 500) * 10 + 5, (n - 499) * 10, &begin));
	g_assert_true(losses_find(&l, 0, true, 7, n * 10, &begin));
	g_assert_cmpint(begin, ==, 7);
	g_assert_false(losses_find(&l, 0, false, 0, n * 10, &begin));
	g_assert_false(losses_find(&l, 7, true, 0, n * 10, &begin));
	g_assert_cmpint(l.latest, ==, (n - 1) * 10 + 3);
	losses_clear(&l);
}

/* --- a live session --- */

/* A second of two CPUs: each 10 ms a loss on one of them, then a switch that tells who ran. */
static blk_source *a_second(void)
{
	GString *script = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);

	for (int i = 0; i < 100; i++) {
		int64_t at = (10 * (int64_t)i + 1) * MS;
		int cpu = i % 2, tid = 10 * (cpu + 1) + i / 2 % 2;

		g_string_append_printf(script, "%" G_GINT64_FORMAT " %d !lost events=3 end=%" G_GINT64_FORMAT "\n"
			"%" G_GINT64_FORMAT " %d sched_switch prev_tid=%d prev_state=1 next_tid=%d prev_comm=\"t\" "
			"next_comm=\"t\"\n", at, cpu, at + 2 * MS, at + 4 * MS, cpu, tid, tid ^ 1);
	}
	blk_source *s = source_open_script(script->str, subs, n, &error);
	g_assert_no_error(error);
	g_string_free(script, true);
	return s;
}

/* Its records, later by `by`. */
static void feed_later(struct model *m, const struct source *s, const GArray *events, int64_t by)
{
	for (guint i = 0; i < events->len; i++) {
		struct blk_event e = g_array_index(events, struct blk_event, i);
		struct blk_loss loss;

		e.ts += by;
		if (e.row == BLK_ROW_LOST_BEGIN || e.row == BLK_ROW_LOST_END) {
			memcpy(&loss, e.data, sizeof loss);
			loss.begin_ns += by;
			loss.end_ns += by;
			e.data = (const uint8_t *)&loss;
		}
		if (e.row != BLK_ROW_STREAM_END && e.row != BLK_ROW_HORIZON && (e.row != BLK_ROW_STREAM_ADD || !by))
			model_feed(m, &s->tables, &e, 1);
	}
}

static void check_second(const struct second *s, const struct completeness *completeness, int64_t n)
{
	int64_t unknown = 0;

	g_assert_cmpuint(s->completeness.touched, ==, 100);
	g_assert_cmpuint(s->completeness.lost_events, ==, 300);
	g_assert_cmpuint(s->n_losses, ==, 2);
	g_assert_cmpuint(s->losses[0].count, ==, 50);
	g_assert_cmpuint(completeness->touched, ==, 100 * (n + 2));
	g_assert_cmpuint(completeness->lost_events, ==, 300 * (n + 2));
	g_assert_cmpuint(s->n_cpus, ==, 2);
	for (int i = 0; i < 2; i++)
		unknown += s->cpus[i].unknown_ns;
	if (n)
		g_assert_cmpint(unknown, ==, 2 * 50 * 2 * MS);
}

static void test_day(void)
{
	const char *asked = g_getenv("LOSSES_SECONDS");
	const int64_t seconds = asked ? g_ascii_strtoll(asked, NULL, 10) : 2 * 3600;
	const struct model_options options = { .live = true, .memory_budget = 16 << 20 };
	struct model *m = model_new(&options);
	blk_source *s = a_second();
	g_autoptr(GArray) events = g_array_new(false, false, sizeof(struct blk_event));
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;
	size_t early[2] = { 0 }, most[2] = { 0 };
	int64_t checked = 0;

	while (source_next(s, &batch, &error) == SOURCE_OK)
		g_array_append_vals(events, batch.ev, batch.n);
	for (int64_t n = 0; n < seconds; n++) {
		feed_later(m, s, events, n * STEP);
		struct publication *p = model_publish(m, false);
		for (guint i = 0; p && i < p->seconds->len; i++)
			if (i + 1 == p->seconds->len)
				check_second(g_ptr_array_index(p->seconds, i), &p->completeness, checked++);
		publication_free(p);
		most[0] = MAX(most[0], model_bytes(m));
		most[1] = MAX(most[1], model_n_threads(m));
		if (n == 900)
			memcpy(early, most, sizeof early);
	}
	g_test_message("losses: %zu bytes after 15 minutes, %zu at most; threads: %zu, %zu", early[0], most[0],
		       early[1], most[1]);
	g_assert_cmpint(checked, >=, seconds - 2);
	g_assert_cmpuint(most[0], <=, early[0] + early[0] / 8);
	g_assert_cmpuint(most[0], <, 4 << 20);
	g_assert_cmpuint(most[1], <=, early[1] + early[1] / 4);
	model_free(m);
	source_free(s);
}

/* Threads that wait while others' events are lost: with and without forgetting it is one account. */
static char *account(const char *script, bool live)
{
	const struct model_options options = { .live = live, .memory_budget = live ? 1 << 20 : 0 };
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(script, subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&options);
	struct timeline *tl = timeline_new(0);
	struct blk_batch batch;

	while (source_next(s, &batch, &error) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++) {
			model_feed(m, &s->tables, &batch.ev[i], 1);
			struct publication *p = model_publish(m, false);
			if (p)
				timeline_apply(tl, p);
		}
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	source_free(s);
	char *text = report_of_timeline(tl);
	timeline_free(tl);
	return text;
}

static void test_same(void)
{
	GString *script = g_string_new(NULL);
	int running[2] = { 100, 200 };

	for (int i = 0; i < 14; i++)
		g_string_append_printf(script, "%d 0 lttng_statedump_process_state tid=%d pid=5 ppid=1 name=\"t\" "
				       "type=0\n", i + 1, 100 * (1 + i / 7) + i % 7);
	for (int64_t n = 0; n < 400 * 50; n++) {
		int64_t at = 10000 + n * 20 * MS;
		int cpu = n % 2, next = 100 * (1 + cpu) + (running[cpu] + 1) % 100 % 7;

		g_string_append_printf(script, "%" G_GINT64_FORMAT " %d sched_switch prev_tid=%d prev_state=%d "
			"next_tid=%d prev_comm=\"t\" next_comm=\"t\"\n", at, cpu, running[cpu], (int)(n % 3), next);
		running[cpu] = next;
		if (n > 50 && n < 399 * 50 && n % 2 == 0)
			g_string_append_printf(script, "%" G_GINT64_FORMAT " %d !lost events=%u end=%"
				G_GINT64_FORMAT "\n", at + 5 * MS, cpu, (unsigned)(n % 5), at + (7 + n % 3) * MS);
	}
	g_autofree char *want = account(script->str, false), *got = account(script->str, true);
	report_assert_equal("live", want, got);
	g_string_free(script, true);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/losses/every", test_every);
	g_test_add_func("/losses/forget", test_forget);
	g_test_add_func("/losses/same", test_same);
	g_test_add_func("/losses/day", test_day);
	return g_test_run();
}
