/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the clocks of several hosts are apart, from pairs of spans: what is asked for on
 * one host (client: from cs to cr) and done on another (server: from sr to ss). The request
 * leaves before it arrives, and so does the answer, so a pair bounds how far the server's
 * clock is ahead of the client's:
 *
 *     ss - cr  <=  offset  <=  sr - cs
 *
 * All pairs of two clocks together leave an interval; the estimate is its middle, the error
 * half its width, and whatever the delays were, the true offset lies within. Where nothing is
 * left the pairs contradict each other: clocks drift, or an answer came after its caller gave
 * up.
 *
 * One that goes faster by a constant leaves lines: an offset and a slope that all pairs allow. Any
 * two of them bound the slope, the pairs that are far apart in time most; where 0 is outside of
 * these bounds the clocks drift for certain, and the offset is that of the middle of the pairs'
 * time, with an error that holds over all of it. Where no line is left (a clock was set), the
 * pair with the least delay tells, and the error is what the others deny of it, too: such an
 * error bounds nothing.
 *
 * Nothing is moved here: see trace/align.h for how readers are told.
 */
#ifndef BLK_VIEWS_CLOCKS_H
#define BLK_VIEWS_CLOCKS_H

#include "base/timefmt.h"
#include "state/store/timeline.h"

/* A clock: hosts of one boot share it. */
struct clock {
	const char *host, *boot;	/* of the timeline; boot "": not known */
	int64_t offset_ns;		/* ahead of the first clock; TIME_UNKNOWN: no pair tells */
	int64_t error_ns;		/* 0 or more */
	int64_t at_ns;			/* the offset is that of this instant, about; */
	double drift_ppm;		/* it grows so fast (millionths); 0 where none is certain */
	uint64_t calls;			/* pairs in which it is the client's */
};

/* Two clocks between which there are pairs. */
struct clock_link {
	uint32_t a, b;			/* indexes in clocks.clocks, in any order */
	uint64_t pairs;			/* that tell something */
	int64_t low_ns, high_ns;	/* bounds of how far b is ahead of a; low > high: they
					 * contradict */
	int64_t delay_ns, at_ns;	/* the least time on the way there and back, and the middle of
					 * what its pair leaves */
	int64_t offset_ns, error_ns;	/* the estimate */
	int64_t from_ns, to_ns;		/* of the pairs, by a's clock */
	double drift_low_ppm, drift_high_ppm;	/* how much faster b goes; low > high: not known */
	bool drifts;			/* that it does is certain */
};

struct clocks {
	GArray *clocks;			/* struct clock; the first is the reference: it calls most,
					 * and the others follow by name */
	GArray *links;			/* struct clock_link, by a, b */
	uint32_t *of_host;		/* of each host of the timeline */
	uint32_t n_hosts;
};

/* From all spans of the timeline, in one pass where it has several clocks; it must stay as it
 * is meanwhile. */
struct clocks *clocks_new(const struct timeline *tl);
void clocks_free(struct clocks *k);		/* NULL is fine */
typedef struct clocks blk_clocks;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_clocks, clocks_free)

/* How far the clock of host `to` is ahead of that of `from` (timeline_host()), by the pairs
 * between those two, else over others. False: not known. 0 and 0 for hosts of one boot. */
bool clocks_between(const struct clocks *k, uint32_t from, uint32_t to, int64_t *ret_offset_ns,
		    int64_t *ret_error_ns);

/* How far clock i is ahead of the first at an instant: with its drift. */
int64_t clocks_offset_at(const struct clocks *k, guint i, int64_t at_ns);

/* To the microsecond, as an error of some of them asks for: "250.012ms", "3600.000012s". */
char *clocks_text(char buf[TIMEFMT_LEN], int64_t ns);

/* "clocks: web1 is 3.214ms +-40us ahead of db1 (120 calls)", of all pairs of clocks; NULL: there
 * are no two clocks. g_free. */
char *clocks_sentence(const struct clocks *k);

/* What is on the way between a client's half and a server's, of any two hosts. */
struct clock_gap {
	int64_t total_ns;		/* both ways; needs no common clock */
	int64_t there_ns, back_ns;	/* TIME_UNKNOWN: the offset is not known */
	int64_t error_ns;		/* of each of these two */
};
struct clock_gap clocks_gap(const struct clocks *k, const struct span *client,
			    const struct span *server);

#endif
