/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that memory has no room for still count: phases, services, operations, what is usual, what
 * changed and the p99 strip are the same with a small budget as without one, or say that they are not
 * whole.
 */
#include "lib/fake_timeline.h"
#include "lib/span_feed.h"

#include "send/totals_text.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "views/alerts.h"
#include "views/compare.h"
#include "views/extent.h"
#include "views/overview.h"
#include "views/registry.h"

#include <string.h>

#define MS INT64_C(1000000)
#define S INT64_C(1000000000)
#define BUDGET (6 << 20)
#define TIGHT (3 << 19)			/* not even the sums of all seconds have room */
#define WIDE 16
#define NEWEST 10			/* so many seconds have their sums whatever the budget is */
#define REQUESTS 6000			/* a hundred a second */
#define FEW_SECONDS 15			/* sums of so many are by second, */
#define SMALL (5 << 19)			/* and there is not room for all of these */

enum names { FEW, MANY, PARTIAL };	/* MANY: each request has a name of its own; PARTIAL: few, and some spans
					 * have no beginning */

struct mark { uint64_t span, parent; const char *name, *service, *event; int64_t at; };

/* A handler with two looks into a cache, and a call that another service answers; now and then
 * slow, and now and then with an error. */
static void request(struct span_feed *f, uint64_t n, enum names names, int64_t apart_ns)
{
	int64_t at = (int64_t)n * apart_ns;
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
		if (names == PARTIAL && ((i == 0 && n % 83 == 4) || (i == 6 && n % 89 == 6) || (i == 8 && n % 71 == 5)))
			continue;
		span_feed_mark(f, &(struct span_mark){
			.ts = at + m->at, .trace = n, .span = n * 10 + m->span,
			.parent = m->parent ? n * 10 + m->parent : 0, .event = m->event,
			.name = m->name, .service = m->service,
			.vtid = strcmp(m->service, "web") ? 8 : 7 });
	}
}

static struct timeline *run_retaining(size_t budget, enum names names, uint64_t requests, int64_t sums_from)
{
	struct timeline *tl = timeline_new(budget);
	timeline_retain_sums(tl, sums_from);
	struct model *m = model_new(&(struct model_options){ .memory_budget = 1 << 20 });
	struct span_feed *f = span_feed_new(m);
	for (uint64_t n = 1; n <= requests; n++) {
		request(f, n, names, 10 * MS);
		struct publication *p = n % 20 && n < requests ? NULL :
					model_publish(m, n == requests);
		if (p)
			timeline_apply(tl, p);
		if (budget && sums_from == INT64_MAX)
			g_assert_cmpuint(timeline_bytes(tl), <=, budget);
	}
	span_feed_free(f);
	model_free(m);
	return tl;
}

static struct timeline *run_of(size_t budget, enum names names, uint64_t requests)
{
	return run_retaining(budget, names, requests, INT64_MAX);
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
	return column_value(&v->columns[view_column(v, id)], rows->rows->pdata[row], rows);
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
			struct value x = column_value(col, a->rows->pdata[r], a);
			struct value y = column_value(col, b->rows->pdata[r], b);
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
	static const struct { uint64_t requests; size_t budget; } runs[] = {
		{ FEW_SECONDS * 100, SMALL }, { REQUESTS, BUDGET }, { REQUESTS, TIGHT },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
		bool whole = runs[i].budget != TIGHT;
		uint64_t n = runs[i].requests;
		g_autoptr(blk_timeline) all = run_of(0, FEW, n);
		g_autoptr(blk_timeline) some = run_of(runs[i].budget, FEW, n);
		uint64_t traces, spans;
		timeline_evicted(some, &traces, &spans);
		g_assert_cmpuint(traces, >, n / 4);
		struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
		g_assert_cmpint(overview_of(a)->p99_ns, ==, overview_of(b)->p99_ns);
		assert_same_strip(all, some, whole);
		if (whole)
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

static int64_t sum_of(const struct view *v, const struct rows *rows, const char *id)
{
	int64_t sum = 0;
	for (guint i = 0; i < rows->rows->len; i++)
		sum += cell(v, rows, i, id).i;
	return sum;
}

/* Spans without a beginning are counted apart: what is known of them is no duration. */
static void test_partial(void)
{
	g_autoptr(blk_timeline) all = run(0, PARTIAL), some = run(BUDGET, PARTIAL);
	static const struct { const char *view; int64_t spans, partial; } expected[] = {
		{ "overview", 2 * REQUESTS, 73 },		/* of roots */
		{ "services", 2 * REQUESTS, 73 + 68 },		/* and of callers */
		{ "phases", 7 * REQUESTS, 73 + 73 + 68 + 85 },	/* and of others; a root's (self), too */
	};
	assert_evicted(some);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		const struct view *v = view_find(expected[i].view);
		struct rows *a = rows_of(all, v, 0, 0, NULL), *b = rows_of(some, v, 0, 0, NULL);
		g_assert_cmpint(sum_of(v, a, "partial"), ==, expected[i].partial);
		g_assert_cmpint(sum_of(v, a, "count"), ==, expected[i].spans - expected[i].partial);
		for (guint r = 0; view_column(v, "min_ns") >= 0 && r < a->rows->len; r++)
			g_assert_cmpint(cell(v, a, r, "min_ns").i, >=, 1000);
		assert_same(v, a, b);
		rows_free(a);
		rows_free(b);
	}
}

/* Are all figures of the rows unknown, but for those that need no dropped spans? */
static void assert_unknown(const struct view *v, const struct rows *rows)
{
	g_assert_cmpuint(rows->left_out, >, 0);
	g_assert_true(rows->incomplete);
	for (guint r = 0; r < rows->rows->len; r++) {
		g_assert_cmpint(cell(v, rows, r, "count").kind, ==, VALUE_NONE);
		g_assert_cmpint(cell(v, rows, r, "errors").kind, ==, VALUE_NONE);
		g_assert_cmpint(cell(v, rows, r, "p99_ns").kind, ==, VALUE_NONE);
	}
}

/* Every second is the same as without a budget, or its figures are unknown: never too small. */
static void test_ranges(gconstpointer data)
{
	size_t budget = GPOINTER_TO_SIZE(data);
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(budget, FEW);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		const struct view *v = view_find(views[i]);
		unsigned incomplete = 0, n_dropped = 0;
		for (int64_t s = 0; s < REQUESTS / 100; s++) {
			struct rows *a = rows_of(all, v, s * S, (s + 1) * S, NULL);
			struct rows *b = rows_of(some, v, s * S, (s + 1) * S, NULL);
			n_dropped += b->dropped != NULL;
			if (b->left_out) {
				g_assert_nonnull(strstr(b->dropped, "INCOMPLETE"));
				g_assert_cmpint(s, <, REQUESTS / 100 - NEWEST);
				assert_unknown(v, b);
				incomplete++;
			} else {
				assert_same(v, a, b);
			}
			rows_free(a);
			rows_free(b);
		}
		g_assert_cmpuint(n_dropped, >, 0);
		g_assert_cmpint(incomplete > 0, ==, budget == TIGHT);
	}
}

/* Folded steps have the totals of their time: each is as long as a second times a power of two. */
static void test_folded(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(TIGHT, FEW);
	const struct view *v = view_find("services");
	unsigned same = 0;
	for (int64_t wide = 2; wide <= 32; wide *= 2)
		for (int64_t s = 0; s + wide <= REQUESTS / 100; s += wide) {
			struct rows *a = rows_of(all, v, s * S, (s + wide) * S, NULL);
			struct rows *b = rows_of(some, v, s * S, (s + wide) * S, NULL);
			same += !b->left_out && s < NEWEST;
			if (!b->left_out)
				assert_same(v, a, b);
			rows_free(a);
			rows_free(b);
		}
	g_assert_cmpuint(same, >, 0);
}

/* What is printed second by second keeps its sums so. */
static void test_retained_sums(void)
{
	g_autoptr(blk_timeline) all = run(0, FEW), some = run_retaining(TIGHT, FEW, REQUESTS, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		const struct view *v = view_find(views[i]);
		for (int64_t s = 0; s < REQUESTS / 100; s++) {
			struct rows *a = rows_of(all, v, s * S, (s + 1) * S, NULL);
			struct rows *b = rows_of(some, v, s * S, (s + 1) * S, NULL);
			assert_same(v, a, b);
			rows_free(a);
			rows_free(b);
		}
	}
}

/* ---- metrics ---- */

struct figures { GString *text; uint64_t left_out, without_values; bool sums; };

static gint compare_texts(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void note_value(void *data, const struct second *s, const struct metric_value *v)
{
	struct figures *f = data;
	if (!v->key) {
		f->left_out += v->left_out;
		return;
	}
	f->without_values += v->without_values;
	g_string_append_printf(f->text, "%" G_GINT64_FORMAT " %s %" G_GINT64_FORMAT, s->begin_ns, v->key, v->sum);
	if (!f->sums)
		g_string_append_printf(f->text, " %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
				       hist_count(v->values), hist_quantile(v->values, 0.5), hist_max(v->values));
	g_string_append_c(f->text, '\n');
}

/* The values of each second, sorted. */
static char *each_second(const struct timeline *tl, const struct metric_query *q, bool sums, struct figures *f)
{
	*f = (struct figures){ .text = g_string_new(NULL), .sums = sums };
	metric_each_second(tl, q, 0, timeline_n_seconds(tl), note_value, f);
	g_auto(GStrv) lines = g_strsplit(f->text->str, "\n", -1);
	qsort(lines, g_strv_length(lines), sizeof *lines, compare_texts);
	g_string_free(f->text, true);
	return g_strjoinv("\n", lines);
}

static void test_metrics(void)
{
	static const struct { const char *metric, *by, *where; bool sums, known; } queries[] = {
		{ "request.latency", "service,operation", "", false, true },
		{ "span.latency", "span", "error == yes", false, true },
		{ "request.latency", "span", "service == web", false, true },
		{ "request.time", "operation,part", "", true, true },
		{ "span.latency", "service,span", "", false, true },
		{ "span.latency", "error", "", false, true },
		{ "span.self", "span", "", true, true },
		{ "span.time", "service,part", "", true, true },
		{ "request.latency", "operation", "get", false, false },	/* in any field */
		{ "request.latency", "tid", "", false, false },
		{ "span.latency", "operation", "", false, false },
		{ "span.latency", "span", "tid == 7", false, false },
	};
	g_autoptr(blk_timeline) all = run(0, FEW), some = run(BUDGET, FEW);
	for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
		struct metric_query q = { .metric = metric_find(queries[i].metric, NULL) };
		struct figures f, g;
		g_assert_true(metric_query_by(&q, queries[i].by, NULL));
		g_assert_true(!*queries[i].where || metric_query_where(&q, queries[i].where, NULL));
		g_autofree char *a = each_second(all, &q, queries[i].sums, &f);
		g_autofree char *b = each_second(some, &q, queries[i].sums, &g);
		g_assert_cmpuint(f.left_out + f.without_values, ==, 0);
		g_assert_cmpint(g.left_out == 0, ==, queries[i].known);
		g_assert_cmpint(g.without_values > 0, ==, queries[i].sums);
		g_assert_cmpint(strlen(a), >, 1000);
		if (queries[i].known)
			g_assert_cmpstr(a, ==, b);
		struct view *v = metric_view_new(&q);
		struct view_query query = VIEW_QUERY_INIT;
		query.metric = &q;
		struct rows *rows = v->build(some, &query);
		g_assert_cmpuint(rows->rows->len, >, 0);
		g_assert_cmpint(rows->left_out == 0, ==, queries[i].known);
		g_assert_cmpint(cell(v, rows, 0, "total").kind != VALUE_NONE, ==, queries[i].known);
		g_assert_cmpint(cell(v, rows, 0, "count").kind != VALUE_NONE, ==, queries[i].known && !queries[i].sums);
		rows_free(rows);
		metric_view_free(v);
		metric_query_clear(&q);
	}
}

/* Figures of closed seconds as they are served. A budget of TIGHT has no room for the spans of one second. */
static char *served(size_t budget, const char *list, uint64_t *ret_left_out)
{
	g_autoptr(GPtrArray) metrics = send_metrics_parse(list, NULL);
	struct totals *totals = totals_new(metrics, 100, true);
	struct timeline *tl = timeline_new(budget);
	struct model *m = model_new(&(struct model_options){ .memory_budget = 1 << 20, .live = true });
	struct span_feed *f = span_feed_new(m);
	for (uint64_t n = 1; n <= REQUESTS; n++) {
		request(f, n, FEW, MS);
		struct publication *p = n % 100 && n < REQUESTS ? NULL : model_publish(m, n == REQUESTS);
		if (p)
			timeline_apply(tl, p);
		if (p && timeline_n_seconds(tl))
			totals_update(totals, tl, timeline_n_seconds(tl) - (n < REQUESTS), INT64_MIN, INT64_MAX,
				      n == REQUESTS);
	}
	*ret_left_out = totals_left_out(totals);
	GBytes *text = totals_text(totals, false);
	char *copy = g_strndup(g_bytes_get_data(text, NULL), g_bytes_get_size(text));
	g_bytes_unref(text);
	span_feed_free(f);
	model_free(m);
	timeline_free(tl);
	totals_free(totals);
	return copy;
}

static void test_served(void)
{
	uint64_t left_out;
	const char *known = "request.latency by service,operation; request.time by operation,part; "
			    "span.latency by span";
	g_autofree char *a = served(0, known, &left_out);
	g_assert_cmpuint(left_out, ==, 0);
	g_autofree char *b = served(TIGHT, known, &left_out);
	g_assert_cmpuint(left_out, ==, 0);
	g_assert_cmpstr(a, ==, b);
	g_assert_nonnull(strstr(a, "blktop_request_latency_seconds_count{service=\"web\",operation=\"get\"} 4000\n"));
	g_assert_nonnull(strstr(a, "blktop_dropped_spans_total{metric=\"request_latency\"} 0\n"));
	g_autofree char *c = served(TIGHT, "request.latency by tid", &left_out);
	g_autofree char *told = g_strdup_printf("blktop_dropped_spans_total{metric=\"request_latency\"} %"
						G_GUINT64_FORMAT "\n", left_out);
	g_assert_cmpuint(left_out, >, REQUESTS / 4);
	g_assert_nonnull(strstr(c, told));
}

/* Nothing is reached by a figure that is too small. */
static void test_thresholds(void)
{
	static const struct { const char *text; bool judged; unsigned alerts; } of[] = {
		{ "count of any < 30", true, 0 },
		{ "count of get > 60", true, 1 },
		{ "errors of any > 2", true, 0 },
		{ "request.time sum by operation < 1us", true, 0 },
		{ "request.latency count by tid < 90", false, 0 },
		{ "request.time p99 by operation > 1m", false, 0 },
	};
	g_autoptr(blk_timeline) some = run(BUDGET, FEW);
	for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
		g_autoptr(GPtrArray) thresholds = thresholds_new();
		g_ptr_array_add(thresholds, threshold_parse(of[i].text, NULL));
		struct alerts *a = alerts_new(thresholds);
		alerts_update(a, some, timeline_n_seconds(some));
		g_assert_cmpuint(alerts_n(a), ==, of[i].alerts);
		g_assert_cmpint(alerts_left_out(a), ==, !of[i].judged);
		g_assert_cmpint(alerts_have_judged(a, thresholds->pdata[0], 5 * S, 6 * S), ==, of[i].judged);
		alerts_free(a);
	}
}

/* ---- what is not known ---- */

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
	uint64_t traces, spans, summed = 0, others = 0, n_sums = 0;
	assert_evicted(some);
	timeline_evicted(some, &traces, &spans);
	TIMELINE_EACH_SUM(some, at, INT64_MIN, INT64_MAX) {
		const struct span_sum *s = at.sum;
		n_sums++;
		summed += s->key.of == SUM_SPAN ? s->count : 0;
		others += s->key.of == SUM_SPAN && s->key.others ? s->count : 0;
	}
	g_assert_cmpuint(n_sums, <=, BUDGET / 16 / sizeof(struct span_sum) + 4 * REQUESTS / 100);
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

/* ---- an hour ---- */

#define RATE 3000			/* requests a second, of so many names: */
#define NAMES 40
#define HOUR 3600

static void short_request(struct span_feed *f, uint64_t n)
{
	/* Each ends in the second in which it begins. */
	int64_t at = (int64_t)((n - 1) / RATE) * S + (int64_t)((n - 1) % RATE) * 990 * MS / RATE + MS;
	g_autofree char *name = g_strdup_printf("get-%u", (unsigned)(n % NAMES));
	const struct mark marks[] = {
		{ 1, 0, name, "web", "sr", 0 },
		{ 2, 1, "ask", "web", "cs", 1000 },
		{ 2, 1, "ask", "store", "sr", 2000 },
		{ 2, 1, "ask", "store", "ss", 3000 + (int64_t)(n % 13) * 1000 },
		{ 2, 1, "ask", "web", "cr", 20000 }, { 1, 0, name, "web", "ss", 30000 + (int64_t)(n % 97) * 1000 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		span_feed_mark(f, &(struct span_mark){
			.ts = at + marks[i].at, .trace = n, .span = n * 4 + marks[i].span,
			.parent = marks[i].parent ? n * 4 + marks[i].parent : 0, .event = marks[i].event,
			.name = marks[i].name, .service = marks[i].service,
			.vtid = strcmp(marks[i].service, "web") ? 8 : 7,
		});
}

static void assert_second(const struct timeline *tl, const char *view, size_t i, uint64_t requests)
{
	const struct view *v = view_find(view);
	const struct second *s = timeline_outline(tl, i);
	struct rows *rows = rows_of(tl, v, s->begin_ns, s->end_ns, NULL);
	uint64_t n = 0;
	for (guint r = 0; r < rows->rows->len; r++) {
		struct value count = cell(v, rows, r, "count");
		g_assert_cmpint(count.kind, ==, VALUE_COUNT);
		n += (uint64_t)count.i;
	}
	if (n != requests)
		g_error("%s: second %" G_GINT64_FORMAT " has %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, view,
			s->begin_ns / S, n, requests);
	rows_free(rows);
}

struct hour { struct timeline *tl; struct totals *totals; int64_t checked_ns; unsigned n; };

/* Each second is looked at when the next one has begun, as batch does. */
static void check_closed(struct hour *h, bool ended)
{
	size_t n = timeline_n_seconds(h->tl), end = n && !ended ? n - 1 : n;
	for (size_t i = timeline_find(h->tl, h->checked_ns); i < end; i++) {
		const struct second *s = timeline_outline(h->tl, i);
		if (s->begin_ns < h->checked_ns)
			continue;
		assert_second(h->tl, "phases", i, 4 * RATE);	/* requests, (self), both halves of the call */
		if (h->n % 16 == 0) {		/* these look at all spans in memory, too */
			assert_second(h->tl, "services", i, 2 * RATE);
			assert_second(h->tl, "overview", i, 2 * RATE);	/* requests and server halves */
		}
		h->checked_ns = s->end_ns;
		h->n++;
	}
	totals_update(h->totals, h->tl, end, INT64_MIN, INT64_MAX, ended);
}

static void run_hour(size_t budget, bool retain)
{
	uint64_t requests = (uint64_t)(g_test_slow() ? HOUR : HOUR / 200) * RATE, traces;
	g_autoptr(GPtrArray) metrics = send_metrics_parse("request.latency by service", NULL);
	struct hour h = {
		.tl = timeline_new(budget), .checked_ns = INT64_MIN, .totals = totals_new(metrics, 100, true),
	};
	struct model *m = model_new(&(struct model_options){ .memory_budget = budget, .live = true });
	struct span_feed *f = span_feed_new(m);
	for (uint64_t n = 1; n <= requests; n++) {
		short_request(f, n);
		struct publication *p = n % (RATE / 10) && n < requests ? NULL : model_publish(m, n == requests);
		if (!p)
			continue;
		timeline_apply(h.tl, p);
		check_closed(&h, n == requests);
		if (retain)
			timeline_retain_sums(h.tl, h.checked_ns);
		model_set_retained_from(m, timeline_retained_from(h.tl));
		g_assert_cmpuint(timeline_bytes(h.tl), <=, budget);
	}
	g_autofree char *told = g_strdup_printf("seconds_count{service=\"web\"} %" G_GUINT64_FORMAT "\n", requests);
	g_autoptr(GBytes) text = totals_text(h.totals, false);
	g_assert_nonnull(g_strstr_len(g_bytes_get_data(text, NULL), (gssize)g_bytes_get_size(text), told));
	g_assert_cmpuint(totals_left_out(h.totals), ==, 0);
	g_assert_cmpuint(h.n, ==, requests / RATE);
	timeline_evicted(h.tl, &traces, &requests);
	g_test_message("%zu MiB: %u seconds, %" G_GUINT64_FORMAT " traces evicted", budget >> 20, h.n, traces);
	g_assert_true(traces > 0 || budget > 64 << 20);
	span_feed_free(f);
	model_free(m);
	timeline_free(h.tl);
	totals_free(h.totals);
}

/* An hour (in part without -m slow) of 3,000 requests a second: every second is exact. */
static void test_hour(gconstpointer mib)
{
	run_hour(GPOINTER_TO_SIZE(mib) << 20, false);
	if (GPOINTER_TO_SIZE(mib) == 16)
		run_hour(16 << 20, true);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/evicted/whole", test_whole);
	g_test_add_func("/evicted/partial", test_partial);
	g_test_add_data_func("/evicted/seconds", GSIZE_TO_POINTER(BUDGET), test_ranges);
	g_test_add_data_func("/evicted/seconds-tight", GSIZE_TO_POINTER(TIGHT), test_ranges);
	g_test_add_func("/evicted/folded", test_folded);
	g_test_add_func("/evicted/retained-sums", test_retained_sums);
	g_test_add_func("/evicted/metrics", test_metrics);
	g_test_add_func("/evicted/served", test_served);
	g_test_add_func("/evicted/thresholds", test_thresholds);
	g_test_add_data_func("/evicted/hour/16M", GINT_TO_POINTER(16), test_hour);
	g_test_add_data_func("/evicted/hour/32M", GINT_TO_POINTER(32), test_hour);
	g_test_add_data_func("/evicted/hour/64M", GINT_TO_POINTER(64), test_hour);
	g_test_add_data_func("/evicted/hour/448M", GINT_TO_POINTER(448), test_hour);
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
