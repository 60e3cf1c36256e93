/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls between services: spans with a parent in another service, including both halves of a shared span.
 */
#include "base/each.h"
#include "base/sort.h"
#include "state/store/span_tree.h"
#include "views/clocks.h"
#include "views/evicted.h"
#include "views/history.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/explanations.h"

#include <string.h>

struct service_row {
	struct common c;		/* service: the called one; parts: of its spans */
	const char *caller;		/* NULL: called from outside the trace (a root) */
	struct hist gaps;		/* used only while calls are summed */
	struct stat gap;
	uint64_t skewed;		/* number of negative gaps: the clocks differ */
	uint32_t from, to;		/* places (clocks.h) of the caller and of the called service */
	bool places_differ;		/* calls between other pairs of places exist */
	int64_t clock_ns, clock_error_ns;	/* how far the called service's clock is ahead, and the error; or
						 * TIME_UNKNOWN */
	struct worst_span worst;	/* the longest call: the called span, or the caller's if the called service
					 * has no spans */
};

#define ROW(row) ((const struct service_row *)(row))

static GETTER(get_gap)
{
	return ROW(row)->gap.count ? value_int(VALUE_NS, ROW(row)->gap.total) : value_none();
}

static GETTER(get_explanation)
{
	return worst_explanation(&((struct service_row *)row)->worst, rows);
}

static const struct column columns[] = {
	COLUMN_T("caller", "CALLER", 16, 0, "service that calls; null: a request from outside",
		 MEMBER(struct service_row, caller)),
	COLUMN_FLEX("service", "SERVICE", 16, "service that is called", COMMON(service)),
	COLUMN_N("count", "CALLS", VALUE_COUNT, 7, 0, "calls that ended in the range, of known duration",
		 COMMON(stat.count)),
	COLUMN_PARTIAL
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 1, "errors in the called spans", COMMON(errors)),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 7, 3, "calls a second", get_count_rate),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 4, "sum of the calls' durations", COMMON(stat.total)),
	COLUMNS_QUANTILES(7, "call, as the caller saw it"),
	COLUMNS_PARTS
	COLUMN_T("mainly", "MAINLY", 9, 2, "the largest part of the called spans' time", get_mainly),
	COLUMN_N("gap_ns", "GAP", VALUE_NS, 7, 8,
		 "network gap: the caller's time less the called one's, sum", get_gap),
	COLUMN_N("p50_gap_ns", "GAP p50", VALUE_NS, 7, 3, "half of the gaps are at most this" PERCENTILE_BOUND,
		 MEMBER(struct service_row, gap.p50, .none = IF_NEGATIVE)),
	COLUMN_N("p99_gap_ns", "GAP p99", VALUE_NS, 7, 4, "99 % of them are at most this" PERCENTILE_BOUND,
		 MEMBER(struct service_row, gap.p99, .none = IF_NEGATIVE)),
	COLUMN_N("max_gap_ns", "GAP MAX", VALUE_NS, 7, 9, "the longest gap",
		 MEMBER(struct service_row, gap.max, .none = IF_NEGATIVE)),
	COLUMN_N("skewed", "SKEWED", VALUE_COUNT, 0, 0,
		 "calls that took longer than their caller waited: no gap is known",
		 MEMBER(struct service_row, skewed)),
	COLUMN_RETAINED(optional, "clock_ns", "CLOCK", VALUE_NS, 8, 10,
			"how far the called service's clock is ahead of the caller's, estimated from calls",
			MEMBER(struct service_row, clock_ns)),
	COLUMN_RETAINED(optional, "clock_error_ns", "+-", VALUE_NS, 7, 10, "error of that",
			MEMBER(struct service_row, clock_error_ns)),
	COLUMN_BATCH_ID("worst_trace_id", "trace of the longest call",
			MEMBER_OF(struct service_row, worst.span, trace_id)),
	COLUMN_T("verdict", "VERDICT", 0, 0, "why the called span of the longest call took so long",
		 get_explanation),
};

static void add_gap(struct service_row *r, const struct span *caller, const struct span *s)
{
	int64_t gap;
	if (!tree_call_gap(caller, s, &gap))
		return;
	if (gap < 0)
		r->skewed++;
	else
		hist_add(&r->gaps, gap);
}

/* Records the pair of places of a call, as long as all calls of the row have the same pair. */
static void add_places(struct service_row *r, const struct clocks *k, const struct span *caller, const struct span *s)
{
	uint32_t from = caller ? clocks_place(k, caller) : ID_NONE, to = clocks_place(k, s);
	if (r->from == ID_NONE)
		r->from = from;
	if (r->to == ID_NONE)
		r->to = to;
	r->places_differ |= r->from != from || r->to != to;
}

/* caller NULL: outside the trace. */
static struct service_row *row_of(struct row_map *map, const char *caller, const char *service)
{
	bool is_new;
	struct service_row *r = row_map_get(map, reftext_pair(caller, service), sizeof(*r), &is_new);
	if (is_new) {
		r->caller = rows_hold_text(map->rows, caller);
		r->c.service = rows_hold_text(map->rows, service);
		r->c.row.key[0] = key_text(key_text(0, r->caller), r->c.service);
		r->c.row.drill.service = r->c.service;
		r->c.row.drill.operation = NULL;
		r->from = r->to = ID_NONE;
	}
	return r;
}

/* measured: the span that lasted as long as the call. */
static void add_one(struct service_row *r, const struct span *s, const struct span *measured,
		    const int64_t part[PART_N])
{
	int64_t ns = span_duration(measured);
	common_add_duration(&r->c, span_has_duration(measured), ns, part);
	if (span_has_duration(measured))
		worst_add(&r->worst, s, ns);
	r->c.errors += s->errors;
}

/* Adds a call; `s` is the span in the called service. caller NULL: outside the trace. */
static void add_call(struct row_map *map, const struct clocks *k, const struct span *caller,
		     const struct span *s)
{
	struct service_row *r = row_of(map, caller ? caller->service : NULL, s->service);
	r->c.row.drill.service = r->c.service;
	add_places(r, k, caller, s);
	add_gap(r, caller, s);
	add_one(r, s, tree_call_span(caller, s), s->part);
}

/* Adds a call to a service without spans, from the caller's span: the parts of the call are unknown. */
static void add_call_outside(struct row_map *map, const struct span *s, const char *service)
{
	const int64_t part[PART_N] = { [PART_UNKNOWN] = span_duration(s) };
	struct service_row *r = row_of(map, s->service, service);
	if (!hist_count(&r->c.latency) && !r->c.partial)
		r->c.row.drill.service = r->caller;	/* only the caller has spans */
	add_one(r, s, s, part);
}

/* The query's service is the caller or the called service. */
static bool is_wanted(const struct rows *rows, const char *caller, const char *service)
{
	const char *wanted = rows->query.service;
	return !wanted || strcmp(wanted, service) == 0 || (caller && strcmp(wanted, caller) == 0);
}

static void add_trace(struct row_map *map, const struct clocks *k, const struct tree *t, const struct range *range)
{
	for (int i = 0; i < t->n; i++) {
		const struct span *s = t->nodes[i].span, *caller;
		if (tree_is_call(t, i, &caller) && range_has_span(range, s) &&
		    is_wanted(map->rows, caller ? caller->service : NULL, s->service))
			add_call(map, k, caller, s);
		const char *outside = range_has_span(range, s) ? tree_called_outside(t, i) : NULL;
		if (outside && is_wanted(map->rows, s->service, outside))
			add_call_outside(map, s, outside);
	}
}

static void add_sum(struct service_row *r, const struct span_sum *s)
{
	common_add_sum(&r->c, s);
	hist_merge(&r->gaps, &s->gaps);
	r->skewed += s->skewed;
	worst_add_evicted(&r->worst, hist_max(&s->duration));
}

/* Call it after the retained spans are added: it needs the longest of them. */
static void add_evicted(struct row_map *map, const struct range *range, struct evicted *e)
{
	const struct rows *rows = map->rows;
	TIMELINE_EACH_SUM(rows->tl, at, range->from_ns, range->to_ns) {
		const struct span_sum *s = at.sum;
		const char *caller = s->key.operation_service;
		if (s->key.of == SUM_CALL &&
		    (s->key.others || is_wanted(rows, caller, s->key.service)) &&
		    evicted_counts(e, range, s))
			add_sum(row_of(map, caller, s->key.service), s);
	}
}

/* Sets clock offsets. They are computed from all retained spans, not only from those of the range. */
static void add_clocks(struct rows *rows, const struct clocks *k)
{
	g_autofree char *text = clocks_sentence(k);
	PTR_EACH(struct service_row, r, rows->rows) {
		bool asks = k->clocks->len > 1 && !r->places_differ && r->from != r->to;
		if (!asks || !clocks_between(k, r->from, r->to, &r->clock_ns, &r->clock_error_ns))
			r->clock_ns = r->clock_error_ns = TIME_UNKNOWN;
	}
	if (text)
		rows->about = rows_text(rows, text);
}

static int compare(const void *va, const void *vb)
{
	const struct service_row *a = *(const struct service_row *const *)va;
	const struct service_row *b = *(const struct service_row *const *)vb;
	return g_strcmp0(a->caller, b->caller) ?: g_strcmp0(a->c.service, b->c.service);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	struct evicted evicted = { 0 };
	g_autoptr(blk_clocks) k = clocks_new(tl);
	map.rows->seconds = range.seconds;
	const struct history *h = explanations_history(explanations_attach(map.rows, tl));
	TIMELINE_EACH_TRACE(h->tl, i, range.from_ns, range.to_ns) {
		const struct trace_info *info = timeline_trace(h->tl, i);
		g_autoptr(blk_tree) t = timeline_tree_new(tl, info->trace_id);
		add_trace(&map, k, t, &range);
	}
	add_evicted(&map, &range, &evicted);
	row_map_clear(&map);
	PTR_EACH(struct service_row, r, map.rows->rows) {
		r->gap = stat_take(&r->gaps);
		worst_hold(&r->worst, map.rows);
	}
	add_clocks(map.rows, k);
	common_finish(map.rows, compare);
	evicted_describe(map.rows, &evicted, "calls", NULL);
	return map.rows;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_services = {
	.only = ONLY_SERVICE,
	.id = "services", .title = "Services",
	.help = "Which service calls which, how often and how long, and what the called service did "
		"in that time.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .drill = "spans", .needs = needs,
	.on_screen = true, .build = build,
};
