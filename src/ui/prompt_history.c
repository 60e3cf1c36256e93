/* SPDX-License-Identifier: GPL-2.0-only */
/* The history of typed lines: see prompt_history.h. */
#include "ui/prompt_history.h"

#include "base/limits.h"

#include <glib.h>
#include <string.h>

struct line {
	char *kind, *text;
	bool added;		/* in this run */
};

struct prompt_history {
	GArray *lines;		/* struct line, the newest last */
};

static void line_clear(gpointer data)
{
	struct line *l = data;

	g_free(l->kind);
	g_free(l->text);
}

struct prompt_history *prompt_history_new(void)
{
	struct prompt_history *r = g_new0(struct prompt_history, 1);

	r->lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	g_array_set_clear_func(r->lines, line_clear);
	return r;
}

void prompt_history_free(struct prompt_history *r)
{
	if (!r)
		return;
	g_array_unref(r->lines);
	g_free(r);
}

static struct line *line_at(const struct prompt_history *r, guint i)
{
	return &g_array_index(r->lines, struct line, i);
}

/* Could it have been typed? */
static bool can_be_typed(const char *text, size_t len)
{
	if (!len || len > LIMIT_TYPED_BYTES || !g_utf8_validate(text, (gssize)len, NULL))
		return false;
	for (const char *p = text; p < text + len; p = g_utf8_next_char(p)) {
		gunichar u = g_utf8_get_char(p);

		if (g_unichar_iscntrl(u) || g_unichar_type(u) == G_UNICODE_FORMAT ||
		    g_unichar_type(u) == G_UNICODE_LINE_SEPARATOR ||
		    g_unichar_type(u) == G_UNICODE_PARAGRAPH_SEPARATOR)
			return false;
	}
	return true;
}

static bool kind_is_sane(const char *kind, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!g_ascii_islower(kind[i]) && kind[i] != '-')
			return false;
	}
	return len > 0 && len <= 32;
}

/* Makes room for one more line of the kind, and drops an equal one. */
static void drop_old(struct prompt_history *r, const char *kind, const char *text)
{
	guint n = 0;

	for (guint i = r->lines->len; i-- > 0;) {
		const struct line *l = line_at(r, i);

		if (strcmp(l->kind, kind))
			continue;
		if (!strcmp(l->text, text) || ++n >= LIMIT_TYPED_LINES)
			g_array_remove_index(r->lines, i);
	}
}

static void append(struct prompt_history *r, const char *kind, const char *text, bool added)
{
	struct line l = { g_strdup(kind), g_strdup(text), added };

	drop_old(r, l.kind, l.text);
	g_array_append_val(r->lines, l);
}

void prompt_history_add(struct prompt_history *r, const char *kind, const char *line)
{
	if (can_be_typed(line, strlen(line)))
		append(r, kind, line, true);
}

const char *prompt_history_get(const struct prompt_history *r, const char *kind, size_t back)
{
	for (guint i = r->lines->len; i-- > 0;) {
		if (!strcmp(line_at(r, i)->kind, kind) && back-- == 0)
			return line_at(r, i)->text;
	}
	return NULL;
}

bool prompt_history_changed(const struct prompt_history *r)
{
	for (guint i = 0; i < r->lines->len; i++) {
		if (line_at(r, i)->added)
			return true;
	}
	return false;
}

void prompt_history_read(struct prompt_history *r, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *tab = memchr(text, '\t', (size_t)((stop ? stop : end) - text));

		if (!stop)
			stop = end;
		if (tab && kind_is_sane(text, (size_t)(tab - text)) &&
		    can_be_typed(tab + 1, (size_t)(stop - tab - 1))) {
			g_autofree char *kind = g_strndup(text, (gsize)(tab - text));
			g_autofree char *line = g_strndup(tab + 1, (gsize)(stop - tab - 1));

			append(r, kind, line, false);
		}
		text = stop + 1;
	}
}

char *prompt_history_merge(const struct prompt_history *r, const char *text, size_t len)
{
	struct prompt_history *all = prompt_history_new();
	GString *s = g_string_new(NULL);

	prompt_history_read(all, text, len);
	for (guint i = 0; i < r->lines->len; i++) {
		const struct line *l = line_at(r, i);

		if (l->added && kind_is_sane(l->kind, strlen(l->kind)))
			append(all, l->kind, l->text, true);
	}
	for (guint i = 0; i < all->lines->len; i++)
		g_string_append_printf(s, "%s\t%s\n", line_at(all, i)->kind, line_at(all, i)->text);
	prompt_history_free(all);
	return g_string_free(s, FALSE);
}
