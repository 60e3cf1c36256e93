/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first screen: operations, slowest traces, busiest processes, and one line about the machine.
 */
#include "views/overview.h"

#include "base/each.h"
#include "base/timefmt.h"
#include "views/causes.h"
#include "views/evicted.h"
#include "views/outliers.h"
#include "views/processes.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/strip.h"
#include "views/why.h"

#include <string.h>

struct operation_row {
	struct common c;		/* name, service; parts: of all its spans */
	uint64_t open;
	int64_t usual_ns;
	const struct span *slowest;	/* borrowed; used only while rows are built */
	const char *mainly;		/* "futex 52%" */
};

#define ROW(row) ((const struct operation_row *)(row))

static GETTER(get_x_usual)
{
	const struct operation_row *r = ROW(row);
	return r->usual_ns > 0 && r->c.stat.p99 >= 0 ?
		value_ratio((double)r->c.stat.p99 / r->usual_ns) : value_none();
}

static const struct column columns[] = {
	COLUMN_FLEX("operation", "OPERATION", 14, "name of root spans and server halves", COMMON(name)),
	COLUMN_T("service", "SERVICE", 9, 2, "service they belong to", COMMON(service)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 0, 0, "how many ended in the range, of known duration",
		 COMMON(stat.count)),
	COLUMN_PARTIAL
	COLUMN_N("rate", "REQ/s", VALUE_COUNT, 5, 3, "how many ended a second", get_count_rate),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 3, 3, "errors in them", COMMON(errors)),
	COLUMN_RETAINED(descending, "open", "OPEN", VALUE_COUNT, 0, 0, "how many have not ended",
			MEMBER(struct operation_row, open)),
	COLUMN_N("p50_ns", "p50", VALUE_NS, 6, 2, "half of them take at most this" PERCENTILE_BOUND, STAT(p50)),
	COLUMN_N("p99_ns", "p99", VALUE_NS, 6, 0, "99 % of them take at most this" PERCENTILE_BOUND, STAT(p99)),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 0, 0, "the slowest", STAT(max)),
	COLUMN_RETAINED(descending, "usual_ns", "USUAL", VALUE_NS, 0, 0, USUAL_HELP,
			MEMBER(struct operation_row, usual_ns, .none = IF_NEGATIVE)),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 0, USUAL_TIMES("p99"),
		 get_x_usual),
	COLUMN_T("mainly", "CAUSE", 24, 1, "the largest part of their time, and what on",
		 MEMBER(struct operation_row, mainly, .none = IF_LEFT_OUT)),
};

#define OF_THREADS ", summed over threads; 100 % is one"

static const struct column process_columns[] = {
	COLUMN_FLEX("comm", "PROCESS", 14, "name of the process", COMMON(comm)),
	COLUMN_ID("pid", "PID", 7, 5, "process id", COMMON(pid)),
	COLUMN_N("cpu_ratio", "CPU%", VALUE_RATIO, 5, 0, "time on a CPU, of all its threads; 100 % is one CPU",
		 PROCESS_RATIO(cpu_ratio)),
	{ .id = "cpu_history", .title = "CPU, LAST 20 STEPS", .kind = VALUE_TEXT, .width = OVERVIEW_SPARKS,
	  .priority = 3, .align = ALIGN_LEFT, .drawing = DRAW_SPARK, .get = PROCESS(sparks),
	  .help = "time on a CPU in each of the last steps, in eighths of a CPU, rounded up" },
	COLUMN_N("runnable_ratio", "RUNQ%", VALUE_RATIO, 5, 1, "runnable, waiting for a CPU" OF_THREADS,
		 PROCESS_RATIO(runnable_ratio)),
	COLUMN_N("blocked_ratio", "BLOCK%", VALUE_RATIO, 0, 0,
		 "blocked" OF_THREADS, PROCESS_RATIO(blocked_ratio)),
	COLUMN_N("blocked_disk_ratio", "DISK%", VALUE_RATIO, 5, 2,
		 "blocked on disks, writeback, page faults" OF_THREADS, PROCESS_RATIO(disk_ratio)),
	COLUMN_N("blocked_lock_ratio", "LOCK%", VALUE_RATIO, 5, 2, "blocked on futexes" OF_THREADS,
		 PROCESS_RATIO(lock_ratio)),
	COLUMN_N("blocked_net_ratio", "NET%", VALUE_RATIO, 5, 2, "blocked on sockets, pipes, in poll" OF_THREADS,
		 PROCESS_RATIO(net_ratio)),
	COLUMN_N("blocked_sleep_ratio", "SLEEP%", VALUE_RATIO, 6, 4, "sleeping or stopped" OF_THREADS,
		 PROCESS_RATIO(sleep_ratio)),
	COLUMN_N("syscalls_rate", "SYSC/s", VALUE_COUNT, 7, 6, "system calls a second",
		 PROCESS(calls_rate)),
	COLUMN_N("p99_ns", "p99", VALUE_NS, 6, 7, "of its system calls" PERCENTILE_BOUND, STAT(p99)),
};

const struct view view_overview_processes = {
	.idle = "idle", .is_idle = processes_is_idle,
	.id = "overview-processes", .title = "Busiest processes",
	.help = "The processes with the most time on a CPU.",
	.columns = process_columns, .n_columns = G_N_ELEMENTS(process_columns),
	.default_sort = "cpu_ratio", .drill = "process", .default_by = BY_PROCESS,
	.by_values = BY_THREADS, .on_screen = true, .build = processes_build,
	.has_named = processes_has_named, .get_named = processes_get_named,
};

/* --- since when --- */

struct since_row {
	struct row row;
	const char *text;
};

static const struct column since_columns[] = {
	COLUMN_FLEX("since", "SINCE", 16, "the second in which a cause of the slow requests began",
		    MEMBER(struct since_row, text)),
};

/* Its rows are made with those of the overview. */
static struct rows *since_build(const struct timeline *tl, const struct view_query *query)
{
	return rows_new(tl, query);
}

const struct view view_overview_since = {
	.id = "overview-since", .title = "Slow since",
	.help = "The second in which a cause of the shown slow requests began that lasts until now.",
	.columns = since_columns, .n_columns = G_N_ELEMENTS(since_columns), .on_screen = true, .build = since_build,
};

/* The timeline of all seconds, of which the rows' one may be a part. */
static const struct timeline *whole_of(const struct rows *rows)
{
	return rows->query.names ? rows->query.names : rows->tl;
}

static void add_since(struct overview *o, const struct rows *rows)
{
	char clock[TIMEFMT_LEN], ns[TIMEFMT_LEN];
	bool earlier;
	o->since = rows_new(rows->tl, &rows->query);
	o->since_ns = causes_since(whole_of(rows), o->causes, &earlier);
	if (o->since_ns == TIME_UNKNOWN)
		return;
	struct since_row *r = g_new0(struct since_row, 1);
	int64_t before = rows->query.from_ns - o->since_ns;
	timefmt_clock(clock, o->since_ns);
	g_autofree char *text = before >= NS_PER_S ?
		g_strdup_printf("slow since %s%s, %s before this", clock, earlier ? " or earlier" : "",
				timefmt_duration(ns, before)) :
		g_strdup_printf("slow since %s%s", clock, earlier ? " or earlier" : ", which is shown");
	r->row.key[0] = 1;
	r->text = rows_text(o->since, text);
	g_ptr_array_add(o->since->rows, r);
}

int64_t overview_since(const struct timeline *tl, int64_t from_ns, int64_t to_ns, bool *ret_earlier)
{
	struct view_query q = VIEW_QUERY_INIT;
	bool earlier;
	q.from_ns = from_ns;
	q.to_ns = to_ns;
	struct rows *causes = view_causes.build(tl, &q);
	int64_t since = causes_since(tl, causes, ret_earlier ? ret_earlier : &earlier);
	rows_free(causes);
	return since;
}

/* --- operations --- */

static struct operation_row *row_of(struct row_map *map, const struct history *h,
				    const struct span *s)
{
	uint64_t key = reftext_pair(s->service, s->name) + (s->kind == SPAN_SERVER);
	bool is_new;
	struct operation_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (is_new) {
		r->c.name = rows_hold_text(map->rows, s->name);
		r->c.service = rows_hold_text(map->rows, s->service);
		r->c.row.key[0] = key_int(key_text(key_text(0, r->c.service), r->c.name),
					  s->kind == SPAN_SERVER);
		r->c.row.drill.operation = r->c.name;
		r->c.row.drill.service = r->c.service;
		r->usual_ns = history_usual(h, s);
	}
	return r;
}

static void add_span(struct row_map *map, const struct history *h, const struct span *s)
{
	struct operation_row *r = row_of(map, h, s);
	r->c.errors += s->errors;
	if (!r->slowest || span_duration(s) > span_duration(r->slowest))
		r->slowest = s;
	if (s->state != SPAN_OPEN) {
		common_add_duration(&r->c, span_has_duration(s), span_duration(s), s->part);
		return;
	}
	common_add_parts(&r->c, s->part);
	r->open++;
}

static void add_evicted(struct row_map *map, const struct history *h, const struct range *range,
			struct evicted *e)
{
	const struct timeline *tl = map->rows->tl;
	TIMELINE_EACH_SUM(tl, at, range->from_ns, range->to_ns) {
		const struct span_sum *s = at.sum;
		struct span like = { .service = s->key.service, .name = s->key.name,
				     .kind = s->key.kind };
		if (s->key.of != SUM_SPAN || !(s->key.top || s->key.others) ||
		    !evicted_wanted(map->rows, s, s->key.service, s->key.name) ||
		    !evicted_counts(e, range, s))
			continue;
		common_add_sum(&row_of(map, h, &like)->c, s);
	}
}

/* The largest part, and what the slowest span waited for: "disk 61% /srv/thumb/x". */
static const char *mainly_of(struct rows *rows, const struct operation_row *r)
{
	const char *share = part_share(rows, rows->missing, r->c.part);
	enum part p = part_largest(r->c.part, NULL, NULL);
	const struct span_wait *w = share && r->slowest ? why_longest_wait(r->slowest, p) : NULL;
	const char *object = w ? wait_object(rows->tl, w) : NULL;
	return object ? rows_take_text(rows, g_strdup_printf("%s %s", share, object)) : share;
}

static void add_operations(struct rows *rows, const struct history *h, const struct range *range)
{
	struct row_map map = { .rows = rows };
	rows->seconds = range->seconds;
	TIMELINE_EACH_SPAN(h->tl, i, range->from_ns, range->to_ns) {
		const struct span *s = timeline_span(h->tl, i);
		if (span_is_request(s) && range_has_span(range, s) &&
		    query_wants_operation(&rows->query, s))
			add_span(&map, h, s);
	}
	struct evicted evicted = { 0 };
	add_evicted(&map, h, range, &evicted);
	evicted_describe(rows, &evicted, "requests", NULL);
	row_map_clear(&map);
	PTR_EACH(struct operation_row, r, rows->rows) {
		r->mainly = mainly_of(rows, r);
		r->slowest = NULL;
	}
	common_finish(rows, NULL);
	PTR_EACH(struct operation_row, r, rows->rows)
		r->c.row.marked = usual_is_slow(r->usual_ns, r->c.stat.p99);
}

/* --- the two tables below --- */

bool overview_knows_no_process(const struct rows *rows)
{
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;

	return (rows->missing & both) == both;
}

static void add_tables(struct overview *o, const struct timeline *tl,
		       const struct view_query *query)
{
	const struct view *v = &view_overview_processes;
	struct view_query q = *query;
	q.by = BY_PROCESS;
	o->causes = view_causes.build(tl, &q);
	o->processes = v->build(tl, &q);
	if (overview_knows_no_process(o->processes))
		g_ptr_array_set_size(o->processes->rows, 0);	/* rows without any figure */
	rows_sort(o->processes, v, view_column(v, v->default_sort), true);
	if (o->processes->rows->len > OVERVIEW_PROCESSES)
		g_ptr_array_remove_range(o->processes->rows, OVERVIEW_PROCESSES,
					 o->processes->rows->len - OVERVIEW_PROCESSES);
	processes_add_sparks(o->processes, OVERVIEW_SPARKS);
}

static bool has_slow(const struct rows *causes)
{
	return causes->rows->len && cause_of(causes->rows->pdata[0]).state <= CAUSE_FEW;
}

char *overview_why(const struct overview *o, const struct row *row)
{
	struct cause c = cause_of(row);
	uint64_t all = 0;
	char low[TIMEFMT_LEN], high[TIMEFMT_LEN];
	if (!c.n)
		return NULL;
	if (c.state >= CAUSE_OPEN && o->machine_why)
		return g_strdup(o->machine_why);
	for (guint i = 0; i < o->causes->rows->len; i++)
		all += cause_of(o->causes->rows->pdata[i]).n;
	g_autoptr(GString) text = g_string_new(NULL);
	const char *took = c.state == CAUSE_OPEN ? c.n == 1 ? "has not ended after" : "have not ended after" : "took";
	if (all == 1)
		g_string_append_printf(text, "the request %s ", took);
	else
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " requests %s ", c.n, all,
				       took);
	timefmt_duration(low, c.min_ns);
	timefmt_duration(high, c.max_ns);
	g_string_append_printf(text, "%s%s", c.at_least ? "at least " : "", low);
	if (strcmp(low, high))
		g_string_append_printf(text, " to %s", high);
	if (c.n > 1 && c.max_x > 0 && c.min_x + 0.5 < c.max_x)
		g_string_append_printf(text, ", %.1f to %.1fx the usual", c.min_x, c.max_x);
	else if (c.max_x >= 1.05)
		g_string_append_printf(text, ", %.1fx the usual", c.max_x);
	if (c.state == CAUSE_NORMAL)
		g_string_append(text, ": normal");
	if (c.explanation && *c.explanation)
		g_string_append_printf(text, ": %s", c.explanation);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *overview_hidden(const struct overview *o, size_t from, size_t to)
{
	static const char *const words[] = { [CAUSE_OPEN] = "open", [CAUSE_NORMAL] = "normal" };
	uint64_t n[CAUSE_NORMAL + 1] = { 0 };
	unsigned causes = 0;
	int64_t lost_ns = 0;
	char lost[TIMEFMT_LEN];
	for (size_t i = 0; i < o->causes->rows->len; i++) {
		struct cause c = cause_of(o->causes->rows->pdata[i]);
		if (i >= from && i < to)
			continue;
		n[c.state] += c.n;
		causes += c.state <= CAUSE_FEW;
		lost_ns += MAX(c.lost_ns, 0);
	}
	uint64_t slow = n[CAUSE_SLOW] + n[CAUSE_FEW];
	g_autoptr(GString) text = g_string_new(NULL);
	if (causes)
		g_string_append_printf(text, "%u more: %" G_GUINT64_FORMAT " request%s", causes, slow,
				       slow == 1 ? "" : "s");
	if (lost_ns)
		g_string_append_printf(text, " lost %s", timefmt_duration(lost, lost_ns));
	for (enum cause_state s = CAUSE_OPEN; s <= CAUSE_NORMAL; s++)
		if (n[s])
			g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s", text->len ? "; " : "", n[s],
					       words[s]);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

/* p99 of the traces that ended in the range, if their duration is known. */
static int64_t p99_of(const struct timeline *tl, const struct history *h, const struct range *range)
{
	struct hist hist = { 0 };
	struct evicted e = { 0 };
	TIMELINE_EACH_TRACE(h->tl, i, range->from_ns, range->to_ns) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		if (t->has_root && span_has_duration(t->root) && range_has_span(range, t->root))
			hist_add(&hist, span_duration(t->root));
	}
	TIMELINE_EACH_SUM(tl, at, range->from_ns, range->to_ns) {
		const struct span_sum *s = at.sum;
		if (s->key.of == SUM_TRACE && (s->key.top || s->key.others) && !s->key.partial &&
		    evicted_counts(&e, range, s))
			hist_merge(&hist, &s->duration);
	}
	int64_t p99 = e.left_out ? -1 : hist_quantile(&hist, 0.99);
	hist_clear(&hist);
	return p99;
}

/* --- the machine --- */

struct machine {
	int64_t run, idle, unknown, irq, user, sys;
	struct hist wakeup, device;
	uint64_t events;
};

static void sum_machine(struct machine *m, const struct second *s)
{
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		m->run += s->cpus[i].run_ns;
		m->idle += s->cpus[i].idle_ns;
		m->unknown += s->cpus[i].unknown_ns;
		m->irq += s->cpus[i].irq_ns;
	}
	for (uint32_t i = 0; i < s->n_threads; i++) {
		m->user += s->threads[i].part[PART_USER];
		m->sys += s->threads[i].part[PART_SYSCALL] + s->threads[i].part[PART_KERNEL];
	}
	for (uint32_t i = 0; i < s->n_events; i++)
		m->events += s->events[i].count;
	hist_merge(&m->wakeup, &s->wakeup);
}

/* Adds a gauge for each row of the view that has the ratio; the view sorted the rows. */
static void add_gauges(struct overview *o, const struct view *v, const struct rows *rows, const char *name,
		       const char *ratio)
{
	bool hosts = timeline_n_hosts(rows->tl) > 1, is_cpu = v == &view_cpus;
	o->gauges = g_renew(struct overview_gauge, o->gauges, o->n_gauges + rows->rows->len + 1);
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = rows->rows->pdata[i];
		struct value label = view_value(v, rows, row, name), busy = view_value(v, rows, row, ratio);
		struct value host = hosts ? view_value(v, rows, row, "host") : value_none();
		const char *on = host.kind == VALUE_TEXT ? host.s : "", *blank = *on ? " " : "";
		if (!is_cpu && busy.kind == VALUE_NONE)
			continue;	/* a network device, or requests without issues */
		o->gauges[o->n_gauges++] = (struct overview_gauge){
			.name = is_cpu ? g_strdup_printf("%s%sCPU%d", on, blank, (int)label.i) :
				g_strdup_printf("%s%s%s", on, blank, label.kind == VALUE_TEXT ? label.s : "?"),
			.is_cpu = is_cpu, .ratio = busy.kind == VALUE_NONE ? -1 : busy.d,
		};
	}
}

static double share(int64_t ns, int64_t total)
{
	return total > 0 ? (double)ns / total : -1;
}

/* Gauges of CPUs and block devices; of the device that was busy longest, the p99 of its requests. */
static void add_loads(struct overview *o, struct rows *rows)
{
	struct rows *cpus = view_cpus.build(rows->tl, &rows->query);
	struct rows *devices = view_devices.build(rows->tl, &rows->query);
	rows_sort(devices, &view_devices, view_column(&view_devices, "busy_ratio"), true);
	add_gauges(o, &view_cpus, cpus, "cpu", "run_ratio");
	o->n_cpus = o->n_gauges;
	add_gauges(o, &view_devices, devices, "device", "busy_ratio");
	o->device_p99_ns = -1;
	o->device_ratio = -1;
	if (o->n_gauges > o->n_cpus) {
		const struct common *busiest = devices->rows->pdata[0];
		o->device = rows_text(rows, busiest->name);
		o->device_p99_ns = busiest->stat.p99;
		o->device_ratio = o->gauges[o->n_cpus].ratio;
	}
	rows_free(cpus);
	rows_free(devices);
}

static void add_machine(struct overview *o, struct rows *rows, const struct range *range)
{
	struct machine m = { 0 };
	for (size_t i = range->first; i < range->end; i++)
		sum_machine(&m, timeline_second(rows->tl, i));
	int64_t total = m.run + m.idle > 0 ? m.run + m.idle + m.unknown : 0;
	o->cpu_ratio = share(m.run, total);
	o->user_ratio = rows->missing & MISSING_CALLS ? -1 : share(m.user, total);
	o->sys_ratio = rows->missing & MISSING_CALLS ? -1 : share(m.sys, total);
	o->irq_ratio = rows->missing & MISSING_INTERRUPTS ? -1 : share(m.irq, total);
	o->runq_p99_ns = hist_quantile(&m.wakeup, 0.99);
	o->events = m.events;
	o->events_per_s = range->end > range->first ? m.events / range->seconds : 0;
	o->completeness = rows->completeness;
	add_loads(o, rows);
	hist_clear(&m.wakeup);
}

/* --- the whole --- */

static void overview_free(void *data)
{
	struct overview *o = data;
	for (unsigned i = 0; i < o->n_gauges; i++)
		g_free(o->gauges[i].name);
	g_free(o->gauges);
	rows_free(o->since);
	rows_free(o->causes);
	rows_free(o->processes);
	g_free(o);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	struct overview *o = g_new0(struct overview, 1);
	g_autoptr(blk_history) h = history_new(tl);
	rows->extra = o;
	rows->free_extra = overview_free;
	add_operations(rows, h, &range);
	o->p99_ns = p99_of(tl, h, &range);
	add_machine(o, rows, &range);
	add_tables(o, tl, query);
	add_since(o, rows);
	g_autofree char *machine = has_slow(o->causes) ? NULL : timeline_facts(whole_of(rows))->has_spans ?
		outliers_text(tl, &range) : outliers_machine_text(tl, whole_of(rows), &range);
	o->machine_why = machine ? rows_text(rows, machine) : NULL;
	return rows;
}

const struct overview *overview_of(const struct rows *rows)
{
	return rows->free_extra == overview_free ? rows->extra : NULL;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", NULL };

const struct view view_overview = {
	.only = ONLY_SERVICE | ONLY_OPERATION,
	.id = "overview", .title = "Overview",
	.help = "Where to start: slow operations, the slowest and the open requests, the busiest "
		"processes, and the p99 of every second.",
	.kind = VIEW_OVERVIEW, .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "x_usual_ratio", .drill = "traces", .needs = needs,
	.on_screen = true, .build = build,
};

/* For a trace without spans: the second in which threads waited longest for CPUs and disks. */
static int64_t most_waiting(const struct timeline *tl)
{
	int64_t most = -1, at = TIME_UNKNOWN;
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;
	size_t n = (view_missing(tl) & both) == both ? 0 : timeline_n_seconds(tl);
	for (size_t i = 0; i < n; i++) {
		const struct second *s = timeline_outline(tl, i);
		if (s->totals.waiting_ns > most) {
			most = s->totals.waiting_ns;
			at = s->begin_ns;
		}
	}
	return at;
}

/* For a trace without outliers: the second with the slowest span. */
static int64_t slowest_second(const struct strip *strip)
{
	ARRAY_EACH(const struct strip_point, p, strip->points) {
		if (p->p99_ns >= 0 && p->p99_ns == strip->max_ns)
			return p->begin_ns;
	}
	return TIME_UNKNOWN;
}

static int64_t find_worst(const struct timeline *tl, const char **ret_what)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_strip) strip = strip_new(h);
	*ret_what = "the most delayed request";
	if (strip->worst >= 0)
		return g_array_index(strip->points, struct strip_point, strip->worst).begin_ns;
	int64_t at = slowest_second(strip);
	*ret_what = at != TIME_UNKNOWN ? "the longest request" : "most waiting for CPUs, disks";
	return at != TIME_UNKNOWN ? at : most_waiting(tl);
}

int64_t overview_worst_second(const struct timeline *tl)
{
	const char *what;
	return find_worst(tl, &what);
}

const char *overview_worst_what(const struct timeline *tl)
{
	const char *what;
	return find_worst(tl, &what) == TIME_UNKNOWN ? NULL : what;
}

/* The cause of the second's worst request. 0: it is not known. */
static uint64_t cause_of_point(struct history *h, const struct strip_point *p)
{
	return p->outlier && p->worst ? cause_key(h, p->worst) : 0;
}

int64_t overview_next_outlier(const struct timeline *tl, int64_t from, int direction)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_strip) strip = strip_new(h);
	int n = (int)strip->points->len, at = direction > 0 ? 0 : n - 1;
	uint64_t now = 0;
	for (; at >= 0 && at < n; at += direction) {
		const struct strip_point *p = &g_array_index(strip->points, struct strip_point, at);
		if (p->begin_ns <= from && from < p->end_ns)
			now = cause_of_point(h, p);
		else if (p->outlier && (p->begin_ns > from) == (direction > 0)) {
			uint64_t next = cause_of_point(h, p);
			if (!next || next != now)
				return p->begin_ns;
		}
	}
	return TIME_UNKNOWN;
}

bool overview_quiet_before(const struct timeline *tl, int64_t from_ns, int64_t to_ns, int64_t *ret_from,
			   int64_t *ret_to)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_strip) strip = strip_new(h);
	int64_t since = overview_since(tl, from_ns, to_ns, NULL);
	int64_t before = since == TIME_UNKNOWN ? from_ns : MIN(since, from_ns);
	bool found = false;
	for (guint i = strip->points->len; i-- > 0;) {
		const struct strip_point *p = &g_array_index(strip->points, struct strip_point, i);
		if (p->end_ns > before || (!found && (p->outlier || !p->count)))
			continue;
		if (!found)
			*ret_to = p->end_ns;
		else if (p->outlier || *ret_to - p->begin_ns > OVERVIEW_QUIET_S * NS_PER_S)
			break;
		*ret_from = p->begin_ns;
		found = true;
	}
	return found;
}
