/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table widget: rows of a view in a box, with header, selection, scrolling and sort marks. The selection follows
 * its row by key. Columns that do not fit are dropped by priority; the flexible column gets the remaining room.
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
	bool bound;			/* the selection is the row with `key`; else the index `cursor` */
	uint64_t key[2];		/* of the selected row, if bound */
	int sort;			/* column; -1: canonical order; TABLE_SORT_DEFAULT: the view's */
	bool descending;
	int stepped, held;		/* of table_sort_step(): the column it chose last, and the one before its first
					 * step, which stays on the screen; -1: none */
	unsigned n_shown;		/* at the last drawing: the columns that were shown; 0: not drawn yet */
	uint8_t shown[TABLE_MAX_COLUMNS];
	size_t page;			/* rows shown at the last drawing */
	unsigned pan;			/* columns by which the texts of the flexible column are scrolled to the left */
	unsigned flexible_width, hidden;	/* at the last drawing: its width, and how much longer its texts are */
	/* Columns that the user chose, in this order; 0: the view's. */
	unsigned n_chosen;
	uint8_t chosen[TABLE_MAX_COLUMNS];
	struct keyset tags;		/* rows that are summed, copied, saved */
	struct keyset folded;		/* rows of a tree whose descendants are hidden */
	bool only_tagged;		/* rows that are not tagged are hidden */
};
#define TABLE_INIT { .sort = TABLE_SORT_DEFAULT, .stepped = -1, .held = -1 }
void table_clear(struct table *t);	/* frees what it owns; clears tags and folds */

struct table_layout {
	unsigned n;
	struct { unsigned column, x, width; } col[TABLE_MAX_COLUMNS];
};

/* Which columns are shown where, in `width` columns minus one for the cursor. Chosen columns are shown from the left
 * as far as they fit; else columns are dropped by priority. The sort column is always shown. */
void table_layout(const struct table *t, const struct view *v, const struct rows *rows,
		  unsigned width, struct table_layout *ret);

/* The columns to show if there is room, by number and in order: the chosen ones, else (or t NULL) the view's, without
 * those that have no information for these rows (rows NULL: all). Returns their number. */
unsigned table_columns(const struct table *t, const struct view *v, const struct rows *rows,
		       uint8_t ret[TABLE_MAX_COLUMNS]);
/* Chooses columns, as --columns does: "pid,comm,busy_ns"; NULL: the view's. Unknown names are ignored; if none is
 * known, the view's columns are used. */
void table_choose(struct table *t, const struct view *v, const char *columns);
/* The chosen columns as such a list; NULL: none are chosen. g_free. */
char *table_chosen(const struct table *t, const struct view *v);
/* "cpu_ns", and "-cpu_ns" against the column's own direction. NULL: the view's. */
void table_choose_sort(struct table *t, const struct view *v, const char *sort);
char *table_chosen_sort(const struct table *t, const struct view *v);

/* The sort column and its direction. -1: canonical order. */
int table_sort_column(const struct table *t, const struct view *v, bool *ret_descending);
/* Sorts by the next column on the screen to the left (-1) or right (1), and leaves those on the screen there. Returns
 * its number; -1: there are no columns. */
int table_sort_step(struct table *t, const struct view *v, const struct rows *rows,
		    int direction);
/* Filters and sorts the rows, then finds the selection again. */
void table_apply(struct table *t, const struct view *v, struct rows *rows,
		 const struct expr *filter);

/* Scrolls the texts of the flexible column by half its width, to the left (-1) or right (1). false: no text is hidden
 * there. */
bool table_pan(struct table *t, int direction);

const struct row *table_selected(const struct table *t, const struct rows *rows);
void table_select(struct table *t, const struct rows *rows, size_t index);
void table_move(struct table *t, const struct rows *rows, long delta);

/* One cell as text, visible, not clipped. Free with g_free. */
char *table_cell(const struct column *c, struct value v, unsigned width);
/* The first row from `from` on, up (direction -1) or down (1), with the text in a shown column, ignoring case. -1:
 * none. */
long table_find(const struct table *t, const struct view *v, const struct rows *rows, long from,
		int direction, const char *needle);
/* How many of these rows are tagged. */
unsigned table_n_tagged(const struct table *t, const struct rows *rows);

struct table_style {
	const struct glyphs *glyphs;
	const char *match;	/* searched text, or NULL */
	bool active;		/* has the cursor */
	bool folds_idle;	/* rows of zeros at the end are one line, until the cursor is moved to them */
	bool provisional;		/* figures are provisional: '~' before them */
	const struct keyset *tags, *folded;	/* set by table_draw(), */
	unsigned pan;
};
/* Draws header, rows, and the sums of tagged rows. Returns the canvas row of the selected row; box.y: none. */
unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style);

#endif
