/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands do on every screen; screens add their own (app.h). */
#include "ui/app.h"
#include "ui/screen_log.h"
#include "ui/help.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

typedef void (*handler)(struct app *app, struct place *p, enum command_id command);

static const char *const numbered[] = {
	"overview", "traces", "phases", "processes", "syscalls", "files", "spans", "services",
	"events",
};

/* What of the narrowing a view honours when one comes to it by its number. */
enum { BY_TRACE = 1, BY_OPERATION = 2, BY_PID = 4 };
static const struct {
	const char *view;
	unsigned honours;
} honoured[] = {
	{ "traces", BY_OPERATION }, { "phases", BY_OPERATION }, { "compare", BY_TRACE },
	{ "path", BY_TRACE },
	{ "open", BY_OPERATION }, { "slow-spans", BY_OPERATION }, { "changed", BY_OPERATION },
	{ "spans", BY_TRACE | BY_OPERATION }, { "syscalls", BY_PID },
	{ "files", BY_PID }, { "processes", BY_PID }, { "process", BY_PID },
	{ "scheduler", BY_PID }, { "wakers", BY_PID }, { "interrupts", BY_PID },
	{ "counters", BY_PID },
};

static struct view_query narrow_for(const struct view *view, const struct view_query *q)
{
	struct view_query narrow = VIEW_QUERY_INIT;
	unsigned honours = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(honoured); i++) {
		if (!strcmp(honoured[i].view, view->id))
			honours = honoured[i].honours;
	}
	if (honours & BY_TRACE) {
		narrow.trace_id = q->trace_id;
		narrow.trace_zero = q->trace_zero;
		narrow.span_id = q->span_id;
		narrow.span_kind = q->span_kind;
	}
	if (honours & BY_OPERATION) {
		narrow.operation = q->operation;
		narrow.service = q->service;
	}
	if (honours & BY_PID) {
		narrow.pid = q->pid;
		narrow.tid = q->tid;
		narrow.host = q->host;
		narrow.container = q->container;
	}
	return narrow;
}

static bool is_narrow(const struct view_query *q)
{
	return query_has_trace(q) || q->operation || q->service || q->pid >= 0 || q->tid >= 0 ||
	       q->container;
}

/* What the selected row adds to what the place is narrowed to. */
static struct view_query narrow_by_row(const struct view_query *base, const struct row *row)
{
	struct view_query q = *base;
	const struct view_query *d = row ? &row->drill : NULL;

	if (!d)
		return q;
	if (query_has_trace(d)) {
		query_set_trace(&q, d->trace_id);
		q.span_id = d->span_id;
		q.span_kind = d->span_kind;
	}
	if (d->operation)
		q.operation = d->operation;
	if (d->service)
		q.service = d->service;
	if (d->pid >= 0)
		q.pid = d->pid;
	if (d->tid >= 0)
		q.tid = d->tid;
	if (d->host != ID_NONE)
		q.host = d->host;
	if (d->container)
		q.container = d->container;
	return q;
}

/* What a narrowed place is called: the container, the trace, the operation, the process. */
static char *narrow_name(const struct app *app, const struct view_query *q, bool with_trace)
{
	if (query_has_trace(q) && with_trace)
		return g_strdup_printf("%016" G_GINT64_MODIFIER "x", q->trace_id);
	if (q->tid >= 0)
		return g_strdup_printf("tid %d", q->tid);
	if (q->pid >= 0)
		return g_strdup_printf("pid %d", q->pid);
	if (q->container)
		return view_container_name(app->main, q->host, q->container);
	if (q->operation && q->service && strcmp(q->operation, q->service)) {
		g_autofree char *op = text_visible(q->operation), *sv = text_visible(q->service);

		return g_strdup_printf("%s (%s)", op, sv);
	}
	return text_visible(q->operation ? q->operation : q->service ? q->service : "");
}

/* The first text of a row: what people call it. */
static char *row_name(const struct view *v, const struct rows *rows, const struct row *row)
{
	for (size_t i = 0; i < v->n_columns; i++) {
		const struct column *c = &v->columns[i];
		struct value value = value_none();

		if (c->kind == VALUE_TEXT && c->width && strcmp(c->id, "host"))
			value = c->get(row, rows);
		if (value.kind == VALUE_TEXT && *value.s)
			return text_visible(value.s);
	}
	return NULL;
}

/* The selected span in a waterfall narrows what is opened beside it. */
static struct view_query narrow_here(struct place *p)
{
	const struct row *row = place_selected(p);
	const struct waterfall_row *w = (const struct waterfall_row *)row;
	struct view_query q = p->narrow;

	if (p->view->kind != VIEW_WATERFALL)
		return q;
	if (w && w->span) {
		const struct thread_info *t = timeline_thread(p->rows->tl, w->span->thread);
		const struct process_info *of = t ? timeline_process(p->rows->tl, t->process) : NULL;

		query_set_trace(&q, w->span->trace_id);
		q.span_id = w->span->span_id;
		q.span_kind = (int)w->span->kind;
		q.host = t ? t->host : ID_NONE;
		q.tid = t ? t->tid : -1;
		q.pid = of ? of->pid : -1;
	}
	return q;
}

/* From a span to what its thread did in the second in which it began. */
static void to_its_second(struct app *app, struct place *from, struct place *to)
{
	const struct row *row = place_selected(from);
	int32_t tid;
	int64_t at;

	if (from->view->kind != VIEW_WATERFALL || !row || to->narrow.tid < 0)
		return;
	waterfall_where(from->rows, row, &tid, &at);
	app_pause(app);
	nav_seek(&app->nav, app->main, at);
	if (view_has_by(to->view, BY_THREAD))
		to->narrow.by = BY_THREAD;
}

/* A trace is of the operation that its root span is named after. */
static const char *operation_of_row(struct focus f)
{
	const struct row *row = table_selected(f.table, f.rows);
	int column = view_column(f.view, "name");
	struct value v = row && column >= 0 ? f.view->columns[column].get(row, f.rows) :
		value_none();

	return v.kind == VALUE_TEXT ? v.s : NULL;
}

static void open_view(struct app *app, struct place *p, const struct view *view)
{
	struct view_query q = narrow_here(p), narrow;
	g_autofree char *name = NULL, *crumb = NULL;
	struct place *below = NULL, *to;

	if (view == p->view)
		return;
	/* From the first screen 3 shows the phases of the selected operation. */
	if (app->nav.stack->len == 1 && p->view->kind == VIEW_OVERVIEW &&
	    !strcmp(view->id, "phases") && p->pane != PANE_PROCESSES) {
		q = narrow_by_row(&q, place_selected(p));
		q.trace_id = 0;
		q.trace_zero = false;
		if (!q.operation)
			q.operation = operation_of_row(place_focus(p));
	}
	narrow = narrow_for(view, &q);
	name = narrow_name(app, &narrow, true);
	crumb = *name ? g_strdup_printf("%s: %s", view->title, name) : g_strdup(view->title);
	if (app->nav.stack->len == 1 && !is_narrow(&narrow)) {
		nav_reset(&app->nav, place_new(view, &narrow, ""));
		return;
	}
	if (p->lateral && app->nav.stack->len > 1)
		below = g_ptr_array_index(app->nav.stack, app->nav.stack->len - 2);
	if (below && below->view == view) {
		app_back(app);
		return;
	}
	to = place_new(view, &narrow, crumb);
	to->lateral = true;
	to_its_second(app, p, to);
	if (below)
		nav_pop(&app->nav);
	app_open(app, to);
}

static void do_view(struct app *app, struct place *p, enum command_id command)
{
	const char *id = command == CMD_PATH ? "path" : numbered[command - CMD_VIEW_1];
	const struct view *view = view_find(id);

	if (view)
		open_view(app, p, view);
	else
		app_error(app, "there is no view '%s'", id);
}

/* The views one can go to without a row: all on the screen but the waterfall. */
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
	/* In a waterfall at is 0: the overview's neighbours, as good as any. */
	open_view(app, p, nth_view((at + (command == CMD_VIEW_NEXT ? 1 : n - 1)) % n));
}

static void view_picked(struct app *app, size_t line)
{
	const struct view *view = nth_view((unsigned)line);

	if (view)
		open_view(app, app_place(app), view);
	else
		screen_log_open(app, app_place(app), CMD_VIEW_LOG);
}

static void do_view_list(struct app *app, struct place *p, enum command_id command)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct view *v;

	for (unsigned i = 0; (v = nth_view(i)); i++) {
		g_autofree char *help = g_strdup(v->help ? v->help : "");
		char *end = strstr(help, ". ");		/* the first sentence */

		if (end)
			*end = '\0';
		g_ptr_array_add(lines, g_strdup_printf("%c %-13s %s", number_of(v), v->title, help));
	}
	g_ptr_array_add(lines, g_strdup_printf("L %-13s Every call and event, as strace would print them",
					       view_log.title));
	app_pick(app, "Views: Enter opens one", lines, view_picked);
}

void app_pick(struct app *app, const char *title, GPtrArray *lines,
	      void (*picked)(struct app *app, size_t line))
{
	popup_open(&app->popup, title, lines, true);
	app->picked = picked;
}

static void popup_do(struct app *app, enum command_id command)
{
	enum popup_result result = popup_command(&app->popup, command);
	size_t line = app->popup.cursor;

	if (result == POPUP_STAYS)
		return;
	popup_close(&app->popup);
	if (result == POPUP_PICKED && app->picked)
		app->picked(app, line);
	chooser_free(app);
}

/* All columns of a row with what they mean: where Enter leads no further. */
static void show_row(struct app *app, const struct focus *f, const struct row *row)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = 0; i < f->view->n_columns; i++) {
		const struct column *c = &f->view->columns[i];
		g_autofree char *text = table_cell(c, c->get(row, f->rows), 40);
		g_autofree char *padded = text_pad(text, 24);

		g_ptr_array_add(lines, g_strdup_printf("  %-16s %s %s", c->id, padded,
						       c->help ? c->help : ""));
	}
	popup_open(&app->popup, f->view->title, lines, false);
}

/* A thread, and what is of no known process, has no page: its calls. A container's page are
 * its processes. Rows that are no thread's, or nobody knows whose, open nothing. */
static const char *drill_of(const struct view *v, const struct row *row)
{
	bool process = row && row->drill.pid >= 0 && row->drill.tid < 0;

	if (row && row->drill.pid < 0 && row->drill.tid < 0 && row->drill.container && !strcmp(v->drill, "process"))
		return "processes";
	return process || strcmp(v->drill, "process") ? v->drill : v->default_by == BY_SYSTEM ? NULL : "syscalls";
}

static void do_drill(struct app *app, struct place *p, enum command_id command)
{
	struct focus f = place_focus(p);
	const struct row *row = table_selected(f.table, f.rows);
	const char *drill = f.view->drill ? drill_of(f.view, row) : NULL;
	const struct view *target = drill ? view_find(drill) : NULL;
	struct view_query q;
	struct place *to;
	g_autofree char *name = NULL;

	if (!row) {
		app_error(app, "nothing to open: there are no rows");
		return;
	}
	if (!target) {
		show_row(app, &f, row);
		return;
	}
	q = narrow_by_row(&p->narrow, row);
	if (target->kind == VIEW_WATERFALL)
		name = narrow_name(app, &q, true);
	else
		name = row_name(f.view, f.rows, row);
	if (!name)
		name = narrow_name(app, &q, false);
	table_select(f.table, f.rows, f.table->cursor);
	to = place_new(target, &q, name);
	if (target->kind == VIEW_WATERFALL) {
		to->select_span = row->drill.span_id;
		to->select_kind = row->drill.span_kind;
	}
	app_open(app, to);	/* the row is gone from here on */
}

static void do_back(struct app *app, struct place *p, enum command_id command)
{
	if (app->nav.stack->len > 1) {
		app_back(app);
		return;
	}
	if (app->status.phase == UI_OPENING || app->status.phase == UI_LOADING) {
		if (app->backend)
			app->backend->cancel(app->backend->data);
		app_say(app, "loading stopped: what was read stays");
	} else if (app->search) {
		g_clear_pointer(&app->search, g_free);
		app_say(app, "no search any more");
	} else {
		app_say(app, "this is the top: q quits");
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
		app_say(app, "nothing is read yet");
		return;
	}
	if (!nav_step(&app->nav, app->main, by))
		app_say(app, by < 0 ? "this is the first second" : "this is the newest second");
	else if (p->view->kind == VIEW_WATERFALL)
		app_say(app, "at %s; the trace stays where it is",
			timefmt_clock(clock, app->nav.cursor_ns));
	app_moved(app);
}

static void do_pause(struct app *app, struct place *p, enum command_id command)
{
	bool runs = app->nav.mode == NAV_FOLLOW || app->nav.mode == NAV_PLAY;

	app->nav.fixed = false;
	if (runs)
		app->nav.mode = NAV_PAUSED;
	else if (app->status.phase == UI_LIVE && app->nav.step_ns >= NS_PER_S)
		app->nav.mode = NAV_FOLLOW;
	else
		app->nav.mode = NAV_PLAY;
	app_say(app, runs ? "paused: p goes on" : app->nav.mode == NAV_FOLLOW ?
		"following the newest second" : "playing one step a second: p pauses");
	nav_tick(&app->nav, app->main);
	app_moved(app);
}

static void do_follow(struct app *app, struct place *p, enum command_id command)
{
	app->nav.mode = NAV_FOLLOW;
	app->nav.fixed = false;
	app->nav.a_ns = app->nav.b_ns = TIME_UNKNOWN;	/* a range would stay where it is */
	nav_tick(&app->nav, app->main);
	app_say(app, "following the newest second");
	app_moved(app);
}

/* What is still open can't be decoded in finer steps. */
static void rest_on_closed(struct app *app)
{
	size_t i = timeline_n_seconds(app->main);

	app_pause(app);
	while (i > 0 && !timeline_second(app->main, i - 1)->version)
		i--;
	if (i > 0)
		nav_seek(&app->nav, app->main, timeline_second(app->main, i - 1)->begin_ns);
}

static void do_step_size(struct app *app, struct place *p, enum command_id command)
{
	bool finer = command == CMD_STEP_FINER;

	bool decodes = whole_decodes(app);

	if (finer && decodes && app->nav.mode == NAV_FOLLOW && app->nav.step_ns <= NS_PER_S)
		rest_on_closed(app);
	if (!nav_change_step(&app->nav, app->main, finer ? -1 : 1, decodes ? NS_PER_MS : NS_PER_S))
		app_say(app, !finer ? "10 minutes is the coarsest step" : decodes ?
			"1 ms is the finest step" : app->options->live ?
			"1 s is the finest step: no packets of this session are kept (--no-spool, or ! tells why)" :
			"1 s is the finest step here: finer ones are decoded from a recorded trace "
			"by the native reader");
	app_moved(app);
}

static void do_range(struct app *app, struct place *p, enum command_id command)
{
	struct nav *nav = &app->nav;

	if (nav->cursor_ns == TIME_UNKNOWN)
		return;
	app_pause(app);
	if (command == CMD_RANGE_A) {
		nav->a_ns = nav->cursor_ns;
		if (nav->b_ns != TIME_UNKNOWN && nav->b_ns <= nav->a_ns)
			nav->b_ns = TIME_UNKNOWN;
		app_say(app, "the range begins here: move on, then B ends it; R: no range");
	} else if (command == CMD_RANGE_B) {
		nav->b_ns = nav->cursor_ns + nav->step_ns;
		if (nav->a_ns != TIME_UNKNOWN && nav->a_ns >= nav->b_ns)
			nav->a_ns = TIME_UNKNOWN;
		app_say(app, "the range ends with this second; R: no range");
	} else {
		nav->a_ns = nav->b_ns = TIME_UNKNOWN;
		app_say(app, "no range: one step is shown");
	}
	app_moved(app);
}

static bool goto_text(struct app *app, const char *text, GError **error)
{
	int64_t first = 0, last = 0, at;

	if (!nav_bounds(&app->nav, app->main, &first, &last)) {
		g_set_error(error, BLK_EXPR_ERROR, 0, "nothing is read yet");
		return false;
	}
	if (!strcmp(text, "worst"))
		at = overview_worst_second(app->main);
	else if (!timefmt_parse_instant(text, app->nav.cursor_ns == TIME_UNKNOWN ? first :
					app->nav.cursor_ns, first, last, &at, error))
		return false;
	if (at == TIME_UNKNOWN) {
		app_say(app, "nothing is read yet");
		return true;
	}
	app_pause(app);
	nav_seek(&app->nav, app->main, at);
	if (at < first || at > last)
		app_say(app, "%s is outside of the trace: at its nearest second", text);
	app_moved(app);
	return true;
}

/* Find. */

void app_search(struct app *app, int direction, bool from_here)
{
	struct place *p = app_place(app);
	enum pane panes = (enum pane)place_n_panes(p->view), pane = p->pane;
	struct focus f = place_focus(p);
	long at = (long)f.table->cursor + (from_here ? 0 : direction);

	for (unsigned tried = 0; tried <= panes; tried++) {
		at = table_find(f.table, f.view, f.rows, at, direction, app->search);
		if (at >= 0) {
			p->pane = pane;
			table_select(f.table, f.rows, (size_t)at);
			return;
		}
		pane = (enum pane)(((int)pane + direction + (int)panes) % (int)panes);
		f = place_pane(p, pane);
		at = direction > 0 ? 0 : (long)f.rows->rows->len - 1;
	}
	app_error(app, "no row holds '%s'", app->search);
}

static void do_next(struct app *app, struct place *p, enum command_id command)
{
	int direction = command == CMD_NEXT ? 1 : -1;
	int64_t at;

	if (app->search) {
		app_search(app, direction, false);
		return;
	}
	if (app->nav.cursor_ns == TIME_UNKNOWN)
		return;
	at = overview_next_outlier(app->main, app->nav.cursor_ns, direction);
	if (at == TIME_UNKNOWN) {
		app_say(app, app->nav.reading ? "no such outlier in what is read so far" :
			overview_next_outlier(app->main, app->nav.cursor_ns, -direction) ==
			TIME_UNKNOWN ? "no other second stands out" :
			direction > 0 ? "no later outlier: N goes to the one before" :
			"no earlier outlier: n goes to the next");
		return;
	}
	app_pause(app);
	nav_seek(&app->nav, app->main, at);
	if (p->view->kind == VIEW_OVERVIEW) {
		p->pane = PANE_SLOWEST;
		p->table[PANE_SLOWEST].bound = false;
		p->table[PANE_SLOWEST].cursor = 0;
	}
	app_moved(app);
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
	app_say(app, by > 0 ? "no marked row below" : "no marked row above");
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
	case CMD_GOTO:
		prompt_open(&app->prompt, PROMPT_GOTO, NULL);
		break;
	default:
		prompt_open(&app->prompt, PROMPT_EXPORT, "zipkin span ");
	}
}

/* Output. */

const char *const ui_export_formats[] = { "zipkin", "otlp", "perfetto", "json", NULL };

/* The trace and span that the cursor is on; false: none. */
static bool selected_span(struct place *p, struct ui_export *ret)
{
	const struct row *row = place_selected(p);
	struct view_query q = narrow_here(p);

	if (p->view->kind != VIEW_WATERFALL)
		q = narrow_by_row(&p->narrow, row);
	ret->trace_id = q.trace_id;
	ret->trace_zero = q.trace_zero;
	ret->span_id = q.span_id;
	return query_has_trace(&q);
}

static bool export_now(struct app *app, const struct ui_export *what)
{
	g_autofree char *message = NULL;
	bool done;

	if (!app->backend) {
		app_error(app, "cannot export: nobody does it here");
		return false;
	}
	done = app->backend->export_span &&
	       app->backend->export_span(app->backend->data, what, &message);
	if (done)
		app_say(app, "%s%s", output_soft_note(app), message ? message : "exported");
	else
		app_error(app, "%s", message ? message : "cannot export");
	return done;
}

static void do_export(struct app *app, struct place *p, enum command_id command)
{
	struct ui_export what = { .tl = app->tl };

	if (!selected_span(p, &what)) {
		app_error(app, "cannot export: select a trace or a span first");
		return;
	}
	if (command == CMD_EXPORT)
		export_now(app, &what);
	else
		do_prompt(app, p, command);
}

static const char *find_format(const char *word)
{
	for (size_t i = 0; ui_export_formats[i]; i++)
		if (!strcmp(word, ui_export_formats[i]))
			return ui_export_formats[i];
	return NULL;
}

static bool export_text(struct app *app, const char *text, GError **error)
{
	struct ui_export what = { .tl = app->tl };
	g_autofree char *path = NULL;
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	selected_span(app_place(app), &what);
	for (char **w = words; *w; w++) {
		const char *format = find_format(*w);

		if (format)
			what.format = format;
		else if (!strcmp(*w, "with-kernel"))
			what.with_kernel = true;
		else if (!strcmp(*w, "trace"))
			what.span_id = 0;
		else if (**w && strcmp(*w, "span")) {
			path = g_strstrip(g_strjoinv(" ", w));
			break;
		}
	}
	what.path = path;
	bool chosen = what.trace_id || what.trace_zero;
	if (!chosen)
		g_set_error(error, BLK_EXPR_ERROR, 0, "select a trace or a span first");
	return chosen && (export_now(app, &what), true);
}

/* Move. */

static void do_move(struct app *app, struct place *p, enum command_id command)
{
	struct focus f = place_focus(p);
	long page = (long)MAX(f.table->page, 2) - 1, n = (long)f.rows->rows->len;
	long by = command == CMD_UP ? -1 : command == CMD_DOWN ? 1 : command == CMD_PAGE_UP ? -page :
		command == CMD_PAGE_DOWN ? page : command == CMD_TOP ? -n : n;

	table_move(f.table, f.rows, by);
}

/* Program. */

static void do_help(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *title = g_strdup_printf("Help: %s", p->view->title);

	popup_open(&app->popup, title, help_lines(p->view, app_context(app), app->canvas->cols),
		   false);
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

static const handler handlers[CMD_N] = {
	[CMD_VIEW_1] = do_view, [CMD_VIEW_2] = do_view, [CMD_VIEW_3] = do_view,
	[CMD_VIEW_4] = do_view, [CMD_VIEW_5] = do_view, [CMD_VIEW_6] = do_view,
	[CMD_VIEW_7] = do_view, [CMD_VIEW_8] = do_view, [CMD_VIEW_9] = do_view,
	[CMD_PATH] = do_view, [CMD_VIEW_LIST] = do_view_list, [CMD_VIEW_LOG] = screen_log_open,
	[CMD_VIEW_NEXT] = do_view_step, [CMD_VIEW_PREV] = do_view_step, [CMD_DRILL] = do_drill, [CMD_BACK] = do_back,
	[CMD_COMPARE] = compare_command,
	[CMD_EXPORT] = do_export, [CMD_EXPORT_AS] = do_export, [CMD_COPY] = output_copy,
	[CMD_SAVE] = output_save, [CMD_SAVE_TRACE] = output_save_trace,
	[CMD_TIME_BACK] = do_time, [CMD_TIME_FORWARD] = do_time,
	[CMD_TIME_BACK_10] = do_time, [CMD_TIME_FORWARD_10] = do_time, [CMD_GOTO] = do_prompt,
	[CMD_PAUSE] = do_pause, [CMD_FOLLOW] = do_follow, [CMD_STEP_FINER] = do_step_size,
	[CMD_STEP_COARSER] = do_step_size, [CMD_RANGE_A] = do_range, [CMD_RANGE_B] = do_range,
	[CMD_RANGE_CLEAR] = do_range, [CMD_NEXT] = do_next, [CMD_PREV] = do_next,
	[CMD_ERROR_NEXT] = do_error, [CMD_ERROR_PREV] = do_error, [CMD_UP] = do_move,
	[CMD_DOWN] = do_move, [CMD_PAGE_UP] = do_move, [CMD_PAGE_DOWN] = do_move,
	[CMD_TOP] = do_move, [CMD_BOTTOM] = do_move, [CMD_SEARCH] = do_prompt,
	[CMD_FILTER] = do_prompt, [CMD_SORT_LEFT] = tables_command, [CMD_SORT_RIGHT] = tables_command,
	[CMD_INVERT] = tables_command, [CMD_BY] = tables_command, [CMD_TREE] = tables_command,
	[CMD_TAG] = tables_command, [CMD_UNTAG] = tables_command,
	[CMD_ONLY_TAGGED] = tables_command, [CMD_CLEAR] = tables_command,
	[CMD_EXPAND] = tables_command, [CMD_COLLAPSE] = tables_command,
	[CMD_EXPAND_ALL] = tables_command, [CMD_COLUMNS] = chooser_open,
	[CMD_SORT_MENU] = chooser_open, [CMD_FACTS] = facts_open,
	[CMD_HELP] = do_help, [CMD_LOG] = do_log,
	[CMD_COACH] = settings_command, [CMD_MOUSE] = settings_command, [CMD_WRITE] = settings_command,
	[CMD_SNAPSHOT] = output_snapshot, [CMD_ALIGN] = output_align,
	[CMD_REDRAW] = do_program, [CMD_SUSPEND] = do_program,
	[CMD_QUIT] = do_program,
};

void app_command(struct app *app, enum command_id command)
{
	struct place *p = app_place(app);
	const struct screen *screen = screen_of(p->view);

	if (popup_is_open(&app->popup) && handlers[command] != do_program) {
		if (!chooser_command(app, command))
			popup_do(app, command);
		return;
	}
	if (screen->command && screen->command(app, p, command))
		return;
	if (handlers[command])
		handlers[command](app, p, command);
}

void app_prompt_done(struct app *app, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *line = g_strstrip(g_strdup(text));
	bool taken = true;

	switch (app->prompt.kind) {
	case PROMPT_SEARCH:
		if (!*line)
			g_clear_pointer(&app->search, g_free);
		break;
	case PROMPT_FILTER:
		taken = app_filter(app, app_place(app), line, &error);
		break;
	case PROMPT_GOTO:
		taken = !*line || goto_text(app, line, &error);
		break;
	case PROMPT_TRACE:
		taken = output_save_trace_as(app, line, &error);
		break;
	case PROMPT_SAVE:
		taken = output_save_as(app, line, &error);
		break;
	default:
		taken = export_text(app, line, &error);
	}
	if (taken)
		prompt_close(&app->prompt);
	else
		prompt_set_error(&app->prompt, error ? error->message : "cannot be read");
}
