/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A range saved as a trace: its records are those of the whole, whatever was damaged
 * there; names of traces stay names; it is there whole and private, or not at all.
 */
#include "lib/inspect.h"
#include "lib/test_traces.h"
#include "trace/native/cut.h"
#include "trace/native/native.h"
#include "state/publish/model.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
	char *dir;		/* for all that is made */
	char *in, *out;
};

static void set_up(struct bench *b, const void *recording)
{
	g_autofree char *from = recording ? test_trace(recording) : NULL;
	b->dir = test_temp_dir();
	b->in = g_build_filename(b->dir, "in", NULL);
	b->out = g_build_filename(b->dir, "out", NULL);
	if (from)
		test_copy_tree(from, b->in);
}

static void tear_down(struct bench *b, const void *recording)
{
	(void)recording;
	test_remove_tree(b->dir);
	g_free(b->dir);
	g_free(b->in);
	g_free(b->out);
}

static struct native *open_trace(const char *path, GError **error)
{
	const char *const paths[] = { path, NULL };
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	return native_open(paths, rows, n, error);
}

/* One line a record of [from, to). */
static char *records(const char *path, int64_t from, int64_t to)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_native) n = open_trace(path, &error);
	GString *s = g_string_new(NULL);
	struct blk_batch b;

	g_assert_no_error(error);
	while (native_index(n, SIZE_MAX))
		;
	g_autoptr(blk_source) source = native_range(n, from, to, 0);
	while (source_next(source, &b, &error) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++) {
			const struct blk_stream *st = blk_stream(&source->tables, b.ev[i].stream);
			if (b.ev[i].row < BLK_ROW_FIRST_PSEUDO)
				g_string_append_printf(s, "%" G_GINT64_FORMAT " %u %d %u\n", b.ev[i].ts,
						       b.ev[i].row, st->domain, st->cpu);
		}
	g_assert_no_error(error);
	return g_string_free(s, FALSE);
}

static void bounds(const char *path, int64_t *from, int64_t *to)
{
	g_autoptr(blk_native) n = open_trace(path, NULL);
	g_assert_nonnull(n);
	while (native_index(n, SIZE_MAX))
		;
	g_assert_true(native_bounds(n, from, to));
}

static bool save(const struct bench *b, int64_t from, int64_t to, struct trace_cut_result *ret,
		 GError **error)
{
	const char *const paths[] = { b->in, NULL };
	struct trace_cut cut = { .paths = paths, .from_ns = from, .to_ns = to, .to = b->out };
	return trace_cut_write(&cut, ret, error);
}

static void assert_private(const char *path)
{
	GStatBuf st;
	bool is_dir;

	g_assert_cmpint(g_lstat(path, &st), ==, 0);
	is_dir = S_ISDIR(st.st_mode);
	g_assert_true(is_dir || S_ISREG(st.st_mode));
	g_assert_cmpint(st.st_mode & 0777, ==, is_dir ? 0700 : 0600);
	g_autoptr(GDir) dir = is_dir ? g_dir_open(path, 0, NULL) : NULL;
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		g_assert_cmpuint(strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-"), ==,
				 strlen(name));
		assert_private(child);
	}
}

/* Nothing but the trace and what was asked for: no other directory stays. */
static void assert_alone(const struct bench *b, unsigned wanted)
{
	g_autoptr(GDir) dir = g_dir_open(b->dir, 0, NULL);
	unsigned n = 0;
	while (g_dir_read_name(dir))
		n++;
	g_assert_cmpuint(n, ==, wanted);
}

static void check_range(const struct bench *b, int64_t from, int64_t to, bool whole)
{
	g_autoptr(GError) error = NULL;
	struct trace_cut_result r;

	g_assert_true(save(b, from, to, &r, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(r.path, ==, b->out);
	g_assert_cmpuint(r.packets, >, 0);
	g_assert_true(!whole || (r.damaged == 0 && r.unreadable == 0));
	g_autofree char *expected = records(b->in, from, to);
	g_autofree char *got = records(b->out, from, to);
	if (whole)
		g_assert_cmpstr(expected, ==, got);
	g_autoptr(blk_native) n = open_trace(b->out, &error);
	g_assert_true(native_indexed(n));	/* by index files alone */
	g_assert_cmpuint(native_bytes(n), ==, r.bytes);
	assert_private(b->out);
	assert_alone(b, 2);
	g_free(r.path);
}

static void test_ranges(struct bench *b, const void *recording)
{
	int64_t from, to;

	if (!g_file_test(b->in, G_FILE_TEST_IS_DIR))
		return;
	bounds(b->in, &from, &to);
	for (int i = 0; i < 6; i++) {
		int64_t a = from + (int64_t)(g_test_rand_double() * (double)(to - from));
		int64_t e = i == 0 ? to + 1 : MIN(a + (to - from) / (1 << i) + 1, to + 1);
		check_range(b, i == 0 ? from : a, e, true);
		test_remove_tree(b->out);
	}
}

/* Where the kernel's buffers were empty its clock still counts: the user-space trace's
 * own is microseconds off. */
static void test_clock(struct bench *b, const void *recording)
{
	g_autofree char *ust = g_build_filename(b->in, "ust", NULL);
	int64_t from, last;

	if (!g_file_test(ust, G_FILE_TEST_IS_DIR))
		return;
	bounds(ust, &from, &last);
	check_range(b, last - 5000000, last, true);
	for (int64_t at = from; at < last; at += (last - from) / 16) {
		test_remove_tree(b->out);
		check_range(b, at, at + 1000, true);
	}
}

/* ---- damage ---- */

static char *stream_file(const struct bench *b, const char *name)
{
	return g_build_filename(b->in, "kernel", name, NULL);
}

static void test_damaged(struct bench *b, const void *recording)
{
	g_autofree char *one = stream_file(b, "k0_0"), *other = stream_file(b, "k0_1");
	g_autofree char *junk = stream_file(b, "k0_2"), *kept = NULL;
	g_autoptr(GError) error = NULL;
	struct trace_cut_result r;
	int64_t from, to;
	GStatBuf st;

	if (!g_file_test(one, G_FILE_TEST_EXISTS))
		return;
	bounds(b->in, &from, &to);
	g_assert_cmpint(g_stat(one, &st), ==, 0);
	g_assert_cmpint(truncate(one, st.st_size - 1000), ==, 0);
	g_assert_true(g_file_set_contents(junk, "no packet at all, nothing of that kind", -1, NULL));
	g_assert_true(g_file_get_contents(other, &kept, NULL, NULL));
	g_assert_true(save(b, from, to + 1, &r, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(r.damaged, ==, 1);
	g_assert_cmpuint(r.unreadable, ==, 1);
	g_free(r.path);
	/* All of what is whole is there, and nothing else: it reads without a fault. */
	g_autofree char *expected = records(b->in, from, to), *got = records(b->out, from, to);
	g_assert_cmpuint(strlen(got), <, strlen(expected));
	g_autoptr(blk_native) n = open_trace(b->out, &error);
	size_t warnings;
	native_warnings(n, &warnings);
	g_assert_cmpuint(warnings, ==, 0);
}

static void test_lying_index(struct bench *b, const void *recording)
{
	g_autofree char *idx = g_build_filename(b->in, "kernel", "index", "k0_0.idx", NULL);
	g_autofree char *bytes = NULL;
	gsize n;
	int64_t from, to;

	if (!g_file_get_contents(idx, &bytes, &n, NULL))
		return;
	bounds(b->in, &from, &to);
	/* An entry in the middle tells other times: only its header knows. */
	gsize entry = 16 + (n - 16) / 72 / 2 * 72;
	g_autofree char *truth = records(b->in, from, to);
	bytes[entry + 24 + 7] ^= 1;
	g_assert_true(g_file_set_contents(idx, bytes, (gssize)n, NULL));
	check_range(b, from, to, false);
	g_autofree char *got = records(b->out, from, to);
	g_assert_cmpstr(truth, ==, got);
}

/* ---- names ---- */

static void test_hostile_names(struct bench *b, const void *recording)
{
	static const char *const names[][2] = {
		{ "kernel", "k\033]0;owned\007" }, { "k\033]0;owned\007/k0_0", "k\033]0;owned\007/-rf *" },
		{ "k\033]0;owned\007/k0_1", "k\033]0;owned\007/a\nb" },
	};
	int64_t from, to;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *old = g_build_filename(b->in, names[i][0], NULL);
		g_autofree char *new = g_build_filename(b->in, names[i][1], NULL);
		if (g_rename(old, new) != 0)
			return;
	}
	g_autofree char *second = g_build_filename(b->in, "k?]0;owned", NULL);
	g_autofree char *first = g_build_filename(b->in, names[0][1], NULL);
	g_autofree char *metadata = g_build_filename(second, "metadata", NULL);
	test_copy_tree(first, second);
	g_autofree char *text = NULL;
	g_assert_true(g_file_get_contents(metadata, &text, NULL, NULL));
	bounds(b->in, &from, &to);
	check_range(b, from, to, true);
}

/* ---- whole or not at all ---- */

static void test_nothing(struct bench *b, const void *recording)
{
	g_autoptr(GError) error = NULL, stopped = NULL, absent = NULL;
	const char *const paths[] = { b->in, NULL };
	struct trace_cut_result r;
	int64_t from, to;
	int stop = 1;

	if (!g_file_test(b->in, G_FILE_TEST_IS_DIR))
		return;
	bounds(b->in, &from, &to);
	struct trace_cut cut = { .paths = paths, .from_ns = from, .to_ns = to, .to = b->out, .stop = &stop };
	g_assert_false(trace_cut_write(&cut, &r, &stopped));
	g_assert_error(stopped, G_IO_ERROR, G_IO_ERROR_CANCELLED);
	assert_alone(b, 1);
	g_assert_false(save(b, to + 3600 * INT64_C(1000000000), to + 3601 * INT64_C(1000000000), &r, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	assert_alone(b, 1);
	g_assert_cmpint(g_mkdir(b->out, 0700), ==, 0);
	g_assert_false(save(b, from, to, &r, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS);
	g_assert_nonnull(strstr(error->message, "it already exists"));
	g_clear_error(&error);
	g_assert_cmpint(g_rmdir(b->out), ==, 0);	/* and empty */
	g_assert_cmpint(symlink("nowhere", b->out), ==, 0);
	g_assert_false(save(b, from, to, &r, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS);
	assert_alone(b, 2);
	cut.to = "/proc/nowhere/x";
	stop = 0;
	g_assert_false(trace_cut_write(&cut, &r, &absent));
	g_assert_error(absent, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS);
}

/* ---- the state dump ---- */

static void test_statedump(struct bench *b, const void *recording)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { b->in, NULL };
	struct trace_cut_result without, with;
	int64_t from, to;

	if (!g_file_test(b->in, G_FILE_TEST_IS_DIR))
		return;
	bounds(b->in, &from, &to);
	int64_t late = to - (to - from) / 10;
	struct trace_cut cut = { .paths = paths, .from_ns = late, .to_ns = to + 1, .to = b->out };
	g_assert_true(trace_cut_write(&cut, &without, &error));
	test_remove_tree(b->out);
	cut.statedump = true;
	g_assert_true(trace_cut_write(&cut, &with, &error));
	g_assert_true(with.has_statedump && !without.has_statedump);
	g_assert_cmpuint(with.packets, >, without.packets);
	g_assert_cmpint(with.from_ns, <, without.from_ns);
	g_autofree char *expected = records(b->in, late, to + 1), *got = records(b->out, late, to + 1);
	g_assert_cmpstr(expected, ==, got);
	g_free(with.path);
	g_free(without.path);
}

static int64_t first_dump(const char *path, int64_t from, int64_t to)
{
	static const struct blk_subscription row = { .event = "lttng_statedump_start" };
	const char *const paths[] = { path, NULL };
	g_autoptr(blk_native) n = native_open(paths, &row, 1, NULL);
	struct blk_batch b;
	int64_t found = INT64_MIN;

	while (native_index(n, SIZE_MAX))
		;
	struct source *s = native_range(n, from, to, 0);
	while (found == INT64_MIN && source_next(s, &b, NULL) == SOURCE_OK)
		for (size_t i = 0; i < b.n && found == INT64_MIN; i++)
			found = b.ev[i].row == 0 ? b.ev[i].ts : found;
	source_free(s);
	g_assert_cmpint(found, >, INT64_MIN);
	return found;
}

/* The dump that is at most so much earlier: everything from there on. */
static void test_earlier(struct bench *b, const void *recording)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { b->in, NULL };
	struct trace_cut_result near, far;
	int64_t from, to;

	if (!g_file_test(b->in, G_FILE_TEST_IS_DIR))
		return;
	bounds(b->in, &from, &to);
	int64_t late = to - (to - from) / 10;
	struct trace_cut cut = { .paths = paths, .from_ns = late, .to_ns = to + 1, .to = b->out,
				 .earlier_ns = (late - from) / 100 };
	g_assert_true(trace_cut_write(&cut, &near, &error));	/* the dump is at the beginning */
	g_assert_false(near.has_statedump);
	test_remove_tree(b->out);
	cut.earlier_ns = late - from;
	cut.statedump = true;
	g_assert_true(trace_cut_write(&cut, &far, &error));
	g_assert_true(far.has_statedump);
	g_assert_cmpuint(far.packets, >, near.packets);
	int64_t dump = first_dump(b->in, from, to);
	g_autofree char *expected = records(b->in, dump, to + 1), *got = records(b->out, dump, to + 1);
	g_assert_cmpstr(expected, ==, got);
	g_free(near.path);
	g_free(far.path);
}

int main(int argc, char **argv)
{
	static const char *const recordings[] = { "demo/trace", "kernel-ust/trace", "kernel-small/trace",
						  "rotation/trace", "lost/trace", "snapshot/trace",
						  "ctf2/lost/trace", "ctf2/ust-both/ctf-2" };

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(recordings); i++) {
		g_autofree char *path = g_strdup_printf("/cut/range/%s", recordings[i]);
		g_test_add(path, struct bench, recordings[i], set_up, test_ranges, tear_down);
	}
	g_test_add("/cut/damaged", struct bench, "demo/trace", set_up, test_damaged, tear_down);
	g_test_add("/cut/lying-index", struct bench, "demo/trace", set_up, test_lying_index, tear_down);
	g_test_add("/cut/clock", struct bench, "kernel-ust/trace", set_up, test_clock, tear_down);
	g_test_add("/cut/names", struct bench, "kernel-ust/trace", set_up, test_hostile_names, tear_down);
	g_test_add("/cut/nothing", struct bench, "kernel-ust/trace", set_up, test_nothing, tear_down);
	g_test_add("/cut/earlier", struct bench, "demo/trace", set_up, test_earlier, tear_down);
	g_test_add("/cut/statedump", struct bench, "demo/trace", set_up, test_statedump, tear_down);
	return g_test_run();
}
