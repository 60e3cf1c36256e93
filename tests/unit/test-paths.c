/* SPDX-License-Identifier: GPL-2.0-only */
/* A run without end with ever new names of files and peers: what is kept of them is bounded, and says so. */
#include "lib/inspect.h"
#include "lib/sources.h"

#include "state/publish/model.h"

#define MEMORY (8u << 20)
#define FILES 20000		/* some 6 MB of them */
#define EVERY_NS INT64_C(1000000)

static void add_open(GString *script, int64_t *at, const char *path)
{
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_entry_openat ctx.tid=5 dfd=-100 filename=\"%s\" "
			       "flags=0 mode=0\n", *at += EVERY_NS, path);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_exit_openat ctx.tid=5 ret=3\n", *at += EVERY_NS);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_entry_read ctx.tid=5 fd=3 count=10\n",
			       *at += EVERY_NS);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_exit_read ctx.tid=5 ret=10\n", *at += EVERY_NS);
}

static void add_connect(GString *script, int64_t *at, int n)
{
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_entry_connect ctx.tid=5 fd=3 family=2 dport=%d "
			       "v4addr=\"\\x0a\\x01\\x%02x\\x%02x\"\n",
			       *at += EVERY_NS, 1000 + n % 100, 1 + n / 250 % 250, 1 + n % 250);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_exit_connect ctx.tid=5 ret=0\n",
			       *at += EVERY_NS);
}

static struct timeline *timeline_of(const char *script, bool live)
{
	struct model_options options = { .live = live, .memory_budget = live ? MEMORY / 8 : MEMORY };
	return timeline_of_script(script, &options);
}

/* How many files there are; ret_has: one of them is called so. */
static unsigned count_files(const struct timeline *tl, const char *name, bool *ret_has)
{
	unsigned n = 0;

	*ret_has = false;
	for (const struct file_info *f; (f = timeline_file(tl, n)); n++)
		*ret_has |= !strcmp(timeline_string(tl, f->path), name);
	return n;
}

static void check(GString *script, bool bounded, const char *summed, const char *first)
{
	bool has;
	struct timeline *tl = timeline_of(script->str, true);
	unsigned n = count_files(tl, summed, &has);

	g_test_message("%u files, %s", n, summed);
	g_assert_true(has == bounded);
	g_assert_true(n < FILES / 2 || !bounded);
	count_files(tl, first, &has);
	g_assert_true(has);
	timeline_free(tl);
	tl = timeline_of(script->str, false);		/* of a recorded trace each one is kept */
	n = count_files(tl, summed, &has);
	g_assert_false(has);
	g_assert_cmpuint(n, >=, FILES);
	timeline_free(tl);
	g_string_free(script, TRUE);
}

static void test_one_folder(void)
{
	GString *script = g_string_new(NULL);
	int64_t at = 0;

	for (int i = 0; i < FILES; i++) {
		g_autofree char *path = g_strdup_printf("/spool/jobs/%d", i);
		add_open(script, &at, path);
	}
	check(script, true, "/spool/jobs/*", "/spool/jobs/0");
}

static void test_many_folders(void)
{
	GString *script = g_string_new(NULL);
	int64_t at = 0;

	for (int i = 0; i < FILES; i++) {
		g_autofree char *path = g_strdup_printf("/spool/%d/file", i);
		add_open(script, &at, path);
	}
	check(script, true, "*", "/spool/0/file");
}

static void test_peers(void)
{
	GString *script = g_string_new(NULL);
	int64_t at = 0;

	add_open(script, &at, "/first");
	for (int i = 0; i < FILES; i++)
		add_connect(script, &at, i);
	check(script, true, "socket inet *", "/first");
}

/* A name without a folder, and a socket in one. */
static void test_odd_names(void)
{
	GString *script = g_string_new(NULL);
	int64_t at = 0;

	for (int i = 0; i < FILES; i++) {
		g_autofree char *path = g_strdup_printf(i % 2 ? "%d" : "socket unix /run/%d/", i);
		add_open(script, &at, path);
	}
	check(script, true, "*", "socket unix /run/0/");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/paths/one-folder", test_one_folder);
	g_test_add_func("/paths/many-folders", test_many_folders);
	g_test_add_func("/paths/peers", test_peers);
	g_test_add_func("/paths/odd-names", test_odd_names);
	return g_test_run();
}
