/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The p99 strip. An outlier is slow (history.h), and its excess over the usual is at least a tenth of the worst one. So
 * no threshold has to be configured.
 */
#include "views/strip.h"

#include "base/each.h"
#include "views/common.h"

#define WORTH 10		/* and at least 1/10 of the worst excess */

static void add_points(struct strip *strip, const struct timeline *tl)
{
	int64_t end = INT64_MIN;
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_outline(tl, i);
		struct strip_point gap = { .begin_ns = end, .end_ns = s->begin_ns, .p99_ns = -1,
					   .gap = true };
		struct strip_point point = { .begin_ns = s->begin_ns, .end_ns = s->end_ns,
			.p99_ns = -1, .folded = s->fold_ns > 0, .open = !s->version,
			.corrected = s->completeness.corrected,
			.lost = s->completeness.touched || s->completeness.lost_events ||
				s->completeness.lost_packets };
		graph_unknown(gap.figure);
		graph_of_second(s, point.figure);
		if (i > 0 && s->begin_ns > end)
			g_array_append_val(strip->points, gap);
		g_array_append_val(strip->points, point);
		end = s->end_ns;
	}
}

static struct strip_point *point(const struct strip *strip, guint i)
{
	return &g_array_index(strip->points, struct strip_point, i);
}

static struct strip_point *point_at(const struct strip *strip, int64_t at)
{
	guint n = strip->points->len;
	if (!n)
		return NULL;
	/* A span that ends with the very last event belongs to the last second. */
	struct strip_point *p = point(strip, (guint)FIRST_INDEX(i, n - 1, point(strip, (guint)i)->end_ns > at));
	return p->begin_ns <= at ? p : NULL;
}

static void add_root(struct strip *strip, const struct history *h, const struct span *s,
		     struct hist *all)
{
	struct strip_point *p = point_at(strip, s->end_ns);
	if (!p)
		return;
	hist_add(&p->hist, span_duration(s));
	hist_add(all, span_duration(s));
	int64_t usual = history_usual(h, s);
	int64_t excess = span_duration(s) - usual;
	if (!usual_is_slow(usual, span_duration(s)))
		return;
	bool tie = excess == p->excess_ns && p->worst && s->begin_ns < p->worst->begin_ns;
	if (excess > p->excess_ns || tie) {
		p->excess_ns = excess;
		p->worst = s;
		p->worst_name = s->name;
	}
}

/* Notes the slowest span of a sum of evicted spans; only its operation is known. */
static void note_excess(struct strip_point *p, const struct history *h, const struct span_sum *s)
{
	struct span like = { .service = s->key.service, .name = s->key.name, .kind = s->key.kind };
	int64_t usual = history_usual(h, &like), excess = hist_max(&s->duration) - usual;
	if (!usual_is_slow(usual, hist_max(&s->duration)) || excess <= p->excess_ns)
		return;
	p->excess_ns = excess;
	p->worst = NULL;
	p->worst_name = s->key.name;
}

/* Adds evicted roots. The interval of a sum may be wider than a point. Then it is added to all points that it
 * overlaps. */
static void add_sum(struct strip *strip, const struct history *h, const struct span_sum *s)
{
	guint n = strip->points->len;
	struct strip_point *at = point_at(strip, s->begin_ns);
	bool within = at && s->end_ns <= at->end_ns && !s->key.others;
	if (within) {
		hist_merge(&at->hist, &s->duration);
		note_excess(at, h, s);
		return;
	}
	for (guint i = at ? (guint)(at - point(strip, 0)) : 0;
	     i < n && point(strip, i)->begin_ns < s->end_ns; i++) {
		if (point(strip, i)->gap)
			continue;
		hist_merge(&point(strip, i)->hist, &s->duration);
		point(strip, i)->folded = true;
	}
}

static void add_evicted(struct strip *strip, const struct history *h, struct hist *all)
{
	int64_t retained_from = timeline_retained_from(h->tl);
	TIMELINE_EACH_SUM(h->tl, at, INT64_MIN, INT64_MAX) {
		const struct span_sum *s = at.sum;
		if (s->key.of != SUM_TRACE || !(s->key.top || s->key.others) ||
		    s->key.partial || s->end_ns <= retained_from)
			continue;
		hist_merge(all, &s->duration);
		add_sum(strip, h, s);
	}
}

static void finish_points(struct strip *strip)
{
	int64_t worst = 0;
	for (guint i = 0; i < strip->points->len; i++) {
		struct strip_point *p = point(strip, i);
		p->count = hist_count(&p->hist);
		p->p99_ns = hist_quantile(&p->hist, 0.99);
		p->figure[GRAPH_REQUESTS] = (double)p->p99_ns;
		strip->max_ns = MAX(strip->max_ns, p->p99_ns);
		hist_clear(&p->hist);
		if (p->excess_ns > worst) {
			worst = p->excess_ns;
			strip->worst = i;
		}
	}
	for (guint i = 0; i < strip->points->len; i++) {
		struct strip_point *p = point(strip, i);
		p->outlier = p->excess_ns > 0 && p->excess_ns >= worst / WORTH;
	}
}

struct strip *strip_new(const struct history *h)
{
	struct strip *strip = g_new0(struct strip, 1);
	struct hist all = { 0 };
	strip->points = g_array_new(FALSE, FALSE, sizeof(struct strip_point));
	strip->worst = -1;
	strip->max_ns = -1;
	add_points(strip, h->tl);
	for (size_t i = 0; i < timeline_n_traces(h->tl); i++) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		if (span_has_duration(t->root) && t->has_root)
			add_root(strip, h, t->root, &all);
	}
	add_evicted(strip, h, &all);
	finish_points(strip);
	strip->usual_ns = hist_quantile(&all, 0.25);
	hist_clear(&all);
	return strip;
}

void strip_free(struct strip *s)
{
	g_array_unref(s->points);
	g_free(s);
}
