/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a thread's time: names and sums. */
#include "state/store/part.h"

#define PART_INFO(id, name) { #id, PART_ROW_##name },

const struct part_info part_info[PART_N] = { PART_LIST(PART_INFO) };

enum part part_of_letter(char letter)
{
	int p = 0;
	while (p < PART_N && part_info[p].letter != letter)
		p++;
	return (enum part)p;
}

#define BIT(name) (1u << PART_##name)

const struct part_group_info part_groups[PART_GROUP_N] = {
	[PART_GROUP_CPU] = { HUE_GREEN, BIT(USER) | BIT(SYSCALL) | BIT(KERNEL) | BIT(IRQ) },
	[PART_GROUP_RUNNABLE] = { HUE_YELLOW, BIT(PREEMPTED) | BIT(WAKEUP) },
	[PART_GROUP_LOCK] = { HUE_MAGENTA, BIT(FUTEX) },
	[PART_GROUP_DISK] = { HUE_RED, BIT(DISK) | BIT(WRITEBACK) | BIT(FAULT) },
	[PART_GROUP_NET] = { HUE_BLUE, BIT(SOCKET) | BIT(PIPE) | BIT(POLL) },
	[PART_GROUP_SLEEP] = { HUE_GREY, BIT(TIMER) | BIT(STOPPED) },
	[PART_GROUP_CHILDREN] = { HUE_OUTLINE, BIT(HANDOFF) },
	[PART_GROUP_UNKNOWN] = { HUE_NONE, BIT(UNKNOWN) | BIT(OTHER) },
};

enum part_group part_group_of(enum part p)
{
	enum part_group group = PART_GROUP_UNKNOWN;

	for (int g = 0; g < PART_GROUP_N; g++) {
		if (part_groups[g].parts & 1u << p)
			group = (enum part_group)g;
	}
	return group;
}

unsigned part_shade(enum part p)
{
	unsigned before = part_groups[part_group_of(p)].parts & ((1u << p) - 1);

	return (unsigned)__builtin_popcount(before);
}

static int64_t sum(const int64_t *part, enum part first, enum part last)
{
	int64_t total = 0;

	for (int i = first; i <= (int)last; i++)
		total += part[i];
	return total;
}

bool part_is_blocked(enum part p)
{
	return (p >= PART_DISK && p <= PART_FAULT) || p == PART_OTHER || p == PART_WRITEBACK || p == PART_STOPPED;
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
	return sum(part, PART_DISK, PART_FAULT) + part[PART_OTHER] + part[PART_WRITEBACK] + part[PART_STOPPED];
}
