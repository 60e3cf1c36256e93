/* SPDX-License-Identifier: GPL-2.0-only */
/* Layouts of records, stored once. They live as long as their source, as records point at them. */
#ifndef BLK_TRACE_CTF_LAYOUTS_H
#define BLK_TRACE_CTF_LAYOUTS_H

#include "trace/event.h"

GHashTable *layouts_new(void);		/* free with g_hash_table_unref() */
/* The stored copy of this layout. Unused bytes of `l` must be zero. */
const struct blk_layout *layouts_intern(GHashTable *layouts, const struct blk_layout *l);

#endif
