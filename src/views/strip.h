/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The p99 of root spans second by second, and which seconds are outliers. Private to src/views/.
 */
#ifndef BLK_VIEWS_STRIP_H
#define BLK_VIEWS_STRIP_H

#include "views/graph.h"
#include "views/history.h"

struct strip_point {
	int64_t begin_ns, end_ns;
	int64_t p99_ns;			/* -1: no root span ended in it */
	double figure[GRAPH_N];		/* as in struct extent_point */
	uint32_t count;
	bool lost, gap, outlier, corrected;
	bool open;			/* as in struct extent_point */
	bool folded;			/* several seconds were summed into one to save memory */
	const struct span *worst;	/* furthest above the usual of its operation; NULL: none, or evicted */
	const char *worst_name;		/* operation of the worst span */
	int64_t excess_ns;		/* worst duration minus the usual; 0: no span is above it */
	struct hist hist;		/* private */
};

struct strip {
	GArray *points;			/* struct strip_point, by time */
	int64_t max_ns, usual_ns;	/* p99 of the highest point, p25 of all; -1: no root span */
	int worst;			/* index of the point with the worst outlier, -1 */
};

/* The strip borrows spans from the history: free it first. */
struct strip *strip_new(const struct history *h);
void strip_free(struct strip *s);
typedef struct strip blk_strip;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_strip, strip_free)

#endif
