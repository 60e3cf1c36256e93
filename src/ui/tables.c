/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorting, filtering, trees and tags: see tables.h. */
#include "ui/tables.h"

#include <string.h>

/* Removes the descendants of folded rows. */
static void hide_folded(const struct table *t, struct rows *rows)
{
	g_autofree bool *keep = g_new(bool, rows->rows->len + 1);
	int folded = -1;	/* depth of the folded row above; -1: none */

	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);

		if (folded >= 0 && row->depth <= folded)
			folded = -1;
		keep[i] = folded < 0;
		if (folded < 0 && row->expandable && keyset_has(&t->folded, row))
			folded = row->depth;
	}
	rows_keep(rows, keep);
}

static void hide_untagged(const struct table *t, struct rows *rows)
{
	g_autofree bool *keep = g_new(bool, rows->rows->len + 1);

	for (guint i = 0; i < rows->rows->len; i++)
		keep[i] = keyset_has(&t->tags, g_ptr_array_index(rows->rows, i));
	rows_keep(rows, keep);
}

/* Does a row have the value 1 under this name of its view (view.has_named)? */
static bool has_named(const struct view *v, const struct rows *rows, const struct row *row, const char *name)
{
	struct value value = v->has_named && v->has_named(name) ? v->get_named(row, rows, name) : value_none();

	return value.kind != VALUE_NONE && value.i;
}

static void hide_threads(const struct app *app, const struct view *v, struct rows *rows)
{
	g_autofree bool *keep = g_new(bool, rows->rows->len + 1);

	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);

		keep[i] = !has_named(v, rows, row, "kernel_thread") &&
			  !(app->prefs->hide == HIDE_IDLE && has_named(v, rows, row, "idle"));
	}
	rows_keep(rows, keep);
}

static bool is_tree(const struct app *app, const struct place *p, const struct view *v)
{
	return app->tree && v->arrange && p->narrow.by != BY_SYSTEM &&
	       p->narrow.by != BY_CONTAINER;
}

void tables_prepare(struct app *app, struct place *p, enum pane pane)
{
	struct focus f = place_pane(p, pane);
	const struct prefs_view *mine = prefs_view_get(app->prefs, f.view->id);
	bool descending;
	int column;

	if (mine) {
		table_choose(f.table, f.view, mine->columns);
		table_choose_sort(f.table, f.view, mine->sort);
	}
	if (app->prefs->hide)
		hide_threads(app, f.view, f.rows);
	if (is_tree(app, p, f.view)) {
		column = table_sort_column(f.table, f.view, &descending);
		rows_sort(f.rows, f.view, column, descending);
		f.view->arrange(f.rows);
	}
	rows_filter(f.rows, f.view, p->expr[pane]);
	if (f.rows->tree && keyset_size(&f.table->folded))
		hide_folded(f.table, f.rows);
	if (f.table->only_tagged)
		hide_untagged(f.table, f.rows);
	table_apply(f.table, f.view, f.rows, NULL);
	if (app->prefs->accessible)
		table_unfold(f.table);
	else
		table_fold_idle(f.table, f.view, f.rows);
}

static void show_sort(struct app *app, const struct focus *f)
{
	g_autofree char *sort = table_chosen_sort(f->table, f->view);
	bool descending;
	int column = table_sort_column(f->table, f->view, &descending);

	prefs_view_set_sort(app->prefs, f->view->id, sort);
	if (column >= 0)
		app_message(app, "sorted by %s, %s", f->view->columns[column].title,
			descending ? "highest first" : "lowest first");
	place_stale(nav_top(&app->nav));
}

void tables_sort_by(struct app *app, struct focus *f, size_t column)
{
	bool descending;
	bool again = table_sort_column(f->table, f->view, &descending) == (int)column;

	f->table->sort = (int)column;
	f->table->descending = again ? !descending : f->view->columns[column].descending;
	show_sort(app, f);
}

static void sort(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	bool descending;

	if (command == CMD_INVERT) {
		int column = table_sort_column(f->table, f->view, &descending);

		if (column < 0) {
			app_message(app, "sorted by no column: < and > choose one");
			return;
		}
		tables_sort_by(app, f, (size_t)column);
		return;
	}
	table_sort_step(f->table, f->view, f->rows, command == CMD_SORT_LEFT ? -1 : 1);
	show_sort(app, f);
}

static void change_by(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	static const char *const names[BY_N] = {
		"hosts as a whole", "processes", "threads", "CPUs", "priorities", "names",
		"seconds", "containers", "causes",
	};

	if (!p->view->by_values) {
		app_message(app, "%s has no rows by thread", p->view->title);
		return;
	}
	p->narrow.by = view_next_by(p->view, p->narrow.by);
	if ((p->view->by_counted & 1u << p->narrow.by) && !app->options->counts_threads)
		app_message(app, "by %s only if asked for at the start: --view %s --by %s",
			view_by_words[p->narrow.by], p->view->id, view_by_words[p->narrow.by]);
	else
		app_message(app, "rows are %s", p->narrow.by == BY_SYSTEM && !view_has_by(p->view, BY_THREAD) ?
			"over all" : names[p->narrow.by]);
	place_stale(p);
}

static void change_tree(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	if (!f->view->arrange) {
		app_message(app, "%s has no rows with parents: 4 t is the tree of processes", f->view->title);
		return;
	}
	if (p->narrow.by == BY_SYSTEM || p->narrow.by == BY_CONTAINER) {
		app_message(app, p->narrow.by == BY_CONTAINER ?
			"containers have no parents: H H shows processes" :
			"hosts have no parents: H shows processes");
		return;
	}
	app->tree = !app->tree;
	app_message(app, app->tree ? "tree, as far as parents are known: - folds, t ends it" : "no tree");
	place_stale(p);
}

/* Rows in which nothing happened. */
static void fold_idle(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	bool shows = command == CMD_EXPAND || (command == CMD_EXPAND_ALL && !f->table->shows_idle);

	f->table->shows_idle = shows;
	if (shows)
		table_show_idle(f->table, f->rows);
	else
		f->table->bound = false;
	app_message(app, shows ? "all rows are shown: - folds those that are %s" :
		    "rows that are %s are one line: + shows them", f->view->idle);
	place_stale(p);
}

static void fold(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	const struct row *row = table_selected(f->table, f->rows);

	if (!f->rows->tree && f->view->idle) {
		fold_idle(app, p, f, command);
		return;
	}
	if (!f->rows->tree) {
		app_message(app, f->view->arrange ? "rows can be folded in a tree: t shows it" :
			"there are no rows to fold here");
		return;
	}
	if (command == CMD_EXPAND_ALL && keyset_size(&f->table->folded)) {
		keyset_clear(&f->table->folded);
	} else if (command == CMD_EXPAND_ALL) {
		for (guint i = 0; i < f->rows->rows->len; i++) {
			row = g_ptr_array_index(f->rows->rows, i);
			if (row->expandable && row->depth == 0)
				keyset_set(&f->table->folded, row, true);
		}
	} else if (!row || !row->expandable) {
		app_message(app, "this row has no children");
	} else {
		keyset_set(&f->table->folded, row, command == CMD_COLLAPSE);
	}
	place_stale(p);
}

static void tag(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	const struct row *row = table_selected(f->table, f->rows);

	if (!row) {
		app_message(app, "no row to tag");
		return;
	}
	keyset_set(&f->table->tags, row, !keyset_has(&f->table->tags, row));
	if (f->table->only_tagged) {
		f->table->only_tagged = keyset_size(&f->table->tags) > 0;
		place_stale(p);
		return;
	}
	if (table_next(f->table, f->table->cursor) >= f->rows->rows->len)
		app_message(app, "%u tagged: y copies them, U untags all", keyset_size(&f->table->tags));
	table_move(f->table, f->rows, 1);
}

static void show_tagged(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	if (!f->table->only_tagged && !keyset_size(&f->table->tags)) {
		app_message(app, "no row is tagged: Space tags one");
		return;
	}
	f->table->only_tagged = !f->table->only_tagged;
	app_message(app, f->table->only_tagged ? "only tagged rows: T shows all" : "all rows");
	place_stale(p);
}

/* Does the view know which of its rows are kernel threads? */
static bool knows_kernel(const struct view *v)
{
	return v->has_named && v->has_named("kernel_thread");
}

static void hide(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	static const char *const messages[HIDE_N] = {
		"all processes and threads", "kernel threads are hidden: K hides idle ones, too",
		"kernel and idle threads are hidden: K shows all",
	};

	bool any = false;

	for (unsigned i = 0; i < place_n_panes(p->view); i++)
		any = any || knows_kernel(place_pane_view(p->view, i));
	if (!any) {
		app_message(app, "%s has no kernel threads to hide: 4 K does in Processes", p->view->title);
		return;
	}
	app->prefs->hide = (app->prefs->hide + 1) % HIDE_N;
	app_message(app, "%s", messages[app->prefs->hide]);
	place_stale(p);
}

static void untag(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	unsigned n = keyset_size(&f->table->tags);

	keyset_clear(&f->table->tags);
	f->table->only_tagged = false;
	if (n)
		app_message(app, "%u row%s untagged", n, n == 1 ? "" : "s");
	else
		app_message(app, "no row is tagged: Space tags one");
	place_stale(p);
}

static void pan(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	int direction = command == CMD_PAN_LEFT ? -1 : 1;

	if (!table_pan(f->table, direction))
		app_message(app, direction > 0 && f->table->hidden ? "the longest text ends here: [ scrolls back" :
			    direction > 0 ? "nothing to scroll: all texts are shown whole" :
			    "the texts are shown from their beginning");
}

static void clear(struct app *app, struct place *p, struct focus *f, enum command_id command)
{
	if (p->filter || p->search || f->table->only_tagged) {
		app_filter(app, p, "", NULL);
		g_clear_pointer(&p->search, g_free);
		f->table->only_tagged = false;
		app_message(app, "no filter, no search: all rows are shown");
		place_stale(p);
	} else if (f->table->sort != TABLE_SORT_DEFAULT) {
		f->table->sort = TABLE_SORT_DEFAULT;
		show_sort(app, f);
	} else {
		app_message(app, "nothing to clear: no filter, no search, default order");
	}
}

void tables_command(struct app *app, struct place *p, enum command_id command)
{
	static void (*const run[CMD_N])(struct app *, struct place *, struct focus *, enum command_id) = {
		[CMD_BY] = change_by, [CMD_TREE] = change_tree, [CMD_EXPAND] = fold, [CMD_COLLAPSE] = fold,
		[CMD_EXPAND_ALL] = fold, [CMD_TAG] = tag, [CMD_UNTAG] = untag, [CMD_HIDE] = hide,
		[CMD_ONLY_TAGGED] = show_tagged, [CMD_PAN_LEFT] = pan, [CMD_PAN_RIGHT] = pan, [CMD_CLEAR] = clear,
		[CMD_SORT_LEFT] = sort, [CMD_SORT_RIGHT] = sort, [CMD_INVERT] = sort,
	};
	struct focus f = place_focus(p);

	run[command](app, p, &f, command);
}
