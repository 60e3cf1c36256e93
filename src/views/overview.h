/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the first screen shows. The view "overview" builds it: rows->rows are the operations, rows->extra is a
 * struct overview with the rest. The other two tables are rows of their own views, so one table widget draws all
 * three. Enter on a row follows row->drill and view.drill.
 *
 * A VALUE_RATIO column is shown in per cent if its title ends in '%'; xUSUAL is a factor ("2.8x").
 *
 * Texts are raw bytes of the trace: escape them (base/text.h) before they reach a terminal.
 */
#ifndef BLK_VIEWS_OVERVIEW_H
#define BLK_VIEWS_OVERVIEW_H

#include "views/view.h"

/* How busy a CPU or a block device was in the range. */
struct overview_gauge {
	char *name;		/* "CPU0", "vda"; with several hosts "web1 CPU0"; raw bytes; owned */
	bool is_cpu;
	double ratio;		/* share of the time in which something ran, or a request was at the device; below 0:
				 * unknown */
};

struct overview {
	/* Shares of the time of all CPUs in the range, 0 .. 1; negative: unknown. */
	double cpu_ratio, user_ratio, sys_ratio, irq_ratio;
	unsigned n_cpus;		/* seen in the range */
	int64_t runq_p99_ns;		/* wakeup latency: from waking to running; -1: unknown */
	const char *device;		/* block device with the most time in requests; NULL: none */
	double device_ratio;		/* share of the range with requests at it; below 0: unknown */
	int64_t device_p99_ns;		/* -1: unknown */
	uint64_t events;		/* in the range */
	double events_per_s;
	struct completeness completeness;		/* of the range */
	int64_t p99_ns;			/* p99 of the root spans of the range; -1: none */
	struct overview_gauge *gauges;	/* CPUs in order, then block devices, the busiest first */
	unsigned n_gauges;
	int64_t since_ns;		/* overview_since() of the range; TIME_UNKNOWN: it is not slow */
	struct rows *since;		/* of view_overview_since: that instant, a row; or none */
	struct rows *causes;		/* requests of the range by cause: of view_causes */
	const char *machine_why;	/* range without slow requests: what else stands out; NULL: nothing does */
	struct rows *processes;		/* the busiest: of view_overview_processes */
};

#define OVERVIEW_PROCESSES 40
#define OVERVIEW_SPARKS 20		/* steps in a sparkline of a process */

/* How long the requests of a row of .causes took, how many of all they are, and why they are slow; of others
 * .machine_why, if something stands out. NULL: no duration is known. Free with g_free(). */
char *overview_why(const struct overview *o, const struct row *row);

/* What the rows of .causes outside [from, to) are: "6 more: 9 requests lost 1.21s; 22 normal". g_free(). */
char *overview_hidden(const struct overview *o, size_t from, size_t to);

extern const struct view view_overview;			/* in the registry */
/* Not in the registry; drawn below the operations. */
extern const struct view view_overview_processes;	/* Enter: syscalls of the process */
extern const struct view view_overview_since;		/* a line above the tables; Enter: goes to that second */

/* NULL when the rows are not of the view "overview". */
const struct overview *overview_of(const struct rows *rows);
/* Are all events missing from which it is known what processes did? */
bool overview_knows_no_process(const struct rows *rows);

/* Beginning of the second with the root span that is furthest above the usual of its operation; if none is slow, with
 * the longest one. Without spans: of the second in which threads waited longest for CPUs and disks. TIME_UNKNOWN: the
 * timeline is empty, or it has neither spans nor events of the kernel about threads. */
int64_t overview_worst_second(const struct timeline *tl);
/* Since when the requests of [from, to) have been slow: beginning of the second in which one of their causes began that
 * lasts until then (causes_since()). TIME_UNKNOWN: none is slow. *ret_earlier (NULL is fine): it may have begun
 * earlier. */
int64_t overview_since(const struct timeline *tl, int64_t from_ns, int64_t to_ns, bool *ret_earlier);
/* What that second has: "the most delayed request". NULL: the timeline is empty. Static. */
const char *overview_worst_what(const struct timeline *tl);
/* The quiet time before the slow one of [from, to): seconds that are no outliers (strip.h), up to OVERVIEW_QUIET_S of
 * them in a row, the nearest before the second since when it is slow. false: there is none. */
bool overview_quiet_before(const struct timeline *tl, int64_t from_ns, int64_t to_ns, int64_t *ret_from,
			   int64_t *ret_to);
#define OVERVIEW_QUIET_S 60
/* Beginning of the next (direction > 0) or previous outlier second that does not contain `from`, and whose worst
 * request has another cause (causes.h) than that of the second with `from`. TIME_UNKNOWN: there is none. */
int64_t overview_next_outlier(const struct timeline *tl, int64_t from, int direction);

#endif
