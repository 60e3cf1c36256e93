/* SPDX-License-Identifier: GPL-2.0-only */
/* What is printed of a timeline has the shape that it is said to have. */
#ifndef BLK_TEST_CHECK_VIEWS_H
#define BLK_TEST_CHECK_VIEWS_H

#include "export/export.h"

/* Asserts it of every registered view, summed by everything it can be, for several ranges, in
 * every format. */
void check_views(const struct timeline *tl);

/* The rows as they are printed (g_free). */
char *check_view_text(const struct view *v, const struct rows *rows, enum rows_format format);

#endif
