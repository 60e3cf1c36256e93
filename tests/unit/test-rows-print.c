/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows as text, CSV and JSON: nothing cut, nothing raw that could harm a terminal.
 */
#include "export/export.h"
#include "lib/fake_timeline.h"
#include "lib/made_alerts.h"
#include "lib/parsed.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static char *print(const struct timeline *tl, const char *view, enum rows_format format,
		   bool header)
{
	const struct view *v = view_find(view);
	struct view_query q = VIEW_QUERY_INIT;
	char *text = NULL;
	size_t len = 0;
	struct made_alerts made;
	made_alerts_init(&made, (const char *const[]){ "losses > 0", NULL }, tl);
	q.by = v->default_by;
	q.alerts = made.alerts;
	struct rows *rows = v->build(tl, &q);
	FILE *out = open_memstream(&text, &len);
	g_assert_true(rows_print(out, v, rows, format, header));
	fclose(out);
	rows_free(rows);
	made_alerts_clear(&made);
	g_assert_true(g_utf8_validate(text, len, NULL));
	char *copy = g_strndup(text, len);
	free(text);
	return copy;
}

static void assert_no_raw(const char *text, const char *allowed)
{
	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		if (c < 128 && strchr(allowed, (int)c))
			continue;
		g_assert_false(g_unichar_iscntrl(c));
		g_assert_cmpint(g_unichar_type(c), !=, G_UNICODE_FORMAT);
	}
}

static void test_formats(void)
{
	enum rows_format f;
	g_assert_true(rows_format_parse("csv", &f) && f == FORMAT_CSV);
	g_assert_true(rows_format_parse("json", &f) && f == FORMAT_JSON);
	g_assert_true(rows_format_parse("text", &f) && f == FORMAT_TEXT);
	g_assert_false(rows_format_parse("xml", &f));
	g_assert_true(rows_format_parse("folded", &f) && f == FORMAT_FOLDED);
	g_assert_cmpint(rows_format_of_path("a.b/x.csv"), ==, FORMAT_CSV);
	g_assert_cmpint(rows_format_of_path("x.txt"), ==, FORMAT_TEXT);
	g_assert_cmpint(rows_format_of_path("json"), ==, FORMAT_TEXT);
	g_assert_cmpint(rows_format_of_path("x.folded"), ==, FORMAT_FOLDED);
}

/* A new format of lines is printed by cmd/log.c, cmd/doctor/doctor.c, app/relay.c and export/limits_print.c, too. */
static void test_formats_of_lines(void)
{
	g_autofree char *lines = rows_format_names(ROWS_LINES), *all = rows_format_names(ROWS_PATHS);
	g_assert_cmpstr(lines, ==, "text or json");
	g_assert_nonnull(strstr(all, "csv, json"));
}

/* Each format prints something else. */
static void test_each_format(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (int f = 0; f < ROWS_FORMAT_N; f++) {
		char *text = print(tl, "flame", (enum rows_format)f, true);
		g_assert_cmpuint(strlen(text), >, 0);
		g_assert_true(g_hash_table_add(seen, text));
	}
}

static void test_json(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	for (size_t i = 0; view_all[i]; i++) {
		g_autofree char *text = print(tl, view_all[i]->id, FORMAT_JSON, true);
		g_assert_true(strchr(text, '\n') == text + strlen(text) - 1);
		assert_no_raw(text, "\n");
		struct json_value o = parsed(text);
		struct json_value range = parsed_object(o, "range");
		struct json_value completeness = parsed_object(o, "trust");
		g_assert_cmpstr(parsed_text(o, "view"), ==, view_all[i]->id);
		g_assert_cmpstr(parsed_text(o, "blktop"), ==, BLKTOP_VERSION);
		g_assert_cmpint(parsed_int(range, "from_ns"), ==, FAKE_T0);
		g_assert_cmpint(parsed_int(range, "to_ns"), ==, FAKE_T0 + 6 * FAKE_S);
		g_assert_cmpint(parsed_int(completeness, "lost_events"), ==, 12);
		g_assert_cmpint(parsed_int(completeness, "lost_packets"), ==, 0);
		g_assert_cmpint(parsed_int(completeness, "soft"), ==, 3);
		struct json_value rows = parsed_list(o, "rows");
		g_assert_cmpuint(parsed_count(rows), >, 0);
		struct json_value row = parsed_at(rows, 0);
		g_assert_cmpuint(parsed_count(row), ==, view_all[i]->n_columns);
	}
}

static struct json_value completeness_of(const struct timeline *tl)
{
	g_autofree char *text = print(tl, "syscalls", FORMAT_JSON, true);
	return parsed_object(parsed(text), "trust");
}

/* How complete it is: null of a recorded trace, figures of a live session. */
static void test_json_missing(void)
{
	static const char *const keys[] = {
		"behind_ns", "left_packets", "left_bytes", "unread_packets", "ended_early", "ends_unknown", "gave_up",
	};
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct json_value completeness = completeness_of(tl);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		g_assert_true(parsed_is_null(completeness, keys[i]));
	g_assert_cmpint(parsed_int(completeness, "damaged_packets"), ==, 0);
	timeline_set_missing(tl, &(struct missing){
		.behind_ns = 1, .left_packets = 2, .left_bytes = 3, .unread_packets = 4, .ended_early = 5,
		.ends_unknown = 6, .gave_up = true,
	});
	completeness = completeness_of(tl);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		g_assert_cmpint(parsed_int(completeness, keys[i]), ==, i == 6 ? 1 : (gint64)i + 1);
	timeline_set_missing(tl, &(struct missing){ .behind_ns = -1 });
	completeness = completeness_of(tl);
	g_assert_true(parsed_is_null(completeness, "behind_ns"));
	g_assert_cmpint(parsed_int(completeness, "gave_up"), ==, 0);
}

static void test_json_values(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	g_autofree char *text = print(tl, "processes", FORMAT_JSON, true);
	struct json_value rows = parsed_list(parsed(text), "rows");
	bool evil = false, stray = false;
	for (guint i = 0; i < parsed_count(rows); i++) {
		struct json_value row = parsed_at(rows, i);
		g_assert_true(parsed_is_null(row, "tid"));
		if (parsed_is_null(row, "pid")) {
			stray = parsed_is_null(row, "comm");
			continue;
		}
		g_assert_cmpint(parsed_int(row, "cpu_ns"), >=, 0);
		if (parsed_int(row, "pid") == 666)
			evil = strcmp(parsed_text(row, "comm"),
				      FAKE_HOSTILE_COMM) == 0;
	}
	g_assert_true(evil && stray);
}

static void test_empty(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	g_autofree char *json = print(tl, "events", FORMAT_JSON, true);
	g_autofree char *csv = print(tl, "events", FORMAT_CSV, true);
	g_autofree char *text = print(tl, "events", FORMAT_TEXT, true);
	g_autofree char *nothing = print(tl, "events", FORMAT_CSV, false);
	g_assert_nonnull(strstr(json, "\"range\":{\"from_ns\":null,\"to_ns\":null}"));
	g_assert_nonnull(strstr(json, "\"rows\":[]}\n"));
	g_assert_cmpstr(csv, ==, "host,name,count,lost,rate,share_ratio,pid,tid,comm,at_ns,container,over_time\r\n");
	g_assert_cmpstr(text, ==,
			"host  name  count  lost  rate  share_ratio  pid  tid  comm  at_ns  container  over_time\n");
	g_assert_cmpstr(nothing, ==, "");
}

static void test_csv(void)
{
	struct fake *f = fake_new();
	fake_event(fake_second(f, 0), 0, fake_string(f, "a,b \"c\"\nd"), 3);
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autofree char *csv = print(tl, "events", FORMAT_CSV, false);
	g_assert_cmpstr(csv, ==, "web1,\"a,b \"\"c\"\"\\x0ad\",3,,3,1.000000,,,,,,\r\n");
}

static char *print_event(const char *name, enum rows_format format)
{
	struct fake *f = fake_new();
	fake_event(fake_second(f, 0), 0, fake_string(f, name), 3);
	g_autoptr(blk_timeline) tl = fake_done(f);
	return print(tl, "events", format, false);
}

static double ratios[] = {
	0, -0.0, 0.5, 1, 0.0000005, 0.0000015, 0.0000025, 1.9999995, 4.9e-324, 1e-40,
	4294967295.5, 4294967296.0, 1e300, -0.25,
	0, 0, 0, 0,	/* random ones */
};

static struct value get_ratio(const struct row *row, const struct rows *rows)
{
	(void)rows;
	return value_ratio(*(const double *)(const void *)row);
}

/* Numbers are made by hand: each as printf() has it. */
static void test_csv_ratios(void)
{
	static const struct column column = { .id = "r", .kind = VALUE_RATIO, .get = get_ratio };
	static const struct view view = { .id = "v", .columns = &column, .n_columns = 1 };

	for (unsigned round = 0; round < 20000; round++) {
		g_autoptr(GPtrArray) all = g_ptr_array_new();
		g_autoptr(GString) wanted = g_string_new(NULL);
		char buf[G_ASCII_DTOSTR_BUF_SIZE], *text = NULL;
		size_t len;
		for (size_t i = 0; i < G_N_ELEMENTS(ratios); i++) {
			if (i >= G_N_ELEMENTS(ratios) - 4)
				ratios[i] = ldexp(g_test_rand_double(), g_test_rand_int_range(-50, 40));
			g_ptr_array_add(all, &ratios[i]);
			g_string_append_printf(wanted, "%s\r\n", g_ascii_formatd(buf, sizeof buf, "%.6f", ratios[i]));
		}
		FILE *out = open_memstream(&text, &len);
		g_assert_true(rows_print(out, &view, &(struct rows){ .rows = all }, FORMAT_CSV, false));
		fclose(out);
		g_assert_cmpstr(text, ==, wanted->str);
		free(text);
	}
}

static void test_csv_safe(void)
{
	static const struct { const char *name, *plain, *safe; } cases[] = {
		{ "read", "read", "\"read\"" },
		{ "=1+1", "=1+1", "\"'=1+1\"" },
		{ "+1", "+1", "\"'+1\"" },
		{ "-1", "-1", "\"'-1\"" },
		{ "@SUM(A1)", "@SUM(A1)", "\"'@SUM(A1)\"" },
		{ "  =1", "  =1", "\"'  =1\"" },
		{ "\uff1d1", "\uff1d1", "\"'\uff1d1\"" },
		{ "a;=1", "a;=1", "\"a;=1\"" },		/* where the separator is another */
		{ "=\"x\",1", "\"=\"\"x\"\",1\"", "\"'=\"\"x\"\",1\"" },
		{ "\t=1", "\\x09=1", "\"\\x09=1\"" },	/* visible, and so no blank */
		{ "\r=1", "\\x0d=1", "\"\\x0d=1\"" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *plain = print_event(cases[i].name, FORMAT_CSV);
		g_autofree char *safe = print_event(cases[i].name, FORMAT_CSV_SAFE);
		g_autofree char *plain_wanted = g_strdup_printf("web1,%s,3,,3,1.000000,,,,,,\r\n", cases[i].plain);
		g_autofree char *safe_wanted = g_strdup_printf("\"web1\",%s,3,,3,1.000000,,,,,,\r\n", cases[i].safe);
		g_assert_cmpstr(plain, ==, plain_wanted);
		g_assert_cmpstr(safe, ==, safe_wanted);
	}
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Rows of the view events, of as many names. */
static struct timeline *named(const char *const *names, size_t n)
{
	struct fake *f = fake_new();
	for (size_t i = 0; i < n; i++)
		fake_event(fake_second(f, 0), 0, fake_string(f, names[i]), i + 1);
	return fake_done(f);
}

/* In each format a text of a trace is no control character, and ends no row. */
static void test_hostile(void)
{
	static const char *const names[] = {
		"\033]0;owned\007", "\xc2\x9b" "31m", "\xff\xfe bad", "\xe2\x80\xae" "rtl", "wide 作者",
		"\177del", "tab\there", "", "two\nlines", "two\r\nlines", "a|b", "<b>\n\n# c",
	};
	static const char *const harmless[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
	g_autoptr(blk_timeline) tl = named(names, G_N_ELEMENTS(names));
	g_autoptr(blk_timeline) plain = named(harmless, G_N_ELEMENTS(names));
	G_STATIC_ASSERT(G_N_ELEMENTS(names) == G_N_ELEMENTS(harmless));
	for (int format = 0; format < ROWS_FORMAT_N; format++) {
		if (rows_format_info[format].use == ROWS_PATHS)
			continue;
		g_autofree char *text = print(tl, "events", format, true);
		g_autofree char *other = print(plain, "events", format, true);
		assert_no_raw(text, format == FORMAT_CSV ? "\r\n" : "\n");
		g_assert_cmpuint(lines_of(text), ==, lines_of(other));
	}
	g_autofree char *json = print(tl, "events", FORMAT_JSON, true);
	parsed(json);
	g_assert_nonnull(strstr(json, "\\u202ertl"));
}

/* Two pieces have one header. */
static void test_pieces(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("flame");
	struct view_query q = VIEW_QUERY_INIT;
	q.by = v->default_by;
	struct rows *rows = v->build(tl, &q);
	for (int format = 0; format < ROWS_FORMAT_N; format++) {
		struct rows_pieces p = { .format = format, .header = true };
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		g_assert_true(rows_print_piece(out, v, rows, &p, false) && rows_print_piece(out, v, rows, &p, true));
		fclose(out);
		rows_pieces_clear(&p);
		g_autofree char *first = print(tl, "flame", format, true), *rest = print(tl, "flame", format, false);
		enum rows_range range = rows_format_info[format].range;
		bool one = range == RANGE_MEMBER;	/* line, however many rows */
		bool headed = range == RANGE_TITLE || range == RANGE_COLUMNS;
		g_assert_cmpint(lines_of(rest) < lines_of(first), ==, headed);
		g_assert_cmpuint(lines_of(text), ==, one ? 1 : lines_of(first) + lines_of(rest));
		free(text);
	}
	rows_free(rows);
}

/* Columns stand below their titles whatever the names. */
static void test_text_aligned(void)
{
	struct fake *f = fake_new();
	fake_event(fake_second(f, 0), 0, fake_string(f, "作者"), 1234567);
	fake_event(fake_second(f, 0), 0, fake_string(f, "short"), 1);
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autofree char *text = print(tl, "events", FORMAT_TEXT, true);
	g_assert_cmpstr(text, ==,
			"host  name     count  lost     rate  share_ratio  pid  tid  comm  at_ns  container  "
			"over_time\n"
			"web1  short        1     -        1     0.000001    -    -  -         -  -          -\n"
			"web1  作者   1234567     -  1234567     0.999999    -    -  -         -  -          "
			"-\n");
}

static void test_write_error(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("spans");
	struct view_query q = VIEW_QUERY_INIT;
	FILE *out = fopen("/dev/full", "w");
	if (!out) {
		g_test_skip("no /dev/full");
		return;
	}
	struct rows *rows = v->build(tl, &q);
	g_assert_false(rows_print(out, v, rows, FORMAT_JSON, true));
	rows_free(rows);
	fclose(out);
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "C.UTF-8");
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rows-print/formats", test_formats);
	g_test_add_func("/rows-print/json", test_json);
	g_test_add_func("/rows-print/formats-of-lines", test_formats_of_lines);
	g_test_add_func("/rows-print/each-format", test_each_format);
	g_test_add_func("/rows-print/json-values", test_json_values);
	g_test_add_func("/rows-print/json-missing", test_json_missing);
	g_test_add_func("/rows-print/empty", test_empty);
	g_test_add_func("/rows-print/csv", test_csv);
	g_test_add_func("/rows-print/csv-ratios", test_csv_ratios);
	g_test_add_func("/rows-print/csv-safe", test_csv_safe);
	g_test_add_func("/rows-print/hostile", test_hostile);
	g_test_add_func("/rows-print/pieces", test_pieces);
	g_test_add_func("/rows-print/text-aligned", test_text_aligned);
	g_test_add_func("/rows-print/write-error", test_write_error);
	return g_test_run();
}
