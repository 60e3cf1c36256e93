/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All spans kept, summed by trace and by operation, and found by thread.
 */
#include "views/history.h"

static uint64_t operation_key(const struct span *s)
{
	uint64_t key = (uint64_t)s->service << 32 | s->name;
	return s->kind == SPAN_SERVER ? key | UINT64_C(1) << 63 : key;
}

/* Is `s` rather the root than `root`? */
static bool is_better_root(const struct span *s, const struct span *root)
{
	if ((s->parent_id == 0) != (root->parent_id == 0))
		return s->parent_id == 0;
	if ((s->kind == SPAN_SERVER) != (root->kind == SPAN_SERVER))
		return root->kind == SPAN_SERVER;
	if (s->begin_ns != root->begin_ns)
		return s->begin_ns < root->begin_ns;
	if (s->end_ns != root->end_ns)
		return s->end_ns > root->end_ns;
	return s->span_id < root->span_id;
}

static void add_to_trace(struct history *h, const struct span *s)
{
	uint32_t i = intmap_get(&h->by_trace, s->trace_id);
	if (i == INTMAP_NONE) {
		struct trace_info fresh = { .trace_id = s->trace_id, .root = s,
			.begin_ns = s->begin_ns, .end_ns = s->end_ns };
		i = h->traces->len;
		intmap_set(&h->by_trace, s->trace_id, i);
		g_array_append_val(h->traces, fresh);
	}
	struct trace_info *t = &g_array_index(h->traces, struct trace_info, i);
	if (is_better_root(s, t->root))
		t->root = s;
	t->has_root = t->root->parent_id == 0;
	t->open |= s->state == SPAN_OPEN;
	t->partial |= s->state == SPAN_PARTIAL;
	t->begin_ns = MIN(t->begin_ns, s->begin_ns);
	t->end_ns = MAX(t->end_ns, s->end_ns);
	t->errors += s->errors;
	t->n_spans++;
}

static void add_to_operation(struct history *h, const struct span *s)
{
	uint64_t key = operation_key(s);
	uint32_t i = intmap_get(&h->by_operation, key);
	if (s->state == SPAN_OPEN)
		return;
	if (i == INTMAP_NONE) {
		struct operation_info fresh = { .service = s->service, .name = s->name,
			.server = s->kind == SPAN_SERVER };
		i = h->operations->len;
		intmap_set(&h->by_operation, key, i);
		g_array_append_val(h->operations, fresh);
	}
	hist_add(&g_array_index(h->operations, struct operation_info, i).duration,
		 span_duration(s));
}

static struct history *history_make(const struct timeline *tl)
{
	struct history *h = g_new0(struct history, 1);
	h->tl = tl;
	h->refs = 1;
	h->version = timeline_version(tl);
	h->n_spans = timeline_n_spans(tl);
	h->spans = g_new(struct span *, h->n_spans + 1);
	h->traces = g_array_new(FALSE, FALSE, sizeof(struct trace_info));
	h->operations = g_array_new(FALSE, FALSE, sizeof(struct operation_info));
	for (size_t i = 0; i < h->n_spans; i++) {
		h->spans[i] = span_ref((struct span *)timeline_span(tl, i));
		add_to_trace(h, h->spans[i]);
		add_to_operation(h, h->spans[i]);
	}
	for (guint i = 0; i < h->operations->len; i++) {
		struct operation_info *op = &g_array_index(h->operations, struct operation_info, i);
		op->p50 = hist_quantile(&op->duration, 0.50);
		op->p99 = hist_quantile(&op->duration, 0.99);
	}
	return h;
}

/* The one made last: a screen builds several views of the same version in a row. */
static struct history *latest;

/* A timeline that was freed can't pass for another at its address: the first span is
 * still held here, so no other is where it is. */
static bool is_of(const struct history *h, const struct timeline *tl)
{
	return h->tl == tl && h->version == timeline_version(tl) && h->n_spans &&
	       h->n_spans == timeline_n_spans(tl) && timeline_span(tl, 0) == h->spans[0] &&
	       timeline_span(tl, h->n_spans - 1) == h->spans[h->n_spans - 1];
}

struct history *history_new(const struct timeline *tl)
{
	if (latest && is_of(latest, tl)) {
		latest->refs++;
		return latest;
	}
	history_free(g_steal_pointer(&latest));
	latest = history_make(tl);
	latest->refs++;
	return latest;
}

void history_free(struct history *h)
{
	if (!h || --h->refs)
		return;
	for (size_t i = 0; i < h->n_spans; i++)
		span_unref(h->spans[i]);
	for (guint i = 0; i < h->operations->len; i++)
		hist_clear(&g_array_index(h->operations, struct operation_info, i).duration);
	g_free(h->spans);
	g_free(h->by_thread);
	g_free(h->max_end);
	g_array_unref(h->traces);
	g_array_unref(h->operations);
	intmap_clear(&h->by_trace);
	intmap_clear(&h->by_operation);
	g_free(h);
}

const struct operation_info *history_operation(const struct history *h, const struct span *s)
{
	uint32_t i = intmap_get(&h->by_operation, operation_key(s));
	return i == INTMAP_NONE ? NULL : &g_array_index(h->operations, struct operation_info, i);
}

int64_t history_usual(const struct history *h, const struct span *s)
{
	const struct operation_info *op = history_operation(h, s);
	return op ? op->p50 : -1;
}

double history_x_usual(const struct history *h, const struct span *s)
{
	int64_t usual = history_usual(h, s);
	return usual > 0 ? (double)span_duration(s) / usual : -1;
}

const struct trace_info *history_trace(const struct history *h, uint64_t trace_id)
{
	uint32_t i = intmap_get(&h->by_trace, trace_id);
	return i == INTMAP_NONE ? NULL : &g_array_index(h->traces, struct trace_info, i);
}

/* --- by thread --- */

static int compare_by_thread(const void *va, const void *vb, void *data)
{
	const struct span *a = *(struct span *const *)va, *b = *(struct span *const *)vb;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static void index_threads(struct history *h)
{
	if (h->by_thread)
		return;
	h->by_thread = g_memdup2(h->spans, (h->n_spans + 1) * sizeof(*h->spans));
	h->max_end = g_new(int64_t, h->n_spans + 1);
	g_qsort_with_data(h->by_thread, h->n_spans, sizeof(*h->by_thread), compare_by_thread, NULL);
	for (size_t i = 0; i < h->n_spans; i++) {
		const struct span *s = h->by_thread[i];
		h->max_end[i] = s->end_ns;
		if (i > 0 && h->by_thread[i - 1]->thread == s->thread)
			h->max_end[i] = MAX(s->end_ns, h->max_end[i - 1]);
	}
}

/* One past the last span of the thread that begins before `at`. */
static size_t find_before(const struct history *h, uint32_t thread, int64_t at)
{
	size_t low = 0, high = h->n_spans;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct span *s = h->by_thread[mid];
		if (s->thread < thread || (s->thread == thread && s->begin_ns < at))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data)
{
	if (thread == ID_NONE)
		return;
	index_threads(h);
	for (size_t i = find_before(h, thread, to); i-- > 0;) {
		const struct span *s = h->by_thread[i];
		if (s->thread != thread || h->max_end[i] <= from)
			return;
		if (s->end_ns > from)
			visit(s, data);
	}
}

static void keep_first(const struct span *s, void *data)
{
	const struct span **first = data;
	if (!*first)
		*first = s;
}

const struct span *history_span_at(struct history *h, uint32_t thread, int64_t at)
{
	const struct span *found = NULL;
	history_spans_of(h, thread, at, at + 1, keep_first, &found);
	return found;
}
