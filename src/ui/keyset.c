/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of rows: see keyset.h. */
#include "ui/keyset.h"

#include <string.h>

static guint hash_key(gconstpointer key)
{
	const uint64_t *k = key;
	uint64_t h = (k[0] ^ (k[1] * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);

	return (guint)(h >> 32);
}

static gboolean same_key(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof ((struct row *)0)->key);
}

bool keyset_has(const struct keyset *s, const struct row *row)
{
	return s->keys && g_hash_table_contains(s->keys, row->key);
}

void keyset_set(struct keyset *s, const struct row *row, bool in)
{
	if (in && !s->keys)
		s->keys = g_hash_table_new_full(hash_key, same_key, g_free, NULL);
	if (in)
		g_hash_table_add(s->keys, g_memdup2(row->key, sizeof row->key));
	else if (s->keys)
		g_hash_table_remove(s->keys, row->key);
}

unsigned keyset_size(const struct keyset *s)
{
	return s->keys ? g_hash_table_size(s->keys) : 0;
}

void keyset_clear(struct keyset *s)
{
	g_clear_pointer(&s->keys, g_hash_table_unref);
}
