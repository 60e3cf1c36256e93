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
	if (span_is_better_root(s, t->root))
		t->root = s;
	t->has_root = t->root->parent_id == 0;
	t->open |= s->state == SPAN_OPEN;
	t->partial |= s->state == SPAN_PARTIAL;
	t->begin_ns = MIN(t->begin_ns, s->begin_ns);
	t->end_ns = MAX(t->end_ns, s->end_ns);
	t->errors += s->errors;
	t->n_spans++;
}

static struct operation_info *operation_of(struct history *h, const struct span *s)
{
	uint64_t key = operation_key(s);
	uint32_t i = intmap_get(&h->by_operation, key);
	if (i == INTMAP_NONE) {
		struct operation_info fresh = { .service = s->service, .name = s->name,
			.server = s->kind == SPAN_SERVER };
		i = h->operations->len;
		intmap_set(&h->by_operation, key, i);
		g_array_append_val(h->operations, fresh);
	}
	struct operation_info *op = &g_array_index(h->operations, struct operation_info, i);
	op->changed = true;
	return op;
}

static void add_to_operation(struct history *h, const struct span *s)
{
	if (s->state == SPAN_OPEN)
		return;
	struct operation_info *op = operation_of(h, s);
	hist_add(&op->duration, span_duration(s));
	hist_add(&op->user, s->part[PART_USER]);
}

/* Those that memory had no room for, of the time that is kept. */
static void add_evicted(struct history *h)
{
	uint64_t traces;
	timeline_evicted(h->tl, &traces, &h->evicted);
	h->kept_from = timeline_kept_from(h->tl);
	for (size_t i = 0; i < timeline_n_span_sums(h->tl); i++) {
		const struct span_sum *s = timeline_span_sum(h->tl, i);
		struct span like = { .service = s->key.service, .name = s->key.name,
				     .kind = s->key.kind };
		if (s->key.of != SUM_SPAN || s->key.others || s->end_ns <= h->kept_from)
			continue;
		struct operation_info *op = operation_of(h, &like);
		hist_merge(&op->duration, &s->duration);
		op->evicted += s->count;
	}
}

static void set_quantiles(struct history *h)
{
	for (guint i = 0; i < h->operations->len; i++) {
		struct operation_info *op = &g_array_index(h->operations, struct operation_info, i);
		if (!op->changed)
			continue;
		op->p50 = hist_quantile(&op->duration, 0.50);
		op->p99 = hist_quantile(&op->duration, 0.99);
		op->user_p50 = hist_quantile(&op->user, 0.50);
		op->changed = false;
	}
}

/* Those that came at the end of the timeline's list. */
static void add_spans(struct history *h)
{
	size_t n = timeline_n_spans(h->tl);
	if (n >= h->alloc) {
		h->alloc = MAX(n + 1, h->alloc * 2);
		h->spans = g_renew(struct span *, h->spans, h->alloc);
	}
	for (; h->n_spans < n; h->n_spans++) {
		struct span *s = span_ref((struct span *)timeline_span(h->tl, h->n_spans));
		h->spans[h->n_spans] = s;
		add_to_trace(h, s);
		add_to_operation(h, s);
	}
}

static struct history *history_make(const struct timeline *tl)
{
	struct history *h = g_new0(struct history, 1);
	h->tl = tl;
	h->refs = 1;
	h->version = timeline_version(tl);
	h->traces = g_array_new(FALSE, FALSE, sizeof(struct trace_info));
	h->operations = g_array_new(FALSE, FALSE, sizeof(struct operation_info));
	add_spans(h);
	add_evicted(h);
	set_quantiles(h);
	return h;
}

/* --- by thread --- */

static int compare_by_thread(const void *va, const void *vb)
{
	const struct thread_span *a = va, *b = vb;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static void append_by_thread(GArray *to, const struct span *s)
{
	struct thread_span e = { .begin_ns = s->begin_ns, .end_ns = s->end_ns, .span = s,
				 .thread = s->thread };
	g_array_append_val(to, e);
}

static void set_max_ends(GArray *list)
{
	struct thread_span *e = (struct thread_span *)(void *)list->data;
	for (guint i = 0; i < list->len; i++) {
		e[i].max_end = e[i].end_ns;
		if (i > 0 && e[i - 1].thread == e[i].thread)
			e[i].max_end = MAX(e[i].end_ns, e[i - 1].max_end);
	}
}

static void index_threads(struct history *h)
{
	if (h->by_thread)
		return;
	h->by_thread = g_array_sized_new(FALSE, FALSE, sizeof(struct thread_span),
					 (guint)h->n_spans + 1);
	for (size_t i = 0; i < h->n_spans; i++)
		append_by_thread(h->by_thread, h->spans[i]);
	g_array_sort(h->by_thread, compare_by_thread);
	set_max_ends(h->by_thread);
}

/* The list without what was replaced (gone: a set of old spans), and with the new ones. */
static void merge_threads(struct history *h, GHashTable *gone, GArray *fresh)
{
	GArray *old = h->by_thread;
	h->by_thread = g_array_sized_new(FALSE, FALSE, sizeof(struct thread_span),
					 old->len + fresh->len);
	g_array_sort(fresh, compare_by_thread);
	for (guint i = 0, k = 0; i < old->len || k < fresh->len;) {
		const struct thread_span *a = &g_array_index(old, struct thread_span, i);
		const struct thread_span *b = &g_array_index(fresh, struct thread_span, k);
		bool from_old = i < old->len &&
			(k == fresh->len || compare_by_thread(a, b) <= 0);
		if (from_old && g_hash_table_contains(gone, a->span))
			i++;
		else if (from_old)
			g_array_append_val(h->by_thread, *a), i++;
		else
			g_array_append_val(h->by_thread, *b), k++;
	}
	g_array_unref(old);
	set_max_ends(h->by_thread);
}

/* One past the last span of the thread that begins before `at`. */
static size_t find_before(const struct history *h, uint32_t thread, int64_t at)
{
	size_t low = 0, high = h->by_thread->len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct thread_span *s = &g_array_index(h->by_thread, struct thread_span, mid);
		if (s->thread < thread || (s->thread == thread && s->begin_ns < at))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- from the version before --- */

/* May the new version of a span take the old one's place without a new count of all? What
 * was open is in no operation yet, what was closed must stay as long. */
static bool may_replace(const struct span *old, const struct span *fresh)
{
	if (old->trace_id != fresh->trace_id)
		return false;
	return old->state == SPAN_OPEN || (fresh->state != SPAN_OPEN &&
		operation_key(old) == operation_key(fresh) &&
		span_duration(old) == span_duration(fresh) &&
		old->part[PART_USER] == fresh->part[PART_USER]);
}

/* Indexes of the spans that were replaced; NULL: not even that can be told. */
static GArray *find_replaced(const struct history *h)
{
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(size_t));
	if (timeline_n_spans(h->tl) < h->n_spans)
		return NULL;
	for (size_t i = 0; i < h->n_spans; i++) {
		const struct span *now = timeline_span(h->tl, i);
		if (now == h->spans[i])
			continue;
		if (!may_replace(h->spans[i], now))
			return NULL;
		g_array_append_val(found, i);
	}
	return g_steal_pointer(&found);
}

static int compare_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Its spans again, in the order in which they were added. */
static void recount_trace(struct history *h, uint64_t trace_id)
{
	const GArray *indexes = timeline_trace_spans(h->tl, trace_id);
	uint32_t at = intmap_get(&h->by_trace, trace_id);
	if (at == INTMAP_NONE || !indexes || !indexes->len)
		return;
	g_autofree uint32_t *order = g_memdup2(indexes->data, indexes->len * sizeof(*order));
	qsort(order, indexes->len, sizeof(*order), compare_index);
	const struct span *first = h->spans[order[0]];
	g_array_index(h->traces, struct trace_info, at) = (struct trace_info){
		.trace_id = trace_id, .root = first,
		.begin_ns = first->begin_ns, .end_ns = first->end_ns,
	};
	for (guint i = 0; i < indexes->len; i++)
		add_to_trace(h, h->spans[order[i]]);
}

static void unref_span(gpointer s)
{
	span_unref(s);
}

/* Old spans are freed with the set. */
static GHashTable *replace_spans(struct history *h, const GArray *replaced)
{
	GHashTable *gone = g_hash_table_new_full(NULL, NULL, unref_span, NULL);
	for (guint i = 0; i < replaced->len; i++) {
		size_t at = g_array_index(replaced, size_t, i);
		struct span *old = h->spans[at];
		h->spans[at] = span_ref((struct span *)timeline_span(h->tl, at));
		if (old->state == SPAN_OPEN)
			add_to_operation(h, h->spans[at]);
		g_hash_table_add(gone, old);
	}
	return gone;
}

static void update_threads(struct history *h, const GArray *replaced, GHashTable *gone,
			   size_t before)
{
	if (!h->by_thread)
		return;
	g_autoptr(GArray) fresh = g_array_new(FALSE, FALSE, sizeof(struct thread_span));
	for (guint i = 0; i < replaced->len; i++)
		append_by_thread(fresh, h->spans[g_array_index(replaced, size_t, i)]);
	for (size_t i = before; i < h->n_spans; i++)
		append_by_thread(fresh, h->spans[i]);
	merge_threads(h, gone, fresh);
}

static bool has_same_evicted(const struct history *h)
{
	uint64_t traces, spans;
	timeline_evicted(h->tl, &traces, &spans);
	return spans == h->evicted && (!spans || timeline_kept_from(h->tl) == h->kept_from);
}

/* Brings it to the timeline's version; false: it has to be made anew. */
static bool update(struct history *h)
{
	bool may = h->refs == 1 && has_same_evicted(h);
	g_autoptr(GArray) replaced = may ? find_replaced(h) : NULL;
	if (!replaced)
		return false;
	size_t before = h->n_spans;
	g_autoptr(GHashTable) gone = replace_spans(h, replaced);
	add_spans(h);
	for (guint i = 0; i < replaced->len; i++)
		recount_trace(h, h->spans[g_array_index(replaced, size_t, i)]->trace_id);
	update_threads(h, replaced, gone, before);
	set_quantiles(h);
	h->version = timeline_version(h->tl);
	return true;
}

/* Those made last: a screen builds several views of the same version in a row, and shows
 * a preview beside the timeline. */
static struct history *latest[2];

/* A timeline that was freed can't pass for another at its address: the first span is
 * still held here, so no other is where it is. */
static bool is_of(const struct history *h, const struct timeline *tl)
{
	return h->tl == tl && h->n_spans && h->n_spans <= timeline_n_spans(tl) &&
	       timeline_span(tl, 0) == h->spans[0] && timeline_version(tl) >= h->version;
}

static bool is_now(const struct history *h)
{
	return h->version == timeline_version(h->tl) && h->n_spans == timeline_n_spans(h->tl) &&
	       timeline_span(h->tl, h->n_spans - 1) == h->spans[h->n_spans - 1];
}

struct history *history_new(const struct timeline *tl)
{
	if (latest[1] && latest[1]->tl == tl) {
		struct history *h = latest[0];
		latest[0] = latest[1];
		latest[1] = h;
	}
	if (!latest[0] || !is_of(latest[0], tl) || (!is_now(latest[0]) && !update(latest[0]))) {
		/* What another timeline left stays; of this one there is a newer now. */
		if (latest[0] && latest[0]->tl != tl) {
			history_free(latest[1]);
			latest[1] = g_steal_pointer(&latest[0]);
		}
		history_free(g_steal_pointer(&latest[0]));
		latest[0] = history_make(tl);
	}
	latest[0]->refs++;
	return latest[0];
}

void history_free(struct history *h)
{
	if (!h || --h->refs)
		return;
	for (size_t i = 0; i < h->n_spans; i++)
		span_unref(h->spans[i]);
	for (guint i = 0; i < h->operations->len; i++) {
		struct operation_info *op = &g_array_index(h->operations, struct operation_info, i);
		hist_clear(&op->duration);
		hist_clear(&op->user);
	}
	g_free(h->spans);
	if (h->by_thread)
		g_array_unref(h->by_thread);
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

int64_t history_usual_user(const struct history *h, const struct span *s)
{
	const struct operation_info *op = history_operation(h, s);
	return op ? op->user_p50 : -1;
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

void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data)
{
	if (thread == ID_NONE)
		return;
	index_threads(h);
	for (size_t i = find_before(h, thread, to); i-- > 0;) {
		const struct thread_span *s = &g_array_index(h->by_thread, struct thread_span, i);
		if (s->thread != thread || s->max_end <= from)
			return;
		if (s->end_ns > from)
			visit(s->span, data);
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
