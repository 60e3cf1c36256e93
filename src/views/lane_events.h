/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in lanes of the timeline whose threads no kernel describes; see lanes.h. Private to src/views/. */
#ifndef BLK_VIEWS_LANE_EVENTS_H
#define BLK_VIEWS_LANE_EVENTS_H

#include "views/lanes.h"

/* Does the cell count events of the row's threads, or of its CPU? r NULL: of any that the query wants. */
bool lane_counts(const struct rows *rows, const struct lane_row *r, const struct count_cell *cell);
/* Appends "12 events: callback_start 6, publish 4, 2 others", or "no event", for rows of the query's range. Raw text of the trace. */
void lane_events_text(GString *text, const struct rows *rows, const struct lane_row *r);

#endif
