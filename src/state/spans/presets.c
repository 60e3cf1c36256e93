/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of presets, and which are on; see presets.h. */
#include "state/spans/presets.h"

#include "state/spans/rules.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"

#include <string.h>

struct preset_file {
	struct preset *head;
	char *text;
	size_t len;
	bool given, on;
};

static GPtrArray *files;		/* struct preset_file *, by name; NULL: none */
static char *chosen;			/* NULL: PRESETS_AUTO */

static void file_free(gpointer data)
{
	struct preset_file *f = data;
	preset_free(f->head);
	g_free(f->text);
	g_free(f);
}

static const struct preset_file *file_at(size_t i)
{
	return g_ptr_array_index(files, i);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	const struct preset_file *const *x = a, *const *y = b;
	return strcmp((*x)->head->name, (*y)->head->name);
}

static bool is_on(const struct preset *p, const char *words)
{
	g_auto(GStrv) items = g_strsplit(words, ",", -1);

	for (char **item = items; *item; item++) {
		g_strstrip(*item);
		if (g_str_equal(*item, p->name) || (g_str_equal(*item, PRESETS_AUTO) && !p->on_request))
			return true;
	}
	return false;
}

bool presets_add(const char *path, const char *text, size_t len, bool given, GError **error)
{
	g_autoptr(GPtrArray) heads_of = NULL;
	struct rules *r = rules_new();
	bool good = rules_parse(r, path, text, len, false, error) && rules_check(r, error);

	if (good)
		heads_of = rules_take_presets(r);
	rules_free(r);
	if (!good)
		return false;
	if (heads_of->len != 1)
		return fail(error, BLK_RULES_ERROR, 0, "%s: a preset has one [preset NAME], this file has %u", path,
			    heads_of->len);
	struct preset *head = g_ptr_array_index(heads_of, 0);
	if (presets_find(head->name))
		return true;
	if (presets_n() >= LIMIT_PRESETS)
		return fail(error, BLK_RULES_ERROR, 0, "%s: there are more than %d presets", path, LIMIT_PRESETS);
	struct preset_file *f = g_new0(struct preset_file, 1);
	f->head = g_ptr_array_steal_index(heads_of, 0);
	f->text = g_memdup2(text, len);
	f->len = len;
	f->given = given;
	f->on = given || is_on(f->head, presets_chosen());
	if (!files)
		files = g_ptr_array_new_with_free_func(file_free);
	g_ptr_array_add(files, f);
	g_ptr_array_sort(files, by_name);
	return true;
}

void presets_clear(void)
{
	g_clear_pointer(&files, g_ptr_array_unref);
	g_clear_pointer(&chosen, g_free);
}

size_t presets_n(void)
{
	return files ? files->len : 0;
}

const struct preset *presets_at(size_t i)
{
	return file_at(i)->head;
}

const struct preset *presets_find(const char *name)
{
	for (size_t i = 0; i < presets_n(); i++)
		if (g_str_equal(presets_at(i)->name, name))
			return presets_at(i);
	return NULL;
}

/* ---- which are on ---- */

const char *presets_chosen(void)
{
	return chosen ? chosen : PRESETS_AUTO;
}

bool presets_choose(const char *words, GError **error)
{
	g_auto(GStrv) items = g_strsplit(words, ",", -1);
	g_autoptr(GString) known = g_string_new(PRESETS_AUTO ", " PRESETS_NONE);

	for (size_t i = 0; i < presets_n(); i++)
		g_string_append_printf(known, ", %s", presets_at(i)->name);
	for (char **item = items; *item; item++) {
		bool word = g_str_equal(g_strstrip(*item), PRESETS_AUTO) ||
			    (g_str_equal(*item, PRESETS_NONE) && g_strv_length(items) == 1);
		if (!word && !presets_find(*item))
			return fail(error, BLK_RULES_ERROR, 0, "presets are %s; there is no '%s'", known->str, *item);
	}
	if (!*items)
		return fail(error, BLK_RULES_ERROR, 0, "presets are %s", known->str);
	g_free(chosen);
	chosen = g_strjoinv(",", items);
	for (size_t i = 0; i < presets_n(); i++) {
		struct preset_file *f = g_ptr_array_index(files, i);
		f->on = f->given || is_on(f->head, chosen);
	}
	return true;
}

bool presets_is_on(size_t i)
{
	return file_at(i)->on;
}

bool presets_add_rules(struct rules *r, GError **error)
{
	for (size_t i = 0; i < presets_n(); i++)
		if (file_at(i)->on && !rules_parse(r, presets_at(i)->file, file_at(i)->text, file_at(i)->len, false,
						   error))
			return false;
	return true;
}

static GPtrArray *those(const char *const *events, bool on)
{
	GPtrArray *found = g_ptr_array_new();

	for (size_t i = 0; i < presets_n(); i++)
		if (file_at(i)->on == on && preset_is_met(presets_at(i), events))
			g_ptr_array_add(found, (gpointer)presets_at(i));
	return found;
}

GPtrArray *presets_in_use(const char *const *events)
{
	return those(events, true);
}

GPtrArray *presets_on_offer(const char *const *events)
{
	return those(events, false);
}

char *presets_names(const GPtrArray *presets, const char *between)
{
	GString *s = g_string_new(NULL);

	PTR_EACH(const struct preset, p, presets)
		g_string_append_printf(s, "%s%s", s->len ? between : "", p->name);
	return g_string_free(s, false);
}
