/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which event last changed a descriptor. While a second is built, file cells are keyed by (thread, fd). A cell is
 * reused only while its descriptor has not changed.
 */
#ifndef BLK_STATE_KERNEL_FDOPS_H
#define BLK_STATE_KERNEL_FDOPS_H

#include "state/kernel/thread_types.h"

/* Numbers (seq) of the newest event that changed a descriptor. Descriptors share slots (modulo), so a number may be
 * too new, never too old. */
#define FDOP_SLOTS 1024
#define FDOP_OWN_SLOTS 4096
struct fdops {
	uint64_t own[FDOP_OWN_SLOTS];	/* by process and descriptor */
	uint64_t loose[FDOP_SLOTS];	/* by descriptor: changes by threads of unknown process */
	uint64_t any[FDOP_SLOTS];	/* by descriptor: changes by any thread */
	uint64_t all;			/* the newest change of all descriptors at once */
};

static inline unsigned fdop_own_slot(int32_t pid, int64_t fd)
{
	return ((uint32_t)pid * UINT32_C(0x9e3779b1) + (uint32_t)fd) % FDOP_OWN_SLOTS;
}

/* The newest event that may have changed this descriptor of the thread. */
static inline uint64_t fdop_last(const struct fdops *f, const struct thread *t, int32_t fd)
{
	unsigned slot = (uint32_t)fd % FDOP_SLOTS;
	uint64_t seq = t->pid ? MAX(f->own[fdop_own_slot(t->pid, fd)], f->loose[slot]) : f->any[slot];
	return MAX(seq, f->all);
}

#endif
