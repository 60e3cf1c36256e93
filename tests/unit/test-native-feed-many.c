/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that come and go through the feed, as those with buffers of their own do: each costs the same, and what
 * is over leaves nothing behind. */
#include "lib/inspect.h"
#include "lib/made_feed.h"

#include "state/publish/model.h"
#include "state/slice/slice.h"

#include <malloc.h>
#include <time.h>

#define PROCESSES 20000
#define STEP 1000			/* processes between two looks */
#define N_STEPS (PROCESSES / STEP)
#define ALIVE 20			/* at a time */
#define MOST_STREAMS 64			/* entries of the table */
#define GROWTH (512u << 10)		/* bytes, over three quarters of them */

struct process { unsigned trace, stream; };

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Each on a CPU of its own number, from which it is told that it has its own entry. */
static struct process begin(struct live *l, int i)
{
	struct made m = { .uuid = i + 2, .instance = 1, .cpu = (uint32_t)i };
	struct process p = { .trace = made_trace(l, i + 2, "ust", BOOT_1, 0) };

	p.stream = native_feed_add_stream(l->f, p.trace, "s", INT64_MAX);
	uint64_t at = (uint64_t)i * 1000;
	native_feed_packet(l->f, p.stream, made_packet(&m, at + 1, at + 900, 0, 3), NULL);
	return p;
}

static void end(struct live *l, const struct process *p)
{
	native_feed_end_stream(l->f, p->stream);
	native_feed_end_trace(l->f, p->trace);
}

/* Takes what there is; each process's events are of its own stream. */
static void take_all(struct live *l, uint64_t *n_events)
{
	struct blk_batch batch;

	while (source_next(l->s, &batch, NULL) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++) {
			const struct blk_event *e = &batch.ev[i];
			if (e->row)
				continue;
			++*n_events;
			g_assert_cmpuint(blk_stream(&l->s->tables, e->stream)->cpu, ==,
					 e->ts / 1000);
		}
}

static int compare(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t *of, size_t n)
{
	qsort(of, n, sizeof *of, compare);
	return of[n / 2];
}

static void test_many(void)
{
	struct process alive[ALIVE];
	int64_t took[N_STEPS];
	size_t bytes[N_STEPS];
	uint64_t n_events = 0;
	struct live l;

	made_init(&l);
	for (int step = 0; step < N_STEPS; step++) {
		int64_t before = cpu_ns();
		for (int i = step * STEP; i < (step + 1) * STEP; i++) {
			struct process *p = &alive[i % ALIVE];
			if (i >= ALIVE)
				end(&l, p);
			*p = begin(&l, i);
			take_all(&l, &n_events);
		}
		took[step] = cpu_ns() - before;
		bytes[step] = mallinfo2().uordblks;
	}
	for (int i = 0; i < ALIVE; i++)
		end(&l, &alive[i]);
	native_feed_end(l.f);
	take_all(&l, &n_events);
	g_assert_cmpuint(n_events, ==, PROCESSES * 3);
	g_assert_cmpuint(l.s->tables.streams->len, <, MOST_STREAMS);
	g_assert_cmpuint(bytes[N_STEPS - 1], <, bytes[N_STEPS / 4] + GROWTH);
	int64_t first = median(took, N_STEPS / 4), last = median(took + N_STEPS - N_STEPS / 4, N_STEPS / 4);
	g_assert_cmpint(last, <, 3 * first);
	made_clear(&l);
}

/* Traces that can't be read and end, again and again: the first are told apart, all are counted. */
static void test_troubled(void)
{
	static const char wrong[] = "event { id = 2; stream_id = 7;\n name = ; };\n";
	struct live l;

	made_init(&l);
	for (int i = 0; i < PROCESSES; i++) {
		g_autofree char *name = g_strdup_printf("wrong %d", i);
		unsigned t = native_feed_add_trace(l.f, name);
		native_feed_metadata(l.f, t, g_bytes_new_static(wrong, strlen(wrong)));
		native_feed_end_trace(l.f, t);
		made_drain(&l);
	}
	g_assert_cmpuint(made_status(&l).unreadable, ==, PROCESSES);
	g_assert_cmpuint(made_status(&l).readable, ==, 0);
	g_autofree char *first = native_feed_trouble(l.f, 0), *last = native_feed_trouble(l.f, PROCESSES - 1);
	g_assert_nonnull(first);
	g_assert_null(last);
	g_autofree char *all = native_feed_troubles(l.f);
	g_assert_nonnull(strstr(all, "'wrong 0'"));
	g_assert_true(g_str_has_suffix(all, ", and 19999 more"));
	made_clear(&l);
}

/* What comes for a stream that is gone is refused, and nothing waits for it. */
static void test_late_news(void)
{
	struct live l;

	made_init(&l);
	struct process p = begin(&l, 0);
	end(&l, &p);
	for (int i = 0; i < 5; i++)
		made_drain(&l);
	struct made m = { .uuid = 2 };
	native_feed_packet(l.f, p.stream, made_packet(&m, 2000, 3000, 0, 3), NULL);
	native_feed_beacon(l.f, p.stream, 7, 4000);
	native_feed_touch(l.f, p.stream);
	native_feed_end_stream(l.f, p.stream);
	native_feed_end_trace(l.f, p.trace);
	made_drain(&l);
	g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
	g_assert_cmpuint(made_status(&l).refused, ==, 1);
	g_assert_false(native_feed_wants(l.f, p.stream));
	g_assert_null(native_feed_stream_name(l.f, p.stream));
	made_clear(&l);
}

static void feed_slice(struct live *l, struct slice *s)
{
	struct blk_batch batch;

	while (source_next(l->s, &batch, NULL) == SOURCE_OK)
		slice_feed(s, &l->s->tables, batch.ev, batch.n);
}

/* A kernel's stream that lost something, of that boot. Nothing but tallies and losses. */
static void lose(struct live *l, struct slice *s, int uuid, const char *boot)
{
	struct made m = { .uuid = uuid, .discarded = 0 };
	unsigned t = made_trace(l, uuid, "kernel", boot, 0), x = native_feed_add_stream(l->f, t, "s", INT64_MAX);
	uint64_t at = (uint64_t)uuid * 10000;

	native_feed_packet(l->f, x, made_packet(&m, at, at + 1000, 1, 3), NULL);
	m.discarded = 5;
	native_feed_packet(l->f, x, made_packet(&m, at + 1000, at + 2000, 1, 3), NULL);
	feed_slice(l, s);
	native_feed_end_stream(l->f, x);
	native_feed_end_trace(l->f, t);
	for (int i = 0; i < 5; i++)
		feed_slice(l, s);
}

/* The model goes by what the number of a stream means now. */
static void test_number_again(void)
{
	struct slice *s = slice_new(true, INT64_C(1000000000));
	unsigned hosts = 0;
	struct live l;

	made_init(&l);
	lose(&l, s, 1, BOOT_1);
	lose(&l, s, 2, BOOT_2);
	native_feed_end(l.f);
	feed_slice(&l, s);
	g_assert_cmpuint(l.s->tables.streams->len, ==, 1);
	struct publication *p = slice_finish(s);
	for (guint i = 0; i < p->seconds->len; i++) {
		const struct second *second = g_ptr_array_index(p->seconds, i);
		for (uint32_t k = 0; k < second->n_losses; k++) {
			g_assert_cmpuint(second->losses[k].count, ==, 1);
			g_assert_cmpuint(second->losses[k].events, ==, 5);
			hosts |= 1u << second->losses[k].host;
		}
	}
	g_assert_cmpuint(hosts, ==, 3);
	publication_free(p);
	slice_free(s);
	made_clear(&l);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/feed-many/processes", test_many);
	g_test_add_func("/feed-many/troubled", test_troubled);
	g_test_add_func("/feed-many/late-news", test_late_news);
	g_test_add_func("/feed-many/number-again", test_number_again);
	return g_test_run();
}
