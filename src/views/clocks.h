/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets between the clocks of several places, computed from pairs of spans: the client half at one place (cs to cr)
 * and the server half at another (sr to ss). A request leaves before it arrives, and so does the reply. So each pair
 * bounds how far the server's clock is ahead of the client's:
 *
 *     ss - cr  <=  offset  <=  sr - cs
 *
 * The bounds of all pairs of two clocks intersect in an interval. The estimate is its middle, the error half its
 * width; the true offset lies inside, whatever the network delays were. If the intersection is empty, the
 * pairs contradict each other: the clocks drift, or a reply came after its caller gave up.
 *
 * With constant drift, the offset is a line over time (offset and slope) that satisfies all pairs. Any two pairs bound
 * the slope; pairs far apart in time bound it best. If 0 is outside the bounds, drift is certain. The offset is
 * then that at the middle of the pairs' time, and the error holds for all of that time. If no line satisfies all
 * pairs (a clock was set), the pair with the least delay gives the estimate. Its error is then enlarged by how far the
 * other pairs' bounds exclude the estimate, and is no guaranteed bound.
 *
 * A place is a traced host. In files of spans it is the host that blktop wrote there, else the endpoint: a service and
 * its address. Spans without an address are at the only address of their service, if it has one. Messages
 * (span_is_message()) bound nothing, since they are not answered.
 *
 * This module only computes. trace/align.h applies offsets while reading.
 */
#ifndef BLK_VIEWS_CLOCKS_H
#define BLK_VIEWS_CLOCKS_H

#include "base/intmap.h"
#include "base/timefmt.h"
#include "state/store/timeline.h"

/* A clock. Hosts with the same boot id (containers) share one. */
struct clock {
	const char *host, *boot;	/* borrowed; host is an endpoint's "back (10.0.0.2)"; boot "": unknown */
	const char *alias;		/* boot of the spans of the endpoint's service without address, else NULL */
	bool is_endpoint;
	int64_t offset_ns;		/* how far it is ahead of the first clock; TIME_UNKNOWN: no pairs */
	int64_t error_ns;		/* 0 or more */
	int64_t at_ns;			/* approximate instant at which offset_ns holds */
	double drift_ppm;		/* growth of the offset in millionths; 0: no drift is certain */
	uint64_t calls;			/* pairs in which this clock is the client */
};

/* Two clocks between which there are pairs. */
struct clock_link {
	uint32_t a, b;			/* indexes in clocks.clocks, in any order */
	uint64_t pairs;			/* with usable bounds */
	int64_t low_ns, high_ns;	/* bounds of how far b is ahead of a; low > high: they
					 * contradict */
	int64_t delay_ns, at_ns;	/* least round-trip delay of a pair, and the middle of the
					 * interval that this pair allows */
	int64_t offset_ns, error_ns;	/* the estimate */
	int64_t from_ns, to_ns;		/* time of the pairs, by a's clock */
	double drift_low_ppm, drift_high_ppm;	/* bounds of b's drift against a; low > high: unknown */
	bool drifts;			/* drift is certain: 0 is outside the bounds */
};

struct clocks {
	GArray *clocks;			/* struct clock. The first is the reference: the clock that is
					 * the client most often. The others are sorted by name */
	GArray *links;			/* struct clock_link, by a, b */
	uint32_t *of_place;		/* of each host of the timeline, then of each endpoint */
	uint32_t n_places, n_hosts;
	struct intmap endpoints;	/* private: service and address -> place */
	GPtrArray *texts;		/* private: texts of clocks */
};

/* Computes the offsets from all spans of the timeline; one pass if it has several clocks. The timeline must not
 * change meanwhile. */
struct clocks *clocks_new(const struct timeline *tl);
void clocks_free(struct clocks *k);		/* NULL is fine */
typedef struct clocks blk_clocks;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_clocks, clocks_free)

/* Where the span was recorded: a host (timeline_host()), or an endpoint. ID_NONE: unknown. */
uint32_t clocks_place(const struct clocks *k, const struct span *s);

/* How far the clock of place `to` is ahead of that of `from`: from pairs between these two, else by way of others.
 * False: unknown. Offset and error are 0 for places with the same boot id. */
bool clocks_between(const struct clocks *k, uint32_t from, uint32_t to, int64_t *ret_offset_ns,
		    int64_t *ret_error_ns);

/* How far clock i is ahead of the first clock at an instant, including drift. */
int64_t clocks_offset_at(const struct clocks *k, guint i, int64_t at_ns);

/* A duration with microseconds, the precision of the errors: "250.012ms", "3600.000012s". */
char *clocks_text(char buf[TIMEFMT_LEN], int64_t ns);

/* "clocks: web1 is 3.214ms +-40us ahead of db1 (120 calls)" for all pairs of clocks of hosts. Pairs of endpoints count
 * only if they differ by more than the error; some are named. NULL: nothing to say. Free with g_free(). */
char *clocks_sentence(const struct clocks *k);

/* Network time between the client half and the server half of a span, at any two places. */
struct clock_gap {
	int64_t total_ns;		/* both ways; needs no common clock */
	int64_t there_ns, back_ns;	/* TIME_UNKNOWN: the offset is not known */
	int64_t error_ns;		/* of there_ns and of back_ns */
};
struct clock_gap clocks_gap(const struct clocks *k, const struct span *client,
			    const struct span *server);

#endif
