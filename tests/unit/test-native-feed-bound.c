/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What waits in the feed is counted, so that its pusher can bound it: packets, metadata, and what ended streams and
 * traces still hold. It becomes free as they are read, and each event is counted once or reported as unread.
 */
#include "lib/made_feed.h"

#include "base/limits.h"

#include <malloc.h>
#include <string.h>

#define SESSIONS 3000
#define BOUND (1u << 20)
#define CLASSES 40			/* more event classes of each session */
#define EVENTS 50

struct session { unsigned trace, stream; };

static struct session begin(struct live *l, int i, struct made *m, uint64_t at)
{
	g_autofree char *text = made_metadata(i + 1, "ust", BOOT_1, 0);
	GString *more = g_string_new(text);
	struct session s = { .trace = native_feed_add_trace(l->f, "session") };

	for (int k = 0; k < CLASSES; k++)
		g_string_append_printf(more, "event { id = %d; stream_id = 7; name = \"class %d\"; "
				       "fields := struct { u32 a; u8 n; u8 of[n]; string text; }; };\n", k + 10, k);
	native_feed_metadata(l->f, s.trace, g_string_free_to_bytes(more));
	s.stream = native_feed_add_stream(l->f, s.trace, "s", INT64_MAX);
	*m = (struct made){ .uuid = i + 1, .instance = 1 };
	native_feed_packet(l->f, s.stream, made_packet(m, at, at + 1000, 0, EVENTS), NULL);
	return s;
}

static void end(struct live *l, const struct session *s)
{
	native_feed_end_stream(l->f, s->stream);
	native_feed_end_trace(l->f, s->trace);
}

static void assert_nothing_waits(struct live *l)
{
	g_assert_cmpuint(native_feed_queued(l->f), ==, 0);
	g_assert_cmpuint(native_feed_waiting(l->f), ==, 0);
	g_assert_cmpuint(native_feed_bytes(l->f), ==, 0);
}

/* Sessions that begin and end all the time, all of the same instants: the next one waits while much waits. */
static void test_churn(void)
{
	size_t first = 0, most = 0;
	struct live l;
	struct made m;

	made_init(&l);
	for (int i = 0; i < SESSIONS; i++) {
		struct session s = begin(&l, i, &m, 1000);
		end(&l, &s);
		for (int turns = 0; native_feed_waiting(l.f) > BOUND; turns++) {
			g_assert_cmpint(turns, <, 1000);
			made_drain(&l);
		}
		g_array_set_size(l.ev, 0);
		size_t bytes = mallinfo2().uordblks;
		first = i == SESSIONS / 10 ? bytes : first;
		most = MAX(most, bytes);
	}
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, SESSIONS * EVENTS);
	made_drain(&l);			/* what ended in the last batch is freed in the next one */
	assert_nothing_waits(&l);
	g_assert_cmpuint(most, <, MAX(first, 1) + 4 * BOUND);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	made_clear(&l);
}

/* The estimate is at least about the memory that is taken, whatever state the sessions are in. */
static void test_estimate(void)
{
	enum { N = 500 };
	struct session s[N];
	struct live l;
	struct made m;

	made_init(&l);
	struct session holds = begin(&l, N, &m, 1);	/* without more data of it nothing else is delivered */
	made_drain(&l);
	size_t before = mallinfo2().uordblks;
	for (int i = 0; i < N; i++)
		s[i] = begin(&l, i, &m, 5000);
	uint64_t pushed = native_feed_waiting(l.f);
	made_drain(&l);
	for (int i = 0; i < N; i++)
		end(&l, &s[i]);
	made_drain(&l);
	uint64_t waits = native_feed_waiting(l.f);
	size_t taken = mallinfo2().uordblks - before;
	g_test_message("pushed: %" G_GUINT64_FORMAT ", parsed: %" G_GUINT64_FORMAT ", memory: %" G_GSIZE_FORMAT,
		       pushed, waits, taken);
	g_assert_cmpuint(waits * 10, >=, taken * 7);
	g_assert_cmpuint(pushed * 10, >=, taken * 7);
	end(&l, &holds);
	made_drain(&l);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, (N + 1) * EVENTS);
	assert_nothing_waits(&l);
	made_clear(&l);
}

/* A session that goes on is not in what waits: it does not become free. */
static void test_running(void)
{
	struct live l;
	struct made m;

	made_init(&l);
	struct session s = begin(&l, 0, &m, 1000);
	made_drain(&l);
	g_assert_cmpuint(native_feed_waiting(l.f), ==, 0);
	g_assert_cmpuint(native_feed_bytes(l.f), >, 10000);
	native_feed_end_trace(l.f, s.trace);
	made_drain(&l);
	g_assert_cmpuint(native_feed_waiting(l.f), ==, 0);	/* its stream goes on */
	native_feed_end_stream(l.f, s.stream);
	made_drain(&l);
	made_drain(&l);
	assert_nothing_waits(&l);
	made_clear(&l);
}

/* Metadata never comes: packets wait for it, but not for ever while others need the memory. All are reported. */
static void test_no_metadata(void)
{
	enum { N = 300 };
	struct live l;

	for (int pressed = 0; pressed < 2; pressed++) {
		made_init(&l);
		native_feed_set_bound(l.f, pressed ? 50000 : 0);
		unsigned t = native_feed_add_trace(l.f, "without");
		for (int i = 0; i < N; i++) {
			struct made m = { .uuid = 1, .instance = (uint64_t)i };
			unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
			native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, EVENTS), NULL);
		}
		made_drain(&l);
		g_assert_cmpuint(native_feed_waiting(l.f), >, 50000);
		made_pass(&l, (LIMIT_METADATA_SECONDS + 1) * G_USEC_PER_SEC);
		made_drain(&l);
		uint64_t refused = made_status(&l).unplaced;
		g_assert_true(pressed ? refused > 0 && native_feed_waiting(l.f) <= 50000 : !refused);
		native_feed_end_trace(l.f, t);
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		g_assert_cmpuint(made_status(&l).refused, ==, N);
		g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
		made_clear(&l);
	}
}

/* Beacons of a stream whose clock is not known wait as one. */
static void test_beacons(void)
{
	struct live l;

	made_init(&l);
	unsigned t = native_feed_add_trace(l.f, "t"), s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	for (int i = 0; i < 100000; i++) {
		native_feed_beacon(l.f, s, 7, 1000 + (uint64_t)i);
		if (i % 1000 == 0)
			made_drain(&l);
	}
	made_drain(&l);
	g_assert_cmpuint(native_feed_waiting(l.f), <, 10000);
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	native_feed_metadata(l.f, t, g_bytes_new(text, strlen(text)));
	made_drain(&l);
	g_assert_cmpint(l.horizon, ==, 1000 + 99999);
	made_clear(&l);
}

/* Connections that break again and again, each with other streams: those of before are held for a time only. */
static void test_cut(void)
{
	struct live l;
	struct made m;

	made_init(&l);
	for (int i = 0; i < 1000; i++) {
		struct session s = begin(&l, i, &m, 1000 + (uint64_t)i * 2000);
		native_feed_cut_stream(l.f, s.stream);
		native_feed_end_trace(l.f, s.trace);
		l.now += G_USEC_PER_SEC;
		made_drain(&l);
		g_array_set_size(l.ev, 0);
	}
	uint64_t one = native_feed_bytes(l.f) / LIMIT_LOST_SESSION_SECONDS;
	g_assert_cmpuint(native_feed_waiting(l.f), <, 4 * one);	/* a reconnect may go on with them */
	g_assert_cmpuint(native_feed_bytes(l.f), >, 0);
	l.now += (LIMIT_LOST_SESSION_SECONDS + 1) * G_USEC_PER_SEC;
	for (int i = 0; i < 3; i++)
		made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 1000 * EVENTS);
	assert_nothing_waits(&l);
	made_clear(&l);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/native-feed-bound/churn", test_churn);
	g_test_add_func("/native-feed-bound/estimate", test_estimate);
	g_test_add_func("/native-feed-bound/running", test_running);
	g_test_add_func("/native-feed-bound/no-metadata", test_no_metadata);
	g_test_add_func("/native-feed-bound/beacons", test_beacons);
	g_test_add_func("/native-feed-bound/cut", test_cut);
	return g_test_run();
}
