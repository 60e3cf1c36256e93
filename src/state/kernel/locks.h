/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits that may be for locks, and releases. A slice only notes them: if it does not begin the trace, it does not know
 * which waits are for locks, or what the holders did before. The publisher decides and counts (publish/lock_cells.h).
 *
 * A wait is for a lock if a thread in a call that may wait for one was woken by a thread. Of a futex, the waker must
 * have been in a call that releases that futex as a lock; of a file's lock, the call must have returned 0.
 */
#ifndef BLK_STATE_KERNEL_LOCKS_H
#define BLK_STATE_KERNEL_LOCKS_H

#include "state/kernel/thread_logs.h"
#include "state/kernel/slice_state.h"

/* A wait of a thread that may have held a lock, see thread.past. */
struct past_wait {
	int64_t begin, wake, end;	/* ns; .wake is .end if it was not woken */
	uint64_t seq;			/* WAIT_FD: of the call's entry */
	int32_t fd;			/* WAIT_FD: the descriptor */
	uint8_t cause, part;		/* as in struct wait */
};

struct lock_wait {			/* a wait that may be for a lock, and was ended by a thread */
	int64_t begin, wake;		/* ns */
	uint64_t wake_seq;		/* number of the wakeup */
	uint32_t thread, waker;		/* .waker: ID_NONE: unknown */
	struct wait_call call;
	uint8_t kind;			/* enum lock_kind; LOCK_NONE: .in_initial_call or .in_restart */
	bool in_initial_call, in_restart;	/* as in struct wait */
	bool got, failed;		/* of a file's lock: the call returned 0, or not */
};

struct lock_release {		/* a call that woke a thread that may have waited for a lock */
	int64_t begin, end;		/* ns; .begin TS_NONE: the call began before the slice, and is not known yet */
	uint64_t address;		/* of the futex that it released; 0: none, but maybe a file's lock */
	uint32_t thread;
	bool ends;			/* the thread ended at once, see release_is_end() */
	bool whole;			/* .past has all waits since the slice's beginning */
	bool needed;			/* by a wait that is not decided yet; only while waits are counted */
	struct vec past;		/* struct past_wait: the thread's newest before .end, owned */
};

void lock_log_clear(struct lock_log *l);
/* Appends the events (uint64_t) at which it needs descriptors. */
void lock_log_each_event(const struct lock_log *l, GArray *events);

/* Are waits for locks counted? The call log counts nothing. */
static inline bool slice_counts_locks(const struct slice *s)
{
	return slice_reads(s, CELL_lock) && !s->follow;
}

/* Is the thread in a call that began before the slice, and is not known yet? */
static inline bool lock_in_unknown_call(const struct slice *s, const struct tstate *st)
{
	return !s->from_start && st->call_state == CALL_UNRESOLVED && !st->call_lost;
}

/* May the thread be waiting for a lock, by the call that it is in? */
static inline bool lock_may_be(const struct slice *s, const struct tstate *st)
{
	if (st->call_state == CALL_IN)
		return (st->call.info && st->call.info->locks) || st->call.restart == RESTART_UNRESOLVED;
	return lock_in_unknown_call(s, st);
}

/* A wait of the thread ended at ts, whatever it was for. */
void lock_past_add(struct slice *s, struct thread *t, int64_t ts);
/* The thread is woken, by the waker in .st: notes it, if it waited for a lock or may have. Call it if
 * lock_may_be(). */
void lock_woken(struct slice *s, struct thread *t);
/* `waker` wakes the thread at ts. Call it if lock_may_be(), or if the thread is not resolved. When the waker's call
 * ends, lock_call_ended() notes it if it may have released a lock. */
void lock_wakes(struct slice *s, const struct thread *t, uint32_t waker, int64_t ts);
/* The call of the thread returned: notes what it released, and whether it got a file's lock. */
void lock_call_ended(struct slice *s, struct thread *t, const struct call *c, int64_t ts, int64_t ret);
/* The exit of a call that began before the slice. */
void lock_unknown_call_ended(struct slice *s, struct thread *t, int64_t ts);
/* The thread calls exit(). */
void lock_thread_ends(struct slice *s, struct thread *t, int64_t ts);
/* The wakeup was by an interrupt, or another thread. */
void lock_patch_waker(struct slice *s, uint64_t seq, uint32_t waker);

/* ---- merging slices: r continues l; call them in this order ---- */

/* Resolves r's waits in its initial call, which is l's. */
void lock_resolve_initial(struct slice *s, struct thread *l, struct thread *r);
/* Resolves r's exit of its initial call, which is l's. False: there is none; lock_call_ended() does it. */
bool lock_resolve_exit(struct slice *s, const struct thread *l, const struct thread *r, int64_t ts);
/* Call it before r's records are applied to l. */
void lock_join_wakes(struct thread *l, const struct thread *r);
/* Releases of r get what l did before; l gets r's waits. */
void lock_join(struct slice *s, struct thread *l, struct thread *r);
/* Maps b's ids to those of a, and moves all to a. map: b's threads in a. */
void lock_move(struct slice *a, struct slice *b, const uint32_t *thread, const uint32_t *string, uint64_t seq_add);

/* ---- unresolved calls ---- */

/* The cause of waits in an unresolved call is known now. pending: enum wait_cause of them. call: if it is WAIT_FD. */
void lock_resolve_past(struct slice *s, struct thread *t, uint8_t pending, uint8_t cause, uint8_t part,
		       const struct call *call);
/* Which call a restart_syscall continues is known now. */
void lock_resolve_restart(struct slice *s, struct thread *t, const struct call *c);

#endif
