/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of processes that exit, at a relay that delivers nothing more of them then (before 2.15): which are counted
 * as ends_unknown. Network, clock and threads are replaced (--wrap, see the Makefile).
 */
#include "lib/fake_net.h"
#include "live/viewer/attach_private.h"

#include <string.h>

#define MS 1000				/* us */

#define BREAK 0				/* the connection, instead of an answer */

/* What the relay answers to one request for an index, and when. */
struct answer { int status; int64_t after_us; };	/* enum viewer_index_status */

static struct {
	const struct answer *answers;	/* the last one is the end of the stream */
	unsigned at;
	uint32_t minor;
	const char *path;		/* of the stream */
	int64_t goes_on_us;		/* the session, after the stream's end */
	bool breaks;			/* the connection, right after the stream's end */
	int64_t ended_at;
} sim;

void __wrap_link_start(struct link *f, const char *name);

void __wrap_link_start(struct link *f, const char *name)
{
	f->started = fake_net.now;
}

static void say_index(enum viewer_index_status status)
{
	bool packet = status == VIEWER_INDEX_OK;
	uint64_t n = sim.at + 1;
	const uint64_t numbers[] = { 0, packet ? 800 : 0, packet ? 800 : 0, 1000 * n, 1000 * n + 500, 0, 0 };

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		fake_say_u64(fake_net.said, numbers[i]);
	fake_say_u32(fake_net.said, status);
	fake_say_u32(fake_net.said, 0);
}

static bool answer_index(void)
{
	const struct answer *a = &sim.answers[sim.at];

	if (a->status == BREAK)
		return false;
	fake_net.now += a->after_us;
	say_index((enum viewer_index_status)a->status);
	if (a->status == VIEWER_INDEX_HUP)
		sim.ended_at = fake_net.now;
	else
		sim.at++;
	return true;
}

static void answer_streams(void)
{
	bool over = sim.ended_at && fake_net.now - sim.ended_at >= sim.goes_on_us;

	fake_say_u32(fake_net.said, over ? VIEWER_STREAMS_HUP : VIEWER_STREAMS_NONE);
	fake_say_u32(fake_net.said, 0);
}

static bool say(uint32_t command, const uint8_t *payload, uint64_t size, int64_t deadline)
{
	if (sim.breaks && sim.ended_at)
		return false;
	if (command == VIEWER_CONNECT) {
		fake_say_u64(fake_net.said, 1);
		fake_say_u32(fake_net.said, 2);
		fake_say_u32(fake_net.said, sim.minor);
		fake_say_u32(fake_net.said, 1);
	} else if (command == VIEWER_CREATE) {
		fake_say_u32(fake_net.said, 1);
	} else if (command == VIEWER_ATTACH) {
		fake_say_u32(fake_net.said, VIEWER_ATTACHED);
		fake_say_u32(fake_net.said, 1);
		fake_say_u64(fake_net.said, 7);
		fake_say_u64(fake_net.said, 1);
		fake_say_u32(fake_net.said, 0);
		fake_say_text(fake_net.said, sim.path, VIEWER_PATH_SIZE);
		fake_say_text(fake_net.said, "chan_0", VIEWER_NAME_SIZE);
	} else if (command == VIEWER_NEXT_INDEX) {
		return answer_index();
	} else if (command == VIEWER_PACKET) {
		fake_say_u32(fake_net.said, VIEWER_PACKET_OK);
		fake_say_u32(fake_net.said, 100);
		fake_say_u32(fake_net.said, 0);
		fake_say_text(fake_net.said, "", 100);
	} else {
		answer_streams();
	}
	return true;
}

struct outcome {
	enum link_end end;
	unsigned ends_unknown, given_up;
	bool withheld;
};

/* Of one stream whose relay answers so over one connection. */
static struct outcome connect_once(const struct answer *answers, struct attach_history *history)
{
	const struct live_url url = { .host = (char *)"relay", .port = 5344 };
	const struct viewer_session session = { .id = 1, .timer_us = 100 * MS, .host = "web1", .name = "spans" };
	struct link_owner owner = { .timeout_ms = 1000 };
	struct attach_sink sink = { .late_us = -1, .queue = ATTACH_QUEUE, .packets = packets_new(),
				    .feed = native_feed_new(NULL, 0), .members = g_ptr_array_new() };
	struct attach_options options = { .sink = &sink, .seek = VIEWER_FROM_BEGINNING, .history = history };

	sim.answers = answers;
	sim.at = 0;
	sim.ended_at = 0;
	fake_net_begin(G_USEC_PER_SEC, say);
	g_mutex_init(&owner.lock);
	g_mutex_init(&sink.push);
	struct link *f = attach_new(&owner, &url, &session, &options);
	enum link_end end = attach_run(f, &f->why);
	struct outcome o = { end, f->ends_unknown, f->given_up, f->withheld };
	link_free(f);
	native_feed_free(sink.feed);
	g_ptr_array_unref(sink.members);
	packets_unref(sink.packets);
	g_mutex_clear(&sink.push);
	g_mutex_clear(&owner.lock);
	fake_net_end();
	return o;
}

static unsigned ends_unknown(const struct answer *answers)
{
	struct attach_history *history = attach_history_new();
	struct outcome o = connect_once(answers, history);

	g_assert_cmpint(o.end, ==, sim.breaks ? LINK_LOST : LINK_SESSION_ENDED);
	attach_history_free(history);
	return o.ends_unknown;
}

static const struct answer
	at_last[] = { { VIEWER_INDEX_RETRY, 0 }, { VIEWER_INDEX_OK, 50 * MS }, { VIEWER_INDEX_RETRY, 0 },
		      { VIEWER_INDEX_HUP, 0 } },
	frozen[] = { { VIEWER_INDEX_RETRY, 0 }, { VIEWER_INDEX_OK, 50 * MS }, { VIEWER_INDEX_RETRY, 0 },
		     { VIEWER_INDEX_HUP, 300 * MS } },
	delayed[] = { { VIEWER_INDEX_OK, 50 * MS }, { VIEWER_INDEX_RETRY, 300 * MS }, { VIEWER_INDEX_HUP, 0 } },
	frozen_before[] = { { VIEWER_INDEX_RETRY, 0 }, { VIEWER_INDEX_OK, 300 * MS }, { VIEWER_INDEX_RETRY, 0 },
			    { VIEWER_INDEX_HUP, 0 } },
	backlog[] = { { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_HUP, 0 } },
	caught_up[] = { { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_RETRY, 0 },
			{ VIEWER_INDEX_HUP, 0 } },
	silent[] = { { VIEWER_INDEX_RETRY, 0 }, { VIEWER_INDEX_RETRY, 200 * MS }, { VIEWER_INDEX_RETRY, 200 * MS },
		     { VIEWER_INDEX_HUP, 0 } };

static void begin(uint32_t minor, int64_t goes_on_us, bool breaks)
{
	memset(&sim, 0, sizeof sim);
	sim.minor = minor;
	sim.path = "ust/pid/server-100-20261127-120000";
	sim.goes_on_us = goes_on_us;
	sim.breaks = breaks;
}

/* What follows from the stream's end alone, whatever becomes of the session; and 1 more if the relay did not answer for
 * long, as another process may have come and gone. */
static void test_unseen(void)
{
	for (int64_t goes_on = 0; goes_on <= 3000 * MS; goes_on += 3000 * MS) {
		begin(13, goes_on, false);
		g_assert_cmpuint(ends_unknown(at_last), ==, 0);
		g_assert_cmpuint(ends_unknown(caught_up), ==, 0);
		g_assert_cmpuint(ends_unknown(frozen), ==, 1 + 1);
		g_assert_cmpuint(ends_unknown(delayed), ==, 1 + 1);	/* the relay may have answered at once */
		g_assert_cmpuint(ends_unknown(frozen_before), ==, 0 + 1);
		g_assert_cmpuint(ends_unknown(backlog), ==, 1);
	}
}

/* It was silent for long: where tracing was stopped before the session's end, there was no more. */
static void test_silent(void)
{
	begin(13, 0, false);
	g_assert_cmpuint(ends_unknown(silent), ==, 0);
	begin(13, 3000 * MS, false);
	g_assert_cmpuint(ends_unknown(silent), ==, 1);
	begin(13, 3000 * MS, true);
	g_assert_cmpuint(ends_unknown(silent), ==, 1);
	g_assert_cmpuint(ends_unknown(frozen), ==, 1 + 1);
	g_assert_cmpuint(ends_unknown(at_last), ==, 0);
}

/* The stream is closed while the viewer skips what it had over an earlier connection: the history is not that of
 * another stream. */
static void test_closed_again(void)
{
	static const struct answer first[] = { { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_OK, 0 },
					       { VIEWER_INDEX_RETRY, 0 }, { VIEWER_INDEX_RETRY, 600 * MS },
					       { BREAK, 0 } },
		again[] = { { VIEWER_INDEX_OK, 0 }, { VIEWER_INDEX_HUP, 0 } };

	for (int64_t goes_on = 0; goes_on <= 3000 * MS; goes_on += 3000 * MS) {
		struct attach_history *history = attach_history_new();
		begin(13, goes_on, false);
		g_assert_cmpint(connect_once(first, history).end, ==, LINK_LOST);
		struct outcome o = connect_once(again, history);
		g_assert_cmpint(o.end, ==, LINK_SESSION_ENDED);
		g_assert_cmpuint(o.given_up, ==, 1);
		g_assert_true(o.withheld);
		attach_history_free(history);
	}
}

/* A newer relay delivers all of the streams that it announced. */
static void test_newer(void)
{
	begin(15, 3000 * MS, false);
	g_assert_cmpuint(ends_unknown(at_last), ==, 0);
	g_assert_cmpuint(ends_unknown(caught_up), ==, 0);
	g_assert_cmpuint(ends_unknown(frozen), ==, 1);	/* another process may have come and gone */
	g_assert_cmpuint(ends_unknown(backlog), ==, 0);
	g_assert_cmpuint(ends_unknown(silent), ==, 0);
}

/* Buffers per user: no stream comes or goes with a process. */
static void test_of_user(void)
{
	begin(15, 3000 * MS, false);
	sim.path = "ust/uid/0/64-bit";
	g_assert_cmpuint(ends_unknown(frozen), ==, 0);
	sim.minor = 13;
	g_assert_cmpuint(ends_unknown(frozen), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process-ends/unseen", test_unseen);
	g_test_add_func("/process-ends/silent", test_silent);
	g_test_add_func("/process-ends/closed-again", test_closed_again);
	g_test_add_func("/process-ends/newer-relays", test_newer);
	g_test_add_func("/process-ends/buffers-per-user", test_of_user);
	return g_test_run();
}
