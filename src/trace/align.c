/* SPDX-License-Identifier: GPL-2.0-only */
/* Offsets that are added to the clocks of host boots: see align.h. */
#include "trace/align.h"

#include "base/sort.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static GMutex lock;
static GHashTable *moved;		/* char * -> int64_t *; NULL: empty; under the lock */

void align_install(const char *boot, int64_t ns)
{
	if (!boot || !*boot)
		return;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&lock);
	if (!moved)
		moved = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_insert(moved, g_strdup(boot), g_memdup2(&ns, sizeof ns));
}

char *align_text(void)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) text = g_string_new(NULL);
	GHashTableIter it;
	gpointer boot, ns;

	g_mutex_lock(&lock);
	if (moved)
		g_hash_table_iter_init(&it, moved);
	while (moved && g_hash_table_iter_next(&it, &boot, &ns))
		if (*(int64_t *)ns)
			g_ptr_array_add(lines, g_strdup_printf("%s %" G_GINT64_FORMAT "\n", (char *)boot,
							       *(int64_t *)ns));
	g_mutex_unlock(&lock);
	g_ptr_array_sort(lines, order_texts);
	for (guint i = 0; i < lines->len; i++)
		g_string_append(text, g_ptr_array_index(lines, i));
	return g_string_free(g_steal_pointer(&text), false);
}

int64_t align_of(const char *boot)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&lock);
	const int64_t *ns = moved && boot && *boot ? g_hash_table_lookup(moved, boot) : NULL;
	return ns ? *ns : 0;
}
