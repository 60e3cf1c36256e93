/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds cells of a bin without a lookup. Each thread and CPU caches where its cells were at the last charge; see
 * struct cell_slot.
 */
#ifndef BLK_STATE_KERNEL_CELL_CACHE_H
#define BLK_STATE_KERNEL_CELL_CACHE_H

#include "state/kernel/bin.h"

/* The last used bin, marked dirty, if it contains all of [from, to); else NULL. */
static inline struct bin *bin_of_all(struct slice *s, int64_t from, int64_t to)
{
	struct bin *b = s->bin_last;
	if (!b || from < b->begin || to > b->end)
		return NULL;
	b->dirty = true;
	return b;
}

static inline struct bin *bin_at(struct slice *s, int64_t ts)
{
	struct bin *b = s->bin_last;
	if (!b || ts < b->begin || ts >= b->end)
		return slice_bin(s, ts);
	b->dirty = true;
	return b;
}

static inline struct built_thread_cell *cell_of_thread(struct slice *s, struct bin *b, struct thread *t)
{
	if (t->cell_epoch != b->epoch[CELL_thread]) {
		t->cell = bin_cell(s, b, CELL_thread, &(struct built_thread_key){ .thread = t->self },
				   sizeof(struct built_thread_key), sizeof(struct built_thread_cell));
		t->cell_epoch = b->epoch[CELL_thread];
	}
	return t->cell;
}

/* Has the slot the bin's cell of the kind, with that key? */
static inline bool slot_has(const struct cell_slot *slot, const struct bin *b, enum cell_kind kind, uint32_t key)
{
	return slot->epoch == b->epoch[kind] && slot->key == key;
}

/* Returns the cell. */
static inline void *slot_set(struct cell_slot *slot, const struct bin *b, enum cell_kind kind, uint32_t key, void *cell)
{
	*slot = (struct cell_slot){ b->epoch[kind], key, cell };
	return cell;
}

static inline struct call_cell *cell_of_call(struct slice *s, struct bin *b, struct thread *t, uint32_t name)
{
	struct cell_slot *slot = &t->call_slot[name * UINT32_C(0x9e3779b1) >> (32 - CALL_SLOTS_BITS)];
	return slot_has(slot, b, CELL_call, name) ? slot->cell :
	       slot_set(slot, b, CELL_call, name, BIN_CELL(s, b, call, .thread = t->self, .name = name));
}

/* If the descriptor may have changed since the last charge, bin_file() finds or creates the cell. */
static inline struct built_file_cell *cell_of_file(struct slice *s, struct bin *b, struct thread *t,
						   const struct call *call)
{
	struct cell_slot *slot = &t->file_slot[(uint32_t)call->fd % FILE_SLOTS];
	const struct built_file_cell *have = slot->cell;
	if (slot_has(slot, b, CELL_file, (uint32_t)call->fd) &&
	    fdop_last(&s->fdops, call->fd) <= MIN(have->seq, call->seq))
		return slot->cell;
	return slot_set(slot, b, CELL_file, (uint32_t)call->fd, bin_file(s, b, t, call));
}

/* The field that time of the thread on the CPU is added to. */
static inline int64_t *ran_figure(struct slice *s, struct bin *b, struct thread *t, uint32_t cpu)
{
	struct ran_cell *c = slot_has(&t->ran, b, CELL_ran, cpu) ? t->ran.cell :
		slot_set(&t->ran, b, CELL_ran, cpu, BIN_CELL(s, b, ran, .thread = t->self, .cpu = cpu));
	return &c->time_ns;
}

/* The field of the CPU's cell that time of this kind is added to. */
static inline int64_t *cpu_figure(struct slice *s, struct bin *b, struct cpu *c, enum cpu_kind kind)
{
	if (c->cell_epoch != b->epoch[CELL_cpu]) {
		c->cell = BIN_CELL(s, b, cpu, .host = c->host, .cpu = c->number);
		c->cell_epoch = b->epoch[CELL_cpu];
	}
	return kind == CPU_RUN ? &c->cell->run_ns : kind == CPU_IDLE ? &c->cell->idle_ns :
	       kind == CPU_IRQ ? &c->cell->irq_ns : &c->cell->unknown_ns;
}

#endif
