/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences of frames as bytes: see painter.h. */
#include "ui/painter.h"

#include <string.h>
#include <wchar.h>

/* A cell as it is on the terminal. */
struct painted {
	char ch[CELL_BYTES];		/* "": right half of a wide character */
	struct style style;
};

struct painter {
	struct painted *cells;		/* rows * cols, or NULL: all are blank */
	unsigned rows, cols;
	/* While a frame is made: */
	GString *out;
	struct style style;		/* in effect */
	unsigned y, x;			/* of the cursor; x G_MAXUINT: unknown */
};

static const struct style plain = { -1, -1, 0 };

struct painter *painter_new(void)
{
	return g_new0(struct painter, 1);
}

void painter_free(struct painter *p)
{
	if (p)
		g_free(p->cells);
	g_free(p);
}

void painter_forget(struct painter *p)
{
	g_clear_pointer(&p->cells, g_free);
}

static bool is_same_style(const struct style *a, const struct style *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attr == b->attr;
}

/* Does it show nothing but the terminal's background? */
static bool is_blank(const struct painted *c)
{
	return !strcmp(c->ch, " ") && c->style.bg < 0 && !(c->style.attr & (STYLE_REVERSE | STYLE_UNDERLINE));
}

static bool is_same(const struct painted *a, const struct painted *b)
{
	return (is_blank(a) && is_blank(b)) || (!strcmp(a->ch, b->ch) && is_same_style(&a->style, &b->style));
}

/* --- bytes --- */

static void put_color(GString *sgr, int32_t color, bool back)
{
	unsigned base = back ? 40 : 30;

	if (color < 0)
		g_string_append_printf(sgr, ";%u", base + 9);
	else if (color & COLOR_RGB)
		g_string_append_printf(sgr, ";%u;2;%d;%d;%d", base + 8, color >> 16 & 255, color >> 8 & 255,
				       color & 255);
	else if (color < 8)
		g_string_append_printf(sgr, ";%u", base + (unsigned)color);
	else
		g_string_append_printf(sgr, ";%u;5;%d", base + 8, color);
}

static void put_style(struct painter *p, const struct style *s)
{
	static const struct { unsigned attr; const char *sgr; } attrs[] = {
		{ STYLE_BOLD, ";1" }, { STYLE_DIM, ";2" }, { STYLE_UNDERLINE, ";4" }, { STYLE_REVERSE, ";7" },
	};
	g_autoptr(GString) sgr = g_string_new(NULL);
	struct style from = p->style;

	if (is_same_style(s, &from))
		return;
	if ((from.attr & ~s->attr) || is_same_style(s, &plain)) {
		g_string_append(sgr, ";");	/* all off: what is left of 0 */
		from = plain;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(attrs); i++)
		if (s->attr & ~from.attr & attrs[i].attr)
			g_string_append(sgr, attrs[i].sgr);
	if (s->fg != from.fg)
		put_color(sgr, s->fg, false);
	if (s->bg != from.bg)
		put_color(sgr, s->bg, true);
	g_string_append_printf(p->out, "\033[%sm", sgr->str + 1);
	p->style = *s;
}

#define SEQUENCE_BYTES 4	/* of the shortest that moves the cursor */

/* Goes over cells of a row that do not change, by writing them if they are short, else not. */
static void put_over(struct painter *p, const struct painted *row, unsigned y, unsigned x)
{
	bool short_ones = p->y == y && p->x < x && x - p->x <= SEQUENCE_BYTES;
	bool bare = p->style.bg < 0 && !(p->style.attr & (STYLE_REVERSE | STYLE_UNDERLINE));

	for (unsigned i = p->x; short_ones && i < x; i++)
		short_ones = (row[i].ch[0] & 0x80) == 0 && row[i].ch[0] && !row[i].ch[1] &&
			(is_same_style(&row[i].style, &p->style) || (bare && is_blank(&row[i])));
	for (; short_ones && p->x < x; p->x++)
		g_string_append(p->out, row[p->x].ch);
}

static void put_place(struct painter *p, unsigned y, unsigned x)
{
	if (p->x == x && p->y == y)
		return;
	if (p->y == y && p->x < x)
		g_string_append_printf(p->out, "\033[%uC", x - p->x);
	else if (x == 0)
		g_string_append_printf(p->out, "\033[%uH", y + 1);
	else
		g_string_append_printf(p->out, "\033[%u;%uH", y + 1, x + 1);
	p->y = y;
	p->x = x;
}

static void put_cell(struct painter *p, const struct painted *c, unsigned y, unsigned x)
{
	bool sure = !*c->ch || !*g_utf8_next_char(c->ch);	/* what combines may take a column of its own */

	put_place(p, y, x);
	put_style(p, &c->style);
	g_string_append(p->out, c->ch);
	p->x = sure ? x + 1 : G_MAXUINT;
}

/* --- frames --- */

/* Characters whose width is another one for the C library, and so perhaps for the terminal, become '?' and blanks. */
static void take_cell(struct painted *to, const struct cell *cell, const struct look *look)
{
	gunichar u = *look->ch ? g_utf8_get_char_validated(look->ch, -1) : 0;
	bool known = !cell->width || (u && wcwidth((wchar_t)u) == cell->width);

	g_strlcpy(to->ch, known ? look->ch : "?", sizeof to->ch);
	to->style = look->style;
}

static void take_row(struct painted *to, const struct canvas *c, unsigned y, enum scheme scheme,
		     const struct style styles[ROLE_N])
{
	for (unsigned x = 0; x < c->cols; x++) {
		const struct cell *cell = canvas_cell(c, y, x);
		struct look look = cell_look(cell, scheme, &styles[cell->role]);

		take_cell(&to[x], cell, &look);
		if (!cell->width && x && !strcmp(to[x - 1].ch, "?"))
			to[x] = (struct painted){ " ", to[x - 1].style };
	}
}

/* Behind the last cell that is not blank. */
static unsigned end_of(const struct painted *row, unsigned cols)
{
	while (cols && is_blank(&row[cols - 1]))
		cols--;
	return cols;
}

static void put_row(struct painter *p, const struct painted *was, const struct painted *row, unsigned y)
{
	unsigned end = end_of(row, p->cols);

	for (unsigned x = 0; x < end; x++) {
		bool wide = x + 1 < p->cols && !*row[x + 1].ch;

		if (!*row[x].ch || (is_same(&was[x], &row[x]) && (!wide || is_same(&was[x + 1], &row[x + 1]))))
			continue;
		put_over(p, row, y, x);
		put_cell(p, &row[x], y, x);
		if (wide)
			p->x = G_MAXUINT;
	}
	if (end_of(was, p->cols) > end) {
		put_place(p, y, end);
		put_style(p, &plain);
		g_string_append(p->out, "\033[K");
	}
}

static void blank_all(struct painter *p, const struct canvas *c)
{
	p->rows = c->rows;
	p->cols = c->cols;
	p->cells = g_new(struct painted, MAX((size_t)p->rows * p->cols, 1));
	for (size_t i = 0; i < (size_t)p->rows * p->cols; i++)
		p->cells[i] = (struct painted){ " ", plain };
}

void painter_frame(struct painter *p, const struct canvas *c, enum scheme scheme, const struct style styles[ROLE_N],
		   GString *out)
{
	g_autofree struct painted *row = g_new0(struct painted, MAX(c->cols, 1));

	if (p->cells && (p->rows != c->rows || p->cols != c->cols)) {
		g_string_append(out, "\033[2J");
		painter_forget(p);
	}
	if (!p->cells)
		blank_all(p, c);
	p->out = out;
	p->style = plain;
	p->x = G_MAXUINT;
	for (unsigned y = 0; y < c->rows; y++) {
		struct painted *was = &p->cells[(size_t)y * c->cols];

		take_row(row, c, y, scheme, styles);
		put_row(p, was, row, y);
		memcpy(was, row, c->cols * sizeof *row);
	}
	put_style(p, &plain);
	p->out = NULL;
}
