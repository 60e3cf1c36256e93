/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the views events and counters: one event or counter each, summed by thread, process, CPU, ...
 * Private to src/views/.
 */
#ifndef BLK_VIEWS_COUNTED_H
#define BLK_VIEWS_COUNTED_H

#include "views/common.h"

#define COUNTED(name, ...) MEMBER(struct counted_row, name, __VA_ARGS__)
#define COUNTED_STEPS 20		/* most steps of a row over time */

struct counted_row {
	struct common c;
	uint8_t kind;			/* enum count_kind */
	const char *what;		/* kind in words */
	int64_t second_ns;		/* by second: its beginning; else TIME_UNKNOWN */
	uint32_t id;			/* opaque: name and kind */
	uint64_t group;			/* opaque: rows about the same thread, process, ... */
	uint64_t value;
	double seconds;			/* of the range, or of the second */
	int64_t rate;			/* a second */
	double share;			/* of all rows of that name; for rows of hosts, of all events. -1: not known */
	double ipc;			/* of an "instructions" row: with the cycles of the same thread; else -1 */
	guint steps;			/* opaque: place of its counts over time */
	const char *over_time;		/* a digit for each step of the range: 8 is its largest count, 0 none; NULL: by
					 * second, or a range of one second */
};

/* Builds rows of events (events true) or of all other counters. Events are counted by host only, unless the view was
 * requested before reading. */
struct rows *counted_build(const struct timeline *tl, const struct view_query *query, bool events);

/* Adds the instructions and CPU cycles of a cell. */
struct counted_ipc { uint64_t instructions, cycles[2]; };	/* cycles: by two names */
void counted_add_ipc(struct counted_ipc *ipc, const struct timeline *tl,
		     const struct count_cell *cell);
double counted_ipc(uint64_t instructions, uint64_t cycles);	/* -1 if one of them is 0 */

/* Does the counter count page faults? */
bool counted_is_fault(const struct timeline *tl, const struct count_cell *cell);

#endif
