/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heatmap: a scale of durations at the left, time at the bottom, a cell for several durations in a time. Depth is
 * how many there are; split by a field, the hue and letter are the value that most of them have. The selected column
 * is that of the instant that all screens show.
 */
#include "ui/screen_heatmap.h"

#include "ui/explain.h"
#include "ui/frame.h"
#include "ui/metric_place.h"
#include "ui/screen.h"
#include "ui/strip.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/heat_difference.h"
#include "views/logview.h"

#include <string.h>

#define SCALE STRIP_X		/* columns of the scale, with its edge */
#define ABOVE 2			/* lines above the picture: completeness, metric */
#define BELOW 4			/* below it: time, cell, legend, what is different */
#define CELL_WIDEST 8
#define ROW_TALLEST 8		/* lines of a row of durations */
#define PAGE 4			/* rows of durations */
#define SHOWN_DURATIONS 6		/* single durations below the picture */
#define DIFFERENCES 3
#define LOOK_BACK_NS (10 * NS_PER_S)	/* calls are listed that began so long before the range */

struct picture {
	const struct heat_grid *grid;
	const struct heat_cell **cells;	/* by column and level; NULL: empty */
	unsigned low, n_levels;		/* the lowest level that is drawn, and how many */
	unsigned *x;			/* of each column, and the end of the last one */
	unsigned n_columns;
	unsigned lines;			/* of all levels; the upper ones may have one more than the others */
	unsigned y;			/* of the top cell */
	unsigned column, level;		/* selected; .level counts from .low */
};

static void picture_size(const struct app *app, unsigned *ret_cols, unsigned *ret_rows)
{
	struct box b = frame_body(app);
	*ret_cols = strip_n_columns(app);
	*ret_rows = b.rows > ABOVE + BELOW ? b.rows - ABOVE - BELOW : 1;
}

static void query(struct app *app, struct place *p, struct view_query *q)
{
	struct metric_place *m = place_metric(p);
	unsigned cols, rows;
	picture_size(app, &cols, &rows);
	if (!m->query.metric)
		m->query.metric = metric_query_default(app->tl)->metric;
	if (!nav_has_range(&app->nav))
		q->from_ns = q->to_ns = 0;	/* all time */
	if (m->heatmap && !heatmap_is_sized(m->heatmap, cols, rows)) {
		place_stale(p);
		g_clear_pointer(&m->heatmap, heatmap_free);
	}
	if (!m->heatmap)
		m->heatmap = heatmap_new(cols, rows);
	q->metric = &m->query;
	q->heatmap = m->heatmap;
}

/* ---- where things are ---- */

static unsigned column_of(const struct heat_grid *g, int64_t at)
{
	if (at == TIME_UNKNOWN || at < g->begin_ns)
		return 0;
	uint64_t column = ((uint64_t)at - (uint64_t)g->begin_ns) / (uint64_t)g->cell_ns;
	return (unsigned)MIN(column, g->n_columns - 1);
}

static int64_t column_begin(const struct heat_grid *g, uint64_t column)
{
	int64_t ns, at;
	bool ages = __builtin_mul_overflow(g->cell_ns, (int64_t)column, &ns) ||
		    __builtin_add_overflow(g->begin_ns, ns, &at);
	return ages ? INT64_MAX : at;
}

/* The longest durations of the column, else of all. */
static unsigned level_shown_first(const struct picture *p)
{
	for (unsigned level = p->n_levels; level-- > 0;)
		if (p->cells[p->column * p->n_levels + level])
			return level;
	return p->n_levels - 1;
}

typedef struct picture heat_picture;
static void picture_clear(struct picture *p)
{
	g_free(p->cells);
	g_free(p->x);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(heat_picture, picture_clear)

/* The strip's columns. False: several columns of the grid are in one of them. */
static bool place_as_strip(struct app *app, const struct picture *p)
{
	for (unsigned i = 0; i <= p->n_columns; i++) {
		p->x[i] = SCALE + strip_column(app, column_begin(p->grid, i));
		if (i && p->x[i] <= p->x[i - 1])
			return false;
	}
	return true;
}

static void place_columns(struct app *app, struct picture *p)
{
	unsigned cols = strip_n_columns(app);
	p->x = g_new(unsigned, p->n_columns + 1);
	if (p->grid->cell_ns >= NS_PER_S && place_as_strip(app, p))
		return;
	unsigned wide = CLAMP(cols / p->n_columns, 1, CELL_WIDEST);
	for (unsigned i = 0; i <= p->n_columns; i++)
		p->x[i] = SCALE + i * wide;
}

/* false: there is nothing to draw. */
static bool picture_of(struct app *app, struct place *place, struct picture *p)
{
	const struct heat_grid *g = heat_grid_of(place->rows);
	const GPtrArray *rows = place->rows->rows;
	unsigned high = 0, cols, lines;
	*p = (struct picture){ .grid = g, .low = G_MAXUINT, .n_columns = (unsigned)g->n_columns };
	if (!rows->len)
		return false;
	PTR_EACH(const struct heat_cell, c, rows) {
		p->low = MIN(p->low, c->level);
		high = MAX(high, c->level);
	}
	picture_size(app, &cols, &lines);
	p->n_levels = high - p->low + 1;
	place_columns(app, p);
	p->lines = CLAMP(lines, p->n_levels, p->n_levels * ROW_TALLEST);
	p->y = frame_body(app).y + ABOVE;
	p->cells = g_new0(const struct heat_cell *, (gsize)p->n_columns * p->n_levels);
	PTR_EACH(const struct heat_cell, c, rows)
		p->cells[c->column * p->n_levels + c->level - p->low] = c;
	p->column = column_of(g, app->nav.cursor_ns);
	int64_t low_ns = place_metric(place)->low_ns;
	unsigned row = low_ns < 0 ? 0 : latency_row(g->bits, low_ns);
	p->level = low_ns < 0 ? level_shown_first(p) : CLAMP(row, p->low, high) - p->low;
	return true;
}

static const struct heat_cell *cell_at(const struct picture *p, unsigned column, unsigned level)
{
	return p->cells[column * p->n_levels + level];
}

static unsigned cols_of(const struct picture *p, unsigned column)
{
	return p->x[column + 1] - p->x[column];
}

static unsigned line_of(const struct picture *p, unsigned level)
{
	return p->y + (p->n_levels - 1 - level) * p->lines / p->n_levels;
}

static unsigned lines_of(const struct picture *p, unsigned level)
{
	return (level ? line_of(p, level - 1) : p->y + p->lines) - line_of(p, level);
}

struct corners { unsigned column[2], level[2]; };

/* The selected cell, or the rectangle. */
static struct corners corners_of(const struct picture *p, const struct metric_place *m)
{
	struct corners c = { { p->column, p->column }, { p->level, p->level } };
	for (int i = 0; i < 2 && m->rectangle != RECTANGLE_NONE; i++) {
		if (i == 1 && m->rectangle == RECTANGLE_OPEN)
			break;
		unsigned row = latency_row(p->grid->bits, m->corner[i].low_ns);
		c.column[i] = column_of(p->grid, m->corner[i].at_ns);
		c.level[i] = CLAMP(row, p->low, p->low + p->n_levels - 1) - p->low;
	}
	return (struct corners){
		{ MIN(c.column[0], c.column[1]), MAX(c.column[0], c.column[1]) },
		{ MIN(c.level[0], c.level[1]), MAX(c.level[0], c.level[1]) },
	};
}

static struct heat_rectangle rectangle_of(const struct picture *p, const struct corners *c)
{
	return (struct heat_rectangle){
		column_begin(p->grid, c->column[0]), column_begin(p->grid, c->column[1] + 1),
		latency_row_low(p->grid->bits, p->low + c->level[0]),
		latency_row_high(p->grid->bits, p->low + c->level[1]),
	};
}

static uint64_t count_in(const struct picture *p, const struct corners *c)
{
	uint64_t n = 0;
	for (unsigned column = c->column[0]; column <= c->column[1]; column++)
		for (unsigned level = c->level[0]; level <= c->level[1]; level++)
			n += cell_at(p, column, level) ? cell_at(p, column, level)->count : 0;
	return n;
}

/* "201ms-400ms" */
static char *durations_text(const struct heat_rectangle *r)
{
	char low[TIMEFMT_LEN], high[TIMEFMT_LEN];
	if (r->high_ns == INT64_MAX)
		return g_strdup_printf("%s and more", timefmt_duration(low, r->low_ns));
	return g_strdup_printf("%s-%s", timefmt_duration(low, r->low_ns), timefmt_duration(high, r->high_ns));
}

static char *times_text(const struct picture *p, const struct corners *c)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	timefmt_clock(from, column_begin(p->grid, c->column[0]));
	if (c->column[0] == c->column[1] && p->grid->cell_ns <= NS_PER_S)
		return g_strdup(from);
	return g_strdup_printf("%s-%s", from, timefmt_clock(to, column_begin(p->grid, c->column[1] + 1)));
}

/* What a metric counts, and the view that lists it. The last row is for all others. */
static const struct metric_noun { const char *prefix, *one, *several, *view; } counted[] = {
	{ "request.", "request", "requests", "traces" }, { "span.", "span", "spans", "spans" },
	{ "call.", "call", "calls", "syscalls" }, { "file.", "call", "calls", "files" },
	{ "block.", "block request", "block requests", "devices" }, { "sched.", "time", "times", "scheduler" },
	{ "device.", "block request", "block requests", "devices" },
	{ "interrupt.", "interrupt", "interrupts", "interrupts" }, { "", "time", "times", "processes" },
};

static const struct metric_noun *noun_row(const struct metric *m)
{
	size_t i = 0;
	while (!g_str_has_prefix(m->id, counted[i].prefix))
		i++;
	return &counted[i];
}

static const char *noun_of(const struct metric *m, uint64_t n)
{
	return n == 1 ? noun_row(m)->one : noun_row(m)->several;
}

/* ---- drawing ---- */

/* Cells are drawn with a gap to the next column, which shows where one ends. All are, or none is. */
static bool has_gaps(const struct picture *p)
{
	for (unsigned column = 0; column < p->n_columns; column++)
		if (cols_of(p, column) <= 3)
			return false;
	return true;
}

G_STATIC_ASSERT(HEAT_STEPS == SHADES && HEAT_STEPS % HEAT_LEVELS == 0);
#define LEVEL_STEPS (HEAT_STEPS / HEAT_LEVELS)

static unsigned depth_of_step(unsigned step)
{
	return (step - 1) / LEVEL_STEPS;
}

/* 0 to HEAT_LEVELS - 1. */
static unsigned depth_of(const struct heat_grid *g, uint64_t n)
{
	return depth_of_step(heat_step(g, n));
}

static const char *shade_of(const struct app *app, const struct heat_grid *g, uint64_t n)
{
	static const char *const shades[HEAT_LEVELS] = { "░", "░", "▒", "▒", "▓", "▓", "█", "█" };
	static const char *const digits[HEAT_LEVELS] = { "1", "2", "3", "4", "5", "6", "7", "8" };
	return (app->glyphs->utf8 ? shades : digits)[depth_of(g, n)];
}

/* The letter and hue of a value: those of a part, else in the order of the legend. */
static char value_letter(const struct heat_grid *g, const char *text, enum role *ret_role)
{
	static const enum part hues[] = {
		PART_USER, PART_FUTEX, PART_DISK, PART_SOCKET, PART_WAKEUP, PART_SYSCALL, PART_TIMER, PART_FAULT,
	};
	bool parts = g->metric->by[0] == METRIC_BY_cause || g->metric->by[0] == METRIC_BY_part;
	*ret_role = ROLE_TEXT;
	for (unsigned part = 0; parts && part < PART_N; part++)
		if (!g_strcmp0(text, part_info[part].id)) {
			*ret_role = ROLE_PART + part;
			return part_info[part].letter;
		}
	if (!text || (parts && !strcmp(text, "none")))
		return text ? '.' : '?';
	for (guint i = 0; i < g->values->len && i < 26; i++)
		if (!g_strcmp0(g_array_index(g->values, struct heat_value, i).text, text)) {
			*ret_role = ROLE_PART + hues[i % G_N_ELEMENTS(hues)];
			return (char)('a' + i);
		}
	return '+';
}

static void draw_cell(struct app *app, const struct picture *p, unsigned column, unsigned level)
{
	const struct heat_cell *cell = cell_at(p, column, level);
	unsigned y = line_of(p, level), x = p->x[column], wide = cols_of(p, column);
	const char *shade = shade_of(app, p->grid, cell->count);
	enum role role = ROLE_HEAT + depth_of(p->grid, cell->count);
	char letter[2] = { 0 };
	if (cell->has_dominant)
		letter[0] = value_letter(p->grid, cell->dominant, &role);
	unsigned cols = wide - has_gaps(p);
	for (unsigned line = 0; line < lines_of(p, level); line++) {
		canvas_fill(app->canvas, y + line, x, cols, role, shade);
		if (letter[0])
			canvas_put(app->canvas, y + line, x, 1, role, letter);
		canvas_shade(app->canvas, y + line, x, cols, heat_step(p->grid, cell->count), true);
	}
}

static void draw_scale(struct app *app, const struct picture *p)
{
	struct canvas *c = app->canvas;
	for (unsigned level = 0; level < p->n_levels; level++) {
		char text[TIMEFMT_LEN];
		unsigned y = line_of(p, level) + lines_of(p, level) - 1;
		timefmt_duration(text, latency_row_low(p->grid->bits, p->low + level));
		canvas_put_right(c, y, 0, SCALE - 2, level == p->level ? ROLE_TITLE : ROLE_TEXT, text);
		for (unsigned line = 0; line < lines_of(p, level); line++)
			canvas_put(c, y - line, SCALE - 1, 1, ROLE_AXIS,
				   !app->glyphs->utf8 ? "|" : line ? "│" : "┤");
	}
}

/* Right of the picture, for each row: how many in all columns took so long or longer. */
static void draw_sums(struct app *app, const struct picture *p)
{
	uint64_t n = 0;
	unsigned x = SCALE + strip_n_columns(app) + 1;
	for (unsigned level = p->n_levels; level-- > 0;) {
		char low[TIMEFMT_LEN], count[TIMEFMT_LEN];
		for (unsigned column = 0; column < p->n_columns; column++)
			n += cell_at(p, column, level) ? cell_at(p, column, level)->count : 0;
		timefmt_duration(low, latency_row_low(p->grid->bits, p->low + level));
		g_autofree char *text = g_strdup_printf("%s %s%s", timefmt_count(count, n),
							app->glyphs->utf8 ? "≥" : ">=", low);
		canvas_put(app->canvas, line_of(p, level) + lines_of(p, level) - 1, x, app->canvas->cols - x,
			   level == p->level ? ROLE_TITLE : ROLE_DIM, text);
	}
}

/* Time at the bottom: where a column begins. */
static void draw_time(struct app *app, const struct picture *p)
{
	struct canvas *c = app->canvas;
	unsigned y = p->y + p->lines, width = p->x[p->n_columns] - SCALE, next = 0;
	canvas_put(c, y, SCALE - 1, 1, ROLE_AXIS, app->glyphs->utf8 ? "└" : "+");
	canvas_fill(c, y, SCALE, width, ROLE_AXIS, app->glyphs->utf8 ? "─" : "-");
	char text[TIMEFMT_LEN];
	unsigned chosen = p->x[p->column] - SCALE, len = (unsigned)strlen(timefmt_clock(text, p->grid->begin_ns));
	/* The selected column's begins there, or ends at the end. */
	unsigned own = chosen + len > width && width > len ? width - len : chosen;
	for (unsigned column = 0; column < p->n_columns; column++) {
		unsigned at = p->x[column] - SCALE;
		timefmt_clock(text, column_begin(p->grid, column));
		if (at < next || (at && at + len > width) || (at + len + 1 > own && at < own + len + 1))
			continue;
		canvas_put(c, y, SCALE + at, c->cols, ROLE_AXIS, text);
		next = at + len + 4;
	}
	timefmt_clock(text, column_begin(p->grid, p->column));
	canvas_put(c, y, SCALE + own, c->cols, ROLE_PAUSED, text);
	canvas_add_attr(c, y, p->x[p->column], cols_of(p, p->column), STYLE_REVERSE);
}

/* Marks a line of the rectangle. Reverse video would make its fullest cells look empty. */
static void mark_line(struct app *app, unsigned y, unsigned from, unsigned to)
{
	struct canvas *c = app->canvas;
	for (unsigned x = from; x < to && x < c->cols; x++)
		if (canvas_cell(c, y, x)->ch[0] == ' ')
			canvas_put(c, y, x, 1, ROLE_MATCH, app->glyphs->utf8 ? "·" : ".");
	canvas_set_role(c, y, from, to - from, ROLE_MATCH);
}

static void draw_cursor(struct app *app, const struct picture *p, const struct metric_place *m)
{
	struct canvas *c = app->canvas;
	struct corners k = corners_of(p, m);
	unsigned y = line_of(p, p->level), x = p->x[p->column], cols = cols_of(p, p->column);
	for (unsigned level = k.level[0]; m->rectangle != RECTANGLE_NONE && level <= k.level[1]; level++)
		for (unsigned line = 0; line < lines_of(p, level); line++)
			mark_line(app, line_of(p, level) + line, p->x[k.column[0]], p->x[k.column[1] + 1]);
	/* In a narrow column the brackets are beside the cell. */
	unsigned wide = cols >= 3, left = wide ? x : x - 1, right = x + cols - wide;
	canvas_put(c, y, left, 1, ROLE_SELECTED, "[");
	canvas_put(c, y, right, 1, ROLE_SELECTED, "]");
	app->cursor_y = y;
}

/* Single durations of a cell, the shortest first: "218ms 252ms 265ms". */
static void add_duration(void *data, const struct span *s, int64_t ns, const struct value *by)
{
	g_array_append_val((GArray *)data, ns);
}

static bool has_single_spans(const struct metric *m)
{
	return metric_is_of_spans(m) && !(m->fields & 1u << METRIC_BY_part);
}

static void append_durations(GString *text, const struct timeline *tl, const struct metric_query *q,
			     const struct heat_rectangle *r)
{
	struct metric_query plain = *q;
	g_autoptr(GArray) found = g_array_new(false, false, sizeof(int64_t));
	plain.n_by = 0;
	metric_each_span(tl, &plain, r->begin_ns, r->end_ns, add_duration, found);
	g_array_sort(found, order_i64);
	for (guint i = 0, shown = 0; i < found->len; i++) {
		int64_t ns = g_array_index(found, int64_t, i);
		char one[TIMEFMT_LEN];
		if (ns < r->low_ns || ns > r->high_ns)
			continue;
		if (shown++ == SHOWN_DURATIONS) {
			g_string_append(text, " ...");
			return;
		}
		g_string_append_printf(text, " %s", timefmt_duration(one, ns));
	}
}

static char *cell_text(struct app *app, const struct picture *p, const struct metric_place *m)
{
	struct corners k = corners_of(p, m);
	struct heat_rectangle r = rectangle_of(p, &k);
	const struct heat_cell *cell = cell_at(p, p->column, p->level);
	uint64_t n = count_in(p, &k);
	g_autofree char *times = times_text(p, &k), *durations = durations_text(&r);
	GString *text = g_string_new(NULL);
	g_string_append_printf(text, "%s %s %s: %" G_GUINT64_FORMAT " %s",
			       m->rectangle == RECTANGLE_NONE ? "cell" : "rectangle", times, durations, n,
			       noun_of(m->query.metric, n));
	if (n && n <= SHOWN_DURATIONS * 2 && has_single_spans(m->query.metric))
		append_durations(text, app->main, &m->query, &r);
	if (m->rectangle != RECTANGLE_NONE || !cell || !cell->has_dominant)
		return g_string_free(text, false);
	g_autofree char *value = text_visible(cell->dominant ? cell->dominant : "unknown");
	if (cell->dominant_count == cell->count)
		g_string_append_printf(text, "; all %s", value);
	else
		g_string_append_printf(text, "; %" G_GUINT64_FORMAT " of them %s", cell->dominant_count, value);
	return g_string_free(text, false);
}

/* A cell of the legend, as those of the picture with so many are. Returns the column after it. */
static unsigned draw_sample(struct app *app, const struct heat_grid *g, uint64_t n, unsigned y, unsigned x)
{
	enum role role = g->metric->n_by ? ROLE_DIM : ROLE_HEAT + depth_of(g, n);
	unsigned end = frame_add(app, y, x, role, "%s", shade_of(app, g, n));

	canvas_shade(app->canvas, y, x, end - x, heat_step(g, n), true);
	return end;
}

/* The shades of the picture, with the least number of each level. Where there is room all its steps are shown. */
static void draw_shades(struct app *app, const struct heat_grid *g, unsigned y, unsigned x)
{
	unsigned level_steps = LEVEL_STEPS * (g->metric->n_by && app->glyphs->utf8 ? 2 : 1);	/* of one character */
	bool few = app->canvas->cols < 100;

	for (unsigned step = 1; step <= HEAT_STEPS; step += level_steps) {
		char count[TIMEFMT_LEN];
		uint64_t least = 0;

		for (unsigned i = 0; i < level_steps; i++) {
			uint64_t n = heat_step_least(g, step + i);

			if (!n || (least && few))
				continue;
			x = draw_sample(app, g, n, y, least ? x : x + 1);
			least = least ? least : n;
		}
		if (least)
			x = frame_add(app, y, x, ROLE_TEXT, " %s+", timefmt_count(count, least));
	}
}

/* What the shades or the letters mean. */
static void draw_legend(struct app *app, const struct picture *p, unsigned y)
{
	const struct heat_grid *g = p->grid;
	unsigned x = frame_add(app, y, 0, ROLE_HEADER, "by %s ", g->metric->n_by ?
			       metric_field_words[g->metric->by[0]] : "number");
	for (guint i = 0; g->metric->n_by && i < g->values->len; i++) {
		const struct heat_value *v = &g_array_index(g->values, struct heat_value, i);
		enum role role;
		char count[TIMEFMT_LEN], letter = value_letter(g, v->text, &role);
		g_autofree char *name = text_visible(v->text ? v->text : "unknown");
		x = frame_add(app, y, x, role, " %c ", letter);
		x = frame_add(app, y, x, ROLE_TEXT, "%s %s ", name, timefmt_count(count, v->count));
	}
	draw_shades(app, g, y, x);
	canvas_put_right(app->canvas, y, app->canvas->cols - 8, 8, ROLE_KEYNAME, "b:by");
}

/* The heading: what it is of, and the selected row. */
static void draw_heading(struct app *app, struct place *place, const struct picture *p, unsigned y)
{
	struct canvas *c = app->canvas;
	g_autofree char *title = metric_place_title(place_metric(place));
	g_autofree char *text = g_strdup_printf("%s: %" G_GUINT64_FORMAT " %s", title, p->grid->total,
						noun_of(place_metric(place)->query.metric, p->grid->total));
	char cell[TIMEFMT_LEN];
	g_autofree char *right = g_strdup_printf("a column is %s", timefmt_step(cell, p->grid->cell_ns));
	unsigned right_cols = text_width(right) + 1;
	canvas_put(c, y, 0, c->cols > right_cols ? c->cols - right_cols : 0, ROLE_TITLE, text);
	canvas_put_right(c, y, c->cols - right_cols, right_cols, ROLE_DIM, right);
}

static void draw_hits(struct app *app, const struct picture *p)
{
	for (unsigned column = 0; column < p->n_columns; column++)
		for (unsigned y = p->y; y <= p->y + p->lines; y++)
			canvas_hit(app->canvas, y, p->x[column], cols_of(p, column), HIT_TIME, NULL,
				   column_begin(p->grid, column));
}

static void draw(struct app *app, struct place *place, struct box box)
{
	struct metric_place *m = place_metric(place);
	g_auto(heat_picture) p = { 0 };
	frame_completeness(app, box.y, &place->rows->completeness);
	if (!picture_of(app, place, &p)) {
		g_autofree char *title = metric_place_title(m);
		canvas_putf(app->canvas, box.y + 1, 0, box.cols, ROLE_TITLE, "%s", title);
		canvas_put(app->canvas, box.y + 3, 1, box.cols, ROLE_DIM,
			   frame_nothing(app, place->view->nothing));
		return;
	}
	draw_heading(app, place, &p, box.y + 1);
	draw_scale(app, &p);
	for (unsigned column = 0; column < p.n_columns; column++)
		for (unsigned level = 0; level < p.n_levels; level++)
			if (cell_at(&p, column, level))
				draw_cell(app, &p, column, level);
	draw_sums(app, &p);
	draw_time(app, &p);
	draw_cursor(app, &p, m);
	draw_hits(app, &p);
	g_autofree char *cell = cell_text(app, &p, m);
	unsigned y = p.y + p.lines + 1;
	canvas_put(app->canvas, y, 0, box.cols, ROLE_WHY, cell);
	canvas_put(app->canvas, y + 1, 0, box.cols, ROLE_WHY, m->difference);
	draw_legend(app, &p, y + 2);
}

/* ---- moving ---- */

static void move_level(struct picture *p, struct metric_place *m, int by)
{
	int level = CLAMP((int)p->level + by, 0, (int)p->n_levels - 1);
	m->low_ns = latency_row_low(p->grid->bits, p->low + (unsigned)level);
}

static void move_column(struct app *app, const struct picture *p, int by)
{
	app_pause(app);
	app->visits.stepped = true;
	bool moved;
	if (app->nav.step_ns > p->grid->cell_ns)
		moved = nav_step(&app->nav, app->main, by);
	else if ((by < 0 && !p->column) || (by > 0 && p->column + 1 >= p->n_columns))
		moved = false;
	else
		moved = nav_seek(&app->nav, app->main, column_begin(p->grid, p->column + (unsigned)by));
	if (!moved)
		app_message(app, by < 0 ? "this is the first column" : "this is the last column");
	app_moved(app);
}

/* ---- the rectangle ---- */

static void clear_rectangle(struct metric_place *m)
{
	m->rectangle = RECTANGLE_NONE;
	g_clear_pointer(&m->difference, g_free);
}

/* "different: cause futex 80% (else 3%), ..." */
static char *difference_text(struct app *app, struct place *place, const struct picture *p)
{
	struct corners k = corners_of(p, place_metric(place));
	struct heat_rectangle r = rectangle_of(p, &k);
	struct metric_query plain = place_metric(place)->query;
	plain.n_by = 0;
	g_autoptr(GArray) found = heat_differences(app->main, &plain, &r, place->built.from_ns, place->built.to_ns);
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < found->len && i < DIFFERENCES; i++) {
		const struct heat_difference *d = &g_array_index(found, struct heat_difference, i);
		double in = 100.0 * (double)d->inside / (double)MAX(d->all_inside, 1);
		double out = 100.0 * (double)d->outside / (double)MAX(d->all_outside, 1);
		g_autofree char *value = text_visible(d->value ? d->value : "unknown");
		if (in - out < 10 || !d->all_outside)
			break;
		g_string_append_printf(text, "%s%s %s %.0f%% (else %.0f%%)", text->len ? ", " : "different: ",
				       metric_field_words[d->field], value, in, out);
	}
	if (!text->len)
		g_string_append(text, "no field has other values in the rectangle than outside");
	return g_string_free(text, false);
}

static void select_corner(struct app *app, struct place *place, const struct picture *p)
{
	struct metric_place *m = place_metric(place);
	int corner = m->rectangle == RECTANGLE_OPEN;
	if (m->rectangle == RECTANGLE_CLOSED)
		clear_rectangle(m);
	m->low_ns = latency_row_low(p->grid->bits, p->low + p->level);
	m->corner[corner].at_ns = MAX(column_begin(p->grid, p->column), p->grid->begin_ns);
	m->corner[corner].low_ns = m->low_ns;
	m->rectangle = corner ? RECTANGLE_CLOSED : RECTANGLE_OPEN;
	app_message(app, corner ? "rectangle: Enter lists it, U clears it" :
		    "a rectangle begins here: move, then Space ends it");
	if (corner)
		m->difference = difference_text(app, place, p);
}

static void change_by(struct app *app, struct place *place)
{
	struct metric_place *m = place_metric(place);
	place_stale(place);
	g_clear_pointer(&m->heatmap, heatmap_free);
	int field = metric_place_next_by(m);
	if (field < 0)
		app_message(app, "shades are how many there are");
	else
		app_message(app, "letters and hues are the %s that most of a cell have", metric_field_words[field]);
}

/* ---- Enter ---- */

struct listing { struct intmap *among; int64_t low_ns, high_ns; unsigned n; };

static void list_span(void *data, const struct span *s, int64_t ns, const struct value *by)
{
	struct listing *l = data;
	if (ns < l->low_ns || ns > l->high_ns)
		return;
	l->n++;
	intmap_set(l->among, s->trace_id, 0);
}

static char *duration_filter(const struct metric_place *m, int64_t low_ns, int64_t high_ns)
{
	g_autofree char *rest = metric_place_log_filter(m);
	if (high_ns == INT64_MAX)
		return g_strdup_printf("duration_ns >= %" G_GINT64_FORMAT "ns%s", low_ns, rest);
	return g_strdup_printf("duration_ns >= %" G_GINT64_FORMAT "ns && duration_ns <= %" G_GINT64_FORMAT "ns%s",
			       low_ns, high_ns, rest);
}

static void list_spans(struct app *app, struct place *place, const struct heat_rectangle *r, const char *crumb)
{
	const struct view_query all = VIEW_QUERY_INIT;
	struct metric_query plain = place_metric(place)->query;
	struct intmap *among = g_new0(struct intmap, 1);
	struct listing l = { .among = among, .low_ns = r->low_ns, .high_ns = r->high_ns };
	bool requests = g_str_has_prefix(plain.metric->id, "request.");
	g_autofree char *filter = requests ? NULL : duration_filter(place_metric(place), r->low_ns, r->high_ns);
	plain.n_by = 0;
	metric_each_span(app->main, &plain, r->begin_ns, r->end_ns, list_span, &l);
	struct place *to = place_new(view_find(requests ? "traces" : "spans"), &all, crumb);
	to->among = among;
	to->narrow.among = among;
	if (filter)
		app_filter(app, to, filter, NULL);
	app_message(app, "%u %s of the heatmap", l.n, noun_of(plain.metric, l.n));
	app_open(app, to);
}

/* Goes to the range: one step, or A-B if it is longer. */
static void go_to_range(struct app *app, const struct heat_rectangle *r)
{
	app_pause(app);
	nav_seek(&app->nav, app->main, r->begin_ns);
	if (nav_has_range(&app->nav) || r->end_ns - r->begin_ns > app->nav.step_ns) {
		app->nav.a_ns = r->begin_ns;
		app->nav.b_ns = r->end_ns;
		app_message(app, "the range A-B is what was selected: R clears it");
	}
	app_moved(app);
}

/* The calls that were counted: those that ended in the range, and took as long. */
static char *calls_filter(const struct app *app, const struct metric_place *m, const struct heat_rectangle *r)
{
	g_autofree char *durations = duration_filter(m, r->low_ns, r->high_ns);
	size_t last = timeline_find(app->main, r->end_ns - 1);
	int64_t end = last < timeline_n_seconds(app->main) ? MAX(timeline_outline(app->main, last)->end_ns, r->end_ns) :
		r->end_ns;
	return g_strdup_printf("%s && exit_ns >= %" G_GINT64_FORMAT " && exit_ns < %" G_GINT64_FORMAT, durations,
			       r->begin_ns, end);
}

static void list_table(struct app *app, struct place *place, const struct heat_rectangle *r, const char *crumb)
{
	const struct metric *m = place_metric(place)->query.metric;
	bool log = g_str_has_prefix(m->id, "call.") && app->backend && app->backend->log_ask;
	struct view_query q = VIEW_QUERY_INIT;
	for (guint i = 0; i < place_metric(place)->conditions->len; i++) {
		const struct metric_condition *c =
			&g_array_index(place_metric(place)->conditions, struct metric_condition, i);
		if (c->field == METRIC_BY_pid)
			q.pid = (int32_t)g_ascii_strtoll(c->text, NULL, 10);
		if (c->field == METRIC_BY_tid)
			q.tid = (int32_t)g_ascii_strtoll(c->text, NULL, 10);
	}
	g_autofree char *filter = log ? calls_filter(app, place_metric(place), r) : NULL;
	struct place *to = place_new(log ? &view_log : view_find(noun_row(m)->view), &q, crumb);
	go_to_range(app, r);
	if (log) {
		/* The log has a call where it began, which may be before the range. */
		to->mark_ns = r->begin_ns - MIN(r->high_ns, LOOK_BACK_NS);
		app_filter(app, to, filter, NULL);
		app_message(app, "the log of these calls: they ended in the range (u shows all lines)");
	}
	app_open(app, to);
}

void screen_heatmap_list(struct app *app, struct place *p, int64_t begin_ns, int64_t end_ns, int64_t low_ns,
			 int64_t high_ns)
{
	struct heat_rectangle r = { begin_ns, end_ns, low_ns, high_ns };
	g_autofree char *durations = durations_text(&r);
	char clock[TIMEFMT_LEN];
	g_autofree char *crumb = g_strdup_printf("%s %s", timefmt_clock(clock, begin_ns), durations);
	if (has_single_spans(place_metric(p)->query.metric))
		list_spans(app, p, &r, crumb);
	else
		list_table(app, p, &r, crumb);
}

static void list_selected(struct app *app, struct place *place, const struct picture *p)
{
	struct corners k = corners_of(p, place_metric(place));
	struct heat_rectangle r = rectangle_of(p, &k);
	if (!count_in(p, &k)) {
		app_message(app, "the cell is empty: arrows move to another one");
		return;
	}
	place_metric(place)->low_ns = latency_row_low(p->grid->bits, p->low + p->level);
	screen_heatmap_list(app, place, r.begin_ns, r.end_ns, r.low_ns, r.high_ns);
}

static bool in_picture(struct app *app, struct place *place, struct picture *p, enum command_id id)
{
	int by = (int)keys_rows(id, PAGE + 1, LATENCY_ROWS_N);
	if (by) {
		move_level(p, place_metric(place), -by);
		return true;
	}
	switch (id) {
	case CMD_CURSOR_LEFT:
	case CMD_CURSOR_RIGHT:
		move_column(app, p, id == CMD_CURSOR_LEFT ? -1 : 1);
		return true;
	case CMD_SELECT:
		select_corner(app, place, p);
		return true;
	case CMD_DRILL:
		list_selected(app, place, p);
		return true;
	default:
		return false;
	}
}

static bool command(struct app *app, struct place *place, enum command_id id)
{
	g_auto(heat_picture) p = { 0 };
	if (id == CMD_BY) {
		change_by(app, place);
		return true;
	}
	if (id == CMD_UNTAG) {
		app_message(app, place_metric(place)->rectangle == RECTANGLE_NONE ? "no rectangle: Space begins one" :
			    "no rectangle");
		clear_rectangle(place_metric(place));
		return true;
	}
	if (picture_of(app, place, &p)) {
		bool done = in_picture(app, place, &p, id);
			return done;
	}
	return id == CMD_SELECT || id == CMD_CURSOR_LEFT || id == CMD_CURSOR_RIGHT || id == CMD_DRILL;
}

/* The row of the selected cell is that of the table: it is what is copied. */
static void prepare(struct app *app, struct place *place)
{
	g_auto(heat_picture) p = { 0 };
	if (!picture_of(app, place, &p))
		return;
	const struct heat_cell *cell = cell_at(&p, p.column, p.level);
	for (guint i = 0; cell && i < place->rows->rows->len; i++)
		if (place->rows->rows->pdata[i] == cell)
			place->table[PANE_MAIN].cursor = i;
}

/* ---- what is selected, in sentences ---- */

static void explain_shade(const struct app *app, const struct picture *p, uint64_t n, GPtrArray *lines)
{
	unsigned step = heat_step(p->grid, n);
	explain_add(lines, "shade", "step %u of %u (%s), from %" G_GUINT64_FORMAT " on; the fullest cell has %"
		 G_GUINT64_FORMAT ". Each step is the same factor, so that single ones are seen", step, HEAT_STEPS,
		 shade_of(app, p->grid, n), heat_step_least(p->grid, step), p->grid->most);
}

static void explain_letter(const struct picture *p, const struct heat_cell *cell, GPtrArray *lines)
{
	enum role role;
	char letter = value_letter(p->grid, cell->dominant, &role);
	g_autofree char *value = text_visible(cell->dominant ? cell->dominant : "unknown");
	explain_add(lines, "letter",
		    "%c, and the hue: most have %s %s (%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ")",
		    letter, metric_field_words[p->grid->metric->by[0]], value, cell->dominant_count, cell->count);
	if (role >= ROLE_PART && role < ROLE_HEAT && letter == part_info[role - ROLE_PART].letter)
		explain_add_part(lines, (enum part)(role - ROLE_PART));
}

static void explain(struct app *app, struct place *place, GPtrArray *lines)
{
	g_auto(heat_picture) p = { 0 };
	const struct metric_place *m = place_metric(place);
	if (!picture_of(app, place, &p))
		return;
	struct corners k = corners_of(&p, m);
	struct heat_rectangle r = rectangle_of(&p, &k);
	struct corners above = { { 0, p.n_columns - 1 }, { k.level[0], p.n_levels - 1 } };
	const struct heat_cell *cell = cell_at(&p, p.column, p.level);
	bool single = m->rectangle == RECTANGLE_NONE;
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN], low[TIMEFMT_LEN];
	g_autofree char *durations = durations_text(&r), *title = metric_place_title(m);
	uint64_t n = count_in(&p, &k), longer = count_in(&p, &above);
	const struct metric *metric = m->query.metric;

	g_ptr_array_add(lines, g_strdup(single ? "The selected cell" : "The selected rectangle"));
	explain_add(lines, "metric", "%s", title);
	explain_add(lines, "time", "%s to %s: %s", timefmt_clock(from, r.begin_ns), timefmt_clock(to, r.end_ns),
		 "that of its column, from left to right");
	explain_add(lines, "durations", "%s: that of its row, the longest above", durations);
	if (n)
		explain_add(lines, "number", "%" G_GUINT64_FORMAT " %s ended then and took so long; Enter lists %s",
			 n, noun_of(metric, n), n == 1 ? "it" : "them");
	else
		explain_add(lines, "number", "no %s took so long then", noun_of(metric, 1));
	if (cell && single)
		explain_shade(app, &p, cell->count, lines);
	if (cell && single && cell->has_dominant)
		explain_letter(&p, cell, lines);
	explain_add(lines, "longer",
		    "%" G_GUINT64_FORMAT " %s of the whole picture took %s or longer (at the right edge)",
		 longer, noun_of(metric, longer), timefmt_duration(low, r.low_ns));
}

const struct screen screen_heatmap = {
	.draw = draw, .command = command, .prepare = prepare, .query = query,
	.explain = explain, .rests = true, .detached = true,
};
