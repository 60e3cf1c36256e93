/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader fed with packets: any pushes in any order, by whoever calls himself a
 * relay. Records come in the order of time, and their data can be read; in the end nothing
 * is queued.
 *
 * Input: pushes, each a byte that says which, one that says for whom, two with a length,
 * and so many bytes. Metadata is one that is known (fuzz_feed_metadata) or the bytes.
 */
#include <string.h>

#include "fuzz/fuzzer.h"
#include "lib/fuzz_take.h"
#include "lib/inspect.h"
#include "trace/native/native_feed.h"

#define MAX_PUSHES 400

static const struct blk_subscription rows[] = {
	{ .event = "said", .fields = { "n", "text" } },
	{ .event = "all", .fields = { "*" } },
	{ .event = "event_*", .fields = { "n", "text", "list[1]" } },
};

#define BEGIN(uuid, domain) \
	"/* CTF 1.8 */\n" \
	"typealias integer { size = 8; align = 8; } := u8;\n" \
	"typealias integer { size = 16; align = 8; } := u16;\n" \
	"typealias integer { size = 32; align = 8; } := u32;\n" \
	"typealias integer { size = 64; align = 8; } := u64;\n" \
	"trace { major = 1; minor = 8; byte_order = le; uuid = \"" uuid "000000-0000-0000-0000-000000000000\";\n" \
	" packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n" \
	"env { domain = \"" domain "\"; };\n" \
	"clock { name = c; uuid = \"01010101-0101-0101-0101-010101010101\"; freq = 1000000000; offset = 3; };\n" \
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n" \
	"struct pc { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size;\n" \
	" u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"

static const char *const known[] = {
	BEGIN("00", "ust")
	"stream { id = 0; event.header := struct { u16 id; ts timestamp; } align(8); packet.context := struct pc; };\n"
	"event { id = 0; stream_id = 0; name = \"said\"; fields := struct { u32 n; string text; }; };\n"
	"event { id = 1; stream_id = 0; name = \"counted\"; fields := struct { u8 n; }; };\n",
	BEGIN("00", "kernel")
	"typealias integer { size = 27; align = 1; map = clock.c.value; } := ts27;\n"
	"struct header { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;\n"
	" variant <id> { struct { ts27 timestamp; } compact; struct { u32 id; ts timestamp; } extended; } v; } align(8);\n"
	"stream { id = 0; event.header := struct header; packet.context := struct pc; };\n"
	"event { id = 0; stream_id = 0; name = \"all\"; fields := struct { u8 n; string text; }; };\n"
	"event { id = 1; stream_id = 0; name = \"event_1\"; fields := struct { u16 n; u8 _list_length; u32 list[_list_length]; }; };\n"
	"event { id = 2; stream_id = 0; name = \"counted\"; fields := struct { }; };\n",
	"event { id = 40; stream_id = 0; name = \"event_2\"; fields := struct { string text; u64 n; }; };\n",
	"event { id = 3; stream_id = 0; name = \"cou", "nted\"; fields := struct { u8 n; }; };\n",
};

struct fuzz {
	struct native_feed *f;
	struct source *s;
	int64_t now;
	struct fuzz_taken taken;
	unsigned n_traces, n_streams;
};

static int64_t clock_of(void *data)
{
	return ((struct fuzz *)data)->now;
}

static void push_metadata(struct fuzz *z, unsigned whom, const uint8_t *bytes, size_t n)
{
	unsigned trace = z->n_traces ? whom % z->n_traces : 0;
	if (n)
		native_feed_metadata(z->f, trace, g_bytes_new(bytes, n));
	else
		for (size_t i = whom / 16 % G_N_ELEMENTS(known); i < G_N_ELEMENTS(known); i++) {
			native_feed_metadata(z->f, trace, g_bytes_new_static(known[i], strlen(known[i])));
			if (whom % 2)
				break;
		}
}

/* What the relay would fill in, half of the time. */
static GBytes *packet(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = g_malloc(n + !n);
	memcpy(copy, bytes, n);
	if (n >= 84 && copy[24] < 128) {
		uint32_t magic = GUINT32_TO_LE(0xc1fc1fc1);
		uint64_t bits = GUINT64_TO_LE((uint64_t)n * 8);
		memcpy(copy, &magic, 4);
		memset(copy + 4, 0, 20);
		memcpy(copy + 48, &bits, 8);
		memcpy(copy + 56, &bits, 8);
		memset(copy + 36, 0, 4);
		memset(copy + 44, 0, 4);
	}
	return g_bytes_new_take(copy, n);
}

static void push(struct fuzz *z, unsigned what, unsigned whom, const uint8_t *bytes, size_t n)
{
	unsigned stream = z->n_streams ? whom % (z->n_streams + 1) : 0;
	uint64_t cycles = 0;
	memcpy(&cycles, bytes, MIN(n, 6));
	switch (what % 12) {
	case 0:
		z->n_traces = native_feed_add_trace(z->f, "t") + 1;
		break;
	case 1:
		push_metadata(z, whom, bytes, n);
		break;
	case 2:
		z->n_streams = native_feed_add_stream(z->f, z->n_traces ? whom % z->n_traces : whom, "s",
						      whom % 4 ? whom * 1000 : INT64_MAX) + 1;
		break;
	case 3:
		native_feed_beacon(z->f, stream, n & 1 ? NATIVE_FEED_ANY_CLASS : n, cycles);
		break;
	case 4:
		native_feed_end_stream(z->f, stream);
		break;
	case 5:
		native_feed_cut_stream(z->f, stream);
		break;
	case 6:
		if (whom & 1)
			native_feed_metadata_restart(z->f, z->n_traces ? whom % z->n_traces : 0);
		else
			native_feed_end_trace(z->f, z->n_traces ? whom % z->n_traces : 0);
		break;
	case 7:
		z->now += (int64_t)whom * 10000;
		g_assert_cmpint(fuzz_take(z->s, &z->taken, (int)whom), !=, SOURCE_END);
		break;
	default:
		native_feed_packet(z->f, stream, packet(bytes, n), NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz z = { .now = 1, .taken.last = INT64_MIN };
	struct native_feed_status status;
	z.f = native_feed_new(rows, G_N_ELEMENTS(rows));
	z.s = native_feed_source(z.f);
	native_feed_set_clock(z.f, clock_of, &z);
	for (int i = 0; i < MAX_PUSHES && size >= 4; i++) {
		size_t n = MIN(data[2] | (size_t)(data[3] & 3) << 8, size - 4);
		push(&z, data[0], data[1], data + 4, n);
		data += 4 + n;
		size -= 4 + n;
	}
	native_feed_end(z.f);
	g_assert_cmpint(fuzz_take(z.s, &z.taken, G_MAXINT), ==, SOURCE_END);
	g_assert_cmpuint(native_feed_queued(z.f), ==, 0);
	native_feed_get_status(z.f, &status);
	g_assert_cmpuint(status.streams, ==, 0);
	native_feed_free(z.f);
	return 0;
}
