/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of what views look at: trees of spans and critical paths. */
#include "base/limits.h"
#include "base/timefmt.h"
#include "lib/fake_timeline.h"
#include "lib/limit_test.h"
#include "lib/made_alerts.h"
#include "state/store/span_tree.h"
#include "views/causes.h"
#include "views/flame.h"
#include "views/history.h"
#include "views/metric_calls.h"
#include "views/overview.h"
#include "views/path.h"
#include "views/view.h"

#include <string.h>

/* A request through n + 1 threads, each of which waits for the next one: does the path lead to the last? */
static bool path_depth(uint64_t n)
{
	const int64_t middle = 2 * (int64_t)n + 10;
	struct fake *f = fake_new();

	for (int64_t i = 0; i <= (int64_t)n; i++) {
		const struct fake_span d = {
			.trace = 1, .id = (uint64_t)i + 1, .parent = (uint64_t)i, .kind = SPAN_LOCAL, .name = "s",
			.service = "s", .thread = fake_thread(f, 0, 100, 101 + (int)i, "worker"),
			.begin = i * FAKE_MS, .end = (2 * middle - i) * FAKE_MS, .state = SPAN_COMPLETE,
		};
		struct span *s = fake_span(f, &d);
		if (i < (int64_t)n)
			fake_wait(s, PART_SOCKET, (i + 1) * FAKE_MS, (2 * middle - i - 1) * FAKE_MS, 0, ID_NONE, 0);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = path_of(h, t, t->root);
	bool last = false;
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		last |= p->span && p->span->span_id == n + 1;
	}
	return last;
}

/* A root with many children and waits: for each wait all children are looked at, for its own time all
 * annotations. n are looked at before its last wait: does that one lead to its child? */
static bool path_looks(uint64_t n)
{
	const unsigned children = 1000, waits = (unsigned)(n / children) - 1;
	const uint64_t annotations = n - (uint64_t)waits * children;
	const int64_t step = 1000;
	struct fake *f = fake_new();
	uint32_t own = fake_thread(f, 0, 100, 101, "root"), other = fake_thread(f, 0, 100, 102, "other");
	struct fake_span d = { .trace = 1, .id = 1, .name = "root", .service = "s", .thread = own, .begin = 0,
			       .end = (int64_t)(waits + 2) * step, .state = SPAN_COMPLETE };
	struct span *root = fake_span(f, &d);

	/* Its own time is before the first wait, and behind the last one. */
	for (unsigned i = 0; i <= waits; i++)
		fake_wait(root, PART_SOCKET, i ? i * step : 1, (i + 1) * step, 0, ID_NONE, 0);
	fake_part(root, PART_HANDOFF, 1);
	for (uint64_t i = 0; i < annotations; i++)
		fake_annotate(root, 0, "");
	d.parent = 1;
	d.thread = other;
	for (unsigned i = 0; i < children; i++) {
		bool last = i + 1 == children;
		d.id = i + 2;
		d.begin = last ? (int64_t)waits * step + 10 : 0;
		d.end = last ? (int64_t)waits * step + 20 : 0;
		fake_span(f, &d);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) path = path_of(h, t, t->root);
	bool found = false;
	for (guint i = 0; i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		found |= p->span && p->span->span_id == children + 1;
	}
	return found;
}

/* Annotations as words in one cell, n bytes in all. */
static bool words_bytes(uint64_t n)
{
	const size_t each = 1000;		/* and a blank before it */
	g_autofree char *word = g_strnfill(each, 'x'), *rest = g_strnfill(n % (each + 1), 'y');
	struct fake *f = fake_new();
	const struct fake_span d = { .trace = 1, .id = 1, .name = "s", .service = "s", .thread = ID_NONE, .begin = 0,
				     .end = FAKE_MS, .state = SPAN_COMPLETE };
	struct span *s = fake_span(f, &d);

	for (uint64_t i = 0; i < n / (each + 1); i++)
		fake_annotate(s, (int64_t)i, word);
	if (*rest)
		fake_annotate(s, FAKE_MS / 2, rest);
	fake_second(f, 0);
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view *v = view_find("spans");
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = v->build(tl, &q);
	struct value value = column_value(&v->columns[view_column(v, "annotations")], rows->rows->pdata[0], rows);
	bool whole = !g_str_has_suffix(value.s, " ...");
	g_assert_true(!whole || strlen(value.s) == n);
	rows_free(rows);
	return whole;
}

/* Calls of n threads: does each count for itself? Above the limit all still count. */
static bool metric_sums(uint64_t n)
{
	struct metric_query q = { .metric = metric_find("call.latency", NULL) };
	struct metric_calls *calls = metric_calls_new(&q, NS_PER_S);
	g_autoptr(GRefString) name = g_ref_string_new("read"), none = g_ref_string_new("");
	uint64_t own = 0, all = 0;
	for (uint64_t i = 0; i < n; i++)
		metric_calls_add(calls, &(struct calllog_line){
			.kind = CALLLOG_CALL, .state = LINE_WHOLE, .has_ret = true, .cpu = 0, .tid = (int32_t)i,
			.pid = 1, .ts = 1, .entry_ns = 1, .exit_ns = 3, .name = name, .comm = none, .host = none,
		});
	for (size_t i = 0; i < metric_calls_n(calls); i++) {
		const struct metric_call_sum *s = metric_calls_at(calls, i);
		g_assert_true((s->tid < 0) == !g_strcmp0(s->file, "(other)"));
		own += s->tid >= 0;
		all += hist_count(&s->values);
	}
	g_assert_cmpuint(all, ==, n);
	metric_calls_free(calls);
	return own == n;
}

/* Judges the timeline, and frees it. True: nothing was left out. */
static bool judges_all(struct timeline *tl, const char *text, uint64_t n_alerts)
{
	struct made_alerts made;
	made_alerts_init(&made, (const char *const[]){ text, NULL }, tl);
	g_autofree char *missing = alerts_describe_missing(made.alerts);
	if (!missing)
		g_assert_cmpuint(alerts_n(made.alerts), ==, n_alerts);
	made_alerts_clear(&made);
	timeline_free(tl);
	return !missing;
}

/* So many system calls in a second. */
static bool alert_values(uint64_t n)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker");
	for (uint64_t i = 0; i < n; i++) {
		char name[32];
		g_snprintf(name, sizeof name, "call%d", (int)i);
		fake_call(fake_second(f, 0), t, fake_string(f, name), 1, 1000);
	}
	return judges_all(fake_done(f), "call.latency count by call > 1", 0);
}

/* One call in every second second. */
static bool alerts(uint64_t n)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker"), name = fake_string(f, "read");
	for (unsigned i = 0; i < 2 * n; i++)
		if (i % 2 == 0)
			fake_call(fake_second(f, i), t, name, 1, 1000);
		else
			fake_cell(fake_second(f, i), t);
	return judges_all(fake_done(f), "call.latency count > 0", n);
}

/* n slow requests beside as many normal ones: are all of them examined? */
static bool causes(uint64_t n)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker");

	fake_cell(fake_second(f, 0), t);
	for (uint64_t i = 0; i < 2 * n; i++) {
		const struct fake_span d = {
			.trace = i + 1, .id = i + 1, .kind = SPAN_LOCAL, .name = "s", .service = "s", .thread = t,
			.begin = 0, .end = i < n ? FAKE_MS : 100 * FAKE_MS, .state = SPAN_COMPLETE,
		};
		fake_span(f, &d);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = view_causes.build(tl, &q);
	bool all = !rows->omitted;
	rows_free(rows);
	return all;
}

/* Spans in each other. All time counts, however deep it is. */
static bool flame_depth(uint64_t n)
{
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 100, 101, "worker");
	struct view_query q = VIEW_QUERY_INIT;
	unsigned deepest = 0;
	fake_cell(fake_second(f, 0), thread)->part[PART_USER] = FAKE_S;
	for (uint64_t i = 1; i <= n; i++)
		fake_span(f, &(struct fake_span){ 1, i, i - 1, SPAN_LOCAL, "deeper", "web", thread, (int64_t)i * 1000,
						  FAKE_S / 2 - (int64_t)i * 1000, SPAN_COMPLETE });
	struct timeline *tl = fake_done(f);
	struct rows *rows = view_find("flame")->build(tl, &q);
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct flame_row *r = rows->rows->pdata[i];
		deepest = r->kind == FLAME_PHASE ? MAX(deepest, r->row.depth) : deepest;
		g_assert_cmpint(i ? 0 : r->total_ns, ==, i ? 0 : FAKE_S / 2 - 2000);
	}
	rows_free(rows);
	timeline_free(tl);
	return deepest == n;
}

/* A second of good requests, then n seconds with a slow one: is found when they began? Above the limit it says that it
 * may be earlier. */
static bool takes_since(uint64_t n)
{
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 70, 71, "serve"), call = fake_string(f, "nanosleep");
	bool earlier;

	for (uint64_t i = 0; i < 2 * n; i++) {
		int64_t begin = i < n ? (int64_t)i : (int64_t)(i - n + 1) * FAKE_S, length = i < n ? 10 : 60;
		struct span *s = fake_span(f, &(struct fake_span){ .trace = i + 1, .id = i + 1, .name = "get",
			.service = "front", .thread = thread, .begin = begin, .end = begin + length * FAKE_MS });

		if (i < n)
			continue;
		fake_second(f, (unsigned)(i - n));
		fake_wait(s, PART_TIMER, begin + FAKE_MS, begin + 51 * FAKE_MS, 0, ID_NONE, call);
	}
	fake_second(f, (unsigned)n);
	struct timeline *tl = fake_done(f);
	int64_t last = FAKE_T0 + (int64_t)n * FAKE_S;
	int64_t since = overview_since(tl, last, last + FAKE_S, &earlier);
	g_assert_cmpint((since - FAKE_T0) / FAKE_S, ==, earlier ? n - LIMIT_SINCE + 1 : 1);
	timeline_free(tl);
	return !earlier;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "since", takes_since, 0 },
		{ "causes", causes, 0 },
		{ "metric-sums", metric_sums, 0 }, { "alert-values", alert_values, 0 }, { "alerts", alerts, 0 },
		{ "path-depth", path_depth, 0 }, { "flame-depth", flame_depth, 0 },
		{ "path-looks", path_looks, 0 }, { "words-bytes", words_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
