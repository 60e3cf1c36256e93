/* SPDX-License-Identifier: GPL-2.0-only */
/* Paints the cells of a lane: see lane_cells.h. */
#include "ui/lane_cells.h"

#include "base/text.h"

#include <string.h>

#define LEVELS 8		/* glyphs->spark */

static const char *level_glyph(const struct app *app, double share)
{
	return app->glyphs->spark[share <= 0 ? 0 : CLAMP((int)(share * LEVELS + 0.999), 1, LEVELS)];
}

/* The first of cells [from, end) from which so many are free of the cursor and one is left; -1: there are too few. */
static int room_for(unsigned from, unsigned end, unsigned width, unsigned cursor)
{
	if (cursor >= from && cursor < from + width)
		from = cursor + 1;
	return width && from + width + 1 <= end ? (int)from : -1;
}

/* Writes the name of the thread into cells in which it ran longest. */
static void draw_who(struct app *app, const struct rows *rows, const struct lane_row *r, const struct lane_axis *a,
		     unsigned y)
{
	unsigned end;

	for (unsigned i = 0; i < a->cells; i = MAX(end, i + 1)) {
		const struct lane_cell *c = &r->cells[i];
		g_autofree char *name = NULL;
		int at;

		for (end = i; end < a->cells && r->cells[end].state == LANE_RUNNING &&
		     r->cells[end].thread == c->thread; end++)
			;
		if (c->state != LANE_RUNNING || c->thread == ID_NONE)
			continue;
		name = text_visible(timeline_comm(rows->tl, c->thread, r->end_ns));
		at = room_for(i, end, text_width(name), a->cursor);
		/* Only the name is reversed: a full block in reverse would look idle. */
		if (at >= 0)
			canvas_add_attr(app->canvas, y, a->x + (unsigned)at,
					canvas_put(app->canvas, y, a->x + (unsigned)at, end - (unsigned)at,
						   ROLE_PART + PART_USER, name), STYLE_REVERSE);
	}
}

static uint32_t event_or_span(const struct lane_cell *c, bool span, const char **ret_span)
{
	*ret_span = span ? c->span : NULL;
	return span ? (c->span ? 0 : ID_NONE) : c->state == LANE_MARKS ? c->event : ID_NONE;
}

/* Writes the name of spans, or of events, into cells in a row that have the same. */
static void draw_names(struct app *app, const struct rows *rows, const struct lane_row *r, const struct lane_axis *a,
		       unsigned y, bool spans)
{
	unsigned end;

	for (unsigned i = 0; i < a->cells; i = MAX(end, i + 1)) {
		const char *span, *next;
		uint32_t event = event_or_span(&r->cells[i], spans, &span);
		g_autofree char *name = NULL;

		for (end = i; end < a->cells && event == event_or_span(&r->cells[end], spans, &next) &&
		     !g_strcmp0(next, span) && (!r->cells[end].span || spans); end++)
			;
		if (event == ID_NONE || end == i)
			continue;
		name = text_visible(span ? span : timeline_string(rows->tl, event));
		int at = room_for(i, end, text_width(name), a->cursor);
		if (at < 0)
			continue;
		unsigned cols = canvas_put(app->canvas, y, a->x + (unsigned)at, end - (unsigned)at,
					   spans ? LANE_SPAN_ROLE : ROLE_SPARK, name);
		canvas_add_attr(app->canvas, y, a->x + (unsigned)at, cols, STYLE_REVERSE);
	}
}

static void draw_events(struct app *app, const struct rows *rows, const struct lane_row *r, const struct lane_axis *a,
			unsigned y)
{
	double most = 1;

	for (unsigned i = 0; i < a->cells; i++)
		most = r->cells[i].state == LANE_MARKS ? MAX(most, r->cells[i].share) : most;
	for (unsigned i = 0; i < a->cells; i++) {
		const struct lane_cell *c = &r->cells[i];

		if (c->state == LANE_MARKS)
			canvas_put(app->canvas, y, a->x + i, 1, ROLE_SPARK, level_glyph(app, c->share / most));
		if (c->span)
			canvas_put(app->canvas, y, a->x + i, 1, LANE_SPAN_ROLE,
				   c->state == LANE_MARKS ? app->glyphs->spark[LEVELS] : app->glyphs->bar);
	}
	draw_names(app, rows, r, a, y, false);
	draw_names(app, rows, r, a, y, true);
}

static bool is_unknown(const struct lane_cell *c)
{
	return c->state == PART_UNKNOWN || c->state == LANE_UNKNOWN;
}

/* Why cells of the lane are unknown, in many words or few. */
static const char *reason_of(const struct rows *rows, const struct lane_row *r, bool few)
{
	if (r->kind != LANE_DEVICE && row_missing(&r->c.row, rows) & MISSING_SWITCHES)
		return few ? "no sched_switch" : "unknown: no sched_switch recorded";
	if (r->kind == LANE_THREADS)
		return few ? "no event of it" : "unknown: no event of it yet, or events were lost";
	return few ? "events lost" : r->kind == LANE_CPU ? "unknown: no event yet, or events were lost" :
		"unknown: events were lost";
}

/* Writes it into the first cells that are unknown and have room. false: none have. */
static bool put_reason(struct app *app, const struct lane_row *r, const struct lane_axis *a, unsigned y,
		       const char *reason)
{
	unsigned end;

	for (unsigned i = 0; i < a->cells; i = MAX(end, i + 1)) {
		int at;

		for (end = i; end < a->cells && is_unknown(&r->cells[end]); end++)
			;
		at = room_for(i + 1, end, text_width(reason), a->cursor);
		if (at >= 0)
			return canvas_put(app->canvas, y, a->x + (unsigned)at, a->cells, ROLE_DIM, reason);
	}
	return false;
}

static void draw_cpu_cell(struct app *app, const struct lane_cell *c, unsigned y, unsigned x)
{
	struct canvas *to = app->canvas;

	if (c->state == LANE_UNKNOWN)
		canvas_put(to, y, x, 1, ROLE_PART + PART_UNKNOWN, "?");
	else if (c->state == LANE_IRQ)
		canvas_put(to, y, x, 1, ROLE_PART + PART_IRQ, "i");
	else
		canvas_put(to, y, x, 1, ROLE_PART + PART_USER, level_glyph(app, c->share));
}

void lane_cells_draw(struct app *app, const struct rows *rows, const struct lane_row *r, const struct lane_axis *a,
		     unsigned y)
{
	double most = 0;

	if (r->by_events) {
		draw_events(app, rows, r, a, y);
		return;
	}
	for (unsigned i = 0; i < a->cells; i++)
		most = r->cells[i].state == LANE_FIGURE ? MAX(most, r->cells[i].share) : most;
	for (unsigned i = 0; i < a->cells; i++) {
		const struct lane_cell *c = &r->cells[i];

		if (c->state < PART_N) {
			char letter[2] = { part_info[c->state].letter, '\0' };

			canvas_put(app->canvas, y, a->x + i, 1, (enum role)(ROLE_PART + c->state), letter);
			canvas_add_attr(app->canvas, y, a->x + i, 1, STYLE_FILL);
		} else if (c->state == LANE_FIGURE) {
			canvas_put(app->canvas, y, a->x + i, 1, r->kind == LANE_DEVICE ? ROLE_PART + PART_DISK :
				   ROLE_PART + PART_IRQ, level_glyph(app, most > 0 ? c->share / most : 0));
		} else if (c->state != LANE_NOTHING) {
			draw_cpu_cell(app, c, y, a->x + i);
		}
	}
	if (r->kind == LANE_CPU)
		draw_who(app, rows, r, a, y);
	if (!put_reason(app, r, a, y, reason_of(rows, r, false)))
		put_reason(app, r, a, y, reason_of(rows, r, true));
}
