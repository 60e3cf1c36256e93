/* SPDX-License-Identifier: GPL-2.0-only */
/* Totals as text: see totals_text.h. */
#include "send/totals_text.h"

#include "send/labels.h"
#include "send/totals_private.h"

#include "base/sort.h"
#include "base/timefmt.h"

#include <string.h>

struct writer {
	GString *s;
	bool openmetrics;
};

static const char *unit_of(const struct metric *m)
{
	return m->unit == VALUE_NS ? "_seconds" : m->unit == VALUE_BYTES ? "_bytes" : "";
}

/* Exact. */
static void append_seconds(GString *s, int64_t ns)
{
	g_string_append_printf(s, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT, ns / NS_PER_S, ns % NS_PER_S);
}

static void append_figure(GString *s, const struct metric *m, int64_t n)
{
	if (m->unit == VALUE_NS)
		append_seconds(s, n);
	else
		g_string_append_printf(s, "%" G_GINT64_FORMAT, n);
}

/* `family`: without _total. */
static void begin_family(struct writer *w, const char *family, const char *type, const char *unit, const char *help)
{
	bool is_counter = g_str_equal(type, "counter") && !w->openmetrics;
	const char *total = is_counter ? "_total" : "";
	g_string_append_printf(w->s, "# HELP %s%s ", family, total);
	labels_append_escaped(w->s, help);
	g_string_append_printf(w->s, "\n# TYPE %s%s %s\n", family, total, type);
	if (w->openmetrics && unit && *unit)
		g_string_append_printf(w->s, "# UNIT %s %s\n", family, unit + 1);
}

static void append_name(struct writer *w, const char *family, const char *suffix, const char *labels)
{
	g_string_append_printf(w->s, *labels ? "%s%s{%s} " : "%s%s%s ", family, suffix, labels);
}

static void append_exemplar(struct writer *w, const struct exemplar *e)
{
	if (!w->openmetrics || !e->trace_id)
		return;
	g_string_append_printf(w->s, " # {trace_id=\"%016" G_GINT64_MODIFIER "x\",span_id=\"%016" G_GINT64_MODIFIER
			       "x\"} ", e->trace_id, e->span_id);
	append_seconds(w->s, e->ns);
	g_string_append_c(w->s, ' ');
	append_seconds(w->s, e->end_ns);
}

static void write_distribution(struct writer *w, const char *family, const struct metric *m, const char *labels,
			       const struct series *x)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < TOTALS_BUCKETS; i++) {
		n += x->buckets[i];
		g_string_append_printf(w->s, "%s_bucket{%s%sle=\"", family, labels, *labels ? "," : "");
		if (i == TOTALS_BUCKETS - 1)
			g_string_append(w->s, "+Inf");
		else
			append_figure(w->s, m, (INT64_C(1) << (TOTALS_FIRST_BITS + i)) - 1);
		g_string_append_printf(w->s, "\"} %" G_GUINT64_FORMAT, n);
		if (x->exemplars)
			append_exemplar(w, &x->exemplars[i]);
		g_string_append_c(w->s, '\n');
	}
	append_name(w, family, "_sum", labels);
	append_figure(w->s, m, x->sum);
	g_string_append_c(w->s, '\n');
	append_name(w, family, "_count", labels);
	g_string_append_printf(w->s, "%" G_GUINT64_FORMAT "\n", n);
}

static void write_family(struct writer *w, const struct family *f)
{
	const struct metric *m = f->m->query.metric;
	bool has_unit = g_str_has_suffix(f->m->name, unit_of(m));
	g_autofree char *family = g_strconcat("blktop_", f->m->name, has_unit ? "" : unit_of(m), NULL);
	guint n;
	g_autofree const char **labels = (const char **)g_hash_table_get_keys_as_array(f->series, &n);
	if (!n)
		return;
	qsort(labels, n, sizeof *labels, order_texts);
	begin_family(w, family, send_metric_has_distribution(f->m) ? "histogram" : "counter", unit_of(m), m->help);
	for (guint i = 0; i < n; i++) {
		const struct series *x = g_hash_table_lookup(f->series, labels[i]);
		if (x->buckets) {
			write_distribution(w, family, m, labels[i], x);
			continue;
		}
		append_name(w, family, "_total", labels[i]);
		append_figure(w->s, m, x->sum);
		g_string_append_c(w->s, '\n');
	}
}

static void write_count(struct writer *w, const char *family, const char *help, uint64_t n)
{
	begin_family(w, family, "counter", NULL, help);
	g_string_append_printf(w->s, "%s_total %" G_GUINT64_FORMAT "\n", family, n);
}

/* Metrics of spans that may be too small. */
static void write_evicted(struct writer *w, const struct totals *t)
{
	begin_family(w, "blktop_dropped_spans", "counter", NULL,
		     "spans that were dropped to save memory (--memory) and are missing in the metric");
	for (guint i = 0; i < t->n; i++) {
		const struct family *f = &t->families[i];
		if (metric_is_of_spans(f->m->query.metric))
			g_string_append_printf(w->s, "blktop_dropped_spans_total{metric=\"%s\"} %" G_GUINT64_FORMAT
					       "\n", f->m->name, f->n_evicted);
	}
}

/* What blktop says of itself. */
static void write_own(struct writer *w, const struct totals *t)
{
	begin_family(w, "blktop_build_info", "gauge", NULL, "the version of blktop");
	g_string_append(w->s, "blktop_build_info{version=\"" BLKTOP_VERSION "\"} 1\n");
	begin_family(w, "blktop_counted_seconds", "counter", "_seconds", "steps of the trace that are counted here");
	g_string_append_printf(w->s, "blktop_counted_seconds_total %" G_GUINT64_FORMAT "\n", t->n_seconds);
	if (t->n_seconds) {
		begin_family(w, "blktop_counted_until_timestamp_seconds", "gauge", "_seconds",
			     "end of the newest of them, since the epoch");
		g_string_append(w->s, "blktop_counted_until_timestamp_seconds ");
		append_seconds(w->s, t->counted_to_ns);
		g_string_append_c(w->s, '\n');
	}
	begin_family(w, "blktop_values_left_out", "counter", NULL,
		     "values of a second that are summed as (other), since their metric has too many");
	for (guint i = 0; i < t->n; i++)
		g_string_append_printf(w->s, "blktop_values_left_out_total{metric=\"%s\"} %" G_GUINT64_FORMAT "\n",
				       t->families[i].m->name, t->families[i].n_left_out);
	write_evicted(w, t);
}

static void write_spans(struct writer *w, const struct totals *t)
{
	write_count(w, "blktop_forward_chosen_spans", "spans that were chosen for --forward", t->spans.chosen);
	write_count(w, "blktop_forward_sent_spans", "of them, spans that the server took", t->spans.sent);
	write_count(w, "blktop_forward_dropped_spans", "of them, spans that will not be sent", t->spans.dropped);
}

static GBytes *write_text(const struct totals *t, bool openmetrics)
{
	struct writer w = { g_string_new(NULL), openmetrics };
	for (guint i = 0; i < t->n; i++)
		write_family(&w, &t->families[i]);
	write_own(&w, t);
	if (t->spans.are_forwarded)
		write_spans(&w, t);
	if (openmetrics)
		g_string_append(w.s, "# EOF\n");
	return g_string_free_to_bytes(w.s);
}

GBytes *totals_text(struct totals *t, bool openmetrics)
{
	enum totals_format format = openmetrics ? TOTALS_OPENMETRICS : TOTALS_TEXT;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&t->lock);
	if (!t->text[format])
		t->text[format] = write_text(t, openmetrics);
	GBytes *text = g_bytes_ref(t->text[format]);
	return text;
}

const char *totals_text_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
		"text/plain; version=0.0.4; charset=utf-8";
}
