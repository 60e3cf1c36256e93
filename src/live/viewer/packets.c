/* SPDX-License-Identifier: GPL-2.0-only */
/* A pool of memory for packets: see packets.h. */
#include "live/viewer/packets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FREE_BYTES (8u << 20)		/* most bytes of free packets */
#define MOST_WASTE 4			/* a free packet is reused for at least this fraction of its size */

struct packet_pool {
	gatomicrefcount refs;
	GMutex lock;
	GPtrArray *free;		/* struct packet *, the most recently released last */
	size_t free_bytes;
};

struct packet {
	struct packet_pool *pool;
	size_t size;
	size_t touched;			/* bytes that were used; later bytes are zero and have no page yet */
	max_align_t bytes[];
};

static struct packet *packet_of(uint8_t *bytes)
{
	return (struct packet *)(void *)(bytes - offsetof(struct packet, bytes));
}

struct packet_pool *packets_new(void)
{
	struct packet_pool *p = g_new0(struct packet_pool, 1);

	g_atomic_ref_count_init(&p->refs);
	g_mutex_init(&p->lock);
	p->free = g_ptr_array_new_with_free_func(free);
	return p;
}

void packets_unref(struct packet_pool *p)
{
	if (!p || !g_atomic_ref_count_dec(&p->refs))
		return;
	g_ptr_array_unref(p->free);
	g_mutex_clear(&p->lock);
	g_free(p);
}

static struct packet *take_free(struct packet_pool *p, size_t size)
{
	struct packet *found = NULL;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	for (guint i = p->free->len; i-- > 0 && !found;) {
		struct packet *x = g_ptr_array_index(p->free, i);
		if (x->size < size || x->size / MOST_WASTE > size)
			continue;
		found = g_ptr_array_steal_index(p->free, i);
		g_assert(p->free_bytes >= found->size);
		p->free_bytes -= found->size;
	}
	return found;
}

uint8_t *packets_take(struct packet_pool *p, size_t size, size_t content)
{
	g_assert(content <= size);
	struct packet *x = take_free(p, size);

	if (!x) {
		x = size < G_MAXSIZE - sizeof *x ? calloc(1, sizeof *x + size) : NULL;
		if (!x)
			return NULL;
		x->size = size;
	}
	uint8_t *bytes = (uint8_t *)x->bytes;
	if (x->touched > content)
		memset(bytes + content, 0, x->touched - content);
	g_assert(x->touched <= x->size);
	x->touched = content;
	x->pool = p;
	g_atomic_ref_count_inc(&p->refs);
	return bytes;
}

void packets_recycle(uint8_t *bytes)
{
	if (!bytes)
		return;
	struct packet *x = packet_of(bytes);
	struct packet_pool *p = x->pool;

	g_mutex_lock(&p->lock);
	bool retain = p->free_bytes + x->size <= MOST_FREE_BYTES;
	if (retain) {
		g_ptr_array_add(p->free, x);
		p->free_bytes += x->size;
	}
	g_mutex_unlock(&p->lock);
	if (!retain)
		free(x);
	packets_unref(p);
}

static void recycle(gpointer bytes)
{
	packets_recycle(bytes);
}

GBytes *packets_to_bytes(uint8_t *packet, size_t size)
{
	return g_bytes_new_with_free_func(packet, size, recycle, packet);
}
