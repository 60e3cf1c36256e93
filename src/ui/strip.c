/* SPDX-License-Identifier: GPL-2.0-only */
/* The strip: see strip.h. */
#include "ui/strip.h"

#include "ui/bookmark.h"
#include "ui/progressive.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define STRIP_WIDEST 8		/* most cells for one second */

struct strip_data {
	const struct extent_point *points;
	size_t n;
	enum graph graph;
	double max;			/* largest figure; below 0: bytes are drawn */
	double max_bytes;
	unsigned rows;			/* of a graph */
};

/* ---- figures ---- */

/* The largest figure of the graph; below 0: there are none. */
static double largest(const struct extent_strip *s, enum graph graph)
{
	double max = -1;

	for (size_t i = 0; i < s->n; i++)
		max = MAX(max, s->points[i].figure[graph]);
	return max >= 0 && !graph_info[graph].is_ns ? 1 : max;
}

enum graph strip_graph(struct app *app)
{
	const struct extent_strip *s = progressive_strip(app);

	for (int i = 0; i < GRAPH_N; i++) {
		enum graph graph = (enum graph)((app->graph + i) % GRAPH_N);

		if (largest(s, graph) >= 0)
			return graph;
	}
	return GRAPH_N;
}

enum graph strip_next_graph(struct app *app)
{
	enum graph was = app->graph, now = strip_graph(app), next;

	app->graph = (enum graph)((now + 1) % GRAPH_N);
	next = strip_graph(app);
	app->graph = was;
	return next;
}

const char *strip_figure(enum graph graph, double figure, char buf[TIMEFMT_LEN])
{
	if (figure < 0)
		return "-";
	if (graph_info[graph].is_ns)
		return timefmt_duration(buf, (int64_t)figure);
	g_snprintf(buf, TIMEFMT_LEN, "%.0f%%", figure * 100);
	return buf;
}

/* ---- cells ---- */

/* Columns right of the cells, for words. */
static unsigned right_cols(const struct app *app)
{
	return app->canvas->cols >= 100 ? 24 : app->canvas->cols >= 70 ? 20 : 14;
}

unsigned strip_n_columns(const struct app *app)
{
	unsigned used = STRIP_X + 1 + right_cols(app);

	return app->canvas->cols > used ? app->canvas->cols - used : 1;
}

/* The first cell of a point. */
static unsigned strip_cell(const struct strip_data *s, size_t point, unsigned cells)
{
	return (unsigned)((uint64_t)point * MIN(cells, (uint64_t)s->n * STRIP_WIDEST) / MAX(s->n, 1));
}

/* How many cells the point has. Several points may share one. */
static unsigned strip_width(const struct strip_data *s, size_t point, unsigned cells)
{
	return MAX(strip_cell(s, point + 1, cells) - strip_cell(s, point, cells), 1);
}

unsigned strip_column(struct app *app, int64_t at_ns)
{
	const struct extent_strip *strip = progressive_strip(app);
	const struct strip_data s = { .points = strip->points, .n = strip->n };
	bool after = s.n && at_ns >= s.points[s.n - 1].end_ns;
	size_t point = after ? s.n : extent_strip_find(strip, at_ns);
	return strip_cell(&s, point, strip_n_columns(app));
}

/* 1 .. steps. */
static unsigned level_of(double value, double max, unsigned steps)
{
	return 1 + (unsigned)MIN(max > 0 ? value / max * (steps - 0.01) : 0, steps - 1.0);
}

struct strip_mark {
	enum cover_kind cover;
	unsigned wide;			/* cells */
	unsigned level;			/* eighths of a row; of what is not read 0 to 4 */
	bool hot, any;
	bool faint;			/* folded, or of the second that is not over yet */
	int64_t at_ns;
};

static struct strip_mark mark_of(const struct strip_data *s, const struct extent_point *p)
{
	struct strip_mark m = { .cover = p->cover, .hot = p->outlier && s->graph == GRAPH_REQUESTS, .any = true,
				.at_ns = p->begin_ns, .faint = p->folded || p->open };
	double figure = s->max >= 0 ? p->figure[s->graph] : -1;

	if (p->cover == COVER_UNREAD)
		m.level = p->bytes > 0 ? level_of(p->bytes, s->max_bytes, 4) : 0;
	else if (p->cover == COVER_READ && s->max < 0)
		m.level = p->bytes > 0 ? level_of(p->bytes, s->max_bytes, 8 * s->rows) : 0;
	else
		m.level = figure < 0 ? 0 : level_of(figure, s->max, 8 * s->rows);
	return m;
}

/* Which of several points in a cell is shown: a preview before one that was not read before one that was read; of
 * equal ones the highest. */
static bool outranks(const struct strip_mark *a, const struct strip_mark *b)
{
	static const unsigned rank[] = {
		[COVER_READ] = 0, [COVER_UNREAD] = 1, [COVER_PROVISIONAL] = 2, [COVER_EXACT] = 2,
	};

	if (!b->any || a->cover != b->cover)
		return !b->any || rank[a->cover] > rank[b->cover];
	return a->level > b->level;
}

/* Draws a column of the graph whose lowest row is y. */
static void draw_mark(struct app *app, const struct strip_data *s, const struct strip_mark *m, unsigned y,
		      unsigned x)
{
	const struct glyphs *g = app->glyphs;
	unsigned wide = m->wide;
	enum role role = m->hot ? ROLE_HOT : m->faint ? ROLE_DIM : ROLE_SPARK;

	if (m->cover == COVER_PROVISIONAL || m->cover == COVER_EXACT) {
		canvas_fill(app->canvas, y, x, wide, ROLE_PROVISIONAL, g->provisional);
		return;
	}
	if (m->level && m->cover == COVER_UNREAD) {
		canvas_fill(app->canvas, y, x, wide, ROLE_UNREAD, g->unread[m->level]);
		return;
	}
	for (unsigned row = 0; row < s->rows && m->level > 8 * row; row++) {
		unsigned level = s->rows > 1 ? 8 * (row + 1) : m->level;

		canvas_fill(app->canvas, y - row, x, wide, role, g->spark[MIN(m->level - 8 * row, 8)]);
		canvas_shade(app->canvas, y - row, x, wide, theme_shade(level / (8.0 * s->rows)), false);
	}
}

static bool holds(const struct extent_point *p, int64_t at)
{
	return at != TIME_UNKNOWN && p->begin_ns <= at && at < p->end_ns;
}

static bool is_shown(const struct app *app, const struct extent_point *p)
{
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	if (app->drag.on && app->drag.from_ns != app->drag.to_ns) {
		from = MIN(app->drag.from_ns, app->drag.to_ns);
		to = MAX(app->drag.from_end_ns, app->drag.to_end_ns);
	}
	return p->begin_ns < to && p->end_ns > from;
}

/* Shows in one row that this second is shown: in reverse. Full blocks would vanish: they get an arrow in the middle. */
static void mark_shown(struct app *app, unsigned y, unsigned x, unsigned wide)
{
	const struct glyphs *g = app->glyphs;
	unsigned middle = MIN(x + wide / 2, app->canvas->cols - 1);
	const struct cell *cell = canvas_cell(app->canvas, y, middle);
	bool full = g->utf8 && !strcmp(cell->ch, g->spark[8]);

	if (full)
		canvas_put(app->canvas, y, middle, 1, (enum role)cell->role, g->sort_down);
	canvas_add_attr(app->canvas, y, full ? middle : x, full ? 1 : wide, STYLE_REVERSE);
}

/* Draws the cells; s->rows rows, the lowest one at y. */
static void draw_cells(struct app *app, const struct strip_data *s, unsigned y)
{
	unsigned cells = strip_n_columns(app);
	g_autofree struct strip_mark *marks = g_new0(struct strip_mark, cells + 1);

	for (size_t i = 0; i < s->n; i++) {
		struct strip_mark m = mark_of(s, &s->points[i]);
		unsigned cell = strip_cell(s, i, cells);

		m.wide = strip_width(s, i, cells);
		if (outranks(&m, &marks[cell]))
			marks[cell] = m;
	}
	for (unsigned cell = 0; cell < cells; cell++) {
		if (!marks[cell].any)
			continue;
		draw_mark(app, s, &marks[cell], y, STRIP_X + cell);
		for (unsigned row = 0; row < s->rows; row++)
			canvas_hit(app->canvas, y - row, STRIP_X + cell, marks[cell].wide, HIT_TIME, NULL,
				   marks[cell].at_ns);
	}
	for (size_t i = 0; i < s->n; i++) {
		unsigned x = STRIP_X + strip_cell(s, i, cells), wide = strip_width(s, i, cells);

		if (!is_shown(app, &s->points[i]))
			continue;
		if (s->rows == 1)
			mark_shown(app, y, x, wide);
		for (unsigned row = 0; s->rows > 1 && row < s->rows; row++)
			canvas_set_role(app->canvas, y - row, x, wide, ROLE_PAUSED);
	}
}

/* Draws "m" at seconds with a bookmark. Returns whether there were any; with `y` 0 nothing is drawn. */
static bool draw_bookmarks(struct app *app, const struct strip_data *s, unsigned y)
{
	const GArray *instants = bookmark_instants(app);
	unsigned cells = strip_n_columns(app);
	bool any = false;
	size_t i = 0;

	for (guint k = 0; k < instants->len; k++) {
		int64_t at = g_array_index(instants, int64_t, k);

		while (i < s->n && s->points[i].end_ns <= at)
			i++;
		if (i >= s->n || s->points[i].begin_ns > at)
			continue;
		any = true;
		if (y)
			canvas_put(app->canvas, y, STRIP_X + strip_cell(s, i, cells), 1, ROLE_KEY, "m");
	}
	return any;
}

/* Draws bookmarks, losses, the range A-B, and (with `all`) what was folded or corrected. Returns whether there were
 * any; with `y` 0 nothing is drawn. */
static bool draw_marks(struct app *app, const struct strip_data *s, unsigned y, bool all)
{
	unsigned cells = strip_n_columns(app);
	bool any = draw_bookmarks(app, s, y);

	for (size_t i = 0; i < s->n; i++) {
		const struct extent_point *p = &s->points[i];
		unsigned x = STRIP_X + strip_cell(s, i, cells), wide = strip_width(s, i, cells);
		bool a = holds(p, app->nav.a_ns);
		bool b = app->nav.b_ns != TIME_UNKNOWN && holds(p, app->nav.b_ns - 1);

		any |= a || b || p->lost || (all && (p->folded || p->corrected));
		if (!y)
			continue;
		if (all && p->folded)
			canvas_fill(app->canvas, y, x, wide, ROLE_DIM, "=");
		if (a)
			canvas_put(app->canvas, y, x, 1, ROLE_PAUSED, "A");
		if (b)
			canvas_put(app->canvas, y, x + wide - 1, 1, ROLE_PAUSED, "B");
		if (all && p->corrected)
			canvas_put(app->canvas, y, x, 1, ROLE_PROVISIONAL, "c");
		if (p->lost)
			canvas_put(app->canvas, y, x, 1, ROLE_DISTRUST, "!");
	}
	return any;
}

static void draw_edges(struct app *app, unsigned y)
{
	canvas_put(app->canvas, y, STRIP_X - 1, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(app->canvas, y, STRIP_X + strip_n_columns(app), 1, ROLE_AXIS, app->glyphs->edge);
}

static unsigned text_x(const struct app *app)
{
	return STRIP_X + strip_n_columns(app) + 2;
}

/* ---- the graph ---- */

#define AXIS_GAP 3		/* least columns between two clock times */

/* Writes a clock time below a cell, unless something is there already. */
static void put_clock(struct app *app, const struct strip_data *s, unsigned y, size_t point, bool shown)
{
	char clock[TIMEFMT_LEN];
	unsigned cells = strip_n_columns(app), cell = strip_cell(s, point, cells);
	g_autofree char *text = g_strdup_printf(shown ? "[%s]" : "%s", timefmt_clock(clock, s->points[point].begin_ns));
	unsigned width = text_width(text), x = STRIP_X + cell;

	if (shown)
		x = x > STRIP_X + width / 2 ? x - width / 2 : STRIP_X;
	if (x + width > STRIP_X + cells)
		x = STRIP_X + cells > width ? STRIP_X + cells - width : 0;
	for (unsigned i = x > AXIS_GAP ? x - AXIS_GAP : 0; i < x + width + AXIS_GAP && i < app->canvas->cols; i++)
		if (canvas_cell(app->canvas, y, i)->ch[0] != ' ')
			return;
	canvas_put(app->canvas, y, x, width, shown ? ROLE_PAUSED : ROLE_AXIS, text);
}

static void draw_clocks(struct app *app, const struct strip_data *s, unsigned y)
{
	unsigned cells = strip_n_columns(app);
	size_t every = MAX(s->n * 16 / MAX(cells, 1), 1), shown = SIZE_MAX;

	for (size_t i = 0; i < s->n && shown == SIZE_MAX; i++)
		if (is_shown(app, &s->points[i]))
			shown = i;
	if (shown != SIZE_MAX)
		put_clock(app, s, y, shown, true);
	for (size_t i = 0; i < s->n; i += every)
		put_clock(app, s, y, i, false);
}

/* Scale, and a dotted line at the usual figure. */
static void draw_scale(struct app *app, const struct strip_data *s, unsigned top, unsigned bottom, double usual)
{
	char text[TIMEFMT_LEN];
	struct canvas *c = app->canvas;

	for (unsigned y = top; y <= bottom; y++)
		canvas_put(c, y, STRIP_X - 1, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put_right(c, top, 0, STRIP_X - 1, ROLE_TEXT, strip_figure(s->graph, s->max, text));
	if (bottom > top)
		canvas_put_right(c, bottom, 0, STRIP_X - 1, ROLE_DIM, "0");
	if (usual < 0 || bottom < top + 2)
		return;
	unsigned y = bottom - (level_of(usual, s->max, 8 * s->rows) - 1) / 8;
	if (y != top)
		canvas_put_right(c, y, 0, STRIP_X - 1, ROLE_DIM, strip_figure(s->graph, usual, text));
	for (unsigned x = STRIP_X; x < STRIP_X + strip_n_columns(app); x++)
		if (canvas_cell(c, y, x)->ch[0] == ' ')
			canvas_put(c, y, x, 1, ROLE_AXIS, app->glyphs->utf8 ? "┄" : "-");
}

static void draw_legend(struct app *app, const struct strip_data *s, struct box box, double usual, double here)
{
	char text[TIMEFMT_LEN];
	struct canvas *c = app->canvas;
	unsigned x = text_x(app), cols = box.cols > x ? box.cols - x : 0;

	canvas_put(c, box.y, x, cols, ROLE_TITLE, graph_info[s->graph].title);
	if (box.rows > 1 && here >= 0)
		canvas_putf(c, box.y + 1, x, cols, ROLE_TEXT, "here %s", strip_figure(s->graph, here, text));
	if (box.rows > 2 && usual >= 0)
		canvas_putf(c, box.y + 2, x, cols, ROLE_DIM, "usual %s", strip_figure(s->graph, usual, text));
	if (box.rows > 3)
		canvas_put(c, box.y + 3, x, cols, ROLE_DIM, "a next graph");
}

void strip_draw_graph(struct app *app, struct box box, double usual, double here)
{
	const struct extent_strip *strip = progressive_strip(app);
	enum graph graph = strip_graph(app);

	if (graph == GRAPH_N || !strip->n || box.rows < 2) {
		strip_draw_whole(app, box.y);
		return;
	}
	struct strip_data s = { strip->points, strip->n, graph, largest(strip, graph), strip->max_bytes, 1 };
	bool marks = box.rows > 2 && draw_marks(app, &s, 0, true);
	unsigned axis = box.y + box.rows - 1, bottom = axis - 1 - marks;

	s.rows = bottom - box.y + 1;
	draw_cells(app, &s, bottom);
	draw_scale(app, &s, box.y, bottom, usual);
	if (marks)
		draw_marks(app, &s, bottom + 1, true);
	draw_clocks(app, &s, axis);
	draw_legend(app, &s, box, usual, here);
}

/* ---- one row ---- */

/* The text beside it: "6.00s: 12.3k/s !lost 2 gaps", without gaps, then without the length if it is too long. If all is
 * `read`, it lasts from the first event to the last. */
static char *whole_text(struct app *app, const struct extent_strip *strip, enum graph graph, bool read, unsigned cols)
{
	int64_t from = strip->points[0].begin_ns, to = strip->points[strip->n - 1].end_ns;
	char length[TIMEFMT_LEN], rate[TIMEFMT_LEN];
	unsigned gaps = 0;
	bool lost = false;

	for (size_t i = 0; i < strip->n; i++) {
		gaps += strip->points[i].gap && !(i && strip->points[i - 1].gap);
		lost |= strip->points[i].lost;
	}
	if (app->outline) {
		from = app->outline->from_ns;
		to = app->outline->to_ns;
	}
	if (read)
		timeline_coverage(app->main, &from, &to);
	if (graph < GRAPH_N)
		g_strlcpy(rate, strip_figure(graph, largest(strip, graph), length), sizeof rate);
	else if (app->outline)
		timefmt_bytes(rate, (uint64_t)strip->max_bytes);
	else
		timefmt_count(rate, (uint64_t)strip->max_bytes);
	for (unsigned less = 0;; less++) {
		GString *s = g_string_new(NULL);

		if (less < 2)
			g_string_append_printf(s, "%s: ", timefmt_duration(length, to - from));
		g_string_append_printf(s, "%s%s%s", rate, graph < GRAPH_N ? "" : "/s", lost ? " !lost" : "");
		if (gaps && !less)
			g_string_append_printf(s, " %u gap%s", gaps, gaps == 1 ? "" : "s");
		if (less == 2 || text_width(s->str) <= cols)
			return g_string_free(s, FALSE);
		g_string_free(s, TRUE);
	}
}

void strip_draw_whole(struct app *app, unsigned y)
{
	const struct extent_strip *strip = progressive_strip(app);
	struct canvas *c = app->canvas;

	if (!strip || strip->n < 2)
		return;
	/* Until all is read, only bytes are known of the whole trace. */
	bool read = !app->outline || extent_is_whole(&app->extent);
	enum graph graph = read ? strip_graph(app) : GRAPH_N;
	struct strip_data s = { strip->points, strip->n, graph, graph < GRAPH_N ? largest(strip, graph) : -1,
				strip->max_bytes, 1 };
	unsigned x = text_x(app), cols = c->cols > x ? c->cols - x : 0;
	g_autofree char *right = whole_text(app, strip, graph, read, cols);
	g_autofree char *clipped = text_clip(right, cols, app->glyphs->utf8);
	char *mark = strstr(clipped, "!lost");

	canvas_put(c, y, 0, STRIP_X - 1, ROLE_TITLE,
		   graph < GRAPH_N ? graph_info[graph].word : app->outline ? "B/s" : "ev/s");
	draw_edges(app, y);
	canvas_put(c, y, x, cols, ROLE_TEXT, clipped);
	if (mark)
		canvas_set_role(c, y, x + (unsigned)(mark - clipped), 5, ROLE_DISTRUST);
	draw_cells(app, &s, y);
	draw_marks(app, &s, y, false);
}
