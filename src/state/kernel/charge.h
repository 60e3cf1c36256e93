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

/* The end of the first piece of [from, to): the part in bin b, which is slice_bin(from). */
int64_t charge_end(const struct slice *s, const struct bin *b, int64_t from, int64_t to);

#endif
