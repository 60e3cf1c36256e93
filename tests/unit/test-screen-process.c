/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of a process: what it tells is what the views tell of that process alone, and
 * where its rows lead.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"

#include "base/timefmt.h"

#include <string.h>

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
};

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys)) {
		app_key(f->app, (int)g_utf8_get_char(keys));
		app_draw(f->app);
	}
}

static void start(struct fixture *f, const char *keys)
{
	*f = (struct fixture){ .options = { .at_ns = TIME_UNKNOWN }, .tl = fake_timeline() };
	f->app = app_new(&f->options, NULL, f->tl, true);
	app_resize(f->app, 24, 80);
	app_draw(f->app);
	press(f, keys);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
}

static void check_has(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	if (!strstr(dump, text))
		g_test_message("no '%s' in\n%s", text, dump);
	g_assert_nonnull(strstr(dump, text));
}

static const struct place *top(struct fixture *f)
{
	return nav_top(&f->app->nav);
}

/* Each part is what its view has of this process, and of nobody else. */
static void test_parts(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = FAKE_T0 + 3 * FAKE_S;
	q.to_ns = q.from_ns + FAKE_S;
	for (int32_t pid = 246; pid <= 253; pid += 7) {
		q.pid = pid;
		struct rows *rows = view_process.build(tl, &q);
		const struct process_page *page = process_page_of(rows);
		g_autofree char *text = g_strdup_printf("%d", pid);
		g_assert_cmpint(page->pid, ==, pid);
		g_assert_cmpstr(process_fact(rows, "pid"), ==, text);
		for (int i = 0; i < PROCESS_PARTS; i++) {
			const struct view *v = process_part_view((enum process_part)i);
			int column = view_column(v, "pid");
			for (guint k = 0; k < page->part[i]->rows->len; k++) {
				struct value of = column_value(&v->columns[column], page->part[i]->rows->pdata[k],
									 page->part[i]);
				g_assert_cmpint(of.i, ==, pid);
			}
		}
		g_assert_cmpuint(page->part[PROCESS_THREADS]->rows->len, ==, pid == 246 ? 5 : 1);
		g_assert_cmpuint(page->part[PROCESS_FILES]->rows->len, ==, pid == 246 ? 1 : 2);
		rows_free(rows);
	}
	q.pid = 4711;
	struct rows *rows = view_process.build(tl, &q);
	g_assert_cmpint(process_page_of(rows)->pid, ==, -1);
	g_assert_cmpuint(rows->rows->len, ==, 0);
	rows_free(rows);
}

static void test_busiest(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = view_process.build(tl, &q);
	g_assert_cmpstr(process_fact(rows, "comm"), ==, "thumbd");
	rows_free(rows);
}

static void test_drill(void)
{
	struct fixture f;

	start(&f, "4\r");
	g_assert_true(top(&f)->view == &view_process);
	check_has(&f, "Processes › thumbd");
	check_has(&f, "thumbd   pid 246   parent 1   threads 5   on web1");
	press(&f, "\r");			/* a thread: its calls */
	g_assert_cmpstr(top(&f)->view->id, ==, "syscalls");
	g_assert_cmpint(top(&f)->narrow.tid, ==, 257);
	press(&f, "\033jjjjj\r");		/* behind the last thread the first file */
	g_assert_cmpstr(top(&f)->view->id, ==, "files");
	g_assert_cmpint(top(&f)->narrow.pid, ==, 246);
	press(&f, "\033j\r");			/* a call: the slow ones */
	g_assert_cmpstr(top(&f)->view->id, ==, "slow");
	g_assert_cmpint(top(&f)->narrow.pid, ==, 246);
	press(&f, "\033g");
	g_assert_cmpint(top(&f)->pane, ==, PROCESS_THREADS);
	press(&f, "G");
	g_assert_cmpint(top(&f)->pane, ==, PROCESS_CALLS);	/* the slowest are none */
	press(&f, "k/image\r");			/* search goes through all tables */
	g_assert_cmpint(top(&f)->pane, ==, PROCESS_FILES);
	press(&f, "y");
	g_assert_nonnull(strstr(f.app->copy, "/srv/images/image-01"));
	stop(&f);
}

/* A thread has no page of its own; a second without the process says so. */
static void test_no_page(void)
{
	struct fixture f;

	start(&f, "4H\r");
	g_assert_cmpstr(top(&f)->view->id, ==, "syscalls");
	press(&f, "\033H\r");			/* a host */
	g_assert_true(top(&f)->view != &view_process);
	stop(&f);
	start(&f, "4\r");
	nav_seek(&f.app->nav, f.tl, FAKE_T0 + 4 * FAKE_S);	/* the gap */
	app_moved(f.app);
	app_draw(f.app);
	check_has(&f, "did nothing in this range");
	press(&f, "jkgG\r");
	stop(&f);
}

/* A filter is read by the tables that have its column. */
static void test_filter(void)
{
	struct fixture f;

	start(&f, "4\r\\comm == thumbd-w2\r");
	check_has(&f, "thumbd-w2");
	g_assert_cmpuint(process_page_of(top(&f)->rows)->part[PROCESS_THREADS]->rows->len, ==, 1);
	stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/screen-process/parts", test_parts);
	g_test_add_func("/screen-process/busiest", test_busiest);
	g_test_add_func("/screen-process/drill", test_drill);
	g_test_add_func("/screen-process/no-page", test_no_page);
	g_test_add_func("/screen-process/filter", test_filter);
	return g_test_run();
}
