/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distribution: a bar for each row of durations, percentiles above. Beside it, with C, that of another time, or,
 * of two tagged rows, that of the second one.
 */
#include "ui/frame.h"
#include "ui/metric_place.h"
#include "ui/screen.h"
#include "ui/screen_heatmap.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "views/distribution.h"

#define ABOVE 5			/* lines above the rows: completeness, metric, two sides, header */
#define SCALE 18		/* "201ms-400ms" */
#define FIGURES 14		/* count and share */
#define AT_LEAST 8		/* count from there on */
#define AT_LEAST_COLS 40	/* a side of fewer columns does not show it */

/* At most so many rows. */
static unsigned rows_shown(const struct app *app)
{
	struct box b = frame_body(app);
	return b.rows > ABOVE ? b.rows - ABOVE : 1;
}

static void query(struct app *app, struct place *p, struct view_query *q)
{
	struct metric_place *m = place_metric(p);
	if (!m->query.metric)
		m->query.metric = metric_query_default(app->main)->metric;
	q->metric = &m->query;
	q->metric_other = m->other.metric ? &m->other : NULL;
	q->latency_rows = rows_shown(app);
	if (!view_line(p->filter, &q->line_ns))
		q->line_ns = 0;
}

static const char *side_name(const struct metric_place *m, enum distribution_which which)
{
	if (m->other.metric)
		return which == DISTRIBUTION_NOW ? m->name : m->other_name;
	if (which == DISTRIBUTION_NOW)
		return "now";
	return m->query.against == METRIC_BEFORE ? "before" : "history";
}

static bool is_compared(const struct metric_place *m)
{
	return m->other.metric || m->query.against != METRIC_ALONE;
}

static void draw_heading(struct app *app, struct place *p, unsigned y)
{
	const struct distribution *d = distribution_of(p->rows);
	const struct metric_place *m = place_metric(p);
	struct canvas *c = app->canvas;
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	g_autofree char *title = metric_place_title(m);
	g_autofree char *line = g_strdup_printf("%s%s%s   %s to %s", title, m->other.metric ? " and " : "",
		m->other.metric ? m->other_name : "", timefmt_clock_ms(from, d->begin_ns),
		timefmt_clock_ms(to, d->end_ns));
	canvas_put(c, y, 0, c->cols, ROLE_TITLE, line);
	if (!is_compared(m))
		canvas_put_right(c, y, c->cols - 12, 12, ROLE_KEYNAME, "C:compare");
	for (int w = 0; w < (is_compared(m) ? DISTRIBUTION_SIDES : 1); w++) {
		int64_t line_ns = p->rows->query.line_ns;
		g_autofree char *over = line_ns && d->side[w].known ?
			distribution_line_text(&d->side[w], line_ns) : NULL;
		g_autofree char *all = distribution_text(&d->side[w], c->cols < 100);
		g_autofree char *figures = g_strconcat(over ? over : "", over ? "   " : "", all, NULL);
		unsigned cols = !is_compared(m) ? 0 : c->cols >= 100 ? 17 : 8;
		canvas_put(c, y + 1 + (unsigned)w, 0, cols ? cols - 1 : 0, ROLE_TITLE, side_name(m, w));
		canvas_put(c, y + 1 + (unsigned)w, cols, c->cols - cols, ROLE_TEXT, figures);
	}
}

static unsigned side_cols(struct place *p, unsigned cols)
{
	return (cols - SCALE) / (is_compared(place_metric(p)) ? 2 : 1);
}

static unsigned figures_cols(unsigned cols)
{
	return cols >= AT_LEAST_COLS ? FIGURES + AT_LEAST : FIGURES;
}

/* Counts, share and bar of one side. */
static void draw_side(struct app *app, const struct distribution_side *s, uint64_t n, uint64_t at_least, unsigned y,
		      unsigned x, unsigned cols)
{
	char count[TIMEFMT_LEN];
	unsigned figures = figures_cols(cols), room = cols > figures + 1 ? cols - figures - 1 : 0;
	uint64_t eighths = s->most ? (uint64_t)((double)n / (double)s->most * room * 8) : 0;
	if (!s->known)
		return;
	canvas_put_right(app->canvas, y, x, 6, ROLE_TEXT, timefmt_count(count, n));
	double share = s->count ? (double)n / (double)s->count : 0;
	canvas_putf(app->canvas, y, x + 7, 6, ROLE_TEXT, "%5.1f%%", 100 * share);
	if (figures > FIGURES)
		canvas_put_right(app->canvas, y, x + FIGURES, AT_LEAST - 1, ROLE_TEXT, timefmt_count(count, at_least));
	eighths = n ? MAX(eighths, 1) : 0;
	frame_bar(app, y, x + figures, ROLE_SPARK, (unsigned)eighths, MAX(room, 1));
}

static void draw_row(struct app *app, struct place *p, guint i, unsigned y, struct box box)
{
	const struct distribution *d = distribution_of(p->rows);
	const struct distribution_row *r = p->rows->rows->pdata[i];
	bool compared = is_compared(place_metric(p)), selected = p->table[PANE_MAIN].cursor == i;
	unsigned cols = side_cols(p, box.cols);
	int64_t line_ns = p->rows->query.line_ns;
	char low[TIMEFMT_LEN], high[TIMEFMT_LEN];
	timefmt_duration(low, r->low_ns);
	if (r->high_ns == INT64_MAX)
		canvas_putf(app->canvas, y, 1, SCALE, ROLE_TEXT, "%7s and more", low);
	else
		canvas_putf(app->canvas, y, 1, SCALE, ROLE_TEXT, "%7s - %s", low,
			    timefmt_duration(high, r->high_ns));
	if (selected) {
		canvas_put(app->canvas, y, 0, 1, ROLE_SELECTED, app->glyphs->cursor);
		canvas_set_role(app->canvas, y, 0, SCALE - 1, ROLE_SELECTED);
	}
	if (line_ns && r->low_ns <= line_ns && line_ns <= r->high_ns)
		canvas_put(app->canvas, y, SCALE - 1, 1, ROLE_MARKED, "<");
	for (int w = 0; w < (compared ? DISTRIBUTION_SIDES : 1); w++)
		draw_side(app, &d->side[w], r->count[w], r->at_least[w], y, SCALE + (unsigned)w * cols, cols);
	canvas_hit(app->canvas, y, 0, box.cols, HIT_ROW, &p->table[PANE_MAIN], i);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	struct table *t = &p->table[PANE_MAIN];
	const guint n = p->rows->rows->len;
	unsigned room = rows_shown(app);
	unsigned cols = side_cols(p, box.cols), figures = figures_cols(cols);
	frame_completeness(app, box.y, &p->rows->completeness);
	draw_heading(app, p, box.y + 1);
	for (unsigned w = 0; w < (is_compared(place_metric(p)) ? 2 : 1); w++)
		canvas_put_right(app->canvas, box.y + 4, SCALE + w * cols, figures - 1, ROLE_HEADER,
				 figures > FIGURES ? " COUNT SHARE%  >=FROM" : " COUNT SHARE%");
	canvas_put(app->canvas, box.y + 4, 1, SCALE, ROLE_HEADER, "   FROM   TO");
	table_scroll(t, p->rows, room);
	for (guint i = (guint)t->top; i < n && i < t->top + room; i++)
		draw_row(app, p, i, box.y + ABOVE + (i - (guint)t->top), box);
	app->cursor_y = box.y + ABOVE + (unsigned)(t->cursor - t->top);
	if (!n)
		canvas_put(app->canvas, box.y + ABOVE, 1, box.cols, ROLE_DIM,
			   frame_nothing(app, p->view->nothing));
}

/* The next reference, as in What changed: none, the time before, all other history. */
static void change_reference(struct app *app, struct place *p, enum command_id id)
{
	struct metric_place *m = place_metric(p);
	place_stale(p);
	if (m->other.metric) {
		metric_query_clear(&m->other);
		g_clear_pointer(&m->other_name, g_free);
		app_message(app, "only %s: C compares it with the time before", *m->name ? m->name : "all");
		return;
	}
	m->query.against = m->query.against == METRIC_ALONE ? METRIC_BEFORE :
			   m->query.against == METRIC_BEFORE ? METRIC_HISTORY : METRIC_ALONE;
	app_message(app, m->query.against == METRIC_ALONE ? "not compared: C compares with the time before" :
		    m->query.against == METRIC_HISTORY ? "compared with all other history: C ends it" :
		    "compared with the same time before the range: C switches to history");
}

static void list(struct app *app, struct place *p, enum command_id id)
{
	const struct distribution *d = distribution_of(p->rows);
	const GPtrArray *rows = p->rows->rows;
	size_t at = p->table[PANE_MAIN].cursor;
	const struct distribution_row *r = at < rows->len ? rows->pdata[at] : NULL;
	if (r && r->count[DISTRIBUTION_NOW])
		screen_heatmap_list(app, p, d->begin_ns, d->end_ns, r->low_ns, r->high_ns);
	else
		app_message(app, "the row is empty");
}

static void refuse(struct app *app, struct place *p, enum command_id id)
{
	app_message(app, "rows are in the order of durations: C compares, Enter lists a row");
}

static const struct screen_command commands[] = {
	{ CMD_DRILL, list }, { CMD_COMPARE, change_reference }, { CMD_SORT_LEFT, refuse }, { CMD_SORT_RIGHT, refuse },
	{ CMD_SORT_MENU, refuse }, { CMD_INVERT, refuse }, { CMD_COLUMNS, refuse }, { CMD_TAG, refuse },
	{ CMD_BY, refuse }, { CMD_NONE, NULL },
};

static void prepare(struct app *app, struct place *p)
{
	struct table *t = &p->table[PANE_MAIN];
	rows_filter(p->rows, p->view, p->expr[PANE_MAIN]);
	t->cursor = MIN(t->cursor, p->rows->rows->len ? p->rows->rows->len - 1 : 0);
	t->bound = false;
}

const struct screen screen_distribution = {
	.draw = draw, .commands = commands, .prepare = prepare, .query = query,
};
