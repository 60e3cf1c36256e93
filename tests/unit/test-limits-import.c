/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of files of spans. */
#include "base/limits.h"
#include "export/export.h"
#include "export/import_survey.h"
#include "export/json_items.h"
#include "lib/fake_timeline.h"
#include "lib/importing.h"
#include "lib/limit_test.h"
#include "views/clocks.h"

#include <string.h>

#define SPAN(trace, id, more) "{\"traceId\":\"" trace "\",\"id\":\"" id "\",\"timestamp\":5" more "}"
#define GOOD SPAN("7", "7", "")

/* Is all of the text read? Else what is behind a good span is left out, for these words. Takes it over. */
static bool is_read(GString *text, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	g_autoptr(blk_timeline) tl = import_bytes(text->str, text->len, &warning, &error);

	g_string_free(text, true);
	g_assert_no_error(error);
	if (!warning)
		return true;
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	g_assert_nonnull(strstr(warning, words));
	return false;
}

static bool span_object_bytes(uint64_t n)
{
	GString *text = g_string_new("[" GOOD ",");
	gsize begin = text->len;

	g_string_append(text, "{\"traceId\":\"1\",\"id\":\"1\",\"timestamp\":5,\"x\":\"");
	while (text->len - begin < n - 2)
		g_string_append_c(text, 'x');
	g_string_append(text, "\"}]");
	return is_read(text, "a span that is too long");
}

static bool span_object_depth(uint64_t n)
{
	g_autofree char *open = g_strnfill(n - 1, '['), *close = g_strnfill(n - 1, ']');
	GString *text = g_string_new("[" GOOD ",");

	g_string_append_printf(text, "{\"traceId\":\"1\",\"id\":\"1\",\"timestamp\":5,\"x\":%s%s}]", open, close);
	return is_read(text, "nested too deeply");
}

static bool span_lists(uint64_t n)
{
	g_autofree char *open = g_strnfill(n - 1, '['), *close = g_strnfill(n - 1, ']');
	GString *text = g_string_new("[" GOOD ",");

	g_string_append_printf(text, "%s%s%s]", open, SPAN("1", "1", ""), close);
	return is_read(text, "lists are nested too deep");
}

/* The places of all others are there, and take no memory as long as nothing is written to them. */
static bool spans(uint64_t n)
{
	static const char span[] = SPAN("1", "1", "");
	struct survey v;

	survey_init(&v);
	survey_begin_file(&v);
	g_array_set_size(v.items, (guint)n - 1);
	bool added = survey_add(&v, JSON_NONE, strlen(span), strlen(span));
	survey_clear(&v);
	return added;
}

static bool same_spans(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("[");
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "%s{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,"
				       "\"localEndpoint\":{\"serviceName\":\"s%u\"}}", i ? "," : "", i);
	g_string_append_c(text, ']');
	g_autoptr(blk_timeline) tl = import_bytes(text->str, text->len, &warning, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(timeline_n_spans(tl), ==, MIN(n, LIMIT_SAME_SPANS));
	g_assert_true((n > LIMIT_SAME_SPANS) == (warning != NULL));
	return !warning;
}

/* Two reports of a span, the second of which adds one tag and one annotation. */
static bool merged_facts(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("["), tags = g_string_new(NULL), notes = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;

	for (unsigned i = 1; i < n; i++) {
		g_string_append_printf(tags, "%s\"k%u\":\"v\"", i > 1 ? "," : "", i);
		g_string_append_printf(notes, "%s{\"timestamp\":%u,\"value\":\"a%u\"}", i > 1 ? "," : "", i + 5, i);
	}
	g_string_append_printf(text, "{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,\"tags\":{%s},"
			       "\"annotations\":[%s]},"
			       "{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":5,\"tags\":{\"k0\":\"v\"},"
			       "\"annotations\":[{\"timestamp\":5,\"value\":\"a0\"}]}]", tags->str, notes->str);
	g_autoptr(blk_timeline) tl = import_bytes(text->str, text->len, &warning, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	const struct span *s = timeline_span(tl, 0);
	g_assert_cmpuint(s->n_tags, ==, MIN(n, LIMIT_MERGED_FACTS));
	g_assert_cmpuint(s->n_annotations, ==, MIN(n, LIMIT_MERGED_FACTS));
	return s->n_tags == n;
}

/* Exported and imported: n spans of one thread around one, all of which have the same wait. */
static bool span_nesting(uint64_t n)
{
	const int64_t longest = (int64_t)n + 2;
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 100, 101, "worker");
	struct span_selection what = { .trace_id = 1, .with_kernel = true };
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	unsigned n_spans;

	for (int64_t i = 0; i <= (int64_t)n; i++) {
		const struct fake_span desc = {
			.trace = 1, .id = (uint64_t)i + 1, .parent = (uint64_t)i, .kind = SPAN_SERVER, .name = "s",
			.service = "svc", .thread = thread, .begin = i * FAKE_MS,
			.end = (2 * longest - i) * FAKE_MS, .state = SPAN_COMPLETE,
		};
		fake_wait(fake_span(f, &desc), PART_FUTEX, longest * FAKE_MS - FAKE_MS / 2, longest * FAKE_MS, 0,
			  ID_NONE, ID_NONE);
	}
	g_autoptr(blk_timeline) before = fake_done(f);
	g_autofree char *text = span_export(before, &what, SPAN_ZIPKIN, &n_spans, &error);
	g_assert_no_error(error);
	g_autoptr(blk_timeline) tl = import_bytes(text, strlen(text), &warning, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(timeline_n_spans(tl), ==, n + 1);
	unsigned with = 0;
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		with += timeline_span(tl, i)->n_waits;
	g_assert_cmpuint(with, ==, MIN(n, LIMIT_SPAN_NESTING) + 1);
	return with == n + 1;
}

/* One service calls n - 1 others: is the clock of the last one known? */
static bool endpoints(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("[");
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	int64_t offset, error_ns;

	for (uint64_t i = 1; i < n; i++)
		for (int server = 0; server < 2; server++)
			g_string_append_printf(text, "%s{\"traceId\":\"1\",\"id\":\"%x\",\"kind\":\"%s\","
					       "\"timestamp\":%d,\"duration\":%d,\"localEndpoint\":"
					       "{\"serviceName\":\"s%u\"}}",
					       text->len > 1 ? "," : "", (unsigned)i, server ? "SERVER" : "CLIENT",
					       server ? 70 : 50, server ? 5 : 10, server ? (unsigned)i : 0);
	g_string_append_c(text, ']');
	g_autoptr(blk_timeline) tl = import_bytes(text->str, text->len, &warning, &error);
	g_assert_no_error(error);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	const struct span *client = timeline_span(tl, 0), *last = timeline_span(tl, timeline_n_spans(tl) - 1);
	bool known = clocks_between(k, clocks_place(k, client), clocks_place(k, last), &offset, &error_ns);
	g_assert_true(known || clocks_place(k, last) == ID_NONE);
	return known;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "span-object-bytes", span_object_bytes, 0 }, { "span-object-depth", span_object_depth, 0 },
		{ "span-lists", span_lists, 0 }, { "spans", spans, 0 }, { "same-spans", same_spans, 0 },
		{ "merged-facts", merged_facts, 0 }, { "span-nesting", span_nesting, 0 },
		{ "endpoints", endpoints, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
