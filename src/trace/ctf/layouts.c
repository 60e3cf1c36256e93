/* SPDX-License-Identifier: GPL-2.0-only */
/* Layouts, stored once: many event classes share one. */
#include "trace/ctf/layouts.h"

static guint hash_layout(gconstpointer p)
{
	uint64_t h = 5381, slot;
	for (size_t i = 0; i < sizeof(struct blk_layout); i += sizeof slot) {
		memcpy(&slot, (const uint8_t *)p + i, sizeof slot);
		h = (h ^ slot) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return (guint)(h >> 32);
}

static gboolean equal_layouts(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct blk_layout));
}

GHashTable *layouts_new(void)
{
	G_STATIC_ASSERT(sizeof(struct blk_slot_layout) == 8);	/* no padding, so layouts can be compared by
								 * memcmp() */
	return g_hash_table_new_full(hash_layout, equal_layouts, g_free, NULL);
}

const struct blk_layout *layouts_intern(GHashTable *layouts, const struct blk_layout *l)
{
	struct blk_layout *stored = g_hash_table_lookup(layouts, l);
	if (!stored) {
		stored = g_memdup2(l, sizeof *l);
		g_hash_table_add(layouts, stored);
	}
	return stored;
}
