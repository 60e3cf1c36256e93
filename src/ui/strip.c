/* SPDX-License-Identifier: GPL-2.0-only */
/* The strip: see strip.h. */
#include "ui/strip.h"

#include "ui/progressive.h"

#include "base/text.h"
#include "base/timefmt.h"

#define STRIP_WIDEST 8		/* most cells for one second */

static unsigned strip_width(const struct strip_data *s, unsigned cells)
{
	return s->n ? CLAMP(cells / (unsigned)s->n, 1, STRIP_WIDEST) : 1;
}

unsigned strip_cell(const struct strip_data *s, size_t point, unsigned cells)
{
	if (s->n <= cells)
		return (unsigned)point * strip_width(s, cells);
	return (unsigned)((uint64_t)point * cells / s->n);
}

/* 1 .. steps. */
static unsigned level_of(double value, double max, unsigned steps)
{
	return 1 + (unsigned)MIN(max > 0 ? value / max * (steps - 0.01) : 0, steps - 1.0);
}

struct strip_mark {
	enum cover_kind cover;
	unsigned level;
	bool hot, any, folded;
	int64_t at_ns;
};

static struct strip_mark mark_of(const struct strip_data *s, const struct overview_point *p)
{
	struct strip_mark m = { .cover = p->cover, .hot = p->outlier, .any = true,
				.at_ns = p->begin_ns, .folded = p->folded };

	if (p->cover == COVER_UNREAD)
		m.level = p->bytes > 0 ? level_of(p->bytes, s->max_bytes, 4) : 0;
	else if (p->cover == COVER_READ && s->max_ns < 0)
		m.level = p->bytes > 0 ? level_of(p->bytes, s->max_bytes, 8) : 0;
	else
		m.level = p->p99_ns < 0 ? 0 : level_of((double)p->p99_ns, (double)s->max_ns, 8);
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

static void draw_mark(struct app *app, const struct strip_mark *m, unsigned y, unsigned x,
		      unsigned wide)
{
	const struct glyphs *g = app->glyphs;

	if (m->cover == COVER_PROVISIONAL || m->cover == COVER_EXACT)
		canvas_fill(app->canvas, y, x, wide, ROLE_PROVISIONAL, g->provisional);
	else if (m->level && m->cover == COVER_UNREAD)
		canvas_fill(app->canvas, y, x, wide, ROLE_UNREAD, g->unread[m->level]);
	else if (m->level)
		canvas_fill(app->canvas, y, x, wide, m->hot ? ROLE_HOT :
			    m->folded ? ROLE_DIM : ROLE_SPARK,
			    g->spark[m->level]);
}

static bool holds(const struct overview_point *p, int64_t at)
{
	return at != TIME_UNKNOWN && p->begin_ns <= at && at < p->end_ns;
}

void strip_draw_cells(struct app *app, const struct strip_data *s, unsigned y, unsigned x,
		      unsigned cells, bool marks_below)
{
	g_autofree struct strip_mark *marks = g_new0(struct strip_mark, cells + 1);
	unsigned wide = strip_width(s, cells), below = marks_below ? y + 1 : y;
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	for (size_t i = 0; i < s->n; i++) {
		struct strip_mark m = mark_of(s, &s->points[i]);
		unsigned cell = strip_cell(s, i, cells);

		if (outranks(&m, &marks[cell]))
			marks[cell] = m;
	}
	for (unsigned cell = 0; cell < cells; cell++) {
		if (!marks[cell].any)
			continue;
		draw_mark(app, &marks[cell], y, x + cell, wide);
		canvas_hit(app->canvas, y, x + cell, wide, HIT_TIME, NULL, marks[cell].at_ns);
	}
	for (size_t i = 0; i < s->n; i++) {
		unsigned cell = strip_cell(s, i, cells);

		if (holds(&s->points[i], app->nav.a_ns))
			canvas_put(app->canvas, y, x + cell, 1, ROLE_PAUSED, "A");
		if (app->nav.b_ns != TIME_UNKNOWN && holds(&s->points[i], app->nav.b_ns - 1))
			canvas_put(app->canvas, y, x + cell + wide - 1, 1, ROLE_PAUSED, "B");
		if (s->points[i].begin_ns < to && s->points[i].end_ns > from) {
			canvas_add_attr(app->canvas, y, x + cell, wide, STYLE_REVERSE);
			if (marks_below)
				canvas_fill(app->canvas, y + 1, x + cell, wide, ROLE_PAUSED,
					    app->glyphs->utf8 ? "▔" : "'");
		}
		if (s->points[i].folded && marks_below && !(s->points[i].begin_ns < to &&
							    s->points[i].end_ns > from))
			canvas_fill(app->canvas, y + 1, x + cell, wide, ROLE_DIM, "=");
		if (s->points[i].corrected && marks_below)
			canvas_put(app->canvas, below, x + cell, 1, ROLE_PROVISIONAL, "c");
		if (s->points[i].lost)
			canvas_put(app->canvas, below, x + cell, 1, ROLE_DISTRUST, "!");
	}
}

/* The text beside it: "6.00s: 12.3k ev/s, 2 gaps !lost". */
static char *whole_text(struct app *app, const struct extent_strip *strip, bool p99, bool *ret_lost)
{
	int64_t from = strip->points[0].begin_ns, to = strip->points[strip->n - 1].end_ns;
	char length[TIMEFMT_LEN], rate[TIMEFMT_LEN];
	GString *s = g_string_new(NULL);
	unsigned gaps = 0;

	*ret_lost = false;
	for (size_t i = 0; i < strip->n; i++) {
		gaps += strip->points[i].gap && !(i && strip->points[i - 1].gap);
		*ret_lost |= strip->points[i].lost;
	}
	if (app->outline) {
		from = app->outline->from_ns;
		to = app->outline->to_ns;
	}
	if (p99)
		timefmt_duration(rate, strip->max_ns);
	else if (app->outline)
		timefmt_bytes(rate, (uint64_t)strip->max_bytes);
	else
		timefmt_count(rate, (uint64_t)strip->max_bytes);
	g_string_append_printf(s, " %s: %s%s", timefmt_duration(length, to - from), rate,
			       p99 ? "" : "/s");
	if (gaps)
		g_string_append_printf(s, " %u gap%s", gaps, gaps == 1 ? "" : "s");
	if (*ret_lost)
		g_string_append(s, " !lost");
	return g_string_free(s, FALSE);
}

void strip_draw_whole(struct app *app, unsigned y)
{
	const struct extent_strip *strip = progressive_strip(app);
	struct strip_data s;
	struct canvas *c = app->canvas;
	g_autofree char *right = NULL;
	unsigned right_cols, cells;
	bool lost, p99;

	if (!strip || strip->n < 2)
		return;
	/* Until all is read, only bytes are known of the whole trace. */
	p99 = strip->max_ns >= 0 && (!app->outline || extent_is_whole(&app->extent));
	s = (struct strip_data){ strip->points, strip->n, p99 ? strip->max_ns : -1,
				 strip->max_bytes };
	right = whole_text(app, strip, p99, &lost);
	right_cols = text_width(right);
	cells = c->cols > 6 + right_cols ? c->cols - 6 - right_cols : 1;
	canvas_put(c, y, 0, 4, ROLE_TITLE, p99 ? "p99" : app->outline ? "B/s" : "ev/s");
	canvas_put(c, y, 4, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(c, y, 5 + cells, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(c, y, 6 + cells, right_cols, ROLE_TEXT, right);
	if (lost)
		canvas_set_role(c, y, 6 + cells + right_cols - 5, 5, ROLE_DISTRUST);
	strip_draw_cells(app, &s, y, 5, cells, false);
}
