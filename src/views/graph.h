/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of a second that the graph of all seconds can show. */
#ifndef BLK_VIEWS_GRAPH_H
#define BLK_VIEWS_GRAPH_H

#include "state/store/second.h"

/* What the graph of all seconds shows, one figure a second. */
#define GRAPH_LIST(X) \
	X(REQUESTS, "p99", "p99 of requests", true) X(CPU, "CPU", "CPU in use", false) \
	X(RUNQ, "runq", "p99 of run queue", true) X(DISK, "disk", "p99 of block I/O", true) \
	X(CALL, "call", "slowest call", true)
enum graph {
#define GRAPH_ENUM(id, word, title, ns) GRAPH_##id,
	GRAPH_LIST(GRAPH_ENUM)
#undef GRAPH_ENUM
	GRAPH_N
};
struct graph_info {
	const char *word, *title;	/* "p99", "p99 of requests" */
	bool is_ns;		/* the figure is a duration in ns; else a share, 0 .. 1 */
};
extern const struct graph_info graph_info[GRAPH_N];

void graph_unknown(double figure[GRAPH_N]);		/* all unknown: below 0 */
/* Sets those that a second's cells have; [GRAPH_REQUESTS], which needs spans, is unknown. */
void graph_of_second(const struct second *s, double figure[GRAPH_N]);

#endif
