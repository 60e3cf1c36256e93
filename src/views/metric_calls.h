/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of single lines of the log, for metrics whose fields the cells of a second do not have: the file, the error
 * and the CPU of each call, and integer fields of events. Lines are summed as they come, by second and by the values of
 * all fields. One thread.
 */
#ifndef BLK_VIEWS_METRIC_CALLS_H
#define BLK_VIEWS_METRIC_CALLS_H

#include "state/calllog/calllog.h"
#include "views/metric.h"

/* Negative values, which histograms take for 0. */
struct metric_negative { uint64_t n; int64_t sum, min, max; };
void metric_negative_add(struct metric_negative *to, const struct metric_negative *x);

struct metric_call_sum {
	int64_t step_ns, step_end_ns;	/* its second or step: a call counts at its end */
	const char *host, *name, *file, *error;		/* interned: equal texts are equal pointers; NULL: none */
	int32_t tid, pid;		/* -1: unknown */
	uint32_t cpu;			/* UINT32_MAX: unknown */
	int64_t last_ns;		/* instant of the latest one */
	struct hist values;
	struct metric_negative negative;
};

/* step_ns: that of the timeline whose seconds they are compared with. `q` is borrowed. */
struct metric_calls *metric_calls_new(const struct metric_query *q, int64_t step_ns);
void metric_calls_free(struct metric_calls *c);		/* NULL is fine */
/* Adds what the metric says of the line; most lines say nothing. After LIMIT_METRIC_SUMS different values, files are
 * "(other)". */
void metric_calls_add(struct metric_calls *c, const struct calllog_line *l);
/* The name of the thread in its latest line; NULL: unknown. `host` is that of a sum. Known of the threads of sums and
 * of first threads of processes. */
const char *metric_calls_name(const struct metric_calls *c, const char *host, int32_t tid);
/* Sums in no particular order. */
size_t metric_calls_n(const struct metric_calls *c);
const struct metric_call_sum *metric_calls_at(const struct metric_calls *c, size_t i);

#endif
