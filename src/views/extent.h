/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace while it is read: its outline over all of its time, the timeline as far as
 * that is final, and a preview of a few seconds out of turn. What of it can be shown of
 * a range, and the strip of the whole. Pure data; borrows what it is made of.
 */
#ifndef BLK_VIEWS_EXTENT_H
#define BLK_VIEWS_EXTENT_H

#include "base/view_range.h"
#include "base/outline.h"
#include "views/overview.h"

struct extent {
	const struct outline *outline;	/* NULL: the timeline is all there is to know */
	const struct timeline *main;
	int64_t final_to_ns;		/* main is final before it; INT64_MAX: all is read;
					 * TIME_UNKNOWN: nothing is */
	const struct timeline *preview;	/* NULL: none */
	struct decoded_range window;	/* of the preview */
};

struct cover {
	enum cover_kind kind;		/* overview.h: which timeline shows the range */
	bool part;			/* only some of it */
};

/* A range without any time in the trace is COVER_READ: there is nothing to read. */
struct cover extent_cover(const struct extent *e, int64_t from, int64_t to);
/* The step that has both ends of the range as borders: 0 where the timeline's own seconds
 * do, or nothing as fine as a millisecond does. Then the cover in such steps, which only
 * previews have. */
int64_t extent_fine_step(int64_t from, int64_t to);
struct cover extent_fine_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns);
/* Of a live session whose packets are kept: main has all seconds, previews finer steps (0:
 * none) and what main has no more (extent_is_less()). */
struct cover extent_kept_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns,
			       bool with_spans);
bool extent_is_whole(const struct extent *e);		/* all of it is read, or no outline */
/* Were the seconds of the range read, and left memory since? */
bool extent_is_dropped(const struct extent *e, int64_t from, int64_t to);

/* Is less of the range in main than was read: were seconds dropped or folded, or (with_spans) requests
 * evicted that ended in it? */
bool extent_is_less(const struct extent *e, int64_t from, int64_t to, bool with_spans);

/* Is the range within seconds that were folded, so that more than it would be shown?
 * Then *ret_from, *ret_to are the borders of what is (may be NULL). */
bool extent_is_folded(const struct timeline *main, int64_t from, int64_t to, int64_t *ret_from,
		      int64_t *ret_to);

/* What the outline tells of a range: of the cells that overlap it, as cells can't be
 * cut. False: no cell does. */
struct extent_sum {
	int64_t from_ns, to_ns;		/* of those cells, within the trace */
	uint64_t bytes, lost_events, lost_packets;
};
bool extent_sum(const struct extent *e, int64_t from, int64_t to, struct extent_sum *ret);

/* "12.3k events, 3 packets"; NULL: none are known to be lost. g_free. */
char *extent_lost_text(const struct extent *e, int64_t from, int64_t to);

/* The strip of the whole trace: a point for each cell of the outline; without one, for each
 * second, and `bytes` is events a second. */
struct extent_strip {
	struct overview_point *points;
	size_t n;
	int64_t max_ns;			/* highest p99 of what is read; -1: no root span */
	int64_t usual_ns;		/* p50 of the root spans read; -1 */
	double max_bytes;		/* a second, of any point */
};
struct extent_strip *extent_strip_new(const struct extent *e);
void extent_strip_free(struct extent_strip *s);		/* NULL is fine */
/* Index of the point that holds the instant (the nearest one). */
size_t extent_strip_find(const struct extent_strip *s, int64_t at);

#endif
