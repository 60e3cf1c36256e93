/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for the rows and texts of records: allocated piece by piece, freed all at once. A zeroed arena is empty. One
 * thread.
 */
#ifndef BLK_TRACE_ARENA_H
#define BLK_TRACE_ARENA_H

#include <glib.h>
#include <stdint.h>

struct arena {
	uint8_t *at, *end;		/* free room of the current chunk */
	struct arena_chunk *chunk;	/* the current chunk, then older ones */
};
void *arena_alloc_slow(struct arena *a, size_t size);
void arena_reset(struct arena *a);	/* frees all memory except the newest chunk, which is reused */
void arena_clear(struct arena *a);

/* 8-byte aligned, not zeroed. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if (G_UNLIKELY((size_t)(a->end - a->at) < size))
		return arena_alloc_slow(a, size);
	void *p = a->at;
	a->at += size;
	return p;
}

#endif
