/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client of the viewer protocol: lists sessions, attaches, is thrown out and comes back,
 * and believes nothing of what it is told. What it asks has to be well-formed; records have
 * to come in the order of time; it ends, in a bounded number of questions.
 *
 * The functions of net.h, the clock and the thread are replaced (--wrap): nothing waits, and
 * what an input does, it always does.
 *
 * Input: answers, each a byte that says to which command (with 0x80: as it is, else in short,
 * see answers[]), two with a length, and so many bytes. The answers to one command are given
 * in their order; when there are none left, what ends the conversation in good order.
 */
#include <string.h>

#include "lib/fuzz_take.h"
#include "live/attach.h"

#define MOST_QUESTIONS 20000
#define MOST_BYTES (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct blk_subscription rows[] = {
	{ "zipkin:timestamp", { "trace_name", "service_name", "port_no", "event" }, NULL },
	{ "zipkin:*", { "key", "val" }, NULL },
	{ "sched_switch", { "prev_comm", "prev_tid", "next_tid" }, NULL },
	{ "syscall_*", { "*" }, NULL },
};

struct answer {
	bool raw;
	const uint8_t *bytes;
	size_t n;
};

/* One input. The functions that are replaced have no other way to it. */
static struct relay {
	GQueue answers[VIEWER_DETACH + 1];	/* struct answer *, by command */
	GByteArray *asked, *said;		/* not looked at yet; not read yet */
	size_t said_at;
	unsigned minor, questions;
	size_t bytes;				/* said, in all */
	int64_t now;
	struct source *source;
	struct fuzz_taken taken;
} relay;

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

static void say_u32(uint32_t v)
{
	uint8_t p[4];
	viewer_put_u32(p, v);
	g_byte_array_append(relay.said, p, sizeof p);
}

static void say_u64(uint64_t v)
{
	uint8_t p[8];
	viewer_put_u64(p, v);
	g_byte_array_append(relay.said, p, sizeof p);
}

static void say_text(const char *text, size_t size)
{
	g_autofree char *field = g_malloc0(size);
	memcpy(field, text, MIN(size, strlen(text)));
	g_byte_array_append(relay.said, (const uint8_t *)field, (guint)size);
}

/* minor */
static void say_hello(const struct answer *a, const uint8_t *request, size_t n)
{
	relay.minor = a ? byte(a, 0) : 13;
	say_u64(1);
	say_u32(2);
	say_u32(relay.minor);
	say_u32(1);
}

/* for each session: id, viewers, streams, format */
static void say_list(const struct answer *a, const uint8_t *request, size_t n)
{
	static const struct answer one = { .bytes = (const uint8_t *)"\1\0\3", .n = 4 };
	a = a ? a : &one;
	say_u32((uint32_t)a->n / 4);
	for (size_t i = 0; i + 4 <= a->n; i += 4) {
		say_u64(byte(a, i));
		say_u32(100000);
		say_u32(byte(a, i + 1));
		say_u32(byte(a, i + 2));
		if (MIN(relay.minor, VIEWER_MINOR) >= VIEWER_MINOR_NAMES) {
			say_u32(4);
			say_u32(5);
			say_u32(byte(a, i + 3));
			say_text("web1", 4);
			say_text("spans", 5);
		} else {
			say_text("web1", VIEWER_HOST_SIZE);
			say_text("spans", VIEWER_NAME_SIZE);
		}
	}
}

/* status; for each stream: id, trace, is it metadata */
static void say_streams(const struct answer *a, const uint8_t *request, size_t n)
{
	static const struct answer hung_up = { .bytes = (const uint8_t *)"\4", .n = 1 };
	a = a ? a : &hung_up;
	say_u32(byte(a, 0));
	say_u32((uint32_t)(a->n - MIN(a->n, 1)) / 3);
	for (size_t i = 1; i + 3 <= a->n; i += 3) {
		say_u64(byte(a, i));
		say_u64(byte(a, i + 1));
		say_u32(byte(a, i + 2));
		say_text("ust/uid/0/64-bit", VIEWER_PATH_SIZE);
		say_text("chan_0", VIEWER_NAME_SIZE);
	}
}

/* status, flags, bytes of the packet (2), bits of its content (4), begin (8), end (8), class */
static void say_index(const struct answer *a, const uint8_t *request, size_t n)
{
	static const struct answer hung_up = { .bytes = (const uint8_t *)"\3", .n = 1 };
	a = a ? a : &hung_up;
	say_u64(0);
	say_u64(number(a, 2, 2) * 8);
	say_u64(number(a, 4, 4));
	say_u64(number(a, 8, 8));
	say_u64(number(a, 16, 8));
	say_u64(0);
	say_u64(byte(a, 24));
	say_u32(byte(a, 0));
	say_u32(byte(a, 1));
}

/* status, flags, the packet's bytes: as many as are asked for */
static void say_packet(const struct answer *a, const uint8_t *request, size_t n)
{
	static const struct answer broken = { .bytes = (const uint8_t *)"\3", .n = 1 };
	a = a ? a : &broken;
	uint32_t len = viewer_u32(request + 16);
	size_t has = a->n - MIN(a->n, 2);
	say_u32(byte(a, 0));
	say_u32(len);
	say_u32(byte(a, 1));
	if (byte(a, 0) != VIEWER_PACKET_OK)
		return;
	g_byte_array_append(relay.said, a->bytes + a->n - has, (guint)MIN(has, len));
	guint at = relay.said->len, rest = (guint)(len - MIN(has, len));
	g_byte_array_set_size(relay.said, at + rest);
	memset(relay.said->data + at, 0, rest);
}

/* status, text */
static void say_metadata(const struct answer *a, const uint8_t *request, size_t n)
{
	static const struct answer none = { .bytes = (const uint8_t *)"\2", .n = 1 };
	a = a ? a : &none;
	bool has = byte(a, 0) == VIEWER_METADATA_OK;
	say_u64(has ? a->n - 1 : 0);
	say_u32(byte(a, 0));
	if (has)
		g_byte_array_append(relay.said, a->bytes + 1, (guint)(a->n - 1));
}

/* status */
static void say_status(const struct answer *a, const uint8_t *request, size_t n)
{
	say_u32(a ? byte(a, 0) : 1);
}

static const struct {
	size_t request;				/* bytes of the payload */
	void (*say)(const struct answer *a, const uint8_t *request, size_t n);
} answers[] = {
	[VIEWER_CONNECT] = { VIEWER_CONNECT_SIZE, say_hello }, [VIEWER_LIST] = { 0, say_list },
	[VIEWER_ATTACH] = { 20, say_streams }, [VIEWER_NEXT_INDEX] = { 8, say_index },
	[VIEWER_PACKET] = { 20, say_packet }, [VIEWER_METADATA] = { 8, say_metadata },
	[VIEWER_NEW_STREAMS] = { 8, say_streams }, [VIEWER_CREATE] = { 0, say_status },
	[VIEWER_DETACH] = { 8, say_status },
};

/* The next question is answered. False: there is none, or it has had enough. */
static bool answer_next(void)
{
	const uint8_t *p = relay.asked->data;
	if (relay.asked->len < VIEWER_HEADER || relay.bytes > MOST_BYTES)
		return false;
	g_assert_cmpuint(++relay.questions, <, MOST_QUESTIONS);
	uint64_t size = viewer_u64(p);
	uint32_t command = viewer_u32(p + 8);
	g_assert_cmpuint(command, >=, VIEWER_CONNECT);
	g_assert_cmpuint(command, <=, VIEWER_DETACH);
	g_assert_cmpuint(size, ==, answers[command].request);
	g_assert_cmpuint(size + VIEWER_HEADER, <=, relay.asked->len);
	g_autofree struct answer *a = g_queue_pop_head(&relay.answers[command]);
	g_byte_array_set_size(relay.said, 0);
	relay.said_at = 0;
	if (a && a->raw)
		g_byte_array_append(relay.said, a->bytes, (guint)a->n);
	else
		answers[command].say(a, p + VIEWER_HEADER, size);
	relay.bytes += relay.said->len;
	g_byte_array_remove_range(relay.asked, 0, (guint)(VIEWER_HEADER + size));
	return true;
}

/* ---- instead of a network, a clock, a thread ---- */

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd,
			int64_t deadline, GError **error);
size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error);
bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error);
bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error);
bool __wrap_net_sleep(int wake_fd, int64_t deadline);
gint64 __wrap_g_get_monotonic_time(void);
void __wrap_feed_start(struct feed *f, const char *name);

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd,
			int64_t deadline, GError **error)
{
	*n = (struct net){ .fd = -1, .wake_fd = wake_fd };
	g_byte_array_set_size(relay.asked, 0);
	g_byte_array_set_size(relay.said, 0);
	relay.said_at = 0;
	return true;
}

size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error)
{
	relay.now += 20;
	while (relay.said_at == relay.said->len) {
		if (answer_next())
			continue;
		relay.now = MAX(relay.now, deadline);
		g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, "no answer in time");
		return 0;
	}
	size_t got = MIN(max, relay.said->len - relay.said_at);
	memcpy(buf, relay.said->data + relay.said_at, got);
	relay.said_at += got;
	return got;
}

bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error)
{
	for (size_t got; len > 0; buf = (char *)buf + got, len -= got) {
		got = __wrap_net_read_some(n, buf, len, deadline, error);
		if (!got)
			return false;
	}
	return true;
}

bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error)
{
	g_byte_array_append(relay.asked, buf, (guint)len);
	return true;
}

/* Somebody takes the records meanwhile. */
bool __wrap_net_sleep(int wake_fd, int64_t deadline)
{
	relay.now = MAX(relay.now, deadline);
	fuzz_take(relay.source, &relay.taken, 100);
	return false;
}

gint64 __wrap_g_get_monotonic_time(void)
{
	return relay.now;
}

void __wrap_feed_start(struct feed *f, const char *name)
{
}

/* ---- the client ---- */

static void list(const struct live_url *url)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) sessions = live_list_sessions(url, 1000, &error);
	g_assert_true(!sessions == (error != NULL));
	for (guint i = 0; sessions && i < sessions->len; i++) {
		const struct live_session *s = g_ptr_array_index(sessions, i);
		g_assert_cmpuint(s->ids, >, 0);
	}
}

static void attach(struct feed_owner *owner, const struct live_url *url, struct attach_options *o)
{
	const struct viewer_session session = { .id = 1, .timer_us = 100000, .host = "web1",
						.name = "spans" };
	struct feed *f = attach_new(owner, url, &session, o);
	enum feed_end end = attach_run(f, &f->why);
	g_assert_cmpint(end, >, FEED_RUNS);
	g_assert_cmpint(end, <, FEED_N_ENDS);
	g_assert_true(!f->why || g_utf8_validate(f->why, -1, NULL));
	feed_free(f);
}

static void run(void)
{
	struct live_url url = { .host = (char *)"relay", .port = 5344 };
	struct feed_owner owner = { .rows = rows, .n_rows = G_N_ELEMENTS(rows), .timeout_ms = 1000 };
	struct attach_sink sink = { .late_us = -1, .packets = packets_new(), .queue = ATTACH_QUEUE };
	struct attach_options o = { .sink = &sink, .seek = VIEWER_FROM_BEGINNING,
				    .past = attach_past_new() };
	g_mutex_init(&sink.push);
	g_mutex_init(&owner.lock);
	sink.feed = native_feed_new(rows, G_N_ELEMENTS(rows));
	sink.members = g_ptr_array_new();
	relay.source = native_feed_source(sink.feed);
	list(&url);
	attach(&owner, &url, &o);
	attach(&owner, &url, &o);
	g_assert_cmpuint(sink.members->len, ==, 0);
	native_feed_end(sink.feed);
	g_assert_cmpint(fuzz_take(relay.source, &relay.taken, G_MAXINT), ==, SOURCE_END);
	g_assert_cmpuint(native_feed_queued(sink.feed), ==, 0);
	native_feed_free(sink.feed);
	g_ptr_array_unref(sink.members);
	packets_unref(sink.packets);
	attach_past_free(o.past);
	g_mutex_clear(&sink.push);
	g_mutex_clear(&owner.lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	relay = (struct relay){ .now = 1000000, .taken.last = INT64_MIN,
				.asked = g_byte_array_new(), .said = g_byte_array_new() };
	while (size >= 3) {
		size_t n = MIN(data[1] | (size_t)data[2] << 8, size - 3);
		unsigned command = (data[0] & 0x7f) % G_N_ELEMENTS(relay.answers);
		struct answer a = { data[0] & 0x80, data + 3, n };
		g_queue_push_tail(&relay.answers[command], g_memdup2(&a, sizeof a));
		data += 3 + n;
		size -= 3 + n;
	}
	run();
	for (unsigned i = 0; i < G_N_ELEMENTS(relay.answers); i++)
		g_queue_clear_full(&relay.answers[i], g_free);
	g_byte_array_unref(relay.asked);
	g_byte_array_unref(relay.said);
	return 0;
}
