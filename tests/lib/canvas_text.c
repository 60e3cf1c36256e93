/* SPDX-License-Identifier: GPL-2.0-only */
/* See canvas_text.h. */
#include "lib/canvas_text.h"

char *canvas_line(const struct canvas *c, unsigned y)
{
	GString *s = g_string_new(NULL);

	for (unsigned x = 0; y < c->rows && x < c->cols; x++)
		g_string_append(s, canvas_cell(c, y, x)->ch);
	while (s->len && s->str[s->len - 1] == ' ')
		g_string_truncate(s, s->len - 1);
	return g_string_free(s, FALSE);
}

char *canvas_dump(const struct canvas *c)
{
	GString *s = g_string_new(NULL);

	for (unsigned y = 0; y < c->rows; y++) {
		g_autofree char *line = canvas_line(c, y);

		g_string_append(s, line);
		g_string_append_c(s, '\n');
	}
	return g_string_free(s, FALSE);
}
