/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said of events that came too late in a live session. */
#ifndef BLK_APP_LATE_EVENTS_H
#define BLK_APP_LATE_EVENTS_H

#include "run/job.h"

struct late_reported {			/* zeroed at first */
	uint64_t late, told_late;
	unsigned corrected, told_corrected;
	int64_t changed_us;
};

/* A line when there is news and it has come to rest, as new string; else NULL. now_us: a
 * monotonic clock; INT64_MAX: at once. */
char *late_tell(struct late_reported *t, const struct job_status *st, int64_t now_us);

#endif
