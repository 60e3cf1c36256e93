/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view.only is true of every view: what it names narrows the rows, and nothing else changes them.
 * And where Enter leads, the view can be narrowed by the row.
 */
#include "export/export.h"
#include "lib/sources.h"
#include "lib/fake_timeline.h"
#include "lib/made_alerts.h"
#include "lib/traces.h"
#include "state/publish/model.h"
#include "views/narrowing.h"
#include "views/registry.h"

#include <string.h>

static struct made_alerts made;
static GHashTable *with_rows;		/* views */

/* Two hosts, each with a process that calls, reads a file, and has a span; containers on one. */
static struct timeline *two_hosts(void)
{
	struct fake *f = fake_new();
	struct second *s = fake_second(f, 0);
	uint32_t hosts[] = { 0, fake_host(f, "web2") };

	for (unsigned i = 0; i < 4; i++) {
		uint32_t host = hosts[i / 2], t = fake_thread(f, host, 100 + (int)i, 100 + (int)i, "worker");
		g_autofree char *service = g_strdup_printf("service-%u", i);

		fake_ns(f, t, 1 + i, 1 + i, 1 + i);
		fake_call(s, t, fake_string(f, "read"), 3, 1000);
		fake_io(s, t, fake_file(f, host, FILE_REGULAR, "/data"), 1, 1, 100, 1000);
		fake_event(s, host, fake_string(f, "sched_switch"), 7);
		fake_span(f, &(struct fake_span){ .trace = i + 1, .id = i + 1, .name = service, .service = service,
			.thread = t, .begin = FAKE_MS, .end = (2 + i) * FAKE_MS, .state = SPAN_COMPLETE });
	}
	return fake_done(f);
}

static char *printed(const struct view *v, const struct timeline *tl, const struct view_query *q)
{
	struct rows *rows = v->build(tl, q);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	g_assert_true(rows_print(out, v, rows, FORMAT_CSV, true));
	g_assert_cmpint(fclose(out), ==, 0);
	rows_free(rows);
	return text;
}

/* Narrowed to what is nowhere. */
static struct view_query to_nothing(const struct view_query *all, const struct narrowing *n)
{
	struct view_query q = *all;
	void *at = (char *)&q + n->offset;

	switch (n->kind) {
	case NARROWING_TRACE:
		query_set_trace(&q, UINT64_C(0x4711471147114711));
		break;
	case NARROWING_ID:
	case NARROWING_CONTAINER:
		*(uint64_t *)at = UINT64_C(0x4711471147114711);
		break;
	case NARROWING_NUMBER:
		*(int32_t *)at = 4711471;
		break;
	case NARROWING_HOST:
		*(uint32_t *)at = 4711;
		break;
	case NARROWING_TEXT:
		*(const char **)at = "nowhere";
	}
	g_assert_true(query_narrowed(&q) & n->only);
	return q;
}

static void check_one(const struct view *v, const struct timeline *tl, const struct view_query *all,
		      const struct narrowing *n)
{
	struct view_query q = to_nothing(all, n);
	g_autofree char *whole = printed(v, tl, all), *part = printed(v, tl, &q);
	bool any = strstr(whole, "\r\n") + 2 < whole + strlen(whole);
	bool same = g_str_equal(whole, part), wanted = !(view_honours(v, all->by) & n->only) || !any;

	if (any)
		g_hash_table_add(with_rows, (gpointer)v);
	if (same != wanted)
		g_error("%s by %s, narrowed by %s, has %s rows", v->id, view_by_words[all->by],
			n->name ? n->name : "host or container", same ? "the same" : "other");
}

static void check(const struct view *v, const struct timeline *tl, enum view_by by)
{
	struct view_query all = VIEW_QUERY_INIT, of_trace;

	all.by = by;
	all.alerts = made.alerts;
	g_assert_true(timeline_coverage(tl, &all.from_ns, &all.to_ns));
	of_trace = all;
	if (v->only & ONLY_TRACE && timeline_n_traces(tl))
		of_trace.trace_id = timeline_trace(tl, 0)->trace_id;
	for (size_t i = 0; i < N_NARROWINGS; i++) {
		/* Who asks takes care that it is not asked for (view_by_narrowed()). */
		if (!(v->only & ~view_honours(v, by) & narrowings[i].only))
			check_one(v, tl, narrowings[i].only == ONLY_SPAN ? &of_trace : &all, &narrowings[i]);
	}
}

static void check_all(struct timeline *tl)
{
	made_alerts_init(&made, (const char *const[]){ "losses > 0", "p99 of any > 1ms", NULL }, tl);
	for (const struct view *const *v = view_all; *v; v++) {
		check(*v, tl, (*v)->default_by);
		for (enum view_by by = 0; by < BY_N; by++)
			if (view_has_by(*v, by))
				check(*v, tl, by);
	}
	made_alerts_clear(&made);
	timeline_free(tl);
}

static void check_recording(const char *name)
{
	struct recording *r = traces_record_counting(name);
	struct timeline *tl = timeline_new(0);
	struct model *m = model_new(&(struct model_options){ 0 });

	for (size_t i = 0; r && i < recording_n(r); i++)
		model_feed(m, recording_tables(r), recording_event(r, i), 1);
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	if (r)
		check_all(tl);
	else
		timeline_free(tl);
	recording_free(r);
}

static void test_table(void)
{
	with_rows = g_hash_table_new(NULL, NULL);
	check_all(two_hosts());
	check_all(fake_timeline());
	check_recording("kernel-ust/trace");
	check_recording("net/trace");
	check_recording("faults/trace");
	check_recording("lost/trace");
	for (const struct view *const *v = view_all; *v; v++)
		g_assert_true(g_hash_table_contains(with_rows, *v));
	g_hash_table_unref(with_rows);
}

static void test_widen(void)
{
	struct view_query q = VIEW_QUERY_INIT;

	g_assert_cmpuint(query_narrowed(&q), ==, 0);
	query_set_trace(&q, 0);			/* some writers make the id 0 */
	q.pid = 0;
	q.service = "a";
	g_assert_cmpuint(query_narrowed(&q), ==, ONLY_TRACE | ONLY_PID | ONLY_SERVICE);
	query_widen(&q, ONLY_PID | ONLY_TID);
	g_assert_cmpuint(query_narrowed(&q), ==, ONLY_PID);
	g_assert_false(query_has_trace(&q));
	q.span_id = 1;
	q.span_kind = 1;
	query_widen(&q, ONLY_TRACE);
	g_assert_cmpint(q.span_kind, ==, -1);
	g_assert_cmpuint(query_narrowed(&q), ==, 0);
}

/* Events and interrupts over all are nobody's. */
static void test_by(void)
{
	const struct view *v = view_find("interrupts");
	struct view_query q = VIEW_QUERY_INIT;

	g_assert_cmpint(view_by_narrowed(v, BY_NAME, &q), ==, BY_NAME);
	q.pid = 1;
	g_assert_cmpint(view_by_narrowed(v, BY_SYSTEM, &q), ==, BY_PROCESS);
	g_assert_cmpint(view_by_narrowed(v, BY_CONTAINER, &q), ==, BY_CONTAINER);
	q.tid = 1;
	g_assert_cmpint(view_by_narrowed(v, BY_CPU, &q), ==, BY_THREAD);
	g_assert_cmpint(view_by_narrowed(view_find("processes"), BY_SYSTEM, &q), ==, BY_SYSTEM);
}

/* What a row adds to what its view is narrowed to. */
static unsigned added(const struct row *row, const struct rows *rows)
{
	return query_narrowed(&row->drill) & ~query_narrowed(&rows->query) & ~(unsigned)ONLY_HOST;
}

static void test_drill(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n = 0;

	for (const struct view *const *v = view_all; *v; v++) {
		const struct view *to = (*v)->drill ? view_find((*v)->drill) : NULL;
		struct view_query q = VIEW_QUERY_INIT;

		q.by = (*v)->default_by;
		q.from_ns = FAKE_T0;
		q.to_ns = FAKE_T0 + 10 * FAKE_S;
		struct rows *rows = (*v)->build(tl, &q);
		for (guint i = 0; to && i < rows->rows->len; i++, n++) {
			unsigned by = added(rows->rows->pdata[i], rows);

			if (by && !(by & view_honours(to, to->default_by)))
				g_error("a row of %s leads to %s, which takes nothing of it", (*v)->id, to->id);
		}
		rows_free(rows);
	}
	g_assert_cmpuint(n, >, 20);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/narrowing/table", test_table);
	g_test_add_func("/narrowing/widen", test_widen);
	g_test_add_func("/narrowing/by", test_by);
	g_test_add_func("/narrowing/drill", test_drill);
	return g_test_run();
}
