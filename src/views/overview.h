/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the first screen shows. The view "overview" builds it: rows->rows are the operations, rows->extra is a
 * struct overview with the rest. The two smaller tables are rows of their own views, so one table widget
 * draws all three. Enter on a row follows row->drill and view.drill.
 *
 * A VALUE_RATIO column is shown in per cent if its title ends in '%'; xUSUAL is a plain factor ("2.8").
 *
 * Texts are raw bytes of the trace: escape them (base/text.h) before they reach a terminal.
 */
#ifndef BLK_VIEWS_OVERVIEW_H
#define BLK_VIEWS_OVERVIEW_H

#include "views/view.h"

/* Where the rows of a range come from while a trace is being read. */
enum cover_kind {
	COVER_READ,		/* the timeline: final */
	COVER_PROVISIONAL,		/* a preview, provisional: decoded without the events before it */
	COVER_UNREAD,		/* not read yet: only the outline has figures */
	COVER_EXACT,		/* decoded ahead of the rest, with the state of all events before it */
};

/* One second of the p99 strip, which covers all retained seconds. While a trace is being read, a point is one
 * cell of its outline (extent.h). */
struct overview_point {
	int64_t begin_ns, end_ns;
	int64_t p99_ns;		/* of the root spans that ended in it; -1: none ended */
	uint32_t count;		/* root spans that ended in it */
	bool lost;		/* a loss overlaps it */
	bool gap;		/* seconds without any event (several may be one point) */
	bool folded;		/* several seconds were summed into one to save memory */
	bool corrected;		/* decoded again, because events arrived late */
	bool outlier;		/* its worst span took several times the median of its operation */
	enum cover_kind cover;
	double bytes;		/* bytes of packets per second; 0 without an outline */
};

struct overview {
	/* Shares of the time of all CPUs in the range, 0 .. 1; negative: unknown. */
	double cpu_ratio, user_ratio, sys_ratio, irq_ratio;
	unsigned n_cpus;		/* seen in the range */
	int64_t runq_p99_ns;		/* wakeup latency: from waking to running; -1: unknown */
	const char *device;		/* block device with the most time in requests; NULL: none */
	double device_ratio;		/* approximate share of the range with requests; < 0: unknown */
	int64_t device_p99_ns;		/* -1: unknown */
	uint64_t events;		/* in the range */
	double events_per_s;
	struct completeness completeness;		/* of the range */
	/* The strip. */
	struct overview_point *points;
	size_t n_points;
	int64_t strip_max_ns;		/* highest p99 of the strip; -1: no root span at all */
	int64_t usual_ns;		/* p50 of all retained root spans; -1: none */
	int64_t p99_ns;			/* p99 of the root spans of the range; -1: none */
	/* The worst outlier: its index in points (-1: none), and a text such as "thumbnail: futex 45ms of +47ms"
	 * (NULL: none). */
	int worst;
	const char *worst_text;
	/* Slowest and open traces of the range, and the busiest processes. */
	struct rows *slowest;		/* of view_overview_slowest */
	struct rows *processes;		/* of view_overview_processes */
};

#define OVERVIEW_SLOWEST 20		/* rows at most */
#define OVERVIEW_PROCESSES 20

extern const struct view view_overview;			/* in the registry */
/* Not in the registry; drawn below the operations. */
extern const struct view view_overview_slowest;		/* Enter: waterfall */
extern const struct view view_overview_processes;	/* Enter: syscalls of the process */

/* NULL when the rows are not of the view "overview". */
const struct overview *overview_of(const struct rows *rows);

/* Beginning of the second with the slowest root span, relative to the median of its operation. Without spans:
 * of the second in which threads waited longest for CPUs and disks. TIME_UNKNOWN: the timeline is empty. */
int64_t overview_worst_second(const struct timeline *tl);
/* Beginning of the next (direction > 0) or previous outlier second that does not contain `from`.
 * TIME_UNKNOWN: there is none. */
int64_t overview_next_outlier(const struct timeline *tl, int64_t from, int direction);

#endif
