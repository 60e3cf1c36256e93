/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages about late events: see late_events.h. */
#include "app/late_events.h"

#include "base/timefmt.h"

#define REST_US (2 * G_USEC_PER_SEC)	/* without a change, before it is reported */

char *late_report(struct late_reported *t, const struct job_status *st, int64_t now_us)
{
	char n[TIMEFMT_LEN];

	if (st->late != t->late || st->corrected != t->corrected) {
		t->late = st->late;
		t->corrected = st->corrected;
		t->changed_us = now_us;
	}
	bool changed = st->corrects && now_us != INT64_MAX ? t->corrected != t->reported_corrected
							: t->late != t->reported_late;
	if (!changed || (now_us != INT64_MAX && now_us - t->changed_us < REST_US))
		return NULL;
	t->reported_late = t->late;
	t->reported_corrected = t->corrected;
	timefmt_count(n, t->late);
	if (st->corrects)
		return g_strdup_printf("%s events came too late: %u second%s corrected since", n,
				       t->corrected, t->corrected == 1 ? " was" : "s were");
	return g_strdup_printf("%s events came too late and are not counted in their seconds, but at "
			       "their arrival: no packets are stored on disk to correct that (--spool)", n);
}
