/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of a second that the graph of all seconds can show: see graph.h. */
#include "views/graph.h"

const struct graph_info graph_info[GRAPH_N] = {
#define GRAPH_INFO(id, word, title, is_ns) [GRAPH_##id] = { word, title, is_ns },
	GRAPH_LIST(GRAPH_INFO)
#undef GRAPH_INFO
};

void graph_unknown(double figure[GRAPH_N])
{
	for (int g = 0; g < GRAPH_N; g++)
		figure[g] = -1;
}

void graph_of_second(const struct second *s, double figure[GRAPH_N])
{
	const struct second_totals *t = &s->totals;

	figure[GRAPH_REQUESTS] = -1;
	figure[GRAPH_CPU] = t->known_ns > 0 ? (double)t->run_ns / (double)(t->known_ns + t->unknown_ns) : -1;
	figure[GRAPH_RUNQ] = (double)t->wakeup_p99_ns;
	figure[GRAPH_DISK] = (double)t->disk_p99_ns;
	figure[GRAPH_CALL] = (double)t->slowest_call_ns;
}
