/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of one thread. Handlers convert an event to records; thread.c applies them to the thread's state. A thread
 * whose state is not known yet only collects them (its "head").
 */
#ifndef BLK_STATE_KERNEL_THREAD_RECORD_H
#define BLK_STATE_KERNEL_THREAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define NO_FD (-1)
#define TS_NONE INT64_MIN	/* no instant */

enum rec_type {
	REC_SINCE,		/* it has been running on the CPU from here on; .state 1: after a loss; 2: unless it
				 * was there before */
	REC_AWAY,		/* it has left its CPU at an unknown instant: the switch is missing */
	REC_RUN,		/* switched in on .cpu */
	REC_OFF,		/* switched out; .state */
	REC_WAKE,		/* woken by thread .id, or by the interrupt .irq; .state 1: while it was running */
	REC_ENTER, REC_EXIT,	/* system call .name */
	REC_IRQ_IN, REC_IRQ_OUT,
	REC_SPAN,		/* it made annotation .id in user mode, if it is in no call: else another thread did */
	REC_MARK,		/* the same for a kernel event: the thread may be in a call; .state 1: it made the
				 * annotation if it is running */
	REC_LOST,		/* events of its CPU are lost from here on */
	REC_ENDED,		/* its tid was reused: it has ended, but the event of it is missing; or it called exec
				 * and continues as thread .id, the leader */
};

enum off_state { OFF_BLOCKED, OFF_PREEMPTED, OFF_DEAD, OFF_STOPPED };

struct call_info;

struct rec {
	int64_t ts;
	uint64_t seq;		/* number of the event in the slice */
	uint8_t type;		/* enum rec_type */
	uint8_t state;		/* REC_OFF: enum off_state; else see enum rec_type */
	uint32_t cpu;		/* index in slice.cpus */
	uint32_t id;		/* REC_WAKE: waker; REC_ENDED: see there; REC_SPAN, REC_MARK: index in slice.annots; or
				 * ID_NONE */
	uint32_t irq;		/* REC_WAKE: IRQ_* code; 0: woken by a task */
	uint32_t name;		/* REC_ENTER, REC_EXIT: string; 0: unknown */
	int32_t fd;		/* REC_ENTER: the call's descriptor, or NO_FD */
	uint32_t text;		/* REC_ENTER: path; REC_EXIT: peer (strings) */
	const struct call_info *info;	/* REC_ENTER, REC_EXIT: of .name */
	int64_t arg[3];		/* REC_ENTER: arguments; REC_EXIT: [0] return value, [1] [2] new descriptors;
				 * REC_RUN, REC_OFF: [0] priority; REC_WAKE: [0] not 0: .id is provisional */
};

/* Does the state after the record depend on the one before? */
static inline bool thread_keeps_open(const struct rec *r)
{
	return r->type == REC_WAKE || r->type == REC_SINCE || r->type == REC_MARK || r->type == REC_IRQ_IN ||
	       r->type == REC_IRQ_OUT || r->type == REC_SPAN;
}

/* In thread.c: */
struct slice;
struct thread;
void thread_record(struct slice *s, struct thread *t, const struct rec *r);
void thread_apply(struct slice *s, struct thread *t, const struct rec *r);	/* as it is; the thread is resolved */
/* No older slice has events of the thread: what its head leaves open stays unknown. */
void thread_root(struct slice *s, struct thread *t);

/* Codes of interrupts: kind and number. */
#define IRQ_HARD(n) (UINT32_C(0x40000000) | ((uint32_t)(n) & 0xffffff))
#define IRQ_SOFT(n) (UINT32_C(0x80000000) | ((uint32_t)(n) & 0xffffff))
#define IRQ_VECTOR(n) (UINT32_C(0x41000000) | ((uint32_t)(n) & 0xffffff))	/* raised by the CPU itself, as its
										 * local timer */
#define IRQ_TIMER UINT32_C(0x42000000)			/* a high resolution timer */
#define IRQ_UNKNOWN UINT32_C(0xc0000000)

#endif
