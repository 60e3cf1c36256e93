/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rule over operations, held against each closed second:
 *
 *     p99 of thumbnail > 3 x usual
 *     max of 'resize image' >= 250ms for 3
 *     errors of any > 10 every 5m
 *
 *     METRIC of OPERATION OP VALUE [for SECONDS] [every DURATION]
 *
 * METRIC: p50 p75 p90 p95 p99 max (of requests that ended in the second), count, errors.
 * OPERATION: its name, quoted where it has blanks; any: whichever is worst. OP: > >= < <=.
 * VALUE: a duration (250ms), "K x usual" (times the operation's p50 over all that is kept),
 * or of count and errors a number. `for`: so many seconds with requests in a row.
 * `every`: true again only so long after it was true last (1m).
 */
#ifndef BLK_VIEWS_RULE_H
#define BLK_VIEWS_RULE_H

#include "state/store/timeline.h"

struct rule;

/* NULL and *error: what is wrong with which word. */
struct rule *rule_parse(const char *text, GError **error);
void rule_free(struct rule *r);			/* NULL is fine */

/* Of a closed second, each once and in order of time: NULL, or why it is true now: lines
 * "p99 of thumbnail is 98.4ms, 3.4 times the usual 28.9ms", "rule: ...", "second: ...". Names
 * are as the trace has them; freed by the caller. */
char *rule_check(struct rule *r, const struct timeline *tl, const struct second *s);

#endif
