/* SPDX-License-Identifier: GPL-2.0-only */
/* The logs of a thread that explain its spans: its waits, its finished calls, and what its time was charged to. */
#ifndef BLK_STATE_KERNEL_THREAD_LOGS_H
#define BLK_STATE_KERNEL_THREAD_LOGS_H

#include "state/kernel/syscalls.h"

#include <stdbool.h>
#include <stdint.h>

/* The call in which a thread waited. */
struct wait_call {
	union {
		uint64_t seq;		/* of its entry, if .fd is set */
		uint64_t futex;		/* address of the futex; 0: none */
	};
	uint32_t name : 31;
	bool lock : 1;			/* the futex looks like a lock, by operation and value */
	int32_t fd;			/* -1: no file */
};

/* An interval off the CPU. */
struct wait {
	int64_t begin, wake, end;	/* ns; .wake is .end if the thread was not woken */
	uint64_t wake_seq;
	uint8_t cause : 6;		/* enum wait_cause */
	bool in_restart : 1;			/* .call is an unresolved restart_syscall */
	bool in_initial_call : 1;		/* .call is the initial call, to be resolved by the left neighbour */
	uint8_t part;			/* WAIT_PART (or PART_PREEMPTED) */
	uint16_t off_cpu;		/* number of the CPU it left, or CPU_NONE */
	uint32_t waker, waker_irq, cpu;
	uint32_t known;			/* cache of explain.c: index of its struct known_wait; may be invalid */
	uint32_t run;			/* hint: where to search the log of .cpu for the switch-in; may be invalid */
	struct wait_call call;		/* name 0: the thread was not in a call */
};

/* A finished call of a thread with spans, or one that wakes threads that wait for a futex. */
struct done_call {
	int64_t begin, end, ret;
	union {
		uint64_t seq;		/* of the entry */
		uint64_t released;	/* .futex: see call_wakes_futex() */
	};
	uint32_t name;
	int32_t fd;
	bool futex;			/* it wakes threads that wait for a futex */
	uint8_t wait;			/* enum call_wait, as call_wait() tells it */
};

/* An interval that was charged to a part of the thread's time, from the end of the entry before. */
struct charged {
	int64_t until;			/* ns */
	uint8_t part;			/* as in struct tstate; PART_SLICE_N: it was blocked on a descriptor */
};
#define CHARGED_NOT UINT8_MAX	/* .part: nothing was charged, it is unknown; so is the time before the first entry,
				 * which has this part */

/* A signal that stops the process of .thread was sent. */
struct stop_signal {
	int64_t ts;
	uint32_t thread, sender;	/* .sender: ID_NONE: unknown */
};

/* In exit(), musl wakes those who join the thread as one releases a lock. Did the thread call exit so soon after its
 * release, and no other call in between? */
#define ENDS_AT_ONCE_NS INT64_C(10000000)
static inline bool release_is_end(int64_t released_ns, int64_t exit_ns)
{
	return exit_ns - released_ns <= ENDS_AT_ONCE_NS;
}

struct call;
struct slice;
struct thread;

struct wait_call wait_call(const struct call *c);
/* What a call with .info->futex_args waits for: enum call_wait. */
enum call_wait call_futex_wait(const struct call *c);
/* Does the call wake threads that wait for a futex? *ret: the futex's address if the call releases it as one releases a
 * lock, with one thread woken; else 0. */
bool call_wakes_futex(const struct call *c, uint64_t *ret);
/* Notes a charge, if that is needed (slice.looks_back). Older charges than LIMIT_PAST_CHARGES may be dropped. */
void thread_note_charge(struct thread *t, unsigned part, int64_t from, int64_t to);
/*
 * What were the thread's counters at `from`? part: those at `to`, when its time was charged up to then. Replaces them
 * by those at the returned instant: `from`, or the first one later from which charges are known; at most `to`.
 */
int64_t thread_look_back(struct thread *t, int64_t from, int64_t to, int64_t part[PART_SLICE_N]);
/* Appends the wait that ends at ts on that CPU (index in slice.cpus). */
void thread_log_wait(const struct slice *s, struct thread *t, int64_t ts, uint32_t cpu);

#endif
