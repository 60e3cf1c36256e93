/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the first screen shows. Built by the view "overview": rows->rows are the
 * operations, rows->extra is a struct overview with everything else. The two
 * smaller tables are rows of views of their own, so one table widget draws all three
 * and Enter on any row goes where its row->drill and its view's drill say.
 *
 * A VALUE_RATIO column is meant as per cent where its title ends in '%'; xUSUAL is a plain
 * factor ("2.8").
 *
 * Texts are as the trace has them: escape them (base/text.h) before a terminal.
 */
#ifndef BLK_VIEWS_OVERVIEW_H
#define BLK_VIEWS_OVERVIEW_H

#include "views/view.h"

/* Where the rows of a range come from, while a trace is read. */
enum cover_kind {
	COVER_READ,		/* the timeline: final */
	COVER_SOFT,		/* a preview: read without what came before */
	COVER_UNREAD,		/* nowhere: only the outline tells of it */
	COVER_EXACT,		/* decoded out of turn, knowing all that came before */
};

/* One second of the p99 strip, over all seconds kept. (While a trace is read, and of its
 * whole time: one cell of its outline; see extent.h.) */
struct overview_point {
	int64_t begin_ns, end_ns;
	int64_t p99_ns;		/* of the root spans that ended in it; -1: none did */
	uint32_t count;		/* how many did */
	bool lost;		/* a loss touches it */
	bool gap;		/* seconds without any event (several may be one point) */
	bool folded;		/* for lack of memory several seconds are one */
	bool corrected;		/* made again, since events came too late */
	bool outlier;		/* its worst span: several times its operation's usual */
	enum cover_kind cover;
	double bytes;		/* of packets, a second; 0 without an outline */
};

struct overview {
	/* Shares of the time of all CPUs in the range, 0 .. 1; negative: unknown. */
	double cpu_ratio, user_ratio, sys_ratio, irq_ratio;
	unsigned n_cpus;		/* seen in the range */
	int64_t runq_p99_ns;		/* woken, until on a CPU; -1: unknown */
	const char *device;		/* the one with the most time in requests; NULL: none */
	double device_ratio;		/* share of the range with requests, about; < 0 unknown */
	int64_t device_p99_ns;		/* -1: unknown */
	uint64_t events;		/* in the range */
	double events_per_s;
	struct trust trust;		/* of the range */
	/* The strip. */
	struct overview_point *points;
	size_t n_points;
	int64_t strip_max_ns;		/* highest p99 of the strip; -1: no root span at all */
	int64_t usual_ns;		/* p50 of all root spans kept; -1 */
	int64_t p99_ns;			/* p99 of the root spans of the range; -1 */
	/* Where to look: the point of the worst outlier (index, or -1), and in words:
	 * "thumbnail: futex +47ms"; NULL when there is none. */
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

/* Begin of the second with the slowest root span, measured by its operation's usual;
 * without spans the one with the most waiting for CPUs; TIME_UNKNOWN: empty. */
int64_t overview_worst_second(const struct timeline *tl);
/* Begin of the next (direction > 0) or previous outlier second that does not hold
 * `from`, towards the direction; TIME_UNKNOWN: there is none. */
int64_t overview_next_outlier(const struct timeline *tl, int64_t from, int direction);

#endif
