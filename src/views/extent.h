/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace while it is being read: its outline (all of its time), the timeline (as far as it is final), and a preview
 * (a few seconds decoded out of order). Says which of them can show a range, and makes the strip of the whole trace.
 * Pure data; borrows its parts.
 */
#ifndef BLK_VIEWS_EXTENT_H
#define BLK_VIEWS_EXTENT_H

#include "base/view_range.h"
#include "base/outline.h"
#include "state/store/timeline.h"
#include "views/graph.h"

/* Where the rows of a range come from while a trace is being read. */
enum cover_kind {
	COVER_READ,		/* the timeline: final */
	COVER_PROVISIONAL,		/* a preview, provisional: decoded without the events before it */
	COVER_UNREAD,		/* not read yet: only the outline has figures */
	COVER_EXACT,		/* decoded ahead of the rest, with the state of all events before it */
};

/* One second of the strip, which covers all retained seconds. While a trace is being read, a point is one cell of its
 * outline. */
struct extent_point {
	int64_t begin_ns, end_ns;
	double figure[GRAPH_N];	/* below 0: unknown, or there were none */
	uint32_t count;		/* root spans that ended in it */
	bool lost;		/* a loss overlaps it */
	bool gap;		/* seconds without any event (several may be one point) */
	bool folded;		/* several seconds were summed into one to save memory */
	bool corrected;		/* decoded again, because events arrived late */
	bool open;		/* the second is not over yet: its figures are those so far */
	bool outlier;		/* its worst span was slow (history.h) */
	enum cover_kind cover;
	double bytes;		/* bytes of packets per second; 0 without an outline */
};

struct extent {
	const struct outline *outline;	/* NULL: there is only the timeline */
	const struct timeline *main;
	int64_t final_to_ns;		/* main is final before this time; INT64_MAX: all of it is;
					 * TIME_UNKNOWN: none of it is */
	const struct timeline *preview;	/* NULL: none */
	struct decoded_range window;	/* of the preview */
};

struct cover {
	enum cover_kind kind;		/* what shows the range */
	bool part;			/* it covers only a part of the range */
};

/* A range without any time in the trace is COVER_READ: there is nothing to read. */
struct cover extent_cover(const struct extent *e, int64_t from, int64_t to);
/* The largest step, in ns, that has both ends of the range as borders; 0 if whole seconds do, or not even
 * milliseconds do. extent_fine_cover() is the cover in such steps, which only previews have. */
int64_t extent_fine_step(int64_t from, int64_t to);
struct cover extent_fine_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns);
/* The cover in a live session with a spool: main has all seconds; previews have finer steps (step_ns 0: none) and what
 * main has dropped (extent_is_less()). */
struct cover extent_retained_cover(const struct extent *e, int64_t from, int64_t to, int64_t step_ns,
			       bool with_spans);
bool extent_is_whole(const struct extent *e);		/* all of it is read, or there is no outline */
/* Were the seconds of the range read and then dropped from memory? */
bool extent_is_dropped(const struct extent *e, int64_t from, int64_t to);

/* Has main less of the range than was read? True if seconds were dropped or folded, or (with_spans) requests that
 * ended in the range were evicted. */
bool extent_is_less(const struct extent *e, int64_t from, int64_t to, bool with_spans);

/* Does the range begin or end inside folded seconds, so that more than the range is shown? Then *ret_from and *ret_to
 * (may be NULL) are the borders of what is shown. */
bool extent_is_folded(const struct timeline *main, int64_t from, int64_t to, int64_t *ret_from,
		      int64_t *ret_to);

/* Sums the cells of the outline that overlap a range; cells are not divided. False: no cell overlaps it. */
struct extent_sum {
	int64_t from_ns, to_ns;		/* borders of those cells, within the trace */
	uint64_t bytes, lost_events, lost_packets;
};
bool extent_sum(const struct extent *e, int64_t from, int64_t to, struct extent_sum *ret);

/* Known losses: "12.3k events, 3 packets"; NULL: none. Free with g_free(). */
char *extent_counts_text(uint64_t n_events, uint64_t n_packets);
/* The same, of the cells of the outline that overlap a range. */
char *extent_lost_text(const struct extent *e, int64_t from, int64_t to);

/* The strip of the whole trace: one point for each cell of the outline. Without an outline, one for each second, and
 * `bytes` is events per second. */
struct extent_strip {
	struct extent_point *points;
	size_t n;
	int64_t usual_ns;		/* p25 of the root spans read so far; -1: none */
	double max_bytes;		/* highest `bytes` of a point */
};
struct extent_strip *extent_strip_new(const struct extent *e);
void extent_strip_free(struct extent_strip *s);		/* NULL is fine */
/* Index of the point that holds the instant (the nearest one). */
size_t extent_strip_find(const struct extent_strip *s, int64_t at);

#endif
