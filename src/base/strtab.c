/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The string table: the strings are in chunks that never move (or are reftexts); a hash table with open addressing
 * has their ids, with the hash beside each, so that a miss rarely reads a string.
 */
#include "base/strtab.h"

#include "base/limits.h"
#include "base/reftext.h"

#include <string.h>

#define CHUNK_BYTES (64 * 1024)
#define FIRST_SLOTS 64u
#define TAKE_AT_ONCE 64u		/* references that strtab_take() gets from reftext.h at once */

struct strtab_slot {
	uint32_t hash;
	uint32_t id;			/* UINT32_MAX: free */
};

struct strtab_entry {
	const char *s;			/* NULL: forgotten, the id is free */
	uint32_t hash;
	uint16_t len;
	uint16_t to_take;		/* of a reftext: references for strtab_take(), besides the table's own */
};

/* A cache of short strings that were added lately, each as two words. */
#define RECENT_BITS 7
#define RECENT_LEN 16
struct recent { uint64_t head, tail; uint16_t len; uint32_t id; };	/* len 0: no entry */

struct strtab {
	struct recent recent[1 << RECENT_BITS];
	struct strtab_slot *slots;
	uint32_t mask;
	GArray *entries;		/* struct strtab_entry, by id */
	GArray *free_ids;		/* uint32_t: ids that are free */
	GPtrArray *chunks;		/* char *, owned; NULL: the entries are reftexts */
	size_t chunk_used, chunk_size;	/* of the last chunk */
	size_t bytes;			/* allocated for texts */
};

static struct strtab_entry *entry_at(const struct strtab *t, uint32_t id)
{
	return &g_array_index(t->entries, struct strtab_entry, id);
}

static void alloc_slots(struct strtab *t, uint32_t n)
{
	t->slots = g_new(struct strtab_slot, n);
	memset(t->slots, 0xff, n * sizeof(*t->slots));
	t->mask = n - 1;
}

/* The slot of the string, or the free slot where it belongs. */
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

/* Makes a new hash table with n slots. */
static void place_all(struct strtab *t, uint32_t n)
{
	g_assert(!(n & (n - 1)) && n > t->entries->len);	/* a free slot ends each search */
	g_free(t->slots);
	alloc_slots(t, n);
	for (uint32_t id = 0; id < t->entries->len; id++) {
		if (!entry_at(t, id)->s)
			continue;
		uint32_t hash = entry_at(t, id)->hash;
		uint32_t i = hash & t->mask;
		while (t->slots[i].id != UINT32_MAX)
			i = (i + 1) & t->mask;
		t->slots[i] = (struct strtab_slot){ hash, id };
	}
}

static const char *store_bytes(struct strtab *t, const char *s, size_t len)
{
	G_STATIC_ASSERT(LIMIT_TEXT_BYTES < CHUNK_BYTES && LIMIT_TEXT_BYTES <= UINT16_MAX);	/* entry.len */
	if (!t->chunks) {
		const char *text = reftext_new_len(s, len);
		t->bytes += reftext_bytes(text);
		return text;
	}
	if (t->chunk_size - t->chunk_used < len + 1) {
		t->chunk_size = CHUNK_BYTES;
		t->chunk_used = 0;
		t->bytes += t->chunk_size;
		g_ptr_array_add(t->chunks, g_malloc(t->chunk_size));
	}
	char *copy = (char *)g_ptr_array_index(t->chunks, t->chunks->len - 1) + t->chunk_used;
	memcpy(copy, s, len);
	copy[len] = '\0';
	t->chunk_used += len + 1;
	return copy;
}

static struct strtab *new_table(GPtrArray *chunks)
{
	struct strtab *t = g_new0(struct strtab, 1);

	t->entries = g_array_new(FALSE, FALSE, sizeof(struct strtab_entry));
	t->free_ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	t->chunks = chunks;
	alloc_slots(t, FIRST_SLOTS);
	strtab_add_len(t, "", 0);
	return t;
}

struct strtab *strtab_new(void)
{
	return new_table(g_ptr_array_new_with_free_func(g_free));
}

struct strtab *strtab_new_reftexts(void)
{
	return new_table(NULL);
}

void strtab_free(struct strtab *t)
{
	if (!t)
		return;
	for (uint32_t id = 0; !t->chunks && id < t->entries->len; id++)
		reftext_unref_n(entry_at(t, id)->s, 1u + entry_at(t, id)->to_take);
	g_free(t->slots);
	g_array_free(t->entries, TRUE);
	g_array_free(t->free_ids, TRUE);
	g_clear_pointer(&t->chunks, g_ptr_array_unref);
	g_free(t);
}

static uint32_t give_id(struct strtab *t, const struct strtab_entry *entry)
{
	uint32_t id = t->entries->len;

	if (!t->free_ids->len) {
		g_array_append_vals(t->entries, entry, 1);
		return id;
	}
	id = g_array_index(t->free_ids, uint32_t, t->free_ids->len - 1);
	g_array_set_size(t->free_ids, t->free_ids->len - 1);
	g_assert(id < t->entries->len && !entry_at(t, id)->s);	/* it was forgotten */
	*entry_at(t, id) = *entry;
	return id;
}

static size_t length(const char *s, size_t len)
{
	return s ? strnlen(s, MIN(len, LIMIT_TEXT_BYTES)) : 0;
}

bool strtab_has(const struct strtab *t, const char *s, size_t len)
{
	len = length(s, len);
	return !len || find_slot(t, s, len, reftext_hash(s, len))->id != UINT32_MAX;
}

static uint32_t add(struct strtab *t, const char *s, size_t len)
{
	len = length(s, len);
	if (len == 0)
		s = "";
	uint32_t hash = reftext_hash(s, len);
	struct strtab_slot *slot = find_slot(t, s, len, hash);
	if (slot->id != UINT32_MAX)
		return slot->id;
	struct strtab_entry entry = { .s = store_bytes(t, s, len), .hash = hash, .len = (uint16_t)len };
	uint32_t id = give_id(t, &entry);
	*slot = (struct strtab_slot){ hash, id };
	if (t->entries->len > t->mask - t->mask / 4)
		place_all(t, (t->mask + 1) * 2);
	return id;
}

uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len)
{
	uint64_t head, tail;
	if (!s || !len || len > RECENT_LEN)
		return add(t, s, len);
	if (len >= 8) {
		memcpy(&head, s, 8);
		memcpy(&tail, s + len - 8, 8);
	} else {
		head = tail = reftext_word(s, len);
	}
	uint64_t mixed = (head ^ tail >> 7 ^ len) * 0x9e3779b97f4a7c15u;
	struct recent *r = &t->recent[mixed >> (64 - RECENT_BITS)];
	if (r->head != head || r->tail != tail || r->len != len)
		*r = (struct recent){ head, tail, (uint16_t)len, add(t, s, len) };
	return r->id;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_add_len(t, s, LIMIT_TEXT_BYTES);
}

/* ---- reftexts ---- */

const char *strtab_take(struct strtab *t, uint32_t id)
{
	g_assert(!t->chunks && id < t->entries->len);
	struct strtab_entry *e = entry_at(t, id);
	if (!e->to_take) {
		reftext_ref_n(e->s, TAKE_AT_ONCE);
		e->to_take = TAKE_AT_ONCE;
	}
	e->to_take--;
	return e->s;
}

void strtab_forget(struct strtab *t, const guint8 *used)
{
	g_assert(!t->chunks);
	memset(t->recent, 0, sizeof t->recent);
	for (uint32_t id = 1; id < t->entries->len; id++) {
		struct strtab_entry *e = entry_at(t, id);
		if (used[id] || !e->s)
			continue;
		g_assert(t->bytes >= reftext_bytes(e->s));
		t->bytes -= reftext_bytes(e->s);
		reftext_unref_n(e->s, 1u + e->to_take);
		*e = (struct strtab_entry){ 0 };
		g_array_append_val(t->free_ids, id);
	}
	place_all(t, t->mask + 1);
}

/* ---- queries ---- */

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	const char *s = id < t->entries->len ? entry_at(t, id)->s : NULL;
	return s ? s : entry_at(t, 0)->s;
}

uint32_t strtab_n(const struct strtab *t)
{
	return t->entries->len;
}

size_t strtab_bytes(const struct strtab *t)
{
	return sizeof(*t) + t->bytes + (t->mask + 1) * sizeof(*t->slots) +
	       t->entries->len * sizeof(struct strtab_entry);
}
