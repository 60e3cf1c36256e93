/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of what the screen holds and reads. */
#include "base/limits.h"
#include "lib/sources.h"
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/limit_test.h"
#include "trace/reader.h"
#include "ui/app.h"
#include "ui/background.h"
#include "ui/screen.h"
#include "ui/messages.h"
#include "ui/rc.h"
#include "ui/prompt_history.h"
#include "ui/screen_log.h"
#include "views/bookmarks.h"

#include <string.h>

static bool settings_warnings(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("[blktop]\n");
	struct prefs *p = prefs_new();

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "nonsense%u=1\n", i);
	rc_read(p, "rc", text->str, text->len);
	bool each = p->warnings->len == n && !strstr(p->warnings->pdata[n - 1], "and more that is not understood");
	g_assert_true(each || strstr(p->warnings->pdata[p->warnings->len - 1], "and more that is not understood"));
	prefs_free(p);
	return each;
}

static bool typed_lines(uint64_t n)
{
	struct prompt_history *r = prompt_history_new();
	char line[32];

	for (unsigned i = 0; i < n; i++) {
		g_snprintf(line, sizeof line, "line %u", i);
		prompt_history_add(r, "filter", line);
	}
	const char *oldest = prompt_history_get(r, "filter", n - 1);
	bool all = oldest && g_str_equal(oldest, "line 0");
	g_assert_nonnull(prompt_history_get(r, "filter", LIMIT_TYPED_LINES - 1));
	g_assert_null(prompt_history_get(r, "filter", LIMIT_TYPED_LINES));
	prompt_history_free(r);
	return all;
}

static bool typed_bytes(uint64_t n)
{
	g_autofree char *line = g_strnfill(n, 'x'), *text = g_strconcat("filter\t", line, "\n", NULL);
	struct prompt_history *r = prompt_history_new();

	prompt_history_read(r, text, strlen(text));
	const char *read = prompt_history_get(r, "filter", 0);
	bool taken = read && g_str_equal(read, line);
	g_assert_true(taken || !read);
	prompt_history_free(r);
	return taken;
}

static bool messages(uint64_t n)
{
	struct messages *m = messages_new();
	char text[32];

	for (unsigned i = 0; i < n; i++) {
		g_snprintf(text, sizeof text, "message %u.", i);
		messages_add(m, i, false, text);
	}
	g_autoptr(GPtrArray) lines = messages_lines(m, 80);
	bool all = strstr(lines->pdata[0], "message 0.");
	g_assert_true(all || strstr(lines->pdata[0], "--log FILE stores all"));
	messages_free(m);
	return all;
}

static struct calllog_window *ready;
static struct calllog_want wanted;

static void log_ask(void *data, const struct calllog_want *want)
{
	wanted = *want;
}

static struct calllog_window *log_take(void *data)
{
	return g_steal_pointer(&ready);
}

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = UI_DONE, .progress = 1, .lag_ns = -1, .final_to_ns = INT64_MAX };
}

static const struct ui_backend backend = { .status = status, .log_ask = log_ask, .log_take = log_take };

static void keep_line(void *data, struct calllog_line *l)
{
	g_ptr_array_add(data, l);
}

/* n events at `from` and after, one a nanosecond. */
static struct calllog_window *window_of(int64_t from, uint64_t n)
{
	g_autoptr(GString) script = g_string_new(NULL);
	size_t n_rows;
	const struct blk_subscription *rows = calllog_subscriptions(&n_rows);
	const struct calllog_options o = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct calllog_window *w = calllog_window_new(&wanted);
	struct calllog *j = calllog_new(&o, keep_line, w->lines);
	struct blk_batch b;

	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 u:app:progress percent=5\n", from + (int64_t)i);
	struct source *source = source_open_script(script->str, rows, n_rows, NULL);
	while (source_next(source, &b, NULL) == SOURCE_OK)
		calllog_feed(j, &source->tables, b.ev, b.n);
	calllog_finish(j);
	w->from_ns = from;
	w->to_ns = from + (int64_t)n;
	w->at_begin = w->at_end = w->names = true;
	calllog_free(j);
	source_free(source);
	return w;
}

static bool log_lines(uint64_t n)
{
	const struct ui_options options = { .at_ns = TIME_UNKNOWN };
	struct timeline *tl = fake_timeline();
	struct app *app = app_new(&options, &backend, tl, true);

	app_resize(app, 24, 80);
	app_draw(app);
	app_key(app, 'L');
	app_draw(app);
	ready = window_of(wanted.at_ns, n);
	screen_log_take(app);
	app_draw(app);
	guint held = app_place(app)->rows->rows->len;
	g_assert_cmpuint(held, <=, LIMIT_LOG_LINES);
	app_free(app);
	timeline_free(tl);
	return held == n;
}

/* Copies two tagged rows, the name of one of which has so many bytes. Returns how long the copy is. */
static size_t copy_two(size_t name_bytes, bool *ret_both)
{
	const struct ui_options options = { .at_ns = TIME_UNKNOWN, .start_view = "events" };
	struct fake *f = fake_new();
	g_autofree char *name = g_strnfill(name_bytes, 'x');
	struct second *s = fake_second(f, 0);

	fake_event(s, 0, fake_string(f, "a"), 9);
	fake_event(s, 0, fake_string(f, name), 3);
	struct timeline *tl = fake_done(f);
	struct app *app = app_new(&options, &backend, tl, true);
	app_resize(app, 24, 80);
	app_draw(app);
	for (int i = 0; i < 2; i++)
		app_key(app, ' ');
	app_key(app, 'y');
	app_draw(app);
	g_autofree char *screen = canvas_dump(app->canvas);
	*ret_both = strstr(screen, "copied: 2 of 2 tagged rows");
	g_assert_true(*ret_both || strstr(screen, "copied: 1 of 2 tagged rows"));
	size_t len = strlen(app->copy);
	app_free(app);
	timeline_free(tl);
	return len;
}

static bool copy_bytes(uint64_t n)
{
	const size_t few = 100;
	bool both;
	size_t rest = copy_two(few, &both) - few;

	g_assert_true(both);
	size_t len = copy_two(n - rest, &both);
	g_assert_true(!both || len == n);
	return both;
}

/* Answers that are too long are ignored, also if they begin as a valid one. */
static bool terminal_answer_bytes(uint64_t n)
{
	static const char head[] = "11;#";
	g_autofree char *digits = g_strnfill(n - strlen(head), 'f'), *text = g_strconcat(head, digits, NULL);
	struct background b = { 0 };

	background_asked(&b);
	g_assert_true(background_begins(&b, 0, ']'));
	for (const char *c = text; *c; c++)
		g_assert_cmpint(background_take(&b, *c), ==, BACKGROUND_MINE);
	bool all = g_str_equal(b.text, text);
	g_assert_cmpuint(strlen(b.text), <=, LIMIT_TERMINAL_ANSWER_BYTES);
	g_assert_cmpint(background_take(&b, 7), ==, BACKGROUND_MINE);
	g_assert_cmpint(b.color, ==, BACKGROUND_UNKNOWN);
	return all;
}

static bool bookmarks(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("blktop bookmarks 1\n");
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) added = bookmarks_parse("", "", 0, NULL);
	bool adds = true;

	for (uint64_t i = 0; i < n; i++) {
		struct bookmark *b = bookmark_new(view_find("files"));

		g_string_append_printf(text, "at=%" G_GUINT64_FORMAT "\tstep=1\tview=files\n", i);
		b->at_ns = (int64_t)i;
		adds = bookmarks_add(added, b) && adds;
	}
	g_autoptr(GPtrArray) all = bookmarks_parse("file", text->str, text->len, &error);
	g_assert_true(limit_taken(error, "more than") == adds);
	g_assert_cmpuint(added->len, <=, LIMIT_BOOKMARKS);
	return adds;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "settings-warnings", settings_warnings, 0 }, { "typed-lines", typed_lines, 0 },
		{ "bookmarks", bookmarks, 0 },
		{ "typed-bytes", typed_bytes, 0 }, { "messages", messages, 0 }, { "log-lines", log_lines, 0 },
		{ "copy-bytes", copy_bytes, 0 }, { "terminal-answer-bytes", terminal_answer_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
