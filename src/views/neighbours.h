/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Noisy neighbours: which processes ran on the CPU that a span's thread waited for. Threads of one process are one
 * neighbour.
 */
#ifndef BLK_VIEWS_NEIGHBOURS_H
#define BLK_VIEWS_NEIGHBOURS_H

#include "state/store/span.h"
#include "state/store/timeline.h"

struct neighbour_row {
	char *label;		/* "ffmpeg/77", "thumbd, 3 threads", "stored/80 (same request)", "(idle)",
				 * "(unknown)" */
	int64_t ns;
	uint32_t process;	/* or ID_NONE */
	unsigned n_threads;	/* 0: idle or unknown */
	bool same_request;	/* its threads worked for the span's request: no neighbours */
};

/* struct neighbour_row, the longest first, then idle, not retained and unknown time. The rows sum to the span's
 * preempted and wakeup parts. Free with g_array_unref(). Empty: it never waited for a CPU. */
GArray *neighbours_of(const struct timeline *tl, const struct span *s);

/* Did the thread work for the span's request when it ran instead of the span's thread? */
bool neighbour_is_of_request(const struct timeline *tl, const struct span *s, uint32_t thread);

/* The longest known neighbour: "ffmpeg/77"; NULL: none. Free with g_free(), here and below. */
char *neighbour_main(const struct timeline *tl, const struct span *s, int64_t *ret_ns);
/* What ran longest of those that worked for the span's request: "stored/80"; NULL: none. */
char *neighbour_of_request(const struct timeline *tl, const struct span *s, int64_t *ret_ns);

#endif
