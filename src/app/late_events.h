/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages about events that came too late in a live session, that the tracer lost, and whose clock went back. */
#ifndef BLK_APP_LATE_EVENTS_H
#define BLK_APP_LATE_EVENTS_H

#include "run/job.h"
#include "state/store/timeline.h"

struct late_reported {			/* zeroed at first */
	uint64_t late, reported_late;	/* events: at the last call, and as reported */
	unsigned corrected, reported_corrected;	/* seconds, likewise */
	int64_t changed_us;		/* when they changed last */
};

/* A message (g_free) if the counts changed since the last one, and then not for two seconds; else NULL. now_us:
 * monotonic clock; INT64_MAX: do not wait. */
char *late_report(struct late_reported *t, const struct job_status *st, int64_t now_us);

/* How many events and packets the tracer lost, of which hosts and domains, and what to do (g_free); NULL: none. */
char *losses_report(const struct timeline *tl);

/* Which streams' clocks went back, when and how far (g_free); NULL: none. */
char *clocks_back_report(const struct timeline *tl);

#endif
