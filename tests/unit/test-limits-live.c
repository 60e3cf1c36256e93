/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of what a relay says, and of the times for which it is waited for. Network, clock and threads
 * are replaced (--wrap, see the Makefile): nothing waits.
 */
#include "base/limits.h"
#include "lib/fake_net.h"
#include "lib/limit_test.h"
#include "live/viewer/attach_private.h"
#include "live/viewer/source_live.h"

#include <string.h>

static const struct live_url url = { .host = (char *)"relay", .port = 5344, .target = (char *)"web1",
				     .session = (char *)"spans" };

/* ---- a relay, as far as a test says it ---- */

static struct {
	int64_t delay;			/* us: until each answer comes */
	void (*answer)(enum viewer_command command);
	uint64_t n;			/* the test's */
	unsigned count, minor;
	struct live *live;
	GThreadFunc thread;		/* that was to be started last, */
	void *thread_data;
} sim;

/* Up to 2.14. */
static void say_session(uint64_t id)
{
	fake_say_u64(fake_net.said, id);
	fake_say_u32(fake_net.said, 1000000);
	fake_say_u32(fake_net.said, 0);
	fake_say_u32(fake_net.said, 1);
	fake_say_text(fake_net.said, "web1", VIEWER_HOST_SIZE);
	fake_say_text(fake_net.said, "spans", VIEWER_NAME_SIZE);
}

static void say_stream(uint64_t id, uint64_t trace)
{
	fake_say_u64(fake_net.said, id);
	fake_say_u64(fake_net.said, trace);
	fake_say_u32(fake_net.said, 0);
	fake_say_text(fake_net.said, "ust/uid/0/64-bit", VIEWER_PATH_SIZE);
	fake_say_text(fake_net.said, "chan_0", VIEWER_NAME_SIZE);
}

static void say_index(enum viewer_index_status status)
{
	for (int i = 0; i < 7; i++)
		fake_say_u64(fake_net.said, 0);
	fake_say_u32(fake_net.said, status);
	fake_say_u32(fake_net.said, 0);
}

static bool say(uint32_t command, const uint8_t *payload, uint64_t size, int64_t deadline)
{
	if (fake_net.now + sim.delay > deadline)
		return false;
	fake_net.now += sim.delay;
	if (command == VIEWER_CONNECT) {
		fake_say_u64(fake_net.said, 1);
		fake_say_u32(fake_net.said, 2);
		fake_say_u32(fake_net.said, sim.minor);
		fake_say_u32(fake_net.said, 1);
	} else if (command == VIEWER_CREATE || command == VIEWER_DETACH) {
		fake_say_u32(fake_net.said, 1);
	} else {
		sim.answer(command);
	}
	return true;
}

static void sim_begin(void (*answer)(enum viewer_command command), uint64_t n)
{
	memset(&sim, 0, sizeof sim);
	fake_net_begin(G_USEC_PER_SEC, say);
	sim.minor = 13;
	sim.answer = answer;
	sim.n = n;
}

/* ---- instead of threads ---- */

void __wrap_link_start(struct link *f, const char *name);
GThread *__wrap_g_thread_new(const char *name, GThreadFunc func, gpointer data);
gpointer __wrap_g_thread_join(GThread *thread);

void __wrap_link_start(struct link *f, const char *name)
{
	f->started = fake_net.now;
}

GThread *__wrap_g_thread_new(const char *name, GThreadFunc func, gpointer data)
{
	sim.thread = func;
	sim.thread_data = data;
	return NULL;
}

gpointer __wrap_g_thread_join(GThread *thread)
{
	return NULL;
}

/* ---- lists ---- */

/* Are the sessions listed, and how many? */
static bool has_session(guint n, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = NULL;
	struct viewer *v = viewer_open(&url, LIVE_DEFAULT_TIMEOUT_MS, -1, &error);

	g_assert_no_error(error);
	list = viewer_list(v, &error);
	viewer_free(v);
	fake_net_end();
	g_assert_true(!list || list->len == n);
	return limit_taken(error, words);
}

static void answer_sessions(enum viewer_command command)
{
	fake_say_u32(fake_net.said, (uint32_t)sim.n);
	for (uint64_t i = 0; i < sim.n; i++)
		say_session(i + 1);
}

static bool relay_sessions(uint64_t n)
{
	sim_begin(answer_sessions, n);
	return has_session((guint)n, "it claims to have 4097");
}

static void answer_names(enum viewer_command command)
{
	g_autofree char *name = g_strnfill(sim.n, 'x');

	fake_say_u32(fake_net.said, 1);
	fake_say_u64(fake_net.said, 1);
	for (int i = 0; i < 3; i++)
		fake_say_u32(fake_net.said, 1);
	fake_say_u32(fake_net.said, (uint32_t)sim.n);
	fake_say_u32(fake_net.said, (uint32_t)sim.n);
	fake_say_u32(fake_net.said, 1);
	fake_say_text(fake_net.said, name, sim.n);
	fake_say_text(fake_net.said, name, sim.n);
}

static bool relay_name_bytes(uint64_t n)
{
	sim_begin(answer_names, n);
	sim.minor = 15;
	return has_session(1, "a name is too long");
}

static bool relay_timeout_seconds(uint64_t n)
{
	g_autoptr(GError) error = NULL;

	sim_begin(answer_sessions, 1);
	struct viewer *v = viewer_open(&url, LIVE_DEFAULT_TIMEOUT_MS, -1, &error);
	g_assert_no_error(error);
	sim.delay = (int64_t)n * G_USEC_PER_SEC;
	g_autoptr(GArray) list = viewer_list(v, &error);
	g_assert_true(!list == (error != NULL));
	viewer_free(v);
	fake_net_end();
	return limit_taken(error, "no answer in time");
}

/* ---- attachments ---- */

struct attached {
	struct link_owner owner;
	struct attach_sink sink;
	struct attach_options options;
	struct link *f;
};

static void attached_begin(struct attached *x)
{
	const struct viewer_session session = { .id = 1, .timer_us = 100000, .host = "web1", .name = "spans" };

	*x = (struct attached){ .owner.timeout_ms = LIVE_DEFAULT_TIMEOUT_MS, .sink.late_us = -1,
				.sink.queue = ATTACH_QUEUE };
	g_mutex_init(&x->owner.lock);
	g_mutex_init(&x->sink.push);
	x->sink.packets = packets_new();
	x->sink.feed = native_feed_new(NULL, 0);
	x->sink.members = g_ptr_array_new();
	x->options = (struct attach_options){ .sink = &x->sink, .seek = VIEWER_FROM_BEGINNING,
					      .history = attach_history_new() };
	x->f = attach_new(&x->owner, &url, &session, &x->options);
}

static void attached_end(struct attached *x)
{
	link_free(x->f);
	native_feed_free(x->sink.feed);
	g_ptr_array_unref(x->sink.members);
	packets_unref(x->sink.packets);
	attach_history_free(x->options.history);
	g_mutex_clear(&x->sink.push);
	g_mutex_clear(&x->owner.lock);
}

static enum link_end run(const char *words)
{
	struct attached x;

	attached_begin(&x);
	enum link_end end = attach_run(x.f, &x.f->why);
	if (end == LINK_BROKEN && !strstr(x.f->why, words))
		g_error("'%s' is not about '%s'", x.f->why, words);
	attached_end(&x);
	fake_net_end();
	return end;
}

static void answer_streams(enum viewer_command command)
{
	if (command == VIEWER_ATTACH) {
		fake_say_u32(fake_net.said, VIEWER_ATTACHED);
		fake_say_u32(fake_net.said, (uint32_t)sim.n);
		for (uint64_t i = 0; i < sim.n; i++)
			say_stream(i + 1, 1);
	} else if (command == VIEWER_NEXT_INDEX) {
		say_index(VIEWER_INDEX_HUP);
	} else {
		fake_say_u32(fake_net.said, VIEWER_STREAMS_HUP);
		fake_say_u32(fake_net.said, 0);
	}
}

static bool relay_streams(uint64_t n)
{
	sim_begin(answer_streams, n);
	return run("too many streams") != LINK_BROKEN;
}

static void answer_errors(enum viewer_command command)
{
	if (command == VIEWER_ATTACH) {
		fake_say_u32(fake_net.said, VIEWER_ATTACHED);
		fake_say_u32(fake_net.said, 1);
		say_stream(1, 1);
	} else if (command == VIEWER_NEXT_INDEX) {
		say_index(sim.count++ < sim.n ? VIEWER_INDEX_ERR : VIEWER_INDEX_HUP);
	} else {
		bool over = fake_net.now > 1000 * (int64_t)G_USEC_PER_SEC;
		fake_say_u32(fake_net.said, over ? VIEWER_STREAMS_HUP : VIEWER_STREAMS_NONE);
		fake_say_u32(fake_net.said, 0);
	}
}

/* Is the stream asked for once more after n errors? */
static bool stream_errors(uint64_t n)
{
	sim_begin(answer_errors, n);
	g_assert_cmpint(run(""), ==, LINK_SESSION_ENDED);
	g_assert_cmpuint(sim.count, <=, n + 1);
	return sim.count == n + 1;
}

static struct {
	unsigned index, metadata, streams;
} asked;

/* Nothing, for ever, with the hint that there is something. */
static void answer_nothing(enum viewer_command command)
{
	bool over = fake_net.now > 11 * G_USEC_PER_SEC;

	if (command == VIEWER_ATTACH) {
		fake_say_u32(fake_net.said, VIEWER_ATTACHED);
		fake_say_u32(fake_net.said, 2);
		say_stream(1, 1);
		say_stream(2, 1);
		fake_net.said->data[fake_net.said->len - VIEWER_STREAM_SIZE + 19] = 1;	/* of metadata */
	} else if (command == VIEWER_NEXT_INDEX) {
		asked.index++;
		say_index(over ? VIEWER_INDEX_HUP : VIEWER_INDEX_RETRY);
		fake_net.said->data[fake_net.said->len - 1] = VIEWER_FLAG_METADATA | VIEWER_FLAG_STREAMS;
	} else if (command == VIEWER_METADATA) {
		asked.metadata++;
		fake_say_u64(fake_net.said, 0);
		fake_say_u32(fake_net.said, over ? VIEWER_METADATA_NONE : VIEWER_METADATA_OK);
	} else {
		asked.streams++;
		fake_say_u32(fake_net.said, over ? VIEWER_STREAMS_HUP : VIEWER_STREAMS_OK);
		fake_say_u32(fake_net.said, 0);
	}
	/* ten seconds; the pauses are 10 ms, a tenth of the live timer, and of metadata 20 to 200 ms */
	g_assert_cmpuint(asked.index, <, 1100);
	g_assert_cmpuint(asked.metadata, <, 110);
	g_assert_cmpuint(asked.streams, <, 2200);
}

static void test_pauses(void)
{
	sim_begin(answer_nothing, 0);
	g_assert_cmpint(run(""), ==, LINK_SESSION_ENDED);
	g_assert_cmpuint(asked.index, >, 100);
	g_assert_cmpuint(asked.metadata, >, 50);
	g_assert_cmpuint(asked.streams, >, 100);
}

static void stream_free(void *stream)
{
	struct viewer_stream *s = stream;
	g_free(s->name);
	g_free(s);
}

/* Of n traces, a stream each. */
static GPtrArray *streams_of(uint64_t n)
{
	GPtrArray *streams = g_ptr_array_new_with_free_func(stream_free);

	for (uint64_t i = 1; i <= n; i++) {
		struct viewer_stream *s = g_new0(struct viewer_stream, 1);
		*s = (struct viewer_stream){ .id = i, .trace = i, .name = g_strdup("ust/uid/0/64-bit/chan_0") };
		g_ptr_array_add(streams, s);
	}
	return streams;
}

static bool relay_traces(uint64_t n)
{
	g_autoptr(GPtrArray) streams = streams_of(n);
	struct attached x;

	sim_begin(answer_streams, 0);
	attached_begin(&x);
	struct attach *a = (struct attach *)x.f;
	a->v = viewer_open(&url, LIVE_DEFAULT_TIMEOUT_MS, -1, NULL);
	g_assert_true(attach_add_streams(a, streams) == (n <= LIMIT_RELAY_TRACES));
	viewer_free(g_steal_pointer(&a->v));
	guint traces = g_hash_table_size(a->traces);
	g_assert_cmpuint(traces, ==, MIN(n, LIMIT_RELAY_TRACES));
	g_assert_cmpuint(a->streams->len, ==, traces);
	attached_end(&x);
	fake_net_end();
	return traces == n;
}

/* What came, while the relay is not asked for new streams: is it held until just before n ms? */
static bool news_ms(uint64_t n)
{
	g_autoptr(GPtrArray) streams = streams_of(1);
	struct attached x;

	sim_begin(answer_streams, 0);
	attached_begin(&x);
	struct attach *a = (struct attach *)x.f;
	g_assert_true(attach_add_streams(a, streams));
	attach_set_member(a, true);
	attach_hold(a, &(struct held){ .kind = HELD_END, .stream = a->streams->pdata[0] });
	fake_net.now += (int64_t)n * G_TIME_SPAN_MILLISECOND - 1;
	attach_release(a, false);
	bool held = !g_queue_is_empty(&a->held);
	attach_release(a, true);
	attach_set_member(a, false);
	attached_end(&x);
	fake_net_end();
	return held;
}

/* ---- the live source ---- */

static void live_begin(void)
{
	const struct live_options options = { .timeout_ms = LIVE_DEFAULT_TIMEOUT_MS, .late_ns = -1 };

	sim.live = (struct live *)live_open(&url, 1, &options, NULL, 0, NULL);
	g_assert_nonnull(sim.thread);
}

static void end_links(enum link_end as)
{
	for (guint i = 0; i < sim.live->links->len; i++) {
		struct link *f = sim.live->links->pdata[i];
		f->end = f->end ? f->end : as;
	}
}

static void live_end(void)
{
	end_links(LINK_LOST);
	source_free(&sim.live->source);
	fake_net_end();
}

/* Every 9 s, and each attachment breaks. */
static void answer_broken(enum viewer_command command)
{
	fake_net.now += 9 * G_USEC_PER_SEC;
	if (sim.live->links->len && sim.count < sim.n) {
		end_links(LINK_BROKEN);
		sim.count++;
	} else if (sim.count == sim.n) {
		sim.live->stop = true;
	}
	fake_say_u32(fake_net.said, 1);
	say_session(1);
}

static bool broken_answers(uint64_t n)
{
	sim_begin(answer_broken, n);
	live_begin();
	sim.thread(sim.thread_data);
	bool taken = limit_taken(sim.live->fatal, "cannot read session 'spans'");
	live_end();
	return taken;
}

/* The same, but each connection was lost with a packet under way. */
static void answer_stuck(enum viewer_command command)
{
	for (guint i = 0; i < sim.live->links->len; i++)
		((struct link *)sim.live->links->pdata[i])->has_outstanding = true;
	fake_net.now += 9 * G_USEC_PER_SEC;
	if (sim.live->links->len && sim.count < sim.n) {
		end_links(LINK_LOST);
		sim.count++;
	} else if (sim.count == sim.n) {
		sim.live->stop = true;
	}
	fake_say_u32(fake_net.said, 1);
	say_session(1);
}

static bool stuck_connections(uint64_t n)
{
	sim_begin(answer_stuck, n);
	live_begin();
	sim.thread(sim.thread_data);
	bool taken = limit_taken(sim.live->fatal, "connections broke before a packet was received");
	live_end();
	return taken;
}

/* All sessions have the wanted name. */
static void answer_equal(enum viewer_command command)
{
	fake_say_u32(fake_net.said, (uint32_t)sim.n);
	for (uint64_t i = 0; i < sim.n; i++)
		say_session(i + 1);
	sim.live->stop |= sim.count++ > 0;
}

static bool attached_sessions(uint64_t n)
{
	struct live_status st;

	sim_begin(answer_equal, n);
	live_begin();
	sim.thread(sim.thread_data);
	guint attached = sim.live->links->len;
	live_get_status(&sim.live->source, &st);
	g_assert_cmpuint(attached, ==, MIN(n, LIMIT_ATTACHED_SESSIONS));
	g_assert_true(st.missing.gave_up == (attached < n));
	g_assert_true(!st.missing.gave_up || strstr(st.missing.why, "1 more of this name"));
	live_end();
	return attached == n;
}

/* The session is there, then it is gone: at once, n s later, and then nobody asks any more. */
static void answer_lost(enum viewer_command command)
{
	unsigned look = sim.count++;

	if (look == 1)
		end_links(LINK_LOST);
	if (look == 2)
		fake_net.now += (int64_t)sim.n * G_USEC_PER_SEC;
	if (look == 3)
		sim.live->stop = true;
	fake_say_u32(fake_net.said, look == 0);
	if (look == 0)
		say_session(1);
}

static bool lost_session_seconds(uint64_t n)
{
	sim_begin(answer_lost, n);
	live_begin();
	sim.thread(sim.thread_data);
	g_assert_null(sim.live->fatal);
	bool waits = !sim.live->ended;
	live_end();
	return waits;
}

/* Until just before n s. */
static bool unreadable_seconds(uint64_t n)
{
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;

	sim_begin(answer_lost, n);
	live_begin();
	unsigned t = native_feed_add_trace(sim.live->sink.feed, "bad");
	native_feed_metadata(sim.live->sink.feed, t, g_bytes_new_static("/* CTF 7 */", 11));
	g_assert_cmpint(source_next(&sim.live->source, &batch, &error), ==, SOURCE_AGAIN);
	fake_net.now += (int64_t)n * G_USEC_PER_SEC - 1;
	source_next(&sim.live->source, &batch, &error);
	live_end();
	return limit_taken(error, "cannot read metadata");
}

static bool live_timer_seconds(uint64_t n)
{
	return link_timer_patience((uint32_t)n * G_USEC_PER_SEC) == (2 * (int64_t)n + 1) * G_USEC_PER_SEC;
}

/* ---- URLs ---- */

static bool is_url(const char *format, uint64_t n, const char *words)
{
	g_autofree char *name = g_strnfill(n, 'x'), *text = g_strdup_printf(format, name);
	struct live_url parsed = { 0 };
	g_autoptr(GError) error = NULL;

	if (live_url_parse(text, &parsed, &error))
		live_url_clear(&parsed);
	return limit_taken(error, words);
}

static bool host_bytes(uint64_t n)
{
	return is_url("net://%s", n, "the host's name is too long");
}

static bool target_bytes(uint64_t n)
{
	return is_url("net://h/host/%s/s", n, "the traced host's name is too long");
}

static bool session_bytes(uint64_t n)
{
	return is_url("net://h/host/t/%s", n, "the session's name is too long");
}

/* Slashes at the end are no part of a name. */
static bool url_bytes(uint64_t n)
{
	g_autofree char *slashes = g_strnfill(n - strlen("net://h"), '/');
	g_autofree char *text = g_strconcat("net://h", slashes, NULL);
	struct live_url parsed = { 0 };
	g_autoptr(GError) error = NULL;

	if (live_url_parse(text, &parsed, &error))
		live_url_clear(&parsed);
	return !error || !strstr(error->message, "it is too long");
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "relay-sessions", relay_sessions, 0 }, { "relay-name-bytes", relay_name_bytes, 0 },
		{ "relay-timeout-seconds", relay_timeout_seconds, 0 }, { "relay-streams", relay_streams, 0 },
		{ "stream-errors", stream_errors, 0 }, { "relay-traces", relay_traces, 0 }, { "news-ms", news_ms, 0 },
		{ "broken-answers", broken_answers, 0 }, { "stuck-connections", stuck_connections, 0 },
		{ "lost-session-seconds", lost_session_seconds, 0 },
		{ "unreadable-seconds", unreadable_seconds, 0 }, { "attached-sessions", attached_sessions, 0 },
		{ "live-timer-seconds", live_timer_seconds, 0 },
		{ "host-bytes", host_bytes, 0 }, { "target-bytes", target_bytes, 0 },
		{ "session-bytes", session_bytes, 0 }, { "url-bytes", url_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	g_test_add_func("/relay/pauses", test_pauses);
	return g_test_run();
}
