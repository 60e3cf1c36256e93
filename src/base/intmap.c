/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The integer map: linear probing, at most 3/4 full. Removing shifts later entries back, so there are no tombstones
 * and lookups do not become slower with time.
 */
#include "base/intmap.h"

#include <string.h>

#define FIRST_SLOTS 16u

static void alloc_slots(struct intmap *m, uint32_t slots)
{
	m->keys = g_new(uint64_t, slots);
	m->values = g_new(uint32_t, slots);
	m->mask = slots - 1;
	memset(m->values, 0xff, slots * sizeof(*m->values));	/* INTMAP_NONE */
}

/* The number of entries that fit into mask + 1 slots. */
static uint32_t most(uint32_t mask)
{
	return mask - mask / 4;
}

/* The slot of the key, or the free slot where it belongs. */
static uint32_t find_slot(const struct intmap *m, uint64_t key)
{
	uint32_t i = intmap_hash(key) & m->mask;

	while (m->values[i] != INTMAP_NONE && m->keys[i] != key)
		i = (i + 1) & m->mask;
	return i;
}

static void resize(struct intmap *m, uint32_t to_slots)
{
	struct intmap old = *m;
	uint32_t slots = old.mask ? old.mask + 1 : 0;

	g_assert(!(to_slots & (to_slots - 1)) && to_slots > m->n);	/* a free slot ends each search */
	alloc_slots(m, to_slots);
	for (uint32_t i = 0; i < slots; i++) {
		if (old.values[i] == INTMAP_NONE)
			continue;
		uint32_t to = find_slot(m, old.keys[i]);
		m->keys[to] = old.keys[i];
		m->values[to] = old.values[i];
	}
	g_free(old.keys);
	g_free(old.values);
}

void intmap_reserve(struct intmap *m, uint32_t n)
{
	uint32_t slots = FIRST_SLOTS;

	while (slots < UINT32_MAX / 2 && n > most(slots - 1))
		slots *= 2;
	if (slots > m->mask + 1)
		resize(m, slots);
}

/* The slot of the key. A new key is put into its slot, and the value stays INTMAP_NONE. */
static uint32_t slot_for(struct intmap *m, uint64_t key)
{
	if (!m->mask)
		alloc_slots(m, FIRST_SLOTS);
	uint32_t i = find_slot(m, key);
	if (m->values[i] != INTMAP_NONE)
		return i;
	if (m->n + 1 > most(m->mask)) {
		resize(m, (m->mask + 1) * 2);
		i = find_slot(m, key);
	}
	g_assert(m->n < m->mask);
	m->keys[i] = key;
	m->n++;
	return i;
}

void intmap_set(struct intmap *m, uint64_t key, uint32_t value)
{
	g_return_if_fail(value != INTMAP_NONE);

	uint32_t i = slot_for(m, key);	/* may reallocate .values */
	m->values[i] = value;
}

uint32_t intmap_add(struct intmap *m, uint64_t key, uint32_t value)
{
	g_assert(value != INTMAP_NONE);
	uint32_t i = slot_for(m, key);

	if (m->values[i] == INTMAP_NONE)
		m->values[i] = value;
	return m->values[i];
}

bool intmap_remove(struct intmap *m, uint64_t key)
{
	if (!m->mask)
		return false;
	uint32_t hole = find_slot(m, key);
	if (m->values[hole] == INTMAP_NONE)
		return false;

	/* A later entry moves to the hole unless its home slot is between the hole and itself. */
	for (uint32_t i = (hole + 1) & m->mask; m->values[i] != INTMAP_NONE;
	     i = (i + 1) & m->mask) {
		uint32_t home = intmap_hash(m->keys[i]) & m->mask;
		if (((i - home) & m->mask) < ((i - hole) & m->mask))
			continue;
		m->keys[hole] = m->keys[i];
		m->values[hole] = m->values[i];
		hole = i;
	}
	m->values[hole] = INTMAP_NONE;
	g_assert(m->n > 0);
	m->n--;
	return true;
}

void intmap_clear(struct intmap *m)
{
	g_free(m->keys);
	g_free(m->values);
	memset(m, 0, sizeof(*m));
}

void intmap_foreach(const struct intmap *m, intmap_visit visit, void *data)
{
	if (!m->mask)
		return;
	const uint64_t *keys = m->keys;
	uint32_t n = m->n;
	for (uint32_t i = 0; i <= m->mask; i++) {
		if (m->values[i] != INTMAP_NONE)
			visit(m->keys[i], m->values[i], data);
		g_assert(m->keys == keys && m->n == n);		/* visit() did not change the map */
	}
}
