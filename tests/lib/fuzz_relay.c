/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/fuzz_relay.h"

#include <string.h>
#include <time.h>

#include "live/attach.h"
#include "trace/native_feed.h"

#define MOST_QUESTIONS 20000
#define MOST_BYTES (8u << 20)

/* One run. The functions that are replaced have no other way to it. */
static struct {
	const struct fuzz_relay *with;
	GByteArray *asked, *said;		/* not looked at yet; not read yet */
	size_t said_at;
	unsigned questions;
	size_t bytes;				/* said, in all */
	int64_t now;
	struct source *source;
} relay;

/* ---- what it says ---- */

/* Bytes of the payload of each question. */
static const size_t sizes[] = {
	[VIEWER_CONNECT] = VIEWER_CONNECT_SIZE, [VIEWER_LIST] = 0, [VIEWER_ATTACH] = 20, [VIEWER_NEXT_INDEX] = 8,
	[VIEWER_PACKET] = 20, [VIEWER_METADATA] = 8, [VIEWER_NEW_STREAMS] = 8, [VIEWER_CREATE] = 0, [VIEWER_DETACH] = 8,
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
	g_assert_cmpuint(size, ==, sizes[command]);
	g_assert_cmpuint(size + VIEWER_HEADER, <=, relay.asked->len);
	g_byte_array_set_size(relay.said, 0);
	relay.said_at = 0;
	relay.with->answer(relay.with->data, command, p + VIEWER_HEADER, relay.said);
	relay.bytes += relay.said->len;
	g_byte_array_remove_range(relay.asked, 0, (guint)(VIEWER_HEADER + size));
	return true;
}

void fuzz_say_u32(GByteArray *said, uint32_t v)
{
	uint8_t p[4];
	viewer_put_u32(p, v);
	g_byte_array_append(said, p, sizeof p);
}

void fuzz_say_u64(GByteArray *said, uint64_t v)
{
	uint8_t p[8];
	viewer_put_u64(p, v);
	g_byte_array_append(said, p, sizeof p);
}

void fuzz_say_text(GByteArray *said, const char *text, size_t size)
{
	g_autofree char *field = g_malloc0(size);
	memcpy(field, text, MIN(size, strlen(text)));
	g_byte_array_append(said, (const uint8_t *)field, (guint)size);
}

void fuzz_say_padded(GByteArray *said, const uint8_t *bytes, size_t n, size_t size)
{
	guint at = said->len;
	g_byte_array_set_size(said, at + (guint)size);
	if (n)
		memcpy(said->data + at, bytes, MIN(n, size));
	if (n < size)
		memset(said->data + at + n, 0, size - n);
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
	fuzz_take(relay.source, relay.with->taken, 100);
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
	const struct viewer_session session = { .id = 1, .timer_us = 100000, .format = relay.with->format,
						.host = "web1", .name = "spans" };
	struct feed *f = attach_new(owner, url, &session, o);
	enum feed_end end = attach_run(f, &f->why);
	g_assert_cmpint(end, >, FEED_RUNS);
	g_assert_cmpint(end, <, FEED_N_ENDS);
	g_assert_true(!f->why || g_utf8_validate(f->why, -1, NULL));
	feed_free(f);
}

/* Its clock begins with that of conditions, which wait for threads. */
static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

static struct spool *new_spool(const char *dir)
{
	g_autoptr(GError) error = NULL;
	struct spool *s = dir ? spool_new(dir, 0, "fuzz", &error) : NULL;
	g_assert_no_error(error);
	return s;
}

void fuzz_relay_run(const struct fuzz_relay *with, const struct blk_subscription *rows, size_t n_rows)
{
	struct live_url url = { .host = (char *)"relay", .port = 5344 };
	struct feed_owner owner = { .rows = rows, .n_rows = n_rows, .timeout_ms = 1000 };
	struct attach_sink sink = { .late_us = -1, .packets = packets_new(), .queue = ATTACH_QUEUE,
				    .spool = new_spool(with->spool) };
	struct attach_options o = { .sink = &sink, .seek = VIEWER_FROM_BEGINNING,
				    .past = attach_past_new() };
	memset(&relay, 0, sizeof relay);
	relay.with = with;
	relay.now = now_us();
	relay.asked = g_byte_array_new();
	relay.said = g_byte_array_new();
	g_mutex_init(&sink.push);
	g_mutex_init(&owner.lock);
	sink.feed = native_feed_new(rows, n_rows);
	sink.members = g_ptr_array_new();
	relay.source = native_feed_source(sink.feed);
	if (with->lists)
		list(&url);
	for (unsigned i = 0; i < 2; i++)
		attach(&owner, &url, &o);
	g_assert_cmpuint(sink.members->len, ==, 0);
	native_feed_end(sink.feed);
	g_assert_cmpint(fuzz_take(relay.source, with->taken, G_MAXINT), ==, SOURCE_END);
	g_assert_cmpuint(native_feed_queued(sink.feed), ==, 0);
	native_feed_free(sink.feed);
	spool_unref(sink.spool);
	g_ptr_array_unref(sink.members);
	packets_unref(sink.packets);
	attach_past_free(o.past);
	g_mutex_clear(&sink.push);
	g_mutex_clear(&owner.lock);
	g_byte_array_unref(relay.asked);
	g_byte_array_unref(relay.said);
}
