/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run without end remembers the newest ids of traces that are over, and what comes for one of them
 * is late: it is no trace once more.
 */
#include "lib/span_feed.h"

#define EVERY_NS INT64_C(100000)	/* a trace */
#define STEP_NS INT64_C(500000000)
#define FORGOTTEN UINT64_C(250000)	/* so many are remembered at least */

struct run {
	struct model *m;
	struct span_feed *f;
	int64_t now;
	uint64_t n;			/* traces so far: ids 1, 2, ... */
	uint64_t spans, late;		/* published; late in all */
};

static void mark(struct run *r, uint64_t trace, const char *event, int64_t ts)
{
	span_feed_mark(r->f, &(struct span_mark){ .ts = ts, .trace = trace, .span = trace, .event = event, .vtid = 1 });
}

static void publish(struct run *r)
{
	struct publication *p = model_publish(r->m, false);

	if (!p)
		return;
	r->spans += p->spans->len;
	r->late = p->completeness.late;
	publication_free(p);
}

/* So many more traces, each over at once. */
static void pass(struct run *r, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++, r->now += EVERY_NS) {
		r->n++;
		mark(r, r->n, "start", r->now);
		mark(r, r->n, "end", r->now + EVERY_NS / 2);
		if (r->now / STEP_NS != (r->now + EVERY_NS) / STEP_NS)
			publish(r);
	}
}

static void run_init(struct run *r)
{
	*r = (struct run){
		.m = model_new(&(struct model_options){ .live = true, .provisional = true, .memory_budget = 16 << 20 }),
		.now = 1000 * STEP_NS,
	};
	r->f = span_feed_new(r->m);
}

static void run_clear(struct run *r)
{
	span_feed_free(r->f);
	model_free(r->m);
}

/* Of a trace that is over: at that instant, and what it came to. */
static void check_late(struct run *r, uint64_t trace, int64_t ts)
{
	uint64_t late = r->late;

	mark(r, trace, "later", ts);
	pass(r, (uint64_t)(3 * STEP_NS / EVERY_NS));
	g_test_message("trace %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, trace, r->n);
	g_assert_cmpuint(r->late, ==, late + 1);
}

/* However many there were: the newest are known, and nothing is published twice. */
static void test_newest(void)
{
	struct run r;

	run_init(&r);
	while (r.n < 2 * FORGOTTEN + FORGOTTEN / 2) {
		pass(&r, 30000);
		check_late(&r, r.n - 40000 + 15000 + 1, r.now);	/* over for more than a second */
		if (r.n > FORGOTTEN)
			check_late(&r, r.n - FORGOTTEN + 40000, r.now);
	}
	pass(&r, 60000);
	publish(&r);
	g_assert_cmpuint(r.spans, <=, r.n);
	g_assert_cmpuint(r.spans, >, r.n - 40000);
	run_clear(&r);
}

/* Which of the oldest there were is not known any more, but that such an instant was before them. */
static void test_oldest(void)
{
	struct run r;

	run_init(&r);
	pass(&r, 10);
	int64_t begin = r.now;
	pass(&r, 4 * FORGOTTEN);
	check_late(&r, 3, begin);
	run_clear(&r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/forgotten/newest", test_newest);
	g_test_add_func("/forgotten/oldest", test_oldest);
	return g_test_run();
}
