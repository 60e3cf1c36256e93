/* SPDX-License-Identifier: GPL-2.0-only */
/* Appends to a thread's log of waits; see thread_logs.h. */
#include "state/kernel/thread_logs.h"

#include "state/slice/slice_state.h"


/*
 * Is the futex a lock? Yes for FUTEX_LOCK_PI and _PI2 (include/uapi/linux/futex.h). Also if the expected value means
 * "locked, with waiters": 2 in glibc, Rust and Go (Drepper, Futexes Are Tricky, mutex2), FUTEX_WAITERS in musl and in
 * robust locks.
 */
static bool is_lock(uint32_t op, uint32_t val)
{
	uint32_t command = op & 0x7f;	/* without _PRIVATE and _CLOCK_REALTIME */
	return command == 6 || command == 13 ||
	       ((command == 0 || command == 9) && (val == 2 || val & 0x80000000));
}

struct wait_call wait_call(const struct call *c)
{
	struct wait_call w = { .name = c->name, .fd = c->fd };
	if (!c->info || c->info->cause != PART_FUTEX) {
		w.seq = c->seq;
		return w;
	}
	w.fd = -1;
	if (!c->info->futex_args)	/* futex_waitv: addresses are behind a pointer */
		return w;
	w.futex = (uint64_t)c->arg[0];
	w.lock = is_lock((uint32_t)c->arg[1], (uint32_t)c->arg[2]);
	return w;
}

void thread_log_wait(const struct slice *s, struct thread *t, int64_t ts, uint32_t cpu)
{
	const struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN, preempted = st->run == RUN_PREEMPTED;
	*vec_add(&t->waits, struct wait) = (struct wait){
		.begin = st->off_ns, .wake = woken ? st->wake_ns : ts, .end = ts,
		.wake_seq = st->wake_seq, .cause = preempted ? WAIT_PART : st->wait_cause,
		.part = preempted ? PART_PREEMPTED : st->wait_part,
		.waker = woken ? st->waker : ID_NONE, .waker_irq = woken ? st->waker_irq : 0,
		.cpu = cpu, .run = cpu_at(s, cpu)->runs.len, .off_cpu = st->off_cpu,
		.in_initial_call = st->call_state == CALL_UNRESOLVED && !st->call_lost,
		.call = st->call_state == CALL_IN ? wait_call(&st->call) : (struct wait_call){ .fd = -1 },
	};
}
