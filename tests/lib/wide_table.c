/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "lib/wide_table.h"

#define MAX_STEPS 5		/* of a path */
#define MAX_PATHS 200		/* of an event */

struct wide_names {
	GHashTable *by_event;	/* char * -> GPtrArray of char *, in order */
	GPtrArray *events;	/* its keys, in order */
};

struct wide_names *wide_names_new(void)
{
	struct wide_names *w = g_new0(struct wide_names, 1);
	w->by_event = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					    (GDestroyNotify)g_ptr_array_unref);
	w->events = g_ptr_array_new();
	return w;
}

void wide_names_free(struct wide_names *w)
{
	if (!w)
		return;
	g_hash_table_unref(w->by_event);
	g_ptr_array_unref(w->events);
	g_free(w);
}

static void add_path(GPtrArray *paths, const char *path)
{
	for (guint i = 0; i < paths->len; i++)
		if (!strcmp(paths->pdata[i], path))
			return;
	if (paths->len < MAX_PATHS)
		g_ptr_array_add(paths, g_strdup(path));
}

static void add_paths(GPtrArray *paths, const struct ctf_type *t, const char *path, unsigned steps)
{
	if (steps > MAX_STEPS)
		return;
	if (t->kind == CTF_STRUCT || t->kind == CTF_VARIANT) {
		for (uint32_t i = 0; i < t->n_fields; i++) {
			if (strpbrk(t->field[i].name, ".[|*"))
				continue;
			g_autofree char *name = g_strconcat(path, *path ? "." : "",
							    t->field[i].name, NULL);
			add_paths(paths, t->field[i].type, name, steps + 1);
		}
		return;
	}
	add_path(paths, path);
	if (t->kind != CTF_ARRAY && t->kind != CTF_SEQUENCE)
		return;
	for (unsigned i = 0; i < 2; i++) {
		g_autofree char *element = g_strdup_printf("%s[%u]", path, i);
		add_paths(paths, t->element, element, steps + 1);
	}
}

static void add_event(struct wide_names *w, const struct ctf_event_class *ec)
{
	GPtrArray *paths = g_hash_table_lookup(w->by_event, ec->name);
	size_t len = strlen(ec->name);
	if (!len || ec->name[len - 1] == '*')
		return;
	if (!paths) {
		char *name = g_strdup(ec->name);
		paths = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(w->by_event, name, paths);
		g_ptr_array_add(w->events, name);
	}
	if (ec->fields)
		add_paths(paths, ec->fields, "", 0);
}

void wide_names_add(struct wide_names *w, const struct ctf_meta *m)
{
	for (guint i = 0; i < m->streams->len; i++) {
		const struct ctf_stream_class *sc = m->streams->pdata[i];
		for (guint j = 0; j < sc->events->len; j++)
			add_event(w, sc->events->pdata[j]);
	}
}

unsigned wide_names_tables(const struct wide_names *w, unsigned max)
{
	unsigned n = 1;
	for (guint i = 0; i < w->events->len; i++) {
		GPtrArray *paths = g_hash_table_lookup(w->by_event, w->events->pdata[i]);
		n = MAX(n, (paths->len + BLK_MAX_FIELDS - 1) / BLK_MAX_FIELDS);
	}
	return MIN(n, max);
}

void wide_table_init(struct wide_table *t, const struct wide_names *w, unsigned number)
{
	t->rows = g_new0(struct blk_subscription, w->events->len + 1);
	t->n_rows = w->events->len;
	t->strings = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < w->events->len; i++) {
		GPtrArray *paths = g_hash_table_lookup(w->by_event, w->events->pdata[i]);
		char *event = g_strdup(w->events->pdata[i]);
		g_ptr_array_add(t->strings, event);
		t->rows[i].event = event;
		for (guint j = 0; j < BLK_MAX_FIELDS; j++) {
			guint from = number * BLK_MAX_FIELDS + j;
			if (from >= paths->len)
				break;
			char *path = g_strdup(paths->pdata[from]);
			g_ptr_array_add(t->strings, path);
			t->rows[i].fields[j] = path;
		}
	}
}

void wide_table_clear(struct wide_table *t)
{
	g_free(t->rows);
	g_ptr_array_unref(t->strings);
}
