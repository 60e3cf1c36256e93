/* SPDX-License-Identifier: GPL-2.0-only */
/* The cell grid: see canvas.h. */
#include "ui/canvas.h"

#include "base/color.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

static struct cell *cell_at(const struct canvas *c, unsigned y, unsigned x)
{
	g_assert(y < c->rows && x < c->cols);
	return &c->cells[(size_t)y * c->cols + x];
}

static void blank(struct cell *cell, enum role role)
{
	memset(cell, 0, sizeof *cell);
	cell->ch[0] = ' ';
	cell->width = 1;
	cell->role = role;
}

struct canvas *canvas_new(unsigned rows, unsigned cols)
{
	struct canvas *c = g_new0(struct canvas, 1);

	c->hits = g_array_new(FALSE, FALSE, sizeof(struct canvas_hit));
	canvas_resize(c, rows, cols);
	return c;
}

void canvas_free(struct canvas *c)
{
	if (!c)
		return;
	g_array_unref(c->hits);
	g_free(c->cells);
	g_free(c);
}

void canvas_resize(struct canvas *c, unsigned rows, unsigned cols)
{
	c->rows = MIN(rows, 1000u);
	c->cols = MIN(cols, 2000u);
	g_free(c->cells);
	c->cells = g_new(struct cell, MAX((size_t)c->rows * c->cols, 1));
	canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->rows * c->cols; i++)
		blank(&c->cells[i], ROLE_TEXT);
	g_array_set_size(c->hits, 0);
}

const struct cell *canvas_cell(const struct canvas *c, unsigned y, unsigned x)
{
	return y < c->rows && x < c->cols ? cell_at(c, y, x) : NULL;
}

/* Frees the cell for a new character: the other half of a wide one is blanked. */
static struct cell *take_cell(struct canvas *c, unsigned y, unsigned x, enum role role)
{
	struct cell *cell = cell_at(c, y, x);

	if (cell->width == 0 && x > 0)
		blank(cell - 1, (cell - 1)->role);
	if (cell->width == 2 && x + 1 < c->cols)
		blank(cell + 1, (cell + 1)->role);
	blank(cell, role);
	return cell;
}

static void put_char(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		     gunichar u)
{
	struct cell *cell = take_cell(c, y, x, role);

	cell->ch[g_unichar_to_utf8(u, cell->ch)] = '\0';
	if (width == 2) {
		struct cell *right = take_cell(c, y, x + 1, role);

		cell->width = 2;
		right->ch[0] = '\0';
		right->width = 0;
	}
}

static void combine(struct cell *cell, gunichar u)
{
	char buf[6];
	size_t n = (size_t)g_unichar_to_utf8(u, buf), have = strlen(cell->ch);

	if (have + n < sizeof cell->ch) {
		memcpy(cell->ch + have, buf, n);
		cell->ch[have + n] = '\0';
	}
}

/* Neither a control character nor one that only changes how others are shown. */
static bool shows(gunichar u)
{
	switch (g_unichar_type(u)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
	case G_UNICODE_SURROGATE:
	case G_UNICODE_UNASSIGNED:
		return false;
	default:
		return true;
	}
}

/* The next character of *s, never one that does not show; 0 at the end. */
static gunichar next_char(const struct canvas *c, const char **s)
{
	gunichar u = g_utf8_get_char_validated(*s, -1);

	if (!**s)
		return 0;
	if (u == (gunichar)-1 || u == (gunichar)-2) {
		(*s)++;
		return '?';
	}
	*s = g_utf8_next_char(*s);
	return u < 0x20 || u == 0x7f || (u > 0x7e && (c->ascii_only || !shows(u))) ? '?' : u;
}

static unsigned char_width(gunichar u)
{
	char buf[7] = "";

	if (u < 0x80)
		return 1;
	buf[g_unichar_to_utf8(u, buf)] = '\0';
	return text_width(buf);
}

/* Puts characters until one does not fit. */
static unsigned put_text(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role, const char *s)
{
	unsigned used = 0;
	struct cell *last = NULL;
	gunichar u;

	while ((u = next_char(c, &s))) {
		unsigned w = char_width(u);

		if (w == 0) {
			if (last)
				combine(last, u);
			continue;
		}
		if (used + w > width)
			break;
		put_char(c, y, x + used, w, role, u);
		last = cell_at(c, y, x + used);
		used += w;
	}
	return used;
}

/* The text as it fits: itself, or a part in *ret, which the caller frees. */
static const char *fitting(const struct canvas *c, unsigned width, const char *s, char **ret)
{
	if (strlen(s) <= width || !g_utf8_validate(s, -1, NULL) || !s[text_prefix(s, width, NULL)])
		return s;
	return *ret = text_clip(s, width, !c->ascii_only && !c->ascii_cut);
}

unsigned canvas_put(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		    const char *s)
{
	g_autofree char *clipped = NULL;

	if (y >= c->rows || x >= c->cols || !s)
		return 0;
	width = MIN(width, c->cols - x);
	return put_text(c, y, x, width, role, fitting(c, width, s, &clipped));
}

unsigned canvas_putf(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		     const char *format, ...)
{
	g_autofree char *s = NULL;
	va_list ap;

	va_start(ap, format);
	s = g_strdup_vprintf(format, ap);
	va_end(ap);
	return canvas_put(c, y, x, width, role, s);
}

void canvas_put_right(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		      const char *s)
{
	g_autofree char *clipped = NULL;
	unsigned w;

	s = fitting(c, width, s, &clipped);
	w = text_width(s);
	canvas_put(c, y, w < width ? x + width - w : x, width, role, s);
}

void canvas_fill(struct canvas *c, unsigned y, unsigned x, unsigned n, enum role role,
		 const char *glyph)
{
	for (unsigned i = 0; i < n; i++)
		canvas_put(c, y, x + i, 1, role, glyph);
}

void canvas_set_role(struct canvas *c, unsigned y, unsigned x, unsigned n, enum role role)
{
	for (unsigned i = x; y < c->rows && i < c->cols && i - x < n; i++) {
		struct cell *cell = cell_at(c, y, i);

		cell->role = role;
		cell->shade = 0;
		cell->attr &= (uint8_t)~STYLE_SOLID;
	}
}

void canvas_shade(struct canvas *c, unsigned y, unsigned x, unsigned n, unsigned shade, bool solid)
{
	for (unsigned i = x; y < c->rows && i < c->cols && i - x < n; i++)
		cell_at(c, y, i)->shade = (uint8_t)MIN(shade, SHADES);
	if (solid)
		canvas_add_attr(c, y, x, n, STYLE_SOLID);
}

static bool is_area(const char *ch)
{
	gunichar u = g_utf8_get_char_validated(ch, -1);

	return u == 0x2588 || (u >= 0x2591 && u <= 0x2593);
}

struct look cell_look(const struct cell *cell, enum scheme scheme, const struct style *role)
{
	bool solid = cell->attr & STYLE_SOLID;
	struct style s = theme_shaded(scheme, cell->role, role, cell->shade, solid);
	struct look look = { s, cell->ch };

	look.style.attr = (uint8_t)theme_attrs(&s, cell->attr);
	if (cell->attr & STYLE_SELECTED)
		look.style.bg = theme_style(scheme, ROLE_SELECTED).bg;
	if (!solid || !(s.fg >= 0 && s.fg & COLOR_RGB) || (look.style.attr & STYLE_REVERSE))
		return look;
	if (is_area(cell->ch)) {
		look.ch = "█";
	} else {
		look.style.bg = s.fg;
		look.style.fg = (int32_t)(COLOR_RGB | color_text_on((uint32_t)s.fg & 0xffffff));
	}
	return look;
}

void canvas_add_attr(struct canvas *c, unsigned y, unsigned x, unsigned n, unsigned attr)
{
	for (unsigned i = x; y < c->rows && i < c->cols && i - x < n; i++)
		cell_at(c, y, i)->attr |= attr;
}

void canvas_hit(struct canvas *c, unsigned y, unsigned x, unsigned cols, enum hit hit,
		const void *of, int64_t value)
{
	struct canvas_hit h = { y, x, cols, hit, of, value };

	g_array_append_val(c->hits, h);
}

struct canvas_hit canvas_hit_at(const struct canvas *c, unsigned y, unsigned x)
{
	for (guint i = c->hits->len; i-- > 0;) {
		const struct canvas_hit *h = &g_array_index(c->hits, struct canvas_hit, i);

		if (h->y == y && x >= h->x && x - h->x < h->cols)
			return *h;
	}
	return (struct canvas_hit){ .hit = HIT_NONE };
}
