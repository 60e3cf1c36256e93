/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cells of a bin, found without a lookup where the last charge left its place:
 * see struct call_slot. Only for src/state/.
 */
#ifndef BLK_STATE_CELLS_H
#define BLK_STATE_CELLS_H

#include "state/slice_private.h"

/* Is all of [from, to) in the bin that was used last? Then it is dirty now. */
static inline struct bin *bin_of_all(struct slice *s, int64_t from, int64_t to)
{
	struct bin *b = s->bin_last;
	if (!b || from < b->begin || to > b->end)
		return NULL;
	b->dirty = true;
	return b;
}

static inline struct bin_thread *cell_of_thread(struct slice *s, struct bin *b, struct thread *t)
{
	if (t->cell_epoch != b->thread_epoch) {
		t->cell = bin_thread(s, b, t->self);
		t->cell_epoch = b->thread_epoch;
	}
	return t->cell;
}

static inline struct bin_call *cell_of_call(struct slice *s, struct bin *b, struct thread *t,
					    uint32_t name)
{
	struct call_slot *slot = &t->call_slot[name * UINT32_C(0x9e3779b1) >> (32 - CALL_SLOTS_BITS)];
	if (slot->epoch != b->call_epoch || slot->name != name) {
		slot->cell = bin_call(s, b, t->self, name);
		slot->epoch = b->call_epoch;
		slot->name = name;
	}
	return slot->cell;
}

/* Where the descriptor may have changed since, it is another one: bin_file() knows. */
static inline struct bin_file *cell_of_file(struct slice *s, struct bin *b, struct thread *t,
					    const struct call *call)
{
	struct file_slot *slot = &t->file_slot[(uint32_t)call->fd % FILE_SLOTS];
	if (slot->epoch == b->file_epoch && slot->fd == call->fd) {
		uint64_t op = MAX(s->fdop_seq[(uint32_t)call->fd % FDOP_SLOTS], s->fdop_all);
		if (op <= MIN(slot->cell->seq, call->seq))
			return slot->cell;
	}
	slot->cell = bin_file(s, b, t->self, call);
	slot->epoch = b->file_epoch;
	slot->fd = call->fd;
	return slot->cell;
}

static inline struct bin_cpu *cell_of_cpu(struct slice *s, struct bin *b, struct cpu *c)
{
	if (c->cell_epoch != b->cpu_epoch) {
		c->cell = bin_cpu(s, b, c->self);
		c->cell_epoch = b->cpu_epoch;
	}
	return c->cell;
}

#endif
