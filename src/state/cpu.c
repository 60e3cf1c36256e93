/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs: who runs, which interrupt handler runs, running and idle time, losses. */
#include "state/slice_private.h"

void cpu_free(struct cpu *c)
{
	g_array_unref(c->pre_wakes);
	g_array_unref(c->pre_irqs);
	g_free(c);
}

uint32_t cpu_current(struct slice *s, uint32_t cpu)
{
	struct cpu *c = cpu_at(s, cpu);
	c->cur = thread_follow(s, c->cur);
	return c->cur;
}

static void to_current(struct slice *s, uint32_t cpu, const struct rec *r)
{
	uint32_t cur = cpu_current(s, cpu);
	if (cur != ID_NONE)
		thread_record(s, cur, r);
}

/* ---- time of the CPU itself ---- */

static int cpu_kind(struct slice *s, uint32_t cpu)
{
	uint32_t cur = cpu_current(s, cpu);
	if (cur == ID_NONE)
		return CPU_UNKNOWN;
	const struct thread *t = thread_at(s, cur);
	return t->idle ? CPU_IDLE : t->tid == -1 ? CPU_UNKNOWN : CPU_RUN;
}

static void charge_until(struct slice *s, uint32_t cpu, int64_t ts)
{
	struct cpu *c = cpu_at(s, cpu);
	if (c->cursor == TS_NONE) {		/* before: the left neighbour knows */
		c->first_known = true;
		c->first_ns = ts;
	} else {
		charge_cpu(s, cpu, cpu_kind(s, cpu), c->cursor, ts);
	}
	c->cursor = MAX(c->cursor, ts);
}

/* At the border of a closed second: not while the task may still be named. */
void cpu_charge(struct slice *s, uint32_t cpu, int64_t until)
{
	struct cpu *c = cpu_at(s, cpu);
	bool anonymous = cpu_kind(s, cpu) == CPU_UNKNOWN && !c->lost;
	if (c->cursor != TS_NONE && !anonymous)
		charge_until(s, cpu, until);
}

void cpu_finish(struct slice *s, uint32_t cpu, int64_t until)
{
	if (cpu_at(s, cpu)->cursor != TS_NONE)
		charge_until(s, cpu, until);
}

/* ---- who runs ---- */

/* The current task is anonymous, and turns out to be `tid`. */
static uint32_t name_current(struct slice *s, uint32_t cpu, int32_t tid)
{
	struct cpu *c = cpu_at(s, cpu);
	uint32_t who = tid ? slice_thread(s, c->host, tid) : slice_idle(s, cpu);
	if (c->cur != ID_NONE && c->cur != who)
		thread_append(s, who, c->cur);
	c->cur = who;
	return who;
}

static bool is_task(const struct thread *t, int32_t tid)
{
	return t->idle ? tid == 0 : t->tid == tid;
}

/* The trace says another task runs here than was known: nobody saw the switch. */
static void replace_current(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, int32_t tid)
{
	struct cpu *c = cpu_at(s, cpu);
	charge_until(s, cpu, ts);
	to_current(s, cpu, &(struct rec){ .type = REC_AWAY, .ts = ts, .seq = seq, .cpu = cpu });
	c->cur = tid ? slice_thread(s, c->host, tid) : slice_idle(s, cpu);
	to_current(s, cpu, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = cpu });
}

void cpu_context(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, int32_t tid)
{
	uint32_t cur = cpu_current(s, cpu);
	if (cur == ID_NONE)
		return;
	const struct thread *t = thread_at(s, cur);
	if (is_task(t, tid))
		return;
	if (t->tid == -1)
		name_current(s, cpu, tid);
	else
		replace_current(s, cpu, ts, seq, tid);
}

void cpu_switch(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, int32_t prev_tid,
		enum off_state prev_state, int32_t next_tid)
{
	struct cpu *c = cpu_at(s, cpu);
	cpu_no_irq(s, cpu);
	if (cpu_current(s, cpu) != ID_NONE)
		cpu_context(s, cpu, ts, seq, prev_tid);
	charge_until(s, cpu, ts);
	to_current(s, cpu, &(struct rec){
		.type = REC_OFF, .ts = ts, .seq = seq, .cpu = cpu, .state = prev_state,
	});
	c->lost = false;
	c->cur = next_tid ? slice_thread(s, c->host, next_tid) : slice_idle(s, cpu);
	to_current(s, cpu, &(struct rec){ .type = REC_RUN, .ts = ts, .seq = seq, .cpu = cpu });
}

/* ---- interrupts ---- */

/* Whether a handler ran when the slice (or what follows a loss) began is decided. */
void cpu_irq_decided(struct slice *s, uint32_t cpu, uint32_t code)
{
	struct cpu *c = cpu_at(s, cpu);
	for (guint i = 0; code && i < c->pre_wakes->len; i++) {
		const struct pre_wake *w = &g_array_index(c->pre_wakes, struct pre_wake, i);
		thread_patch_waker(s, w->thread, w->seq, code);
	}
	for (guint i = 0; !code && i < c->pre_irqs->len; i++) {
		const struct pre_irq *p = &g_array_index(c->pre_irqs, struct pre_irq, i);
		charge_cpu(s, cpu, CPU_IRQ, p->from, p->to);
	}
	g_array_set_size(c->pre_wakes, 0);
	g_array_set_size(c->pre_irqs, 0);
	c->irq_known = c->irq_start_decided = true;
}

void cpu_no_irq(struct slice *s, uint32_t cpu)
{
	struct cpu *c = cpu_at(s, cpu);
	if (!c->irq_known)
		cpu_irq_decided(s, cpu, 0);
	c->irq_depth = 0;
}

void cpu_irq_in(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, uint32_t code)
{
	struct cpu *c = cpu_at(s, cpu);
	if (c->irq_depth < G_N_ELEMENTS(c->irq))
		c->irq[c->irq_depth] = code;
	if (!c->irq_depth++)
		c->irq_since = ts;
	to_current(s, cpu, &(struct rec){ .type = REC_IRQ_IN, .ts = ts, .seq = seq, .cpu = cpu });
}

void cpu_irq_out(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, uint32_t code)
{
	struct cpu *c = cpu_at(s, cpu);
	if (c->irq_depth) {
		if (!--c->irq_depth && c->irq_known) {
			charge_cpu(s, cpu, CPU_IRQ, c->irq_since, ts);
		} else if (!c->irq_depth) {
			struct pre_irq p = { c->irq_since, ts };
			g_array_append_val(c->pre_irqs, p);
		}
	} else if (!c->irq_known) {	/* it began before anything was seen */
		cpu_irq_decided(s, cpu, code);
		if (c->cursor == TS_NONE) {
			c->soft_irq_end = ts;
			c->soft_irq_code = code;
		} else {
			charge_cpu(s, cpu, CPU_IRQ, c->cursor, ts);
		}
	}
	to_current(s, cpu, &(struct rec){ .type = REC_IRQ_OUT, .ts = ts, .seq = seq, .cpu = cpu });
}

uint32_t cpu_waker(struct slice *s, uint32_t cpu, uint32_t woken, uint64_t seq, uint32_t *ret_irq)
{
	struct cpu *c = cpu_at(s, cpu);
	*ret_irq = 0;
	if (c->irq_depth) {
		*ret_irq = c->irq[MIN(c->irq_depth, G_N_ELEMENTS(c->irq)) - 1];
		return ID_NONE;
	}
	if (!c->irq_known) {
		struct pre_wake w = { woken, seq };
		g_array_append_val(c->pre_wakes, w);
	}
	return cpu_current(s, cpu);
}

/* ---- losses ---- */

void cpu_lost_begin(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq)
{
	struct cpu *c = cpu_at(s, cpu);
	cpu_no_irq(s, cpu);
	charge_until(s, cpu, ts);
	to_current(s, cpu, &(struct rec){ .type = REC_LOST, .ts = ts, .seq = seq, .cpu = cpu });
	c->cur = ID_NONE;
	c->lost = true;
}

void cpu_lost_end(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq)
{
	struct cpu *c = cpu_at(s, cpu);
	if (!c->lost)
		cpu_lost_begin(s, cpu, ts, seq);
	charge_until(s, cpu, ts);
	c->lost = false;
	c->irq_known = false;
	c->irq_depth = 0;
	c->cur = slice_anonymous(s, cpu);
	to_current(s, cpu, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = cpu,
					  .state = 1 });
}
