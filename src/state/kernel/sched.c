/* SPDX-License-Identifier: GPL-2.0-only */
/* The less frequent steps of counting the scheduler, and merging; see sched.h. */
#include "state/kernel/sched.h"

#include "base/each.h"
#include "state/kernel/cell_cache.h"

void sched_seen(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio)
{
	struct thread_sched *h = &t->sched;
	if (h->last_cpu == CPU_NONE) {		/* it is a move only if the left neighbour's last CPU is another one */
		h->first_cpu = cpu;
		h->first_ns = ts;
		h->first_prio = prio;
	} else {
		cell_of_sched(s, bin_at(s, ts), t, cpu, prio)->moves++;
	}
	h->last_cpu = cpu;
}

void sched_migrated(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio)
{
	cell_of_sched(s, bin_at(s, ts), t, cpu, prio)->migrations++;
}

/* Counts a move if r's first CPU is not l's last one. */
void sched_append(struct slice *s, struct thread *l, const struct thread *r)
{
	struct thread_sched *h = &l->sched;
	const struct thread_sched *n = &r->sched;
	if (n->last_cpu == CPU_NONE)
		return;
	if (h->last_cpu != n->first_cpu)
		sched_seen(s, l, n->first_ns, n->first_cpu, n->first_prio);
	h->last_cpu = n->last_cpu;
}

/* ---- provisional wakers ---- */

void sched_patch_waker(struct slice *s, uint64_t seq, uint32_t irq)
{
	ARRAY_EACH(struct provisional_wake, w, s->provisional_wakes)
		if (w->seq == seq)
			w->waker = irq;
}

static uint32_t map_waker(uint32_t waker, const struct cell_maps *maps)
{
	return waker >= IRQ_HARD(0) ? waker : maps->thread[waker];
}

void sched_map_wakes(struct slice *a, struct slice *b, const struct cell_maps *maps)
{
	for (guint i = 0; i < b->provisional_wakes->len; i++) {
		struct provisional_wake w = g_array_index(b->provisional_wakes, struct provisional_wake, i);
		w.thread = maps->thread[w.thread];
		w.waker = map_waker(w.waker, maps);
		w.seq += maps->seq_add;
		g_array_append_val(a->provisional_wakes, w);
	}
}

void sched_wakes_known(struct slice *s)
{
	g_assert(s->from_start);
	ARRAY_EACH(const struct provisional_wake, w, s->provisional_wakes)
		waker_add(bin_waker(s, bin_at(s, w->ts), w->thread, w->waker), w->latency);
	g_array_set_size(s->provisional_wakes, 0);
}
