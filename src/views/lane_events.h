/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in lanes of the timeline whose threads no kernel describes; see lanes.h. Private to src/views/. */
#ifndef BLK_VIEWS_LANE_EVENTS_H
#define BLK_VIEWS_LANE_EVENTS_H

#include "views/common.h"

/* What a lane is about: threads, or a CPU's events of unknown threads. */
struct lane_events {
	const struct view_query *query;	/* which threads, or which host */
	bool by_cpu;
	uint32_t cpu;			/* .by_cpu: UINT32_MAX: events without a CPU */
};

/* Does the cell count events that the query wants? Those of unknown threads only if it asks for no thread. */
bool lane_counts(const struct timeline *tl, const struct view_query *q, const struct count_cell *cell);
/* Appends "12 events: callback_start 6, publish 4, 2 others", or "no event", in the range of rows->query. Raw text of
 * the trace. */
void lane_events_text(GString *text, const struct rows *rows, const struct lane_events *of);

#endif
