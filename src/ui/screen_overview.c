/* SPDX-License-Identifier: GPL-2.0-only */
/* The first screen: load, completeness, strip, slowest requests, operations and processes of a range. */
#include "ui/screen.h"

#include "ui/frame.h"
#include "ui/panes.h"
#include "ui/strip.h"
#include "ui/tables.h"
#include "ui/progressive.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <math.h>
#include <string.h>

#define OVERVIEW_PANES 3

static void prepare(struct app *app, struct place *p)
{
	for (int i = 0; i < OVERVIEW_PANES; i++)
		tables_prepare(app, p, i);
	/* Selects the first request that has ended: the cause of an open one is not known yet. */
	for (guint i = 0; !p->table[PANE_SLOWEST].bound; i++) {
		struct focus f = place_pane(p, PANE_SLOWEST);

		if (i >= f.rows->rows->len)
			break;
		if (!((const struct row *)g_ptr_array_index(f.rows->rows, i))->open) {
			f.table->cursor = i;
			break;
		}
	}
	/* Until a key is pressed the cursor is in the slowest requests, or in the first table with rows.
	 * It is chosen again for each second, since the next one may have requests. */
	if (!app->touched)
		p->pane = PANE_SLOWEST;
	if (!place_focus(p).rows->rows->len && !app->touched) {
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

/* The strip of the whole trace, while the rows were made from a part of it; else NULL. */
static const struct extent_strip *whole_of(struct app *app)
{
	return app->nav.last_ns != TIME_UNKNOWN ? progressive_strip(app) : NULL;
}

static struct strip_data strip_of(struct app *app, const struct overview *o)
{
	const struct extent_strip *whole = whole_of(app);

	if (!whole)
		return (struct strip_data){ o->points, o->n_points, o->strip_max_ns, 0 };
	return (struct strip_data){ whole->points, whole->n, whole->max_ns, whole->max_bytes };
}

/* Below the strip: the worst outlier's place and description. */
static void draw_worst(struct app *app, const struct overview *o, const struct strip_data *strip,
		       unsigned y, unsigned x, unsigned cells)
{
	struct canvas *c = app->canvas;
	char clock[TIMEFMT_LEN];
	g_autofree char *text = NULL, *label = NULL, *clipped = NULL;
	const struct extent_strip *whole = whole_of(app);
	unsigned at, w, room;

	/* A preview knows only the worst of a few seconds. */
	if (app->cover.kind != COVER_READ || o->worst < 0 || (size_t)o->worst >= o->n_points)
		return;
	text = text_visible(o->worst_text ? o->worst_text : "");
	label = g_strdup_printf("%s %s", timefmt_clock(clock, o->points[o->worst].begin_ns), text);
	at = x + strip_cell(strip, whole ? extent_strip_find(whole, o->points[o->worst].begin_ns) :
			    (size_t)o->worst, cells);
	room = c->cols - 8 > at ? c->cols - 8 - at : 0;
	canvas_put(c, y, at, 1, ROLE_HOT, app->glyphs->outlier);
	clipped = text_clip(label, MAX(at, room), app->glyphs->utf8);
	w = text_width(clipped);
	canvas_put(c, y, w <= room ? at + 1 : at - w, w, ROLE_WHY, clipped);
	canvas_put_right(c, y, c->cols - 7, 7, ROLE_KEYNAME, "n:jump");
}

static void draw_strip(struct app *app, const struct overview *o, unsigned y)
{
	struct canvas *c = app->canvas;
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];
	struct strip_data strip = strip_of(app, o);
	g_autofree char *right = NULL;
	unsigned right_cols, cells;

	if (o->strip_max_ns < 0 && app->outline) {
		strip_draw_whole(app, y);
		return;
	}
	if (o->strip_max_ns < 0) {
		canvas_put(c, y, 0, c->cols, ROLE_DIM, "p99   no request ended so far");
		return;
	}
	right = g_strdup_printf(" %s  usual %s", duration(app, a, o->p99_ns),
				duration(app, b, o->usual_ns));
	right_cols = text_width(right);
	cells = c->cols > 6 + right_cols ? c->cols - 6 - right_cols : 1;
	canvas_put(c, y, 0, 4, ROLE_TITLE, "p99");
	canvas_put(c, y, 4, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(c, y, 5 + cells, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(c, y, 6 + cells, right_cols, ROLE_TEXT, right);
	strip_draw_cells(app, &strip, y, 5, cells, true);
	draw_worst(app, o, &strip, y + 1, 5, cells);
}

/* Says what was dropped from the lists for lack of memory. Returns the number of lines. */
static unsigned draw_dropped(struct app *app, struct place *p, struct box box)
{
	const char *list = place_pane(p, PANE_SLOWEST).rows->dropped;
	g_autofree char *text = NULL;

	if (!p->rows->dropped && !list)
		return 0;
	text = g_strdup_printf("%s%s%s", p->rows->dropped ? p->rows->dropped : "",
			       p->rows->dropped && list ? "; " : "", list ? list : "");
	return frame_sentence(app, box, ROLE_TITLE, text);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	/* In this order panes get rows when room is short. */
	static const enum pane order[OVERVIEW_PANES] = {
		PANE_SLOWEST, PANE_MAIN, PANE_PROCESSES,
	};
	static const char *const empty[OVERVIEW_PANES] = {
		"no request in this range", "no request in this range", "no process ran",
	};
	const struct overview *o = overview_of(p->rows);
	bool gaps = box.rows >= 18;
	unsigned lines = draw_dropped(app, p, (struct box){ box.y + 4, 0, gaps ? 2 : 1, box.cols });
	unsigned rows[PANE_N], y = box.y + 4 + lines, fixed = 4 + lines + 3 + (gaps ? 2 : 0);

	draw_load(app, o, box.y);
	frame_completeness(app, box.y + 1, &p->rows->completeness);
	draw_strip(app, o, box.y + 2);
	for (int i = 0; gaps && i < OVERVIEW_PANES; i++)
		fixed += !place_pane(p, i).rows->rows->len;	/* an empty table has a line that says so */
	panes_share(p, box.rows > fixed ? box.rows - fixed : 0, order, rows);
	for (int i = 0; i < OVERVIEW_PANES; i++) {
		struct table_style style = app_table_style(app, p->pane == (enum pane)i);
		struct focus f = place_pane(p, i);
		struct box table = { y, box.x, 1 + rows[i], box.cols };
		unsigned at = table_draw(app->canvas, table, f.table, f.view, f.rows, &style);

		if (p->pane == (enum pane)i)
			app->cursor_y = at;
		if (!f.rows->rows->len && gaps)
			canvas_put(app->canvas, y + 1, 1, box.cols, ROLE_DIM,
				   app->nav.cursor_ns == TIME_UNKNOWN ? frame_nothing(app) : empty[i]);
		y += table.rows + (gaps ? 1 : 0);
		if (!f.rows->rows->len && gaps && y < box.y + box.rows)
			y++;
	}
}

static bool command(struct app *app, struct place *p, enum command_id id)
{
	return panes_command(p, id);
}

const struct screen screen_overview = {
	.context = CTX_OVERVIEW, .draw = draw, .command = command, .prepare = prepare,
};
