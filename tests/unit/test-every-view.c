/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every registered view, over every recording, summed by everything it can be, for several
 * ranges, in every format: what is printed has the shape that it is said to have. Views and
 * recordings are found, not listed: new ones are in.
 */
#include "lib/sources.h"
#include "lib/check_views.h"
#include "lib/fake_timeline.h"
#include "lib/test_traces.h"
#include "lib/traces.h"
#include "state/publish/model.h"
#include "trace/native/native.h"

#include <string.h>

/* --- timelines --- */

static struct source *open_trace(const char *path)
{
	const char *const paths[] = { path, NULL };
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *s = source_open_native(paths, rows, n, NULL);
	if (!s)
		s = source_open_bt2(paths, rows, n, &error);
	g_assert_no_error(error);
	return s;
}

/* Of a source, which it frees; for a view that reads these kinds of cells (0: for any), and spans. */
static struct timeline *read_source(struct source *source, uint32_t reads, bool spans)
{
	g_autoptr(blk_source) s = source;
	g_autoptr(GError) error = NULL;
	struct timeline *tl = timeline_new(0);
	struct model *m = model_new(&(struct model_options){ .cells = reads });
	if (reads && !spans)
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

static struct timeline *load(const char *path, uint32_t reads, bool spans)
{
	return read_source(open_trace(path), reads, spans);
}

/* --- tests --- */

/* What a view prints that tells what it reads is the same where nothing else was made. */
static void check_bare(const struct view *v, const struct timeline *tl,
		       const struct timeline *bare, enum view_by by)
{
	struct view_query q = VIEW_QUERY_INIT;

	q.by = by;
	struct rows *rows = v->build(tl, &q), *few = v->build(bare, &q);
	g_autofree char *all = check_view_text(v, rows, FORMAT_JSON);
	g_autofree char *same = check_view_text(v, few, FORMAT_JSON);
	g_assert_cmpstr(all, ==, same);
	rows_free(rows);
	rows_free(few);
}

static void check_reads(const void *path, const struct timeline *tl)
{
	g_autoptr(GHashTable) loaded = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)timeline_free);
	unsigned n = 0;

	for (const struct view *const *v = view_all; *v; v++) {
		if (!(*v)->reads)
			continue;
		gpointer key = GUINT_TO_POINTER((*v)->reads | ((*v)->reads_spans ? 1u << 31 : 0));
		struct timeline *bare = g_hash_table_lookup(loaded, key);
		if (!bare) {
			bare = load(path, (*v)->reads, (*v)->reads_spans);
			g_hash_table_insert(loaded, key, bare);
		}
		g_assert_true((*v)->reads_spans || !timeline_n_spans(bare));
		for (int by = BY_SYSTEM; by < BY_N; by++, n++)
			if (view_has_by(*v, (enum view_by)by) || by == (int)(*v)->default_by)
				check_bare(*v, tl, bare, (enum view_by)by);
	}
	g_assert_cmpuint(n, >, 0);
	g_assert_cmpuint(view_find("spans")->reads, ==, 0);
}

static void test_recording(const void *path)
{
	g_autoptr(blk_timeline) tl = load(path, 0, true);
	check_views(tl);
	check_reads(path, tl);
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	check_views(tl);
}

/* Two CPUs on which nobody says who runs: rows of the same name. */
static void test_nameless(void)
{
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct source *s = source_open_script("1000000000 0 syscall_entry_read fd=3 count=1\n"
					      "1000000000 1 syscall_entry_read fd=3 count=1\n"
					      "1000005000 0 syscall_exit_read ret=1\n"
					      "1000005000 1 syscall_exit_read ret=1\n", rows, n, &error);
	g_assert_no_error(error);
	g_autoptr(blk_timeline) tl = read_source(s, 0, true);
	check_views(tl);
}

static void test_empty(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	check_views(tl);
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

/* A column has either a getter or a member, whose type is that of its values. */
static void check_source(const struct column *c)
{
	const struct member *m = &c->member;
	bool text = m->type == MEMBER_TEXT || m->words, ratio = m->type == MEMBER_DOUBLE;

	g_assert_true(c->get || m->type != MEMBER_NONE);
	if (c->get)
		g_assert_cmpint(m->type, ==, MEMBER_NONE);
	else
		g_assert_true(text == (c->kind == VALUE_TEXT) && ratio == (c->kind == VALUE_RATIO));
}

static void test_columns(void)
{
	for (const struct view *const *v = view_all; *v; v++) {
		g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
		g_assert_true(view_find((*v)->id) == *v);
		g_assert_true(!(*v)->default_sort || view_column(*v, (*v)->default_sort) >= 0);
		g_assert_true(!(*v)->drill || view_find((*v)->drill));
		for (size_t c = 0; c < (*v)->n_columns; c++) {
			const struct column *column = &(*v)->columns[c];
			g_assert_true(g_regex_match_simple("^[a-z][a-z0-9_]*$", column->id, 0, 0));
			g_assert_true(g_hash_table_add(ids, (gpointer)column->id));
			if (!g_str_has_suffix(column->id, unit_of(column->kind)))
				g_error("%s: column %s does not end in its unit", (*v)->id, column->id);
			g_assert_true(column->help && *column->help);
			check_source(column);
		}
	}
}

/* A filter takes each title on the screen, in any case; quoted, where it is no word. */
static void test_titles(void)
{
	for (const struct view *const *v = view_all; *v; v++) {
		for (size_t c = 0; c < (*v)->n_columns; c++) {
			const struct column *column = &(*v)->columns[c];
			g_autofree char *lower = g_ascii_strdown(column->title, -1);
			g_autofree char *quoted = expr_quote(lower);
			bool words = !strpbrk(column->title, "()\"=<>!"), percent = strchr(column->title, '%');
			g_autofree char *text = g_strdup_printf("%s =~ x", words ? column->title : quoted);
			g_autofree char *other = g_strdup_printf("%s in (\"1\") || x", quoted);
			g_autoptr(GError) error = NULL;
			int found = view_column_typed(*v, column->title);
			if (!column->width)
				continue;
			g_assert_true(found == (int)c || found == EXPR_SEVERAL);
			g_assert_true(!percent || column->kind == VALUE_RATIO);
			struct expr *e = view_expr(*v, text, &error);
			g_assert_cmpint(!e, ==, found == EXPR_SEVERAL);
			g_assert_true(e || strstr(error->message, column->id));
			expr_free(e);
			e = view_expr(*v, other, NULL);
			g_assert_true(e || found == EXPR_SEVERAL || column->kind == VALUE_HEX64);
			expr_free(e);
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
			g_autofree char *recording = g_strdup_printf("%s/%s", name, trace);
			g_autofree char *test = g_strdup_printf("/every-view/%s/%s", above, recording);
			if (!g_str_has_prefix(trace, "trace") || !g_file_test(there, G_FILE_TEST_IS_DIR) ||
			    !strcmp(name, "ust-without-stream-class") ||	/* no event of it can be read */
			    traces_too_long(recording))
				continue;
			g_test_add_data_func_full(test, g_build_filename(path, trace, NULL),
						  test_recording, g_free);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/every-view/columns", test_columns);
	g_test_add_func("/every-view/titles", test_titles);
	g_test_add_func("/every-view/empty", test_empty);
	g_test_add_func("/every-view/nameless", test_nameless);
	g_test_add_func("/every-view/story", test_story);
	add_recordings("demo/trace");
	add_recordings("ctf2/demo/trace");
	return g_test_run();
}
