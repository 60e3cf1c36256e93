/* SPDX-License-Identifier: GPL-2.0-only */
/* The help of a screen: see help.h. */
#include "ui/help.h"

#include "base/text.h"

#include <string.h>

void help_add_wrapped(GPtrArray *lines, const char *text, unsigned cols, const char *indent)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
	GString *line = g_string_new(indent);

	for (char **w = words; *w; w++) {
		if (!**w)
			continue;
		if (line->len > strlen(indent) && text_width(line->str) + 1 + text_width(*w) > cols) {
			g_ptr_array_add(lines, g_strdup(line->str));
			g_string_assign(line, indent);
		}
		if (line->len > strlen(indent))
			g_string_append_c(line, ' ');
		g_string_append(line, *w);
	}
	g_ptr_array_add(lines, g_string_free(line, FALSE));
}

static void add_columns(GPtrArray *lines, const struct view *v)
{
	bool headed = false;

	for (size_t i = 0; i < v->n_columns; i++) {
		const struct column *c = &v->columns[i];

		if (!c->width)
			continue;
		if (!headed)
			g_ptr_array_add(lines, g_strdup("Columns"));
		headed = true;
		g_ptr_array_add(lines, g_strdup_printf("  %-8s %-16s %s", c->title, c->id,
						       c->help ? c->help : ""));
	}
}

/* Explains signs that no legend on the screen does. */
static void add_marks(GPtrArray *lines)
{
	static const char *const marks[] = {
		"Marks",
		"  strip    the shown second is in reverse, or below an arrow; A and B end the range,",
		"           m is a bookmark",
		"  rows     before a name: cross (x in ASCII), it ended; dot (*), it is tagged; !, slow",
		"Marks, while a trace is being read",
		"  ~        before a figure: provisional. It was read ahead, without what came",
		"           before (names, pending calls), and can change",
		"  strip    one cell for each second or several: bars were read, ~ is provisional,",
		"           shades (' \" % & in ASCII) are bytes per second, not read yet",
		"  !        below or in the strip: events were lost there",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		g_ptr_array_add(lines, g_strdup(marks[i]));
	g_ptr_array_add(lines, g_strdup(""));
}

GPtrArray *help_lines(const struct view *v, enum context context, unsigned cols)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) keys = keys_help(context);

	if (v->help) {
		help_add_wrapped(lines, v->help, cols > 4 ? cols - 4 : cols, "  ");
		g_ptr_array_add(lines, g_strdup(""));
	}
	for (guint i = 0; i < keys->len; i++) {
		const char *line = g_ptr_array_index(keys, i);

		if (i && *line != ' ')
			g_ptr_array_add(lines, g_strdup(""));
		g_ptr_array_add(lines, g_strdup(line));
	}
	g_ptr_array_add(lines, g_strdup(""));
	add_marks(lines);
	add_columns(lines, v);
	return lines;
}
