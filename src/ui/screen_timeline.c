/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline: one row a CPU, device, thread and interrupt, painted cell by cell. See screen_timeline.h. Where cells
 * are shorter than a second, the trace is decoded in steps of a cell, and until then cells show whole seconds.
 */
#include "ui/screen_timeline.h"

#include "ui/explain.h"
#include "ui/frame.h"
#include "ui/lane_cells.h"
#include "ui/progressive.h"
#include "ui/screen.h"
#include "ui/screen_log.h"
#include "ui/strip.h"
#include "ui/tables.h"
#include "ui/timeline_axis.h"
#include "ui/waterfall_bars.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/lanes.h"

#include <string.h>

#define TICK_COLS 9		/* least columns between two ticks */

static const struct lane_row *lane_at(const struct place *p, size_t i)
{
	return i < p->rows->rows->len ? g_ptr_array_index(p->rows->rows, i) : NULL;
}

static const struct lane_row *selected(struct place *p)
{
	return (const struct lane_row *)(const void *)table_selected(&p->table[PANE_MAIN], p->rows);
}

static void query(struct app *app, struct place *p, struct view_query *q)
{
	struct timeline_axis a;

	if (!timeline_axis(app, p, &a))
		return;
	q->from_ns = a.from_ns;
	q->to_ns = a.to_ns;
	q->cells = a.cells;
}

static void prepare(struct app *app, struct place *p)
{
	tables_prepare(app, p, PANE_MAIN);
	for (guint i = 0; p->select.pid >= 0 && i < p->rows->rows->len; i++) {
		const struct lane_row *r = lane_at(p, i);

		if (r->kind != LANE_THREADS || r->c.pid != p->select.pid ||
		    (p->select.tid >= 0 && r->c.tid >= 0 && r->c.tid != p->select.tid))
			continue;
		table_select(&p->table[PANE_MAIN], p->rows, i);
		p->select.pid = p->select.tid = -1;
	}
}

/* ---- a lane ---- */

/* The share of the range that it was on a CPU, busy, or in handlers; or its events. */
static char *lane_sum(const struct lane_row *r)
{
	char events[TIMEFMT_LEN];
	int64_t ns = r->kind == LANE_DEVICE ? r->busy_ns : r->handler_ns;
	double share = (double)ns / (double)MAX(r->end_ns - r->begin_ns, 1);

	if (r->by_events && !r->events)
		return g_strdup("-");
	if (r->by_events)
		return g_strdup(timefmt_count(events, r->events));
	if (r->kind == LANE_CPU && r->total_ns)
		share = (double)r->run_ns / (double)r->total_ns;
	if (r->kind == LANE_THREADS && r->total_ns)
		share = (double)part_sum_cpu(r->c.part) / (double)r->total_ns;
	return g_strdup_printf("%d%%", (int)(100 * share + 0.5));
}

/* Of a long name, the thread's number stays. */
static char *lane_name(const struct app *app, const struct lane_row *r, unsigned cols)
{
	g_autofree char *name = text_visible(r->c.name);
	char *number = strrchr(name, '/');
	unsigned width = number ? text_width(number) : 0;

	if (r->kind != LANE_THREADS || !width || text_width(name) <= cols || width + 1 >= cols)
		return text_clip(name, cols, app->glyphs->utf8);
	g_autofree char *tail = g_strdup(number);
	*number = '\0';
	g_autofree char *head = text_clip(name, cols - width, app->glyphs->utf8);
	return g_strconcat(head, tail, NULL);
}

static void draw_lane(struct app *app, struct place *p, const struct lane_row *r, const struct lane_axis *a, unsigned y)
{
	struct canvas *c = app->canvas;
	unsigned names = a->x;
	unsigned below = r->kind == LANE_THREADS && r->grouped && !r->is_container;	/* a container */
	g_autofree char *sum = lane_sum(r);
	unsigned wide = text_width(sum) > 4;		/* "36.5k" */
	g_autofree char *clipped = lane_name(app, r, names - 7 - below - wide);

	canvas_put(c, y, 1 + below, names - 7 - below, r->kind == LANE_THREADS && !r->is_container ? ROLE_TEXT :
		   ROLE_CRUMB, clipped);
	canvas_put_right(c, y, names - 5 - wide, 4 + wide, ROLE_DIM, sum);
	canvas_put(c, y, names - 1, 1, ROLE_AXIS, app->glyphs->edge);
	lane_cells_draw(app, p->rows, r, a, y);
	canvas_put(c, y, a->x + a->cells, 1, ROLE_AXIS, app->glyphs->edge);
	if (keyset_has(&p->table[PANE_MAIN].tags, &r->c.row))
		canvas_put(c, y, 0, 1, ROLE_SORTED, app->glyphs->tag);
	if (r == selected(p)) {
		canvas_put(c, y, 0, 1, ROLE_SELECTED, app->glyphs->cursor);
		canvas_set_role(c, y, 0, names - 1, ROLE_SELECTED);
		app->cursor_y = y;
	}
}

/* ---- around the lanes ---- */

/* An instant with as many digits as a cell needs. */
static char *instant_text(char buf[TIMEFMT_LEN], int64_t at, int64_t cell_ns)
{
	return cell_ns >= NS_PER_S ? timefmt_clock(buf, at) : cell_ns >= NS_PER_MS ? timefmt_clock_ms(buf, at) :
		timefmt_clock_ns(buf, at);
}

/* Puts a label of the axis at a cell, unless the cursor would hide a part of it. Returns the cell after it, else 0. */
static unsigned put_label(struct app *app, const struct timeline_axis *a, unsigned y, unsigned cell, unsigned cursor,
			  const char *text)
{
	unsigned width = text_width(text);

	if (cursor > cell && cursor < cell + width)
		return 0;
	return cell + canvas_put(app->canvas, y, a->x + cell, width, ROLE_AXIS, text) + 1;
}

/* Where it begins and ends, and ticks between. The cursor hides the first character of a label, or none. */
static void draw_axis(struct app *app, const struct timeline_axis *a, unsigned cursor, unsigned y, bool events)
{
	struct canvas *c = app->canvas;
	unsigned names = a->x, end = a->cells, next;
	int64_t tick = timeline_axis_length_from(TICK_COLS * a->cell_ns);
	char text[TIMEFMT_LEN], offset[TIMEFMT_LEN];

	canvas_fill(c, y, 0, c->cols, ROLE_HEADER, " ");
	canvas_put(c, y, 1, 4, ROLE_HEADER, "LANE");
	canvas_put_right(c, y, names - 7, 6, ROLE_HEADER, events ? "EVENTS" : "BUSY");
	instant_text(text, a->from_ns, a->cell_ns);
	next = put_label(app, a, y, cursor < text_width(text) ? cursor + 1 : 0, cursor, text);
	instant_text(text, a->to_ns, a->cell_ns);
	if (a->cells > 60 && cursor < end - text_width(text) &&
	    put_label(app, a, y, end - text_width(text), cursor, text))
		end -= text_width(text) + 1;
	for (int64_t at = tick; at / a->cell_ns < (int64_t)end; at += tick) {
		unsigned cell = (unsigned)(at / a->cell_ns);

		g_snprintf(text, sizeof text, "+%s", timefmt_duration(offset, at));
		if (cell >= next && cell + text_width(text) <= end)
			next = MAX(next, put_label(app, a, y, cell, cursor, text));
	}
	canvas_put(c, y, names + cursor, 1, ROLE_HOT, app->glyphs->sort_down);
}

/* Do cells show seconds that are longer than they are? */
static bool is_coarse(const struct place *p)
{
	for (guint i = 0; i < p->rows->rows->len; i++) {
		const struct lane_row *r = lane_at(p, i);

		for (unsigned k = 0; r->cells && k < p->rows->query.cells; k++)
			if (r->cells[k].state != LANE_NOTHING)
				return r->cells[k].coarse;
	}
	return false;
}

/* The number of lanes in which events are all that is known. */
static guint lanes_of_events(const struct place *p)
{
	guint n = 0;

	for (guint i = 0; i < p->rows->rows->len; i++)
		n += lane_at(p, i)->by_events;
	return n;
}

/* Are there spans in lanes of events? */
static bool has_spans(const struct place *p)
{
	for (guint i = 0; i < p->rows->rows->len; i++)
		for (unsigned k = 0; lane_at(p, i)->cells && k < p->rows->query.cells; k++)
			if (lane_at(p, i)->cells[k].span)
				return true;
	return false;
}

bool screen_timeline_is_waiting(struct app *app)
{
	struct place *p = nav_top(&app->nav);
	struct timeline_axis a;

	return p->view->kind == VIEW_TIMELINE && p->rows && is_coarse(p) && progressive_decodes(app) &&
	       timeline_axis(app, p, &a) && timeline_axis_step(app, &a);
}

static char *summary(struct app *app, struct place *p, const struct timeline_axis *a)
{
	static const char *const by[BY_N] = {
		[BY_SYSTEM] = "machine", [BY_CPU] = "CPUs", [BY_THREAD] = "threads", [BY_PROCESS] = "processes",
		[BY_CONTAINER] = "containers",
	};
	char cell[TIMEFMT_LEN];
	GString *s = g_string_new(NULL);
	g_autofree char *filter = p->filter ? text_visible(p->filter) : NULL;

	g_string_append_printf(s, "Timeline of %s: %u lane%s, a cell is %s", by[p->narrow.by] ? by[p->narrow.by] :
			       "all", p->rows->rows->len, p->rows->rows->len == 1 ? "" : "s",
			       timefmt_duration(cell, a->cell_ns));
	if (lanes_of_events(p))
		g_string_append(s, "; marks are events: when threads ran is not recorded");
	if (p->table[PANE_MAIN].only_tagged)
		g_string_append(s, ", only tagged ones (T)");
	if (filter)
		g_string_append_printf(s, "   filter %s   u clears it", filter);
	if (!is_coarse(p))
		return g_string_free(s, FALSE);
	g_string_append(s, !progressive_decodes(app) ? " (of whole seconds)" : timeline_axis_step(app, a) ?
			" (of whole seconds, decoding ...)" : " (of whole seconds: z zooms in)");
	return g_string_free(s, FALSE);
}

/* The lane's figures of the cell under the cursor, or of the second that the cell is in. */
static char *cursor_text(const struct app *app, struct place *p, const struct timeline_axis *a)
{
	const struct lane_row *r = selected(p), *found = NULL;
	unsigned at = timeline_axis_cursor(p, a);
	struct view_query q = p->rows->query;
	char from[TIMEFMT_LEN], cell[TIMEFMT_LEN];
	size_t i;

	if (!r)
		return g_strdup("");
	q.from_ns = a->from_ns + at * a->cell_ns;
	q.to_ns = q.from_ns + a->cell_ns;
	q.cells = 1;
	i = timeline_find(app->tl, q.from_ns);
	const struct lane_cell *here = r->cells && at < p->rows->query.cells ? &r->cells[at] : NULL;
	if (here && here->coarse && i < timeline_n_seconds(app->tl)) {
		q.from_ns = timeline_outline(app->tl, i)->begin_ns;
		q.to_ns = timeline_outline(app->tl, i)->end_ns;
	}
	struct rows *rows = p->view->build(app->tl, &q);
	for (guint k = 0; !found && k < rows->rows->len; k++) {
		const struct lane_row *x = g_ptr_array_index(rows->rows, k);

		if (x->c.row.key[0] == r->c.row.key[0] && x->c.row.key[1] == r->c.row.key[1])
			found = x;
	}
	const char *span = here ? here->span : NULL;
	g_autofree char *what = found ? lane_text(rows, found) : g_strdup(r->by_events ? "no event" :
									  "nothing is known there");
	char *text = g_strdup_printf("cursor %s +%s  %s: %s%s%s", instant_text(from, q.from_ns, a->cell_ns),
				     timefmt_duration(cell, q.to_ns - q.from_ns), r->c.name, what,
				     span ? "; in the span " : "", span ? span : "");
	rows_free(rows);
	return text;
}

char *screen_timeline_text(struct app *app, struct place *p)
{
	struct timeline_axis a;
	g_autofree char *text = timeline_axis(app, p, &a) ? cursor_text(app, p, &a) : NULL;

	return text && *text ? text_visible(text) : NULL;
}

static void draw_lanes(struct app *app, struct place *p, const struct timeline_axis *a, struct box box)
{
	struct table *t = &p->table[PANE_MAIN];
	struct lane_axis lane = { a->x, a->cells, timeline_axis_cursor(p, a) };

	size_t row;

	table_scroll(t, p->rows, box.rows);
	row = t->top;
	for (unsigned i = 0; i < box.rows && row < p->rows->rows->len; i++, row = table_next(t, row)) {
		const struct lane_row *r = lane_at(p, row);
		const struct table_run *run = table_run_of(t, row);

		if (run)
			table_draw_run(app->canvas, box.y + i, 0, box.cols, run, p->view, row == t->cursor,
				       app->glyphs);
		else if (r->cells && p->rows->query.cells == a->cells)
			draw_lane(app, p, r, &lane, box.y + i);
		if (run && row == t->cursor)
			app->cursor_y = box.y + i;
		bars_draw_cursor(app, box.y + i, lane.x + lane.cursor);
		canvas_hit(app->canvas, box.y + i, 0, box.cols, HIT_ROW, t, (int64_t)row);
	}
	if (row < p->rows->rows->len)
		canvas_put(app->canvas, box.y + box.rows - 1, box.cols - 1, 1, ROLE_DIM, app->glyphs->more_down);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	unsigned y = box.y, text_rows = box.rows >= 16 ? 2 : 1;
	g_autofree char *line = NULL, *cursor = NULL, *visible = NULL;
	struct timeline_axis a;
	struct box lanes;
	guint marks = lanes_of_events(p);

	if (!timeline_axis(app, p, &a)) {
		canvas_put(app->canvas, y + 1, 1, box.cols, ROLE_DIM, frame_nothing(app, NULL));
		return;
	}
	frame_completeness(app, y++, &p->rows->completeness);
	line = summary(app, p, &a);
	canvas_put(app->canvas, y++, 0, box.cols, ROLE_TITLE, line);
	strip_draw_whole(app, y++);
	draw_axis(app, &a, timeline_axis_cursor(p, &a), y++, marks && marks == p->rows->rows->len);
	lanes = (struct box){ y, 0, box.y + box.rows - 1 - text_rows - y, box.cols };
	draw_lanes(app, p, &a, lanes);
	if (!p->rows->rows->len)
		canvas_put(app->canvas, y, 1, box.cols, ROLE_DIM, p->filter && p->rows->n_before_filter ?
			   "no lane passes the filter: \\ changes it, empty shows all" :
			   "nothing is known about this range: < and > step, n: next outlier");
	cursor = cursor_text(app, p, &a);
	visible = text_visible(cursor);
	frame_sentence(app, (struct box){ lanes.y + lanes.rows, 0, text_rows, box.cols }, ROLE_TEXT, visible);
	const struct legend_item more[] = {
		{ app->glyphs->sort_down, ROLE_HOT, "cursor, shown second" },
		{ app->glyphs->spark[4], ROLE_SPARK, "events" }, { app->glyphs->bar, LANE_SPAN_ROLE, "span" },
	};
	bars_draw_legend(app, (struct box){ lanes.y, a.x, lanes.rows, a.cells }, box.y + box.rows - 1,
			 part_word_of_threads(p->rows->missing, PART_DISK), more, !marks ? 1 : has_spans(p) ? 3 : 2);
}

/* ---- commands ---- */

static void set_range(struct app *app, struct place *p, enum command_id id)
{
	struct nav *nav = &app->nav;
	struct timeline_axis a;
	char clock[TIMEFMT_LEN];

	if (!timeline_axis(app, p, &a))
		return;
	int64_t grain = a.cell_ns >= NS_PER_S ? NS_PER_S : NS_PER_MS, at = time_floor(p->mark_ns, grain);
	app_pause(app);
	if (id == CMD_RANGE_A) {
		nav_set_end(nav, false, at);
		app_message(app, "the range begins at %s: move the cursor, then B ends it; R clears it",
			    timefmt_clock_ms(clock, at));
	} else {
		nav_set_end(nav, true, at + grain);
		app_message(app, "the range ends at %s; R clears it", timefmt_clock_ms(clock, nav->b_ns));
	}
	timeline_axis_stay(app, p);
	app_moved(app);
}

/* The innermost span that this thread worked on at that instant; NULL: none. */
static const struct span *span_at(const struct timeline *tl, int32_t tid, uint32_t host, int64_t at)
{
	const struct span *found = NULL;

	if (tid < 0 || at == INT64_MAX)
		return NULL;
	TIMELINE_EACH_SPAN(tl, i, at, at + 1) {
		const struct span *s = timeline_span(tl, i);
		const struct thread_info *t = s->begin_ns <= at && s->end_ns > at ?
			timeline_thread(tl, s->thread) : NULL;

		if (t && t->tid == tid && (host == ID_NONE || t->host == host) &&
		    (!found || s->begin_ns > found->begin_ns))
			found = s;
	}
	return found;
}

/* Enter: the span at the cursor, else the thread's system calls, else (or if only events are known) the log at that
 * instant. */
static void open_lane(struct app *app, struct place *p)
{
	const struct lane_row *r = selected(p);
	const struct span *s = r && r->kind == LANE_THREADS ? span_at(app->main, r->c.tid, r->c.row.drill.host,
								       p->mark_ns) : NULL;
	struct place *to;
	g_autofree char *name = NULL;

	if (!r) {
		app_error(app, "nothing to open: there are no lanes");
		return;
	}
	app_pause(app);
	if (s) {
		app_open(app, place_new_at_span(s->trace_id, s->span_id, (int)s->kind, p->mark_ns));
		return;
	}
	if (r->kind != LANE_THREADS || r->by_events) {
		screen_log_open(app, p, CMD_VIEW_LOG);
		return;
	}
	name = text_visible(r->c.name);
	to = place_new(view_find(r->c.tid >= 0 ? "syscalls" : r->c.pid >= 0 ? "process" : "processes"), &r->c.row.drill,
		       name);
	app_open(app, to);
}

static void move(struct app *app, struct place *p, enum command_id id)
{
	bool left = id == CMD_CURSOR_LEFT;

	if (!timeline_axis_move(app, p, left ? -1 : 1))
		app_message(app, left ? "this is the beginning of the trace" : "this is the end of the trace");
}

static void zoom(struct app *app, struct place *p, enum command_id id)
{
	bool in = id == CMD_ZOOM_IN;

	if (!timeline_axis_zoom(app, p, in))
		app_message(app, in ? "1 ns is the shortest cell" : "all of the trace is shown");
}

static void scroll(struct app *app, struct place *p, enum command_id id)
{
	struct timeline_axis a;
	int quarter = timeline_axis(app, p, &a) ? MAX((int)a.cells / 4, 1) : 1;

	timeline_axis_scroll(app, p, id == CMD_PAN_LEFT ? -quarter : quarter);
}

/* Enter on a line that stands for idle lanes shows them, as in a table. */
static bool command(struct app *app, struct place *p, enum command_id id)
{
	const struct table *t = &p->table[PANE_MAIN];

	if (id != CMD_DRILL || table_run_of(t, t->cursor))
		return false;
	open_lane(app, p);
	return true;
}

static const struct screen_command commands[] = {
	{ CMD_CURSOR_LEFT, move }, { CMD_CURSOR_RIGHT, move }, { CMD_PAN_LEFT, scroll }, { CMD_PAN_RIGHT, scroll },
	{ CMD_ZOOM_IN, zoom }, { CMD_ZOOM_OUT, zoom }, { CMD_RANGE_A, set_range }, { CMD_RANGE_B, set_range },
	{ CMD_NONE, NULL },
};

static void click(struct app *app, struct place *p, unsigned x)
{
	struct timeline_axis a;

	if (timeline_axis(app, p, &a) && x >= a.x && x < a.x + a.cells)
		p->mark_ns = a.from_ns + (x - a.x) * a.cell_ns;
}

/* Lanes of tagged rows: those of the processes, threads or containers that rows are about. */
static void copy_tags(const struct place *p, struct place *to)
{
	const struct table *from = &p->table[PANE_MAIN];

	if (p->view != view_find("processes") || !keyset_size(&from->tags) || !view_has_by(to->view, p->narrow.by))
		return;
	to->narrow.by = p->narrow.by;
	for (guint i = 0; p->rows && i < p->rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(p->rows->rows, i);

		keyset_set(&to->table[PANE_MAIN].tags, row, keyset_has(&from->tags, row));
	}
	to->table[PANE_MAIN].only_tagged = keyset_size(&to->table[PANE_MAIN].tags) > 0;
}

/* A timeline, in which the lane of this thread or process is selected (-1: none). */
static struct place *new_timeline(const struct view_query *q, const char *crumb, int32_t pid, int32_t tid)
{
	struct place *to = place_new(&view_timeline, q, crumb);

	to->select.pid = pid;
	to->select.tid = tid;
	to->lateral = true;
	return to;
}

void screen_timeline_open(struct app *app, struct place *p, enum command_id command)
{
	const struct waterfall *w = p->view->kind == VIEW_WATERFALL ? waterfall_of(p->rows) : NULL;
	struct view_query q = VIEW_QUERY_INIT;
	const struct row *row = place_selected(p);
	struct place *to;

	if (app_is_shown(app, &view_timeline))
		return;
	q.host = p->narrow.host;
	q.pid = p->narrow.pid;
	q.container = p->narrow.container;
	to = new_timeline(&q, w ? "timeline" : "", row ? row->drill.pid : -1, row ? row->drill.tid : -1);
	if (w && w->root && row) {
		const struct span *s = ((const struct waterfall_row *)row)->span;

		timeline_axis_fit(app, to, w->begin_ns, MAX(w->end_ns, w->begin_ns + 1));
		to->mark_ns = p->mark_ns != TIME_UNKNOWN ? p->mark_ns : s->begin_ns;
		to->select.pid = s->pid;
		to->select.tid = s->tid;
	}
	app_pause(app);
	copy_tags(p, to);
	app_open(app, to);
}

void screen_timeline_open_thread(struct app *app, uint32_t thread, int64_t at_ns, int64_t from_ns, int64_t to_ns)
{
	const struct thread_info *t = timeline_thread(app->tl, thread);
	const struct process_info *process = t ? timeline_process(app->tl, t->process) : NULL;
	g_autofree char *label = thread_label_new(app->tl, thread, at_ns), *crumb = text_visible(label);
	struct view_query q = VIEW_QUERY_INIT;
	struct place *to;

	q.host = t ? t->host : ID_NONE;
	q.pid = process ? process->pid : -1;
	q.tid = t && !process ? t->tid : -1;
	to = new_timeline(&q, crumb, q.pid, t ? t->tid : -1);
	timeline_axis_fit(app, to, from_ns, MAX(to_ns, from_ns + 1));
	to->mark_ns = at_ns;
	app_open(app, to);
}

static void open_wait(struct app *app, const struct view_query *wait)
{
	const struct span *s = span_at(app->main, wait->tid, wait->host, wait->from_ns);
	struct view_query q = VIEW_QUERY_INIT;
	g_autofree char *crumb = g_strdup_printf("%d", wait->tid);
	struct place *to;

	app_pause(app);
	nav_seek(&app->nav, app->main, wait->from_ns);
	if (s) {
		app_open(app, place_new_at_span(s->trace_id, s->span_id, (int)s->kind, wait->from_ns));
		return;
	}
	q.host = wait->host;
	q.pid = wait->pid;
	q.tid = wait->pid < 0 ? wait->tid : -1;
	to = new_timeline(&q, crumb, wait->pid, wait->tid);
	timeline_axis_fit(app, to, wait->from_ns, MAX(wait->to_ns, wait->from_ns + 1));
	to->mark_ns = wait->from_ns;
	app_open(app, to);
}

bool screen_timeline_open_wait(struct app *app, struct place *p)
{
	const struct row *row = p->view == view_find("holders") ? place_selected(p) : NULL;
	struct view_query wait = row ? row->drill : (struct view_query)VIEW_QUERY_INIT;

	if (!row || wait.tid < 0)
		return false;
	open_wait(app, &wait);
	return true;
}

/* ---- the selected lane, in sentences ---- */

static void explain(struct app *app, struct place *p, GPtrArray *lines)
{
	static const struct { const char *what, *cells; } kinds[LANE_KIND_N] = {
		[LANE_CPU] = { "a CPU: when a thread ran on it", "how much of the cell a thread ran; i: an interrupt's "
			       "handler ran longest; a name: the thread that ran longest" },
		[LANE_THREADS] = { "a thread, or several: what it did", NULL },
		[LANE_DEVICE] = { "a block device: requests at it", "how many at a time, of the most in the picture" },
		[LANE_EVENTS] = { "events of one CPU whose thread is unknown", "how many, of the most in the picture" },
		[LANE_INTERRUPT] = { "an interrupt: its handlers", "how long they ran, of the most in the picture" },
	};
	const struct lane_row *r = selected(p);
	g_autofree char *at = screen_timeline_text(app, p), *name = r ? text_visible(r->c.name) : NULL;

	if (!r)
		return;
	g_ptr_array_add(lines, g_strdup("The selected lane"));
	explain_add(lines, name, "%s", kinds[r->kind].what);
	if (kinds[r->kind].cells)
		explain_add(lines, "height", "%s", kinds[r->kind].cells);
	g_autofree char *visible = text_visible(at);
	explain_add(lines, "cursor", "%s",
		    g_str_has_prefix(visible, "cursor ") ? visible + strlen("cursor ") : visible);
}

const struct screen screen_timeline = {
	.draw = draw, .commands = commands, .command = command, .prepare = prepare, .query = query, .click = click,
	.explain = explain,
};
