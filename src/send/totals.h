/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of metrics over all closed seconds, since blktop began to read: counters that never fall. The main thread adds
 * seconds; any thread may read the text (totals_text.h).
 *
 * A second counts once: corrections of it, which late events cause, are not counted. What is split by `cause` is
 * counted of a recorded trace when it was read, since the usual must be known; live by the usual of that time.
 */
#ifndef BLK_SEND_TOTALS_H
#define BLK_SEND_TOTALS_H

#include "send/send_metrics.h"

struct totals;

/* `metrics`: struct send_metric *, borrowed. Of each metric `most` values of its fields are kept apart; further ones
 * are summed as (other), and counted. */
struct totals *totals_new(const GPtrArray *metrics, unsigned most, bool live);
/* Of --forward: spans that were chosen, and how many of them were sent and dropped until now. Any thread. */
void totals_note_spans(struct totals *t, uint64_t chosen, uint64_t sent, uint64_t dropped);
void totals_free(struct totals *t);		/* NULL is fine */
/* Adds those of the timeline's first `end` seconds that were not added yet and that begin in [from_ns, to_ns). They
 * must be closed, as for alerts_update(). `ended`: everything was read. */
void totals_update(struct totals *t, const struct timeline *tl, size_t end, int64_t from_ns, int64_t to_ns, bool ended);

/* Spans that were dropped to save memory and that a metric does not count, summed over the metrics. Any thread. */
uint64_t totals_left_out(struct totals *t);

#endif
