/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduler: wakeup latencies, and how threads left the CPU; by thread, process, host, CPU or priority.
 */
#include "views/common.h"
#include "views/registry.h"

struct sched_row {
	struct common c;		/* latency: from wakeup to running */
	int32_t cpu;			/* -1: several */
	int32_t prio;			/* PRIO_SEVERAL: several; SCHED_PRIO_NONE: unknown */
	int32_t prio_low, prio_high;	/* of all that are known; SCHED_PRIO_NONE: none */
	const char *prios;		/* "-2..20", if there are several */
	uint64_t switches, preemptions, migrations, moves;
	bool migrations_known;
	struct hist preempted;		/* used only while cells are summed */
	struct stat again;		/* of .preempted */
};

#define PRIO_SEVERAL INT32_MAX
#define ROW(row) ((const struct sched_row *)(row))

static GETTER(get_cpu_number)
{
	return ROW(row)->cpu < 0 ? value_none() : value_int(VALUE_ID, ROW(row)->cpu);
}

static GETTER(get_prio)
{
	int32_t prio = ROW(row)->prio;
	return prio == PRIO_SEVERAL || prio == SCHED_PRIO_NONE ? value_none() :
		value_int(VALUE_ID, prio);
}

static GETTER(get_prios)
{
	return value_text(ROW(row)->prios);
}

static struct value of_switches(const struct row *row, const struct rows *rows, uint64_t n)
{
	return unless_missing(row, rows, MISSING_SWITCHES, value_int(VALUE_COUNT, (int64_t)n));
}

static GETTER(get_switches)
{
	return of_switches(row, rows, ROW(row)->switches);
}

static GETTER(get_preemptions)
{
	return of_switches(row, rows, ROW(row)->preemptions);
}

static GETTER(get_voluntary)
{
	return of_switches(row, rows, ROW(row)->switches - ROW(row)->preemptions);
}

/* From migration events if they were recorded; else from the CPUs on which threads were seen. */
static GETTER(get_migrations)
{
	const struct sched_row *r = ROW(row);
	return r->migrations_known ? value_int(VALUE_COUNT, r->migrations) : of_switches(row, rows, r->moves);
}

static GETTER(get_moves)
{
	return of_switches(row, rows, ROW(row)->moves);
}

static struct value ns_or_none(int64_t ns)
{
	return ns < 0 ? value_none() : value_int(VALUE_NS, ns);
}

static GETTER(get_again_total)
{
	return unless_missing(row, rows, MISSING_SWITCHES, value_int(VALUE_NS, ROW(row)->again.total));
}

static GETTER(get_again_count)
{
	return of_switches(row, rows, ROW(row)->again.count);
}

static GETTER(get_wakeups)
{
	return unless_missing(row, rows, MISSING_SWITCHES | MISSING_WAKINGS, get_count(row, rows));
}

static GETTER(get_wakeup_total)
{
	return unless_missing(row, rows, MISSING_SWITCHES | MISSING_WAKINGS, get_total(row, rows));
}

static GETTER(get_again_avg)
{
	return ns_or_none(ROW(row)->again.avg);
}

static GETTER(get_again_p99)
{
	return ns_or_none(ROW(row)->again.p99);
}

static GETTER(get_again_max)
{
	return ns_or_none(ROW(row)->again.max);
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("cpu", "CPU", 4, 3, "number of the CPU; null: several", get_cpu_number),
	COLUMN_ID("prio", "PRIO", 4, 5, "priority as the tracer records it (20 is nice 0, below 0 "
		  "is real time); null: several, see prios", get_prio),
	COLUMN_OPTIONAL("prios", "PRIOS", VALUE_TEXT, 8, 5, "lowest and highest of several priorities, as -2..20",
			get_prios),
	COLUMN_ID("pid", "PID", 7, 2, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 2, "thread id", COMMON(tid)),
	COLUMN_FLEX("comm", "NAME", 10, "name of the thread or process", COMMON(comm)),
	COLUMN_N("switches", "SWITCH", VALUE_COUNT, 7, 2, "times it was switched out", get_switches),
	COLUMN_N("preemptions", "PREEMPT", VALUE_COUNT, 7, 1,
		 "of these, while it could have continued to run", get_preemptions),
	COLUMN_N("voluntary", "VOLUNT", VALUE_COUNT, 0, 0, "of these, since it waited or ended",
		 get_voluntary),
	COLUMN_N("migrations", "MIGR", VALUE_COUNT, 5, 3,
		 "moved to another CPU (here); without sched_migrate_task: seen on another CPU",
		 get_migrations),
	COLUMN_N("moves", "MOVES", VALUE_COUNT, 0, 0, "seen on another CPU than before", get_moves),
	COLUMN_N("count", "WAKEUPS", VALUE_COUNT, 7, 0, "times it got a CPU after it was woken",
		 get_wakeups),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 4, "runnable after being woken, in all",
		 get_wakeup_total),
	COLUMNS_QUANTILES(7, "time from being woken to getting a CPU"),
	COLUMN_N("preempted_count", "AGAIN", VALUE_COUNT, 0, 0,
		 "times it got a CPU after it was preempted", get_again_count),
	COLUMN_N("preempted_ns", "PRE TOT", VALUE_NS, 7, 5, "runnable after being preempted, in all",
		 get_again_total),
	COLUMN_N("preempted_avg_ns", "PRE AVG", VALUE_NS, 0, 0,
		 "mean time from being preempted to getting a CPU", get_again_avg),
	COLUMN_N("preempted_p99_ns", "PRE p99", VALUE_NS, 0, 0, "99 % of them take at most this" PERCENTILE_BOUND,
		 get_again_p99),
	COLUMN_N("preempted_max_ns", "PRE MAX", VALUE_NS, 7, 3,
		 "longest time from being preempted to getting a CPU", get_again_max),
	COLUMN_CONTAINER,
};

static uint32_t host_of(const struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	return t ? t->host : ID_NONE;
}

/* Numbers of threads and processes are too small to collide with the bits of the other kinds of keys. */
static uint64_t row_key(const struct timeline *tl, enum view_by by, const struct sched_cell *c)
{
	uint64_t host = (uint64_t)host_of(tl, c->thread) << 32;
	if (by == BY_CPU)
		return host | c->cpu;
	if (by == BY_PRIORITY)
		return host | (uint16_t)c->prio;
	return group_key(tl, by, c->thread);
}

static void fill(struct sched_row *r, struct rows *rows, const struct sched_cell *c)
{
	enum view_by by = rows->query.by;
	r->cpu = c->cpu;
	r->prio = r->prio_low = r->prio_high = c->prio;
	r->migrations_known = timeline_has_event(rows->tl, "sched_migrate_task");
	if (by <= BY_THREAD || by == BY_CONTAINER) {
		group_fill(&r->c, rows, c->thread);
		return;
	}
	common_host(&r->c, rows, host_of(rows->tl, c->thread));
	r->c.row.drill.host = host_of(rows->tl, c->thread);
	r->c.row.key[0] = key_int(key_text(key_int(0, by), r->c.host),
				  by == BY_CPU ? c->cpu : (uint16_t)c->prio);
}

static void add_cell(struct row_map *map, const struct sched_cell *c)
{
	struct rows *rows = map->rows;
	bool is_new;
	struct sched_row *r = row_map_get(map, row_key(rows->tl, rows->query.by, c), sizeof(*r),
					  &is_new);
	if (is_new)
		fill(r, rows, c);
	if (r->cpu != c->cpu)
		r->cpu = -1;
	if (r->prio != c->prio)
		r->prio = PRIO_SEVERAL;
	if (c->prio != SCHED_PRIO_NONE) {
		bool first = r->prio_low == SCHED_PRIO_NONE;
		r->prio_low = first ? c->prio : MIN(r->prio_low, c->prio);
		r->prio_high = first ? c->prio : MAX(r->prio_high, c->prio);
	}
	r->switches += c->switches;
	r->preemptions += c->preemptions;
	r->migrations += c->migrations;
	r->moves += c->moves;
	hist_merge(&r->c.latency, &c->wakeup);
	hist_merge(&r->preempted, &c->preempted);
}

static int compare(const void *va, const void *vb)
{
	const struct sched_row *a = *(const struct sched_row *const *)va;
	const struct sched_row *b = *(const struct sched_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	if (!order)
		order = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	return order ? order : (a->prio > b->prio) - (a->prio < b->prio);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_scheds; k++)
			if (query_wants_thread(query, tl, s->scheds[k].thread))
				add_cell(&map, &s->scheds[k]);
	}
	for (guint i = 0; i < map.rows->rows->len; i++) {
		struct sched_row *r = map.rows->rows->pdata[i];
		r->again = stat_of(&r->preempted);
		if (row_missing(&r->c.row, map.rows) & MISSING_WAKINGS)
			hist_clear(&r->c.latency);	/* first waits of new threads alone */
		if (r->prio_low < r->prio_high) {
			g_autofree char *prios = g_strdup_printf("%d..%d", r->prio_low, r->prio_high);
			r->prios = rows_text(map.rows, prios);
		}
		hist_clear(&r->preempted);
	}
	row_map_clear(&map);
	common_finish(map.rows, compare);
	return map.rows;
}

static const char *const needs[] = { "sched_switch", "sched_waking|sched_wakeup", NULL };

const struct view view_scheduler = {
	.idle = "idle",
	.only = ONLY_THREADS,
	.id = "scheduler", .title = "Scheduler",
	.help = "How long threads waited for a CPU after they were woken or preempted; how often they "
		"left a CPU, voluntarily or preempted, and moved to another one; by thread, process, container, "
		"host, CPU or priority.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .drill = "wakers", .needs = needs, .default_by = BY_PROCESS,
	.by_values = BY_THREADS | 1 << BY_CPU | 1 << BY_PRIORITY | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(sched), .build = build,
	.has_named = common_has_named, .get_named = common_get_named,
};
