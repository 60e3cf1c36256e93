/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduler: wakeup latencies, and how threads left the CPU; by thread, process, host, CPU or priority.
 */
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

struct sched_row {
	struct common c;		/* latency: from wakeup to running */
	int32_t cpu;			/* -1: several */
	int32_t prio;			/* PRIO_SEVERAL: several; SCHED_PRIO_NONE: unknown */
	int32_t prio_low, prio_high;	/* of all that are known; SCHED_PRIO_NONE: none */
	const char *prios;		/* "-2..20", if there are several */
	struct sched_sum sum;
	int64_t voluntary;
	int64_t migrations;		/* by their events if they were recorded; else .moves of the sum */
	struct stat again;		/* from preempted to running */
};

#define PRIO_SEVERAL INT32_MAX
#define ROW(row) ((const struct sched_row *)(row))

static GETTER(get_prio)
{
	int32_t prio = ROW(row)->prio;
	return prio == PRIO_SEVERAL || prio == SCHED_PRIO_NONE ? value_none() :
		value_int(VALUE_ID, prio);
}

#define SCHED(name, ...) MEMBER(struct sched_row, name, __VA_ARGS__)
#define OF_SWITCHES(name) SCHED(name, .missing = MISSING_SWITCHES)
#define OF_WAKEUPS(name) SCHED(name, .missing = MISSING_SWITCHES | MISSING_WAKINGS)

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("cpu", "CPU", 4, 3, "number of the CPU; null: several", SCHED(cpu)),
	COLUMN_ID("prio", "PRIO", 4, 5, "priority as the tracer records it (20 is nice 0, below 0 "
		  "is real time); null: several, see prios", get_prio),
	COLUMN_OPTIONAL("prios", "PRIOS", VALUE_TEXT, 8, 5, "lowest and highest of several priorities, as -2..20",
			SCHED(prios)),
	COLUMN_ID("pid", "PID", 7, 2, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 2, "thread id", COMMON(tid)),
	COLUMN_FLEX("comm", "NAME", 10, "name of the thread or process", COMMON(comm)),
	COLUMN_N("switches", "SWITCH", VALUE_COUNT, 7, 2, "times it was switched out", OF_SWITCHES(sum.switches)),
	COLUMN_N("preemptions", "PREEMPT", VALUE_COUNT, 7, 1,
		 "of these, while it could have continued to run", OF_SWITCHES(sum.preemptions)),
	COLUMN_N("voluntary", "VOLUNT", VALUE_COUNT, 0, 0, "of these, since it waited or ended",
		 OF_SWITCHES(voluntary)),
	COLUMN_N("migrations", "MIGR", VALUE_COUNT, 5, 3,
		 "moved to another CPU (here); without sched_migrate_task: seen on another CPU",
		 SCHED(migrations)),
	COLUMN_N("moves", "MOVES", VALUE_COUNT, 0, 0, "seen on another CPU than before",
		 OF_SWITCHES(sum.moves)),
	COLUMN_N("count", "WAKEUPS", VALUE_COUNT, 7, 0, "times it got a CPU after it was woken",
		 OF_WAKEUPS(c.stat.count)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 4, "runnable after being woken, in all",
		 OF_WAKEUPS(c.stat.total)),
	COLUMNS_QUANTILES(7, "time from being woken to getting a CPU"),
	COLUMN_N("preempted_count", "AGAIN", VALUE_COUNT, 0, 0,
		 "times it got a CPU after it was preempted", OF_SWITCHES(again.count)),
	COLUMN_N("preempted_ns", "PRE TOT", VALUE_NS, 7, 5, "runnable after being preempted, in all",
		 OF_SWITCHES(again.total)),
	COLUMN_N("preempted_avg_ns", "PRE AVG", VALUE_NS, 0, 0,
		 "mean time from being preempted to getting a CPU", SCHED(again.avg, .none = IF_NEGATIVE)),
	COLUMN_N("preempted_p99_ns", "PRE p99", VALUE_NS, 0, 0, "99 % of them take at most this" PERCENTILE_BOUND,
		 SCHED(again.p99, .none = IF_NEGATIVE)),
	COLUMN_N("preempted_max_ns", "PRE MAX", VALUE_NS, 7, 3,
		 "longest time from being preempted to getting a CPU", SCHED(again.max, .none = IF_NEGATIVE)),
	COLUMN_CONTAINER,
};

static uint32_t host_of(const struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	return t ? t->host : ID_NONE;
}

/* Numbers of threads and processes are too small to collide with the bits of the other kinds of keys. */
static uint64_t key_of(const struct rows *rows, const void *cell)
{
	const struct sched_cell *c = cell;
	uint64_t host = (uint64_t)host_of(rows->tl, c->thread) << 32;
	if (rows->query.by == BY_CPU)
		return host | c->cpu;
	if (rows->query.by == BY_PRIORITY)
		return host | (uint16_t)c->prio;
	return group_key(rows->tl, rows->query.by, c->thread);
}

static void fill(struct rows *rows, void *row, const void *cell)
{
	struct sched_row *r = row;
	const struct sched_cell *c = cell;
	enum view_by by = rows->query.by;
	r->cpu = c->cpu;
	r->prio = r->prio_low = r->prio_high = c->prio;
	if (by <= BY_THREAD || by == BY_CONTAINER) {
		group_fill(&r->c, rows, c->thread);
		return;
	}
	common_host(&r->c, rows, host_of(rows->tl, c->thread));
	r->c.row.drill.host = host_of(rows->tl, c->thread);
	r->c.row.key[0] = key_int(key_text(key_int(0, by), r->c.host),
				  by == BY_CPU ? c->cpu : (uint16_t)c->prio);
}

static void add_cpu_and_prio(struct rows *rows, void *row, const void *cell)
{
	struct sched_row *r = row;
	const struct sched_cell *c = cell;
	(void)rows;
	if (r->cpu != c->cpu)
		r->cpu = -1;
	if (r->prio != c->prio)
		r->prio = PRIO_SEVERAL;
	if (c->prio != SCHED_PRIO_NONE) {
		bool first = r->prio_low == SCHED_PRIO_NONE;
		r->prio_low = first ? c->prio : MIN(r->prio_low, c->prio);
		r->prio_high = first ? c->prio : MAX(r->prio_high, c->prio);
	}
}

static void end(struct rows *rows, void *row)
{
	struct sched_row *r = row;
	unsigned missing = row_missing(row, rows);
	r->c.latency = r->sum.wakeup;
	if (missing & MISSING_WAKINGS)
		hist_clear(&r->c.latency);	/* first waits of new threads alone */
	r->again = stat_take(&r->sum.preempted);
	r->voluntary = r->sum.switches - r->sum.preemptions;
	r->migrations = timeline_has_event(rows->tl, "sched_migrate_task") ? r->sum.migrations :
			missing & MISSING_SWITCHES ? FIGURE_NONE : r->sum.moves;
	if (r->prio_low < r->prio_high) {
		g_autofree char *prios = g_strdup_printf("%d..%d", r->prio_low, r->prio_high);
		r->prios = rows_text(rows, prios);
	}
}

static int compare(const void *va, const void *vb)
{
	const struct sched_row *a = *(const struct sched_row *const *)va;
	const struct sched_row *b = *(const struct sched_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: ORDER(a->cpu, b->cpu) ?: ORDER(a->prio, b->prio);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows threads = {
		.kind = CELL_sched, .size = sizeof(struct sched_row), .sum = offsetof(struct sched_row, sum),
		.key = key_of, .fill = fill, .each = add_cpu_and_prio,
	};
	return cell_rows_build(tl, query, &threads, 1, end, compare);
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
