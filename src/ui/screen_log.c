/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: see screen_log.h. The backend reads more lines when the cursor comes near an end of those in memory; the
 * screen never waits for it.
 */
#include "ui/screen_log.h"
#include "ui/timeline_axis.h"

#include "ui/screen.h"
#include "ui/strip.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/logview.h"

#include <string.h>

#define NEAR 100			/* rows from an end at which more are requested */
#define GROW_US 500000			/* live: interval of requests for new lines, */
#define GROW_REST 4			/* at least this many times the duration of the last answer */
#define FOLLOW_NS NS_PER_S		/* history that is shown when following starts */

struct log_state {
	GPtrArray *lines;		/* struct calllog_line * */
	int64_t anchor;			/* the instant at which it was opened; TIME_UNKNOWN: none */
	int32_t pid, tid;		/* process and thread of the lines; -1: all */
	int64_t from, to;		/* range that the lines cover, in ns */
	bool at_begin, at_end;		/* the range reaches the beginning, the end of the trace */
	bool names;			/* names of descriptors are complete */
	bool asked;			/* a request has no answer yet */
	bool follows;			/* shows the newest lines, independent of the cursor in time */
	guint shown;			/* number of rows at the last prepare() */
	gint64 asked_us, answered_us;	/* monotonic */
	struct calllog_line *about;	/* the line whose instant was requested with Enter, or NULL */
	char *error;			/* of the last answer, or NULL */
};

static struct log_state *state_of(struct app *app)
{
	if (!app->lines) {
		app->lines = g_new0(struct log_state, 1);
		app->lines->lines = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
		app->lines->anchor = TIME_UNKNOWN;
	}
	return app->lines;
}

bool screen_log_is_waiting(const struct app *app)
{
	return app->lines && app->lines->asked && nav_top(&app->nav)->view == &view_log;
}

void screen_log_clear(struct app *app)
{
	struct log_state *s = g_steal_pointer(&app->lines);
	if (!s)
		return;
	g_ptr_array_unref(s->lines);
	calllog_line_unref(s->about);
	g_free(s->error);
	g_free(s);
}

static bool can_ask(const struct app *app)
{
	return app->backend && app->backend->log_ask;
}

static void ask(struct app *app, enum calllog_ask what, int64_t at_ns)
{
	struct log_state *s = state_of(app);
	struct calllog_want want = { .ask = what, .at_ns = at_ns, .pid = s->pid, .tid = s->tid };

	if (what == ASK_INSTANT) {
		want.pid = s->about->pid;
		want.tid = s->about->tid;
		g_strlcpy(want.host, s->about->host, sizeof want.host);
	}
	g_assert(what != ASK_INSTANT || s->about);
	s->asked = true;
	s->asked_us = g_get_monotonic_time();
	app->backend->log_ask(app->backend->data, &want);
}

/* Drops all lines and requests those at another instant. */
static void begin(struct app *app, const struct place *p, int64_t anchor)
{
	struct log_state *s = state_of(app);

	g_ptr_array_set_size(s->lines, 0);
	g_clear_pointer(&s->about, calllog_line_unref);
	g_clear_pointer(&s->error, g_free);
	s->anchor = s->from = s->to = anchor;
	s->pid = p->narrow.pid;
	s->tid = p->narrow.tid;
	s->at_begin = s->at_end = false;
	s->names = true;
	if (can_ask(app) && anchor != TIME_UNKNOWN)
		ask(app, ASK_AFTER, anchor);
}

static int64_t anchor_of(const struct app *app, const struct place *p)
{
	if (p->mark_ns != TIME_UNKNOWN)
		return p->mark_ns;
	return app->nav.cursor_ns == TIME_UNKNOWN ? TIME_UNKNOWN : p->built.from_ns;
}

/* Starts again if instant, process or thread changed. While following, and when that stops, the lines stay. */
static void settle_anchor(struct app *app, struct place *p)
{
	struct log_state *s = state_of(app);
	bool follows = app->nav.mode == NAV_FOLLOW && app->status.phase == UI_LIVE;
	bool others = s->pid != p->narrow.pid || s->tid != p->narrow.tid;
	int64_t first, last;

	if (follows && (!s->follows || others) && timeline_coverage(app->main, &first, &last)) {
		begin(app, p, MAX(last - FOLLOW_NS, first));
		s->follows = true;
		s->shown = 0;
	} else if (!follows && s->follows && !others) {
		s->follows = false;
		s->anchor = anchor_of(app, p);
	} else if (!s->follows && (s->anchor != anchor_of(app, p) || others)) {
		begin(app, p, anchor_of(app, p));
	}
}

/* The selected row keeps its position on the screen when lines are added above it. While following, a selection on
 * the last line moves to the new last line. */
static void prepare(struct app *app, struct place *p)
{
	struct log_state *s = state_of(app);
	struct table *t = &p->table[PANE_MAIN];
	struct view_query q = p->narrow;
	size_t cursor = t->cursor;

	settle_anchor(app, p);
	bool to_tail = s->follows && cursor + 1 >= s->shown;
	q.from_ns = s->from;
	q.to_ns = s->to;
	rows_free(p->rows);
	p->rows = logview_rows(app->tl, &q, s->lines);
	table_apply(t, p->view, p->rows, p->expr[PANE_MAIN]);
	s->shown = p->rows->rows->len;
	if (to_tail && s->shown)
		table_select(t, p->rows, s->shown - 1);
	else if (t->bound && t->cursor > cursor)
		t->top += t->cursor - cursor;
}

/* ---- answers ---- */

/* Drops lines beyond the limit, at the end opposite to the new ones. */
static void trim(struct log_state *s, bool keep_end)
{
	if (s->lines->len <= LIMIT_LOG_LINES)
		return;
	guint n = s->lines->len - LIMIT_LOG_LINES;
	if (keep_end) {
		g_ptr_array_remove_range(s->lines, 0, n);
		s->from = ((struct calllog_line *)s->lines->pdata[0])->ts;
		/* Drop all lines of that instant: they are read again together. */
		while (s->lines->len && ((struct calllog_line *)s->lines->pdata[0])->ts == s->from)
			g_ptr_array_remove_index(s->lines, 0);
		s->from++;
		s->at_begin = false;
	} else {
		s->to = ((struct calllog_line *)s->lines->pdata[LIMIT_LOG_LINES])->ts;
		guint end = LIMIT_LOG_LINES;
		while (end > 0 && ((struct calllog_line *)s->lines->pdata[end - 1])->ts == s->to)
			end--;
		g_ptr_array_set_size(s->lines, (int)end);
		s->at_end = false;
	}
}

static void merge(struct log_state *s, struct calllog_window *w)
{
	bool before = w->want.ask == ASK_BEFORE;

	if (w->want.pid != s->pid || w->want.tid != s->tid ||
	    w->want.at_ns != (before ? s->from : s->to))
		return;			/* the answer to an outdated request */
	g_ptr_array_extend_and_steal(s->lines, g_steal_pointer(&w->lines));
	w->lines = g_ptr_array_new();
	calllog_join_lines(s->lines);
	s->names = s->names && w->names;
	if (before) {
		s->from = w->from_ns;
		s->at_begin = w->at_begin;
	} else {
		s->to = w->to_ns;
		s->at_end = w->at_end;
	}
	trim(s, !before);
}

void screen_log_take(struct app *app)
{
	struct log_state *s = app->lines;
	struct calllog_window *w = s && can_ask(app) ? app->backend->log_take(app->backend->data) : NULL;
	struct place *p = nav_top(&app->nav);

	if (!w)
		return;
	s->asked = false;
	s->answered_us = g_get_monotonic_time();
	if (w->want.ask == ASK_INSTANT) {
		if (s->about && p->view == &view_log)
			popup_open(&app->popup, "What the system did then", logview_instant(s->about, w),
				   false);
		g_clear_pointer(&s->about, calllog_line_unref);
	} else {
		g_clear_pointer(&s->error, g_free);
		if (w->error) {
			s->error = text_visible(w->error);
			app_note(app, true, s->error);
		} else {
			merge(s, w);
		}
	}
	calllog_window_free(w);
	if (p->view == &view_log)
		place_stale(p);
}

struct rows *screen_log_rows(const struct app *app, const struct view_query *query)
{
	return logview_rows(app->tl, query, app->lines ? app->lines->lines : NULL);
}

/* ---- drawing ---- */

static void ask_more(struct app *app, const struct place *p)
{
	struct log_state *s = state_of(app);
	const struct table *t = &p->table[PANE_MAIN];

	/* Requests pause longer if answers take long. */
	gint64 rest = MAX(GROW_US, GROW_REST * (s->answered_us - s->asked_us));
	bool grows = app->status.phase == UI_LIVE && g_get_monotonic_time() - s->answered_us > rest;

	if (!can_ask(app) || s->asked || (s->error && !grows) || s->anchor == TIME_UNKNOWN)
		return;
	if (t->cursor + NEAR >= p->rows->rows->len && (!s->at_end || grows))
		ask(app, ASK_AFTER, s->to);
	else if (t->cursor < NEAR && !s->at_begin)
		ask(app, ASK_BEFORE, s->from);
}

static const char *why_empty(const struct app *app, const struct log_state *s,
			     const struct place *p)
{
	if (!can_ask(app))
		return "no packets of this session are stored on disk (--no-spool, or see !), so there is no log";
	if (s->error)
		return s->error;
	if (s->asked || s->anchor == TIME_UNKNOWN)
		return "reading ...";
	return p->rows->n_before_filter ? "no line passes the filter: \\ changes it, empty shows all"
					: "nothing happened here";
}

static char *summary(const struct app *app, const struct log_state *s, const struct place *p)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	GString *text = g_string_new("Log");
	const guint n = p->rows->rows->len;
	bool descending;
	int sorted = table_sort_column(&p->table[PANE_MAIN], p->view, &descending);

	if (s->tid >= 0)
		g_string_append_printf(text, " of thread %d", s->tid);
	else if (s->pid >= 0)
		g_string_append_printf(text, " of process %d", s->pid);
	if (s->anchor != TIME_UNKNOWN)
		g_string_append_printf(text, ": %u lines, %s%s to %s%s", n, s->at_begin ? "begin " : "",
				       timefmt_clock_ms(from, s->from), timefmt_clock_ms(to, s->to),
				       !s->at_end ? "" : app->status.phase == UI_LIVE ? " so far" : " end");
	if (p->filter) {
		g_autofree char *filter = text_visible(p->filter);
		g_string_append_printf(text, "   filter %s", filter);
	}
	if (sorted >= 0)
		g_string_append_printf(text, "   by %s%s, not by time: u", p->view->columns[sorted].title,
				       descending ? "" : " (lowest first)");
	if (!s->names)
		g_string_append(text, "   files that were opened long before have no names");
	if (s->asked && !(app->status.phase == UI_LIVE && s->at_end))
		g_string_append(text, "   reading ...");
	return g_string_free(text, FALSE);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	struct log_state *s = state_of(app);
	struct table *t = &p->table[PANE_MAIN];
	struct table_style style = app_table_style(app, true);
	struct box table = { box.y + 2, box.x, box.rows - 2, box.cols };
	g_autofree char *line = NULL;

	if (p->rows->rows->len)
		table_select(t, p->rows, t->cursor);
	ask_more(app, p);
	line = summary(app, s, p);
	canvas_put(app->canvas, box.y, 0, box.cols, ROLE_TITLE, line);
	strip_draw_whole(app, box.y + 1);
	app->cursor_y = table_draw(app->canvas, table, t, p->view, p->rows, &style);
	if (!p->rows->rows->len)
		canvas_put(app->canvas, table.y + 1, 1, box.cols, ROLE_DIM, why_empty(app, s, p));
}

/* ---- commands ---- */

static void open_line(struct app *app, struct place *p, enum command_id id)
{
	struct log_state *s = state_of(app);
	const struct row *row = place_selected(p);
	const struct calllog_line *l = row ? logview_line(row) : NULL;

	if (!l) {
		app_error(app, "nothing to open: there are no lines");
		return;
	}
	if (l->kind == CALLLOG_LOSS || !can_ask(app)) {
		popup_open(&app->popup, "Line", logview_details(l), false);
		return;
	}
	calllog_line_unref(s->about);
	s->about = calllog_line_ref((struct calllog_line *)l);
	ask(app, ASK_INSTANT, l->ts);
	app_message(app, "reading what the system did then ...");
}

static const struct screen_command commands[] = { { CMD_DRILL, open_line }, { CMD_NONE, NULL } };

void screen_log_open(struct app *app, struct place *p, enum command_id id)
{
	const struct view_query all = VIEW_QUERY_INIT;
	const struct row *row = p->view == &view_log ? NULL : place_selected(p);
	struct view_query q = all;
	struct place *to;
	int64_t at = TIME_UNKNOWN;
	g_autofree char *crumb = NULL;

	if (p->view == &view_log)
		return;
	q.pid = p->narrow.pid;
	q.tid = p->narrow.tid;
	if (row && row->drill.pid >= 0)
		q.pid = row->drill.pid;
	if (row && row->drill.tid >= 0)
		q.tid = row->drill.tid;
	if (row && p->view->kind == VIEW_WATERFALL)
		waterfall_where(p->rows, row, &q.tid, &at);
	if (p->view->kind == VIEW_TIMELINE) {
		const struct thread_info *ran = timeline_thread(p->rows->tl, timeline_axis_ran(app, p));

		q.tid = ran ? ran->tid : q.tid;
		at = p->mark_ns;
	}
	crumb = q.tid >= 0 ? g_strdup_printf("log of %d", q.tid) :
		q.pid >= 0 ? g_strdup_printf("log of %d", q.pid) : g_strdup("log");
	app_pause(app);
	to = place_new(&view_log, &q, crumb);
	to->mark_ns = at;
	app_open(app, to);
}

const struct screen screen_log = { .draw = draw, .commands = commands, .prepare = prepare };
