/* SPDX-License-Identifier: GPL-2.0-only */
/* The lists of columns and of sort orders: see chooser.h. */
#include "ui/chooser.h"

#include "ui/screen.h"
#include "ui/tables.h"

#include <string.h>

struct chooser {
	const struct view *view;
	enum pane pane;
	unsigned n;
	struct chosen { uint8_t column; bool shown; } all[TABLE_MAX_COLUMNS];	/* of the view, as listed */
	unsigned n_default;
	uint8_t defaults[TABLE_MAX_COLUMNS];	/* the columns that are shown when none were chosen */
};

static char *line_of(const struct column *c, const char *mark)
{
	return g_strdup_printf("%s %-9s %-20s %-7s %s", mark, c->title, c->id, value_unit(c->kind),
			       c->help ? c->help : "");
}

static GPtrArray *lines_of(const struct chooser *ch)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < ch->n; i++)
		g_ptr_array_add(lines, line_of(&ch->view->columns[ch->all[i].column],
					       ch->all[i].shown ? "[x]" : "[ ]"));
	return lines;
}

/* Lists the n columns that are shown first, then the others in the view's order. */
static void fill(struct chooser *ch, const uint8_t *columns, unsigned n)
{
	g_assert(n <= TABLE_MAX_COLUMNS);
	ch->n = 0;
	for (unsigned i = 0; i < n; i++)
		ch->all[ch->n++].column = columns[i];
	for (size_t i = 0; i < ch->view->n_columns && i < TABLE_MAX_COLUMNS; i++) {
		if (!memchr(columns, (int)i, n))
			ch->all[ch->n++].column = (uint8_t)i;
	}
	for (unsigned i = 0; i < ch->n; i++)
		ch->all[i].shown = i < n;
}

/* The columns that are shown, as "pid,comm"; NULL: they are the default. */
static char *chosen_text(const struct chooser *ch)
{
	struct table t = TABLE_INIT;

	for (unsigned i = 0; i < ch->n; i++) {
		if (ch->all[i].shown)
			t.chosen[t.n_chosen++] = ch->all[i].column;
	}
	if (t.n_chosen == ch->n_default && !memcmp(t.chosen, ch->defaults, ch->n_default))
		return NULL;
	return table_chosen(&t, ch->view);
}

static void columns_picked(struct app *app, void *data, size_t line)
{
	const struct chooser *ch = data;
	g_autofree char *columns = chosen_text(ch);
	struct table *t = &nav_top(&app->nav)->table[ch->pane];
	struct table_layout l;

	prefs_view_set_columns(app->prefs, ch->view->id, columns);
	table_choose(t, ch->view, columns);
	table_layout(t, ch->view, NULL, app->canvas->cols, &l);
	if (columns && l.n < t->n_chosen)
		app_message(app, "%u of %u fit; all in batch mode: -b --view %s --columns %s", l.n,
			t->n_chosen, ch->view->id, columns);
	else if (columns)
		app_message(app, "the same in batch mode: -b --view %s --columns %s", ch->view->id, columns);
	else
		app_message(app, "default columns of %s", ch->view->title);
	place_stale(nav_top(&app->nav));
}

static void swap(struct chooser *ch, unsigned a, unsigned b)
{
	struct chosen was = ch->all[a];

	ch->all[a] = ch->all[b];
	ch->all[b] = was;
}

static void toggle(struct chooser *ch, size_t at)
{
	g_assert(at < ch->n);
	unsigned n = 0;

	for (unsigned i = 0; i < ch->n; i++)
		n += ch->all[i].shown && i != at;
	ch->all[at].shown = !ch->all[at].shown || !n;	/* at least one column is shown */
}

static bool change_columns(struct app *app, void *data, enum command_id command)
{
	struct chooser *ch = data;
	size_t at = app->popup.cursor;

	if (at >= ch->n)
		return false;
	if (command == CMD_TOGGLE) {
		toggle(ch, at);
		at = MIN(at + 1, ch->n - 1);
	} else if (command == CMD_SHIFT_UP && at > 0) {
		swap(ch, (unsigned)at, (unsigned)at - 1);
		at--;
	} else if (command == CMD_SHIFT_DOWN && at + 1 < ch->n) {
		swap(ch, (unsigned)at, (unsigned)at + 1);
		at++;
	} else if (command == CMD_RESET) {
		fill(ch, ch->defaults, ch->n_default);
		at = 0;
	} else {
		return command == CMD_SHIFT_UP || command == CMD_SHIFT_DOWN;
	}
	g_ptr_array_unref(app->popup.lines);
	app->popup.lines = lines_of(ch);
	app->popup.cursor = at;
	return true;
}

static void open_columns(struct app *app, struct place *p)
{
	struct focus f = place_focus(p);
	struct chooser *ch = g_new0(struct chooser, 1);
	g_autofree char *title = g_strdup_printf("Columns of %s: [x] is shown",
						 f.view->title);
	struct table plain = { .sort = f.table->sort };
	struct table_layout l;

	ch->view = f.view;
	ch->pane = f.table == &p->table[p->pane] ? p->pane : PANE_MAIN;
	/* The default is what fits now. */
	table_layout(&plain, f.view, f.rows, app->canvas->cols, &l);
	for (; ch->n_default < l.n; ch->n_default++)
		ch->defaults[ch->n_default] = (uint8_t)l.col[ch->n_default].column;
	if (f.table->n_chosen)
		fill(ch, f.table->chosen, f.table->n_chosen);
	else
		fill(ch, ch->defaults, ch->n_default);
	app_pick(app, title, lines_of(ch), &(struct pick){ columns_picked, change_columns, ch, g_free });
}

/* --- sorting --- */

static void sort_picked(struct app *app, void *data, size_t line)
{
	struct focus f = place_focus(app_place(app));

	if (line < f.view->n_columns)
		tables_sort_by(app, &f, line);
}

static void open_sort(struct app *app, struct place *p)
{
	struct focus f = place_focus(p);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *title = g_strdup_printf("Sort %s by: Enter chooses", f.view->title);
	const struct glyphs *g = app->glyphs;
	bool descending;
	int sorted = table_sort_column(f.table, f.view, &descending);

	for (size_t i = 0; i < f.view->n_columns; i++)
		g_ptr_array_add(lines, line_of(&f.view->columns[i], (int)i != sorted ? " " :
					       descending ? g->sort_down : g->sort_up));
	app_pick(app, title, lines, &(struct pick){ .picked = sort_picked });
	app->popup.cursor = sorted >= 0 ? (size_t)sorted : 0;
}

void chooser_open(struct app *app, struct place *p, enum command_id command)
{
	if (command == CMD_COLUMNS)
		open_columns(app, p);
	else
		open_sort(app, p);
}
