/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views that hold spans against something: another one, the usual, the time before; and
 * spans that are open at an instant.
 */
#include "lib/fake_timeline.h"
#include "views/history.h"
#include "views/compare.h"

#include <string.h>

static struct value cell(const struct view *v, const struct rows *rows, guint row, const char *id)
{
	int c = view_column(v, id);
	g_assert_cmpint(c, >=, 0);
	g_assert_cmpuint(row, <, rows->rows->len);
	return column_value(&v->columns[c], rows->rows->pdata[row], rows);
}

/* The row of this name and kind; it must be there. */
static guint find(const struct view *v, const struct rows *rows, const char *name,
		  const char *kind)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value k = cell(v, rows, i, "kind");
		if (strcmp(cell(v, rows, i, "name").s, name) == 0 &&
		    g_strcmp0(k.kind == VALUE_NONE ? NULL : k.s, kind) == 0)
			return i;
	}
	g_error("no row %s", name);
}

static struct rows *build(const char *view, const struct timeline *tl, const struct view_query *q)
{
	return view_find(view)->build(tl, q);
}

static void at_second(struct view_query *q, unsigned n)
{
	q->from_ns = FAKE_T0 + n * FAKE_S;
	q->to_ns = q->from_ns + FAKE_S;
}

/* --- compare --- */

/* Phases on one thread add up to the whole, and the states of each to it. */
static void test_sums(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 1, "x");
	fake_second(f, 0);
	for (uint64_t id = 1; id <= 2; id++) {
		int64_t ms = (int64_t)id * FAKE_MS;
		struct fake_span d = { .trace = id, .id = id, .name = "get", .service = "s",
			.thread = t, .begin = 0, .end = 100 * ms };
		struct span *root = fake_span(f, &d);
		fake_part(root, PART_FUTEX, 40 * ms);
		fake_part(root, PART_TIMER, 10 * ms);
		d.parent = id;
		d.id = 10 * id;
		d.name = "lock";
		d.begin = 10 * ms;
		d.end = 60 * ms;
		fake_part(fake_span(f, &d), PART_FUTEX, 40 * ms);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct view_query q = VIEW_QUERY_INIT;
	q.trace_id = 2;
	struct rows *rows = build("compare", tl, &q);
	const struct view *v = &view_compare;
	guint root = find(v, rows, "get", NULL), lock = find(v, rows, "lock", NULL);
	g_assert_cmpint(cell(v, rows, root, "a_ns").i, ==, 100 * FAKE_MS);	/* of 200 */
	g_assert_cmpint(cell(v, rows, root, "delta_ns").i, ==, 50 * FAKE_MS);
	g_assert_cmpint(cell(v, rows, root, "timer_delta_ns").i, ==, 10 * FAKE_MS);
	g_assert_cmpint(cell(v, rows, root, "futex_delta_ns").i, ==, 0);
	g_assert_cmpint(cell(v, rows, lock, "futex_delta_ns").i, ==, 40 * FAKE_MS);
	g_assert_cmpint(cell(v, rows, lock, "user_delta_ns").i, ==, 10 * FAKE_MS);
	g_assert_cmpint(cell(v, rows, find(v, rows, "(all)", NULL), "delta_ns").i, ==,
			cell(v, rows, root, "delta_ns").i + cell(v, rows, lock, "delta_ns").i);
	rows_free(rows);
}

static void test_usual(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT;
	q.trace_id = FAKE_VICTIM;
	struct rows *rows = build("compare", tl, &q);
	const struct compare *cmp = rows->extra;
	guint lock = find(&view_compare, rows, "lock", NULL);
	guint all = find(&view_compare, rows, "(all)", NULL);
	g_assert_true(cmp->usual);
	g_assert_cmpuint(cmp->n_all, ==, FAKE_GOOD + 2);	/* not itself, not the open one */
	g_assert_cmpuint(cmp->n_usual, ==, (FAKE_GOOD + 2 + 3) / 4);
	/* The same usual as that of WHY and xUSUAL: its mean is near the 25th percentile. */
	g_autoptr(blk_history) h = history_new(tl);
	int64_t usual = history_usual(h, timeline_find_trace(tl, FAKE_VICTIM)->root);
	g_assert_cmpint(ABS(cmp->b_ns - usual), <, usual / 20);
	g_assert_cmpint(cell(&view_compare, rows, lock, "a_ns").i, ==, 54700000);
	g_assert_cmpint(cell(&view_compare, rows, lock, "futex_delta_ns").i, ==, 53240000);
	g_assert_cmpint(cell(&view_compare, rows, all, "a_ns").i, ==, cmp->a_ns);
	g_assert_cmpint(cell(&view_compare, rows, all, "b_ns").i, ==, cmp->b_ns);
	g_assert_nonnull(strstr(rows->explanation, "longer: lock +54.6ms (futex +53.2ms)"));
	g_assert_nonnull(strstr(rows->about, "against the usual"));
	rows_free(rows);
}

/* Both ways round it is the same with the other sign. */
static void test_two(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT, back = VIEW_QUERY_INIT;
	q.trace_id = back.other_trace = FAKE_HOLDER;
	q.other_trace = back.trace_id = FAKE_VICTIM;
	struct rows *there = build("compare", tl, &q), *here = build("compare", tl, &back);
	const struct view *v = &view_compare;
	g_assert_cmpuint(there->rows->len, ==, here->rows->len);
	for (guint i = 0; i < there->rows->len; i++) {
		struct value kind = cell(v, there, i, "kind");
		guint k = find(v, here, cell(v, there, i, "name").s,
			       kind.kind == VALUE_NONE ? NULL : kind.s);
		g_assert_cmpint(cell(v, there, i, "delta_ns").i, ==, -cell(v, here, k, "delta_ns").i);
		g_assert_cmpint(cell(v, there, i, "a_ns").i, ==, cell(v, here, k, "b_ns").i);
		g_assert_cmpint(cell(v, there, i, "timer_delta_ns").i, ==,
				-cell(v, here, k, "timer_delta_ns").i);
	}
	guint root = find(v, there, "thumbnail", NULL);
	g_assert_cmpint(cell(v, there, root, "timer_delta_ns").i, ==, 59930000);
	g_assert_false(((const struct compare *)there->extra)->usual);
	rows_free(there);
	rows_free(here);
}

/* A span that is the only one of its name; a trace that is not there. */
static void test_nothing_to_compare(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 1, "x");
	fake_second(f, 0);
	fake_span(f, &(struct fake_span){ .trace = 5, .id = 5, .name = "only", .service = "s",
					  .thread = t, .begin = 0, .end = FAKE_MS });
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = build("compare", tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	g_assert_cmpint(((const struct compare *)rows->extra)->b_ns, ==, -1);
	g_assert_cmpint(cell(&view_compare, rows, 0, "delta_ns").kind, ==, VALUE_NONE);
	g_assert_null(rows->explanation);
	rows_free(rows);
	q.trace_id = 99;
	rows = build("compare", tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 0);
	g_assert_cmpuint(((const struct compare *)rows->extra)->trace_id, ==, 0);
	rows_free(rows);
	q.trace_id = 5;
	q.other_trace = 99;
	rows = build("compare", tl, &q);
	g_assert_nonnull(strstr(rows->about, "not in memory"));
	rows_free(rows);
}

/* --- changed --- */

static void test_changed(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("changed");
	struct view_query q = VIEW_QUERY_INIT;
	at_second(&q, 3);
	struct rows *rows = build("changed", tl, &q);
	guint i = find(v, rows, "thumbnail", NULL);
	int64_t now = cell(v, rows, i, "avg_ns").i, before = cell(v, rows, i, "avg_before_ns").i;
	int64_t count = cell(v, rows, i, "count").i;
	g_assert_cmpint(count, >=, 3);
	g_assert_cmpint(cell(v, rows, i, "avg_delta_ns").i, ==, now - before);
	g_assert_cmpint(cell(v, rows, i, "lost_ns").i, ==, (now - before) * count);
	g_assert_nonnull(strstr(rows->explanation, "thumbnail takes"));
	guint send = find(v, rows, "send", "server");
	g_assert_cmpint(cell(v, rows, send, "avg_timer_delta_ns").i, >, 10 * FAKE_MS);
	g_assert_true(g_str_has_prefix(cell(v, rows, send, "mainly").s, "timer +"));
	rows_free(rows);
	/* The first second has none before it; all else that is kept is something. */
	at_second(&q, 0);
	rows = build("changed", tl, &q);
	i = find(v, rows, "thumbnail", NULL);
	g_assert_cmpint(cell(v, rows, i, "lost_ns").kind, ==, VALUE_NONE);
	g_assert_cmpint(cell(v, rows, i, "count_before").i, ==, 0);
	g_assert_nonnull(strstr(rows->explanation, "nothing is known"));
	rows_free(rows);
	q.history = true;
	rows = build("changed", tl, &q);
	i = find(v, rows, "thumbnail", NULL);
	g_assert_cmpint(cell(v, rows, i, "count").i + cell(v, rows, i, "count_before").i, ==,
			FAKE_GOOD + 3);
	g_assert_cmpint(cell(v, rows, i, "lost_ns").i, <, 0);
	rows_free(rows);
	q.by = BY_NAME;
	rows = build("changed", tl, &q);
	find(v, rows, "lock", NULL);
	rows_free(rows);
}

/* By cause: waits for another service are followed into it, and the causes of an operation sum to its increase. */
static void test_changed_by_cause(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("changed");
	struct view_query q = VIEW_QUERY_INIT;
	const int64_t timer_least = 10 * FAKE_MS;
	int64_t sum = 0, timer = 0, socket = 0;
	unsigned n_little = 0;
	at_second(&q, 3);
	struct rows *rows = build("changed", tl, &q);
	int64_t more = cell(v, rows, find(v, rows, "thumbnail", NULL), "avg_delta_ns").i;
	rows_free(rows);
	q.by = BY_CAUSE;
	q.quiet = true;
	rows = build("changed", tl, &q);
	g_assert_nonnull(strstr(rows->explanation,
				"against the quiet time before, 06:08:35-06:08:38: thumbnail: timer +"));
	g_assert_nonnull(strstr(rows->explanation, " in store in stored"));
	rows_free(rows);
	q.quiet = false;
	rows = build("changed", tl, &q);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value each = cell(v, rows, i, "avg_delta_ns"), mainly = cell(v, rows, i, "mainly");

		g_assert_cmpstr(cell(v, rows, i, "name").s, ==, "thumbnail");	/* a server half is no request */
		g_assert_cmpint(cell(v, rows, i, "errors").kind, ==, VALUE_NONE);
		sum += each.i;
		/* What changed little beside the others is one line on the screen. */
		g_assert_true(v->is_idle(rows->rows->pdata[i], rows) == (ABS(each.i) < timer_least / 100));
		n_little += v->is_idle(rows->rows->pdata[i], rows);
		if (g_str_has_prefix(mainly.s, "timer") && !strcmp(cell(v, rows, i, "phase").s, "store") &&
		    !strcmp(cell(v, rows, i, "service").s, "stored"))
			timer += each.i;
		if (g_str_has_prefix(mainly.s, "socket"))
			socket += each.i;
	}
	g_assert_cmpint(ABS(sum - more), <=, 2 * rows->rows->len);	/* means are rounded */
	g_assert_cmpint(timer, >, timer_least);
	g_assert_cmpuint(n_little, >, 0);
	g_assert_cmpint(socket, <, FAKE_MS);
	rows_free(rows);
	/* The first second has no quiet time before it. */
	at_second(&q, 0);
	q.quiet = true;
	rows = build("changed", tl, &q);
	g_assert_nonnull(strstr(rows->explanation, "against the quiet time before: there is none"));
	rows_free(rows);
}

/* A request of a second: work, then store of another service, then something that ends after it. */
static void phased(struct fake *f, unsigned second, int64_t work, int64_t store)
{
	int64_t at = second * FAKE_S + 100 * FAKE_MS;
	uint64_t trace = 100 + second, id = 10 * trace;
	const struct { const char *name, *service; int64_t begin, end; } spans[] = {
		{ "get", "web", 0, work + store + FAKE_MS }, { "work", "web", 0, work },
		{ "store", "disk", work, work + store }, { "later", "web", work, work + store + FAKE_S / 2 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(spans); i++)
		fake_span(f, &(struct fake_span){ .trace = trace, .id = id + i, .parent = i ? id : 0,
			.name = spans[i].name, .service = spans[i].service, .thread = ID_NONE,
			.begin = at + spans[i].begin, .end = at + spans[i].end, .state = SPAN_COMPLETE });
}

/* The phase that became longer is named, if it is most of the increase. */
static void test_changed_phase(void)
{
	static const struct { int64_t work, store; const char *phase; } all[] = {
		{ 20, 10, NULL },			/* nothing before it */
		{ 21, 40, "store in disk" },
		{ 41, 40, "work" },
		{ 40, 40, NULL },			/* shorter */
		{ 45, 45, "store in disk" },		/* half each: by name */
	};
	struct fake *f = fake_new();
	const struct view *v = view_find("changed");

	for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
		fake_second(f, i);
		phased(f, i, all[i].work * FAKE_MS, all[i].store * FAKE_MS);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
		struct view_query q = VIEW_QUERY_INIT;

		at_second(&q, i);
		struct rows *rows = build("changed", tl, &q);
		guint row = find(v, rows, "get", NULL);
		struct value phase = cell(v, rows, row, "phase");

		g_assert_cmpstr(phase.kind == VALUE_TEXT ? phase.s : NULL, ==, all[i].phase);
		rows_free(rows);
	}
	struct view_query q = VIEW_QUERY_INIT;
	at_second(&q, 1);
	struct rows *rows = build("changed", tl, &q);
	g_assert_cmpint(cell(v, rows, 0, "phase_delta_ns").i, ==, 30 * FAKE_MS);
	g_assert_nonnull(strstr(rows->explanation, ", in store in disk +30.0ms"));
	rows_free(rows);
}

#define LONG_CHAIN 60000

/* Phases of spans far down in a large tree are not looked for: a walk down from each would take minutes. */
static void test_changed_deep(void)
{
	struct fake *f = fake_new();
	for (unsigned second = 0; second < 2; second++) {
		fake_second(f, second);
		for (uint64_t i = 1; i <= LONG_CHAIN; i++)
			fake_span(f, &(struct fake_span){ .trace = 1 + second, .id = i, .parent = i - 1,
				.name = i == 1 ? "first" : i % 2 ? "odd" : "even", .service = "s",
				.thread = ID_NONE, .kind = SPAN_SERVER,
				.begin = second * FAKE_S + (int64_t)i,
				.end = second * FAKE_S + (100 + 100 * (int64_t)second) * FAKE_MS - (int64_t)i });
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct view_query q = VIEW_QUERY_INIT;
	const struct view *v = view_find("changed");
	at_second(&q, 1);
	struct rows *rows = build("changed", tl, &q);
	struct value first = cell(v, rows, find(v, rows, "first", "server"), "phase");
	g_assert_cmpstr(first.kind == VALUE_TEXT ? first.s : NULL, ==, "even");
	g_assert_cmpint(cell(v, rows, find(v, rows, "odd", "server"), "phase").kind, !=, VALUE_TEXT);
	rows_free(rows);
}

/* --- open --- */

static void test_open(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("open");
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = build("open", tl, &q);
	guint i = find(v, rows, "lock", NULL);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	g_assert_cmpstr(cell(v, rows, i, "now").s, ==, "futex");
	g_assert_cmpstr(cell(v, rows, i, "on").s, ==, "0x55efb1a37580");
	g_assert_cmpstr(cell(v, rows, i, "call").s, ==, "futex");
	g_assert_cmpint(cell(v, rows, i, "waker").kind, ==, VALUE_NONE);
	g_assert_cmpint(cell(v, rows, i, "took_ns").kind, ==, VALUE_NONE);
	g_assert_cmpint(cell(v, rows, i, "end_ns").kind, ==, VALUE_NONE);
	rows_free(rows);
	/* Looked back at, while the victim waited: what it waits for, and what came of it. */
	q.from_ns = FAKE_T0 + 3 * FAKE_S;
	q.to_ns = q.from_ns + 900 * FAKE_MS;
	rows = build("open", tl, &q);
	i = find(v, rows, "lock", NULL);
	g_assert_cmpuint(cell(v, rows, i, "trace_id").i, ==, (int64_t)FAKE_VICTIM);
	g_assert_cmpint(cell(v, rows, i, "open_ns").i, ==, 15900000);
	g_assert_cmpstr(cell(v, rows, i, "now").s, ==, "futex");
	g_assert_cmpint(cell(v, rows, i, "now_ns").i, ==, 15850000);
	g_assert_cmpstr(cell(v, rows, i, "waker").s, ==, "thumbd-w0/254");
	g_assert_cmpint(cell(v, rows, i, "took_ns").i, ==, 54700000);
	guint computes = 0;
	for (guint k = 0; k < rows->rows->len; k++) {
		struct value now = cell(v, rows, k, "now");
		computes += now.kind == VALUE_TEXT && strcmp(now.s, "running") == 0;
	}
	g_assert_cmpuint(computes, ==, 0);	/* holder, victim and slow store all wait */
	rows_free(rows);
	/* Woken, but not yet on a CPU. */
	q.to_ns = FAKE_T0 + 3 * FAKE_S + 879 * FAKE_MS + 5 * FAKE_MS + 54000000;
	rows = build("open", tl, &q);
	g_assert_cmpstr(cell(v, rows, find(v, rows, "lock", NULL), "now").s, ==, "wakeup");
	rows_free(rows);
}

/* --- slow spans --- */

static void test_slow_spans(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("slow-spans");
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = build("slow-spans", tl, &q);	/* over all */
	g_assert_cmpuint(rows->rows->len, ==, 64);
	for (guint i = 1; i < rows->rows->len; i++)
		g_assert_cmpint(cell(v, rows, i - 1, "duration_ns").i, >=,
				cell(v, rows, i, "duration_ns").i);
	rows_free(rows);
	q.by = BY_NAME;
	rows = build("slow-spans", tl, &q);
	unsigned locks = 0;
	for (guint i = 0; i < rows->rows->len; i++) {
		g_assert_cmpint(cell(v, rows, i, "rank").i, <=, 8);
		locks += strcmp(cell(v, rows, i, "name").s, "lock") == 0;
	}
	g_assert_cmpuint(locks, ==, 8);
	g_assert_nonnull(strstr(cell(v, rows, find(v, rows, "lock", NULL), "verdict").s, "lock"));
	rows_free(rows);
}

/* --- what is said of spans, and found again --- */

static void test_search(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	static const char *const filters[] = {
		"tags =~ \"error=EIO\"", "\"error=EIO\"", "annotations =~ cs && tags =~ error",
		"name == thumbnail && errors > 0", "service == thumbd && tags =~ EIO",
	};
	const struct view *v = view_find("traces");
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		struct view_query q = VIEW_QUERY_INIT;
		g_autoptr(GError) error = NULL;
		struct expr *e = view_expr(v, filters[i], &error);
		g_assert_no_error(error);
		struct rows *rows = v->build(tl, &q);
		rows_filter(rows, v, e);
		g_assert_cmpuint(rows->rows->len, ==, 1);
		g_assert_cmpuint(cell(v, rows, 0, "trace_id").i, ==, (int64_t)FAKE_GOOD_TRACE(7));
		rows_free(rows);
		expr_free(e);
	}
}

/* Requests are found by what only spans below them are. */
static void test_search_below(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	static const struct { const char *filter; guint n; } cases[] = {
		{ "all_services =~ stored", FAKE_GOOD + 3 },
		{ "all_names =~ \"^thumbnail lock$\"", 1 },	/* the open one */
		{ "all_names =~ encode", FAKE_GOOD + 3 },
		{ "service == stored", 0 },
	};
	const struct view *v = view_find("traces");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct view_query q = VIEW_QUERY_INIT;
		g_autoptr(GError) error = NULL;
		struct expr *e = view_expr(v, cases[i].filter, &error);
		g_assert_no_error(error);
		struct rows *rows = v->build(tl, &q);
		rows_filter(rows, v, e);
		g_assert_cmpuint(rows->rows->len, ==, cases[i].n);
		rows_free(rows);
		expr_free(e);
	}
}

/* Of one trace all spans are there, whatever the range. */
static void test_spans_of_trace(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT;
	at_second(&q, 0);
	q.trace_id = FAKE_VICTIM;
	struct rows *rows = build("spans", tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 8);
	rows_free(rows);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/compare/sums", test_sums);
	g_test_add_func("/compare/usual", test_usual);
	g_test_add_func("/compare/two", test_two);
	g_test_add_func("/compare/nothing", test_nothing_to_compare);
	g_test_add_func("/changed/story", test_changed);
	g_test_add_func("/changed/by-cause", test_changed_by_cause);
	g_test_add_func("/changed/phase", test_changed_phase);
	g_test_add_func("/changed/deep", test_changed_deep);
	g_test_add_func("/open/story", test_open);
	g_test_add_func("/slow-spans/story", test_slow_spans);
	g_test_add_func("/search/traces", test_search);
	g_test_add_func("/search/below", test_search_below);
	g_test_add_func("/search/spans-of-trace", test_spans_of_trace);
	return g_test_run();
}
