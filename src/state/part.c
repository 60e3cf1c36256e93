/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a thread's time: names and sums. */
#include "state/part.h"

const struct part_info part_info[PART_N] = {
	[PART_USER] = { "user", "USR", 'u', "on a CPU, in user mode" },
	[PART_SYSCALL] = { "syscall", "SYS", 's', "on a CPU, in a system call" },
	[PART_KERNEL] = { "kernel", "KERN", 'k', "on a CPU, a kernel thread" },
	[PART_IRQ] = { "irq", "IRQ", 'i', "on a CPU, taken by an interrupt or softirq" },
	[PART_PREEMPTED] = { "preempted", "PRE", 'r',
			     "runnable, waiting for a CPU after it was switched out unwillingly" },
	[PART_WAKEUP] = { "wakeup", "WAKE", 'w',
			  "runnable, waiting for a CPU after it was woken" },
	[PART_DISK] = { "disk", "DISK", 'D', "blocked on a file, a block device or a sync" },
	[PART_SOCKET] = { "socket", "NET", 'n', "blocked on a socket" },
	[PART_PIPE] = { "pipe", "PIPE", 'p', "blocked on a pipe or fifo" },
	[PART_FUTEX] = { "futex", "FUT", 'f', "blocked on a futex: a lock or a condition" },
	[PART_TIMER] = { "timer", "TMR", 't', "blocked in a sleep" },
	[PART_POLL] = { "poll", "POLL", 'o', "blocked in poll, select or epoll" },
	[PART_FAULT] = { "fault", "FLT", 'F', "blocked outside of system calls: a page fault" },
	[PART_HANDOFF] = { "handoff", "HAND", 'h',
			   "between annotations of different threads of a span" },
	[PART_OTHER] = { "other", "OTH", '-', "blocked on anything else" },
	[PART_UNKNOWN] = { "unknown", "UNK", '?', "the trace does not tell" },
};

static int64_t sum(const int64_t *part, enum part first, enum part last)
{
	int64_t total = 0;

	for (int i = first; i <= (int)last; i++)
		total += part[i];
	return total;
}

bool part_is_blocked(enum part p)
{
	return (p >= PART_DISK && p <= PART_FAULT) || p == PART_OTHER;
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
	return sum(part, PART_DISK, PART_FAULT) + part[PART_OTHER];
}
