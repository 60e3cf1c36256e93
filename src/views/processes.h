/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the processes, which the overview shows as well. Private to src/views/.
 */
#ifndef BLK_VIEWS_PROCESSES_H
#define BLK_VIEWS_PROCESSES_H

#include "views/common.h"

GETTER(processes_get_cpu_ratio);	/* of one CPU */
GETTER(processes_get_runq_ratio);
GETTER(processes_get_block_ratio);
GETTER(processes_get_calls_rate);
/* Did it surely do nothing: no time on a CPU or waiting for one, no calls, bytes or page faults, and not blocked on a
 * disk, a lock, a socket or a pipe? */
bool processes_is_idle(const struct row *row, const struct rows *rows);
GETTER(processes_get_sparks);		/* made by processes_add_sparks() */
/* The time (ns) as a share of the range; null where the parts are unknown. */
struct value processes_over_range(const struct row *row, const struct rows *rows, int64_t ns);

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
