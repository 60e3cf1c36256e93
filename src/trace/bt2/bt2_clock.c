/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks of babeltrace2's traces, with one offset for each host boot: see bt2_clock.h. */
#include "trace/bt2/bt2_clock.h"

#include "trace/align.h"

/* The offset that this boot uses; pins `mine` if none is pinned. */
static struct bt2_offset pin(GHashTable *pinned, const char *uuid, struct bt2_offset mine)
{
	if (!uuid[0])
		return mine;
	struct bt2_offset *found = g_hash_table_lookup(pinned, uuid);
	if (found)
		return *found;
	g_hash_table_insert(pinned, g_strdup(uuid), g_memdup2(&mine, sizeof mine));
	return mine;
}

void bt2_clock_init(struct bt2_clock *ret, const bt_clock_class *cc, GHashTable *pinned)
{
	struct bt2_offset mine;
	bt2_clock_identity(cc, ret->uuid);
	bt_clock_class_get_offset(cc, &mine.seconds, &mine.cycles);
	ret->freq = bt_clock_class_get_frequency(cc);
	ret->offset = pinned ? pin(pinned, ret->uuid, mine) : mine;
	/* May overflow if the metadata is nonsense: unsigned, so that the result is defined. */
	ret->base_ns = (int64_t)((uint64_t)ret->offset.seconds * 1000000000u +
				 (ret->freq == 1000000000 ? ret->offset.cycles : 0) +
				 (uint64_t)align_of(ret->uuid));
}
