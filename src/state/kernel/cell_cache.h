/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cells of a bin, found without a lookup where the last charge left its place:
 * see struct call_slot. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_CELL_CACHE_H
#define BLK_STATE_KERNEL_CELL_CACHE_H

#include "state/slice/slice_private.h"

/* Is all of [from, to) in the bin that was used last? Then it is dirty now. */
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

static inline struct call_cell *cell_of_call(struct slice *s, struct bin *b, struct thread *t, uint32_t name)
{
	struct call_slot *slot = &t->call_slot[name * UINT32_C(0x9e3779b1) >> (32 - CALL_SLOTS_BITS)];
	if (slot->epoch != b->epoch[CELL_call] || slot->name != name) {
		slot->cell = BIN_CELL(s, b, call, .thread = t->self, .name = name);
		slot->epoch = b->epoch[CELL_call];
		slot->name = name;
	}
	return slot->cell;
}

static inline unsigned fdop_own_slot(int32_t pid, int64_t fd)
{
	return ((uint32_t)pid * UINT32_C(0x9e3779b1) + (uint32_t)fd) % FDOP_OWN_SLOTS;
}

/* The newest event that may have changed the thread's descriptor. */
static inline uint64_t fdop_last(const struct fdops *f, const struct thread *t, int32_t fd)
{
	unsigned slot = (uint32_t)fd % FDOP_SLOTS;
	uint64_t seq = t->pid ? MAX(f->own[fdop_own_slot(t->pid, fd)], f->loose[slot]) : f->any[slot];
	return MAX(seq, f->all);
}

/* Where the descriptor may have changed since, it is another one: bin_file() knows. */
static inline struct built_file_cell *cell_of_file(struct slice *s, struct bin *b, struct thread *t,
						   const struct call *call)
{
	struct file_slot *slot = &t->file_slot[(uint32_t)call->fd % FILE_SLOTS];
	if (slot->epoch == b->epoch[CELL_file] && slot->fd == call->fd) {
		uint64_t op = fdop_last(&s->fdops, t, call->fd);
		if (op <= MIN(slot->cell->seq, call->seq))
			return slot->cell;
	}
	slot->cell = bin_file(s, b, t, call);
	slot->epoch = b->epoch[CELL_file];
	slot->fd = call->fd;
	return slot->cell;
}

/* The figure of the CPU's cell that the interval is charged to. */
static inline int64_t *cpu_figure(struct slice *s, struct bin *b, struct cpu *c, enum cpu_kind kind)
{
	if (c->cell_epoch != b->epoch[CELL_cpu]) {
		c->cell = BIN_CELL(s, b, cpu, .host = c->host, .cpu = c->number);
		c->cell_epoch = b->epoch[CELL_cpu];
	}
	return kind == CPU_RUN ? &c->cell->run_ns : kind == CPU_IDLE ? &c->cell->idle_ns :
	       kind == CPU_IRQ ? &c->cell->irq_ns : &c->cell->unknown_ns;
}

/* ---- a finished call's figures ---- */

/* Did the call transfer bytes without saying how many? recvmmsg() and sendmmsg() return messages. */
static inline bool call_is_unsized(const struct call_info *info, int64_t ret)
{
	return ret > 0 && !info->bytes_mask && info->io != IO_NONE;
}

/* asked: how many bytes; -1: the call does not tell. */
static inline void file_count(struct built_file_cell *f, unsigned dir, uint64_t bytes, bool unsized, int64_t asked,
			      bool error, int64_t latency, unsigned bucket)
{
	hist_add_at(&f->latency[dir], latency, bucket);
	f->errors += error;
	if (dir <= IO_DIR_WRITE) {
		f->bytes[dir] += bytes;
		f->asked[dir] += asked < 0 ? 0 : (uint64_t)asked;
		f->untold[dir] += asked < 0;
		f->unsized[dir] += unsized;
	}
}

/* bt: cell_of_thread(); bc: cell_of_call(); info: of c. */
static inline void call_count(struct slice *s, struct bin *b, struct thread *t,
			      struct built_thread_cell *bt, struct call_cell *bc, const struct call *c,
			      const struct call_info *info, int64_t ts, int64_t ret)
{
	int64_t latency = ts - c->begin;
	unsigned bucket = hist_bucket_index(latency);
	bool error = (uint64_t)ret >= (uint64_t)-4095;
	hist_add_at(&bc->latency, latency, bucket);
	bc->errors += error;
	bt->syscalls++;
	bt->errors += error;
	if (info->has_fd) {	/* as all that move bytes */
		uint64_t bytes = ret > 0 ? (uint64_t)ret & info->bytes_mask : 0;
		bool unsized = call_is_unsized(info, ret);
		bt->unsized[IO_DIR_READ] += unsized && info->reads;
		bt->unsized[IO_DIR_WRITE] += unsized && info->writes;
		bt->read_bytes += info->reads ? bytes : 0;
		bt->write_bytes += info->writes ? bytes : 0;
		if (c->fd >= 0 && slice_reads(s, CELL_file))
			file_count(cell_of_file(s, b, t, c), info->dir, bytes, unsized, c->arg[0], error,
				   latency, bucket);
		if (info->io == IO_BOTH)
			call_count_target(s, b, t, c, info, ts, ret);
	}
	if (latency >= b->slow_from)
		call_slow(s, b, t, c, ts, ret);
}

/* It is kept where a span may ask for it. */
static inline void call_log(const struct slice *s, struct thread *t, const struct call *c,
			    int64_t ts, int64_t ret)
{
	if (!s->no_spans && (!s->from_start || t->tid == -1 || (t->open && t->open->len)))
		call_keep(t, c, ts, ret);
}

#endif
