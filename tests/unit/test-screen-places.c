/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Going from place to place: every view is narrowed to what its own table says, and the breadcrumb
 * says to what; a place one comes back to is as it was left.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/app.h"
#include "ui/mouse.h"
#include "ui/screen.h"
#include "views/narrowing.h"

#include "base/timefmt.h"

#include <string.h>

/* Picks it from the list of views. */
static void go(struct fixture *f, const char *id)
{
	const struct view *wanted = view_find(id);

	g_assert_nonnull(wanted);
	fixture_press_key(f, UI_KEY_F(2));
	g_assert_true(popup_is_open(&f->app->popup));
	app_key(f->app, UI_KEY_HOME);		/* nobody looks meanwhile: not drawn */
	for (size_t i = 0; view_all[i] != wanted; i++)
		if (view_all[i]->on_screen && view_all[i]->kind != VIEW_WATERFALL)
			app_key(f->app, UI_KEY_DOWN);
	fixture_press(f, "\r");
	g_assert_cmpstr(fixture_top(f)->view->id, ==, id);
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
	g_assert_cmpint(fixture_top(f)->narrow.by, ==, by);
	g_assert_true(fixture_has(f, crumb));
	if (v->kind != VIEW_PROCESS && !v->of_metric)
		g_assert_cmpuint(fixture_top(f)->rows->n_before_filter, ==, n_rows(f, v, honours ? &narrow : &all, by));
}

/* From a page of a process, by the list and on and on by Tab. */
static void test_process(void)
{
	struct fixture f;

	fixture_start(&f, "4\r");
	g_assert_true(fixture_has(&f, "Processes › thumbd"));
	for (const struct view *const *v = view_all; *v; v++) {
		if (!(*v)->on_screen || (*v)->kind == VIEW_WATERFALL || (*v)->kind == VIEW_PROCESS)
			continue;
		go(&f, (*v)->id);
		check_process(&f, *v, (*v)->id[0] == 'i' && (*v)->narrows_threads_only ? BY_PROCESS : (*v)->default_by);
	}
	fixture_press(&f, "\033");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_PROCESS);
	fixture_press(&f, "6");
	check_process(&f, view_find("files"), BY_PROCESS);
	for (int i = 0; i < 30; i++) {
		fixture_press(&f, "\t");
		g_assert_true(fixture_top(&f)->view->kind == VIEW_PROCESS || fixture_has(&f, "› "));
		g_assert_true(fixture_top(&f)->view->kind == VIEW_PROCESS || fixture_has(&f, "pid 246"));
	}
	fixture_stop(&f);
}

/* Events are of a process where they were counted so, and while rows are by such. */
static void test_events(void)
{
	struct fixture f;

	fixture_start(&f, "4\r9");
	g_assert_true(fixture_has(&f, "› Events: all, not only pid 246"));
	g_assert_cmpint(fixture_top(&f)->narrow.by, ==, BY_SYSTEM);
	fixture_stop(&f);
	fixture_start_on(&f, fake_timeline(), true, "4\r9");
	g_assert_true(fixture_has(&f, "› Events: pid 246"));
	g_assert_cmpint(fixture_top(&f)->narrow.by, ==, BY_PROCESS);
	while (fixture_top(&f)->narrow.by != BY_SYSTEM)
		fixture_press(&f, "H");
	g_assert_true(fixture_has(&f, "› Events: all, not only pid 246"));
	g_assert_cmpuint(fixture_top(&f)->rows->rows->len, >, 0);
	fixture_stop(&f);
}

/* A trace: where a view takes it, that and nothing less; where not, the thread of the span. */
static void test_trace(void)
{
	struct fixture f;
	const struct view_query all = VIEW_QUERY_INIT;
	struct view_query narrow = all;

	fixture_start(&f, "\r");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_WATERFALL);
	narrow.trace_id = fixture_top(&f)->narrow.trace_id;
	g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x", narrow.trace_id);
	g_autofree char *spans = g_strdup_printf("› Spans: %s", id);
	g_autofree char *calls = g_strdup_printf("› Syscalls: %s", id);
	g_autofree char *cpus = g_strdup_printf("› CPUs: all, not only %s", id);
	guint n = n_rows(&f, view_find("spans"), &narrow, view_find("spans")->default_by);

	fixture_press(&f, "7");
	g_assert_true(fixture_has(&f, spans));
	g_assert_cmpuint(n, >, 2);
	g_assert_cmpuint(fixture_top(&f)->rows->rows->len, ==, n);
	go(&f, "cpus");
	g_assert_true(fixture_has(&f, cpus));
	fixture_press(&f, "5");
	g_assert_true(fixture_has(&f, calls));
	go(&f, "files");
	g_assert_true(fixture_has(&f, "› Files: tid "));
	g_assert_cmpint(fixture_top(&f)->narrow.tid, >, 0);
	fixture_press(&f, "2");
	g_assert_cmpuint(fixture_top(&f)->rows->rows->len, ==, 1);
	go(&f, "path");
	g_assert_cmpuint(fixture_top(&f)->narrow.span_id, !=, 0);
	fixture_press(&f, "\033");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_WATERFALL);
	fixture_stop(&f);
}

/* What is drilled into is narrowed by what its rows showed, not by what that view could not take. */
static void test_drill(void)
{
	struct fixture f;

	fixture_start(&f, "4\r8");
	g_assert_true(fixture_has(&f, "Services: all, not only pid 246"));
	g_assert_cmpuint(fixture_top(&f)->rows->rows->len, >, 0);
	fixture_press(&f, "\r");
	g_assert_cmpstr(fixture_top(&f)->view->id, ==, "spans");
	g_assert_cmpint(fixture_top(&f)->narrow.pid, ==, -1);
	g_assert_nonnull(fixture_top(&f)->narrow.service);
	fixture_stop(&f);
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

	fixture_start_on(&f, two_hosts(), false, "4");
	while (fixture_top(&f)->narrow.by != BY_SYSTEM)
		fixture_press(&f, "H");
	fixture_press(&f, "G\r");
	g_assert_cmpstr(fixture_top(&f)->host, ==, "web2");
	go(&f, "files");
	g_assert_true(fixture_has(&f, "› Files: web2"));
	go(&f, "services");
	g_assert_true(fixture_has(&f, "› Services: all, not only web2"));
	fixture_stop(&f);
	fixture_start_on(&f, two_hosts(), false, "4\r");
	go(&f, "cpus");
	g_assert_true(fixture_has(&f, "› CPUs: all of web1, not only pid 10"));
	fixture_stop(&f);
}

/* What prints the same rows is narrowed to the same. */
static void test_facts(void)
{
	struct fixture f;

	fixture_start(&f, "4\r6");
	fixture_press_key(&f, UI_KEY_F(7));
	fixture_press(&f, "G");
	g_assert_true(fixture_has(&f, "blktop -b --view files --from"));
	g_assert_true(fixture_has(&f, "--only pid=246"));
	fixture_press(&f, "\033");
	go(&f, "cpus");
	fixture_press_key(&f, UI_KEY_F(7));
	fixture_press(&f, "G");
	g_assert_true(fixture_has_not(&f, "--only"));
	fixture_stop(&f);
}

/* --- coming back --- */

static void test_filter(void)
{
	struct fixture f;

	fixture_start(&f, "4\\pid == 253\r");
	g_assert_true(fixture_has(&f, "1 of 5 rows"));
	fixture_press(&f, "5");
	g_assert_true(fixture_has(&f, "filter none"));
	fixture_press(&f, "\\syscall == read\r");
	fixture_press(&f, "4");
	g_assert_true(fixture_has(&f, "1 of 5 rows") && fixture_has(&f, "filter pid == 253"));
	fixture_press(&f, "5");
	g_assert_true(fixture_has(&f, "filter syscall == read"));
	fixture_press(&f, "4u6");
	fixture_press(&f, "4");
	g_assert_true(fixture_has(&f, "filter none"));
	/* The same view narrowed is another place. */
	fixture_press(&f, "1\0334\r5");
	g_assert_true(fixture_has(&f, "› Syscalls: pid 246") && fixture_has(&f, "filter none"));
	fixture_press(&f, "\\syscall == futex\r\033");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_PROCESS);
	fixture_press(&f, "65");
	g_assert_true(fixture_has(&f, "› Syscalls: pid 246") && fixture_has(&f, "filter syscall == futex"));
	fixture_press(&f, "\033\0335");
	g_assert_true(fixture_has(&f, "filter syscall == read"));
	fixture_stop(&f);
}

static void test_selection(void)
{
	struct fixture f;

	fixture_start(&f, "4j");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	fixture_press(&f, ">54");
	g_assert_true(fixture_has(&f, "▶    253 stored") && fixture_has(&f, "sort RUNQ%"));
	fixture_press(&f, "\t\t4");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	/* A page opened twice. */
	fixture_press(&f, "gu\rG");
	unsigned pane = fixture_top(&f)->pane;
	g_assert_cmpuint(pane, !=, PANE_MAIN);
	fixture_press(&f, "\033\r");
	g_assert_cmpuint(fixture_top(&f)->pane, ==, pane);
	/* Another one's is new. */
	fixture_press(&f, "\033j\r");
	g_assert_cmpuint(fixture_top(&f)->pane, ==, PANE_MAIN);
	fixture_stop(&f);
}

/* A search is of the place that it was made in. */
static void test_search(void)
{
	struct fixture f;

	fixture_start(&f, "4/stor\r");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	fixture_press(&f, "5n");
	g_assert_true(fixture_has_not(&f, "no row holds"));
	g_assert_null(fixture_top(&f)->search);
	fixture_press(&f, "u");
	g_assert_true(fixture_has(&f, "nothing to clear"));
	fixture_press(&f, "4");
	g_assert_cmpstr(fixture_top(&f)->search, ==, "stor");
	fixture_press(&f, "gn");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	fixture_press(&f, "\r");
	g_assert_null(fixture_top(&f)->search);
	fixture_press(&f, "\033");
	g_assert_cmpstr(fixture_top(&f)->search, ==, "stor");
	fixture_press(&f, "u");
	g_assert_null(fixture_top(&f)->search);
	fixture_stop(&f);
}

/* However many places one was in, so many are kept and no more, the last ones. */
static void test_bounded(void)
{
	struct view_query q = VIEW_QUERY_INIT;
	struct fixture f;

	fixture_start(&f, "4");
	for (q.pid = 0; q.pid < 3 * NAV_LEFT_MAX; q.pid++) {
		app_open(f.app, place_new(view_find("files"), &q, ""));
		fixture_press(&f, "\\path == x\r\033");
	}
	g_assert_cmpuint(f.app->nav.left->len, ==, NAV_LEFT_MAX);
	for (guint i = 0; i < f.app->nav.left->len; i++)
		g_assert_null(((struct place *)f.app->nav.left->pdata[i])->rows);
	for (unsigned kept = 0; kept < 2; kept++) {
		q.pid = kept ? 3 * NAV_LEFT_MAX - 1 : 0;
		app_open(f.app, place_new(view_find("files"), &q, ""));
		g_assert_cmpstr(fixture_top(&f)->filter, ==, kept ? "path == x" : NULL);
		fixture_press(&f, "\033");
	}
	fixture_stop(&f);
}

/* --- keys --- */

/* One key shows the second bar, until the next key, which does what it always does. */
static void test_second_bar(void)
{
	struct fixture f;

	fixture_start(&f, "");
	/* At any width the first bar has what a stranger needs first. */
	for (unsigned cols = 60; cols <= 200; cols += 20) {
		app_resize(f.app, 24, cols);
		app_draw(f.app);
		g_assert_true(fixture_has(&f, ",:more") && fixture_has(&f, "q:quit") && fixture_has(&f, "Enter:why"));
		g_assert_true(fixture_has(&f, "X:changed") && fixture_has(&f, "F2Views"));
	}
	app_resize(f.app, 24, 80);
	app_draw(f.app);
	fixture_press(&f, ",");
	g_assert_true(fixture_has(&f, "0:whole") && fixture_has(&f, "i:heatmap") && fixture_has(&f, "d:distribution"));
	g_assert_true(fixture_has(&f, "v:timeline") && fixture_has(&f, "V:flame") && fixture_has(&f, "L:log"));
	g_assert_true(fixture_has_not(&f, ",:more"));
	fixture_press(&f, ",");
	g_assert_true(fixture_has(&f, ",:more") && fixture_has_not(&f, "i:heatmap"));
	fixture_press(&f, ",q");		/* q, Esc and Backspace leave the bar only */
	g_assert_false(f.app->quit);
	g_assert_true(fixture_has(&f, ",:more"));
	fixture_press(&f, ",v");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_TIMELINE);
	g_assert_true(fixture_has_not(&f, "q:quit") && fixture_has_not(&f, "0:whole"));
	fixture_press(&f, ",\033");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_TIMELINE);
	fixture_press(&f, ",\\");		/* nor is it there while a line is typed */
	g_assert_true(fixture_has(&f, "Enter:apply") && fixture_has_not(&f, "0:whole"));
	fixture_stop(&f);
}

/* --- explanations --- */

static void right_click(struct fixture *f, const char *text, unsigned right)
{
	for (unsigned y = 0; y < f->app->canvas->rows; y++) {
		g_autofree char *line = canvas_line(f->app->canvas, y);
		const char *at = strstr(line, text);

		if (!at)
			continue;
		app_mouse(f->app, APP_OTHER_BUTTON, y, (unsigned)g_utf8_strlen(line, at - line) + right, 0);
		app_draw(f->app);
		return;
	}
	g_error("no '%s'", text);
}

static void test_explain(void)
{
	struct fixture f;

	fixture_start(&f, "4=");
	g_assert_true(fixture_has(&f, "Explain: Processes"));
	g_assert_true(fixture_has(&f, "NAME       thumbd      name, as it was last in the range"));
	g_assert_true(fixture_has(&f, "CPU%       82.6        time on a CPU, of all its threads"));
	fixture_press(&f, "\033jjj");
	right_click(&f, "stored", 2);
	g_assert_true(fixture_has(&f, "NAME stored: name, as it was last in the range"));
	right_click(&f, "BLOCK%", 0);
	g_assert_true(fixture_has(&f, "BLOCK%: its threads blocked, summed; 100 % is one thread"));
	right_click(&f, "Processes: 5 rows", 0);
	g_assert_true(fixture_has(&f, "the right button explains a cell"));
	fixture_stop(&f);
	fixture_start(&f, "jj\r=");		/* the victim's lock */
	g_assert_true(fixture_has(&f, "Its letters") && fixture_has(&f, "  f futex: blocked on a futex: a lock"));
	g_assert_true(fixture_has_not(&f, "  n socket: "));
	fixture_press(&f, "\033k=");		/* another row, other letters: the child is on the same thread */
	g_assert_true(fixture_has(&f, "  = child: ") && fixture_has_not(&f, "  f futex: "));
	fixture_press(&f, "\033");
	right_click(&f, "ffff", 1);
	g_assert_true(fixture_has(&f, "f futex: blocked on a futex: a lock or a condition"));
	fixture_stop(&f);
}

/* Moves can end at the edge, where the selection shows it. */
static bool is_move(enum command_id command)
{
	return !strcmp(ui_commands[command].group, "Move") || command == CMD_REDRAW || command == CMD_SUSPEND ||
	       command == CMD_QUIT;
}

static char *picture(struct fixture *f)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	const struct place *p = nav_top(&f->app->nav);

	return g_strdup_printf("%s%s\n%zu %zu %u", dump, p->view->id, p->table[p->pane].cursor, p->table[p->pane].top,
			       f->app->requests);
}

/* Every key of the table either changes the screen or says why it does not, on every view and where it leads. */
static void start_there(struct fixture *f, const struct view *view, const char *way)
{
	fixture_start(f, way);
	if (view && view->kind != VIEW_OVERVIEW)
		go(f, view->id);
	g_clear_pointer(&f->app->message, g_free);
	app_draw(f->app);
}

static void find_silent_keys(const struct view *view, const char *way, GString *silent)
{
	struct fixture f;
	char name[16];

	start_there(&f, view, way);
	unsigned context = app_context(f.app);
	fixture_stop(&f);
	for (size_t i = 0; i < ui_n_bindings; i++) {
		const struct key_binding *b = &ui_bindings[i];
		g_autofree char *before = NULL, *after = NULL;

		if (!(b->contexts & context) || is_move(b->command))
			continue;
		start_there(&f, view, way);
		before = picture(&f);
		fixture_press_key(&f, b->key);
		after = picture(&f);
		if (!f.app->message && !f.app->quit && !strcmp(before, after))
			g_string_append_printf(silent, "%s in %s (%s)\n", keys_name(b->key, name),
					       fixture_top(&f)->view->id, way);
		fixture_stop(&f);
	}
}

/* Every key of the table either changes the screen or says why it does not, on every view and where it leads. */
static void test_no_silent_key(void)
{
	static const char *const ways[] = { "", "\r", "jj\r", "2\r", "2\rc", "Vj\r", "v", "vz", "4jw", "2Gi", "d" };
	g_autoptr(GString) silent = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
		find_silent_keys(NULL, ways[i], silent);
	for (size_t i = 0; view_all[i]; i++)
		if (view_all[i]->on_screen && view_all[i]->kind != VIEW_WATERFALL)
			find_silent_keys(view_all[i], "", silent);
	g_assert_cmpstr(silent->str, ==, "");
}

static void check_lines(const struct fixture *f, const char *const *texts)
{
	const GPtrArray *lines = f->app->popup.lines;

	for (; *texts; texts++) {
		bool found = false;

		for (guint i = 0; lines && i < lines->len; i++)
			found |= g_regex_match_simple(*texts, lines->pdata[i], 0, 0);
		for (guint i = 0; !found && lines && i < lines->len; i++)
			g_test_message("no line '%s' but %s", *texts, (char *)lines->pdata[i]);
		g_assert_true(found);
	}
}

/* Heatmap, flame and timeline have no rows: the key explains the selected cell, frame and lane. */
static void test_explain_pictures(void)
{
	static const struct { const char *keys; const char *const lines[8]; } ways[] = {
		{ "i=", { "^The selected cell$", "^  time .*06:08:38", "^  durations  .*83.9ms",
			  "^  number .*2 requests", "^  shade .*24", "fullest cell has 6", "^  longer .*2 requests" } },
		{ "ijj=", { "^  number .*no request", "^  durations " } },
		{ "ib=", { "^  letter .*2 of 2" } },
		{ "i >j =", { "^The selected rectangle$", "^  number " } },
		{ "V=", { "^The selected frame$", "^  all ", "^  time .*100%", "^  width ",
			  "^  t timer: blocked in a sleep; .*ms, 61%" } },
		{ "Vj=", { "^  operation +thumbnail@", "^  time .*% of all" } },
		{ "v=", { "^The selected lane$", "^  cursor ", "^  CPU0 .*CPU", "^  height " } },
		{ "vjjjj=", { "^  . [a-z]+: " } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		struct fixture f;

		fixture_start(&f, ways[i].keys);
		g_test_message("%s", ways[i].keys);
		g_assert_true(popup_is_open(&f.app->popup) && strstr(f.app->popup.title, "Explain: "));
		check_lines(&f, ways[i].lines);
		fixture_press(&f, "\033");
		g_assert_false(popup_is_open(&f.app->popup));
		fixture_stop(&f);
	}
}

/* A popup over a row: the key explains the row, then Esc leaves to the view. */
static void test_explain_popup(void)
{
	struct fixture f;

	fixture_start(&f, "jj\r\r");
	g_assert_cmpstr(f.app->popup.title, ==, "lock");
	fixture_press(&f, "=");
	g_assert_true(fixture_has(&f, "Explain: Waterfall"));
	g_assert_true(fixture_has(&f, "  f futex: blocked on a futex: a lock"));
	fixture_press(&f, "=");
	g_assert_true(fixture_has(&f, "Explain: Waterfall"));
	fixture_press(&f, "\033");
	g_assert_true(!popup_is_open(&f.app->popup) && fixture_has(&f, " SPAN "));
	fixture_press(&f, "5=");
	g_assert_true(fixture_has(&f, "Explain: Waterfall"));
	fixture_stop(&f);
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
	g_test_add_func("/places/second-bar", test_second_bar);
	g_test_add_func("/places/explain", test_explain);
	g_test_add_func("/places/explain-pictures", test_explain_pictures);
	g_test_add_func("/places/explain-popup", test_explain_popup);
	g_test_add_func("/places/no-silent-key", test_no_silent_key);
	return g_test_run();
}
