/* SPDX-License-Identifier: GPL-2.0-only */
/* Ids of names in imported files: see import_names.h. */
#include "export/import_names.h"

#include <string.h>

void import_names_init(struct import_names *n)
{
	GHashTable **tables[] = { &n->strings, &n->hosts, &n->threads, &n->processes, &n->files };

	*n = (struct import_names){ .placed = g_hash_table_new(NULL, NULL),
				    .host_names = g_ptr_array_new_with_free_func(g_free) };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		*tables[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void import_names_clear(struct import_names *n)
{
	g_hash_table_unref(n->strings);
	g_hash_table_unref(n->hosts);
	g_hash_table_unref(n->threads);
	g_hash_table_unref(n->processes);
	g_hash_table_unref(n->files);
	g_hash_table_unref(n->placed);
	g_ptr_array_unref(n->host_names);
}

/* The id of a key. *ret_new: the key is new, and the caller must publish it. */
static uint32_t id_of(GHashTable *table, const char *key, bool *ret_new)
{
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(table, key));

	*ret_new = known == 0;
	if (known)
		return known - 1;
	uint32_t id = g_hash_table_size(table);
	g_hash_table_insert(table, g_strdup(key), GUINT_TO_POINTER(id + 1));
	return id;
}

uint32_t import_string(struct import_names *n, const char *text)
{
	bool is_new;
	uint32_t id = id_of(n->strings, text, &is_new);
	if (is_new)
		publication_add_string(n->pub, id, text);
	return id;
}

uint32_t import_host(struct import_names *n, const char *name)
{
	bool is_new;
	if (!name || !*name)
		return ID_NONE;
	uint32_t id = id_of(n->hosts, name, &is_new);
	if (is_new) {
		g_autofree char *clock = span_host_clock(name);
		publication_add_host(n->pub, id, name, clock);
		g_ptr_array_add(n->host_names, g_strdup(name));
	}
	return id;
}

static uint32_t import_process(struct import_names *n, uint32_t host, int32_t pid)
{
	g_autofree char *key = g_strdup_printf("%u %d", host, pid);
	bool is_new;
	if (pid < 0)
		return ID_NONE;
	uint32_t id = id_of(n->processes, key, &is_new);
	struct process_info info = { .host = host, .pid = pid, .ppid = -1, .leader = ID_NONE,
				     .start_ns = TIME_UNKNOWN, .exit_ns = TIME_UNKNOWN, .vpid = -1 };
	if (is_new)
		publication_add_process(n->pub, id, &info);
	return id;
}

uint32_t import_thread(struct import_names *n, uint32_t host, const char *label, int32_t pid,
		       int32_t *ret_tid)
{
	const char *slash = label ? strrchr(label, '/') : NULL;
	gint64 tid;
	bool is_new;

	if (!slash || !g_ascii_string_to_signed(slash + 1, 10, 0, INT32_MAX, &tid, NULL))
		return ID_NONE;
	if (ret_tid)
		*ret_tid = (int32_t)tid;
	g_autofree char *key = g_strdup_printf("%u %s", host, label);
	g_autofree char *comm = g_strndup(label, slash - label);
	uint32_t id = id_of(n->threads, key, &is_new);
	if (!is_new && (pid < 0 || g_hash_table_contains(n->placed, GUINT_TO_POINTER(id))))
		return id;
	if (pid >= 0)
		g_hash_table_add(n->placed, GUINT_TO_POINTER(id));
	struct name_at name = { .since = INT64_MIN,
				.name = import_string(n, strcmp(comm, "?") ? comm : "") };
	struct thread_info info = { .host = host, .tid = (int32_t)tid,
				    .process = import_process(n, host, pid),
				    .start_ns = TIME_UNKNOWN, .exit_ns = TIME_UNKNOWN,
				    .names = &name, .n_names = 1 };
	publication_add_thread(n->pub, id, &info);
	return id;
}

uint32_t import_file(struct import_names *n, uint32_t host, const char *path, const char *kind)
{
	struct file_info info = { .host = host, .kind = FILE_UNKNOWN };
	bool is_new;

	if (!path)
		return ID_NONE;
	for (int k = 0; kind && k < FILE_KIND_N; k++)
		if (strcmp(kind, file_kind_name[k]) == 0)
			info.kind = k;
	g_autofree char *key = g_strdup_printf("%u %d %s", host, info.kind, path);
	uint32_t id = id_of(n->files, key, &is_new);
	info.path = import_string(n, path);
	if (is_new)
		publication_add_file(n->pub, id, &info);
	return id;
}
