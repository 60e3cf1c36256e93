/* SPDX-License-Identifier: GPL-2.0-only */
/* See traces.h. */
#include "lib/traces.h"

#include "lib/test_traces.h"
#include "state/model.h"

struct recording *traces_record(const char *name)
{
	g_autofree char *path = test_trace(name);
	g_autoptr(GError) error = NULL;
	size_t n;
	if (!path)
		return NULL;
	const char *const paths[] = { path, NULL };
	const struct blk_subscription *subs = model_subscriptions(&n);
	struct source *source = source_open_bt2(paths, subs, n, &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(source, &error);
	g_assert_no_error(error);
	return r;
}
