/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a thread's time: names and sums. */
#include "state/store/part.h"

#define PART_INFO(id, name) { #id, PART_ROW_##name },

const struct part_info part_info[PART_N] = { PART_LIST(PART_INFO) };

static int64_t sum(const int64_t *part, enum part first, enum part last)
{
	int64_t total = 0;

	for (int i = first; i <= (int)last; i++)
		total += part[i];
	return total;
}

bool part_is_blocked(enum part p)
{
	return (p >= PART_DISK && p <= PART_FAULT) || p == PART_OTHER || p == PART_WRITEBACK;
}

int64_t part_sum_cpu(const int64_t part[PART_N])
{
	return sum(part, PART_USER, PART_IRQ);
}

int64_t part_sum_runnable(const int64_t part[PART_N])
{
	return sum(part, PART_PREEMPTED, PART_WAKEUP);
}

int64_t part_sum_blocked(const int64_t part[PART_N])
{
	return sum(part, PART_DISK, PART_FAULT) + part[PART_OTHER] + part[PART_WRITEBACK];
}
