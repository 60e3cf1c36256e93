/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of one CPU in a slice: its current task, interrupt handlers, raised softirqs. Changed by cpu.h. */
#ifndef BLK_STATE_KERNEL_CPU_TYPES_H
#define BLK_STATE_KERNEL_CPU_TYPES_H

#include "base/vec.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

/* What a CPU's time is charged to. Time in interrupt handlers is charged twice: also to CPU_IRQ. */
enum cpu_kind { CPU_RUN, CPU_IDLE, CPU_UNKNOWN, CPU_IRQ };

/* A running interrupt handler, on its CPU's stack of handlers. */
struct irq_frame {
	uint32_t code;			/* IRQ_* */
	uint32_t thread;		/* the interrupted thread; ID_NONE: unknown */
	bool inlined;			/* raised by .thread: threads that the handler wakes count as woken by
					 * .thread */
	int64_t since, nested;		/* .since: begin; .nested: ns in handlers that interrupted it */
};
#define IRQ_FRAMES 8

enum irq_note_kind { IRQ_WOKE, IRQ_RAISED, IRQ_BEGAN, IRQ_ENDED };

struct irq_note {
	int64_t ts;
	uint64_t seq;
	uint32_t code;		/* IRQ_BEGAN, IRQ_ENDED: IRQ_* code; IRQ_RAISED: the softirq's vector */
	uint8_t kind;		/* enum irq_note_kind */
	uint32_t thread;	/* IRQ_WOKE: the woken thread; IRQ_BEGAN: the current task */
};

/* A CPU's softirq that is raised and waits for its handler; see irq.c. */
struct raise {
	int64_t since;			/* first raise after its handler last began; TS_NONE: not raised */
	int64_t unraised;		/* its handler began at this instant, and was not raised; TS_NONE */
	bool closed;			/* its handler began in this slice, or earlier raises do not count */
	int64_t first_raise, first_entry;	/* the slice's first raise, and first begin of its handler; TS_NONE:
						 * none yet */
};
#define SOFTIRQS 16

struct cpu {
	uint32_t self;		/* its own index */
	uint32_t host, number;
	struct thread *task;	/* the current task; NULL: events are lost. Read it with cpu_task() */
	struct thread *idle;	/* its idle task; NULL: not seen yet */
	uint32_t cell_epoch;	/* of .cell, see struct cell_slot */
	struct cpu_cell *cell;
	uint32_t start;		/* the anonymous task of the slice's beginning */
	int64_t named_ns;	/* instant when .start was identified; TS_NONE */
	uint64_t named_seq;
	int32_t named_tid;	/* the tid that .start was identified as; 0: the idle task */
	int64_t named_left_ns;	/* TS_NONE; else .start may be another task: the one of that tid left another CPU at
				 * this instant, just after the slice began */
	int64_t named_before_ns;	/* .before_ns of that instant */
	bool first_known;	/* .first_ns is set */
	int64_t first_ns;	/* its first switch or loss: time is charged from there on */
	bool lost;		/* it is between LOST_BEGIN and LOST_END */
	int64_t kernel_from, kernel_to;	/* its first and last kernel event */
	int64_t before_ns;	/* its kernel event before the one that is fed; INT64_MIN: none in this slice */
	int64_t cursor, since;	/* .cursor: time is charged up to here; .since: end of its last loss, or INT64_MIN */
	struct irq_frame irq[IRQ_FRAMES];	/* stack of handlers */
	struct raise raise[SOFTIRQS];
	union {
		struct {
			uint16_t irq_depth;	/* handlers on the stack; may exceed IRQ_FRAMES */
			bool irq_known;	/* false: handlers that began before the slice may run */
			uint8_t raised;	/* softirqs raised by the task outside of handlers: bits of INLINE_SOFTIRQS */
		};
		uint32_t irq_word;	/* these fields, compared at once by the fast path */
	};
	int64_t irq_since;	/* begin of the outermost handler; TS_NONE */
	GArray *irq_head;	/* struct irq_note: notes while not .irq_known */
	GArray *counters;	/* struct counter; NULL: none */
	struct vec runs;	/* struct run, see cpu_runs.h */
	uint32_t run_hint;	/* index in .runs where the last search ended */
	uint32_t n_losses;	/* losses that began in the slice, or were open at its beginning */
};

/* .irq_word is all of the fields beside it. */
G_STATIC_ASSERT(offsetof(struct cpu, raised) == offsetof(struct cpu, irq_word) + sizeof(uint32_t) - 1);

#endif
