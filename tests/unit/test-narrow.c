/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --only and --against: what they take, what they refuse.
 */
#include "app/narrow.h"

#include <string.h>

static void test_takes(void)
{
	struct view_query q;

	g_assert_true(narrow_parse(&q, NULL, NULL, NULL));
	g_assert_cmpuint(q.trace_id, ==, 0);
	g_assert_cmpint(q.pid, ==, -1);
	g_assert_cmpuint(q.host, ==, ID_NONE);
	narrow_clear(&q);
	g_assert_true(narrow_parse(&q, "trace=0x1e9873c2aa104f01, span=ff,pid=0,tid=7,service=a b,"
				   "operation=x=y", "history", NULL));
	g_assert_cmpuint(q.trace_id, ==, UINT64_C(0x1e9873c2aa104f01));
	g_assert_cmpuint(q.span_id, ==, 0xff);
	g_assert_cmpint(q.pid, ==, 0);
	g_assert_cmpint(q.tid, ==, 7);
	g_assert_cmpstr(q.service, ==, "a b");
	g_assert_cmpstr(q.operation, ==, "x=y");
	g_assert_true(q.history);
	narrow_clear(&q);
	g_assert_true(narrow_parse(&q, "service=a,service=b", "aa:bb", NULL));
	g_assert_cmpstr(q.service, ==, "b");
	g_assert_cmpuint(q.other_trace, ==, 0xaa);
	g_assert_cmpuint(q.other_span, ==, 0xbb);
	g_assert_cmpint(q.other_kind, ==, -1);
	g_assert_cmpuint(q.trace_upper | q.other_upper, ==, 0);
	narrow_clear(&q);
	g_assert_true(narrow_parse(&q, "trace=0x463ac35c9f6413ad48485a3953bb6124",
				   "b48485a3953bb6124:1", NULL));
	g_assert_cmpuint(q.trace_id, ==, UINT64_C(0x48485a3953bb6124));
	g_assert_cmpuint(q.trace_upper, ==, UINT64_C(0x463ac35c9f6413ad));
	g_assert_cmpuint(q.other_upper, ==, 0xb);
	narrow_clear(&q);
	g_assert_false(query_has_trace(&q));
	g_assert_true(narrow_parse(&q, "trace=0,span=1", NULL, NULL));	/* BlkKin makes none, others may */
	g_assert_true(query_has_trace(&q) && q.trace_id == 0);
	narrow_clear(&q);
	narrow_clear(&q);
}

static void test_refuses(void)
{
	static const char *const bad[][2] = {
		{ "", NULL }, { "trace", NULL }, { "trace=", NULL }, { "trace=0,span=0", NULL },
		{ "trace=xyz", NULL }, { "trace=111122223333444455556666777788889", NULL },
		{ "trace=1,span=11112222333344445", NULL }, { NULL, "1:11112222333344445" },
		{ "pid=-1", NULL }, { "pid=4294967297", NULL }, { "tid=1x", NULL },
		{ "service=", NULL }, { "color=red", NULL }, { "trace=1,,pid=2", NULL },
		{ "trace=1,", NULL }, { NULL, "" }, { NULL, "0" }, { NULL, "aa:" }, { NULL, "aa:0" },
		{ NULL, "never" }, { "service=a", "yesterday" }, { "servic=a", NULL },
		{ "services=a", NULL },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		struct view_query q;

		g_assert_false(narrow_parse(&q, bad[i][0], bad[i][1], &error));
		g_assert_nonnull(error);
		g_assert_null(q.service);
	}
}

/* A view takes what its rows can be narrowed to, and nothing that it would ignore. */
static void test_fits(void)
{
	static const struct { const char *view, *only, *message; } table[] = {
		{ "spans", "trace=1,span=2,pid=3,tid=4,service=a,operation=b", NULL },
		{ "syscalls", "pid=0,tid=4", NULL }, { "phases", "trace=1,operation=b", NULL },
		{ "syscalls", "trace=1", NULL }, { "syscalls", "span=1", NULL },
		{ "syscalls", "pid=3,operation=b", NULL },
		{ "path", "trace=1,span=1", NULL }, { "path", "span=1", "span=ID needs trace=ID" },
		{ "slow", "trace=1", "view slow takes pid=, tid=, not trace=" },
		{ "traces", "trace=1,span=2", "not span=" },
		{ "peers", "tid=4", "view peers takes pid=, not tid=" },
		{ "cpus", "pid=0", "view cpus takes nothing, not pid=" },
		{ "losses", "service=a", "takes nothing" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		struct view_query q;
		g_assert_true(narrow_parse(&q, table[i].only, NULL, NULL));
		bool fits = narrow_fits(&q, view_find(table[i].view), &error);
		g_assert_cmpint(fits, ==, !table[i].message);
		if (!fits && !strstr(error->message, table[i].message))
			g_error("'%s' is not in: %s", table[i].message, error->message);
		narrow_clear(&q);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/narrow/takes", test_takes);
	g_test_add_func("/narrow/refuses", test_refuses);
	g_test_add_func("/narrow/fits", test_fits);
	return g_test_run();
}
