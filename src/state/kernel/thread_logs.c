/* SPDX-License-Identifier: GPL-2.0-only */
/* Appends to a thread's logs, and looks back in them; see thread_logs.h. */
#include "state/kernel/thread_logs.h"

#include "state/kernel/slice_state.h"

#include "base/limits.h"

/* include/uapi/linux/futex.h: */
#define FUTEX_COMMAND 0x7f	/* of an operation: without _PRIVATE and _CLOCK_REALTIME */
#define FUTEX_REALTIME 0x100
#define FUTEX_WAITERS_BIT UINT32_C(0x80000000)
#define FUTEX_OWNER UINT32_C(0x3fffffff)	/* the owner's tid */
enum futex_command {
	F_WAIT = 0, F_WAKE = 1, F_LOCK_PI = 6, F_UNLOCK_PI = 7, F_TRYLOCK_PI = 8, F_WAIT_BITSET = 9, F_WAKE_BITSET = 10,
	F_WAIT_REQUEUE_PI = 11, F_LOCK_PI2 = 13,
};

/* FUTEX_WAITERS and an owner: a musl or robust lock. A semaphore of musl has no owner, or -1 as its value. */
static bool is_owned_with_waiters(uint32_t val)
{
	return val & FUTEX_WAITERS_BIT && val & FUTEX_OWNER && (val & FUTEX_OWNER) != FUTEX_OWNER;
}

/*
 * Does the futex look like a lock? Yes for FUTEX_LOCK_PI and _PI2. Also if the expected value means "locked, with
 * waiters": 2 in glibc, Rust and Go (Drepper, Futexes Are Tricky, mutex2), FUTEX_WAITERS in musl and in robust locks.
 * glibc waits with a bitset and the real-time clock for the end of a thread, a condition, a semaphore or a barrier:
 * there 2 is a number like others.
 */
static bool looks_like_lock(uint32_t op, uint32_t val)
{
	uint32_t command = op & FUTEX_COMMAND;
	if (command == F_WAIT_BITSET && op & FUTEX_REALTIME && val == 2)
		return false;
	return command == F_LOCK_PI || command == F_LOCK_PI2 ||
	       ((command == F_WAIT || command == F_WAIT_BITSET) && (val == 2 || is_owned_with_waiters(val)));
}

static bool is_wait_command(uint32_t command)
{
	return command == F_WAIT || command == F_WAIT_BITSET || command == F_WAIT_REQUEUE_PI ||
	       command == F_LOCK_PI || command == F_LOCK_PI2;
}

enum call_wait call_futex_wait(const struct call *c)
{
	if (c->arg[1] < 0)		/* not recorded */
		return CALL_WAITS_UNKNOWN;
	if (!is_wait_command(c->arg[1] & FUTEX_COMMAND))
		return CALL_NO_WAIT;
	return looks_like_lock((uint32_t)c->arg[1], (uint32_t)c->arg[2]) ? CALL_WAITS_LOCK : CALL_WAITS_QUEUE;
}

bool call_wakes_futex(const struct call *c, uint64_t *ret)
{
	if (!c->info || !c->info->futex_args || c->arg[1] < 0 || c->restart)
		return false;
	if (is_wait_command(c->arg[1] & FUTEX_COMMAND))
		return false;
	switch (c->arg[1] & FUTEX_COMMAND) {
	case F_TRYLOCK_PI:
		return false;
	case F_UNLOCK_PI:
		*ret = (uint64_t)c->arg[0];
		return true;
	case F_WAKE:
	case F_WAKE_BITSET:
		*ret = (uint32_t)c->arg[2] <= 1 ? (uint64_t)c->arg[0] : 0;	/* 0: the value is not recorded */
		return true;
	default:
		*ret = 0;	/* they wake threads of two futexes, or move them to another one */
		return true;
	}
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
	w.lock = looks_like_lock((uint32_t)c->arg[1], (uint32_t)c->arg[2]);
	return w;
}

void thread_log_wait(const struct slice *s, struct thread *t, int64_t ts, uint32_t cpu)
{
	const struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN, preempted = st->run == RUN_PREEMPTED;
	G_STATIC_ASSERT(WAIT_RESTART < 1 << 6);		/* wait.cause has 6 bits */
	*vec_add(&t->waits, struct wait) = (struct wait){
		.begin = st->off_ns, .wake = woken ? st->wake_ns : ts, .end = ts,
		.wake_seq = st->wake_seq, .cause = preempted ? WAIT_PART : st->wait_cause,
		.part = preempted ? PART_PREEMPTED : st->wait_part,
		.waker = woken ? st->waker : ID_NONE, .waker_irq = woken ? st->waker_irq : 0,
		.cpu = cpu, .run = cpu_at(s, cpu)->runs.len, .off_cpu = st->off_cpu,
		.in_restart = st->call_state == CALL_IN && st->call.restart == RESTART_UNRESOLVED,
		.in_initial_call = st->call_state == CALL_UNRESOLVED && !st->call_lost,
		.call = st->call_state == CALL_IN ? wait_call(&st->call) : (struct wait_call){ .fd = -1 },
	};
}

void thread_note_charge(struct thread *t, unsigned part, int64_t from, int64_t to)
{
	struct vec *all = &t->charged;
	struct charged *last = all->len ? vec_at(all, struct charged, all->len - 1) : NULL;

	if (all->len >= 2 * LIMIT_PAST_CHARGES) {
		vec_drop(all, all->len - LIMIT_PAST_CHARGES, sizeof(struct charged));
		last = vec_at(all, struct charged, all->len - 1);
	}
	if (!last || last->until < from)
		*vec_add(all, struct charged) = (struct charged){ from, CHARGED_NOT };
	else if (last->part == part) {
		last->until = MAX(last->until, to);
		return;
	}
	*vec_add(all, struct charged) = (struct charged){ to, (uint8_t)part };
}

int64_t thread_look_back(struct thread *t, int64_t from, int64_t to, int64_t part[PART_SLICE_N])
{
	const struct charged *all = t->charged.data;
	size_t at = offsetof(struct charged, until);
	uint32_t i = vec_first_after(&t->charged, sizeof *all, at, to - 1, t->charged_hint);

	t->charged_hint = i;
	if (i == t->charged.len)
		return to;
	for (; i > 0 && to > from; i--) {
		int64_t begin = CLAMP(all[i - 1].until, from, to);
		if (all[i].part < PART_SLICE_N)
			part[all[i].part] -= to - begin;
		to = begin;
	}
	return to;
}
