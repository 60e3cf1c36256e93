/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The string table: bytes in chunks that never move, and an open-addressing
 * table of ids (with the hash beside them, so a miss rarely touches the text). Passing
 * strings have a piece of memory each.
 */
#include "base/strtab.h"

#include "base/limits.h"

#include <string.h>

#define CHUNK_BYTES (64 * 1024)
#define FIRST_SLOTS 64u
#define PIECE_COST 16			/* what malloc adds to a piece, about */

struct strtab_slot {
	uint32_t hash;
	uint32_t id;			/* UINT32_MAX: free */
};

struct strtab_entry {
	const char *s;
	uint32_t hash, used;
	uint16_t len;
	bool passing;
	bool own;			/* .s is a piece of memory of its own */
	bool hole;			/* forgotten: the id is free */
};

/* Short strings that were added lately: whole ones, as words. The same few come again and again. */
#define RECENT_BITS 7
#define RECENT_LEN 16
struct recent { uint64_t head, tail; uint16_t len; bool passing; uint32_t id; };	/* len 0: nothing here */

struct strtab {
	struct recent recent[1 << RECENT_BITS];
	struct strtab_slot *slots;
	uint32_t mask;
	GArray *entries;		/* struct strtab_entry, by id */
	GArray *holes;			/* uint32_t: their ids */
	GArray *given_again;		/* uint32_t */
	GPtrArray *chunks;		/* char *, owned */
	size_t chunk_used, chunk_size;	/* of the last chunk */
	size_t bytes;			/* in chunks */
	size_t own_bytes;		/* in pieces of their own, */
	size_t passing_bytes;		/* and of these, of passing ones */
};

static struct strtab_entry *entry_at(const struct strtab *t, uint32_t id)
{
	return &g_array_index(t->entries, struct strtab_entry, id);
}

/* Less than 8 bytes, without a call. */
static uint64_t tail_word(const char *s, size_t len)
{
	uint32_t low, high;

	if (len < 4)
		return len ? (uint64_t)(uint8_t)s[0] << 16 | (uint64_t)(uint8_t)s[len / 2] << 8 |
				     (uint8_t)s[len - 1]
			   : 0;
	memcpy(&low, s, 4);
	memcpy(&high, s + len - 4, 4);
	return (uint64_t)high << 32 | low;
}

static uint32_t hash_bytes(const char *s, size_t len)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ len;

	while (len >= 8) {
		uint64_t word;
		memcpy(&word, s, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
		s += 8;
		len -= 8;
	}
	h = (h ^ tail_word(s, len)) * 0xc4ceb9fe1a85ec53u;
	h ^= h >> 29;
	h *= 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 32);
}

static void alloc_slots(struct strtab *t, uint32_t n)
{
	t->slots = g_new(struct strtab_slot, n);
	memset(t->slots, 0xff, n * sizeof(*t->slots));
	t->mask = n - 1;
}

/* The slot that holds the string, or the free one where it belongs. */
static struct strtab_slot *find_slot(const struct strtab *t, const char *s, size_t len,
				     uint32_t hash)
{
	for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		struct strtab_slot *slot = &t->slots[i];
		if (slot->id == UINT32_MAX)
			return slot;
		if (slot->hash != hash)
			continue;
		const struct strtab_entry *e =
			&g_array_index(t->entries, struct strtab_entry, slot->id);
		if (e->len == len && memcmp(e->s, s, len) == 0)
			return slot;
	}
}

static void grow(struct strtab *t)
{
	g_free(t->slots);
	alloc_slots(t, (t->mask + 1) * 2);
	for (uint32_t id = 0; id < t->entries->len; id++) {
		if (entry_at(t, id)->hole)
			continue;
		uint32_t hash = entry_at(t, id)->hash;
		uint32_t i = hash & t->mask;
		while (t->slots[i].id != UINT32_MAX)
			i = (i + 1) & t->mask;
		t->slots[i] = (struct strtab_slot){ hash, id };
	}
}

static const char *keep_bytes(struct strtab *t, const char *s, size_t len)
{
	if (t->chunk_size - t->chunk_used < len + 1) {
		t->chunk_size = CHUNK_BYTES;
		t->chunk_used = 0;
		t->bytes += t->chunk_size;
		g_ptr_array_add(t->chunks, g_malloc(t->chunk_size));
	}
	char *kept = (char *)g_ptr_array_index(t->chunks, t->chunks->len - 1) + t->chunk_used;
	memcpy(kept, s, len);
	kept[len] = '\0';
	t->chunk_used += len + 1;
	return kept;
}

struct strtab *strtab_new(void)
{
	struct strtab *t = g_new0(struct strtab, 1);

	t->entries = g_array_new(FALSE, FALSE, sizeof(struct strtab_entry));
	t->holes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	t->given_again = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	t->chunks = g_ptr_array_new_with_free_func(g_free);
	alloc_slots(t, FIRST_SLOTS);
	strtab_add_len(t, "", 0);
	return t;
}

void strtab_free(struct strtab *t)
{
	if (!t)
		return;
	for (uint32_t id = 0; id < t->entries->len; id++)
		if (entry_at(t, id)->own)
			g_free((char *)entry_at(t, id)->s);
	g_free(t->slots);
	g_array_free(t->entries, TRUE);
	g_array_free(t->holes, TRUE);
	g_array_free(t->given_again, TRUE);
	g_ptr_array_free(t->chunks, TRUE);
	g_free(t);
}

static size_t own_cost(const struct strtab_entry *e)
{
	return e->len + 1 + PIECE_COST;
}

static void stays(struct strtab *t, struct strtab_entry *e)
{
	t->passing_bytes -= e->passing ? own_cost(e) : 0;
	e->passing = false;
}

static uint32_t give_id(struct strtab *t, const struct strtab_entry *entry)
{
	uint32_t id = t->entries->len;

	if (!t->holes->len) {
		g_array_append_vals(t->entries, entry, 1);
		return id;
	}
	id = g_array_index(t->holes, uint32_t, t->holes->len - 1);
	g_array_set_size(t->holes, t->holes->len - 1);
	g_array_append_val(t->given_again, id);
	*entry_at(t, id) = *entry;
	return id;
}

static uint32_t add(struct strtab *t, const char *s, size_t len, bool passing)
{
	len = s ? strnlen(s, MIN(len, LIMIT_TEXT_BYTES)) : 0;
	if (len == 0)
		s = "";
	uint32_t hash = hash_bytes(s, len);
	struct strtab_slot *slot = find_slot(t, s, len, hash);
	if (slot->id != UINT32_MAX) {
		if (!passing)
			stays(t, entry_at(t, slot->id));
		return slot->id;
	}
	struct strtab_entry entry = { .hash = hash, .len = (uint16_t)len, .passing = passing,
				      .own = passing };
	entry.s = passing ? g_strndup(s, len) : keep_bytes(t, s, len);
	t->own_bytes += passing ? own_cost(&entry) : 0;
	t->passing_bytes += passing ? own_cost(&entry) : 0;
	uint32_t id = give_id(t, &entry);
	*slot = (struct strtab_slot){ hash, id };
	if (t->entries->len > t->mask - t->mask / 4)
		grow(t);
	return id;
}

static inline uint32_t add_len(struct strtab *t, const char *s, size_t len, bool passing)
{
	uint64_t head, tail;
	if (!s || !len || len > RECENT_LEN)
		return add(t, s, len, passing);
	if (len >= 8) {
		memcpy(&head, s, 8);
		memcpy(&tail, s + len - 8, 8);
	} else {
		head = tail = tail_word(s, len);
	}
	uint64_t mixed = (head ^ tail >> 7 ^ len) * 0x9e3779b97f4a7c15u;
	struct recent *r = &t->recent[mixed >> (64 - RECENT_BITS)];
	if (r->head != head || r->tail != tail || r->len != len || (r->passing && !passing)) {
		uint32_t id = add(t, s, len, passing);
		*r = (struct recent){ head, tail, (uint16_t)len, entry_at(t, id)->passing, id };
	}
	return r->id;
}

uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len)
{
	return add_len(t, s, len, false);
}

uint32_t strtab_add_passing(struct strtab *t, const char *s, size_t len)
{
	return add_len(t, s, len, true);
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_add_len(t, s, LIMIT_TEXT_BYTES);
}

/* ---- passing ones ---- */

bool strtab_is_passing(const struct strtab *t, uint32_t id)
{
	return id < t->entries->len && entry_at(t, id)->passing;
}

void strtab_set_used(struct strtab *t, uint32_t id, uint32_t when)
{
	entry_at(t, id)->used = when;
}

uint32_t strtab_used(const struct strtab *t, uint32_t id)
{
	return entry_at(t, id)->used;
}

/* What is behind it moves up, as far as it may. */
static void free_slot(struct strtab *t, struct strtab_slot *slot)
{
	uint32_t hole = (uint32_t)(slot - t->slots);

	for (uint32_t i = (hole + 1) & t->mask; t->slots[i].id != UINT32_MAX; i = (i + 1) & t->mask) {
		uint32_t home = t->slots[i].hash & t->mask;
		if (((i - home) & t->mask) < ((i - hole) & t->mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole].id = UINT32_MAX;
}

void strtab_forget(struct strtab *t, const uint32_t *ids, guint n)
{
	memset(t->recent, 0, sizeof t->recent);
	for (guint i = 0; i < n; i++) {
		struct strtab_entry *e = entry_at(t, ids[i]);
		g_return_if_fail(e->passing);
		free_slot(t, find_slot(t, e->s, e->len, e->hash));
		t->own_bytes -= own_cost(e);
		t->passing_bytes -= own_cost(e);
		g_free((char *)e->s);
		*e = (struct strtab_entry){ .s = "", .hole = true };
		g_array_append_val(t->holes, ids[i]);
	}
}

GArray *strtab_given_again(struct strtab *t)
{
	return t->given_again;
}

size_t strtab_passing_bytes(const struct strtab *t)
{
	return t->passing_bytes;
}

/* ---- who asks ---- */

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->entries->len ? g_array_index(t->entries, struct strtab_entry, id).s : "";
}

uint32_t strtab_n(const struct strtab *t)
{
	return t->entries->len;
}

size_t strtab_bytes(const struct strtab *t)
{
	return sizeof(*t) + t->bytes + t->own_bytes + (t->mask + 1) * sizeof(*t->slots) +
	       t->entries->len * sizeof(struct strtab_entry);
}
