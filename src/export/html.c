/* SPDX-License-Identifier: GPL-2.0-only */
/* HTML: see html.h. */
#include "export/html.h"

#include "base/text.h"
#include "export/markdown.h"

#include <string.h>

void html_append(GString *out, const char *s)
{
	g_autofree char *visible = text_visible(s), *escaped = g_markup_escape_text(visible, -1);
	g_string_append(out, escaped);
}

char *html_text(const char *s)
{
	GString *out = g_string_new(NULL);
	html_append(out, s);
	return g_string_free(out, FALSE);
}

char *html_code(const char *s)
{
	g_autofree char *text = html_text(s);
	return *text ? g_strdup_printf("<code>%s</code>", text) : g_strdup("-");
}

/* ---- tables ---- */

static const struct column *column_of(const struct view *v, const char *id)
{
	int i = view_column(v, id);
	g_assert(i >= 0);
	return &v->columns[i];
}

/* Numbers are scaled for reading, as in Markdown, where they need no escapes. */
static char *cell_of(const struct column *c, const struct row *row, const struct rows *rows)
{
	struct value v = column_value(c, row, rows);
	if (v.kind == VALUE_TEXT)
		return html_text(v.s);
	if (v.kind == VALUE_HEX64)
		return g_strdup_printf("<code>%016" G_GINT64_MODIFIER "x</code>", (guint64)v.i);
	if (v.kind == VALUE_RATIO && g_str_has_suffix(c->title, "%"))
		return g_strdup_printf("%.1f", v.d * 100);
	return markdown_value(v);
}

static void put_row(GString *out, const struct view *v, const struct rows *rows, const char *const *columns, guint r)
{
	g_string_append(out, "<tr>");
	for (size_t i = 0; columns[i]; i++) {
		const struct column *c = column_of(v, columns[i]);
		g_autofree char *cell = cell_of(c, rows->rows->pdata[r], rows);
		/* the label is shown where a row is too wide to be one line */
		g_string_append_printf(out, "<td%s data-label=\"", c->align == ALIGN_LEFT ? "" : " class=\"r\"");
		html_append(out, c->title);
		g_string_append_printf(out, "\">%s</td>", cell);
	}
	g_string_append(out, "</tr>\n");
}

void html_rows(GString *out, const struct view *v, const struct rows *rows, const char *const *columns, guint max,
	       const char *what)
{
	if (!rows->rows->len)
		return;
	g_string_append(out, "<table><thead><tr>");
	for (size_t i = 0; columns[i]; i++) {
		const struct column *c = column_of(v, columns[i]);
		g_string_append(out, c->align == ALIGN_LEFT ? "<th title=\"" : "<th class=\"r\" title=\"");
		html_append(out, c->help);
		g_string_append(out, "\">");
		html_append(out, c->title);
		g_string_append(out, "</th>");
	}
	g_string_append(out, "</tr></thead><tbody>\n");
	for (guint r = 0; r < rows->rows->len && r < max; r++)
		put_row(out, v, rows, columns, r);
	g_string_append(out, "</tbody></table>\n");
	if (rows->rows->len > max)
		g_string_append_printf(out, "<p class=\"more\">and %u other %s</p>\n", rows->rows->len - max, what);
}
