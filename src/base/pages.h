/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An array of entries of one size, in pages of PAGE_ENTRIES, for ids that are counted up and not reused. Entries can
 * be dropped; a page without entries is freed. Entries never move. A zeroed struct with .size set is empty. Not
 * thread safe.
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
	uint64_t known;			/* bit i: entry i exists */
	max_align_t entries[];
};

struct pages {
	struct page **page;		/* NULL: none of the page's entries exists */
	uint32_t n_pages;		/* allocated size of .page */
	uint32_t n;			/* the highest id ever put + 1 */
	uint32_t n_allocated;		/* pages that are not NULL */
	uint32_t size;			/* bytes of an entry; set by the user before the first put */
};

/* The entry; NULL: it does not exist. Valid until it is dropped. */
static inline void *pages_get(const struct pages *p, uint32_t id)
{
	struct page *page = id < p->n ? p->page[id / PAGE_ENTRIES] : NULL;
	unsigned i = id % PAGE_ENTRIES;

	return page && page->known >> i & 1 ? (char *)page->entries + (size_t)i * p->size : NULL;
}

void *pages_put(struct pages *p, uint32_t id);		/* returns the entry; a new one is zeroed */
void pages_drop(struct pages *p, uint32_t id);		/* does nothing if it does not exist */
uint32_t pages_next(const struct pages *p, uint32_t from);	/* first existing id >= from, or PAGES_NONE */
size_t pages_bytes(const struct pages *p);		/* allocated memory */
void pages_clear(struct pages *p);			/* frees all; .size stays */

#define pages_at(p, type, id) ((type *)pages_get(p, id))
/* Loops over all existing ids in order. The body may drop entries. */
#define PAGES_EACH(p, id) for (uint32_t id = pages_next(p, 0); id != PAGES_NONE; id = pages_next(p, id + 1))

#endif
