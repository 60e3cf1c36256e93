/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The outline of a whole trace: bytes and losses over time, known from the packet index before any event is decoded.
 * A worker makes it, the screen shows it. Immutable; reference counted (atomically).
 */
#ifndef BLK_BASE_OUTLINE_H
#define BLK_BASE_OUTLINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct outline_cell {
	uint64_t bytes;			/* of packets, distributed evenly over each packet's time */
	uint64_t lost_events;		/* discarded in packets that end in this cell */
	uint64_t lost_packets;		/* missing before packets that begin in this cell */
};

struct outline {
	gatomicrefcount refs;
	int64_t from_ns, to_ns;		/* beginning of the first packet, end of the last packet + 1 */
	int64_t step_ns;		/* of a cell, a multiple of a second, > 0 */
	int64_t begin_ns;		/* of cell[0]: from_ns rounded down to the step */
	bool complete;			/* false: packets before from_ns are not known yet */
	uint64_t bytes;			/* of all packets */
	size_t n;
	struct outline_cell *cell;
};

static inline struct outline *outline_ref(struct outline *o)
{
	g_atomic_ref_count_inc(&o->refs);
	return o;
}

static inline void outline_unref(struct outline *o)	/* NULL is fine */
{
	if (!o || !g_atomic_ref_count_dec(&o->refs))
		return;
	g_free(o->cell);
	g_free(o);
}

#endif
