/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces (summaries of their spans) and operations (statistics by service and name). Both are updated with each span,
 * so that views need not walk all spans.
 */
#include "state/store/timeline_private.h"

#include "base/limits.h"
#include "base/sort.h"
#include "state/store/span_tree.h"

#define OPERATIONS_SHARE 16		/* operations, without their buckets, use at most 1/16 of the budget */
#define FEWEST_OPERATIONS 1024
#define INDEXES_COST 112		/* bytes of a trace's index array without elements, approximate */

/* ---- traces ---- */

static void clear_trace(void *entry)
{
	struct trace_entry *e = entry;

	if (!e->indexes)		/* the entry was moved */
		return;
	g_array_free(e->indexes, TRUE);
	g_clear_pointer(&e->missing, g_array_unref);
}

/* The spans of the trace change. */
static void forget_missing(struct timeline *tl, struct trace_entry *e)
{
	if (e->missing)
		tl->missing_bytes -= e->missing->len * sizeof(uint64_t);
	g_clear_pointer(&e->missing, g_array_unref);
	e->missing_known = false;
}

static struct trace_entry *trace_at(const struct timeline *tl, uint32_t i)
{
	return &g_array_index(tl->traces, struct trace_entry, i);
}

static void count_span(struct trace_info *t, const struct span *s)
{
	g_assert(t->trace_id == s->trace_id);
	bool first = t->n_spans == 0;
	if (first || span_is_better_root(s, t->root))
		t->root = s;
	t->has_root = t->root->parent_id == 0;
	t->open |= s->state == SPAN_OPEN;
	t->may_end |= s->state == SPAN_OPEN || s->may_end;
	t->partial |= s->state == SPAN_PARTIAL;
	t->begin_ns = first ? s->begin_ns : MIN(t->begin_ns, s->begin_ns);
	t->end_ns = first ? s->end_ns : MAX(t->end_ns, s->end_ns);
	t->taken_ns = first ? INT64_MIN : t->taken_ns;
	if (span_message(s))
		t->taken_ns = MAX(t->taken_ns, s->end_ns);
	t->errors += s->errors;
	t->n_spans++;
}

static void widen_times(struct timeline *tl, const struct trace_entry *e)
{
	times_widen(tl->trace_times, (size_t)(e - trace_at(tl, 0)), e->info.begin_ns, e->info.end_ns);
}

/* Recomputes the summary from the spans, in the order in which they were added. */
static void recount(struct timeline *tl, struct trace_entry *e)
{
	e->info = (struct trace_info){ .trace_id = e->info.trace_id };
	e->stale = false;
	g_assert(e->indexes->len > 0);			/* else .info.root would be NULL */
	g_array_sort(e->indexes, order_u32);
	for (guint i = 0; i < e->indexes->len; i++) {
		uint32_t index = g_array_index(e->indexes, uint32_t, i);
		count_span(&e->info, g_array_index(tl->spans, struct span_entry, index).span);
	}
	widen_times(tl, e);
}

static void make_stale(struct timeline *tl, struct trace_entry *e)
{
	if (!e->stale)
		g_array_append_val(tl->stale_traces, e->info.trace_id);
	e->stale = true;
}

static struct trace_entry *trace_of(struct timeline *tl, uint64_t trace_id)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);
	if (i == INTMAP_NONE) {
		struct trace_entry entry = { .info.trace_id = trace_id,
			.indexes = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
		i = tl->traces->len;
		g_array_append_val(tl->traces, entry);
		intmap_set(&tl->by_trace, trace_id, i);
	}
	return trace_at(tl, i);
}

static void index_span(struct timeline *tl, const struct span_entry *entry, uint32_t index)
{
	struct trace_entry *e = trace_of(tl, entry->trace_id);
	g_assert(index < tl->spans->len);
	g_array_append_val(e->indexes, index);
	e->bytes += entry->bytes;
	forget_missing(tl, e);
	if (e->stale)
		return;
	count_span(&e->info, entry->span);
	widen_times(tl, e);
}

/* Removes trace i, which has no spans. The last trace moves to its index. */
static void forget_trace(struct timeline *tl, uint32_t i)
{
	uint32_t last = tl->traces->len - 1;

	g_assert(i < tl->traces->len);
	intmap_remove(&tl->by_trace, trace_at(tl, i)->info.trace_id);
	if (i != last)
		intmap_set(&tl->by_trace, trace_at(tl, last)->info.trace_id, i);
	g_array_remove_index_fast(tl->traces, i);
	if (i != last)
		widen_times(tl, trace_at(tl, i));
}

void traces_compact(struct timeline *tl)
{
	uint32_t n = tl->traces->len, n_left = 0;
	g_autofree uint32_t *moved = g_new(uint32_t, n + 1);

	g_array_set_size(tl->trace_times, 0);
	for (uint32_t i = 0; i < n; i++) {
		struct trace_entry e = *trace_at(tl, i);
		trace_at(tl, i)->indexes = NULL;
		if (!e.indexes->len) {
			forget_missing(tl, &e);
			intmap_remove(&tl->by_trace, e.info.trace_id);
			clear_trace(&e);
			continue;
		}
		moved[i] = n_left;
		*trace_at(tl, n_left) = e;
		widen_times(tl, trace_at(tl, n_left++));
	}
	g_array_set_size(tl->traces, n_left);
	for (uint32_t i = 0; tl->by_trace.mask && i <= tl->by_trace.mask; i++)
		if (tl->by_trace.values[i] != INTMAP_NONE)
			tl->by_trace.values[i] = moved[tl->by_trace.values[i]];
}

static void unindex_span(struct timeline *tl, const struct span_entry *old, uint32_t index)
{
	uint32_t trace = intmap_get(&tl->by_trace, old->trace_id);

	g_assert(trace != INTMAP_NONE);			/* each stored span is indexed */
	struct trace_entry *e = trace_at(tl, trace);

	guint before = e->indexes->len;
	for (guint i = 0; i < e->indexes->len; i++) {
		if (g_array_index(e->indexes, uint32_t, i) == index) {
			g_array_remove_index_fast(e->indexes, i);
			break;
		}
	}
	g_assert(e->indexes->len + 1 == before && e->bytes >= old->bytes);
	e->bytes -= old->bytes;
	forget_missing(tl, e);
	if (e->indexes->len)
		make_stale(tl, e);
	else
		forget_trace(tl, trace);
}

/* ---- operations ---- */

static void clear_operation(void *data)
{
	struct operation_info *op = data;
	reftext_unref(op->service);
	reftext_unref(op->name);
	hist_clear(&op->duration);
}

static uint64_t operation_key(const struct span *s)
{
	return reftext_pair(s->service, s->name) + (s->kind == SPAN_SERVER);
}

static struct operation_info *operation_at(const struct timeline *tl, uint32_t i)
{
	return &g_array_index(tl->operations, struct operation_info, i);
}

static size_t most_operations(const struct timeline *tl)
{
	size_t most = tl->facts.budget / OPERATIONS_SHARE / sizeof(struct operation_info);

	return tl->facts.budget ? CLAMP(most, FEWEST_OPERATIONS, LIMIT_OPERATIONS) : G_MAXUINT32;
}

/* The operation of a closed span, marked as changed. It is created if needed; NULL: the bound is reached. */
static struct operation_info *touch_operation(struct timeline *tl, const struct span *s)
{
	uint64_t key = operation_key(s);
	uint32_t i = intmap_get(&tl->by_operation, key);
	if (i == INTMAP_NONE && tl->operations->len >= most_operations(tl))
		return NULL;
	if (i == INTMAP_NONE) {
		struct operation_info fresh = { .service = reftext_ref(s->service), .name = reftext_ref(s->name),
			.server = s->kind == SPAN_SERVER };
		i = tl->operations->len;
		intmap_set(&tl->by_operation, key, i);
		g_array_append_val(tl->operations, fresh);
		tl->operation_bytes += reftext_bytes(s->service) + reftext_bytes(s->name);
	}
	struct operation_info *op = operation_at(tl, i);
	if (!op->changed) {
		g_assert(tl->operation_bytes >= hist_bytes(&op->duration));
		tl->operation_bytes -= hist_bytes(&op->duration);
		g_array_append_val(tl->changed_operations, i);
	}
	op->changed = true;
	return op;
}

static void count_operation(struct timeline *tl, const struct span *s)
{
	struct operation_info *op = span_has_duration(s) ? touch_operation(tl, s) : NULL;
	if (!op)
		return;
	hist_add(&op->duration, span_duration(s));
}

static void uncount_operation(struct timeline *tl, const struct span *s)
{
	struct operation_info *op = span_has_duration(s) ? touch_operation(tl, s) : NULL;
	if (!op)
		return;
	op->loose |= hist_remove(&op->duration, span_duration(s));
	tl->loose_operations |= op->loose;
}

static void widen(struct extremes *e, int64_t ns, bool first)
{
	ns = MAX(ns, 0);
	e->min = first ? ns : MIN(e->min, ns);
	e->max = first ? ns : MAX(e->max, ns);
}

void traces_count_evicted(struct timeline *tl, const struct span *s)
{
	uint32_t i = intmap_get(&tl->by_operation, operation_key(s));
	if (!span_has_duration(s) || i == INTMAP_NONE)
		return;
	struct operation_info *op = operation_at(tl, i);
	widen(&op->evicted_duration, span_duration(s), !op->evicted);
	op->evicted++;
}

static void set_extremes(struct hist *h, const struct extremes *e, bool known)
{
	hist_reset_bounds(h);
	if (!known)
		return;
	hist_widen(h, e->min);
	hist_widen(h, e->max);
}

/* Recomputes minimum and maximum of operations in which a later version replaced a span. So statistics do not
 * depend on how often a span was published before it was complete. */
static void tighten_operations(struct timeline *tl)
{
	for (guint i = 0; i < tl->operations->len; i++) {
		struct operation_info *op = operation_at(tl, i);
		if (!op->loose)
			continue;
		set_extremes(&op->duration, &op->evicted_duration, op->evicted);
	}
	for (guint i = 0; i < tl->spans->len; i++) {
		const struct span *s = g_array_index(tl->spans, struct span_entry, i).span;
		uint32_t at = span_has_duration(s) ? intmap_get(&tl->by_operation, operation_key(s)) : INTMAP_NONE;
		struct operation_info *op = at == INTMAP_NONE ? NULL : operation_at(tl, at);
		if (!op || !op->loose)
			continue;
		hist_widen(&op->duration, span_duration(s));
	}
	for (guint i = 0; i < tl->operations->len; i++)
		operation_at(tl, i)->loose = false;
	tl->loose_operations = false;
}

const struct operation_info *timeline_operation(const struct timeline *tl, const struct span *s)
{
	uint32_t i = intmap_get(&tl->by_operation, operation_key(s));
	return i == INTMAP_NONE || !hist_count(&operation_at(tl, i)->duration) ? NULL : operation_at(tl, i);
}

/* ---- changes of spans ---- */

void traces_add(struct timeline *tl, const struct span_entry *entry, uint32_t index)
{
	index_span(tl, entry, index);
	count_operation(tl, entry->span);
}

void traces_replace(struct timeline *tl, const struct span_entry *old,
		    const struct span_entry *fresh, uint32_t index)
{
	if (old->trace_id != fresh->trace_id) {
		unindex_span(tl, old, index);
		index_span(tl, fresh, index);
	} else {
		struct trace_entry *e = trace_of(tl, fresh->trace_id);
		e->bytes += fresh->bytes;
		g_assert(e->bytes >= old->bytes);
		e->bytes -= old->bytes;
		forget_missing(tl, e);
		make_stale(tl, e);
	}
	bool same = span_has_duration(old->span) && span_has_duration(fresh->span) &&
		    operation_key(old->span) == operation_key(fresh->span) &&
		    span_duration(old->span) == span_duration(fresh->span) &&
		    old->span->part[PART_USER] == fresh->span->part[PART_USER];
	if (same)
		return;
	uncount_operation(tl, old->span);
	count_operation(tl, fresh->span);
}

void traces_settle(struct timeline *tl)
{
	for (guint i = 0; i < tl->stale_traces->len; i++) {
		uint32_t at = intmap_get(&tl->by_trace,
					 g_array_index(tl->stale_traces, uint64_t, i));
		if (at != INTMAP_NONE && trace_at(tl, at)->stale)
			recount(tl, trace_at(tl, at));
	}
	g_array_set_size(tl->stale_traces, 0);
	if (tl->loose_operations)
		tighten_operations(tl);
	for (guint i = 0; i < tl->changed_operations->len; i++) {
		struct operation_info *op =
			operation_at(tl, g_array_index(tl->changed_operations, uint32_t, i));
		g_assert(op->changed);
		op->p25 = hist_quantile(&op->duration, 0.25);
		op->p99 = hist_quantile(&op->duration, 0.99);
		op->changed = false;
		tl->operation_bytes += hist_bytes(&op->duration);
	}
	g_array_set_size(tl->changed_operations, 0);
}

/* ---- queries ---- */

const GArray *timeline_trace_spans(const struct timeline *tl, uint64_t trace_id)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);
	return i == INTMAP_NONE ? NULL : trace_at(tl, i)->indexes;
}

struct tree *timeline_tree_new(const struct timeline *tl, uint64_t trace_id)
{
	const GArray *indexes = timeline_trace_spans(tl, trace_id);
	int n = indexes ? (int)indexes->len : 0;
	g_autofree struct span **spans = g_new(struct span *, n + 1);

	for (int i = 0; i < n; i++)
		spans[i] = g_array_index(tl->spans, struct span_entry, g_array_index(indexes, uint32_t, i)).span;
	return tree_new(trace_id, spans, n);
}

size_t timeline_n_traces(const struct timeline *tl)
{
	return tl->traces->len;
}

const struct trace_info *timeline_trace(const struct timeline *tl, size_t i)
{
	return i < tl->traces->len ? &trace_at(tl, (uint32_t)i)->info : NULL;
}

size_t timeline_next_trace(const struct timeline *tl, size_t i, int64_t from, int64_t to)
{
	size_t n = tl->traces->len;

	while ((i = times_skip(tl->trace_times, i, n, from, to)) < n) {
		const struct trace_info *t = &trace_at(tl, (uint32_t)i)->info;
		if (t->begin_ns < to && t->end_ns >= from)
			break;
		i++;
	}
	return i;
}

const struct trace_info *timeline_find_trace(const struct timeline *tl, uint64_t trace_id)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);
	return i == INTMAP_NONE ? NULL : &trace_at(tl, i)->info;
}

/* ---- missing parents ---- */

static GArray *find_missing(const struct timeline *tl, const GArray *indexes)
{
	GArray *missing = NULL;
	struct intmap ids = { 0 };

	intmap_reserve(&ids, indexes->len);
	for (guint i = 0; i < indexes->len; i++)
		intmap_set(&ids, timeline_span(tl, g_array_index(indexes, uint32_t, i))->span_id, 0);
	for (guint i = 0; i < indexes->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(indexes, uint32_t, i));
		if (!s->parent_id || intmap_get(&ids, s->parent_id) != INTMAP_NONE)
			continue;
		intmap_set(&ids, s->parent_id, 0);
		missing = missing ? missing : g_array_new(FALSE, FALSE, sizeof(uint64_t));
		g_array_append_val(missing, s->parent_id);
	}
	intmap_clear(&ids);
	if (missing)
		g_array_sort(missing, order_u64);
	return missing;
}

const GArray *timeline_missing_spans(const struct timeline *tl, uint64_t trace_id)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);
	struct trace_entry *e = i == INTMAP_NONE ? NULL : trace_at(tl, i);

	if (e && !e->missing_known) {
		e->missing_known = true;
		e->missing = find_missing(tl, e->indexes);
		((struct timeline *)tl)->missing_bytes += e->missing ? e->missing->len * sizeof(uint64_t) : 0;
	}
	return e ? e->missing : NULL;
}

bool timeline_parent_is_missing(const struct timeline *tl, const struct span *s)
{
	const GArray *missing = s->parent_id ? timeline_missing_spans(tl, s->trace_id) : NULL;

	return missing && g_array_binary_search((GArray *)missing, &s->parent_id, order_u64, NULL);
}

/* ---- creation ---- */

void traces_init(struct timeline *tl)
{
	static guint serial;	/* atomic: previews make timelines on their own threads */
	tl->facts.serial = (uint64_t)g_atomic_int_add((gint *)&serial, 1) + 1;
	tl->traces = g_array_new(FALSE, FALSE, sizeof(struct trace_entry));
	tl->trace_times = g_array_new(FALSE, FALSE, sizeof(struct block_times));
	g_array_set_clear_func(tl->traces, clear_trace);
	tl->stale_traces = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	tl->operations = g_array_new(FALSE, FALSE, sizeof(struct operation_info));
	g_array_set_clear_func(tl->operations, clear_operation);
	tl->changed_operations = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void traces_clear(struct timeline *tl)
{
	g_array_free(tl->traces, TRUE);
	g_array_free(tl->trace_times, TRUE);
	g_array_free(tl->stale_traces, TRUE);
	g_array_free(tl->operations, TRUE);
	g_array_free(tl->changed_operations, TRUE);
	intmap_clear(&tl->by_trace);
	intmap_clear(&tl->by_operation);
}

size_t traces_bytes(const struct timeline *tl)
{
	return tl->traces->len * (sizeof(struct trace_entry) + INDEXES_COST) + tl->missing_bytes +
	       tl->operations->len * sizeof(struct operation_info) + tl->operation_bytes +
	       (tl->by_trace.mask + tl->by_operation.mask) * (sizeof(uint64_t) + sizeof(uint32_t));
}
