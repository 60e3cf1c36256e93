/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts and softirqs: counts, durations, and latencies of softirqs; by CPU, or by the process that was
 * interrupted.
 */
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

struct irq_row {
	struct common c;		/* name: of the interrupt; latency: duration of its handler */
	uint32_t code;
	int64_t cpu;			/* -1: several CPUs, or a row of a process */
	struct irq_sum sum;		/* of a row of a process: only .self_ns is known */
	int64_t count, total_ns;
	struct stat raise;		/* from raised to the handler's begin */
};

#define IRQ(name, ...) MEMBER(struct irq_row, name, __VA_ARGS__)

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("cpu", "CPU", 4, 3, "number of the CPU; null: several", IRQ(cpu, .none = IF_NEGATIVE)),
	COLUMN_ID("pid", "PID", 7, 4, "interrupted process", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 4, "interrupted thread", COMMON(tid)),
	COLUMN_T("comm", "FROM", 12, 4, "name of the interrupted thread", COMMON(comm)),
	COLUMN_FLEX("irq", "INTERRUPT", 14, "the interrupt with its device, or the softirq", COMMON(name)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 8, 0, "handlers that ended", IRQ(count)),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 7, 0,
		 "time in its handlers, without those that interrupted them", IRQ(sum.self_ns)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 5, "time from entry to exit of its handlers",
		 IRQ(total_ns)),
	COLUMNS_QUANTILES(7, "handler, from entry to exit"),
	COLUMN_N("raise_count", "RAISED", VALUE_COUNT, 0, 0,
		 "softirqs that were seen being raised, until their handler began",
		 IRQ(raise.count, .none = IF_NEGATIVE, .missing = MISSING_RAISES)),
	COLUMN_N("raise_avg_ns", "RAISE AVG", VALUE_NS, 0, 0,
		 "mean time from being raised to the handler's begin", IRQ(raise.avg, .none = IF_NEGATIVE)),
	COLUMN_N("raise_p99_ns", "RAISE p99", VALUE_NS, 9, 3, "99 % of them take at most this" PERCENTILE_BOUND,
		 IRQ(raise.p99, .none = IF_NEGATIVE)),
	COLUMN_N("raise_max_ns", "RAISE MAX", VALUE_NS, 9, 2,
		 "longest time from being raised to the handler's begin", IRQ(raise.max, .none = IF_NEGATIVE)),
	COLUMN_CONTAINER,
};

/* ---- by CPU ---- */

static uint64_t irq_key(const struct rows *rows, const void *cell)
{
	const struct irq_cell *c = cell;
	uint64_t group = rows->query.by == BY_CPU ? (uint64_t)c->host << 16 | c->cpu : c->host;
	return group << 32 | c->code;
}

static void fill_irq(struct rows *rows, void *row, const void *cell)
{
	struct irq_row *r = row;
	const struct irq_cell *c = cell;
	common_host(&r->c, rows, c->host);
	r->c.name = timeline_string(rows->tl, c->name);
	r->c.row.key[0] = key_int(key_text(key_int(0, rows->query.by), r->c.host), c->code);
	if (rows->query.by == BY_CPU)
		r->c.row.key[0] = key_int(r->c.row.key[0], c->cpu);
	r->code = c->code;
	r->cpu = c->cpu;
}

static void add_cpu(struct rows *rows, void *row, const void *cell)
{
	struct irq_row *r = row;
	const struct irq_cell *c = cell;
	(void)rows;
	if (r->cpu != c->cpu)
		r->cpu = -1;
}

static void end_irq(struct rows *rows, void *row)
{
	struct irq_row *r = row;
	(void)rows;
	r->c.latency = r->sum.time;
	r->count = hist_count(&r->c.latency);
	r->total_ns = hist_sum(&r->c.latency);
	r->raise = stat_take(&r->sum.raise);
}

/* ---- by interrupted process ---- */

static void fill_stolen(struct rows *rows, void *row, const void *cell)
{
	struct irq_row *r = row;
	const struct stolen_cell *c = cell;
	group_fill(&r->c, rows, c->thread);
	r->c.name = timeline_string(rows->tl, c->name);
	r->c.row.key[0] = key_int(r->c.row.key[0], c->code);
	r->code = c->code;
	r->cpu = -1;
	r->total_ns = FIGURE_NONE;
	r->raise = (struct stat){ .count = FIGURE_NONE, .avg = -1, .p99 = -1, .max = -1 };
}

static void add_stolen(struct rows *rows, void *row, const void *cell)
{
	struct irq_row *r = row;
	const struct stolen_cell *c = cell;
	(void)rows;
	r->count += c->count;
	r->sum.self_ns += c->self_ns;
}

static int compare(const void *va, const void *vb)
{
	const struct irq_row *a = *(const struct irq_row *const *)va;
	const struct irq_row *b = *(const struct irq_row *const *)vb;
	/* tasks without a name by their figures */
	return common_compare(&a->c, &b->c) ?: ORDER(a->code, b->code) ?: ORDER(a->cpu, b->cpu) ?:
	       g_strcmp0(a->c.boot, b->c.boot) ?: ORDER(b->sum.self_ns, a->sum.self_ns) ?: ORDER(b->count, a->count);
}

static struct rows *build(const struct timeline *tl, const struct view_query *q)
{
	static const struct cell_rows irqs = {
		.kind = CELL_irq, .size = sizeof(struct irq_row), .sum = offsetof(struct irq_row, sum),
		.key = irq_key, .fill = fill_irq, .each = add_cpu,
	}, stolen = {
		.kind = CELL_stolen, .size = sizeof(struct irq_row), .fill = fill_stolen,
		.each = add_stolen,
	};
	bool of_threads = q->by == BY_PROCESS || q->by == BY_THREAD || q->by == BY_CONTAINER;
	return of_threads ? cell_rows_build(tl, q, &stolen, 1, NULL, compare) :
			    cell_rows_build(tl, q, &irqs, 1, end_irq, compare);
}

static const char *const needs[] = { "irq_handler_entry", "irq_softirq_entry|softirq_entry", NULL };

const struct view view_interrupts = {
	.idle = "idle",
	.only = ONLY_THREADS, .narrows_threads_only = true,
	.id = "interrupts", .title = "Interrupts",
	.help = "Interrupts, softirqs and timers: how often, how long their handlers took, and how "
		"long softirqs waited after they were raised; of each CPU, or what they took from "
		"each process, thread and container.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "self_ns", .needs = needs, .default_by = BY_SYSTEM,
	.by_values = BY_THREADS | 1 << BY_CPU | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(irq) | READS(stolen), .build = build,
};
