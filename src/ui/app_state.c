/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared state of all screens: see app_state.h. */
#include "ui/app_state.h"

#include "ui/metric_place.h"

#include "base/timefmt.h"

#include <string.h>

void app_note(struct app *app, bool error, const char *text)
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

void app_refresh_messages(struct app *app)
{
	if (app->popup.is_log && app->messages_shown != messages_version(app->messages))
		popup_replace(&app->popup, message_lines(app));
}

static void set_message(struct app *app, const char *format, va_list ap, bool error)
{
	g_free(app->message);
	app->message = g_strdup_vprintf(format, ap);
	app->message_is_error = error;
	app_note(app, error, app->message);
}

void app_message(struct app *app, const char *format, ...)
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

void app_pick(struct app *app, const char *title, GPtrArray *lines, const struct pick *pick)
{
	app_unpick(app, -1);
	popup_open(&app->popup, title, lines, true);
	app->pick = *pick;
}

void app_unpick(struct app *app, long line)
{
	struct pick pick = app->pick;

	app->pick = (struct pick){ 0 };
	if (line >= 0 && pick.picked)
		pick.picked(app, pick.data, (size_t)line);
	if (pick.free)
		pick.free(pick.data);
}

enum context app_context(const struct app *app)
{
	static const enum context contexts[VIEW_KIND_N] = {
		[VIEW_OVERVIEW] = CTX_OVERVIEW, [VIEW_WATERFALL] = CTX_WATERFALL, [VIEW_HEATMAP] = CTX_HEATMAP,
		[VIEW_TIMELINE] = CTX_TIMELINE, [VIEW_FLAME] = CTX_FLAME,
	};
	enum context of_view = contexts[nav_top(&app->nav)->view->kind];

	if (popup_is_open(&app->popup))
		return app->pick.command ? CTX_CHOOSER : CTX_POPUP;
	return of_view ? of_view : CTX_TABLE;
}

static bool any_spans(const struct app *app)
{
	return timeline_facts(app->main)->has_spans || (app->preview && timeline_facts(app->preview)->has_spans);
}

/* The overview; the events if there are neither spans, nor context switches, nor system calls. */
const char *app_automatic_view(const struct app *app)
{
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;
	bool loaded = timeline_n_seconds(app->main) || !app->preview;
	const struct timeline *tl = loaded ? app->main : app->preview;

	if (any_spans(app) || !timeline_n_seconds(tl))
		return "overview";
	return (view_missing(tl) & both) == both ? "events" : "overview";
}

void app_choose_root(struct app *app)
{
	const struct view_query all = VIEW_QUERY_INIT;
	const char *id = app->options->start_view;
	const struct view *view = NULL;

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
	const struct metric_query *metric = app->options->start_metric;
	if (id == app->options->start_view && view->of_metric && metric && metric->metric)
		place_take_metric(nav_top(&app->nav), metric_place_by(metric->metric, metric->by, metric->n_by));
	for (enum view_by by = 0; app->options->start_by && by < BY_N; by++)
		if (g_str_equal(app->options->start_by, view_by_words[by]) && view_has_by(view, by))
			nav_top(&app->nav)->narrow.by = by;
}

void app_settle(struct app *app)
{
	if (!app->touched && app->nav.stack->len == 1 && !app->options->filter)
		app_choose_root(app);
	nav_tick(&app->nav, app->main);
	if (app->nav.mode == NAV_WORST && app->drawn_ns != TIME_UNKNOWN && app->drawn_ns != app->nav.cursor_ns)
		app->moved_alone = true;
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

void app_go_to(struct app *app, int64_t at_ns)
{
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];
	bool had = nav_has_whole_range(&app->nav);

	app_pause(app);
	nav_go(&app->nav, app->main, at_ns);
	if (had && !nav_has_whole_range(&app->nav))
		app_message(app, "the range was the whole trace; now %s is shown",
			    timefmt_clock(a, app->nav.cursor_ns));
	if (nav_has_whole_range(&app->nav))
		app_message(app, "the range moved to %s-%s: R clears it", timefmt_clock(a, app->nav.a_ns),
			    timefmt_clock(b, app->nav.b_ns));
	app_moved(app);
}

/* Protects the trace of the innermost place from eviction. */
void app_pin(struct app *app)
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

bool app_is_shown(struct app *app, const struct view *view)
{
	bool shown = nav_top(&app->nav)->view == view;

	if (shown)
		app_message(app, "%s is shown already", view->title);
	return shown;
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
	app_pin(app);
}

void app_back(struct app *app)
{
	nav_pop(&app->nav);
	app_pin(app);
}

bool app_filter(struct app *app, struct place *p, const char *text, GError **error)
{
	int n = (int)place_n_panes(p->view);
	struct expr *expr[PANE_N] = { NULL };
	g_autoptr(GError) first = NULL;
	bool any = false;

	for (int i = 0; i < n && text && *text; i++) {
		if (place_pane_view(p->view, (enum pane)i) == &view_overview_since)
			continue;
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

void app_touch(struct app *app)
{
	if (app->touched)
		return;
	app->touched = true;
	if (app->nav.mode == NAV_WORST)
		app->nav.mode = NAV_PAUSED;
}

struct table_style app_table_style(const struct app *app, bool active)
{
	return (struct table_style){ .glyphs = app->glyphs, .match = nav_top(&app->nav)->search, .active = active,
				     .provisional = app->cover.kind == COVER_PROVISIONAL };
}
