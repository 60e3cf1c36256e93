/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on the screen, in sentences: see explain.h. Letters are known by the roles of their cells. */
#include "ui/explain.h"


#include "base/each.h"
#include "base/text.h"

#include <string.h>

#define VALUE_COLS 40		/* of a text value */
#define NAME_COLS 10

/* Signs beside letters, by the kind of view. They are explained if the row has them. */
static const struct { enum view_kind kind; const char *sign, *text; } signs[] = {
	{ VIEW_WATERFALL, "=", "child: a child span on the same thread was active" },
	{ VIEW_WATERFALL, "*", "critical: the request took as long as it did because of this span" },
};

static bool is_part(const struct cell *c, enum part *ret)
{
	*ret = (enum part)(c->role - ROLE_PART);
	return c->role >= ROLE_PART && c->role < ROLE_PART + PART_N && c->ch[0] && c->ch[0] != ' ';
}

static char *part_text(enum part p)
{
	return g_strdup_printf("%c %s: %s", part_info[p].letter, part_info[p].id, part_info[p].help);
}

static const char *state_text(const struct row *row)
{
	return row->marked ? "! slow or failed: it stands out" : row->open ? "open: it has not ended" :
	       row->ended ? "ended: it ended in the range, or before it" : NULL;
}

/* "CPU% 18.1: time on a CPU" */
static char *column_text(const struct focus *f, unsigned column, const struct row *row)
{
	const struct column *c = &f->view->columns[column];
	g_autofree char *value = row ? table_cell(c, column_value(c, row, f->rows), VALUE_COLS) : NULL;

	return g_strdup_printf("%s%s%s: %s", c->title, value ? " " : "", value ? value : "", c->help ? c->help : c->id);
}

/* The focus of the pane with this table, and the column that is drawn at x. false: none. */
static bool column_at(struct app *app, struct place *p, const struct canvas_hit *hit, unsigned x, struct focus *ret,
		      unsigned *ret_column)
{
	const GArray *hits = app->canvas->hits;
	unsigned n = place_n_panes(p->view), pane = 0;

	while (pane < n && &p->table[pane] != hit->of)
		pane++;
	if (pane == n)
		return false;
	*ret = place_pane(p, (enum pane)pane);
	ARRAY_EACH(const struct canvas_hit, h, hits) {
		if (h->hit != HIT_HEADER || h->of != hit->of || x < h->x || x >= h->x + h->cols)
			continue;
		*ret_column = (unsigned)h->value;
		return *ret_column < ret->view->n_columns;
	}
	return false;
}

char *explain_cell(struct app *app, struct place *p, unsigned y, unsigned x)
{
	struct canvas_hit hit = canvas_hit_at(app->canvas, y, x);
	const struct row *row = NULL;
	struct focus f;
	enum part part;
	unsigned column;

	if (y >= app->canvas->rows || x >= app->canvas->cols)
		return NULL;
	if (is_part(canvas_cell(app->canvas, y, x), &part))
		return part_text(part);
	if ((hit.hit != HIT_ROW && hit.hit != HIT_HEADER) || !column_at(app, p, &hit, x, &f, &column))
		return NULL;
	if (hit.hit == HIT_ROW && (size_t)hit.value < f.rows->rows->len)
		row = f.rows->rows->pdata[hit.value];
	if (row && x == 0 && state_text(row))
		return g_strdup(state_text(row));
	return column_text(&f, column, row);
}

static void add(GPtrArray *lines, const char *name, const char *value, const char *text)
{
	g_autofree char *a = text_pad(name, NAME_COLS), *b = value ? text_pad(value, NAME_COLS) : NULL;

	g_ptr_array_add(lines, g_strdup_printf("  %s %s%s %s", a, b ? b : "", b ? " " : "", text));
}

void explain_add(GPtrArray *lines, const char *name, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_autofree char *text = g_strdup_vprintf(format, ap);
	va_end(ap);
	add(lines, name, NULL, text);
}

void explain_add_part(GPtrArray *lines, enum part part)
{
	g_autofree char *text = part_text(part);

	g_ptr_array_add(lines, g_strdup_printf("  %s", text));
}

static void add_columns(GPtrArray *lines, const struct focus *f, const struct row *row)
{
	g_ptr_array_add(lines, g_strdup("The selected row"));
	if (state_text(row))
		g_ptr_array_add(lines, g_strdup_printf("  %s", state_text(row)));
	for (unsigned i = 0; i < f->table->n_shown; i++) {
		const struct column *c = &f->view->columns[f->table->shown[i]];
		g_autofree char *value = table_cell(c, column_value(c, row, f->rows), VALUE_COLS);

		add(lines, c->title, value, c->help ? c->help : c->id);
	}
}

/* The letters on the row that has the cursor. */
static void add_letters(GPtrArray *lines, const struct app *app, const struct place *p)
{
	const struct canvas *c = app->canvas;
	guint before = lines->len;
	unsigned seen = 0, signs_seen = 0;

	for (unsigned x = 0; app->cursor_y < c->rows && x < c->cols; x++) {
		const struct cell *cell = canvas_cell(c, app->cursor_y, x);
		enum part part;

		if (is_part(cell, &part))
			seen |= 1u << part;
		for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
			if (signs[i].kind == p->view->kind && !strcmp(cell->ch, signs[i].sign))
				signs_seen |= 1u << i;
	}
	for (int part = 0; part < PART_N; part++) {
		if (seen & 1u << part)
			explain_add_part(lines, (enum part)part);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
		if (signs_seen & 1u << i)
			g_ptr_array_add(lines, g_strdup_printf("  %s %s", signs[i].sign, signs[i].text));
	if (lines->len > before)
		g_ptr_array_insert(lines, (int)before,
				   g_strdup("Its letters: what the thread did for most of the cell"));
}

void explain_selected(struct app *app, struct place *p, explain_more *more)
{
	if (popup_is_open(&app->popup)) {
		popup_close(&app->popup);
		app->explain_below = true;
		return;
	}
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	struct focus f = place_focus(p);
	const struct row *row = table_selected(f.table, f.rows);
	g_autofree char *title = g_strdup_printf("Explain: %s", f.view->title);

	if (more)
		more(app, p, lines);
	if (!more || p->view->kind == VIEW_TIMELINE)
		add_letters(lines, app, p);
	if (row && f.table->n_shown)
		add_columns(lines, &f, row);
	if (!lines->len) {
		g_ptr_array_unref(lines);
		app_message(app, "nothing is selected here that could be explained: F7 has facts about the view");
		return;
	}
	popup_open(&app->popup, title, lines, false);
}
