/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The canvas: a grid of cells that screens draw on and the terminal is painted
 * from. Knows no terminal, so every screen can be tested as text.
 *
 * Text is clipped to the width given and to the canvas as text_clip() does it, never
 * wrapped. A wide character takes two cells. Control and
 * invalid bytes can't get in: they become '?' (callers make hostile text visible
 * with base/text.h first; this is a second check).
 */
#ifndef BLK_UI_CANVAS_H
#define BLK_UI_CANVAS_H

#include "ui/theme.h"

#include <glib.h>
#include <stdbool.h>

#define CELL_BYTES 20		/* a character and what combines with it */

struct cell {
	char ch[CELL_BYTES];	/* UTF-8; "" in the right half of a wide character */
	uint8_t width;		/* 1, 2; 0: right half of a wide character */
	uint8_t role;		/* enum role */
	uint8_t attr;		/* STYLE_ bits on top of the role's */
	/* Place in the role's gradient, 1 to SHADES; 0: none. With STYLE_SOLID the cell is a part of an area: blocks
	 * and shades (U+2588, U+2591 to U+2593) fill it, other characters are on a background of that colour. Schemes
	 * without 24 bits show the role and the character. */
	uint8_t shade;
};

/* How a cell looks in a scheme. */
struct look {
	struct style style;	/* .attr without those that only cells have */
	const char *ch;		/* what is painted */
};

/* What can be clicked, with the meaning of struct canvas_hit's fields. */
enum hit {
	HIT_NONE,
	HIT_ROW,		/* of: the struct table, value: the row */
	HIT_HEADER,		/* of: the struct table, value: the column */
	HIT_TIME,		/* value: the instant */
	HIT_CRUMB,		/* value: how deep in the stack */
	HIT_KEY,		/* value: the key */
	HIT_LINE,		/* value: the line of a list */
};

struct canvas_hit {
	unsigned y, x, cols;
	enum hit hit;
	const void *of;
	int64_t value;
};

struct canvas {
	unsigned rows, cols;
	GArray *hits;		/* struct canvas_hit */
	struct cell *cells;	/* rows * cols */
	bool ascii_only;	/* the terminal takes ASCII only: the rest becomes '?' */
	bool ascii_cut;		/* texts that are cut end in '~', as with .ascii_only */
};

/* A part of the canvas to draw in. */
struct box {
	unsigned y, x, rows, cols;
};

struct canvas *canvas_new(unsigned rows, unsigned cols);
void canvas_free(struct canvas *c);		/* NULL is fine */
void canvas_resize(struct canvas *c, unsigned rows, unsigned cols);	/* and clears */
void canvas_clear(struct canvas *c);
const struct cell *canvas_cell(const struct canvas *c, unsigned y, unsigned x);

/* At most `width` columns of `s` from (y, x) on. Returns the columns taken. */
unsigned canvas_put(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		    const char *s);
unsigned canvas_putf(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		     const char *format, ...) G_GNUC_PRINTF(6, 7);
/* The same, right-aligned within `width`. */
void canvas_put_right(struct canvas *c, unsigned y, unsigned x, unsigned width, enum role role,
		      const char *s);
/* n cells of one narrow glyph. */
void canvas_fill(struct canvas *c, unsigned y, unsigned x, unsigned n, enum role role,
		 const char *glyph);
/* Changes role or adds attributes where something is drawn already. A new role has no shade. */
void canvas_set_role(struct canvas *c, unsigned y, unsigned x, unsigned n, enum role role);
void canvas_add_attr(struct canvas *c, unsigned y, unsigned x, unsigned n, unsigned attr);
/* Gives a shade to what is drawn already. */
void canvas_shade(struct canvas *c, unsigned y, unsigned x, unsigned n, unsigned shade, bool solid);
/* `role`: the style of the cell's role, the scheme's or the user's. */
struct look cell_look(const struct cell *cell, enum scheme scheme, const struct style *role);

/* Registers a part of one row that can be clicked. Later ones lie above earlier ones. */
void canvas_hit(struct canvas *c, unsigned y, unsigned x, unsigned cols, enum hit hit,
		const void *of, int64_t value);
/* The part at that cell; HIT_NONE: there is none. */
struct canvas_hit canvas_hit_at(const struct canvas *c, unsigned y, unsigned x);

#endif
