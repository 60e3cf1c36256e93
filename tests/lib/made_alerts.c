/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/made_alerts.h"

void made_alerts_init(struct made_alerts *m, const char *const *texts, const struct timeline *tl)
{
	m->thresholds = thresholds_new();
	for (; *texts; texts++) {
		g_autoptr(GError) error = NULL;
		g_ptr_array_add(m->thresholds, threshold_parse(*texts, &error));
		g_assert_no_error(error);
	}
	m->alerts = alerts_new(m->thresholds);
	if (tl)
		alerts_update(m->alerts, tl, timeline_n_seconds(tl));
}

void made_alerts_clear(struct made_alerts *m)
{
	alerts_free(m->alerts);
	g_ptr_array_unref(m->thresholds);
}
