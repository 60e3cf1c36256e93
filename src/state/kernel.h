/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel did to threads within a second: how long they waited for a CPU and how
 * they left it, who woke them. Cells of a bin, like those of slice_private.h. Only for
 * src/state/.
 */
#ifndef BLK_STATE_KERNEL_H
#define BLK_STATE_KERNEL_H

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
struct bin_maps;
struct publisher;
struct second;

/* A thread on a CPU at a priority. */
struct bin_sched {
	uint32_t thread;
	uint16_t cpu;			/* its number */
	int16_t prio;			/* as the tracer tells it, or PRIO_NONE */
	uint32_t switches;		/* left the CPU */
	uint32_t preemptions;		/* of these, while it could have gone on */
	uint32_t migrations;		/* sched_migrate_task to this CPU */
	uint32_t moves;			/* seen here, after it was seen on another CPU */
	struct hist wakeup;		/* woken -> on the CPU */
	struct hist preempted;	/* preempted -> on the CPU */
};

/* A thread that was woken, and by whom; counted when it got its CPU. */
struct bin_waker {
	uint32_t thread;
	uint32_t who;			/* thread, or the interrupt IRQ_*; ID_NONE: unknown */
	uint32_t count;
	int64_t total, max;		/* until it ran */
};

/* An interrupt on a CPU; counted when its handler ended. */
struct bin_irq {
	uint32_t cpu;			/* index in slice.cpus */
	uint32_t code;			/* IRQ_* */
	int64_t self;			/* without handlers that interrupted it */
	struct hist time;		/* with them */
	struct hist raise;		/* of softirqs: raised -> its handler begins */
};

/* Time that interrupts took from a thread. */
struct bin_stolen {
	uint32_t thread, code;
	uint32_t count;
	int64_t ns;			/* like bin_irq.self */
};

/* What a stream lost; counted where the loss ends. */
struct bin_loss {
	uint32_t host, cpu;		/* cpu: its number; UINT32_MAX: unknown */
	int32_t vpid;			/* of buffers of one process; else -1 */
	bool kernel;
	uint32_t count;
	uint64_t events, packets;
	int64_t ns;			/* from before the first lost to after the last */
};

/* What a thread is counted for: see counts.h. */
#define COUNT_NOBODY UINT32_C(0x80000000)	/* | host: in keys, for no thread */
struct bin_count {
	uint32_t thread, host, name;	/* thread: ID_NONE where nobody knows */
	uint8_t kind;			/* enum count_kind */
	uint64_t value;
};

struct bin_kernel {
	uint32_t sched_epoch, waker_epoch;	/* see struct call_slot */
	struct intmap sched_map, waker_map, irq_map, stolen_map, count_map;
	GArray *scheds, *wakers, *irqs, *stolen, *losses, *counts;
};

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
struct sched_slot { uint32_t epoch, key; struct bin_sched *cell; };
struct waker_slot { uint32_t epoch, who; struct bin_waker *cell; };
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

/* bin_kernel.c */
void bin_kernel_init(struct slice *s, struct bin_kernel *k);
void bin_kernel_epochs(struct slice *s, struct bin_kernel *k);	/* its cells moved */
void bin_kernel_clear(struct bin_kernel *k);
void bin_kernel_merge(struct slice *s, struct bin *into, const struct bin_kernel *from,
		      const struct bin_maps *maps);
void bin_kernel_adopt(struct bin_kernel *k, const struct bin_maps *maps);
struct bin_sched *bin_sched(struct slice *s, struct bin *b, uint32_t thread, uint32_t key);
struct bin_waker *bin_waker(struct slice *s, struct bin *b, uint32_t thread, uint32_t who);

/* sched.c */
void sched_seen(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
void sched_migrated(struct slice *s, struct thread *t, int64_t ts, uint16_t cpu, int16_t prio);
void sched_append(struct slice *s, struct thread *l, const struct thread *r);
void sched_patch_waker(struct slice *s, uint64_t seq, uint32_t irq);
void sched_map_wakes(struct slice *a, struct slice *b, const struct bin_maps *maps);
void sched_wakes_known(struct slice *s);	/* nothing older will come */

struct bin_irq *bin_irq(struct slice *s, struct bin *b, uint32_t cpu, uint32_t code);
void bin_loss(struct bin *b, const struct bin_loss *loss);
struct bin_stolen *bin_stolen(struct slice *s, struct bin *b, uint32_t thread, uint32_t code);

/* irq.c */
struct cpu;
void irq_done(struct slice *s, const struct cpu *c, const struct irq_frame *f, int64_t ts);
void irq_raises_init(struct slice *s, struct cpu *c);
void irq_raised(struct cpu *c, int64_t ts, uint32_t vec);
void irq_served(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec);
void irq_raises_lost(struct cpu *c);
void irq_raises_join(struct slice *s, struct cpu *c, const struct cpu *b);

/* made_kernel.c: into the second that is made */
void made_kernel(struct publisher *p, const struct bin *b, struct second *to);

#endif
