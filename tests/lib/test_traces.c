/* SPDX-License-Identifier: GPL-2.0-only */
#include <glib/gstdio.h>
#include <string.h>

#include "lib/test_traces.h"

/* The source tree: from this file's name as it was compiled. */
static char *source_tree(void)
{
	g_autofree char *lib = g_path_get_dirname(__FILE__);
	g_autofree char *tests = g_path_get_dirname(lib);
	return g_path_get_dirname(tests);
}

char *test_trace(const char *name)
{
	const char *given = g_getenv("BLKTOP_TEST_TRACES");
	g_autofree char *tree = source_tree();
	g_autofree char *path = NULL;
	if (given && *given)
		path = g_build_filename(given, name, NULL);
	else if (g_str_has_prefix(name, "public/"))
		path = g_build_filename(tree, "..", "shared", "traces", name, NULL);
	else
		path = g_build_filename(tree, "tests", "traces", name, NULL);
	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return g_steal_pointer(&path);
	g_autofree char *why = g_strdup_printf("no recording '%s'", path);
	g_test_skip(why);
	return NULL;
}

char *test_temp_dir(void)
{
	g_autoptr(GError) error = NULL;
	char *dir = g_dir_make_tmp("blktop-test-XXXXXX", &error);
	g_assert_no_error(error);
	return dir;
}

void test_copy_tree(const char *from, const char *to)
{
	if (!g_file_test(from, G_FILE_TEST_IS_DIR)) {
		g_autofree char *bytes = NULL;
		gsize n;
		g_assert_true(g_file_get_contents(from, &bytes, &n, NULL));
		g_assert_true(g_file_set_contents(to, bytes, n, NULL));
		return;
	}
	g_assert_cmpint(g_mkdir_with_parents(to, 0700), ==, 0);
	g_autoptr(GDir) dir = g_dir_open(from, 0, NULL);
	g_assert_nonnull(dir);
	for (const char *name; (name = g_dir_read_name(dir));) {
		g_autofree char *source = g_build_filename(from, name, NULL);
		g_autofree char *target = g_build_filename(to, name, NULL);
		test_copy_tree(source, target);
	}
}

void test_remove_tree(const char *path)
{
	g_autoptr(GDir) dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL
									 : g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		test_remove_tree(child);
	}
	g_remove(path);
}
