/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting what the scheduler does to threads: switches, waits for a CPU, wakeups and their wakers, moves between CPUs.
 * Mostly inline: thread.c and fast_path.c do it for most events.
 */
#ifndef BLK_STATE_KERNEL_SCHED_H
#define BLK_STATE_KERNEL_SCHED_H

#include "state/kernel/cell_cache.h"

/* A provisional wakeup: its waker may turn out to be an interrupt handler that began before the slice. */
struct provisional_wake {
	int64_t ts, latency;		/* .ts: when the thread got its CPU */
	uint64_t seq;			/* of the wakeup event */
	uint32_t thread, waker;		/* .waker: as in bin_waker() */
};

/* A switch shows the thread on another CPU than .last_cpu: counts a move. */
void sched_seen(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
/* sched_migrate_task */
void sched_migrated(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
/* Merging: r continues l. */
void sched_append(struct slice *s, struct thread *l, const struct thread *r);
/* The wakeup with that number was by the interrupt. */
void sched_patch_waker(struct slice *s, uint64_t seq, uint32_t irq);
/* Merging: moves b's provisional wakeups to a. maps: b's ids in a. */
void sched_map_wakes(struct slice *a, struct slice *b, const struct cell_maps *maps);
/* Counts the provisional wakeups as they are: no older slice will be merged. */
void sched_wakes_known(struct slice *s);

static inline int16_t sched_prio(int64_t prio)
{
	return (int16_t)CLAMP(prio, PRIO_NONE + 1, INT16_MAX);
}

static inline uint16_t sched_cpu(const struct cpu *c)
{
	return (uint16_t)MIN(c->number, CPU_NONE - 1u);
}

static inline struct sched_cell *cell_of_sched(struct slice *s, struct bin *b, struct thread *t,
					       uint16_t cpu, int16_t prio)
{
	struct cell_slot *slot = &t->sched.slot[cpu % SCHED_SLOTS];
	uint32_t key = (uint32_t)cpu << 16 | (uint16_t)prio;
	return slot_has(slot, b, CELL_sched, key) ? slot->cell :
	       slot_set(slot, b, CELL_sched, key, BIN_CELL(s, b, sched, .thread = t->self, .cpu = cpu, .prio = prio));
}

/* waker: a thread, or the IRQ_* code of an interrupt; ID_NONE: unknown. */
static inline struct waker_cell *bin_waker(struct slice *s, struct bin *b, uint32_t thread, uint32_t waker)
{
	bool by_irq = waker >= IRQ_HARD(0) && waker != ID_NONE;
	return BIN_CELL(s, b, waker, .thread = thread, .waker = by_irq ? ID_NONE : waker, .irq = by_irq ? waker : 0);
}

static inline struct waker_cell *cell_of_waker(struct slice *s, struct bin *b, struct thread *t, uint32_t waker)
{
	struct cell_slot *slot = &t->sched.waker;
	return slot_has(slot, b, CELL_waker, waker) ? slot->cell :
	       slot_set(slot, b, CELL_waker, waker, bin_waker(s, b, t->self, waker));
}

static inline void sched_out(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu,
			     int16_t prio, bool preempted)
{
	if (t->idle || !slice_reads(s, CELL_sched))
		return;
	struct sched_cell *c = cell_of_sched(s, bin_at(s, ts), t, cpu, prio);
	c->switches++;
	c->preemptions += preempted;
}

/* A switch shows the thread on the CPU: is it another one than before? */
static inline void sched_at(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio)
{
	if (t->sched.last_cpu != cpu && slice_reads(s, CELL_sched))
		sched_seen(s, t, ts, cpu, prio);
}

static inline void waker_add(struct waker_cell *c, int64_t latency)
{
	c->count++;
	c->total_ns += latency;
	c->max_ns = MAX(c->max_ns, latency);
}

/* A woken thread gets its CPU: counts its wakeup latency. */
static inline void sched_woken(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu,
			       int16_t prio)
{
	const struct tstate *st = &t->st;
	if (!slice_reads(s, CELL_sched) && !slice_reads(s, CELL_waker))
		return;
	struct bin *b = bin_at(s, ts);
	int64_t ns = MAX(ts - st->wake_ns, 0);
	uint32_t waker = st->waker_irq ? st->waker_irq : st->waker;
	hist_add_at(&cell_of_sched(s, b, t, cpu, prio)->wakeup, ns, hist_bucket_index(ns));
	if (G_UNLIKELY(st->wake_provisional && (s->stitching || !s->from_start))) {
		struct provisional_wake w = { .ts = ts, .latency = ns, .seq = st->wake_seq,
				       .thread = t->self, .waker = waker };
		g_array_append_val(s->provisional_wakes, w);
		return;
	}
	waker_add(cell_of_waker(s, b, t, waker), ns);
}

/* A preempted thread gets its CPU again. */
static inline void sched_again(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu,
			       int16_t prio)
{
	int64_t ns = MAX(ts - t->st.off_ns, 0);
	if (!slice_reads(s, CELL_sched))
		return;
	hist_add_at(&cell_of_sched(s, bin_at(s, ts), t, cpu, prio)->preempted, ns,
		     hist_bucket_index(ns));
}

#endif
