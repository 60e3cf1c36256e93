/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every registered view, over every recording, summed by everything it can be, for several
 * ranges, in every format: what is printed has the shape that it is said to have. Views and
 * recordings are found, not listed: new ones are in.
 */
#include "export/export.h"
#include "lib/fake_timeline.h"
#include "lib/test_traces.h"
#include "state/model.h"
#include "trace/native.h"

#include <json-glib/json-glib.h>
#include <string.h>

/* --- timelines --- */

static struct source *open_trace(const char *path)
{
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = model_subscriptions(&n);
	struct source *s = source_open_native(paths, rows, n, NULL);
	if (!s)
		s = source_open_bt2(paths, rows, n, &error);
	g_assert_no_error(error);
	return s;
}

static struct timeline *load(const char *path, bool without_spans)
{
	g_autoptr(blk_source) s = open_trace(path);
	g_autoptr(GError) error = NULL;
	struct timeline *tl = timeline_new(0);
	struct model *m = model_new(&(struct model_options){ 0 });
	if (without_spans)
		model_without_spans(m);
	struct blk_batch batch;
	enum source_status st;

	while ((st = source_next(s, &batch, &error)) == SOURCE_OK)
		model_feed(m, &s->tables, batch.ev, batch.n);
	g_assert_no_error(error);
	g_assert_cmpint(st, ==, SOURCE_END);
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	return tl;
}

/* --- formats --- */

static char *print(const struct view *v, const struct rows *rows, enum rows_format format)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	g_assert_true(rows_print(out, v, rows, format, true));
	g_assert_cmpint(fclose(out), ==, 0);
	g_assert_cmpuint(strlen(text), ==, len);
	return text;
}

/* Reads one record; its fields. NULL: the text is over. */
static GPtrArray *csv_record(const char **at)
{
	GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);
	GString *field = g_string_new(NULL);
	bool quoted = false;
	const char *p = *at;

	for (; *p && (quoted || !g_str_has_prefix(p, "\r\n")); p++) {
		if (*p == '"' && quoted && p[1] == '"')
			g_string_append_c(field, *++p);
		else if (*p == '"')
			quoted = !quoted;
		else if (*p == ',' && !quoted) {
			g_ptr_array_add(fields, g_strdup(field->str));
			g_string_truncate(field, 0);
		} else
			g_string_append_c(field, *p);
	}
	g_assert_false(quoted);
	g_assert_true(g_str_has_prefix(p, "\r\n"));	/* the last line ends, too */
	g_ptr_array_add(fields, g_string_free(field, FALSE));
	*at = p + 2;
	return fields;
}

static void check_csv(const struct view *v, const struct rows *rows, const char *text)
{
	const char *at = text;
	g_autoptr(GPtrArray) header = csv_record(&at);

	g_assert_cmpuint(header->len, ==, v->n_columns);
	for (size_t c = 0; c < v->n_columns; c++)
		g_assert_cmpstr(header->pdata[c], ==, v->columns[c].id);
	for (guint r = 0; r < rows->rows->len; r++) {
		g_autoptr(GPtrArray) record = csv_record(&at);
		g_assert_cmpuint(record->len, ==, v->n_columns);
		for (size_t c = 0; c < v->n_columns; c++) {
			struct value value = v->columns[c].get(rows->rows->pdata[r], rows);
			g_assert_true(value.kind != VALUE_NONE || !*(char *)record->pdata[c]);
		}
	}
	g_assert_cmpstr(at, ==, "");
}

static void check_json_value(const struct column *c, JsonNode *node, struct value value)
{
	if (value.kind == VALUE_NONE || (value.kind == VALUE_TEXT && !value.s)) {
		g_assert_true(JSON_NODE_HOLDS_NULL(node));
		return;
	}
	/* A value is of its column's kind, whatever the row. */
	g_assert_cmpint(value.kind, ==, c->kind);
	if (JSON_NODE_HOLDS_NULL(node))
		g_assert_cmpint(value.kind, ==, VALUE_RATIO);	/* infinite */
	else if (value.kind == VALUE_TEXT || value.kind == VALUE_HEX64)
		g_assert_cmpuint(json_node_get_value_type(node), ==, G_TYPE_STRING);
	else if (value.kind == VALUE_RATIO)
		g_assert_true(json_node_get_value_type(node) == G_TYPE_DOUBLE ||
			      json_node_get_value_type(node) == G_TYPE_INT64);
	else
		g_assert_cmpint(json_node_get_int(node), ==, value.i);
}

static void check_json(const struct view *v, const struct rows *rows, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonParser) parser = json_parser_new();

	g_assert_cmpuint(strcspn(text, "\n"), ==, strlen(text) - 1);	/* one line */
	json_parser_load_from_data(parser, text, -1, &error);
	g_assert_no_error(error);
	JsonObject *o = json_node_get_object(json_parser_get_root(parser));
	g_assert_cmpstr(json_object_get_string_member(o, "view"), ==, v->id);
	g_assert_true(json_object_has_member(o, "range") && json_object_has_member(o, "trust"));
	JsonArray *array = json_object_get_array_member(o, "rows");
	g_assert_cmpuint(json_array_get_length(array), ==, rows->rows->len);
	for (guint r = 0; r < rows->rows->len; r++) {
		JsonObject *row = json_array_get_object_element(array, r);
		g_assert_cmpuint(json_object_get_size(row), ==, v->n_columns);
		for (size_t c = 0; c < v->n_columns; c++)
			check_json_value(&v->columns[c], json_object_get_member(row, v->columns[c].id),
					 v->columns[c].get(rows->rows->pdata[r], rows));
	}
}

/* Nothing in it moves a cursor; a line for the header and each row. */
static void check_text(const struct rows *rows, const char *text)
{
	guint lines = 0;
	g_assert_true(g_utf8_validate(text, -1, NULL));
	for (const char *p = text; *p; p++) {
		lines += *p == '\n';
		g_assert_true(*p == '\n' || (unsigned char)*p >= ' ');
		g_assert_cmpint(*p, !=, 0x7f);
	}
	g_assert_cmpuint(lines, ==, rows->rows->len + 1);
}

/* --- rows --- */

static guint key_hash(const void *v)
{
	const uint64_t *key = v;
	return (guint)(key[0] ^ key[0] >> 32 ^ key[1] * 31);
}

static gboolean key_equal(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint64_t)) == 0;
}

/* No two rows are the same one; the same rows come again, in the same order. */
static void check_keys(const struct view *v, const struct rows *a, const struct rows *b)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(key_hash, key_equal);

	g_assert_cmpuint(a->rows->len, ==, b->rows->len);
	for (guint i = 0; i < a->rows->len; i++) {
		const struct row *x = a->rows->pdata[i], *y = b->rows->pdata[i];
		if (!g_hash_table_add(seen, (gpointer)x->key))
			g_error("%s: row %u has the key of another", v->id, i);
		g_assert_true(key_equal(x->key, y->key));
	}
}

static void check_sorts(const struct view *v, struct rows *rows)
{
	guint n = rows->rows->len;
	for (size_t c = 0; c < v->n_columns; c++) {
		rows_sort(rows, v, (int)c, v->columns[c].descending);
		g_assert_cmpuint(rows->rows->len, ==, n);
	}
}

static void check_view(const struct view *v, const struct timeline *tl,
		       const struct view_query *query)
{
	struct rows *rows = v->build(tl, query), *again = v->build(tl, query);
	g_autofree char *csv = print(v, rows, FORMAT_CSV), *csv2 = print(v, again, FORMAT_CSV);
	g_autofree char *json = print(v, rows, FORMAT_JSON), *text = print(v, rows, FORMAT_TEXT);

	check_keys(v, rows, again);
	g_assert_cmpstr(csv, ==, csv2);
	check_csv(v, rows, csv);
	check_json(v, rows, json);
	check_text(rows, text);
	check_sorts(v, again);
	rows_free(rows);
	rows_free(again);
}

/* All of it; its coverage; a second in the middle; before and after. */
static void check_ranges(const struct view *v, const struct timeline *tl, enum view_by by)
{
	int64_t first, last;
	struct view_query q = VIEW_QUERY_INIT;

	q.by = by;
	check_view(v, tl, &q);
	if (!timeline_coverage(tl, &first, &last))
		return;
	const int64_t middle = first + (last - first) / 2;
	const int64_t ranges[][2] = {
		{ first, last + 1 }, { middle, middle + 1000000000 },
		{ first - 2000000000, first - 1000000000 }, { last + 2000000000, last + 3000000000 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
		q.from_ns = ranges[i][0];
		q.to_ns = ranges[i][1];
		check_view(v, tl, &q);
	}
}

static void check_all(const struct timeline *tl)
{
	for (const struct view *const *v = view_all; *v; v++)
		for (int by = BY_SYSTEM; by < BY_N; by++)
			if (view_has_by(*v, (enum view_by)by) || by == (int)(*v)->default_by)
				check_ranges(*v, tl, (enum view_by)by);
}

/* --- tests --- */

static void test_recording(const void *path)
{
	g_autoptr(blk_timeline) tl = load(path, false);
	check_all(tl);
}

/* What a view that is without spans prints is the same where none were made. */
static void check_without(const struct view *v, const struct timeline *tl,
			  const struct timeline *without, enum view_by by)
{
	struct view_query q = VIEW_QUERY_INIT;

	q.by = by;
	struct rows *rows = v->build(tl, &q), *bare = v->build(without, &q);
	g_autofree char *all = print(v, rows, FORMAT_JSON), *same = print(v, bare, FORMAT_JSON);
	g_assert_cmpstr(all, ==, same);
	rows_free(rows);
	rows_free(bare);
}

static void test_without_spans(const void *path)
{
	g_autoptr(blk_timeline) tl = load(path, false);
	g_autoptr(blk_timeline) without = load(path, true);
	unsigned n = 0;

	g_assert_cmpuint(timeline_n_spans(without), ==, 0);
	for (const struct view *const *v = view_all; *v; v++)
		for (int by = BY_SYSTEM; by < BY_N && (*v)->without_spans; by++, n++)
			if (view_has_by(*v, (enum view_by)by) || by == (int)(*v)->default_by)
				check_without(*v, tl, without, (enum view_by)by);
	g_assert_cmpuint(n, >, 0);
	g_assert_false(view_find("spans")->without_spans);
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	check_all(tl);
}

static void test_empty(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	check_all(tl);
}

static const char *unit_of(enum value_kind kind)
{
	switch (kind) {
	case VALUE_NS:
	case VALUE_TIME:
		return "_ns";
	case VALUE_BYTES:
		return "bytes";
	case VALUE_RATIO:
		return "_ratio";
	default:
		return "";
	}
}

static void test_columns(void)
{
	for (const struct view *const *v = view_all; *v; v++) {
		g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
		g_assert_true(view_find((*v)->id) == *v);
		g_assert_cmpint(view_column(*v, (*v)->default_sort), >=, 0);
		g_assert_true(!(*v)->drill || view_find((*v)->drill));
		for (size_t c = 0; c < (*v)->n_columns; c++) {
			const struct column *column = &(*v)->columns[c];
			g_assert_true(g_regex_match_simple("^[a-z][a-z0-9_]*$", column->id, 0, 0));
			g_assert_true(g_hash_table_add(ids, (gpointer)column->id));
			if (!g_str_has_suffix(column->id, unit_of(column->kind)))
				g_error("%s: column %s does not end in its unit", (*v)->id, column->id);
			g_assert_true(column->help && *column->help);
		}
	}
}

/* NAME/trace* below `demo`'s folder. */
static void add_recordings(const char *known)
{
	g_autofree char *demo = test_trace(known);
	if (!demo)
		return;
	g_autofree char *one = g_path_get_dirname(demo), *root = g_path_get_dirname(one);
	g_autofree char *above = g_path_get_basename(root);
	g_autoptr(GDir) dir = g_dir_open(root, 0, NULL);

	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *path = g_build_filename(root, name, NULL);
		g_autoptr(GDir) inner = g_dir_open(path, 0, NULL);
		for (const char *trace; inner && (trace = g_dir_read_name(inner));) {
			g_autofree char *there = g_build_filename(path, trace, NULL);
			g_autofree char *test = g_strdup_printf("/every-view/%s/%s/%s", above, name, trace);
			if (!g_str_has_prefix(trace, "trace") || !g_file_test(there, G_FILE_TEST_IS_DIR) ||
			    !strcmp(name, "ust-without-stream-class"))	/* no event of it can be read */
				continue;
			g_autofree char *bare = g_strdup_printf("%s/without-spans", test);
			g_test_add_data_func_full(test, g_build_filename(path, trace, NULL),
						  test_recording, g_free);
			g_test_add_data_func_full(bare, g_build_filename(path, trace, NULL),
						  test_without_spans, g_free);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/every-view/columns", test_columns);
	g_test_add_func("/every-view/empty", test_empty);
	g_test_add_func("/every-view/story", test_story);
	add_recordings("demo/trace");
	add_recordings("ctf2/demo/trace");
	return g_test_run();
}
