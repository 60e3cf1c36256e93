/* SPDX-License-Identifier: GPL-2.0-only */
/* Files in places, by this process and by the file helper. */
#include "base/disk.h"
#include "base/files.h"
#include "base/files_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A directory with in/ (read), own/ (private), start/ (new outputs), far/ (no place), and links. */
struct world { char *root, *in, *own, *start, *far, *output; };

static char *below(const char *dir, const char *name)
{
	return g_build_filename(dir, name, NULL);
}

static void put(const char *dir, const char *name, const char *text)
{
	g_autofree char *path = below(dir, name);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static char *make_dir(const char *dir, const char *name)
{
	char *path = below(dir, name);
	g_assert_cmpint(g_mkdir(path, 0755), ==, 0);
	return path;
}

static struct world *world_new(void)
{
	struct world *w = g_new0(struct world, 1);

	w->root = g_dir_make_tmp("blktop-files-XXXXXX", NULL);
	w->in = make_dir(w->root, "in");
	w->start = make_dir(w->root, "start");
	w->far = make_dir(w->root, "far");
	w->own = below(w->root, "own");
	w->output = below(w->far, "named.csv");
	g_autofree char *sub = make_dir(w->in, "sub");
	put(sub, "file", "below");
	put(w->in, "file", "in");
	put(w->far, "file", "far");
	put(w->start, "old.csv", "old");
	g_autofree char *link = below(w->in, "link"), *dir_link = below(w->in, "dir");
	g_assert_cmpint(symlink("../far/file", link), ==, 0);
	g_assert_cmpint(symlink("../far", dir_link), ==, 0);
	return w;
}

static void world_free(struct world *w)
{
	files_remove_tree(w->root);
	for (char **s = &w->root; s <= &w->output; s++)
		g_free(*s);
	g_free(w);
}

static void add_places(const struct world *w)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(files_add(w->in, FILES_READ, &error));
	g_assert_true(files_add_private(w->own, NULL, &error));
	g_assert_true(files_add(w->start, FILES_NEW, &error));
	g_assert_true(files_add(w->output, FILES_OUTPUT, &error));
}

/* The text of a file, or "errno N". */
static char *text_of(const char *dir, const char *name)
{
	g_autofree char *path = below(dir, name);
	char text[64];
	int fd = files_open(path, O_RDONLY);

	if (fd < 0)
		return g_strdup_printf("errno %d", errno);
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	return g_strndup(text, (gsize)MAX(n, 0));
}

#define EXPECT_TEXT(dir, name, expected) do { \
	g_autofree char *got_ = text_of(dir, name); \
	g_assert_cmpstr(got_, ==, expected); \
} while (0)

#define EXPECT_ERRNO(call, number) do { \
	errno = 0; \
	g_assert_false(call); \
	g_assert_cmpint(errno, ==, number); \
} while (0)

static bool creates(const char *dir, const char *name)
{
	g_autofree char *path = below(dir, name);
	int fd = files_create(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool outputs(const char *dir, const char *name, bool force)
{
	g_autofree char *path = below(dir, name);
	struct files_output o;

	return files_output_begin(path, 0666, &o) && disk_write(o.fd, "new", 3) && files_output_commit(&o, force);
}

static void try_reading(const struct world *w)
{
	struct stat st;
	g_autofree char *through = below(w->in, "link"), *outside = below(w->far, "file");
	g_autofree char *up = below(w->in, "../far/file");
	g_autofree char *refused = g_strdup_printf("errno %d", EACCES), *loop = g_strdup_printf("errno %d", ELOOP);
	g_autofree char *none = g_strdup_printf("errno %d", ENOENT), *not_dir = g_strdup_printf("errno %d", ENOTDIR);

	EXPECT_TEXT(w->in, "file", "in");
	EXPECT_TEXT(w->in, "sub/file", "below");
	EXPECT_TEXT(w->in, "./sub/../file", "in");
	EXPECT_TEXT(w->in, "absent", none);
	EXPECT_TEXT(w->in, "link", loop);
	EXPECT_TEXT(w->in, "dir/file", not_dir);
	EXPECT_TEXT(w->in, "../far/file", refused);
	EXPECT_TEXT(w->far, "file", refused);
	EXPECT_TEXT("/etc", "passwd", refused);
	g_assert_true(files_stat(through, &st) && S_ISLNK(st.st_mode));
	EXPECT_ERRNO(files_stat(outside, &st), EACCES);
	EXPECT_ERRNO(files_stat(up, &st), EACCES);
	g_assert_true(files_is_dir(w->in));
	g_autoptr(GPtrArray) names = files_list(w->in, SIZE_MAX);
	g_assert_cmpuint(names->len, ==, 4);
	g_assert_cmpstr(names->pdata[0], ==, "dir");
	g_assert_null(files_list(w->far, SIZE_MAX));
}

static void try_changing(const struct world *w)
{
	g_autofree char *deep = below(w->own, "a/b/c"), *moved = below(w->own, "a/b/moved");
	g_autofree char *link = below(w->own, "a/link");
	g_autofree char *away = below(w->far, "away"), *child = below(w->own, "a/b/moved/x"), *x = below(w->own, "x");
	struct stat st;

	EXPECT_ERRNO(creates(w->in, "new"), EACCES);
	EXPECT_ERRNO(creates(w->far, "new"), EACCES);
	EXPECT_ERRNO(creates(w->start, "new"), EACCES);
	g_assert_true(files_make_dirs(deep));
	g_assert_true(files_is_dir(deep));
	g_assert_true(files_rename(deep, moved, false));
	EXPECT_ERRNO(files_rename(moved, away, true), EACCES);
	EXPECT_ERRNO(files_make_dirs(away), EACCES);
	g_assert_true(creates(w->own, "a/b/moved/x"));
	EXPECT_ERRNO(creates(w->own, "a/b/moved/x"), EEXIST);
	g_assert_true(files_stat(child, &st));
	g_assert_cmpint(st.st_mode & 0777, ==, 0600);
	g_assert_true(files_touch(child) && files_link(child, x) && files_remove(x));
	/* Others put a link into it. */
	g_assert_cmpint(symlink(w->far, link), ==, 0);
	EXPECT_ERRNO(creates(w->own, "a/link/x"), ENOTDIR);
	files_remove_tree(link);
	g_assert_true(g_file_test(w->far, G_FILE_TEST_IS_DIR));
	EXPECT_ERRNO(files_remove(w->own), EACCES);
	files_remove_tree(w->own);
	g_assert_true(files_is_dir(w->own));
	g_assert_false(files_open(w->far, O_RDONLY) >= 0);
}

static void try_outputs(const struct world *w)
{
	g_autofree char *dir = below(w->start, "saved"), *link = below(w->start, "link.csv");
	struct files_output o;

	g_assert_true(outputs(w->far, "named.csv", false));
	EXPECT_ERRNO(outputs(w->far, "named.csv", false), EEXIST);
	g_assert_true(outputs(w->far, "named.csv", true));
	EXPECT_TEXT(w->far, "named.csv", "new");
	EXPECT_ERRNO(outputs(w->far, "other.csv", true), EACCES);
	g_assert_true(outputs(w->start, "x.csv", false));
	g_assert_true(outputs(w->start, "x.csv", true));	/* it is this process's own */
	EXPECT_ERRNO(outputs(w->start, "old.csv", false), EEXIST);
	EXPECT_ERRNO(outputs(w->start, "old.csv", true), EACCES);
	EXPECT_ERRNO(outputs(w->start, ".bashrc", false), EACCES);
	EXPECT_ERRNO(outputs(w->start, "../far/x.csv", false), EACCES);
	g_assert_cmpint(symlink("../far/hidden", link), ==, 0);
	EXPECT_ERRNO(outputs(w->start, "link.csv", false), EEXIST);
	g_assert_true(outputs(w->own, "settings", false) && outputs(w->own, "settings", true));
	/* A directory: what was made below it can be found under its name. */
	g_assert_true(files_output_begin_dir(dir, &o));
	g_assert_true(creates(o.path, "part"));
	g_assert_true(files_output_commit(&o, false));
	g_assert_true(creates(w->start, "saved/later"));
	EXPECT_ERRNO(creates(w->start, "later"), EACCES);
	g_assert_true(files_output_begin_dir(dir, &o));
	EXPECT_ERRNO(files_output_commit(&o, false), EEXIST);
	/* It is removed, and made again. */
	g_autofree char *part = below(dir, "part"), *later = below(dir, "later");
	g_assert_true(!g_unlink(part) && !g_unlink(later) && !g_rmdir(dir));
	g_assert_false(files_exists(dir));
	g_assert_true(files_output_begin_dir(dir, &o) && files_output_commit(&o, false));
	g_assert_true(files_is_dir(dir) && creates(w->start, "saved/again"));
	g_assert_true(files_output_begin(w->output, 0666, &o));
	files_output_discard(&o);
	g_assert_false(files_output_commit(&(struct files_output){ .fd = -1, .number = 12345 }, true));
}

/* Nothing temporary is left, and nothing was changed where it must not be. */
static void check_after(const struct world *w)
{
	g_autoptr(GDir) start = g_dir_open(w->start, 0, NULL), far = g_dir_open(w->far, 0, NULL);
	g_autoptr(GString) names = g_string_new(NULL);
	g_autofree char *old = NULL, *path = below(w->start, "old.csv");

	for (const char *name; (name = g_dir_read_name(far));)
		g_assert_true(g_str_equal(name, "file") || g_str_equal(name, "named.csv"));
	for (const char *name; (name = g_dir_read_name(start));)
		g_assert_true(strlen(name) <= strlen("link.csv"));
	g_assert_true(g_file_get_contents(path, &old, NULL, NULL));
	g_assert_cmpstr(old, ==, "old");
}

static void test_helper(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
		return;
	}
	struct world *w = world_new();
	struct files_output left;
	g_autoptr(GError) error = NULL;

	add_places(w);
	g_assert_true(files_start_helper(&error));
	/* Places cannot be added any more. */
	g_assert_true(files_add(w->in, FILES_READ, &error));
	g_assert_false(files_add(w->far, FILES_READ, &error));
	g_assert_cmpstr(files_hint(EACCES), !=, "");
	try_reading(w);
	try_changing(w);
	try_outputs(w);
	check_after(w);
	/* The helper discards it when this process ends. */
	g_assert_true(files_output_begin(w->output, 0666, &left));
	close(left.fd);
	g_free(left.path);
	for (char **path = &w->root; path <= &w->output; path++)
		g_free(*path);
	g_free(w);
}

/* In this process, links below places are not followed either. */
static void test_without_helper(void)
{
	struct world *w = world_new();

	add_places(w);
	g_autofree char *loop = g_strdup_printf("errno %d", ELOOP), *not_dir = g_strdup_printf("errno %d", ENOTDIR);
	EXPECT_TEXT(w->in, "link", loop);
	EXPECT_TEXT(w->in, "dir/file", not_dir);
	EXPECT_TEXT(w->far, "file", "far");	/* no place */
	EXPECT_ERRNO(outputs(w->start, "old.csv", false), EEXIST);
	g_assert_cmpstr(files_hint(EACCES), ==, "");
	world_free(w);
}

/* Directories that others control are refused. */
static void test_private(void)
{
	struct world *w = world_new();
	g_autofree char *open_dir = make_dir(w->root, "open"), *group = make_dir(w->root, "group");
	g_autofree char *link = below(w->root, "link"), *slash = below(w->root, "link/");
	g_autofree char *sticky = make_dir(w->root, "sticky"), *inside = below(sticky, "inside");
	g_autofree char *in_open = below(open_dir, "inside"), *file = below(w->in, "file");
	g_autofree char *deep = below(open_dir, "new/deep/inside");
	g_autofree char *around = below(w->root, "around"), *through = below(around, "deep/inside");

	g_assert_cmpint(chmod(open_dir, 0777), ==, 0);
	g_assert_cmpint(chmod(group, 0775), ==, 0);
	g_assert_cmpint(chmod(sticky, 01777), ==, 0);
	g_assert_cmpint(symlink(w->start, link), ==, 0);
	g_autofree char *far = make_dir(open_dir, "new");
	g_assert_cmpint(symlink(far, around), ==, 0);
	const struct { const char *path, *why; } cases[] = {
		{ open_dir, "others can write it" }, { group, "others can write it" }, { link, "link" },
		{ slash, "link" }, { in_open, "others can replace it" },
		{ deep, "others can replace it" }, { through, "others can replace it" },
		{ file, "cannot make" },
		{ inside, NULL }, { w->own, NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		bool ok = files_make_private(cases[i].path, "--spool DIR", &error);
		g_assert_true(ok == !cases[i].why);
		g_assert_true(ok || strstr(error->message, cases[i].why));
		g_assert_true(ok || strstr(error->message, "--spool DIR names another place"));
	}
	if (geteuid() == 0) {
		g_autofree char *foreign = make_dir(w->root, "foreign");
		g_autoptr(GError) error = NULL;
		g_assert_cmpint(chown(foreign, 12345, 12345), ==, 0);
		g_assert_false(files_make_private(foreign, NULL, &error));
		g_assert_nonnull(strstr(error->message, "belongs to another user"));
	}
	world_free(w);
}

/* Requests that no program makes. */
static void test_hostile(void)
{
	struct world *w = world_new();
	struct files_answer answer;
	g_autofree struct files_request *r = g_new0(struct files_request, 1);

	add_places(w);
	for (uint32_t op = 0; op < FILES_OPS + 2; op++) {
		*r = (struct files_request){ .op = op, .flags = -1, .mode = ~0u, .number = ~0u };
		g_assert_cmpint(files_serve(r, true, &answer), ==, -1);
		g_assert_cmpint(answer.error, !=, 0);
		memset(r->path, 'x', sizeof r->path);	/* no terminator */
		r->flags = 0;
		g_assert_cmpint(files_serve(r, true, &answer), ==, -1);
		g_assert_cmpint(answer.error, ==, EINVAL);
		g_strlcpy(r->path, "/", sizeof r->path);
		g_assert_cmpint(files_serve(r, true, &answer), ==, -1);
		g_assert_cmpint(answer.error, !=, 0);
	}
	*r = (struct files_request){ .op = FILES_OP_OPEN, .flags = O_WRONLY | O_TRUNC };
	g_snprintf(r->path, sizeof r->path, "%s/file", w->in);
	g_assert_cmpint(files_serve(r, true, &answer), ==, -1);
	r->flags = O_RDWR;
	g_assert_cmpint(files_serve(r, true, &answer), ==, -1);
	g_assert_cmpint(answer.error, ==, EACCES);
	files_serve_end();
	world_free(w);
}

static void test_input(void)
{
	struct world *w = world_new();
	g_autofree char *fifo = below(w->root, "fifo"), *file = below(w->in, "file"), *bytes = NULL;
	g_autoptr(GError) error = NULL, too_long = NULL, not_regular = NULL, is_dir = NULL;
	size_t n;

	g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
	g_assert_true(files_read_input(file, 2, &bytes, &n, &error));
	g_assert_cmpstr(bytes, ==, "in");
	g_assert_cmpuint(n, ==, 2);
	g_clear_pointer(&bytes, g_free);
	g_assert_false(files_read_input(file, 1, &bytes, &n, &too_long));
	g_assert_nonnull(strstr(too_long->message, "too long"));
	g_assert_cmpint(files_open_input(fifo, &not_regular), ==, -1);
	g_assert_nonnull(strstr(not_regular->message, "not a regular file"));
	g_assert_cmpint(files_open_input(w->in, &is_dir), ==, -1);
	world_free(w);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/files/helper", test_helper);
	g_test_add_func("/files/without-helper", test_without_helper);
	g_test_add_func("/files/private", test_private);
	g_test_add_func("/files/hostile", test_hostile);
	g_test_add_func("/files/input", test_input);
	return g_test_run();
}
