/* SPDX-License-Identifier: GPL-2.0-only */
/* See traces.h. */
#include "lib/traces.h"

#include "state/model.h"

char *traces_find(const char *name)
{
	const char *env = g_getenv("BLKTOP_TEST_TRACES");
	const char *const places[] = { env ? env : "tests/traces", "tests/traces", "../shared/traces",
				       "../shared/traces/public" };
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
		g_autofree char *path = g_build_filename(places[i], name, NULL);
		if (g_file_test(path, G_FILE_TEST_IS_DIR))
			return g_steal_pointer(&path);
	}
	g_autofree char *why = g_strdup_printf("no recording %s here", name);
	g_test_skip(why);
	return NULL;
}

struct recording *traces_record(const char *name)
{
	g_autofree char *path = traces_find(name);
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
