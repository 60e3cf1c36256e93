/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's cells of a bin: found, merged and mapped; see kernel.h. */
#include "state/slice_private.h"

void bin_kernel_epochs(struct slice *s, struct bin_kernel *k)
{
	k->sched_epoch = ++s->epochs;
	k->waker_epoch = ++s->epochs;
}

void bin_kernel_init(struct slice *s, struct bin_kernel *k)
{
	k->scheds = g_array_new(false, true, sizeof(struct bin_sched));
	k->wakers = g_array_new(false, true, sizeof(struct bin_waker));
}

static void clear_hists(struct bin_kernel *k)
{
	for (guint i = 0; i < k->scheds->len; i++) {
		struct bin_sched *c = &g_array_index(k->scheds, struct bin_sched, i);
		hist_log_clear(&c->wakeup);
		hist_log_clear(&c->preempted);
	}
}

void bin_kernel_clear(struct bin_kernel *k)
{
	clear_hists(k);
	g_array_unref(k->scheds);
	g_array_unref(k->wakers);
	intmap_clear(&k->sched_map);
	intmap_clear(&k->waker_map);
}

/* The cell of `key`, zeroed when it is new; *epoch becomes another where cells moved. */
static void *cell(struct slice *s, struct intmap *map, GArray *cells, guint size, uint64_t key,
		  uint32_t *epoch)
{
	uint32_t i = intmap_get(map, key);
	if (i == INTMAP_NONE) {
		const char *before = cells->data;
		i = cells->len;
		g_array_set_size(cells, i + 1);
		intmap_set(map, key, i);
		if (cells->data != before && epoch)
			*epoch = ++s->epochs;
	}
	return cells->data + (gsize)i * size;
}

struct bin_sched *bin_sched(struct slice *s, struct bin *b, uint32_t thread, uint32_t key)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_sched *c = cell(s, &k->sched_map, k->scheds, sizeof *c, pair(thread, key),
				   &k->sched_epoch);
	c->thread = thread;
	c->cpu = key >> 16;
	c->prio = (int16_t)key;
	return c;
}

struct bin_waker *bin_waker(struct slice *s, struct bin *b, uint32_t thread, uint32_t who)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_waker *c = cell(s, &k->waker_map, k->wakers, sizeof *c, pair(thread, who),
				   &k->waker_epoch);
	c->thread = thread;
	c->who = who;
	return c;
}

/* ---- when slices are stitched ---- */

static uint32_t map_who(uint32_t who, const struct bin_maps *maps)
{
	return who >= IRQ_HARD(0) ? who : maps->thread[who];
}

void bin_kernel_merge(struct slice *s, struct bin *into, const struct bin_kernel *from,
		      const struct bin_maps *maps)
{
	for (guint i = 0; i < from->scheds->len; i++) {
		const struct bin_sched *x = &g_array_index(from->scheds, struct bin_sched, i);
		uint32_t key = (uint32_t)x->cpu << 16 | (uint16_t)x->prio;
		struct bin_sched *c = bin_sched(s, into, maps->thread[x->thread], key);
		c->switches += x->switches;
		c->preemptions += x->preemptions;
		c->migrations += x->migrations;
		c->moves += x->moves;
		hist_log_merge(&c->wakeup, &x->wakeup);
		hist_log_merge(&c->preempted, &x->preempted);
	}
	for (guint i = 0; i < from->wakers->len; i++) {
		const struct bin_waker *x = &g_array_index(from->wakers, struct bin_waker, i);
		struct bin_waker *c = bin_waker(s, into, maps->thread[x->thread],
						map_who(x->who, maps));
		c->count += x->count;
		c->total += x->total;
		c->max = MAX(c->max, x->max);
	}
}

void bin_kernel_adopt(struct bin_kernel *k, const struct bin_maps *maps)
{
	intmap_clear(&k->sched_map);
	intmap_clear(&k->waker_map);
	for (guint i = 0; i < k->scheds->len; i++) {
		struct bin_sched *c = &g_array_index(k->scheds, struct bin_sched, i);
		c->thread = maps->thread[c->thread];
		intmap_set(&k->sched_map,
			   pair(c->thread, (uint32_t)c->cpu << 16 | (uint16_t)c->prio), i);
	}
	for (guint i = 0; i < k->wakers->len; i++) {
		struct bin_waker *c = &g_array_index(k->wakers, struct bin_waker, i);
		c->thread = maps->thread[c->thread];
		c->who = map_who(c->who, maps);
		intmap_set(&k->waker_map, pair(c->thread, c->who), i);
	}
}
