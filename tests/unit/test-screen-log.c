/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log on the screen, without a trace: lines come from a script, as pieces that a
 * backend is asked for. GENERATE=1 writes tests/golden/ anew: look at the difference.
 */
#include "lib/sources.h"
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "trace/reader.h"
#include "ui/app.h"
#include "ui/screen.h"
#include "ui/progressive.h"
#include "ui/screen_log.h"

#include "base/timefmt.h"

#include <stdlib.h>
#include <string.h>

static enum ui_phase phase = UI_DONE;
static struct {
	unsigned n;
	struct calllog_want want;
	struct calllog_window *ready;
} asked;

static void log_ask(void *data, const struct calllog_want *want)
{
	(void)data;
	asked.n++;
	asked.want = *want;
}

static struct calllog_window *log_take(void *data)
{
	(void)data;
	return g_steal_pointer(&asked.ready);
}

static void status(void *data, struct ui_status *ret)
{
	(void)data;
	*ret = (struct ui_status){ .phase = phase, .lag_ns = -1, .final_to_ns = INT64_MAX };
	g_strlcpy(ret->source, "story kernel+ust", sizeof ret->source);
}

static const struct ui_backend backend = { .status = status, .log_ask = log_ask,
					   .log_take = log_take };

static void keep_line(void *data, struct calllog_line *l)
{
	g_ptr_array_add(data, l);
}

/* The answer to what was asked last: the script's lines, from `at` on. */
static void answer(struct app *app, const char *script, int64_t from, int64_t to, bool at_end)
{
	size_t n;
	const struct blk_subscription *rows = calllog_subscriptions(&n);
	struct calllog_options o = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct source *source = source_open_script(script, rows, n, NULL);
	struct calllog_window *w = calllog_window_new(&asked.want);
	struct calllog *j = calllog_new(&o, keep_line, w->lines);
	struct blk_batch b;
	while (source_next(source, &b, NULL) == SOURCE_OK)
		calllog_feed(j, &source->tables, b.ev, b.n);
	if (asked.want.ask == ASK_INSTANT) {
		g_ptr_array_unref(w->lines);
		w->lines = calllog_open_calls(j);
		w->fds = calllog_open_fds(j, asked.want.host, asked.want.pid);
		calllog_all_cpus(j, asked.want.host, w->cpus);
	} else {
		calllog_finish(j);
	}
	w->from_ns = from;
	w->to_ns = to;
	w->at_begin = true;
	w->at_end = at_end;
	w->names = true;
	asked.ready = w;
	calllog_free(j);
	source_free(source);
	screen_log_take(app);
}

static struct app *app_of(struct ui_options *options, struct timeline *tl)
{
	*options = (struct ui_options){ .at_ns = TIME_UNKNOWN };
	memset(&asked, 0, sizeof asked);
	struct app *app = app_new(options, &backend, tl, true);
	app_resize(app, 24, 80);
	app_draw(app);
	return app;
}

static char *screen_text(struct app *app)
{
	app_draw(app);
	return canvas_dump(app->canvas);
}

static char *story(int64_t at)
{
	return g_strdup_printf(
		"%" G_GINT64_FORMAT " 0 lttng_statedump_process_state tid=7 pid=7 "
		"name=\"thumbnailer\" file_table_address=9\n"
		"%" G_GINT64_FORMAT " 0 lttng_statedump_file_descriptor file_table_address=9 fd=5 "
		"filename=\"assets/big_buck_bunny.avi\" flags=0\n"
		"%" G_GINT64_FORMAT " 0 syscall_entry_read ctx.tid=7 fd=5 count=64\n"
		"%" G_GINT64_FORMAT " 0 syscall_exit_read ctx.tid=7 ret=64\n"
		"%" G_GINT64_FORMAT " 1 syscall_entry_futex ctx.tid=8 op=0\n"
		"%" G_GINT64_FORMAT " 0 syscall_entry_openat ctx.tid=7 dfd=-100 filename=\"/nowhere\"\n"
		"%" G_GINT64_FORMAT " 0 syscall_exit_openat ctx.tid=7 ret=-2\n"
		"%" G_GINT64_FORMAT " 0 u:app:progress ctx.vtid=7 ctx.vpid=7 percent=5\n"
		"%" G_GINT64_FORMAT " 1 !lost events=12 begin=%" G_GINT64_FORMAT " end=%" G_GINT64_FORMAT "\n",
		at, at + 1000, at + 2000, at + 14000, at + 15000, at + 20000, at + 23000, at + 30000,
		at + 40000, at + 40000, at + 50000);
}

static void assert_golden(struct app *app, const char *name)
{
	g_autofree char *got = screen_text(app), *want = NULL;
	g_autofree char *path = g_strdup_printf("tests/golden/%s.txt", name);
	if (g_getenv("GENERATE"))
		g_assert_true(g_file_set_contents(path, got, -1, NULL));
	g_assert_true(g_file_get_contents(path, &want, NULL, NULL));
	g_assert_cmpstr(got, ==, want);
}

static void test_screen(void)
{
	struct ui_options options;
	struct timeline *tl = fake_timeline();
	struct app *app = app_of(&options, tl);

	app_key(app, 'L');
	app_draw(app);
	g_assert_cmpuint(asked.n, ==, 1);
	g_assert_cmpint(asked.want.ask, ==, ASK_AFTER);
	g_autofree char *reading = screen_text(app);
	g_assert_nonnull(strstr(reading, "reading ..."));

	int64_t at = asked.want.at_ns;
	g_autofree char *script = story(at);
	answer(app, script, at, at + 60000, true);
	assert_golden(app, "log-80x24");
	app_resize(app, 45, 140);
	assert_golden(app, "log-140x45");

	/* All is there: nothing more is asked for, however one moves. */
	unsigned n = asked.n;
	app_key(app, UI_KEY_END);
	app_draw(app);
	g_assert_cmpuint(asked.n, ==, n);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 7);

	/* In another order than time's: that is said, and how to go back. */
	app_key(app, '<');
	app_draw(app);
	g_autofree char *sorted = screen_text(app);
	g_assert_nonnull(strstr(sorted, "by CALL OR EVENT (lowest first), not by time: u"));
	app_key(app, 'u');
	app_draw(app);
	g_autofree char *again = screen_text(app);
	g_assert_null(strstr(again, "not by time"));
	app_key(app, UI_KEY_END);
	app_draw(app);

	/* Enter on the program's event: what the system did at that instant. */
	app_key(app, UI_KEY_UP);
	app_draw(app);
	app_key(app, UI_KEY_ENTER);
	g_assert_cmpuint(asked.n, ==, n + 1);
	g_assert_cmpint(asked.want.ask, ==, ASK_INSTANT);
	g_assert_cmpint(asked.want.at_ns, ==, at + 30000);
	char *until = strstr(script, " 1 !lost");
	until[0] = '\0';
	*(strrchr(script, '\n') + 1) = '\0';
	answer(app, script, at, at, false);
	g_assert_true(popup_is_open(&app->popup));
	assert_golden(app, "log-instant-140x45");
	app_key(app, UI_KEY_ESC);
	app_key(app, UI_KEY_ESC);
	g_assert_true(app_place(app)->view != &view_log);
	app_free(app);
	timeline_free(tl);
}

/* Near an end more is asked for; a filter hides lines and takes no part of the rest. */
static void test_more(void)
{
	struct ui_options options;
	struct timeline *tl = fake_timeline();
	struct app *app = app_of(&options, tl);
	g_autoptr(GError) error = NULL;

	app_key(app, 'L');
	app_draw(app);
	int64_t at = asked.want.at_ns;
	g_autofree char *script = story(at);
	answer(app, script, at, at + 60000, false);
	app_draw(app);
	g_assert_cmpuint(asked.n, ==, 2);
	g_assert_cmpint(asked.want.ask, ==, ASK_AFTER);
	g_assert_cmpint(asked.want.at_ns, ==, at + 60000);
	g_autofree char *later = story(at + 60000);
	answer(app, later, at + 60000, at + 120000, true);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 14);
	g_assert_true(app_filter(app, app_place(app), "error == ENOENT", &error));
	app_draw(app);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 2);
	/* What the log's filters know beside the columns. */
	g_assert_true(app_filter(app, app_place(app), "arg.ret == -2 && state == whole", &error));
	app_draw(app);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 2);
	g_assert_true(app_filter(app, app_place(app), "arg.ret == -2 && arg.nonsense == 1", &error));
	app_draw(app);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 0);
	g_assert_false(app_filter(app, app_place(app), "args.fd == 3", &error));
	g_clear_error(&error);
	g_assert_true(app_filter(app, app_place(app), "", &error));

	/* An answer to what is not asked any more is let go. */
	asked.want.at_ns = at + 1;
	answer(app, script, at, at + 60000, true);
	g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 14);
	app_free(app);
	timeline_free(tl);
}

/* A live session has none, and says so. */
static void test_none(void)
{
	struct ui_options options = { .at_ns = TIME_UNKNOWN };
	struct timeline *tl = fake_timeline();
	struct app *app = app_new(&options, NULL, tl, true);
	app_resize(app, 24, 80);
	app_key(app, 'L');
	g_autofree char *text = screen_text(app);
	g_assert_nonnull(strstr(text, "no packets of this session are stored on disk"));
	app_key(app, UI_KEY_ENTER);
	app_free(app);
	timeline_free(tl);
}

static bool is_asked_within(struct app *app, unsigned n)
{
	gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;

	while (asked.n < n && g_get_monotonic_time() < until) {
		app_draw(app);
		g_usleep(5000);
	}
	return asked.n >= n;
}

/* There is nothing before these lines. */
static void answer_begin(struct app *app)
{
	app_draw(app);
	if (asked.want.ask == ASK_BEFORE)
		answer(app, "", asked.want.at_ns, asked.want.at_ns, false);
	app_draw(app);
}

/* A session that goes on: what came since is asked for where the lines end; who follows has
 * the newest, whatever the time does, and stays when he stops. */
static void test_grows(void)
{
	struct ui_options options;
	struct timeline *tl = fake_timeline();
	int64_t first, last;

	phase = UI_LIVE;
	struct app *app = app_of(&options, tl);
	progressive_take(app);
	app_key(app, 'L');
	app_draw(app);
	int64_t at = asked.want.at_ns;
	g_autofree char *script = story(at);
	answer(app, script, at, at + 60000, true);
	g_autofree char *text = screen_text(app);
	g_assert_nonnull(strstr(text, "so far"));
	answer_begin(app);
	g_assert_true(is_asked_within(app, 3));
	g_assert_cmpint(asked.want.ask, ==, ASK_AFTER);
	g_assert_cmpint(asked.want.at_ns, ==, at + 60000);
	/* F: a second of what is newest, then what comes */
	app_key(app, 'F');
	app_draw(app);
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(asked.want.at_ns, ==, MAX(last - NS_PER_S, first));
	at = asked.want.at_ns;
	g_autofree char *newest = story(at);
	answer(app, newest, at, at + 60000, true);
	answer_begin(app);
	const struct table *t = &nav_top(&app->nav)->table[PANE_MAIN];
	size_t n = nav_top(&app->nav)->rows->rows->len;
	g_assert_cmpuint(n, >, 3);
	g_assert_cmpuint(t->cursor, ==, n - 1);
	g_assert_true(is_asked_within(app, asked.n + 1));
	g_assert_cmpint(asked.want.at_ns, ==, at + 60000);
	g_autofree char *more = story(at + 100000);
	answer(app, more, at + 60000, at + 200000, true);
	app_draw(app);
	size_t grown = nav_top(&app->nav)->rows->rows->len;
	g_assert_cmpuint(grown, >, n);
	g_assert_cmpuint(t->cursor, ==, grown - 1);
	/* off the last line the selection stays; p stops, and the lines are the same */
	app_key(app, 'k');
	app_draw(app);
	g_assert_cmpuint(t->cursor, ==, grown - 2);
	unsigned before = asked.n;
	app_key(app, 'p');
	app_draw(app);
	g_assert_cmpuint(nav_top(&app->nav)->rows->rows->len, ==, grown);
	g_assert_cmpuint(asked.n, ==, before);
	app_free(app);
	timeline_free(tl);
	phase = UI_DONE;
}

/* The role of the first cell of a text on the canvas. */
static enum role role_of_text(struct app *app, const char *text)
{
	g_autofree char *screen = screen_text(app);
	g_auto(GStrv) lines = g_strsplit(screen, "\n", -1);

	for (unsigned y = 0; lines[y]; y++) {
		const char *at = strstr(lines[y], text);
		g_autofree char *before = at ? g_strndup(lines[y], (gsize)(at - lines[y])) : NULL;

		if (at)
			return canvas_cell(app->canvas, y, (unsigned)g_utf8_strlen(before, -1))->role;
	}
	g_error("not on the screen: %s", text);
}

/* Names have the hue of what the call waits for, texts and errors their own; flags have names; the duration is there
 * once. */
static void test_hues(void)
{
	struct ui_options options;
	struct timeline *tl = fake_timeline();
	struct app *app = app_of(&options, tl);

	app_key(app, 'L');
	app_draw(app);
	int64_t at = asked.want.at_ns;
	g_autofree char *script = story(at);
	app_resize(app, 45, 140);
	answer(app, script, at, at + 60000, true);
	g_assert_cmpint(role_of_text(app, "read(fd 5"), ==, ROLE_KEY);
	g_assert_cmpint(role_of_text(app, "futex("), ==, theme_letter_role('f'));
	g_assert_cmpint(role_of_text(app, "(op"), !=, theme_letter_role('f'));
	g_assert_cmpint(role_of_text(app, "openat("), ==, theme_letter_role('D'));
	g_assert_cmpint(role_of_text(app, "\"/nowhere\""), ==, ROLE_TITLE);
	g_assert_cmpint(role_of_text(app, "-1 ENOENT"), ==, ROLE_ERROR);
	g_assert_cmpint(role_of_text(app, "app:progress"), ==, ROLE_KEYNAME);
	g_assert_cmpint(role_of_text(app, "lost 12"), ==, ROLE_MARKED);
	g_autofree char *text = screen_text(app);
	g_assert_nonnull(strstr(text, "futex(op = FUTEX_WAIT)"));
	g_assert_nonnull(strstr(text, "12.0us read("));
	g_assert_null(strstr(text, "<0.000012000>"));
	app_free(app);
	timeline_free(tl);
}

/* Enter on a file or an event: the log, of its calls or events only; and Tab knows what its lines have. */
static void test_of_row(void)
{
	static const struct { char key; const char *filter; } rows[] = { { '6', "file == \"" }, { '9', "name == \"" } };

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct ui_options options;
		struct timeline *tl = fake_timeline();
		struct app *app = app_of(&options, tl);

		app_key(app, rows[i].key);
		app_draw(app);
		app_key(app, UI_KEY_ENTER);
		app_draw(app);
		g_assert_true(app_place(app)->view == &view_log);
		g_assert_true(g_str_has_prefix(app_place(app)->filter, rows[i].filter));
		g_assert_cmpint(asked.want.ask, ==, ASK_AFTER);
		g_autofree char *script = story(asked.want.at_ns);
		answer(app, script, asked.want.at_ns, asked.want.at_ns + 60000, true);
		app_key(app, 'u');
		app_draw(app);
		g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 7);
		app_key(app, '\\');
		for (const char *key = "error == E\t\r"; *key; key++)
			app_key(app, *key);
		app_draw(app);
		g_assert_cmpstr(app_place(app)->filter, ==, "error == ENOENT");
		g_assert_cmpuint(app_place(app)->rows->rows->len, ==, 1);
		app_free(app);
		timeline_free(tl);
	}
}

/* [ and ] scroll the long texts, as far as the longest of those shown. */
static void test_pan(void)
{
	struct ui_options options;
	struct timeline *tl = fake_timeline();
	struct app *app = app_of(&options, tl);

	app_key(app, 'L');
	app_draw(app);
	int64_t at = asked.want.at_ns;
	g_autofree char *script = story(at);
	answer(app, script, at, at + 60000, true);
	g_autofree char *begin = screen_text(app);
	g_assert_null(strstr(begin, "= 64"));
	app_key(app, ']');
	g_autofree char *right = screen_text(app);
	g_assert_nonnull(strstr(right, "\xe2\x80\xa6ts/big_buck_"));
	g_assert_cmpint(role_of_text(app, "ts/big_buck_"), ==, ROLE_TITLE);
	for (unsigned i = 0; i < 20; i++) {
		app_draw(app);
		app_key(app, ']');
	}
	g_assert_nonnull(strstr(app->message, "ends here"));
	const struct table *t = &nav_top(&app->nav)->table[PANE_MAIN];
	g_assert_cmpuint(t->pan, ==, t->hidden);
	for (unsigned i = 0; i < 30; i++)
		app_key(app, '[');
	g_assert_nonnull(strstr(app->message, "from their beginning"));
	g_clear_pointer(&app->message, g_free);
	g_autofree char *back = screen_text(app);
	g_assert_cmpstr(back, ==, begin);
	app_free(app);
	timeline_free(tl);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/screen-log/screen", test_screen);
	g_test_add_func("/screen-log/hues", test_hues);
	g_test_add_func("/screen-log/pan", test_pan);
	g_test_add_func("/screen-log/of-row", test_of_row);
	g_test_add_func("/screen-log/more", test_more);
	g_test_add_func("/screen-log/none", test_none);
	g_test_add_func("/log/grows", test_grows);
	return g_test_run();
}
