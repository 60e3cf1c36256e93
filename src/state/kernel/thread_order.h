/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts the records of a thread in order. The clocks of two CPUs may differ by some microseconds, so that the events
 * of a thread that moved, was woken or was forked are stamped in the wrong order, or equally.
 *
 * A thread whose switch-in contradicts its state is *held*: its records are collected (struct thread, .waiting) until
 * the missing one comes. That one is applied at the instant of the switch-in, then those that were collected.
 *
 * HELD_RUNNING	it is switched in while it runs on another CPU: waits for the switch-out there.
 * HELD_UNWOKEN	it is switched in while it is blocked: waits for its wakeup.
 *
 * If the missing record does not come within CLOCK_SKEW_NS, or LIMIT_HELD_RECORDS are collected, the records are
 * applied as they are. In a call log nothing is held.
 */
#ifndef BLK_STATE_KERNEL_THREAD_ORDER_H
#define BLK_STATE_KERNEL_THREAD_ORDER_H

#include "state/kernel/thread_types.h"

/*
 * The longest time (ns) by which events of two CPUs are believed to be in the wrong order. Synchronised time stamp
 * counters differ by less than a microsecond; those of virtual machines, and clocks of a coarse resolution, by some.
 * A shorter time than this between two switches of a thread on different CPUs is rare.
 */
#define CLOCK_SKEW_NS 10000

struct slice;

/* Counts a pair of events that was stamped in the wrong order by `ns` (0: equally), in the second of ts. */
void order_count(struct slice *s, int64_t ts, int64_t ns);

/* The resolved thread is switched in. True: it is held from now on, with this record. */
bool thread_order_holds(struct slice *s, struct thread *t, const struct rec *r);
/* A record of a held thread. */
void thread_order_record(struct slice *s, struct thread *t, const struct rec *r);
/* The record that is missing will not come. Does nothing if the thread is not held. */
void thread_order_end(struct slice *s, struct thread *t);
void thread_order_finish(struct slice *s, struct thread *t);	/* the same: no record will come */
/* The same, if it can no longer come at that instant. */
void thread_order_end_at(struct slice *s, struct thread *t, int64_t at);

/* Does the last record of the head determine the state, whatever the records before the slice were? */
bool thread_order_determines(const struct slice *s, const struct thread *t);
/* In a slice from the trace's beginning, the head alone determines the state: applies it. Returns whether the state is
 * known. */
bool thread_order_decide(struct slice *s, struct thread *t);
/* May a fork event at ts be the one that made the thread, although records of the thread precede it? Yes if these are
 * at most CLOCK_SKEW_NS earlier, and are those of a new thread. */
bool thread_order_is_young(const struct thread *t, int64_t ts);

#endif
