/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table widget: rows of a view in a box, with header, selection, scrolling and sort marks. The selection follows
 * its row by key. Columns that do not fit are dropped by priority; spare room goes to texts that are cut.
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
	uint8_t texts[TABLE_MAX_COLUMNS];	/* by column: the widest text so far: columns do not jump in time */
	/* Columns that the user chose, in this order; 0: the view's. */
	unsigned n_chosen;
	uint8_t chosen[TABLE_MAX_COLUMNS];
	struct keyset tags;		/* rows that are summed, copied, saved */
	struct keyset folded;		/* rows of a tree whose descendants are hidden */
	bool only_tagged;		/* rows that are not tagged are hidden */
	/* struct table_run: rows that one line each stands for, in order; NULL: none. */
	GArray *runs;
	bool shows_idle;		/* the user opened such a line: all rows are shown */
};
#define TABLE_INIT { .sort = TABLE_SORT_DEFAULT, .stepped = -1, .held = -1 }
void table_clear(struct table *t);	/* frees what it owns; clears tags and folds */

/*
 * Idle rows: where nothing happened (view.idle) in at least three rows in a row, one line stands for them: "27 more,
 * idle". All rows are still there to be filtered, sorted, found, saved. Rows that are marked, tagged, open or
 * selected, or have a figure in the column that they are sorted by, are shown. If no other row is left, all are.
 */
struct table_run {
	size_t first, n;
	bool unknown;		/* of some of the time of some of these rows, the state is unknown */
};
void table_fold_idle(struct table *t, const struct view *v, const struct rows *rows);
void table_unfold(struct table *t);		/* until the next table_fold_idle() */
/* From now on. false: no line stood for rows. */
bool table_show_idle(struct table *t, const struct rows *rows);
/* NULL: the row has a line of its own. */
const struct table_run *table_run_of(const struct table *t, size_t row);
/* Lines, from 0 on. The row of a line that stands for several is the first of them. */
size_t table_n_lines(const struct table *t, const struct rows *rows);
size_t table_line_of(const struct table *t, size_t row);
size_t table_row_at(const struct table *t, size_t line);
size_t table_next(const struct table *t, size_t row);	/* the row of the next line */
/* Sets page and top, so that the cursor is among the lines shown. */
void table_scroll(struct table *t, const struct rows *rows, size_t page);
void table_draw_run(struct canvas *c, unsigned y, unsigned x, unsigned cols, const struct table_run *run,
		    const struct view *v, bool selected, const struct glyphs *g);

struct table_layout {
	unsigned n;
	struct { unsigned column, x, width; } col[TABLE_MAX_COLUMNS];
};

/* Which columns are shown where, in `width` columns minus one for the cursor. Chosen columns are shown from the left
 * as far as they fit; else columns are dropped by priority. The sort column is always shown. */
void table_layout(const struct table *t, const struct view *v, const struct rows *rows,
		  unsigned width, struct table_layout *ret);

/* Measures texts, for table_layout(). */
void table_measure(struct table *t, const struct view *v, const struct rows *rows);
/* The width at which nothing is dropped or cut. */
unsigned table_wanted(const struct table *t, const struct view *v, const struct rows *rows);

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

/* NULL: there is no row, or the cursor is on a line that stands for several. */
const struct row *table_selected(const struct table *t, const struct rows *rows);
void table_select(struct table *t, const struct rows *rows, size_t index);	/* shows it, if it is idle */
void table_move(struct table *t, const struct rows *rows, long delta);	/* by lines */

/* One cell as text, visible, not clipped. Free with g_free. */
char *table_cell(const struct column *c, struct value v, unsigned width);
/* The first row from `from` on, up (direction -1) or down (1), with the text in a shown column, ignoring case. -1:
 * none. */
long table_find(const struct table *t, const struct view *v, const struct rows *rows, long from,
		int direction, const char *needle);
/* How many of these rows are tagged. */
unsigned table_n_tagged(const struct table *t, const struct rows *rows);
/* The same; the first two of them are in ret. */
unsigned table_tagged(const struct table *t, const struct rows *rows, const struct row *ret[2]);

struct table_style {
	const struct glyphs *glyphs;
	const char *match;	/* searched text, or NULL */
	bool active;		/* has the cursor */
	bool provisional;		/* figures are provisional: '~' before them */
	const struct keyset *tags, *folded;	/* set by table_draw(), */
	unsigned pan;
};
/* Draws header, rows, and the sums of tagged rows. Returns the canvas row of the selected row; box.y: none. */
unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style);

#endif
