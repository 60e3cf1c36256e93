/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's cells of a second that is published: see kernel.h. */
#include "state/counts.h"
#include "state/names.h"
#include "state/publisher.h"

/* The cell of `key` in a growing array, zeroed when it is new. */
static void *cell(struct intmap *map, GArray *cells, guint size, uint64_t key, bool *ret_new)
{
	uint32_t i = intmap_get(map, key);
	*ret_new = i == INTMAP_NONE;
	if (*ret_new) {
		i = cells->len;
		g_array_set_size(cells, i + 1);
		intmap_set(map, key, i);
	}
	return cells->data + (gsize)i * size;
}

/* What several of the slice's threads turned out to be is one. */
static void add_sched(struct sched_cell *c, const struct bin_sched *x)
{
	c->switches += x->switches;
	c->preemptions += x->preemptions;
	c->migrations += x->migrations;
	c->moves += x->moves;
	hist_merge(&c->wakeup, &x->wakeup);
	hist_merge(&c->preempted, &x->preempted);
}

static void make_scheds(struct publisher *p, const struct bin *b, struct second *to)
{
	struct intmap map = { 0 };
	GArray *cells = g_array_new(false, true, sizeof(struct sched_cell));
	for (guint i = 0; i < b->kernel.scheds->len; i++) {
		const struct bin_sched *x = &g_array_index(b->kernel.scheds, struct bin_sched, i);
		bool idle, is_new;
		uint32_t id = publisher_thread(p, x->thread, &idle);
		if (idle)
			continue;
		uint64_t key = pair(id, (uint32_t)x->cpu << 16 | (uint16_t)x->prio);
		struct sched_cell *c = cell(&map, cells, sizeof *c, key, &is_new);
		c->thread = id;
		c->cpu = x->cpu;
		c->prio = x->prio;
		add_sched(c, x);
		hist_merge(&to->wakeup, &x->wakeup);
	}
	to->n_scheds = cells->len;
	to->scheds = (struct sched_cell *)g_array_free(cells, false);
	intmap_clear(&map);
}

#define WHO_IDLE (IRQ_HARD(0) - 1)	/* no thread has so large an id */

static void make_wakers(struct publisher *p, const struct bin *b, struct second *to)
{
	struct slice *s = publisher_slice(p);
	struct intmap map = { 0 };
	GArray *cells = g_array_new(false, true, sizeof(struct waker_cell));
	for (guint i = 0; i < b->kernel.wakers->len; i++) {
		const struct bin_waker *x = &g_array_index(b->kernel.wakers, struct bin_waker, i);
		bool idle, by_irq = x->who >= IRQ_HARD(0) && x->who != ID_NONE, is_new;
		uint32_t id = publisher_thread(p, x->thread, &idle);
		if (idle)
			continue;
		uint32_t who = by_irq ? ID_NONE : publisher_thread(p, x->who, &idle);
		uint64_t key = pair(id, by_irq ? x->who : idle ? WHO_IDLE : who);
		struct waker_cell *c = cell(&map, cells, sizeof *c, key, &is_new);
		c->thread = id;
		c->waker = who;
		c->idle = idle;
		if (is_new && by_irq)
			c->irq = irq_text(s, publisher_names(p), thread_at(s, x->thread)->host, x->who);
		c->count += x->count;
		c->total_ns += x->total;
		c->max_ns = MAX(c->max_ns, x->max);
	}
	to->n_wakers = cells->len;
	to->wakers = (struct waker_cell *)g_array_free(cells, false);
	intmap_clear(&map);
}

static void make_irqs(struct publisher *p, const struct bin *b, struct second *to)
{
	struct slice *s = publisher_slice(p);
	const GArray *irqs = b->kernel.irqs;
	to->n_irqs = irqs->len;
	to->irqs = g_new0(struct irq_cell, irqs->len);
	for (guint i = 0; i < irqs->len; i++) {
		const struct bin_irq *x = &g_array_index(irqs, struct bin_irq, i);
		const struct cpu *c = cpu_at(s, x->cpu);
		to->irqs[i] = (struct irq_cell){
			.host = c->host, .cpu = c->number, .code = x->code, .self_ns = x->self,
			.name = irq_text(s, publisher_names(p), c->host, x->code),
		};
		hist_merge(&to->irqs[i].time, &x->time);
		hist_merge(&to->irqs[i].raise, &x->raise);
	}
}

static void make_stolen(struct publisher *p, const struct bin *b, struct second *to)
{
	struct slice *s = publisher_slice(p);
	struct intmap map = { 0 };
	GArray *cells = g_array_new(false, true, sizeof(struct stolen_cell));
	for (guint i = 0; i < b->kernel.stolen->len; i++) {
		const struct bin_stolen *x = &g_array_index(b->kernel.stolen, struct bin_stolen, i);
		bool idle, is_new;
		uint32_t id = publisher_thread(p, x->thread, &idle);
		if (idle)
			continue;
		struct stolen_cell *c = cell(&map, cells, sizeof *c, pair(id, x->code), &is_new);
		c->thread = id;
		c->code = x->code;
		if (is_new)
			c->name = irq_text(s, publisher_names(p), thread_at(s, x->thread)->host, x->code);
		c->count += x->count;
		c->self_ns += x->ns;
	}
	to->n_stolen = cells->len;
	to->stolen = (struct stolen_cell *)g_array_free(cells, false);
	intmap_clear(&map);
}

static void make_losses(const struct bin *b, struct second *to)
{
	const GArray *losses = b->kernel.losses;
	to->n_losses = losses->len;
	to->losses = g_new0(struct loss_cell, losses->len);
	for (guint i = 0; i < losses->len; i++) {
		const struct bin_loss *x = &g_array_index(losses, struct bin_loss, i);
		to->losses[i] = (struct loss_cell){
			.host = x->host, .cpu = x->cpu, .vpid = x->vpid, .kernel = x->kernel,
			.count = x->count, .events = x->events, .packets = x->packets, .ns = x->ns,
		};
	}
}

static void make_counts(struct publisher *p, const struct bin *b, struct second *to)
{
	struct intmap map = { 0 };
	GArray *cells = g_array_new(false, true, sizeof(struct count_cell));
	for (guint i = 0; i < b->kernel.counts->len; i++) {
		const struct bin_count *x = &g_array_index(b->kernel.counts, struct bin_count, i);
		bool idle, is_new;
		uint32_t id = publisher_thread(p, x->thread, &idle);
		uint32_t kind = (uint32_t)x->kind | (idle ? COUNT_KIND_N : 0);
		uint64_t key = count_key(x->host, id, (uint8_t)kind, x->name);
		struct count_cell *c = cell(&map, cells, sizeof *c, key, &is_new);
		*c = (struct count_cell){
			.thread = id, .host = x->host, .name = x->name, .kind = x->kind, .idle = idle,
			.value = c->value + x->value,
		};
	}
	to->n_counts = cells->len;
	to->counts = (struct count_cell *)g_array_free(cells, false);
	intmap_clear(&map);
}

void made_kernel(struct publisher *p, const struct bin *b, struct second *to)
{
	make_scheds(p, b, to);
	make_wakers(p, b, to);
	make_irqs(p, b, to);
	make_stolen(p, b, to);
	make_losses(b, to);
	make_counts(p, b, to);
}
