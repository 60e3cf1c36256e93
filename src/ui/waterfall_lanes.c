/* SPDX-License-Identifier: GPL-2.0-only */
/* What else ran: see waterfall_lanes.h. */
#include "ui/waterfall_lanes.h"

#include "ui/lane_cells.h"
#include "ui/progressive.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"

#define MIN_ROWS 3
#define DEVICES 2		/* so many have a row for certain */

static unsigned count(const struct rows *rows, enum lane_kind kind)
{
	unsigned n = 0;

	PTR_EACH(const struct lane_row, r, rows->rows)
		n += r->kind == kind && (kind == LANE_CPU || r->depth_max);
	return n;
}

/* The cell of the cursor. */
static unsigned cursor_of(const struct bars_axis *axis, int64_t mark_ns)
{
	if (mark_ns < axis->from_ns || mark_ns >= axis->to_ns)
		return LANE_NO_CURSOR;
	return MIN((unsigned)((double)(mark_ns - axis->from_ns) / (double)(axis->to_ns - axis->from_ns) * axis->cells),
		   axis->cells - 1);
}

static void draw_lane(struct app *app, const struct rows *rows, const struct lane_row *r, const struct bars_axis *axis,
		      int64_t mark_ns, unsigned y)
{
	struct lane_axis lane = { axis->x, axis->cells, cursor_of(axis, mark_ns) };
	/* Who ran at the cursor, else for most of the time. */
	uint32_t who = r->kind != LANE_CPU ? ID_NONE : lane.cursor == LANE_NO_CURSOR ? r->who :
		r->cells[lane.cursor].thread;
	g_autofree char *label = who == ID_NONE ? g_strdup(r->kind == LANE_CPU ? "idle" : "in flight") :
				 thread_label_new(rows->tl, who, r->end_ns);
	g_autofree char *text = g_strdup_printf("%-5s %s", r->c.name, label), *visible = text_visible(text);

	canvas_put(app->canvas, y, 1, axis->x - 3, ROLE_TEXT, visible);
	bars_draw_edges(app, axis, y);
	lane_cells_draw(app, rows, r, &lane, y);
}

static unsigned draw_rows(struct app *app, const struct rows *rows, const struct bars_axis *axis, int64_t mark_ns,
			  struct box box)
{
	unsigned left[LANE_KIND_N] = { 0 }, n = 0;

	left[LANE_DEVICE] = MIN(count(rows, LANE_DEVICE), DEVICES);
	left[LANE_DEVICE] = MIN(left[LANE_DEVICE], box.rows - 1);
	left[LANE_CPU] = MIN(count(rows, LANE_CPU), box.rows - left[LANE_DEVICE]);
	PTR_EACH(const struct lane_row, r, rows->rows) {
		if (!left[r->kind] || (r->kind == LANE_DEVICE && !r->depth_max))
			continue;
		draw_lane(app, rows, r, axis, mark_ns, box.y + n++);
		left[r->kind]--;
	}
	return n;
}

unsigned waterfall_lanes_draw(struct app *app, const struct rows *rows, const struct waterfall_row *r,
			      const struct bars_axis *axis, int64_t mark_ns, struct box box)
{
	const struct timeline *tl = box.rows < MIN_ROWS ? NULL :
		progressive_lanes(app, axis->from_ns, axis->to_ns, (axis->to_ns - axis->from_ns) / axis->cells);
	g_autofree char *wakers = tl ? waterfall_wakers(rows, r) : NULL, *visible = NULL;
	struct view_query q = VIEW_QUERY_INIT;
	unsigned n = 1;

	if (!tl)
		return 0;
	q.by = BY_SYSTEM;
	q.from_ns = axis->from_ns;
	q.to_ns = axis->to_ns;
	q.cells = axis->cells;
	q.names = app->main;
	struct rows *lanes = view_timeline.build(tl, &q);
	canvas_put(app->canvas, box.y, 1, box.cols, ROLE_CRUMB, "What else ran");
	n += draw_rows(app, lanes, axis, mark_ns,
		       (struct box){ box.y + 1, 0, box.rows - 1 - (wakers != NULL), box.cols });
	rows_free(lanes);
	if (!wakers)
		return n;
	visible = text_visible(wakers);
	canvas_put(app->canvas, box.y + n, 1, box.cols - 1, ROLE_TEXT, visible);
	return n + 1;
}
