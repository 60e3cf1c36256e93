/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines over the whole screen, and the key bar: see popup.h. */
#include "ui/popup.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/text.h"

#include <string.h>

/* Indentation of continuation lines: after the last gap between columns in the left half, else two more than the
 * line's. */
static unsigned hang_of(const char *line, unsigned cols)
{
	size_t lead = strspn(line, " "), hang = lead + 2;

	for (size_t i = lead; line[i] && i + 2 < cols / 2;) {
		size_t gap = strspn(line + i, " ");

		if (gap >= 2 && line[i + gap] && i + gap <= cols / 2)
			hang = i + gap;
		i += MAX(gap, 1);
	}
	return MIN((unsigned)hang, cols / 2);
}

/* The lines to show: wrapped ones of a text. */
static GPtrArray *shown(struct popup *p)
{
	if (p->is_list || !p->cols)
		return p->found ? p->found : p->lines;
	if (p->wrapped)
		return p->wrapped;
	p->wrapped = g_ptr_array_new_with_free_func(g_free);
	PTR_EACH(const char, line, p->lines)
		text_wrap(p->wrapped, line, p->cols, hang_of(line, p->cols), strspn(line, " "));
	return p->wrapped;
}

static void fit(struct popup *p, unsigned cols)
{
	if (p->cols == cols)
		return;
	g_clear_pointer(&p->wrapped, g_ptr_array_unref);
	p->cols = cols;
}

void popup_open(struct popup *p, const char *title, GPtrArray *lines, bool is_list)
{
	popup_close(p);
	*p = (struct popup){ .title = g_strdup(title), .lines = lines, .is_list = is_list };
}

void popup_find(struct popup *p, GPtrArray *names)
{
	g_assert(p->is_list && !p->find && names->len == p->lines->len);
	p->find = g_string_new(NULL);
	p->names = names;
}

/* Where a word is found in a line. Less is better. */
enum found_in { IN_NAME_WHOLE, IN_NAME_BEGIN, IN_NAME, IN_LINE, IN_NOTHING };

struct found {
	char *line;
	unsigned where, at;	/* enum found_in of the worst word; the sum of where they are in the line, in bytes */
};

static enum found_in find_in_name(const char *name, const char *word)
{
	enum found_in best = IN_NOTHING;
	size_t len = strlen(word);

	for (const char *s = name; (s = strstr(s, word)); s++) {
		bool begins = s == name || !g_ascii_isalnum(s[-1]);
		enum found_in here = !begins ? IN_NAME : g_ascii_isalnum(s[len]) ? IN_NAME_BEGIN : IN_NAME_WHOLE;

		best = MIN(best, here);
	}
	return best;
}

/* Looks for all words, ignoring case. */
static struct found find_words(char *line, const char *name, char *const *words)
{
	g_autofree char *folded = g_utf8_casefold(line, -1), *folded_name = g_utf8_casefold(name, -1);
	struct found f = { line, 0, 0 };

	for (; *words; words++) {
		const char *in_line = strstr(folded, *words);
		enum found_in where = **words ? find_in_name(folded_name, *words) : IN_NAME_WHOLE;

		if (where == IN_NOTHING && in_line)
			where = IN_LINE;
		f.where = MAX(f.where, where);
		f.at += where == IN_LINE ? (unsigned)(in_line - folded) : 0;
	}
	return f;
}

static gint order_found(gconstpointer a, gconstpointer b)
{
	const struct found *x = a, *y = b;

	return x->where != y->where ? (int)x->where - (int)y->where : x->at < y->at ? -1 : x->at > y->at;
}

static void narrow(struct popup *p)
{
	g_autofree char *folded = g_utf8_casefold(p->find->str, -1);
	g_auto(GStrv) words = g_strsplit(folded, " ", -1);
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct found));

	g_clear_pointer(&p->found, g_ptr_array_unref);
	p->cursor = p->top = 0;
	if (!p->find->len)
		return;
	for (guint i = 0; i < p->lines->len; i++) {
		struct found f = find_words(p->lines->pdata[i], p->names->pdata[i], words);

		if (f.where != IN_NOTHING)
			g_array_append_val(found, f);
	}
	g_array_sort(found, order_found);	/* stable */
	p->found = g_ptr_array_new();
	for (guint i = 0; i < found->len; i++)
		g_ptr_array_add(p->found, g_array_index(found, struct found, i).line);
}

bool popup_type(struct popup *p, int key)
{
	bool erases = key == UI_KEY_BACKSPACE || key == UI_KEY_BACKSPACE_CHAR;

	if (!p->find || (erases && !p->find->len))
		return false;
	if (erases)
		g_string_truncate(p->find, (gsize)(g_utf8_prev_char(p->find->str + p->find->len) - p->find->str));
	else if (key > ' ' && key < UI_KEY_SPECIAL && g_unichar_validate((gunichar)key) &&
		 g_unichar_isprint((gunichar)key) && p->find->len < LIMIT_TYPED_BYTES)
		g_string_append_unichar(p->find, (gunichar)key);
	else if (key == ' ' && p->find->len && p->find->len < LIMIT_TYPED_BYTES)
		g_string_append_c(p->find, ' ');
	else
		return false;
	narrow(p);
	return true;
}

size_t popup_picked(const struct popup *p)
{
	guint at;

	if (!p->found || p->cursor >= p->found->len)
		return p->cursor;
	return g_ptr_array_find(p->lines, g_ptr_array_index(p->found, p->cursor), &at) ? at : p->cursor;
}

void popup_close(struct popup *p)
{
	if (p->find)
		g_string_free(p->find, TRUE);
	p->find = NULL;
	g_clear_pointer(&p->names, g_ptr_array_unref);
	g_clear_pointer(&p->found, g_ptr_array_unref);
	g_clear_pointer(&p->title, g_free);
	g_clear_pointer(&p->lines, g_ptr_array_unref);
	g_clear_pointer(&p->wrapped, g_ptr_array_unref);
}

void popup_replace(struct popup *p, GPtrArray *lines)
{
	bool at_end = p->top + p->page >= shown(p)->len;

	g_ptr_array_unref(p->lines);
	g_clear_pointer(&p->wrapped, g_ptr_array_unref);
	p->lines = lines;
	if (at_end)
		p->top = shown(p)->len > p->page ? shown(p)->len - p->page : 0;
}

bool popup_is_open(const struct popup *p)
{
	return p->lines != NULL;
}

static void scroll(struct popup *p, long by)
{
	long n = (long)shown(p)->len, page = (long)p->page;
	long max = p->is_list ? n - 1 : n - page;
	size_t *at = p->is_list ? &p->cursor : &p->top;

	*at = (size_t)CLAMP((long)*at + by, 0, MAX(max, 0));
}

enum popup_result popup_command(struct popup *p, enum command_id command)
{
	g_assert(popup_is_open(p));

	if (command == CMD_DRILL)
		return p->is_list && shown(p)->len ? POPUP_PICKED : p->found ? POPUP_STAYS : POPUP_LEFT;
	if (command == CMD_BACK)
		return POPUP_LEFT;
	scroll(p, keys_rows(command, p->page, shown(p)->len));
	return POPUP_STAYS;
}

unsigned popup_draw(struct popup *p, struct canvas *c, const struct glyphs *g)
{
	unsigned at = 0;
	GPtrArray *lines;

	fit(p, MAX(c->cols, 8) - 1);
	lines = shown(p);
	canvas_clear(c);
	at = canvas_put(c, 0, 0, c->cols, ROLE_CRUMB, p->title);
	if (p->find)
		canvas_putf(c, 0, at, c->cols - at, ROLE_TITLE, p->find->len ? "   find: %s" : "   typing finds",
			    p->find->str);
	at = 0;
	p->page = c->rows > 3 ? c->rows - 3 : 1;
	if (p->is_list && p->cursor < p->top)
		p->top = p->cursor;
	if (p->is_list && p->cursor >= p->top + p->page)
		p->top = p->cursor - p->page + 1;
	if (p->top + p->page > lines->len)
		p->top = lines->len > p->page ? lines->len - p->page : 0;
	for (size_t i = 0; i < p->page && p->top + i < lines->len; i++) {
		const char *line = g_ptr_array_index(lines, p->top + i);
		bool heading = !p->is_list && *line && *line != ' ';
		unsigned y = 2 + (unsigned)i;

		canvas_put(c, y, 1, c->cols - 1, heading ? ROLE_HEADER : ROLE_TEXT, line);
		if (p->is_list)
			canvas_hit(c, y, 0, c->cols, HIT_LINE, p, (int64_t)(p->top + i));
		if (p->is_list && p->top + i == p->cursor) {
			canvas_put(c, y, 0, 1, ROLE_SELECTED, g->cursor);
			canvas_set_role(c, y, 0, c->cols, ROLE_SELECTED);
			at = y;
		}
	}
	if (p->found && !lines->len)
		canvas_put(c, 2, 1, c->cols, ROLE_DIM, "no line has all these words: Backspace erases");
	if (lines->len > p->page) {
		size_t end = MIN(p->top + p->page, (size_t)lines->len);
		g_autofree char *text = g_strdup_printf("%zu-%zu of %u", p->top + 1, end, lines->len);

		canvas_put_right(c, 0, c->cols > 24 ? c->cols - 24 : 0, MIN(c->cols, 24), ROLE_DIM, text);
	}
	return at;
}

void bar_draw(struct canvas *c, unsigned y, unsigned context, bool coach)
{
	struct bar_entry entries[40];
	unsigned n = keys_bar(context, coach, c->cols, entries, G_N_ELEMENTS(entries)), x = 0;
	unsigned begin;

	canvas_fill(c, y, 0, c->cols, ROLE_TEXT, " ");
	for (unsigned i = 0; i < n; i++) {
		if (entries[i].divided)
			x += canvas_put(c, y, x, c->cols, ROLE_DIM, "| ");
		begin = x;
		x += canvas_put(c, y, x, c->cols, ROLE_KEY, entries[i].key);
		if (entries[i].spaced)
			x += canvas_put(c, y, x, c->cols, ROLE_KEYNAME, ":");
		x += canvas_put(c, y, x, c->cols, ROLE_KEYNAME, entries[i].label) + 1;
		canvas_hit(c, y, begin, x - 1 - begin, HIT_KEY, NULL, entries[i].code);
		for (unsigned k = 0; k < entries[i].n_joined; k++)
			canvas_hit(c, y, begin + k, 1, HIT_KEY, NULL, entries[i].key[k]);
	}
}
