/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on a canvas, as text. */
#ifndef BLK_TESTS_CANVAS_TEXT_H
#define BLK_TESTS_CANVAS_TEXT_H

#include "ui/canvas.h"

/* Lines without trailing spaces, each ended by a newline. Free with g_free. */
char *canvas_dump(const struct canvas *c);
/* One line of it. Free with g_free. */
char *canvas_line(const struct canvas *c, unsigned y);

#endif
