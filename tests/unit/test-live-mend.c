/* SPDX-License-Identifier: GPL-2.0-only */
/* What is changed in a relay's replies before babeltrace2 sees them. */
#include "live/mend.h"

enum { OK = 1, RETRY = 2, HUP = 3, INACTIVE = 5 };

static void announce(struct mend *m, uint64_t first, unsigned n, unsigned data)
{
	g_autofree uint8_t *reply = g_malloc0(8 + n * VIEWER_STREAM_SIZE);

	for (unsigned i = 0; i < n; i++) {
		viewer_put_u64(reply + 8 + i * VIEWER_STREAM_SIZE, first + i);
		viewer_put_u32(reply + 8 + i * VIEWER_STREAM_SIZE + 16, i >= data);
	}
	g_assert_cmpuint(mend_streams(m, reply, 8 + n * VIEWER_STREAM_SIZE), ==, data);
}

static void make_index(uint8_t *reply, uint32_t status, uint64_t begin, uint64_t end)
{
	memset(reply, 0, MEND_INDEX_SIZE);
	viewer_put_u64(reply + 8, status == OK ? 4096 * 8 : 0);
	viewer_put_u64(reply + 24, begin);
	viewer_put_u64(reply + 32, end);
	viewer_put_u64(reply + 48, status == RETRY ? 0 : 5);
	viewer_put_u32(reply + 56, status);
}

/* Passes an index on: its status afterwards. */
static uint32_t pass(struct mend *m, uint64_t stream, uint32_t status, uint64_t begin, uint64_t end)
{
	uint8_t reply[MEND_INDEX_SIZE];

	make_index(reply, status, begin, end);
	mend_index(m, stream, reply);
	if (status != OK && viewer_u32(reply + 56) == OK) {
		g_assert_cmpuint(viewer_u64(reply + 8), ==, 0);	/* a packet of no bytes */
		g_assert_cmpuint(viewer_u32(reply + 60), ==, 2);	/* new streams */
	}
	return viewer_u32(reply + 56);
}

/* A newer beacon gets through only after new streams were asked for. */
static void test_beacons(void)
{
	struct mend *m = mend_new();

	announce(m, 1, 3, 2);
	g_assert_cmpuint(pass(m, 1, INACTIVE, 0, 100), ==, OK);
	announce(m, 4, 0, 0);
	g_assert_cmpuint(pass(m, 1, INACTIVE, 0, 100), ==, INACTIVE);
	g_assert_cmpuint(pass(m, 2, INACTIVE, 0, 90), ==, INACTIVE);
	g_assert_cmpuint(pass(m, 2, INACTIVE, 0, 101), ==, OK);
	g_assert_cmpuint(pass(m, 9, INACTIVE, 0, 500), ==, INACTIVE);	/* unknown: as it is */
	g_assert_cmpuint(pass(m, 1, HUP, 0, 0), ==, HUP);
	mend_free(m);
}

/* The class of a stream is told as it was, or as unknown. */
static void test_class(void)
{
	struct mend *m = mend_new();
	uint8_t reply[MEND_INDEX_SIZE];
	uint32_t status;

	announce(m, 1, 1, 1);
	do {	/* asked every now and then, also without a beacon */
		make_index(reply, RETRY, 0, 0);
		mend_index(m, 1, reply);
		status = viewer_u32(reply + 56);
	} while (status == RETRY);
	g_assert_cmpuint(status, ==, OK);
	g_assert_cmpuint(viewer_u64(reply + 48), ==, UINT64_MAX);
	g_assert_cmpuint(pass(m, 1, OK, 10, 20), ==, OK);
	announce(m, 2, 0, 0);
	do {
		make_index(reply, RETRY, 0, 0);
		mend_index(m, 1, reply);
	} while (viewer_u32(reply + 56) == RETRY);
	g_assert_cmpuint(viewer_u64(reply + 48), ==, 5);
	mend_free(m);
}

static void put(uint8_t *p, uint64_t v, bool big_endian)
{
	v = big_endian ? GUINT64_TO_BE(v) : GUINT64_TO_LE(v);
	memcpy(p, &v, sizeof v);
}

static uint64_t get(const uint8_t *p, bool big_endian)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return big_endian ? GUINT64_FROM_BE(v) : GUINT64_FROM_LE(v);
}

/* Fetches a packet of [begin, end] as LTTng writes it: where it begins and ends then. */
static void fetch(struct mend *m, uint64_t stream, bool big_endian, uint64_t *begin, uint64_t *end)
{
	uint8_t reply[MEND_PACKET_HEAD + 256] = { 0 };

	pass(m, stream, OK, *begin, *end);
	put(reply + MEND_PACKET_HEAD + 32, *begin, big_endian);
	put(reply + MEND_PACKET_HEAD + 40, *end, big_endian);
	mend_packet(m, stream, 0, reply, sizeof reply);
	*begin = get(reply + MEND_PACKET_HEAD + 32, big_endian);
	*end = get(reply + MEND_PACKET_HEAD + 40, big_endian);
}

static void check_first_packet(bool big_endian)
{
	struct mend *m = mend_new();
	uint64_t begin = 1000, end = 2000;

	announce(m, 1, 2, 1);
	fetch(m, 1, big_endian, &begin, &end);
	g_assert_cmpuint(begin, ==, 1000);
	announce(m, 3, 2, 1);
	begin = 500;		/* made before what stream 1 has said */
	end = 2500;
	fetch(m, 3, big_endian, &begin, &end);
	g_assert_cmpuint(begin, ==, 2000);
	g_assert_cmpuint(end, ==, 2500);
	begin = 600;		/* only its first packet */
	fetch(m, 3, big_endian, &begin, &end);
	g_assert_cmpuint(begin, ==, 600);
	announce(m, 5, 1, 1);
	begin = 10;
	end = 20;		/* nothing in it */
	fetch(m, 5, big_endian, &begin, &end);
	g_assert_cmpuint(begin, ==, 2000);
	g_assert_cmpuint(end, ==, 2000);
	mend_free(m);
}

static void test_first_packet(void)
{
	check_first_packet(false);
	check_first_packet(true);
}

/* Streams that are over hold nobody back; own beacons count. */
static void test_floor(void)
{
	struct mend *m = mend_new();
	uint64_t begin = 1000, end = 2000;

	announce(m, 1, 2, 2);
	fetch(m, 1, false, &begin, &end);
	begin = 1000;
	end = 3000;
	fetch(m, 2, false, &begin, &end);
	pass(m, 1, HUP, 0, 0);
	announce(m, 3, 1, 1);
	g_assert_cmpuint(pass(m, 3, INACTIVE, 0, 3500), ==, OK);
	announce(m, 4, 0, 0);
	g_assert_cmpuint(pass(m, 3, INACTIVE, 0, 3500), ==, INACTIVE);
	begin = 100;
	end = 4000;
	fetch(m, 3, false, &begin, &end);
	g_assert_cmpuint(begin, ==, 3500);
	mend_free(m);
}

/* What does not look as expected, or is short, is left alone. */
static void test_other_layout(void)
{
	struct mend *m = mend_new();
	uint8_t reply[MEND_PACKET_HEAD + 256];
	uint64_t begin = 1000, end = 2000;

	announce(m, 1, 1, 1);
	fetch(m, 1, false, &begin, &end);
	for (size_t len = 0; len <= sizeof reply; len++) {
		announce(m, 100 + len, 1, 1);
		pass(m, 100 + len, OK, 5, 6);
		memset(reply, 0x77, sizeof reply);
		mend_packet(m, 100 + len, 0, reply, len);
		for (size_t i = 0; i < sizeof reply; i++)
			g_assert_cmpuint(reply[i], ==, 0x77);
	}
	mend_free(m);
}

static void add_text(GByteArray *reply, const char *text)
{
	uint8_t head[37] = { 0 };
	uint32_t magic = 0x75d11d57u, bits = (uint32_t)(sizeof head + strlen(text)) * 8;

	memcpy(head, &magic, 4);
	memcpy(head + 24, &bits, 4);
	memcpy(head + 28, &bits, 4);
	g_byte_array_append(reply, head, sizeof head);
	g_byte_array_append(reply, (const uint8_t *)text, (guint)strlen(text));
	viewer_put_u64(reply->data, reply->len - MEND_METADATA_HEAD);
}

static GByteArray *make_reply(uint32_t status)
{
	GByteArray *reply = g_byte_array_new();

	g_byte_array_set_size(reply, MEND_METADATA_HEAD);
	memset(reply->data, 0, reply->len);
	viewer_put_u32(reply->data + 8, status);
	return reply;
}

/* Passes metadata on; what comes out, as text without the packets' heads. */
static size_t give(struct mend *m, uint32_t status, const char *text, uint32_t *ret_status)
{
	g_autoptr(GByteArray) reply = make_reply(status);

	if (text)
		add_text(reply, text);
	mend_metadata(m, 7, reply);
	*ret_status = viewer_u32(reply->data + 8);
	g_assert_cmpuint(viewer_u64(reply->data), ==, reply->len - MEND_METADATA_HEAD);
	return reply->len - MEND_METADATA_HEAD;
}

static void test_metadata(void)
{
	struct mend *m = mend_new();
	uint32_t status;

	g_assert_cmpuint(give(m, 2, NULL, &status), ==, 0);
	g_assert_cmpuint(status, ==, 2);
	g_assert_cmpuint(give(m, 1, "trace {\n};\n", &status), ==, 0);
	g_assert_cmpuint(status, ==, 2);
	g_assert_cmpuint(give(m, 2, NULL, &status), ==, 0);
	g_assert_cmpuint(give(m, 1, "stream {\n};\n\nevent {\n};\n", &status), ==, 0);
	g_assert_cmpuint(give(m, 2, NULL, &status), ==, 37 + 11 + 37 + 24);
	g_assert_cmpuint(status, ==, 1);
	/* from then on at once; no length is none */
	g_assert_cmpuint(give(m, 1, "event {\n};\n", &status), ==, 37 + 11);
	g_assert_cmpuint(status, ==, 1);
	g_assert_cmpuint(give(m, 1, NULL, &status), ==, 0);
	g_assert_cmpuint(status, ==, 2);
	mend_free(m);
}

/* A trace without events does not wait for ever. */
static void test_metadata_without_events(void)
{
	struct mend *m = mend_new();
	int64_t begin = g_get_monotonic_time();
	uint32_t status;

	give(m, 1, "trace {\n};\n", &status);
	while (!give(m, 2, NULL, &status))
		g_assert_cmpint(g_get_monotonic_time() - begin, <, 10000000);
	g_assert_cmpuint(status, ==, 1);
	mend_free(m);
}

/* Nonsense is passed on, for babeltrace2 to say so. */
static void test_metadata_nonsense(void)
{
	uint32_t status;

	for (unsigned seed = 0; seed < 200; seed++) {
		struct mend *m = mend_new();
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		g_autoptr(GByteArray) reply = make_reply(1);
		uint32_t magic = 0x75d11d57u;
		g_byte_array_append(reply, (uint8_t *)&magic, 4);
		for (unsigned i = g_rand_int_range(rand, 0, 200); i > 0; i--) {
			uint8_t byte = (uint8_t)g_rand_int_range(rand, 0, seed & 1 ? 256 : 8);
			g_byte_array_append(reply, &byte, 1);
		}
		viewer_put_u64(reply->data, reply->len - MEND_METADATA_HEAD);
		mend_metadata(m, 7, reply);
		give(m, 2, NULL, &status);
		mend_free(m);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live-mend/beacons", test_beacons);
	g_test_add_func("/live-mend/class", test_class);
	g_test_add_func("/live-mend/first-packet", test_first_packet);
	g_test_add_func("/live-mend/floor", test_floor);
	g_test_add_func("/live-mend/other-layout", test_other_layout);
	g_test_add_func("/live-mend/metadata", test_metadata);
	g_test_add_func("/live-mend/metadata-without-events", test_metadata_without_events);
	g_test_add_func("/live-mend/metadata-nonsense", test_metadata_nonsense);
	return g_test_run();
}
