/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thresholds: what a metric must not reach in a second.
 *
 *     p99 of thumbnail > 3 x usual for 5s
 *     errors of any > 10 every 5m
 *     call.latency p99 by call where process == mysqld > 10ms warn 5ms
 *     losses > 0
 *
 *     threshold := subject OP VALUE [warn VALUE] [for SECONDS] [every DURATION]
 *     subject   := FIGURE of OPERATION | METRIC [FIGURE] [by FIELD[,FIELD]] [where EXPRESSION]
 *
 * OPERATION: the name of a root span, in quotes if it has blanks; any: each operation apart. It stands for the metric
 * request.latency by operation. METRIC, FIELD, EXPRESSION: metric.h; losses: loss.events. FIGURE: p50 p75 p90 p95 p99
 * max avg of a metric with single values (p99 if none is named), count of them, errors (how many requests failed); sum
 * of any metric. OP: > >= < <=. VALUE: a duration, a size or a number, as the figure's unit is; or "K x usual", K times
 * the p50 (of a sum: the mean) of the seconds before, or of a baseline (alerts.h). `warn`: a value that is reached
 * earlier. `for`: reached in so many seconds in a row (1). `every`: least time between two reports (1m).
 *
 * There is no threshold of calls by file, errno or CPU, or of fields of events: seconds do not have them. Nor by cause,
 * which depends on the usual of the whole trace.
 */
#ifndef BLK_VIEWS_THRESHOLD_H
#define BLK_VIEWS_THRESHOLD_H

#include "base/hist.h"
#include "views/metric.h"

enum threshold_figure {
	FIGURE_P50, FIGURE_P75, FIGURE_P90, FIGURE_P95, FIGURE_P99, FIGURE_MAX, FIGURE_AVG,
	FIGURE_COUNT, FIGURE_ERRORS, FIGURE_SUM, FIGURE_N
};
enum threshold_comparison { THRESHOLD_GT, THRESHOLD_GE, THRESHOLD_LT, THRESHOLD_LE };

struct threshold_value {
	bool given;
	bool times_usual;		/* .number is a multiple of the usual; else in the figure's unit */
	double number;
};

struct threshold {
	char *text;			/* as it was written */
	char *subject;			/* of it, what is measured: "p99 of thumbnail"; names the entry of a baseline */
	bool of_operation;		/* FIGURE of OPERATION, not a metric by its name */
	char *operation, *where;	/* as they were read; NULL: any, none */
	struct metric_query query;
	enum threshold_figure figure;
	enum threshold_comparison comparison;
	struct threshold_value value, warn;
	bool takes_snapshot;		/* the caller's: --snapshot-when */
	unsigned seconds;		/* `for`: 1 or more */
	int64_t every_ns;
};

/* NULL: *error names the wrong word. Free with threshold_free(). */
struct threshold *threshold_parse(const char *text, GError **error);
void threshold_free(struct threshold *t);	/* NULL is fine */
GPtrArray *thresholds_new(void);		/* an empty array of struct threshold *, which it will own */
/* Appends the thresholds of a file (struct threshold *): one in a line; empty lines and those that begin with # are
 * left out. False: *error names the file and the line. */
bool threshold_read_file(GPtrArray *thresholds, const char *path, GError **error);

/* The unit of the figure: VALUE_NS, VALUE_BYTES or VALUE_COUNT. */
enum value_kind threshold_unit(const struct threshold *t);
/* Is the figure a number or a sum, of which a second without values has 0? Others are unknown there. */
bool threshold_counts(const struct threshold *t);
/* The figure of the values of a second; `sum` as in struct metric_value. */
double threshold_figure_of(const struct threshold *t, const struct hist *values, int64_t sum);
/* Is the value reached? usual <= 0: unknown; what is a multiple of it is not reached. */
bool threshold_reached(const struct threshold *t, const struct threshold_value *value, double figure, double usual);
/* Of two figures, is the first one further beyond a value? */
bool threshold_is_worse(const struct threshold *t, double figure, double than);
const char *threshold_figure_word(enum threshold_figure figure);	/* "p99" */

#endif
