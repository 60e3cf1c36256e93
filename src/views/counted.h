/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of what is counted: an event, a counter, by whoever it is summed. Of the views
 * events and counters. Private to src/views/.
 */
#ifndef BLK_VIEWS_COUNTED_H
#define BLK_VIEWS_COUNTED_H

#include "views/common.h"

struct counted_row {
	struct common c;
	uint8_t kind;			/* enum count_kind */
	const char *what;		/* kind in words */
	int64_t second_ns;		/* by second: its begin; else TIME_UNKNOWN */
	uint32_t id;			/* opaque: name and kind */
	uint64_t group;			/* opaque: rows about the same thread, process, ... */
	uint64_t value, whole;		/* whole: of all rows of that name; of hosts: of all events */
	uint64_t cycles;		/* of an "instructions" row: of the same thread, ...; or 0 */
	double seconds;			/* of the range, or of the second */
};

/* Events (only they are told of all the host, unless somebody asked before reading), or all
 * else that is counted. */
struct rows *counted_build(const struct timeline *tl, const struct view_query *query, bool events);

/* Of the cell, instructions and cycles of CPUs. */
struct counted_ipc { uint64_t instructions, cycles[2]; };	/* cycles: by two names */
void counted_add_ipc(struct counted_ipc *ipc, const struct timeline *tl,
		     const struct count_cell *cell);
struct value counted_ipc(uint64_t instructions, uint64_t cycles);	/* null where one lacks */

/* Does the counter count page faults? */
bool counted_is_fault(const struct timeline *tl, const struct count_cell *cell);

GETTER(counted_get_value);
GETTER(counted_get_rate);
GETTER(counted_get_share);
GETTER(counted_get_what);
GETTER(counted_get_second);
GETTER(counted_get_ipc);

#endif
