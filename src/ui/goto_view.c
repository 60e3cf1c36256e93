/* SPDX-License-Identifier: GPL-2.0-only */
/* Going to other views: see goto_view.h. */
#include "ui/goto_view.h"
#include "ui/timeline_axis.h"

#include "ui/crumb.h"
#include "ui/screen.h"
#include "ui/screen_log.h"

#include "base/call_event.h"
#include "base/text.h"
#include "views/causes.h"
#include "views/logview.h"
#include "views/narrowing.h"

#include <stdlib.h>
#include <string.h>

static const char *const numbered[] = {
	"overview", "traces", "phases", "processes", "syscalls", "files", "spans", "services",
	"events",
};

/* The name of a row: its first text. */
static char *row_name(const struct view *v, const struct rows *rows, const struct row *row)
{
	for (size_t i = 0; i < v->n_columns; i++) {
		const struct column *c = &v->columns[i];
		struct value value = value_none();

		if (c->kind == VALUE_TEXT && c->width && strcmp(c->id, "host"))
			value = column_value(c, row, rows);
		if (value.kind == VALUE_TEXT && *value.s)
			return text_visible(value.s);
	}
	return NULL;
}

/* --- by number, and by the list --- */

/* Chooses what rows are summed by. Some sums must be requested before the trace is read. */
static void choose_by(const struct app *app, struct place *to)
{
	enum view_by by = view_by_narrowed(to->view, to->narrow.by, &to->narrow);

	if (!(to->view->by_counted & 1u << by) || app->options->counts_threads)
		to->narrow.by = by;
}

static struct place *new_place(const struct app *app, const struct view *view, const struct view_query *narrow,
			       const char *crumb)
{
	struct place *to = place_new(view, narrow, crumb);

	choose_by(app, to);
	return to;
}

/* From a span: goes to the second in which it began, by thread. */
static void to_its_second(struct app *app, struct place *from, struct place *to)
{
	const struct row *row = place_selected(from);
	int32_t tid;
	int64_t at;

	if (from->view->kind != VIEW_WATERFALL || !row || place_query(to).tid < 0)
		return;
	waterfall_where(from->rows, row, &tid, &at);
	app_pause(app);
	nav_seek(&app->nav, app->main, at);
	if (view_has_by(to->view, BY_THREAD))
		to->narrow.by = BY_THREAD;
}

/* The operation of a row. Traces have that of their root spans. */
static const char *operation_of_row(struct focus f)
{
	const struct row *row = table_selected(f.table, f.rows);
	struct value v = view_value(f.view, f.rows, row, f.view == &view_causes ? "operation" : "name");

	return v.kind == VALUE_TEXT ? v.s : NULL;
}

static void open_view(struct app *app, struct place *p, const struct view *view)
{
	struct view_query q = place_query_beside(p);
	struct place *below = NULL, *to;

	if (app_is_shown(app, view))
		return;
	/* From the first screen 3 shows the phases of the selected operation. */
	if (app->nav.stack->len == 1 && p->view->kind == VIEW_OVERVIEW &&
	    view->kind == VIEW_PHASES && p->pane != PANE_PROCESSES) {
		q = query_by_row(&q, place_selected(p));
		query_widen(&q, ~(unsigned)(ONLY_TRACE | ONLY_SPAN));
		if (!q.operation)
			q.operation = operation_of_row(place_focus(p));
	}
	if (app->nav.stack->len == 1 && !crumb_narrowed(app, &q)) {
		nav_open_root(&app->nav, new_place(app, view, &q, ""));
		return;
	}
	if (p->lateral && app->nav.stack->len > 1)
		below = g_ptr_array_index(app->nav.stack, app->nav.stack->len - 2);
	if (below && below->view == view) {
		app_back(app);
		return;
	}
	to = new_place(app, view, &q, "");
	to->lateral = true;
	to_its_second(app, p, to);
	if (below)
		nav_pop(&app->nav);
	app_open(app, to);
}

static void do_view(struct app *app, struct place *p, enum command_id command)
{
	const char *id = command == CMD_PATH ? "path" : numbered[command - CMD_VIEW_1];
	g_assert(id);
	const struct view *view = view_find(id);

	if (view)
		open_view(app, p, view);
	else
		app_error(app, "there is no view '%s'", id);
}

/* The n-th view of the list: all views of the screen except the waterfall, which needs a row. */
static const struct view *nth_view(unsigned n)
{
	for (size_t i = 0; view_all[i]; i++) {
		if (view_all[i]->on_screen && view_all[i]->kind != VIEW_WATERFALL && n-- == 0)
			return view_all[i];
	}
	return NULL;
}

static char number_of(const struct view *v)
{
	for (size_t i = 0; i < G_N_ELEMENTS(numbered); i++) {
		if (!strcmp(numbered[i], v->id))
			return (char)('1' + i);
	}
	return ' ';
}

static void do_view_step(struct app *app, struct place *p, enum command_id command)
{
	unsigned n = 0, at = 0;

	for (; nth_view(n); n++) {
		if (nth_view(n) == p->view)
			at = n;
	}
	/* The waterfall is not in the list: it counts as the first view. */
	g_assert(n > 0);
	open_view(app, p, nth_view((at + (command == CMD_VIEW_NEXT ? 1 : n - 1)) % n));
}

static void switch_presets(struct app *app)
{
	g_autofree char *message = NULL;

	app->quit = app->backend->switch_presets(app->backend->data, &message);
	if (!app->quit)
		app_error(app, "%s", message);
}

static unsigned n_views(void)
{
	unsigned n = 0;

	while (nth_view(n))
		n++;
	return n;
}

static void view_picked(struct app *app, void *data, size_t line)
{
	const struct view *view = nth_view((unsigned)line);

	if (view)
		open_view(app, app_place(app), view);
	else if (line == n_views())
		screen_log_open(app, app_place(app), CMD_VIEW_LOG);
	else
		switch_presets(app);
}

/* The line of the list with the view that is shown, or with the view that this was opened from. */
static size_t line_of_shown(const struct app *app, size_t log_line)
{
	for (guint i = app->nav.stack->len; i-- > 0;) {
		const struct place *p = app->nav.stack->pdata[i];

		if (p->view == &view_log)
			return log_line;
		for (unsigned n = 0; nth_view(n); n++)
			if (nth_view(n) == p->view)
				return n;
	}
	return 0;
}

static void do_view_list(struct app *app, struct place *p, enum command_id command)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free), *names = g_ptr_array_new_with_free_func(g_free);
	const struct view *v;

	for (unsigned i = 0; (v = nth_view(i)); i++) {
		g_ptr_array_add(names, g_strdup_printf("%s %s", v->title, v->id));
		g_autofree char *help = g_strdup(v->help ? v->help : "");
		char *end = strstr(help, ". ");		/* the first sentence */

		if (end)
			*end = '\0';
		g_ptr_array_add(lines, g_strdup_printf("%c %-13s %s", number_of(v), v->title, help));
	}
	g_ptr_array_add(lines, g_strdup_printf("L %-13s Every call and event, as strace prints them",
					       view_log.title));
	g_ptr_array_add(names, g_strdup(view_log.title));
	size_t log_line = lines->len - 1;
	char *presets = app->backend && app->backend->presets ? app->backend->presets(app->backend->data) : NULL;
	g_autofree char *line = presets ? g_strdup_printf("  %-13s %s", "Presets", presets) : NULL;
	g_free(presets);
	if (line) {
		g_ptr_array_add(lines, g_steal_pointer(&line));
		g_ptr_array_add(names, g_strdup("presets"));
	}
	app_pick(app, "Views: Enter opens one", lines, &(struct pick){ .picked = view_picked });
	popup_find(&app->popup, names);
	app->popup.cursor = line_of_shown(app, log_line);
}

/* --- by Enter --- */

/* Shows all columns of a row with their meaning, for rows that open no view. */
static void show_row(struct app *app, const struct focus *f, const struct row *row)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < f->view->n_columns; i++) {
		const struct column *c = &f->view->columns[i];
		g_autofree char *text = table_cell(c, column_value(c, row, f->rows), 40);
		g_autofree char *padded = text_pad(text, 24);

		g_ptr_array_add(lines, g_strdup_printf("  %-16s %s %s", c->id, padded,
						       c->help ? c->help : ""));
	}
	popup_open(&app->popup, f->view->title, lines, false);
}

/* A filter for the log's lines about a row: the calls on a file, those that an event belongs to, the events of a name.
 * NULL: there is none. */
static char *log_filter_of(const struct view *v, const struct rows *rows, const struct row *row)
{
	bool of_file = v == view_find("files");
	struct value name = of_file ? view_value(v, rows, row, "path") :
		v == view_find("events") ? view_value(v, rows, row, "name") : value_none();
	const char *call = NULL;
	enum call_event event = CALL_EVENT_NONE;

	if (name.kind != VALUE_TEXT)
		return NULL;
	if (of_file && g_str_has_prefix(name.s, "fd "))
		return g_strdup_printf("arg.fd == %d", atoi(name.s + strlen("fd ")));
	if (!of_file)
		event = call_event_of(name.s, &call);
	if (event == CALL_EVENT_EXIT_NAMELESS || (call && !strcmp(call, "unknown")))
		return g_strdup("kind == call");
	g_autofree char *quoted = expr_quote(event == CALL_EVENT_NONE ? name.s : call);

	return of_file ? g_strdup_printf("file == %s", quoted) :
	       g_strdup_printf("name == %s && kind %s call", quoted, event == CALL_EVENT_NONE ? "!=" : "==");
}

/* Opens the single calls and events that a row of Files or Events counts: the log, with a filter. Without a log the
 * longest calls on a file. Events by process, if they are counted. false: it cannot. */
static bool open_single(struct app *app, struct place *p, const struct focus *f, const struct row *row,
			const struct view_query *q)
{
	bool of_file = f->view == view_find("files"), by_process = false;
	bool has_log = app->backend && app->backend->log_ask;
	g_autofree char *filter = log_filter_of(f->view, f->rows, row);
	struct value about = view_value(f->view, f->rows, row, of_file ? "path" : "name");
	g_autofree char *name = about.kind == VALUE_TEXT ? text_visible(about.s) : NULL;
	struct place *to;

	if (!of_file && app->options->counts_threads && p->narrow.by == BY_SYSTEM && filter) {
		g_autofree char *quoted = expr_quote(about.s);

		g_free(filter);
		filter = g_strdup_printf("name == %s", quoted);
		by_process = true;
	} else if (of_file && !has_log && filter && g_str_has_prefix(filter, "file ")) {
		memcpy(filter, "path", strlen("path"));
	} else if (!has_log) {
		return false;
	}
	if (!filter)
		return false;
	to = place_new(by_process ? f->view : has_log ? &view_log : view_find("slow"), q, name);
	if (by_process)
		to->narrow.by = BY_PROCESS;
	app_filter(app, to, filter, NULL);
	app_message(app, by_process ? "by process: Enter shows the single events" : has_log ?
		    "the log from here on, of this row only: u shows all lines" :
		    "the longest calls of each second, of this row only: u shows all");
	table_select(f->table, f->rows, f->table->cursor);
	app_open(app, to);
	return true;
}

/* The id of the view that Enter opens. A container opens its processes; a thread, or a row without a known process,
 * its system calls. NULL: rows that belong to no thread or trace open nothing. */
static const char *drill_of(const struct view *v, const struct row *row)
{
	bool process = row && row->drill.pid >= 0 && row->drill.tid < 0;

	if (row && !strcmp(v->drill, "waterfall") && !query_has_trace(&row->drill))
		return NULL;
	if (row && row->drill.pid < 0 && row->drill.tid < 0 && row->drill.container && !strcmp(v->drill, "process"))
		return "processes";
	return process || strcmp(v->drill, "process") ? v->drill : v->default_by == BY_SYSTEM ? NULL : "syscalls";
}

/* The rows of the detail that belong to the selected lock. NULL: to any. */
static char *lock_filter(const struct focus *f, const struct row *row)
{
	struct value lock = view_value(f->view, f->rows, row, "lock");
	g_autofree char *quoted = lock.kind == VALUE_TEXT ? expr_quote(lock.s) : NULL;

	return quoted ? g_strdup_printf("lock == %s", quoted) : NULL;
}

static void do_drill(struct app *app, struct place *p, enum command_id command)
{
	struct focus f = place_focus(p);
	const struct row *row = table_selected(f.table, f.rows);
	const char *drill = f.view->drill ? drill_of(f.view, row) : NULL;
	const struct view *target = drill ? view_find(drill) : NULL;
	struct view_query q = place_query(p);
	struct place *to;
	g_autofree char *name = NULL;

	if (!row && table_show_idle(f.table, f.rows)) {
		app_message(app, "all rows are shown: - folds those that are %s", f.view->idle);
		return;
	}
	if (!row) {
		app_error(app, "nothing to open: there are no rows");
		return;
	}
	q = query_by_row(&q, row);
	if (!target) {
		if (!open_single(app, p, &f, row, &q))
			show_row(app, &f, row);
		return;
	}
	if (target->kind != VIEW_WATERFALL)
		name = row_name(f.view, f.rows, row);
	if (!name)
		name = crumb_name(app, p, &q);
	table_select(f.table, f.rows, f.table->cursor);
	to = new_place(app, target, &q, name);
	if (target->kind == VIEW_WATERFALL) {
		to->select.span = row->drill.span_id;
		to->select.kind = row->drill.span_kind;
	}
	g_autofree char *filter = f.view == view_find("locks") ? lock_filter(&f, row) : NULL;
	if (filter)
		app_filter(app, to, filter, NULL);
	app_open(app, to);	/* row is invalid from here on */
}

/* Who woke the selected process or thread; of a CPU in the timeline, the thread that ran at the cursor. */
static void do_wakers(struct app *app, struct place *p, enum command_id command)
{
	const struct view *view = view_find("wakers");
	struct view_query selected = place_selected_query(p), q = VIEW_QUERY_INIT;

	q.pid = selected.pid;
	q.tid = selected.tid;
	q.host = selected.host;
	if (p->view->kind == VIEW_TIMELINE) {
		const struct thread_info *ran = timeline_thread(p->rows->tl, timeline_axis_ran(app, p));

		q.tid = ran ? ran->tid : q.tid;
		q.host = ran ? ran->host : q.host;
	}
	if (q.pid < 0 && q.tid < 0) {
		app_error(app, "no wakers: select a process or a thread (4)");
		return;
	}
	if (app_is_shown(app, view))
		return;
	app_open(app, new_place(app, view, &q, ""));
}

void goto_view_command(struct app *app, struct place *p, enum command_id command)
{
	static void (*const run[CMD_N])(struct app *app, struct place *p, enum command_id command) = {
		[CMD_VIEW_LIST] = do_view_list, [CMD_VIEW_NEXT] = do_view_step, [CMD_VIEW_PREV] = do_view_step,
		[CMD_DRILL] = do_drill, [CMD_WAKER] = do_wakers,
	};

	(run[command] ? run[command] : do_view)(app, p, command);
}
