/* SPDX-License-Identifier: GPL-2.0-only */
/* Layouts kept once: many event classes share one. */
#include "trace/layouts.h"

static guint hash_layout(gconstpointer p)
{
	guint h = 5381;
	for (size_t i = 0; i < sizeof(struct blk_layout); i++)
		h = h * 33 + ((const uint8_t *)p)[i];
	return h;
}

static gboolean equal_layouts(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct blk_layout));
}

GHashTable *layouts_new(void)
{
	G_STATIC_ASSERT(sizeof(struct blk_slot_layout) == 8);	/* no padding to compare */
	return g_hash_table_new_full(hash_layout, equal_layouts, g_free, NULL);
}

const struct blk_layout *layouts_keep(GHashTable *layouts, const struct blk_layout *l)
{
	struct blk_layout *kept = g_hash_table_lookup(layouts, l);
	if (!kept) {
		kept = g_memdup2(l, sizeof *l);
		g_hash_table_add(layouts, kept);
	}
	return kept;
}
