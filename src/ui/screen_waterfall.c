/* SPDX-License-Identifier: GPL-2.0-only */
/* The waterfall: the spans of one trace as bars on a time axis, with the cause of the delay. */
#include "ui/screen.h"

#include "ui/frame.h"
#include "ui/screen_timeline.h"
#include "ui/strip.h"
#include "ui/waterfall_bars.h"
#include "ui/waterfall_lanes.h"

#include "views/span_detail.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define ZOOM_MAX 4096.0
#define TICKS 5
#define DETAIL_ROWS 3		/* rows of the detail that lanes leave */

struct waterfall_state {
	struct {
		double zoom;		/* >= 1; 1 shows the whole trace */
		double pan;		/* left edge, 0 .. 1 - 1 / zoom of the trace */
	} at;
	enum bars bars;
	waterfall_folds *folds;
};

static void init(void *state)
{
	struct waterfall_state *s = state;

	s->at.zoom = 1;
	s->folds = waterfall_folds_new();
}

static void clear(void *state)
{
	waterfall_folds_free(((struct waterfall_state *)state)->folds);
}

static const struct state_kind state_kind = {
	.size = sizeof(struct waterfall_state), .position = sizeof((struct waterfall_state *)NULL)->at,
	.init = init, .clear = clear,
};

static struct waterfall_state *state_of(struct place *p)
{
	return place_state(p, &state_kind);
}

static const struct waterfall_row *row_at(const struct place *p, size_t i)
{
	return i < p->rows->rows->len ? g_ptr_array_index(p->rows->rows, i) : NULL;
}

static const struct waterfall_row *selected(struct place *p)
{
	return row_at(p, p->table[PANE_MAIN].cursor);
}

static void select_first(struct place *p, const struct waterfall *w)
{
	struct table *t = &p->table[PANE_MAIN];
	int at = -1;

	if (p->select.span)
		at = waterfall_find(p->rows, p->select.span, p->select.kind);
	if (at < 0 && p->select.span)
		at = waterfall_find(p->rows, p->select.span, -1);
	for (guint i = 0; at < 0 && !p->select.span && i < p->rows->rows->len; i++) {
		if (row_at(p, i)->index == w->blamed)
			at = (int)i;
	}
	if (at >= 0) {
		table_select(t, p->rows, (size_t)at);
		p->select.span = 0;
	}
}

static void prepare(struct app *app, struct place *p)
{
	const struct waterfall *w = waterfall_of(p->rows);
	struct table *t = &p->table[PANE_MAIN];

	waterfall_fold_rows(p->rows, state_of(p)->folds);
	t->sort = -1;
	table_apply(t, p->view, p->rows, NULL);
	if (w && (!t->bound || p->select.span))
		select_first(p, w);
	/* The slowest trace of a range was asked for. From here on the place is bound to this trace. */
	if (w && w->root && !query_has_trace(&p->narrow)) {
		query_set_trace(&p->narrow, w->trace_id);
		timeline_pin(app->main, w->trace_id);
	}
}

static void window(struct place *p, const struct waterfall *w, int64_t *ret_from,
		   int64_t *ret_to)
{
	const struct waterfall_state *s = state_of(p);
	double all = (double)MAX(w->end_ns - w->begin_ns, 1);

	*ret_from = w->begin_ns + (int64_t)(s->at.pan * all);
	*ret_to = *ret_from + MAX((int64_t)(all / s->at.zoom), 1);
	if (s->at.zoom <= 1)
		*ret_to = MAX(w->end_ns, w->begin_ns + 1);
}

static void draw_summary(struct app *app, struct place *p, const struct waterfall *w, unsigned y)
{
	struct canvas *c = app->canvas;
	char duration[TIMEFMT_LEN];
	g_autofree char *name = text_visible(w->root->name);
	g_autofree char *zoom = g_strdup_printf("zoom %.0fx", state_of(p)->at.zoom);
	g_autofree char *s = NULL, *usual = NULL;
	g_autofree char *missing = w->n_missing ? g_strdup_printf(", %u missing", w->n_missing) : g_strdup("");

	usual = w->x_usual < 0 ? g_strdup("") : g_strdup_printf("   %.1fx usual", w->x_usual);
	s = g_strdup_printf("%s   %s%s%s%s   %u span%s%s   %u process%s%s", name,
			    w->open || !w->has_root ? ">" : "", timefmt_duration(duration, w->end_ns - w->begin_ns),
			    w->open ? " OPEN" : "", usual, w->n_spans, w->n_spans == 1 ? "" : "s",
			    missing, w->n_processes, w->n_processes == 1 ? "" : "es",
			    w->errors ? "   ! errors" : "");
	canvas_put(c, y, 0, c->cols, ROLE_TITLE, s);
	canvas_put(c, y, 0, text_width(name), ROLE_CRUMB, name);
	if (text_width(s) + text_width(zoom) + 2 < c->cols)
		canvas_put_right(c, y, c->cols - text_width(zoom), text_width(zoom), ROLE_TITLE, zoom);
}

struct layout {
	unsigned name, duration, self, axis;	/* columns of the screen */
	unsigned cells;			/* width of the axis */
	enum bars bars;
	unsigned lines;			/* rows of the screen for each span: 1 or 2 */
};

static struct layout lay_out(unsigned cols)
{
	struct layout l;

	l.name = CLAMP(cols * 24 / 100, 17, 40);
	l.duration = l.name + 1;
	l.self = l.duration + 8;
	l.axis = l.self + 8;
	l.cells = cols > l.axis + 2 ? cols - l.axis - 2 : 1;
	return l;
}

/* A tick's label, in the unit that fits the whole axis. */
static char *tick_text(int64_t ns, int64_t whole, bool unit)
{
	static const struct { int64_t ns; const char *name; } units[] = {
		{ NS_PER_S, "s" }, { NS_PER_MS, "ms" }, { NS_PER_US, "us" }, { 1, "ns" },
	};
	size_t u = 0;
	double value;

	while (u < 3 && whole < 5 * units[u].ns)
		u++;
	value = (double)ns / (double)units[u].ns;
	return g_strdup_printf("%.*f%s", (double)whole / (double)units[u].ns < 20 &&
			       units[u].ns > 1 ? 1 : 0, value, unit ? units[u].name : "");
}

/* The column of the time cursor; false: it is not on the screen, or there is none. */
static bool cursor_column(struct place *p, const struct waterfall *w, const struct layout *l, unsigned *ret)
{
	int64_t from, to;

	window(p, w, &from, &to);
	if (p->mark_ns == TIME_UNKNOWN || p->mark_ns < from || p->mark_ns >= to)
		return false;
	*ret = l->axis + 1 + (unsigned)((double)(p->mark_ns - from) / (double)(to - from) * l->cells);
	return true;
}

static void draw_axis(struct app *app, struct place *p, const struct waterfall *w,
		      const struct layout *l, unsigned y)
{
	struct canvas *c = app->canvas;
	int64_t from, to;
	unsigned mark;
	g_autofree char *end = NULL;

	window(p, w, &from, &to);
	end = tick_text(to - w->begin_ns, to - from, true);
	canvas_fill(c, y, 0, c->cols, ROLE_HEADER, " ");
	canvas_put(c, y, 1, 4, ROLE_HEADER, "SPAN");
	canvas_put_right(c, y, l->duration, 7, ROLE_HEADER, "DUR");
	canvas_put_right(c, y, l->self, 7, ROLE_HEADER, "SELF");
	canvas_put(c, y, l->axis, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(c, y, l->axis + 1 + l->cells, 1, ROLE_AXIS, app->glyphs->edge);
	for (unsigned i = 0; i < TICKS; i++) {
		g_autofree char *text = tick_text(from - w->begin_ns + (to - from) / TICKS * i,
						  to - from, false);
		unsigned x = l->axis + 1 + l->cells * i / TICKS;

		if (l->cells / TICKS > text_width(text) + (i == TICKS - 1 ? text_width(end) : 0))
			canvas_put(c, y, x, l->cells / TICKS, ROLE_AXIS, text);
	}
	canvas_put_right(c, y, l->axis + 1, l->cells, ROLE_AXIS, end);
	if (cursor_column(p, w, l, &mark))
		canvas_put(c, y, mark, 1, ROLE_HOT, app->glyphs->sort_down);
}

static void draw_name(struct app *app, const struct waterfall_row *r, const struct layout *l,
		      unsigned y)
{
	struct canvas *c = app->canvas;
	unsigned x = 1 + 2 * MIN((unsigned)r->row.depth, (l->name - 9) / 2);
	g_autofree char *name = text_visible(r->name);

	if (r->row.expandable)
		canvas_put(c, y, x, 1, ROLE_KEY, r->folded ? app->glyphs->collapsed :
			   app->glyphs->expanded);
	if (r->critical)
		canvas_put(c, y, x + 1, 1, ROLE_HOT, app->glyphs->critical);
	canvas_put(c, y, x + 2, l->name - x - 2, r->row.marked ? ROLE_MARKED :
		   r->row.open ? ROLE_OPEN : ROLE_TEXT, name);
	if (r->orphan)
		canvas_put(c, y, 0, 1, ROLE_DISTRUST, "?");
	if (r->row.marked)
		canvas_put(c, y, 0, 1, ROLE_MARKED, "!");
}

/* Draws a span's bar and its thread's states: below each other on two lines, else one of them. */
static void draw_bars(struct app *app, struct place *p, const struct waterfall *w,
		      const struct waterfall_row *r, const struct layout *l, unsigned y)
{
	struct bars_axis axis = { .x = l->axis + 1, .cells = l->cells };
	bool states = l->bars != BARS_ALONE;
	struct value mainly;

	window(p, w, &axis.from_ns, &axis.to_ns);
	for (unsigned i = 0; i < l->lines; i++)
		bars_draw_edges(app, &axis, y + i);
	bars_draw_messages(app, &axis, r->span, y);
	if (l->bars != BARS_STATES)
		bars_draw_bar(app, &axis, r, y);
	if (states)
		bars_draw_states(app, &axis, p->rows, r, l->lines == 1, y + l->lines - 1);
	if (l->lines == 1)
		return;
	mainly = view_value(&view_waterfall, p->rows, &r->row, "mainly");
	if (mainly.kind == VALUE_TEXT)
		canvas_put_right(app->canvas, y + 1, l->duration, 15, ROLE_DIM, mainly.s);
}

static void draw_row(struct app *app, struct place *p, const struct waterfall *w,
		     const struct waterfall_row *r, const struct layout *l, unsigned y)
{
	struct canvas *c = app->canvas;
	char buf[TIMEFMT_LEN];
	unsigned x;

	draw_name(app, r, l, y);
	if (keyset_has(&p->table[PANE_MAIN].tags, &r->row))
		canvas_put(c, y, 0, 1, ROLE_SORTED, app->glyphs->tag);
	if (!span_has_end(r->span)) {
		g_autofree char *text = g_strdup_printf(">%s", timefmt_duration(buf,
							span_duration(r->span)));

		canvas_put_right(c, y, l->duration, 7, r->row.open ? ROLE_OPEN : ROLE_TEXT, text);
	} else {
		canvas_put_right(c, y, l->duration, 7, ROLE_TEXT,
				 timefmt_duration(buf, span_duration(r->span)));
	}
	canvas_put_right(c, y, l->self, 7, ROLE_DIM, timefmt_duration(buf, r->span->self_ns));
	draw_bars(app, p, w, r, l, y);
	if (cursor_column(p, w, l, &x))
		bars_draw_cursor(app, y, x);
	if (r == selected(p)) {
		canvas_put(c, y, 0, 1, ROLE_SELECTED, app->glyphs->cursor);
		canvas_set_role(c, y, 0, l->axis, ROLE_SELECTED);
		app->cursor_y = y;
	}
}

/* Of the tree, and of what else ran below it. */
static void draw_legend(struct app *app, const struct waterfall *w, struct box rows, const struct layout *l)
{
	struct legend_item more[4] = {
		{ "=", ROLE_AXIS, "child" }, { app->glyphs->critical, ROLE_HOT, "critical" },
	};
	bool links = false;
	size_t n = 2;

	for (size_t i = 0; i < w->n_all && !links; i++)
		links = w->all[i]->span->n_links > 0;
	if (links)
		more[n++] = (struct legend_item){ app->glyphs->message, ROLE_DIM, "message" };
	if (l->bars != BARS_STATES)
		more[n++] = (struct legend_item){ app->glyphs->annotation, ROLE_MATCH, "annotation" };
	bars_draw_legend(app, (struct box){ rows.y, l->axis + 1, rows.rows, l->cells }, rows.y + rows.rows, NULL, more,
			 n);
}

/* A line of text, on two rows if needed and if the box has them. Returns the number of rows. */
static unsigned draw_line(struct app *app, struct box box, enum role role, const char *text)
{
	size_t cut = text_prefix(text, box.cols, NULL);
	g_autofree char *first = NULL;

	while (text[cut] && box.rows > 1 && cut > 0 && text[cut] != ' ')
		cut--;
	if (!text[cut] || box.rows < 2 || !cut) {
		canvas_put(app->canvas, box.y, box.x, box.cols, role, text);
		return 1;
	}
	first = g_strndup(text, cut);
	canvas_put(app->canvas, box.y, box.x, box.cols, role, first);
	canvas_put(app->canvas, box.y + 1, box.x + 3, box.cols - 3, role, text + cut);
	return 2;
}

static void draw_detail(struct app *app, struct place *p, struct box box)
{
	const struct waterfall_row *r = selected(p);
	g_autoptr(GPtrArray) lines = NULL;

	if (!r || !box.rows)
		return;
	lines = waterfall_detail(p->rows, r, box.rows);
	for (guint i = 0, row = 0; i < lines->len && row < box.rows; i++) {
		g_autofree char *text = text_visible(g_ptr_array_index(lines, i));
		bool more = lines->len - i < box.rows - row;

		row += draw_line(app, (struct box){ box.y + row, box.x, more ? 2 : 1, box.cols },
				 i == 0 ? ROLE_CRUMB : ROLE_TEXT, text);
	}
}

/* What the selected span's thread did at the time cursor. Returns the number of rows. */
static unsigned draw_instant(struct app *app, struct place *p, struct box box)
{
	const struct waterfall_row *r = selected(p);
	g_autofree char *text = NULL, *visible = NULL;

	if (!r || p->mark_ns == TIME_UNKNOWN)
		return 0;
	text = waterfall_instant(p->rows, r, p->mark_ns);
	visible = text_visible(text);
	return draw_line(app, box, ROLE_KEY, visible);
}

/* What else ran: in rows that the detail can do without. Returns the number of rows. */
static unsigned draw_lanes(struct app *app, struct place *p, const struct waterfall *w, const struct layout *l,
			   struct box box)
{
	struct bars_axis axis = { .x = l->axis + 1, .cells = l->cells };
	const struct waterfall_row *r = selected(p);
	unsigned n, x;

	if (!r || box.rows <= DETAIL_ROWS)
		return 0;
	window(p, w, &axis.from_ns, &axis.to_ns);
	n = waterfall_lanes_draw(app, p->rows, r, &axis, p->mark_ns,
				 (struct box){ box.y, 0, box.rows - DETAIL_ROWS, box.cols });
	for (unsigned i = 1; i < n && cursor_column(p, w, l, &x); i++)
		if (!strcmp(canvas_cell(app->canvas, box.y + i, l->axis)->ch, app->glyphs->edge))
			bars_draw_cursor(app, box.y + i, x);
	return n;
}

static unsigned detail_rows(unsigned rows, unsigned room)
{
	/* The detail gets what the tree leaves, and at least a third. */
	if (room > rows + 1 && room - rows - 1 >= room / 3)
		return room - rows - 1;
	return room / 3 + (room >= 12);
}

static void draw_tree(struct app *app, struct place *p, const struct waterfall *w,
		      const struct layout *l, struct box box)
{
	struct table *t = &p->table[PANE_MAIN];
	unsigned shown = box.rows / l->lines;

	table_scroll(t, p->rows, shown);
	for (unsigned i = 0; i < shown && t->top + i < p->rows->rows->len; i++) {
		unsigned y = box.y + i * l->lines;

		draw_row(app, p, w, row_at(p, t->top + i), l, y);
		for (unsigned k = 0; k < l->lines; k++)
			canvas_hit(app->canvas, y + k, 0, box.cols, HIT_ROW, t, (int64_t)(t->top + i));
	}
	if (t->top + shown < p->rows->rows->len)
		canvas_put(app->canvas, box.y + box.rows - 1, box.cols - 1, 1, ROLE_DIM,
			   app->glyphs->more_down);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	const struct waterfall *w = waterfall_of(p->rows);
	struct layout l = lay_out(box.cols);
	unsigned y = box.y, room, detail, tree;
	bool blank = box.rows >= 18;

	if (!w || !w->root) {
		canvas_put(app->canvas, y + 1, 1, box.cols, ROLE_DIM,
			   query_has_trace(&p->narrow) ?
			   "this trace is no longer in memory: Esc goes back" :
			   "no trace is chosen: 2 lists them, Enter opens one");
		return;
	}
	draw_summary(app, p, w, y++);
	y += frame_why(app, (struct box){ y, 0, app->canvas->rows >= 20 ? 2 : 1, box.cols },
		       w->why ? w->why : "no single cause stands out");
	if (blank)
		strip_draw_whole(app, y++);
	draw_axis(app, p, w, &l, y++);
	room = box.y + box.rows - 1 - y;		/* the last row is the legend */
	l.bars = state_of(p)->bars;
	l.lines = l.bars == BARS_BOTH ? 2 : 1;
	detail = detail_rows(p->rows->rows->len * l.lines, room);
	tree = room - detail - blank;
	if (p->mark_ns != TIME_UNKNOWN)
		tree = MIN(tree, room - blank - 3);
	draw_tree(app, p, w, &l, (struct box){ y, 0, tree, box.cols });
	tree = MIN(tree, p->rows->rows->len * l.lines);
	tree += draw_instant(app, p, (struct box){ y + tree, 0, room >= 12 ? 2 : 1, box.cols });
	tree += blank;
	tree += draw_lanes(app, p, w, &l, (struct box){ y + tree, 0, box.y + box.rows - 1 - (y + tree), box.cols });
	draw_detail(app, p, (struct box){ y + tree, 0, box.y + box.rows - 1 - (y + tree), box.cols });
	draw_legend(app, w, (struct box){ y, 0, room, box.cols }, &l);
}

/* Key t: the next way to draw spans. */
static void turn_bars(struct app *app, struct place *p, enum command_id id)
{
	static const char *const names[BARS_N] = {
		[BARS_STATES] = "thread states as letters",
		[BARS_BOTH] = "bars, and thread states below them",
		[BARS_ALONE] = "bars only, with annotations as ticks",
	};

	state_of(p)->bars = (state_of(p)->bars + 1) % BARS_N;
	app_message(app, "%s: t changes it", names[state_of(p)->bars]);
}

/* Key w: opens what the thread that ended the wait did at that instant: its trace, else its process. */
static void go_waker(struct app *app, struct place *p, enum command_id id)
{
	const struct waterfall_row *r = selected(p);
	struct waterfall_waker waker;
	const char *reason = NULL;
	g_autofree char *text = NULL;

	if (!r || !waterfall_waker(p->rows, r, &waker, &reason)) {
		app_message(app, "no waker: %s", reason ? reason : "no span is selected");
		return;
	}
	text = text_visible(waker.text);
	app_pause(app);
	nav_seek(&app->nav, app->main, waker.at_ns);
	if (waker.span_kind >= 0) {
		app_open(app, place_new_at_span(waker.trace_id, waker.span_id, waker.span_kind, waker.at_ns));
	} else {
		const struct waterfall *w = waterfall_of(p->rows);

		screen_timeline_open_thread(app, waker.thread, waker.at_ns, w->begin_ns, w->end_ns);
	}
	app_message(app, "woken by %s", text);
}

static void go_longest(struct app *app, struct place *p, enum command_id id)
{
	const struct waterfall_row *r = selected(p);
	int at = r ? waterfall_longest_child(p->rows, r) : -1;

	if (at >= 0)
		table_select(&p->table[PANE_MAIN], p->rows, (size_t)at);
	else
		app_message(app, "this span has no child to go to");
}

static void show_detail(struct app *app, struct place *p, enum command_id id)
{
	const struct waterfall_row *r = selected(p);
	GPtrArray *lines;
	GPtrArray *visible = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *title = r ? text_visible(r->name) : g_strdup("");

	if (r) {
		lines = span_detail(p->rows, r);
		for (guint i = 0; i < lines->len; i++) {
			g_autofree char *text = text_visible(g_ptr_array_index(lines, i));

			g_ptr_array_add(visible, g_strdup_printf("%s%s", *text ? " " : "", text));
		}
		g_ptr_array_unref(lines);
	}
	popup_open(&app->popup, title, visible, false);
}

static void add_call_line(struct app *app, GPtrArray *lines, const char *count,
			  const char *time, uint32_t name, uint32_t file, const char *result)
{
	const struct file_info *f = timeline_file(app->tl, file);
	g_autofree char *call = text_visible(timeline_string(app->tl, name));
	g_autofree char *path = f ? text_visible(timeline_string(app->tl, f->path)) : g_strdup("");

	g_autofree char *padded = text_pad(call, 16);

	g_ptr_array_add(lines, g_strdup_printf("  %8s %8s %8s  %s %s", count, time, result, padded,
					       path));
}

/* The system calls of the selected span, without those of its children. */
static void show_calls(struct app *app, struct place *p, enum command_id id)
{
	const struct waterfall_row *r = selected(p);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN], d[TIMEFMT_LEN];
	g_autofree char *name = r ? text_visible(r->name) : g_strdup("");
	g_autofree char *title = g_strdup_printf("Syscalls inside of %s", name);
	const struct span *s = r ? r->span : NULL;

	g_ptr_array_add(lines, g_strdup("   COUNT    TOTAL      MAX  SYSCALL          FILE OF THE LONGEST"));
	for (uint32_t i = 0; s && i < s->n_calls; i++)
		add_call_line(app, lines, timefmt_count(a, s->calls[i].count),
			      timefmt_duration(b, s->calls[i].total_ns), s->calls[i].name,
			      s->calls[i].file, timefmt_duration(d, s->calls[i].max_ns));
	if (!s || !s->n_calls)
		g_ptr_array_add(lines, g_strdup("  none known"));
	g_ptr_array_add(lines, g_strdup(""));
	g_ptr_array_add(lines, g_strdup("      AT     TOOK  RETURNS  SYSCALL          FILE"));
	for (uint32_t i = 0; s && i < s->n_slow; i++) {
		g_autofree char *ret = g_strdup_printf("%" G_GINT64_FORMAT, s->slow[i].ret);

		add_call_line(app, lines, timefmt_duration(a, s->slow[i].begin_ns - s->begin_ns),
			      timefmt_duration(b, s->slow[i].duration_ns), s->slow[i].name,
			      s->slow[i].file, ret);
	}
	if (s && s->n_slow_more)
		g_ptr_array_add(lines, g_strdup_printf("  and %u shorter ones", s->n_slow_more));
	popup_open(&app->popup, title, lines, false);
}

static void zoom(struct app *app, struct place *p, enum command_id id)
{
	double factor = id == CMD_ZOOM_IN ? 2 : 0.5;
	const struct waterfall *w = waterfall_of(p->rows);
	const struct waterfall_row *r = selected(p);
	struct waterfall_state *s = state_of(p);
	double all, middle = s->at.pan + 0.5 / s->at.zoom;

	if (!w || !w->root)
		return;
	all = (double)MAX(w->end_ns - w->begin_ns, 1);
	if (r)
		middle = ((double)(r->span->begin_ns - w->begin_ns) +
			  (double)span_duration(r->span) / 2) / all;
	if (factor < 1 ? s->at.zoom <= 1 : s->at.zoom >= ZOOM_MAX)
		app_message(app, factor < 1 ? "the whole request is shown" : "this is the finest zoom");
	s->at.zoom = CLAMP(s->at.zoom * factor, 1, ZOOM_MAX);
	g_assert(s->at.zoom >= 1);
	s->at.pan = CLAMP(middle - 0.5 / s->at.zoom, 0, 1 - 1 / s->at.zoom);
}

static void pan(struct app *app, struct place *p, enum command_id id)
{
	double by = id == CMD_PAN_LEFT ? -0.25 : 0.25;
	struct waterfall_state *s = state_of(p);

	if (s->at.zoom <= 1)
		app_message(app, "all of it is shown: z zooms in");
	s->at.pan = CLAMP(s->at.pan + by / s->at.zoom, 0, 1 - 1 / s->at.zoom);
}

/* Moves the time cursor by a cell; at first to an end of the selected span. */
static void move_cursor(struct app *app, struct place *p, enum command_id id)
{
	int by = id == CMD_CURSOR_LEFT ? -1 : 1;
	const struct waterfall *w = waterfall_of(p->rows);
	const struct waterfall_row *r = selected(p);
	struct layout l = lay_out(app->canvas->cols);
	struct waterfall_state *s = state_of(p);
	int64_t from, to, cell;

	if (!w || !w->root || !r)
		return;
	window(p, w, &from, &to);
	cell = MAX((to - from) / l.cells, 1);
	if (p->mark_ns == TIME_UNKNOWN)
		p->mark_ns = by > 0 ? r->span->begin_ns : r->span->end_ns - 1;
	else
		p->mark_ns += by * cell;
	p->mark_ns = CLAMP(p->mark_ns, w->begin_ns, MAX(w->end_ns - 1, w->begin_ns));
	if (p->mark_ns < from || p->mark_ns >= to)
		s->at.pan = CLAMP((double)(p->mark_ns - w->begin_ns) / (double)MAX(w->end_ns - w->begin_ns, 1) -
			       0.5 / s->at.zoom, 0, 1 - 1 / s->at.zoom);
}

static void click(struct app *app, struct place *p, unsigned x)
{
	const struct waterfall *w = waterfall_of(p->rows);
	struct layout l = lay_out(app->canvas->cols);
	int64_t from, to;

	if (!w || !w->root || x <= l.axis || x > l.axis + l.cells)
		return;
	window(p, w, &from, &to);
	p->mark_ns = from + (int64_t)((double)(to - from) * (x - l.axis - 1) / l.cells);
}

static void fold_all(struct app *app, struct place *p, enum command_id id)
{
	const struct waterfall *w = waterfall_of(p->rows);
	bool any = false, folds = false;

	for (size_t i = 0; w && i < w->n_all; i++) {
		any = any || w->all[i]->folded;
		folds = folds || (w->all[i]->row.expandable && w->all[i]->row.depth > 0);
	}
	if (!any && !folds)
		app_message(app, "no span below a root has children");
	for (size_t i = 0; w && i < w->n_all; i++) {
		if (w->all[i]->row.expandable)
			waterfall_folds_set(state_of(p)->folds, &w->all[i]->row, !any && w->all[i]->row.depth > 0);
	}
	place_stale(p);
}

static void fold(struct app *app, struct place *p, enum command_id id)
{
	bool folded = id == CMD_COLLAPSE;
	const struct waterfall_row *r = selected(p);

	if (!r || !r->row.expandable) {
		app_message(app, "this span has no children");
		return;
	}
	if (!folded && !r->folded)
		app_message(app, "its children are shown already: - hides them");
	waterfall_folds_set(state_of(p)->folds, &r->row, folded);
	place_stale(p);
}

static const struct screen_command commands[] = {
	{ CMD_DRILL, show_detail }, { CMD_VIEW_5, show_calls }, { CMD_WAKER, go_waker }, { CMD_LONGEST, go_longest },
	{ CMD_ZOOM_IN, zoom }, { CMD_ZOOM_OUT, zoom }, { CMD_CURSOR_LEFT, move_cursor },
	{ CMD_CURSOR_RIGHT, move_cursor }, { CMD_PAN_LEFT, pan }, { CMD_PAN_RIGHT, pan }, { CMD_STATES, turn_bars },
	{ CMD_EXPAND, fold }, { CMD_COLLAPSE, fold }, { CMD_EXPAND_ALL, fold_all }, { CMD_NONE, NULL },
};

const struct screen screen_waterfall = {
	.draw = draw, .commands = commands, .prepare = prepare, .click = click,
};
