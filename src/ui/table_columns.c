/* SPDX-License-Identifier: GPL-2.0-only */
/* Which columns a table shows and where: the user's choice, else the view's, as far as they fit. See table.h. */
#include "ui/table.h"

#include "base/text.h"

#include <string.h>

/* Widths of columns that the view has for batch output only, if the user chooses one. */
static const uint8_t kind_width[] = {
	[VALUE_NONE] = 4, [VALUE_COUNT] = 7, [VALUE_BYTES] = 7, [VALUE_NS] = 7, [VALUE_TIME] = 12,
	[VALUE_ID] = 7, [VALUE_RATIO] = 6, [VALUE_HEX64] = 16, [VALUE_TEXT] = 16,
};

static unsigned wanted_width(const struct column *c)
{
	return c->width ? c->width : kind_width[c->kind];
}

/* Does a row have a value other than `usual`? */
static bool column_varies(const struct column *col, const struct rows *rows, const char *usual)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value v = column_value(col, g_ptr_array_index(rows->rows, i), rows);

		if (v.kind != VALUE_NONE && (!usual || strcmp(v.s, usual)))
			return true;
	}
	return false;
}

/* Is the host column useful? With one host only if rows are hosts or unknown containers, which have no other name. */
static bool host_is_useful(const struct view *v, const struct rows *rows)
{
	bool whole = rows->query.by == BY_SYSTEM || rows->query.by == BY_CONTAINER;
	bool named = !rows->rows->len || !whole;

	for (size_t i = 0; i < v->n_columns && !named; i++) {
		const struct column *c = &v->columns[i];

		named = (c->kind == VALUE_TEXT || c->kind == VALUE_ID) && c->width && !c->of_hosts &&
			column_varies(c, rows, NULL);
	}
	return !named || timeline_n_hosts(rows->tl) > 1;
}

/* Columns without information, such as a thread id in rows by process, are not shown. */
static bool column_is_empty(const struct view *v, const struct column *col,
			    const struct rows *rows)
{
	bool containers = rows && rows->query.by == BY_CONTAINER;

	if (rows && col->of_hosts && !host_is_useful(v, rows))
		return true;
	if (rows && !rows->rows->len)
		return col->optional;
	if (!rows || (col->kind != VALUE_ID && !col->optional && !(containers && col->kind == VALUE_TEXT)))
		return false;
	return !column_varies(col, rows, containers ? NULL : col->usual);
}

/* The column that stays while `<` and `>` go through the others; -1: none. */
static int held_column(const struct table *t)
{
	return t->sort == t->stepped ? t->held : -1;
}

unsigned table_columns(const struct table *t, const struct view *v, const struct rows *rows,
		       uint8_t ret[TABLE_MAX_COLUMNS])
{
	unsigned n = t ? t->n_chosen : 0;
	const int also[] = { t ? t->sort : -1, t ? held_column(t) : -1 };

	g_assert(n <= TABLE_MAX_COLUMNS);
	if (n)
		memcpy(ret, t->chosen, n);
	for (size_t i = 0; !(t && t->n_chosen) && i < v->n_columns && i < TABLE_MAX_COLUMNS; i++) {
		if (v->columns[i].width && !column_is_empty(v, &v->columns[i], rows))
			ret[n++] = (uint8_t)i;
	}
	/* Rows in the order of a column that is not there would be a riddle. */
	for (size_t i = 0; i < G_N_ELEMENTS(also); i++)
		if (also[i] >= 0 && also[i] < TABLE_MAX_COLUMNS && n < TABLE_MAX_COLUMNS && !memchr(ret, also[i], n))
			ret[n++] = (uint8_t)also[i];
	return n;
}

/* --- the user's choice --- */

void table_choose(struct table *t, const struct view *v, const char *columns)
{
	g_auto(GStrv) ids = g_strsplit(columns ? columns : "", ",", -1);

	t->n_chosen = 0;
	for (size_t i = 0; ids[i]; i++) {
		int column = view_column(v, g_strstrip(ids[i]));

		if (column < 0 || column >= TABLE_MAX_COLUMNS ||
		    t->n_chosen == TABLE_MAX_COLUMNS ||
		    memchr(t->chosen, column, t->n_chosen))
			continue;
		t->chosen[t->n_chosen++] = (uint8_t)column;
	}
}

char *table_chosen(const struct table *t, const struct view *v)
{
	GString *s = t->n_chosen ? g_string_new(NULL) : NULL;

	for (unsigned i = 0; i < t->n_chosen; i++)
		g_string_append_printf(s, "%s%s", i ? "," : "", v->columns[t->chosen[i]].id);
	return s ? g_string_free(s, FALSE) : NULL;
}

void table_choose_sort(struct table *t, const struct view *v, const char *sort)
{
	bool turned = sort && *sort == '-';
	int column = sort ? view_column(v, sort + turned) : -1;

	t->sort = column < 0 ? TABLE_SORT_DEFAULT : column;
	t->descending = column >= 0 && v->columns[column].descending != turned;
}

char *table_chosen_sort(const struct table *t, const struct view *v)
{
	const struct column *c = t->sort >= 0 ? &v->columns[t->sort] : NULL;

	return c ? g_strconcat(t->descending == c->descending ? "" : "-", c->id, NULL) : NULL;
}

/* --- what fits --- */

/* The columns that may be shown, in order. */
struct fitting {
	const struct view *v;
	bool chosen;		/* by the user: columns are dropped from the right */
	int sorted;		/* the sort column, which is never dropped; -1: none */
	int held;		/* held_column(), dropped after all others */
	int rare;		/* a column whose value is usual in most rows; -1: none */
	bool tight;		/* short ids and texts */
	unsigned n;
	uint8_t column[TABLE_MAX_COLUMNS];
};

#define HEX_SHORT 8
#define TEXT_SHORT 32
#define RARE 2			/* less than one row of so many has another value than the usual one */
#define RARE_LATER 3		/* added to its priority */

static unsigned column_width(const struct column *c, bool tight)
{
	unsigned width = wanted_width(c);

	if (tight && c->kind == VALUE_HEX64)
		width = MIN(width, HEX_SHORT);
	if (tight && c->kind == VALUE_TEXT && !c->flexible)
		width = MIN(width, TEXT_SHORT);
	return MAX(width, (unsigned)strlen(c->title));
}

static unsigned needed(const struct fitting *f)
{
	unsigned need = 0;

	for (unsigned i = 0; i < f->n; i++)
		need += column_width(&f->v->columns[f->column[i]], f->tight) + 1;
	return need;
}

/* Is it a column with a usual value, which most rows have? */
static bool is_rare(const struct column *col, const struct rows *rows)
{
	guint n = 0;

	if (!col->usual || !rows || rows->query.by == BY_CONTAINER)
		return false;
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value v = column_value(col, g_ptr_array_index(rows->rows, i), rows);

		n += v.kind == VALUE_TEXT && strcmp(v.s, col->usual) != 0;
	}
	return n * RARE < rows->rows->len;
}

/* The first id of a view is dropped late: users quote it. A column that says the same in most rows is dropped early. */
static unsigned priority_of(const struct fitting *f, unsigned column)
{
	const struct column *c = &f->v->columns[column];

	return column == 0 && c->kind == VALUE_HEX64 ? MIN(c->priority, 2) :
	       (int)column == f->rare ? c->priority + RARE_LATER : c->priority;
}

/* The column to drop next: that with the highest priority number; of chosen ones the last that is not flexible. -1:
 * none. */
static int worst_of(const struct fitting *f)
{
	int worst = -1;

	for (unsigned i = 0; i < f->n; i++) {
		const struct column *c = &f->v->columns[f->column[i]];
		unsigned priority = priority_of(f, f->column[i]);

		if (f->column[i] == f->sorted || f->column[i] == f->held ||
		    (f->chosen ? c->flexible || f->n < 2 : !priority))
			continue;
		if (f->chosen || worst < 0 ||
		    priority >= priority_of(f, f->column[worst]))
			worst = (int)i;
	}
	return worst;
}

static bool drop_one(struct fitting *f)
{
	int worst = worst_of(f);

	if (worst < 0)
		return false;
	g_assert((unsigned)worst < f->n);
	f->n--;
	memmove(f->column + worst, f->column + worst + 1, f->n - (unsigned)worst);
	return true;
}

/* Does the sort column end beyond the width? */
static bool sorted_is_cut(const struct fitting *f, unsigned width)
{
	unsigned x = 0;

	for (unsigned i = 0; i < f->n; i++) {
		x += column_width(&f->v->columns[f->column[i]], f->tight) + 1;
		if (f->column[i] == f->sorted)
			return x > width + 1;
	}
	return false;
}

/* Drops the column before the sort column, whatever its priority. */
static void drop_for_sorted(struct fitting *f)
{
	unsigned at = 0;

	while (at + 1 < f->n && f->column[at + 1] != f->sorted)
		at++;
	if (at + 1 >= f->n)
		return;
	f->n--;
	memmove(f->column + at, f->column + at + 1, f->n - at);
}

static void fit(struct fitting *f, unsigned width)
{
	while (needed(f) > width + 1) {
		if (f->tight && !drop_one(f))
			break;
		f->tight = true;
	}
	while (f->n > 1 && f->column[0] != f->sorted && sorted_is_cut(f, width))
		drop_for_sorted(f);
}

/* Widens a column that was made tight, as far as there is room. */
static unsigned widen(const struct column *c, bool tight, unsigned *room)
{
	unsigned width = column_width(c, tight), wanted = column_width(c, false);
	g_assert(width <= wanted);
	unsigned more = c->flexible ? 0 : MIN(*room, wanted - width);

	if (c->kind == VALUE_HEX64 && width + more < wanted)
		more = 0;
	*room -= more;
	return width + more;
}

/* The widest text column, such as the cause, that is not flexible; -1: there is none. */
#define LONG_TEXT 24

static int longest_text(const struct fitting *f)
{
	int longest = -1;

	for (unsigned i = 0; i < f->n; i++) {
		const struct column *c = &f->v->columns[f->column[i]];

		if (c->kind == VALUE_TEXT && !c->flexible && c->width >= LONG_TEXT &&
		    (longest < 0 || c->width > f->v->columns[f->column[longest]].width))
			longest = (int)i;
	}
	return longest;
}

#define TEXTS_SEEN 512		/* first rows of which texts are measured */

/* The width of the longest of a column's first texts; 0 for figures and for what is drawn. */
static unsigned text_cols(const struct column *c, const struct rows *rows)
{
	unsigned most = 0;

	if (c->kind != VALUE_TEXT || (c->drawing != DRAW_TEXT && c->drawing != DRAW_CALL))
		return 0;
	for (guint i = 0; rows && i < MIN(rows->rows->len, TEXTS_SEEN); i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);
		struct value v = column_value(c, row, rows);
		g_autofree char *text = v.kind == VALUE_TEXT ? text_visible(v.s) : NULL;
		unsigned indent = rows->tree && c->flexible ? 2u * MIN(row->depth, 20) + 2 : 0;

		most = text ? MAX(most, text_width(text) + indent) : most;
	}
	return MIN(most, G_MAXUINT8);
}

void table_measure(struct table *t, const struct view *v, const struct rows *rows)
{
	for (size_t i = 0; i < v->n_columns && i < TABLE_MAX_COLUMNS; i++)
		t->texts[i] = MAX(t->texts[i], (uint8_t)text_cols(&v->columns[i], rows));
}

/* The width of a column's texts; 0: it has none. */
static unsigned text_needs(const struct table *t, const struct fitting *f, unsigned i, const struct rows *rows)
{
	unsigned column = f->column[i];

	return t && t->texts[column] ? t->texts[column] : text_cols(&f->v->columns[column], rows);
}

/* How many columns the texts of a column need beyond those that it has. */
static unsigned missing_width(const struct table *t, const struct fitting *f, unsigned i, const struct rows *rows)
{
	unsigned has = column_width(&f->v->columns[f->column[i]], f->tight);

	return MAX(text_needs(t, f, i, rows), has) - has;
}

/* How many columns a column of short texts can give to others. */
static unsigned surplus(const struct table *t, const struct fitting *f, unsigned i, const struct rows *rows)
{
	const struct column *c = &f->v->columns[f->column[i]];
	unsigned has = column_width(c, f->tight), needs = text_needs(t, f, i, rows);

	return needs ? has - MIN(has, MAX(needs, (unsigned)strlen(c->title))) : 0;
}

unsigned table_wanted(const struct table *t, const struct view *v, const struct rows *rows)
{
	struct fitting f = { .v = v };
	unsigned wanted = 1;

	f.n = table_columns(t, v, rows, f.column);
	for (unsigned i = 0; i < f.n; i++)
		wanted += column_width(&v->columns[f.column[i]], false) + missing_width(t, &f, i, rows) + 1;
	return wanted;
}

/* Room goes to texts that are cut, the flexible column and the longest one first; then to complete ids. What is left
 * stays free: figures are near the names that they belong to. */
static void place_columns(const struct table *t, const struct fitting *f, const struct rows *rows, unsigned width,
			  struct table_layout *ret)
{
	unsigned room = needed(f), x = 1, missing = 0, widths[TABLE_MAX_COLUMNS];
	unsigned more[TABLE_MAX_COLUMNS] = { 0 }, less[TABLE_MAX_COLUMNS] = { 0 };
	int longest = longest_text(f);

	room = room < width + 1 ? width + 1 - room : 0;
	for (unsigned i = 0; i < f->n; i++)
		missing += missing_width(t, f, i, rows);
	for (unsigned i = 0; i < f->n && missing > room; i++) {
		less[i] = MIN(surplus(t, f, i, rows), missing - room);
		room += less[i];
	}
	for (int later = 0; later < 2; later++) {
		for (unsigned i = 0; i < f->n; i++) {
			bool first = f->v->columns[f->column[i]].flexible || (int)i == longest;

			if (first == later)
				continue;
			more[i] = MIN(room, missing_width(t, f, i, rows));
			room -= more[i];
		}
	}
	/* From the right: texts there matter more than complete ids. */
	for (unsigned i = f->n; i-- > 0;)
		widths[i] = less[i] ? column_width(&f->v->columns[f->column[i]], f->tight) - less[i] :
			MAX(widen(&f->v->columns[f->column[i]], f->tight, &room),
			    more[i] + column_width(&f->v->columns[f->column[i]], f->tight));
	g_assert(f->n <= TABLE_MAX_COLUMNS);
	ret->n = 0;
	for (unsigned i = 0; i < f->n && x <= width; i++) {
		unsigned w = MIN(widths[i], width + 1 - x);

		ret->col[ret->n].column = f->column[i];
		ret->col[ret->n].x = x;
		ret->col[ret->n++].width = w;
		x += w + 1;
	}
}

void table_layout(const struct table *t, const struct view *v, const struct rows *rows,
		  unsigned width, struct table_layout *ret)
{
	struct fitting f = { .v = v, .chosen = t && t->n_chosen, .sorted = -1, .held = -1, .rare = -1 };
	bool descending;

	if (t)
		f.sorted = table_sort_column(t, v, &descending);
	if (t)
		f.held = held_column(t);
	f.n = table_columns(t, v, rows, f.column);
	for (unsigned i = 0; i < f.n; i++)
		if (is_rare(&v->columns[f.column[i]], rows))
			f.rare = f.column[i];
	width = width > 1 ? width - 1 : 0;
	fit(&f, width);
	f.tight = true;			/* what is left over is shared out by place_columns() */
	place_columns(t, &f, rows, width, ret);
}
