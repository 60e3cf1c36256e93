/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds of the command line: their alerts, baselines by name, and the line of --check. */
#ifndef BLK_CMD_THRESHOLDS_H
#define BLK_CMD_THRESHOLDS_H

#include "cli/command.h"

#include <stdio.h>

struct alert;
struct alerts;
struct local;

/* Exit statuses of --check, as plugins of Nagios have them. */
enum check_status { CHECK_OK, CHECK_WARNING, CHECK_CRITICAL, CHECK_UNKNOWN };

/* Makes the alerts of the options; *ret NULL: there are no thresholds. Free with alerts_free(). False: the baseline
 * cannot be read, which was printed. */
bool thresholds_begin(const struct shown_options *o, struct alerts **ret);
/* Must events be counted by thread for them (NULL: none)? */
bool thresholds_count_threads(const GPtrArray *thresholds);
/* What is to be done about an alert of a live session (alerts_on_alert()): logs it, takes a snapshot, runs the program
 * of --exec-on-alert. Returns the first line, visible; free with g_free(). */
char *thresholds_report(struct local *running, const struct alert *alert, const char *reason);
/* Stores what is usual at the path of --save-baseline (NULL: not given). False: it failed, which was printed. */
bool thresholds_save_baseline(const char *path, const struct alerts *alerts);
/* Prints one line about the alerts that overlap [from_ns, to_ns): the worst state, the worst alert in words, and for
 * each threshold its worst figure as performance data. A threshold for which there was nothing to judge is
 * unknown, and so is what would be good if a second was not judged. Returns the exit status. */
enum check_status thresholds_check(FILE *out, const struct alerts *alerts, int64_t from_ns, int64_t to_ns);

#endif
