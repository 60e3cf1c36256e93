/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the processes, which the overview shows as well. Private to src/views/.
 */
#ifndef BLK_VIEWS_PROCESSES_H
#define BLK_VIEWS_PROCESSES_H

#include "views/common.h"
#include "views/counted.h"

#include "state/store/cell_sum.h"

struct process_row {
	struct common c;		/* .part: the sum's */
	int32_t ppid, vpid;
	uint32_t ns[NS_N];
	int64_t exit_ns;
	const char *life;		/* NULL: it neither began nor ended in the range or before it */
	struct thread_sum sum;		/* of its threads; without their calls if the trace has none in the range */
	uint64_t event_faults, perf_faults;	/* page faults, by their events, and by perf's count */
	int64_t faults;			/* of these, what the trace has */
	struct counted_ipc counted;
	double ipc;
	/* Shares of the range; 1 is one CPU, or one thread. All ratios: -1 if it is not known. */
	double cpu_ratio, runnable_ratio, blocked_ratio, disk_ratio, lock_ratio, net_ratio, sleep_ratio;
	int64_t calls_rate;		/* system calls a second */
	uint32_t host;			/* ID_NONE: all hosts */
	uint32_t group;			/* group_key() of its threads */
	const char *sparks;		/* NULL: processes_add_sparks() was not called, or nothing is known */
};

#define PROCESS(name, ...) MEMBER(struct process_row, name, __VA_ARGS__)
#define PROCESS_RATIO(name) PROCESS(name, .none = IF_NEGATIVE)

/* Did it surely do nothing: no time on a CPU or waiting for one, no calls, bytes or page faults, and not blocked on a
 * disk, a lock, a socket or a pipe? */
bool processes_is_idle(const struct row *row, const struct rows *rows);

/* For rows by process: the time on a CPU in each of the last n steps up to the range's end, as digits from 0 to 8:
 * eighths of a CPU, rounded up. A step that is unknown, or in which the process did not exist, is a blank. */
void processes_add_sparks(struct rows *rows, unsigned n);
struct rows *processes_build(const struct timeline *tl, const struct view_query *query);

/* For view.has_named: kernel_thread (common.h), and idle: 1 if the row has no time on a CPU and no system call, else 0;
 * null: unknown. */
#define NAMED_IDLE "idle"
bool processes_has_named(const char *name);
struct value processes_get_named(const void *row, const struct rows *rows, const char *name);

#endif
