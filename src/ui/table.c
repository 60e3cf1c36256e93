/* SPDX-License-Identifier: GPL-2.0-only */
/* The table widget: see table.h. */
#include "ui/table.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

static char *cell_ratio(const struct column *c, double d, char buf[TIMEFMT_LEN])
{
	/* "xUSUAL 2.8" is a factor, all others are shares. */
	if (c->title[0] == 'x')
		g_snprintf(buf, TIMEFMT_LEN, d < 1000 ? "%.1f" : "%.0f", d);
	else if (c->width >= 5 && d < 9.995)
		g_snprintf(buf, TIMEFMT_LEN, "%.1f", d * 100);
	else
		g_snprintf(buf, TIMEFMT_LEN, "%.0f", d * 100);
	if (c->title[0] != 'x' && !strchr(c->title, '%') && c->width >= 5)
		g_strlcat(buf, "%", TIMEFMT_LEN);
	return buf;
}

char *table_cell(const struct column *c, struct value v, unsigned width)
{
	char buf[TIMEFMT_LEN];

	switch (v.kind) {
	case VALUE_COUNT:
		return g_strdup(timefmt_count(buf, (uint64_t)v.i));
	case VALUE_BYTES:
		return g_strdup(timefmt_bytes(buf, (uint64_t)v.i));
	case VALUE_NS:
		return g_strdup(timefmt_duration(buf, v.i));
	case VALUE_TIME:
		return g_strdup(width < 12 ? timefmt_clock(buf, v.i) :
				width < 18 ? timefmt_clock_ms(buf, v.i) :
				timefmt_clock_ns(buf, v.i));
	case VALUE_ID:
		return g_strdup_printf("%" G_GINT64_FORMAT, v.i);
	case VALUE_RATIO:
		return g_strdup(cell_ratio(c, v.d, buf));
	case VALUE_HEX64:
		return g_strdup_printf("%0*" G_GINT64_MODIFIER "x", width < 16 ? 8 : 16,
				       width < 16 ? (uint64_t)v.i >> 32 : (uint64_t)v.i);
	case VALUE_TEXT:
		return text_visible(v.s);
	default:
		return g_strdup("-");
	}
}

/* An id is what one quotes: the first one of a view goes late. */
static unsigned priority_of(const struct view *v, size_t column)
{
	unsigned priority = v->columns[column].priority;

	return column == 0 && v->columns[0].kind == VALUE_HEX64 ? MIN(priority, 2) : priority;
}

/* Drops the column of the highest priority number; false when none may go. */
static bool drop_one(const struct view *v, bool shown[])
{
	int worst = -1;

	for (size_t i = 0; i < v->n_columns && i < TABLE_MAX_COLUMNS; i++) {
		if (shown[i] && priority_of(v, i) &&
		    (worst < 0 || priority_of(v, i) >= priority_of(v, (size_t)worst)))
			worst = (int)i;
	}
	if (worst >= 0)
		shown[worst] = false;
	return worst >= 0;
}

/* A column that says nothing (a thread's id in rows of processes) is not shown. */
static bool column_is_empty(const struct column *col, const struct rows *rows)
{
	if (col->kind != VALUE_ID || !rows)
		return false;
	for (guint i = 0; i < rows->rows->len; i++) {
		if (col->get(g_ptr_array_index(rows->rows, i), rows).kind != VALUE_NONE)
			return false;
	}
	return rows->rows->len > 0;
}

/* Ids give up their second half, long texts their end, before any column goes. */
#define HEX_SHORT 8
#define TEXT_SHORT 32

static unsigned column_width(const struct column *c, bool tight)
{
	unsigned width = c->width;

	if (tight && c->kind == VALUE_HEX64)
		width = MIN(width, HEX_SHORT);
	if (tight && c->kind == VALUE_TEXT && !c->flexible)
		width = MIN(width, TEXT_SHORT);
	return MAX(width, (unsigned)strlen(c->title));
}

static unsigned needed(const struct view *v, const bool shown[], bool tight)
{
	unsigned need = 0;

	for (size_t i = 0; i < v->n_columns && i < TABLE_MAX_COLUMNS; i++)
		need += shown[i] ? column_width(&v->columns[i], tight) + 1 : 0;
	return need;
}

/* Room left over goes back to what was cut, then to the flexible column. */
static unsigned widen(const struct column *c, bool tight, unsigned *room)
{
	unsigned width = column_width(c, tight), wanted = column_width(c, false);
	unsigned more = c->flexible ? 0 : MIN(*room, wanted - width);

	if (c->kind == VALUE_HEX64 && width + more < wanted)
		more = 0;
	*room -= more;
	return width + more;
}

void table_layout(const struct view *v, const struct rows *rows, unsigned width,
		  struct table_layout *ret)
{
	bool shown[TABLE_MAX_COLUMNS] = { false };
	size_t n = MIN(v->n_columns, (size_t)TABLE_MAX_COLUMNS);
	unsigned room, x = 1, widths[TABLE_MAX_COLUMNS];
	bool tight = false;

	width = width > 1 ? width - 1 : 0;
	for (size_t i = 0; i < n; i++)
		shown[i] = v->columns[i].width > 0 && !column_is_empty(&v->columns[i], rows);
	while (needed(v, shown, tight) > width + 1) {
		if (tight && !drop_one(v, shown))
			break;
		tight = true;
	}
	room = needed(v, shown, tight);
	room = room < width + 1 ? width + 1 - room : 0;
	/* From the right: texts there (why) are worth more than whole ids. */
	for (size_t i = n; i-- > 0;)
		widths[i] = shown[i] ? widen(&v->columns[i], tight, &room) : 0;
	ret->n = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned w = widths[i];

		if (!shown[i])
			continue;
		if (v->columns[i].flexible)
			w += room;
		if (x > width)
			break;
		w = MIN(w, width + 1 - x);
		ret->col[ret->n].column = (unsigned)i;
		ret->col[ret->n].x = x;
		ret->col[ret->n++].width = w;
		x += w + 1;
	}
}

int table_sort_column(const struct table *t, const struct view *v, bool *ret_descending)
{
	int column = t->sort;

	*ret_descending = t->descending;
	if (column == TABLE_SORT_DEFAULT) {
		column = v->default_sort ? view_column(v, v->default_sort) : -1;
		*ret_descending = column >= 0 && v->columns[column].descending;
	}
	return column;
}

int table_sort_step(struct table *t, const struct view *v, int direction)
{
	bool descending;
	int n = (int)v->n_columns, at = table_sort_column(t, v, &descending);

	for (int i = 0; i < n; i++) {
		at = at < 0 ? (direction > 0 ? 0 : n - 1) : (at + direction + n) % n;
		if (v->columns[at].width)
			break;
	}
	t->sort = at;
	t->descending = v->columns[at].descending;
	return at;
}

/* The selected thing; else a namesake, as which it may go in another timeline. */
static bool find_again(struct table *t, const struct rows *rows)
{
	bool found = false;

	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);

		if (row->key[0] != t->key[0] || (found && row->key[1] != t->key[1]))
			continue;
		t->cursor = i;
		found = true;
		if (row->key[1] == t->key[1])
			break;
	}
	return found;
}

void table_apply(struct table *t, const struct view *v, struct rows *rows,
		 const struct expr *filter)
{
	bool descending;
	int column = table_sort_column(t, v, &descending);

	if (filter)
		rows_filter(rows, v, filter);
	if (column >= 0)
		rows_sort(rows, v, column, descending);
	if (t->bound && find_again(t, rows))
		return;
	if (t->cursor >= rows->rows->len)
		t->cursor = rows->rows->len ? rows->rows->len - 1 : 0;
}

const struct row *table_selected(const struct table *t, const struct rows *rows)
{
	return rows && t->cursor < rows->rows->len ?
		g_ptr_array_index(rows->rows, t->cursor) : NULL;
}

void table_select(struct table *t, const struct rows *rows, size_t index)
{
	const struct row *row;

	if (!rows->rows->len)
		return;
	t->cursor = MIN(index, rows->rows->len - 1);
	row = g_ptr_array_index(rows->rows, t->cursor);
	memcpy(t->key, row->key, sizeof t->key);
	t->bound = true;
}

void table_move(struct table *t, const struct rows *rows, long delta)
{
	long to = (long)t->cursor + delta;

	table_select(t, rows, to < 0 ? 0 : (size_t)to);
}

bool table_row_holds(const struct view *v, const struct rows *rows, size_t index,
		     const char *needle)
{
	const struct row *row = g_ptr_array_index(rows->rows, index);
	g_autofree char *folded = g_utf8_casefold(needle, -1);

	for (size_t i = 0; i < v->n_columns; i++) {
		const struct column *c = &v->columns[i];
		g_autofree char *text = NULL, *text_folded = NULL;

		if (!c->width)
			continue;
		text = table_cell(c, c->get(row, rows), c->kind == VALUE_HEX64 ? 16 : c->width);
		text_folded = g_utf8_casefold(text, -1);
		if (strstr(text_folded, folded))
			return true;
	}
	return false;
}

static void draw_header(struct canvas *c, struct box box, const struct table *t,
			const struct view *v, const struct table_layout *l,
			const struct glyphs *g)
{
	bool descending;
	int sorted = table_sort_column(t, v, &descending);

	canvas_fill(c, box.y, box.x, box.cols, ROLE_HEADER, " ");
	for (unsigned i = 0; i < l->n; i++) {
		const struct column *col = &v->columns[l->col[i].column];
		enum role role = ROLE_HEADER;
		g_autofree char *title = NULL;
		bool mark = (int)l->col[i].column == sorted;

		if (mark)
			role = ROLE_SORTED;
		mark = mark && t->sort != TABLE_SORT_DEFAULT;
		title = g_strconcat(col->title, mark ? (descending ? g->sort_down : g->sort_up) : "",
				    NULL);
		if (text_width(title) > l->col[i].width) {
			g_free(title);
			title = g_strdup(col->title);
		}
		canvas_hit(c, box.y, box.x + l->col[i].x, l->col[i].width, HIT_HEADER, t,
			   l->col[i].column);
		if (col->align == ALIGN_LEFT)
			canvas_put(c, box.y, box.x + l->col[i].x, l->col[i].width, role, title);
		else
			canvas_put_right(c, box.y, box.x + l->col[i].x, l->col[i].width, role,
					 title);
	}
}

/* Underlines where the searched text is, so that one sees why a row matched. */
static void mark_match(struct canvas *c, unsigned y, unsigned x, unsigned width,
		       const char *text, const char *match)
{
	g_autofree char *folded = g_utf8_casefold(text, -1);
	g_autofree char *needle = g_utf8_casefold(match, -1);
	const char *at = *needle ? strstr(folded, needle) : NULL;
	g_autofree char *before = at ? g_strndup(folded, (gsize)(at - folded)) : NULL;

	if (at && text_width(before) < width)
		canvas_set_role(c, y, x + text_width(before),
				MIN(text_width(needle), width - text_width(before)), ROLE_MATCH);
}

/* Figures, not names: what comes to be known of the time before may change them. */
static bool is_figure(struct value v)
{
	return v.kind == VALUE_COUNT || v.kind == VALUE_BYTES || v.kind == VALUE_NS ||
	       v.kind == VALUE_RATIO;
}

/* Into the blank left of a figure, so that columns stay where they are. */
static void mark_soft(struct canvas *c, unsigned y, unsigned x, unsigned width,
		      const struct table_style *style)
{
	unsigned at = x + width - 1;

	while (at > x && canvas_cell(c, y, at)->ch[0] != ' ')
		at--;
	if (canvas_cell(c, y, at)->ch[0] != ' ' && x > 0)
		at = x - 1;
	if (canvas_cell(c, y, at)->ch[0] == ' ')
		canvas_put(c, y, at, 1, ROLE_SOFT, style->glyphs->soft);
}

/* Shares are warm where they are much: a quarter and more. */
static enum role role_of(const struct column *col, const struct row *row, struct value v)
{
	if (v.kind == VALUE_NONE)
		return ROLE_DIM;
	if (row->open)
		return ROLE_OPEN;
	if (v.kind != VALUE_RATIO || col->title[0] == 'x' || v.d < 0.25)
		return ROLE_TEXT;
	return ROLE_HEAT + MIN((enum role)(v.d * HEAT_LEVELS), HEAT_LEVELS - 1);
}

static void draw_cell(struct canvas *c, unsigned y, unsigned x, unsigned width,
		      const struct column *col, const struct row *row, const struct rows *rows,
		      const struct table_style *style)
{
	struct value value = col->get(row, rows);
	enum role role = role_of(col, row, value);
	g_autofree char *text = table_cell(col, value, width);
	g_autofree char *clipped = NULL;

	if (col->title[0] == 'x' && row->marked && value.kind == VALUE_RATIO) {
		g_autofree char *old = text;

		text = g_strconcat("!", old, NULL);
		role = ROLE_MARKED;
	}
	clipped = text_clip(text, width, style->glyphs->utf8);
	if (col->align == ALIGN_LEFT) {
		canvas_put(c, y, x, width, role, clipped);
		if (style->match)
			mark_match(c, y, x, width, clipped, style->match);
	} else {
		canvas_put_right(c, y, x, width, role, clipped);
		if (style->soft && is_figure(value))
			mark_soft(c, y, x, width, style);
	}
}

static bool has_factor(const struct view *v, const struct table_layout *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (v->columns[l->col[i].column].title[0] == 'x')
			return true;
	}
	return false;
}

static void draw_row(struct canvas *c, unsigned y, struct box box, const struct row *row,
		     const struct view *v, const struct rows *rows,
		     const struct table_layout *l, bool selected,
		     const struct table_style *style)
{
	for (unsigned i = 0; i < l->n; i++)
		draw_cell(c, y, box.x + l->col[i].x, l->col[i].width,
			  &v->columns[l->col[i].column], row, rows, style);
	if (row->marked && !has_factor(v, l))
		canvas_put(c, y, box.x, 1, ROLE_MARKED, "!");
	if (!selected)
		return;
	canvas_put(c, y, box.x, 1, ROLE_SELECTED, style->glyphs->cursor);
	canvas_set_role(c, y, box.x, box.cols, ROLE_SELECTED);
}

unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style)
{
	struct table_layout l;
	size_t n = rows->rows->len;
	unsigned at = box.y;

	if (box.rows == 0)
		return box.y;
	table_layout(v, rows, box.cols, &l);
	draw_header(c, box, t, v, &l, style->glyphs);
	t->page = box.rows - 1;
	if (t->cursor < t->top)
		t->top = t->cursor;
	if (t->page && t->cursor >= t->top + t->page)
		t->top = t->cursor - t->page + 1;
	if (t->top + t->page > n)
		t->top = n > t->page ? n - t->page : 0;
	for (size_t i = 0; i < t->page && t->top + i < n; i++) {
		bool selected = style->active && t->top + i == t->cursor;
		unsigned y = box.y + 1 + (unsigned)i;

		draw_row(c, y, box, g_ptr_array_index(rows->rows, t->top + i), v, rows, &l,
			 selected, style);
		canvas_hit(c, y, box.x, box.cols, HIT_ROW, t, (int64_t)(t->top + i));
		if (selected)
			at = y;
	}
	if (t->top > 0)
		canvas_put(c, box.y, box.x, 1, ROLE_DIM, style->glyphs->more_up);
	if (t->page && t->top + t->page < n &&
	    canvas_cell(c, box.y + box.rows - 1, box.x)->ch[0] == ' ')
		canvas_put(c, box.y + box.rows - 1, box.x, 1, ROLE_DIM, style->glyphs->more_down);
	return at;
}
