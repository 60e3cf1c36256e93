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
	int64_t run = 0, known = 0, unknown = 0;
	struct hist disk = { 0 };
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		run += s->cpus[i].run_ns;
		known += s->cpus[i].run_ns + s->cpus[i].idle_ns;
		unknown += s->cpus[i].unknown_ns;
	}
	for (uint32_t i = 0; i < s->n_devs; i++)
		hist_merge(&disk, &s->devs[i].latency);
	figure[GRAPH_REQUESTS] = -1;
	figure[GRAPH_CPU] = known > 0 ? (double)run / (double)(known + unknown) : -1;
	figure[GRAPH_RUNQ] = (double)hist_quantile(&s->wakeup, 0.99);
	figure[GRAPH_DISK] = (double)hist_quantile(&disk, 0.99);
	figure[GRAPH_CALL] = s->n_slow ? (double)s->slow[0].duration_ns : -1;
	hist_clear(&disk);
}
