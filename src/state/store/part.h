/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a thread's time. A thread is in exactly one part at any instant, so the parts sum exactly to the
 * interval.
 */
#ifndef BLK_STATE_STORE_PART_H
#define BLK_STATE_STORE_PART_H

#include <stdbool.h>
#include <stdint.h>

/* All parts: the id, which is used in column names ("user_ns"), and the name in this program. */
#define PART_LIST(X) \
	X(user, USER) X(syscall, SYSCALL) X(kernel, KERNEL) X(irq, IRQ) X(preempted, PREEMPTED) \
	X(wakeup, WAKEUP) X(disk, DISK) X(socket, SOCKET) X(pipe, PIPE) X(futex, FUTEX) \
	X(timer, TIMER) X(poll, POLL) X(fault, FAULT) X(handoff, HANDOFF) X(other, OTHER) \
	X(unknown, UNKNOWN) X(writeback, WRITEBACK) X(stopped, STOPPED)

/* For each part: title (3 or 4 columns), letter in the waterfall, help; then the texts before and after a duration
 * in a sentence ("slept 5ms"), and what another thread did meanwhile ("": not mentioned). */
#define PART_ROW_USER "USR", 'u', "on a CPU, in user mode", \
	"computed ", "", "computed"
#define PART_ROW_SYSCALL "SYS", 's', "on a CPU, in a system call", \
	"worked ", " in system calls", "was in system calls"
#define PART_ROW_KERNEL "KERN", 'k', "on a CPU, a kernel thread", \
	"ran ", " in the kernel", "ran in the kernel"
#define PART_ROW_IRQ "IRQ", 'i', "on a CPU, taken by an interrupt or softirq", \
	"lost ", " to interrupts", "was interrupted"
#define PART_ROW_PREEMPTED "PRE", 'r', "runnable, waiting for a CPU after it was switched out unwillingly", \
	"waited ", " for a CPU, preempted", "was preempted"
#define PART_ROW_WAKEUP "WAKE", 'w', "runnable, waiting for a CPU after it was woken", \
	"waited ", " for a CPU once woken", "waited for a CPU"
#define PART_ROW_DISK "DISK", 'D', "blocked on a file or a sync; in spans while a block request was outstanding", \
	"waited ", " for the disk", "waited for the disk"
#define PART_ROW_WRITEBACK "WRBK", 'W', "blocked on a file while no block request was outstanding: kernel's writing", \
	"waited ", " for writeback", "waited for writeback"
#define PART_ROW_SOCKET "NET", 'n', "blocked on a socket", \
	"waited ", " for a socket", "waited for a socket"
#define PART_ROW_PIPE "PIPE", 'p', "blocked on a pipe or fifo", \
	"waited ", " for a pipe", "waited for a pipe"
#define PART_ROW_FUTEX "FUT", 'f', "blocked on a futex: a lock or a condition", \
	"waited ", " on a futex", "waited on a futex"
#define PART_ROW_TIMER "TMR", 't', "blocked in a sleep", \
	"slept ", "", "slept"
#define PART_ROW_POLL "POLL", 'o', "blocked in poll, select or epoll", \
	"waited ", " in poll", "polled"
#define PART_ROW_FAULT "FLT", 'm', "blocked outside of system calls: a page fault", \
	"waited ", " for page faults", "waited for page faults"
#define PART_ROW_STOPPED "STOP", 'T', "stopped by a signal (SIGSTOP, a terminal's Ctrl-Z) or by a debugger", \
	"was stopped for ", "", "was stopped"
#define PART_ROW_HANDOFF "HAND", 'h', "between annotations of different threads of a span", \
	"spent ", " between its threads", "handed over"
#define PART_ROW_OTHER "OTH", 'x', "blocked on anything else: an eventfd, a terminal, a child", \
	"was blocked ", ", cause unknown", "was blocked"
#define PART_ROW_UNKNOWN "UNK", '?', "not known from the trace", \
	"", ", cause unknown", ""

#define PART_ENUM_(id, name) PART_##name,
enum part {
	PART_LIST(PART_ENUM_)
	PART_N
};

struct part_info {
	const char *id, *title;
	char letter;
	const char *help;
	const char *before, *after, *held;
};
extern const struct part_info part_info[PART_N];

/*
 * What parts have in common: whatever draws them gives a group one hue. part_groups is the only table of it; themes
 * (ui/theme.c) have shades of each hue, one for each part of a group, in the order of enum part.
 */
enum part_hue {
	HUE_GREEN, HUE_YELLOW, HUE_MAGENTA, HUE_RED, HUE_BLUE, HUE_GREY,
	HUE_OUTLINE,		/* as the lines of axes */
	HUE_NONE,		/* as text */
	HUE_N
};
enum part_group {
	PART_GROUP_CPU, PART_GROUP_RUNNABLE, PART_GROUP_LOCK, PART_GROUP_DISK, PART_GROUP_NET, PART_GROUP_SLEEP,
	PART_GROUP_CHILDREN, PART_GROUP_UNKNOWN,
	PART_GROUP_N
};
struct part_group_info {
	enum part_hue hue;
	unsigned parts;		/* bits: 1 << enum part; each part is in one group */
};
extern const struct part_group_info part_groups[PART_GROUP_N];
/* The part of a letter of a waterfall's bar; PART_N: no part has it. */
enum part part_of_letter(char letter);
enum part_group part_group_of(enum part p);
/* How many parts of the group of p come before p in enum part. */
unsigned part_shade(enum part p);

/* The title and help as string literals: part_help(USER). */
#define PART_PICK_(pick, ...) pick(__VA_ARGS__)
#define PART_TITLE_(title, ...) title
#define PART_HELP_(title, letter, help, ...) help
#define part_title(name) PART_PICK_(PART_TITLE_, PART_ROW_##name)
#define part_help(name) PART_PICK_(PART_HELP_, PART_ROW_##name)

/* Blocked, thus neither on a CPU nor runnable. */
bool part_is_blocked(enum part p);
/* Sums of the parts on a CPU, runnable, and blocked. */
int64_t part_sum_cpu(const int64_t part[PART_N]);
int64_t part_sum_runnable(const int64_t part[PART_N]);
int64_t part_sum_blocked(const int64_t part[PART_N]);

#endif
