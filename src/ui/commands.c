/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of all screens: see commands.h. */
#include "ui/commands.h"

#include "ui/bookmark.h"
#include "ui/chooser.h"
#include "ui/compare.h"
#include "ui/view_info.h"
#include "ui/explain.h"
#include "ui/help.h"
#include "ui/metric_of.h"
#include "ui/export_picker.h"
#include "ui/goto_view.h"
#include "ui/output.h"
#include "ui/screen.h"
#include "ui/screen_log.h"
#include "ui/screen_flame.h"
#include "ui/screen_timeline.h"
#include "ui/tables.h"
#include "ui/progressive.h"
#include "ui/visits.h"

#include "base/fail.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

typedef void (*handler)(struct app *app, struct place *p, enum command_id command);

static void popup_do(struct app *app, enum command_id command)
{
	enum popup_result result = popup_command(&app->popup, command);
	size_t line = popup_picked(&app->popup);

	if (result == POPUP_STAYS)
		return;
	popup_close(&app->popup);
	app_unpick(app, result == POPUP_PICKED ? (long)line : -1);
}

/* The way back and forth. */
static void do_visit(struct app *app, struct place *p, enum command_id command)
{
	int direction = command == CMD_GO_BACK ? -1 : 1;
	char clock[TIMEFMT_LEN];

	if (!visits_go(app, direction))
		app_message(app, direction < 0 ? "no place before this one" : "no place after this one");
	else if (app->nav.cursor_ns != TIME_UNKNOWN)
		app_message(app, "%s to %s, %s", direction < 0 ? "back" : "forth", nav_top(&app->nav)->view->title,
			    timefmt_clock(clock, app->nav.cursor_ns));
}

static void do_drill(struct app *app, struct place *p, enum command_id command)
{
	if (!screen_timeline_open_wait(app, p))
		goto_view_command(app, p, command);
}

static void do_back(struct app *app, struct place *p, enum command_id command)
{
	if (!nav_is_top(&app->nav)) {
		app_back(app);
	} else if (app->quits_at_top) {
		app->quit = true;
	} else if (app->status.phase == UI_OPENING || app->status.phase == UI_LOADING) {
		if (app->backend)
			app->backend->cancel(app->backend->data);
		app_message(app, "loading stopped: what was read stays");
	} else if (p->search) {
		g_clear_pointer(&p->search, g_free);
		app_message(app, "search cleared");
	} else {
		app_message(app, "this is the top: q quits");
	}
}

/* Time. */

static void do_time(struct app *app, struct place *p, enum command_id command)
{
	int by = command == CMD_TIME_BACK ? -1 : command == CMD_TIME_FORWARD ? 1 :
		command == CMD_TIME_BACK_10 ? -10 : 10;
	char clock[TIMEFMT_LEN];

	app_pause(app);
	if (app->nav.cursor_ns == TIME_UNKNOWN) {
		app_message(app, "nothing is read yet");
		return;
	}
	app->visits.stepped = true;
	if (!nav_step(&app->nav, app->main, by))
		app_message(app, nav_has_whole_range(&app->nav) ?
			    (by < 0 ? "the range begins with the trace: R clears it" :
			     "the range ends with the trace: R clears it") :
			    by < 0 ? "this is the first second" : "this is the newest second");
	else if (p->view->kind == VIEW_WATERFALL)
		app_message(app, "at %s; the screen still shows this trace",
			timefmt_clock(clock, app->nav.cursor_ns));
	app_moved(app);
}

static void do_pause(struct app *app, struct place *p, enum command_id command)
{
	bool moving = app->nav.mode == NAV_FOLLOW || app->nav.mode == NAV_PLAY;

	app->nav.fixed = false;
	if (moving)
		app->nav.mode = NAV_PAUSED;
	else if (app->status.phase == UI_LIVE && app->nav.step_ns >= NS_PER_S)
		app->nav.mode = NAV_FOLLOW;
	else
		app->nav.mode = NAV_PLAY;
	app_message(app, moving ? "paused: p continues" : app->nav.mode == NAV_FOLLOW ?
		"following the newest second" : "playing one step a second: p pauses");
	nav_tick(&app->nav, app->main);
	app_moved(app);
}

static void do_follow(struct app *app, struct place *p, enum command_id command)
{
	app->nav.mode = NAV_FOLLOW;
	app->nav.fixed = false;
	app->nav.a_ns = app->nav.b_ns = TIME_UNKNOWN;	/* a range does not follow */
	nav_tick(&app->nav, app->main);
	app_message(app, "following the newest second");
	app_moved(app);
}

static void do_step_size(struct app *app, struct place *p, enum command_id command)
{
	bool finer = command == CMD_STEP_FINER;

	bool decodes = progressive_decodes(app);

	app->visits.stepped = true;
	if (finer && decodes && app->nav.mode == NAV_FOLLOW && app->nav.step_ns <= NS_PER_S)
		app_pause(app);		/* the newest step is not over, and cannot be decoded */
	if (!nav_change_step(&app->nav, app->main, finer ? -1 : 1, decodes ? NS_PER_MS : NS_PER_S))
		app_message(app, !finer ? "10 minutes is the coarsest step" : decodes ?
			"1 ms is the finest step" : app->options->watched ?
			"1 s is the finest step: a directory is watched" : app->options->live ?
			"1 s is the finest step: no packets of this session are stored (--no-spool, or see !)" :
			"1 s is the finest step here: finer steps need a recorded trace and the native reader");
	app_moved(app);
}

static void do_range(struct app *app, struct place *p, enum command_id command)
{
	struct nav *nav = &app->nav;

	if (nav->cursor_ns == TIME_UNKNOWN)
		return;
	app_pause(app);
	if (command == CMD_RANGE_A) {
		nav_set_end(nav, false, nav->cursor_ns);
		app_message(app, "the range begins here: move, then B ends it; R clears it");
	} else if (command == CMD_RANGE_B) {
		nav_set_end(nav, true, nav->cursor_ns + nav->step_ns);
		app_message(app, "the range ends with this second; R clears it");
	} else if (command == CMD_RANGE_ALL) {
		nav_show_all(nav, app->main);
		app_message(app, "the range is the whole trace; R clears it");
	} else {
		nav->a_ns = nav->b_ns = TIME_UNKNOWN;
		app_message(app, "no range: one step is shown");
	}
	app_moved(app);
}

static bool goto_text(struct app *app, const char *text, GError **error)
{
	int64_t first = 0, last = 0, at, here = app->nav.cursor_ns;
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	g_autofree char *choice = NULL;

	if (!*text)
		return true;
	if (nav_has_whole_range(&app->nav))
		here = app->nav.a_ns;
	if (!nav_bounds(&app->nav, app->main, &first, &last))
		return fail(error, BLK_EXPR_ERROR, 0, "nothing is read yet");
	const struct time_scope scope = { here == TIME_UNKNOWN ? first : here, first, last, INT64_MIN };
	int64_t range_from, range_to;

	nav_range(&app->nav, &range_from, &range_to);
	if (!strcmp(text, "worst"))
		at = overview_worst_second(app->main);
	else if (!strcmp(text, "since"))
		at = overview_since(app->main, range_from, range_to, NULL);
	else if (!timefmt_parse_instant(text, &scope, &at, &choice, error))
		return false;
	if (at == TIME_UNKNOWN) {
		app_message(app, !strcmp(text, "since") ? "no request is slower than usual here: n finds the next" :
			    "nothing is read yet");
		return true;
	}
	app_go_to(app, at);
	if (choice)
		app_message(app, "%s", choice);
	else if (at < time_floor(first, NS_PER_S) || at > last)
		app_message(app, "%s is outside the trace: moved to its nearest second", text);
	else if (!app->message && here != TIME_UNKNOWN && (*text == '+' || *text == '-'))
		app_message(app, "%s: %s from %s", timefmt_clock(to, app->nav.cursor_ns), text,
			    timefmt_clock(from, here));
	return true;
}

/* Find. */

void app_search(struct app *app, int direction, bool from_here)
{
	struct place *p = app_place(app);
	g_assert(p->search);
	enum pane panes = (enum pane)place_n_panes(p->view), pane = p->pane;
	struct focus f = place_focus(p);
	long at = (long)f.table->cursor + (from_here ? 0 : direction);

	for (unsigned tried = 0; tried <= panes; tried++) {
		at = table_find(f.table, f.view, f.rows, at, direction, p->search);
		if (at >= 0) {
			p->pane = pane;
			table_select(f.table, f.rows, (size_t)at);
			return;
		}
		pane = (enum pane)(((int)pane + direction + (int)panes) % (int)panes);
		f = place_pane(p, pane);
		at = direction > 0 ? 0 : (long)f.rows->rows->len - 1;
	}
	app_error(app, "no row holds '%s'", p->search);
}

static void do_next(struct app *app, struct place *p, enum command_id command)
{
	int direction = command == CMD_NEXT ? 1 : -1;
	int64_t at;

	if (p->search) {
		app_search(app, direction, false);
		return;
	}
	if (app->nav.cursor_ns == TIME_UNKNOWN)
		return;
	at = overview_next_outlier(app->main, app->nav.cursor_ns, direction);
	if (at == TIME_UNKNOWN) {
		app_message(app, app->nav.reading ? "no other cause in what is read so far" :
			overview_next_outlier(app->main, app->nav.cursor_ns, -direction) ==
			TIME_UNKNOWN ? "no second with another cause stands out" :
			direction > 0 ? "no other cause later: N goes back" :
			"no other cause before: n goes to the next");
		return;
	}
	app_go_to(app, at);
	if (p->view->kind == VIEW_OVERVIEW) {
		p->pane = PANE_CAUSES;
		p->table[PANE_CAUSES].bound = false;
		p->table[PANE_CAUSES].cursor = 0;
	}
}

static void do_error(struct app *app, struct place *p, enum command_id command)
{
	long by = command == CMD_ERROR_NEXT ? 1 : -1;
	struct focus f = place_focus(p);
	long at = (long)f.table->cursor + by;

	for (; at >= 0 && at < (long)f.rows->rows->len; at += by) {
		const struct row *row = g_ptr_array_index(f.rows->rows, at);

		if (row->marked) {
			table_select(f.table, f.rows, (size_t)at);
			return;
		}
	}
	app_message(app, by > 0 ? "no marked row below" : "no marked row above");
}

static void do_prompt(struct app *app, struct place *p, enum command_id command)
{
	switch (command) {
	case CMD_SEARCH:
		app->search_from = place_focus(p).table->cursor;
		prompt_open(&app->prompt, PROMPT_SEARCH, NULL);
		break;
	case CMD_FILTER:
		prompt_open(&app->prompt, PROMPT_FILTER, p->filter);
		break;
	default:
		prompt_open(&app->prompt, PROMPT_GOTO, NULL);
	}
}

/* Move. */

static void do_move(struct app *app, struct place *p, enum command_id command)
{
	struct focus f = place_focus(p);

	table_move(f.table, f.rows, keys_rows(command, f.table->page, f.rows->rows->len));
}

/* Program. */

static void do_help(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *title = g_strdup_printf("Help: %s", p->view->title);

	popup_open(&app->popup, title, help_lines(p->view, app_context(app), app->canvas->cols),
		   false);
}

static void do_more_keys(struct app *app, struct place *p, enum command_id command)
{
	app->more_keys = true;
}

static void do_log(struct app *app, struct place *p, enum command_id command)
{
	app_show_messages(app);
}

static void do_program(struct app *app, struct place *p, enum command_id command)
{
	if (command == CMD_QUIT)
		app->quit = true;
	else
		app->requests |= command == CMD_REDRAW ? APP_REDRAW : APP_SUSPEND;
}

/* Settings. */

static void do_mouse(struct app *app, struct place *p, enum command_id command)
{
	app->prefs->mouse = !app->prefs->mouse;
	app->requests |= APP_MOUSE;
	app_message(app, app->prefs->mouse ?
		"mouse on: wheel, rows, headers, strip, path and keys can be clicked" :
		"mouse off: the terminal selects text to copy");
}

static void do_theme(struct app *app, struct place *p, enum command_id command)
{
	if (app->no_colors) {
		app_error(app, "no colours: by NO_COLOR, --color never, or since the terminal has none");
		return;
	}
	app->theme = app->theme == THEME_DARK ? THEME_LIGHT : app->theme == THEME_LIGHT ? THEME_MONO : THEME_DARK;
	app->prefs->theme = app->theme;
	app->requests |= APP_THEME;
	app_message(app, "theme %s: F8 shows the next, W stores it", theme_ids[app->theme]);
}

/* Stores the first view if it differs from the automatic one. */
static void store_view(struct app *app)
{
	const struct place *root = g_ptr_array_index(app->nav.stack, 0);

	g_free(app->prefs->view);
	app->prefs->view = strcmp(root->view->id, app_automatic_view(app)) ? g_strdup(root->view->id) : NULL;
}

static void do_write(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *message = NULL;

	if (!app->backend || !app->backend->save_prefs) {
		app_error(app, "cannot write the settings: not available here");
		return;
	}
	store_view(app);
	app->prefs->step_ns = app->nav.step_ns;
	if (app->backend->save_prefs(app->backend->data, &message))
		app_message(app, "%s", message ? message : "settings written");
	else
		app_error(app, "%s", message ? message : "cannot write the settings");
}

static void do_coach(struct app *app, struct place *p, enum command_id command)
{
	app->coach = !app->coach;
	if (!app->coach)
		app_message(app, "hints off: x shows them");
}

static void do_explain(struct app *app, struct place *p, enum command_id command)
{
	explain_selected(app, p, screen_of(p->view)->explain);
}

static const handler handlers[CMD_N] = {
	[CMD_VIEW_1] = goto_view_command, [CMD_VIEW_2] = goto_view_command, [CMD_VIEW_3] = goto_view_command,
	[CMD_VIEW_4] = goto_view_command, [CMD_VIEW_5] = goto_view_command, [CMD_VIEW_6] = goto_view_command,
	[CMD_VIEW_7] = goto_view_command, [CMD_VIEW_8] = goto_view_command, [CMD_VIEW_9] = goto_view_command,
	[CMD_PATH] = goto_view_command, [CMD_VIEW_LIST] = goto_view_command, [CMD_VIEW_LOG] = screen_log_open,
	[CMD_WAKER] = goto_view_command,
	[CMD_VIEW_TIMELINE] = screen_timeline_open, [CMD_VIEW_FLAME] = screen_flame_open,
	[CMD_VIEW_NEXT] = goto_view_command, [CMD_VIEW_PREV] = goto_view_command,
	[CMD_DRILL] = do_drill, [CMD_BACK] = do_back, [CMD_GO_BACK] = do_visit, [CMD_GO_FORTH] = do_visit,
	[CMD_COMPARE] = compare_command, [CMD_CHANGED] = compare_command,
	[CMD_HEATMAP] = metric_of_command, [CMD_DISTRIBUTION] = metric_of_command,
	[CMD_BOOKMARK] = bookmark_command, [CMD_BOOKMARKS] = bookmark_command,
	[CMD_EXPORT] = export_picker_command, [CMD_EXPORT_AS] = export_picker_command, [CMD_COPY] = output_copy,
	[CMD_SCREENSHOT] = output_screenshot, [CMD_THEME] = do_theme,
	[CMD_SAVE] = output_save, [CMD_SAVE_TRACE] = output_save_trace,
	[CMD_TIME_BACK] = do_time, [CMD_TIME_FORWARD] = do_time,
	[CMD_TIME_BACK_10] = do_time, [CMD_TIME_FORWARD_10] = do_time, [CMD_GOTO] = do_prompt,
	[CMD_PAUSE] = do_pause, [CMD_FOLLOW] = do_follow, [CMD_STEP_FINER] = do_step_size,
	[CMD_STEP_COARSER] = do_step_size, [CMD_RANGE_A] = do_range, [CMD_RANGE_B] = do_range,
	[CMD_RANGE_CLEAR] = do_range, [CMD_RANGE_ALL] = do_range, [CMD_NEXT] = do_next, [CMD_PREV] = do_next,
	[CMD_ERROR_NEXT] = do_error, [CMD_ERROR_PREV] = do_error, [CMD_UP] = do_move,
	[CMD_DOWN] = do_move, [CMD_PAGE_UP] = do_move, [CMD_PAGE_DOWN] = do_move,
	[CMD_TOP] = do_move, [CMD_BOTTOM] = do_move, [CMD_SEARCH] = do_prompt,
	[CMD_FILTER] = do_prompt, [CMD_SORT_LEFT] = tables_command, [CMD_SORT_RIGHT] = tables_command,
	[CMD_INVERT] = tables_command, [CMD_BY] = tables_command, [CMD_TREE] = tables_command,
	[CMD_TAG] = tables_command, [CMD_UNTAG] = tables_command,
	[CMD_ONLY_TAGGED] = tables_command, [CMD_HIDE] = tables_command, [CMD_CLEAR] = tables_command,
	[CMD_PAN_LEFT] = tables_command, [CMD_PAN_RIGHT] = tables_command,
	[CMD_EXPAND] = tables_command, [CMD_COLLAPSE] = tables_command,
	[CMD_EXPAND_ALL] = tables_command, [CMD_COLUMNS] = chooser_open,
	[CMD_SORT_MENU] = chooser_open, [CMD_VIEW_INFO] = view_info_open,
	[CMD_HELP] = do_help, [CMD_MORE_KEYS] = do_more_keys, [CMD_EXPLAIN] = do_explain, [CMD_LOG] = do_log,
	[CMD_COACH] = do_coach, [CMD_MOUSE] = do_mouse, [CMD_WRITE] = do_write,
	[CMD_SNAPSHOT] = output_snapshot, [CMD_ALIGN] = output_align,
	[CMD_SUGGEST] = output_suggest,
	[CMD_REDRAW] = do_program, [CMD_SUSPEND] = do_program,
	[CMD_QUIT] = do_program,
};

void app_command(struct app *app, enum command_id command)
{
	g_assert(command > CMD_NONE && command < CMD_N);
	struct place *p = app_place(app);
	const struct screen *screen = screen_of(p->view);

	bool explains = command == CMD_EXPLAIN && !app->popup.is_list;

	if (popup_is_open(&app->popup) && handlers[command] != do_program && !explains) {
		if (!app->pick.command || !app->pick.command(app, app->pick.data, command))
			popup_do(app, command);
		return;
	}
	for (const struct screen_command *c = screen->commands; c && c->id != CMD_NONE; c++) {
		if (c->id != command)
			continue;
		c->run(app, p, command);
		return;
	}
	if (screen->command && screen->command(app, p, command))
		return;
	if (handlers[command])
		handlers[command](app, p, command);
}

static bool search_done(struct app *app, const char *line, GError **error)
{
	if (!*line)
		g_clear_pointer(&app_place(app)->search, g_free);
	return true;
}

static bool filter_done(struct app *app, const char *line, GError **error)
{
	return app_filter(app, app_place(app), line, error);
}

static bool save_done(struct app *app, const char *line, GError **error)
{
	return output_save_as(app, app_place(app), line, error);
}

void app_prompt_done(struct app *app, const char *text)
{
	static bool (*const done[PROMPT_N])(struct app *app, const char *line, GError **error) = {
		[PROMPT_SEARCH] = search_done, [PROMPT_FILTER] = filter_done, [PROMPT_GOTO] = goto_text,
		[PROMPT_TRACE] = output_save_trace_as, [PROMPT_BOOKMARK] = bookmark_set,
		[PROMPT_SCREENSHOT] = output_screenshot_as, [PROMPT_RULES] = output_rules_as,
		[PROMPT_SAVE] = save_done, [PROMPT_EXPORT] = export_picker_file,
	};
	g_autoptr(GError) error = NULL;
	g_autofree char *line = g_strstrip(g_strdup(text));

	if (done[app->prompt.kind](app, line, &error)) {
		prompt_close(&app->prompt);
		return;
	}
	prompt_set_error(&app->prompt, error ? error->message : "cannot be read");
	app_note(app, true, error ? error->message : "cannot be read");
}
