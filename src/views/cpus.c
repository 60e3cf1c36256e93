/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs: time running, idle and in interrupts.
 */
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

struct cpu_row {
	struct common c;
	uint32_t cpu;
	struct cpu_sum sum;
	double run_ratio, irq_ratio;	/* -1: not known */
};

static const struct column columns[] = {
	COLUMN_HOST_AT(12, 0),
	COLUMN_ID("cpu", "CPU", 5, 0, "number of the CPU", MEMBER(struct cpu_row, cpu)),
	COLUMN_N("run_ns", "RUN", VALUE_NS, 8, 2, "a thread ran", MEMBER(struct cpu_row, sum.run_ns)),
	COLUMN_N("idle_ns", "IDLE", VALUE_NS, 8, 3, "no thread ran", MEMBER(struct cpu_row, sum.idle_ns)),
	COLUMN_N("unknown_ns", "UNKNOWN", VALUE_NS, 8, 4, part_help(UNKNOWN), MEMBER(struct cpu_row, sum.unknown_ns)),
	COLUMN_N("irq_ns", "IRQ", VALUE_NS, 8, 5, "of these, taken by interrupts",
		 MEMBER(struct cpu_row, sum.irq_ns, .missing = MISSING_INTERRUPTS)),
	COLUMN_N("run_ratio", "RUN%", VALUE_RATIO, 6, 0, "share of time a thread ran",
		 MEMBER(struct cpu_row, run_ratio, .none = IF_NEGATIVE)),
	COLUMN_N("irq_ratio", "IRQ%", VALUE_RATIO, 6, 1, "share of time taken by interrupts",
		 MEMBER(struct cpu_row, irq_ratio, .none = IF_NEGATIVE, .missing = MISSING_INTERRUPTS)),
};

static int compare(const void *va, const void *vb)
{
	const struct cpu_row *a = *(const struct cpu_row *const *)va;
	const struct cpu_row *b = *(const struct cpu_row *const *)vb;
	return g_strcmp0(a->c.host, b->c.host) ?: ORDER(a->cpu, b->cpu);
}

static void fill(struct rows *rows, void *row, const void *cell)
{
	struct cpu_row *r = row;
	const struct cpu_cell *c = cell;
	common_host(&r->c, rows, c->host);
	r->cpu = c->cpu;
	r->c.row.key[0] = key_int(key_text(0, r->c.host), c->cpu);
}

static void end(struct rows *rows, void *row)
{
	struct cpu_row *r = row;
	struct cpu_sum *s = &r->sum;
	int64_t total = s->run_ns + s->idle_ns + s->unknown_ns;
	bool all_unknown = s->run_ns + s->idle_ns + s->irq_ns == 0 && s->unknown_ns;
	(void)rows;
	r->run_ratio = all_unknown || !total ? -1 : (double)s->run_ns / total;
	r->irq_ratio = all_unknown || !total ? -1 : (double)s->irq_ns / total;
	if (all_unknown)
		s->run_ns = s->idle_ns = s->irq_ns = FIGURE_NONE;	/* 0 would be wrong */
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows cpus = {
		.kind = CELL_cpu, .size = sizeof(struct cpu_row), .sum = offsetof(struct cpu_row, sum),
		.fill = fill,
	};
	return cell_rows_build(tl, query, &cpus, 1, end, compare);
}

static const char *const needs[] = { "sched_switch", NULL };

const struct view view_cpus = {
	.idle = "idle",
	.only = ONLY_HOST,
	.id = "cpus", .title = "CPUs",
	.help = "Each CPU: how long threads ran on it, how long it was idle, and what interrupts took.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "cpu", .needs = needs, .on_screen = true, .reads = READS(cpu), .build = build,
};
