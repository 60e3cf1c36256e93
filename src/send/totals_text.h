/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Totals as text: for Prometheus (text 0.0.4), and as OpenMetrics 1.0 with the slowest request of a bucket as its
 * exemplar. Durations are in seconds. Any thread.
 */
#ifndef BLK_SEND_TOTALS_TEXT_H
#define BLK_SEND_TOTALS_TEXT_H

#include "send/totals.h"

/* Free with g_bytes_unref(). It is made once for each state of the totals. */
GBytes *totals_text(struct totals *t, bool openmetrics);
const char *totals_text_type(bool openmetrics);		/* its media type */

#endif
