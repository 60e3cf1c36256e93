/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows CPUs: the current task, the stack of interrupt handlers, running and idle time, losses; see cpu.h. */
#include "state/kernel/cpu.h"

#include "base/each.h"
#include "state/kernel/charge.h"
#include "state/kernel/counts.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/facts.h"
#include "state/kernel/irq.h"
#include "state/kernel/join_threads.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/thread_state.h"
#include "state/kernel/threads.h"

void cpu_free(struct cpu *c)
{
	g_array_unref(c->irq_head);
	g_clear_pointer(&c->counters, g_array_unref);
	vec_free(&c->runs);
	g_free(c);
}

static void to_current(struct slice *s, struct cpu *c, const struct rec *r)
{
	struct thread *t = cpu_task(s, c);
	if (t)
		thread_record(s, t, r);
}

/* ---- time of the CPU itself ---- */

enum cpu_kind cpu_kind_of(const struct slice *s, const struct cpu *c, const struct thread *t)
{
	if (!t || (!t->idle && t->tid < 0) || !slice_follows_tasks(s, c->host))
		return CPU_UNKNOWN;
	return t->idle ? CPU_IDLE : CPU_RUN;
}

static void charge_until(struct slice *s, struct cpu *c, int64_t ts)
{
	if (c->cursor == TS_NONE) {		/* earlier time belongs to the left neighbour's task */
		c->first_known = true;
		c->first_ns = ts;
	} else {
		charge_cpu(s, c, cpu_kind_of(s, c, cpu_task(s, c)), cpu_task(s, c), c->cursor, ts);
	}
	c->cursor = MAX(c->cursor, ts);
}

/* An anonymous task is not charged: it may be identified later, also where no kernel is traced yet. */
void cpu_charge(struct slice *s, struct cpu *c, int64_t until)
{
	bool may_be_told = slice_follows_tasks(s, c->host) || !slice_has_kernel(s, c->host);
	bool anonymous = cpu_task(s, c) && cpu_task(s, c)->tid == -1 && may_be_told && !c->lost;
	if (c->cursor != TS_NONE && !anonymous)
		charge_until(s, c, covered_until(s, c->host, until));
}

void cpu_finish(struct slice *s, struct cpu *c, int64_t until)
{
	if (c->cursor != TS_NONE)
		charge_until(s, c, covered_until(s, c->host, until));
}

/* ---- the current task ---- */

struct thread *cpu_task_of_tid(struct slice *s, struct cpu *c, int32_t tid)
{
	return tid ? slice_thread(s, c->host, tid) : slice_idle(s, c);
}

/* The thread has run since the slice's beginning, as the anonymous task. So wakeups in that time had no effect, but for
 * the last one (returned, else its .type is another one) if the thread was about to block. */
static struct rec drop_wakes(struct thread *t, const struct thread *anonymous)
{
	const struct rec *first = anonymous->head.data;
	struct rec last = { .type = REC_AWAY };
	uint32_t n_left = 0;
	if (anonymous->head.len && first->type == REC_SINCE && first->state == 1)
		return last;		/* it has run only since a loss */
	ARRAY_EACH(const struct rec, r, &t->head) {
		if (r->type == REC_WAKE)
			last = *r;
		else
			*vec_at(&t->head, struct rec, n_left++) = *r;
	}
	t->head.len = n_left;
	last.state = 1;
	return last;
}

/* When the thread left its last CPU; INT64_MIN: it has not, as far as is known. */
static int64_t left_cpu_at(const struct thread *t)
{
	const struct tstate *st = &t->st;
	const struct rec *last = thread_is_known(t) ? NULL : thread_last_told(t);
	bool off = st->run == RUN_BLOCKED || st->run == RUN_PREEMPTED || st->run == RUN_NEW ||
		   (st->run == RUN_WOKEN && st->off_cpu != CPU_NONE);
	if (last)
		return last->type == REC_OFF && last->state != OFF_DEAD ? last->ts : INT64_MIN;
	return t->resolved && off ? st->off_ns : INT64_MIN;
}

/* Did the thread leave a CPU after the anonymous task began on this one? Then it is not that task. Its switch-in is
 * missing: the stream begins later than others, or has only selected events. */
static bool came_later(const struct cpu *c, const struct thread *next)
{
	return !next->idle && left_cpu_at(next) > c->since;
}

static void note_named(struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	c->named_ns = ts;
	c->named_seq = seq;
	c->named_tid = tid;
	c->named_before_ns = c->before_ns;
}

/*
 * Identifies the anonymous current task as `tid`. The task of the slice's beginning may be another one for the left
 * neighbour (a switch can be lost without a loss record). So the anonymous thread ends here and is later merged with
 * the left's task, and `tid` begins with its own head.
 */
static void name_current(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	struct thread *was = c->task, *next = cpu_task_of_tid(s, c, tid);
	struct rec wake = { .type = REC_AWAY };
	bool first = was && was->self == c->start;
	if (first)
		note_named(c, ts, seq, tid);
	if (was && !next->resolved)
		wake = drop_wakes(next, was);
	bool parted = first && !s->from_start && (next->idle || !next->resolved);
	if (was && was != next && !parted)
		thread_append(s, next, was);
	if (wake.type == REC_WAKE)
		thread_record(s, next, &wake);
	c->task = next;
	cpu_runs(s, c, ts);
}

/* Replaces the current task, and leaves it to the caller to tell the new one. */
static void replace(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	charge_until(s, c, ts);
	to_current(s, c, &(struct rec){ .type = REC_AWAY, .ts = ts, .seq = seq, .cpu = c->self });
	c->task = cpu_task_of_tid(s, c, tid);
	cpu_runs(s, c, ts);
}

void cpu_replace(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	replace(s, c, ts, seq, tid);
	to_current(s, c, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = c->self });
}

void cpu_exec(struct slice *s, struct cpu *c, struct thread *caller, int64_t ts, uint64_t seq, int32_t tid)
{
	struct thread *t = slice_thread_exec(s, caller, tid, ts, seq);
	if (cpu_task(s, c))
		cpu_replace(s, c, ts, seq, tid);
	if (!(caller->resolved && caller->st.run == RUN_DEAD))
		thread_record(s, caller, &(struct rec){ .type = REC_ENDED, .ts = ts, .seq = seq, .id = t->self });
	slice_fact(s, t->self, ts, seq, &(struct fact){ .kind = FACT_EXEC, .other = caller->self });
	s->fdops.all = MAX(s->fdops.all, seq);
}

/* A thread that called exec and is not the leader has the leader's tid some time before the event of its exec: an
 * interrupt, or the thread's own switches, show it first (fs/exec.c: de_thread()). */
static bool has_leaders_tid(const struct thread *t, int32_t tid)
{
	const struct rec *last = thread_is_known(t) ? NULL : thread_last_told(t);
	const struct call_info *call = last && last->type == REC_ENTER ? last->info : NULL;
	if (!last && t->st.call_state == CALL_IN && t->st.call.name)
		call = info_of_call(&t->st.call);
	return thread_is_identified(t) && tid == t->pid && call && call->fdop == FDOP_EXEC;
}

/* A switch is missing: it is unknown what ran since the CPU's last event. The CPU may have been offline. */
static void end_at_last_event(struct slice *s, struct cpu *c, uint64_t seq)
{
	int64_t last = c->before_ns;
	if (last == INT64_MIN)
		return;
	charge_until(s, c, last);
	to_current(s, c, &(struct rec){ .type = REC_AWAY, .ts = last, .seq = seq, .cpu = c->self });
	c->task = NULL;
	cpu_runs(s, c, last);
}

/*
 * Events whose contexts have a pid and no tid do not prove which thread of the process ran, if switches are missing:
 * they are recorded on other CPUs only, or later. So the CPU's first task collects its records until a switch
 * identifies it (thread_order_determines()), or an event is of another process: then its calls are not paired.
 */
static void end_unproven(struct slice *s, struct thread *t)
{
	const struct rec *last = t->head.len ? vec_at(&t->head, struct rec, t->head.len - 1) : NULL;
	if (s->from_start && t->tid == TID_ANONYMOUS && !t->absorbed && !thread_is_known(t) && t->pid > 0 &&
	    last && last->type == REC_AWAY)
		thread_append(s, slice_thread(s, t->host, tid_of_process(t->pid)), t);
}

void cpu_other_process(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t pid)
{
	struct thread *was = cpu_task(s, c);
	if (thread_process(was) < 0) {
		cpu_context(s, c, ts, seq, 0);	/* the idle task */
		return;
	}
	end_at_last_event(s, c, seq);
	end_unproven(s, was);
	replace(s, c, ts, seq, pid > 0 ? tid_of_process(pid) : 0);
}

void cpu_join_anonymous(struct slice *s, struct cpu *c, struct thread *r)
{
	const struct rec *first = r->head.len ? vec_at(&r->head, struct rec, 0) : NULL;
	if (r->pid >= 0 && first) {
		c->before_ns = c->kernel_to;
		cpu_process(s, c, first->ts, first->seq, r->pid);
	}
	struct thread *l = cpu_task(s, c);
	if (tid_is_unproven(l->tid) && thread_is_known(r))
		return;
	if (l->pid < 0)		/* before its records are replayed */
		l->pid = r->pid;
	thread_append(s, l, r);
	end_unproven(s, l);
}

/*
 * A thread that left another CPU just after the slice began may have been on this one already: its switch-in is stamped
 * before the switch-out, and in the left neighbour. Merging decides: cpu_join_named().
 */
static bool may_be_named(const struct slice *s, const struct cpu *c, const struct thread *next, int64_t left_ns)
{
	return !s->from_start && !next->fresh && c->task->self == c->start &&
	       !covered_are_far(MAX(c->since, s->first), left_ns, CLOCK_SKEW_NS);
}

static void name_later(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	struct thread *next = cpu_task_of_tid(s, c, tid);
	c->named_left_ns = left_cpu_at(next);
	note_named(c, ts, seq, tid);
	c->task = next;
	cpu_runs(s, c, ts);
	to_current(s, c, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = c->self, .state = 2 });
}

void cpu_join_named(struct slice *s, struct cpu *c, const struct cpu *b, uint64_t seq)
{
	const struct thread *t = cpu_task(s, c);
	if (has_leaders_tid(t, b->named_tid)) {
		cpu_context(s, c, b->named_ns, seq, b->named_tid);
		return;
	}
	const struct thread *next = cpu_task_of_tid(s, c, b->named_tid);
	int64_t left = b->named_left_ns;
	if (left == TS_NONE && came_later(c, next))
		left = left_cpu_at(next);
	if (t->tid == -1 && t != next && left != TS_NONE && may_be_named(s, c, next, left)) {
		note_named(c, b->named_ns, seq, b->named_tid);
		c->named_left_ns = left;
	} else if (b->named_left_ns == TS_NONE || t->task_tid == b->named_tid) {
		cpu_context(s, c, b->named_ns, seq, b->named_tid);
	} else {
		end_at_last_event(s, c, seq);
		replace(s, c, b->named_ns, seq, b->named_tid);
	}
}

void cpu_other_task(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	g_assert(cpu_task(s, c));	/* cpu_context() does not call it in a loss */
	if (!slice_follows_tasks(s, c->host)) {
		c->task = cpu_task_of_tid(s, c, tid);	/* only for this event: what runs until the next is unknown */
		return;
	}
	if (has_leaders_tid(c->task, tid)) {
		cpu_exec(s, c, c->task, ts, seq, tid);
		return;
	}
	const struct thread *next = cpu_task_of_tid(s, c, tid);
	bool anonymous = c->task->tid == -1;
	if (anonymous && came_later(c, next) && may_be_named(s, c, next, left_cpu_at(next))) {
		name_later(s, c, ts, seq, tid);
		return;
	}
	struct thread *was = cpu_task(s, c);
	bool of_another = was->pid >= 0 && thread_process(next) >= 0 && thread_process(next) != was->pid;
	if (anonymous && !of_another && !came_later(c, next)) {
		name_current(s, c, ts, seq, tid);
	} else {
		end_at_last_event(s, c, seq);
		end_unproven(s, was);
		cpu_replace(s, c, ts, seq, tid);
	}
}

void cpu_switch(struct slice *s, struct cpu *c, const struct switching *w)
{
	cpu_no_irq(c);
	cpu_context(s, c, w->ts, w->seq, w->prev_tid);
	charge_until(s, c, w->ts);
	struct thread *prev = cpu_task(s, c);
	if (prev) {
		sched_out(s, prev, w->ts, sched_cpu(c), w->prev_prio,
			  w->prev_state == OFF_PREEMPTED);
		thread_off(s, prev, w->ts, w->seq, c->self, w->prev_prio, w->prev_state);
	}
	c->lost = false;
	c->task = cpu_task_of_tid(s, c, w->next_tid);
	cpu_runs(s, c, w->ts);
	thread_run(s, c->task, w->ts, w->seq, c->self, w->next_prio);
}

/* ---- interrupts ---- */

static void handler_ends(struct slice *s, struct cpu *c, const struct irq_note *n)
{
	g_assert(c->irq_depth > 0);
	uint16_t depth = --c->irq_depth;
	if (depth < IRQ_FRAMES) {
		const struct irq_frame *f = &c->irq[depth];
		if (depth)
			c->irq[depth - 1].nested += n->ts - f->since;
		if (c->irq_known && f->code == n->code)
			irq_done(s, c, f, n->ts);
	}
	if (!depth && c->irq_known)
		charge_cpu(s, c, CPU_IRQ, NULL, c->irq_since, n->ts);
}

/*
 * Packets that a thread sends to its own machine are received within the sending call. The softirq that the thread
 * raised runs before the call ends, and its wakeups count as the thread's. (net/core/dev.c: netif_rx() raises it,
 * local_bh_enable() runs it.) After a handler, a switch or the end of a call it is unknown which thread raised a
 * softirq: ksoftirqd may serve several threads at once.
 */
#define INLINE_SOFTIRQS (1U << 2 | 1U << 3)	/* NET_TX, NET_RX */

static bool take_raised(struct cpu *c, uint32_t code)
{
	G_STATIC_ASSERT(INLINE_SOFTIRQS <= UINT8_MAX);		/* bits of cpu.raised */
	uint32_t vec = code - IRQ_SOFT(0);
	bool raised = code >= IRQ_SOFT(0) && vec < 8 && c->raised & 1U << vec;
	if (raised)
		c->raised &= (uint8_t)~(1U << vec);
	return raised;
}

static void note_raise(struct cpu *c, uint32_t vec)
{
	uint32_t bit = vec < 8 ? INLINE_SOFTIRQS & 1U << vec : 0;
	if (c->irq_depth)
		c->raised &= (uint8_t)~bit;	/* a handler raised it as well */
	else
		c->raised |= (uint8_t)bit;
}

static void handler_begins(struct cpu *c, const struct irq_note *n)
{
	bool inlined = take_raised(c, n->code);
	if (c->irq_depth < IRQ_FRAMES)
		c->irq[c->irq_depth] = (struct irq_frame){
			.code = n->code, .thread = n->thread, .since = n->ts, .inlined = inlined,
		};
	if (!c->irq_depth++)
		c->irq_since = n->ts;
}

/*
 * Only the left neighbour knows handlers that began before the slice. Until a call or switch shows that no handler
 * runs, notes are also stored. Merging replays them on the left's state.
 */
void cpu_irq_note(struct slice *s, struct cpu *c, const struct irq_note *n)
{
	const struct irq_frame *frame = cpu_irq_frame(c);
	if (!c->irq_known)
		g_array_append_val(c->irq_head, *n);
	if (n->kind == IRQ_WOKE && frame)
		thread_patch_waker(s, n->thread, n->seq, frame->code, irq_frame_waker(frame));
	else if (n->kind == IRQ_RAISED)
		note_raise(c, n->code);
	else if (n->kind == IRQ_BEGAN)
		handler_begins(c, n);
	else if (n->kind == IRQ_ENDED && c->irq_depth)
		handler_ends(s, c, n);
}

void cpu_irq_in(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code)
{
	const struct thread *t = cpu_task(s, c);
	cpu_irq_note(s, c, &(struct irq_note){ .ts = ts, .seq = seq, .kind = IRQ_BEGAN, .code = code,
						 .thread = t ? t->self : ID_NONE });
	to_current(s, c, &(struct rec){ .type = REC_IRQ_IN, .ts = ts, .seq = seq, .cpu = c->self });
}

void cpu_irq_out(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code)
{
	cpu_irq_note(s, c, &(struct irq_note){ .ts = ts, .seq = seq, .kind = IRQ_ENDED, .code = code,
						 .thread = ID_NONE });
	to_current(s, c, &(struct rec){ .type = REC_IRQ_OUT, .ts = ts, .seq = seq, .cpu = c->self });
}

bool cpu_waker_is_provisional(const struct slice *s, const struct cpu *c)
{
	return !s->from_start && !c->irq_known && !c->irq_depth;
}

uint32_t cpu_waker(struct slice *s, struct cpu *c, uint32_t woken, uint64_t seq, uint32_t *ret_irq)
{
	const struct irq_frame *frame = cpu_irq_frame(c);
	if (!c->irq_known) {
		struct irq_note n = { .kind = IRQ_WOKE, .thread = woken, .seq = seq };
		g_array_append_val(c->irq_head, n);
	}
	*ret_irq = frame ? frame->code : 0;
	if (frame)
		return irq_frame_waker(frame);
	const struct thread *t = cpu_task(s, c);
	return t ? t->self : ID_NONE;
}

/* ---- losses ---- */

void cpu_lost_begin(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq)
{
	cpu_no_irq(c);
	charge_until(s, c, ts);
	to_current(s, c, &(struct rec){ .type = REC_LOST, .ts = ts, .seq = seq, .cpu = c->self });
	irq_raises_lost(c);
	c->task = NULL;
	c->lost = true;
	c->n_losses++;
	cpu_runs(s, c, ts);
}

void cpu_lost_end(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq)
{
	if (!c->lost)
		cpu_lost_begin(s, c, ts, seq);
	g_assert(c->lost && !c->task);
	charge_until(s, c, ts);
	c->lost = false;
	c->since = ts;
	c->task = slice_anonymous(s, c);
	cpu_runs(s, c, ts);
	to_current(s, c, &(struct rec){ .type = REC_SINCE, .ts = ts, .seq = seq, .cpu = c->self,
					  .state = 1 });
}

uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number)
{
	uint32_t i = intmap_get(&s->cpu_map, pair(host, number));
	if (i != INTMAP_NONE)
		return i;
	g_assert(host < s->hosts->len);
	struct cpu *c = g_new0(struct cpu, 1);
	c->self = i = s->cpus->len;
	c->host = host;
	c->number = number;
	c->cursor = !s->from_start ? TS_NONE : s->first == INT64_MAX ? s->first : covered_from(s, host);
	c->irq_since = c->named_ns = c->named_left_ns = TS_NONE;
	c->kernel_from = INT64_MAX;
	c->kernel_to = c->before_ns = c->since = INT64_MIN;
	c->irq_head = g_array_new(false, false, sizeof(struct irq_note));
	c->irq_known = s->from_start;
	irq_raises_init(s, c);
	g_ptr_array_add(s->cpus, c);
	intmap_set(&s->cpu_map, pair(host, number), i);
	c->task = slice_anonymous(s, c);
	c->start = c->task->self;
	runs_start(s, c);
	if (s->from_start && s->first != INT64_MAX)
		thread_record(s, c->task, &(struct rec){ .type = REC_SINCE, .ts = c->cursor,
							 .cpu = i, .id = ID_NONE });
	return i;
}
