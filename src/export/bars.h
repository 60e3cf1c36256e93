/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A waterfall as lines of text of one width, for what is read without blktop. Private to
 * src/export/.
 */
#ifndef BLK_EXPORT_BARS_H
#define BLK_EXPORT_BARS_H

#include "views/waterfall.h"

#define BARS_COLS 100		/* columns of a line */
#define BARS_ROWS 40		/* the longest spans of a trace with more, and what they are in */

/* The axis, a line for each span, and the letters' meanings. */
void bars_append(GString *out, const struct rows *rows, bool utf8);

#endif
