/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user has chosen: see prefs.h. */
#include "ui/prefs.h"

#include "ui/prompt_history.h"

#include "base/timefmt.h"

static void view_free(gpointer data)
{
	struct prefs_view *v = data;

	g_free(v->columns);
	g_free(v->sort);
	g_free(v);
}

struct prefs *prefs_new(void)
{
	struct prefs *p = g_new0(struct prefs, 1);

	p->step_ns = NS_PER_S;
	p->mouse = true;
	p->prompt_history = prompt_history_new();
	p->views = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, view_free);
	p->warnings = g_ptr_array_new_with_free_func(g_free);
	return p;
}

void prefs_free(struct prefs *p)
{
	if (!p)
		return;
	g_free(p->view);
	g_free(p->presets);
	prompt_history_free(p->prompt_history);
	g_hash_table_unref(p->views);
	g_ptr_array_unref(p->warnings);
	g_free(p);
}

const struct prefs_view *prefs_view_get(const struct prefs *p, const char *id)
{
	return g_hash_table_lookup(p->views, id);
}

static struct prefs_view *view_of(struct prefs *p, const char *id)
{
	struct prefs_view *v = g_hash_table_lookup(p->views, id);

	if (!v) {
		v = g_new0(struct prefs_view, 1);
		g_hash_table_insert(p->views, g_strdup(id), v);
	}
	return v;
}

static void set_text(char **at, const char *text)
{
	char *old = *at;

	*at = g_strdup(text);
	g_free(old);		/* text may be it */
}

void prefs_view_set_columns(struct prefs *p, const char *id, const char *columns)
{
	set_text(&view_of(p, id)->columns, columns);
}

void prefs_view_set_sort(struct prefs *p, const char *id, const char *sort)
{
	set_text(&view_of(p, id)->sort, sort);
}
