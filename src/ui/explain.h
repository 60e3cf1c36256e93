/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on the screen, in sentences: the columns, letters and states of the selected row (key =), or of one cell. */
#ifndef BLK_UI_EXPLAIN_H
#define BLK_UI_EXPLAIN_H

#include "ui/app_state.h"

/* A popup about the selected row, as it was drawn last; it replaces another popup over it. more: the lines of its
 * screen, or NULL. */
typedef void explain_more(struct app *app, struct place *p, GPtrArray *lines);
void explain_selected(struct app *app, struct place *p, explain_more *more);
/* Lines of that popup: a name and what it is; a part of a thread's time. */
void explain_add(GPtrArray *lines, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);
void explain_add_part(GPtrArray *lines, enum part part);
/* What the cell of the last drawing means: a column and its value, a letter, a mark. NULL: nothing is known about it.
 * Visible text; g_free. */
char *explain_cell(struct app *app, struct place *p, unsigned y, unsigned x);

#endif
