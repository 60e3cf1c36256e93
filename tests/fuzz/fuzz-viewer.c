/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client of the viewer protocol (lib/fuzz_relay.h): lists sessions, attaches, and believes nothing
 * of what it is told.
 *
 * Input: answers, each a byte that says to which command (with 0x80: as it is, else in short,
 * see answers[]), two with a length, and so many bytes. The answers to one command are given
 * in their order; when there are none left, what ends the conversation in good order.
 */
#include <string.h>

#include "fuzz/fuzzer.h"
#include "lib/fuzz_relay.h"

static const struct blk_subscription rows[] = {
	{ .event = "zipkin:timestamp", .fields = { "trace_name", "service_name", "port_no", "event" } },
	{ .event = "zipkin:*", .fields = { "key", "val" } },
	{ .event = "sched_switch", .fields = { "prev_comm", "prev_tid", "next_tid" } },
	{ .event = "syscall_*", .fields = { "*" } },
};

struct answer {
	bool raw;
	const uint8_t *bytes;
	size_t n;
};

struct relay {
	GQueue answers[VIEWER_DETACH + 1];	/* struct answer *, by command */
	unsigned minor;
	GByteArray *said;
};

/* ---- what it says ---- */

static uint8_t byte(const struct answer *a, size_t at)
{
	return at < a->n ? a->bytes[at] : 0;
}

static uint64_t number(const struct answer *a, size_t at, unsigned n)
{
	uint64_t v = 0;
	while (n-- > 0)
		v = v << 8 | byte(a, at + n);
	return v;
}

/* minor */
static void say_hello(struct relay *r, const struct answer *a, const uint8_t *request)
{
	r->minor = a ? byte(a, 0) : 13;
	fake_say_u64(r->said, 1);
	fake_say_u32(r->said, 2);
	fake_say_u32(r->said, r->minor);
	fake_say_u32(r->said, 1);
}

/* for each session: id, viewers, streams, format */
static void say_list(struct relay *r, const struct answer *a, const uint8_t *request)
{
	static const struct answer one = { .bytes = (const uint8_t *)"\1\0\3", .n = 4 };
	a = a ? a : &one;
	fake_say_u32(r->said, (uint32_t)a->n / 4);
	for (size_t i = 0; i + 4 <= a->n; i += 4) {
		fake_say_u64(r->said, byte(a, i));
		fake_say_u32(r->said, 100000);
		fake_say_u32(r->said, byte(a, i + 1));
		fake_say_u32(r->said, byte(a, i + 2));
		if (MIN(r->minor, VIEWER_MINOR) >= VIEWER_MINOR_NAMES) {
			fake_say_u32(r->said, 4);
			fake_say_u32(r->said, 5);
			fake_say_u32(r->said, byte(a, i + 3));
			fake_say_text(r->said, "web1", 4);
			fake_say_text(r->said, "spans", 5);
		} else {
			fake_say_text(r->said, "web1", VIEWER_HOST_SIZE);
			fake_say_text(r->said, "spans", VIEWER_NAME_SIZE);
		}
	}
}

/* status; for each stream: id, trace, is it metadata */
static void say_streams(struct relay *r, const struct answer *a, const uint8_t *request)
{
	static const struct answer hung_up = { .bytes = (const uint8_t *)"\4", .n = 1 };
	a = a ? a : &hung_up;
	fake_say_u32(r->said, byte(a, 0));
	fake_say_u32(r->said, (uint32_t)(a->n - MIN(a->n, 1)) / 3);
	for (size_t i = 1; i + 3 <= a->n; i += 3) {
		fake_say_u64(r->said, byte(a, i));
		fake_say_u64(r->said, byte(a, i + 1));
		fake_say_u32(r->said, byte(a, i + 2));
		fake_say_text(r->said, "ust/uid/0/64-bit", VIEWER_PATH_SIZE);
		fake_say_text(r->said, "chan_0", VIEWER_NAME_SIZE);
	}
}

/* status, flags, bytes of the packet (2), bits of its content (4), begin (8), end (8), class */
static void say_index(struct relay *r, const struct answer *a, const uint8_t *request)
{
	static const struct answer hung_up = { .bytes = (const uint8_t *)"\3", .n = 1 };
	a = a ? a : &hung_up;
	fake_say_u64(r->said, 0);
	fake_say_u64(r->said, number(a, 2, 2) * 8);
	fake_say_u64(r->said, number(a, 4, 4));
	fake_say_u64(r->said, number(a, 8, 8));
	fake_say_u64(r->said, number(a, 16, 8));
	fake_say_u64(r->said, 0);
	fake_say_u64(r->said, byte(a, 24));
	fake_say_u32(r->said, byte(a, 0));
	fake_say_u32(r->said, byte(a, 1));
}

/* status, flags, the packet's bytes: as many as are asked for */
static void say_packet(struct relay *r, const struct answer *a, const uint8_t *request)
{
	static const struct answer broken = { .bytes = (const uint8_t *)"\3", .n = 1 };
	a = a ? a : &broken;
	uint32_t len = viewer_u32(request + 16);
	size_t has = a->n - MIN(a->n, 2);
	fake_say_u32(r->said, byte(a, 0));
	fake_say_u32(r->said, len);
	fake_say_u32(r->said, byte(a, 1));
	if (byte(a, 0) != VIEWER_PACKET_OK)
		return;
	fake_say_padded(r->said, a->bytes + a->n - has, has, len);
}

/* status, text */
static void say_metadata(struct relay *r, const struct answer *a, const uint8_t *request)
{
	static const struct answer none = { .bytes = (const uint8_t *)"\2", .n = 1 };
	a = a ? a : &none;
	bool has = byte(a, 0) == VIEWER_METADATA_OK;
	fake_say_u64(r->said, has ? a->n - 1 : 0);
	fake_say_u32(r->said, byte(a, 0));
	if (has)
		g_byte_array_append(r->said, a->bytes + 1, (guint)(a->n - 1));
}

/* status */
static void say_status(struct relay *r, const struct answer *a, const uint8_t *request)
{
	fake_say_u32(r->said, a ? byte(a, 0) : 1);
}

static void (*const answers[])(struct relay *r, const struct answer *a, const uint8_t *request) = {
	[VIEWER_CONNECT] = say_hello, [VIEWER_LIST] = say_list, [VIEWER_ATTACH] = say_streams,
	[VIEWER_NEXT_INDEX] = say_index, [VIEWER_PACKET] = say_packet, [VIEWER_METADATA] = say_metadata,
	[VIEWER_NEW_STREAMS] = say_streams, [VIEWER_CREATE] = say_status, [VIEWER_DETACH] = say_status,
};

static void answer(void *data, unsigned command, const uint8_t *payload, GByteArray *said)
{
	struct relay *r = data;
	g_autofree struct answer *a = g_queue_pop_head(&r->answers[command]);
	r->said = said;
	if (a && a->raw)
		g_byte_array_append(said, a->bytes, (guint)a->n);
	else
		answers[command](r, a, payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct relay r = { .minor = 0 };
	struct fuzz_taken taken = { .last = INT64_MIN };
	while (size >= 3) {
		size_t n = MIN(data[1] | (size_t)data[2] << 8, size - 3);
		unsigned command = (data[0] & 0x7f) % G_N_ELEMENTS(r.answers);
		struct answer a = { data[0] & 0x80, data + 3, n };
		g_queue_push_tail(&r.answers[command], g_memdup2(&a, sizeof a));
		data += 3 + n;
		size -= 3 + n;
	}
	fuzz_relay_run(&(struct fuzz_relay){ .answer = answer, .data = &r, .lists = true, .taken = &taken },
		       rows, G_N_ELEMENTS(rows));
	for (unsigned i = 0; i < G_N_ELEMENTS(r.answers); i++)
		g_queue_clear_full(&r.answers[i], g_free);
	return 0;
}
