/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of one CPU in a slice: its current task, interrupt handlers, raised softirqs. cpu.h changes it. */
#ifndef BLK_STATE_KERNEL_CPU_TYPES_H
#define BLK_STATE_KERNEL_CPU_TYPES_H

#include "base/vec.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

/* What a CPU's time is charged to. Time in interrupt handlers is charged twice: to CPU_IRQ, too. */
enum cpu_kind { CPU_RUN, CPU_IDLE, CPU_UNKNOWN, CPU_IRQ };

/* An interrupt handler that runs, on the stack of its CPU. */
struct irq_frame {
	uint32_t code;			/* IRQ_* */
	uint32_t thread;		/* the interrupted thread; ID_NONE: unknown */
	bool inlined;			/* .thread raised it: threads woken by the handler count as woken by .thread */
	int64_t since, nested;		/* begin; ns of it in handlers that interrupted it */
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

/* A softirq of a CPU that waits for its handler; see irq.c. */
struct raise {
	int64_t since;			/* first raised after its handler last began; or TS_NONE */
	bool closed;			/* its handler began in this slice, or raises from before do not count */
	int64_t first_raise, first_entry;	/* until then: raised, and the handler's begin; or TS_NONE */
};
#define SOFTIRQS 16

struct cpu {
	uint32_t self;		/* its own index */
	uint32_t host, number;
	struct thread *task;	/* the current task; NULL: events are lost. Read it with cpu_task() */
	struct thread *idle;	/* its idle task; NULL: not seen yet */
	uint32_t cell_epoch;	/* of .cell, see struct call_slot */
	struct cpu_cell *cell;
	uint32_t start;		/* the anonymous task of the slice's beginning */
	int64_t named_ns;	/* when .start was identified; TS_NONE */
	uint64_t named_seq;
	int32_t named_tid;	/* as which tid; 0: the idle task */
	bool first_known;	/* .first_ns is set */
	int64_t first_ns;	/* the first switch or loss: time is charged from there on */
	bool lost;		/* between LOST_BEGIN and LOST_END */
	int64_t kernel_from, kernel_to;	/* its first and last kernel event */
	int64_t cursor, since;	/* charged up to here; end of its last loss, or INT64_MIN */
	struct irq_frame irq[IRQ_FRAMES];	/* stack of handlers */
	struct raise raise[SOFTIRQS];
	union {
		struct {
			uint16_t irq_depth;	/* handlers on the stack; may exceed IRQ_FRAMES */
			bool irq_known;	/* else handlers of before the slice may run */
			uint8_t raised;	/* by the task outside of handlers: bits of INLINE_SOFTIRQS */
		};
		uint32_t irq_word;	/* all, compared at once by the fast path */
	};
	int64_t irq_since;	/* begin of the outermost handler; TS_NONE */
	GArray *irq_head;	/* struct irq_note: while not .irq_known */
	GArray *counters;	/* struct counter; NULL: none */
	struct vec runs;	/* struct run, see cpu_runs.h */
	uint32_t run_hint;	/* where .runs was searched last */
	uint32_t n_losses;	/* losses that began, or that the slice began in */
};

#endif
