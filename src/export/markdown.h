/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markdown for code hosting sites (CommonMark with tables), made from texts of a trace. No text can become markup, a
 * mention, a link, a control character or the end of a table cell. Private to src/export/.
 */
#ifndef BLK_EXPORT_MARKDOWN_H
#define BLK_EXPORT_MARKDOWN_H

#include "views/view.h"

char *markdown_text(const char *s);		/* inline prose */
char *markdown_code(const char *s);		/* inline code; "-" for an empty text */
/* Appends the lines as a block of fixed-width text. No line can end the block. */
void markdown_block(GString *out, const char *lines);

/* Begins a table: markdown_head(out, "Phase|>Count|>Total") ('>': right aligned). markdown_cell() adds a cell, which is
 * Markdown already. */
void markdown_head(GString *out, const char *titles);
void markdown_cell(GString *out, const char *cell);	/* begins a row if none is open */
void markdown_row_end(GString *out);

/* The value as a cell, scaled for reading; "-": unknown. */
char *markdown_value(struct value v);

/* Appends a table of the named columns (NULL-terminated) with at most `max` rows. what: the name of the rows
 * ("requests"). */
void markdown_rows(GString *out, const struct view *v, const struct rows *rows,
		   const char *const *columns, guint max, const char *what);

#endif
