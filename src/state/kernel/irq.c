/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts interrupts: finished handlers, the threads that they interrupted, and the time from a softirq's raise to its
 * handler's begin.
 *
 * A softirq that is raised again before its handler runs counts once. For merging, a slice stores three instants of
 * each softirq: its first raise before its first handler (.first_raise), its first handler's begin (.first_entry), and
 * its pending raise when the slice ends (.since).
 */
#include "state/kernel/irq.h"

#include "state/kernel/bin.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_order.h"

void irq_done(struct slice *s, const struct cpu *c, const struct irq_frame *f, int64_t ts)
{
	if (!slice_reads(s, CELL_irq) && !slice_reads(s, CELL_stolen))
		return;
	struct bin *b = bin_at(s, ts);
	struct irq_cell *irq = BIN_CELL(s, b, irq, .host = c->host, .cpu = c->number, .code = f->code);
	int64_t ns = MAX(ts - f->since, 0), self = MAX(ns - f->nested, 0);
	irq->self_ns += self;
	hist_add_at(&irq->time, ns, hist_bucket_index(ns));
	if (f->thread == ID_NONE)
		return;
	struct stolen_cell *stolen = BIN_CELL(s, b, stolen, .thread = f->thread, .code = f->code);
	stolen->count++;
	stolen->self_ns += self;
}

void irq_raises_init(struct slice *s, struct cpu *c)
{
	for (unsigned i = 0; i < SOFTIRQS; i++)
		c->raise[i] = (struct raise){
			.since = TS_NONE, .unraised = TS_NONE, .first_raise = TS_NONE, .first_entry = TS_NONE,
			.closed = s->from_start,
		};
}

static void count_raise(struct slice *s, const struct cpu *c, uint32_t vec, int64_t since, int64_t ts)
{
	if (since == TS_NONE || !slice_reads(s, CELL_irq))
		return;
	int64_t ns = MAX(ts - since, 0);
	struct irq_cell *irq = BIN_CELL(s, bin_at(s, ts), irq, .host = c->host, .cpu = c->number,
					.code = IRQ_SOFT(vec));
	hist_add(&irq->raise, ns);
}

/* Two streams of one CPU can have the raise and the begin of the handler at one instant, in the wrong order. */
void irq_raised(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec)
{
	struct raise *r = vec < SOFTIRQS ? &c->raise[vec] : NULL;
	if (!r || r->since != TS_NONE)
		return;
	if (!r->closed || r->unraised != ts) {
		r->since = ts;
		return;
	}
	r->unraised = TS_NONE;
	order_count(s, ts, 0);
	count_raise(s, c, vec, ts, ts);
}

void irq_served(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec)
{
	if (vec >= SOFTIRQS)
		return;
	struct raise *r = &c->raise[vec];
	if (r->closed) {
		r->unraised = r->since == TS_NONE ? ts : TS_NONE;
		count_raise(s, c, vec, r->since, ts);
	} else {
		r->first_raise = r->since;
		r->first_entry = ts;
		r->closed = true;
	}
	r->since = TS_NONE;
}

/* After a loss, earlier raises do not count. */
void irq_raises_lost(struct cpu *c)
{
	for (unsigned i = 0; i < SOFTIRQS; i++) {
		c->raise[i].since = TS_NONE;
		c->raise[i].closed = true;
	}
}

void irq_raises_join(struct slice *s, struct cpu *c, const struct cpu *b)
{
	for (unsigned i = 0; i < SOFTIRQS; i++) {
		struct raise *l = &c->raise[i];
		const struct raise *r = &b->raise[i];
		int64_t since = l->since != TS_NONE ? l->since : r->closed ? r->first_raise : r->since;
		if (!r->closed) {
			l->since = since;
			continue;
		}
		if (r->first_entry != TS_NONE && l->closed) {
			count_raise(s, c, i, since, r->first_entry);
		} else if (!l->closed) {
			l->first_raise = since;
			l->first_entry = r->first_entry;
			l->closed = true;
		}
		l->since = r->since;
		l->unraised = r->unraised;
	}
}
