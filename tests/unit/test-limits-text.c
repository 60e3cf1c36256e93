/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of texts, filters, rules, and what the log shows. */
#include "base/expr.h"
#include "base/fields.h"
#include "base/limits.h"
#include "base/strtab.h"
#include "base/text.h"
#include "base/value.h"
#include "lib/sources.h"
#include "lib/limit_test.h"
#include "state/publish/model.h"
#include "state/spans/rules.h"
#include "trace/reader.h"
#include "views/logline.h"
#include "views/alerts.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static bool text_bytes(uint64_t n)
{
	g_autofree char *text = g_strnfill(n, 'x');
	struct strtab *t = strtab_new();
	uint64_t len = strlen(strtab_get(t, strtab_add(t, text)));

	strtab_free(t);
	g_assert_cmpuint(len, ==, MIN(n, LIMIT_TEXT_BYTES));
	return len == n;
}

static bool file_name_bytes(uint64_t n)
{
	g_autofree char *text = g_strnfill(n, 'x'), *name = text_filename(text);

	g_assert_cmpuint(strlen(name), ==, MIN(n, LIMIT_FILE_NAME_BYTES));
	return strlen(name) == n;
}

/* ---- filters ---- */

static int no_column(const char *column, const void *data)
{
	return -1;
}

static bool is_filter(const char *text, const char *words)
{
	g_autoptr(GError) error = NULL;
	struct expr *e = expr_parse(text, no_column, NULL, NULL, 0, &error);

	expr_free(e);
	return limit_taken(error, words);
}

static bool filter_bytes(uint64_t n)
{
	g_autofree char *text = g_strnfill(n, 'x');

	return is_filter(text, "longer than 4096 bytes");
}

static bool filter_depth(uint64_t n)
{
	g_autofree char *open = g_strnfill(n, '('), *close = g_strnfill(n, ')');
	g_autofree char *text = g_strconcat(open, "x", close, NULL);

	return is_filter(text, "nested more than 64 deep");
}

static int first_column(const char *column, const void *data)
{
	return 0;
}

static struct value text_of(int column, const void *row, const void *data)
{
	return value_text(row);
}

/* A few steps for each letter. */
static bool regex_steps(uint64_t n)
{
	g_autofree char *letters = g_strnfill(n / 8, 'a');
	struct expr *e = expr_parse("x =~ \"^(?:a|b)*?c|a$\"", first_column, NULL, NULL, 0, NULL);
	bool matches = expr_match(e, text_of, letters, NULL);
	expr_free(e);
	return matches;
}

/* ---- the log ---- */

static bool log_event_bytes(uint64_t n)
{
	struct fields_run r = { 0 };
	struct field f = { .kind = FIELD_TEXT, .scope = FIELD_PAYLOAD, .name = "t", .text = "" };

	fields_begin(&r);
	fields_put(&r, &f);
	g_autofree char *text = g_strnfill(n - r.bytes->len, 'x');
	f.text = text;
	f.len = (uint32_t)(n - r.bytes->len);
	fields_begin(&r);
	fields_put(&r, &f);
	bool whole = !r.full;
	if (whole)
		g_assert_cmpuint(r.bytes->len, ==, n);
	fields_clear(&r);
	return whole;
}

/* Of an event with these fields; g_free. */
static char *line_of(const struct field *fields, size_t n)
{
	struct fields_run r = { 0 };

	fields_begin(&r);
	for (size_t i = 0; i < n; i++)
		fields_put(&r, &fields[i]);
	g_autoptr(GBytes) args = g_bytes_new(r.bytes->data, r.bytes->len);
	const struct calllog_line line = { .kind = CALLLOG_EVENT, .name = "e", .args = args };
	fields_clear(&r);
	return logline_what(&line, true);
}

static bool log_text_bytes(uint64_t n)
{
	g_autofree char *text = g_strnfill(n, 'x');
	struct field f = { .kind = FIELD_TEXT, .scope = FIELD_PAYLOAD, .name = "t", .text = text, .len = (uint32_t)n };
	g_autofree char *line = line_of(&f, 1);

	g_assert_true(strstr(line, text) || g_str_has_suffix(line, "..."));
	return strstr(line, text);
}

static bool log_elements(uint64_t n)
{
	g_autofree struct field *f = g_new0(struct field, n + 2);

	f[0] = (struct field){ .kind = FIELD_BEGIN, .scope = FIELD_PAYLOAD, .name = "l", .is_list = true, .value = n };
	for (uint64_t i = 1; i <= n; i++)
		f[i] = (struct field){ .kind = FIELD_UNSIGNED, .scope = FIELD_PAYLOAD, .name = "", .value = i };
	f[n + 1] = (struct field){ .kind = FIELD_END, .scope = FIELD_PAYLOAD };
	g_autofree char *line = line_of(f, n + 2), *last = g_strdup_printf(", %u]", (unsigned)n);
	g_assert_true(g_str_has_suffix(line, last) || g_str_has_suffix(line, ", ...]"));
	return g_str_has_suffix(line, last);
}

/* ---- rules ---- */

static bool is_rules(const char *text, const char *words)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();

	rules_parse(r, "rules", text, strlen(text), false, &error);
	rules_free(r);
	return limit_taken(error, words);
}

static bool rules(uint64_t n)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "[r%u]\nbegin=a\nend=b\n", i);
	return is_rules(text->str, "more than 1000 rules");
}

static bool rule_links(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("[r]\nbegin=a\nend=b\nlink_in=l(n)");

	for (uint64_t i = 1; i < n; i++)
		g_string_append(text, ", l(n)");
	g_string_append_c(text, '\n');
	return is_rules(text->str, "an event sends or takes at most 4 links");
}

static bool rule_line_bytes(uint64_t n)
{
	g_autofree char *name = g_strnfill(n - strlen("name="), 'x');
	g_autofree char *text = g_strconcat("[r]\nbegin=a\nend=b\nname=", name, "\n", NULL);

	return is_rules(text, "the line is too long");
}

/* The name of the first span that the rules make of the script; g_free. */
static char *first_name(const char *text, const char *script)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();
	struct blk_batch batch;
	size_t n;

	g_assert_true(rules_parse(r, "rules", text, strlen(text), false, &error) && rules_install(r, &error));
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *source = source_open_script(script, rows, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ 0 });
	while (source_next(source, &batch, &error) == SOURCE_OK)
		model_feed(m, &source->tables, batch.ev, batch.n);
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, model_publish(m, true));
	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	char *name = g_strdup(timeline_span(tl, 0)->name);
	timeline_free(tl);
	model_free(m);
	source_free(source);
	rules_install(NULL, NULL);
	return name;
}

/* In the span's name, and in a condition. */
static bool rule_text_bytes(uint64_t n)
{
	g_autofree char *text = g_strnfill(n - 1, 'x');
	g_autofree char *script = g_strdup_printf("1 0 a ctx.tid=7 ctx.pid=7 t=\"%sy\"\n"
						  "2 0 b ctx.tid=7 ctx.pid=7\n", text);
	g_autofree char *name = first_name("[r]\nbegin=a\nend=b\nname=${t}\n", script);

	return g_str_has_suffix(name, "y");
}

static bool threshold_seconds(uint64_t n)
{
	g_autofree char *text = g_strdup_printf("count of any > 1 for %u", (unsigned)n);
	g_autoptr(GError) error = NULL;

	threshold_free(threshold_parse(text, &error));
	return limit_taken(error, "'for' takes 1 to 3600 seconds");
}

static bool thresholds(uint64_t n)
{
	g_autoptr(GPtrArray) all = thresholds_new();
	g_autoptr(GString) text = g_string_new("# comment\n\n");
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;

	for (uint64_t i = 0; i < n; i++)
		g_string_append(text, " losses > 0 \n");
	int fd = g_file_open_tmp("thresholds.XXXXXX", &path, NULL);
	g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
	threshold_read_file(all, path, &error);
	close(fd);
	g_unlink(path);
	g_assert_cmpuint(all->len, ==, n);
	return limit_taken(error, "more than 256 thresholds");
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "text-bytes", text_bytes, 0 }, { "file-name-bytes", file_name_bytes, 0 },
		{ "filter-bytes", filter_bytes, 0 }, { "filter-depth", filter_depth, 0 },
		{ "regex-steps", regex_steps, 10 * LIMIT_REGEX_STEPS },
		{ "log-event-bytes", log_event_bytes, 0 }, { "log-text-bytes", log_text_bytes, 0 },
		{ "log-elements", log_elements, 0 }, { "rules", rules, 0 },
		{ "rule-links", rule_links, 0 }, { "rule-line-bytes", rule_line_bytes, 0 },
		{ "rule-text-bytes", rule_text_bytes, 0 }, { "threshold-seconds", threshold_seconds, 0 },
		{ "thresholds", thresholds, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
