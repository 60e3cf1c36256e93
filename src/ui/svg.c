/* SPDX-License-Identifier: GPL-2.0-only */
/* A canvas as SVG: see svg.h. */
#include "ui/svg.h"

#include "base/color.h"

#include <string.h>

#define MARGIN 6			/* pixels around the cells */
#define BASELINE 14		/* pixels below a row's upper edge */
/* The first two are 0.602 as wide as high, so that cells fit also where only the first place of a list counts. */
#define FONT "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"
#define PARTS 8			/* a cell is divided into 8 by 8 for blocks */

/* How a cell is painted. Colours are 0xRRGGBB. */
struct paint {
	unsigned fg, bg;
	bool bold, dim, underline;
	const char *ch;			/* a block is drawn as it is, letters as the cell has them */
};

struct svg {
	GString *out;
	const struct canvas *c;
	const struct prefs *prefs;
	enum scheme scheme;
	unsigned fg, bg;		/* where the scheme has the terminal's own */
};

static unsigned rgb_of(int color)
{
	return color & COLOR_RGB ? (unsigned)color & 0xffffff : color_of_number((unsigned)color);
}

static struct paint paint_of(const struct svg *s, const struct cell *cell)
{
	enum role role = (enum role)cell->role;
	struct style style = s->prefs && s->prefs->has_own[role] ?
		theme_own_style(s->scheme, role, &s->prefs->own[role]) : theme_style(s->scheme, role);
	struct look look = cell_look(cell, s->scheme, &style);
	struct paint p = {
		.fg = look.style.fg < 0 ? s->fg : rgb_of(look.style.fg),
		.bg = look.style.bg < 0 ? s->bg : rgb_of(look.style.bg),
		.bold = look.style.attr & STYLE_BOLD, .dim = look.style.attr & STYLE_DIM,
		.underline = look.style.attr & STYLE_UNDERLINE, .ch = look.ch,
	};

	if (look.style.attr & STYLE_REVERSE) {
		unsigned fg = p.fg;

		p.fg = p.bg;
		p.bg = fg;
	}
	return p;
}

/* How a cell is painted; the right half of a wide character as the left one. */
static struct paint paint_at(const struct svg *s, unsigned y, unsigned x)
{
	const struct cell *cell = canvas_cell(s->c, y, x);

	return paint_of(s, cell->width || !x ? cell : canvas_cell(s->c, y, x - 1));
}

/* --- rectangles, in eighths of cells --- */

static void put_rect(struct svg *s, unsigned x, unsigned y, unsigned width, unsigned height, unsigned fill,
		     const char *opacity)
{
	g_string_append_printf(s->out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%06x\"", x, y,
			       width, height, fill);
	if (opacity)
		g_string_append_printf(s->out, " opacity=\"%s\"", opacity);
	g_string_append(s->out, "/>\n");
}

static void put_backgrounds(struct svg *s, unsigned y)
{
	for (unsigned x = 0, end; x < s->c->cols; x = end) {
		unsigned bg = paint_at(s, y, x).bg;

		for (end = x + 1; end < s->c->cols && paint_at(s, y, end).bg == bg; end++)
			;
		if (bg != s->bg)
			put_rect(s, x * PARTS, y * PARTS, (end - x) * PARTS, PARTS, bg, NULL);
	}
}

static void put_underlines(struct svg *s, unsigned y)
{
	for (unsigned x = 0, end; x < s->c->cols; x = end) {
		struct paint first = paint_at(s, y, x);

		for (end = x + 1; end < s->c->cols; end++) {
			struct paint l = paint_at(s, y, end);

			if (l.underline != first.underline || l.fg != first.fg)
				break;
		}
		if (first.underline)
			g_string_append_printf(s->out,
					       "<path d=\"M%u %uH%u\" stroke=\"#%06x\" stroke-width=\"0.5\"/>\n",
					       x * PARTS, y * PARTS + PARTS - 1, end * PARTS, first.fg);
	}
}

/* A character that fills a part of its cell. */
struct block {
	unsigned x, y, width, height;	/* eighths; width 0: it is no block */
	const char *opacity;		/* NULL: opaque */
};

static struct block block_of(gunichar u)
{
	static const char *const shades[] = { "0.3", "0.55", "0.8" };

	if (u == 0x2580)
		return (struct block){ 0, 0, PARTS, PARTS / 2, NULL };
	if (u > 0x2580 && u <= 0x2588)
		return (struct block){ 0, PARTS - (u - 0x2580), PARTS, u - 0x2580, NULL };
	if (u > 0x2588 && u <= 0x258f)
		return (struct block){ 0, 0, 0x2590 - u, PARTS, NULL };
	if (u == 0x2590)
		return (struct block){ PARTS / 2, 0, PARTS / 2, PARTS, NULL };
	if (u >= 0x2591 && u <= 0x2593)
		return (struct block){ 0, 0, PARTS, PARTS, shades[u - 0x2591] };
	if (u == 0x2594)
		return (struct block){ 0, 0, PARTS, 1, NULL };
	if (u == 0x2595)
		return (struct block){ PARTS - 1, 0, 1, PARTS, NULL };
	if (u == 0x2502)
		return (struct block){ PARTS / 2 - 1, 0, 1, PARTS, NULL };
	return (struct block){ 0 };
}

static gunichar char_of(const struct cell *cell)
{
	gunichar u = g_utf8_get_char_validated(cell->ch, -1);

	return u == (gunichar)-1 || u == (gunichar)-2 ? '?' : u;
}

static bool is_same_block(const struct cell *a, const struct cell *b)
{
	return char_of(a) == char_of(b) && a->role == b->role && a->attr == b->attr && a->shade == b->shade;
}

static void put_blocks(struct svg *s, unsigned y)
{
	for (unsigned x = 0, n; x < s->c->cols; x += n) {
		const struct cell *cell = canvas_cell(s->c, y, x);
		struct paint p = paint_at(s, y, x);
		struct block b = block_of(g_utf8_get_char_validated(p.ch, -1));

		n = 1;
		if (!b.width)
			continue;
		while (b.width == PARTS && x + n < s->c->cols && is_same_block(cell, canvas_cell(s->c, y, x + n)))
			n++;
		put_rect(s, x * PARTS + b.x, y * PARTS + b.y, b.width + (n - 1) * PARTS, b.height,
			 p.fg, b.opacity);
	}
}

/* --- text --- */

static bool is_xml(gunichar u)
{
	return g_unichar_validate(u) && u >= 0x20 && u != 0x7f && !(u >= 0x80 && u < 0xa0) && (u & 0xfffe) != 0xfffe;
}

static void put_char(GString *out, gunichar u)
{
	switch (is_xml(u) ? u : '?') {
	case '&':
		g_string_append(out, "&amp;");
		break;
	case '<':
		g_string_append(out, "&lt;");
		break;
	case '>':
		g_string_append(out, "&gt;");
		break;
	default:
		g_string_append_unichar(out, is_xml(u) ? u : '?');
	}
}

static void put_cell(GString *out, const struct cell *cell)
{
	for (const char *p = cell->ch; *p;) {
		gunichar u = g_utf8_get_char_validated(p, -1);
		bool valid = u != (gunichar)-1 && u != (gunichar)-2;

		put_char(out, valid ? u : '?');
		p = valid ? g_utf8_next_char(p) : p + 1;
	}
}

/* Can its place be one of a list? Programs count what combines, and characters of 4 bytes, differently. */
static bool is_simple(const struct cell *cell)
{
	gunichar u = char_of(cell);

	return u < 0x10000 && !*(g_utf8_next_char(cell->ch));
}

static bool is_hidden(const struct cell *cell)
{
	return block_of(char_of(cell)).width > 0;
}

static bool is_same_run(const struct svg *s, unsigned y, unsigned x, unsigned next)
{
	const struct cell *a = canvas_cell(s->c, y, x), *b = canvas_cell(s->c, y, next);
	struct paint la = paint_at(s, y, x), lb = paint_at(s, y, next);

	return is_simple(a) && is_simple(b) && is_hidden(a) == is_hidden(b) && la.fg == lb.fg && la.bold == lb.bold &&
	       la.dim == lb.dim;
}

/* Characters of one look from x on; returns the column after them. */
static unsigned put_run(struct svg *s, unsigned y, unsigned x, unsigned cols)
{
	const struct cell *first = canvas_cell(s->c, y, x);
	struct paint l = paint_at(s, y, x);
	g_autoptr(GString) places = g_string_new(NULL), text = g_string_new(NULL);
	unsigned next = x;

	while (next < cols && (next == x || !canvas_cell(s->c, y, next)->width || is_same_run(s, y, x, next))) {
		const struct cell *cell = canvas_cell(s->c, y, next);

		if (cell->width) {
			g_string_append_printf(places, "%s%u", places->len ? " " : "", next * SVG_CELL_WIDTH);
			put_cell(text, cell);
		}
		next++;
	}
	g_string_append_printf(s->out, "<tspan x=\"%s\"", places->str);
	if (is_hidden(first))
		g_string_append(s->out, " fill=\"none\"");
	else if (l.fg != s->fg)
		g_string_append_printf(s->out, " fill=\"#%06x\"", l.fg);
	g_string_append_printf(s->out, "%s%s>%s</tspan>", l.bold ? " font-weight=\"bold\"" : "",
			       l.dim ? " opacity=\"0.6\"" : "", text->str);
	return next;
}

static void put_text(struct svg *s, unsigned y)
{
	unsigned cols = s->c->cols, x = 0;

	while (cols > 0 && !strcmp(canvas_cell(s->c, y, cols - 1)->ch, " "))
		cols--;
	g_string_append_printf(s->out, "<text y=\"%u\" xml:space=\"preserve\">", y * SVG_CELL_HEIGHT + BASELINE);
	while (x < cols)
		x = put_run(s, y, x, cols);
	g_string_append(s->out, "</text>\n");
}

char *svg_of_canvas(const struct canvas *c, enum scheme scheme, const struct prefs *prefs)
{
	enum theme theme = theme_of_scheme(scheme);
	bool dark = theme == THEME_DARK;
	struct svg s = {
		.out = g_string_new(NULL), .c = c, .prefs = prefs, .scheme = scheme,
		.fg = dark ? rgb_of(252) : theme == THEME_MONO ? rgb_of(16) : rgb_of(235),
		.bg = dark ? rgb_of(233) : rgb_of(231),
	};
	unsigned width = c->cols * SVG_CELL_WIDTH + 2 * MARGIN, height = c->rows * SVG_CELL_HEIGHT + 2 * MARGIN;

	g_string_append_printf(s.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
			       "viewBox=\"-%d -%d %u %u\">\n"
			       "<rect x=\"-%d\" y=\"-%d\" width=\"%u\" height=\"%u\" fill=\"#%06x\"/>\n"
			       "<g transform=\"scale(%.3f %.3f)\" shape-rendering=\"crispEdges\">\n",
			       width, height, MARGIN, MARGIN, width, height, MARGIN, MARGIN, width, height, s.bg,
			       (double)SVG_CELL_WIDTH / PARTS, (double)SVG_CELL_HEIGHT / PARTS);
	for (unsigned y = 0; y < c->rows; y++) {
		put_backgrounds(&s, y);
		put_blocks(&s, y);
		put_underlines(&s, y);
	}
	g_string_append_printf(s.out, "</g>\n<g font-family=\"" FONT "\" font-size=\"14.95\" fill=\"#%06x\">\n", s.fg);
	for (unsigned y = 0; y < c->rows; y++)
		put_text(&s, y);
	g_string_append(s.out, "</g>\n</svg>\n");
	return g_string_free(s.out, FALSE);
}
