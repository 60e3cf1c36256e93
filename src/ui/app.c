/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen without a terminal: see app.h. */
#include "ui/app.h"

#include "ui/accessible.h"
#include "ui/commands.h"
#include "ui/frame.h"
#include "ui/screen.h"
#include "ui/screen_log.h"
#include "ui/unread.h"
#include "ui/progressive.h"
#include "ui/visits.h"

#include "base/timefmt.h"
#include "views/completion.h"
#include "views/logview.h"

#include <string.h>

#define PLAY_PATIENCE 3		/* seconds that playing waits for a preview */

/* Warnings of blktoprc: the first one is shown in the status line, all are in the messages. */
static void show_warnings(struct app *app)
{
	const GPtrArray *w = app->prefs->warnings;

	for (guint i = 0; i < w->len; i++)
		app_note(app, true, g_ptr_array_index(w, i));
	if (!w->len)
		return;
	g_free(app->message);
	app->message = w->len == 1 ? g_strdup(g_ptr_array_index(w, 0)) :
		g_strdup_printf("%s, and %u more: ! shows them", (char *)g_ptr_array_index(w, 0),
				w->len - 1);
	app->message_is_error = true;
}

struct app *app_new(const struct ui_options *options, const struct ui_backend *backend,
		    struct timeline *tl, bool utf8)
{
	struct app *app = g_new0(struct app, 1);
	g_autoptr(GError) error = NULL;

	app->options = options;
	app->prefs = options->prefs ? options->prefs : prefs_new();
	app->backend = backend;
	app->tl = app->main = tl;
	app->shown_range.from_ns = app->last_event_ns = app->drawn_ns = TIME_UNKNOWN;
	app->theme = app->prefs->theme == THEME_AUTO ? THEME_DARK : app->prefs->theme;
	app->glyphs = glyphs_get(utf8 && !options->ascii && !app->prefs->accessible);
	app->canvas = canvas_new(24, 80);
	app->canvas->ascii_only = !utf8;
	app->canvas->ascii_cut = !app->glyphs->utf8;
	app->messages = messages_new();
	app->coach = options->coach && !app->prefs->accessible;
	app->prompt.history = app->prefs->prompt_history;
	nav_init(&app->nav);
	nav_set_step(&app->nav, app->prefs->step_ns);
	app->nav.mode = options->live ? NAV_FOLLOW : NAV_WORST;
	if (nav_is_step(options->step_ns))
		nav_set_step(&app->nav, options->step_ns);
	if (options->live)
		nav_set_step(&app->nav, MAX(app->nav.step_ns, NS_PER_S));
	if (options->at_ns != TIME_UNKNOWN) {
		app->nav.mode = NAV_PAUSED;
		app->nav.cursor_ns = time_floor(options->at_ns, app->nav.step_ns);
		app->nav.fixed = true;
	}
	app_choose_root(app);
	if (options->filter && !app_filter(app, nav_top(&app->nav), options->filter, &error))
		app_error(app, "%s", error->message);
	app_timeline_changed(app);
	progressive_take(app);
	show_warnings(app);
	return app;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	visits_clear(&app->visits);
	nav_clear(&app->nav);
	progressive_clear(app);
	screen_log_clear(app);
	prompt_clear(&app->prompt);
	popup_close(&app->popup);
	app_unpick(app, -1);
	g_free(app->exporting);
	g_free(app->save_over);
	g_clear_pointer(&app->bookmarked, g_array_unref);
	g_free(app->picture);
	g_free(app->rules);
	canvas_free(app->canvas);
	messages_free(app->messages);
	if (app->prefs != app->options->prefs)
		prefs_free(app->prefs);
	g_free(app->message);
	g_free(app->copy);
	g_free(app);
}

void app_resize(struct app *app, unsigned rows, unsigned cols)
{
	canvas_resize(app->canvas, rows, cols);
}

void app_timeline_changed(struct app *app)
{
	if (app->tl == app->main && !screen_of(nav_top(&app->nav)->view)->detached)
		place_stale(nav_top(&app->nav));
	app_settle(app);
}

void app_second_passed(struct app *app)
{
	progressive_take(app);
	/* Playing waits for a preview, but not forever. */
	if (app->cover.kind == COVER_UNREAD && progressive_decodes(app) &&
	    app->waited++ < PLAY_PATIENCE)
		return;
	app->waited = 0;
	if (nav_play(&app->nav, app->main))
		app_moved(app);
}

/* Searches again after each typed character. */
static void search_along(struct app *app)
{
	struct place *p = app_place(app);
	struct focus f = place_focus(p);

	g_free(p->search);
	p->search = app->prompt.text->len ? g_strdup(app->prompt.text->str) : NULL;
	f.table->cursor = app->search_from;
	table_move(f.table, f.rows, 0);
	if (p->search)
		app_search(app, 1, true);
}

/* Tab in a filter. What rows have is taken without the filter of now. */
static void complete(struct app *app)
{
	struct place *p = app_place(app);
	struct view_query q = place_query(p);
	const struct view *v = place_pane_view(p->view, p->pane);

	nav_range(&app->nav, &q.from_ns, &q.to_ns);
	q.alerts = app->options->alerts;
	struct rows *rows = v == &view_log ? screen_log_rows(app, &q) : v->build(app->tl, &q);
	struct completion c = completion_find(v, rows, app->prompt.text->str, app->prompt.at);
	if (c.with)
		prompt_complete(&app->prompt, c.from, c.with);
	if (c.candidates)
		prompt_set_error(&app->prompt, c.candidates);
	completion_clear(&c);
	rows_free(rows);
}

static void prompt_take_key(struct app *app, int key)
{
	enum prompt_kind kind = app->prompt.kind;

	if (kind == PROMPT_FILTER && keys_find(CTX_PROMPT, key) == CMD_COMPLETE) {
		complete(app);
		return;
	}
	switch (prompt_key(&app->prompt, key)) {
	case PROMPT_EDITING:
		if (kind == PROMPT_SEARCH)
			search_along(app);
		break;
	case PROMPT_CANCELLED:
		if (kind == PROMPT_SEARCH)
			g_clear_pointer(&app_place(app)->search, g_free);
		prompt_close(&app->prompt);
		break;
	case PROMPT_ACCEPTED:
		app_prompt_done(app, app->prompt.text->str);
		break;
	}
}

/* Commands that do not choose anything: after them the screen may still choose view and instant. */
static bool leaves_untouched(enum command_id command)
{
	return command == CMD_HELP || command == CMD_MORE_KEYS || command == CMD_EXPLAIN || command == CMD_VIEW_INFO ||
	       command == CMD_LOG || command == CMD_COACH ||
	       command == CMD_REDRAW || command == CMD_SUSPEND || command == CMD_MOUSE ||
	       command == CMD_WRITE || command == CMD_THEME || command == CMD_SCREENSHOT || command == CMD_SNAPSHOT;
}

static void debug_key(struct app *app, int key, enum command_id command)
{
	char name[16];

	if (!app->backend || !app->backend->debug)
		return;
	g_autofree char *text = g_strdup_printf("key %s in %s: %s", keys_name(key, name),
		app_place(app)->view->id, command == CMD_NONE ? "nothing" : ui_commands[command].name);
	app->backend->debug(app->backend->data, text);
}

static void take_key(struct app *app, int key)
{
	enum command_id command;
	bool more = app->more_keys;
	char name[16];

	app->more_keys = false;
	if (app->prompt.kind != PROMPT_NONE) {
		prompt_take_key(app, key);
		return;
	}
	g_clear_pointer(&app->message, g_free);
	if (popup_is_open(&app->popup) && popup_type(&app->popup, key))
		return;
	command = keys_find(app_context(app), key);
	debug_key(app, key, command);
	/* These only leave the second key bar. */
	if (more && (command == CMD_MORE_KEYS || command == CMD_BACK))
		return;
	if (command == CMD_NONE) {
		if (!popup_is_open(&app->popup))
			app_message(app, "%s does nothing here: ? shows the keys",
				key == UI_KEY_OTHER ? "this key" : keys_name(key, name));
		return;
	}
	if (!leaves_untouched(command))
		app_touch(app);
	app->quits_at_top = key == 'q';
	app_command(app, command);
}

void app_key(struct app *app, int key)
{
	if (key == UI_KEY_NONE || key == UI_KEY_RESIZE)
		return;
	timeline_unload(app->main);
	/* Typed ahead: which columns and how many rows fit is known after a drawing. */
	if (!nav_top(&app->nav)->drawn)
		app_draw(app);
	struct visit *before = visits_begin(app);
	take_key(app, key);
	visits_end(app, before);
}

/* Gets the status, and stores changes of its banner in the messages. */
static void take_status(struct app *app)
{
	g_autofree char *before = g_strdup(app->status.banner);

	if (!app->backend)
		return;
	app->backend->status(app->backend->data, &app->status);
	if (app->status.phase == UI_LOADING && !app->loading_since_us)
		app->loading_since_us = g_get_monotonic_time();
	if (strcmp(before, app->status.banner))
		app_note(app, *app->status.banner != '\0', *app->status.banner ?
			     app->status.banner : "the problem before is over");
}

/* Says why the second is another one than at the last drawing, when all was read. */
static void say_moved(struct app *app)
{
	bool reads = app->nav.reading || app->status.phase == UI_OPENING || app->status.phase == UI_LOADING;

	if (app->moved_alone && !reads && !app->touched) {
		g_autofree char *before = app->message_is_error ? g_steal_pointer(&app->message) : NULL;

		const char *what = overview_worst_what(app->main);
		app_message(app, "all read; shown: the second with %s; b end: the last one", what ? what : "-");
		if (before) {		/* an error is worth more */
			g_free(app->message);
			app->message = g_steal_pointer(&before);
			app->message_is_error = true;
		}
	}
	app->moved_alone = app->moved_alone && reads && !app->touched;
	app->drawn_ns = app->nav.cursor_ns;
}

bool app_too_small(struct canvas *c)
{
	if (c->rows >= APP_MIN_ROWS && c->cols >= APP_MIN_COLS)
		return false;
	canvas_clear(c);
	g_autofree char *need = g_strdup_printf("need %dx%d", APP_MIN_COLS, APP_MIN_ROWS);
	g_autofree char *text = g_strdup_printf("too small, %s", need);
	canvas_put(c, 0, 0, c->cols, ROLE_TEXT, strlen(text) > c->cols ? need : text);
	return true;
}

static void draw_screen(struct app *app, struct place *p)
{
	screen_of(p->view)->draw(app, p, frame_body(app));	/* it also asks for what is missing */
	if (app->prefs->accessible)
		accessible_draw(app, p, frame_body(app));
}

void app_draw(struct app *app)
{
	struct canvas *c = app->canvas;
	struct place *p;

	canvas_clear(c);
	app->cursor_y = app->cursor_x = 0;
	app->cursor_shown = false;
	if (app_too_small(c))
		return;
	take_status(app);
	say_moved(app);
	if (popup_is_open(&app->popup)) {
		app_refresh_messages(app);
		app->cursor_y = popup_draw(&app->popup, c, app->glyphs);
		if (!app->prefs->accessible)
			bar_draw(c, c->rows - 1, app_context(app), false);
		return;
	}
	progressive_show_range(app);
	p = app_place(app);
	if (app->cover.kind == COVER_UNREAD)
		unread_draw(app, p, frame_body(app));
	else if (!frame_page(app, frame_body(app)))
		draw_screen(app, p);
	frame_draw(app, p);
	p->drawn = true;
	if (app->explain_below) {
		app->explain_below = false;
		app_command(app, CMD_EXPLAIN);
		if (popup_is_open(&app->popup))
			app_draw(app);
	}
}
