/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of cells over several seconds. struct dev_sum has the figures of struct dev_cell by the same names, but 64 bits
 * wide, as a sum of many seconds needs. They are generated from the lists of schema.h: a figure that is added there is
 * in the sum, too. A sum has no keys: what its cells have in common is known to the caller.
 */
#ifndef BLK_STATE_STORE_CELL_SUM_H
#define BLK_STATE_STORE_CELL_SUM_H

#include "state/store/schema.h"

/* The kinds of which there are sums, and their lists. */
#define CELL_SUMS(X) \
	X(thread, THREAD_CELL) \
	X(file, FILE_CELL) \
	X(cpu, CPU_CELL) \
	X(sched, SCHED_CELL) \
	X(irq, IRQ_CELL) \
	X(waker, WAKER_CELL) \
	X(loss, LOSS_CELL) \
	X(dev, DEV_CELL) \
	X(flow, FLOW_CELL) \
	X(lock, LOCK_CELL)

/* A figure in a sum, by its role. */
#define SUM_HAS_SUM(name) int64_t name;
#define SUM_HAS_MAX(name) int64_t name;
#define SUM_HAS_MIN(name) int64_t name;
#define SUM_HAS_AT_MAX(name) int64_t name;
#define SUM_HAS_NAME(name) uint32_t name;
#define SUM_HAS_HIST(name) struct hist name;

#define SUM_FIGURE(type, name, role, unit, help) SUM_HAS_##role(name)
#define SUM_FIGURES(type, name, n, role, unit, element, help) SUM_HAS_##role(name[n])
/* All zero: the sum of no cells. Its histograms are owned by it; stat_take() and hist_clear() free them. */
#define SUM_STRUCT(kind, list) \
	struct kind##_sum { \
		uint64_t n_cells; \
		list(CELL_NONE, SUM_FIGURE, SUM_FIGURES) \
	};
CELL_SUMS(SUM_STRUCT)

/* Adds a cell to a sum of its kind (struct dev_sum for CELL_dev). There must be sums of this kind. */
void cell_sum_add(enum cell_kind kind, void *sum, const void *cell);

#endif
