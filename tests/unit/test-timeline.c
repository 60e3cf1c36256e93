/* SPDX-License-Identifier: GPL-2.0-only */
/* The timeline's store: applying, replacing, dropping, pinning. */
#include "lib/fake_timeline.h"
#include "lib/inspect.h"

#include "state/store/publication.h"
#include "state/store/timeline.h"

#include <string.h>

#define S INT64_C(1000000000)

/* --- makers --- */

static struct second *make_second(int64_t index, size_t padding)
{
	struct second *s = second_new(index * S, (index + 1) * S);

	s->n_threads = (uint32_t)(padding / sizeof(struct thread_cell)) + 1;
	s->threads = g_new0(struct thread_cell, s->n_threads);
	for (uint32_t i = 0; i < s->n_threads; i++)
		s->threads[i].thread = (uint32_t)index * 100000 + i;	/* others each second */
	s->n_calls = 1;
	s->calls = g_new0(struct call_cell, 1);
	hist_add(&s->calls[0].latency, 1000);
	hist_add(&s->wakeup, 50);
	second_seal(s);
	return s;
}

static struct span *make_span(uint64_t trace, uint64_t id, int64_t begin, int64_t end,
			      enum span_state state)
{
	struct span *s = span_new();

	s->trace_id = trace;
	s->span_id = id;
	s->begin_ns = begin;
	s->end_ns = end;
	s->state = state;
	s->part[PART_UNKNOWN] = end - begin;
	s->n_tags = 2;
	s->tags = g_new(struct span_tag, 2);
	for (int i = 0; i < 2; i++)
		s->tags[i] = (struct span_tag){ .key = reftext_new("key"), .val = reftext_new("") };
	s->n_waits = 1;
	s->waits = g_new0(struct span_wait, 1);
	span_seal(s);
	return s;
}

static void apply_second(struct timeline *tl, struct second *s)
{
	struct publication *p = publication_new();

	g_ptr_array_add(p->seconds, s);
	timeline_apply(tl, p);
}

static void apply_span(struct timeline *tl, uint32_t slot, struct span *s)
{
	struct publication *p = publication_new();

	publication_add_span(p, slot, s);
	timeline_apply(tl, p);
}

static const struct span *only_span(const struct timeline *tl, uint64_t trace)
{
	const GArray *indexes = timeline_trace_spans(tl, trace);

	g_assert_nonnull(indexes);
	g_assert_cmpuint(indexes->len, ==, 1);
	return timeline_span(tl, g_array_index(indexes, uint32_t, 0));
}

/* --- tests --- */

static void test_empty(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	int64_t first, last;

	g_assert_false(timeline_coverage(tl, &first, &last));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 0);
	g_assert_null(timeline_second(tl, 0));
	g_assert_cmpuint(timeline_find(tl, 0), ==, 0);
	g_assert_cmpstr(timeline_string(tl, 0), ==, "");
	g_assert_cmpstr(timeline_comm(tl, ID_NONE, 0), ==, "");
	g_assert_null(timeline_host(tl, 0));
	g_assert_null(timeline_thread(tl, ID_NONE));
	g_assert_null(timeline_process(tl, 7));
	g_assert_null(timeline_file(tl, ID_NONE));
	g_assert_null(timeline_span(tl, 0));
	g_assert_null(timeline_trace_spans(tl, 1));
	g_assert_false(timeline_has_event(tl, "sched_switch"));
	g_assert_false(timeline_facts(tl)->has_spans);
	g_assert_cmpint(timeline_retained_from(tl), ==, TIME_UNKNOWN);

	timeline_apply(tl, publication_new());
	g_assert_cmpuint(timeline_facts(tl)->version, ==, 0);	/* nothing changed */
	publication_free(NULL);
	second_unref(NULL);
	span_unref(NULL);
}

static void test_registries(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct publication *p = publication_new();
	struct name_at names[] = { { 100, 5 }, { 200, 6 } };
	struct thread_info thread = { .tid = 42, .process = ID_NONE, .names = names, .n_names = 2 };
	struct process_info process = { .pid = 42, .ppid = -1, .leader = 1000 };
	struct file_info file = { .kind = FILE_SOCKET, .path = 6 };

	publication_add_string(p, 6, "after");	/* in any order */
	publication_add_string(p, 5, "before");
	publication_add_string(p, 0, NULL);
	publication_add_host(p, 1, "web1", "boot1");
	publication_add_thread(p, 1000, &thread);
	publication_add_process(p, 3, &process);
	publication_add_file(p, 2, &file);
	g_ptr_array_add(p->classes, g_strdup("sched_switch"));
	g_ptr_array_add(p->classes, g_strdup("sched_switch"));
	p->has_coverage = true;
	p->first_ns = 50;
	p->last_ns = 300;
	p->n_events = 12;
	p->completeness.provisional = 3;
	memset(names, 0, sizeof(names));	/* they were copied */
	timeline_apply(tl, p);

	int64_t first, last;
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(first, ==, 50);
	g_assert_cmpint(last, ==, 300);
	g_assert_cmpuint(timeline_n_events(tl), ==, 12);
	g_assert_cmpuint(timeline_facts(tl)->completeness.provisional, ==, 3);
	g_assert_cmpint(timeline_retained_from(tl), ==, 50);
	g_assert_cmpstr(timeline_host(tl, 1)->name, ==, "web1");
	g_assert_null(timeline_host(tl, 0));	/* not published */
	g_assert_cmpuint(timeline_n_hosts(tl), ==, 2);
	g_assert_cmpuint(timeline_next_thread(tl, 0), ==, 1000);
	g_assert_cmpuint(timeline_next_thread(tl, 1001), ==, ID_NONE);
	g_assert_null(timeline_thread(tl, 999));
	g_assert_cmpint(timeline_thread(tl, 1000)->tid, ==, 42);
	g_assert_cmpint(timeline_process(tl, 3)->pid, ==, 42);
	g_assert_cmpuint(timeline_file(tl, 2)->path, ==, 6);
	g_assert_cmpstr(file_kind_name[timeline_file(tl, 2)->kind], ==, "socket");
	g_assert_true(timeline_has_event(tl, "sched_switch"));
	g_assert_cmpstr(timeline_comm(tl, 1000, 0), ==, "before");	/* all are later */
	g_assert_cmpstr(timeline_comm(tl, 1000, 101), ==, "before");
	g_assert_cmpstr(timeline_comm(tl, 1000, 200), ==, "before");	/* before `until` */
	g_assert_cmpstr(timeline_comm(tl, 1000, 201), ==, "after");
	g_assert_cmpuint(timeline_facts(tl)->version, ==, 1);

	/* Known better later: the same id again. */
	struct name_at better = { 100, 6 };
	thread.names = &better;
	thread.n_names = 1;
	p = publication_new();
	publication_add_thread(p, 1000, &thread);
	publication_add_host(p, 1, "web2", NULL);
	publication_add_string(p, 6, "other");
	timeline_apply(tl, p);
	g_assert_cmpstr(timeline_comm(tl, 1000, 150), ==, "other");
	g_assert_cmpstr(timeline_host(tl, 1)->name, ==, "web2");
	g_assert_cmpuint(timeline_facts(tl)->version, ==, 2);
}

static void test_seconds(void)
{
	static const int64_t order[] = { 5, 6, 9, 2, 7, 1 };
	static const int64_t sorted[] = { 1, 2, 5, 6, 7, 9 };
	g_autoptr(blk_timeline) tl = timeline_new(0);

	for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
		apply_second(tl, make_second(order[i], 0));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, G_N_ELEMENTS(sorted));
	for (size_t i = 0; i < G_N_ELEMENTS(sorted); i++)
		g_assert_cmpint(timeline_second(tl, i)->begin_ns, ==, sorted[i] * S);
	g_assert_cmpuint(timeline_find(tl, INT64_MIN), ==, 0);
	g_assert_cmpuint(timeline_find(tl, 2 * S - 1), ==, 0);
	g_assert_cmpuint(timeline_find(tl, 2 * S), ==, 1);
	g_assert_cmpuint(timeline_find(tl, 3 * S), ==, 2);	/* a gap: the next one */
	g_assert_cmpuint(timeline_find(tl, 10 * S), ==, 6);

	/* A new version replaces the old one; who holds the old one keeps it. */
	size_t bytes = timeline_bytes(tl);
	struct second *old = second_ref((struct second *)timeline_second(tl, 2));
	struct second *corrected = make_second(5, 0);
	corrected->version = 2;
	apply_second(tl, corrected);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, G_N_ELEMENTS(sorted));
	g_assert_cmpuint(timeline_second(tl, 2)->version, ==, 2);
	g_assert_cmpuint(timeline_bytes(tl), ==, bytes);
	g_assert_cmpuint(old->version, ==, 1);
	second_unref(old);
}

static void test_spans(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);

	apply_span(tl, 10, make_span(1, 1, 0, 100, SPAN_OPEN));
	apply_span(tl, 3, make_span(1, 2, 10, 90, SPAN_COMPLETE));
	apply_span(tl, 4, make_span(2, 3, 10, 90, SPAN_COMPLETE));
	g_assert_cmpuint(timeline_n_spans(tl), ==, 3);
	g_assert_cmpuint(timeline_trace_spans(tl, 1)->len, ==, 2);
	g_assert_true(timeline_facts(tl)->has_spans);
	g_assert_null(timeline_trace_spans(tl, 3));

	/* In place, by slot. */
	apply_span(tl, 10, make_span(1, 1, 0, 500, SPAN_COMPLETE));
	g_assert_cmpuint(timeline_n_spans(tl), ==, 3);
	g_assert_cmpint(timeline_span(tl, 0)->end_ns, ==, 500);

	/* Its trace became known later. */
	apply_span(tl, 4, make_span(7, 3, 10, 90, SPAN_COMPLETE));
	g_assert_null(timeline_trace_spans(tl, 2));
	g_assert_cmpuint(only_span(tl, 7)->span_id, ==, 3);
}

static void test_span_copy(void)
{
	struct span *s = make_span(1, 2, 3, 10, SPAN_OPEN);

	s->tags[1].ts = 77;
	struct span *copy = fake_copy(s);
	span_unref(s);
	g_assert_cmpint(copy->tags[1].ts, ==, 77);
	g_assert_cmpuint(copy->n_waits, ==, 1);
	g_assert_null(copy->calls);
	struct span *same = span_ref(copy);
	span_unref(copy);
	g_assert_cmpint(span_duration(same), ==, 7);
	span_unref(same);
}

static void test_pin(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);

	apply_span(tl, 0, make_span(1, 1, 0, 100, SPAN_COMPLETE));
	apply_span(tl, 1, make_span(1, 2, 0, 100, SPAN_OPEN));
	apply_span(tl, 2, make_span(2, 3, 0, 100, SPAN_COMPLETE));
	timeline_pin(tl, 1);
	apply_span(tl, 0, make_span(1, 1, 0, 150, SPAN_COMPLETE));
	apply_span(tl, 0, make_span(1, 1, 0, 200, SPAN_COMPLETE));
	apply_span(tl, 1, make_span(1, 2, 0, 200, SPAN_COMPLETE));
	apply_span(tl, 2, make_span(2, 3, 0, 200, SPAN_COMPLETE));
	g_assert_cmpint(timeline_span(tl, 0)->end_ns, ==, 100);	/* stays as it was seen */
	g_assert_cmpint(timeline_span(tl, 1)->end_ns, ==, 200);	/* an open one goes on */
	g_assert_cmpint(timeline_span(tl, 2)->end_ns, ==, 200);

	timeline_pin(tl, 0);
	g_assert_cmpint(timeline_span(tl, 0)->end_ns, ==, 100);	/* until the next apply */
	uint64_t version = timeline_facts(tl)->version;
	timeline_apply(tl, publication_new());
	g_assert_cmpint(timeline_span(tl, 0)->end_ns, ==, 200);
	g_assert_cmpuint(timeline_facts(tl)->version, >, version);

	/* What is still held back at the end is freed (ASan tells). */
	timeline_pin(tl, 1);
	apply_span(tl, 0, make_span(1, 1, 0, 300, SPAN_COMPLETE));
}

#define BUDGET (4u << 20)

/* 200 seconds of 100 kB with 20 spans each: only the newest fit. */
static void test_budget(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	uint32_t slot = 0;

	g_assert_cmpuint(timeline_facts(tl)->budget, ==, BUDGET);
	apply_span(tl, slot++, make_span(999, 1, 0, S / 2, SPAN_COMPLETE));
	apply_span(tl, slot++, make_span(998, 1, 0, S / 2, SPAN_OPEN));
	timeline_pin(tl, 999);
	for (int64_t i = 0; i < 200; i++) {
		struct publication *p = publication_new();
		g_ptr_array_add(p->seconds, make_second(i, 100000));
		for (int64_t k = 0; k < 20; k++)
			publication_add_span(p, slot++, make_span((uint64_t)(1000 + i), 1, i * S,
								  i * S + k, SPAN_COMPLETE));
		p->has_coverage = true;
		p->last_ns = (i + 1) * S;
		timeline_apply(tl, p);
		g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
		g_assert_cmpuint(timeline_n_seconds(tl), >=, MIN(10, i + 1));
	}

	int64_t kept = timeline_retained_from(tl);
	g_assert_cmpint(kept, >, 150 * S);
	g_assert_cmpint(timeline_second(tl, 0)->begin_ns, ==, kept);
	g_assert_cmpint(timeline_second(tl, timeline_n_seconds(tl) - 1)->begin_ns, ==, 199 * S);
	g_assert_cmpuint(timeline_n_seconds(tl), >, 20);	/* not more than needed */
	for (int64_t i = 0; i < 200; i++) {
		const GArray *spans = timeline_trace_spans(tl, (uint64_t)(1000 + i));
		g_assert_true(!spans == (i * S < kept));
		g_assert_true(!spans || spans->len == 20);
	}
	g_assert_cmpuint(only_span(tl, 999)->state, ==, SPAN_COMPLETE);	/* pinned */
	g_assert_cmpuint(only_span(tl, 998)->state, ==, SPAN_OPEN);

	/* Slots still find their spans; dropped ones stay away, and old seconds. */
	apply_span(tl, 1, make_span(998, 1, 0, 199 * S, SPAN_COMPLETE));
	g_assert_cmpint(only_span(tl, 998)->end_ns, ==, 199 * S);
	size_t n = timeline_n_spans(tl);
	apply_span(tl, 2, make_span(1000, 1, 0, 5, SPAN_COMPLETE));
	g_assert_null(timeline_trace_spans(tl, 1000));
	apply_span(tl, 2, make_span(1000, 1, 0, 199 * S, SPAN_COMPLETE));	/* it was counted */
	g_assert_cmpuint(timeline_n_spans(tl), ==, n);
	apply_span(tl, slot, make_span(1000, 2, 0, 199 * S, SPAN_COMPLETE));
	g_assert_cmpuint(timeline_n_spans(tl), ==, n + 1);
	n = timeline_n_seconds(tl);
	apply_second(tl, make_second(3, 0));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, n);
}

/* 4000 traces of five spans, while so much is held beside the timeline; its bytes then. */
#define ROUNDS 250u
#define APART 4000000u		/* numbers of spans between those that are looked at */

/* A thousand million spans that come and go: what is remembered of each keeps within the budget, too. */
static void test_many_gone(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	uint64_t traces, spans, before;

	apply_span(tl, 0, make_span(1, 1, 0, S / 2, SPAN_COMPLETE));
	timeline_pin(tl, 1);
	for (uint32_t i = 1; i < ROUNDS; i++) {
		struct publication *p = publication_new();
		for (uint32_t k = 0; k < 2000; k++)
			publication_add_span(p, i * APART + k,
					     make_span(i * APART + k, 1, i * S, i * S + k, SPAN_COMPLETE));
		timeline_apply(tl, p);
		g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
	}
	timeline_evicted(tl, &traces, &before);
	g_assert_cmpuint(before, >, ROUNDS * 1000);
	size_t n = timeline_n_spans(tl);
	for (uint32_t i = 1; i < ROUNDS / 2; i++)		/* told once more: they were counted */
		apply_span(tl, i * APART, make_span(i * APART, 1, i * S, 999 * S, SPAN_COMPLETE));
	g_assert_cmpuint(timeline_n_spans(tl), ==, n);
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(spans, ==, before);
	timeline_pin(tl, 0);
	apply_span(tl, 0, make_span(1, 1, 0, 999 * S, SPAN_COMPLETE));
	g_assert_cmpint(only_span(tl, 1)->end_ns, ==, 999 * S);		/* it is there still */
}

static size_t bytes_with(size_t beside)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	uint64_t traces, spans;

	for (uint32_t i = 0; i < 4000; i++) {
		struct publication *p = publication_new();
		size_t before = p->span_bytes;
		for (uint32_t k = 0; k < 5; k++)
			publication_add_span(p, 5 * i + k, make_span(1 + i, 1 + k, i * S, i * S + k,
								     SPAN_COMPLETE));
		g_assert_cmpuint(p->span_bytes, >, before + 5 * sizeof(struct span));
		p->has_coverage = true;
		p->last_ns = i * S;
		p->beside_bytes = beside;
		timeline_apply(tl, p);
		g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET - MIN(beside, BUDGET / 2));
	}
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(spans + timeline_n_spans(tl), ==, 20000);
	g_assert_nonnull(timeline_trace_spans(tl, 4000));	/* the newest are there */
	return timeline_bytes(tl);
}

/* What is held for spans to come is room that the timeline does not have; but half of it. */
static void test_beside(void)
{
	size_t all = bytes_with(0);

	g_assert_cmpuint(all, >, BUDGET / 4 * 3);	/* not more goes than has to */
	g_assert_cmpuint(bytes_with(BUDGET / 4), >, BUDGET / 2);
	g_assert_cmpuint(bytes_with(10 * (size_t)BUDGET), >, BUDGET / 4);
}

/* The same threads all the time: old seconds become 10 s, and these a minute; no sum is
 * lost, and the newest stay as they are. */
static void test_folding(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	uint64_t calls = 0, syscalls = 0;
	int64_t end = 0;
	unsigned n_of[3] = { 0 };

	for (int64_t i = 0; i < 600; i++) {
		struct second *s = make_second(i, 50000);
		for (uint32_t k = 0; k < s->n_threads; k++) {
			s->threads[k].thread = k;
			s->threads[k].syscalls = 1;
		}
		syscalls += s->n_threads;
		apply_second(tl, s);
		g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
	}
	size_t n = timeline_n_seconds(tl);
	for (size_t i = 0; i < n; i++) {
		const struct second *s = timeline_second(tl, i);
		g_assert_cmpint(s->begin_ns, ==, end);
		g_assert_cmpint(s->end_ns - s->begin_ns, ==, s->fold_ns ? s->fold_ns : S);
		g_assert_true(!s->fold_ns || s->end_ns <= timeline_facts(tl)->folded_until);
		n_of[!s->fold_ns ? 0 : s->fold_ns == 10 * S ? 1 : 2]++;
		end = s->end_ns;
		calls += hist_count(&s->calls[0].latency);
		for (uint32_t k = 0; k < s->n_threads; k++)
			syscalls -= s->threads[k].syscalls;
	}
	g_assert_cmpint(end, ==, 600 * S);
	g_assert_cmpuint(calls, ==, 600);
	g_assert_cmpuint(syscalls, ==, 0);
	g_assert_cmpuint(n_of[0], >=, 20);
	g_assert_cmpuint(n_of[1], >, 0);
	g_assert_cmpuint(n_of[2], >, 0);
	g_assert_cmpint(timeline_retained_from(tl), ==, TIME_UNKNOWN);	/* nothing was dropped */

	/* What comes late for a folded one does not come twice. */
	apply_second(tl, make_second(3, 0));
	apply_second(tl, make_second(0, 0));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, n);
}

/* Seconds that take more than the budget, for who wants them as they are: only spans go, but for
 * an eighth, and those that were asked for stay. */
static void test_whole_seconds(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	uint64_t traces, spans;

	timeline_retain_seconds(tl);
	timeline_retain_traces(tl, (const uint64_t[]){ 1, 2 }, 2);
	timeline_prefer_range(tl, 500 * S, 600 * S);
	for (uint32_t i = 0; i < 4000; i++) {
		struct publication *p = publication_new();
		if (i % 40 == 0)
			g_ptr_array_add(p->seconds, make_second(i / 40, 100000));
		for (uint32_t k = 0; k < 5; k++)
			publication_add_span(p, 5 * i + k, make_span(1 + i, 1 + k, i * S, i * S + k,
								     SPAN_COMPLETE));
		p->has_coverage = true;
		p->last_ns = i * S;
		timeline_apply(tl, p);
	}
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 100);
	g_assert_cmpint(timeline_facts(tl)->folded_until, ==, TIME_UNKNOWN);
	g_assert_cmpint(timeline_retained_from(tl), ==, 0);
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(spans, >, 15000);
	g_assert_cmpuint(spans + timeline_n_spans(tl), ==, 20000);
	g_assert_cmpuint(timeline_n_spans(tl) * sizeof(struct span), >, BUDGET / 16);
	g_assert_nonnull(timeline_trace_spans(tl, 1));
	g_assert_nonnull(timeline_trace_spans(tl, 2));
	for (uint64_t i = 501; i <= 600; i++)
		g_assert_nonnull(timeline_trace_spans(tl, i));
	g_assert_nonnull(timeline_trace_spans(tl, 4000));
	apply_span(tl, 0, make_span(1, 1, 0, 7, SPAN_COMPLETE));	/* it is not pinned */
	g_assert_cmpint(timeline_find_trace(tl, 1)->end_ns, ==, 7);
}

/* Seconds that a consumer takes late stay as they came until then, whatever they need; afterwards the bound holds. */
static void test_seconds_to_be_read(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	const int64_t lag = 120;

	timeline_retain_seconds_from(tl, INT64_MIN);
	for (int64_t i = 0; i < 600; i++) {
		int64_t read = MAX(0, i - lag);
		apply_second(tl, make_second(i, 50000));
		for (int64_t k = read; k <= i; k++) {
			const struct second *s = timeline_second(tl, timeline_find(tl, k * S));
			g_assert_cmpint(s->begin_ns, ==, k * S);
			g_assert_cmpint(s->fold_ns, ==, 0);
			g_assert_cmpuint(s->n_threads, >, 0);
		}
		timeline_retain_seconds_from(tl, MAX(0, i + 1 - lag) * S);
	}
	g_assert_cmpuint(timeline_bytes(tl), >, BUDGET);
	timeline_retain_seconds_from(tl, 600 * S);
	apply_second(tl, make_second(600, 50000));
	g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
}

struct dropped { int64_t until; unsigned calls; struct timeline *tl; };

static void on_dropping(void *data, int64_t until_ns)
{
	struct dropped *d = data;
	g_assert_cmpint(until_ns, >, d->until);
	const struct second *next = timeline_second(d->tl, timeline_find(d->tl, d->until));
	g_assert_cmpint(next->begin_ns, ==, d->until);		/* all since the last call are still there */
	d->until = until_ns;
	d->calls++;
}

/* Seconds that are dropped once they were looked at, whole and in order; nothing late brings one back. */
static void test_dropping(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);
	struct dropped d = { .tl = tl };

	timeline_retain_range(tl, 0, 0, on_dropping, &d);
	for (int64_t i = 0; i < 600; i++) {
		apply_second(tl, make_second(i, 50000));
		g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
	}
	size_t n = timeline_n_seconds(tl);
	g_assert_cmpuint(d.calls, >, 3);
	g_assert_cmpint(timeline_second(tl, 0)->begin_ns, ==, d.until);
	g_assert_cmpint(timeline_retained_from(tl), ==, d.until);
	g_assert_cmpint((int64_t)n, ==, 600 - d.until / S);
	g_assert_cmpint(timeline_facts(tl)->folded_until, ==, TIME_UNKNOWN);
	apply_second(tl, make_second(3, 0));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, n);
}

/* The same, but for a range. */
static void test_dropping_around(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(BUDGET);

	timeline_retain_range(tl, 100 * S, 103 * S, NULL, NULL);
	for (int64_t i = 0; i < 600; i++)
		apply_second(tl, make_second(i, 50000));
	for (size_t i = 0; i < 3; i++)
		g_assert_cmpint(timeline_second(tl, i)->begin_ns, ==, (100 + (int64_t)i) * S);
	g_assert_cmpint(timeline_second(tl, 3)->begin_ns, >, 400 * S);
	g_assert_cmpuint(timeline_bytes(tl), <=, BUDGET);
	size_t n = timeline_n_seconds(tl);
	struct second *again = make_second(101, 0);	/* a name became known */
	again->version = 9;
	apply_second(tl, again);
	apply_second(tl, make_second(99, 0));
	apply_second(tl, make_second(104, 0));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, n);
	g_assert_cmpuint(timeline_second(tl, 1)->version, ==, 9);
}

/* Far too much for the budget: the newest ten seconds stay, whatever they need. */
static void test_newest_stay(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(1000);

	for (int64_t i = 0; i < 40; i++) {
		struct publication *p = publication_new();
		g_ptr_array_add(p->seconds, make_second(i, 10000));
		publication_add_span(p, (uint32_t)i, make_span((uint64_t)i + 1, 1, i * S,
							       i * S + 10, SPAN_OPEN));
		timeline_apply(tl, p);
		g_assert_cmpuint(timeline_n_seconds(tl), ==, MIN(10, i + 1));
	}
	g_assert_cmpint(timeline_retained_from(tl), ==, 30 * S);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 10);	/* open ones go, too, when they must */
	g_assert_null(timeline_trace_spans(tl, 30));
	g_assert_nonnull(timeline_trace_spans(tl, 31));
}

/* --- random: against a plain model without any budget --- */

#define SLOTS 300

static void check_spans(const struct timeline *tl, const struct span expected[SLOTS])
{
	size_t n = 0;

	for (size_t slot = 0; slot < SLOTS; slot++) {
		const struct span *want = &expected[slot];
		if (!want->span_id)
			continue;
		n++;
		const GArray *indexes = timeline_trace_spans(tl, want->trace_id);
		g_assert_nonnull(indexes);
		unsigned found = 0;
		for (unsigned i = 0; i < indexes->len; i++) {
			const struct span *s = timeline_span(tl, g_array_index(indexes, uint32_t, i));
			g_assert_cmpuint(s->trace_id, ==, want->trace_id);
			found += s->span_id == want->span_id && s->end_ns == want->end_ns;
		}
		g_assert_cmpuint(found, ==, 1);
	}
	g_assert_cmpuint(timeline_n_spans(tl), ==, n);
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct span expected[SLOTS] = { 0 };
	uint32_t versions[100] = { 0 };

	for (int round = 0; round < 300; round++) {
		struct publication *p = publication_new();
		for (int i = g_rand_int_range(rand, 0, 20); i > 0; i--) {
			uint32_t slot = (uint32_t)g_rand_int_range(rand, 0, SLOTS);
			struct span *s = make_span((uint64_t)g_rand_int_range(rand, 1, 20), slot + 1, 0,
						   round * 1000 + i, SPAN_COMPLETE);
			expected[slot] = *s;
			publication_add_span(p, slot, s);
		}
		for (int i = g_rand_int_range(rand, 0, 5); i > 0; i--) {
			int64_t at = g_rand_int_range(rand, 0, 100);
			struct second *s = make_second(at, 0);
			s->version = ++versions[at];
			g_ptr_array_add(p->seconds, s);
		}
		timeline_apply(tl, p);
		check_spans(tl, expected);
		for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
			const struct second *s = timeline_second(tl, i);
			g_assert_cmpuint(s->version, ==, versions[s->begin_ns / S]);
			g_assert_cmpuint(timeline_find(tl, s->begin_ns), ==, i);
			g_assert_cmpuint(timeline_find(tl, s->end_ns - 1), ==, i);
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(versions); i++)
		n += versions[i] > 0;
	g_assert_cmpuint(timeline_n_seconds(tl), ==, n);
}

/* Finds by time what a loop over all spans and traces finds, in the same order. */
static void check_times(const struct timeline *tl, int64_t from, int64_t to)
{
	size_t next = timeline_next_span(tl, 0, from, to);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->begin_ns >= to || s->end_ns < from)
			continue;
		g_assert_cmpuint(next, ==, i);
		next = timeline_next_span(tl, i + 1, from, to);
	}
	g_assert_cmpuint(next, ==, timeline_n_spans(tl));
	next = timeline_next_trace(tl, 0, from, to);
	for (size_t i = 0; i < timeline_n_traces(tl); i++) {
		const struct trace_info *t = timeline_trace(tl, i);
		g_assert_true(timeline_find_trace(tl, t->trace_id) == t);
		if (t->begin_ns >= to || t->end_ns < from)
			continue;
		g_assert_cmpuint(next, ==, i);
		next = timeline_next_trace(tl, i + 1, from, to);
	}
	g_assert_cmpuint(next, ==, timeline_n_traces(tl));
}

/* Spans are added roughly in order of time, replaced, moved to another trace, and evicted. */
static void test_times(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	g_autoptr(blk_timeline) tl = timeline_new(1 << 20);
	uint64_t traces, spans;
	uint32_t slots = 0;

	for (int64_t round = 0; round < 400; round++) {
		struct publication *p = publication_new();
		for (int i = 0; i < 60; i++) {
			bool again = slots && g_rand_int_range(rand, 0, 8) == 0;
			uint32_t slot = !again ? slots++ :
				slots - 1 - (uint32_t)g_rand_int_range(rand, 0, (gint32)MIN(slots, 500));
			uint64_t trace = (uint64_t)(slot / 4) + (g_rand_int_range(rand, 0, 50) == 0) + 1;
			int64_t begin = round * S + g_rand_int_range(rand, 0, 1000000);
			bool open = g_rand_int_range(rand, 0, 9) == 0;
			int64_t end = begin + g_rand_int_range(rand, 0, 2000000);
			publication_add_span(p, slot, make_span(trace, slot + 1, begin, end,
								open ? SPAN_OPEN : SPAN_COMPLETE));
		}
		p->has_coverage = true;
		p->last_ns = round * S;
		timeline_apply(tl, p);
		int64_t from = g_rand_int_range(rand, 0, (gint32)round + 1) * S;
		check_times(tl, from, from + g_rand_int_range(rand, 1, 20) * S);
		check_times(tl, from + 500000, from + 500001);
	}
	check_times(tl, INT64_MIN, INT64_MAX);
	timeline_evicted(tl, &traces, &spans);
	g_assert_cmpuint(spans, >, 5000);
	g_assert_cmpuint(timeline_next_span(tl, 0, 1000 * S, INT64_MAX), ==, timeline_n_spans(tl));
}

static void test_parts(void)
{
	int64_t part[PART_N];
	int64_t all = 0;

	for (int i = 0; i < PART_N; i++) {
		part[i] = INT64_C(1) << i;
		all += part[i];
		g_assert_nonnull(part_info[i].id);
		g_assert_cmpuint(strlen(part_info[i].title), >=, 3);
		g_assert_cmpuint(strlen(part_info[i].title), <=, 4);
		for (int k = 0; k < i; k++)
			g_assert_cmpint(part_info[i].letter, !=, part_info[k].letter);
	}
	g_assert_cmpint(part_sum_cpu(part) + part_sum_runnable(part) + part_sum_blocked(part) +
			part[PART_HANDOFF] + part[PART_UNKNOWN], ==, all);
	g_assert_cmpint(part_sum_runnable(part), ==, part[PART_PREEMPTED] + part[PART_WAKEUP]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/timeline/empty", test_empty);
	g_test_add_func("/timeline/registries", test_registries);
	g_test_add_func("/timeline/seconds", test_seconds);
	g_test_add_func("/timeline/spans", test_spans);
	g_test_add_func("/timeline/span-copy", test_span_copy);
	g_test_add_func("/timeline/pin", test_pin);
	g_test_add_func("/timeline/budget", test_budget);
	g_test_add_func("/timeline/many-gone", test_many_gone);
	g_test_add_func("/timeline/beside", test_beside);
	g_test_add_func("/timeline/folding", test_folding);
	g_test_add_func("/timeline/seconds-to-be-read", test_seconds_to_be_read);
	g_test_add_func("/timeline/dropping", test_dropping);
	g_test_add_func("/timeline/dropping-around", test_dropping_around);
	g_test_add_func("/timeline/whole-seconds", test_whole_seconds);
	g_test_add_func("/timeline/newest-stay", test_newest_stay);
	g_test_add_func("/timeline/random", test_random);
	g_test_add_func("/timeline/times", test_times);
	g_test_add_func("/timeline/parts", test_parts);
	return g_test_run();
}
