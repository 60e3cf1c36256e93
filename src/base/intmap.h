/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash map from uint64_t keys to uint32_t values, with open addressing, for the hot path. Any key is allowed. It
 * grows as needed; entries can be removed. Not thread safe. A zeroed struct intmap is empty.
 */
#ifndef BLK_BASE_INTMAP_H
#define BLK_BASE_INTMAP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define INTMAP_NONE UINT32_MAX		/* not a valid value */

struct intmap {
	uint64_t *keys;
	uint32_t *values;		/* INTMAP_NONE: free slot */
	uint32_t n, mask;		/* entries; slots - 1 (0: nothing is allocated) */
};

static inline uint32_t intmap_hash(uint64_t k)
{
	k *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(k >> 32) ^ (uint32_t)k;
}

/* The key's value; INTMAP_NONE: there is none. */
static inline uint32_t intmap_get(const struct intmap *m, uint64_t key)
{
	if (!m->mask)
		return INTMAP_NONE;
	for (uint32_t i = intmap_hash(key) & m->mask;; i = (i + 1) & m->mask) {
		if (m->values[i] == INTMAP_NONE)
			return INTMAP_NONE;
		if (m->keys[i] == key)
			return m->values[i];
	}
}

void intmap_set(struct intmap *m, uint64_t key, uint32_t value);	/* adds or replaces */
uint32_t intmap_add(struct intmap *m, uint64_t key, uint32_t value);	/* keeps an existing value; returns the
									 * value */
void intmap_reserve(struct intmap *m, uint32_t n);		/* makes room for n entries in all */
bool intmap_remove(struct intmap *m, uint64_t key);		/* false: the key was not there */
void intmap_clear(struct intmap *m);				/* frees all; the map is empty */

/* Visits all entries, in no particular order. `visit` must not change the map. */
typedef void (*intmap_visit)(uint64_t key, uint32_t value, void *data);
void intmap_foreach(const struct intmap *m, intmap_visit visit, void *data);

#endif
