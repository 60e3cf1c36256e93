/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen without a terminal: state, building rows, keys, drawing. See app.h. */
#include "ui/screen_log.h"
#include "ui/app.h"

#include "base/timefmt.h"

#include <string.h>

#define PLAY_PATIENCE 3		/* seconds */
#define GONE_NS (5 * NS_PER_S)	/* so long is shown what has exited */

/* Into the messages and the journal, without the status line. */
static void keep_message(struct app *app, bool error, const char *text)
{
	messages_add(app->messages, g_get_real_time() * 1000, error, text);
	if (app->backend && app->backend->note)
		app->backend->note(app->backend->data, text);
}

static GPtrArray *message_lines(struct app *app)
{
	app->messages_shown = messages_version(app->messages);
	return messages_lines(app->messages, app->canvas->cols - 1);
}

void app_show_messages(struct app *app)
{
	popup_open(&app->popup, "Messages", message_lines(app), false);
	app->popup.is_log = true;
	popup_command(&app->popup, CMD_BOTTOM);
}

static void set_message(struct app *app, const char *format, va_list ap, bool error)
{
	g_free(app->message);
	app->message = g_strdup_vprintf(format, ap);
	app->message_is_error = error;
	keep_message(app, error, app->message);
}

void app_say(struct app *app, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_message(app, format, ap, false);
	va_end(ap);
}

void app_error(struct app *app, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_message(app, format, ap, true);
	va_end(ap);
}

const struct screen *screen_of(const struct view *view)
{
	switch (view->kind) {
	case VIEW_OVERVIEW:
		return &screen_overview;
	case VIEW_WATERFALL:
		return &screen_waterfall;
	case VIEW_PROCESS:
		return &screen_process;
	default:
		if (view == &view_log)
			return &screen_log;
		return strcmp(view->id, "phases") ? &screen_table : &screen_phases;
	}
}

enum context app_context(const struct app *app)
{
	return popup_is_open(&app->popup) ? (app->chooser ? CTX_CHOOSER : CTX_POPUP) :
		screen_of(nav_top(&app->nav)->view)->context;
}

static bool any_spans(const struct app *app)
{
	return timeline_has_spans(app->main) || (app->preview && timeline_has_spans(app->preview));
}

/* Spans first; a trace that tells neither what runs nor what it calls has its events to show. */
const char *app_automatic_view(const struct app *app)
{
	const unsigned both = LACKS_SWITCHES | LACKS_CALLS;
	bool loaded = timeline_n_seconds(app->main) || !app->preview;
	const struct timeline *tl = loaded ? app->main : app->preview;

	if (any_spans(app) || !timeline_n_seconds(tl))
		return "overview";
	return (view_lacking(tl) & both) == both ? "events" : "processes";
}

/* The first screen, until the user has touched anything. */
static void choose_root(struct app *app)
{
	const struct view_query all = VIEW_QUERY_INIT;
	const char *id = app->options->start_view;
	const struct view *view = NULL;

	/* A view that the user has chosen for good, where it has something to show. */
	if (!id && app->prefs->view)
		id = app->prefs->view;
	if (!id)
		id = app_automatic_view(app);
	view = view_find(id);
	if (!view)
		view = view_all[0];
	if (nav_top(&app->nav) && nav_top(&app->nav)->view == view)
		return;
	nav_reset(&app->nav, place_new(view, &all, ""));
	for (enum view_by by = 0; app->options->start_by && by < BY_N; by++)
		if (g_str_equal(app->options->start_by, view_by_words[by]) && view_has_by(view, by))
			nav_top(&app->nav)->narrow.by = by;
}

/* Of the settings: the status line tells the first, ! all. */
static void say_warnings(struct app *app)
{
	const GPtrArray *w = app->prefs->warnings;

	for (guint i = 0; i < w->len; i++)
		keep_message(app, true, g_ptr_array_index(w, i));
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
	app->look.from_ns = app->last_event_ns = TIME_UNKNOWN;
	app->glyphs = glyphs_get(utf8 && !options->ascii);
	app->canvas = canvas_new(24, 80);
	app->canvas->ascii_only = !utf8;
	app->messages = messages_new();
	app->coach = options->coach;
	app->prompt.recall = app->prefs->recall;
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
	choose_root(app);
	if (options->filter && !app_filter(app, nav_top(&app->nav), options->filter, &error))
		app_error(app, "%s", error->message);
	app_timeline_changed(app);
	whole_take(app);
	say_warnings(app);
	return app;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	nav_clear(&app->nav);
	whole_clear(app);
	screen_log_clear(app);
	prompt_clear(&app->prompt);
	popup_close(&app->popup);
	chooser_free(app);
	g_free(app->save_over);
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
	if (app->tl == app->main)
		place_stale(nav_top(&app->nav));
	app_settle(app);
}

void app_settle(struct app *app)
{
	if (!app->touched && app->nav.stack->len == 1 && !app->options->filter)
		choose_root(app);
	nav_tick(&app->nav, app->main);
}

void app_second_passed(struct app *app)
{
	whole_take(app);
	/* What is read out of turn may take a moment: playing waits for it, not for ever. */
	if (app->cover.kind == COVER_UNREAD && whole_decodes(app) &&
	    app->waited++ < PLAY_PATIENCE)
		return;
	app->waited = 0;
	if (nav_play(&app->nav, app->main))
		app_moved(app);
}

void app_moved(struct app *app)
{
	place_stale(nav_top(&app->nav));
}

void app_pause(struct app *app)
{
	if (app->nav.mode != NAV_PAUSED)
		app->nav.mode = NAV_PAUSED;
	app->nav.fixed = false;
}

/* A host of another timeline has another id here, or none yet. */
static uint32_t find_host(const struct timeline *tl, const char *name)
{
	for (uint32_t i = 0; i < timeline_n_hosts(tl); i++) {
		const struct host_info *host = timeline_host(tl, i);

		if (host && !g_strcmp0(host->name, name))
			return i;
	}
	return ID_NONE - 1;
}

static void build(struct app *app, struct place *p)
{
	struct view_query q;

	if (p->host)
		p->narrow.host = find_host(app->tl, p->host);
	q = place_query(p);
	nav_range(&app->nav, &q.from_ns, &q.to_ns);
	q.gone_ns = GONE_NS;
	p->rows = p->view->build(app->tl, &q);
	p->version = timeline_version(app->tl);
	p->from_ns = q.from_ns;
	p->to_ns = q.to_ns;
	screen_of(p->view)->prepare(app, p);
}

/* By itself, as the trace became known. */
static bool range_moved(const struct app *app, const struct place *p)
{
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	return from != p->from_ns || to != p->to_ns;
}

struct place *app_place(struct app *app)
{
	struct place *p = nav_top(&app->nav);

	whole_choose(app, p);
	if (p->rows && (p->version != timeline_version(app->tl) || range_moved(app, p)))
		place_stale(p);
	if (!p->rows)
		build(app, p);
	return p;
}

/* The trace looked at stays in memory. */
static void pin(struct app *app)
{
	for (guint i = app->nav.stack->len; i-- > 0;) {
		const struct place *p = g_ptr_array_index(app->nav.stack, i);

		if (p->narrow.trace_id) {
			timeline_pin(app->main, p->narrow.trace_id);
			return;
		}
	}
	timeline_pin(app->main, 0);
}

void app_open(struct app *app, struct place *p)
{
	const struct place *top = nav_top(&app->nav);
	const struct host_info *host = timeline_host(app->tl, p->narrow.host);

	if (host)
		p->host = g_strdup(host->name);
	else if (top && top->narrow.host == p->narrow.host)
		p->host = g_strdup(top->host);
	nav_push(&app->nav, p);
	pin(app);
}

void app_back(struct app *app)
{
	nav_pop(&app->nav);
	pin(app);
}

bool app_filter(struct app *app, struct place *p, const char *text, GError **error)
{
	int n = (int)place_n_panes(p->view);
	struct expr *expr[PANE_N] = { NULL };
	g_autoptr(GError) first = NULL;
	bool any = false;

	for (int i = 0; i < n && text && *text; i++) {
		expr[i] = view_expr(place_pane_view(p->view, (enum pane)i), text,
				    first ? NULL : &first);
		any = any || expr[i];
	}
	if (text && *text && !any) {
		g_propagate_error(error, g_steal_pointer(&first));
		return false;
	}
	g_free(p->filter);
	p->filter = any ? g_strdup(text) : NULL;
	for (int i = 0; i < PANE_N; i++) {
		expr_free(p->expr[i]);
		p->expr[i] = expr[i];
	}
	place_stale(p);
	return true;
}

/* A search follows the typing. */
static void search_along(struct app *app)
{
	struct place *p = app_place(app);
	struct focus f = place_focus(p);

	g_free(p->search);
	p->search = app->prompt.text->len ? g_strdup(app->prompt.text->str) : NULL;
	table_select(f.table, f.rows, app->search_from);
	if (p->search)
		app_search(app, 1, true);
}

static void prompt_take_key(struct app *app, int key)
{
	enum prompt_kind kind = app->prompt.kind;

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

void app_touch(struct app *app)
{
	if (app->touched)
		return;
	app->touched = true;
	if (app->nav.mode == NAV_WORST)
		app->nav.mode = NAV_PAUSED;
}

/* Commands after which the screen may still choose by itself where it opens. */
static bool leaves_untouched(enum command_id command)
{
	return command == CMD_HELP || command == CMD_FACTS || command == CMD_LOG ||
	       command == CMD_COACH ||
	       command == CMD_REDRAW || command == CMD_SUSPEND || command == CMD_MOUSE ||
	       command == CMD_WRITE || command == CMD_SNAPSHOT;
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

void app_key(struct app *app, int key)
{
	enum command_id command;
	char name[16];

	if (key == UI_KEY_NONE || key == UI_KEY_RESIZE)
		return;
	if (app->prompt.kind != PROMPT_NONE) {
		prompt_take_key(app, key);
		return;
	}
	g_clear_pointer(&app->message, g_free);
	command = keys_find(app_context(app), key);
	debug_key(app, key, command);
	if (command == CMD_NONE) {
		if (!popup_is_open(&app->popup))
			app_say(app, "%s does nothing here: ? shows the keys",
				key == UI_KEY_OTHER ? "this key" : keys_name(key, name));
		return;
	}
	if (!leaves_untouched(command))
		app_touch(app);
	/* q and Esc are one command, but only q leaves the program. */
	if (command == CMD_BACK && key == 'q' && app->nav.stack->len == 1 &&
	    !popup_is_open(&app->popup))
		command = CMD_QUIT;
	app_command(app, command);
}

struct table_style app_table_style(const struct app *app, bool active)
{
	return (struct table_style){ .glyphs = app->glyphs, .match = nav_top(&app->nav)->search, .active = active,
				     .soft = app->cover.kind == COVER_SOFT };
}

/* What it says of the source stays readable when it has passed. */
static void take_status(struct app *app)
{
	g_autofree char *before = g_strdup(app->status.banner);

	if (!app->backend)
		return;
	app->backend->status(app->backend->data, &app->status);
	if (strcmp(before, app->status.banner))
		keep_message(app, *app->status.banner != '\0', *app->status.banner ?
			     app->status.banner : "over: what the banner said before");
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
	if (popup_is_open(&app->popup)) {
		if (app->popup.is_log && app->messages_shown != messages_version(app->messages))
			popup_replace(&app->popup, message_lines(app));
		app->cursor_y = popup_draw(&app->popup, c, app->glyphs);
		bar_draw(c, c->rows - 1, app_context(app), false);
		return;
	}
	whole_look(app);
	p = app_place(app);
	if (app->cover.kind == COVER_UNREAD)
		unread_draw(app, p, frame_body(app));
	else
		screen_of(p->view)->draw(app, p, frame_body(app));
	frame_draw(app, p);
}
