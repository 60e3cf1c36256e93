/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exported spans against the rules of Zipkin v2, blktop's own JSON, and files that
 * are never overwritten.
 */
#include "export/export.h"
#include "export/attributes.h"
#include "lib/fake_timeline.h"
#include "lib/parsed.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct json_value export(const struct timeline *tl, struct span_selection what,
			enum span_format format, unsigned *n)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = span_export(tl, &what, format, n, &error);
	g_assert_no_error(error);
	return parsed(text);
}

static const char *member(struct json_value o, const char *key)
{
	return parsed_has(o, key) ? parsed_text(o, key) : NULL;
}

static void assert_match(const char *text, const char *regex)
{
	if (!g_regex_match_simple(regex, text, 0, 0))
		g_error("'%s' is not %s", text, regex);
}

static void assert_int(struct json_value o, const char *key, int64_t least)
{
	g_assert_cmpint(parsed_int(o, key), >=, least);
}

static void check_endpoint(struct json_value e)
{
	const char *name = member(e, "serviceName");
	g_autofree char *lower = g_utf8_strdown(name, -1);
	g_assert_cmpstr(name, ==, lower);
	if (parsed_has(e, "port"))
		assert_int(e, "port", 1);
}

/* peers: ids, microseconds, kinds, unique annotations, tags of strings. */
static void check_zipkin(struct json_value o)
{
	const char *kind = member(o, "kind"), *parent = member(o, "parentId");
	assert_match(member(o, "traceId"), "^([a-f0-9]{16}|[a-f0-9]{32})$");
	assert_match(member(o, "id"), "^[a-f0-9]{16}$");
	if (parent) {
		assert_match(parent, "^[a-f0-9]{16}$");
		g_assert_cmpstr(parent, !=, "0000000000000000");
	}
	g_assert_true(!kind || strcmp(kind, "CLIENT") == 0 || strcmp(kind, "SERVER") == 0);
	assert_int(o, "timestamp", 1);
	if (parsed_has(o, "duration"))
		assert_int(o, "duration", 1);
	if (parsed_has(o, "shared"))
		g_assert_cmpstr(kind, ==, "SERVER");
	check_endpoint(parsed_object(o, "localEndpoint"));
	struct json_value tags = parsed_object(o, "tags"), key, tag = JSON_NONE;
	while (json_next_member(tags, &key, &tag))
		g_assert_true(json_is(tag, JSON_STRING));
	if (!parsed_has(o, "annotations"))
		return;
	struct json_value annotations = parsed_list(o, "annotations");
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < parsed_count(annotations); i++) {
		struct json_value a = parsed_at(annotations, i);
		assert_int(a, "timestamp", 1);
		g_assert_true(g_hash_table_add(seen, g_strdup_printf("%" G_GINT64_FORMAT " %s",
			parsed_int(a, "timestamp"), member(a, "value"))));
	}
}

static void test_zipkin_rules(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .slowest = 1000 },
					  SPAN_ZIPKIN, &n);
	struct json_value spans = root;
	g_assert_cmpuint(n, ==, timeline_n_spans(tl));
	g_assert_cmpuint(parsed_count(spans), ==, n);
	for (guint i = 0; i < n; i++)
		check_zipkin(parsed_at(spans, i));
}

static struct json_value find(struct json_value spans, const char *name, const char *kind)
{
	for (guint i = 0; i < parsed_count(spans); i++) {
		struct json_value o = parsed_at(spans, i);
		if (strcmp(member(o, "name"), name) == 0 && g_strcmp0(member(o, "kind"), kind) == 0)
			return o;
	}
	g_error("no span %s", name);
}

static void test_zipkin_victim(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .trace_id = FAKE_VICTIM },
					  SPAN_ZIPKIN, &n);
	struct json_value spans = root;
	g_assert_cmpuint(n, ==, 8);
	struct json_value thumbnail = find(spans, "thumbnail", NULL);
	g_assert_false(parsed_has(thumbnail, "parentId"));
	g_assert_cmpstr(member(thumbnail, "traceId"), ==, "7f8efb3a8bed4f37");
	struct json_value lock = find(spans, "lock", NULL);
	struct json_value tags = parsed_object(lock, "tags");
	g_assert_cmpstr(member(tags, "blktop.part.futex_ns"), ==, "53240000");
	g_assert_cmpstr(member(tags, "blktop.waker"), ==, "thumbd-w0/254");
	g_assert_cmpstr(member(tags, "blktop.thread"), ==, "thumbd-w2/256");
	g_assert_nonnull(strstr(member(tags, "blktop.why"), "slept holding it"));
	struct json_value server = find(spans, "send", "SERVER"), client = find(spans, "send", "CLIENT");
	g_assert_true(json_is(json_member(server, "shared"), JSON_TRUE));
	g_assert_false(parsed_has(client, "shared"));
	g_assert_cmpstr(member(server, "id"), ==, member(client, "id"));
	g_assert_cmpstr(member(parsed_object(server, "localEndpoint"),
			       "serviceName"), ==, "stored");
}

static void test_zipkin_edges(void)
{
	struct fake *f = fake_new();
	struct span *s = fake_span(f, &(struct fake_span){ .trace = UINT64_MAX, .id = 1, .parent = 9,
		.name = "x\033", .service = "UPPER", .thread = ID_NONE, .begin = 1, .end = 1 });
	s->ip = reftext_new("fe80::1");
	s->port = 0;
	for (int i = 0; i < 3; i++)
		fake_annotate(s, i, "same");	/* within one microsecond */
	fake_tag(s, "k", "1");
	fake_tag(s, "k", "\xff");
	g_autoptr(blk_timeline) tl = fake_done(f);
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .span_id = 1 },
					  SPAN_ZIPKIN, &n);
	struct json_value o = parsed_at(root, 0);
	struct json_value endpoint = parsed_object(o, "localEndpoint");
	check_zipkin(o);
	g_assert_cmpstr(member(o, "traceId"), ==, "ffffffffffffffff");
	g_assert_cmpstr(member(o, "parentId"), ==, "0000000000000009");
	g_assert_cmpint(parsed_int(o, "duration"), ==, 1);
	g_assert_cmpstr(member(endpoint, "ipv6"), ==, "fe80::1");
	g_assert_cmpstr(member(endpoint, "serviceName"), ==, "upper");
	g_assert_false(parsed_has(endpoint, "port"));
	g_assert_cmpuint(parsed_count(parsed_list(o, "annotations")), ==, 1);
	g_assert_cmpstr(member(parsed_object(o, "tags"), "k"), ==, "\\xff");
}

static void test_zipkin_open(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .trace_id = FAKE_OPEN },
					  SPAN_ZIPKIN, &n);
	struct json_value o = parsed_at(root, 0);
	check_zipkin(o);
	g_assert_false(parsed_has(o, "duration"));
	g_assert_cmpstr(member(parsed_object(o, "tags"), "blktop.state"), ==, "open");
}

static unsigned count_nested(struct json_value spans)
{
	unsigned n = 0;
	for (guint i = 0; i < parsed_count(spans); i++) {
		struct json_value o = parsed_at(spans, i);
		struct json_value parts = parsed_object(o, "parts");
		struct json_value key, part = JSON_NONE;
		int64_t sum = 0, ns;
		while (json_next_member(parts, &key, &part)) {
			g_assert_true(json_int(part, &ns));
			sum += ns;
		}
		g_assert_cmpuint(parsed_count(parts), ==, PART_N);
		g_assert_cmpint(sum, ==, parsed_int(o, "duration_ns"));
		n += 1 + count_nested(parsed_list(o, "children"));
	}
	return n;
}

static void test_native(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .slowest = 3 }, SPAN_JSON, &n);
	struct json_value traces = parsed_list(root, "traces");
	unsigned counted = 0;
	g_assert_cmpuint(parsed_count(traces), ==, 3);
	for (guint i = 0; i < 3; i++)
		counted += count_nested(parsed_list(
			parsed_at(traces, i), "spans"));
	g_assert_cmpuint(counted, ==, n);
	struct json_value top = parsed_at(parsed_list(
		parsed_at(traces, 0), "spans"), 0);
	g_assert_cmpstr(member(top, "trace_id"), ==, "1e9873c2aa104f01");
	g_assert_true(parsed_is_null(top, "parent_id"));
	struct json_value wait = parsed_at(
		parsed_list(top, "waits"), 0);
	g_assert_cmpstr(member(wait, "syscall"), ==, "clock_nanosleep");
	g_assert_true(parsed_is_null(wait, "waker"));
}

static struct json_value otlp_spans(struct json_value root, guint resource)
{
	struct json_value r = parsed_at(parsed_list(
		root, "resourceSpans"), resource);
	struct json_value scope = parsed_at(
		parsed_list(r, "scopeSpans"), 0);
	return parsed_list(scope, "spans");
}

static struct json_value find_otlp(struct json_value root, const char *name, int kind)
{
	struct json_value resources = parsed_list(root,
							    "resourceSpans");
	for (guint r = 0; r < parsed_count(resources); r++) {
		struct json_value spans = otlp_spans(root, r);
		for (guint i = 0; i < parsed_count(spans); i++) {
			struct json_value o = parsed_at(spans, i);
			if (strcmp(member(o, "name"), name) == 0 &&
			    parsed_int(o, "kind") == kind)
				return o;
		}
	}
	g_error("no span %s of kind %d", name, kind);
}

/* A span id is there once: the server's half has one of its own, its children go with it. */
static void test_otlp_halves(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .trace_id = FAKE_VICTIM },
					  SPAN_OTLP, &n);
	struct json_value client = find_otlp(root, "send", 3), server = find_otlp(root, "send", 2);
	struct json_value store = find_otlp(root, "store", 1);
	g_assert_cmpstr(member(client, "traceId"), ==, "00000000000000007f8efb3a8bed4f37");
	g_assert_cmpstr(member(server, "spanId"), !=, member(client, "spanId"));
	g_assert_cmpstr(member(server, "parentSpanId"), ==, member(client, "spanId"));
	g_assert_cmpstr(member(store, "parentSpanId"), ==, member(server, "spanId"));
	g_assert_cmpstr(member(find_otlp(root, "thumbnail", 1), "parentSpanId"), ==, NULL);
}

static void test_otlp_edges(void)
{
	struct fake *f = fake_new();
	struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "x\033",
		.service = "", .thread = ID_NONE, .begin = 5, .end = 5 });
	fake_annotate(s, 5, "odd\xff");
	fake_tag(s, "", "no key");
	fake_tag(s, "error", "broken");
	fake_tag(s, TAG_TRACE_ID, "a1b2000000000000" "0000000000000001");
	s->errors = 1;
	g_autoptr(blk_timeline) tl = fake_done(f);
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .span_id = 1 }, SPAN_OTLP, &n);
	struct json_value o = find_otlp(root, "x\033", 1);
	struct json_value status = parsed_object(o, "status");
	g_assert_cmpstr(member(o, "traceId"), ==, "a1b20000000000000000000000000001");
	g_assert_cmpint(parsed_int(status, "code"), ==, 2);
	g_assert_cmpstr(member(status, "message"), ==, "broken");
	g_assert_cmpstr(member(o, "startTimeUnixNano"), ==, "1795241315000000005");
	struct json_value event = parsed_at(
		parsed_list(o, "events"), 0);
	g_assert_cmpstr(member(event, "name"), ==, "odd\\xff");
	struct json_value attributes = parsed_list(o, "attributes");
	for (guint i = 0; i < parsed_count(attributes); i++) {
		const char *key = member(parsed_at(attributes, i), "key");
		g_assert_cmpstr(key, !=, "");
		g_assert_cmpstr(key, !=, TAG_TRACE_ID);
	}
}

static unsigned count_events(struct json_value root, const char *phase, const char *name)
{
	struct json_value events = parsed_list(root, "traceEvents");
	unsigned found = 0;
	for (guint i = 0; i < parsed_count(events); i++) {
		struct json_value e = parsed_at(events, i);
		found += strcmp(member(e, "ph"), phase) == 0 && strcmp(member(e, "name"), name) == 0;
	}
	return found;
}

/* Slices of a track nest; what overlaps, or has no thread, stands by itself. */
static void test_perfetto_overlap(void)
{
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 10, 11, "t");
	const struct { const char *name; uint32_t thread; int64_t begin, end; } spans[] = {
		{ "outer", thread, 0, 100 }, { "inner", thread, 10, 100 }, { "same", thread, 10, 100 },
		{ "over", thread, 90, 110 }, { "after", thread, 100, 200 }, { "lost", ID_NONE, 0, 50 },
		{ "empty", thread, 20, 20 },
	};
	for (guint i = 0; i < G_N_ELEMENTS(spans); i++)
		fake_span(f, &(struct fake_span){ .trace = 1, .id = i + 1, .parent = i > 0,
			.name = spans[i].name, .service = "s", .thread = spans[i].thread,
			.begin = spans[i].begin, .end = spans[i].end });
	g_autoptr(blk_timeline) tl = fake_done(f);
	unsigned n;
	struct json_value root = export(tl, (struct span_selection){ .trace_id = 1 },
					  SPAN_PERFETTO, &n);
	for (guint i = 0; i < G_N_ELEMENTS(spans); i++) {
		bool alone = strcmp(spans[i].name, "over") == 0 || strcmp(spans[i].name, "lost") == 0;
		g_assert_cmpuint(count_events(root, "X", spans[i].name), ==, !alone);
		g_assert_cmpuint(count_events(root, "b", spans[i].name), ==, alone);
		g_assert_cmpuint(count_events(root, "e", spans[i].name), ==, alone);
	}
}

/* A wait is told by the innermost span that has it, and lies in its call; strips tell
 * the rest of the time. */
static void test_with_kernel(void)
{
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 10, 11, "t"), read = fake_string(f, "read");
	struct span *outer = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "outer",
		.service = "s", .thread = thread, .begin = 0, .end = 1000 });
	struct span *inner = fake_span(f, &(struct fake_span){ .trace = 1, .id = 2, .parent = 1,
		.name = "inner", .service = "s", .thread = thread, .begin = 100, .end = 900 });
	fake_wait(outer, PART_DISK, 300, 500, 50, ID_NONE, read);
	fake_wait(inner, PART_DISK, 300, 500, 50, ID_NONE, read);
	inner->slow = g_new0(struct span_slow_call, 1);
	inner->n_slow = 1;
	inner->slow[0] = (struct span_slow_call){ .begin_ns = FAKE_T0 + 200, .duration_ns = 400,
		.name = read, .file = ID_NONE, .thread = thread };
	g_autoptr(blk_timeline) tl = fake_done(f);
	unsigned n;
	struct span_selection what = { .trace_id = 1, .with_kernel = true };
	struct json_value zipkin = export(tl, what, SPAN_ZIPKIN, &n);
	struct json_value spans = zipkin;
	g_assert_cmpuint(n, ==, 4);
	g_assert_cmpuint(parsed_count(spans), ==, 4);
	struct json_value call = find(spans, "read", NULL), wait = find(spans, "blocked: disk", NULL);
	g_assert_cmpstr(member(call, "parentId"), ==, "0000000000000002");
	g_assert_cmpstr(member(wait, "parentId"), ==, member(call, "id"));
	for (guint i = 0; i < 4; i++)
		check_zipkin(parsed_at(spans, i));
	struct json_value perfetto = export(tl, what, SPAN_PERFETTO, &n);
	g_assert_cmpuint(count_events(perfetto, "X", "blocked: disk"), ==, 2);	/* slice, strip */
	g_assert_cmpuint(count_events(perfetto, "X", "woken, waits for a CPU"), ==, 1);
	g_assert_cmpuint(count_events(perfetto, "X", "on a CPU"), ==, 2);
	what.with_kernel = false;
	struct json_value without = export(tl, what, SPAN_PERFETTO, &n);
	g_assert_cmpuint(count_events(without, "X", "on a CPU"), ==, 0);
}

/* A chain as deep as a hostile trace makes it. */
static void test_native_deep(void)
{
	struct fake *f = fake_new();
	const unsigned depth = 3000;
	for (unsigned i = 0; i < depth; i++)
		fake_span(f, &(struct fake_span){ .trace = 1, .id = i + 1, .parent = i, .name = "n",
			.service = "s", .thread = ID_NONE, .begin = i, .end = 10000 - i });
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct span_selection what = { .trace_id = 1 };
	unsigned n;
	g_autofree char *text = span_export(tl, &what, SPAN_JSON, &n, NULL);
	g_assert_cmpuint(n, ==, depth);
	int balance = 0;
	for (const char *p = text; *p; p++)
		balance += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
	g_assert_cmpint(balance, ==, 0);
}

static void test_subtree(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	unsigned n;
	struct span_selection what = { .trace_id = FAKE_VICTIM, .span_id = FAKE_VICTIM * 31 + 5 };
	struct json_value root = export(tl, what, SPAN_ZIPKIN, &n);
	g_assert_cmpuint(parsed_count(root), ==, 3);
	g_assert_cmpuint(n, ==, 3);	/* both halves of send, and store */
	what.trace_id = 0;		/* found without its trace */
	struct json_value again = export(tl, what, SPAN_JSON, &n);
	g_assert_true(json_is(again, JSON_OBJECT));
	g_assert_cmpuint(n, ==, 3);
}

static void test_missing(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline(), empty = timeline_new(0);
	const struct span_selection what[] = {
		{ .trace_id = 5 }, { .trace_id = FAKE_VICTIM, .span_id = 7 }, { .span_id = 7 },
		{ .slowest = 3 }, { 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(what); i++) {
		g_autoptr(GError) error = NULL;
		unsigned n;
		const struct timeline *from = what[i].slowest ? empty : tl;
		g_assert_null(span_export(from, &what[i], SPAN_ZIPKIN, &n, &error));
		g_assert_nonnull(error);
		g_assert_cmpuint(n, ==, 0);
	}
}

static void test_names(void)
{
	const struct span_selection trace = { .trace_id = 0xabc },
		span = { .trace_id = 0xabc, .span_id = 0xdef };
	g_autofree char *a = span_export_name(&trace), *b = span_export_name(&span);
	enum span_format f;
	g_assert_cmpstr(a, ==, "./blktop-0000000000000abc.json");
	g_assert_cmpstr(b, ==, "./blktop-0000000000000abc-0000000000000def.json");
	g_assert_true(span_format_parse("zipkin", &f) && f == SPAN_ZIPKIN);
	g_assert_true(span_format_parse("json", &f) && f == SPAN_JSON);
	g_assert_true(span_format_parse("otlp", &f) && f == SPAN_OTLP);
	g_assert_true(span_format_parse("perfetto", &f) && f == SPAN_PERFETTO);
	g_assert_false(span_format_parse("csv", &f));
}

static void assert_content(const char *path, const char *want)
{
	g_autofree char *text = NULL;
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, want);
}

static void test_file(void)
{
	g_autofree char *dir = g_dir_make_tmp("blktop-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "out.json", NULL);
	g_autofree char *absolute = NULL;
	g_autoptr(GError) error = NULL;
	g_assert_true(export_write_file(path, "one", 3, false, &absolute, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(absolute, ==, path);
	assert_content(path, "one");
	g_assert_false(export_write_file(path, "two", 3, false, NULL, &error));
	g_assert_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS);
	g_assert_nonnull(strstr(error->message, path));
	assert_content(path, "one");
	g_assert_true(export_write_file(path, "three", 5, true, NULL, NULL));
	assert_content(path, "three");
	g_autoptr(GDir) list = g_dir_open(dir, 0, NULL);	/* nothing is left beside it */
	g_assert_cmpstr(g_dir_read_name(list), ==, "out.json");
	g_assert_null(g_dir_read_name(list));
	g_unlink(path);
	g_rmdir(dir);
}

static void test_file_fails(void)
{
	g_autofree char *dir = g_dir_make_tmp("blktop-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "no", "such", "out.json", NULL);
	g_autoptr(GError) error = NULL;
	g_assert_false(export_write_file(path, "one", 3, false, NULL, &error));
	g_assert_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
	g_assert_false(export_write_file(dir, "one", 3, true, NULL, NULL));	/* a directory */
	g_rmdir(dir);
}

/* What is no file does not become one, whoever asks. */
static void test_file_device(void)
{
	g_autofree char *dir = g_dir_make_tmp("blktop-test-XXXXXX", NULL);
	g_autofree char *fifo = g_build_filename(dir, "fifo", NULL);
	g_autofree char *to_fifo = g_build_filename(dir, "to-fifo", NULL);
	g_autofree char *nowhere = g_build_filename(dir, "nowhere", NULL);
	g_autofree char *file = g_build_filename(dir, "file", NULL);
	g_autofree char *to_file = g_build_filename(dir, "to-file", NULL);
	g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
	g_assert_cmpint(symlink("fifo", to_fifo), ==, 0);
	g_assert_cmpint(symlink("no-such", nowhere), ==, 0);
	g_assert_cmpint(symlink("file", to_file), ==, 0);
	g_assert_true(g_file_set_contents(file, "kept", -1, NULL));
	const char *const refused[] = { fifo, to_fifo };
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(export_write_file(refused[i], "one", 3, true, NULL, &error));
		g_assert_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
	}
	g_assert_true(export_write_file(nowhere, "one", 3, true, NULL, NULL));
	assert_content(nowhere, "one");
	g_assert_true(export_write_file(to_file, "two", 3, true, NULL, NULL));
	assert_content(to_file, "two");		/* the link is replaced, */
	assert_content(file, "kept");		/* what others may have laid it to is not */
	const char *const all[] = { fifo, to_fifo, nowhere, file, to_file };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_unlink(all[i]);
	g_assert_cmpint(g_rmdir(dir), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/export/file/device", test_file_device);
	g_test_add_func("/export/zipkin/rules", test_zipkin_rules);
	g_test_add_func("/export/zipkin/victim", test_zipkin_victim);
	g_test_add_func("/export/zipkin/edges", test_zipkin_edges);
	g_test_add_func("/export/zipkin/open", test_zipkin_open);
	g_test_add_func("/export/native/nested", test_native);
	g_test_add_func("/export/native/deep", test_native_deep);
	g_test_add_func("/export/otlp/halves", test_otlp_halves);
	g_test_add_func("/export/otlp/edges", test_otlp_edges);
	g_test_add_func("/export/perfetto/overlap", test_perfetto_overlap);
	g_test_add_func("/export/with-kernel", test_with_kernel);
	g_test_add_func("/export/subtree", test_subtree);
	g_test_add_func("/export/missing", test_missing);
	g_test_add_func("/export/names", test_names);
	g_test_add_func("/export/file/written", test_file);
	g_test_add_func("/export/file/fails", test_file_fails);
	return g_test_run();
}
