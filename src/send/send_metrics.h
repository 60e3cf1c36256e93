/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics that are sent to other programs, and what each is split by. Any thread. */
#ifndef BLK_SEND_SEND_METRICS_H
#define BLK_SEND_SEND_METRICS_H

#include "views/metric.h"

struct send_metric {
	struct metric_query query;
	char *name;			/* "call_latency"; if the list has it twice, also what it is split by */
};

/* Parses "call.latency by call; loss.events by host": METRIC [by FIELD[,FIELD]], separated by ';'. NULL: the default.
 * Returns struct send_metric *; free with g_ptr_array_unref(). NULL: *error names the wrong one. */
GPtrArray *send_metrics_parse(const char *list, GError **error);
/* Are single values sent by their size? Of the parts of a time only the sum is of interest. */
bool send_metric_has_distribution(const struct send_metric *m);
/* The first of the timeline's first `end` seconds that begins at `since_ns` or later, and was not sent in part; `end`:
 * there is none. */
size_t send_first_second(const struct timeline *tl, int64_t since_ns, size_t end);
/* The kinds of cells that they need, as view.reads. *ret_spans: one of them needs spans. */
uint32_t send_metrics_read(const GPtrArray *metrics, bool *ret_spans);

#endif
