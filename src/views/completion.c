/* SPDX-License-Identifier: GPL-2.0-only */
/* Completes filters: see completion.h. */
#include "views/completion.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/text.h"

#include <string.h>

#define SHOWN 6				/* candidates */

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || (c && strchr("_.-/:@*?+%", c)) || (unsigned char)c >= 0x80;
}

/* The beginning of the word, or of the text in quotes, that ends at the cursor. */
static size_t word_begin(const char *text, size_t at)
{
	size_t quote = 0;
	bool quoted = false;
	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\\' && quoted && i + 1 < at) {
			i++;
		} else if (text[i] == '"') {
			quoted = !quoted;
			quote = i;
		}
	}
	if (quoted)
		return quote;
	while (at > 0 && is_word(text[at - 1]))
		at--;
	return at;
}

static size_t skip_back(const char *text, size_t end, const char *chars)
{
	while (end > 0 && strchr(chars, text[end - 1]))
		end--;
	return end;
}

/* The word that ends there, which is moved to its beginning. */
static char *word_back(const char *text, size_t *end)
{
	size_t to = *end;
	while (*end > 0 && is_word(text[*end - 1]))
		(*end)--;
	return g_strndup(text + *end, to - *end);
}

/* The column whose value is typed at `from`: after "COLUMN OP", or in "COLUMN in (A, B". -1: none. */
static int valued_column(const struct view *v, const char *text, size_t from)
{
	size_t end = skip_back(text, from, " \t");
	size_t after = skip_back(text, end, "=<>~!");
	if (after < end) {
		after = skip_back(text, after, " \t");
		g_autofree char *column = word_back(text, &after);
		return view_column_typed(v, column);
	}
	while (end > 0 && text[end - 1] != '(' && text[end - 1] != ')')
		end--;
	if (!end || text[end - 1] != '(')
		return -1;
	end = skip_back(text, end - 1, " \t");
	g_autofree char *in = word_back(text, &end);
	end = skip_back(text, end, " \t");
	g_autofree char *column = word_back(text, &end);
	if (g_str_equal(column, "not")) {
		g_free(column);
		end = skip_back(text, end, " \t");
		column = word_back(text, &end);
	}
	return g_str_equal(in, "in") ? view_column_typed(v, column) : -1;
}

static char *value_word(const char *value)
{
	bool plain = *value;
	for (const char *c = value; *c; c++)
		plain = plain && is_word(*c) && !strchr("*?", *c);
	return plain ? g_strdup(value) : expr_quote(value);
}

static bool begins_with(const char *word, const char *begin)
{
	return g_ascii_strncasecmp(word, begin, strlen(begin)) == 0;
}

/* A value may be typed with a quote that it does not need. */
static void add_values(GHashTable *found, const struct view *v, const struct rows *rows, int column, const char *begin)
{
	const struct column *c = &v->columns[column];
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value value = column_value(c, rows->rows->pdata[i], rows);
		if (value.kind != VALUE_TEXT)
			continue;
		g_autofree char *visible = text_visible(value.s), *word = value_word(value.s);
		bool typed = begins_with(word, begin) || (*begin == '"' && begins_with(value.s, begin + 1));
		if (typed && g_str_equal(visible, value.s))
			g_hash_table_add(found, g_steal_pointer(&word));
	}
}

/* Ids; titles if capital letters are typed. */
static void add_columns(GHashTable *found, const struct view *v, const char *begin)
{
	for (size_t i = 0; g_ascii_isupper(*begin) && i < v->n_columns; i++)
		if (g_str_has_prefix(v->columns[i].title, begin) && view_column_typed(v, v->columns[i].title) == (int)i)
			g_hash_table_add(found, g_strdup(v->columns[i].title));
	if (g_hash_table_size(found))
		return;
	for (size_t i = 0; i < v->n_columns; i++)
		if (begins_with(v->columns[i].id, begin))
			g_hash_table_add(found, g_strdup(v->columns[i].id));
}

/* What may follow a column, or a whole test. */
static void add_operators(GHashTable *found, const struct view *v, int column, const char *begin)
{
	static const char *const texts[] = { "==", "!=", "=~", "!~", "in (", "not in (", NULL };
	static const char *const numbers[] = { "==", "!=", "<", "<=", ">", ">=", NULL };
	static const char *const joins[] = { "&&", "||", NULL };
	const char *const *list = column < 0 ? joins : v->columns[column].kind == VALUE_TEXT ? texts : numbers;
	for (; *list; list++)
		if (begins_with(*list, begin))
			g_hash_table_add(found, g_strdup(*list));
}

/* Does the word that is typed at `from` follow a column (*ret_column) or a whole test (-1)? */
static bool follows_test(const struct view *v, const char *text, size_t from, int *ret_column)
{
	size_t end = skip_back(text, from, " \t"), begin = end;
	*ret_column = -1;
	if (!end || end == from)
		return false;
	if (text[end - 1] == ')' || text[end - 1] == '"')
		return true;
	g_autofree char *word = word_back(text, &begin);
	if (!*word || g_str_equal(word, "not") || g_str_equal(word, "and") || g_str_equal(word, "or"))
		return false;
	if (skip_back(text, skip_back(text, begin, " \t"), "=<>~!") == skip_back(text, begin, " \t"))
		*ret_column = view_column_typed(v, word);
	return true;
}

static size_t common(const char *a, const char *b)
{
	size_t n = 0;
	while (a[n] && a[n] == b[n])
		n++;
	while (n && ((unsigned char)a[n] & 0xc0) == 0x80)	/* no half characters */
		n--;
	return n;
}

static char *describe(const GPtrArray *words)
{
	GString *s = g_string_new(NULL);
	for (guint i = 0; i < words->len && i < SHOWN; i++)
		g_string_append_printf(s, "%s%s", i ? ", " : "", (const char *)words->pdata[i]);
	if (words->len > SHOWN)
		g_string_append_printf(s, " and %u more", words->len - SHOWN);
	return g_string_free(s, false);
}

struct completion completion_find(const struct view *v, const struct rows *rows, const char *text, size_t at)
{
	struct completion ret = { .from = word_begin(text, at) };
	g_autofree char *begin = g_strndup(text + ret.from, at - ret.from);
	g_autoptr(GHashTable) found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	int column = valued_column(v, text, ret.from);
	int before;
	if (column >= 0)
		add_values(found, v, rows, column, begin);
	else if (*begin != '"' && follows_test(v, text, ret.from, &before))
		add_operators(found, v, before, begin);
	else if (*begin != '"')
		add_columns(found, v, begin);

	g_autoptr(GPtrArray) words = g_ptr_array_new();
	TABLE_EACH(each, found)
		g_ptr_array_add(words, each.key);
	if (!words->len)
		return ret;
	g_ptr_array_sort(words, order_texts);
	const char *first = words->pdata[0], *last = words->pdata[words->len - 1];
	size_t n = words->len == 1 ? strlen(first) : common(first, last);
	ret.with = words->len == 1 ? g_strconcat(first, " ", NULL) :
		   n > strlen(begin) ? g_strndup(first, n) : NULL;
	ret.candidates = words->len > 1 ? describe(words) : NULL;
	return ret;
}

void completion_clear(struct completion *c)
{
	g_free(c->with);
	g_free(c->candidates);
	*c = (struct completion){ 0 };
}
