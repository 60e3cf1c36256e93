/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands out in a range without slow requests: calls on files, and waits for a CPU. Private to src/views/. */
#ifndef BLK_VIEWS_OUTLIERS_H
#define BLK_VIEWS_OUTLIERS_H

#include "views/common.h"

/* A sentence about the call on a file, or the wait for a CPU, that is furthest above the usual, at least
 * OUTLIERS_TIMES as long: "mysqld: fsync took up to 310ms, 40x the usual 7.70ms, on /var/lib/mysql/ib_logfile0". Of
 * a wait it names the thread that ran longest on that CPU in the second of the wait's end. It says if events were lost
 * in the seconds of the call or wait. The usual is the p50 of the same process in the minute before the range and in
 * the range. Calls that wait for something to do (slow_call.waits) and calls on terminals never stand out. NULL:
 * nothing stands out. Free with g_free(). */
char *outliers_text(const struct timeline *tl, const struct range *range);

#define OUTLIERS_TIMES 5

/* Of a range without requests, one sentence: how long threads waited for CPUs and disks, whether they did so more than
 * in any other second of `whole` (of which tl may be a part), which thread had a CPU longest, and outliers_text().
 * NULL: nothing is known of threads. Free with g_free(). */
char *outliers_machine_text(const struct timeline *tl, const struct timeline *whole, const struct range *range);

#endif
