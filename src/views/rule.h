/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rule over operations, checked for each closed second:
 *
 *     p99 of thumbnail > 3 x usual
 *     max of 'resize image' >= 250ms for 3
 *     errors of any > 10 every 5m
 *
 *     METRIC of OPERATION OP VALUE [for SECONDS] [every DURATION]
 *
 * METRIC: p50 p75 p90 p95 p99 max (of requests that ended in the second), count, errors.
 * OPERATION: a name, in quotes if it has blanks; any: the worst of all operations. OP: > >= < <=.
 * VALUE: a duration (250ms), "K x usual" (K times the operation's p50 over all retained spans),
 * or for count and errors a number. `for`: true in so many consecutive seconds with requests.
 * `every`: least time between two reports (1m).
 */
#ifndef BLK_VIEWS_RULE_H
#define BLK_VIEWS_RULE_H

#include "state/store/timeline.h"

struct rule;

/* Returns NULL and sets *error, which names the wrong word. */
struct rule *rule_parse(const char *text, GError **error);
void rule_free(struct rule *r);			/* NULL is fine */

/* Checks a closed second; call it once for each, in order of time. NULL: not true. Else the reason as lines:
 * "p99 of thumbnail is 98.4ms, 3.4 times the usual 28.9ms", "rule: ...", "second: ...". Names are raw bytes of the
 * trace. The caller frees the text with g_free(). */
char *rule_check(struct rule *r, const struct timeline *tl, const struct second *s);

#endif
