/* SPDX-License-Identifier: GPL-2.0-only */
/* Source classes of babeltrace2's plugin "ctf" (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_PLUGIN_H
#define BLK_TRACE_BT2_BT2_PLUGIN_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

/*
 * The source class "fs" of the plugin, for one graph. Give it back when the graph is freed.
 * Any thread. (babeltrace2's own reference counts and plugin list are for one thread only.)
 */
const bt_component_class_source *bt2_class_take(const char *name, GError **error);
void bt2_class_give(const bt_component_class_source *cls);	/* NULL is fine */

#endif
