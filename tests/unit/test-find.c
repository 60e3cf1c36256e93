/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace directories below given paths. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "trace/reader.h"

struct tree {
	char *root;
};

static void make(struct tree *t, const char *dir, const char *file)
{
	g_autofree char *path = g_build_filename(t->root, dir, NULL);
	g_autofree char *full = g_build_filename(path, file ? file : "x", NULL);
	g_assert_cmpint(g_mkdir_with_parents(path, 0700), ==, 0);
	if (file)
		g_assert_true(g_file_set_contents(full, "x", 1, NULL));
}

static void remove_tree(const char *path)
{
	g_autoptr(GDir) dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL
									 : g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		remove_tree(child);
	}
	g_remove(path);
}

static void setup(struct tree *t, const void *unused)
{
	t->root = g_dir_make_tmp("blk-find-XXXXXX", NULL);
	g_assert_nonnull(t->root);
}

static void teardown(struct tree *t, const void *unused)
{
	remove_tree(t->root);
	g_free(t->root);
}

/* What was found, less the root, one a line; or the error. */
static char *find(struct tree *t, GError **error, const char *const *names)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	for (; *names; names++)
		g_ptr_array_add(paths, g_strconcat(t->root, *names, NULL));
	g_ptr_array_add(paths, NULL);
	g_autoptr(GPtrArray) found = trace_find_dirs((const char *const *)paths->pdata, NULL, error);
	if (!found)
		return NULL;
	GString *out = g_string_new(NULL);
	for (guint i = 0; i < found->len; i++) {
		g_assert_true(g_str_has_prefix(found->pdata[i], t->root));
		g_string_append_printf(out, "%s\n", (char *)found->pdata[i] + strlen(t->root));
	}
	return g_string_free(out, FALSE);
}

#define FIND(t, error, ...) find(t, error, (const char *const[]){ __VA_ARGS__, NULL })

static void test_nested(struct tree *t, const void *unused)
{
	g_autoptr(GError) error = NULL;
	make(t, "s/ust/uid/0/64-bit", "metadata");
	make(t, "s/kernel", "metadata");
	make(t, "s/kernel/index", NULL);
	make(t, "s/empty", NULL);
	make(t, "s/kernel/deeper", "metadata");		/* inside a trace: not looked at */
	g_autofree char *all = FIND(t, &error, "/s");
	g_assert_cmpstr(all, ==, "/s/kernel\n/s/ust/uid/0/64-bit\n");
	g_autofree char *one = FIND(t, &error, "//s/kernel//");
	g_assert_cmpstr(one, ==, "/s/kernel\n");
	g_autofree char *twice = FIND(t, &error, "/s", "/s/kernel", "/s/ust");
	g_assert_cmpstr(twice, ==, all);
}

static void test_links(struct tree *t, const void *unused)
{
	g_autoptr(GError) error = NULL;
	make(t, "s/kernel", "metadata");
	g_autofree char *loop = g_build_filename(t->root, "s", "loop", NULL);
	g_autofree char *given = g_build_filename(t->root, "given", NULL);
	g_assert_cmpint(symlink("..", loop), ==, 0);
	g_assert_cmpint(symlink("s", given), ==, 0);
	g_autofree char *all = FIND(t, &error, "/s");
	g_assert_cmpstr(all, ==, "/s/kernel\n");
	g_autofree char *through = FIND(t, &error, "/given");
	g_assert_cmpstr(through, ==, "/given/kernel\n");
}

static void test_not_found(struct tree *t, const void *unused)
{
	static const struct { const char *path, *says; } cases[] = {
		{ "/missing", "No such file or directory" },
		{ "/dir/file", "Not a directory" },
		{ "/dir", "no trace in" },
	};
	make(t, "dir", "file");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(FIND(t, &error, cases[i].path));
		g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND);
		g_assert_nonnull(strstr(error->message, cases[i].says));
		g_assert_nonnull(strstr(error->message, cases[i].path));
	}
	g_autoptr(GError) error = NULL;
	g_assert_null(trace_find_dirs((const char *const[]){ NULL }, NULL, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND);
}

static void test_access(struct tree *t, const void *unused)
{
	g_autoptr(GError) error = NULL;
	if (!geteuid()) {
		g_test_skip("root may read everything");
		return;
	}
	make(t, "s/closed", NULL);
	g_autofree char *closed = g_build_filename(t->root, "s", "closed", NULL);
	g_chmod(closed, 0);
	g_assert_null(FIND(t, &error, "/s"));
	g_chmod(closed, 0700);
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS);
	g_assert_nonnull(strstr(error->message, closed));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/find/nested", struct tree, NULL, setup, test_nested, teardown);
	g_test_add("/find/links", struct tree, NULL, setup, test_links, teardown);
	g_test_add("/find/not-found", struct tree, NULL, setup, test_not_found, teardown);
	g_test_add("/find/access", struct tree, NULL, setup, test_access, teardown);
	return g_test_run();
}
