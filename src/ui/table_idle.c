/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows in which nothing happened: one line stands for several. See table.h. */
#include "ui/table.h"

#include <string.h>

#define FOLDED_LEAST 3		/* fewer rows are shown */

static bool is_above_0(const struct column *c, const struct row *row, const struct rows *rows)
{
	struct value x = column_value(c, row, rows);

	return value_is_figure(x) && (x.kind == VALUE_RATIO ? x.d > 0 : x.i != 0);
}

/* Are all figures that the view has for the screen 0, and all shares known? Time in which nothing happened, or of
 * which nothing is known, is none of them. */
static bool has_zeros_only(const struct view *v, const struct row *row, const struct rows *rows)
{
	for (size_t i = 0; i < v->n_columns; i++) {
		const struct column *c = &v->columns[i];

		if (!c->width || !strcmp(c->id, "idle_ns") || !strcmp(c->id, "unknown_ns"))
			continue;
		if (is_above_0(c, row, rows) ||
		    (c->kind == VALUE_RATIO && column_value(c, row, rows).kind == VALUE_NONE))
			return false;
	}
	return true;
}

static bool is_idle(const struct table *t, const struct view *v, const struct row *row, const struct rows *rows)
{
	bool descending;
	int sorted = table_sort_column(t, v, &descending);

	if (row->marked || row->open || row->state != ROW_PLAIN || keyset_has(&t->tags, row))
		return false;
	if (t->bound && row->key[0] == t->key[0] && row->key[1] == t->key[1])
		return false;
	if (sorted >= 0 && is_above_0(&v->columns[sorted], row, rows))
		return false;
	return v->is_idle ? v->is_idle(row, rows) : has_zeros_only(v, row, rows);
}

void table_unfold(struct table *t)
{
	g_clear_pointer(&t->runs, g_array_unref);
}

void table_fold_idle(struct table *t, const struct view *v, const struct rows *rows)
{
	int unknown = view_column(v, "unknown_ns");
	struct table_run run = { 0 };
	g_autoptr(GArray) runs = NULL;
	size_t n_idle = 0;

	table_unfold(t);
	if (!v->idle || t->shows_idle || t->only_tagged || rows->tree)
		return;
	runs = g_array_new(FALSE, FALSE, sizeof(struct table_run));
	for (size_t i = 0; i <= rows->rows->len; i++) {
		if (i < rows->rows->len && is_idle(t, v, rows->rows->pdata[i], rows)) {
			run.n++;
			run.unknown |= unknown >= 0 && is_above_0(&v->columns[unknown], rows->rows->pdata[i], rows);
			n_idle++;
			continue;
		}
		if (run.n >= FOLDED_LEAST)
			g_array_append_val(runs, run);
		run = (struct table_run){ .first = i + 1 };
	}
	if (!runs->len || n_idle == rows->rows->len)
		return;
	t->runs = g_steal_pointer(&runs);
	/* A cursor that follows no row may be anywhere. */
	if (table_run_of(t, t->cursor))
		t->cursor = table_run_of(t, t->cursor)->first;
}

const struct table_run *table_run_of(const struct table *t, size_t row)
{
	for (guint i = 0; t->runs && i < t->runs->len; i++) {
		const struct table_run *run = &g_array_index(t->runs, struct table_run, i);

		if (row >= run->first && row < run->first + run->n)
			return run;
	}
	return NULL;
}

size_t table_next(const struct table *t, size_t row)
{
	const struct table_run *run = table_run_of(t, row);

	return run ? run->first + run->n : row + 1;
}

size_t table_line_of(const struct table *t, size_t row)
{
	size_t line = row;

	for (guint i = 0; t->runs && i < t->runs->len; i++) {
		const struct table_run *run = &g_array_index(t->runs, struct table_run, i);

		if (row > run->first)
			line -= MIN(row - run->first, run->n - 1);
	}
	return line;
}

size_t table_row_at(const struct table *t, size_t line)
{
	size_t row = line;

	for (guint i = 0; t->runs && i < t->runs->len; i++) {
		const struct table_run *run = &g_array_index(t->runs, struct table_run, i);

		if (row > run->first)
			row += run->n - 1;
	}
	return row;
}

size_t table_n_lines(const struct table *t, const struct rows *rows)
{
	return rows->rows->len ? table_line_of(t, rows->rows->len - 1) + 1 : 0;
}

bool table_show_idle(struct table *t, const struct rows *rows)
{
	bool any = t->runs != NULL;

	t->shows_idle = true;
	table_unfold(t);
	if (any) {
		table_select(t, rows, t->cursor);
		/* So that the rows below it are seen, too. */
		t->top = MAX(t->top, t->cursor - MIN(t->cursor, t->page / 3));
	}
	return any;
}

void table_scroll(struct table *t, const struct rows *rows, size_t page)
{
	size_t n = table_n_lines(t, rows), top = table_line_of(t, t->top), at = table_line_of(t, t->cursor);

	t->page = page;
	if (at < top)
		top = at;
	if (page && at >= top + page)
		top = at - page + 1;
	if (top + page > n)
		top = n > page ? n - page : 0;
	t->top = table_row_at(t, top);
}

void table_draw_run(struct canvas *c, unsigned y, unsigned x, unsigned cols, const struct table_run *run,
		    const struct view *v, bool selected, const struct glyphs *g)
{
	canvas_putf(c, y, x + 1, cols - 1, ROLE_DIM, "%zu more, %s%s%s", run->n, v->idle,
		    run->unknown ? " or without events" : "", selected ? "   Enter shows them" : "");
	if (!selected)
		return;
	canvas_put(c, y, x, 1, ROLE_SELECTED, g->cursor);
	canvas_set_role(c, y, x, cols, ROLE_SELECTED);
}
