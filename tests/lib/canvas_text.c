/* SPDX-License-Identifier: GPL-2.0-only */
/* See canvas_text.h. */
#include "lib/canvas_text.h"

#include <string.h>

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

/* Eighths of a cell that a block or shade paints; -1: it is a letter. */
static int painted(const struct cell *cell)
{
	gunichar u = *cell->ch ? g_utf8_get_char(cell->ch) : ' ';

	if (u > 0x2580 && u <= 0x2588)
		return (int)(u - 0x2580);
	if (u > 0x2588 && u <= 0x258f)
		return (int)(0x2590 - u);
	return u >= 0x2591 && u <= 0x2593 ? 2 * (int)(u - 0x2590) : -1;
}

static char ink_of(const struct cell *cell, enum scheme scheme)
{
	struct style role = theme_style(scheme, cell->role);
	struct look look = cell_look(cell, scheme, &role);
	bool reverse = look.style.attr & STYLE_REVERSE;

	if (reverse && painted(cell) >= 0)
		return (char)('8' - painted(cell));
	return reverse || look.style.bg >= 0 ? '#' : ' ';
}

char *canvas_ink(const struct canvas *c, enum scheme scheme)
{
	GString *s = g_string_new(NULL);

	for (unsigned y = 0; y < c->rows; y++) {
		g_autoptr(GString) line = g_string_new(NULL);

		for (unsigned x = 0; x < c->cols; x++)
			g_string_append_c(line, ink_of(canvas_cell(c, y, x), scheme));
		g_strchomp(line->str);
		if (*line->str)
			g_string_append_printf(s, "%u|%s\n", y, line->str);
	}
	return g_string_free(s, FALSE);
}

static bool has_invisible(const char *ink)
{
	g_auto(GStrv) lines = g_strsplit(ink, "\n", -1);

	for (char **line = lines; *line && **line; line++)
		if (strchr(strchr(*line, '|'), '0'))
			return true;
	return false;
}

void canvas_check_seen(const struct canvas *c)
{
	for (int scheme = 0; scheme < SCHEME_N; scheme++) {
		g_autofree char *ink = canvas_ink(c, (enum scheme)scheme), *dump = NULL;

		if (!has_invisible(ink))
			continue;
		dump = canvas_dump(c);
		g_test_message("full blocks are drawn in reverse (ink 0) in scheme %d:\n%s%s", scheme, dump, ink);
		g_test_fail();
		return;
	}
}
