/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of spans that have gone go with them, in the timeline and in the model, while what is kept goes on to say
 * what it said.
 */
#include "lib/span_feed.h"

#include "base/limits.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"

#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)
#define BUDGET (4 << 20)
#define MOST_QUEUED 6

struct story {
	struct model *m;
	struct span_feed *f;
	struct timeline *tl;
	GQueue *queue;			/* publications that are not applied yet */
	unsigned late;			/* so many stay there */
};

/* Mostly a text that never comes again; now and then one that does. */
static char *text_of(uint64_t n)
{
	if (n % 7 == 0)
		return g_strdup_printf("again %u", (unsigned)(n / 7 % 1000));
	if (n % 11 == 0)
		return g_strdup("often");
	return g_strdup_printf("what only request %u says, and nobody else", (unsigned)n);
}

static void mark(struct story *y, uint64_t n, int64_t at, const char *event)
{
	span_feed_mark(y->f, &(struct span_mark){ .ts = at, .trace = n, .span = n, .vtid = 7,
						  .event = event, .name = "request" });
}

static void request(struct story *y, uint64_t n)
{
	g_autofree char *text = text_of(n);
	int64_t at = S + (int64_t)n * MS;
	mark(y, n, at, "sr");
	mark(y, n, at + MS / 4, text);
	mark(y, n, at + MS / 2, "ss");
}

static void apply(struct story *y)
{
	while (g_queue_get_length(y->queue) > y->late) {
		timeline_apply(y->tl, g_queue_pop_head(y->queue));
		g_assert_cmpuint(timeline_bytes(y->tl), <=, 2 * BUDGET);
	}
}

static void publish(struct story *y, bool final)
{
	struct publication *p = model_publish(y->m, final);
	if (p)
		g_queue_push_tail(y->queue, p);
	apply(y);
}

static void assert_texts(const struct story *y)
{
	for (size_t i = 0; i < timeline_n_spans(y->tl); i++) {
		const struct span *s = timeline_span(y->tl, i);
		g_autofree char *text = text_of(s->trace_id);
		g_assert_cmpstr(s->name, ==, "request");
		g_assert_cmpstr(s->service, ==, "svc");
		for (uint32_t k = 0; k < s->n_annotations; k++)
			g_assert_cmpstr(s->annotations[k].event, ==,
					k == 0 ? "sr" : k == 1 ? text : "ss");
	}
}

static void begin(struct story *y, const struct model_options *options, unsigned late)
{
	*y = (struct story){ .m = model_new(options), .tl = timeline_new(BUDGET), .late = late,
			     .queue = g_queue_new() };
	y->f = span_feed_new(y->m);
}

static void finish(struct story *y)
{
	g_queue_free(y->queue);
	span_feed_free(y->f);
	model_free(y->m);
	timeline_free(y->tl);
}

static void end(struct story *y)
{
	publish(y, true);
	y->late = 0;
	apply(y);
	assert_texts(y);
	finish(y);
}

/* A minute of requests that each say something of their own: what is held does not grow. */
static void run(const struct model_options *options, unsigned late)
{
	enum { N = 80000, EACH = 100 };
	size_t most[2] = { 0 };		/* in the first and in the second half */
	struct story y;

	begin(&y, options, late);
	for (uint64_t n = 1; n <= N; n++) {
		request(&y, n);
		if (n % EACH)
			continue;
		publish(&y, false);
		size_t *to = &most[n > N / 2];
		*to = MAX(*to, model_bytes(y.m) + timeline_bytes(y.tl));
		if (n % (N / 50) == 0)
			assert_texts(&y);
	}
	g_assert_cmpuint(most[1], <, most[0] + most[0] / 4);
	g_assert_cmpuint(most[1], <, 4 * BUDGET);
	end(&y);
}

static const struct model_options live = { .live = true, .memory_budget = 1 << 20 };
static const struct model_options recorded = { .memory_budget = 1 << 20 };

static void test_level(void)
{
	run(&live, 0);
	run(&recorded, 0);
}

/* What is under way says what nobody else knows any more. */
static void test_late(void)
{
	run(&live, MOST_QUEUED);
	run(&recorded, MOST_QUEUED / 2);
}

/* What waits to be published is bounded in bytes, also where each annotation says as much as it can. */
static void test_long(void)
{
	struct story y;
	char text[LIMIT_TEXT_BYTES + 1];
	size_t most = 0;

	begin(&y, &live, 0);
	for (uint64_t n = 1; n <= 20000; n++) {
		int64_t at = S + (int64_t)n * MS / 20;
		memset(text, 'x', sizeof text - 1);
		g_snprintf(text + sizeof text - 9, 9, "%08u", (unsigned)n);
		mark(&y, n, at, "sr");
		mark(&y, n, at + 1, text);
		mark(&y, n, at + 2, "ss");
		if (n % 100)
			continue;
		publish(&y, false);
		most = MAX(most, model_bytes(y.m));
	}
	g_assert_cmpuint(most, >, BUDGET / 4);
	g_assert_cmpuint(most, <, 4 * BUDGET);
	publish(&y, true);
	uint64_t traces, spans;
	timeline_evicted(y.tl, &traces, &spans);
	g_assert_cmpuint(timeline_n_spans(y.tl) + spans, ==, 20000);
	g_assert_cmpuint(timeline_facts(y.tl)->completeness.late, ==, 0);
	finish(&y);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/strings/level", test_level);
	g_test_add_func("/strings/late", test_late);
	g_test_add_func("/strings/long", test_long);
	return g_test_run();
}
