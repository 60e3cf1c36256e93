/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a waterfall as lines of text of a fixed width, for readers without blktop. Private to src/export/.
 */
#ifndef BLK_EXPORT_BARS_H
#define BLK_EXPORT_BARS_H

#include "views/waterfall.h"

#define BARS_COLS 100		/* columns of a line */
#define BARS_ROWS 40		/* of a larger trace only the longest spans and their ancestors are printed */

/* Selects the longest rows and their ancestors: sets keep[] by index as built, all false before. Returns how many rows
 * are left out. */
size_t bars_choose(const struct waterfall *w, bool *keep);
/* Appends the time axis, a line for each span, and a legend of the letters. */
void bars_append(GString *out, const struct rows *rows, bool utf8);

#endif
