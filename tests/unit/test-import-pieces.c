/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of spans that are read trace by trace: the same as if all were held at once, within little
 * memory, also where what a file says is odd, or is another file meanwhile.
 */
#include "export/export.h"
#include "export/import_names.h"
#include "export/import_survey.h"
#include "export/zipkin_read.h"
#include "lib/importing.h"
#include "lib/inspect.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- in pieces as whole ---- */

static void add_item(GString *text, const char *item)
{
	g_string_append_printf(text, "%s%s", text->len > 1 ? ",\n" : "[", item);
}

/* A member of an item, now and then. */
static char *maybe(GRand *rand, int of, const char *format, ...) G_GNUC_PRINTF(3, 4);
static char *maybe(GRand *rand, int of, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *ret = g_rand_int_range(rand, 0, of) ? g_strdup_vprintf(format, args) : g_strdup("");
	va_end(args);
	return ret;
}

static void add_random(GString *text, GRand *rand, int i)
{
	static const char *const kinds[] = { "CLIENT", "SERVER", "PRODUCER" };
	int trace = g_rand_int_range(rand, 1, 20), id = g_rand_int_range(rand, 1, 12);
	int at = g_rand_int_range(rand, 1, 1 << 20);
	g_autofree char *upper = g_strnfill(g_rand_int_range(rand, 0, 3) ? 0 : 16,
					    '1' + (char)g_rand_int_range(rand, 0, 2));
	g_autofree char *kind = maybe(rand, 2, "\"kind\":\"%s\",", kinds[i % 3]);
	g_autofree char *time = maybe(rand, 8, "\"timestamp\":%d%s,\"duration\":%d,", at,
				      i % 7 ? "" : ".0", i * 10);
	g_autofree char *item = g_strdup_printf("{\"traceId\":\"%s%016x\",%s%s\"id\":\"%x\","
		"\"parentId\":\"%x\",\"name\":\"n%d\",\"localEndpoint\":{\"serviceName\":\"s%d\"},"
		"\"annotations\":[{\"timestamp\":%d,\"value\":\"a%d\"}],\"tags\":{\"k\":\"v%d\"}}",
		upper, trace, kind, time, id, id / 2, i % 5, i % 3, at + 1, i, i);
	add_item(text, item);
}

/* Spans of few traces in any order: reports twice, halves, alike ids, waits, and what is none. */
static char *made(GRand *rand)
{
	GString *text = g_string_new("");
	for (int i = 0; i < 200; i++)
		add_random(text, rand, i);
	add_item(text, "{\"id\":\"1\"}");
	add_item(text, "{\"trac\\u0065Id\":\"3\",\"id\":\"77\",\"timestamp\":5,\"name\":\"escaped\"}");
	add_item(text, "{\"traceId\":\"4\",\"id\":\"78\",\"timestamp\":5,\"traceId\":\"5\",\"name\":\"twice\"}");
	add_item(text, "{\"traceId\":\"0000000000000002\",\"id\":\"901\",\"timestamp\":100,\"duration\":50,"
		 "\"tags\":{\"blktop.host\":\"h\",\"blktop.pid\":\"7\",\"blktop.thread\":\"w/8\"}}");
	add_item(text, "{\"traceId\":\"0000000000000002\",\"id\":\"902\",\"parentId\":\"901\",\"timestamp\":110,"
		 "\"duration\":20,\"name\":\"wait\",\"tags\":{\"blktop.kernel\":\"wait\","
		 "\"blktop.part\":\"timer\",\"blktop.thread\":\"w/8\"}}");
	g_string_append(text, "]");
	return g_string_free(text, FALSE);
}

/* All that is told of it. */
static char *imported(const char *text, size_t piece_bytes)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	g_autoptr(blk_timeline) tl = import_pieces(text, strlen(text), piece_bytes, 0, &warning, &error);
	if (!tl)
		return g_strdup(strrchr(error->message, ':'));
	struct span_selection all = { .slowest = 1000, .with_kernel = true };

	int64_t first, last;
	unsigned n;
	g_autofree char *json = span_export(tl, &all, SPAN_JSON, &n, &error);
	g_assert_no_error(error);
	g_assert_true(timeline_coverage(tl, &first, &last));
	struct completeness completeness = timeline_facts(tl)->completeness;
	GString *ret = g_string_new(json);
	g_string_append_printf(ret, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
			       " %" G_GUINT64_FORMAT "\n", warning ? strchr(warning, ':') : "", first, last,
			       timeline_n_events(tl), completeness.lost_events);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)
		g_string_append_printf(ret, "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT "\n",
				       timeline_second(tl, i)->begin_ns, timeline_second(tl, i)->end_ns);
	return g_string_free(ret, FALSE);
}

static void test_pieces(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(11);
	for (int round = 0; round < 40; round++) {
		g_autofree char *text = made(rand);
		g_autofree char *whole = imported(text, 0);
		for (size_t piece = 1; piece < 40000; piece = piece * 7 + 1) {
			g_autofree char *some = imported(text, piece);
			g_assert_cmpstr(some, ==, whole);
		}
	}
}

/* Also where it is no longer what it was. */
static void test_mutations(void)
{
	static const char some[] = "\"\\{}[]:,0x1 \n";
	g_autoptr(GRand) rand = g_rand_new_with_seed(12);
	for (int round = 0; round < 150; round++) {
		g_autofree char *text = made(rand);
		gint32 len = (gint32)strlen(text);
		for (int i = g_rand_int_range(rand, 1, 30); i > 0; i--)
			text[g_rand_int_range(rand, 0, len)] = some[g_rand_int_range(rand, 0, sizeof some - 1)];
		if (round % 3 == 0)
			text[g_rand_int_range(rand, 0, len)] = '\0';
		g_autofree char *whole = imported(text, 0), *some_of_it = imported(text, 1);
		g_assert_cmpstr(some_of_it, ==, whole);
	}
}

/* ---- texts ---- */

#define MANY 20000

/* Each trace has a text of its own. */
static char *many_texts(void)
{
	GString *text = g_string_new("");
	for (unsigned i = 1; i <= MANY; i++) {
		g_autofree char *item = g_strdup_printf("{\"traceId\":\"%x\",\"id\":\"%x\",\"name\":\"n\","
			"\"timestamp\":%u,\"duration\":%u,\"tags\":{\"all\":\"have it\","
			"\"text\":\"the only text of its kind, number %u\"}}", i, i, i * 1000, i % 900, i);
		add_item(text, item);
	}
	g_string_append(text, "]");
	return g_string_free(text, FALSE);
}

static void check_texts(const struct timeline *tl)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		g_autofree char *wanted = g_strdup_printf("the only text of its kind, number %u",
							  (unsigned)s->trace_id);
		g_assert_cmpuint(s->n_tags, ==, 2);
		g_assert_cmpstr(s->tags[1].key, ==, "text");
		g_assert_cmpstr(s->tags[1].val, ==, wanted);
		g_assert_cmpstr(s->tags[0].val, ==, "have it");
	}
}

/* They are no strings of the timeline, so they go with their spans; those of the spans that are kept stay
 * what they are. */
static void test_texts(void)
{
	g_autofree char *text = many_texts();
	g_autofree char *path = write_temporary(text, strlen(text));
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_timeline) tl = timeline_new(1 << 20);
	struct import *im = import_open(paths, 50000, NULL, &error);
	struct publication *pub;
	uint32_t strings = 0;
	while ((pub = import_next(im, &error))) {
		strings += pub->strings->len;
		timeline_apply(tl, pub);
		check_texts(tl);
	}
	g_assert_no_error(error);
	import_free(im);
	g_unlink(path);
	g_assert_cmpuint(timeline_n_spans(tl), >, 100);
	g_assert_cmpuint(timeline_n_spans(tl), <, MANY / 2);
	g_assert_cmpuint(strings, ==, 1);
	int64_t first, last;
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(first, ==, 1000000);
}

/* Until then coverage is what the files say, roughly. */
static void test_coverage(void)
{
	g_autofree char *text = many_texts();
	g_autofree char *path = write_temporary(text, strlen(text));
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	struct import *im = import_open(paths, 50000, NULL, &error);
	struct publication *pub = import_next(im, &error);
	g_assert_true(pub->has_coverage);
	g_assert_cmpuint(pub->spans->len, <, MANY / 10);
	g_assert_cmpint(pub->first_ns, ==, 1000000);
	g_assert_cmpint(pub->last_ns, >=, INT64_C(1000000) * MANY);
	g_assert_cmpuint(pub->beside_bytes, >, MANY * sizeof(struct survey_item));
	publication_free(pub);
	import_free(im);
	g_unlink(path);
}

/* ---- odd files ---- */

/* A file that is another one when it is read: what is not there is told. */
static void test_changed(void)
{
	g_autofree char *text = many_texts();
	g_autofree char *path = write_temporary(text, strlen(text));
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	struct import *im = import_open(paths, 50000, NULL, &error);
	struct publication *pub;
	uint64_t n = 0;
	g_assert_no_error(error);
	g_assert_cmpint(truncate(path, (off_t)strlen(text) / 2), ==, 0);
	while ((pub = import_next(im, &error))) {
		n = pub->n_events;
		publication_free(pub);
	}
	g_assert_no_error(error);
	g_autofree char *warning = import_warning(im);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *wanted = g_strdup_printf("%s: span %u: the file was changed meanwhile, and %u more",
						  name, (unsigned)n + 1, MANY - (unsigned)n - 1);
	g_assert_cmpuint(n, >, 0);
	g_assert_cmpstr(warning, ==, wanted);
	import_free(im);
	g_unlink(path);
}

/* Several files, one of which can't be read to its end. */
static void test_files(void)
{
	static const char *const texts[] = {
		"[{\"traceId\":\"1\",\"id\":\"1\",\"timestamp\":5,\"duration\":3},{\"traceId\":\"9\",\"id\":\"x\"}]",
		"[{\"traceId\":\"2\",\"id\":\"1\",\"timestamp\":1,\"duration\":3},",
		"[{\"traceId\":\"1\",\"id\":\"1\",\"tags\":{\"more\":\"of it\"}}]",
	};
	char *paths[G_N_ELEMENTS(texts) + 1] = { NULL };
	g_autoptr(GError) error = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		paths[i] = write_temporary(texts[i], strlen(texts[i]));
	struct import *im = import_open((const char *const *)paths, 1, NULL, &error);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct publication *pub;
	while ((pub = import_next(im, &error)))
		timeline_apply(tl, pub);
	g_assert_no_error(error);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 2);
	g_assert_cmpuint(timeline_span(tl, 0)->trace_id, ==, 2);	/* it ends first */
	g_assert_cmpuint(timeline_span(tl, 1)->n_tags, ==, 1);
	g_autofree char *warning = import_warning(im);
	g_autofree char *name = g_path_get_basename(paths[0]);
	g_autofree char *wanted = g_strdup_printf("%s: span 2: no valid id, and 1 more", name);
	g_assert_cmpstr(warning, ==, wanted);
	import_free(im);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_unlink(paths[i]);
		g_free(paths[i]);
	}
}

/* ---- looking ahead ---- */

static const struct { const char *text; uint64_t trace; int64_t begin_us, duration_us; } looks[] = {
	{ "{\"traceId\":\"a\",\"timestamp\":5,\"duration\":7}", 10, 5, 7 },
	{ " { \"timestamp\" : 5 , \"tags\":{\"traceId\":\"b\",\"x\":\"}\\\"\"} , \"traceId\" : \"A\" } ", 10, 5, 0 },
	{ "{\"traceId\":\"000000000000000b000000000000000a\",\"timestamp\":5.0}", 10, 5, 0 },
	{ "{\"traceId\":\"b\",\"traceId\":\"a\",\"timestamp\":null,\"duration\":7}", 10, 0, 0 },
	{ "{\"trace\\u0049d\":\"a\",\"timestamp\":5,\"duration\":7}", 10, 5, 7 },
	{ "{\"traceId\":\"\\u0061\",\"timestamp\":5,\"duration\":7}", 10, 5, 7 },
	{ "{\"traceId\":\"a\",\"timestamp\":-5,\"duration\":7}", 10, 0, 0 },
	{ "{\"traceId\":\"a\",\"timestamp\":99999999999999999999,\"duration\":7}", 10, 0, 0 },
	{ "{\"traceId\":\"a\",\"timestamp\":5,\"duration\":\"7\"}", 10, 5, 0 },
	{ "{\"a\":[{\"traceId\":\"b\"},[]],\"traceId\":\"a\",\"timestamp\":5}", 10, 5, 0 },
	{ "{\"id\":\"a\"}", 0, 0, 0 },
	{ "{\"traceId\":10}", 0, 0, 0 },
	{ "{\"traceId\":\"g\"}", 0, 0, 0 },
	{ "{\"traceId\":\"a\"", 0, 0, 0 },
	{ "{}", 0, 0, 0 },
	{ "{", 0, 0, 0 },
	{ "", 0, 0, 0 },
};

static bool look(const char *text, struct zipkin_peek *ret)
{
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_problem why;
	return json_scan(text, strlen(text), tokens, &why) && zipkin_peek((struct json_value){ text, tokens, 0 }, ret);
}

static void test_looks(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(looks); i++) {
		g_autofree char *text = g_memdup2(looks[i].text, strlen(looks[i].text) + 1);
		struct zipkin_peek p;
		g_assert_cmpint(look(text, &p), ==, looks[i].trace != 0);
		if (!looks[i].trace)
			continue;
		g_assert_cmpuint(p.trace, ==, looks[i].trace);
		g_assert_cmpint(p.begin_ns, ==, looks[i].begin_us ? looks[i].begin_us * 1000 : TIME_UNKNOWN);
		int64_t end_us = looks[i].begin_us + looks[i].duration_us;
		g_assert_cmpint(p.end_ns, ==, looks[i].begin_us ? end_us * 1000 : TIME_UNKNOWN);
	}
}

/* Whatever is said, and however: the look ahead tells the trace that the parser tells. */
static void test_same_trace(void)
{
	static const char some[] = "\"\\{}[]:, \t\n0123456789abcdefeE.-xtraceIdmsp/#";
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	int valid = 0;
	for (int round = 0; round < 60000; round++) {
		g_autoptr(GString) text = g_string_new(looks[round % 10].text);
		g_string_insert(text, (gssize)(strrchr(text->str, '}') - text->str), ",\"id\":\"1\"");
		for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--)
			text->str[g_rand_int_range(rand, 0, (gint32)text->len)] =
				some[g_rand_int_range(rand, 0, sizeof some - 1)];
		struct publication *pub = publication_new();
		struct import_names names;
		struct zipkin_peek p;
		import_names_init(&names);
		names.pub = pub;
		struct read_span *r = zipkin_read(&names, text->str, text->len, NULL);
		bool looked = look(text->str, &p);
		if (r) {
			valid++;
			if (!looked || p.trace != r->trace)
				g_test_message("%s", text->str);
			g_assert_true(looked);
			g_assert_cmpuint(p.trace, ==, r->trace);
		}
		read_span_free(r);
		import_names_clear(&names);
		publication_free(pub);
	}
	g_assert_cmpint(valid, >, 10000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import-pieces/pieces", test_pieces);
	g_test_add_func("/import-pieces/mutations", test_mutations);
	g_test_add_func("/import-pieces/texts", test_texts);
	g_test_add_func("/import-pieces/coverage", test_coverage);
	g_test_add_func("/import-pieces/changed", test_changed);
	g_test_add_func("/import-pieces/files", test_files);
	g_test_add_func("/import-pieces/looks", test_looks);
	g_test_add_func("/import-pieces/same-trace", test_same_trace);
	return g_test_run();
}
