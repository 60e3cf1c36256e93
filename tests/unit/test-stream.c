/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of `record -o -`: what is written is read again; cut off at any byte and damaged at any byte, a stream gives
 * what came before and a reason, and never more.
 */
#include "live/live.h"
#include "live/spool/spool.h"
#include "live/spool/stream_format.h"

#include "lib/made_feed.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 5			/* of each packet */
#define PACKETS 3			/* of each stream */
#define STREAMS 2
#define STEP 11				/* between bytes that are tried: no divisor of a record's parts */
#define ALL (EVENTS * PACKETS * STREAMS)

static const struct blk_subscription rows[] = { { .event = "said", .fields = { "n" } }, { .event = "later" } };

/* ---- writing and reading ---- */

/* What the spool writes of a trace with two streams. */
static GByteArray *written(void)
{
	int fds[2];
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
	struct spool *s = spool_new_stream(fds[1], NULL);
	g_assert_nonnull(s);
	g_assert_cmpuint(spool_add_trace(s, "web1/ust"), ==, 0);
	spool_metadata(s, 0, g_bytes_new(text, 100));
	spool_metadata(s, 0, g_bytes_new(text + 100, strlen(text) - 100));
	for (unsigned i = 0; i < STREAMS; i++)
		g_assert_cmpuint(spool_add_stream(s, 0, "chan"), ==, i);
	for (unsigned p = 0; p < PACKETS; p++)
		for (unsigned i = 0; i < STREAMS; i++) {
			struct made m = { .uuid = 1, .instance = i, .cpu = i, .seq = p };
			spool_packet(s, i, made_packet(&m, 1000 * (p + 1), 1000 * (p + 1) + 500, 0, EVENTS));
			spool_beacon(s, i, UINT64_MAX, 1000 * (p + 1) + 600);
		}
	for (unsigned i = 0; i < STREAMS; i++)
		spool_end_stream(s, i);
	spool_end_trace(s, 0);
	g_assert_true(spool_end(s));
	struct spool_status st;
	spool_get_status(s, &st);
	g_assert_cmpuint(st.packets, ==, PACKETS * STREAMS);
	spool_unref(s);
	close(fds[1]);
	GByteArray *all = g_byte_array_new();
	uint8_t bytes[4096];
	for (ssize_t n; (n = read(fds[0], bytes, sizeof bytes)) > 0;)
		g_byte_array_append(all, bytes, (guint)n);
	close(fds[0]);
	return all;
}

/* Events that are read of the bytes; *ret_error: why reading failed (g_free), or NULL. */
static unsigned events_of(const void *bytes, size_t n, char **ret_error)
{
	int fds[2];
	unsigned events = 0;
	g_autoptr(GError) error = NULL;
	g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
	g_assert_cmpuint(n, <=, 65536);		/* a pipe holds all of it */
	g_assert_cmpint(write(fds[1], bytes, n), ==, (ssize_t)n);
	close(fds[1]);
	const struct live_options options = { .stream = fds[0], .from_beginning = true, .late_ns = 0 };
	struct source *s = live_open(NULL, 0, &options, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	enum source_status st;
	struct blk_batch batch;
	while ((st = source_next(s, &batch, &error)) == SOURCE_OK || st == SOURCE_AGAIN)
		for (size_t i = 0; st == SOURCE_OK && i < batch.n; i++)
			events += batch.ev[i].row == 0;
	g_assert_cmpint(st, ==, error ? SOURCE_ERROR : SOURCE_END);
	*ret_error = error ? g_strdup(error->message) : NULL;
	source_free(s);
	close(fds[0]);
	return events;
}

static void test_whole(void)
{
	g_autoptr(GByteArray) all = written();
	g_autofree char *error = NULL;

	g_assert_cmpmem(all->data, STREAM_MAGIC_BYTES, STREAM_MAGIC, STREAM_MAGIC_BYTES);
	g_assert_cmpuint(events_of(all->data, all->len, &error), ==, ALL);
	g_assert_null(error);
}

/* ---- damage ---- */

static void test_cut(void)
{
	g_autoptr(GByteArray) all = written();
	unsigned before = 0;

	for (guint n = 0; n < all->len; n += n + STEP < all->len ? STEP : 1) {
		g_autofree char *error = NULL;
		unsigned events = events_of(all->data, n, &error);
		g_assert_nonnull(error);
		g_assert_cmpuint(events, >=, before);
		g_assert_cmpuint(events, <=, ALL);
		before = events;
	}
	g_assert_cmpuint(before, ==, ALL);	/* only END is missing */
}

/* Other bytes: never a crash or a hang, and no events from nowhere. */
static void test_damaged(void)
{
	static const uint8_t masks[] = { 1, 0x80, 0xff };
	g_autoptr(GByteArray) all = written();
	unsigned refused = 0, tried = 0;

	for (guint n = 0; n < all->len; n += STEP, tried++) {
		g_autofree char *error = NULL;
		uint8_t mask = masks[tried % G_N_ELEMENTS(masks)];
		all->data[n] ^= mask;
		g_assert_cmpuint(events_of(all->data, all->len, &error), <, all->len);
		all->data[n] ^= mask;
		refused += error != NULL;
	}
	g_assert_cmpuint(refused, >, 10);
}

/* ---- what a writer may not say ---- */

static void put(GByteArray *a, uint32_t kind, uint32_t number, const void *bytes, uint64_t n)
{
	made_put(a, kind, 4);
	made_put(a, number, 4);
	made_put(a, n, 8);
	if (bytes)
		g_byte_array_append(a, bytes, (guint)n);
}

static void check(GByteArray *taken, const char *words)
{
	g_autoptr(GByteArray) a = taken;
	g_autofree char *error = NULL;
	events_of(a->data, a->len, &error);
	g_assert_nonnull(error);
	if (!strstr(error, words))
		g_error("'%s' is not in: %s", words, error);
}

static GByteArray *begun(void)
{
	GByteArray *a = g_byte_array_new();
	g_byte_array_append(a, (const guint8 *)STREAM_MAGIC, STREAM_MAGIC_BYTES);
	return a;
}

static GByteArray *with(uint32_t kind, uint32_t number, const void *bytes, uint64_t n)
{
	GByteArray *a = begun();
	put(a, kind, number, bytes, n);
	return a;
}

static void test_relations(void)
{
	GByteArray *a = g_byte_array_new();

	check(g_byte_array_new(), "nothing came");
	g_byte_array_append(a, (const guint8 *)"BLKTOP STREAM 2\n", STREAM_MAGIC_BYTES);
	check(a, "version 2");
	a = g_byte_array_new();
	g_byte_array_append(a, (const guint8 *)"BLKTOP STREAM 1\r", STREAM_MAGIC_BYTES);
	check(a, "ssh without -t");
	a = g_byte_array_new();
	g_byte_array_append(a, (const guint8 *)"root:x:0:0:root:/root", STREAM_MAGIC_BYTES);
	check(a, "is no stream");
	check(with(STREAM_TRACE, 1, "x", 1), "not the next trace");
	check(with(STREAM_METADATA, 0, "x", 1), "nothing of this number");
	check(with(STREAM_STREAM, 0, "\0\0\0\0", 4), "nothing of this number");
	check(with(STREAM_STREAM, 0, "\0\0\0", 3), "this length");
	check(with(STREAM_PACKET, 0, "x", 1), "nothing of this number");
	check(with(STREAM_BEACON, 0, "x", 1), "this length");
	check(with(STREAM_PACKET, 0, NULL, UINT64_MAX), "this length");
	check(with(STREAM_TRACE, 0, NULL, 1 << 20), "this length");
	check(with(99, 0, NULL, UINT64_MAX), "this length");
	a = with(STREAM_TRACE, 0, "x", 1);
	put(a, STREAM_END_TRACE, 0, NULL, 0);
	put(a, STREAM_METADATA, 0, "x", 1);
	check(a, "nothing of this number");
}

/* What a later version adds is skipped. */
static void test_unknown_kinds(void)
{
	g_autoptr(GByteArray) all = written(), more = begun();
	g_autofree char *error = NULL;

	put(more, 99, 7, "something new", 13);
	put(more, 0, 0, NULL, 0);
	g_byte_array_append(more, all->data + STREAM_MAGIC_BYTES, all->len - STREAM_MAGIC_BYTES);
	g_assert_cmpuint(events_of(more->data, more->len, &error), ==, ALL);
	g_assert_null(error);
}

/* A reader that has ended: the writer says so, and does not wait. */
static void test_no_reader(void)
{
	int fds[2];
	g_autoptr(GError) error = NULL;
	struct spool_status st;
	g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
	struct spool *s = spool_new_stream(fds[1], NULL);
	close(fds[0]);
	spool_add_trace(s, "x");
	g_assert_true(spool_flush(s, 10 * G_USEC_PER_SEC));
	spool_get_status(s, &st);
	g_assert_true(st.stopped);
	g_assert_nonnull(strstr(st.message, "its reader has ended"));
	spool_unref(s);
	g_assert_null(spool_new_stream(fds[1], &error));
	g_assert_nonnull(error);
	close(fds[1]);
}

/* A reader that does not read: what it cannot take is left out, and counted. */
static void test_slow_reader(void)
{
	int fds[2];
	const size_t size = 1 << 20;
	struct spool_status st;
	g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
	struct spool *s = spool_new_stream(fds[1], NULL);
	g_autoptr(GBytes) packet = g_bytes_new_take(g_malloc0(size), size);
	spool_add_trace(s, "x");
	spool_add_stream(s, 0, "y");
	for (unsigned i = 0; i < 2 * LIMIT_SPOOL_QUEUE_BYTES / size; i++) {
		spool_packet(s, 0, g_bytes_ref(packet));
		spool_beacon(s, 0, 0, i);
	}
	spool_get_status(s, &st);
	g_assert_cmpuint(st.dropped, >=, LIMIT_SPOOL_QUEUE_BYTES / size - 1);
	g_assert_false(st.stopped);
	close(fds[0]);
	g_assert_true(spool_flush(s, 10 * G_USEC_PER_SEC));
	spool_unref(s);
	close(fds[1]);
}

static void *read_slowly(void *fd)
{
	static uint8_t bytes[1 << 16];
	for (ssize_t n; (n = read(*(int *)fd, bytes, sizeof bytes)) > 0;)
		g_usleep(2000);
	return NULL;
}

/* A reader that is slow: at the end all of it is written, however long it takes. One that does not read is given up. */
static void test_end(void)
{
	enum { MANY = 16 };
	const size_t size = 1 << 20;
	g_autoptr(GBytes) packet = g_bytes_new_take(g_malloc0(size), size);
	for (unsigned reads = 0; reads < 2; reads++) {
		int fds[2];
		struct spool_status st;
		g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
		struct spool *s = spool_new_stream(fds[1], NULL);
		spool_add_trace(s, "x");
		spool_add_stream(s, 0, "y");
		for (unsigned i = 0; i < MANY; i++)
			spool_packet(s, 0, g_bytes_ref(packet));
		GThread *reader = reads ? g_thread_new("reader", read_slowly, fds) : NULL;
		g_assert_cmpint(spool_end(s), ==, reads);
		spool_get_status(s, &st);
		g_assert_cmpuint(st.packets, ==, reads ? MANY : 0);
		g_assert_cmpuint(st.dropped, ==, 0);
		if (!reads)
			close(fds[0]);
		spool_unref(s);
		close(fds[1]);
		if (reader)
			g_thread_join(reader);
		if (reads)
			close(fds[0]);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	signal(SIGPIPE, SIG_IGN);
	g_test_add_func("/stream/end", test_end);
	g_test_add_func("/stream/whole", test_whole);
	g_test_add_func("/stream/cut", test_cut);
	g_test_add_func("/stream/damaged", test_damaged);
	g_test_add_func("/stream/relations", test_relations);
	g_test_add_func("/stream/unknown-kinds", test_unknown_kinds);
	g_test_add_func("/stream/no-reader", test_no_reader);
	g_test_add_func("/stream/slow-reader", test_slow_reader);
	return g_test_run();
}
