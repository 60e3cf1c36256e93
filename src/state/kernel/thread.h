/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applies records to a thread: charges its time to parts, and writes its waits, finished calls and snapshots. A thread
 * that is not .resolved only collects records until its state is known.
 */
#ifndef BLK_STATE_KERNEL_THREAD_H
#define BLK_STATE_KERNEL_THREAD_H

#include "state/kernel/thread_types.h"

struct slice;
struct waking;

struct thread *thread_new(uint32_t self);	/* the host is not set yet; the caller owns the thread */
void thread_reset(struct thread *t);		/* to the state of thread_new() */
void thread_free(struct thread *t);

/* The most frequent records, without a struct rec. cpu: index in slice.cpus. */
void thread_wake(struct slice *s, struct thread *t, const struct waking *w);
void thread_run(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu,
		int16_t prio);
void thread_off(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu, int16_t prio,
		enum off_state state);

/* The last record of the thread's head that tells the state after it; NULL: none does. */
const struct rec *thread_last_told(const struct thread *t);

/* The thread was forked at ts; earlier if it has records before, which the caller knows to be its first. */
void thread_born(struct slice *s, struct thread *t, int64_t ts);
/* Thread `caller`, another one, called exec at ts and continues as t, with the leader's tid: t begins within the call.
 * The call counts for its caller, whose record REC_ENDED passes it on. */
void thread_born_by_exec(struct slice *s, struct thread *t, uint32_t caller, int64_t ts);
/* The caller's pending call c ends in the thread `leader`. */
void thread_exec_continues(struct slice *s, uint32_t leader, const struct call *c);
/* For merging: ends the pending call; its time is charged already. */
void thread_exit_call(struct slice *s, struct thread *t, const struct rec *exit);
/* Sets *ret to the call that a restart_syscall right after the exit continues (.interrupted); false: there is none,
 * and *ret is not of use. t: in the state before the exit. */
bool thread_exit_interrupts(const struct slice *s, const struct thread *t, const struct rec *exit, struct call *ret);
/* Tracks the spans that the thread is in (thread.open): calls inside of them are logged. a: its next annotation. */
struct annot;
void thread_track_open(struct thread *t, const struct annot *a);
/* Charges the current state up to the instant. */
void thread_charge(struct slice *s, struct thread *t, int64_t until);
/* The wakeup with that number was by the interrupt, or by the thread `waker` that raised it (ID_NONE: no thread). */
void thread_patch_waker(struct slice *s, uint32_t id, uint64_t seq, uint32_t irq, uint32_t waker);
/* Sets part[] to its counters at an instant at or after its last record. */
void thread_snapshot(const struct thread *t, int64_t at, int64_t part[PART_SLICE_N]);

#endif
