/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table widget: rows of any view in a box, with a header, a selection that
 * stays on the same thing, scrolling, sort marks. Columns that do not fit are
 * dropped by priority; the flexible one takes what room is left.
 */
#ifndef BLK_UI_TABLE_H
#define BLK_UI_TABLE_H

#include "ui/canvas.h"
#include "ui/glyphs.h"
#include "ui/keyset.h"
#include "views/view.h"

#define TABLE_SORT_DEFAULT (-2)
#define TABLE_MAX_COLUMNS 64

struct table {
	size_t cursor, top;		/* selected row, first row shown */
	bool bound;			/* the selection is a thing, not a place */
	uint64_t key[2];		/* of the selected row, when bound */
	int sort;			/* column, -1 canonical order, TABLE_SORT_DEFAULT */
	bool descending;
	size_t page;			/* rows shown at the last drawing */
	/* Columns as the user chose them, in this order; 0: as the view has them. */
	unsigned n_chosen;
	uint8_t chosen[TABLE_MAX_COLUMNS];
	struct keyset tags;		/* rows that are summed, copied, saved */
	struct keyset folded;		/* rows of a tree without what hangs below */
	bool only_tagged;		/* the others are not shown */
};
#define TABLE_INIT { .sort = TABLE_SORT_DEFAULT }
void table_clear(struct table *t);	/* what it has allocated; tags and folds are gone */

struct table_layout {
	unsigned n;
	struct { unsigned column, x, width; } col[TABLE_MAX_COLUMNS];
};

/* Which columns are shown where, in `width` columns less one for the cursor. What the
 * user chose is shown from the left as far as it fits; else columns go by priority. What
 * it is sorted by stays. */
void table_layout(const struct table *t, const struct view *v, const struct rows *rows,
		  unsigned width, struct table_layout *ret);

/* The columns that are shown where there is room, by number and in order: those chosen, else
 * the view's (t NULL: these) less what says nothing of these rows (NULL: of any). */
unsigned table_columns(const struct table *t, const struct view *v, const struct rows *rows,
		       uint8_t ret[TABLE_MAX_COLUMNS]);
/* Takes a list as --columns has it, "pid,comm,busy_ns"; NULL: as the view has them.
 * Names that the view has not are passed over; when none is left it is as the view has
 * it. */
void table_choose(struct table *t, const struct view *v, const char *columns);
/* The same the other way. NULL: as the view has them. g_free. */
char *table_chosen(const struct table *t, const struct view *v);
/* "cpu_ns", and "-cpu_ns" against the column's own direction. NULL: the view's. */
void table_choose_sort(struct table *t, const struct view *v, const char *sort);
char *table_chosen_sort(const struct table *t, const struct view *v);

/* The column it is sorted by, and the direction. -1: canonical order. */
int table_sort_column(const struct table *t, const struct view *v, bool *ret_descending);
/* The next column to the left or right of those of table_columns(); returns its number. */
int table_sort_step(struct table *t, const struct view *v, const struct rows *rows,
		    int direction);
/* Filters and sorts the rows as the state says, then finds the selection again. */
void table_apply(struct table *t, const struct view *v, struct rows *rows,
		 const struct expr *filter);

const struct row *table_selected(const struct table *t, const struct rows *rows);
void table_select(struct table *t, const struct rows *rows, size_t index);
void table_move(struct table *t, const struct rows *rows, long delta);

/* One cell as text, visible, not clipped. Free with g_free. */
char *table_cell(const struct column *c, struct value v, unsigned width);
/* The first row from `from` on, up (direction -1) or down, of which a column shown holds the
 * text (any case). -1: none does. */
long table_find(const struct table *t, const struct view *v, const struct rows *rows, long from,
		int direction, const char *needle);
/* How many rows are tagged, of these. */
unsigned table_n_tagged(const struct table *t, const struct rows *rows);

struct table_style {
	const struct glyphs *glyphs;
	const char *match;	/* searched text, or NULL */
	bool active;		/* has the cursor */
	bool soft;		/* figures may change: '~' before them */
	const struct keyset *tags, *folded;	/* set by table_draw() */
};
/* Header and rows, and what tagged rows sum up to. Returns the canvas row of the selected one (box.y when none). */
unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style);

#endif
