/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markdown with untrusted text: see markdown.h. Prose is escaped character by character. '@' and '#' are put into
 * elements of their own, because sites search the unescaped text for mentions.
 */
#include "export/markdown.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

char *markdown_text(const char *s)
{
	g_autofree char *visible = text_visible(s);
	GString *out = g_string_new(NULL);

	for (const char *p = visible; *p; p++) {
		if (*p == '@' || *p == '#')
			g_string_append_printf(out, "<span>&#%d;</span>", *p);
		else if (*p == '|' || *p == '<' || *p == '>' || *p == '&')
			g_string_append_printf(out, "&#%d;", *p);
		else if (*p == ':' && p[1] == '/' && p[2] == '/')
			g_string_append(out, "&#58;");		/* prevents an automatic link */
		else if (*p == '.' && p - visible >= 3 && g_ascii_strncasecmp(p - 3, "www", 3) == 0)
			g_string_append(out, "&#46;");
		else if (strchr("\\`*_{}[]~!$", *p))
			g_string_append_printf(out, "\\%c", *p);
		else
			g_string_append_c(out, *p);
	}
	return g_string_free(out, FALSE);
}

static size_t longest_ticks(const char *s)
{
	size_t longest = 0;
	for (size_t n; *s; s += n ? n : 1) {
		n = strspn(s, "`");
		longest = MAX(longest, n);
	}
	return longest;
}

/* A bar ends a table cell even inside code. So this uses an HTML code element, with the bar as an entity. */
static char *code_element(const char *visible)
{
	GString *out = g_string_new("<code>");
	for (const char *p = visible; *p; p++) {
		if (g_ascii_ispunct(*p))
			g_string_append_printf(out, "&#%d;", *p);
		else
			g_string_append_c(out, *p);
	}
	g_string_append(out, "</code>");
	return g_string_free(out, FALSE);
}

char *markdown_code(const char *s)
{
	g_autofree char *visible = text_visible(s);
	g_autofree char *blank = g_strstrip(g_strdup(visible));

	if (!*visible)
		return g_strdup("-");
	if (strchr(visible, '|') || !*blank)
		return code_element(visible);
	g_autofree char *ticks = g_strnfill(longest_ticks(visible) + 1, '`');
	bool padded = visible[0] == '`' || visible[strlen(visible) - 1] == '`' ||
		      (visible[0] == ' ' && visible[strlen(visible) - 1] == ' ');
	return g_strdup_printf("%s%s%s%s%s", ticks, padded ? " " : "", visible, padded ? " " : "",
			       ticks);
}

void markdown_block(GString *out, const char *lines)
{
	g_autofree char *fence = g_strnfill(MAX(longest_ticks(lines) + 1, 3), '`');
	size_t len = strlen(lines);

	g_string_append_printf(out, "%stext\n%s%s%s\n", fence, lines,
			       len && lines[len - 1] == '\n' ? "" : "\n", fence);
}

/* --- tables --- */

void markdown_head(GString *out, const char *titles)
{
	g_auto(GStrv) title = g_strsplit(titles, "|", -1);

	for (char **t = title; *t; t++)
		markdown_cell(out, **t == '>' ? *t + 1 : *t);
	markdown_row_end(out);
	for (char **t = title; *t; t++)
		markdown_cell(out, **t == '>' ? "---:" : "---");
	markdown_row_end(out);
}

void markdown_cell(GString *out, const char *cell)
{
	bool begins = !out->len || out->str[out->len - 1] == '\n';
	g_string_append_printf(out, "%s%s |", begins ? "| " : " ", cell);
}

void markdown_row_end(GString *out)
{
	g_string_append_c(out, '\n');
}

char *markdown_value(struct value v)
{
	char buf[TIMEFMT_LEN];

	switch (v.kind) {
	case VALUE_NONE:
		return g_strdup("-");
	case VALUE_NS:
		return g_strconcat(v.at_least ? ">" : "", timefmt_duration(buf, v.i), NULL);
	case VALUE_BYTES:
		return g_strdup(timefmt_bytes(buf, (uint64_t)MAX(v.i, 0)));
	case VALUE_TIME:
		return g_strdup(timefmt_clock_ms(buf, v.i));
	case VALUE_RATIO:
		return g_strdup_printf("%.1f", v.d);
	case VALUE_HEX64:
		return g_strdup_printf("`%016" G_GINT64_MODIFIER "x`", (guint64)v.i);
	case VALUE_TEXT:
		return markdown_code(v.s);
	default:
		return g_strdup_printf("%" G_GINT64_FORMAT, v.i);
	}
}

/* A ratio is printed in per cent if the column's title ends in '%' (views/overview.h). */
static char *cell_of(const struct column *c, const struct row *row, const struct rows *rows)
{
	struct value v = column_value(c, row, rows);
	size_t len = strlen(c->title);

	if (v.kind == VALUE_RATIO && len && c->title[len - 1] == '%')
		return g_strdup_printf("%.1f", v.d * 100);
	return markdown_value(v);
}

void markdown_rows(GString *out, const struct view *v, const struct rows *rows,
		   const char *const *columns, guint max, const char *what)
{
	g_autoptr(GString) titles = g_string_new(NULL);

	for (size_t i = 0; columns[i]; i++) {
		const struct column *c = &v->columns[view_column(v, columns[i])];
		g_string_append_printf(titles, "%s%s%s", i ? "|" : "",
				       c->align == ALIGN_LEFT ? "" : ">", c->title);
	}
	markdown_head(out, titles->str);
	for (guint r = 0; r < rows->rows->len && r < max; r++) {
		for (size_t i = 0; columns[i]; i++) {
			const struct column *c = &v->columns[view_column(v, columns[i])];
			g_autofree char *cell = cell_of(c, rows->rows->pdata[r], rows);
			markdown_cell(out, cell);
		}
		markdown_row_end(out);
	}
	if (rows->rows->len > max)
		g_string_append_printf(out, "\nand %u other %s.\n", rows->rows->len - max, what);
}
