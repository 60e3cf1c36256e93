/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/check_views.h"
#include "lib/parsed.h"

#include <string.h>

/* --- formats --- */

char *check_view_text(const struct view *v, const struct rows *rows, enum rows_format format)
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
			struct value value = column_value(&v->columns[c], rows->rows->pdata[r], rows);
			g_assert_true(value.kind != VALUE_NONE || !*(char *)record->pdata[c]);
		}
	}
	g_assert_cmpstr(at, ==, "");
}

static void check_json_value(const struct column *c, struct json_value v, struct value value)
{
	int64_t n;
	if (value.kind == VALUE_NONE || (value.kind == VALUE_TEXT && !value.s)) {
		g_assert_true(json_is(v, JSON_NULL));
		return;
	}
	/* A value is of its column's kind, whatever the row. */
	g_assert_cmpint(value.kind, ==, c->kind);
	if (json_is(v, JSON_NULL))
		g_assert_cmpint(value.kind, ==, VALUE_RATIO);	/* infinite */
	else if (value.kind == VALUE_TEXT || value.kind == VALUE_HEX64)
		g_assert_true(json_is(v, JSON_STRING));
	else if (value.kind == VALUE_RATIO)
		g_assert_true(json_is(v, JSON_NUMBER));
	else
		g_assert_true(json_int(v, &n) && n == value.i);
}

static void check_json(const struct view *v, const struct rows *rows, const char *text)
{
	g_assert_cmpuint(strcspn(text, "\n"), ==, strlen(text) - 1);	/* one line */
	struct json_value o = parsed(text);
	g_assert_cmpstr(parsed_text(o, "view"), ==, v->id);
	g_assert_true(parsed_has(o, "range") && parsed_has(o, "trust"));
	struct json_value array = parsed_list(o, "rows");
	g_assert_cmpuint(parsed_count(array), ==, rows->rows->len);
	struct json_value row = JSON_NONE;
	for (guint r = 0; r < rows->rows->len; r++) {
		g_assert_true(json_next(array, &row));
		g_assert_cmpuint(parsed_count(row), ==, v->n_columns);
		for (size_t c = 0; c < v->n_columns; c++)
			check_json_value(&v->columns[c], json_member(row, v->columns[c].id),
					 column_value(&v->columns[c], rows->rows->pdata[r], rows));
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
			g_error("%s, by %s: row %u has the key of another", v->id, view_by_words[a->query.by], i);
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

/* Whatever the format, the same rows are the same text, without characters that control a terminal. */
static void check_format(const struct view *v, const struct rows *rows, const struct rows *again,
			 enum rows_format format)
{
	if (rows_format_info[format].use == ROWS_PATHS && !rows_can_fold(v))
		return;
	g_autofree char *text = check_view_text(v, rows, format), *same = check_view_text(v, again, format);

	g_assert_cmpstr(text, ==, same);
	g_assert_true(g_utf8_validate(text, -1, NULL));
	for (const char *p = text; *p; p++)
		g_assert_true((unsigned char)*p >= ' ' || *p == '\n' || (*p == '\r' && p[1] == '\n'));
}

static void check_view(const struct view *v, const struct timeline *tl,
		       const struct view_query *query)
{
	struct rows *rows = v->build(tl, query), *again = v->build(tl, query);
	g_autofree char *csv = check_view_text(v, rows, FORMAT_CSV);
	g_autofree char *json = check_view_text(v, rows, FORMAT_JSON);
	g_autofree char *text = check_view_text(v, rows, FORMAT_TEXT);

	check_keys(v, rows, again);
	for (int format = 0; format < ROWS_FORMAT_N; format++)
		check_format(v, rows, again, format);
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

void check_views(const struct timeline *tl)
{
	for (const struct view *const *v = view_all; *v; v++)
		for (int by = BY_SYSTEM; by < BY_N; by++)
			if (view_has_by(*v, (enum view_by)by) || by == (int)(*v)->default_by)
				check_ranges(*v, tl, (enum view_by)by);
}
