/* SPDX-License-Identifier: GPL-2.0-only */
/* Offsets that are added to the clocks of host boots: see align.h. */
#include "trace/align.h"

#include <glib.h>

static GMutex lock;
static GHashTable *moved;		/* char * -> int64_t *; NULL: empty; under the lock */

void align_install(const char *boot, int64_t ns)
{
	if (!boot || !*boot)
		return;
	g_mutex_lock(&lock);
	if (!moved)
		moved = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_insert(moved, g_strdup(boot), g_memdup2(&ns, sizeof ns));
	g_mutex_unlock(&lock);
}

int64_t align_of(const char *boot)
{
	g_mutex_lock(&lock);
	const int64_t *ns = moved && boot && *boot ? g_hash_table_lookup(moved, boot) : NULL;
	int64_t found = ns ? *ns : 0;
	g_mutex_unlock(&lock);
	return found;
}
