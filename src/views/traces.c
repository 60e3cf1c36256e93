/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of the range: requests, named after their root spans.
 */
#include "views/traces.h"

#include "views/registry.h"

#define ROW(row) ((const struct trace_row *)(row))

GETTER(trace_get_id)
{
	return value_int(VALUE_HEX64, ROW(row)->root->trace_id);
}

static GETTER(get_begin)
{
	return value_int(VALUE_TIME, ROW(row)->root->begin_ns);
}

static GETTER(get_end)
{
	return value_int(VALUE_TIME, ROW(row)->root->end_ns);
}

GETTER(trace_get_duration)
{
	return value_int(VALUE_NS, span_duration(ROW(row)->root));
}

static GETTER(get_spans)
{
	return value_int(VALUE_COUNT, ROW(row)->n_spans);
}

static GETTER(get_services)
{
	return value_int(VALUE_COUNT, ROW(row)->n_services);
}

GETTER(trace_get_state)
{
	return value_text(ROW(row)->state);
}

GETTER(trace_get_x_usual)
{
	double x = ROW(row)->x_usual;
	return x < 0 ? value_none() : value_ratio(x);
}

/* A verdict costs a tree, so rows that nobody looks at go without: it is made at the
 * first look and kept. */
GETTER(trace_get_why)
{
	struct trace_row *r = (struct trace_row *)row;
	if (!r->why) {
		g_autofree char *why = why_trace(rows->extra, r->root->trace_id);
		r->why = rows_text((struct rows *)rows, why ? why : "");
	}
	return value_text(*r->why ? r->why : NULL);
}

static const struct column columns[] = {
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", trace_get_id),
	COLUMN_T("service", "SERVICE", 10, 4, "service of its root span", get_service),
	COLUMN_T("name", "NAME", 14, 0, "name of its root span", get_name),
	COLUMN_TIME("begin_ns", "BEGIN", 12, 2, "when its root span began", get_begin),
	COLUMN_TIME("end_ns", "END", 0, 0, "when its root span ended; while open, the last known",
		    get_end),
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0, "of its root span (so far)",
		 trace_get_duration),
	COLUMN_N("spans", "SPANS", VALUE_COUNT, 5, 5, "halves count one each", get_spans),
	COLUMN_N("services", "SVCS", VALUE_COUNT, 4, 7, "services that took part", get_services),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 3, "errors in all its spans", get_errors),
	COLUMN_T("state", "STATE", 8, 3, "complete, open, or partial", trace_get_state),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 1,
		 "how many times the operation's usual duration (p50 of all kept)",
		 trace_get_x_usual),
	COLUMN_FLEX("why", "WHY", 18, "why it took so long", trace_get_why),
};

bool trace_in_range(const struct trace_info *t, const struct range *range)
{
	if (t->root->state == SPAN_OPEN || !t->open)
		return range_has_span(range, t->root);
	/* The root has ended, but not all of its spans. */
	return range->end > range->first && t->begin_ns < range->to_ns &&
	       t->end_ns >= range->from_ns;
}

/* Any of its spans may be the one that was asked for. */
static bool wants_trace(const struct view_query *q, const struct timeline *tl,
			const struct trace_info *t)
{
	if (q->trace_id && q->trace_id != t->trace_id)
		return false;
	struct view_query wanted = *q;
	wanted.span_id = 0;
	wanted.span_kind = -1;
	if (query_wants_span(&wanted, tl, t->root))
		return true;
	const GArray *spans = timeline_trace_spans(tl, t->trace_id);
	for (guint i = 0; spans && i < spans->len; i++)
		if (query_wants_span(&wanted, tl,
				     timeline_span(tl, g_array_index(spans, uint32_t, i))))
			return true;
	return false;
}

static uint32_t count_services(const struct timeline *tl, uint64_t trace_id)
{
	const GArray *spans = timeline_trace_spans(tl, trace_id);
	struct intmap seen = { 0 };
	for (guint i = 0; spans && i < spans->len; i++)
		intmap_set(&seen, timeline_span(tl, g_array_index(spans, uint32_t, i))->service, 1);
	uint32_t n = seen.n;
	intmap_clear(&seen);
	return n;
}

static void add_trace(struct rows *rows, const struct history *h, const struct trace_info *t)
{
	struct trace_row *r = common_new(rows, sizeof(*r));
	const struct timeline *tl = rows->tl;
	const struct host_info *host = timeline_host(tl, t->root->host);
	r->root = t->root;
	r->has_root = t->has_root;
	r->c.name = timeline_string(tl, t->root->name);
	r->c.service = timeline_string(tl, t->root->service);
	r->c.host = host ? host->name : NULL;
	r->c.errors = t->errors;
	common_add_parts(&r->c, t->root->part);
	r->state = span_state_name[t->open ? SPAN_OPEN :
				   t->partial || !t->has_root ? SPAN_PARTIAL : SPAN_COMPLETE];
	r->n_spans = t->n_spans;
	r->n_services = count_services(tl, t->trace_id);
	r->x_usual = history_x_usual(h, t->root);
	r->c.row.key[0] = t->trace_id;
	r->c.row.open = t->open;
	r->c.row.marked = t->errors > 0 || r->x_usual >= 2;
	r->c.row.drill.trace_id = t->trace_id;
	r->c.row.drill.span_id = 0;
}

static int compare(const void *va, const void *vb)
{
	const struct span *a = (*(const struct trace_row *const *)va)->root;
	const struct span *b = (*(const struct trace_row *const *)vb)->root;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->trace_id > b->trace_id) - (a->trace_id < b->trace_id);
}

static void free_history(void *history)
{
	history_free(history);
}

struct rows *traces_build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	struct history *h = history_new(tl);
	rows->extra = h;
	rows->free_extra = free_history;
	for (guint i = 0; i < h->traces->len; i++) {
		const struct trace_info *t = &g_array_index(h->traces, struct trace_info, i);
		if (trace_in_range(t, &range) && wants_trace(query, tl, t))
			add_trace(rows, h, t);
	}
	common_finish(rows, compare);
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_traces = {
	.id = "traces", .title = "Traces",
	.help = "Requests that ended in the range or are open, with how they compare to the usual "
		"of their operation, and why they took so long.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "duration_ns", .drill = "waterfall", .needs = needs,
	.on_screen = true, .build = traces_build,
};
