/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which event last changed a descriptor. While a second is built, file cells are keyed by (thread, fd). A cell is
 * reused only while its descriptor has not changed.
 */
#ifndef BLK_STATE_KERNEL_FDOPS_H
#define BLK_STATE_KERNEL_FDOPS_H

#include <glib.h>
#include <stdint.h>

/* Numbers (seq) of the newest event that changed a descriptor, in any process: processes can share a table, and the
 * slice does not know which ones do. Descriptors share slots (modulo), so a number may be too new, never too old. */
#define FDOP_SLOTS 4096
struct fdops {
	uint64_t changed[FDOP_SLOTS];	/* by descriptor */
	uint64_t all;			/* the newest change of all descriptors at once */
};

static inline uint64_t *fdop_slot(struct fdops *f, int64_t fd)
{
	return &f->changed[(uint32_t)fd % FDOP_SLOTS];
}

/* The newest event that may have changed this descriptor. */
static inline uint64_t fdop_last(const struct fdops *f, int32_t fd)
{
	return MAX(f->changed[(uint32_t)fd % FDOP_SLOTS], f->all);
}

#endif
