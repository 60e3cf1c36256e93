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
#include "views/view.h"

#define TABLE_SORT_DEFAULT (-2)

struct table {
	size_t cursor, top;		/* selected row, first row shown */
	bool bound;			/* the selection is a thing, not a place */
	uint64_t key[2];		/* of the selected row, when bound */
	int sort;			/* column, -1 canonical order, TABLE_SORT_DEFAULT */
	bool descending;
	size_t page;			/* rows shown at the last drawing */
};
#define TABLE_INIT { .sort = TABLE_SORT_DEFAULT }

#define TABLE_MAX_COLUMNS 64
struct table_layout {
	unsigned n;
	struct { unsigned column, x, width; } col[TABLE_MAX_COLUMNS];
};

/* Which columns are shown where, in `width` columns less one for the cursor. */
void table_layout(const struct view *v, const struct rows *rows, unsigned width,
		  struct table_layout *ret);

/* The column it is sorted by, and the direction. -1: canonical order. */
int table_sort_column(const struct table *t, const struct view *v, bool *ret_descending);
/* The next column shown to the left or right; returns its number. */
int table_sort_step(struct table *t, const struct view *v, int direction);
/* Filters and sorts the rows as the state says, then finds the selection again. */
void table_apply(struct table *t, const struct view *v, struct rows *rows,
		 const struct expr *filter);

const struct row *table_selected(const struct table *t, const struct rows *rows);
void table_select(struct table *t, const struct rows *rows, size_t index);
void table_move(struct table *t, const struct rows *rows, long delta);

/* One cell as text, visible, not clipped. Free with g_free. */
char *table_cell(const struct column *c, struct value v, unsigned width);
/* Does any column shown of this row hold the text (any case)? */
bool table_row_holds(const struct view *v, const struct rows *rows, size_t index,
		     const char *needle);

struct table_style {
	const struct glyphs *glyphs;
	const char *match;	/* searched text, or NULL */
	bool active;		/* has the cursor */
	bool soft;		/* figures may change: '~' before them */
};
/* Header and rows. Returns the canvas row of the selected one (box.y when none). */
unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style);

#endif
