/* SPDX-License-Identifier: GPL-2.0-only */
/* Paged arrays: see pages.h. */
#include "base/pages.h"

#include <string.h>

static size_t page_bytes(const struct pages *p)
{
	return sizeof(struct page) + (size_t)PAGE_ENTRIES * p->size;
}

static struct page *page_of(struct pages *p, uint32_t i)
{
	if (i >= p->n_pages) {
		uint32_t room = MAX(i + 1, p->n_pages + p->n_pages / 2 + 4);
		p->page = g_renew(struct page *, p->page, room);
		memset(p->page + p->n_pages, 0, (room - p->n_pages) * sizeof *p->page);
		p->n_pages = room;
	}
	if (!p->page[i]) {
		p->page[i] = g_malloc0(page_bytes(p));
		p->n_allocated++;
		g_assert(p->n_allocated <= p->n_pages);
	}
	return p->page[i];
}

void *pages_put(struct pages *p, uint32_t id)
{
	g_assert(id != PAGES_NONE && p->size > 0);
	struct page *page = page_of(p, id / PAGE_ENTRIES);

	page->known |= UINT64_C(1) << id % PAGE_ENTRIES;
	p->n = MAX(p->n, id + 1);
	return pages_get(p, id);
}

void pages_drop(struct pages *p, uint32_t id)
{
	void *entry = pages_get(p, id);

	if (!entry)
		return;
	struct page **page = &p->page[id / PAGE_ENTRIES];
	memset(entry, 0, p->size);
	(*page)->known &= ~(UINT64_C(1) << id % PAGE_ENTRIES);
	if ((*page)->known)
		return;
	g_clear_pointer(page, g_free);
	g_assert(p->n_allocated > 0);
	p->n_allocated--;
}

uint32_t pages_next(const struct pages *p, uint32_t from)
{
	g_assert(p->n <= (uint64_t)p->n_pages * PAGE_ENTRIES);
	while (from < p->n) {
		const struct page *page = p->page[from / PAGE_ENTRIES];
		uint64_t left = page ? page->known >> from % PAGE_ENTRIES : 0;
		if (left)
			return from + (uint32_t)__builtin_ctzll(left);
		from = (from / PAGE_ENTRIES + 1) * PAGE_ENTRIES;
	}
	return PAGES_NONE;
}

size_t pages_bytes(const struct pages *p)
{
	return p->n_allocated * page_bytes(p) + p->n_pages * sizeof *p->page;
}

void pages_clear(struct pages *p)
{
	for (uint32_t i = 0; i < p->n_pages; i++)
		g_free(p->page[i]);
	g_free(p->page);
	*p = (struct pages){ .size = p->size };
}
