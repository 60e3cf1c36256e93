/* SPDX-License-Identifier: GPL-2.0-only */
/* Details of a phase: see phase_detail.h. */
#include "ui/phase_detail.h"

#include "base/each.h"
#include "base/text.h"

#include <string.h>

static const char *cell_text(const struct view *v, const struct rows *rows,
			     const struct row *row, const char *column)
{
	struct value value = view_value(v, rows, row, column);

	return value.kind == VALUE_TEXT ? value.s : NULL;
}

static const struct span *find_span(const struct timeline *tl, const struct row *row)
{
	const GArray *spans = timeline_trace_spans(tl, row->drill.trace_id);

	for (guint i = 0; spans && i < spans->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(spans, uint32_t, i));

		if (s && s->span_id == row->drill.span_id &&
		    (row->drill.span_kind < 0 || (int)s->kind == row->drill.span_kind))
			return s;
	}
	return NULL;
}

/* Does the span belong to a request of the operation? */
static bool below_operation(const struct timeline *tl, const struct span *span,
			    const char *operation)
{
	const GArray *spans = timeline_trace_spans(tl, span->trace_id);

	for (guint i = 0; operation && spans && i < spans->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(spans, uint32_t, i));

		if (s && !strcmp(s->name, operation))
			return true;
	}
	return !operation;
}

static void add(GArray *to, uint32_t id, uint64_t count, int64_t total, int64_t max)
{
	const struct phase_sum sum = { id, count, total, max };

	ARRAY_EACH(struct phase_sum, have, to)
		if (have->id == id) {
			have->count += count;
			have->total_ns += total;
			have->max_ns = MAX(have->max_ns, max);
			return;
		}
	g_array_append_val(to, sum);
}

/* The longest spans, one of each trace. */
static void add_worst(struct phase_detail *d, const struct span *s)
{
	unsigned at = 0;

	while (at < d->n_worst && d->worst[at].trace_id != s->trace_id)
		at++;
	if (at < d->n_worst && d->worst[at].ns >= span_duration(s))
		return;
	if (at < d->n_worst) {
		d->n_worst--;
		memmove(&d->worst[at], &d->worst[at + 1], (d->n_worst - at) * sizeof d->worst[0]);
	}
	at = d->n_worst;
	while (at > 0 && d->worst[at - 1].ns < span_duration(s))
		at--;
	if (at >= PHASE_WORST)
		return;
	d->n_worst = MIN(d->n_worst + 1, PHASE_WORST);
	memmove(&d->worst[at + 1], &d->worst[at], (d->n_worst - at - 1) * sizeof d->worst[0]);
	d->worst[at].trace_id = s->trace_id;
	d->worst[at].ns = span_duration(s);
}

static void add_span(struct phase_detail *d, const struct span *s)
{
	d->n++;
	d->sum_ns += span_duration(s);
	for (uint32_t i = 0; i < s->n_calls; i++)
		add(d->calls, s->calls[i].name, s->calls[i].count, s->calls[i].total_ns,
		    s->calls[i].max_ns);
	if (s->part[PART_USER])
		add(d->calls, ID_NONE, 0, s->part[PART_USER], 0);
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		int64_t ns = w->wake_ns - w->begin_ns;

		if (w->waker != ID_NONE && w->part != PART_PREEMPTED)
			add(d->wakers, w->waker, 1, ns, ns);
	}
	add_worst(d, s);
}

/* Buckets end at an eighth, a quarter and half of the longest duration, and at the longest. */
static void spread(struct phase_detail *d, const GPtrArray *spans)
{
	int64_t max = d->n_worst ? d->worst[0].ns : 0;

	for (int b = 0; b < PHASE_BUCKETS; b++)
		d->bound_ns[b] = max >> (PHASE_BUCKETS - 1 - b);
	for (guint i = 0; i < spans->len; i++) {
		int64_t ns = span_duration(g_ptr_array_index(spans, i));
		int b = 0;

		while (b < PHASE_BUCKETS - 1 && ns > d->bound_ns[b])
			b++;
		d->spread[b]++;
	}
}

static gint longest_first(gconstpointer a, gconstpointer b)
{
	const struct phase_sum *x = a, *y = b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

static void gather(struct phase_detail *d, const struct rows *spans, const char *operation,
		   const char *service)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	const struct timeline *tl = spans->tl;

	PTR_EACH(const struct row, row, spans->rows) {
		const struct span *s = find_span(tl, row);

		if (!s || !span_has_duration(s) || !below_operation(tl, s, operation) ||
		    (service && strcmp(s->service, service)))
			continue;
		g_ptr_array_add(list, (gpointer)s);
		add_span(d, s);
	}
	spread(d, list);
	g_array_sort(d->calls, longest_first);
	g_array_sort(d->wakers, longest_first);
}

struct phase_detail *phase_detail_new(const struct view *phases, const struct rows *rows,
				      const struct row *row)
{
	const struct view *v = view_find("spans");
	const char *name = cell_text(phases, rows, row, "name");
	const char *operation = cell_text(phases, rows, row, "operation");
	struct view_query q = VIEW_QUERY_INIT;
	struct phase_detail *d;
	struct rows *spans;

	if (!v || !name || !strcmp(name, "(self)"))
		return NULL;
	q.from_ns = rows->query.from_ns;
	q.to_ns = rows->query.to_ns;
	q.operation = name;
	q.service = cell_text(phases, rows, row, "service");
	d = g_new0(struct phase_detail, 1);
	memcpy(d->key, row->key, sizeof d->key);
	d->name = text_visible(name);
	d->service = q.service && *q.service ? text_visible(q.service) : NULL;
	d->calls = g_array_new(FALSE, FALSE, sizeof(struct phase_sum));
	d->wakers = g_array_new(FALSE, FALSE, sizeof(struct phase_sum));
	spans = v->build(rows->tl, &q);
	gather(d, spans, operation, q.service);
	rows_free(spans);
	return d;
}

void phase_detail_free(struct phase_detail *d)
{
	if (!d)
		return;
	g_array_unref(d->calls);
	g_array_unref(d->wakers);
	g_free(d->name);
	g_free(d->service);
	g_free(d);
}
