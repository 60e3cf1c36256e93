/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys i and d: see metric_of.h. */
#include "ui/metric_of.h"

#include "ui/metric_place.h"
#include "ui/screen.h"

#include "base/text.h"

#include <string.h>

/* Which metric a row of a view is about. With a column: if the table is sorted by it (a prefix); the first one that
 * fits. The value of the column `name` is that of the field. */
static const struct about {
	const char *view, *column, *metric, *name;
	enum metric_field field;
} abouts[] = {
	{ "overview", NULL, "request.latency", "operation", METRIC_BY_operation },
	{ "causes", NULL, "request.latency", "operation", METRIC_BY_operation },
	{ "overview-processes", NULL, "sched.wakeup", NULL, 0 },
	{ "traces", NULL, "request.latency", "name", METRIC_BY_operation },
	{ "phases", "self", "span.self", "name", METRIC_BY_span },
	{ "phases", NULL, "span.latency", "name", METRIC_BY_span },
	{ "spans", "self", "span.self", "name", METRIC_BY_span },
	{ "spans", NULL, "span.latency", "name", METRIC_BY_span },
	{ "slow-spans", NULL, "span.latency", "name", METRIC_BY_span },
	{ "services", NULL, "span.latency", "service", METRIC_BY_service },
	{ "open", NULL, "span.latency", "name", METRIC_BY_span },
	{ "changed", NULL, "span.latency", "name", METRIC_BY_span },
	{ "waterfall", NULL, "span.latency", "name", METRIC_BY_span },
	{ "processes", "sys", "call.latency", NULL, 0 },
	{ "processes", NULL, "sched.wakeup", NULL, 0 },
	{ "process-threads", "sys", "call.latency", NULL, 0 },
	{ "process-threads", NULL, "sched.wakeup", NULL, 0 },
	{ "process-files", NULL, "file.latency", "path", METRIC_BY_file },
	{ "process-calls", NULL, "call.latency", "syscall", METRIC_BY_call },
	{ "process-slow", NULL, "call.latency", "syscall", METRIC_BY_call },
	{ "syscalls", NULL, "call.latency", "syscall", METRIC_BY_call },
	{ "slow", NULL, "call.latency", "syscall", METRIC_BY_call },
	{ "files", NULL, "file.latency", "path", METRIC_BY_file },
	{ "io", NULL, "file.latency", NULL, 0 },
	{ "devices", "queue", "device.queue", "device", METRIC_BY_device },
	{ "devices", NULL, "device.latency", "device", METRIC_BY_device },
	{ "scheduler", "preempt", "sched.preempted", NULL, 0 },
	{ "scheduler", NULL, "sched.wakeup", NULL, 0 },
	{ "cpus", NULL, "sched.wakeup", NULL, 0 },
	{ "wakers", NULL, "sched.wakeup", NULL, 0 },
	{ "interrupts", "raise", "interrupt.raise", "irq", METRIC_BY_interrupt },
	{ "interrupts", NULL, "interrupt.time", "irq", METRIC_BY_interrupt },
};

static const struct about *about_of(const struct focus *f)
{
	bool descending;
	int sorted = table_sort_column(f->table, f->view, &descending);
	const char *column = sorted >= 0 ? f->view->columns[sorted].id : "";
	for (size_t i = 0; i < G_N_ELEMENTS(abouts); i++)
		if (!strcmp(f->view->id, abouts[i].view) &&
		    (!abouts[i].column || g_str_has_prefix(column, abouts[i].column)))
			return &abouts[i];
	return NULL;
}

/* The metric of a row, with conditions that say which row it is. */
static struct metric_place *metric_of_row(const struct place *p, const struct focus *f, const struct row *row,
					  const struct about *about)
{
	const struct view_query q = place_query(p);
	struct metric_place *m = metric_place_new(metric_find(about->metric, NULL));
	if (about->name)
		metric_place_where(m, about->field, view_value(f->view, f->rows, row, about->name));
	if (q.operation && about->field != METRIC_BY_operation)
		metric_place_where(m, METRIC_BY_operation, value_text(q.operation));
	if (metric_is_of_spans(m->query.metric))
		return m;
	struct value pid = view_value(f->view, f->rows, row, "pid"), tid = view_value(f->view, f->rows, row, "tid");
	if (pid.kind == VALUE_NONE && q.pid >= 0)
		pid = value_int(VALUE_ID, q.pid);
	if (tid.kind == VALUE_NONE && q.tid >= 0)
		tid = value_int(VALUE_ID, q.tid);
	metric_place_where(m, METRIC_BY_pid, pid);
	metric_place_where(m, METRIC_BY_tid, tid);
	metric_place_where(m, METRIC_BY_cpu, view_value(f->view, f->rows, row, "cpu"));
	if (pid.kind == VALUE_NONE && tid.kind == VALUE_NONE)
		metric_place_where(m, METRIC_BY_container, view_value(f->view, f->rows, row, "container"));
	return m;
}

/* The two tagged rows; fewer: the selected one. Returns how many. */
static unsigned chosen_rows(const struct focus *f, const struct row *ret[2])
{
	unsigned n = table_tagged(f->table, f->rows, ret);
	if (n == 2)
		return 2;
	ret[0] = table_selected(f->table, f->rows);
	return n > 2 ? n : 1;
}

static void open_metric(struct app *app, struct metric_place *m, const char *view)
{
	const struct view_query all = VIEW_QUERY_INIT;
	g_autofree char *title = metric_place_title(m);
	g_autofree char *crumb = m->other_name ? g_strdup_printf("%s, %s", title, m->other_name) : g_strdup(title);
	struct place *to = place_new(view_find(view), &all, crumb);
	place_take_metric(to, m);
	app_open(app, to);
}

/* Of the heatmap the distribution of the same metric. */
static void open_beside(struct app *app, struct place *p, enum command_id command)
{
	bool heatmap = command == CMD_HEATMAP;
	if (app_is_shown(app, view_find(heatmap ? "heatmap" : "distribution")))
		return;
	open_metric(app, metric_place_copy(place_metric(p)), heatmap ? "heatmap" : "distribution");
}

static void add_other(struct metric_place *m, struct metric_place *other)
{
	m->other = other->query;
	m->other_name = g_strdup(other->name);
	other->query = (struct metric_query){ 0 };
	metric_place_free(other);
}

/* --- on the first screen: the process, or the whole machine --- */

static const struct metric_choice { const char *metric, *text; bool of_row; } choices[] = {
	{ "sched.wakeup", "time in the run queue", true },
	{ "call.latency", "system calls", true },
	{ "request.latency", "requests", false },
	{ "sched.wakeup", "time in the run queue", false },
	{ "call.latency", "system calls", false },
	{ "device.latency", "block requests", false },
	{ "interrupt.time", "interrupts", false },
};

/* The n-th choice whose metric the trace has; NULL: there are fewer. */
static const struct metric_choice *nth_choice(const struct app *app, size_t n)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choices); i++)
		if (metric_is_recorded(metric_find(choices[i].metric, NULL), app->main) && n-- == 0)
			return &choices[i];
	return NULL;
}

/* data: the id of the view. */
static void choice_picked(struct app *app, void *data, size_t line)
{
	struct place *p = app_place(app);
	struct focus f = place_focus(p);
	const struct metric_choice *c = nth_choice(app, line);
	const struct row *row = table_selected(f.table, f.rows);
	struct about about = { .view = f.view->id };

	if (!c)
		return;
	about.metric = c->metric;
	open_metric(app, c->of_row ? metric_of_row(p, &f, row, &about) : metric_place_new(metric_find(c->metric, NULL)),
		    data);
}

static void offer_choices(struct app *app, const struct focus *f, enum command_id command)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	struct value name = view_value(f->view, f->rows, table_selected(f->table, f->rows), "comm");
	g_autofree char *process = text_visible(name.kind == VALUE_TEXT ? name.s : "the process");
	const struct metric_choice *c;

	for (size_t i = 0; (c = nth_choice(app, i)); i++)
		g_ptr_array_add(lines, g_strdup_printf("%-22s of %s", c->text,
						       c->of_row ? process : "the whole machine"));
	app_pick(app, command == CMD_HEATMAP ? "Heatmap of" : "Distribution of", lines,
		 &(struct pick){ choice_picked, .data = command == CMD_HEATMAP ? "heatmap" : "distribution" });
}

void metric_of_command(struct app *app, struct place *p, enum command_id command)
{
	if (p->view->of_metric) {
		open_beside(app, p, command);
		return;
	}
	struct focus f = place_focus(p);
	const struct about *about = about_of(&f);
	const struct row *rows[2] = { NULL, NULL };
	unsigned n = command == CMD_DISTRIBUTION ? chosen_rows(&f, rows) : 1;
	if (p->view->kind == VIEW_OVERVIEW && p->pane == PANE_PROCESSES && n == 1 && nth_choice(app, 0)) {
		offer_choices(app, &f, command);
		return;
	}
	if (!about) {
		app_message(app, "%s has no durations, one by one", p->view->title);
		return;
	}
	if (n > 2) {
		app_message(app, "%u rows are tagged: two can be shown side by side, U untags all", n);
		return;
	}
	if (n == 1)
		rows[0] = table_selected(f.table, f.rows);
	struct metric_place *m = metric_of_row(p, &f, rows[0], about);
	if (n == 2)
		add_other(m, metric_of_row(p, &f, rows[1], about));
	open_metric(app, m, command == CMD_HEATMAP ? "heatmap" : "distribution");
}
