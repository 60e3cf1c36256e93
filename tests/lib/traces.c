/* SPDX-License-Identifier: GPL-2.0-only */
/* See traces.h. */
#include "lib/sources.h"
#include "lib/traces.h"

#include "lib/test_traces.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "trace/native/native.h"

static struct recording *record(const char *name, const struct blk_subscription *subs, size_t n)
{
	g_autofree char *path = test_trace(name);
	g_autoptr(GError) error = NULL;
	if (!path)
		return NULL;
	const char *const paths[] = { path, NULL };
	/* Older versions of babeltrace2 cannot read CTF 2. */
	struct source *source = g_str_has_prefix(name, "ctf2/") ? source_open_native(paths, subs, n, &error)
								: source_open_bt2(paths, subs, n, &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(source, &error);
	g_assert_no_error(error);
	return r;
}

struct recording *traces_record(const char *name)
{
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	return record(name, subs, n);
}

struct recording *traces_record_counting(const char *name)
{
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions_counting(&n);
	return record(name, subs, n);
}

struct recording *traces_record_script(const char *script)
{
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	g_autoptr(GError) error = NULL;
	struct recording *r = recording_new(source_open_script(script, subs, n, &error), &error);
	g_assert_no_error(error);
	return r;
}
