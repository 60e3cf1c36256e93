/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts interrupts: the time of finished handlers, and how long raised softirqs waited for their handler. */
#ifndef BLK_STATE_KERNEL_IRQ_H
#define BLK_STATE_KERNEL_IRQ_H

#include "state/kernel/cpu_types.h"
#include "state/store/schema.h"

struct slice;

/* The handler ended at ts. */
void irq_done(struct slice *s, const struct cpu *c, const struct irq_frame *f, int64_t ts);
void irq_raises_init(struct slice *s, struct cpu *c);
/* irq_raised(): the softirq of that vector was raised; irq_served(): its handler began. */
void irq_raised(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec);
void irq_served(struct slice *s, struct cpu *c, int64_t ts, uint32_t vec);
void irq_raises_lost(struct cpu *c);
/* Appends b's raises to c's. b: the same CPU in the slice after s. */
void irq_raises_join(struct slice *s, struct cpu *c, const struct cpu *b);

/* The running handler; NULL: none. */
static inline const struct irq_frame *cpu_irq_frame(const struct cpu *c)
{
	return c->irq_depth ? &c->irq[MIN(c->irq_depth, IRQ_FRAMES) - 1] : NULL;
}

/* The thread that counts as the waker of threads that the handler wakes; ID_NONE: the interrupt itself counts. */
static inline uint32_t irq_frame_waker(const struct irq_frame *f)
{
	return f->inlined ? f->thread : ID_NONE;
}

#endif
