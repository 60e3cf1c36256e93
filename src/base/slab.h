/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocates many small objects of one size. Cheaper than malloc(), and objects allocated one after another are
 * adjacent. Memory is only returned to the system by slab_clear(). Not thread safe. A zeroed struct slab is empty.
 */
#ifndef BLK_BASE_SLAB_H
#define BLK_BASE_SLAB_H

#include <glib.h>
#include <stddef.h>

struct slab {
	GPtrArray *chunks;
	void *unused;			/* free list: each free object begins with the pointer to the next */
};

/* An object, aligned for pointers, not initialised. `size` must be the same in all calls, at least that of a
 * pointer. */
void *slab_get(struct slab *b, size_t size);
void slab_put(struct slab *b, void *one);		/* NULL is fine */
/* Moves all objects of `from` to `b`, which must have the same object size; `from` is empty then. */
void slab_take(struct slab *b, struct slab *from);
void slab_clear(struct slab *b);			/* frees all objects; empty */

#endif
