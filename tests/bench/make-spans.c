/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a trace of nothing but spans, as LTTng-UST would:
 *
 *     make-spans OUT_DIR SPANS [SPANS_A_TRACE [NS_A_SPAN [TEXT_BYTES [NAME_BYTES [OPERATIONS]]]]]
 *
 * Requests of SPANS_A_TRACE spans (10): a root and phases below it, one after another,
 * on four threads, NS_A_SPAN apart (10000); every thousandth is ten times slower. Each span
 * has two annotations; with TEXT_BYTES a third one, a text that no other span has. With
 * NAME_BYTES each phase has a name of its own, so long. With OPERATIONS requests have so many
 * different names, one after another.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PACKET (512 * 1024)
#define HEAD (4 + 16 + 4 + 8 + 6 * 8 + 4)
#define FIRST_NS UINT64_C(1000000000)

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace { major = 1; minor = 8; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; byte_order = le;\n"
	"packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;"
	" uint64_t stream_instance_id; }; };\n"
	"env { domain = \"ust\"; tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 13;\n"
	"tracer_buffering_scheme = \"uid\"; tracer_buffering_id = 0; architecture_bit_width = 64;\n"
	"hostname = \"bench\"; };\n"
	"clock { name = \"monotonic\"; uuid = \"61eb64a2-3d24-42b7-9db0-def06d9cd8fe\";\n"
	"description = \"Monotonic Clock\"; freq = 1000000000; offset = 1795244812000000000; };\n"
	"typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; }"
	" := uint32_clock_monotonic_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }"
	" := uint64_clock_monotonic_t;\n"
	"struct packet_context { uint64_clock_monotonic_t timestamp_begin;"
	" uint64_clock_monotonic_t timestamp_end; uint64_t content_size; uint64_t packet_size;"
	" uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; };\n"
	"struct event_header_large { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"variant <id> { struct { uint32_clock_monotonic_t timestamp; } compact;\n"
	"struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended; } v; } align(8);\n"
	"stream { id = 0; event.header := struct event_header_large;"
	" packet.context := struct packet_context;\n"
	"event.context := struct { integer { size = 32; align = 8; signed = 1; } _vpid;"
	" integer { size = 32; align = 8; signed = 1; } _vtid; }; };\n"
	"event { name = \"zipkin:timestamp\"; id = 0; stream_id = 0; loglevel = 4; fields := struct {\n"
	"string _trace_name; string _service_name; integer { size = 32; align = 8; signed = 1; } _port_no;"
	" string _ip; integer { size = 64; align = 8; signed = 1; } _trace_id;"
	" integer { size = 64; align = 8; signed = 1; } _span_id;"
	" integer { size = 64; align = 8; signed = 1; } _parent_span_id; string _event; }; };\n";

static FILE *out;
static uint8_t packet[PACKET];
static size_t used;
static uint64_t first_ts, last_ts, seq;

static void put(const void *data, size_t n)
{
	memcpy(packet + used, data, n);
	used += n;
}

static void put4(uint32_t v)
{
	for (int i = 0; i < 4; i++)
		packet[used++] = (uint8_t)(v >> 8 * i);
}

static void put8(uint64_t v)
{
	put4((uint32_t)v);
	put4((uint32_t)(v >> 32));
}

static void put_text(const char *s)
{
	put(s, strlen(s) + 1);
}

static bool flush_packet(void)
{
	static const uint8_t uuid[] = { 0x2a, 0x64, 0x22, 0xd0, 0x6c, 0xee, 0x11, 0xe0,
					0x8c, 0x08, 0xcb, 0x07, 0xd7, 0xb3, 0xa5, 0x64 };
	size_t content = used;
	if (content <= HEAD)
		return true;
	memset(packet + used, 0, PACKET - used);
	used = 0;
	put4(0xc1fc1fc1);
	put(uuid, sizeof uuid);
	put4(0);
	put8(0);
	const uint64_t context[] = { first_ts, last_ts, content * 8, (uint64_t)PACKET * 8, seq++, 0 };
	for (size_t i = 0; i < sizeof context / sizeof *context; i++)
		put8(context[i]);
	put4(0);
	used = HEAD;
	return fwrite(packet, PACKET, 1, out) == 1;
}

static bool mark(uint64_t ts, uint64_t trace, uint64_t span, uint64_t parent, const char *name,
		 uint32_t tid, const char *event)
{
	if (used + 256 + strlen(event) + strlen(name) > PACKET && !flush_packet())
		return false;
	if (used == HEAD)
		first_ts = ts;
	last_ts = ts;
	packet[used++] = 0xff;
	packet[used++] = 0xff;
	put4(0);
	put8(ts);
	put4(tid);
	put4(tid);
	put_text(name);
	put_text("bench");
	put4(80);
	put_text("10.0.0.1");
	put8(trace);
	put8(span);
	put8(parent);
	put_text(event);
	return true;
}

static const char *own_text(char *text, uint64_t span, uint64_t bytes)
{
	memset(text, '.', bytes);
	text[bytes] = '\0';
	snprintf(text + bytes / 2, bytes - bytes / 2, "%" PRIx64, span);
	return text;
}

struct wanted { uint64_t spans, each, gap, text_bytes, name_bytes, operations; };

static bool request(uint64_t n, const struct wanted *w, uint64_t *ts)
{
	static const char *const names[] = { "lock", "open", "read", "decode", "encode", "send" };
	uint64_t each = w->each, gap = w->gap;
	uint64_t root = n * (each + 1) + 1, trace = root * UINT64_C(0x9e3779b97f4a7c15) | 1;
	uint32_t tid = 100 + (uint32_t)(n % 4);
	char request[32] = "request";
	if (w->operations)
		snprintf(request, sizeof request, "request-%" PRIu64, n % w->operations);
	bool ok = mark(*ts, trace, root, 0, request, tid, "sr");
	for (uint64_t i = 1; ok && i < each; i++) {
		static char text[4096], own[4096];
		const char *name = w->name_bytes ? own_text(own, root + i, w->name_bytes)
						 : names[i % (sizeof names / sizeof *names)];
		uint64_t took = n % 1000 == 999 && i == 1 ? gap * each * 10 : gap / 2;
		ok = mark(*ts += gap - gap / 2, trace, root + i, root, name, tid, "start") &&
		     (!w->text_bytes || mark(*ts, trace, root + i, root, name, tid,
					     own_text(text, root + i, w->text_bytes))) &&
		     mark(*ts += took, trace, root + i, root, name, tid, "end");
	}
	return ok && mark(*ts += gap, trace, root, 0, request, tid, "ss");
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return fopen(path, "wb");
}

static bool write_all(const char *dir, const struct wanted *w)
{
	FILE *meta = create(dir, "metadata");
	uint64_t ts = FIRST_NS;
	bool ok = meta && fwrite(metadata, sizeof metadata - 1, 1, meta) == 1;
	ok = meta && fclose(meta) == 0 && ok;
	out = ok ? create(dir, "spans_0") : NULL;
	used = HEAD;
	for (uint64_t n = 0; out && ok && n * w->each < w->spans; n++)
		ok = request(n, w, &ts);
	ok = out && flush_packet() && ok;
	return out && fclose(out) == 0 && ok;
}

static bool is_length(uint64_t n)
{
	return !n || (n >= 36 && n <= 4000);
}

int main(int argc, char **argv)
{
	uint64_t n[6] = { 0, 10, 10000, 0, 0, 0 };
	for (int i = 2; i < argc && i < 8; i++)
		n[i - 2] = strtoull(argv[i], NULL, 10);
	if (argc < 3 || argc > 8 || !n[0] || !n[1] || !n[2] || !is_length(n[3]) || !is_length(n[4])) {
		fputs("usage: make-spans OUT_DIR SPANS [SPANS_A_TRACE [NS_A_SPAN [TEXT_BYTES [NAME_BYTES "
		      "[OPERATIONS]]]]]\n", stderr);
		return 2;
	}
	const struct wanted w = { n[0], n[1], n[2], n[3], n[4], n[5] };
	if ((mkdir(argv[1], 0777) && errno != EEXIST) || !write_all(argv[1], &w)) {
		fprintf(stderr, "make-spans: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return 0;
}
