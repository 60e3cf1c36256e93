/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says about the trace: see report_head.h. */
#include "export/report_head.h"

#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/bookmarks.h"
#include "views/overview.h"

#include <string.h>

struct report_head {
	const struct timeline *tl;
	const struct report_options *options;
	const struct report_markup *markup;
	report_property visit;
	void *data;
};

/* Time zone of the instants on the page: "UTC", "CET". */
static char *zone_name(const struct report_head *h, int64_t at)
{
	if (h->options->utc)
		return g_strdup("UTC");
	g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(at / NS_PER_S);
	return g_strdup(t ? g_date_time_get_timezone_abbreviation(t) : "local time");
}

static void put_time(const struct report_head *h)
{
	const struct report_options *o = h->options;
	char from[TIMEFMT_LEN], day[TIMEFMT_LEN], to[TIMEFMT_LEN], length[TIMEFMT_LEN], traced[TIMEFMT_LEN];
	int64_t part = range_recorded_part(h->tl, o->from_ns, o->to_ns);
	g_autofree char *zone = zone_name(h, o->from_ns);
	g_autofree char *text = NULL;

	/* Only the day of the date: the clock time has milliseconds. */
	timefmt_date(day, o->from_ns);
	day[strcspn(day, " ")] = '\0';
	text = g_strdup_printf("%s %s to %s %s (%s%s%s)", day, timefmt_clock_ms(from, o->from_ns),
			       timefmt_clock_ms(to, o->to_ns), zone,
			       timefmt_duration(length, o->to_ns - o->from_ns),
			       part ? ", traced for " : "", part ? timefmt_duration(traced, part) : "");
	h->visit(h->data, "Time", text);
}

static void put_hosts(const struct report_head *h)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autoptr(GString) hosts = g_string_new(NULL);
	for (uint32_t i = 0; i < timeline_n_hosts(h->tl); i++)
		g_ptr_array_add(names, timeline_host(h->tl, i)->name);
	g_ptr_array_sort(names, order_texts);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *name = h->markup->code(g_ptr_array_index(names, i));
		g_string_append_printf(hosts, "%s%s", i ? ", " : "", name);
	}
	h->visit(h->data, names->len > 1 ? "Hosts" : "Host", hosts->len ? hosts->str : "-");
}

static void put_completeness(const struct report_head *h, const struct completeness *t)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (!t->lost_events && !t->lost_packets && t->touched)
		g_string_append_printf(text, "%sevents are missing here, their number is unknown%s: they cannot be "
				       "read, or the tracer lost them", h->markup->strong, h->markup->strong_end);
	else if (t->lost_events || t->lost_packets)
		g_string_append_printf(text, "%sthe tracer lost %" G_GUINT64_FORMAT " events and %"
				       G_GUINT64_FORMAT " packets here%s: their content is not on this page",
				       h->markup->strong, t->lost_events, t->lost_packets, h->markup->strong_end);
	else
		g_string_append(text, "nothing was lost");
	if (t->provisional)
		g_string_append_printf(text, "; %" G_GUINT64_FORMAT " calls and disk requests are seen "
				       "in part: their beginning or end is not recorded", t->provisional);
	h->visit(h->data, "Completeness", text->str);
	if (h->options->warning) {
		g_autofree char *warning = h->markup->text(h->options->warning);
		h->visit(h->data, "Left out", warning);
	}
}

static void put_machine(const struct report_head *h)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = h->options->from_ns;
	q.to_ns = h->options->to_ns;
	struct rows *rows = view_overview.build(h->tl, &q);
	const struct overview *v = overview_of(rows);
	g_autoptr(GString) text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];

	if (v->cpu_ratio >= 0)
		g_string_append_printf(text, "%u CPUs %.0f %% busy, ", v->n_cpus,
				       v->cpu_ratio * 100);
	if (v->runq_p99_ns >= 0)
		g_string_append_printf(text, "p99 from wakeup to CPU %s, ",
				       timefmt_duration(buf, v->runq_p99_ns));
	if (v->device && v->device_ratio >= 0) {
		g_autofree char *device = h->markup->code(v->device);
		g_string_append_printf(text, "%s %.0f %% busy, ", device, v->device_ratio * 100);
	}
	g_string_append_printf(text, "%" G_GUINT64_FORMAT " events", v->events);
	h->visit(h->data, "Machine", text->str);
	rows_free(rows);
}

void report_head(const struct timeline *tl, const struct report_options *options, const struct report_markup *markup,
		 const struct completeness *completeness, guint n, report_property visit, void *data)
{
	struct report_head h = { tl, options, markup, visit, data };
	g_autofree char *label = markup->code(options->label);
	g_autofree char *requests = g_strdup_printf("%u ended in this time or are open", n);
	visit(data, "Trace", label);
	put_hosts(&h);
	put_time(&h);
	visit(data, "Requests", requests);
	put_machine(&h);
	put_completeness(&h, completeness);
	if (options->reader) {
		g_autofree char *reader = markup->text(options->reader);
		visit(data, "Read by", reader);
	}
	visit(data, "Made by", "blktop " BLKTOP_VERSION);
}

guint report_bookmarks(const struct report_options *o, const struct report_markup *markup, report_bookmark visit,
		       void *data)
{
	guint n = 0;

	for (guint i = 0; o->bookmarks && i < o->bookmarks->len; i++) {
		const struct bookmark *b = o->bookmarks->pdata[i];
		char clock[TIMEFMT_LEN];
		g_autofree char *where = bookmark_where(b), *note = markup->text(b->note ? b->note : "");
		g_autofree char *code = *where ? markup->code(where) : g_strdup("");

		if (b->at_ns + b->step_ns <= o->from_ns || b->at_ns >= o->to_ns)
			continue;
		visit(data, timefmt_clock_ms(clock, b->at_ns), b->view->title, code, note);
		n++;
	}
	return n;
}

char *report_request(const struct waterfall *w, const struct report_markup *markup, bool stress)
{
	const char *strong = stress ? markup->strong : "", *end = stress ? markup->strong_end : "";
	char clock[TIMEFMT_LEN], usual[TIMEFMT_LEN];
	g_autofree char *id = text_id(w->trace_id), *code = markup->code(id), *missing = waterfall_missing(w);
	GString *s = g_string_new(NULL);

	g_string_printf(s, "Trace %s, begun at %s, %u span%s of %u service%s in %u process%s", code,
			timefmt_clock_ns(clock, w->begin_ns), w->n_spans, w->n_spans == 1 ? "" : "s",
			w->n_services, w->n_services == 1 ? "" : "s", w->n_processes, w->n_processes == 1 ? "" : "es");
	if (w->x_usual >= 0)
		g_string_append_printf(s, "; %.1f times the usual %s", w->x_usual,
				       timefmt_duration(usual, w->usual_ns));
	if (w->errors)
		g_string_append_printf(s, "; %s%u error%s%s", strong, w->errors, w->errors == 1 ? "" : "s", end);
	if (missing)
		g_string_append_printf(s, "; %s%s%s", strong, missing, end);
	if (w->open)
		g_string_append_printf(s, "; %sstill open%s when the trace ended", strong, end);
	g_string_append_c(s, '.');
	return g_string_free(s, FALSE);
}

struct rows *report_traces(const struct timeline *tl, const struct report_options *options)
{
	const struct view *v = view_find("traces");
	struct view_query q = VIEW_QUERY_INIT;
	bool sorted = options->sort >= 0;

	q.from_ns = options->from_ns;
	q.to_ns = options->to_ns;
	struct rows *rows = v->build(tl, &q);
	rows_filter(rows, v, options->filter);
	rows_sort(rows, v, sorted ? options->sort : view_column(v, "duration_ns"),
		  sorted ? options->descending : true);
	return rows;
}
