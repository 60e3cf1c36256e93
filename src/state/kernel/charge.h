/* SPDX-License-Identifier: GPL-2.0-only */
/* Charging: adds an interval [from, to) to the cells of its seconds, split at their borders. */
#ifndef BLK_STATE_KERNEL_CHARGE_H
#define BLK_STATE_KERNEL_CHARGE_H

#include "state/kernel/cpu_types.h"

struct bin;
struct call;
struct slice;
struct thread;


void charge_part(struct slice *s, struct thread *t, unsigned part, int64_t from, int64_t to);
/* Adds time blocked on the call's descriptor. */
void charge_fd(struct slice *s, struct thread *t, const struct call *c, int64_t from, int64_t to);
/* Adds time in the call, from c->busy_from on. */
void charge_busy(struct slice *s, struct thread *t, struct call *c, int64_t to);
/* Adds time of a CPU; if the kind is CPU_RUN, also to `task`, which ran. */
void charge_cpu(struct slice *s, struct cpu *c, enum cpu_kind kind, struct thread *task, int64_t from, int64_t to);

/* The pieces of an interval: charge_next() moves to the next, which is [from, end) in .bin. False: there is no more. */
struct charge { struct bin *bin; int64_t from, end, to; bool at_end; };	/* .at_end: .end is the bin's, too */
struct charge charge_pieces(const struct slice *s, int64_t from, int64_t to);
bool charge_next(struct slice *s, struct charge *p);

#endif
