/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel did to threads: how long they waited for a CPU and how they left it, who woke
 * them, which interrupts took their time. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_SCHEDULING_H
#define BLK_STATE_KERNEL_SCHEDULING_H

#include "base/hist.h"
#include "base/intmap.h"
#include "base/vec.h"

#include <glib.h>
#include <stdbool.h>

#define CPU_NONE UINT16_MAX		/* number of no CPU */
#define PRIO_NONE INT16_MIN		/* the event does not tell */

struct slice;
struct bin;
struct thread;
struct cell_maps;

/* A wakeup whose waker may turn out to be an interrupt of before the slice. */
struct soft_wake {
	int64_t ts, latency;		/* on the CPU */
	uint64_t seq;			/* of the wakeup */
	uint32_t thread, who;
};

/* A handler that runs, on the stack of its CPU. */
struct irq_frame {
	uint32_t code;
	uint32_t thread;		/* whose time it takes; ID_NONE: unknown */
	bool inlined;			/* that thread raised it: what it wakes, the thread wakes */
	int64_t since, nested;		/* nested: of it, in handlers that interrupted it */
};
#define IRQ_FRAMES 8

enum irq_note_kind { IRQ_WOKE, IRQ_RAISED, IRQ_BEGAN, IRQ_ENDED };

struct irq_note {
	int64_t ts;
	uint64_t seq;
	uint32_t code;		/* of IRQ_BEGAN and IRQ_ENDED; IRQ_RAISED: the vector */
	uint8_t kind;		/* enum irq_note_kind */
	uint32_t thread;	/* the woken one; of a handler that begins: who ran */
};

/* A softirq of a CPU that waits for its handler; see irq.c. */
struct raise {
	int64_t since;			/* raised first, since its handler began last; or TS_NONE */
	bool closed;			/* what was raised before the slice is of no interest any more */
	int64_t first_raise, first_entry;	/* before that; or TS_NONE */
};
#define SOFTIRQS 16

/* Where a thread's cells are: see struct call_slot. */
struct sched_slot { uint32_t epoch, key; struct sched_cell *cell; };
struct waker_slot { uint32_t epoch, who; struct waker_cell *cell; };
#define SCHED_SLOTS 4

struct thread_sched {
	uint16_t last_cpu;		/* seen there by a switch; CPU_NONE: by none yet */
	uint16_t first_cpu;		/* the first one of the slice, at .first_ns */
	int16_t first_prio;
	int64_t first_ns;
	struct vec queued;		/* struct queued, see runs.h */
	uint32_t queued_hint;		/* where it was looked into last */
	struct sched_slot slot[SCHED_SLOTS];
	struct waker_slot waker;
};

/* sched.c */
void sched_seen(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
void sched_migrated(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
void sched_append(struct slice *s, struct thread *l, const struct thread *r);
void sched_patch_waker(struct slice *s, uint64_t seq, uint32_t irq);
void sched_map_wakes(struct slice *a, struct slice *b, const struct cell_maps *maps);
void sched_wakes_known(struct slice *s);	/* nothing older will come */

/* irq.c */
struct cpu;
void irq_done(struct slice *s, const struct cpu *c, const struct irq_frame *f, int64_t ts);
void irq_raises_init(struct slice *s, struct cpu *c);
void irq_raised(struct cpu *c, int64_t ts, uint32_t vec);
void irq_served(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec);
void irq_raises_lost(struct cpu *c);
void irq_raises_join(struct slice *s, struct cpu *c, const struct cpu *b);

#endif
