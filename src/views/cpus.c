/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs: time running, idle and in interrupts.
 */
#include "views/cell_rows.h"
#include "views/registry.h"

struct cpu_row {
	struct common c;
	uint32_t cpu;
	struct cpu_sum sum;
};

#define ROW(row) ((const struct cpu_row *)(row))

/* Null if all time of the CPU is unknown: then 0 would be wrong. */
static struct value known(const struct cpu_row *r, int64_t ns)
{
	return r->sum.run_ns + r->sum.idle_ns + r->sum.irq_ns == 0 && r->sum.unknown_ns ?
		value_none() : value_int(VALUE_NS, ns);
}

static struct value ratio(const struct cpu_row *r, int64_t ns)
{
	int64_t total = r->sum.run_ns + r->sum.idle_ns + r->sum.unknown_ns;
	return known(r, ns).kind == VALUE_NONE || !total ?
		value_none() : value_ratio((double)ns / total);
}

static GETTER(get_cpu_number)
{
	return value_int(VALUE_ID, ROW(row)->cpu);
}

static GETTER(get_run)
{
	return known(ROW(row), ROW(row)->sum.run_ns);
}

static GETTER(get_idle)
{
	return known(ROW(row), ROW(row)->sum.idle_ns);
}

static GETTER(get_cpu_irq)
{
	return unless_missing(row, rows, MISSING_INTERRUPTS, known(ROW(row), ROW(row)->sum.irq_ns));
}

static GETTER(get_cpu_unknown)
{
	return value_int(VALUE_NS, ROW(row)->sum.unknown_ns);
}

static GETTER(get_run_ratio)
{
	return ratio(ROW(row), ROW(row)->sum.run_ns);
}

static GETTER(get_cpu_irq_ratio)
{
	return unless_missing(row, rows, MISSING_INTERRUPTS, ratio(ROW(row), ROW(row)->sum.irq_ns));
}

static const struct column columns[] = {
	COLUMN_HOST_AT(12, 0),
	COLUMN_ID("cpu", "CPU", 5, 0, "number of the CPU", get_cpu_number),
	COLUMN_N("run_ns", "RUN", VALUE_NS, 8, 2, "a thread ran", get_run),
	COLUMN_N("idle_ns", "IDLE", VALUE_NS, 8, 3, "no thread ran", get_idle),
	COLUMN_N("unknown_ns", "UNKNOWN", VALUE_NS, 8, 4, part_help(UNKNOWN), get_cpu_unknown),
	COLUMN_N("irq_ns", "IRQ", VALUE_NS, 8, 5, "of these, taken by interrupts", get_cpu_irq),
	COLUMN_N("run_ratio", "RUN%", VALUE_RATIO, 6, 0, "share of time a thread ran", get_run_ratio),
	COLUMN_N("irq_ratio", "IRQ%", VALUE_RATIO, 6, 1, "share of time taken by interrupts",
		 get_cpu_irq_ratio),
};

static int compare(const void *va, const void *vb)
{
	const struct cpu_row *a = *(const struct cpu_row *const *)va;
	const struct cpu_row *b = *(const struct cpu_row *const *)vb;
	int order = g_strcmp0(a->c.host, b->c.host);
	return order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static uint64_t key_of(const struct rows *rows, const void *cell)
{
	const struct cpu_cell *c = cell;
	(void)rows;
	return (uint64_t)c->host << 32 | c->cpu;
}

static void fill(struct rows *rows, void *row, const void *cell)
{
	struct cpu_row *r = row;
	const struct cpu_cell *c = cell;
	common_host(&r->c, rows, c->host);
	r->cpu = c->cpu;
	r->c.row.key[0] = key_int(key_text(0, r->c.host), c->cpu);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows cpus = {
		CELL_cpu, sizeof(struct cpu_row), offsetof(struct cpu_row, sum), .key = key_of, .fill = fill,
	};
	return cell_rows_build(tl, query, &cpus, 1, NULL, compare);
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
