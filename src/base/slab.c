/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation of small objects of one size: see slab.h. */
#include "base/slab.h"

#define CHUNK 64	/* objects */

struct unused { struct unused *next; };

static void grow(struct slab *b, size_t size)
{
	char *chunk = g_malloc_n(CHUNK, size);
	if (!b->chunks)
		b->chunks = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(b->chunks, chunk);
	for (size_t i = CHUNK; i-- > 0;)
		slab_put(b, chunk + i * size);
}

void *slab_get(struct slab *b, size_t size)
{
	g_assert(size >= sizeof(struct unused) && size % sizeof(void *) == 0);
	if (!b->unused)
		grow(b, size);
	struct unused *one = b->unused;
	b->unused = one->next;
	return one;
}

void slab_put(struct slab *b, void *one)
{
	if (!one)
		return;
	g_assert(one != b->unused);		/* else it is freed twice */
	((struct unused *)one)->next = b->unused;
	b->unused = one;
}

void slab_take(struct slab *b, struct slab *from)
{
	g_assert(b != from);
	while (from->unused) {
		struct unused *one = from->unused;
		from->unused = one->next;
		slab_put(b, one);
	}
	if (from->chunks && b->chunks)
		g_ptr_array_extend_and_steal(b->chunks, g_steal_pointer(&from->chunks));
	else if (from->chunks)
		b->chunks = g_steal_pointer(&from->chunks);
}

void slab_clear(struct slab *b)
{
	g_clear_pointer(&b->chunks, g_ptr_array_unref);
	b->unused = NULL;
}
