/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Things of one size by their numbers, which only grow: in pages of PAGE_ENTRIES, so that what is dropped gives
 * its memory back with the last of its page, and nothing ever moves. A zeroed struct with .size set is an empty
 * one. Not thread safe.
 */
#ifndef BLK_BASE_PAGES_H
#define BLK_BASE_PAGES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_ENTRIES 64u
#define PAGES_NONE UINT32_MAX

struct page {
	uint64_t known;			/* bit i: entry i is there */
	max_align_t entries[];
};

struct pages {
	struct page **page;		/* NULL: none of its entries is there */
	uint32_t n_pages;		/* room in .page */
	uint32_t n;			/* one more than the highest number ever put */
	uint32_t n_here;		/* pages that are there */
	uint32_t size;			/* bytes of an entry, set by who makes it */
};

/* The entry, or NULL. Valid until it is dropped. */
static inline void *pages_get(const struct pages *p, uint32_t id)
{
	struct page *page = id < p->n ? p->page[id / PAGE_ENTRIES] : NULL;
	unsigned i = id % PAGE_ENTRIES;

	return page && page->known >> i & 1 ? (char *)page->entries + (size_t)i * p->size : NULL;
}

void *pages_put(struct pages *p, uint32_t id);		/* zeroed, if it was not there */
void pages_drop(struct pages *p, uint32_t id);		/* nothing where it is not there */
uint32_t pages_next(const struct pages *p, uint32_t from);	/* the first that is there, of from on; PAGES_NONE */
size_t pages_bytes(const struct pages *p);		/* memory held */
void pages_clear(struct pages *p);			/* frees; empty again, of the same size */

#define pages_at(p, type, id) ((type *)pages_get(p, id))
/* For each number that is there, in order. The entries may be dropped meanwhile. */
#define PAGES_EACH(p, id) for (uint32_t id = pages_next(p, 0); id != PAGES_NONE; id = pages_next(p, id + 1))

#endif
