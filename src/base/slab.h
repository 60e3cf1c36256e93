/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many small things of one size, that come and go: cheaper than malloc(), and near to each other
 * where they come one after the other. Memory goes back to the system with the slab alone. Not
 * thread safe. A zeroed struct slab is an empty one.
 */
#ifndef BLK_BASE_SLAB_H
#define BLK_BASE_SLAB_H

#include <glib.h>
#include <stddef.h>

struct slab {
	GPtrArray *chunks;
	void *unused;			/* given back, or never given: each begins with the next one */
};

/* Aligned for pointers, not initialised. `size`: the same at every call, at least a pointer's. */
void *slab_get(struct slab *b, size_t size);
void slab_put(struct slab *b, void *one);		/* NULL is fine */
/* What `from` gave belongs to `b` then, which gives the same size; `from` is empty. */
void slab_take(struct slab *b, struct slab *from);
void slab_clear(struct slab *b);			/* all that it gave is gone; empty again */

#endif
