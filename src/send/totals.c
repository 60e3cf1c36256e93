/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of metrics: see totals.h. */
#include "send/totals.h"

#include "send/labels.h"
#include "send/totals_private.h"

struct adding {
	struct totals *t;
	struct family *f;
};

static void series_free(void *data)
{
	struct series *s = data;
	g_free(s->buckets);
	g_free(s->exemplars);
	g_free(s);
}

struct totals *totals_new(const GPtrArray *metrics, unsigned most, bool live)
{
	struct totals *t = g_new0(struct totals, 1);
	g_mutex_init(&t->lock);
	t->n = metrics->len;
	t->most = most;
	t->live = live;
	t->counted_to_ns = INT64_MIN;
	t->families = g_new0(struct family, t->n);
	for (guint i = 0; i < t->n; i++)
		t->families[i] = (struct family){
			.m = metrics->pdata[i], .counted_to_ns = INT64_MIN,
			.series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, series_free),
		};
	return t;
}

static void forget_text(struct totals *t)
{
	for (size_t i = 0; i < TOTALS_FORMAT_N; i++)
		g_clear_pointer(&t->text[i], g_bytes_unref);
}

void totals_note_spans(struct totals *t, uint64_t chosen, uint64_t sent, uint64_t dropped)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&t->lock);
	if (!t->spans.are_forwarded || chosen != t->spans.chosen || sent != t->spans.sent ||
	    dropped != t->spans.dropped)
		forget_text(t);
	t->spans.are_forwarded = true;
	t->spans.chosen = chosen;
	t->spans.sent = sent;
	t->spans.dropped = dropped;
}

void totals_free(struct totals *t)
{
	if (!t)
		return;
	for (guint i = 0; i < t->n; i++)
		g_hash_table_unref(t->families[i].series);
	forget_text(t);
	g_mutex_clear(&t->lock);
	g_free(t->families);
	g_free(t);
}

static struct series *series_of(struct totals *t, struct family *f, const struct value *by)
{
	const struct metric_query *q = &f->m->query;
	g_autofree char *labels = labels_of(q, by);
	struct series *s = g_hash_table_lookup(f->series, labels);
	if (s)
		return s;
	if (g_hash_table_size(f->series) >= t->most) {
		f->n_left_out++;
		g_free(labels);
		labels = labels_of_others(q);
		s = g_hash_table_lookup(f->series, labels);
		if (s)
			return s;
	}
	s = g_new0(struct series, 1);
	if (send_metric_has_distribution(f->m))
		s->buckets = g_new0(uint64_t, TOTALS_BUCKETS);
	if (s->buckets && metric_is_of_spans(q->metric))
		s->exemplars = g_new0(struct exemplar, TOTALS_BUCKETS);
	g_hash_table_insert(f->series, g_steal_pointer(&labels), s);
	return s;
}

static unsigned bucket_of(int64_t value)
{
	int bits = value > 0 ? 64 - __builtin_clzll((uint64_t)value) : 0;
	return (unsigned)CLAMP(bits - TOTALS_FIRST_BITS, 0, TOTALS_BUCKETS - 1);
}

static void add_bucket(void *data, unsigned bucket, uint64_t count)
{
	struct series *s = data;
	s->buckets[bucket_of(hist_bucket_high(bucket))] += count;
	s->count += count;
}

/* The time of a span's parts is no duration of the span. */
static void note_exemplar(struct series *s, const struct span *span, const struct hist *values)
{
	int64_t ns = span_duration(span);
	if (ns < 0 || ns != hist_max(values))
		return;
	s->exemplars[bucket_of(ns)] = (struct exemplar){
		.trace_id = span->trace_id, .span_id = span->span_id, .ns = ns, .end_ns = span->end_ns,
	};
}

static void visit(void *data, const struct second *second, const struct metric_value *v)
{
	const struct adding *a = data;
	if (!v->key) {
		a->f->n_evicted += v->left_out;
		return;
	}
	struct series *s = series_of(a->t, a->f, v->by);
	if (s->buckets)
		a->f->n_evicted += v->without_values;
	if (__builtin_add_overflow(s->sum, MAX(v->sum, 0), &s->sum))
		s->sum = INT64_MAX;
	if (s->buckets && hist_count(v->values))
		hist_foreach(v->values, add_bucket, s);
	if (s->exemplars && v->slowest && hist_count(v->values))
		note_exemplar(s, v->slowest, v->values);
}

uint64_t totals_left_out(struct totals *t)
{
	uint64_t n = 0;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&t->lock);
	for (guint i = 0; i < t->n; i++)
		n += t->families[i].n_evicted;
	return n;
}

static bool is_by_cause(const struct metric_query *q)
{
	return metric_query_has(q, METRIC_BY_cause);
}

/* The seconds [*ret_first, end) that begin in the range and are not counted. */
static bool find_seconds(const struct timeline *tl, int64_t counted_to_ns, int64_t from_ns, int64_t to_ns,
			 size_t *ret_first, size_t *end)
{
	size_t first = send_first_second(tl, MAX(counted_to_ns, from_ns), *end);
	while (*end > first && timeline_outline(tl, *end - 1)->begin_ns >= to_ns)
		--*end;
	*ret_first = first;
	return first < *end;
}

void totals_update(struct totals *t, const struct timeline *tl, size_t end, int64_t from_ns, int64_t to_ns, bool ended)
{
	size_t first, last = end;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&t->lock);
	for (guint i = 0; i < t->n; i++) {
		struct family *f = &t->families[i];
		struct adding a = { t, f };
		last = end;
		if ((is_by_cause(&f->m->query) && !t->live && !ended) ||
		    !find_seconds(tl, f->counted_to_ns, from_ns, to_ns, &first, &last))
			continue;
		metric_each_second(tl, &f->m->query, first, last, visit, &a);
		f->counted_to_ns = timeline_outline(tl, last - 1)->end_ns;
		forget_text(t);
	}
	last = end;
	if (find_seconds(tl, t->counted_to_ns, from_ns, to_ns, &first, &last)) {
		t->n_seconds += last - first;
		t->counted_to_ns = timeline_outline(tl, last - 1)->end_ns;
		forget_text(t);
	}
}
