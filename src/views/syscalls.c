/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls by name: count, duration, errors.
 */
#include "base/call_event.h"
#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/narrowing.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/waited.h"

struct call_row {
	struct common c;
	enum waited waited;
	uint64_t unpaired;		/* calls of unknown latency: with them no sum is known */
	int64_t calls, unfinished, total_ns, busy_ns;
	double busy_ratio;		/* -1: not known */
	/* Calls of spans that do not have all of their calls one by one: in no latency. */
	struct { uint64_t count; int64_t total_ns, max_ns; } summed;
};

#define CALL(name, ...) MEMBER(struct call_row, name, __VA_ARGS__)

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("pid", "PID", 7, 4, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 8, "thread id; null where threads are summed", COMMON(tid)),
	COLUMN_T("comm", "PROCESS", 15, 1, "name, as it was last in the range", COMMON(comm)),
	COLUMN_FLEX("syscall", "SYSCALL", 12, "the system call", COMMON(name)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 6, 0, "calls finished; begun, where latencies are unknown",
		 CALL(calls)),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 1, "of these, returned an error", COMMON(errors)),
	COLUMN_N("unfinished", "PEND", VALUE_COUNT, 5, 7, "pending at the end of the range",
		 CALL(unfinished)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 2, "sum of the latencies of finished calls; null: unknown",
		 CALL(total_ns)),
	COLUMN_N("busy_ns", "BUSY", VALUE_NS, 0, 0, "time spent in it within the range",
		 CALL(busy_ns)),
	COLUMNS_QUANTILES(7, "call"),
	COLUMN_N("busy_ratio", "BUSY%", VALUE_RATIO, 6, 4,
		 "time spent in it within the range, of one thread's", CALL(busy_ratio, .none = IF_NEGATIVE)),
	COLUMN_OPTIONAL("waited", "WAITED", VALUE_TEXT, 13, 3, WAITED_HELP, CALL(waited, .words = waited_word)),
	COLUMN_CONTAINER,
};

static struct call_row *row_of(struct row_map *map, uint32_t thread, uint32_t name, enum waited waited)
{
	struct rows *rows = map->rows;
	uint64_t group = group_key(rows->tl, rows->query.by, thread);
	uint64_t key = group << 32 | (uint32_t)(name * WAITED_N + waited);
	bool is_new;
	struct call_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (is_new) {
		group_fill(&r->c, rows, thread);
		r->c.name = timeline_string(rows->tl, name);
		r->c.row.key[0] = key_int(key_text(r->c.row.key[0], r->c.name), waited);
		r->waited = waited;
	}
	return r;
}

/* ---- calls of spans ---- */

/* Adds the calls inside the span, without those inside its children. */
static void add_span(struct row_map *map, struct waits *w, const struct span *s)
{
	for (uint32_t i = 0; !s->n_slow_more && i < s->n_slow; i++) {
		const struct span_slow_call *c = &s->slow[i];
		struct call_row *r = row_of(map, c->thread, c->name,
					    c->wait == CALL_NO_WAIT ? WAITED_NOT : WAITED_WORKING);
		hist_add(&r->c.latency, c->duration_ns);
		r->c.errors += call_failed(c->ret);
		r->busy_ns += c->duration_ns;
	}
	for (uint32_t i = 0; s->n_slow_more && i < s->n_calls; i++) {
		const struct span_call *c = &s->calls[i];
		struct call_row *r = row_of(map, s->thread, c->name, waits_of_name(w, c->name, true));
		r->summed.count += c->count;
		r->summed.total_ns += c->total_ns;
		r->summed.max_ns = MAX(r->summed.max_ns, c->max_ns);
		r->c.errors += c->errors;
		r->busy_ns += c->total_ns;
	}
}

static void add_spans(struct row_map *map, struct waits *w, const struct range *range)
{
	const struct view_query *q = &map->rows->query;
	const struct timeline *tl = map->rows->tl;
	const GArray *of_trace = query_has_trace(q) ? timeline_trace_spans(tl, q->trace_id) : NULL;
	size_t n = !query_has_trace(q) ? timeline_n_spans(tl) : of_trace ? of_trace->len : 0;
	for (size_t i = 0; i < n; i++) {
		const struct span *s = timeline_span(tl, of_trace ? g_array_index(of_trace, uint32_t, i) : i);
		if (query_wants_span(q, tl, s) && (of_trace || q->span_id || range_has_span(range, s)))
			add_span(map, w, s);
	}
}

/* Where calls are known as a sum only, the latencies of a part of them say nothing. */
static void add_summed(struct call_row *r)
{
	struct stat *s = &r->c.stat;
	if (!r->summed.count)
		return;
	s->count += r->summed.count;
	s->total += r->summed.total_ns;
	s->avg = s->total / (int64_t)s->count;
	s->max = MAX(s->max, r->summed.max_ns);
	s->min = s->p50 = s->p95 = s->p99 = -1;
}

/* ---- calls of seconds ---- */

static struct call_row *add_share(struct row_map *map, const struct call_cell *cell, enum waited waited,
				  const struct waits_share *share, bool last)
{
	struct call_row *r = row_of(map, cell->thread, cell->name, waited);
	hist_merge(&r->c.latency, share->latency);
	r->c.errors += share->errors;
	r->busy_ns += share->busy_ns;
	if (last)
		r->unfinished += share->unfinished;
	return r;
}

static void add_second(struct row_map *map, struct waits *w, const struct second *s, bool last)
{
	struct waits_share shares[WAITED_N];
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct call_cell *cell = &s->calls[i];
		if (!query_wants_thread(q, rows->tl, cell->thread))
			continue;
		waits_divide(w, s, cell, shares);
		if (cell->unpaired)
			row_of(map, cell->thread, cell->name, waits_of_name(w, cell->name, false))->unpaired +=
				cell->unpaired;
		for (enum waited k = 0; k < WAITED_N; k++)
			if (!waits_share_is_empty(&shares[k]))
				add_share(map, cell, k, &shares[k], last);
	}
}

/* After common_finish(). A span has only calls that are finished. */
static void end(struct call_row *r, bool of_spans, double seconds)
{
	add_summed(r);
	r->calls = (int64_t)(r->c.stat.count + r->unpaired);
	r->total_ns = r->unpaired ? FIGURE_NONE : r->c.stat.total;
	r->busy_ratio = of_spans || r->unpaired ? -1 : (double)r->busy_ns / (seconds * NS_PER_S);
	r->busy_ns = r->unpaired ? FIGURE_NONE : r->busy_ns;
	r->unfinished = of_spans ? FIGURE_NONE : r->unfinished;
	r->c.row.last = of_spans ? 0 : waited_rank(r->waited);
}

static int compare(const void *va, const void *vb)
{
	const struct call_row *a = *(const struct call_row *const *)va, *b = *(const struct call_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: ORDER(a->waited, b->waited);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	bool of_spans = query_needs_spans(query);
	g_autoptr(blk_waits) w = waits_new(tl);
	if (of_spans)
		add_spans(&map, w, &range);
	for (size_t i = range.first; !of_spans && i < range.end; i++)
		add_second(&map, w, timeline_second(tl, i), i + 1 == range.end);
	row_map_clear(&map);
	common_finish(map.rows, compare);
	PTR_EACH(struct call_row, r, map.rows->rows)
		end(r, of_spans, range.seconds);
	return map.rows;
}

static const char *const needs[] = { NEED_SYSCALLS, NEED_CALLERS, NULL };

const struct view view_syscalls = {
	.idle = "idle",
	.only = ONLY_SPANS,
	.id = "syscalls", .title = "Syscalls",
	.help = "System calls by name: how many finished and failed, their latencies, and the time "
		"spent in them. A call counts in the second of its exit. Of a trace, span, service or operation: "
		"the calls inside its spans; a call inside a child counts for the child. Calls that waited for work "
		"have rows of their own, which come last.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .drill = "slow", .needs = needs,
	.default_by = BY_PROCESS, .by_values = BY_THREADS | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS_WAITED, .reads_spans = true,
	.build = build,
};
