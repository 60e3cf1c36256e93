/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces as writers other than LTTng make them (CTF 1.8): the events have their own times, in files, in pieces cut at
 * any instant, and pushed packet by packet. That all fields are babeltrace2's is tests/truth/writers.py.
 */
#include "lib/test_traces.h"
#include "trace/native/native.h"
#include "trace/native/native_feed.h"

#include <string.h>

static const struct blk_subscription rows[] = { { .event = "e", .fields = { "n" } } };

#define OFFSET INT64_C(1700000000000000000)
#define TYPES \
	"/* CTF 1.8 */ typealias integer { size = 32; align = 8; } := u32;\n" \
	"typealias integer { size = 64; align = 8; } := u64;\n"
#define TRACE "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
#define CLOCK \
	"clock { name = c; freq = 1000000000; offset_s = 1700000000; };\n" \
	"clock { name = c; offset_s = 1700000000; freq = 1000000000; };\n"
#define SIZES "u32 content_size; u32 packet_size;"
#define EVENT "event { name = e; fields := struct { u32 n; }; };\n"

struct packet {
	uint64_t begin, end;
	int64_t event[4];		/* cycles; 0: no more */
};

static const struct writer {
	const char *name, *metadata;
	unsigned time_bytes;		/* in packets */
	unsigned event_time_bytes;
	bool is_bare;			/* without a packet header and context */
	bool has_sizes;
	int64_t offset;
	struct packet packet[6];	/* .begin 0, .event[0] 0: no more */
	unsigned n_packets;
} writers[] = {
	{ "event before its packet", TYPES TRACE CLOCK
	  "stream { packet.context := struct { u64 timestamp_begin; u64 timestamp_end; " SIZES " };"
	  " event.header := struct { u64 timestamp; }; };\n" EVENT, 8, 8, false, true, OFFSET,
	  { { 1000, 2000, { 900, 1200 } }, { 2600, 3500, { 2500, 3000 } }, { 3600, 3600, { 3550 } } }, 3 },
	{ "times of 32 bits", TYPES TRACE CLOCK
	  "stream { packet.context := struct { u32 timestamp_begin; u32 timestamp_end; " SIZES " };"
	  " event.header := struct { u32 timestamp; }; };\n" EVENT, 4, 4, false, true, OFFSET,
	  { { 100, 200, { 100, 150 } }, { 4294967000, 4294968000, { 4294967100, 4294967900 } },
	    { 4294968000, 6000000000, { 5000000000 } }, { 9000000000, 9000000001, { 9000000000, 9000000001 } } }, 4 },
	{ "packets that are headers only", TYPES TRACE CLOCK
	  "stream { packet.context := struct { " SIZES " };"
	  " event.header := struct { u64 timestamp; }; };\n" EVENT, 0, 8, false, true, OFFSET,
	  { { 0 }, { 0, 0, { 100, 150 } }, { 0 }, { 0, 0, { 300 } }, { 0 } }, 5 },
	{ "nothing but times, without a clock", TYPES "trace { major = 1; minor = 8; byte_order = le; };\n"
	  "stream { event.header := struct { u32 timestamp; }; };\n" EVENT, 0, 4, true, false, 0,
	  { { 0, 0, { 5, 4000000000, 4294967299, 8000000000 } } }, 1 },
};

static void put(GByteArray *a, uint64_t value, unsigned bytes)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(a, (const guint8 *)&value, bytes);
}

static GBytes *make_packet(const struct writer *w, const struct packet *p)
{
	GByteArray *a = g_byte_array_new();
	unsigned n = 0;
	while (n < G_N_ELEMENTS(p->event) && p->event[n])
		n++;
	uint64_t bits = (w->is_bare ? 0 : 4 + 2 * w->time_bytes + 8 + n * (w->event_time_bytes + 4)) * 8;
	if (!w->is_bare) {
		put(a, 0xc1fc1fc1, 4);
		put(a, p->begin, w->time_bytes);
		put(a, p->end, w->time_bytes);
		put(a, bits, 4);
		put(a, bits, 4);
	}
	for (unsigned i = 0; i < n; i++) {
		put(a, (uint64_t)p->event[i], w->event_time_bytes);
		put(a, i, 4);
	}
	return g_byte_array_free_to_bytes(a);
}

static char *write_trace(const struct writer *w)
{
	char *dir = test_temp_dir();
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL), *stream = g_build_filename(dir, "s", NULL);
	g_autoptr(GByteArray) all = g_byte_array_new();
	for (unsigned i = 0; i < w->n_packets; i++) {
		g_autoptr(GBytes) packet = make_packet(w, &w->packet[i]);
		g_byte_array_append(all, g_bytes_get_data(packet, NULL), g_bytes_get_size(packet));
	}
	g_assert_true(g_file_set_contents(metadata, w->metadata, -1, NULL));
	g_assert_true(g_file_set_contents(stream, (const char *)all->data, all->len, NULL));
	return dir;
}

static GArray *expected_times(const struct writer *w)
{
	GArray *times = g_array_new(FALSE, FALSE, sizeof(int64_t));
	for (unsigned i = 0; i < w->n_packets; i++)
		for (unsigned k = 0; k < 4 && w->packet[i].event[k]; k++) {
			int64_t at = w->offset + w->packet[i].event[k];
			g_array_append_val(times, at);
		}
	return times;
}

/* Appends the times of the events; there are no losses. */
static enum source_status take(struct source *s, GArray *times)
{
	struct blk_batch batch;
	enum source_status status;
	while ((status = source_next(s, &batch, NULL)) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++) {
			g_assert_cmpuint(batch.ev[i].row, !=, BLK_ROW_LOST_BEGIN);
			if (batch.ev[i].row == 0)
				g_array_append_val(times, batch.ev[i].ts);
		}
	return status;
}

static void assert_times(const GArray *found, const GArray *expected)
{
	g_assert_cmpuint(found->len, ==, expected->len);
	for (guint i = 0; i < found->len; i++)
		g_assert_cmpint(g_array_index(found, int64_t, i), ==, g_array_index(expected, int64_t, i));
}

static void check_cut(struct native *n, const GArray *expected, int64_t cut)
{
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct source *before = native_range(n, INT64_MIN, cut, 0), *after = native_range(n, cut, INT64_MAX, 0);
	g_assert_cmpint(take(before, found), ==, SOURCE_END);
	g_assert_cmpint(take(after, found), ==, SOURCE_END);
	assert_times(found, expected);
	source_free(before);
	source_free(after);
}

static void test_files(const void *data)
{
	const struct writer *w = data;
	g_autofree char *dir = write_trace(w);
	g_autoptr(GArray) expected = expected_times(w);
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	struct native *n = native_open(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	while (native_index(n, 1))
		;
	for (guint i = 0; i < expected->len; i++)
		for (int64_t d = -1; d <= 1; d++)
			check_cut(n, expected, g_array_index(expected, int64_t, i) + d);
	for (unsigned i = 0; i < w->n_packets; i++) {
		check_cut(n, expected, w->offset + (int64_t)w->packet[i].begin);
		check_cut(n, expected, w->offset + (int64_t)w->packet[i].end + 1);
	}
	g_autofree char *left_out = native_left_out(n), *remark = native_remark(n);
	g_assert_null(left_out);
	g_assert_cmpint(remark != NULL, ==, w->is_bare);
	native_free(n);
	test_remove_tree(dir);
}

static void test_pushed(const void *data)
{
	const struct writer *w = data;
	g_autoptr(GArray) expected = expected_times(w), found = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autoptr(blk_native_feed) f = native_feed_new(rows, G_N_ELEMENTS(rows));
	struct native_feed_status status;
	unsigned t = native_feed_add_trace(f, "t"), s = native_feed_add_stream(f, t, "s", INT64_MAX);
	for (size_t at = 0, n = strlen(w->metadata); at < n; at += 100)
		native_feed_metadata(f, t, g_bytes_new(w->metadata + at, MIN(100, n - at)));
	for (unsigned i = 0; i < w->n_packets; i++) {
		native_feed_packet(f, s, make_packet(w, &w->packet[i]), NULL);
		take(native_feed_source(f), found);
	}
	native_feed_end_stream(f, s);
	native_feed_end(f);
	g_assert_cmpint(take(native_feed_source(f), found), ==, SOURCE_END);
	native_feed_get_status(f, &status);
	g_assert_cmpuint(status.refused + status.late + status.unreadable, ==, 0);
	assert_times(found, expected);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(writers); i++) {
		g_autofree char *files = g_strdup_printf("/writers/files/%s", writers[i].name);
		g_autofree char *pushed = g_strdup_printf("/writers/pushed/%s", writers[i].name);
		g_test_add_data_func(files, &writers[i], test_files);
		g_test_add_data_func(pushed, &writers[i], test_pushed);
	}
	return g_test_run();
}
