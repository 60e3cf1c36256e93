/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables on the screen: columns chosen, sorted, tagged, saved, copied, arranged as a
 * tree; facts of a view; what has exited.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"
#include "ui/rc.h"
#include "ui/screen.h"
#include "views/rows_format.h"
#include "views/sum.h"

#include "base/limits.h"
#include "base/timefmt.h"

#include <string.h>

static struct {
	unsigned saves, rows;
	char *columns, *path;
	bool exists, forced, fails;
} seen;

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = UI_DONE, .progress = 1, .lag_ns = -1 };
}

static enum ui_saved save_view(void *data, const struct ui_save *what, char **ret_message)
{
	GString *columns = g_string_new(NULL);

	for (size_t i = 0; i < what->view->n_columns; i++)
		g_string_append_printf(columns, "%s%s", i ? "," : "", what->view->columns[i].id);
	g_free(seen.columns);
	seen.columns = g_string_free(columns, FALSE);
	g_free(seen.path);
	seen.path = g_strdup(what->path);
	seen.rows = what->rows->rows->len;
	seen.forced = what->force;
	seen.saves++;
	if (seen.exists && !what->force)
		return UI_SAVE_EXISTS;
	*ret_message = g_strdup(seen.fails ? "can't write x: no space left on it" : "wrote it");
	return seen.fails ? UI_SAVE_FAILED : UI_SAVED;
}

static const struct ui_backend backend = { .status = status, .save_view = save_view };
static const struct ui_options options = { .at_ns = TIME_UNKNOWN };

struct fixture {
	struct timeline *tl;
	struct app *app;
};

static void draw(struct fixture *f)
{
	app_draw(f->app);
}

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys)) {
		app_key(f->app, (int)g_utf8_get_char(keys));
		draw(f);
	}
}

static void start_on(struct fixture *f, struct timeline *tl, unsigned cols)
{
	g_free(seen.columns);
	g_free(seen.path);
	memset(&seen, 0, sizeof seen);
	f->tl = tl;
	f->app = app_new(&options, &backend, tl, false);
	app_resize(f->app, 24, cols);
	draw(f);
}

static void start(struct fixture *f, const char *keys)
{
	start_on(f, fake_timeline(), 80);
	press(f, keys);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
}

static bool has(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	bool found = strstr(dump, text);

	if (!found)
		g_test_message("no '%s' in\n%s", text, dump);
	return found;
}

static bool has_not(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	return !strstr(dump, text);
}

static const char *chosen(struct fixture *f, const char *view)
{
	const struct prefs_view *v = prefs_view_get(f->app->prefs, view);

	return v ? v->columns : NULL;
}

/* --- columns --- */

static void test_columns(void)
{
	struct fixture f;

	start(&f, "4f");
	g_assert_true(has(&f, "Columns of Processes"));
	g_assert_true(has(&f, "[x] PID"));
	g_assert_true(has(&f, "Space:show/hide"));
	/* Leaving changes nothing. */
	press(&f, "  \033");
	g_assert_null(chosen(&f, "processes"));
	g_assert_true(has(&f, "PID"));
	/* The first one hidden, the second moved to the right. What says nothing here (its host,
	 * threads) is not among them. */
	press(&f, "f j]\r");
	g_assert_nonnull(chosen(&f, "processes"));
	g_assert_true(g_str_has_prefix(chosen(&f, "processes"), "comm,syscall_ns,user_ns,syscalls"));
	g_assert_true(has(&f, "--columns comm,syscall_ns"));
	press(&f, "fG k kk kk kk kk kk kk \r");	/* many more, at the end of the list */
	g_assert_true(has(&f, " fit; all in batch mode: "));
	g_assert_true(has_not(&f, "HOST"));
	/* Back to what it comes with. */
	press(&f, "fr\r");
	g_assert_null(chosen(&f, "processes"));
	stop(&f);
}

/* Of one host the host says nothing, but of hosts as a whole; chosen by hand it is there. */
static void test_columns_host(void)
{
	struct fake *two = fake_new();
	struct fixture f;

	start(&f, "4");
	app_resize(f.app, 24, 140);
	draw(&f);
	g_assert_true(has_not(&f, "HOST"));
	press(&f, "\\pid == 1\r");		/* no rows, too */
	g_assert_true(has(&f, "0 of 5"));
	g_assert_true(has_not(&f, "HOST"));
	press(&f, "uH");
	g_assert_true(has(&f, "by thread") && has_not(&f, "HOST"));
	press(&f, "H");
	g_assert_true(has(&f, "by container") && has(&f, "HOST"));	/* unknown here */
	press(&f, "H");
	g_assert_true(has(&f, "1 row over all") && has(&f, "HOST"));
	press(&f, "H");
	g_assert_true(has(&f, "by process") && has_not(&f, "HOST"));
	prefs_view_set_columns(f.app->prefs, "processes", "host,pid,comm");
	app_timeline_changed(f.app);
	press(&f, "34");
	g_assert_true(has(&f, "HOST"));
	stop(&f);

	struct second *s = fake_second(two, 0);

	fake_cell(s, fake_thread(two, fake_host(two, "web2"), 7, 7, "other"));
	start_on(&f, fake_done(two), 140);
	press(&f, "4");
	g_assert_true(has(&f, "HOST"));
	stop(&f);
}

static void test_columns_shown(void)
{
	struct fixture f;

	start(&f, "4");
	prefs_view_set_columns(f.app->prefs, "processes", "blocked_ns, comm ,nonsense,pid,pid");
	press(&f, "\f");
	app_timeline_changed(f.app);
	draw(&f);
	g_assert_true(has(&f, " BLOCK NAME"));
	g_assert_true(has_not(&f, "RUNQ%"));
	/* The order of the columns is that of the keys, too. */
	press(&f, "<");
	g_assert_true(has(&f, "sorted by PID"));
	press(&f, ">");
	g_assert_true(has(&f, "sorted by BLOCK"));
	g_assert_cmpstr(prefs_view_get(f.app->prefs, "processes")->sort, ==, "blocked_ns");
	press(&f, "I");
	g_assert_cmpstr(prefs_view_get(f.app->prefs, "processes")->sort, ==, "-blocked_ns");
	/* The last column can't be hidden. */
	prefs_view_set_columns(f.app->prefs, "processes", "pid");
	app_timeline_changed(f.app);
	draw(&f);
	press(&f, "f \r");
	g_assert_cmpstr(chosen(&f, "processes"), ==, "pid");
	stop(&f);
}

static void test_narrow(void)
{
	struct table t = TABLE_INIT;
	const struct view *v = view_find("processes");
	struct table_layout l;

	/* From the left as far as they fit, whatever their priority; the name stays. */
	table_choose(&t, v, "runnable_ns,user_ns,comm,blocked_ns,exit_ns");
	g_assert_cmpuint(t.n_chosen, ==, 5);
	table_layout(&t, v, NULL, 200, &l);
	g_assert_cmpuint(l.n, ==, 5);
	table_layout(&t, v, NULL, 40, &l);
	g_assert_cmpuint(l.n, ==, 3);
	g_assert_cmpstr(v->columns[l.col[0].column].id, ==, "runnable_ns");
	g_assert_cmpstr(v->columns[l.col[2].column].id, ==, "comm");
	for (unsigned width = 1; width < 200; width++) {
		table_layout(&t, v, NULL, width, &l);
		for (unsigned i = 0; i < l.n; i++)
			g_assert_cmpuint(l.col[i].x + l.col[i].width, <=, width);
	}
}

/* Of every table: what it says that it is sorted by. */
static void test_sorted_shown(void)
{
	for (const struct view *const *v = view_all; *v; v++) {
		int column = (*v)->default_sort ? view_column(*v, (*v)->default_sort) : -1;

		if (!(*v)->default_sort || (*v)->kind != VIEW_TABLE || !(*v)->on_screen)
			continue;
		if (column < 0 || !(*v)->columns[column].width)
			g_test_message("%s", (*v)->id);
		g_assert_true(column >= 0 && (*v)->columns[column].width);
	}
}

/* What rows are sorted by is to be seen, and the next one is of those that say something. */
static void test_sorted_stays(void)
{
	struct table t = TABLE_INIT;
	const struct view *v = view_find("processes");
	struct table_layout l;
	struct fixture f;

	table_choose_sort(&t, v, "unknown_ns");		/* the first to go, but for that */
	for (unsigned chosen = 0; chosen < 2; chosen++) {
		bool there = false;

		table_layout(&t, v, NULL, 60, &l);
		for (unsigned i = 0; i < l.n; i++)
			there |= g_str_equal(v->columns[l.col[i].column].id, "unknown_ns");
		g_assert_true(there);
		table_choose(&t, v, "comm,cpu_ns,user_ns,syscall_ns,blocked_ns,pid,irq_ns,unknown_ns");
	}
	start(&f, "4<<");
	g_assert_true(has(&f, "sorted by SYSCALLS"));
	press(&f, ">>");
	g_assert_true(has(&f, "sorted by CPU%"));
	stop(&f);
}

/* The columns on the screen, "PID NAME CPU% ", without marks. */
static char *headers(struct fixture *f)
{
	const struct table *t = place_focus(app_place(f->app)).table;
	const struct view *v = place_focus(app_place(f->app)).view;
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < t->n_shown; i++)
		g_string_append_printf(s, "%s ", v->columns[t->shown[i]].id);
	return g_string_free(s, FALSE);
}

/* `<` and `>` go through the columns on the screen, and leave them there, also the one that is there for them only. */
static void test_sort_steps(void)
{
	static const char *const before[] = { "2", "4", "4ogjjjjj\r", "6", "3", "9", "4oG\r", "2\\duration > 0\r" };
	static const unsigned widths[] = { 60, 80, 100, 140, 200 };
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(before) * G_N_ELEMENTS(widths); i++) {
		g_autofree char *first = NULL;
		g_autoptr(GHashTable) sorted = g_hash_table_new(NULL, NULL);
		unsigned n;

		start_on(&f, fake_timeline(), widths[i % G_N_ELEMENTS(widths)]);
		press(&f, before[i / G_N_ELEMENTS(widths)]);
		first = headers(&f);
		n = nav_top(&f.app->nav)->table[PANE_MAIN].n_shown;
		g_assert_cmpuint(n, >, 1);
		for (unsigned k = 0; k < n + 2; k++) {
			g_autofree char *now = NULL;

			press(&f, k < n ? ">" : "<");
			now = headers(&f);
			g_assert_cmpstr(now, ==, first);
			g_hash_table_add(sorted, GINT_TO_POINTER(nav_top(&f.app->nav)->table[PANE_MAIN].sort));
		}
		g_assert_cmpuint(g_hash_table_size(sorted), ==, n);	/* all of them */
		stop(&f);
	}
}

/* Keys that were typed before a view was drawn act as on what it shows then. */
static void test_typed_ahead(void)
{
	static const char *const keys[] = { "4<", "4>", "4<<", "6<", "2>>", "9<<<" };

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		struct fixture a, b;

		start_on(&a, fake_timeline(), 80);
		press(&a, keys[i]);
		start_on(&b, fake_timeline(), 80);
		for (const char *k = keys[i]; *k; k++)
			app_key(b.app, *k);
		app_draw(b.app);
		g_assert_cmpint(nav_top(&a.app->nav)->table[PANE_MAIN].sort, ==,
				nav_top(&b.app->nav)->table[PANE_MAIN].sort);
		stop(&a);
		stop(&b);
	}
}

/* A column that was only for batch mode is shown once rows are sorted by it, whole, at any width. */
static void test_sorted_added(void)
{
	struct table_layout l;
	struct fixture f;

	for (const struct view *const *v = view_all; *v; v++) {
		struct table t = TABLE_INIT;

		for (t.sort = 0; t.sort < (int)(*v)->n_columns; t.sort++) {
			unsigned width = 60 + 20 * (unsigned)(t.sort % 5), end = 0;

			table_layout(&t, *v, NULL, width, &l);
			for (unsigned i = 0; i < l.n; i++)
				if ((int)l.col[i].column == t.sort)
					end = l.col[i].x + l.col[i].width;
			if (!end || end > width)
				g_test_message("%s: %s", (*v)->id, (*v)->columns[t.sort].id);
			g_assert_true(end && end <= width);
		}
	}
	start(&f, "4");
	g_assert_true(has_not(&f, " CPUv"));
	press(&f, "ogjjjjj\r");
	g_assert_true(has(&f, "sorted by CPU, highest first") && has(&f, " CPUv"));
	press(&f, ">");
	g_assert_true(has(&f, "sorted by PID"));
	stop(&f);
}

static void test_sort_menu(void)
{
	struct fixture f;

	start(&f, "4o");
	g_assert_true(has(&f, "Sort Processes by"));
	press(&f, "gj\r");
	g_assert_true(has(&f, "sorted by PID, lowest first"));
	press(&f, "o\r");
	g_assert_true(has(&f, "sorted by PID, highest first"));
	press(&f, "u");
	g_assert_true(has(&f, "sorted by CPU%"));
	g_assert_null(prefs_view_get(f.app->prefs, "processes")->sort);
	press(&f, "u");
	g_assert_true(has(&f, "nothing to clear"));
	press(&f, "\\stored\r");
	g_assert_true(has(&f, "1 of 5 rows"));
	press(&f, "u");
	g_assert_true(has(&f, "filter none"));
	stop(&f);
}

/* --- what is not there has a reason --- */

static void test_nothing(void)
{
	struct fake *bare = fake_new();
	struct fixture f;

	fake_cell(fake_second(bare, 0), fake_thread(bare, 0, 7, 7, "other"));
	fake_second(bare, 1);
	start_on(&f, fake_done(bare), 60);
	press(&f, "\f");
	g_assert_true(has(&f, "not in this trace: "));
	g_assert_true(has(&f, "   F7: how to record it"));	/* however much lacks */
	press(&f, "2");
	g_assert_true(has(&f, "No data: this trace has no "));
	press(&f, "n");
	g_assert_true(has(&f, "no second with another cause stands out"));
	press(&f, "x");
	g_assert_true(has(&f, "x hide"));
	press(&f, "x");
	g_assert_true(has(&f, "hints off: x shows them"));
	stop(&f);
}

/* --- tags --- */

static void test_tags(void)
{
	struct fixture f;
	unsigned all;

	start(&f, "4T");
	g_assert_true(has(&f, "no row is tagged"));
	all = place_focus(app_place(f.app)).rows->rows->len;
	press(&f, "  ");
	g_assert_true(has(&f, "2 tagged"));
	g_assert_cmpuint(keyset_size(&place_focus(app_place(f.app)).table->tags), ==, 2);
	press(&f, "T");
	g_assert_cmpuint(place_focus(app_place(f.app)).rows->rows->len, ==, 2);
	/* They are the same things in another second. */
	app_key(f.app, UI_KEY_LEFT);
	draw(&f);
	g_assert_true(has(&f, "tagged"));
	app_key(f.app, UI_KEY_RIGHT);
	press(&f, "s\r");
	g_assert_cmpuint(seen.rows, ==, 2);
	press(&f, "y");
	g_assert_true(g_str_has_prefix(f.app->copy, "PID\t") ||
		      g_str_has_prefix(f.app->copy, "HOST\t"));
	g_assert_nonnull(strstr(f.app->copy, "\tstored\t"));
	g_assert_true(has(&f, "copied: 2 of 2 tagged rows"));
	press(&f, "U");
	g_assert_true(has(&f, "2 rows untagged"));
	g_assert_cmpuint(place_focus(app_place(f.app)).rows->rows->len, ==, all);
	press(&f, "gy");
	g_assert_nonnull(strstr(f.app->copy, "NAME thumbd"));
	f.app->copy_doubt = "it is deaf";
	press(&f, "y");
	g_assert_true(has(&f, "copied (it is deaf): "));
	stop(&f);
}

static bool even(const struct row *row, const void *data)
{
	return !(row->depth % 2);
}

static struct value get_key(const struct row *row, const struct rows *rows)
{
	return row->open ? value_none() : value_int(VALUE_NS, (int64_t)row->key[0]);
}

/* What is the sum of what: by the ids of the columns. */
static void test_sum(void)
{
	static const struct column columns[] = {
		{ .id = "total_ns", .kind = VALUE_NS, .get = get_key },
		{ .id = "max_ns", .kind = VALUE_NS, .get = get_key },
		{ .id = "min_ns", .kind = VALUE_NS, .get = get_key },
		{ .id = "p99_ns", .kind = VALUE_NS, .get = get_key },
		{ .id = "begin_ns", .kind = VALUE_TIME, .get = get_key },
	};
	static const struct view view = { .columns = columns, .n_columns = 5 };
	g_autoptr(blk_timeline) tl = timeline_new(0);
	const struct view_query all = VIEW_QUERY_INIT;
	struct rows *rows = rows_new(tl, &all);
	struct row *last = NULL;

	for (uint64_t i = 1; i <= 3; i++) {
		last = g_new0(struct row, 1);
		last->key[0] = i * 10;
		last->depth = (uint16_t)(i % 2);
		g_ptr_array_add(rows->rows, last);
	}
	g_assert_cmpint(rows_sum(&view, rows, 0, NULL, NULL).i, ==, 60);
	g_assert_cmpint(rows_sum(&view, rows, 0, even, NULL).i, ==, 20);
	g_assert_cmpint(rows_sum(&view, rows, 1, NULL, NULL).i, ==, 30);
	g_assert_cmpint(rows_sum(&view, rows, 2, NULL, NULL).i, ==, 10);
	g_assert_cmpint(rows_sum(&view, rows, 3, NULL, NULL).kind, ==, VALUE_NONE);
	g_assert_cmpint(rows_sum(&view, rows, 4, NULL, NULL).kind, ==, VALUE_NONE);
	/* A part that is unknown makes a sum unknown, not smaller. */
	last->open = true;
	g_assert_cmpint(rows_sum(&view, rows, 0, NULL, NULL).kind, ==, VALUE_NONE);
	g_assert_cmpint(rows_sum(&view, rows, 1, NULL, NULL).i, ==, 20);
	rows_free(rows);
}

/* --- save --- */

static void test_save(void)
{
	struct fixture f;

	start(&f, "4s");
	g_assert_true(has(&f, "save as" ROWS_SUFFIXES ": blktop-processes-060838.txt"));
	press(&f, "\033");
	g_assert_cmpuint(seen.saves, ==, 0);
	press(&f, "s\025/tmp/x.csv\r");
	g_assert_cmpstr(seen.path, ==, "/tmp/x.csv");
	g_assert_true(g_str_has_prefix(seen.columns, "host,pid,tid,ppid,comm,cpu_ns"));
	g_assert_true(has(&f, "wrote it"));
	/* Over an old one only when asked for, and only over the one that was asked about. */
	seen.exists = true;
	press(&f, "s\025a.json\r");
	g_assert_true(has(&f, "exists: Enter overwrites it"));
	press(&f, "\177\r");
	g_assert_cmpstr(seen.path, ==, "a.jso");
	g_assert_false(seen.forced);
	press(&f, "\r");
	g_assert_true(seen.forced);
	g_assert_cmpstr(seen.path, ==, "a.jso");
	press(&f, "s\025a.jso\r");
	g_assert_false(seen.forced);
	press(&f, "\033");
	seen.exists = false;
	seen.fails = true;
	prefs_view_set_columns(f.app->prefs, "processes", "comm,pid");
	app_timeline_changed(f.app);
	press(&f, "s\r");
	g_assert_cmpstr(seen.columns, ==, "comm,pid");
	g_assert_true(has(&f, "no space left on it"));
	stop(&f);
}

/* --- the tree --- */

static struct timeline *family(void)
{
	struct fake *f = fake_new();
	struct second *s = fake_second(f, 0), *later = fake_second(f, 1);
	static const struct { int32_t pid, ppid; const char *comm; int64_t start, exit; } who[] = {
		{ 1, -1, "init", -1, -1 }, { 30, 20, "grandchild", 10, -1 },
		{ 20, 1, "child", -1, -1 }, { 21, 1, "sister", -1, 500 * FAKE_MS },
		{ 40, 41, "egg", -1, -1 }, { 41, 40, "hen", -1, -1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(who); i++) {
		uint32_t t = fake_thread(f, 0, who[i].pid, who[i].pid, who[i].comm);

		fake_lifetime(f, t, who[i].ppid, who[i].start, who[i].exit);
		fake_cell(s, t)->part[PART_USER] = (int64_t)(i + 1) * FAKE_MS;
		if (who[i].exit < 0)
			fake_cell(later, t)->part[PART_USER] = FAKE_MS;
	}
	fake_cell(s, fake_thread(f, 0, 20, 25, "worker"))->part[PART_USER] = 2 * FAKE_MS;
	fake_class(f, "sched_switch");
	return fake_done(f);
}

static void check_order(struct fixture *f, const char *names)
{
	struct focus focus = place_focus(app_place(f->app));
	g_autoptr(GString) s = g_string_new(NULL);
	int column = view_column(focus.view, "comm");

	for (guint i = 0; i < focus.rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(focus.rows->rows, i);

		g_string_append_printf(s, "%s%d%s", i ? " " : "", row->depth,
				       column_value(&focus.view->columns[column], row, focus.rows).s);
	}
	g_assert_cmpstr(s->str, ==, names);
}

static void test_tree(void)
{
	struct fixture f;

	start_on(&f, family(), 80);
	press(&f, "4");
	press(&f, "bstart\rt");
	/* Children in the order of the sorting (CPU%); a ring of parents is cut. */
	check_order(&f, "0egg 1hen 0init 1child 2grandchild 1sister");
	g_assert_true(has(&f, "v init"));
	press(&f, "I");
	check_order(&f, "0init 1sister 1child 2grandchild 0hen 1egg");
	press(&f, "I/child\r-");
	check_order(&f, "0egg 1hen 0init 1child 1sister");
	g_assert_true(has(&f, "> child"));
	press(&f, "+*");
	check_order(&f, "0egg 0init");
	press(&f, "*");
	/* What passes the filter keeps its ancestors. */
	press(&f, "\\grandchild\r");
	check_order(&f, "0init 1child 2grandchild");
	press(&f, "uH");
	check_order(&f, "0egg 1hen 0init 1sister 1child 2worker 2grandchild");
	press(&f, "t");
	g_assert_true(has(&f, "no tree"));
	press(&f, "5t");
	g_assert_true(has(&f, "no rows with parents"));
	stop(&f);
}

/* What has exited stays for some seconds, with a mark. */
static void test_gone(void)
{
	struct fixture f;

	start_on(&f, family(), 140);
	press(&f, "4");
	press(&f, "bstart\r");
	g_assert_true(has(&f, "x     21       1 sister"));
	g_assert_true(has(&f, "exited"));
	app_key(f.app, UI_KEY_RIGHT);
	draw(&f);
	g_assert_true(has(&f, "x     21       1 sister"));
	g_assert_true(has(&f, "gone"));
	/* Never in print. */
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = FAKE_T0 + FAKE_S;
	q.to_ns = FAKE_T0 + 2 * FAKE_S;
	q.by = BY_PROCESS;
	struct rows *rows = view_find("processes")->build(f.tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 5);
	rows_free(rows);
	stop(&f);
}

/* --- containers --- */

#define FIRST_PID_NS 0xeffffffcu

static struct timeline *contained(uint32_t pid_ns)
{
	struct fake *f = fake_new();
	uint32_t in = fake_thread(f, 0, 100, 100, "inside"), out = fake_thread(f, 0, 1, 1, "init");

	fake_ns(f, in, pid_ns, 0, 0);
	fake_ns(f, out, FIRST_PID_NS, 0, 0);
	fake_cell(fake_second(f, 0), in)->part[PART_USER] = 300 * FAKE_MS;
	fake_cell(fake_second(f, 0), out)->part[PART_USER] = 200 * FAKE_MS;
	fake_class(f, "sched_switch");
	return fake_done(f);
}

/* Named where there is one, summed by H, opened by Enter. */
static void test_containers(void)
{
	struct fixture f;

	start_on(&f, contained(4026532500), 140);
	press(&f, "4");
	g_assert_true(has(&f, "CONTAINER"));
	g_assert_true(has(&f, "pid:4026532500"));
	press(&f, "HH");
	g_assert_true(has(&f, "Processes: 2 rows by container"));
	g_assert_true(has(&f, "pid:4026532500"));
	g_assert_true(has_not(&f, " NAME "));
	press(&f, "t");
	g_assert_true(has(&f, "containers have no parents"));
	press(&f, "\r");
	g_assert_true(has(&f, "Processes: 1 row by process"));
	g_assert_true(has(&f, "inside"));
	g_assert_true(has_not(&f, "init"));
	press(&f, "H");
	g_assert_true(has(&f, "Processes: 1 row by thread"));
	stop(&f);
}

/* Where there is none it says nothing, but for the rows that it names. */
static void test_no_containers(void)
{
	struct fixture f;

	start_on(&f, contained(FIRST_PID_NS), 140);
	press(&f, "4");
	g_assert_true(has_not(&f, "CONTAINER"));
	press(&f, "HH");
	g_assert_true(has(&f, "CONTAINER"));
	g_assert_true(has(&f, " host "));
	stop(&f);
}

/* Where most rows say "host", the column goes before figures do. */
static void test_rare_container(void)
{
	struct fake *made = fake_new();
	struct fixture f;

	for (int32_t pid = 100; pid < 105; pid++) {
		uint32_t thread = fake_thread(made, 0, pid, pid, "some");

		fake_ns(made, thread, pid == 100 ? 4026532500u : FIRST_PID_NS, 0, 0);
		fake_cell(fake_second(made, 0), thread)->part[PART_USER] = 300 * FAKE_MS;
	}
	fake_class(made, "sched_switch");
	start_on(&f, fake_done(made), 140);
	press(&f, "4");
	g_assert_true(has(&f, "CONTAINER") && has(&f, "READ"));
	app_resize(f.app, 24, 80);
	draw(&f);
	g_assert_true(has_not(&f, "CONTAINER") && has(&f, "READ"));
	stop(&f);
}

/* --- kernel threads, and what opens from rows that count others --- */

static void test_hide(void)
{
	struct fixture f;

	start(&f, "4");
	g_assert_true(has(&f, "kworker/0:1") && has(&f, "5 rows") && has(&f, "100%=1 thread"));
	press(&f, "K");
	g_assert_true(has_not(&f, "kworker/0:1") && has(&f, "4 rows by process, no kernel threads (K)"));
	press(&f, "H");
	g_assert_true(has_not(&f, "kworker/0:1") && has_not(&f, "100%=1 thread"));
	press(&f, "K");
	g_assert_true(has(&f, "no kernel or idle threads (K)"));
	press(&f, "HHHK");
	g_assert_true(has(&f, "kworker/0:1") && has(&f, "all processes and threads"));
	press(&f, "9K");
	g_assert_true(has(&f, "Events has no kernel threads to hide"));
	stop(&f);
}

/* W stores it, and the next run begins so. */
static void test_hide_stored(void)
{
	struct fixture f;

	start(&f, "4KK");
	g_autofree char *text = rc_write(f.app->prefs, "", 0);
	stop(&f);
	struct prefs *prefs = prefs_new();
	rc_read(prefs, "rc", text, strlen(text));
	g_assert_cmpuint(prefs->warnings->len, ==, 0);
	const struct ui_options hiding = { .at_ns = TIME_UNKNOWN, .prefs = prefs };
	f = (struct fixture){ .tl = fake_timeline() };
	f.app = app_new(&hiding, &backend, f.tl, true);
	app_resize(f.app, 24, 80);
	draw(&f);
	press(&f, "4");
	g_assert_true(has_not(&f, "kworker/0:1") && has(&f, "no kernel or idle threads (K)"));
	stop(&f);
	prefs_free(prefs);
}

static void test_single(void)
{
	struct fixture f;

	start(&f, "6\r");
	g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, "slow");
	g_assert_true(g_str_has_prefix(nav_top(&f.app->nav)->filter, "path == \""));
	press(&f, "\0339\r");		/* there is no log here: the values of the row */
	g_assert_true(popup_is_open(&f.app->popup));
	press(&f, "\033H");
	g_assert_true(has(&f, "by process only if asked for at the start: --view events --by process"));
	stop(&f);
}

/* --- filters --- */

/* Columns are called as on the screen. */
static void test_filter_titles(void)
{
	static const struct { const char *keys, *same; } cases[] = {
		{ "2\\DURATION > 30ms\r", "2\\duration_ns > 30ms\r" }, { "4\\cpu% > 3\r", "4\\cpu_ratio > 3%\r" },
		{ "4\\CPU%>=3 && Name =~ ^s\r", "4\\cpu_ratio >= 0.03 && comm =~ ^s\r" },
		{ "9\\per sec > 200\r", "9\\rate > 200\r" },
	};
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const char *const both[] = { cases[i].keys, cases[i].same };
		guint rows[2], all[2];

		for (int k = 0; k < 2; k++) {
			start(&f, both[k]);
			g_assert_true(has(&f, "filter: ") && f.app->prompt.kind == PROMPT_NONE);
			rows[k] = nav_top(&f.app->nav)->rows->rows->len;
			all[k] = (guint)nav_top(&f.app->nav)->rows->n_before_filter;
			stop(&f);
		}
		g_assert_cmpuint(rows[0], ==, rows[1]);
		g_assert_cmpuint(rows[0], >, 0);
		g_assert_cmpuint(rows[0], <, all[0]);
	}
}

/* How many took longer than a line: in a distribution, which keeps its rows, and in lists of the longest. */
static void test_line(void)
{
	static const struct { const char *keys, *text; } cases[] = {
		{ "d\\>64ms\r", "over 64.0ms: 3 of 5 (60.0%)" }, { "d\\ > 1s \r", "over 1.00s: 0 of 5 (0.0%)" },
		{ "d\\>=20ms\r", "over 20.0ms: 5 of 5 (100.0%)" }, { "d0\\>64ms\r", "over 64.0ms: 3 of 39 (7.7%)" },
		{ "d\\>96ms\r", "over 96.0ms: 1-2 of 5 (20.0-40.0%)" },	/* one is in a bucket with it */
		{ "d\\>97ms\r", "over 97.0ms: 1 of 5 (20.0%)" },	/* but the longest is known */
		{ "dC\\>64ms\r", "over 64.0ms: 3 of 5 (60.0%)" }, { "d\\>64ms\ru", "5: mean 63.0ms" },
		{ "4\\>50%\r", "1 of 5 rows, filter: >50%" }, { "2\\> 64ms\r", "4 of 6 rows, filter: > 64ms" },
	};
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		start(&f, cases[i].keys);
		g_assert_true(has(&f, cases[i].text));
		if (strstr(cases[i].keys, "64ms\r") && cases[i].keys[0] == 'd')
			g_assert_true(has(&f, "<") && has(&f, "u clears it") == !strchr(cases[i].keys, 'u'));
		stop(&f);
	}
}

/* Of the 64 longest calls of a second: what is longer than the shortest of them is counted, else it is a least. */
static void test_line_slow(void)
{
	static const struct { const char *keys, *text; } cases[] = {
		{ "\\>500ms\r", "14 of 90, filter: >500ms" }, { "\\>=500ms\r", "15 of 90, filter: >=500ms" },
		{ "\\>1ms\r", "at least 64 of 90, filter: >1ms" }, { "\\<500ms\r", "49 of 64 rows" },
	};
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake *fake = fake_new();
		uint32_t thread = fake_thread(fake, 0, 7, 7, "sleeper");
		struct second *s = fake_second(fake, 0);

		fake_call(s, thread, fake_string(fake, "read"), 90, 300 * FAKE_MS);
		s->slow = g_new0(struct slow_call, LIMIT_SECOND_CALLS);
		s->n_slow = LIMIT_SECOND_CALLS;
		for (unsigned k = 0; k < s->n_slow; k++)
			s->slow[k] = (struct slow_call){ .thread = thread, .name = fake_string(fake, "read"),
				.file = ID_NONE, .cpu = 0, .begin_ns = FAKE_T0, .duration_ns = (514 - k) * FAKE_MS };
		start_on(&f, fake_done(fake), 80);
		app_key(f.app, UI_KEY_F(2));
		press(&f, "slowest\r");
		press(&f, cases[i].keys);
		g_assert_true(has(&f, cases[i].text));
		stop(&f);
	}
}

/* What is wrong with a filter is read whole, beside it or above it. */
static void test_filter_refused(void)
{
	static const char *const fine[] = { "syscalls > 5", "cpu_ns > 1ms", "pid != 1", NULL };
	struct fixture f;

	for (unsigned cols = 60; cols <= 200; cols += 20) {
		for (int n = 0; n < 4; n++) {
			g_autofree char *dump = NULL, *one = NULL;

			start_on(&f, fake_timeline(), cols);
			press(&f, "4\\");
			for (int i = 0; i < n; i++) {
				press(&f, fine[i]);
				press(&f, " && ");
			}
			press(&f, "SYSCLALS > 64ms\r");
			dump = canvas_dump(f.app->canvas);
			one = g_strdelimit(g_strdup(dump), "\n", ' ');
			if (!strstr(one, "no column 'SYSCLALS' (did you mean syscalls?) at character"))
				g_error("at %u columns:\n%s", cols, dump);
			g_assert_nonnull(strstr(dump, "SYSCLALS > 64ms"));
			press(&f, "\033");
			stop(&f);
		}
	}
}

/* --- the list of views --- */

static void test_find_view(void)
{
	struct fixture f;

	start(&f, "4");
	app_key(f.app, UI_KEY_F(2));
	press(&f, "WAITED for");
	g_assert_true(has(&f, "find: WAITED for") && has(&f, "Scheduler") && has_not(&f, "Syscalls"));
	press(&f, "zz");
	g_assert_true(has(&f, "no line has all these words"));
	press(&f, "\r");
	g_assert_true(popup_is_open(&f.app->popup));
	press(&f, "\177\177\r");
	g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, "scheduler");
	app_key(f.app, UI_KEY_F(2));
	draw(&f);
	g_assert_true(has(&f, ">  Scheduler"));	/* the view that is shown */
	press(&f, "\0334\rL");
	app_key(f.app, UI_KEY_F(2));
	draw(&f);
	g_assert_true(has(&f, ">L Log"));
	press(&f, "\0331\r");
	g_assert_true(nav_top(&f.app->nav)->view->kind == VIEW_WATERFALL);
	app_key(f.app, UI_KEY_F(2));
	draw(&f);
	g_assert_true(has(&f, ">1 Overview"));	/* from which the waterfall was opened, which is not in the list */
	press(&f, "q\177");
	g_assert_true(has(&f, "typing finds") && has(&f, "Syscalls"));
	press(&f, "\033");
	g_assert_false(popup_is_open(&f.app->popup));
	stop(&f);
}

/* The name of a view leads to it, whole or its beginning, before any description with that word. */
static void test_find_view_name(void)
{
	static const struct { const char *typed, *id; } cases[] = {
		{ "interr", "interrupts" }, { "slowest", "slow" }, { "open", "open" }, { "io", "io" },
		{ "cpu", "cpus" },
		{ "PROCESS", "process" }, { "proc", "processes" }, { "slow spans", "slow-spans" }, { "path", "path" },
		{ "map", "heatmap" }, { "log", "log" }, { "wait for a cpu", "scheduler" }, { "blocked on", "path" },
	};
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		start(&f, "4");
		app_key(f.app, UI_KEY_F(2));
		press(&f, cases[i].typed);
		press(&f, "\r");
		g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, cases[i].id);
		stop(&f);
	}
}

/* Who held the lock: a lock, its holders and waiters, and where the longest wait of one of them was. */
static void test_locks(void)
{
	struct fixture f;

	start(&f, "4");
	app_key(f.app, UI_KEY_F(2));
	press(&f, "locks\r");
	g_assert_true(has(&f, "0x55d0c0ffee40") && has(&f, "thumbd-w0/254"));
	press(&f, "\r");
	g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, "holders");
	g_assert_true(has(&f, "held   thumbd-w0") && has(&f, "lock == ") && has(&f, "timer 92%"));
	press(&f, "\r");
	struct place *p = nav_top(&f.app->nav);
	g_assert_true(p->view->kind == VIEW_TIMELINE || p->view->kind == VIEW_WATERFALL);
	g_assert_true(p->mark_ns != TIME_UNKNOWN && has(&f, "thumbd-w0"));
	press(&f, "\177");
	g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, "holders");
	stop(&f);
}

/* --- facts --- */

static void test_facts(void)
{
	struct fixture f;

	start_on(&f, family(), 80);
	press(&f, "4");
	app_key(f.app, UI_KEY_F(7));
	draw(&f);
	g_assert_true(has(&f, "Facts: Processes"));
	g_assert_true(has(&f, "sched_switch                 in this trace"));
	g_assert_true(has(&f, "syscall_*                    NOT in this trace"));
	g_assert_true(has(&f, "lttng enable-event --kernel --syscall --all"));
	press(&f, "G");
	g_assert_true(has(&f, "blktop -b --view processes --from"));
	press(&f, "\0332");
	app_key(f.app, UI_KEY_F(7));
	draw(&f);
	g_assert_true(has(&f, "lttng enable-event --userspace 'zipkin:*'"));
	stop(&f);
	start(&f, "b-1s\r4");
	app_key(f.app, UI_KEY_F(7));
	draw(&f);
	g_assert_true(has(&f, "lost in this range: 12 events"));
	g_assert_true(has(&f, "blktop --doctor"));
	stop(&f);
}

int main(int argc, char **argv)
{
	timefmt_set_utc(true);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tables/containers", test_containers);
	g_test_add_func("/tables/no-containers", test_no_containers);
	g_test_add_func("/tables/columns", test_columns);
	g_test_add_func("/tables/columns-host", test_columns_host);
	g_test_add_func("/tables/columns-shown", test_columns_shown);
	g_test_add_func("/tables/narrow", test_narrow);
	g_test_add_func("/tables/nothing", test_nothing);
	g_test_add_func("/tables/sorted-shown", test_sorted_shown);
	g_test_add_func("/tables/sorted-stays", test_sorted_stays);
	g_test_add_func("/tables/sorted-added", test_sorted_added);
	g_test_add_func("/tables/sort-steps", test_sort_steps);
	g_test_add_func("/tables/typed-ahead", test_typed_ahead);
	g_test_add_func("/tables/sort-menu", test_sort_menu);
	g_test_add_func("/tables/hide", test_hide);
	g_test_add_func("/tables/hide-stored", test_hide_stored);
	g_test_add_func("/tables/single", test_single);
	g_test_add_func("/tables/filter-titles", test_filter_titles);
	g_test_add_func("/tables/line", test_line);
	g_test_add_func("/tables/line-slow", test_line_slow);
	g_test_add_func("/tables/filter-refused", test_filter_refused);
	g_test_add_func("/tables/find-view", test_find_view);
	g_test_add_func("/tables/find-view-name", test_find_view_name);
	g_test_add_func("/tables/locks", test_locks);
	g_test_add_func("/tables/rare-container", test_rare_container);
	g_test_add_func("/tables/tags", test_tags);
	g_test_add_func("/tables/sum", test_sum);
	g_test_add_func("/tables/save", test_save);
	g_test_add_func("/tables/tree", test_tree);
	g_test_add_func("/tables/gone", test_gone);
	g_test_add_func("/tables/facts", test_facts);
	return g_test_run();
}
