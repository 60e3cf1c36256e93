/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans as they should not be: late, twice, without a begin, an end, a parent, in circles,
 * ten thousand below one, a million in one trace. None is lost silently, and nothing hangs.
 */
#include "lib/span_feed.h"
#include "lib/traces.h"

#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "state/store/span_tree.h"
#include "views/waterfall.h"

#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MILLION 100000			/* each costs several times as much */
#else
#define MILLION 1000000
#endif

struct run {
	struct model *m;
	struct span_feed *f;
	struct timeline *tl;
};

static struct run begin(const struct model_options *options)
{
	struct run r = { .m = model_new(options), .tl = timeline_new(0) };
	r.f = span_feed_new(r.m);
	return r;
}

static void publish(struct run *r, bool final)
{
	struct publication *p = model_publish(r->m, final);
	if (p)
		timeline_apply(r->tl, p);
}

static void end(struct run *r)
{
	span_feed_free(r->f);
	model_free(r->m);
	timeline_free(r->tl);
}

static void mark(struct run *r, int64_t ts, uint64_t span, uint64_t parent, const char *event)
{
	span_feed_mark(r->f, &(struct span_mark){
		.ts = ts, .trace = 1, .span = span, .parent = parent, .event = event, .vtid = 7 });
}

static const struct span *find(const struct timeline *tl, uint64_t id)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		if (timeline_span(tl, i)->span_id == id)
			return timeline_span(tl, i);
	return NULL;
}

static void assert_span(const struct timeline *tl, uint64_t id, enum span_state state, int64_t begin_ns,
			int64_t end_ns)
{
	const struct span *s = find(tl, id);
	g_assert_nonnull(s);
	g_assert_cmpint(s->state, ==, state);
	g_assert_cmpint(s->begin_ns, ==, begin_ns);
	g_assert_cmpint(s->end_ns, ==, end_ns);
	int64_t sum = 0;
	for (unsigned p = 0; p < PART_N; p++)
		sum += s->part[p];
	g_assert_cmpint(sum, ==, end_ns - begin_ns);
	g_assert_cmpint(s->self_ns, >=, 0);
	g_assert_cmpint(s->self_ns, <=, end_ns - begin_ns);
}

static void test_missing(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	mark(&r, 10, 1, 0, "start");
	mark(&r, 20, 2, 1, "start");		/* no end: the root's tells that it's over */
	mark(&r, 30, 3, 1, "end");		/* no begin */
	mark(&r, 40, 4, 99, "start");		/* no parent */
	mark(&r, 50, 4, 99, "end");
	mark(&r, 60, 5, 1, "what?");		/* neither */
	mark(&r, 62, 7, 1, "end");		/* ends before it begins */
	mark(&r, 64, 7, 1, "start");
	mark(&r, 70, 1, 0, "end");
	mark(&r, 3 * S, 6, 6, "start");		/* its own parent */
	mark(&r, 3 * S + 5, 6, 6, "end");
	publish(&r, true);
	assert_span(r.tl, 7, SPAN_PARTIAL, 64, 64);
	assert_span(r.tl, 1, SPAN_COMPLETE, 10, 70);
	g_assert_cmpint(find(r.tl, 2)->state, ==, SPAN_PARTIAL);
	g_assert_cmpint(find(r.tl, 2)->begin_ns, ==, 20);
	assert_span(r.tl, 3, SPAN_PARTIAL, 30, 30);
	assert_span(r.tl, 4, SPAN_COMPLETE, 40, 50);
	assert_span(r.tl, 5, SPAN_PARTIAL, 60, 60);
	assert_span(r.tl, 6, SPAN_COMPLETE, 3 * S, 3 * S + 5);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 7);
	g_autoptr(blk_tree) t = timeline_tree_new(r.tl, 1);
	g_assert_cmpint(t->n, ==, 7);
	g_assert_true(t->nodes[tree_find(t, 4, -1)].orphan);
	g_assert_cmpint(t->nodes[tree_find(t, 4, -1)].parent, ==, -1);
	g_assert_cmpint(tree_find(t, 1, -1), ==, t->root);
	end(&r);
}

/* The same, told twice, and from its end on: the sums are those of one. */
static void test_order(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	mark(&r, 70, 1, 0, "end");
	mark(&r, 50, 2, 1, "end");
	mark(&r, 50, 2, 1, "end");
	mark(&r, 20, 2, 1, "start");
	mark(&r, 10, 1, 0, "start");
	mark(&r, 10, 1, 0, "start");
	publish(&r, true);
	assert_span(r.tl, 1, SPAN_COMPLETE, 10, 70);
	assert_span(r.tl, 2, SPAN_COMPLETE, 20, 50);
	g_assert_cmpint(find(r.tl, 1)->self_ns, ==, 30);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 2);
	end(&r);
}

/* What comes for a trace that is over and forgotten is counted. */
static void test_late(void)
{
	struct run r = begin(&(struct model_options){ .live = true });
	mark(&r, S, 1, 0, "start");
	mark(&r, S + 5, 1, 0, "end");
	for (int i = 2; i < 9; i++) {
		span_feed_mark(r.f, &(struct span_mark){ .ts = i * S, .trace = 2, .span = 2, .event = "x" });
		publish(&r, false);
	}
	g_assert_cmpuint(timeline_facts(r.tl)->completeness.late, ==, 0);
	mark(&r, 9 * S, 3, 1, "start");
	mark(&r, 9 * S + 1, 3, 1, "end");
	publish(&r, true);
	g_assert_cmpuint(timeline_facts(r.tl)->completeness.late, ==, 2);
	g_assert_null(find(r.tl, 3));
	assert_span(r.tl, 1, SPAN_COMPLETE, S, S + 5);
	end(&r);
}

static unsigned n_missing(const struct run *r)
{
	const GArray *missing = timeline_missing_spans(r->tl, 1);
	return missing ? missing->len : 0;
}

/* What is missing in a trace comes later, in any order: then nothing is missing any more. */
static void test_late_parent(void)
{
	struct run r = begin(&(struct model_options){ .live = true });
	mark(&r, 10 * MS, 3, 2, "start");
	mark(&r, 20 * MS, 3, 2, "end");
	mark(&r, 21 * MS, 4, 2, "start");
	mark(&r, 22 * MS, 4, 2, "end");
	mark(&r, 23 * MS, 5, 9, "start");
	mark(&r, 24 * MS, 5, 9, "end");
	publish(&r, false);
	g_assert_cmpuint(n_missing(&r), ==, 2);
	g_assert_true(timeline_parent_is_missing(r.tl, find(r.tl, 3)));
	g_assert_false(timeline_find_trace(r.tl, 1)->has_root);
	mark(&r, S, 2, 1, "start");
	mark(&r, S + 40 * MS, 2, 1, "end");
	publish(&r, false);
	g_assert_cmpuint(n_missing(&r), ==, 2);		/* 1 and 9 */
	g_assert_false(timeline_parent_is_missing(r.tl, find(r.tl, 3)));
	g_assert_true(timeline_parent_is_missing(r.tl, find(r.tl, 2)));
	mark(&r, S + 50 * MS, 1, 0, "start");
	mark(&r, S + 60 * MS, 1, 0, "end");
	mark(&r, S + 70 * MS, 9, 1, "start");
	mark(&r, S + 80 * MS, 9, 1, "end");
	publish(&r, true);
	g_assert_cmpuint(n_missing(&r), ==, 0);
	g_assert_false(timeline_parent_is_missing(r.tl, find(r.tl, 2)));
	g_assert_true(timeline_find_trace(r.tl, 1)->has_root);
	end(&r);
}

/* Only the server's half of a call is there, and its caller is not. */
static void test_half_parent(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	mark(&r, 10, 2, 1, "sr");
	mark(&r, 20, 3, 2, "start");
	mark(&r, 30, 3, 2, "end");
	mark(&r, 40, 2, 1, "ss");
	publish(&r, true);
	g_assert_cmpuint(n_missing(&r), ==, 1);
	g_assert_true(timeline_parent_is_missing(r.tl, find(r.tl, 2)));
	g_assert_false(timeline_parent_is_missing(r.tl, find(r.tl, 3)));
	end(&r);
}

/* A trace nobody ends is given up after a minute: its spans do not stay open for ever. */
static void test_given_up(void)
{
	struct run r = begin(&(struct model_options){ .live = true });
	mark(&r, S, 1, 0, "start");
	mark(&r, S + 5, 2, 1, "start");
	for (int i = 2; i < 70; i++) {
		span_feed_mark(r.f, &(struct span_mark){ .ts = i * S, .trace = 2, .span = 2, .event = "x" });
		publish(&r, false);
		g_assert_cmpint(find(r.tl, 1)->state, ==, i < 62 ? SPAN_OPEN : SPAN_PARTIAL);
	}
	end(&r);
}

static void check_tree(struct timeline *tl, int n)
{
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_assert_cmpint(t->n, ==, n);
	g_assert_cmpint(t->root, >=, 0);
	for (int i = 0; i < t->n; i++)
		g_assert_cmpint(t->nodes[i].parent, <, i);
	g_assert_cmpint(tree_end(t, t->root), <=, n);
}

static void test_cycles(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	for (uint64_t i = 1; i <= 1000; i++) {		/* ten circles of a hundred */
		mark(&r, (int64_t)i, i, i % 100 ? i + 1 : i - 99, "start");
		mark(&r, (int64_t)i + 2000, i, i % 100 ? i + 1 : i - 99, "end");
	}
	publish(&r, true);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 1000);
	check_tree(r.tl, 1000);
	for (uint64_t i = 1; i <= 1000; i++)		/* none is known to be below another */
		g_assert_cmpint(find(r.tl, i)->self_ns, ==, 2000);
	end(&r);
}

/* Of two that name each other, one has a child of its own. */
static void test_child_of_cycle(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	for (uint64_t i = 1; i <= 2; i++) {
		mark(&r, 10 * (int64_t)i, i, 3 - i, "start");
		mark(&r, 100, i, 3 - i, "end");
	}
	mark(&r, 30, 3, 2, "start");
	mark(&r, 40, 3, 2, "end");
	publish(&r, true);
	g_assert_cmpint(find(r.tl, 1)->self_ns, ==, 90);
	g_assert_cmpint(find(r.tl, 2)->self_ns, ==, 70);
	g_assert_cmpint(find(r.tl, 3)->self_ns, ==, 10);
	g_autoptr(blk_tree) t = timeline_tree_new(r.tl, 1);
	g_assert_cmpint(t->nodes[tree_find(t, 1, -1)].parent, ==, -1);
	g_assert_cmpint(t->nodes[tree_find(t, 2, -1)].parent, ==, -1);
	g_assert_cmpint(t->nodes[tree_find(t, 3, -1)].parent, ==, tree_find(t, 2, -1));
	end(&r);
}

/* Of the span 5 what a service tells. */
static void tell(struct run *r, int64_t ts, const char *service, const char *event)
{
	span_feed_mark(r->f, &(struct span_mark){ .ts = ts, .trace = 1, .span = 5, .event = event,
		.parent = 1, .service = service, .vtid = *service, .host = *service & 1 });
}

static const struct span *half_of(const struct timeline *tl, const char *service, enum span_kind kind)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->kind == kind && strcmp(s->service, service) == 0)
			return s;
	}
	return NULL;
}

static void assert_half(const struct timeline *tl, const char *service, enum span_kind kind, int64_t begin_ns,
			int64_t end_ns, unsigned n_annotations, int64_t self_ns)
{
	const struct span *s = half_of(tl, service, kind);
	g_assert_nonnull(s);
	g_assert_cmpint(s->state, ==, SPAN_COMPLETE);
	g_assert_cmpint(s->begin_ns, ==, begin_ns);
	g_assert_cmpint(s->end_ns, ==, end_ns);
	g_assert_cmpuint(s->n_annotations, ==, n_annotations);
	g_assert_cmpint(s->self_ns, ==, self_ns);
	g_assert_cmpuint(s->parent_id, ==, 1);
}

/* One id for two spans that have nothing in common: two are there. Told in steps, too. */
static void test_same_id(gconstpointer in_steps)
{
	struct run r = begin(&(struct model_options){ 0 });
	tell(&r, 10, "b", "sr");
	tell(&r, 20, "b", "found");
	tell(&r, 50, "b", "ss");
	if (in_steps)
		publish(&r, false);
	tell(&r, 110, "a", "sr");
	tell(&r, 120, "b", "more");
	if (in_steps)
		publish(&r, false);
	tell(&r, 150, "a", "ss");
	publish(&r, true);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 2);
	assert_half(r.tl, "b", SPAN_SERVER, 10, 50, 4, 40);
	assert_half(r.tl, "a", SPAN_SERVER, 110, 150, 2, 40);
	check_tree(r.tl, 2);
	end(&r);
}

/* One that asks two: both answers lie in the question, and what they ask for themselves in them. */
static void test_asked_two(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	tell(&r, 10, "c", "cs");
	tell(&r, 20, "a", "sr");
	tell(&r, 30, "b", "sr");
	for (unsigned i = 0; i < 2; i++) {
		span_feed_mark(r.f, &(struct span_mark){ .ts = 40, .trace = 1, .span = 6 + i, .parent = 5,
			.event = "start", .service = i ? "b" : "a", .vtid = i ? 'b' : 'a', .host = !i });
		span_feed_mark(r.f, &(struct span_mark){ .ts = 44 + i, .trace = 1, .span = 6 + i, .parent = 5,
			.event = "end", .service = i ? "b" : "a", .vtid = i ? 'b' : 'a', .host = !i });
	}
	tell(&r, 60, "a", "ss");
	tell(&r, 70, "b", "ss");
	tell(&r, 90, "c", "cr");
	publish(&r, true);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 5);
	assert_half(r.tl, "c", SPAN_CLIENT, 10, 90, 2, 30);
	assert_half(r.tl, "a", SPAN_SERVER, 20, 60, 2, 36);
	assert_half(r.tl, "b", SPAN_SERVER, 30, 70, 2, 35);
	g_autoptr(blk_tree) t = timeline_tree_new(r.tl, 1);
	int client = tree_find(t, 5, SPAN_CLIENT);
	for (int i = 0; i < t->n; i++) {
		const struct span *s = t->nodes[i].span;
		const struct span *above = i == client ? NULL : t->nodes[t->nodes[i].parent].span;
		if (s->kind == SPAN_SERVER)
			g_assert_cmpint(t->nodes[i].parent, ==, client);
		else if (above)
			g_assert_true(above->service == s->service);
	}
	end(&r);
}

/* However many say so: none of what they tell is lost. */
static void test_asked_many(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	unsigned n_annotations = 0;
	for (int i = 0; i < 100; i++) {
		g_autofree char *service = g_strdup_printf("%c%d", 'a' + i % 26, i);
		tell(&r, 100 + i, service, i % 3 ? "sr" : "cs");
		tell(&r, 300 + i, service, i % 3 ? "ss" : "cr");
	}
	publish(&r, true);
	for (size_t i = 0; i < timeline_n_spans(r.tl); i++)
		n_annotations += timeline_span(r.tl, i)->n_annotations;
	g_assert_cmpuint(n_annotations, ==, 200);
	g_assert_cmpuint(timeline_n_spans(r.tl), >=, 10);
	g_assert_cmpuint(timeline_n_spans(r.tl), <=, 20);
	check_tree(r.tl, (int)timeline_n_spans(r.tl));
	end(&r);
}

/* Ends alone are no other service's; an end by another name is of whom it began. */
static void test_renamed(void)
{
	struct run r = begin(&(struct model_options){ 0 });
	tell(&r, 10, "a", "sr");
	tell(&r, 50, "b", "ss");
	publish(&r, true);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, 1);
	assert_half(r.tl, "a", SPAN_SERVER, 10, 50, 2, 40);
	end(&r);
}

/* Published now and then, as a run does it: that must not cost the square of it. */
static void feed_many(struct run *r, unsigned n, bool chain)
{
	mark(r, 0, 1, 0, "start");
	for (unsigned i = 2; i <= n; i++) {
		int64_t at = (int64_t)i * MS / 10;
		mark(r, at, i, chain ? i - 1 : 1, "start");
		if (!chain)
			mark(r, at + 50, i, 1, "end");
		if (i % 10000 == 0)
			publish(r, false);
	}
	for (unsigned i = n; chain && i >= 2; i--)
		mark(r, (int64_t)n * MS / 10 + n - i, i, i - 1, "end");
	mark(r, (int64_t)n * MS / 10 + n, 1, 0, "end");
	publish(r, true);
}

struct many { const char *name; unsigned n; bool chain, rows; };
static const struct many many[] = {
	{ "ten-thousand-children", 10000, false, true },
	{ "ten-thousand-deep", 10000, true, true },
	{ "a-million-children", MILLION, false, false },
	{ "a-million-deep", MILLION, true, false },
};

static void test_many(gconstpointer data)
{
	struct many fewer = *(const struct many *)data, *m = &fewer;
	m->n = g_getenv("ALL") ? m->n : MIN(m->n, 200000);
	struct run r = begin(&(struct model_options){ 0 });
	feed_many(&r, m->n, m->chain);
	g_assert_cmpuint(timeline_n_spans(r.tl), ==, m->n);
	check_tree(r.tl, (int)m->n);
	const struct span *root = find(r.tl, 1);
	int64_t covered = m->chain ? root->end_ns - 2 * MS / 10 : (int64_t)(m->n - 1) * 50;
	g_assert_cmpint(root->state, ==, SPAN_COMPLETE);
	g_assert_cmpint(root->self_ns, >=, root->end_ns - covered - (int64_t)m->n);
	if (m->rows) {
		struct view_query q = VIEW_QUERY_INIT;
		q.trace_id = 1;
		struct rows *rows = view_waterfall.build(r.tl, &q);
		g_assert_cmpuint(rows->rows->len, ==, m->n);
		rows_free(rows);
	}
	end(&r);
}

/* ---- memory ---- */

#define BUDGET (8 << 20)

static void request(struct run *r, uint64_t n, const char *name, int64_t took)
{
	int64_t at = (int64_t)n * 10 * MS;
	for (uint64_t i = 0; i < 5; i++) {
		struct span_mark m = { .ts = at + (int64_t)i, .trace = n, .span = n * 10 + i, .vtid = 7,
				       .parent = i ? n * 10 : 0, .event = "start", .name = i ? "part" : name };
		span_feed_mark(r->f, &m);
	}
	for (uint64_t i = 5; i-- > 0;) {
		struct span_mark m = { .ts = at + took - (int64_t)i, .trace = n, .span = n * 10 + i, .vtid = 7,
				       .parent = i ? n * 10 : 0, .event = "end", .name = i ? "part" : name };
		span_feed_mark(r->f, &m);
	}
}

/* Whole traces go, the slowest of each operation last; sums of them stay, and their number. */
static void test_memory(void)
{
	enum { N = 20000 };
	struct run r = begin(&(struct model_options){ .memory_budget = 1 << 20 });
	timeline_free(r.tl);
	r.tl = timeline_new(BUDGET);
	for (uint64_t n = 1; n <= N; n++) {
		request(&r, n, n % 10 ? "often" : "rare", n == 50 || n == 77 ? 9 * MS : MS);
		publish(&r, false);
		g_assert_cmpuint(timeline_bytes(r.tl), <=, BUDGET);
	}
	publish(&r, true);
	uint64_t traces, spans, sum = 0;
	timeline_evicted(r.tl, &traces, &spans);
	g_assert_cmpuint(traces, >, N / 2);
	g_assert_cmpuint(spans, ==, traces * 5);
	g_assert_cmpuint(timeline_n_spans(r.tl) + spans, ==, N * 5);
	for (uint64_t n = 1; n <= N; n++) {
		const GArray *of = timeline_trace_spans(r.tl, n);
		g_assert_true(!of || of->len == 5);		/* never a part */
	}
	g_assert_nonnull(timeline_trace_spans(r.tl, 50));	/* of "rare" */
	g_assert_nonnull(timeline_trace_spans(r.tl, 77));	/* of "often" */
	g_assert_nonnull(timeline_trace_spans(r.tl, N));
	g_assert_null(timeline_trace_spans(r.tl, 40));
	TIMELINE_EACH_SUM(r.tl, at, INT64_MIN, INT64_MAX) {
		const struct span_sum *s = at.sum;
		int64_t total = 0;
		for (unsigned p = 0; p < PART_N; p++)
			total += s->part[p];
		if (s->key.of == SUM_SPAN || s->key.of == SUM_PHASE)
			g_assert_cmpint(total, ==, hist_sum(&s->duration));
		g_assert_cmpuint(s->count, ==, hist_count(&s->duration));
		sum += s->key.of == SUM_SPAN ? s->count : 0;
	}
	g_assert_cmpuint(sum, ==, spans);
	end(&r);
}

/* A trace that never ends must not fill the memory: it is given up, and that is counted. */
static void test_endless(void)
{
	struct run r = begin(&(struct model_options){ .live = true });
	mark(&r, S, 1, 0, "start");
	for (unsigned i = 2; i < 1500000 && !timeline_facts(r.tl)->completeness.late; i++) {
		mark(&r, S + i * INT64_C(5000), i, 1, "start");
		if (i % 10000 == 0)
			publish(&r, false);
	}
	g_assert_cmpuint(timeline_facts(r.tl)->completeness.late, >, 0);
	g_assert_cmpint(find(r.tl, 1)->state, ==, SPAN_PARTIAL);
	end(&r);
}

/* Thread 8 runs on CPU 1 and thread 7 on CPU 0, where the event of thread 8 came from: it may be of either. */
#define OF_EITHER(at, trace, event) \
	at " 0 u:zipkin:timestamp trace_name=\"a\" service_name=\"t\" trace_id=" trace " span_id=" trace \
	" parent_span_id=0 event=\"" event "\" ctx.vtid=8 ctx.vpid=8\n"
#define TWO_RUN \
	"1 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"t7\" type=0\n" \
	"2 0 lttng_statedump_process_state tid=8 pid=8 ppid=1 name=\"t8\" type=0\n" \
	"3 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n4 1 sched_switch prev_tid=0 prev_state=0 next_tid=8\n"
#define SECONDS(a, b, c, d) \
	a " 0 syscall_entry_getpid \n" b " 0 syscall_entry_getpid \n" c " 0 syscall_entry_getpid \n" \
	d " 0 syscall_entry_getpid \n"

struct dropped {
	const char *name, *script;
	uint64_t span;			/* of the trace that is retained, */
	int64_t begin_ns, end_ns;	/* and its times */
};

static const struct dropped dropped[] = {
	{ "the first trace", TWO_RUN OF_EITHER("10", "1", "start") OF_EITHER("20", "1", "end")
	  OF_EITHER("1000000000", "2", "start")
	  SECONDS("2500000000", "3500000000", "4500000000", "5500000000") OF_EITHER("6000000000", "2", "end"),
	  2, 1000000000, 6000000000 },
	{ "one in between", TWO_RUN OF_EITHER("10", "2", "start") OF_EITHER("20", "1", "start")
	  OF_EITHER("30", "1", "end") OF_EITHER("1000000000", "2", "what?")
	  SECONDS("2500000000", "3500000000", "4500000000", "5500000000") OF_EITHER("6000000000", "2", "end"),
	  2, 10, 6000000000 },
	{ "two, one after the other", TWO_RUN OF_EITHER("10", "1", "start") OF_EITHER("20", "1", "end")
	  OF_EITHER("30", "2", "start") OF_EITHER("2500000000", "3", "start") OF_EITHER("2500000010", "3", "end")
	  SECONDS("3500000000", "4500000000", "5500000000", "6500000000") OF_EITHER("7000000000", "2", "end"),
	  2, 30, 7000000000 },
};

/* Live: a trace is dropped, while another one goes on that has an event of one of two threads. */
static void test_dropped(gconstpointer data)
{
	const struct dropped *x = data;
	struct recording *rec = traces_record_script(x->script);
	struct run r = begin(&(struct model_options){ .live = true });
	for (size_t i = 0; i < recording_n(rec); i++) {
		model_feed(r.m, recording_tables(rec), recording_event(rec, i), 1);
		publish(&r, false);
	}
	publish(&r, true);
	assert_span(r.tl, x->span, SPAN_COMPLETE, x->begin_ns, x->end_ns);
	recording_free(rec);
	end(&r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/spans/missing", test_missing);
	g_test_add_func("/spans/order", test_order);
	g_test_add_func("/spans/late", test_late);
	g_test_add_func("/spans/given-up", test_given_up);
	g_test_add_func("/spans/cycles", test_cycles);
	g_test_add_func("/spans/late-parent", test_late_parent);
	g_test_add_func("/spans/half-parent", test_half_parent);
	g_test_add_func("/spans/child-of-cycle", test_child_of_cycle);
	g_test_add_data_func("/spans/same-id", NULL, test_same_id);
	g_test_add_data_func("/spans/same-id-in-steps", "", test_same_id);
	g_test_add_func("/spans/asked-two", test_asked_two);
	g_test_add_func("/spans/asked-many", test_asked_many);
	g_test_add_func("/spans/renamed", test_renamed);
	g_test_add_func("/spans/memory", test_memory);
	g_test_add_func("/spans/endless", test_endless);
	for (size_t i = 0; i < G_N_ELEMENTS(many); i++) {
		g_autofree char *path = g_strdup_printf("/spans/many/%s", many[i].name);
		g_test_add_data_func(path, &many[i], test_many);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(dropped); i++) {
		g_autofree char *path = g_strdup_printf("/spans/dropped/%s", dropped[i].name);
		g_test_add_data_func(path, &dropped[i], test_dropped);
	}
	return g_test_run();
}
