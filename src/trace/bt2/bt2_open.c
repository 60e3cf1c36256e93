/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens traces with babeltrace2. Directories are checked first, for clear error messages; then they are grouped into
 * traces by UUID, as one src.ctf.fs component reads one trace with all its rotation chunks.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/bt2/bt2_error.h"
#include "trace/bt2/bt2_open.h"

#include "base/fail.h"
#include "base/user.h"

#define LOG_NONE BT_LOGGING_LEVEL_NONE

/* babeltrace2 opens files itself, as the user that reads. */
static bool check_access(const char *file, GError **error)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS, "babeltrace2 cannot read '%s': %s%s", file,
			    g_strerror(errno), user_hint(errno));
	close(fd);
	return true;
}

static bool check_stream_files(const char *dir, const struct ctf_meta *meta, struct bt2_sizes *z, GError **error)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	if (!d)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS,
			    "cannot list '%s': %s%s", dir, g_strerror(errno), user_hint(errno));
	for (const char *name; (name = g_dir_read_name(d));) {
		g_autofree char *file = g_build_filename(dir, name, NULL);
		struct stat st;
		if (name[0] == '.' || !strcmp(name, "metadata") || stat(file, &st) ||
		    !S_ISREG(st.st_mode))
			continue;
		z->total += st.st_size;
		if (!check_access(file, error) ||
		    !bt2_check_packets(file, st.st_size, meta, z, error))
			return false;
	}
	return true;
}

bool bt2_check_dir(const char *dir, struct bt2_sizes *z, struct bt2_metadata *ret, GError **error)
{
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	bool ok = bt2_check_metadata(file, ret, error) && check_access(file, error) &&
		  check_stream_files(dir, ret->meta, z, error);
	g_clear_pointer(&ret->meta, ctf_meta_free);
	return ok;
}

static const bt_component_source *add_source(bt_graph *graph, const bt_component_class_source *cls,
					     char **dirs, size_t n)
{
	static gint number;		/* component names have to differ */
	g_autofree char *name = g_strdup_printf("trace-%d", g_atomic_int_add(&number, 1));
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create();
	bt_value *inputs = bt_value_array_create();
	for (size_t i = 0; i < n; i++)
		bt_value_array_append_string_element(inputs, dirs[i]);
	bt_value_map_insert_entry(params, "inputs", inputs);
	if (bt_graph_add_source_component(graph, cls, name, params, LOG_NONE, &source) !=
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		source = NULL;
	bt_value_put_ref(inputs);
	bt_value_put_ref(params);
	return source;
}

/* Adds a component for each directory. */
static bool add_each(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *group,
		     GPtrArray *ret, GError **error)
{
	for (guint i = 0; i < group->len; i++) {
		const bt_component_source *one = add_source(graph, cls, (char **)&group->pdata[i], 1);
		if (!one) {
			g_autofree char *what = g_strdup_printf("cannot read trace '%s'",
								(char *)group->pdata[i]);
			bt2_set_error(error, BLK_TRACE_ERROR_CORRUPT, what);
			return false;
		}
		g_ptr_array_add(ret, (void *)one);
	}
	return true;
}

/* Adds one component for the directories of a trace. False without an error: its UUID was added to `apart`. */
static bool add_group(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *group, char *uuid,
		      GHashTable *apart, GPtrArray *ret, GError **error)
{
	if (group->len == 1 || g_hash_table_contains(apart, uuid))
		return add_each(graph, cls, group, ret, error);
	const bt_component_source *all = add_source(graph, cls, (char **)group->pdata, group->len);
	if (!all) {
		bt_current_thread_clear_error();
		g_hash_table_add(apart, g_strdup(uuid));
		return false;
	}
	g_ptr_array_add(ret, (void *)all);
	return true;
}

GPtrArray *bt2_add_sources(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *dirs,
			   GPtrArray *uuids, GHashTable *apart, GError **error)
{
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < dirs->len; i++) {
		g_autoptr(GPtrArray) group = g_ptr_array_new();
		char *uuid = uuids->pdata[i];
		if (uuid[0] && !g_hash_table_add(done, uuid))
			continue;
		g_ptr_array_add(group, dirs->pdata[i]);
		for (guint j = i + 1; uuid[0] && j < dirs->len; j++)
			if (!strcmp(uuids->pdata[j], uuid))
				g_ptr_array_add(group, dirs->pdata[j]);
		if (!add_group(graph, cls, group, uuid, apart, sources, error))
			return NULL;
	}
	return g_steal_pointer(&sources);
}
