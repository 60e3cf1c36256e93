/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Phases and services: sums by hand, shares that close.
 */
#include "lib/fake_timeline.h"
#include "state/store/span_tree.h"
#include "views/view.h"

#include <string.h>

static struct value cell(const struct view *v, const struct rows *rows, guint row,
			 const char *id)
{
	int c = view_column(v, id);
	g_assert_cmpint(c, >=, 0);
	return column_value(&v->columns[c], rows->rows->pdata[row], rows);
}

static int find(const struct view *v, const struct rows *rows, const char *name,
		const char *kind)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value k = cell(v, rows, i, "kind");
		if (strcmp(cell(v, rows, i, "name").s, name) == 0 &&
		    g_strcmp0(k.kind == VALUE_NONE ? NULL : k.s, kind) == 0)
			return i;
	}
	return -1;
}

static struct rows *phases(const struct timeline *tl, const char *operation)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.operation = operation;
	return view_find("phases")->build(tl, &q);
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("phases");
	struct rows *rows = phases(tl, NULL);
	int root = find(v, rows, "thumbnail", NULL), self = find(v, rows, "(self)", NULL);
	int lock = find(v, rows, "lock", NULL), send = find(v, rows, "send", "client");
	g_assert_cmpuint(rows->rows->len, ==, 9);
	g_assert_cmpint(cell(v, rows, root, "count").i, ==, FAKE_GOOD + 3);
	g_assert_cmpint(cell(v, rows, self, "count").i, ==, FAKE_GOOD + 3);
	g_assert_cmpint(cell(v, rows, root, "errors").i, ==, 1);
	g_assert_cmpint(cell(v, rows, lock, "max_ns").i, ==, 54700000);
	g_assert_cmpint(cell(v, rows, send, "max_ns").i, ==, 80800000);
	g_assert_cmpfloat(cell(v, rows, root, "share_ratio").d, ==, 1.0);
	g_assert_true(cell(v, rows, lock, "futex_ratio").d > 0.9);
	g_assert_true(cell(v, rows, self, "timer_ratio").d > 0.7);
	g_assert_cmpstr(cell(v, rows, find(v, rows, "store", NULL), "service").s, ==, "stored");
	rows_free(rows);
}

/* What is of the parents, what by call, and the longest; the way to another service and back. */
static void test_whole_columns(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("phases");
	struct rows *rows = phases(tl, NULL);
	int root = find(v, rows, "thumbnail", NULL), lock = find(v, rows, "lock", NULL);
	int store = find(v, rows, "store", NULL), server = find(v, rows, "send", "server");
	g_assert_cmpint(cell(v, rows, root, "parent_ratio").kind, ==, VALUE_NONE);
	g_assert_cmpfloat(cell(v, rows, lock, "parent_ratio").d, ==,
			  cell(v, rows, lock, "share_ratio").d);
	g_assert_cmpfloat(cell(v, rows, store, "parent_ratio").d, ==,
			  (double)cell(v, rows, store, "total_ns").i /
			  cell(v, rows, server, "total_ns").i);
	g_assert_cmpint(cell(v, rows, server, "self_ns").i, ==, (FAKE_GOOD + 3) * 200000);
	g_assert_cmpuint(cell(v, rows, lock, "worst_trace_id").i, ==, (int64_t)FAKE_VICTIM);
	g_assert_nonnull(strstr(cell(v, rows, lock, "verdict").s, "slept holding it"));
	rows_free(rows);

	struct view_query q = VIEW_QUERY_INIT;
	v = view_find("services");
	rows = v->build(tl, &q);
	guint called = 0;
	while (cell(v, rows, called, "caller").kind == VALUE_NONE)
		called++;
	g_assert_cmpint(cell(v, rows, called, "p50_gap_ns").i, ==, 800000);
	g_assert_cmpint(cell(v, rows, called, "max_gap_ns").i, ==, 800000);
	g_assert_cmpint(cell(v, rows, called, "gap_ns").i, ==, (FAKE_GOOD + 3) * 800000);
	g_assert_cmpint(cell(v, rows, called, "skewed").i, ==, 0);
	g_assert_cmpuint(cell(v, rows, called, "worst_trace_id").i, ==, (int64_t)FAKE_SLOW_STORE);
	rows_free(rows);
}

/* The direct children and (self) cover the operation: nothing is lost between. */
static void test_shares_close(void)
{
	static const char *const direct[][2] = {
		{ "(self)", NULL }, { "lock", NULL }, { "open", NULL }, { "decode", NULL },
		{ "encode", NULL }, { "send", "client" },
	};
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("phases");
	struct rows *rows = phases(tl, "thumbnail");
	int64_t total = 0, whole = cell(v, rows, find(v, rows, "thumbnail", NULL), "total_ns").i;
	for (size_t i = 0; i < G_N_ELEMENTS(direct); i++)
		total += cell(v, rows, find(v, rows, direct[i][0], direct[i][1]), "total_ns").i;
	g_assert_cmpint(total, ==, whole);
	rows_free(rows);
}

/* What is no root can be looked at as well: what is below it. */
static void test_inner_operation(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("phases");
	struct rows *rows = phases(tl, "send");
	g_assert_cmpint(find(v, rows, "thumbnail", NULL), ==, -1);
	g_assert_cmpint(find(v, rows, "store", NULL), >=, 0);
	int client = find(v, rows, "send", "client");
	g_assert_cmpint(cell(v, rows, client, "count").i, ==, FAKE_GOOD + 3);
	rows_free(rows);
	rows = phases(tl, "no such");
	g_assert_cmpuint(rows->rows->len, ==, 0);
	rows_free(rows);
}

static void test_range(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("phases");
	int64_t count = 0;
	for (int s = 0; s < 6; s++) {
		struct view_query q = VIEW_QUERY_INIT;
		q.from_ns = FAKE_T0 + s * FAKE_S;
		q.to_ns = q.from_ns + FAKE_S;
		struct rows *rows = v->build(tl, &q);
		int lock = find(v, rows, "lock", NULL);
		count += lock < 0 ? 0 : cell(v, rows, lock, "count").i;
		rows_free(rows);
	}
	g_assert_cmpint(count, ==, FAKE_GOOD + 3);
}

static void test_services(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("services");
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	g_assert_true(cell(v, rows, 0, "caller").kind == VALUE_NONE);
	g_assert_cmpstr(cell(v, rows, 0, "service").s, ==, "thumbd");
	g_assert_cmpint(cell(v, rows, 0, "count").i, ==, FAKE_GOOD + 3);
	g_assert_cmpint(cell(v, rows, 0, "errors").i, ==, 1);
	g_assert_cmpstr(cell(v, rows, 1, "caller").s, ==, "thumbd");
	g_assert_cmpstr(cell(v, rows, 1, "service").s, ==, "stored");
	g_assert_cmpint(cell(v, rows, 1, "max_ns").i, ==, 80800000);	/* as the caller saw it */
	g_assert_cmpint(cell(v, rows, 1, "count").i, ==, FAKE_GOOD + 3);
	rows_free(rows);
	q.service = "stored";
	rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	rows_free(rows);
}

/* A database tells nothing: its row is what the callers say. Where the called service has spans, or
 * the other end is the same service, they tell. */
static void test_services_outside(void)
{
	struct fake *f = fake_new();
	static const struct {
		const char *name, *service, *peer; uint64_t parent; enum span_kind kind; int ms;
	} all[] = {
		{ "get", "web", NULL, 0, SPAN_SERVER, 90 }, { "select", "web", "mysql", 1, SPAN_CLIENT, 10 },
		{ "select", "web", "mysql", 1, SPAN_CLIENT, 30 }, { "ask", "web", "store", 1, SPAN_CLIENT, 20 },
		{ "ask", "store", NULL, 4, SPAN_SERVER, 15 }, { "own", "web", "web", 1, SPAN_CLIENT, 5 },
		{ "local", "web", "redis", 1, SPAN_LOCAL, 5 }, { "none", "web", "", 1, SPAN_CLIENT, 5 },
	};
	fake_second(f, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = i + 1,
			.parent = all[i].parent, .name = all[i].name, .service = all[i].service,
			.kind = all[i].kind, .thread = ID_NONE, .begin = 0, .end = all[i].ms * FAKE_MS });
		if (all[i].peer)
			fake_tag(s, TAG_PEER_SERVICE, all[i].peer);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view *v = view_find("services");
	struct view_query q = VIEW_QUERY_INIT;
	q.to_ns = INT64_MAX;
	struct rows *rows = v->build(tl, &q);
	static const char *const services[] = { "web", "mysql", "store" };
	g_assert_cmpuint(rows->rows->len, ==, G_N_ELEMENTS(services));
	for (guint i = 0; i < rows->rows->len; i++)
		g_assert_cmpstr(cell(v, rows, i, "service").s, ==, services[i]);
	g_assert_cmpstr(cell(v, rows, 1, "caller").s, ==, "web");
	g_assert_cmpint(cell(v, rows, 1, "count").i, ==, 2);
	g_assert_cmpint(cell(v, rows, 1, "max_ns").i, ==, 30 * FAKE_MS);
	g_assert_cmpint(cell(v, rows, 1, "unknown_ns").i, ==, 40 * FAKE_MS);
	g_assert_true(cell(v, rows, 1, "gap_ns").kind == VALUE_NONE);
	g_assert_cmpstr(((struct row *)rows->rows->pdata[1])->drill.service, ==, "web");
	g_assert_cmpint(cell(v, rows, 2, "count").i, ==, 1);
	g_assert_cmpint(cell(v, rows, 2, "max_ns").i, ==, 15 * FAKE_MS);
	rows_free(rows);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/phases/whole-columns", test_whole_columns);
	g_test_add_func("/phases/story", test_story);
	g_test_add_func("/phases/shares-close", test_shares_close);
	g_test_add_func("/phases/inner-operation", test_inner_operation);
	g_test_add_func("/phases/range", test_range);
	g_test_add_func("/services/story", test_services);
	g_test_add_func("/services/outside", test_services_outside);
	return g_test_run();
}
