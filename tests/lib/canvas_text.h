/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on a canvas, as text. */
#ifndef BLK_TESTS_CANVAS_TEXT_H
#define BLK_TESTS_CANVAS_TEXT_H

#include "ui/canvas.h"

/* Lines without trailing spaces, each ended by a newline. Free with g_free. */
char *canvas_dump(const struct canvas *c);
/* One line of it. Free with g_free. */
char *canvas_line(const struct canvas *c, unsigned y);
/* Where the screen's background is covered in this scheme, a line "row|cells" for each row with such cells: '#' below
 * a letter or blank, '0' to '8' for a block in reverse: the eighths of the cell that are in its colour. Free with
 * g_free. */
char *canvas_ink(const struct canvas *c, enum scheme scheme);
/* Fails the test if any scheme makes a full block invisible. */
void canvas_check_seen(const struct canvas *c);

#endif
