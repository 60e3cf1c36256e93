/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source classes of babeltrace2's plugin "ctf". babeltrace2's reference counts and plugin list are not thread safe. So
 * each graph gets a class object that no other graph uses; they are reused and never freed.
 */
#include "trace/bt2/bt2_plugin.h"

#include "trace/reader.h"

#include <string.h>

struct lent {
	const bt_plugin *plugin;
	const bt_component_class_source *cls;
	const char *name;		/* interned: "fs" */
	bool busy;
};

static GMutex lock;
static GPtrArray *all;			/* struct lent * */

static struct lent *load(const char *name)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *cls = NULL;
	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		cls = bt_plugin_borrow_source_component_class_by_name_const(plugin, name);
	if (!cls) {
		bt_plugin_put_ref(plugin);
		bt_current_thread_clear_error();
		return NULL;
	}
	struct lent *l = g_new0(struct lent, 1);
	*l = (struct lent){ plugin, cls, g_intern_string(name), false };
	g_ptr_array_add(all, l);
	return l;
}

const bt_component_class_source *bt2_class_take(const char *name, GError **error)
{
	struct lent *found = NULL;
	g_mutex_lock(&lock);
	if (!all)
		all = g_ptr_array_new();
	for (guint i = 0; i < all->len && !found; i++) {
		struct lent *l = all->pdata[i];
		if (!l->busy && !strcmp(l->name, name))
			found = l;
	}
	if (!found)
		found = load(name);
	if (found)
		found->busy = true;
	g_mutex_unlock(&lock);
	if (found)
		return found->cls;
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL,
		    "cannot use babeltrace2: its plugin 'ctf' (class '%s') is not installed", name);
	return NULL;
}

void bt2_class_give(const bt_component_class_source *cls)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&lock);
	for (guint i = 0; cls && i < all->len; i++) {
		struct lent *l = all->pdata[i];
		if (l->cls == cls)
			l->busy = false;
	}
}
