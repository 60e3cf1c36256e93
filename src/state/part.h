/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a thread's time: what every interval of its life is charged to.
 * Exactly one part at any instant, so parts sum to the interval they explain.
 */
#ifndef BLK_STATE_PART_H
#define BLK_STATE_PART_H

#include <stdbool.h>
#include <stdint.h>

enum part {
	PART_USER,		/* on a CPU, in user mode */
	PART_SYSCALL,		/* on a CPU, in a system call */
	PART_KERNEL,		/* on a CPU, a kernel thread */
	PART_IRQ,		/* on a CPU, taken by an interrupt or softirq */
	PART_PREEMPTED,		/* runnable after it was switched out unwillingly */
	PART_WAKEUP,		/* runnable after it was woken */
	PART_DISK,		/* blocked: file, block device, sync */
	PART_SOCKET,		/* blocked: socket */
	PART_PIPE,		/* blocked: pipe, fifo */
	PART_FUTEX,		/* blocked: futex (a lock, a condition) */
	PART_TIMER,		/* blocked: a sleep */
	PART_POLL,		/* blocked: poll, select, epoll */
	PART_FAULT,		/* blocked outside of system calls (page fault) */
	PART_HANDOFF,		/* a span between annotations of different threads */
	PART_OTHER,		/* blocked: anything else (eventfd, tty, wait4, ...) */
	PART_UNKNOWN,		/* the trace does not tell */
	PART_N
};

struct part_info {
	const char *id;		/* "user"; its column is "user_ns" */
	const char *title;	/* "USR", 3 or 4 columns */
	char letter;		/* in a waterfall: u s k i r w D n p f t o F h - ? */
	const char *help;	/* one line */
};
extern const struct part_info part_info[PART_N];

/* Waited for something, not for a CPU. */
bool part_is_blocked(enum part p);
/* Sum of the on-CPU, runnable or blocked parts. */
int64_t part_sum_cpu(const int64_t part[PART_N]);
int64_t part_sum_runnable(const int64_t part[PART_N]);
int64_t part_sum_blocked(const int64_t part[PART_N]);

#endif
