/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first screen: operations, slowest traces, busiest processes, and one line about the machine.
 */
#include "views/overview.h"

#include "base/timefmt.h"
#include "views/evicted.h"
#include "views/processes.h"
#include "views/registry.h"
#include "views/strip.h"
#include "views/traces.h"

struct operation_row {
	struct common c;		/* name, service; parts: of all its spans */
	uint64_t open;
	int64_t usual_ns;
	double seconds;
	const struct span *slowest;	/* borrowed; used only while rows are built */
	const char *mainly;		/* "futex 52%" */
};

#define ROW(row) ((const struct operation_row *)(row))
#define OUTLIER 2.0			/* multiple of the operation's median */

static GETTER(get_rate)
{
	return value_int(VALUE_COUNT, ROW(row)->c.stat.count / ROW(row)->seconds + 0.5);
}

static GETTER(get_open)
{
	return value_int(VALUE_COUNT, ROW(row)->open);
}

static GETTER(get_usual)
{
	return ROW(row)->usual_ns < 0 ? value_none() : value_int(VALUE_NS, ROW(row)->usual_ns);
}

static GETTER(get_x_usual)
{
	const struct operation_row *r = ROW(row);
	return r->usual_ns > 0 && r->c.stat.p99 >= 0 ?
		value_ratio((double)r->c.stat.p99 / r->usual_ns) : value_none();
}

static GETTER(get_mainly_text)
{
	return value_text(ROW(row)->mainly);
}

static const struct column columns[] = {
	COLUMN_FLEX("operation", "OPERATION", 14, "name of root spans and server halves", get_name),
	COLUMN_T("service", "SERVICE", 9, 2, "service they belong to", get_service),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 0, 0, "how many ended in the range", get_count),
	COLUMN_N("rate", "REQ/s", VALUE_COUNT, 5, 3, "how many ended a second", get_rate),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 3, 3, "errors in them", get_errors),
	COLUMN_N("open", "OPEN", VALUE_COUNT, 0, 0, "how many have not ended", get_open),
	COLUMN_N("p50_ns", "p50", VALUE_NS, 6, 2, "half of them take at most this" PERCENTILE_BOUND, get_p50),
	COLUMN_N("p99_ns", "p99", VALUE_NS, 6, 0, "99 % of them take at most this" PERCENTILE_BOUND, get_p99),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 0, 0, "the slowest", get_max),
	COLUMN_N("usual_ns", "USUAL", VALUE_NS, 0, 0, "p50 over all retained spans", get_usual),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 0, "p99 in times of the usual p50",
		 get_x_usual),
	COLUMN_T("mainly", "MAINLY", 24, 1, "the largest part of their time, and what on",
		 get_mainly_text),
};

static const struct column slowest_columns[] = {
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", trace_get_id),
	COLUMN_FLEX("name", "SLOWEST + OPEN", 16, "name of its root span", get_name),
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 9, 0, "of its root span (so far)",
		 trace_get_duration),
	COLUMN_T("state", "STATE", 8, 2, "complete, open or partial", trace_get_state),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 3, "times the operation's usual",
		 trace_get_x_usual),
	COLUMN_T("why", "WHY", 38, 1, "why it took so long", trace_get_why),
	COLUMN_EXPLANATION(trace_get_explanation),
};

static const struct column process_columns[] = {
	COLUMN_FLEX("comm", "PROCESS", 14, "name of the process", get_comm),
	COLUMN_ID("pid", "PID", 7, 0, "process id", get_pid),
	COLUMN_N("cpu_ratio", "CPU%", VALUE_RATIO, 5, 0, "time on a CPU; 100 % is one CPU",
		 processes_get_cpu_ratio),
	COLUMN_N("runnable_ratio", "RUNQ%", VALUE_RATIO, 5, 1, "runnable, waiting for a CPU",
		 processes_get_runq_ratio),
	COLUMN_N("blocked_ratio", "BLOCK%", VALUE_RATIO, 6, 2,
		 "blocked; 100 % is one thread all the time", processes_get_block_ratio),
	COLUMN_N("syscalls_rate", "SYSC/s", VALUE_COUNT, 7, 3, "system calls a second",
		 processes_get_calls_rate),
	COLUMN_N("p99_ns", "p99", VALUE_NS, 6, 4, "of its system calls" PERCENTILE_BOUND, get_p99),
};

const struct view view_overview_slowest = {
	.id = "overview-slowest", .title = "Slowest + open",
	.help = "The slowest traces of the range, and those that have not ended.",
	.columns = slowest_columns, .n_columns = G_N_ELEMENTS(slowest_columns),
	.default_sort = "duration_ns", .drill = "waterfall", .on_screen = true,
	.build = traces_build,
};

const struct view view_overview_processes = {
	.id = "overview-processes", .title = "Busiest processes",
	.help = "The processes with the most time on a CPU.",
	.columns = process_columns, .n_columns = G_N_ELEMENTS(process_columns),
	.default_sort = "cpu_ratio", .drill = "process", .default_by = BY_PROCESS,
	.has_by = true, .on_screen = true, .build = processes_build,
};

/* --- operations --- */

static struct operation_row *row_of(struct row_map *map, const struct history *h,
				    const struct span *s, double seconds)
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
		r->seconds = seconds;
	}
	return r;
}

static void add_span(struct row_map *map, const struct history *h, const struct span *s,
		     double seconds)
{
	struct operation_row *r = row_of(map, h, s, seconds);
	r->c.errors += s->errors;
	common_add_parts(&r->c, s->part);
	if (!r->slowest || span_duration(s) > span_duration(r->slowest))
		r->slowest = s;
	if (s->state == SPAN_OPEN)
		r->open++;
	else
		hist_add(&r->c.latency, span_duration(s));
}

static void add_evicted(struct row_map *map, const struct history *h, const struct range *range,
			struct evicted *e)
{
	const struct timeline *tl = map->rows->tl;
	for (size_t i = 0; i < timeline_n_span_sums(tl); i++) {
		const struct span_sum *s = timeline_span_sum(tl, i);
		struct span like = { .service = s->key.service, .name = s->key.name,
				     .kind = s->key.kind };
		if (s->key.of != SUM_SPAN || !(s->key.top || s->key.others) ||
		    !evicted_wanted(map->rows, s, s->key.service, s->key.name) ||
		    !evicted_counts(e, range, s))
			continue;
		struct operation_row *r = row_of(map, h, &like, range->seconds);
		r->c.errors += s->errors;
		common_add_parts(&r->c, s->part);
		hist_merge(&r->c.latency, &s->duration);
	}
}

/* The largest part, and what the slowest span waited for: "disk 61% /srv/thumb/x". */
static const char *mainly_of(struct rows *rows, const struct operation_row *r)
{
	int64_t ns, total;
	enum part p = part_largest(r->c.part, &ns, &total);
	if (total <= 0)
		return NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_printf(text, "%s %d%%", part_word(rows->missing, p), (int)(100.0 * ns / total + 0.5));
	const struct span_wait *w = r->slowest ? why_longest_wait(r->slowest, p) : NULL;
	const char *object = w ? wait_object(rows->tl, w) : NULL;
	if (object)
		g_string_append_printf(text, " %s", object);
	return rows_text(rows, text->str);
}

static void add_operations(struct rows *rows, const struct history *h, const struct range *range)
{
	struct row_map map = { .rows = rows };
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *s = timeline_span(h->tl, i);
		if (span_is_request(s) && range_has_span(range, s) &&
		    query_wants_operation(&rows->query, s))
			add_span(&map, h, s, range->seconds);
	}
	struct evicted evicted = { 0 };
	add_evicted(&map, h, range, &evicted);
	evicted_describe(rows, &evicted, "requests", NULL);
	row_map_clear(&map);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct operation_row *r = rows->rows->pdata[i];
		r->mainly = mainly_of(rows, r);
		r->slowest = NULL;
	}
	common_finish(rows, NULL);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct operation_row *r = rows->rows->pdata[i];
		r->c.row.marked = r->usual_ns > 0 && r->c.stat.p99 >= OUTLIER * r->usual_ns;
	}
}

/* --- the two tables below --- */

static struct rows *top_rows(const struct timeline *tl, const struct view_query *query,
			     const struct view *v, guint most)
{
	struct rows *rows = v->build(tl, query);
	rows_sort(rows, v, view_column(v, v->default_sort), true);
	if (rows->rows->len > most)
		g_ptr_array_remove_range(rows->rows, most, rows->rows->len - most);
	return rows;
}

static void add_tables(struct overview *o, const struct timeline *tl,
		       const struct view_query *query)
{
	struct view_query q = *query;
	q.by = BY_PROCESS;
	o->slowest = top_rows(tl, &q, &view_overview_slowest, OVERVIEW_SLOWEST);
	o->processes = top_rows(tl, &q, &view_overview_processes, OVERVIEW_PROCESSES);
}

/* --- the strip and its words --- */

/* "thumbnail: futex 45ms of +47ms". Of an evicted span the cause is unknown. */
static const char *worst_text(struct rows *rows, struct history *h, const struct strip_point *p)
{
	const struct span *s = p->worst;
	g_autoptr(blk_tree) t = s ? timeline_tree_new(rows->tl, s->trace_id) : NULL;
	int node = s ? tree_find(t, s->span_id, s->kind) : -1;
	char buf[TIMEFMT_LEN];
	struct why why;
	if (node >= 0)
		why_find(h, t, node, &why);
	bool known = node >= 0 && why.n;
	char cause[TIMEFMT_LEN];
	g_autofree char *text = known ?
		g_strdup_printf("%s: %s %s of +%s", p->worst_name, part_info[why.cause[0].part].id,
				timefmt_duration(cause, why.cause[0].excess_ns), timefmt_duration(buf, why.excess_ns)) :
		g_strdup_printf("%s: +%s", p->worst_name, timefmt_duration(buf, p->excess_ns));
	return rows_text(rows, text);
}

/* p99 of the traces that ended in the range. */
static int64_t p99_of(const struct timeline *tl, const struct history *h, const struct range *range)
{
	struct hist hist = { 0 };
	struct evicted e = { 0 };
	for (size_t i = 0; i < timeline_n_traces(h->tl); i++) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		if (t->root->state != SPAN_OPEN && range_has_span(range, t->root))
			hist_add(&hist, span_duration(t->root));
	}
	for (size_t i = 0; i < timeline_n_span_sums(tl); i++) {
		const struct span_sum *s = timeline_span_sum(tl, i);
		if (s->key.of == SUM_TRACE && evicted_counts(&e, range, s))
			hist_merge(&hist, &s->duration);
	}
	int64_t p99 = hist_quantile(&hist, 0.99);
	hist_clear(&hist);
	return p99;
}

static void add_strip(struct overview *o, struct rows *rows, struct history *h,
		      const struct range *range)
{
	g_autoptr(blk_strip) strip = strip_new(h);
	o->n_points = strip->points->len;
	o->points = g_new0(struct overview_point, o->n_points + 1);
	for (size_t i = 0; i < o->n_points; i++) {
		const struct strip_point *p = &g_array_index(strip->points, struct strip_point, i);
		o->points[i] = (struct overview_point){ .begin_ns = p->begin_ns,
			.end_ns = p->end_ns, .p99_ns = p->p99_ns, .count = p->count,
			.lost = p->lost, .gap = p->gap, .outlier = p->outlier, .folded = p->folded,
			.corrected = p->corrected };
	}
	o->strip_max_ns = strip->max_ns;
	o->usual_ns = strip->usual_ns;
	o->worst = strip->worst;
	if (o->worst >= 0)
		o->worst_text = worst_text(rows, h, &g_array_index(strip->points,
								   struct strip_point, o->worst));
	o->p99_ns = p99_of(rows->tl, h, range);
}

/* --- the machine --- */

struct machine {
	int64_t run, idle, irq, user, sys;
	struct hist wakeup, device;
	uint64_t events;
	struct intmap cpus;
};

static void sum_machine(struct machine *m, const struct second *s)
{
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		m->run += s->cpus[i].run_ns;
		m->idle += s->cpus[i].idle_ns;
		m->irq += s->cpus[i].irq_ns;
		intmap_set(&m->cpus, (uint64_t)s->cpus[i].host << 32 | s->cpus[i].cpu, 1);
	}
	for (uint32_t i = 0; i < s->n_threads; i++) {
		m->user += s->threads[i].part[PART_USER];
		m->sys += s->threads[i].part[PART_SYSCALL] + s->threads[i].part[PART_KERNEL];
	}
	for (uint32_t i = 0; i < s->n_events; i++)
		m->events += s->events[i].count;
	hist_merge(&m->wakeup, &s->wakeup);
}

static double share(int64_t ns, int64_t total)
{
	return total > 0 ? (double)ns / total : -1;
}

/* The block device with the most busy time. */
static void add_device(struct overview *o, struct rows *rows, const struct range *range)
{
	struct rows *devices = view_devices.build(rows->tl, &rows->query);
	const struct common *most = NULL;
	for (guint i = 0; i < devices->rows->len; i++) {
		const struct common *c = devices->rows->pdata[i];
		if (c->stat.count && (!most || c->stat.total > most->stat.total))
			most = c;
	}
	o->device_p99_ns = -1;
	o->device_ratio = -1;
	if (most) {
		o->device = rows_text(rows, most->name);
		o->device_p99_ns = most->stat.p99;
		o->device_ratio = MIN(most->stat.total / (range->seconds * NS_PER_S), 1.0);
	}
	rows_free(devices);
}

static void add_machine(struct overview *o, struct rows *rows, const struct range *range)
{
	struct machine m = { 0 };
	for (size_t i = range->first; i < range->end; i++)
		sum_machine(&m, timeline_second(rows->tl, i));
	int64_t total = m.run + m.idle;
	o->cpu_ratio = share(m.run, total);
	o->user_ratio = rows->missing & MISSING_CALLS ? -1 : share(m.user, total);
	o->sys_ratio = rows->missing & MISSING_CALLS ? -1 : share(m.sys, total);
	o->irq_ratio = rows->missing & MISSING_INTERRUPTS ? -1 : share(m.irq, total);
	o->n_cpus = m.cpus.n;
	o->runq_p99_ns = hist_quantile(&m.wakeup, 0.99);
	o->events = m.events;
	o->events_per_s = range->end > range->first ? m.events / range->seconds : 0;
	o->completeness = rows->completeness;
	add_device(o, rows, range);
	hist_clear(&m.wakeup);
	intmap_clear(&m.cpus);
}

/* --- the whole --- */

static void overview_free(void *data)
{
	struct overview *o = data;
	rows_free(o->slowest);
	rows_free(o->processes);
	g_free(o->points);
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
	add_strip(o, rows, h, &range);
	add_machine(o, rows, &range);
	add_tables(o, tl, query);
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
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		int64_t waiting = 0;
		for (uint32_t k = 0; k < s->n_threads; k++)
			waiting += part_sum_runnable(s->threads[k].part) +
				   s->threads[k].part[PART_DISK];
		if (waiting > most) {
			most = waiting;
			at = s->begin_ns;
		}
	}
	return at;
}

/* For a trace without outliers: the second with the slowest span. */
static int64_t slowest_second(const struct strip *strip)
{
	for (guint i = 0; i < strip->points->len; i++) {
		const struct strip_point *p = &g_array_index(strip->points, struct strip_point, i);
		if (p->p99_ns >= 0 && p->p99_ns == strip->max_ns)
			return p->begin_ns;
	}
	return TIME_UNKNOWN;
}

int64_t overview_worst_second(const struct timeline *tl)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_strip) strip = strip_new(h);
	if (strip->worst >= 0)
		return g_array_index(strip->points, struct strip_point, strip->worst).begin_ns;
	int64_t at = slowest_second(strip);
	return at != TIME_UNKNOWN ? at : most_waiting(tl);
}

int64_t overview_next_outlier(const struct timeline *tl, int64_t from, int direction)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_strip) strip = strip_new(h);
	int64_t found = TIME_UNKNOWN;
	for (guint i = 0; i < strip->points->len; i++) {
		const struct strip_point *p = &g_array_index(strip->points, struct strip_point, i);
		if (!p->outlier || (p->begin_ns <= from && from < p->end_ns))
			continue;
		if (direction > 0 && p->begin_ns > from)
			return p->begin_ns;
		if (direction < 0 && p->begin_ns < from)
			found = p->begin_ns;
	}
	return found;
}
