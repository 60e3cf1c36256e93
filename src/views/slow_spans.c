/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest spans of the range: the first N of each name, or of all.
 */
#include "base/sort.h"
#include "views/evicted.h"
#include "views/history.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/explanations.h"

#include <string.h>

#define MOST_OF_A_NAME 8
#define MOST 64

struct slow_span_row {
	struct span_row columns;
	double x_usual;
	unsigned rank;			/* rank among spans of the same name, from 1 */
};

static const struct column columns[] = {
	COLUMN_N("rank", "RANK", VALUE_COUNT, 4, 4, "among the slowest of its name; 1: the slowest",
		 MEMBER(struct slow_span_row, rank)),
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", SPAN_MEMBER(trace_id)),
	COLUMN_BATCH_ID("span_id", "id of the span", SPAN_MEMBER(span_id)),
	COLUMN_BATCH_ID("parent_id", "id of its parent; null: a root", SPAN_MEMBER(parent_id, .none = IF_ZERO)),
	COLUMN_T("kind", "KIND", 6, 7, "client or server half, or null", SPAN_MEMBER(kind, .words = span_kind_name)),
	COLUMN_T("service", "SERVICE", 8, 6, "service it is a phase of", COMMON(service)),
	COLUMN_T("name", "NAME", 12, 0, "name of the span", COMMON(name)),
	COLUMN_HOST_AT(8, 11),
	COLUMN_ID("pid", "PID", 7, 10, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 9, "thread it began on", COMMON(tid)),
	COLUMN_TIME("begin_ns", "BEGIN", 12, 5, "when it began", SPAN_MEMBER(begin_ns)),
	COLUMN_TIME("end_ns", "END", 0, 0, "when it ended; of an open one, the last known of it",
		    SPAN_MEMBER(end_ns)),
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0, "how long it took (so far)",
		 span_get_duration),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 7, 3, "less what its children cover", SPAN_MEMBER(self_ns)),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 1, USUAL_TIMES("its duration"),
		 MEMBER(struct slow_span_row, x_usual, .none = IF_NEGATIVE)),
	COLUMN_T("state", "STATE", 8, 8, "complete, open or partial", SPAN_MEMBER(state, .words = span_state_name)),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 8, "tags and annotations named error", COMMON(errors)),
	COLUMNS_PARTS
	COLUMN_T("mainly", "MAINLY", 9, 2, "the largest part of its time", get_mainly),
	COLUMNS_SAID("the span", span_get_tags, span_get_annotations, span_get_severity),
	COLUMN_FLEX("verdict", "VERDICT", 24, "why it took so long, as a sentence", span_get_explanation),
	COLUMN_CONTAINER,
	COLUMN_PARENT_STATE,
};

/* Longest first, then by beginning. */
static int compare_spans(const void *va, const void *vb)
{
	const struct span *a = *(const struct span *const *)va;
	const struct span *b = *(const struct span *const *)vb;
	return ORDER(span_duration(b), span_duration(a)) ?: ORDER(a->begin_ns, b->begin_ns) ?:
	       ORDER(a->trace_id, b->trace_id) ?: ORDER(a->span_id, b->span_id) ?: ORDER(a->kind, b->kind);
}

static int compare(const void *va, const void *vb)
{
	const struct span_row *a = *(const struct span_row *const *)va;
	const struct span_row *b = *(const struct span_row *const *)vb;
	const struct span *x = a->span, *y = b->span;
	return compare_spans(&x, &y) ?: common_compare(&a->c, &b->c);
}

static GPtrArray *spans_of_range(const struct history *h, const struct view_query *q)
{
	struct range range = range_of(h->tl, q);
	GPtrArray *spans = g_ptr_array_new();
	TIMELINE_EACH_SPAN(h->tl, i, range.from_ns, range.to_ns) {
		const struct span *s = timeline_span(h->tl, i);
		if (range_has_span(&range, s) && query_wants_span(q, h->tl, s))
			g_ptr_array_add(spans, (gpointer)s);
	}
	g_ptr_array_sort(spans, compare_spans);
	return spans;
}

static void add_row(struct rows *rows, const struct history *h, const struct span *s, unsigned rank)
{
	struct slow_span_row *r = common_new(rows, sizeof(*r));
	span_row_fill(&r->columns, rows, s);
	r->x_usual = history_x_usual(h, s);
	r->rank = rank;
	r->columns.c.row.marked |= usual_is_slow(history_usual(h, s), span_duration(s));
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct history *h = explanations_history(explanations_attach(rows, tl));
	g_autoptr(GPtrArray) spans = spans_of_range(h, query);
	struct intmap seen = { 0 };	/* number of spans seen, by service and name */
	bool by_name = query->by == BY_NAME;
	for (guint i = 0; i < spans->len && (by_name || i < MOST); i++) {
		const struct span *s = spans->pdata[i];
		uint64_t key = reftext_pair(s->service, s->name);
		uint32_t rank = intmap_get(&seen, key);
		rank = rank == INTMAP_NONE ? 1 : rank + 1;
		intmap_set(&seen, key, rank);
		if (!by_name || rank <= MOST_OF_A_NAME)
			add_row(rows, h, s, rank);
	}
	intmap_clear(&seen);
	common_finish(rows, compare);
	struct range range = range_of(tl, query);
	evicted_describe_missing(rows, &range, false);
	if (!by_name && !rows->left_out) {
		rows->n_all = spans->len;
		rows->all_above_ns = spans->len > MOST ? span_duration(spans->pdata[MOST]) : 0;
	}
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_slow_spans = {
	.only = ONLY_SPANS,
	.id = "slow-spans", .title = "Slow spans",
	.help = "The slowest spans of the range: 8 of every name, or 64 over all, longest first. A "
		"filter such as duration_ns > 5ms is a threshold.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "duration_ns", .drill = "waterfall", .needs = needs,
	.default_by = BY_NAME, .by_values = 1 << BY_SYSTEM | 1 << BY_NAME, .on_screen = true,
	.build = build,
};
