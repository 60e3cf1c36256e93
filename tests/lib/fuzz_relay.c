/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/fuzz_relay.h"

#include <string.h>
#include <time.h>

#include "live/viewer/attach.h"
#include "trace/native/native_feed.h"

#define MOST_QUESTIONS 20000
#define MOST_AT_ONCE 10000
#define MOST_BYTES (8u << 20)

/* One run. The functions that are replaced have no other way to it. */
static struct {
	const struct fuzz_relay *with;
	unsigned questions;			/* in all */
	unsigned at_once;			/* since it waited */
	size_t bytes;				/* said, in all */
	struct source *source;
} relay;

/* ---- what it says ---- */

/* Bytes of the payload of each question. */
static const size_t sizes[] = {
	[VIEWER_CONNECT] = VIEWER_CONNECT_SIZE, [VIEWER_LIST] = 0, [VIEWER_ATTACH] = 20, [VIEWER_NEXT_INDEX] = 8,
	[VIEWER_PACKET] = 20, [VIEWER_METADATA] = 8, [VIEWER_NEW_STREAMS] = 8, [VIEWER_CREATE] = 0, [VIEWER_DETACH] = 8,
};

/* False: it has had enough. */
static bool answer(uint32_t command, const uint8_t *payload, uint64_t size, int64_t deadline)
{
	if (relay.bytes > MOST_BYTES || ++relay.questions > MOST_QUESTIONS)
		return false;
	g_assert_cmpuint(++relay.at_once, <, MOST_AT_ONCE);
	g_assert_cmpuint(command, >=, VIEWER_CONNECT);
	g_assert_cmpuint(command, <=, VIEWER_DETACH);
	g_assert_cmpuint(size, ==, sizes[command]);
	relay.with->answer(relay.with->data, command, payload, fake_net.said);
	relay.bytes += fake_net.said->len;
	return true;
}

/* Somebody takes the records meanwhile. */
static void take_records(void)
{
	relay.at_once = 0;
	fuzz_take(relay.source, relay.with->taken, 100);
}

void __wrap_link_start(struct link *f, const char *name);

void __wrap_link_start(struct link *f, const char *name)
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

static void attach(struct link_owner *owner, const struct live_url *url, struct attach_options *o)
{
	const struct viewer_session session = { .id = 1, .timer_us = 100000, .format = relay.with->format,
						.host = "web1", .name = "spans" };
	struct link *f = attach_new(owner, url, &session, o);
	enum link_end end = attach_run(f, &f->why);
	g_assert_cmpint(end, >, LINK_RUNS);
	g_assert_cmpint(end, <, LINK_N_ENDS);
	g_assert_true(!f->why || g_utf8_validate(f->why, -1, NULL));
	link_free(f);
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
	struct link_owner owner = { .rows = rows, .n_rows = n_rows, .timeout_ms = 1000 };
	struct attach_sink sink = { .late_us = -1, .packets = packets_new(), .queue = ATTACH_QUEUE,
				    .spool = new_spool(with->spool) };
	struct attach_options o = { .sink = &sink, .seek = VIEWER_FROM_BEGINNING,
				    .history = attach_history_new() };
	memset(&relay, 0, sizeof relay);
	relay.with = with;
	fake_net_begin(now_us(), answer);
	fake_net.read_us = 20;
	fake_net.slept = take_records;
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
	attach_history_free(o.history);
	g_mutex_clear(&sink.push);
	g_mutex_clear(&owner.lock);
	fake_net_end();
}
