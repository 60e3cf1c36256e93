/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whom a span waited for a CPU behind, in words and by process: the threads of one process
 * on the same CPU are one neighbour.
 */
#ifndef BLK_VIEWS_NEIGHBOURS_H
#define BLK_VIEWS_NEIGHBOURS_H

#include "state/store/span.h"
#include "state/store/timeline.h"

struct neighbour_row {
	char *label;		/* "ffmpeg/77", "thumbd, 3 threads", "(idle)", "(unknown)" */
	int64_t ns;
	uint32_t process;	/* or ID_NONE */
	unsigned n_threads;	/* 0: of idle and unknown */
};

/* struct neighbour_row, the longest first, then what is idle, not kept, unknown; they sum to
 * the span's preempted and wakeup parts. g_array_unref. Empty: it never waited. */
GArray *neighbours_of(const struct timeline *tl, const struct span *s);

/* The largest that is somebody: "ffmpeg/77"; NULL: none. g_free. */
char *neighbour_main(const struct timeline *tl, const struct span *s, int64_t *ret_ns);

#endif
