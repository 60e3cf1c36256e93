/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a canvas as an SVG picture, as a terminal with 24-bit colours shows it: one cell is SVG_CELL_WIDTH by
 * SVG_CELL_HEIGHT pixels, each row is one <text> element with the same characters as the screen, and each character has
 * its own place, so that every font keeps the columns. Blocks, shades and vertical lines are drawn as rectangles, which
 * join; their characters are in the text, but not painted.
 *
 * The picture refers to nothing outside of it. It is valid UTF-8 and well-formed XML whatever the canvas holds:
 * characters that XML does not allow become '?'.
 */
#ifndef BLK_UI_SVG_H
#define BLK_UI_SVG_H

#include "ui/canvas.h"
#include "ui/prefs.h"

#define SVG_CELL_WIDTH 9
#define SVG_CELL_HEIGHT 18

/* Mono is drawn in black on white. prefs: the user's own colours; may be NULL. Free with g_free. */
char *svg_of_canvas(const struct canvas *c, enum scheme scheme, const struct prefs *prefs);

#endif
