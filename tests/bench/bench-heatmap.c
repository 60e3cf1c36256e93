/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a heatmap's frame takes over one hour with 1,000 processes: the first, of which everything is counted, and
 * one for which only the newest second is new, as once a second live. Beside them how long it takes to go over the same
 * cells and only add their counts. Prints "key value" lines.
 *
 * Usage: bench-heatmap [SECONDS PROCESSES]
 */
#include "lib/fake_timeline.h"
#include "views/heatmap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REPEAT 3		/* the best of so many counts: others use the machine too */
#define COLUMNS 130		/* a picture of 140x45 */
#define ROWS 36

static void add_calls(struct second *s, const uint32_t *thread, const uint32_t *call, unsigned processes, unsigned n)
{
	s->calls = g_new0(struct call_cell, processes);
	s->n_calls = processes;
	for (unsigned i = 0; i < processes; i++) {
		s->calls[i].thread = thread[i];
		s->calls[i].name = call[(n + i) % 4];
		for (int64_t ns = 1000; ns < 4000; ns += 1000)
			hist_add(&s->calls[i].latency, (ns + i) << n % 8);
	}
}

struct made { struct timeline *tl; uint32_t *thread, call[4]; unsigned seconds, processes; };

static void make(struct made *m)
{
	static const char *const names[] = { "read", "write", "futex", "epoll_wait" };
	struct fake *f = fake_new();
	m->thread = g_new(uint32_t, m->processes);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		m->call[i] = fake_string(f, names[i]);
	for (unsigned i = 0; i < m->processes; i++) {
		g_autofree char *comm = g_strdup_printf("server-%u", i % 50);
		m->thread[i] = fake_thread(f, 0, 1000 + (int)i, 1000 + (int)i, comm);
	}
	for (unsigned n = 0; n < m->seconds; n++)
		add_calls(fake_second(f, n), m->thread, m->call, m->processes, n);
	m->tl = fake_done(f);
}

static void add_second(struct made *m)
{
	struct publication *p = publication_new();
	struct second *s = second_new(FAKE_T0 + m->seconds * FAKE_S, FAKE_T0 + (m->seconds + 1) * FAKE_S);
	s->version = 1;
	add_calls(s, m->thread, m->call, m->processes, m->seconds++);
	second_seal(s);
	g_ptr_array_add(p->seconds, s);
	timeline_apply(m->tl, p);
}

static int64_t frame_us(const struct made *m, const struct metric_query *metric, struct heatmap *h)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.metric = metric;
	q.heatmap = h;
	int64_t begin = g_get_monotonic_time();
	struct rows *rows = view_heatmap.build(m->tl, &q);
	int64_t took = g_get_monotonic_time() - begin;
	rows_free(rows);
	return took;
}

static int64_t only_add_us(const struct made *m)
{
	int64_t begin = g_get_monotonic_time();
	uint64_t n = 0;
	for (size_t i = 0; i < timeline_n_seconds(m->tl); i++) {
		const struct second *s = timeline_second(m->tl, i);
		for (uint32_t k = 0; k < s->n_calls; k++)
			n += hist_count(&s->calls[k].latency);
	}
	int64_t took = g_get_monotonic_time() - begin;
	return n ? took : 0;
}

static void keep_least(int64_t *least, int64_t us)
{
	*least = MIN(*least, us);
}

int main(int argc, char **argv)
{
	struct made m = {
		.seconds = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 3600,
		.processes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1000,
	};
	struct metric_query q = { .metric = metric_find("call.latency", NULL) };
	int64_t first = INT64_MAX, next = INT64_MAX, add = INT64_MAX;
	make(&m);
	for (int i = 0; i < REPEAT; i++) {
		struct heatmap *h = heatmap_new(COLUMNS, ROWS);
		keep_least(&first, frame_us(&m, &q, h));
		add_second(&m);
		keep_least(&next, frame_us(&m, &q, h));
		keep_least(&add, only_add_us(&m));
		heatmap_free(h);
	}
	printf("heatmap_first_us %" PRId64 "\nheatmap_us %" PRId64 "\nadd_us %" PRId64 "\n", first, next, add);
	metric_query_clear(&q);
	timeline_free(m.tl);
	g_free(m.thread);
	return EXIT_SUCCESS;
}
