/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markdown as code hosting sites read it (CommonMark with tables), from texts that a trace
 * holds: nothing in them is markup, a mention, a link, a control character or the end of a
 * table's cell. Private to src/export/.
 */
#ifndef BLK_EXPORT_MARKDOWN_H
#define BLK_EXPORT_MARKDOWN_H

#include "views/view.h"

char *markdown_text(const char *s);		/* inline, as prose */
char *markdown_code(const char *s);		/* inline, as code; "-" for an empty one */
/* Appends the lines as a block of fixed-width text that nothing in them can end. */
void markdown_block(GString *out, const char *lines);

/* A table: markdown_head(out, "Phase|>Count|>Total") ('>': right aligned), then cells that
 * are Markdown already, separated by markdown_cell(). */
void markdown_head(GString *out, const char *titles);
void markdown_cell(GString *out, const char *cell);	/* begins a row where none is open */
void markdown_row_end(GString *out);

/* The value as a cell: scaled for reading, "-" when it is not known. */
char *markdown_value(struct value v);

/* A table of the rows' columns named, NULL-terminated; of `max` rows at most, which `what`
 * names ("requests"). */
void markdown_rows(GString *out, const struct view *v, const struct rows *rows,
		   const char *const *columns, guint max, const char *what);

#endif
