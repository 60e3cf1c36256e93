/* SPDX-License-Identifier: GPL-2.0-only */
/* Which words in names of events say that something begins or ends: see suggest.h. */
#include "state/spans/suggest.h"

#include <string.h>

#define WORDS 32			/* of a name; later ones are not looked at */

static const struct { const char *word; uint8_t role, family; } words[] = {
	{ "entry", SUGGEST_BEGIN, 1 }, { "enter", SUGGEST_BEGIN, 1 }, { "entered", SUGGEST_BEGIN, 1 },
	{ "exit", SUGGEST_END, 1 }, { "leave", SUGGEST_END, 1 }, { "left", SUGGEST_END, 1 },
	{ "exited", SUGGEST_END, 1 }, { "return", SUGGEST_END, 1 }, { "ret", SUGGEST_END, 1 },
	{ "begin", SUGGEST_BEGIN, 2 }, { "began", SUGGEST_BEGIN, 2 }, { "start", SUGGEST_BEGIN, 2 },
	{ "started", SUGGEST_BEGIN, 2 }, { "starting", SUGGEST_BEGIN, 2 }, { "beginning", SUGGEST_BEGIN, 2 },
	{ "end", SUGGEST_END, 2 }, { "ended", SUGGEST_END, 2 }, { "stop", SUGGEST_END, 2 },
	{ "stopped", SUGGEST_END, 2 }, { "done", SUGGEST_END, 2 }, { "finish", SUGGEST_END, 2 },
	{ "finished", SUGGEST_END, 2 }, { "complete", SUGGEST_END, 2 }, { "completed", SUGGEST_END, 2 },
	{ "before", SUGGEST_BEGIN, 3 }, { "after", SUGGEST_END, 3 },
	{ "pre", SUGGEST_BEGIN, 4 }, { "post", SUGGEST_END, 4 },
	{ "acquire", SUGGEST_BEGIN, 5 }, { "acquired", SUGGEST_BEGIN, 5 },
	{ "release", SUGGEST_END, 5 }, { "released", SUGGEST_END, 5 },
	{ "lock", SUGGEST_BEGIN, 6 }, { "unlock", SUGGEST_END, 6 },
	{ "open", SUGGEST_BEGIN, 7 }, { "close", SUGGEST_END, 7 },
};

/* From here on a new word begins: after a separator, at a capital after a small letter (gcStart), and at the last
 * capital of several before a small letter (GCStart). */
static bool begins_word(const char *name, size_t i)
{
	if (i == 0 || !g_ascii_isalnum(name[i - 1]))
		return true;
	return g_ascii_isupper(name[i]) && (g_ascii_islower(name[i - 1]) || g_ascii_islower(name[i + 1]));
}

static bool is_version(const char *word)
{
	return word[0] == 'v' && word[1] && strspn(word + 1, "0123456789") == strlen(word + 1);
}

static int find(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_equal(words[i].word, word))
			return (int)i;
	return -1;
}

/* The name's words in lower case; of "ros2:callback_start" "ros2:", "callback", "start". */
static GPtrArray *split(const char *name)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
	const char *colon = strrchr(name, ':');
	size_t provider = colon ? (size_t)(colon - name) + 1 : 0, from = 0;

	if (provider)
		g_ptr_array_add(all, g_strndup(name, provider));
	name += provider;
	for (size_t i = 0, len = strlen(name); i <= len && all->len < WORDS; i++) {
		bool ends = !name[i] || !g_ascii_isalnum(name[i]);
		if (i > from && (ends || begins_word(name, i)))
			g_ptr_array_add(all, g_ascii_strdown(name + from, (gssize)(i - from)));
		if (ends)
			from = i + 1;
		else if (begins_word(name, i))
			from = i;
	}
	return all;
}

enum suggest_role suggest_role(const char *name, char **ret_stem, unsigned *ret_family)
{
	g_autoptr(GPtrArray) all = split(name);
	g_autoptr(GString) stem = g_string_new(NULL);
	guint first = strchr(name, ':') ? 1 : 0, at = G_MAXUINT;
	int best = -1;

	/* the last word of the most usual families counts */
	for (guint i = first; i < all->len; i++) {
		int here = find(all->pdata[i]);
		if (here >= 0 && (best < 0 || words[here].family <= MAX(words[best].family, 2))) {
			best = here;
			at = i;
		}
	}
	for (guint i = 0; i < all->len; i++)
		if (i != at && (i < first || !is_version(all->pdata[i])))
			g_string_append_printf(stem, "%s%s", i > first && stem->len &&
					       stem->str[stem->len - 1] != ':' ? "_" : "",
					       (const char *)all->pdata[i]);
	*ret_stem = g_string_free(g_steal_pointer(&stem), FALSE);
	*ret_family = best < 0 ? 0 : words[best].family;
	return best < 0 ? SUGGEST_NONE : (enum suggest_role)words[best].role;
}
