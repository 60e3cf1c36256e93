/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans from Zipkin's JSON: what blktop wrote comes back as it was, what others wrote as
 * far as it goes, and what is hostile harms nobody.
 */
#include "base/limits.h"
#include "export/export.h"
#include "export/attributes.h"
#include "export/import.h"
#include "app/narrow.h"
#include "views/overview.h"
#include "views/view.h"
#include "export/json_items.h"
#include "lib/fake_timeline.h"
#include "lib/importing.h"
#include "lib/parsed.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static struct timeline *import_text(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	struct timeline *tl = import_bytes(text, strlen(text), &warning, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(warning, ==, NULL);
	return tl;
}

static char *export(const struct timeline *tl, enum span_format format, bool with_kernel)
{
	struct span_selection what = { .slowest = 1000, .with_kernel = with_kernel };
	g_autoptr(GError) error = NULL;
	unsigned n;
	char *text = span_export(tl, &what, format, &n, &error);
	g_assert_no_error(error);
	return text;
}

/* ---- there and back ---- */

static struct json_value find(struct json_value spans, struct json_value wanted)
{
	for (guint i = 0; i < parsed_count(spans); i++) {
		struct json_value o = parsed_at(spans, i);
		if (strcmp(parsed_text(o, "id"),
			   parsed_text(wanted, "id")) == 0 &&
		    parsed_has(o, "shared") == parsed_has(wanted, "shared"))
			return o;
	}
	g_error("no span %s", parsed_text(wanted, "id"));
}

static void assert_same(const char *before, const char *after)
{
	struct json_value first = parsed(before), second = parsed(after);
	g_assert_cmpuint(parsed_count(first), ==, parsed_count(second));
	for (guint i = 0; i < parsed_count(first); i++) {
		struct json_value x = parsed_at(first, i);
		if (!parsed_equal(x, find(second, x)))
			g_error("%s: before %s\nafter  %s", parsed_text(x, "id"), before, after);
	}
}

static void check_round(const struct timeline *tl, bool with_kernel)
{
	g_autofree char *before = export(tl, SPAN_ZIPKIN, with_kernel);
	g_autoptr(blk_timeline) read = import_text(before);
	g_autofree char *after = export(read, SPAN_ZIPKIN, with_kernel);
	assert_same(before, after);
	g_autoptr(blk_timeline) again = import_text(after);
	g_autofree char *last = export(again, SPAN_ZIPKIN, with_kernel);
	g_assert_cmpstr(after, ==, last);
}

static void test_round(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	check_round(tl, false);
	check_round(tl, true);
}

/* Which end of a partial span was seen is not made up. */
static void test_partial(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"1\",\"id\":\"2\",\"kind\":\"SERVER\",\"timestamp\":5,\"duration\":1,"
		"\"annotations\":[{\"timestamp\":5,\"value\":\"ss\"}],\"tags\":{\"blktop.begin_ns\":\"5999\","
		"\"blktop.duration_ns\":\"0\",\"blktop.state\":\"partial\"}}]");
	const struct span *s = timeline_span(tl, 0);
	g_assert_cmpint(s->state, ==, SPAN_PARTIAL);
	g_assert_cmpuint(s->n_annotations, ==, 1);
	g_assert_cmpstr(s->annotations[0].event, ==, "ss");
	g_assert_cmpint(s->annotations[0].ts, ==, 5999);
	check_round(tl, false);
	g_autofree char *again = export(tl, SPAN_ZIPKIN, false);
	g_assert_nonnull(strstr(again, "\"value\":\"ss\""));
}

/* Waits and calls are the span's again, down to who woke it. */
static void test_kernel(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	g_autofree char *text = export(tl, SPAN_ZIPKIN, true);
	g_autoptr(blk_timeline) read = import_text(text);
	g_assert_cmpuint(timeline_n_spans(read), ==, timeline_n_spans(tl));
	unsigned n_waits = 0;
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *was = timeline_span(tl, i), *is = NULL;
		for (size_t k = 0; k < timeline_n_spans(read) && !is; k++) {
			const struct span *s = timeline_span(read, k);
			is = s->span_id == was->span_id && s->kind == was->kind &&
			     s->trace_id == was->trace_id ? s : NULL;
		}
		g_assert_nonnull(is);
		g_assert_cmpint(is->begin_ns, ==, was->begin_ns);
		g_assert_cmpint(is->end_ns, ==, was->end_ns);
		g_assert_cmpint(is->self_ns, ==, was->self_ns);
		g_assert_cmpint(is->state, ==, was->state);
		g_assert_cmpmem(is->part, sizeof is->part, was->part, sizeof was->part);
		g_assert_cmpuint(is->n_waits, ==, was->n_waits);
		for (uint32_t w = 0; w < was->n_waits; w++) {
			const struct span_wait *a = &was->waits[w], *b = &is->waits[w];
			g_assert_cmpint(a->wake_ns, ==, b->wake_ns);
			g_assert_cmpint(a->part, ==, b->part);
			g_assert_cmpstr(timeline_comm(tl, a->waker, a->wake_ns), ==,
					timeline_comm(read, b->waker, b->wake_ns));
			n_waits++;
		}
	}
	g_assert_cmpuint(n_waits, >, 0);
}

/* ---- what others write ---- */

static const struct span *only(const struct timeline *tl)
{
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	return timeline_span(tl, 0);
}

static void test_plain(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"\xef\xbb\xbf [[{\"traceId\":\"1\",\"id\":\"A\",\"parentId\":\"0000000000000000\","
		"\"name\":\"get /\",\"kind\":\"CLIENT\",\"timestamp\":1500000000000001,\"duration\":20,"
		"\"localEndpoint\":{\"serviceName\":\"web\",\"ipv4\":\"10.0.0.1\",\"port\":80},"
		"\"remoteEndpoint\":{\"serviceName\":\"db\",\"port\":5432},"
		"\"annotations\":[{\"timestamp\":1500000000000005,\"value\":\"ws\"}],"
		"\"tags\":{\"error\":\"no\",\"n\":7,\"b\":true,\"d\":0.5,\"o\":{},\"z\":null},"
		"\"debug\":true,\"strange\":[[{}]]}],[]]\n");
	const struct span *s = only(tl);
	g_assert_cmphex(s->trace_id, ==, 1);
	g_assert_cmphex(s->span_id, ==, 10);
	g_assert_cmphex(s->parent_id, ==, 0);
	g_assert_cmpint(s->kind, ==, SPAN_CLIENT);
	g_assert_cmpint(s->state, ==, SPAN_COMPLETE);
	g_assert_cmpint(s->begin_ns, ==, INT64_C(1500000000000001000));
	g_assert_cmpint(span_duration(s), ==, 20000);
	g_assert_cmpint(s->part[PART_UNKNOWN], ==, 20000);
	g_assert_cmpuint(s->errors, ==, 1);
	g_assert_cmpuint(s->n_annotations, ==, 3);		/* cs, ws, cr */
	g_assert_cmpstr(attributes_tag(s, "peer.service"), ==, "db");
	g_assert_cmpstr(attributes_tag(s, "peer.port"), ==, "5432");
	g_assert_cmpstr(attributes_tag(s, "n"), ==, "7");	/* tags are text, but not all know */
	g_assert_cmpstr(attributes_tag(s, "b"), ==, "true");
	g_assert_cmpstr(attributes_tag(s, "d"), ==, "0.5");
	g_assert_null(attributes_tag(s, "o"));
	g_assert_null(attributes_tag(s, "z"));
	g_assert_cmpstr(s->service, ==, "web");
	g_assert_cmpuint(s->port, ==, 80);
}

static void test_wide_ids(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"463ac35c9f6413ad48485a3953bb6124\",\"id\":\"0020000000000001\","
		"\"timestamp\":1500000000000000,\"duration\":1,\"kind\":\"PRODUCER\"}]");
	g_autofree char *zipkin = export(tl, SPAN_ZIPKIN, false), *otlp = export(tl, SPAN_OTLP, false);
	g_assert_cmphex(only(tl)->trace_id, ==, UINT64_C(0x48485a3953bb6124));
	g_assert_nonnull(strstr(zipkin, "\"traceId\":\"463ac35c9f6413ad48485a3953bb6124\""));
	g_assert_nonnull(strstr(zipkin, "\"kind\":\"PRODUCER\""));
	g_assert_null(strstr(zipkin, "blktop.trace_id"));
	g_assert_null(strstr(zipkin, "blktop.kind"));
	g_assert_nonnull(strstr(otlp, "\"traceId\":\"463ac35c9f6413ad48485a3953bb6124\""));
	g_assert_nonnull(strstr(otlp, "\"kind\":4"));
}

/* Of one lower half: two traces, each with its own spans, and one that knows no more of its id. */
static void test_alike_ids(void)
{
	static const char *const ids[] = {
		"000000000000000a48485a3953bb6124", "000000000000000b48485a3953bb6124", "48485a3953bb6124",
		"000000000000000b48485a3953bb6124",
	};
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
		g_string_append_printf(text, "{\"traceId\":\"%s\",\"id\":\"%x\",\"timestamp\":1000,\"duration\":1}",
				       ids[i], i + 1);
	g_autoptr(blk_timeline) tl = import_text(text->str);
	g_assert_cmpuint(timeline_n_traces(tl), ==, 2);
	g_assert_nonnull(timeline_find_trace(tl, UINT64_C(0x48485a3953bb6124)));
	g_autofree char *zipkin = export(tl, SPAN_ZIPKIN, false);
	struct json_value spans = parsed(zipkin);
	g_assert_cmpuint(parsed_count(spans), ==, G_N_ELEMENTS(ids));
	for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
		struct json_value o = parsed_at(spans, i);
		guint id = (guint)g_ascii_strtoull(parsed_text(o, "id"), NULL, 16);
		const char *trace = parsed_text(o, "traceId");
		g_assert_cmpuint(id, <=, G_N_ELEMENTS(ids));
		g_assert_cmpstr(trace, ==, ids[id - 1]);
	}
}

/* The whole of an id is one of them, its half the first. */
static void test_alike_asked(void)
{
	static const struct { uint64_t upper; const char *second; } cases[] = {
		{ 10, NULL }, { 11, "\"id\":\"000000000000000b\"" }, { 0, NULL }, { 12, NULL },
	};
	g_autoptr(blk_timeline) tl = import_text(
		"{\"traceId\":\"000000000000000a48485a3953bb6124\",\"id\":\"a\",\"timestamp\":1000,\"duration\":1}"
		"{\"traceId\":\"000000000000000b48485a3953bb6124\",\"id\":\"b\",\"timestamp\":1000,\"duration\":1}");
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct span_selection what = { .trace_id = UINT64_C(0x48485a3953bb6124),
					       .trace_upper = cases[i].upper };
		unsigned n;
		g_autofree char *text = span_export(tl, &what, SPAN_ZIPKIN, &n, NULL);
		g_assert_cmpuint(n, ==, 1);
		g_assert_nonnull(strstr(text, cases[i].second ? cases[i].second :
					"\"id\":\"000000000000000a\""));
		struct view_query q = { .trace_id = what.trace_id, .trace_upper = cases[i].upper };
		narrow_resolve(&q, tl);
		g_assert_true((q.trace_id == what.trace_id) == !cases[i].second);
		g_assert_nonnull(timeline_find_trace(tl, q.trace_id));
	}
}

/* It says that it is its own parent: a root, as Zipkin has it. */
static void test_own_parent(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"{\"traceId\":\"1\",\"id\":\"2\",\"parentId\":\"2\",\"timestamp\":1000,\"duration\":1}");
	g_assert_cmphex(only(tl)->parent_id, ==, 0);
}

/* Two reports of one span, the second late; and the other half, which is no report of it. */
static void test_reports(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"1\",\"id\":\"2\",\"kind\":\"CLIENT\",\"timestamp\":1000,"
		"\"annotations\":[{\"timestamp\":1001,\"value\":\"a\"}],\"tags\":{\"k\":\"v\"}},"
		"{\"traceId\":\"1\",\"id\":\"2\",\"kind\":\"CLIENT\",\"timestamp\":1000,\"duration\":50,"
		"\"name\":\"n\",\"annotations\":[{\"timestamp\":1001,\"value\":\"a\"},"
		"{\"timestamp\":1002,\"value\":\"b\"}],\"tags\":{\"k\":\"v\",\"l\":\"w\"}},"
		"{\"traceId\":\"1\",\"id\":\"2\",\"kind\":\"SERVER\",\"shared\":true,\"timestamp\":1010,"
		"\"duration\":10}]");
	g_assert_cmpuint(timeline_n_spans(tl), ==, 2);
	const struct span *s = timeline_span(tl, 0);
	g_assert_cmpint(s->kind, ==, SPAN_CLIENT);
	g_assert_cmpint(span_duration(s), ==, 50000);
	g_assert_cmpstr(s->name, ==, "n");
	g_assert_cmpuint(s->n_tags, ==, 2);
	g_assert_cmpuint(s->n_annotations, ==, 4);	/* cs a b cr */
	g_assert_cmpint(timeline_span(tl, 1)->kind, ==, SPAN_SERVER);
}

static void test_times(void)
{
	static const struct { const char *members; int64_t begin, end; enum span_state state; } cases[] = {
		{ "\"timestamp\":5,\"duration\":2", 5000, 7000, SPAN_COMPLETE },
		{ "\"timestamp\":5.0,\"duration\":2.5", 5000, 7000, SPAN_COMPLETE },
		{ "\"timestamp\":5,\"duration\":0", 5000, 5000, SPAN_COMPLETE },
		{ "\"timestamp\":5", 5000, 5000, SPAN_PARTIAL },
		{ "\"timestamp\":5,\"duration\":-1", 5000, 5000, SPAN_PARTIAL },
		{ "\"timestamp\":5,\"duration\":\"2\"", 5000, 5000, SPAN_PARTIAL },
		{ "\"timestamp\":5,\"duration\":99999999999999999999", 5000, 5000, SPAN_PARTIAL },
		{ "\"annotations\":[{\"timestamp\":9,\"value\":\"b\"},{\"timestamp\":5,\"value\":\"a\"}]",
		  5000, 9000, SPAN_PARTIAL },
		/* blktop's own, where they agree, and where they lie */
		{ "\"timestamp\":5,\"duration\":2,\"tags\":{\"blktop.begin_ns\":\"5999\","
		  "\"blktop.duration_ns\":\"1001\"}", 5999, 7000, SPAN_COMPLETE },
		{ "\"timestamp\":5,\"tags\":{\"blktop.begin_ns\":\"5999\",\"blktop.duration_ns\":\"77\","
		  "\"blktop.state\":\"open\"}", 5999, 6076, SPAN_OPEN },
		{ "\"timestamp\":5,\"duration\":2,\"tags\":{\"blktop.begin_ns\":\"6000\","
		  "\"blktop.duration_ns\":\"1001\"}", 5000, 7000, SPAN_COMPLETE },
		{ "\"timestamp\":5,\"duration\":2,\"tags\":{\"blktop.begin_ns\":\"5000\","
		  "\"blktop.duration_ns\":\"9223372036854775807\"}", 5000, 7000, SPAN_COMPLETE },
		{ "\"timestamp\":5,\"duration\":2,\"tags\":{\"blktop.begin_ns\":\"5000\","
		  "\"blktop.duration_ns\":\"-2000\"}", 5000, 7000, SPAN_COMPLETE },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf("[{\"traceId\":\"1\",\"id\":\"2\",%s}]",
							cases[i].members);
		g_autoptr(blk_timeline) tl = import_text(text);
		const struct span *s = only(tl);
		g_test_message("%s", cases[i].members);
		g_assert_cmpint(s->begin_ns, ==, cases[i].begin);
		g_assert_cmpint(s->end_ns, ==, cases[i].end);
		g_assert_cmpint(s->state, ==, cases[i].state);
		int64_t sum = 0;
		for (int p = 0; p < PART_N; p++)
			sum += s->part[p];
		g_assert_cmpint(sum, ==, span_duration(s));
	}
}

static void test_self(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"1\",\"id\":\"1\",\"timestamp\":1000,\"duration\":100},"
		"{\"traceId\":\"1\",\"id\":\"2\",\"parentId\":\"1\",\"timestamp\":1010,\"duration\":20},"
		"{\"traceId\":\"1\",\"id\":\"3\",\"parentId\":\"1\",\"timestamp\":1020,\"duration\":20},"
		"{\"traceId\":\"1\",\"id\":\"4\",\"parentId\":\"1\",\"timestamp\":1090,\"duration\":50},"
		"{\"traceId\":\"1\",\"id\":\"5\",\"parentId\":\"5\",\"timestamp\":1000,\"duration\":1}]");
	g_assert_cmpint(timeline_span(tl, 0)->self_ns, ==, 60000);
	g_assert_cmpint(timeline_span(tl, 4)->self_ns, ==, 1000);
}

struct self_case { const char *text; unsigned n; int64_t self_us[4]; };

/* Spans that name each other as parents are below none of each other; what is below them, is. */
static void test_self_of_circles(void)
{
#define IN(id, parent, at, us) "{\"traceId\":\"1\",\"id\":\"" id "\",\"parentId\":\"" parent "\",\"timestamp\":" at \
	",\"duration\":" us "}"
	static const struct self_case cases[] = {
		{ "[" IN("1", "2", "1000", "100") "," IN("2", "1", "1010", "50") "]", 2, { 100, 50 } },
		{ "[" IN("1", "2", "1000", "100") "," IN("2", "1", "1000", "100") "]", 2, { 100, 100 } },
		{ "[" IN("1", "2", "1000", "100") "," IN("2", "3", "1000", "100") ","
		  IN("3", "1", "1000", "100") "," IN("4", "2", "1010", "10") "]", 4, { 100, 90, 100, 10 } },
		{ "[" IN("1", "1", "1000", "100") "," IN("2", "1", "1010", "50") "]", 2, { 50, 50 } },
		{ "[" IN("1", "", "1000", "100") "," IN("2", "1", "1010", "50") "," IN("2", "1", "1010", "50") "]",
		  2, { 50, 50 } },
	};
#undef IN
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(blk_timeline) tl = import_text(cases[i].text);
		g_test_message("%s", cases[i].text);
		g_assert_cmpuint(timeline_n_spans(tl), ==, cases[i].n);
		for (size_t k = 0; k < timeline_n_spans(tl); k++) {
			const struct span *s = timeline_span(tl, k);
			g_assert_cmpint(s->self_ns, ==, cases[i].self_us[s->span_id - 1] * 1000);
		}
	}
}

/* ---- missing parents ---- */

static struct value trace_cell(const struct timeline *tl, const char *column)
{
	const struct view *v = view_find("traces");
	struct view_query q = VIEW_QUERY_INIT;
	g_assert_true(timeline_coverage(tl, &q.from_ns, &q.to_ns));
	q.to_ns++;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	struct value value = column_value(&v->columns[view_column(v, column)], rows->rows->pdata[0], rows);
	if (value.kind == VALUE_TEXT)
		value.s = g_intern_string(value.s);
	rows_free(rows);
	return value;
}

/* The 99th percentile of all requests; below 0: of none the duration is known. */
static int64_t p99_of_requests(const struct timeline *tl)
{
	struct view_query q = VIEW_QUERY_INIT;
	g_assert_true(timeline_coverage(tl, &q.from_ns, &q.to_ns));
	q.to_ns++;
	struct rows *rows = view_overview.build(tl, &q);
	int64_t p99 = overview_of(rows)->p99_ns;
	rows_free(rows);
	return p99;
}

static void test_missing(void)
{
#define IN(id, parent, at, us) "{\"traceId\":\"1\",\"id\":\"" id "\",\"parentId\":\"" parent "\",\"timestamp\":" at \
	",\"duration\":" us "}"
#define ROOT IN("1", "", "1000", "100")
	static const struct { const char *text, *state; unsigned missing; int64_t us; bool at_least; } cases[] = {
		{ "[" ROOT "," IN("2", "1", "1010", "50") "]", "complete", 0, 100, false },
		{ "[" ROOT "," IN("3", "2", "1010", "50") "," IN("4", "2", "1010", "50") "]", "incomplete", 1, 100,
		  false },
		{ "[" ROOT "," IN("3", "2", "1010", "50") "," IN("4", "a", "1010", "50") "]", "incomplete", 2, 100,
		  false },
		{ "[" ROOT "," IN("2", "", "1010", "50") "]", "complete", 0, 100, false },
		{ "[" IN("2", "1", "1010", "50") "," IN("3", "2", "1010", "20") "]", "incomplete", 1, 50, true },
		{ "[" IN("2", "1", "1010", "50") "," IN("3", "1", "1080", "20") "]", "incomplete", 1, 50, true },
		{ "[" IN("1", "2", "1000", "100") "," IN("2", "1", "1010", "50") "]", "partial", 0, 100, true },
		{ "[" IN("1", "1", "1000", "100") "]", "complete", 0, 100, false },
	};
#undef IN
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(blk_timeline) tl = import_text(cases[i].text);
		struct value duration = trace_cell(tl, "duration_ns"), bound = trace_cell(tl, "duration_bound");
		g_test_message("%s", cases[i].text);
		g_assert_cmpstr(trace_cell(tl, "state").s, ==, cases[i].state);
		g_assert_cmpint(trace_cell(tl, "missing_spans").i, ==, cases[i].missing);
		g_assert_cmpint(duration.i, ==, cases[i].us * 1000);
		g_assert_true(duration.at_least == cases[i].at_least);
		g_assert_true((p99_of_requests(tl) < 0) == cases[i].at_least);
		g_assert_true(bound.kind == (cases[i].at_least ? VALUE_TEXT : VALUE_NONE));
		for (int format = 0; format < SPAN_FORMAT_N; format++) {
			g_autofree char *text = export(tl, format, false);
			g_autofree char *n = g_strdup_printf(format == SPAN_ZIPKIN ? "missing_spans\":\"%u\"" :
				format == SPAN_OTLP ? "missing_spans\",\"value\":{\"intValue\":\"%u\"" :
				"missing_spans\":%u", cases[i].missing);
			g_assert_true(!cases[i].missing || strstr(text, n));
			g_assert_true(!strstr(text, "at least") == !cases[i].at_least);
		}
		check_round(tl, false);
	}
}

/* Of a span that was told before it was over, and before its kind was known. */
static void test_reported_in_part(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"a\",\"id\":\"1\",\"timestamp\":1000,"
		"  \"annotations\":[{\"timestamp\":1002,\"value\":\"ws\"}]},"
		" {\"traceId\":\"a\",\"id\":\"1\",\"kind\":\"CLIENT\",\"timestamp\":1000,\"duration\":10,"
		"  \"name\":\"get\",\"localEndpoint\":{\"serviceName\":\"front\"}},"
		" {\"traceId\":\"a\",\"id\":\"1\",\"kind\":\"SERVER\",\"timestamp\":1003,\"duration\":5,"
		"  \"shared\":true,\"localEndpoint\":{\"serviceName\":\"back\"}}]");

	g_assert_cmpuint(timeline_n_spans(tl), ==, 2);
	const struct span *client = timeline_span(tl, 0), *server = timeline_span(tl, 1);
	g_assert_cmpint(client->kind, ==, SPAN_CLIENT);
	g_assert_cmpint(client->state, ==, SPAN_COMPLETE);
	g_assert_cmpint(span_duration(client), ==, 10000);
	g_assert_cmpstr(client->service, ==, "front");
	g_assert_cmpstr(client->name, ==, "get");
	static const char *const events[] = { "cs", "ws", "cr" };
	g_assert_cmpuint(client->n_annotations, ==, 3);
	for (size_t i = 0; i < 3; i++)
		g_assert_cmpstr(client->annotations[i].event, ==, events[i]);
	g_assert_cmpint(server->kind, ==, SPAN_SERVER);
}

/* As Brave and Envoy tell of a call: both halves have one id. What the server does is the
 * client's waiting, and its calls are within its own half alone. */
static void test_self_of_halves(void)
{
	g_autoptr(blk_timeline) tl = import_text(
		"[{\"traceId\":\"a\",\"id\":\"1\",\"kind\":\"CLIENT\",\"timestamp\":1000,\"duration\":195,"
		"  \"localEndpoint\":{\"serviceName\":\"front\"}},"
		" {\"traceId\":\"a\",\"id\":\"1\",\"kind\":\"SERVER\",\"timestamp\":1040,\"duration\":120,"
		"  \"shared\":true,\"localEndpoint\":{\"serviceName\":\"back\"}},"
		" {\"traceId\":\"a\",\"id\":\"2\",\"parentId\":\"1\",\"kind\":\"CLIENT\",\"timestamp\":1050,"
		"  \"duration\":30,\"localEndpoint\":{\"serviceName\":\"back\"}}]");

	g_assert_cmpuint(timeline_n_spans(tl), ==, 3);
	static const int64_t self_us[] = { 195 - 120, 120 - 30, 30 };
	for (size_t i = 0; i < 3; i++)
		g_assert_cmpint(timeline_span(tl, i)->self_ns, ==, self_us[i] * 1000);
}

/* ---- other formats ---- */

#define V1 "{\"traceId\":\"1\",\"id\":\"2\",\"name\":\"get\",\"timestamp\":5,\"annotations\":[{" \
	"\"timestamp\":5,\"value\":\"sr\",\"endpoint\":{\"serviceName\":\"a\"}}]," \
	"\"binaryAnnotations\":[{\"key\":\"k\",\"value\":\"v\"}]}"
#define V2 "{\"traceId\":\"1\",\"id\":\"3\",\"timestamp\":5,\"localEndpoint\":{\"serviceName\":\"a\"}}"

/* Refused by name, and nothing of the file is read. */
static void test_other_formats(void)
{
	static const struct { const char *text, *name; } cases[] = {
		{ "[" V1 "]", "it is Zipkin v1" },
		{ V1, "it is Zipkin v1" },
		{ "[" V2 "," V1 "]", "from its object 2 on it is Zipkin v1" },
		{ "[[" V2 "],[" V1 "," V2 "]]", "from its object 2 on it is Zipkin v1" },
		{ "[{\"traceId\":\"1\",\"id\":\"2\",\"binaryAnnotations\":[],\"debug\":true,\"a\":{}}]",
		  "Zipkin v1" },
		{ "[{\"traceId\":\"1\",\"id\":\"2\",\"annotations\":[{\"timestamp\":1,\"value\":\"cs\","
		  "\"\\u0065ndpoint\":{}}]}]",
		  "Zipkin v1" },
		{ "[{\"\\u0074raceId\":\"1\",\"id\":\"2\",\"binaryAnnotations\":[]}]", "Zipkin v1" },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[]}]}", "OTLP JSON" },
		{ "{\"resourceSpans\":[]}\n{\"resourceSpans\":[]}\n", "OTLP JSON" },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spa", "OTLP JSON" },
		{ "{\"batches\":[{\"scopeSpans\":[]}]}", "Tempo" },
		{ "[{\"traceId\":\"1\",\"spanId\":\"2\",\"startTimeUnixNano\":\"5\"}]", "OTLP JSON" },
		{ "{\"data\":[ {\"traceID\":\"1\",\"spans\":[],\"processes\":{}}],\"total\":0}", "Jaeger" },
		{ "{\"data\":[{\"traceID\":\"1\",\"spans\":[{", "Jaeger" },
		{ "[{\"traceID\":\"1\",\"spanID\":\"2\",\"operationName\":\"x\"}]", "Jaeger" },
		{ "{\"traceEvents\":[]}", "Chrome trace" },
		{ "[{\"name\":\"x\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]", "Chrome trace" },
		{ "[[{\"trace_id\":1,\"span_id\":2,\"resource\":\"/\",\"start\":5}]]", "Datadog" },
		{ "{\"blktop\":\"0.1.0\",\"traces\":[]}", "--format zipkin" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *warning = NULL;
		g_test_message("%s", cases[i].text);
		g_assert_null(import_bytes(cases[i].text, strlen(cases[i].text), &warning, &error));
		g_assert_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
		g_assert_nonnull(strstr(error->message, cases[i].name));
	}
	/* Exports that are no import, longer than any span. */
	g_autoptr(blk_timeline) tl = fake_timeline();
	for (int format = 0; format < SPAN_FORMAT_N; format++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *text = export(tl, format, true), *warning = NULL;
		g_autoptr(blk_timeline) read = import_bytes(text, strlen(text), &warning, &error);
		g_assert_true(format == SPAN_ZIPKIN ? read != NULL : g_error_matches(error, G_IO_ERROR,
										     G_IO_ERROR_NOT_SUPPORTED));
	}
}

/* Valid spans of Zipkin v2, whatever else they have. */
static void test_alike_formats(void)
{
	static const char *const members[] = {
		"\"binaryAnnotations\":[],\"tags\":{}", "\"binaryAnnotations\":[{\"key\":\"k\"}],\"localEndpoint\":{}",
		"\"binaryAnnotations\":null", "\"annotations\":[{\"timestamp\":5,\"value\":\"endpoint\"}]",
		"\"annotations\":[{\"timestamp\":5,\"value\":\"\\\"endpoint\\\"\"}]", "\"resourceSpans\":[]",
		"\"data\":[{\"traceID\":\"1\",\"spans\":[]}]",
		"\"traceID\":\"1\",\"spanID\":\"2\"", "\"traceEvents\":[]",
		"\"ph\":\"X\",\"ts\":1", "\"trace_id\":1,\"span_id\":2,\"resource\":\"/\"",
		"\"batches\":[],\"a\\u0062\":1", "\"blktop\":\"1\",\"traces\":[]",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
		g_autofree char *text = g_strdup_printf("{%s,\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,"
							"\"kind\":\"SERVER\"}", members[i]);
		g_test_message("%s", text);
		g_autoptr(blk_timeline) tl = import_text(text);
		g_assert_cmpint(only(tl)->kind, ==, SPAN_SERVER);
	}
}

/* ---- what is hostile ---- */

#define GOOD "{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,\"duration\":1}"

/* Files with one good span and something else: that is left out and told of. */
static void test_left_out(void)
{
	static const struct { const char *text, *why; unsigned spans; } cases[] = {
		{ "[" GOOD ",{}]", "traceId", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\"}]", "id", 1 },
		{ "[" GOOD ",{\"traceId\":\"0\",\"id\":\"1\",\"timestamp\":1}]", "traceId", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"0\",\"timestamp\":1}]", "id", 1 },
		{ "[" GOOD ",{\"traceId\":\"xyz\",\"id\":\"1\",\"timestamp\":1}]", "traceId", 1 },
		{ "[" GOOD ",{\"traceId\":1,\"id\":2,\"timestamp\":1}]", "traceId", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"12345678901234567890123456789012a\"}]", "id", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\"}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":0}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":-5}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":1e400}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":9223372036854775807}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":18446744073709551615}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":true}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\",\"id\":\"9\",\"timestamp\":{}}]", "timestamp", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\" \"id\":\"9\"}]", "span 2", 1 },
		{ "[" GOOD ",{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}]",
		  "nested too deeply", 1 },
		{ "[" GOOD, "inside of a list", 1 },
		{ "[" GOOD ",", "inside of a list", 1 },
		{ "[" GOOD ",{\"traceId\":\"1", "inside of a span", 1 },
		{ "[" GOOD ",{\"traceId\":\"1\\", "inside of a span", 1 },
		{ "[" GOOD ",7]", "no list of spans", 1 },
		{ "[" GOOD " " GOOD "]", "a comma", 1 },
		{ "[" GOOD "]]", "without a beginning", 1 },
		{ "[[[[[" GOOD "]]]]]", NULL, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *warning = NULL;
		g_test_message("%s", cases[i].text);
		g_autoptr(blk_timeline) tl = import_bytes(cases[i].text, strlen(cases[i].text), &warning,
							  &error);
		if (!cases[i].spans) {
			g_assert_nonnull(error);
			continue;
		}
		g_assert_no_error(error);
		g_assert_cmpuint(timeline_n_spans(tl), ==, cases[i].spans);
		g_assert_nonnull(warning);
		g_assert_nonnull(strstr(warning, cases[i].why));
		g_assert_cmpuint(timeline_facts(tl)->completeness.lost_events, ==, 1);
	}
}

/* Members of other types than they should be are not there. */
static void test_types(void)
{
	static const char *const members[] = { "parentId", "kind", "name", "duration", "shared",
		"localEndpoint", "remoteEndpoint", "annotations", "tags", "debug" };
	static const char *const values[] = { "null", "1", "-1.5", "\"x\"", "true", "[]", "{}", "[1]",
		"[null]", "[{}]", "{\"x\":{}}", "[[\"x\"]]", "{\"port\":99999,\"serviceName\":[],\"ipv4\":7}",
		"[{\"timestamp\":\"1\",\"value\":1}]", "{\"blktop.kernel\":\"wait\"}",
		"{\"blktop.kernel\":\"\",\"blktop.part\":\"disk\",\"blktop.thread\":\"/\"}" };
	for (size_t m = 0; m < G_N_ELEMENTS(members); m++)
		for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
			g_autofree char *text = g_strdup_printf(
				"[{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,\"%s\":%s}]", members[m],
				values[v]);
			g_autoptr(blk_timeline) tl = import_text(text);
			g_free(export(tl, SPAN_ZIPKIN, true));
			g_assert_cmpint(only(tl)->begin_ns, ==, 5000);
		}
}

static void test_no_spans(void)
{
	static const char *const texts[] = { "", " ", "[]", "{}", "null", "x", "[[]]", "\"", "[", "]", "{",
					     "[{]}", "\xff\xfe", "{\"resourceSpans\":[]}" };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *warning = NULL;
		g_test_message("%s", texts[i]);
		g_assert_null(import_bytes(texts[i], strlen(texts[i]), &warning, &error));
		g_assert_nonnull(error);
		g_assert_nonnull(strstr(error->message, "no spans in"));
	}
	static const struct { const char *text, *why; } packed[] = {
		{ "\x1f\x8b\x08\x04", "gzip" }, { "\x28\xb5\x2f\xfd", "zstd" },
		{ "\xff\xfe[", "UTF-16" }, { "\xfe\xff", "UTF-16" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(packed); i++) {
		g_autoptr(GError) why = NULL;
		g_autofree char *warning = NULL;
		g_assert_null(import_bytes(packed[i].text, strlen(packed[i].text), &warning, &why));
		g_assert_nonnull(strstr(why->message, packed[i].why));
	}
	const char *const missing[] = { "/nowhere/x.json", NULL };
	g_autoptr(GError) error = NULL;
	g_assert_null(import_open(missing, 0, NULL, &error));
	g_assert_nonnull(strstr(error->message, "/nowhere/x.json"));
}

static void test_many_of_one_id(void)
{
	g_autoptr(GString) text = g_string_new("[");
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	for (int i = 0; i < 2000; i++)
		g_string_append_printf(text, "%s{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,"
			"\"localEndpoint\":{\"serviceName\":\"s%d\"}}", i ? "," : "", i);
	g_string_append_c(text, ']');
	g_autoptr(blk_timeline) tl = import_bytes(text->str, text->len, &warning, &error);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 256);
	g_assert_nonnull(strstr(warning, "and 1743 more"));
}

/* A good file with bytes changed, cut out, and put in: whatever comes of it, it ends, and
 * what is imported can be shown and exported. */
static void test_mutations(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct span_selection what = { .trace_id = FAKE_VICTIM, .with_kernel = true };
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	unsigned n;
	g_autofree char *good = span_export(tl, &what, SPAN_ZIPKIN, &n, NULL);
	size_t len = strlen(good);
	for (int round = 0; round < 400; round++) {
		g_autoptr(GString) bad = g_string_new_len(good, (gssize)len);
		g_autoptr(GError) error = NULL;
		g_autofree char *warning = NULL;
		for (int k = g_rand_int_range(rand, 1, 12); k > 0; k--) {
			gssize at = g_rand_int_range(rand, 0, (gint32)bad->len);
			static const char some[] = "\"{}[],:0123456789-e\\\xff\x00n";
			switch (g_rand_int_range(rand, 0, 3)) {
			case 0:
				bad->str[at] = some[g_rand_int_range(rand, 0, sizeof some - 1)];
				break;
			case 1: {
				gssize cut = g_rand_int_range(rand, 1, 200);
				g_string_erase(bad, at, MIN(cut, (gssize)bad->len - at));
				break;
			}
			default:
				g_string_insert_c(bad, at, some[g_rand_int_range(rand, 0, sizeof some - 1)]);
			}
		}
		g_autoptr(blk_timeline) read = import_bytes(bad->str, bad->len, &warning, &error);
		if (!read)
			continue;
		for (int f = SPAN_ZIPKIN; f <= SPAN_JSON; f++)
			g_free(export(read, (enum span_format)f, true));
	}
}

/* ---- much of it ---- */

#define MANY 5000			/* traces of two spans, told span by span, the last ends first */

static char *many_spans(void)
{
	GString *text = g_string_new("[");
	for (int half = 0; half < 2; half++)
		for (int i = 0; i < MANY; i++)
			g_string_append_printf(text, "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",%s"
				"\"name\":\"n\",\"timestamp\":%d,\"duration\":9}", half || i ? "," : "", i + 1,
				i * 2 + half + 1, half ? "\"parentId\":\"00000000000000ff\"," : "",
				(MANY - i) * 100000);
	g_string_append_c(text, ']');
	return g_string_free(text, FALSE);
}

struct progress {
	int64_t times, stop_after;
	double progress;
	uint64_t n;
};

static bool note_progress(void *data, double progress, uint64_t n)
{
	struct progress *t = data;
	g_assert_cmpfloat(progress, >=, t->progress);
	g_assert_cmpfloat(progress, <=, 1);
	t->progress = progress;
	t->n = n;
	return !t->stop_after || ++t->times < t->stop_after;
}

static struct publication *import_with_progress(struct progress *t)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = many_spans();
	g_autofree char *path = write_temporary(text, strlen(text));
	const char *const paths[] = { path, NULL };
	const struct watch watch = { note_progress, t };
	struct import *im = import_open(paths, 0, &watch, &error);
	g_assert_no_error(error);
	struct publication *pub = import_next(im, &error);
	g_assert_no_error(error);
	g_assert_null(import_next(im, &error));
	g_assert_no_error(error);
	g_assert_null(import_warning(im));
	import_free(im);
	g_unlink(path);
	return pub;
}

static const struct span *span_at(const struct publication *p, guint i)
{
	return g_array_index(p->spans, struct published_span, i).span;
}

/* It tells how far it is, and stops where it is asked to, with what it has. */
static void test_reported(void)
{
	struct progress all = { 0 }, some = { .stop_after = 14 };
	struct publication *p = import_with_progress(&all), *q = import_with_progress(&some);
	g_assert_cmpuint(p->spans->len, ==, 2 * MANY);
	g_assert_cmpfloat(all.progress, >, 0.8);
	g_assert_cmpuint(q->spans->len, ==, some.n);
	g_assert_cmpuint(some.n, >, 0);
	g_assert_cmpuint(some.n, <, MANY);
	publication_free(p);
	publication_free(q);
}

/* By the ends of traces, and cut between them: then memory's bounds keep the newest. */
static void test_split(void)
{
	struct progress all = { 0 };
	struct publication *p = import_with_progress(&all), *tail;
	g_autoptr(GPtrArray) tails = g_ptr_array_new();
	int64_t end = INT64_MIN;
	for (guint i = 0; i < p->spans->len; i++) {
		g_assert_cmpint(span_at(p, i)->end_ns, >=, end);
		end = span_at(p, i)->end_ns;
	}
	while ((tail = publication_split(p, 999)))
		g_ptr_array_add(tails, tail);
	g_assert_cmpuint(tails->len, ==, 2 * MANY / 1000 - 1);
	g_assert_cmpuint(p->spans->len, ==, 1000);
	g_autoptr(blk_timeline) tl = timeline_new(2 << 20);
	uint64_t traces, spans, last = span_at(p, 999)->trace_id;
	timeline_apply(tl, p);
	for (guint i = tails->len; i-- > 0;) {
		p = tails->pdata[i];
		g_assert_cmpuint(span_at(p, 0)->trace_id, !=, last);
		last = span_at(p, p->spans->len - 1)->trace_id;
		timeline_apply(tl, p);
	}
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(spans, ==, 2 * traces);
	g_assert_cmpuint(timeline_n_spans(tl) + spans, ==, 2 * MANY);
	g_assert_cmpuint(traces, >, 0);
	g_assert_nonnull(timeline_trace_spans(tl, 1));		/* the one that ends last */
	int64_t first;
	g_assert_true(timeline_coverage(tl, &first, NULL));
	g_assert_cmpint(timeline_retained_from(tl), ==, first);
}

static void test_items(void)
{
	static const char text[] = " [ {\"a\":\"]}\\\"{\"} , [{}], [ ] ] {\"b\":[{}]}";
	static const char *const wanted[] = { "{\"a\":\"]}\\\"{\"}", "{}", "{\"b\":[{}]}" };
	struct json_items items;
	const char *item;
	size_t len;
	items = (struct json_items){ .text = text, .len = strlen(text), .fd = -1 };
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
		g_assert_true(json_items_next(&items, &item, &len));
		g_assert_cmpmem(item, len, wanted[i], strlen(wanted[i]));
	}
	g_assert_false(json_items_next(&items, &item, &len));
	g_assert_cmpstr(items.error, ==, NULL);
}

/* What a file holds, window by window, is what the text holds: at any place where a window may
 * end, and of objects that are longer than one. */
static void test_windows(void)
{
	g_autoptr(GString) text = g_string_new("\xef\xbb\xbf[");
	for (guint i = 0; i < 40; i++) {
		g_autofree char *filler = g_strnfill(i == 20 ? 3 << 20 : 16000 + i * 977, i % 2 ? '{' : '\\');
		g_string_append_printf(text, "%s{\"%u\":\"%s%s\"}", i ? ", " : "", i, filler,
				       i % 2 || strlen(filler) % 2 == 0 ? "" : "\\");
	}
	g_string_append(text, "]\n");
	g_autofree char *path = write_temporary(text->str, text->len);
	int fd = g_open(path, O_RDONLY | O_CLOEXEC);
	struct json_items whole, file;
	const char *a, *b;
	size_t a_len, b_len;
	whole = (struct json_items){ .text = text->str + 3, .len = text->len - 3, .fd = -1 };
	json_items_open(&file, fd);
	for (guint i = 0; i < 40; i++) {
		g_assert_true(json_items_next(&whole, &a, &a_len));
		g_assert_true(json_items_next(&file, &b, &b_len));
		g_assert_cmpmem(a, a_len, b, b_len);
		g_assert_cmpuint(json_items_at(&whole) + 3, ==, json_items_at(&file));
	}
	g_assert_false(json_items_next(&file, &b, &b_len));
	g_assert_cmpstr(file.error, ==, NULL);
	g_assert_cmpuint(json_items_at(&file), ==, text->len);
	json_items_clear(&file);
	close(fd);
	g_unlink(path);
}

/* Neither what never ends nor what is too long is held. */
static void test_endless(void)
{
	static const char *const why[] = { "it ends inside of a span", "a span that is too long" };
	for (guint i = 0; i < G_N_ELEMENTS(why); i++) {
		g_autofree char *filler = g_strnfill(i ? 2 * LIMIT_SPAN_OBJECT_BYTES : 1 << 20, 'x');
		g_autofree char *text = g_strdup_printf("[{\"a\":\"%s", filler);
		g_autofree char *path = write_temporary(text, strlen(text));
		int fd = g_open(path, O_RDONLY | O_CLOEXEC);
		struct json_items file;
		const char *item;
		size_t len;
		json_items_open(&file, fd);
		g_assert_false(json_items_next(&file, &item, &len));
		g_assert_cmpstr(file.error, ==, why[i]);
		g_assert_cmpuint(json_items_at(&file), ==, 1);
		json_items_clear(&file);
		close(fd);
		g_unlink(path);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import/partial", test_partial);
	g_test_add_func("/import/round", test_round);
	g_test_add_func("/import/kernel", test_kernel);
	g_test_add_func("/import/plain", test_plain);
	g_test_add_func("/import/wide-ids", test_wide_ids);
	g_test_add_func("/import/reports", test_reports);
	g_test_add_func("/import/times", test_times);
	g_test_add_func("/import/self", test_self);
	g_test_add_func("/import/self-of-circles", test_self_of_circles);
	g_test_add_func("/import/other-formats", test_other_formats);
	g_test_add_func("/import/alike-formats", test_alike_formats);
	g_test_add_func("/import/missing", test_missing);
	g_test_add_func("/import/told-in-part", test_reported_in_part);
	g_test_add_func("/import/self-of-halves", test_self_of_halves);
	g_test_add_func("/import/left-out", test_left_out);
	g_test_add_func("/import/types", test_types);
	g_test_add_func("/import/no-spans", test_no_spans);
	g_test_add_func("/import/many-of-one-id", test_many_of_one_id);
	g_test_add_func("/import/mutations", test_mutations);
	g_test_add_func("/import/items", test_items);
	g_test_add_func("/import/alike-ids", test_alike_ids);
	g_test_add_func("/import/alike-asked", test_alike_asked);
	g_test_add_func("/import/own-parent", test_own_parent);
	g_test_add_func("/import/windows", test_windows);
	g_test_add_func("/import/endless", test_endless);
	g_test_add_func("/import/told", test_reported);
	g_test_add_func("/import/split", test_split);
	return g_test_run();
}
