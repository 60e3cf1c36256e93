/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The p99 of root spans second by second, and where it is unusual. Private to
 * src/views/.
 */
#ifndef BLK_VIEWS_STRIP_H
#define BLK_VIEWS_STRIP_H

#include "views/history.h"

struct strip_point {
	int64_t begin_ns, end_ns;
	int64_t p99_ns;			/* -1: no root span ended in it */
	uint32_t count;
	bool lost, gap, outlier, corrected;
	bool folded;			/* for lack of memory it tells of its neighbours, too */
	const struct span *worst;	/* furthest above its usual; NULL: none, or it is evicted */
	const char *worst_name;		/* the worst one's */
	int64_t excess_ns;		/* how far; 0: none is */
	struct hist hist;		/* private */
};

struct strip {
	GArray *points;			/* struct strip_point, by time */
	int64_t max_ns, usual_ns;	/* -1: no root span */
	int worst;			/* index of the point with the worst outlier, -1 */
};

/* Borrows spans from the history. */
struct strip *strip_new(const struct history *h);
void strip_free(struct strip *s);
typedef struct strip blk_strip;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_strip, strip_free)

#endif
