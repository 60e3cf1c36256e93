/* SPDX-License-Identifier: GPL-2.0-only */
/* See late.h. */
#include "app/late_events.h"

#include "base/timefmt.h"

#define REST_US (2 * G_USEC_PER_SEC)

char *late_tell(struct late_reported *t, const struct job_status *st, int64_t now_us)
{
	char n[TIMEFMT_LEN];

	if (st->late != t->late || st->corrected != t->corrected) {
		t->late = st->late;
		t->corrected = st->corrected;
		t->changed_us = now_us;
	}
	bool news = st->corrects && now_us != INT64_MAX ? t->corrected != t->told_corrected
							: t->late != t->told_late;
	if (!news || (now_us != INT64_MAX && now_us - t->changed_us < REST_US))
		return NULL;
	t->told_late = t->late;
	t->told_corrected = t->corrected;
	timefmt_count(n, t->late);
	if (st->corrects)
		return g_strdup_printf("%s events came too late: %u second%s corrected since", n,
				       t->corrected, t->corrected == 1 ? " was" : "s were");
	return g_strdup_printf("%s events came too late and are not counted in their seconds, but when "
			       "they came: nothing is kept on disk to correct these (--spool)", n);
}
