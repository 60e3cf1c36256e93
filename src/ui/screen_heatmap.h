/* SPDX-License-Identifier: GPL-2.0-only */
/* The durations behind a cell of the heatmap, or a row of the distribution. */
#ifndef BLK_UI_SCREEN_HEATMAP_H
#define BLK_UI_SCREEN_HEATMAP_H

#include "ui/app_state.h"

/* Opens the very requests of a metric that ended in [begin_ns, end_ns) and took [low_ns, high_ns]; of other metrics the
 * log or the table of that time. `p` is the place that has the metric. */
void screen_heatmap_list(struct app *app, struct place *p, int64_t begin_ns, int64_t end_ns, int64_t low_ns,
			 int64_t high_ns);

#endif
