/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Going from place to place: every view is narrowed to what its own table says, and the breadcrumb
 * says to what; a place one comes back to is as it was left.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"
#include "ui/screen.h"
#include "views/narrowing.h"

#include "base/timefmt.h"

#include <string.h>

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
};

static void press_key(struct fixture *f, int key)
{
	app_key(f->app, key);
	app_draw(f->app);
}

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys))
		press_key(f, (int)g_utf8_get_char(keys));
}

static void start_on(struct fixture *f, struct timeline *tl, bool counts_threads, const char *keys)
{
	*f = (struct fixture){ .options = { .at_ns = TIME_UNKNOWN, .counts_threads = counts_threads }, .tl = tl };
	f->app = app_new(&f->options, NULL, f->tl, true);
	app_resize(f->app, 24, 80);
	app_draw(f->app);
	press(f, keys);
}

static void start(struct fixture *f, const char *keys)
{
	start_on(f, fake_timeline(), false, keys);
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

	if (strstr(dump, text))
		g_test_message("'%s' in\n%s", text, dump);
	return !strstr(dump, text);
}

static struct place *top(struct fixture *f)
{
	return app_place(f->app);
}

/* Picks it from the list of views. */
static void go(struct fixture *f, const char *id)
{
	const struct view *wanted = view_find(id);

	g_assert_nonnull(wanted);
	press_key(f, UI_KEY_F(2));
	g_assert_true(popup_is_open(&f->app->popup));
	press(f, "g");
	for (size_t i = 0; view_all[i] != wanted; i++)
		if (view_all[i]->on_screen && view_all[i]->kind != VIEW_WATERFALL)
			press(f, "j");
	press(f, "\r");
	g_assert_cmpstr(top(f)->view->id, ==, id);
}

/* How many rows the view has when it is narrowed so. */
static guint n_rows(struct fixture *f, const struct view *v, const struct view_query *narrow, enum view_by by)
{
	struct view_query q = *narrow;

	nav_range(&f->app->nav, &q.from_ns, &q.to_ns);
	q.by = by;
	q.cells = v->kind == VIEW_TIMELINE ? 10 : 0;	/* the screen has a row for each lane */
	struct rows *rows = v->build(f->tl, &q);
	guint n = rows->rows->len;
	rows_free(rows);
	return n;
}

/* --- narrowing --- */

static void check_process(struct fixture *f, const struct view *v, enum view_by by)
{
	const struct view_query all = VIEW_QUERY_INIT;
	struct view_query narrow = all;
	bool honours = view_honours(v, by) & ONLY_PID;
	g_autofree char *crumb = g_strdup_printf("› %s: %s", v->title, honours ? "pid 246" : "all, not only pid 246");

	narrow.pid = 246;
	g_assert_cmpint(top(f)->narrow.by, ==, by);
	g_assert_true(has(f, crumb));
	if (v->kind != VIEW_PROCESS && !v->of_metric)
		g_assert_cmpuint(top(f)->rows->n_before_filter, ==, n_rows(f, v, honours ? &narrow : &all, by));
}

/* From a page of a process, by the list and on and on by Tab. */
static void test_process(void)
{
	struct fixture f;

	start(&f, "4\r");
	g_assert_true(has(&f, "Processes › thumbd"));
	for (const struct view *const *v = view_all; *v; v++) {
		if (!(*v)->on_screen || (*v)->kind == VIEW_WATERFALL || (*v)->kind == VIEW_PROCESS)
			continue;
		go(&f, (*v)->id);
		check_process(&f, *v, (*v)->id[0] == 'i' && (*v)->only_by ? BY_PROCESS : (*v)->default_by);
	}
	press(&f, "\033");
	g_assert_true(top(&f)->view->kind == VIEW_PROCESS);
	press(&f, "6");
	check_process(&f, view_find("files"), BY_PROCESS);
	for (int i = 0; i < 30; i++) {
		press(&f, "\t");
		g_assert_true(top(&f)->view->kind == VIEW_PROCESS || has(&f, "› "));
		g_assert_true(top(&f)->view->kind == VIEW_PROCESS || has(&f, "pid 246"));
	}
	stop(&f);
}

/* Events are of a process where they were counted so, and while rows are by such. */
static void test_events(void)
{
	struct fixture f;

	start(&f, "4\r9");
	g_assert_true(has(&f, "› Events: all, not only pid 246"));
	g_assert_cmpint(top(&f)->narrow.by, ==, BY_SYSTEM);
	stop(&f);
	start_on(&f, fake_timeline(), true, "4\r9");
	g_assert_true(has(&f, "› Events: pid 246"));
	g_assert_cmpint(top(&f)->narrow.by, ==, BY_PROCESS);
	while (top(&f)->narrow.by != BY_SYSTEM)
		press(&f, "H");
	g_assert_true(has(&f, "› Events: all, not only pid 246"));
	g_assert_cmpuint(top(&f)->rows->rows->len, >, 0);
	stop(&f);
}

/* A trace: where a view takes it, that and nothing less; where not, the thread of the span. */
static void test_trace(void)
{
	struct fixture f;
	const struct view_query all = VIEW_QUERY_INIT;
	struct view_query narrow = all;

	start(&f, "\r");
	g_assert_true(top(&f)->view->kind == VIEW_WATERFALL);
	narrow.trace_id = top(&f)->narrow.trace_id;
	g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x", narrow.trace_id);
	g_autofree char *spans = g_strdup_printf("› Spans: %s", id);
	g_autofree char *calls = g_strdup_printf("› Syscalls: %s", id);
	g_autofree char *cpus = g_strdup_printf("› CPUs: all, not only %s", id);
	guint n = n_rows(&f, view_find("spans"), &narrow, view_find("spans")->default_by);

	press(&f, "7");
	g_assert_true(has(&f, spans));
	g_assert_cmpuint(n, >, 2);
	g_assert_cmpuint(top(&f)->rows->rows->len, ==, n);
	go(&f, "cpus");
	g_assert_true(has(&f, cpus));
	press(&f, "5");
	g_assert_true(has(&f, calls));
	go(&f, "files");
	g_assert_true(has(&f, "› Files: tid "));
	g_assert_cmpint(top(&f)->narrow.tid, >, 0);
	press(&f, "2");
	g_assert_cmpuint(top(&f)->rows->rows->len, ==, 1);
	go(&f, "path");
	g_assert_cmpuint(top(&f)->narrow.span_id, !=, 0);
	press(&f, "\033");
	g_assert_true(top(&f)->view->kind == VIEW_WATERFALL);
	stop(&f);
}

/* What is drilled into is narrowed by what its rows showed, not by what that view could not take. */
static void test_drill(void)
{
	struct fixture f;

	start(&f, "4\r8");
	g_assert_true(has(&f, "Services: all, not only pid 246"));
	g_assert_cmpuint(top(&f)->rows->rows->len, >, 0);
	press(&f, "\r");
	g_assert_cmpstr(top(&f)->view->id, ==, "spans");
	g_assert_cmpint(top(&f)->narrow.pid, ==, -1);
	g_assert_nonnull(top(&f)->narrow.service);
	stop(&f);
}

static struct timeline *two_hosts(void)
{
	struct fake *f = fake_new();
	struct second *s = fake_second(f, 0);
	uint32_t web2 = fake_host(f, "web2");

	for (unsigned i = 0; i < 4; i++) {
		uint32_t t = fake_thread(f, i / 2 ? web2 : 0, 100 + (int)i, 100 + (int)i, "worker");

		fake_call(s, t, fake_string(f, "read"), 3, 1000);
	}
	return fake_done(f);
}

/* One of several hosts is something to be narrowed to, and told. */
static void test_hosts(void)
{
	struct fixture f;

	start_on(&f, two_hosts(), false, "4");
	while (top(&f)->narrow.by != BY_SYSTEM)
		press(&f, "H");
	press(&f, "G\r");
	g_assert_cmpstr(top(&f)->host, ==, "web2");
	go(&f, "files");
	g_assert_true(has(&f, "› Files: web2"));
	go(&f, "services");
	g_assert_true(has(&f, "› Services: all, not only web2"));
	stop(&f);
	start_on(&f, two_hosts(), false, "4\r");
	go(&f, "cpus");
	g_assert_true(has(&f, "› CPUs: all of web1, not only pid 10"));
	stop(&f);
}

/* What prints the same rows is narrowed to the same. */
static void test_facts(void)
{
	struct fixture f;

	start(&f, "4\r6");
	press_key(&f, UI_KEY_F(7));
	press(&f, "G");
	g_assert_true(has(&f, "blktop -b --view files --from"));
	g_assert_true(has(&f, "--only pid=246"));
	press(&f, "\033");
	go(&f, "cpus");
	press_key(&f, UI_KEY_F(7));
	press(&f, "G");
	g_assert_true(has_not(&f, "--only"));
	stop(&f);
}

/* --- coming back --- */

static void test_filter(void)
{
	struct fixture f;

	start(&f, "4\\pid == 253\r");
	g_assert_true(has(&f, "1 of 5 rows"));
	press(&f, "5");
	g_assert_true(has(&f, "filter none"));
	press(&f, "\\syscall == read\r");
	press(&f, "4");
	g_assert_true(has(&f, "1 of 5 rows") && has(&f, "filter pid == 253"));
	press(&f, "5");
	g_assert_true(has(&f, "filter syscall == read"));
	press(&f, "4u6");
	press(&f, "4");
	g_assert_true(has(&f, "filter none"));
	/* The same view narrowed is another place. */
	press(&f, "1\0334\r5");
	g_assert_true(has(&f, "› Syscalls: pid 246") && has(&f, "filter none"));
	press(&f, "\\syscall == futex\r\033");
	g_assert_true(top(&f)->view->kind == VIEW_PROCESS);
	press(&f, "65");
	g_assert_true(has(&f, "› Syscalls: pid 246") && has(&f, "filter syscall == futex"));
	press(&f, "\033\0335");
	g_assert_true(has(&f, "filter syscall == read"));
	stop(&f);
}

static void test_selection(void)
{
	struct fixture f;

	start(&f, "4j");
	g_assert_true(has(&f, "▶    253 stored"));
	press(&f, ">54");
	g_assert_true(has(&f, "▶    253 stored") && has(&f, "sort RUNQ%"));
	press(&f, "\t\t4");
	g_assert_true(has(&f, "▶    253 stored"));
	/* A page opened twice. */
	press(&f, "gu\rG");
	unsigned pane = top(&f)->pane;
	g_assert_cmpuint(pane, !=, PANE_MAIN);
	press(&f, "\033\r");
	g_assert_cmpuint(top(&f)->pane, ==, pane);
	/* Another one's is new. */
	press(&f, "\033j\r");
	g_assert_cmpuint(top(&f)->pane, ==, PANE_MAIN);
	stop(&f);
}

/* A search is of the place that it was made in. */
static void test_search(void)
{
	struct fixture f;

	start(&f, "4/stor\r");
	g_assert_true(has(&f, "▶    253 stored"));
	press(&f, "5n");
	g_assert_true(has_not(&f, "no row holds"));
	g_assert_null(top(&f)->search);
	press(&f, "u");
	g_assert_true(has(&f, "nothing to clear"));
	press(&f, "4");
	g_assert_cmpstr(top(&f)->search, ==, "stor");
	press(&f, "gn");
	g_assert_true(has(&f, "▶    253 stored"));
	press(&f, "\r");
	g_assert_null(top(&f)->search);
	press(&f, "\033");
	g_assert_cmpstr(top(&f)->search, ==, "stor");
	press(&f, "u");
	g_assert_null(top(&f)->search);
	stop(&f);
}

/* However many places one was in, so many are kept and no more, the last ones. */
static void test_bounded(void)
{
	struct view_query q = VIEW_QUERY_INIT;
	struct fixture f;

	start(&f, "4");
	for (q.pid = 0; q.pid < 3 * NAV_LEFT_MAX; q.pid++) {
		app_open(f.app, place_new(view_find("files"), &q, ""));
		press(&f, "\\path == x\r\033");
	}
	g_assert_cmpuint(f.app->nav.left->len, ==, NAV_LEFT_MAX);
	for (guint i = 0; i < f.app->nav.left->len; i++)
		g_assert_null(((struct place *)f.app->nav.left->pdata[i])->rows);
	for (unsigned kept = 0; kept < 2; kept++) {
		q.pid = kept ? 3 * NAV_LEFT_MAX - 1 : 0;
		app_open(f.app, place_new(view_find("files"), &q, ""));
		g_assert_cmpstr(top(&f)->filter, ==, kept ? "path == x" : NULL);
		press(&f, "\033");
	}
	stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/places/process", test_process);
	g_test_add_func("/places/events", test_events);
	g_test_add_func("/places/trace", test_trace);
	g_test_add_func("/places/drill", test_drill);
	g_test_add_func("/places/hosts", test_hosts);
	g_test_add_func("/places/facts", test_facts);
	g_test_add_func("/places/filter", test_filter);
	g_test_add_func("/places/selection", test_selection);
	g_test_add_func("/places/search", test_search);
	g_test_add_func("/places/bounded", test_bounded);
	return g_test_run();
}
