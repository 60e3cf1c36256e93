/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that memory has no room for still count: phases, services, operations, what is usual, what
 * changed and the p99 strip are the same with a small budget as without one, or say that they are not
 * whole.
 */
#include "lib/fake_timeline.h"
#include "lib/span_feed.h"

#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "views/compare.h"
#include "views/extent.h"
#include "views/overview.h"
#include "views/registry.h"

#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)
#define BUDGET (6 << 20)
#define WIDE 16
#define REQUESTS 6000			/* a hundred a second */
#define FEW_SECONDS 15			/* sums of so many are by second, */
#define SMALL (5 << 19)			/* and there is not room for all of these */

enum names { FEW, MANY };		/* MANY: each request has a name of its own */

struct mark { uint64_t span, parent; const char *name, *service, *event; int64_t at; };

/* A handler with two looks into a cache, and a call that another service answers; now and then
 * slow, and now and then with an error. */
static void request(struct span_feed *f, uint64_t n, enum names names)
{
	int64_t at = (int64_t)n * 10 * MS;
	int64_t slow = (int64_t)(n % 97 == 0 ? 500 + n % 89 : n % 13) * 10000;
	g_autofree char *own = g_strdup_printf("get-%u", (unsigned)n);
	const char *name = names == MANY ? own : n % 3 ? "get" : "put";
	const struct mark marks[] = {
		{ 1, 0, name, "web", "start", 0 },
		{ 2, 1, "cache", "web", "start", MS },
		{ 2, 1, "cache", "web", "end", 2 * MS },
		{ 3, 1, "cache", "web", "start", 2 * MS },
		{ 3, 1, "cache", "web", n % 50 ? "look" : "error", 2 * MS + 7 },
		{ 3, 1, "cache", "web", "end", 2 * MS + 9000 },
		{ 4, 1, "ask", "web", "cs", 3 * MS },
		{ 4, 1, "ask", "store", "sr", 3 * MS + 1000 },
		{ 5, 4, "read", "store", "start", 3 * MS + 2000 },
		{ 5, 4, "read", "store", "end", 3 * MS + 3000 + slow },
		{ 4, 1, "ask", "store", "ss", 3 * MS + 4000 + slow },
		{ 4, 1, "ask", "web", "cr", 3 * MS + 5000 + slow },
		{ 1, 0, name, "web", "end", 4 * MS + slow },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		const struct mark *m = &marks[i];
		span_feed_mark(f, &(struct span_mark){
			.ts = at + m->at, .trace = n, .span = n * 10 + m->span,
			.parent = m->parent ? n * 10 + m->parent : 0, .event = m->event,
			.name = m->name, .service = m->service,
			.vtid = strcmp(m->service, "web") ? 8 : 7 });
	}
}

static struct timeline *run_of(size_t budget, enum names names, uint64_t requests)
{
	struct timeline *tl = timeline_new(budget);
	struct model *m = model_new(&(struct model_options){ .memory_budget = 1 << 20 });
	struct span_feed *f = span_feed_new(m);
	for (uint64_t n = 1; n <= requests; n++) {
		request(f, n, names);
		struct publication *p = n % 20 && n < requests ? NULL :
					model_publish(m, n == requests);
		if (p)
			timeline_apply(tl, p);
		if (budget)
			g_assert_cmpuint(timeline_bytes(tl), <=, budget);
	}
	span_feed_free(f);
	model_free(m);
	return tl;
}

static struct timeline *run(size_t budget, enum names names)
{
	return run_of(budget, names, REQUESTS);
}

static struct rows *rows_of(const struct timeline *tl, const struct view *v, int64_t from,
			    int64_t to, const char *operation)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = from;
	q.to_ns = to;
	q.operation = operation;
	return v->build(tl, &q);
}

static struct value cell(const struct view *v, const struct rows *rows, guint row, const char *id)
{
	return v->columns[view_column(v, id)].get(rows->rows->pdata[row], rows);
}

/* What can't be told of a span that is gone, or is of those that are kept. */
static bool is_about_retained(const char *column)
{
	static const char *const ids[] = { "calls", "verdict", "phase", "phase_delta_ns" };
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
		if (strcmp(column, ids[i]) == 0)
			return true;
	return g_str_has_prefix(column, "worst_");
}

static void assert_same(const struct view *v, const struct rows *a, const struct rows *b)
{
	g_assert_cmpuint(a->rows->len, ==, b->rows->len);
	for (guint r = 0; r < a->rows->len; r++)
		for (size_t c = 0; c < v->n_columns; c++) {
			const struct column *col = &v->columns[c];
			struct value x = col->get(a->rows->pdata[r], a);
			struct value y = col->get(b->rows->pdata[r], b);
			if (is_about_retained(col->id))
				continue;
			if (x.kind != y.kind || (x.kind == VALUE_TEXT ? strcmp(x.s, y.s) != 0 :
						 x.kind == VALUE_RATIO ? x.d != y.d :
						 x.kind != VALUE_NONE && x.i != y.i))
				g_error("%s: row %u, column %s differs", v->id, r, col->id);
		}
}

static int64_t count_all(const struct view *v, const struct rows *rows)
{
	bool two = view_column(v, "count_before") >= 0;
	int64_t n = 0;
	for (guint i = 0; i < rows->rows->len; i++)
		n += cell(v, rows, i, "count").i + (two ? cell(v, rows, i, "count_before").i : 0);
	return n;
}

static const char *const views[] = { "phases", "services", "overview", "changed" };

static void assert_evicted(const struct timeline *tl)
{
	uint64_t traces, spans;
	int64_t first;
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(traces, >, REQUESTS / 3);
	g_assert_true(timeline_coverage(tl, &first, NULL));
	g_assert_cmpint(timeline_retained_from(tl), ==, first);	/* no seconds went */
}

static void test_whole(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	assert_evicted(some);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		const struct view *v = view_find(views[i]);
		struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
		g_assert_cmpint(count_all(v, a), >=, REQUESTS);
		assert_same(v, a, b);
		g_assert_null(a->dropped);
		g_assert_nonnull(strstr(b->dropped, "dropped for memory"));
		g_assert_null(strstr(b->dropped, "INCOMPLETE"));
		rows_free(a);
		rows_free(b);
	}
}

/* The points of a strip are the same, or tell that they stand for more than their second. */
static void assert_same_strip(const struct timeline *x, const struct timeline *y, bool whole)
{
	struct extent_strip *a = extent_strip_new(&(struct extent){ .main = x, .final_to_ns = INT64_MAX });
	struct extent_strip *b = extent_strip_new(&(struct extent){ .main = y, .final_to_ns = INT64_MAX });
	unsigned folded = 0;
	g_assert_cmpuint(a->n, ==, b->n);
	g_assert_cmpint(a->usual_ns, ==, b->usual_ns);
	for (size_t i = 0; i < a->n; i++) {
		const struct extent_point *p = &a->points[i], *q = &b->points[i];
		g_assert_false(p->folded);
		g_assert_cmpfloat(q->figure[GRAPH_REQUESTS], >=, 0);
		if (q->folded) {
			folded++;
			g_assert_cmpuint(q->count, >, p->count);
			continue;
		}
		g_assert_cmpfloat(p->figure[GRAPH_REQUESTS], ==, q->figure[GRAPH_REQUESTS]);
		g_assert_cmpuint(p->count, ==, q->count);
		g_assert_cmpint(p->outlier, ==, q->outlier);
	}
	g_assert_cmpint(folded == 0, ==, whole);
	extent_strip_free(a);
	extent_strip_free(b);
}

static void test_strip(void)
{
	const struct view *v = view_find("overview");
	for (int wide = 0; wide < 2; wide++) {
		uint64_t n = wide ? REQUESTS : FEW_SECONDS * 100;
		g_autoptr(blk_timeline) all = run_of(0, FEW, n);
		g_autoptr(blk_timeline) some = run_of(wide ? BUDGET : SMALL, FEW, n);
		uint64_t traces, spans;
		timeline_evicted(some, &traces, &spans);
		g_assert_cmpuint(traces, >, n / 4);
		struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
		g_assert_cmpint(overview_of(a)->p99_ns, ==, overview_of(b)->p99_ns);
		assert_same_strip(all, some, !wide);
		g_assert_cmpint(overview_worst_second(all), ==, overview_worst_second(some));
		rows_free(a);
		rows_free(b);
	}
}

/* Against all else that is kept: in the sums' steps. */
static void test_history(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	const struct view *v = view_find("changed");
	unsigned same = 0;
	for (int64_t s = 0; s < REQUESTS / 100; s += WIDE) {
		struct view_query q = VIEW_QUERY_INIT;
		q.from_ns = s * S;
		q.to_ns = (s + WIDE) * S;
		q.history = true;
		struct rows *a = v->build(all, &q), *b = v->build(some, &q);
		g_assert_nonnull(b->dropped);
		g_assert_null(strstr(b->dropped, "INCOMPLETE"));
		g_assert_cmpint(count_all(v, a), >=, REQUESTS);
		assert_same(v, a, b);
		rows_free(a);
		q.pid = 7;
		rows_free(b);
		b = v->build(some, &q);		/* nobody knows whose they were */
		g_assert_nonnull(strstr(b->dropped, "INCOMPLETE"));
		rows_free(b);
		same++;
	}
	g_assert_cmpuint(same, >, 2);
}

/* What is usual is what most were, not what most of those are that are kept. */
static void test_compare(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	const struct view *v = view_find("compare");
	struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
	const struct compare *x = a->extra, *y = b->extra;
	g_assert_cmpuint(x->trace_id, ==, y->trace_id);
	g_assert_cmpuint(x->n_evicted, ==, 0);
	g_assert_cmpuint(y->n_evicted, ==, x->n_all - y->n_all);
	g_assert_cmpint(ABS(x->b_ns - y->b_ns), <, x->b_ns / 50);
	g_assert_nonnull(strstr(b->about, "dropped for memory"));
	g_assert_null(strstr(a->about, "dropped for memory"));
	rows_free(a);
	rows_free(b);
}

/* What was open at an instant of the past may have gone. */
static void test_open(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	const struct view *v = view_find("open");
	struct rows *a = rows_of(all, v, 4 * S, 5 * S + 2 * MS, NULL);
	struct rows *b = rows_of(some, v, 4 * S, 5 * S + 2 * MS, NULL);
	g_assert_cmpuint(a->rows->len, >, 0);
	g_assert_null(a->dropped);
	g_assert_cmpuint(b->rows->len, <, a->rows->len);
	g_assert_nonnull(strstr(b->dropped, "INCOMPLETE"));
	rows_free(a);
	rows_free(b);
	a = rows_of(some, v, 0, 0, NULL);	/* now: what is open never goes */
	g_assert_null(a->dropped);
	rows_free(a);
}

/* Every second of it: the same, or it is said that more belong there. As wide as the sums'
 * steps: the same. */
static void test_ranges(gconstpointer data)
{
	int64_t wide = GPOINTER_TO_INT(data);
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		const struct view *v = view_find(views[i]);
		unsigned incomplete = 0, n_dropped = 0;
		for (int64_t s = 0; s < REQUESTS / 100; s += wide) {
			struct rows *a = rows_of(all, v, s * S, (s + wide) * S, NULL);
			struct rows *b = rows_of(some, v, s * S, (s + wide) * S, NULL);
			n_dropped += b->dropped != NULL;
			if (b->dropped && strstr(b->dropped, "INCOMPLETE")) {
				g_assert_cmpint(count_all(v, b), <, count_all(v, a));
				incomplete++;
			} else {
				assert_same(v, a, b);
			}
			rows_free(a);
			rows_free(b);
		}
		g_assert_cmpuint(n_dropped, >, 0);
		if (wide == WIDE)
			g_assert_cmpuint(incomplete, ==, 0);
		else
			g_assert_cmpuint(incomplete, >, 0);
	}
}

/* What the rows can't know of spans that are gone is not told wrong. */
static void test_unknown(void)
{
	g_autoptr(blk_timeline) some = run(BUDGET, FEW);
	const struct view *v = view_find("phases");
	struct rows *rows = rows_of(some, v, 0, 0, "get");
	unsigned lost_worst = 0;
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value worst = cell(v, rows, i, "worst_trace_id");
		g_assert_cmpstr(cell(v, rows, i, "operation").s, ==, "get");
		g_assert_nonnull(strstr(cell(v, rows, i, "calls").s, "unknown of"));
		lost_worst += worst.kind == VALUE_NONE;
		g_assert_true(worst.kind != VALUE_NONE ||
			      cell(v, rows, i, "verdict").kind == VALUE_NONE);
	}
	g_assert_cmpuint(lost_worst, >=, 1);		/* (self) at least */
	rows_free(rows);
	rows = rows_of(some, v, 0, 0, "ask");		/* no root: its phases are not summed */
	g_assert_nonnull(strstr(rows->dropped, "INCOMPLETE"));
	rows_free(rows);
	rows = rows_of(some, v, 0, 0, "no such");
	g_assert_null(rows->dropped);
	rows_free(rows);
	v = view_find("spans");
	rows = rows_of(some, v, 0, 0, NULL);
	g_assert_nonnull(strstr(rows->dropped, "not here: "));
	rows_free(rows);
}

/* As many names as requests: sums stay bounded, and what has no room is counted as such. */
static void test_many_names(void)
{
	g_autoptr(blk_timeline) some = run(BUDGET, MANY);
	uint64_t traces, spans, summed = 0, others = 0;
	assert_evicted(some);
	timeline_evicted(some, &traces, &spans);
	g_assert_cmpuint(timeline_n_span_sums(some), <=, BUDGET / 32 / sizeof(struct span_sum) + 4);
	for (size_t i = 0; i < timeline_n_span_sums(some); i++) {
		const struct span_sum *s = timeline_span_sum(some, i);
		summed += s->key.of == SUM_SPAN ? s->count : 0;
		others += s->key.of == SUM_SPAN && s->key.others ? s->count : 0;
	}
	g_assert_cmpuint(summed, ==, spans);
	g_assert_cmpuint(others, >, 0);
	struct rows *rows = rows_of(some, view_find("overview"), 0, 0, NULL);
	g_assert_nonnull(strstr(rows->dropped, "INCOMPLETE"));
	rows_free(rows);
}

#define LATE 2500			/* traces that have come meanwhile */

/* Two spans whose root nobody tells of, so that the trace isn't over for long. */
static void rootless(struct span_feed *f, uint64_t n)
{
	const struct mark marks[] = {
		{ 1, 9, "get", "web", "start", 0 },
		{ 2, 1, "cache", "web", "start", MS },
		{ 2, 1, "cache", "web", "end", 2 * MS + (int64_t)(n % 13) * 10000 },
		{ 1, 9, "get", "web", "end", 4 * MS },
		{ 2, 1, "cache", "web", "look", 5 * MS },	/* the late one */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		const struct mark *m = &marks[i];
		uint64_t of = i + 1 < G_N_ELEMENTS(marks) ? n : n - MIN(n, LATE);
		if (of)
			span_feed_mark(f, &(struct span_mark){
				.ts = (int64_t)n * 10 * MS + m->at, .trace = of, .span = of * 10 + m->span,
				.parent = of * 10 + m->parent, .event = m->event, .name = m->name,
				.service = m->service, .vtid = 7 });
	}
}

static struct timeline *run_late(size_t budget)
{
	struct timeline *tl = timeline_new(budget);
	struct model *m = model_new(&(struct model_options){ 0 });
	struct span_feed *f = span_feed_new(m);
	for (uint64_t n = 1; n <= REQUESTS; n++) {
		rootless(f, n);
		struct publication *p = n % 20 ? NULL : model_publish(m, n == REQUESTS);
		if (p)
			timeline_apply(tl, p);
	}
	span_feed_free(f);
	model_free(m);
	return tl;
}

/* A trace that was evicted, and of which an annotation comes later, counts once. */
static void test_reported_again(void)
{
	g_autoptr(blk_timeline) all = run_late(0), some = run_late(SMALL);
	uint64_t traces, spans;
	timeline_evicted(some, &traces, &spans);
	g_assert_cmpuint(traces, >, LATE);
	g_assert_cmpuint(traces + timeline_n_traces(some), ==, REQUESTS);
	g_assert_cmpuint(spans, ==, 2 * traces);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		const struct view *v = view_find(views[i]);
		struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
		assert_same(v, a, b);
		rows_free(a);
		rows_free(b);
	}
}

/* Spans that were evicted and are read again, to correct what was late, count once. */
static void test_read_again(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	struct publication *p = publication_new();
	uint64_t evicted, spans, traces;
	size_t kept = timeline_n_spans(some);
	timeline_evicted(some, &traces, &evicted);
	g_assert_cmpuint(evicted, >, 0);
	g_assert_cmpuint(kept + evicted, ==, timeline_n_spans(all));
	for (size_t i = 0; i < timeline_n_spans(all); i++) {
		publication_add_span(p, (uint32_t)(1000000 + i), fake_copy(timeline_span(all, i)));
		g_array_index(p->spans, struct published_span, i).correction = SPAN_CORRECTED;
	}
	timeline_apply(some, p);
	timeline_evicted(some, &traces, &spans);
	g_assert_cmpuint(timeline_n_spans(some) + spans, ==, kept + evicted);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/evicted/whole", test_whole);
	g_test_add_data_func("/evicted/seconds", GINT_TO_POINTER(1), test_ranges);
	g_test_add_data_func("/evicted/ranges", GINT_TO_POINTER(WIDE), test_ranges);
	g_test_add_func("/evicted/strip", test_strip);
	g_test_add_func("/evicted/history", test_history);
	g_test_add_func("/evicted/compare", test_compare);
	g_test_add_func("/evicted/open", test_open);
	g_test_add_func("/evicted/unknown", test_unknown);
	g_test_add_func("/evicted/many-names", test_many_names);
	g_test_add_func("/evicted/told-again", test_reported_again);
	g_test_add_func("/evicted/read-again", test_read_again);
	return g_test_run();
}
