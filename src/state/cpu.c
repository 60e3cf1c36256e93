/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs: who runs, which interrupt handler runs, running and idle time, losses. */
#include "state/slice_private.h"

void cpu_free(struct cpu *c)
{
	g_array_unref(c->irq_head);
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
static uint32_t name_current(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, int32_t tid)
{
	struct cpu *c = cpu_at(s, cpu);
	if (c->cur == c->start) {
		c->named_ns = ts;
		c->named_seq = seq;
	}
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

void cpu_replace(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, int32_t tid)
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
		name_current(s, cpu, ts, seq, tid);
	else
		cpu_replace(s, cpu, ts, seq, tid);
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

/*
 * Handlers that began before the slice are the left neighbour's to know: until a call
 * or a switch shows that none runs, notes are only kept, and played to the left's
 * state when it is there.
 */
void cpu_irq_note(struct slice *s, uint32_t cpu, const struct irq_note *n)
{
	struct cpu *c = cpu_at(s, cpu);
	if (!c->irq_known)
		g_array_append_val(c->irq_head, *n);
	if (!n->code) {
		if (c->irq_depth)
			thread_patch_waker(s, n->thread, n->seq,
					   c->irq[MIN(c->irq_depth, G_N_ELEMENTS(c->irq)) - 1]);
	} else if (!n->out) {
		if (c->irq_depth < G_N_ELEMENTS(c->irq))
			c->irq[c->irq_depth] = n->code;
		if (!c->irq_depth++)
			c->irq_since = n->ts;
	} else if (c->irq_depth && !--c->irq_depth && c->irq_known) {
		charge_cpu(s, cpu, CPU_IRQ, c->irq_since, n->ts);
	}
}

void cpu_no_irq(struct slice *s, uint32_t cpu)
{
	struct cpu *c = cpu_at(s, cpu);
	c->irq_known = true;
	c->irq_depth = 0;
}

void cpu_irq_in(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, uint32_t code)
{
	cpu_irq_note(s, cpu, &(struct irq_note){ .ts = ts, .seq = seq, .code = code });
	to_current(s, cpu, &(struct rec){ .type = REC_IRQ_IN, .ts = ts, .seq = seq, .cpu = cpu });
}

void cpu_irq_out(struct slice *s, uint32_t cpu, int64_t ts, uint64_t seq, uint32_t code)
{
	cpu_irq_note(s, cpu, &(struct irq_note){ .ts = ts, .seq = seq, .code = code, .out = true });
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
		struct irq_note n = { .thread = woken, .seq = seq };
		g_array_append_val(c->irq_head, n);
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
	c->cur = slice_anonymous(s, cpu);
	to_current(s, cpu, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = cpu,
					  .state = 1 });
}
