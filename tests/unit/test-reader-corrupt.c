/* SPDX-License-Identifier: GPL-2.0-only */
/* Damaged, unreadable and empty traces: said plainly, nothing printed, no crash. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "lib/test_traces.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/reader.h"

static const struct blk_subscription rows[] = { { .event = "*", .fields = { NULL } } };

struct copy {
	char *dir;		/* a copy of a kernel trace with two streams */
};

static void setup(struct copy *c, const void *unused)
{
	g_autofree char *from = test_trace("lost/trace/kernel");
	c->dir = test_temp_dir();
	if (from)
		test_copy_tree(from, c->dir);
	else
		g_clear_pointer(&c->dir, (test_remove_tree(c->dir), g_free));
}

static void teardown(struct copy *c, const void *unused)
{
	if (c->dir)
		test_remove_tree(c->dir);
	g_free(c->dir);
}

static char *in(struct copy *c, const char *name)
{
	return g_build_filename(c->dir, name, NULL);
}

/* Replaces `n` bytes at `at`; the file ends at `size` if that is not negative. */
static void damage(struct copy *c, const char *name, size_t at, const void *bytes, size_t n,
		   gssize size)
{
	g_autofree char *file = in(c, name);
	g_autofree char *all = NULL;
	gsize length;
	g_assert_true(g_file_get_contents(file, &all, &length, NULL));
	g_assert_cmpuint(at + n, <=, length);
	if (n)
		memcpy(all + at, bytes, n);
	g_assert_true(g_file_set_contents(file, all, size < 0 ? (gssize)length : size, NULL));
}

static void drop_index(struct copy *c)
{
	g_autofree char *index = in(c, "index");
	test_remove_tree(index);
}

static gsize size_of(struct copy *c, const char *name)
{
	g_autofree char *file = in(c, name);
	GStatBuf st;
	g_assert_cmpint(g_stat(file, &st), ==, 0);
	return st.st_size;
}

/* Reads it all; records that came before the end or the error. */
static uint64_t read_all(struct copy *c, GError **error)
{
	const char *paths[] = { c->dir, NULL };
	g_autoptr(blk_source) s = source_open_bt2(paths, rows, 1, error);
	struct blk_batch batch;
	enum source_status status = SOURCE_ERROR;
	uint64_t n = 0;
	while (s && (status = source_next(s, &batch, error)) == SOURCE_OK)
		n += batch.n;
	g_assert_cmpint(status, ==, *error ? SOURCE_ERROR : SOURCE_END);
	return n;
}

static void assert_corrupt(struct copy *c, const char *file, const char *says)
{
	g_autoptr(GError) error = NULL;
	read_all(c, &error);
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	g_test_message("%s", error->message);
	g_assert_nonnull(strstr(error->message, file));
	g_assert_nonnull(strstr(error->message, says));
	g_assert_null(strstr(error->message, "addr="));	/* none of babeltrace2's internals */
}

static void test_truncated_stream(struct copy *c, const void *unused)
{
	if (!c->dir)
		return;
	gsize size = size_of(c, "k0_1");
	damage(c, "k0_1", 0, NULL, 0, size - 100);
	assert_corrupt(c, "k0_1", "is cut off");
	drop_index(c);
	assert_corrupt(c, "k0_1", "is cut off");
	damage(c, "k0_1", 0, NULL, 0, 10);
	assert_corrupt(c, "k0_1", "byte 0: the file ends in the packet's header");
}

static void test_packet_headers(struct copy *c, const void *unused)
{
	/* header: magic 4, uuid 16, stream 4, instance 8; then begin, end, content, packet */
	static const uint64_t none = 0, huge = G_MAXUINT64 - 7;
	if (!c->dir)
		return;
	damage(c, "k0_0", 0, "XXXX", 4, -1);
	assert_corrupt(c, "k0_0", "no packet: it begins with 0x");
	damage(c, "k0_0", 0, "\xc1\x1f\xfc\xc1", 4, -1);
	damage(c, "k0_0", 32 + 24, &huge, 8, -1);
	assert_corrupt(c, "k0_0", "the packet's size of");
	damage(c, "k0_0", 32 + 24, &none, 8, -1);
	assert_corrupt(c, "k0_0", "never finished");
}

static void test_damaged_events(struct copy *c, const void *unused)
{
	char garbage[4096];
	g_autoptr(GError) error = NULL;
	if (!c->dir)
		return;
	memset(garbage, 0x7e, sizeof garbage);
	damage(c, "k0_1", 4096 * 4 + 512, garbage, 3000, -1);
	assert_corrupt(c, "k0_1", "cannot read stream");
	/* What came before is delivered all the same. */
	g_assert_cmpuint(read_all(c, &error), >, 10);
	g_assert_nonnull(error);
}

static void test_metadata(struct copy *c, const void *unused)
{
	gsize size;
	if (!c->dir)
		return;
	size = size_of(c, "metadata");
	damage(c, "metadata", 200, "struct {{{ ;; nonsense", 22, -1);
	assert_corrupt(c, c->dir, "metadata");
	damage(c, "metadata", 0, NULL, 0, size - 3000);
	assert_corrupt(c, "metadata", "cut off");
	damage(c, "metadata", 0, NULL, 0, 20);
	assert_corrupt(c, "metadata", "cut off");
	damage(c, "metadata", 0, "\177ELF", 4, -1);
	assert_corrupt(c, "metadata", "not CTF metadata");
	damage(c, "metadata", 0, "{\"t\"", 4, -1);
	assert_corrupt(c, "metadata", "not CTF metadata");
	damage(c, "metadata", 0, NULL, 0, 0);
	assert_corrupt(c, "metadata", "empty");
}

static void test_no_streams(struct copy *c, const void *unused)
{
	g_autoptr(GError) error = NULL;
	if (!c->dir)
		return;
	damage(c, "k0_0", 0, NULL, 0, 0);
	g_assert_cmpuint(read_all(c, &error), >, 0);
	g_assert_no_error(error);
	damage(c, "k0_1", 0, NULL, 0, 0);
	g_assert_cmpuint(read_all(c, &error), ==, 0);
	g_assert_no_error(error);
	g_autofree char *first = in(c, "k0_0"), *second = in(c, "k0_1");
	g_assert_cmpint(g_remove(first), ==, 0);
	g_assert_cmpint(g_remove(second), ==, 0);
	g_assert_cmpuint(read_all(c, &error), ==, 0);
	g_assert_no_error(error);
}

static void test_foreign_files(struct copy *c, const void *unused)
{
	g_autofree char *text = in(c, "notes.txt");
	if (!c->dir)
		return;
	g_assert_true(g_file_set_contents(text, "not a stream, but long enough to look like a packet",
					  -1, NULL));
	assert_corrupt(c, "notes.txt", "");
}

static void test_missing(struct copy *c, const void *unused)
{
	g_autoptr(GError) error = NULL;
	if (!c->dir)
		return;
	g_autofree char *metadata = in(c, "metadata");
	g_assert_cmpint(g_remove(metadata), ==, 0);
	g_assert_null(source_open_bt2((const char *const[]){ c->dir, NULL }, rows, 1, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "metadata"));
}

static void test_access(struct copy *c, const void *unused)
{
	static const char *const names[] = { "metadata", "k0_1" };
	if (!geteuid()) {
		g_test_skip("root may read everything");
		return;
	}
	for (size_t i = 0; c->dir && i < G_N_ELEMENTS(names); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *file = in(c, names[i]);
		g_assert_cmpint(g_chmod(file, 0), ==, 0);
		read_all(c, &error);
		g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS);
		g_assert_nonnull(strstr(error->message, file));
		g_assert_cmpint(g_chmod(file, 0600), ==, 0);
	}
}

#define NOISES 12

/*
 * Any bytes anywhere: an error or an end, never more. The same bytes in every run:
 * babeltrace2 believes the lengths it reads, and takes 8 GiB where they say so.
 */
static void test_noise(struct copy *c, const void *unused)
{
	static const char *const names[] = { "k0_0", "k0_1", "metadata" };
	g_autoptr(GRand) noise = g_rand_new_with_seed(20261123);
	if (!c->dir)
		return;
	for (int i = 0; i < NOISES; i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *name = g_strdup(names[g_rand_int_range(noise, 0, 3)]);
		g_autofree char *original = in(c, name);
		g_autofree char *kept = NULL;
		gsize size;
		g_assert_true(g_file_get_contents(original, &kept, &size, NULL));
		for (int n = g_rand_int_range(noise, 1, 9); n > 0; n--) {
			char byte = (char)g_rand_int_range(noise, 0, 256);
			gsize limit = n % 2 ? MIN(size, 128) : size;
			damage(c, name, g_rand_int_range(noise, 0, limit), &byte, 1, -1);
		}
		read_all(c, &error);
		g_assert_true(g_file_set_contents(original, kept, size, NULL));
	}
}

/* CTF 2 without the library for it; and what aborts babeltrace2 2.1. */
static void test_versions(void)
{
	static const char ctf2[] = "\x1e{\"type\": \"preamble\", \"version\": 2}\n";
	static const char clocked[] =
		"/* CTF 1.8 */ typealias integer { size = 32; } := u32; trace { major = 1; minor = 8;"
		" byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };"
		" clock { name = k; freq = 1000; };"
		"typealias integer { size = 64; map = clock.k.value; } := t;"
		"stream { id = 0; event.header := struct { u32 id; t timestamp; }; };"
		"event { name = e; id = 0; stream_id = 0; fields := struct { u32 x; }; };";
	/* One packet with one event. */
	static const guint32 packet[] = { GUINT32_TO_LE(0xc1fc1fc1), 0, 0, GUINT32_TO_LE(1), 0,
					  GUINT32_TO_LE(7) };
	struct copy c = { test_temp_dir() };
	g_autofree char *metadata = in(&c, "metadata"), *stream = in(&c, "stream");
	g_autoptr(GError) error = NULL;

	g_assert_true(g_file_set_contents(metadata, ctf2, -1, NULL));
	if (bt2_ctf2_fault())
		assert_corrupt(&c, "metadata", "babeltrace2 2.1 or later");
	g_assert_true(g_file_set_contents(metadata, clocked, -1, NULL));
	g_assert_true(g_file_set_contents(stream, (const char *)packet, sizeof packet, NULL));
	if (BT2_HAS_MIP1) {
		assert_corrupt(&c, "metadata", "packets have no timestamp");
	} else {
		g_assert_true(read_all(&c, &error));
		g_assert_no_error(error);
	}
	teardown(&c, NULL);
}

/* Whole stacks, or the sanitizer does not see that it is babeltrace2 that leaks after an error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "fast_unwind_on_malloc=0";
}

#define ADD(name, function) \
	g_test_add("/reader-corrupt/" name, struct copy, NULL, setup, function, teardown)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("truncated-stream", test_truncated_stream);
	ADD("packet-headers", test_packet_headers);
	ADD("damaged-events", test_damaged_events);
	ADD("metadata", test_metadata);
	ADD("no-streams", test_no_streams);
	ADD("foreign-files", test_foreign_files);
	ADD("missing", test_missing);
	ADD("access", test_access);
	ADD("noise", test_noise);
	g_test_add_func("/reader-corrupt/versions", test_versions);
	return g_test_run();
}
