/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's cells of a bin: found, merged and mapped; see kernel.h. */
#include "state/counts.h"

void bin_kernel_epochs(struct slice *s, struct bin_kernel *k)
{
	k->sched_epoch = ++s->epochs;
	k->waker_epoch = ++s->epochs;
}

void bin_kernel_init(struct slice *s, struct bin_kernel *k)
{
	k->scheds = g_array_new(false, true, sizeof(struct bin_sched));
	k->wakers = g_array_new(false, true, sizeof(struct bin_waker));
	k->irqs = g_array_new(false, true, sizeof(struct bin_irq));
	k->stolen = g_array_new(false, true, sizeof(struct bin_stolen));
	k->losses = g_array_new(false, true, sizeof(struct bin_loss));
	k->counts = g_array_new(false, true, sizeof(struct bin_count));
}

static void clear_hists(struct bin_kernel *k)
{
	for (guint i = 0; i < k->scheds->len; i++) {
		struct bin_sched *c = &g_array_index(k->scheds, struct bin_sched, i);
		hist_clear(&c->wakeup);
		hist_clear(&c->preempted);
	}
	for (guint i = 0; i < k->irqs->len; i++) {
		struct bin_irq *c = &g_array_index(k->irqs, struct bin_irq, i);
		hist_clear(&c->time);
		hist_clear(&c->raise);
	}
}

void bin_kernel_clear(struct bin_kernel *k)
{
	clear_hists(k);
	g_array_unref(k->scheds);
	g_array_unref(k->wakers);
	g_array_unref(k->irqs);
	g_array_unref(k->stolen);
	g_array_unref(k->losses);
	g_array_unref(k->counts);
	intmap_clear(&k->count_map);
	intmap_clear(&k->irq_map);
	intmap_clear(&k->stolen_map);
	intmap_clear(&k->sched_map);
	intmap_clear(&k->waker_map);
}

struct bin_sched *bin_sched(struct slice *s, struct bin *b, uint32_t thread, uint32_t key)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_sched *c = bin_cell(s, &k->sched_map, k->scheds, sizeof *c, pair(thread, key),
				       &k->sched_epoch);
	c->thread = thread;
	c->cpu = key >> 16;
	c->prio = (int16_t)key;
	return c;
}

struct bin_waker *bin_waker(struct slice *s, struct bin *b, uint32_t thread, uint32_t who)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_waker *c = bin_cell(s, &k->waker_map, k->wakers, sizeof *c, pair(thread, who),
				       &k->waker_epoch);
	c->thread = thread;
	c->who = who;
	return c;
}

struct bin_irq *bin_irq(struct slice *s, struct bin *b, uint32_t cpu, uint32_t code)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_irq *c = bin_cell(s, &k->irq_map, k->irqs, sizeof *c, pair(cpu, code), NULL);
	c->cpu = cpu;
	c->code = code;
	return c;
}

struct bin_stolen *bin_stolen(struct slice *s, struct bin *b, uint32_t thread, uint32_t code)
{
	struct bin_kernel *k = &b->kernel;
	struct bin_stolen *c = bin_cell(s, &k->stolen_map, k->stolen, sizeof *c,
					pair(thread, code), NULL);
	c->thread = thread;
	c->code = code;
	return c;
}

void bin_loss(struct bin *b, const struct bin_loss *loss)
{
	GArray *all = b->kernel.losses;
	for (guint i = 0; i < all->len; i++) {
		struct bin_loss *c = &g_array_index(all, struct bin_loss, i);
		if (c->host != loss->host || c->cpu != loss->cpu || c->vpid != loss->vpid ||
		    c->kernel != loss->kernel)
			continue;
		c->count += loss->count;
		c->events += loss->events;
		c->packets += loss->packets;
		c->ns += loss->ns;
		return;
	}
	g_array_append_val(all, *loss);
}

/* ---- when slices are stitched ---- */

static uint32_t map_who(uint32_t who, const struct bin_maps *maps)
{
	return who >= IRQ_HARD(0) ? who : maps->thread[who];
}

static void merge_irqs(struct slice *s, struct bin *into, const struct bin_kernel *from,
		       const struct bin_maps *maps)
{
	for (guint i = 0; i < from->irqs->len; i++) {
		const struct bin_irq *x = &g_array_index(from->irqs, struct bin_irq, i);
		struct bin_irq *c = bin_irq(s, into, maps->cpu[x->cpu], x->code);
		c->self += x->self;
		hist_merge(&c->time, &x->time);
		hist_merge(&c->raise, &x->raise);
	}
	for (guint i = 0; i < from->stolen->len; i++) {
		const struct bin_stolen *x = &g_array_index(from->stolen, struct bin_stolen, i);
		struct bin_stolen *c = bin_stolen(s, into, maps->thread[x->thread], x->code);
		c->count += x->count;
		c->ns += x->ns;
	}
}

static struct bin_count mapped_count(const struct bin_count *x, const struct bin_maps *maps)
{
	struct bin_count c = *x;
	c.thread = x->thread == ID_NONE ? ID_NONE : maps->thread[x->thread];
	c.host = maps->host[x->host];
	c.name = maps->string[x->name];
	return c;
}

/* Cells of the same thread under other ids stay apart until they are published. */
static void adopt_counts(struct bin_kernel *k, const struct bin_maps *maps)
{
	intmap_clear(&k->count_map);
	for (guint i = 0; i < k->counts->len; i++) {
		struct bin_count *c = &g_array_index(k->counts, struct bin_count, i);
		*c = mapped_count(c, maps);
		intmap_set(&k->count_map, count_key(c->host, c->thread, c->kind, c->name), i);
	}
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
		hist_merge(&c->wakeup, &x->wakeup);
		hist_merge(&c->preempted, &x->preempted);
	}
	for (guint i = 0; i < from->wakers->len; i++) {
		const struct bin_waker *x = &g_array_index(from->wakers, struct bin_waker, i);
		struct bin_waker *c = bin_waker(s, into, maps->thread[x->thread],
						map_who(x->who, maps));
		c->count += x->count;
		c->total += x->total;
		c->max = MAX(c->max, x->max);
	}
	merge_irqs(s, into, from, maps);
	for (guint i = 0; i < from->losses->len; i++) {
		struct bin_loss x = g_array_index(from->losses, struct bin_loss, i);
		x.host = maps->host[x.host];
		bin_loss(into, &x);
	}
	for (guint i = 0; i < from->counts->len; i++) {
		struct bin_count x = mapped_count(&g_array_index(from->counts, struct bin_count, i),
						  maps);
		bin_count(s, into, &x);
	}
}

void bin_kernel_adopt(struct bin_kernel *k, const struct bin_maps *maps)
{
	adopt_counts(k, maps);
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
	for (guint i = 0; i < k->losses->len; i++) {
		struct bin_loss *c = &g_array_index(k->losses, struct bin_loss, i);
		c->host = maps->host[c->host];
	}
	intmap_clear(&k->irq_map);
	intmap_clear(&k->stolen_map);
	for (guint i = 0; i < k->irqs->len; i++) {
		struct bin_irq *c = &g_array_index(k->irqs, struct bin_irq, i);
		c->cpu = maps->cpu[c->cpu];
		intmap_set(&k->irq_map, pair(c->cpu, c->code), i);
	}
	for (guint i = 0; i < k->stolen->len; i++) {
		struct bin_stolen *c = &g_array_index(k->stolen, struct bin_stolen, i);
		c->thread = maps->thread[c->thread];
		intmap_set(&k->stolen_map, pair(c->thread, c->code), i);
	}
}
