/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transitions of a thread's state: switched in, switched out, woken. The caller has charged its time up to then.
 * Inline, since thread.c and fast_path.c call them for most events.
 */
#ifndef BLK_STATE_KERNEL_THREAD_STATE_H
#define BLK_STATE_KERNEL_THREAD_STATE_H

#include "state/kernel/cpu_runs.h"
#include "state/kernel/locks.h"
#include "state/kernel/sched.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/unknown_calls.h"

struct waking {
	int64_t ts;
	uint64_t seq;
	uint32_t cpu, waker, irq;	/* as in struct rec */
	bool provisional;		/* .waker is provisional */
};

static inline void wait_for_part(struct tstate *st, enum part part)
{
	st->wait_cause = WAIT_PART;
	st->wait_part = (uint8_t)part;
}

static inline void set_wait_cause(struct tstate *st)
{
	st->wait_cause = WAIT_PART;
	if (st->call_state == CALL_IN)
		call_cause(&st->call, &st->wait_cause, &st->wait_part);
	else if (st->call_state == CALL_NONE)
		st->wait_part = PART_FAULT;
	else
		st->wait_cause = st->call_lost ? WAIT_LOST : WAIT_UNRESOLVED;
}

static inline void woken_by(struct tstate *st, const struct waking *w)
{
	st->wake_ns = w->ts;
	st->wake_seq = w->seq;
	st->wake_provisional = w->provisional;
	st->waker = w->waker;
	st->waker_irq = w->irq;
}

static inline void finish_wait(struct slice *s, struct thread *t, int64_t ts, uint32_t cpu,
			       int16_t prio)
{
	struct tstate *st = &t->st;
	if (st->run == RUN_NEW && !st->wake_seq && !s->has_new_wakes)
		woken_by(st, &(struct waking){ .ts = st->off_ns, .waker = ID_NONE });	/* by its fork */
	else if (st->run == RUN_NEW && !st->wake_seq)
		return;
	if (st->run == RUN_WOKEN || st->run == RUN_NEW)
		sched_woken(s, t, ts, sched_cpu(cpu_at(s, cpu)), prio);
	else if (st->run == RUN_PREEMPTED)
		sched_again(s, t, ts, sched_cpu(cpu_at(s, cpu)), prio);
	else if (st->run != RUN_BLOCKED)
		return;
	if (st->run == RUN_NEW)
		return;
	if (slice_counts_locks(s))
		lock_past_add(s, t, ts);
	if (s->no_spans)
		return;
	if (!slice_keeps_logs(s) && t->tid != -1) {	/* no span can need the log */
		t->out_ns = ts;
		t->out_call = st->call_state == CALL_IN ? st->call.name : 0;
		return;
	}
	thread_log_wait(s, t, ts, cpu);
}

static inline void run(struct slice *s, struct thread *t, int64_t ts, uint32_t cpu, int16_t prio)
{
	finish_wait(s, t, ts, cpu, prio);
	t->st.run = RUN_ON;
	t->st.on_cpu = sched_cpu(cpu_at(s, cpu));
	sched_at(s, t, ts, t->st.on_cpu, prio);
	t->st.wake_seq = 0;
	t->st.irq_known = true;
	t->st.irq_depth = 0;
}

static inline void off(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio,
		       enum off_state off_state)
{
	static const uint8_t state[] = {
		[OFF_BLOCKED] = RUN_BLOCKED, [OFF_PREEMPTED] = RUN_PREEMPTED, [OFF_DEAD] = RUN_DEAD,
		[OFF_STOPPED] = RUN_BLOCKED,
	};
	G_STATIC_ASSERT(G_N_ELEMENTS(state) == OFF_STOPPED + 1);
	sched_at(s, t, ts, cpu, prio);
	t->st.run = state[off_state];
	t->st.off_ns = ts;
	t->st.off_cpu = t->st.queue_cpu = cpu;
	t->st.irq_known = true;
	t->st.irq_depth = 0;
	t->st.woken_early = (off_state == OFF_BLOCKED || off_state == OFF_STOPPED) && t->st.wake_seq;
	if (!t->st.woken_early)
		t->st.wake_seq = 0;
	if (off_state == OFF_DEAD)
		t->exit_ns = ts;
	else if (off_state == OFF_STOPPED)	/* whatever call it is in */
		wait_for_part(&t->st, PART_STOPPED);
	else
		set_wait_cause(&t->st);
}

/* Has the wakeup no effect? The thread is running, or was woken already (a wakeup has two events), and no event was
 * lost since. */
static inline bool wakeup_is_ignored(const struct slice *s, const struct thread *t)
{
	return t->st.run != RUN_BLOCKED && t->st.run != RUN_UNKNOWN && t->st.run != RUN_NEW &&
	       !slice_lost_after(s, t->st.cursor);
}

/* s: NULL if the thread is running. */
static inline void wake(struct slice *s, struct thread *t, const struct waking *w)
{
	struct tstate *st = &t->st;
	bool blocked = st->run == RUN_BLOCKED;
	if (st->run == RUN_NEW && !st->wake_seq) {
		woken_by(st, w);	/* a new thread's first wakeup: not a wait */
		return;
	}
	if (st->run == RUN_UNKNOWN) {	/* it was blocked since an unknown instant */
		st->off_ns = w->ts;
		st->off_cpu = st->queue_cpu = CPU_NONE;
		set_wait_cause(st);
	} else if (st->run != RUN_BLOCKED) {
		if (st->run == RUN_ON)
			woken_by(st, w);	/* it may be about to block, see woken_before_off() */
		return;
	}
	st->run = RUN_WOKEN;
	woken_by(st, w);
	if (blocked && lock_may_be(s, st) && slice_counts_locks(s))
		lock_woken(s, t);
}

/*
 * Blocked, and switched in without a wakeup: the last one since it got its CPU was the one, and came before the
 * switch-out. The waker's CPU can be ahead; and a kernel whose sched_waking is recorded alone wakes a thread that is
 * about to leave its CPU.
 */
static inline void woken_before_off(struct tstate *st)
{
	st->run = RUN_WOKEN;
	st->wake_ns = st->off_ns;
}

#endif
