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

/* Writes the name of the thread into cells in which it ran longest. */
static void draw_who(struct app *app, const struct rows *rows, const struct lane_row *r, unsigned cells, unsigned y,
		     unsigned x)
{
	unsigned end;

	for (unsigned i = 0; i < cells; i = MAX(end, i + 1)) {
		const struct lane_cell *c = &r->cells[i];
		g_autofree char *name = NULL;

		for (end = i; end < cells && r->cells[end].state == LANE_RUNNING &&
		     r->cells[end].thread == c->thread; end++)
			;
		if (c->state != LANE_RUNNING || c->thread == ID_NONE)
			continue;
		name = text_visible(timeline_comm(rows->tl, c->thread, r->end_ns));
		if (*name && text_width(name) + 1 <= end - i) {
			/* Only the name is reversed: a full block in reverse would look idle. */
			canvas_add_attr(app->canvas, y, x + i,
					canvas_put(app->canvas, y, x + i, end - i, ROLE_PART + PART_USER, name),
					STYLE_REVERSE);
		}
	}
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

void lane_cells_draw(struct app *app, const struct rows *rows, const struct lane_row *r, unsigned cells, unsigned y,
		     unsigned x)
{
	double most = 0;

	for (unsigned i = 0; i < cells; i++)
		most = r->cells[i].state == LANE_FIGURE ? MAX(most, r->cells[i].share) : most;
	for (unsigned i = 0; i < cells; i++) {
		const struct lane_cell *c = &r->cells[i];

		if (c->state < PART_N) {
			char letter[2] = { part_info[c->state].letter, '\0' };

			canvas_put(app->canvas, y, x + i, 1, (enum role)(ROLE_PART + c->state), letter);
			canvas_add_attr(app->canvas, y, x + i, 1, STYLE_FILL);
		} else if (c->state == LANE_FIGURE) {
			canvas_put(app->canvas, y, x + i, 1, r->kind == LANE_DEVICE ? ROLE_PART + PART_DISK :
				   ROLE_PART + PART_IRQ, level_glyph(app, most > 0 ? c->share / most : 0));
		} else if (c->state != LANE_NOTHING) {
			draw_cpu_cell(app, c, y, x + i);
		}
	}
	if (r->kind == LANE_CPU)
		draw_who(app, rows, r, cells, y, x);
}
