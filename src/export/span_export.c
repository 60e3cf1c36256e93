/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects the exported spans and their format.
 */
#include "export/export.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "export/spans.h"
#include "views/view.h"

#include <gio/gio.h>
#include <string.h>

static void clear_trace(void *v)
{
	struct export_trace *trace = v;
	tree_free(trace->tree);
	g_free(trace->wanted);
}

/* Adds the whole trace. If span_id is set, adds only that span with all its halves and the spans below. */
static void add_trace(GArray *traces, const struct timeline *tl, uint64_t trace_id,
		      uint64_t span_id)
{
	struct export_trace trace = { .tree = timeline_tree_new(tl, trace_id) };
	const struct tree *t = trace.tree;
	trace.wanted = g_new0(bool, t->n + 1);
	for (int i = 0; i < t->n; i++) {
		int parent = t->nodes[i].parent;
		g_assert(parent < i);		/* parents come before their children */
		trace.wanted[i] = !span_id || t->nodes[i].span->span_id == span_id ||
				  (parent >= 0 && trace.wanted[parent]);
		trace.n += trace.wanted[i];
	}
	if (trace.n)
		g_array_append_val(traces, trace);
	else
		clear_trace(&trace);
}

/* The trace that contains the span. If several spans have the id, which is improbable, the earliest one. */
static uint64_t trace_of_span(const struct history *h, uint64_t span_id)
{
	const struct span *found = NULL;
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *s = timeline_span(h->tl, i);
		if (s->span_id != span_id)
			continue;
		if (!found || s->begin_ns < found->begin_ns ||
		    (s->begin_ns == found->begin_ns && s->trace_id < found->trace_id))
			found = s;
	}
	return found ? found->trace_id : 0;
}

/* Slowest first; open traces last, because their duration is unknown. */
static int compare_slowest(const void *va, const void *vb)
{
	const struct trace_info *a = va, *b = vb;
	bool a_open = a->root->state == SPAN_OPEN, b_open = b->root->state == SPAN_OPEN;
	int64_t da = span_duration(a->root), db = span_duration(b->root);
	return ORDER(a_open, b_open) ?: ORDER(db, da) ?: ORDER(a->root->begin_ns, b->root->begin_ns) ?:
	       ORDER(a->trace_id, b->trace_id);
}

/* The ids of traces that pass the filter: a set of uint64_t. */
static GHashTable *filtered_traces(const struct timeline *tl, const struct expr *filter)
{
	GHashTable *ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	const struct view *v = view_find("traces");
	struct view_query all = VIEW_QUERY_INIT;
	struct rows *rows = v->build(tl, &all);
	rows_filter(rows, v, filter);
	PTR_EACH(const struct row, row, rows->rows)
		g_hash_table_add(ids, g_memdup2(&row->drill.trace_id, sizeof row->drill.trace_id));
	rows_free(rows);
	return ids;
}

static void add_slowest(GArray *traces, const struct history *h, unsigned n, const struct expr *filter)
{
	g_autoptr(GHashTable) wanted = filter ? filtered_traces(h->tl, filter) : NULL;
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct trace_info));
	for (size_t i = 0; i < timeline_n_traces(h->tl); i++) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		if (!wanted || g_hash_table_contains(wanted, &t->trace_id))
			g_array_append_vals(sorted, t, 1);
	}
	g_array_sort(sorted, compare_slowest);
	for (guint i = 0; i < sorted->len && i < n; i++)
		add_trace(traces, h->tl, g_array_index(sorted, struct trace_info, i).trace_id, 0);
}

static void set_error(GError **error, const struct span_selection *what)
{
	uint64_t id = what->span_id ? what->span_id : what->trace_id;
	if (what->slowest)
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
				    what->filter ? "no spans to export: the filter leaves none" :
				    "no spans to export: the trace has none");
	else
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no %s %016" G_GINT64_MODIFIER
			    "x in the trace", what->span_id ? "span" : "trace", id);
}

#define SPAN_FORMAT_ID_(name, id) #id,
const char *const span_format_ids[SPAN_FORMAT_N + 1] = { SPAN_FORMATS(SPAN_FORMAT_ID_) NULL };

bool span_format_parse(const char *text, enum span_format *ret)
{
	for (int i = 0; i < SPAN_FORMAT_N; i++)
		if (strcmp(text, span_format_ids[i]) == 0) {
			*ret = (enum span_format)i;
			return true;
		}
	return false;
}

uint64_t export_trace_named(const struct timeline *tl, uint64_t upper, uint64_t lower)
{
	uint64_t other = upper ? export_other_id(upper, lower) : lower;
	return timeline_find_trace(tl, other) ? other : lower;
}

/* The number of exported spans of a trace, with those of waits and calls. */
static unsigned count_trace(const struct export_trace *x, bool with_kernel)
{
	unsigned n = x->n;
	for (int i = 0; with_kernel && i < x->tree->n; i++) {
		g_autoptr(GArray) kernel = x->wanted[i] ? kernel_spans(x->tree, i) : NULL;
		n += kernel ? kernel->len : 0;
	}
	return n;
}

#define SPAN_FORMAT_FUNCTION_(name, id) spans_##id,

static char *append_traces(struct history *h, const GArray *traces, bool with_kernel, enum span_format format)
{
	static void (*const append[])(GString *, const struct export_set *) = { SPAN_FORMATS(SPAN_FORMAT_FUNCTION_) };
	GString *out = g_string_new(NULL);
	g_assert((unsigned)format < G_N_ELEMENTS(append));
	append[format](out, &(struct export_set){
		.h = h, .traces = (const struct export_trace *)(const void *)traces->data, .n = traces->len,
		.with_kernel = with_kernel,
	});
	return g_string_free(out, FALSE);
}

char *span_export(const struct timeline *tl, const struct span_selection *what,
		  enum span_format format, unsigned *ret_spans, GError **error)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) traces = g_array_new(FALSE, FALSE, sizeof(struct export_trace));
	g_array_set_clear_func(traces, clear_trace);
	uint64_t trace_id = export_trace_named(tl, what->trace_upper, what->trace_id);
	if (what->slowest)
		add_slowest(traces, h, what->slowest, what->filter);
	else if (!trace_id && !what->trace_zero && what->span_id)
		trace_id = trace_of_span(h, what->span_id);
	if (!what->slowest && (trace_id || what->trace_zero))
		add_trace(traces, tl, trace_id, what->span_id);
	*ret_spans = 0;
	for (guint i = 0; i < traces->len; i++)
		*ret_spans += count_trace(&g_array_index(traces, struct export_trace, i), what->with_kernel);
	if (!*ret_spans) {
		set_error(error, what);
		return NULL;
	}
	return append_traces(h, traces, what->with_kernel, format);
}

/* Adds nodes of the trace at `at`, until there are `most` spans in all. */
static void add_nodes(GArray *traces, const struct timeline *tl, uint64_t trace_id, struct span_place *at,
		      unsigned most, bool with_kernel, unsigned *n)
{
	struct export_trace trace = { .tree = timeline_tree_new(tl, trace_id) };
	trace.wanted = g_new0(bool, trace.tree->n + 1);
	for (; at->node < trace.tree->n && *n < most; at->node++) {
		g_autoptr(GArray) kernel = with_kernel ? kernel_spans(trace.tree, at->node) : NULL;
		trace.wanted[at->node] = true;
		trace.n++;
		*n += 1 + (kernel ? kernel->len : 0);
	}
	if (at->node == trace.tree->n)
		*at = (struct span_place){ .trace = at->trace + 1 };
	if (trace.n)
		g_array_append_val(traces, trace);
	else
		clear_trace(&trace);
}

char *span_export_next(const struct timeline *tl, const uint64_t *trace_ids, size_t n, struct span_place *at,
		       unsigned most, bool with_kernel, enum span_format format, unsigned *ret_spans)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GArray) traces = g_array_new(FALSE, FALSE, sizeof(struct export_trace));
	g_array_set_clear_func(traces, clear_trace);
	*ret_spans = 0;
	while (at->trace < n && *ret_spans < most)
		add_nodes(traces, tl, trace_ids[at->trace], at, most, with_kernel, ret_spans);
	return *ret_spans ? append_traces(h, traces, with_kernel, format) : NULL;
}

char *span_export_name(const struct span_selection *what)
{
	g_autofree char *trace = text_id(what->trace_id), *span = text_id(what->span_id);
	if (what->slowest)
		return g_strdup_printf("./blktop-slowest-%u.json", what->slowest);
	if (!what->trace_id && !what->trace_zero)
		return g_strdup_printf("./blktop-%s.json", span);
	if (!what->span_id)
		return g_strdup_printf("./blktop-%s.json", trace);
	return g_strdup_printf("./blktop-%s-%s.json", trace, span);
}
