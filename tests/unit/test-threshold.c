/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds: which are read, in which words others are refused; alerts: when they are reached, what is said. */
#include "lib/fake_timeline.h"
#include "lib/made_alerts.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void test_read(void)
{
	static const char *const good[] = {
		"p99 of thumbnail > 3 x usual", "p99 of thumbnail>3x usual", "p50 of any >= 1.5 x usual",
		"max of 'resize image' > 250ms", "max of \"it's\" <= 1s for 3", "count of any < 5",
		"errors of store > 0 every 5m", "p95 of store > 10us for 2s, every 10s",
		"count of 'any' > 1", "count of x > 1 x usual", "losses > 0", "thread.time sum > 500ms",
		"call.latency > 10ms", "call.latency p99 where process == mysqld > 10ms warn 5ms",
		"call.latency p50 by process,call where tid > 5 && process in (a, \"b > c\") >= 2 x usual every 1m",
		"block.bytes by device > 4M", "block.bytes > 0", "span.latency avg by span > 1ms",
		"request.time p95 where part == disk > 10ms", "p99 of a.b > 1ms",
		"call.latency where process == \"a\\\" > b\" > 10ms",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autoptr(GError) error = NULL;
		struct threshold *t = threshold_parse(good[i], &error);
		g_test_message("%s", good[i]);
		g_assert_no_error(error);
		g_assert_nonnull(t);
		threshold_free(t);
	}
}

/* The name of an operation may look like that of a metric. */
static void test_dotted(void)
{
	struct threshold *t = threshold_parse("p99 of a.b > 1ms", NULL);
	g_assert_true(t->of_operation);
	g_assert_cmpstr(t->operation, ==, "a.b");
	threshold_free(t);
}

static void test_refused(void)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "", "comparison" }, { "> 1ms", "comparison" }, { "p98 of x > 1ms", "'p98'" },
		{ "p99 in x > 1ms", "'of' must follow p99" }, { "p99 > 1ms", "of OPERATION" },
		{ "p99 of > 1ms", "operation is missing" }, { "p99 of x", "comparison" },
		{ "p99 of two words > 1ms", "quotes" }, { "p99 of x = 1ms", "'='" },
		{ "p99 of x => 1ms", "'=>'" }, { "p99 of x >", "a value is missing" },
		{ "p99 of x > 3", "x usual" }, { "p99 of x > 3 y usual", "'y'" },
		{ "p99 of x > 3 x normal", "'normal'" }, { "p99 of x > 3x", "usual" },
		{ "p99 of x > -1ms", "'-1ms'" }, { "p99 of x > soon", "'soon'" },
		{ "count of x > 1ms", "'1ms'" }, { "count of x > many", "'many'" },
		{ "nosuch.metric > 1", "no metric 'nosuch.metric'" }, { "call.latency p98 > 1ms", "'p98'" },
		{ "thread.time p99 > 1ms", "has no p99" }, { "call.latency errors > 1", "errors of any" },
		{ "call.latency by nosuch > 1ms", "no field 'nosuch'" },
		{ "call.latency p50 p99 > 1ms", "'p99" },
		{ "call.latency by file > 1ms", "file, errno" }, { "span.time by cause > 1ms", "by cause" },
		{ "call.latency where errno == ENOENT > 1ms", "file, errno" },
		{ "call.latency where nosuch == 1 > 1ms", "nosuch" }, { "block.bytes > 4ms", "a size" },
		{ "losses > 1ms", "a number" }, { "p99 of x > 1ms warn", "value is missing" },
		{ "field:a.b > 1", "file, errno" },
		{ "p99 of x > 1ms for", "seconds is missing" }, { "p99 of x > 1ms for 0", "'0'" },
		{ "p99 of x > 1ms for ever", "'ever'" }, { "p99 of x > 1ms every 1ms", "'1ms'" },
		{ "p99 of x > 1ms often", "'often'" }, { "p99 of 'x > 1ms", "is not closed" },
		{ "p99 of x > 1ms 'for", "is not closed" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_test_message("%s", bad[i].text);
		g_assert_null(threshold_parse(bad[i].text, &error));
		g_assert_nonnull(error);
		g_test_message("  %s", error->message);
		g_assert_nonnull(strstr(error->message, bad[i].words));
		g_assert_null(threshold_parse(bad[i].text, NULL));
	}
}

/* Ten requests "op" of 10 ms in each second but 4; one of 100 ms in second 2, all in second 3; "the other" always
 * 50 ms, with an error in second 5. */
static struct timeline *story(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker");
	for (unsigned s = 0; s < 6; s++) {
		struct second *second = fake_second(f, s);
		fake_cell(second, t);
		fake_call(second, t, fake_string(f, "read"), s == 3 ? 50 : 5, 1000);
		for (unsigned i = 0; i < 10 && s != 4; i++) {
			int64_t begin = s * FAKE_S + i * 90 * FAKE_MS;
			int64_t ms = (s == 2 && i == 9) || s == 3 ? 100 : 10;
			fake_span(f, &(struct fake_span){ 1 + s * 10 + i, 1, 0, SPAN_SERVER, "op", "svc", t,
							  begin, begin + ms * FAKE_MS, SPAN_COMPLETE });
		}
		struct span *other = fake_span(f, &(struct fake_span){ 100 + s, 1, 0, SPAN_SERVER, "the other",
			"svc", t, s * FAKE_S, s * FAKE_S + 50 * FAKE_MS, SPAN_COMPLETE });
		other->errors = s == 5;
		/* no request of its own: never counted */
		fake_span(f, &(struct fake_span){ 100 + s, 2, 1, SPAN_LOCAL, "op", "svc", t, s * FAKE_S,
						  s * FAKE_S + 900 * FAKE_MS, SPAN_COMPLETE });
	}
	return fake_done(f);
}

struct watching {
	struct timeline *tl;
	struct made_alerts made;
	struct alerts *alerts;		/* .made's */
	GString *seconds;		/* of the reports: "23" */
	char *reason;			/* the first */
	unsigned now;
};

static void note(void *data, const struct alert *alert, const char *reason)
{
	struct watching *w = data;
	g_assert_cmpint(alert->state, ==, ALERT_RED);
	g_string_append_printf(w->seconds, "%u", w->now);
	w->reason = w->reason ? w->reason : g_strdup(reason);
}

static void watching_init(struct watching *w, const char *text)
{
	*w = (struct watching){ .tl = story(), .seconds = g_string_new(NULL) };
	made_alerts_init(&w->made, (const char *const[]){ text, NULL }, NULL);
	w->alerts = w->made.alerts;
	alerts_on_alert(w->alerts, note, w);
}

static void watching_clear(struct watching *w)
{
	made_alerts_clear(&w->made);
	timeline_free(w->tl);
	g_string_free(w->seconds, true);
	g_free(w->reason);
}

static void watch_all(struct watching *w)
{
	for (size_t i = 0; i < timeline_n_seconds(w->tl); i++) {
		w->now = (unsigned)((timeline_second(w->tl, i)->begin_ns - FAKE_T0) / FAKE_S);
		alerts_update(w->alerts, w->tl, i + 1);
	}
}

static void test_reached(void)
{
	static const struct { const char *threshold, *seconds; } cases[] = {
		{ "p99 of op > 3 x usual every 1s", "23" }, { "p50 of op > 3 x usual every 1s", "3" },
		{ "max of op > 3 x usual", "2" }, { "p99 of op > 3x usual for 2 every 1s", "3" },
		{ "max of op >= 99ms for 3s", "" }, { "max of op > 11 x usual", "" },
		{ "max of op < 20ms every 2s", "05" }, { "count of op >= 10 every 1s", "01235" },
		{ "count of op > 10", "" }, { "errors of any > 0", "5" }, { "errors of op > 0", "" },
		{ "max of 'the other' > 40ms every 2s", "024" }, { "max of any >= 40ms every 1s", "012345" },
		{ "p99 of nosuch > 0ms", "" }, { "max of 'any' > 0ms", "" },
		{ "count of op < 5 every 1s", "4" },	/* none is 0; how many the last second has is not known */
		{ "request.latency count by operation where operation =~ op < 5 every 1s", "4" },
		{ "call.latency count by call where process == worker > 5", "3" },
		{ "call.latency count where process == nosuch > 5", "" },
		{ "span.latency max by span where span == op >= 900ms every 1s", "012345" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct watching w;
		watching_init(&w, cases[i].threshold);
		watch_all(&w);
		g_test_message("%s", cases[i].threshold);
		g_assert_cmpstr(w.seconds->str, ==, cases[i].seconds);
		watching_clear(&w);
	}
}

static char *reason(const char *text)
{
	struct watching w;
	watching_init(&w, text);
	watch_all(&w);
	char *reason = g_steal_pointer(&w.reason);
	watching_clear(&w);
	g_assert_nonnull(reason);
	return reason;
}

static void test_reason(void)
{
	g_autofree char *times = reason("max of any > 3 x usual"), *other = reason("max of any > 40ms");
	g_autofree char *count = reason("count of op > 3"), *calls = reason("call.latency count by call > 5");
	g_autofree char *any_call = reason("call.latency count where call == read > 5");
	g_assert_true(g_str_has_prefix(times, "max of op is 100ms, "));
	g_assert_nonnull(strstr(times, " times the usual "));
	g_assert_nonnull(strstr(times, "\nthreshold: max of any > 3 x usual\n"));
	g_assert_nonnull(strstr(times, "\nsecond: "));
	g_assert_nonnull(strstr(times, "\ncause: "));
	g_assert_true(g_str_has_prefix(other, "max of the other is "));
	g_assert_true(g_str_has_prefix(count, "count of op is 10\n"));
	g_assert_true(g_str_has_prefix(calls, "count of call.latency for read is 50\n"));
	g_assert_null(strstr(calls, "\ncause: "));	/* no other process called it */
	g_assert_true(g_str_has_prefix(any_call, "count of call.latency is 50\n"));
	g_assert_nonnull(strstr(any_call, "\ncause: process worker: 100 % of the total"));
}

/* One alert from its first second to its last; pending ones are of a lower state. */
static void test_alerts(void)
{
	struct watching w;
	watching_init(&w, "p99 of op > 50ms for 3 warn 5ms");
	watch_all(&w);
	g_assert_cmpuint(alerts_n(w.alerts), ==, 1);	/* second 4 has no request: the alert goes on */
	const struct alert *a = alerts_at(w.alerts, 0);
	g_assert_cmpint(a->state, ==, ALERT_WARN);
	g_assert_cmpuint(a->seconds, ==, 5);
	g_assert_true(a->open);
	g_assert_cmpint(a->begin_ns, ==, FAKE_T0);
	g_assert_cmpint(a->end_ns, ==, FAKE_T0 + 6 * FAKE_S);
	g_assert_cmpint(a->worst_begin_ns, ==, FAKE_T0 + 2 * FAKE_S);
	g_assert_cmpint(a->red_ns, ==, TIME_UNKNOWN);
	g_assert_cmpstr(a->of, ==, "op");
	watching_clear(&w);
	watching_init(&w, "p99 of op > 50ms");
	watch_all(&w);
	a = alerts_at(w.alerts, 0);
	g_assert_cmpuint(alerts_n(w.alerts), ==, 1);
	g_assert_cmpint(a->state, ==, ALERT_RED);
	g_assert_cmpint(a->begin_ns, ==, FAKE_T0 + 2 * FAKE_S);
	g_assert_cmpint(a->end_ns, ==, FAKE_T0 + 4 * FAKE_S);
	g_assert_cmpint(a->red_ns, ==, FAKE_T0 + 3 * FAKE_S);
	g_assert_false(a->open);
	g_autofree char *changed = alert_changed(w.tl, a);	/* of one request */
	g_assert_cmpstr(changed, ==, "part user: +90.0ms, 100 % of what changed");
	watching_clear(&w);
}

/* The usual of one run is that of the next. */
static void test_baseline(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = g_dir_make_tmp("baseline.XXXXXX", NULL), *path = g_build_filename(dir, "b", NULL);
	struct watching w;
	watching_init(&w, "p99 of any > 1.5 x usual every 1s");
	alerts_begin_at(w.alerts, FAKE_T0 + 3 * FAKE_S);	/* 100 ms and 10 ms: ten of each */
	watch_all(&w);
	g_assert_cmpstr(w.seconds->str, ==, "");		/* the usual is unknown until then */
	g_assert_true(alerts_save_baseline(w.alerts, path, &error));
	g_assert_no_error(error);
	watching_clear(&w);
	watching_init(&w, "p99 of any > 1.5 x usual every 1s");
	g_assert_true(alerts_load_baseline(w.alerts, path, &error));
	watch_all(&w);
	g_assert_cmpstr(w.seconds->str, ==, "23");	/* "the other" has no usual: it had 3 requests */
	g_assert_false(alerts_load_baseline(w.alerts, dir, &error));
	g_assert_nonnull(error);
	watching_clear(&w);
	g_unlink(path);
	g_rmdir(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/threshold/read", test_read);
	g_test_add_func("/threshold/dotted", test_dotted);
	g_test_add_func("/threshold/refused", test_refused);
	g_test_add_func("/threshold/reached", test_reached);
	g_test_add_func("/threshold/reason", test_reason);
	g_test_add_func("/threshold/alerts", test_alerts);
	g_test_add_func("/threshold/baseline", test_baseline);
	return g_test_run();
}
