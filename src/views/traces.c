/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of the range, one row each, named by their root spans.
 */
#include "views/traces.h"

#include "views/evicted.h"
#include "views/registry.h"
#include "views/explanations.h"
#include "views/usual.h"

#include "base/limits.h"
#include "base/sort.h"
#include "state/store/severity.h"

#include <string.h>

#define ROW(row) ((const struct trace_row *)(row))

static GETTER(get_duration)
{
	return value_bound(VALUE_NS, span_duration(ROW(row)->root), !ROW(row)->has_root);
}

static GETTER(get_to_last)
{
	const struct trace_row *r = ROW(row);
	return r->took_ns > span_duration(r->root) ? value_bound(VALUE_NS, r->took_ns, !r->has_root) : value_none();
}

/* An explanation needs the tree of the trace. It is made at first use and cached, so rows that are never shown cost
 * nothing. */
static GETTER(get_why)
{
	struct trace_row *r = (struct trace_row *)row;
	if (!r->why) {
		g_autofree char *why = why_trace(explanations_history(rows->extra), r->root->trace_id);
		r->why = rows_text((struct rows *)rows, why ? why : "");
	}
	return value_text(*r->why ? r->why : NULL);
}

static GETTER(get_explanation)
{
	struct trace_row *r = (struct trace_row *)row;
	if (!r->columns.explanation) {
		g_autofree char *text = why_trace_sentence(explanations_history(rows->extra), r->root->trace_id);
		r->columns.explanation = rows_text((struct rows *)rows, text ? text : "");
	}
	return value_text(*r->columns.explanation ? r->columns.explanation : NULL);
}

static int compare_begin(const void *va, const void *vb)
{
	const struct span *a = *(const struct span *const *)va;
	const struct span *b = *(const struct span *const *)vb;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->span_id, b->span_id) ?: ORDER(a->kind, b->kind);
}

/* Texts of all spans of a trace, by time; cached. */
static struct value joined_text(struct rows *rows, const char **cached, uint64_t trace_id,
			 void (*add)(GString *to, const struct span *s))
{
	const GArray *indexes = timeline_trace_spans(rows->tl, trace_id);
	if (!*cached) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GPtrArray) spans = g_ptr_array_new();
		for (guint i = 0; indexes && i < indexes->len; i++)
			g_ptr_array_add(spans, (gpointer)timeline_span(rows->tl,
						g_array_index(indexes, uint32_t, i)));
		g_ptr_array_sort(spans, compare_begin);
		for (guint i = 0; i < spans->len; i++)
			add(text, spans->pdata[i]);
		*cached = rows_text(rows, text->str);
	}
	return value_text(**cached ? *cached : NULL);
}

static GETTER(get_tags)
{
	struct trace_row *r = (struct trace_row *)row;
	return joined_text((struct rows *)rows, &r->columns.tags, r->root->trace_id, span_add_tags);
}

static GETTER(get_annotations)
{
	struct trace_row *r = (struct trace_row *)row;
	return joined_text((struct rows *)rows, &r->columns.marks, r->root->trace_id,
		    span_add_annotations);
}

static GETTER(get_severity)
{
	const GArray *indexes = timeline_trace_spans(rows->tl, ((const struct trace_row *)row)->root->trace_id);
	uint8_t most = SEVERITY_NONE;

	for (guint i = 0; indexes && i < indexes->len; i++)
		most = MAX(most, span_severity(timeline_span(rows->tl, g_array_index(indexes, uint32_t, i))));
	return value_text(severity_word(most));
}

/* Appends the word unless the text contains it. */
static void add_once(GString *to, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = to->str; n && (at = strstr(at, word)); at += n)
		if ((at == to->str || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return;
	span_add_word(to, word, "");
}

static void add_service(GString *to, const struct span *s)
{
	add_once(to, s->service);
}

static void add_name(GString *to, const struct span *s)
{
	add_once(to, s->name);
}

static GETTER(get_all_services)
{
	struct trace_row *r = (struct trace_row *)row;
	return joined_text((struct rows *)rows, &r->all_services, r->root->trace_id, add_service);
}

static GETTER(get_all_names)
{
	struct trace_row *r = (struct trace_row *)row;
	return joined_text((struct rows *)rows, &r->all_names, r->root->trace_id, add_name);
}

static const char *const bound_words[] = { "at least", NULL };	/* by has_root */

static const struct column columns[] = {
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", SPAN_MEMBER(trace_id)),
	COLUMN_BATCH_ID("span_id", "id of its root span", SPAN_MEMBER(span_id)),
	COLUMN_BATCH_ID("parent_id", "id of that one's parent; null: a true root",
			SPAN_MEMBER(parent_id, .none = IF_ZERO)),
	COLUMN_T("service", "SERVICE", 10, 4, "service of its root span", COMMON(service)),
	COLUMN_T("name", "NAME", 14, 0, "name of its root span", COMMON(name)),
	COLUMN_T("host", "HOST", 0, 0, "host of its root span", COMMON(host)),
	COLUMN_ID("pid", "PID", 0, 0, "process of its root span", COMMON(pid)),
	COLUMN_ID("tid", "TID", 0, 0, "thread its root span began on", COMMON(tid)),
	COLUMN_TIME("begin_ns", "BEGIN", 12, 2, "when its root span began", SPAN_MEMBER(begin_ns)),
	COLUMN_TIME("end_ns", "END", 0, 0, "when its root span ended; while open, the last known",
		    SPAN_MEMBER(end_ns)),
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0, "of its root span (so far)",
		 get_duration),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 0, 0, "of its root span, less what its children cover",
		 SPAN_MEMBER(self_ns)),
	COLUMN_N("spans", "SPANS", VALUE_COUNT, 5, 5, "halves count one each", MEMBER(struct trace_row, n_spans)),
	COLUMN_N("services", "SVCS", VALUE_COUNT, 4, 7, "services that took part",
		 MEMBER(struct trace_row, n_services)),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 3, "errors in all its spans", COMMON(errors)),
	COLUMN_T("state", "STATE", 10, 3, "complete, open, partial, or incomplete: spans are missing",
		 MEMBER(struct trace_row, state)),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 1,
		 USUAL_TIMES("its duration, with messages to_last_ns"),
		 MEMBER(struct trace_row, x_usual, .none = IF_NEGATIVE)),
	COLUMNS_PARTS
	COLUMN_FLEX("why", "WHY", 18, "why it took so long", get_why),
	COLUMN_T("all_services", "WITH SERVICES", 0, 0, "services of all its spans",
		 get_all_services),
	COLUMN_T("all_names", "WITH SPANS", 0, 0, "names of all its spans", get_all_names),
	COLUMNS_SAID("all its spans", get_tags, get_annotations, get_severity),
	COLUMN_EXPLANATION(get_explanation),
	COLUMN_N("missing_spans", "MISSING", VALUE_COUNT, 0, 0,
		 "spans that others name as their parent, but that the trace does not have",
		 MEMBER(struct trace_row, n_missing)),
	COLUMN_T("duration_bound", "BOUND", 0, 0,
		 "at least: its root is missing, so it took longer than duration_ns; or null",
		 MEMBER(struct trace_row, has_root, .words = bound_words)),
	{ .id = "to_last_ns", .title = "TO LAST", .kind = VALUE_NS, .width = 8, .priority = 1, .optional = true,
	  .descending = true, .get = get_to_last,
	  .help = "from its root's beginning to the end of the last span that took one of its messages; null: none "
		  "ended later than its root" },
};

/* Does the trace belong to the range? */
static bool trace_in_range(const struct trace_info *t, const struct range *range)
{
	if (t->root->state == SPAN_OPEN || !t->open)
		return range_has_span(range, t->root);
	/* The root has ended, but not all of its spans. */
	return range->end > range->first && t->begin_ns < range->to_ns &&
	       t->end_ns >= range->from_ns;
}

/* Does any span of the trace match the query? */
static bool wants_trace(const struct view_query *q, const struct timeline *tl,
			const struct trace_info *t)
{
	if (query_has_trace(q) && q->trace_id != t->trace_id)
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
	for (guint i = 0; spans && i < spans->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(spans, uint32_t, i));
		intmap_set(&seen, (uint64_t)(uintptr_t)s->service, 1);
	}
	uint32_t n = seen.n;
	intmap_clear(&seen);
	return n;
}

static const char *state_of(const struct trace_info *t, bool missing)
{
	if (missing && !t->open)
		return "incomplete";
	return span_state_name[t->open ? SPAN_OPEN : t->partial || !t->has_root ? SPAN_PARTIAL : SPAN_COMPLETE];
}

static void add_trace(struct rows *rows, struct history *h, const struct trace_info *t)
{
	const GArray *missing = timeline_missing_spans(rows->tl, t->trace_id);
	struct trace_row *r = common_new(rows, sizeof(*r));
	span_row_fill(&r->columns, rows, t->root);
	r->root = t->root;
	r->has_root = t->has_root;
	r->c.errors = t->errors;
	r->n_missing = missing ? missing->len : 0;
	r->state = state_of(t, missing != NULL);
	r->n_spans = t->n_spans;
	r->n_services = count_services(rows->tl, t->trace_id);
	r->x_usual = usual_x_trace(h, t);
	r->took_ns = trace_duration(t);
	r->usual_ns = usual_trace_duration(h, t);
	r->is_slow = usual_trace_is_slow(h, t);
	r->c.row.key[0] = t->trace_id;
	r->c.row.key[1] = 0;
	r->c.row.open = t->open;
	r->c.row.marked = t->errors > 0 || r->is_slow;
	r->c.row.drill.span_id = 0;
	r->c.row.drill.span_kind = -1;
}

static int compare_roots(const struct span *a, const struct span *b)
{
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->trace_id, b->trace_id);
}

static int compare(const void *va, const void *vb)
{
	return compare_roots((*(const struct trace_row *const *)va)->root,
			     (*(const struct trace_row *const *)vb)->root);
}

struct rows *traces_build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	struct history *h = explanations_history(explanations_attach(rows, tl));
	int64_t from = query->among ? INT64_MIN : range.from_ns, to = query->among ? INT64_MAX : range.to_ns;
	TIMELINE_EACH_TRACE(tl, i, from, to) {
		const struct trace_info *t = timeline_trace(tl, i);
		bool wanted = query->among ? intmap_get(query->among, t->trace_id) != INTMAP_NONE :
			      trace_in_range(t, &range);
		if (wanted && wants_trace(query, tl, t))
			add_trace(rows, h, t);
	}
	common_finish(rows, compare);
	evicted_describe_missing(rows, &range, true);
	return rows;
}

/* Ended traces before open ones, then longest first, then by beginning. */
static bool is_slower(const struct trace_info *t, const struct trace_info *than)
{
	bool closed = t->root->state != SPAN_OPEN, other = than->root->state != SPAN_OPEN;
	if (closed != other)
		return closed;
	if (closed && trace_duration(t) != trace_duration(than))
		return trace_duration(t) > trace_duration(than);
	return compare_roots(t->root, than->root) < 0;
}

uint64_t traces_slowest(const struct timeline *tl, const struct view_query *query)
{
	struct range range = range_of(tl, query);
	const struct trace_info *slowest = NULL;
	TIMELINE_EACH_TRACE(tl, i, range.from_ns, range.to_ns) {
		const struct trace_info *t = timeline_trace(tl, i);
		if ((!slowest || is_slower(t, slowest)) && trace_in_range(t, &range) && wants_trace(query, tl, t))
			slowest = t;
	}
	return slowest ? slowest->trace_id : 0;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_traces = {
	.only = ONLY_SPANS & ~ONLY_SPAN,
	.id = "traces", .title = "Traces",
	.help = "Requests that ended in the range or are open, compared with the usual duration of their "
		"operation, and why they took so long.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "duration_ns", .drill = "waterfall", .needs = needs,
	.on_screen = true, .lists_spans = true, .build = traces_build,
};
