/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interned texts: hash tables with chains, each with a lock. The last reference is released under the lock, so a text
 * that is found in a table is not about to be freed.
 */
#include "base/reftext.h"

#include "base/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TABLE_BITS 6
#define FEWEST_CHAINS 16u
/* The first texts with this many references become permanent: never freed and no longer counted, as threads would
 * contend for their counters. */
#define OFTEN 4096u			/* references */
#define PERMANENT_TEXTS 1024			/* texts */
#define PERMANENT (1u << 31)			/* flag in .refs: permanent */
#define PLACE_COST 24			/* bytes of its place in the table and of malloc(), about */

struct reftext {
	struct reftext *next;		/* in its chain */
	atomic_uint refs;
	uint32_t hash;
	uint32_t len;			/* must be right before the text: see reftext_len() */
	char text[];
};
_Static_assert(offsetof(struct reftext, text) == offsetof(struct reftext, len) + sizeof(uint32_t), "reftext_len()");

static struct reftext_table {
	GMutex lock;
	struct reftext **chains;	/* NULL: nothing is allocated yet */
	uint32_t n, mask;
} tables[1 << TABLE_BITS];

static struct reftext nothing = { .refs = PERMANENT, .text = "" };
static atomic_int n_permanent;

static struct reftext *of(const char *text)
{
	return (struct reftext *)(void *)(text - offsetof(struct reftext, text));
}

uint32_t reftext_hash(const char *s, size_t len)
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
	h = (h ^ reftext_word(s, len)) * 0xc4ceb9fe1a85ec53u;
	h ^= h >> 29;
	h *= 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 32);
}

static struct reftext_table *table_of(uint32_t hash)
{
	return &tables[hash >> (32 - TABLE_BITS)];
}

static void set_chains(struct reftext_table *t, uint32_t n)
{
	g_assert(n && !(n & (n - 1)));
	struct reftext **old = t->chains;
	uint32_t had = old ? t->mask + 1 : 0;

	t->chains = g_new0(struct reftext *, n);
	t->mask = n - 1;
	for (uint32_t i = 0; i < had; i++)
		for (struct reftext *r = old[i], *next; r; r = next) {
			next = r->next;
			r->next = t->chains[r->hash & t->mask];
			t->chains[r->hash & t->mask] = r;
		}
	g_free(old);
}

static struct reftext *find(const struct reftext_table *t, const char *s, size_t len, uint32_t hash)
{
	struct reftext *r = t->chains ? t->chains[hash & t->mask] : NULL;

	while (r && (r->hash != hash || r->len != len || memcmp(r->text, s, len)))
		r = r->next;
	return r;
}

static struct reftext *add(struct reftext_table *t, const char *s, size_t len, uint32_t hash)
{
	g_assert(len && len <= LIMIT_TEXT_BYTES);	/* "" is not in a table */
	struct reftext *r = g_malloc(offsetof(struct reftext, text) + len + 1);

	if (!t->chains || t->n > t->mask)
		set_chains(t, t->chains ? 2 * (t->mask + 1) : FEWEST_CHAINS);
	r->next = t->chains[hash & t->mask];	/* assigned one by one, as a short text uses the struct's padding */
	atomic_init(&r->refs, 1);
	r->hash = hash;
	r->len = (uint32_t)len;
	memcpy(r->text, s, len);
	r->text[len] = '\0';
	t->chains[hash & t->mask] = r;
	t->n++;
	return r;
}

const char *reftext_new_len(const char *s, size_t len)
{
	len = s ? strnlen(s, MIN(len, LIMIT_TEXT_BYTES)) : 0;
	if (!len)
		return nothing.text;
	uint32_t hash = reftext_hash(s, len);
	struct reftext_table *t = table_of(hash);
	g_mutex_lock(&t->lock);
	struct reftext *r = find(t, s, len, hash);
	if (r)
		reftext_ref(r->text);
	else
		r = add(t, s, len, hash);
	g_mutex_unlock(&t->lock);
	return r->text;
}

const char *reftext_new(const char *s)
{
	return reftext_new_len(s, LIMIT_TEXT_BYTES);
}

void reftext_ref_n(const char *text, unsigned n)
{
	atomic_uint *refs = text ? &of(text)->refs : NULL;

	if (!refs || atomic_load_explicit(refs, memory_order_relaxed) >= PERMANENT)
		return;
	if (atomic_fetch_add_explicit(refs, n, memory_order_relaxed) < OFTEN ||
	    atomic_load_explicit(&n_permanent, memory_order_relaxed) >= PERMANENT_TEXTS)
		return;
	atomic_fetch_add_explicit(&n_permanent, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(refs, PERMANENT, memory_order_relaxed);
}

const char *reftext_ref(const char *text)
{
	reftext_ref_n(text, 1);
	return text;
}

static void take_out(struct reftext_table *t, struct reftext *r)
{
	struct reftext **at = &t->chains[r->hash & t->mask];

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	g_assert(t->n > 0);
	t->n--;
	if (t->mask >= FEWEST_CHAINS && t->n < t->mask / 8)
		set_chains(t, (t->mask + 1) / 2);
}

void reftext_unref_n(const char *text, unsigned n)
{
	if (!text)
		return;
	struct reftext *r = of(text);
	unsigned refs = atomic_load_explicit(&r->refs, memory_order_relaxed);
	while (refs > n)
		if (refs >= PERMANENT ||
		    atomic_compare_exchange_weak_explicit(&r->refs, &refs, refs - n, memory_order_release,
							  memory_order_relaxed))
			return;
	struct reftext_table *t = table_of(r->hash);
	g_mutex_lock(&t->lock);
	unsigned before = atomic_fetch_sub_explicit(&r->refs, n, memory_order_acq_rel);
	g_assert(before >= n);		/* else a reference was released twice */
	bool last = before == n;
	if (last)
		take_out(t, r);
	g_mutex_unlock(&t->lock);
	if (last)
		g_free(r);
}

void reftext_unref(const char *text)
{
	reftext_unref_n(text, 1);
}

size_t reftext_bytes(const char *text)
{
	return text ? offsetof(struct reftext, text) + of(text)->len + 1 + PLACE_COST : 0;
}
