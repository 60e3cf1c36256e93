/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trees of spans whatever they claim, the verdicts of the story, and the waterfall.
 */
#include "base/timefmt.h"
#include "lib/fake_timeline.h"
#include "views/path.h"
#include "views/explanations.h"
#include "views/waterfall.h"
#include "views/why.h"

#include <string.h>

#define UNKNOWN_THREAD .name = "n", .service = "s", .thread = ID_NONE

/* --- trees --- */

static void assert_sound(const struct tree *t)
{
	for (int i = 0; i < t->n; i++) {
		const struct tree_node *node = &t->nodes[i];
		g_assert_cmpint(node->parent, <, i);
		if (node->parent >= 0) {
			const struct tree_node *parent = &t->nodes[node->parent];
			g_assert_cmpint(node->depth, ==, MIN(parent->depth + 1, UINT16_MAX));
			g_assert_cmpint(tree_end(t, node->parent), >, i);
			int c = parent->first_child;
			while (c >= 0 && c != i)
				c = t->nodes[c].next;
			g_assert_cmpint(c, ==, i);
		}
	}
}

static void test_tree_halves(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	g_autoptr(blk_tree) t = timeline_tree_new(tl, FAKE_VICTIM);
	uint64_t send = FAKE_VICTIM * 31 + 5;
	int client = tree_find(t, send, SPAN_CLIENT), server = tree_find(t, send, SPAN_SERVER);
	int store = tree_find(t, FAKE_VICTIM * 31 + 6, -1);
	assert_sound(t);
	g_assert_cmpint(t->n, ==, 8);
	g_assert_cmpint(t->root, ==, 0);
	g_assert_cmpint(t->nodes[client].parent, ==, 0);
	g_assert_cmpint(t->nodes[server].parent, ==, client);
	g_assert_cmpint(t->nodes[store].parent, ==, server);
	path_mark(t);
	g_assert_true(t->nodes[tree_find(t, FAKE_VICTIM * 31 + 1, -1)].critical);
	g_assert_false(t->nodes[0].critical);
}

static void test_tree_missing_parent(void)
{
	struct fake *f = fake_new();
	fake_span(f, &(struct fake_span){ .trace = 1, .id = 3, .parent = 2, UNKNOWN_THREAD,
		.begin = 1, .end = 9 });
	fake_span(f, &(struct fake_span){ .trace = 1, .id = 4, .parent = 3, UNKNOWN_THREAD,
		.begin = 2, .end = 8 });
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1), none = timeline_tree_new(tl, 2);
	assert_sound(t);
	g_assert_cmpint(t->n, ==, 2);
	g_assert_true(t->nodes[0].orphan);
	g_assert_cmpint(t->nodes[1].parent, ==, 0);
	g_assert_cmpint(none->n, ==, 0);
	g_assert_cmpint(none->root, ==, -1);
}

/* Lists and trees name a trace after the same span, and that is the one the others are in, be it
 * the half of a server whose caller told nothing. */
static void assert_root(const struct fake_span *spans, size_t n, uint64_t root)
{
	struct fake *f = fake_new();
	for (size_t i = 0; i < n; i++)
		fake_span(f, &spans[i]);
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	g_assert_cmpuint(timeline_find_trace(tl, 1)->root->span_id, ==, root);
	g_assert_cmpuint(t->nodes[t->root].span->span_id, ==, root);
}

static void test_tree_root(void)
{
	assert_root((const struct fake_span[]){
		{ .trace = 1, .id = 3, .parent = 2, UNKNOWN_THREAD, .begin = 10, .end = 20 },
		{ .trace = 1, .id = 2, .parent = 9, UNKNOWN_THREAD, .begin = 0, .end = 50,
		  .kind = SPAN_SERVER } }, 2, 2);
	assert_root((const struct fake_span[]){
		{ .trace = 1, .id = 2, UNKNOWN_THREAD, .begin = 0, .end = 50, .kind = SPAN_SERVER },
		{ .trace = 1, .id = 3, UNKNOWN_THREAD, .begin = 10, .end = 20 } }, 2, 2);
}

static void test_tree_cycles(void)
{
	struct fake *f = fake_new();
	static const uint64_t parent[] = { 0, 3, 1, 2, 4, 6, 5, 5 };	/* by id */
	for (uint64_t id = 1; id < G_N_ELEMENTS(parent); id++)
		fake_span(f, &(struct fake_span){ .trace = 1, .id = id, .parent = parent[id],
			UNKNOWN_THREAD, .begin = id, .end = 100 - id });
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	assert_sound(t);
	g_assert_cmpint(t->n, ==, 7);
}

/* BlkKin makes no trace of the id 0, others may: it is asked for as any, by what a row drills to. */
static void test_tree_zero(void)
{
	struct fake *f = fake_new();
	fake_second(f, 0);
	fake_span(f, &(struct fake_span){ .trace = 0, .id = 1, UNKNOWN_THREAD, .begin = 1, .end = 9 });
	fake_span(f, &(struct fake_span){ .trace = 5, .id = 2, UNKNOWN_THREAD, .begin = 1, .end = 99 });
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct view_query q = VIEW_QUERY_INIT;
	q.to_ns = INT64_MAX;
	query_set_trace(&q, 0);
	struct rows *spans = view_find("spans")->build(tl, &q);
	g_assert_cmpuint(spans->rows->len, ==, 1);
	q = ((struct row *)spans->rows->pdata[0])->drill;
	struct rows *rows = view_waterfall.build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_assert_cmpuint(waterfall_of(rows)->root->span_id, ==, 1);
	rows_free(rows);
	rows_free(spans);
	q = (struct view_query)VIEW_QUERY_INIT;
	rows = view_waterfall.build(tl, &q);
	g_assert_cmpuint(waterfall_of(rows)->trace_id, ==, 5);
	rows_free(rows);
}

/* Whatever ids and parents there are, every span is there once. */
static void test_tree_random(void)
{
	for (int round = 0; round < 200; round++) {
		struct fake *f = fake_new();
		int n = g_test_rand_int_range(1, 40), ids = g_test_rand_int_range(1, 20);
		for (int i = 0; i < n; i++) {
			int64_t begin = g_test_rand_int_range(0, 100);
			fake_span(f, &(struct fake_span){ .trace = 7, UNKNOWN_THREAD,
				.id = g_test_rand_int_range(0, ids),
				.parent = g_test_rand_int_range(0, ids),
				.kind = g_test_rand_int_range(0, 3), .begin = begin,
				.end = begin + g_test_rand_int_range(0, 50) });
		}
		g_autoptr(blk_timeline) tl = fake_done(f);
		g_autoptr(blk_tree) t = timeline_tree_new(tl, 7);
		assert_sound(t);
		g_assert_cmpint(t->n, ==, n);
		struct view_query q = VIEW_QUERY_INIT;
		q.trace_id = 7;
		struct rows *rows = view_waterfall.build(tl, &q);
		g_assert_cmpint(rows->rows->len, ==, n);
		rows_free(rows);
	}
}

/* --- verdicts --- */

static void assert_why(const struct timeline *tl, uint64_t trace, const char *sentence,
		       const char *in_short)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, trace);
	struct why why;
	why_find(h, t, t->root, &why);
	g_autofree char *text = why_sentence(h, t, t->root, &why);
	g_autofree char *list = why_short(h, t, t->root, &why);
	g_assert_cmpstr(text, ==, sentence);
	g_assert_cmpstr(list, ==, in_short);
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	assert_why(tl, FAKE_VICTIM,
		   "lock: waited 53.2ms for a lock; thumbd-w0/254 slept holding it (1e9873c2) (44.8ms of 44.8ms "
		   "over the usual)",
		   "lock: futex, woken by thumbd-w0/254");
	assert_why(tl, FAKE_HOLDER,
		   "slept 59.9ms (59.9ms of 73.7ms over the usual)",
		   "timer: slept 59.9ms");
	assert_why(tl, FAKE_SLOW_STORE,
		   "store in stored: slept 79.6ms (72.8ms of 72.8ms over the usual)",
		   "store: stored slept 79.6ms");
	assert_why(tl, FAKE_OPEN,
		   "lock: waited 2.05s for a lock; holder ? (futex 0x55efb1a37580) (2.03s of 2.03s over the usual)",
		   "lock: futex, 0x55efb1a37580, holder ?");
}

#define DEEP 60000

/* A chain of one thread, each span the parent of the next, that waits for a lock in the last one;
 * odd ones are of one trace, even ones of another, as rows by duration have them. */
static struct timeline *deep_traces(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 1, 12, "B");
	uint32_t thread[] = { a, b }, futex = fake_string(f, "futex");
	fake_second(f, 0);
	for (uint64_t i = 0; i < 2 * DEEP; i++) {
		uint64_t trace = i % 2 + 1, id = i / 2 + 1;
		int64_t begin = (int64_t)id * 100;
		struct span *s = fake_span(f, &(struct fake_span){ .trace = trace, .id = id, .parent = id - 1,
			.name = id == DEEP ? "last" : "n", .service = "s", .thread = thread[i % 2],
			.begin = begin, .end = begin + 200 * FAKE_MS - 2 * (int64_t)i });
		fake_wait(s, PART_FUTEX, 20 * FAKE_MS, 150 * FAKE_MS, 0, ID_NONE, futex);
		s->waits[0].lock = true;
	}
	return fake_done(f);
}

/* What is the same for all spans of a tree is found once: a row for each of a deep one takes no
 * time that anybody would notice, where a walk down for each took minutes. */
static void test_deep(void)
{
	g_autoptr(blk_timeline) tl = deep_traces();
	struct explanations *v = explanations_new(tl);
	gint64 begin = g_get_monotonic_time();
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		g_autofree char *text = explanations_of(v, s);
		/* The others are within the usual of their operation; of the last ones there are too few. */
		bool last = s->span_id == DEEP;
		g_assert_true(last ? g_str_has_prefix(text, "waited 130ms for a lock; its holder is unknown (") :
			      !text);
	}
	g_test_message("%zu verdicts took %.2f s", timeline_n_spans(tl),
		       (g_get_monotonic_time() - begin) / 1e6);
	g_assert_cmpint(g_get_monotonic_time() - begin, <, 60 * G_USEC_PER_SEC);
	explanations_free(v);
}

/* C waits for B, who waited for A, who sleeps: A is to blame. */
static void test_queue(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 1, 12, "B");
	uint32_t c = fake_thread(f, 0, 1, 13, "C"), futex = fake_string(f, "futex");
	uint32_t thread[] = { a, b, c };
	struct span *s[3];
	fake_second(f, 0);
	for (int i = 0; i < 3; i++)
		s[i] = fake_span(f, &(struct fake_span){ .trace = (uint64_t)(i + 1) << 32, .id = i + 1,
			.name = "work", .service = "s", .thread = thread[i], .begin = i * FAKE_MS,
			.end = (40 + i) * FAKE_MS });
	fake_wait(s[0], PART_TIMER, 1 * FAKE_MS, 30 * FAKE_MS, 0, ID_NONE, 0);
	fake_wait(s[1], PART_FUTEX, 2 * FAKE_MS, 31 * FAKE_MS, 0, a, futex);
	fake_wait(s[2], PART_FUTEX, 3 * FAKE_MS, 33 * FAKE_MS, 0, b, futex);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, UINT64_C(3) << 32,
		   "waited 30.0ms for a lock behind B/12; A/11 slept holding it (00000001) (30.0ms of 40.0ms)",
		   "futex, woken by B/12");
}

static void poll_returns(struct span *s, uint32_t name, int64_t ret)
{
	s->slow = g_new0(struct span_slow_call, 1);
	s->n_slow = 1;
	*s->slow = (struct span_slow_call){ .begin_ns = s->begin_ns, .duration_ns = 32 * FAKE_MS, .ret = ret,
					    .name = name, .file = ID_NONE, .thread = s->thread };
}

/* What is no lock nobody holds; a lock of files is no disk; a time that ran out was asked for. */
static void test_other_waits(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 1, 12, "B");
	struct fake_span d = { .trace = 1, .id = 1, .name = "x", .service = "s", .thread = a,
		.begin = 0, .end = 50 * FAKE_MS };
	struct span *s = fake_span(f, &d);
	fake_wait(s, PART_FUTEX, 1 * FAKE_MS, 31 * FAKE_MS, 0, b, fake_string(f, "futex"))->lock = false;
	d.trace = d.id = 2;
	s = fake_span(f, &d);
	fake_wait(s, PART_OTHER, 1 * FAKE_MS, 31 * FAKE_MS, 0, b, fake_string(f, "flock"))->file =
		fake_file(f, 0, FILE_REGULAR, "/run/x.lock");
	d.trace = d.id = 3;
	s = fake_span(f, &d);
	uint32_t epoll = fake_string(f, "epoll_wait");
	fake_wait(s, PART_POLL, 1 * FAKE_MS, 31 * FAKE_MS, 0, ID_NONE, epoll);
	poll_returns(s, epoll, 0);
	d.trace = d.id = 4;
	s = fake_span(f, &d);
	fake_wait(s, PART_POLL, 1 * FAKE_MS, 31 * FAKE_MS, 0, b, epoll);
	poll_returns(s, epoll, 1);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "waited 30.0ms on a futex, woken by B/12 (30.0ms of 50.0ms); and computed 20.0ms (+20.0ms)",
		   "futex, woken by B/12");
	assert_why(tl, 2,
		   "was blocked 30.0ms in flock: /run/x.lock, woken by B/12 (30.0ms of 50.0ms); and computed 20.0ms "
		   "(+20.0ms)",
		   "other: was blocked 30.0ms in flock");
	assert_why(tl, 3,
		   "waited 30.0ms in poll, until its time was over (30.0ms of 50.0ms); and computed 20.0ms (+20.0ms)",
		   "poll: waited 30.0ms in poll");
	assert_why(tl, 4,
		   "waited 30.0ms in poll, woken by B/12 (30.0ms of 50.0ms); and computed 20.0ms (+20.0ms)",
		   "poll: waited 30.0ms in poll");
}

/* A client waits 40 ms: for a server that has it most of the time, and for one that must start first. */
static void test_late_server(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 2, 12, "B");
	for (uint64_t trace = 1; trace <= 2; trace++) {
		struct fake_span d = { .trace = trace, .id = trace, .name = "send", .service = "s", .thread = a,
			.kind = SPAN_CLIENT, .begin = 0, .end = 50 * FAKE_MS };
		struct span *s = fake_span(f, &d);
		fake_wait(s, PART_SOCKET, 1 * FAKE_MS, 41 * FAKE_MS, 0, b, fake_string(f, "recvfrom"));
		fake_link(s, b, PART_TIMER, 1 * FAKE_MS, 31 * FAKE_MS);
		fake_link(s, b, PART_USER, 31 * FAKE_MS, 41 * FAKE_MS)->on_cpu = true;
		d.thread = b;
		d.service = "store";
		d.kind = SPAN_SERVER;
		d.begin = (trace == 1 ? 17 : 31) * FAKE_MS;
		d.end = 41 * FAKE_MS;
		fake_span(f, &d);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "send in store: computed 24.0ms (24.0ms of 50.0ms); and waited 16.0ms for a socket, woken by "
		   "B/12; B/12 computed for 24.0ms of it, slept for 16.0ms (+16.0ms)",
		   "send: store computed 24.0ms");
	assert_why(tl, 2,
		   "waited 30.0ms for a socket, woken by B/12; B/12 slept for 30.0ms of it, computed for 10.0ms "
		   "(30.0ms of 50.0ms)",
		   "socket 30.0ms");
}

/* A span of which one annotation came did not take "no time": nobody knows how long it took. */
static void test_one_instant(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A");
	struct fake_span d = { .trace = 1, .id = 1, .name = "x", .service = "s", .thread = a };
	for (int state = SPAN_COMPLETE; state <= SPAN_PARTIAL; state++) {
		d.trace = (uint64_t)state + 1;
		d.state = state;
		fake_span(f, &d);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	for (int state = SPAN_COMPLETE; state <= SPAN_PARTIAL; state++) {
		const char *text = state == SPAN_COMPLETE ? "took no time" : "only one instant of it is known";
		assert_why(tl, (uint64_t)state + 1, text, text);
	}
}

/* Two that wake each other must not be followed for ever. */
static void test_queue_in_a_circle(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 1, 12, "B");
	struct fake_span d = { .trace = 1, .id = 1, .name = "x", .service = "s", .thread = a,
		.begin = 0, .end = 50 };
	fake_wait(fake_span(f, &d), PART_FUTEX, 0, 50, 0, b, 0);
	d.trace = d.id = 2;
	d.thread = b;
	fake_wait(fake_span(f, &d), PART_FUTEX, 0, 50, 0, a, 0);
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_history) h = history_new(tl);
	g_autofree char *text = why_trace(h, 1);
	g_assert_cmpstr(text, ==, "futex, woken by B/12");
}

/* A request of all faults at once: each is told, by its thread; a store's sleep isn't its client's. */
static void test_many_causes(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 2, 12, "B");
	uint32_t c = fake_thread(f, 0, 1, 13, "C");
	struct fake_span root = { .trace = 1, .id = 1, .name = "work", .service = "s", .thread = a,
		.kind = SPAN_SERVER, .begin = 0, .end = 400 * FAKE_MS };
	struct fake_span lock = { .trace = 1, .id = 2, .parent = 1, .name = "lock", .service = "s", .thread = a,
		.begin = 10 * FAKE_MS, .end = 16 * FAKE_MS };
	struct fake_span decode = { .trace = 1, .id = 3, .parent = 1, .name = "decode", .service = "s",
		.thread = a, .begin = 130 * FAKE_MS, .end = 270 * FAKE_MS };
	struct fake_span send = { .trace = 1, .id = 4, .parent = 1, .name = "send", .service = "s",
		.thread = a, .kind = SPAN_CLIENT, .begin = 300 * FAKE_MS, .end = 395 * FAKE_MS };
	struct fake_span got = { .trace = 1, .id = 4, .parent = 1, .name = "send", .service = "t", .thread = b,
		.kind = SPAN_SERVER, .begin = 301 * FAKE_MS, .end = 394 * FAKE_MS };
	fake_second(f, 0);
	struct span *s = fake_span(f, &root);
	fake_wait(s, PART_TIMER, 20 * FAKE_MS, 150 * FAKE_MS, 0, ID_NONE, 0);
	fake_part(s, PART_FUTEX, 5 * FAKE_MS);
	fake_part(s, PART_PREEMPTED, 50 * FAKE_MS);
	fake_part(s, PART_WAKEUP, 40 * FAKE_MS);
	fake_part(s, PART_SOCKET, 93 * FAKE_MS);
	fake_wait(fake_span(f, &lock), PART_FUTEX, 10 * FAKE_MS, 15 * FAKE_MS, 0, c, 0);
	s = fake_span(f, &decode);
	fake_part(s, PART_PREEMPTED, 50 * FAKE_MS);
	fake_part(s, PART_WAKEUP, 40 * FAKE_MS);
	fake_wait(fake_span(f, &send), PART_SOCKET, 301 * FAKE_MS, 394 * FAKE_MS, 0, b, 0);
	fake_wait(fake_span(f, &got), PART_TIMER, 302 * FAKE_MS, 392 * FAKE_MS, 0, ID_NONE, 0);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "slept 110ms (110ms of 400ms)",
		   "timer: slept 110ms");
}

/* The trace ends before the server's half does; its client had the answer long ago. */
static void test_open_below(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 2, 12, "B");
	struct span *s;
	fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "work", .service = "s", .thread = a,
		.kind = SPAN_SERVER, .begin = 0, .end = 100 * FAKE_MS });
	s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 2, .parent = 1, .name = "send", .service = "s",
		.thread = a, .kind = SPAN_CLIENT, .begin = 10 * FAKE_MS, .end = 95 * FAKE_MS });
	fake_wait(s, PART_SOCKET, 11 * FAKE_MS, 95 * FAKE_MS, 0, b, 0);
	s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 2, .parent = 1, .name = "send", .service = "t",
		.thread = b, .kind = SPAN_SERVER, .begin = 11 * FAKE_MS, .end = 300 * FAKE_MS });
	s->state = SPAN_OPEN;
	fake_part(s, PART_UNKNOWN, 289 * FAKE_MS);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "send in t: 84.0ms, cause unknown (84.0ms of 100ms)",
		   "send: t 84.0ms, cause unknown");
}

/* Losses during the request may hide the cause, or the request is told of too late. */
static void test_unknown_with_reason(void)
{
	static const char *const reasons[] = {
		"", " (events were lost meanwhile)", " (its event came at its end; a thread's past is kept for 5 s)",
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++) {
		g_autofree char *said = g_strdup_printf("1.40s, cause unknown%s", reasons[i]);
		g_autofree char *long_text = g_strdup_printf("%s (1.40s of 1.40s)", said);
		g_autofree char *short_text = g_strdup_printf("unknown: %s", said);
		struct fake *f = fake_new();
		struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "n", .service = "s",
			.thread = fake_thread(f, 0, 1, 1, "t"), .begin = 100 * FAKE_MS, .end = 1500 * FAKE_MS });
		fake_part(s, PART_UNKNOWN, 1400 * FAKE_MS);
		s->lost = i == 1;
		s->out_of_reach = i == 2;
		g_autoptr(blk_timeline) tl = fake_done(f);
		assert_why(tl, 1, long_text, short_text);
	}
}

/* Of two kinds of waits for a CPU neither is the largest part; together they are. */
static void test_runnable(void)
{
	struct fake *f = fake_new();
	struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "n", .service = "s",
		.thread = fake_thread(f, 0, 1, 1, "t"), .begin = 0, .end = 100 * FAKE_MS });
	fake_part(s, PART_PREEMPTED, 30 * FAKE_MS);
	fake_part(s, PART_WAKEUP, 28 * FAKE_MS);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "waited 58.0ms for a CPU (58.0ms of 100ms); and computed 42.0ms (+42.0ms)",
		   "preempted: waited 58.0ms for a CPU");
}

/* What one child did most of is the child's, though it is not most of the whole. */
static void test_part_of_a_child(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 1, "t");
	struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "work", .service = "s",
		.thread = t, .begin = 0, .end = 100 * FAKE_MS });
	fake_part(s, PART_TIMER, 44 * FAKE_MS);
	fake_part(s, PART_DISK, 30 * FAKE_MS);
	s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 2, .parent = 1, .name = "nap", .service = "s",
		.thread = t, .begin = 10 * FAKE_MS, .end = 55 * FAKE_MS });
	fake_part(s, PART_TIMER, 40 * FAKE_MS);
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "nap: slept 40.0ms (40.0ms of 100ms); and waited 30.0ms for the disk (+30.0ms)",
		   "nap: slept 40.0ms");
}

/* Of waits of several children that nobody kept for the parent the longest is told. */
static void test_longest_of_children(void)
{
	static const struct { int64_t begin, end; } waits[] = { { 1, 9 }, { 20, 34 }, { 40, 48 } };
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 1, "t"), recv = fake_string(f, "recvfrom");
	struct span *root = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "work",
		.service = "s", .thread = t, .begin = 0, .end = 50 * FAKE_MS });
	fake_part(root, PART_SOCKET, 30 * FAKE_MS);
	for (unsigned i = 0; i < G_N_ELEMENTS(waits); i++) {
		g_autofree char *comm = g_strdup_printf("peer%u", i);
		struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 2 + i, .parent = 1,
			.name = "ask", .service = "s", .thread = t,
			.begin = waits[i].begin * FAKE_MS, .end = waits[i].end * FAKE_MS });
		fake_wait(s, PART_SOCKET, waits[i].begin * FAKE_MS, waits[i].end * FAKE_MS, 0,
			  fake_thread(f, 0, 20 + i, 20 + i, comm), recv);
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1,
		   "ask: waited 30.0ms for a socket, woken by peer1/21 (30.0ms of 50.0ms); and computed 20.0ms "
		   "(+20.0ms)",
		   "ask: socket 30.0ms");
}

/* 12 requests, of which 5 slept: those are slow, the others have no cause. The sleep of one holds two others up. */
static void test_usual(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 1, 11, "A"), b = fake_thread(f, 0, 1, 12, "B");
	uint32_t c = fake_thread(f, 0, 1, 13, "C");
	fake_second(f, 0);
	for (uint64_t i = 1; i <= 12; i++) {
		int64_t begin = (int64_t)i * 100 * FAKE_MS, slept = i <= 5 ? 30 * FAKE_MS : 0;
		struct span *s = fake_span(f, &(struct fake_span){ .trace = i, .id = i, .name = "get", .service = "s",
			.thread = a, .begin = begin, .end = begin + 10 * FAKE_MS + slept });
		if (slept)
			fake_wait(s, PART_TIMER, begin + 5 * FAKE_MS, begin + 5 * FAKE_MS + slept, 0, ID_NONE, 0);
	}
	uint32_t others[] = { b, c };
	for (unsigned i = 0; i < 2; i++) {
		struct span *s = fake_span(f, &(struct fake_span){ .trace = 50 + i, .id = 50 + i, .name = "wait",
			.service = "s", .thread = others[i], .begin = 110 * FAKE_MS, .end = 150 * FAKE_MS });
		struct span_wait *w = fake_wait(s, PART_FUTEX, (115 + i) * FAKE_MS, (136 + i) * FAKE_MS, 0,
						i ? b : a, fake_string(f, "futex"));
		w->lock = true;
		w->arg = 4096;
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	assert_why(tl, 1, "slept 30.0ms holding the lock that 2 others waited for (29.8ms of 29.8ms over the usual)",
		   "timer: slept 30.0ms");
	assert_why(tl, 2, "slept 30.0ms (29.8ms of 29.8ms over the usual)", "timer: slept 30.0ms");
	assert_why(tl, 12, NULL, NULL);
}

static void test_every_part(void)
{
	for (int p = 0; p < PART_N; p++) {
		struct fake *f = fake_new();
		uint32_t t = fake_thread(f, 0, 1, 1, "t");
		struct span *s = fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "n",
			.service = "s", .thread = t, .begin = 0, .end = 1000 });
		fake_part(s, p, 1000);
		g_autoptr(blk_timeline) tl = fake_done(f);
		g_autoptr(blk_history) h = history_new(tl);
		g_autofree char *text = why_trace(h, 1);
		g_assert_nonnull(strstr(text, p == PART_FUTEX ? "holder ?" : "1.00us"));
	}
}

static void test_no_time(void)
{
	struct fake *f = fake_new();
	fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, UNKNOWN_THREAD, .begin = 5, .end = 5 });
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autoptr(blk_history) h = history_new(tl);
	g_autofree char *text = why_trace(h, 1), *none = why_trace(h, 2);
	g_assert_nonnull(text);
	g_assert_null(none);
}

/* --- the waterfall --- */

static struct rows *waterfall(const struct timeline *tl, uint64_t trace)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.trace_id = trace;
	return view_waterfall.build(tl, &q);
}

static char *strip(const struct rows *rows, int row, unsigned n)
{
	const struct waterfall *w = waterfall_of(rows);
	char *cells = g_malloc0(n + 1);
	waterfall_strip(rows, rows->rows->pdata[row], w->begin_ns, w->end_ns, n, cells);
	return cells;
}

static void test_waterfall(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	const struct waterfall *w = waterfall_of(rows);
	g_assert_nonnull(w);
	g_assert_cmpuint(w->n_spans, ==, 8);
	g_assert_cmpuint(w->n_processes, ==, 2);
	g_assert_cmpuint(w->n_services, ==, 2);
	g_assert_true(w->x_usual > 2 && w->x_usual < 3);
	g_assert_cmpint(w->blamed, ==, waterfall_find(rows, FAKE_VICTIM * 31 + 1, -1));
	g_autofree char *root = strip(rows, 0, 20), *lock = strip(rows, w->blamed, 20);
	g_assert_cmpstr(root, ==, "====================");
	g_assert_true(g_str_has_prefix(lock, "fffffffffffffff"));
	g_assert_cmpint(lock[19], ==, ' ');
	int server = waterfall_find(rows, FAKE_VICTIM * 31 + 5, SPAN_SERVER);
	const struct waterfall_row *r = rows->rows->pdata[server];
	g_assert_cmpstr(r->name, ==, "send stored");
	g_assert_cmpint(waterfall_longest_child(rows, rows->rows->pdata[0]), ==, w->blamed);
	g_assert_cmpint(waterfall_longest_child(rows, rows->rows->pdata[w->blamed]), ==, -1);
	rows_free(rows);
}

/* Where nobody knows its thread, and so not what it did, at least its children are known. */
static void test_strip_without_threads(void)
{
	static const struct fake_span spans[] = {
		{ .trace = 1, .id = 1, UNKNOWN_THREAD, .begin = 0, .end = 80 },
		{ .trace = 1, .id = 2, .parent = 1, UNKNOWN_THREAD, .begin = 20, .end = 40 },
		{ .trace = 1, .id = 3, .parent = 1, .kind = SPAN_CLIENT, UNKNOWN_THREAD, .begin = 50, .end = 70 },
		{ .trace = 1, .id = 3, .parent = 1, .kind = SPAN_SERVER, .name = "n", .service = "db",
		  .thread = ID_NONE, .begin = 50, .end = 60 },
	};
	static const char *const want[] = { "?\?==?==?", "  ??    ", "     =? ", "     ?  " };
	struct fake *f = fake_new();
	for (size_t i = 0; i < G_N_ELEMENTS(spans); i++)
		fake_span(f, &spans[i]);
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct rows *rows = waterfall(tl, 1);
	for (int i = 0; i < 4; i++) {
		g_autofree char *cells = strip(rows, i, 8);
		g_assert_cmpstr(cells, ==, want[i]);
	}
	rows_free(rows);
}

/* Of one instant nobody knows what the thread did then. */
static void test_strip_of_an_instant(void)
{
	static const struct fake_span d = { .trace = 1, .id = 1, .name = "n", .service = "s",
		.thread = ID_NONE, .begin = 5, .end = 5, .state = SPAN_PARTIAL };
	struct fake *f = fake_new();
	fake_span(f, &d);
	g_autoptr(blk_timeline) tl = fake_done(f);
	struct rows *rows = waterfall(tl, 1);
	char cells[9] = { 0 };
	waterfall_strip(rows, rows->rows->pdata[0], waterfall_of(rows)->begin_ns,
			waterfall_of(rows)->begin_ns + 1, 8, cells);
	g_assert_cmpint(cells[0], ==, '?');
	rows_free(rows);
}

static void test_strip_edges(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	const struct waterfall *w = waterfall_of(rows);
	const struct waterfall_row *root = rows->rows->pdata[0], *store = rows->rows->pdata[7];
	char cells[8] = "", one[1];
	waterfall_strip(rows, root, w->begin_ns, w->begin_ns, 8, cells);	/* nothing wide */
	waterfall_strip(rows, root, w->end_ns + 5, w->end_ns + 10, 8, cells);
	g_assert_true(memcmp(cells, "        ", 8) == 0);
	waterfall_strip(rows, root, 0, 10, 0, NULL);
	waterfall_strip(rows, store, store->span->begin_ns - FAKE_S * 1000,
			store->span->begin_ns + FAKE_S * 1000, 1, one);
	g_assert_cmpint(one[0], ==, 'D');		/* however short, it is seen */
	waterfall_strip(rows, store, INT64_MIN / 4, INT64_MAX / 4, 8, cells);
	rows_free(rows);
}

static void test_waker(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	const struct waterfall *w = waterfall_of(rows);
	struct waterfall_waker waker;
	const char *reason;
	timefmt_set_utc(true);
	/* Of the lock, and of the root, which it is to blame for. */
	int row[] = { w->blamed, 0 };
	for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
		g_assert_true(waterfall_waker(rows, rows->rows->pdata[row[i]], &waker, &reason));
		g_assert_cmphex(waker.trace_id, ==, FAKE_HOLDER);
		g_assert_cmpstr(waker.text, ==, "thumbd-w0/254 at 06:08:38.937, in thumbnail");
	}
	rows_free(rows);
	rows = waterfall(tl, FAKE_HOLDER);
	g_assert_false(waterfall_waker(rows, rows->rows->pdata[0], &waker, &reason));
	g_assert_cmpstr(reason, ==, "it slept: the clock woke it");
	rows_free(rows);
	rows = waterfall(tl, FAKE_OPEN);
	g_assert_false(waterfall_waker(rows, rows->rows->pdata[1], &waker, &reason));
	g_assert_nonnull(strstr(reason, "still waits"));
	rows_free(rows);
}

static void test_detail(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	const struct waterfall *w = waterfall_of(rows);
	const char *parts = "lock  thumbd-w2/256 cpu0  54.7ms = "
		"futex 53.2ms + wakeup 1.40ms + user 60.0us + unknown 0";
	const char *const want[] = {
		parts,
		"  50.0us futex(0x55efb1a37580)  blocked on futex",
		"  53.3ms woken by thumbd-w0/254, just out of clock_nanosleep",
		"  54.7ms runs on cpu0",
		"usual lock 47.1us   others with futex over 26.6ms: 1 of 39",
	};
	GPtrArray *lines = waterfall_detail(rows, rows->rows->pdata[w->blamed], 10);
	g_assert_cmpuint(lines->len, ==, G_N_ELEMENTS(want));
	for (guint i = 0; i < lines->len; i++)
		g_assert_cmpstr(lines->pdata[i], ==, want[i]);
	g_ptr_array_unref(lines);
	for (unsigned max = 0; max < 10; max++)
		for (guint i = 0; i < rows->rows->len; i++) {
			lines = waterfall_detail(rows, rows->rows->pdata[i], max);
			g_assert_cmpuint(lines->len, <=, max);
			g_ptr_array_unref(lines);
		}
	rows_free(rows);
}

static void test_folds(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	waterfall_folds *folds = waterfall_folds_new();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	int send = waterfall_find(rows, FAKE_VICTIM * 31 + 5, SPAN_CLIENT);
	waterfall_folds_set(folds, rows->rows->pdata[send], true);
	waterfall_fold_rows(rows, folds);
	g_assert_cmpuint(rows->rows->len, ==, 6);
	waterfall_folds_set(folds, rows->rows->pdata[send], false);
	waterfall_folds_set(folds, rows->rows->pdata[0], true);
	rows_free(rows);
	rows = waterfall(tl, FAKE_VICTIM);
	waterfall_fold_rows(rows, folds);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_autofree char *root = strip(rows, 0, 20);
	g_assert_cmpint(root[5], ==, 'f');		/* what its children did shows through */
	rows_free(rows);
	waterfall_folds_free(folds);
	waterfall_folds_free(NULL);
}

/* Without a trace: the slowest of the range. */
static void test_slowest(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct rows *rows = waterfall(tl, 0);
	g_assert_cmphex(waterfall_of(rows)->trace_id, ==, FAKE_HOLDER);
	rows_free(rows);
	rows = waterfall(tl, 4711);
	g_assert_null(waterfall_of(rows)->root);
	g_assert_cmpuint(rows->rows->len, ==, 0);
	rows_free(rows);
}

/* The rows keep what they show when the timeline goes on without it. */
static void test_outlives(void)
{
	struct timeline *tl = fake_timeline();
	struct rows *rows = waterfall(tl, FAKE_VICTIM);
	struct publication *p = publication_new();
	const GArray *spans = timeline_trace_spans(tl, FAKE_VICTIM);
	for (guint i = 0; i < spans->len; i++) {
		uint32_t at = g_array_index(spans, uint32_t, i);
		struct span *s = fake_copy(timeline_span(tl, at));
		s->begin_ns++;
		publication_add_span(p, at, s);
	}
	timeline_apply(tl, p);
	g_autofree char *cells = strip(rows, 0, 40);
	g_assert_cmpint(strlen(cells), ==, 40);
	struct waterfall_waker waker;
	const char *reason;
	g_assert_true(waterfall_waker(rows, rows->rows->pdata[0], &waker, &reason));
	rows_free(rows);
	timeline_free(tl);
}

static struct value value_of(const struct view *v, const struct rows *rows, guint row, const char *id)
{
	return column_value(&v->columns[view_column(v, id)], rows->rows->pdata[row], rows);
}

/* "slow", the marks and xUSUAL are of one definition, also where most requests are slow. */
static void test_one_usual(void)
{
	static const char *const lists[] = { "causes", "traces", "slow-spans" };
	static const int64_t ms[] = { 10, 10, 10, 17, 18, 25, 26, 27, 28, 29, 30, 31, 32 };
	struct fake *f = fake_new();
	struct view_query q = VIEW_QUERY_INIT;

	fake_second(f, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(ms); i++)
		fake_span(f, &(struct fake_span){ .trace = 100 + i, .id = i + 1, UNKNOWN_THREAD,
			.begin = i * FAKE_MS, .end = (i + ms[i]) * FAKE_MS, .state = SPAN_COMPLETE });
	g_autoptr(blk_timeline) tl = fake_done(f);
	q.to_ns = (q.from_ns = FAKE_T0) + FAKE_S;
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		const struct view *v = view_find(lists[i]);
		struct rows *rows = v->build(tl, &q);
		unsigned slow = 0, normal = 0;

		for (guint r = 0; r < rows->rows->len; r++) {
			bool is_slow = value_of(v, rows, r, "x_usual_ratio").d >= 1.75;

			g_assert_true(((const struct row *)rows->rows->pdata[r])->marked == is_slow);
			if (!i)
				g_assert_cmpstr(value_of(v, rows, r, "state").s, ==, is_slow ? "slow" : "normal");
			slow += is_slow;
			normal += !is_slow;
		}
		g_assert_true(slow && normal);
		rows_free(rows);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/waterfall/strip-of-an-instant", test_strip_of_an_instant);
	g_test_add_func("/tree/root", test_tree_root);
	g_test_add_func("/why/one-instant", test_one_instant);
	g_test_add_func("/tree/halves", test_tree_halves);
	g_test_add_func("/tree/missing-parent", test_tree_missing_parent);
	g_test_add_func("/tree/cycles", test_tree_cycles);
	g_test_add_func("/tree/zero", test_tree_zero);
	g_test_add_func("/tree/random", test_tree_random);
	g_test_add_func("/why/story", test_story);
	g_test_add_func("/why/deep", test_deep);
	g_test_add_func("/why/queue", test_queue);
	g_test_add_func("/why/other-waits", test_other_waits);
	g_test_add_func("/why/late-server", test_late_server);
	g_test_add_func("/why/queue-in-a-circle", test_queue_in_a_circle);
	g_test_add_func("/why/many-causes", test_many_causes);
	g_test_add_func("/why/open-below", test_open_below);
	g_test_add_func("/why/unknown-with-reason", test_unknown_with_reason);
	g_test_add_func("/why/runnable", test_runnable);
	g_test_add_func("/why/longest-of-children", test_longest_of_children);
	g_test_add_func("/why/part-of-a-child", test_part_of_a_child);
	g_test_add_func("/why/every-part", test_every_part);
	g_test_add_func("/why/usual", test_usual);
	g_test_add_func("/why/one-usual", test_one_usual);
	g_test_add_func("/why/no-time", test_no_time);
	g_test_add_func("/waterfall/strip-without-threads", test_strip_without_threads);
	g_test_add_func("/waterfall/rows", test_waterfall);
	g_test_add_func("/waterfall/strip-edges", test_strip_edges);
	g_test_add_func("/waterfall/waker", test_waker);
	g_test_add_func("/waterfall/detail", test_detail);
	g_test_add_func("/waterfall/folds", test_folds);
	g_test_add_func("/waterfall/slowest", test_slowest);
	g_test_add_func("/waterfall/outlives", test_outlives);
	return g_test_run();
}
