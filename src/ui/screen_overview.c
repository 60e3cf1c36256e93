/* SPDX-License-Identifier: GPL-2.0-only */
/* The first screen: gauges, the graph of all seconds, why it is slow, and requests, operations and processes. */
#include "ui/screen_overview.h"

#include "ui/frame.h"
#include "ui/output.h"
#include "ui/panes.h"
#include "ui/screen.h"
#include "ui/strip.h"
#include "ui/tables.h"
#include "ui/progressive.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <math.h>
#include <string.h>

#define OVERVIEW_PANES ((int)PANE_PROCESSES + 1)

static void prepare(struct app *app, struct place *p)
{
	for (int i = 0; i < OVERVIEW_PANES; i++)
		tables_prepare(app, p, i);
	/* Selects the first requests that have ended: the cause of open ones is not known yet. */
	for (guint i = 0; !p->table[PANE_CAUSES].bound; i++) {
		struct focus f = place_pane(p, PANE_CAUSES);

		if (i >= f.rows->rows->len)
			break;
		if (!((const struct row *)g_ptr_array_index(f.rows->rows, i))->open) {
			f.table->cursor = i;
			break;
		}
	}
	/* Until a key is pressed the cursor is in the requests, or in the first table with rows.
	 * It is chosen again for each second, since the next one may have requests. */
	if (!app->touched)
		p->pane = PANE_CAUSES;
	if (!place_focus(p).rows->rows->len) {
		for (int i = 0; i < OVERVIEW_PANES; i++) {
			if (place_pane(p, i).rows->rows->len) {
				p->pane = i;
				break;
			}
		}
	}
}

/* The mark before provisional figures. */
static const char *provisional_mark(const struct app *app)
{
	return app->cover.kind == COVER_PROVISIONAL ? app->glyphs->provisional : "";
}

static const char *percent(const struct app *app, char buf[TIMEFMT_LEN], double ratio)
{
	if (ratio < 0)
		return "?";
	g_snprintf(buf, TIMEFMT_LEN, "%s%.0f", provisional_mark(app), ratio * 100);
	return buf;
}

static const char *duration(const struct app *app, char buf[TIMEFMT_LEN], int64_t ns)
{
	char text[TIMEFMT_LEN];

	if (ns < 0)
		return "?";
	g_snprintf(buf, TIMEFMT_LEN, "%s%s", provisional_mark(app), timefmt_duration(text, ns));
	return buf;
}

static void draw_load(struct app *app, const struct overview *o, unsigned y)
{
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN], d[TIMEFMT_LEN];

	if (o->cpu_ratio < 0 && o->runq_p99_ns < 0 && !o->device) {
		frame_add(app, y, 0, ROLE_TEXT, "%s ev/s", timefmt_count(a, (uint64_t)fmax(o->events_per_s, 0)));
		return;
	}
	unsigned x = frame_add(app, y, 0, ROLE_TEXT, "CPU %s%%", percent(app, a, o->cpu_ratio));

	if (app->canvas->cols >= 100)
		x = frame_add(app, y, x, ROLE_TEXT, " of %u core%s", o->n_cpus, o->n_cpus == 1 ? "" : "s");
	x = frame_add(app, y, x, ROLE_TEXT, ": user %s, system %s", percent(app, b, o->user_ratio),
		      percent(app, d, o->sys_ratio));
	if (app->canvas->cols >= 100)
		x = frame_add(app, y, x, ROLE_TEXT, ", irq %s", percent(app, a, o->irq_ratio));
	x = frame_add(app, y, x, ROLE_TEXT, "   runq p99 %s", duration(app, a, o->runq_p99_ns));
	if (o->device) {
		g_autofree char *name = text_visible(o->device);

		x = frame_add(app, y, x, ROLE_TEXT, "   %s %s%% p99 %s", name,
			      percent(app, a, o->device_ratio), duration(app, b, o->device_p99_ns));
	}
	frame_add(app, y, x, ROLE_TEXT, "   %s ev/s",
		  timefmt_count(a, (uint64_t)fmax(o->events_per_s, 0)));
}

#define GAUGE_CELLS 12		/* least columns of a gauge's bar */
#define GAUGE_TEXT 8		/* columns beside name and bar: blanks, edges, "100%" */

/* Returns the column after it. */
static unsigned draw_gauge(struct app *app, const struct overview_gauge *g, unsigned y, unsigned x, unsigned cells)
{
	char text[TIMEFMT_LEN];
	double ratio = CLAMP(g->ratio, 0, 1);
	g_autofree char *name = text_visible(g->name);

	x = frame_add(app, y, x, ROLE_TITLE, "%s", name);
	canvas_put(app->canvas, y, x, 1, ROLE_AXIS, app->glyphs->edge);
	frame_bar(app, y, x + 1, ROLE_HEAT + MIN((enum role)(ratio * HEAT_LEVELS), HEAT_LEVELS - 1),
		  (unsigned)(ratio * cells * 8 + 0.5), cells);
	canvas_put(app->canvas, y, x + 1 + cells, 1, ROLE_AXIS, app->glyphs->edge);
	return frame_add(app, y, x + 2 + cells, ROLE_TEXT, "%s%%  ", percent(app, text, g->ratio));
}

/* More CPUs than have room for bars: one cell each, then their mean. */
static unsigned draw_many_cpus(struct app *app, const struct overview *o, unsigned y)
{
	char text[TIMEFMT_LEN];
	unsigned x = frame_add(app, y, 0, ROLE_TITLE, "%u CPUs", o->n_cpus), room = app->canvas->cols / 2;

	canvas_put(app->canvas, y, x++, 1, ROLE_AXIS, app->glyphs->edge);
	for (unsigned i = 0; i < MIN(o->n_cpus, room); i++, x++) {
		double ratio = o->gauges[i].ratio;

		if (ratio <= 0)
			continue;
		canvas_put(app->canvas, y, x, 1, ROLE_SPARK,
			   app->glyphs->spark[1 + (unsigned)(MIN(ratio, 1) * 7.99)]);
		canvas_shade(app->canvas, y, x, 1, theme_shade(ratio), false);
	}
	canvas_put(app->canvas, y, x++, 1, ROLE_AXIS, app->glyphs->edge);
	return frame_add(app, y, x, ROLE_TEXT, "%s%%  ", percent(app, text, o->cpu_ratio));
}

/* One line: each CPU and the busiest devices. */
static void draw_gauges(struct app *app, const struct overview *o, unsigned y)
{
	unsigned cols = app->canvas->cols, names = 0, n = MIN(o->n_gauges, o->n_cpus + 2), x = 0, i = 0;

	bool any = false;

	for (unsigned k = 0; k < o->n_gauges; k++)
		any |= o->gauges[k].ratio >= 0;
	if (!any) {
		canvas_put(app->canvas, y, 0, cols, ROLE_DIM, o->n_gauges ?
			   "how busy CPUs and disks were is unknown: no sched_switch (F7: how to record it)" :
			   "no CPU or disk is known in this range");
		return;
	}
	for (unsigned k = 0; k < n; k++)
		names += text_width(o->gauges[k].name) + GAUGE_TEXT;
	unsigned cells = cols > names ? (cols - names) / MAX(n, 1) : 0;
	if (cells < GAUGE_CELLS && o->n_cpus > 2) {
		x = draw_many_cpus(app, o, y);
		i = o->n_cpus;
		cells = GAUGE_CELLS;
	}
	for (; i < n; i++) {
		g_autofree char *name = text_visible(o->gauges[i].name);

		if (x + text_width(name) + MAX(cells, 4) + GAUGE_TEXT > cols + 2)
			break;
		x = draw_gauge(app, &o->gauges[i], y, x, MAX(cells, 4));
	}
}

char *screen_overview_why(struct place *p)
{
	const struct overview *o = overview_of(p->rows);
	struct focus f = place_pane(p, PANE_CAUSES);
	const struct row *row = table_selected(f.table, f.rows);
	char *requests = row ? overview_why(o, row) : NULL;

	return requests ? requests : g_strdup(o->machine_why);
}

/* Lines of WHY. They depend on the screen only, so that the tables stay where they are when cursor or time moves. */
static unsigned why_rows(const struct app *app, unsigned rows)
{
	if (app->nav.cursor_ns == TIME_UNKNOWN)
		return 0;
	return rows < 16 ? 1 : rows < 30 || app->canvas->cols >= 160 ? 2 : app->canvas->cols >= 110 ? 3 : 4;
}

/* What stands out: why the selected requests are slow; without requests, about the machine. */
static void draw_why(struct app *app, struct place *p, struct box box)
{
	g_autofree char *why = screen_overview_why(p);

	if (why && box.rows)
		frame_why(app, box, why);
}

/* Since when it is slow: a line that Enter follows. Returns the number of lines. */
static unsigned draw_since(struct app *app, struct place *p, unsigned y)
{
	struct focus f = place_pane(p, PANE_SINCE);
	const struct row *row = table_selected(f.table, f.rows);
	bool active = p->pane == PANE_SINCE;
	struct canvas *c = app->canvas;

	if (app->nav.cursor_ns == TIME_UNKNOWN || !timeline_facts(app->tl)->has_spans)
		return 0;
	if (!row) {
		canvas_put(c, y, 4, c->cols, ROLE_DIM, "no request that ended here is slower than usual");
		return 1;
	}
	struct value text = column_value(&f.view->columns[0], row, f.rows);
	unsigned x = 4 + canvas_put(c, y, 4, c->cols, ROLE_WHY, text.s);

	if (overview_of(p->rows)->since_ns < p->built.from_ns)
		frame_add(app, y, x, ROLE_DIM, "  Enter on this line goes there");
	canvas_hit(c, y, 0, c->cols, HIT_ROW, f.table, 0);
	if (!active)
		return 1;
	canvas_put(c, y, 0, 1, ROLE_SELECTED, app->glyphs->cursor);
	canvas_set_role(c, y, 0, c->cols, ROLE_SELECTED);
	app->cursor_y = y;
	return 1;
}

/* Says what was dropped from the lists for lack of memory, or what spans the events suggest. Returns the number of
 * lines. */
static unsigned draw_dropped(struct app *app, struct place *p, struct box box)
{
	const char *list = place_pane(p, PANE_CAUSES).rows->omitted;
	g_autofree char *text = NULL, *suggestion = output_suggestion(app);

	if (suggestion && !timeline_facts(app->tl)->has_spans)
		return frame_sentence(app, box, ROLE_HOT, suggestion);
	if (!p->rows->dropped && !list)
		return 0;
	text = g_strdup_printf("%s%s%s", p->rows->dropped ? p->rows->dropped : "",
			       p->rows->dropped && list ? "; " : "", list ? list : "");
	return frame_sentence(app, box, ROLE_TITLE, text);
}

/* The figure of the shown graph in the range, and its usual; below 0: unknown. */
static void graph_figures(struct app *app, const struct overview *o, double *ret_usual, double *ret_here)
{
	enum graph graph = strip_graph(app);

	*ret_usual = graph == GRAPH_REQUESTS ? (double)progressive_strip(app)->usual_ns : -1;
	*ret_here = graph == GRAPH_REQUESTS ? (double)o->p99_ns : graph == GRAPH_CPU ? o->cpu_ratio :
		graph == GRAPH_RUNQ ? (double)o->runq_p99_ns : -1;
}

/* Rows of the graph with its axis. */
static unsigned graph_rows(unsigned rows)
{
	return rows < 16 ? 1 : rows < 20 ? 3 : rows < 30 ? 4 : rows < 50 ? rows / 5 : MIN(rows / 4, 16);
}

/* What stands above the tables. Returns the first row below it. */
static unsigned draw_head(struct app *app, struct place *p, const struct overview *o, struct box box)
{
	unsigned y = box.y, graph = graph_rows(box.rows);
	double usual, here;

	draw_gauges(app, o, y++);
	if (box.rows >= 26)
		draw_load(app, o, y++);
	frame_completeness(app, y++, &p->rows->completeness);
	if (strip_graph(app) == GRAPH_N && !app->outline) {
		canvas_put(app->canvas, y, 0, box.cols, ROLE_DIM, "no request ended so far, and no CPU is known");
		graph = 1;
	} else if (graph == 1 || strip_graph(app) == GRAPH_N) {
		graph = 1;
		strip_draw_whole(app, y);
	} else {
		graph_figures(app, o, &usual, &here);
		strip_draw_graph(app, (struct box){ y, 0, graph, box.cols }, usual, here);
	}
	y += graph;
	draw_why(app, p, (struct box){ y, 0, why_rows(app, box.rows), box.cols });
	y += why_rows(app, box.rows);
	y += draw_since(app, p, y);
	return y + draw_dropped(app, p, (struct box){ y, 0, box.rows >= 18 ? 2 : 1, box.cols });
}

#define HIDDEN_ROWS 4		/* a table of causes with so many rows has one that says which are not shown */

static void draw_pane(struct app *app, struct place *p, enum pane pane, struct box box, bool says_empty)
{
	static const char *const empty[OVERVIEW_PANES] = {
		[PANE_CAUSES] = "no request in this range", [PANE_OPERATIONS] = "no request in this range",
		[PANE_PROCESSES] = "no process ran",
	};
	bool unknown = pane == PANE_PROCESSES && overview_knows_no_process(p->rows);
	struct table_style style = app_table_style(app, p->pane == pane);
	struct focus f = place_pane(p, pane);
	bool hides = pane == PANE_CAUSES && box.rows >= HIDDEN_ROWS && f.rows->rows->len > box.rows - 1;
	struct box table = { box.y, box.x, box.rows - hides, box.cols };
	unsigned at = table_draw(app->canvas, table, f.table, f.view, f.rows, &style);
	g_autofree char *hidden = hides ? overview_hidden(overview_of(p->rows), f.table->top,
							   f.table->top + f.table->page) : NULL;

	if (hidden)
		canvas_put(app->canvas, box.y + box.rows - 1, box.x + 2, box.cols - 2, ROLE_DIM, hidden);
	if (p->pane == pane)
		app->cursor_y = at;
	if (!f.rows->rows->len && says_empty)
		canvas_put(app->canvas, box.y + 1, box.x + 1, box.cols, ROLE_DIM,
			   frame_nothing(app, !unknown ? empty[pane] :
					 "what processes did is unknown: no sched_switch, no system calls"));
}

#define PROCESS_COLS 84		/* for the table of processes: what is wider goes to the texts beside it */
#define PROCESS_LEAST 62	/* where the texts beside it are cut otherwise */

/* Requests and operations on the left, processes on the right. */
static void draw_side_by_side(struct app *app, struct place *p, struct box box)
{
	guint n = place_pane(p, PANE_OPERATIONS).rows->rows->len;
	struct focus f = place_pane(p, PANE_CAUSES);
	unsigned least = box.cols - MIN(box.cols / 2, PROCESS_COLS), operations = MIN(n, box.rows / 3);
	unsigned left = CLAMP(table_wanted(f.table, f.view, f.rows), least, box.cols - PROCESS_LEAST - 2);
	unsigned causes = (unsigned)MAX(place_pane(p, PANE_CAUSES).rows->rows->len, 1) + 1;

	causes = MIN(causes, box.rows - operations - 2);
	draw_pane(app, p, PANE_CAUSES, (struct box){ box.y, 0, causes, left }, true);
	draw_pane(app, p, PANE_OPERATIONS, (struct box){ box.y + causes + 1, 0, box.rows - causes - 1, left }, true);
	draw_pane(app, p, PANE_PROCESSES, (struct box){ box.y, left + 2, box.rows, box.cols - left - 2 }, true);
}

static void draw_stacked(struct app *app, struct place *p, struct box box)
{
	/* In this order they get rows when room is short. */
	static const enum pane order[] = { PANE_CAUSES, PANE_PROCESSES, PANE_CAUSES, PANE_OPERATIONS };
	bool gaps = box.rows >= 16;
	unsigned rows[PANE_N], y = box.y, fixed = 3 + (gaps ? 2 : 0);

	for (enum pane i = PANE_CAUSES; gaps && i <= PANE_PROCESSES; i++)
		fixed += !place_pane(p, i).rows->rows->len;	/* an empty table has a line that says so */
	panes_share(p, box.rows > fixed ? box.rows - fixed : 0, order, G_N_ELEMENTS(order), rows);
	for (enum pane pane = PANE_CAUSES; pane <= PANE_PROCESSES; pane++) {
		bool is_empty = !place_pane(p, pane).rows->rows->len;
		struct box table = { y, box.x, 1 + rows[pane], box.cols };

		draw_pane(app, p, pane, table, gaps);
		y += table.rows + (gaps ? 1 : 0);
		if (is_empty && gaps && y < box.y + box.rows)
			y++;
	}
}

#define WIDE 160		/* columns for two tables side by side */
#define SOME_PROCESSES 10

/* Have the requests, the operations and some processes room one below the other? Then their texts have all columns. */
static bool have_room(struct place *p, unsigned rows)
{
	unsigned n = 5;			/* headings and gaps */

	for (enum pane i = PANE_CAUSES; i <= PANE_PROCESSES; i++) {
		guint all = (guint)place_n_lines(p, i);
		n += i == PANE_PROCESSES ? MIN(all, SOME_PROCESSES) : MAX(all, 1);
	}
	return n <= rows;
}

static void draw(struct app *app, struct place *p, struct box box)
{
	const struct overview *o = overview_of(p->rows);
	unsigned y = draw_head(app, p, o, box);
	struct box tables = { y, 0, box.y + box.rows > y ? box.y + box.rows - y : 0, box.cols };

	if (app->nav.cursor_ns != TIME_UNKNOWN && !timeline_facts(app->tl)->has_spans)
		draw_pane(app, p, PANE_PROCESSES, tables, true);
	else if (box.cols >= WIDE && tables.rows >= 8 && !have_room(p, tables.rows))
		draw_side_by_side(app, p, tables);
	else
		draw_stacked(app, p, tables);
}

/* Enter on the line that says since when it is slow. */
static bool follow_since(struct app *app, struct place *p)
{
	int64_t since = overview_of(p->rows)->since_ns, from, to;

	if (p->pane != PANE_SINCE || since == TIME_UNKNOWN)
		return false;
	nav_range(&app->nav, &from, &to);
	if (from <= since && since < to && !nav_has_whole_range(&app->nav))
		app_message(app, "this is the first slow second: Right goes on");
	else
		app_go_to(app, since);
	return true;
}

static void next_graph(struct app *app, struct place *p, enum command_id id)
{
	app->graph = strip_next_graph(app);
	if (strip_graph(app) < GRAPH_N)
		app_message(app, "graph: %s", graph_info[strip_graph(app)].title);
}

static bool command(struct app *app, struct place *p, enum command_id id)
{
	return (id == CMD_DRILL && follow_since(app, p)) || panes_command(app, p, id);
}

static const struct screen_command commands[] = { { CMD_GRAPH, next_graph }, { CMD_NONE, NULL } };

const struct screen screen_overview = {
	.draw = draw, .commands = commands, .command = command, .prepare = prepare,
};
