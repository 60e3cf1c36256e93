/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a metric takes over one hour with 1,000 processes, split by process and call and filtered, and how long the
 * view syscalls takes over the same hour. Prints "key value" lines.
 *
 * Usage: bench-metric [SECONDS PROCESSES]
 */
#include "lib/fake_timeline.h"
#include "views/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REPEAT 3		/* the best of so many counts: others use the machine too */

static struct timeline *make(unsigned seconds, unsigned processes)
{
	static const char *const names[] = { "read", "write", "futex", "epoll_wait" };
	struct fake *f = fake_new();
	uint32_t call[G_N_ELEMENTS(names)];
	g_autofree uint32_t *thread = g_new(uint32_t, processes);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		call[i] = fake_string(f, names[i]);
	for (unsigned i = 0; i < processes; i++) {
		g_autofree char *comm = g_strdup_printf("server-%u", i % 50);
		thread[i] = fake_thread(f, 0, 1000 + (int)i, 1000 + (int)i, comm);
	}
	for (unsigned n = 0; n < seconds; n++) {
		struct second *s = fake_second(f, n);
		s->calls = g_new0(struct call_cell, processes);
		s->n_calls = processes;
		for (unsigned i = 0; i < processes; i++) {
			s->calls[i].thread = thread[i];
			s->calls[i].name = call[(n + i) % G_N_ELEMENTS(names)];
			for (int64_t ns = 1000; ns < 4000; ns += 1000)
				hist_add(&s->calls[i].latency, ns + i);
		}
	}
	return fake_done(f);
}

static int64_t build_us(const struct timeline *tl, const struct view *v, const struct view_query *q)
{
	int64_t best = INT64_MAX;
	for (int i = 0; i < REPEAT; i++) {
		int64_t begin = g_get_monotonic_time();
		struct rows *rows = v->build(tl, q);
		best = MIN(best, g_get_monotonic_time() - begin);
		rows_free(rows);
	}
	return best;
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 3600;
	unsigned processes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1000;
	struct timeline *tl = make(seconds, processes);
	struct metric_query q = { .metric = metric_find("call.latency", NULL) };
	struct view_query query = VIEW_QUERY_INIT;
	if (!metric_query_by(&q, "process,call", NULL) ||
	    !metric_query_where(&q, "process == server-1* && call == read", NULL))
		return EXIT_FAILURE;
	query.metric = &q;
	query.by = BY_PROCESS;
	struct view *v = metric_view_new(&q);
	printf("metric_us %" PRId64 "\nview_us %" PRId64 "\n", build_us(tl, v, &query),
	       build_us(tl, view_find("syscalls"), &query));
	metric_view_free(v);
	metric_query_clear(&q);
	timeline_free(tl);
	return EXIT_SUCCESS;
}
