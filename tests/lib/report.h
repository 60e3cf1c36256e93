/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole account of a finished slice as text, free of ids: for comparing. */
#ifndef BLK_TESTS_REPORT_H
#define BLK_TESTS_REPORT_H

#include "state/store/timeline.h"
#include "state/slice/slice.h"

/* Every view over the whole range and second by second, and every trace in full.
 * Consumes the (rooted) slice. Free with g_free. */
char *report_of_slice(struct slice *s);

/* The same of a timeline. */
char *report_of_timeline(const struct timeline *tl);

/* Of the seconds that begin in [from, to), one by one, but for views that compare them
 * with what is outside. */
char *report_of_seconds(const struct timeline *tl, int64_t from, int64_t to);

/* Compares line by line; fails the test showing the first difference. */
void report_assert_equal(const char *what, const char *expected, const char *got);

#endif
