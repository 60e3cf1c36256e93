/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts and softirqs: counts, durations, and latencies of softirqs; by CPU, or by the process that was
 * interrupted.
 */
#include "views/common.h"
#include "views/registry.h"

struct irq_row {
	struct common c;		/* name: of the interrupt; latency: duration of its handler */
	uint32_t code;
	int64_t cpu;			/* -1: several CPUs, or a row of a process */
	bool stolen;			/* a row of a process: only .count and .self_ns are known */
	uint64_t count;
	int64_t self_ns;
	struct hist raise;		/* used only while cells are summed */
	struct stat wait;		/* of .raise */
};

#define ROW(row) ((const struct irq_row *)(row))

static GETTER(get_cpu_number)
{
	return ROW(row)->cpu < 0 ? value_none() : value_int(VALUE_ID, ROW(row)->cpu);
}

static GETTER(get_irqs)
{
	return value_int(VALUE_COUNT, ROW(row)->count);
}

static GETTER(get_self)
{
	return value_int(VALUE_NS, ROW(row)->self_ns);
}

static GETTER(get_handler)
{
	return ROW(row)->stolen ? value_none() : get_total(row, rows);
}

static GETTER(get_wait_count)
{
	return ROW(row)->stolen ? value_none() :
		unless_missing(row, rows, MISSING_RAISES, value_int(VALUE_COUNT, ROW(row)->wait.count));
}

static struct value ns_or_none(int64_t ns)
{
	return ns < 0 ? value_none() : value_int(VALUE_NS, ns);
}

static GETTER(get_wait_avg)
{
	return ns_or_none(ROW(row)->wait.avg);
}

static GETTER(get_wait_p99)
{
	return ns_or_none(ROW(row)->wait.p99);
}

static GETTER(get_wait_max)
{
	return ns_or_none(ROW(row)->wait.max);
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("cpu", "CPU", 4, 3, "number of the CPU; null: several", get_cpu_number),
	COLUMN_ID("pid", "PID", 7, 4, "interrupted process", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 4, "interrupted thread", COMMON(tid)),
	COLUMN_T("comm", "FROM", 12, 4, "name of the interrupted thread", COMMON(comm)),
	COLUMN_FLEX("irq", "INTERRUPT", 14, "the interrupt with its device, or the softirq", COMMON(name)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 8, 0, "handlers that ended", get_irqs),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 7, 0,
		 "time in its handlers, without those that interrupted them", get_self),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 5, "time from entry to exit of its handlers",
		 get_handler),
	COLUMNS_QUANTILES(7, "handler, from entry to exit"),
	COLUMN_N("raise_count", "RAISED", VALUE_COUNT, 0, 0,
		 "softirqs that were seen being raised, until their handler began", get_wait_count),
	COLUMN_N("raise_avg_ns", "RAISE AVG", VALUE_NS, 0, 0,
		 "mean time from being raised to the handler's begin", get_wait_avg),
	COLUMN_N("raise_p99_ns", "RAISE p99", VALUE_NS, 9, 3, "99 % of them take at most this" PERCENTILE_BOUND,
		 get_wait_p99),
	COLUMN_N("raise_max_ns", "RAISE MAX", VALUE_NS, 9, 2,
		 "longest time from being raised to the handler's begin", get_wait_max),
	COLUMN_CONTAINER,
};

/* ---- by CPU ---- */

static void add_irq(struct row_map *map, const struct irq_cell *cell)
{
	struct rows *rows = map->rows;
	bool by_cpu = rows->query.by == BY_CPU, is_new;
	uint64_t group = by_cpu ? (uint64_t)cell->host << 16 | cell->cpu : cell->host;
	struct irq_row *r = row_map_get(map, group << 32 | cell->code, sizeof(*r), &is_new);
	if (is_new) {
		common_host(&r->c, rows, cell->host);
		r->c.name = timeline_string(rows->tl, cell->name);
		r->c.row.key[0] = key_int(key_text(key_int(0, rows->query.by), r->c.host), cell->code);
		if (by_cpu)
			r->c.row.key[0] = key_int(r->c.row.key[0], cell->cpu);
		r->code = cell->code;
		r->cpu = cell->cpu;
	}
	if (r->cpu != cell->cpu)
		r->cpu = -1;
	r->count += hist_count(&cell->time);
	r->self_ns += cell->self_ns;
	hist_merge(&r->c.latency, &cell->time);
	hist_merge(&r->raise, &cell->raise);
}

/* ---- by interrupted process ---- */

static void add_stolen(struct row_map *map, const struct stolen_cell *cell)
{
	struct rows *rows = map->rows;
	uint64_t group = group_key(rows->tl, rows->query.by, cell->thread);
	bool is_new;
	struct irq_row *r = row_map_get(map, group << 32 | cell->code, sizeof(*r), &is_new);
	if (is_new) {
		group_fill(&r->c, rows, cell->thread);
		r->c.name = timeline_string(rows->tl, cell->name);
		r->c.row.key[0] = key_int(r->c.row.key[0], cell->code);
		r->code = cell->code;
		r->cpu = -1;
		r->stolen = true;
	}
	r->count += cell->count;
	r->self_ns += cell->self_ns;
}

static int compare(const void *va, const void *vb)
{
	const struct irq_row *a = *(const struct irq_row *const *)va;
	const struct irq_row *b = *(const struct irq_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	if (!order)
		order = (a->code > b->code) - (a->code < b->code);
	if (!order)
		order = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	if (!order)
		order = g_strcmp0(a->c.boot, b->c.boot);
	if (!order)		/* of tasks without a name */
		order = (a->self_ns < b->self_ns) - (a->self_ns > b->self_ns);
	return order ? order : (a->count < b->count) - (a->count > b->count);
}

static void add_second(struct row_map *map, const struct second *s)
{
	const struct view_query *q = &map->rows->query;
	bool of_threads = q->by == BY_PROCESS || q->by == BY_THREAD || q->by == BY_CONTAINER;
	for (uint32_t i = 0; of_threads && i < s->n_stolen; i++)
		if (query_wants_thread(q, map->rows->tl, s->stolen[i].thread))
			add_stolen(map, &s->stolen[i]);
	for (uint32_t i = 0; !of_threads && i < s->n_irqs; i++)
		if (q->host == ID_NONE || s->irqs[i].host == q->host)
			add_irq(map, &s->irqs[i]);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_second(&map, timeline_second(tl, i));
	for (guint i = 0; i < map.rows->rows->len; i++) {
		struct irq_row *r = map.rows->rows->pdata[i];
		r->wait = stat_of(&r->raise);
		hist_clear(&r->raise);
	}
	row_map_clear(&map);
	common_finish(map.rows, compare);
	return map.rows;
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
