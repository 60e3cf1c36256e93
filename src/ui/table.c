/* SPDX-License-Identifier: GPL-2.0-only */
/* The table widget: see table.h. */
#include "ui/table.h"

#include "ui/call_text.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "views/sum.h"

#include <string.h>

/* A factor ("2.8x"), such as x_usual_ratio; other ratios are shares. */
static bool is_factor(const struct column *c)
{
	return c->kind == VALUE_RATIO && (g_str_has_prefix(c->id, "x_") || g_str_has_prefix(c->id, "times_"));
}

static char *cell_ratio(const struct column *c, double d, char buf[TIMEFMT_LEN])
{
	if (is_factor(c))
		g_snprintf(buf, TIMEFMT_LEN, d < 10 ? "%.1fx" : "%.0fx", d);
	else if (c->width >= 5 && d < 9.995)
		g_snprintf(buf, TIMEFMT_LEN, "%.1f", d * 100);
	else
		g_snprintf(buf, TIMEFMT_LEN, "%.0f", d * 100);
	if (!is_factor(c) && !strchr(c->title, '%') && c->width >= 5)
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
		return g_strconcat(v.at_least ? ">" : "", timefmt_duration(buf, v.i), NULL);
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
				       width < 16 ? value_short_id((uint64_t)v.i) : (uint64_t)v.i);
	case VALUE_TEXT:
		return text_visible(v.s);
	default:
		return g_strdup("-");
	}
}

void table_clear(struct table *t)
{
	keyset_clear(&t->tags);
	keyset_clear(&t->folded);
	table_unfold(t);
	t->only_tagged = false;
}

unsigned table_tagged(const struct table *t, const struct rows *rows, const struct row *ret[2])
{
	unsigned n = 0;

	for (guint i = 0; t->tags.keys && i < rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows->rows, i);

		if (keyset_has(&t->tags, row) && n++ < 2)
			ret[n - 1] = row;
	}
	return n;
}

unsigned table_n_tagged(const struct table *t, const struct rows *rows)
{
	const struct row *first[2];

	return table_tagged(t, rows, first);
}

int table_sort_column(const struct table *t, const struct view *v, bool *ret_descending)
{
	int column = t->sort;

	*ret_descending = t->descending;
	g_assert(column >= TABLE_SORT_DEFAULT && column < (int)v->n_columns);
	if (column == TABLE_SORT_DEFAULT) {
		column = v->default_sort ? view_column(v, v->default_sort) : -1;
		*ret_descending = column >= 0 && v->columns[column].descending;
	}
	return column;
}

int table_sort_step(struct table *t, const struct view *v, const struct rows *rows,
		    int direction)
{
	uint8_t columns[TABLE_MAX_COLUMNS];
	bool descending;
	int n = (int)t->n_shown ? (int)t->n_shown : (int)table_columns(t, v, rows, columns);
	int sorted = table_sort_column(t, v, &descending);
	int at = direction > 0 ? -1 : n;

	if (t->n_shown)
		memcpy(columns, t->shown, t->n_shown);
	for (int i = 0; i < n; i++) {
		if (columns[i] == sorted)
			at = i;
	}
	if (!n)
		return -1;
	if (sorted != t->stepped)
		t->held = at >= 0 && at < n ? sorted : -1;
	t->stepped = t->sort = columns[(at + direction + n) % n];
	g_assert((size_t)t->sort < v->n_columns);
	t->descending = v->columns[t->sort].descending;
	return t->sort;
}

/* Moves the cursor to the row with the same key; else to one with the same first half of it, which is what stays
 * the same in another timeline. */
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
	return rows && t->cursor < rows->rows->len && !table_run_of(t, t->cursor) ?
		g_ptr_array_index(rows->rows, t->cursor) : NULL;
}

void table_select(struct table *t, const struct rows *rows, size_t index)
{
	const struct row *row;

	if (!rows->rows->len)
		return;
	t->cursor = MIN(index, rows->rows->len - 1);
	if (table_run_of(t, t->cursor)) {
		t->shows_idle = true;
		table_unfold(t);
	}
	row = g_ptr_array_index(rows->rows, t->cursor);
	memcpy(t->key, row->key, sizeof t->key);
	t->bound = true;
}

void table_move(struct table *t, const struct rows *rows, long delta)
{
	long last = (long)table_n_lines(t, rows) - 1, to = (long)table_line_of(t, t->cursor) + delta;
	size_t row = table_row_at(t, (size_t)CLAMP(to, 0, MAX(last, 0)));

	if (!table_run_of(t, row)) {
		table_select(t, rows, row);
		return;
	}
	t->cursor = row;
	t->bound = false;
}

bool table_pan(struct table *t, int direction)
{
	unsigned step = MAX(t->flexible_width / 2, 1), old = t->pan;

	t->pan = direction < 0 ? t->pan - MIN(step, t->pan) : MAX(MIN(t->pan + step, t->hidden), t->pan);
	return t->pan != old;
}

static bool row_holds(const struct view *v, const struct rows *rows, size_t index,
		      const uint8_t *columns, unsigned n, const char *folded)
{
	const struct row *row = g_ptr_array_index(rows->rows, index);

	for (unsigned i = 0; i < n; i++) {
		const struct column *c = &v->columns[columns[i]];
		g_autofree char *text = NULL, *text_folded = NULL;

		text = table_cell(c, column_value(c, row, rows), c->kind == VALUE_HEX64 ? 16 : c->width);
		text_folded = g_utf8_casefold(text, -1);
		if (strstr(text_folded, folded))
			return true;
	}
	return false;
}

long table_find(const struct table *t, const struct view *v, const struct rows *rows, long from,
		int direction, const char *needle)
{
	g_autofree char *folded = g_utf8_casefold(needle, -1);
	uint8_t columns[TABLE_MAX_COLUMNS];
	unsigned n = table_columns(t, v, rows, columns);
	long at = from;

	while (at >= 0 && at < (long)rows->rows->len &&
	       !row_holds(v, rows, (size_t)at, columns, n, folded))
		at += direction;
	return at < (long)rows->rows->len ? at : -1;
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

/* Marks the searched text. */
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

/* Puts the mark into the blank left of a figure, so that columns stay aligned. */
static void mark_provisional(struct canvas *c, unsigned y, unsigned x, unsigned width,
		      const struct table_style *style)
{
	unsigned at = x + width - 1;

	while (at > x && canvas_cell(c, y, at)->ch[0] != ' ')
		at--;
	if (canvas_cell(c, y, at)->ch[0] != ' ' && x > 0)
		at = x - 1;
	if (canvas_cell(c, y, at)->ch[0] == ' ')
		canvas_put(c, y, at, 1, ROLE_PROVISIONAL, style->glyphs->provisional);
}

/* Most threads are blocked most of the time, or wait for work (row.last), which is no load. */
static bool is_load(const struct column *col, const struct row *row)
{
	return !row->last && !g_str_has_prefix(col->id, "blocked_");
}

/* Shares of a quarter and more are coloured by heat. */
static enum role role_of(const struct column *col, const struct row *row, struct value v)
{
	if (v.kind == VALUE_NONE)
		return ROLE_DIM;
	if (row->open)
		return ROLE_OPEN;
	if (v.kind != VALUE_RATIO || is_factor(col) || !is_load(col, row) || v.d < 0.25)
		return ROLE_TEXT;
	return ROLE_HEAT + MIN((enum role)(v.d * HEAT_LEVELS), HEAT_LEVELS - 1);
}

/* A name in a tree, indented by its depth. */
static char *indented(const struct row *row, const char *text, bool folded,
		      const struct glyphs *g)
{
	const char *sign = !row->expandable ? " " : folded ? g->collapsed : g->expanded;

	return g_strdup_printf("%*s%s %s", 2 * MIN(row->depth, 20), "", sign, text);
}

/* Draws the letters of parts, or the digits of a sparkline. */
static void draw_letters(struct canvas *c, unsigned y, unsigned x, unsigned width, enum column_drawing drawing,
			 const char *letters, const struct glyphs *g)
{
	for (unsigned i = 0; letters[i] && i < width; i++) {
		char one[2] = { letters[i], '\0' };

		if (drawing == DRAW_PARTS) {
			canvas_put(c, y, x + i, 1, theme_letter_role(letters[i]), one);
			canvas_add_attr(c, y, x + i, 1, STYLE_FILL);
		} else if (letters[i] >= '0' && letters[i] <= '8')
			canvas_shade(c, y, x + i, canvas_put(c, y, x + i, 1, ROLE_SPARK, g->spark[letters[i] - '0']),
				     theme_shade((letters[i] - '0') / 8.0), false);
	}
}

/* The text without its first columns, of which a mark tells. g_free. */
static char *panned(const char *text, unsigned columns, bool utf8)
{
	unsigned cut;
	size_t n = text_prefix(text, columns + 1, &cut);		/* one more, for the mark */

	return cut <= columns && !text[n] ? g_strdup("") :
		g_strdup_printf("%s%*s%s", utf8 ? "…" : "~", (int)(columns + 1 - cut), "", text + n);
}

static void draw_cell(struct canvas *c, unsigned y, unsigned x, unsigned width,
		      const struct column *col, const struct row *row, const struct rows *rows,
		      const struct table_style *style)
{
	struct value value = column_value(col, row, rows);
	enum role role = role_of(col, row, value);
	g_autofree char *text = table_cell(col, value, width);
	g_autofree char *clipped = NULL;

	if ((col->drawing == DRAW_PARTS || col->drawing == DRAW_SPARK) && value.kind == VALUE_TEXT) {
		draw_letters(c, y, x, width, col->drawing, value.s, style->glyphs);
		return;
	}
	if (is_factor(col) && row->marked && value.kind == VALUE_RATIO)
		role = ROLE_MARKED;
	if (rows->tree && col->flexible) {
		g_autofree char *old = text;

		text = indented(row, old, style->folded && keyset_has(style->folded, row),
				style->glyphs);
	}
	if (style->pan && col->flexible && value.kind != VALUE_NONE) {
		g_autofree char *rest = panned(text, style->pan, style->glyphs->utf8);

		clipped = text_clip(rest, width, style->glyphs->utf8);
	} else {
		clipped = (*text == '/' ? text_clip_left : text_clip)(text, width, style->glyphs->utf8);
	}
	if (col->align == ALIGN_LEFT) {
		canvas_put(c, y, x, width, role, clipped);
		if (col->drawing == DRAW_CALL)
			call_text_colour(c, y, x, width, text, style->pan, row->part);
		if (style->match)
			mark_match(c, y, x, width, clipped, style->match);
	} else {
		canvas_put_right(c, y, x, width, role, clipped);
		if (role >= ROLE_HEAT)
			canvas_shade(c, y, x, width, theme_shade(value.d), false);
		if (style->provisional && value_is_figure(value))
			mark_provisional(c, y, x, width, style);
	}
}

static const enum role state_roles[] = {
	[ROW_GOOD] = ROLE_COMPLETENESS, [ROW_WARN] = ROLE_PAUSED, [ROW_BAD] = ROLE_MARKED,
};

static void draw_row(struct canvas *c, unsigned y, struct box box, const struct row *row,
		     const struct view *v, const struct rows *rows,
		     const struct table_layout *l, bool selected,
		     const struct table_style *style)
{
	for (unsigned i = 0; i < l->n; i++)
		draw_cell(c, y, box.x + l->col[i].x, l->col[i].width,
			  &v->columns[l->col[i].column], row, rows, style);
	if (row->state != ROW_PLAIN)
		canvas_set_role(c, y, box.x, box.cols, state_roles[row->state]);
	if (row->ended)
		canvas_put(c, y, box.x, 1, ROLE_DIM, style->glyphs->ended);
	if (row->marked)
		canvas_put(c, y, box.x, 1, ROLE_MARKED, "!");
	if (selected) {
		canvas_put(c, y, box.x, 1, ROLE_SELECTED, style->glyphs->cursor);
		canvas_set_role(c, y, box.x, box.cols, ROLE_SELECTED);
		/* Where the selection is in reverse, blocks would be, too. */
		for (unsigned i = 0; i < l->n; i++)
			if (v->columns[l->col[i].column].drawing == DRAW_PARTS ||
			    v->columns[l->col[i].column].drawing == DRAW_SPARK) {
				draw_cell(c, y, box.x + l->col[i].x, l->col[i].width,
					  &v->columns[l->col[i].column], row, rows, style);
				if (v->columns[l->col[i].column].drawing == DRAW_SPARK)
					canvas_add_attr(c, y, box.x + l->col[i].x, l->col[i].width, STYLE_SELECTED);
			}
	}
	if (style->tags && keyset_has(style->tags, row)) {
		canvas_put(c, y, box.x, 1, selected ? ROLE_SELECTED : ROLE_MARKED,
			   style->glyphs->tag);
		canvas_add_attr(c, y, box.x, box.cols, STYLE_BOLD);
	}
}

static bool is_tagged(const struct row *row, const void *tags)
{
	return keyset_has(tags, row);
}

/* The sums of the tagged rows, in the last line of the box. */
static void draw_sum(struct canvas *c, struct box box, const struct table *t,
		     const struct view *v, const struct rows *rows, const struct table_layout *l,
		     unsigned n)
{
	unsigned y = box.y + box.rows - 1, used, first = box.cols;
	g_autofree char *text = NULL;

	canvas_fill(c, y, box.x, box.cols, ROLE_HEADER, " ");
	for (unsigned i = l->n; i-- > 0;) {
		const struct column *col = &v->columns[l->col[i].column];
		struct value sum = rows_sum(v, rows, l->col[i].column, is_tagged, &t->tags);
		g_autofree char *cell = table_cell(col, sum, l->col[i].width);

		if (sum.kind == VALUE_NONE)
			continue;
		first = l->col[i].x;
		canvas_put_right(c, y, box.x + l->col[i].x, l->col[i].width, ROLE_HEADER, cell);
	}
	/* Left of the first sum, else at the right end of the line. */
	used = first > 2 ? first - 2 : 0;
	text = n < keyset_size(&t->tags) ? g_strdup_printf("%u of %u tagged", n, keyset_size(&t->tags)) :
		g_strdup_printf("%u tagged", n);
	if (text_width(text) <= used)
		canvas_put(c, y, box.x + 1, used, ROLE_SORTED, text);
	else
		canvas_put_right(c, y, box.x + box.cols - box.cols / 4, box.cols / 4, ROLE_SORTED, text);
}

/* How much longer the shown texts of the flexible column are than it is wide. */
static void find_hidden(struct table *t, const struct view *v, const struct rows *rows, const struct table_layout *l)
{
	t->flexible_width = t->hidden = 0;
	for (unsigned i = 0; i < l->n; i++) {
		const struct column *col = &v->columns[l->col[i].column];

		if (!col->flexible)
			continue;
		t->flexible_width = l->col[i].width;
		for (size_t k = t->top, n = 0; k < rows->rows->len && n < t->page; k = table_next(t, k), n++) {
			struct value value = column_value(col, rows->rows->pdata[k], rows);
			g_autofree char *text = table_cell(col, value, l->col[i].width);
			unsigned width = text_width(text);

			t->hidden = MAX(t->hidden, width - MIN(width, t->flexible_width));
		}
	}
}

unsigned table_draw(struct canvas *c, struct box box, struct table *t, const struct view *v,
		    const struct rows *rows, const struct table_style *style)
{
	struct table_layout l;
	unsigned at = box.y, n_tagged = table_n_tagged(t, rows);
	struct table_style own = *style;

	if (box.rows == 0)
		return box.y;
	table_measure(t, v, rows);
	table_layout(t, v, rows, box.cols, &l);
	t->n_shown = l.n;
	for (unsigned i = 0; i < l.n; i++)
		t->shown[i] = (uint8_t)l.col[i].column;
	draw_header(c, box, t, v, &l, style->glyphs);
	own.tags = &t->tags;
	own.folded = &t->folded;
	own.pan = t->pan;
	style = &own;
	if (n_tagged && box.rows > 3) {
		draw_sum(c, box, t, v, rows, &l, n_tagged);
		box.rows--;
	}
	table_scroll(t, rows, box.rows - 1);
	find_hidden(t, v, rows, &l);
	size_t row = t->top;
	for (size_t i = 0; i < t->page && row < rows->rows->len; i++, row = table_next(t, row)) {
		bool selected = style->active && row == t->cursor;
		const struct table_run *run = table_run_of(t, row);
		unsigned y = box.y + 1 + (unsigned)i;

		if (run)
			table_draw_run(c, y, box.x, box.cols, run, v, selected, style->glyphs);
		else
			draw_row(c, y, box, g_ptr_array_index(rows->rows, row), v, rows, &l, selected, style);
		canvas_hit(c, y, box.x, box.cols, HIT_ROW, t, (int64_t)row);
		if (selected)
			at = y;
	}
	if (t->top > 0)
		canvas_put(c, box.y, box.x, 1, ROLE_DIM, style->glyphs->more_up);
	if (t->page && row < rows->rows->len &&
	    canvas_cell(c, box.y + box.rows - 1, box.x)->ch[0] == ' ')
		canvas_put(c, box.y + box.rows - 1, box.x, 1, ROLE_DIM, style->glyphs->more_down);
	return at;
}
