/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HTML that is well-formed XML, made from texts of a trace. No text can become markup, a control character or the end
 * of an attribute. Private to src/export/.
 */
#ifndef BLK_EXPORT_HTML_H
#define BLK_EXPORT_HTML_H

#include "views/view.h"

void html_append(GString *out, const char *s);		/* as text, or in an attribute's quotes */
char *html_text(const char *s);				/* the same; free with g_free() */
char *html_code(const char *s);				/* a code element; "-" for an empty text */

/* Appends a table of the named columns (NULL-terminated) with at most `max` rows. what: the name of the rows
 * ("requests"). Nothing if there are no rows. */
void html_rows(GString *out, const struct view *v, const struct rows *rows, const char *const *columns, guint max,
	       const char *what);

#endif
