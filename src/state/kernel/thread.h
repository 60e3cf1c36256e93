/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applying records to a thread: they charge its time to parts, and write its waits, finished calls and snapshots. A
 * thread that is not .hard collects records until its state is known.
 */
#ifndef BLK_STATE_KERNEL_THREAD_H
#define BLK_STATE_KERNEL_THREAD_H

#include "state/kernel/thread_types.h"

struct slice;
struct waking;

struct thread *thread_new(uint32_t self);	/* of no host yet; the caller owns it */
void thread_reset(struct thread *t);		/* to the state of thread_new() */
void thread_free(struct thread *t);

void thread_record(struct slice *s, struct thread *t, const struct rec *r);
/* The most frequent records, without a struct rec. cpu: index in slice.cpus. */
void thread_wake(struct slice *s, struct thread *t, const struct waking *w);
void thread_run(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu,
		int16_t prio);
void thread_off(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu, enum off_state state);

/* Nothing of it precedes this slice: what its head leaves open is unknown for good. */
void thread_root(struct slice *s, struct thread *t);
void thread_born(struct thread *t, int64_t ts);		/* forked */
/* Ends the pending call, whose time is charged already: for merging. */
void thread_exit_call(struct slice *s, struct thread *t, const struct rec *exit);
/* Charges the current state up to that instant. */
void thread_charge(struct slice *s, struct thread *t, int64_t until);
/* The wakeup with that number was by the interrupt, or by the thread `who` that raised it; ID_NONE. */
void thread_patch_waker(struct slice *s, uint32_t id, uint64_t seq, uint32_t irq, uint32_t who);
/* Its counters at an instant not before its last record. */
void thread_snapshot(const struct thread *t, int64_t at, int64_t part[PART_SLICE_N]);

#endif
