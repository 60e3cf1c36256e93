/* SPDX-License-Identifier: GPL-2.0-only */
/* A span's bar and its thread's states: see waterfall_bars.h. */
#include "ui/waterfall_bars.h"

#include "base/text.h"
#include "views/spans.h"

#include <string.h>

#define EIGHTHS 8

void bars_draw_edges(struct app *app, const struct bars_axis *axis, unsigned y)
{
	canvas_put(app->canvas, y, axis->x - 1, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_put(app->canvas, y, axis->x + axis->cells, 1, ROLE_AXIS, app->glyphs->edge);
}

/* The position of an instant on the axis, in eighths of a cell; instants outside are clamped. */
static int64_t eighth_of(const struct bars_axis *axis, int64_t at)
{
	double share = (double)(at - axis->from_ns) / (double)(axis->to_ns - axis->from_ns);

	return (int64_t)(CLAMP(share, 0, 1) * axis->cells * EIGHTHS + 0.5);
}

/* Draws a cell of which eighths [from, to) are filled. Block glyphs are filled from the left, so a bar that
 * begins inside the cell is drawn as the reverse of what lies before it. */
static void put_cell(struct app *app, unsigned y, unsigned x, enum role role, int64_t from,
		     int64_t to)
{
	g_assert(from >= 0 && from < EIGHTHS && to <= EIGHTHS);
	const struct glyphs *g = app->glyphs;

	if (from > 0 && to == EIGHTHS && g->utf8) {
		canvas_put(app->canvas, y, x, 1, role, g->eighth[from]);
		canvas_add_attr(app->canvas, y, x, 1, STYLE_REVERSE);
		return;
	}
	canvas_put(app->canvas, y, x, 1, role, g->eighth[MAX(to - from, 1)]);
}

/* The first letter of the severity of warnings and errors, so that it is not the color alone. */
static void draw_tick(struct app *app, unsigned y, unsigned x, uint8_t severity)
{
	const char letter[] = { g_ascii_toupper(*(severity_word(severity) ?: " ")), '\0' };

	if (severity < SEVERITY_WARNING)
		canvas_put(app->canvas, y, x, 1, ROLE_MATCH, app->glyphs->annotation);
	else
		canvas_put(app->canvas, y, x, 1, severity < SEVERITY_ERROR ? ROLE_MATCH : ROLE_ERROR, letter);
}

/* Marks annotations inside the span. Those at its two ends coincide with the bar's ends. Less severe ones do not hide
 * others in their cell. */
static void draw_ticks(struct app *app, const struct bars_axis *axis, const struct span *s,
		       unsigned y, bool underline)
{
	uint8_t most = SEVERITY_NONE;
	unsigned last = UINT_MAX;
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		int64_t at = s->annotations[i].ts;
		unsigned x;

		if (at <= s->begin_ns || at >= s->end_ns || at < axis->from_ns || at >= axis->to_ns)
			continue;
		x = axis->x + MIN((unsigned)(eighth_of(axis, at) / EIGHTHS), axis->cells - 1);
		if (underline)
			canvas_add_attr(app->canvas, y, x, 1, STYLE_UNDERLINE);
		else if (x != last || s->annotations[i].severity > most) {
			draw_tick(app, y, x, most = s->annotations[i].severity);
			last = x;
		}
	}
}

void bars_draw_messages(struct app *app, const struct bars_axis *axis, const struct span *s, unsigned y)
{
	unsigned begin_of_span = (unsigned)(eighth_of(axis, s->begin_ns) / EIGHTHS);
	unsigned end_of_span = (unsigned)(eighth_of(axis, s->end_ns) / EIGHTHS);

	for (uint32_t i = 0; i < s->n_links; i++) {
		int64_t from = MAX(s->links[i].out_ns, axis->from_ns), to = MIN(s->links[i].in_ns, axis->to_ns);
		if (from >= to)
			continue;
		unsigned cell = (unsigned)(eighth_of(axis, from) / EIGHTHS);
		unsigned end = (unsigned)((eighth_of(axis, to) + EIGHTHS - 1) / EIGHTHS);
		for (; cell < end; cell++)
			if (cell < begin_of_span || cell > end_of_span)
				canvas_put(app->canvas, y, axis->x + cell, 1, ROLE_DIM, app->glyphs->message);
	}
}

void bars_draw_bar(struct app *app, const struct bars_axis *axis, const struct waterfall_row *r,
		   unsigned y)
{
	const struct span *s = r->span;
	enum role role = r->row.open ? ROLE_OPEN : r->critical ? ROLE_HOT : ROLE_SPARK;
	int64_t first, end;

	if (s->begin_ns >= axis->to_ns || s->end_ns < axis->from_ns)
		return;
	first = MIN(eighth_of(axis, s->begin_ns), (int64_t)axis->cells * EIGHTHS - 1);
	end = MAX(eighth_of(axis, s->end_ns), first + 1);
	for (int64_t cell = first / EIGHTHS; cell * EIGHTHS < end; cell++)
		put_cell(app, y, axis->x + (unsigned)cell, role, MAX(first - cell * EIGHTHS, 0),
			 MIN(end - cell * EIGHTHS, EIGHTHS));
	draw_ticks(app, axis, s, y, false);
}

void bars_draw_states(struct app *app, const struct bars_axis *axis, const struct rows *rows,
		      const struct waterfall_row *r, bool marks, unsigned y)
{
	g_autofree char *cells = g_malloc(axis->cells + 1);

	memset(cells, ' ', axis->cells);
	waterfall_strip(rows, r, axis->from_ns, axis->to_ns, axis->cells, cells);
	for (unsigned i = 0; i < axis->cells; i++) {
		char one[2] = { cells[i], '\0' };

		if (cells[i] == ' ')
			continue;
		canvas_put(app->canvas, y, axis->x + i, 1, theme_letter_role(cells[i]), one);
		if (theme_letter_role(cells[i]) != ROLE_AXIS)
			canvas_add_attr(app->canvas, y, axis->x + i, 1, STYLE_FILL);
	}
	if (marks)
		draw_ticks(app, axis, r->span, y, true);
}

/* Draws "u user " from x on, or nothing if it does not fit. Returns the column after it. */
static unsigned put_item(struct app *app, unsigned y, unsigned x, const struct legend_item *item)
{
	struct canvas *c = app->canvas;

	if (x + text_width(item->sign) + 1 + text_width(item->word) > c->cols)
		return x;
	x += canvas_put(c, y, x, c->cols, item->role, item->sign) + 1;
	return x + canvas_put(c, y, x, c->cols, ROLE_DIM, item->word) + 1;
}

/* Is it a bar's glyph, other than a blank? */
static bool is_level(const struct app *app, const char *ch)
{
	for (size_t i = 1; i < G_N_ELEMENTS(app->glyphs->spark); i++)
		if (!strcmp(ch, app->glyphs->spark[i]))
			return true;
	return false;
}

void bars_draw_legend(struct app *app, struct box cells, unsigned y, const char *disk, const struct legend_item *more,
		      size_t n)
{
	struct legend_item busy = { app->glyphs->spark[5], ROLE_PART + PART_USER, "a thread runs" };
	bool seen[PART_N] = { false }, runs = false;
	unsigned x = 0;

	for (unsigned i = 0; i < cells.rows * cells.cols; i++) {
		const struct cell *cell = canvas_cell(app->canvas, cells.y + i / cells.cols, cells.x + i % cells.cols);
		int part = cell ? cell->role - ROLE_PART : -1;

		if (part < 0 || part >= PART_N || (cell->attr & STYLE_REVERSE))		/* reverse: a name */
			continue;
		seen[part] = seen[part] || cell->ch[0] == part_info[part].letter;
		runs = runs || (part == PART_USER && is_level(app, cell->ch));
	}
	for (int part = 0; part < PART_N; part++) {
		char letter[2] = { part_info[part].letter, '\0' };
		struct legend_item item = { letter, (enum role)(ROLE_PART + part), part_info[part].id };

		if (part == PART_DISK && disk)
			item.word = disk;
		x = seen[part] ? put_item(app, y, x, &item) : x;
	}
	if (runs)
		x = put_item(app, y, x, &busy);
	for (size_t i = 0; i < n; i++)
		x = put_item(app, y, x, &more[i]);
}

void bars_draw_cursor(struct app *app, unsigned y, unsigned x)
{
	canvas_put(app->canvas, y, x, 1, ROLE_HOT, app->glyphs->edge);
}
