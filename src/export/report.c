/* SPDX-License-Identifier: GPL-2.0-only */
/* The report about the worst requests: see report.h. */
#include "export/report.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "export/bars.h"
#include "export/markdown.h"
#include "export/report_tables.h"
#include "views/bookmarks.h"
#include "views/overview.h"

#include <string.h>

struct page {
	GString *out;
	const struct timeline *tl;
	const struct report_options *options;
};

static void put_property(struct page *p, const char *what, const char *markdown)
{
	markdown_cell(p->out, what);
	markdown_cell(p->out, markdown);
	markdown_row_end(p->out);
}

/* --- the head --- */

/* Time zone of the instants on the page: "UTC", "CET". */
static char *zone_name(const struct page *p, int64_t at)
{
	if (p->options->utc)
		return g_strdup("UTC");
	g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(at / NS_PER_S);
	return g_strdup(t ? g_date_time_get_timezone_abbreviation(t) : "local time");
}

static void put_time(struct page *p)
{
	const struct report_options *o = p->options;
	char from[TIMEFMT_LEN], day[TIMEFMT_LEN], to[TIMEFMT_LEN], length[TIMEFMT_LEN];
	g_autofree char *zone = zone_name(p, o->from_ns);
	g_autofree char *text = NULL;

	/* Only the day of the date: the clock time has milliseconds. */
	timefmt_date(day, o->from_ns);
	day[strcspn(day, " ")] = '\0';
	text = g_strdup_printf("%s %s to %s %s (%s)", day, timefmt_clock_ms(from, o->from_ns),
			       timefmt_clock_ms(to, o->to_ns), zone,
			       timefmt_duration(length, o->to_ns - o->from_ns));
	put_property(p, "Time", text);
}

static void put_hosts(struct page *p)
{
	g_autoptr(GString) hosts = g_string_new(NULL);
	for (uint32_t i = 0; i < timeline_n_hosts(p->tl); i++) {
		const struct host_info *host = timeline_host(p->tl, i);
		g_autofree char *name = markdown_code(host->name);
		g_string_append_printf(hosts, "%s%s", i ? ", " : "", name);
	}
	put_property(p, timeline_n_hosts(p->tl) > 1 ? "Hosts" : "Host", hosts->len ? hosts->str : "-");
}

static void put_completeness(struct page *p, const struct completeness *t)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (!t->lost_events && !t->lost_packets && t->touched)
		g_string_append(text, "**events are missing here, their number is unknown**: they cannot be "
				"read, or the tracer lost them");
	else if (t->lost_events || t->lost_packets)
		g_string_append_printf(text, "**the tracer lost %" G_GUINT64_FORMAT " events and %"
				       G_GUINT64_FORMAT " packets here**: their content is not on "
				       "this page", t->lost_events, t->lost_packets);
	else
		g_string_append(text, "nothing was lost");
	if (t->provisional)
		g_string_append_printf(text, "; %" G_GUINT64_FORMAT " facts are provisional: their beginning "
				       "or end is not in the trace", t->provisional);
	put_property(p, "Completeness", text->str);
	if (p->options->warning) {
		g_autofree char *warning = markdown_text(p->options->warning);
		put_property(p, "Left out", warning);
	}
}

static void put_machine(struct page *p)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = p->options->from_ns;
	q.to_ns = p->options->to_ns;
	struct rows *rows = view_overview.build(p->tl, &q);
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
		g_autofree char *device = markdown_code(v->device);
		g_string_append_printf(text, "%s %.0f %% busy, ", device, v->device_ratio * 100);
	}
	g_string_append_printf(text, "%" G_GUINT64_FORMAT " events", v->events);
	put_property(p, "Machine", text->str);
	rows_free(rows);
}

static void put_head(struct page *p, const struct rows *traces)
{
	g_autofree char *label = markdown_code(p->options->label);
	g_autofree char *requests = g_strdup_printf("%u ended in this time or are open",
						    traces->rows->len);
	g_string_append_printf(p->out, "# Slow requests in %s\n\n", label);
	markdown_head(p->out, "|");
	put_property(p, "Trace", label);
	put_hosts(p);
	put_time(p);
	put_property(p, "Requests", requests);
	put_machine(p);
	put_completeness(p, &traces->completeness);
	if (p->options->reader) {
		g_autofree char *reader = markdown_text(p->options->reader);
		put_property(p, "Read by", reader);
	}
	put_property(p, "Made by", "blktop " BLKTOP_VERSION);
}

/* The bookmarks of the range, with their notes. */
static void put_bookmarks(struct page *p)
{
	const struct report_options *o = p->options;
	bool headed = false;

	for (guint i = 0; o->bookmarks && i < o->bookmarks->len; i++) {
		const struct bookmark *b = o->bookmarks->pdata[i];
		char clock[TIMEFMT_LEN];
		g_autofree char *where = bookmark_where(b), *note = markdown_text(b->note ? b->note : "");
		g_autofree char *code = *where ? markdown_code(where) : g_strdup("");

		if (b->at_ns + b->step_ns <= o->from_ns || b->at_ns >= o->to_ns)
			continue;
		g_string_append_printf(p->out, "%s- **%s** %s%s%s%s%s\n", headed ? "" : "\n## Bookmarks\n\n",
				       timefmt_clock_ms(clock, b->at_ns), b->view->title, *code ? " " : "", code,
				       *note ? ": " : "", note);
		headed = true;
	}
}

static void put_summary(struct page *p, const struct view *v, const struct rows *traces)
{
	static const char *const columns[] = {
		"trace_id", "service", "name", "begin_ns", "duration_ns", "x_usual_ratio", "errors",
		"state", "why", NULL
	};
	g_string_append(p->out, "\n## The worst\n\n");
	markdown_rows(p->out, v, traces, columns, p->options->worst, "requests");
}

/* --- one request --- */

static void put_explanation(struct page *p, const struct waterfall *w)
{
	g_autofree char *why = markdown_text(w->why ? w->why : "no single cause stands out");
	g_string_append_printf(p->out, "> **Why:** %s\n\n", why);
}

static void put_request_properties(struct page *p, const struct waterfall *w)
{
	char clock[TIMEFMT_LEN], usual[TIMEFMT_LEN];
	g_string_append_printf(p->out, "Trace `%016" G_GINT64_MODIFIER "x`, begun at %s, %u span%s of "
			       "%u service%s in %u process%s", w->trace_id,
			       timefmt_clock_ns(clock, w->begin_ns),
			       w->n_spans, w->n_spans == 1 ? "" : "s",
			       w->n_services, w->n_services == 1 ? "" : "s",
			       w->n_processes, w->n_processes == 1 ? "" : "es");
	if (w->x_usual >= 0)
		g_string_append_printf(p->out, "; %.1f times the usual %s", w->x_usual,
				       timefmt_duration(usual, w->usual_ns));
	if (w->errors)
		g_string_append_printf(p->out, "; **%u error%s**", w->errors,
				       w->errors == 1 ? "" : "s");
	if (w->open)
		g_string_append(p->out, "; **still open** when the trace ended");
	g_string_append(p->out, ".\n\n");
}

static void put_request(struct page *p, unsigned n, uint64_t trace_id)
{
	struct view_query q = VIEW_QUERY_INIT;
	query_set_trace(&q, trace_id);
	struct rows *rows = view_waterfall.build(p->tl, &q);
	const struct waterfall *w = waterfall_of(rows);
	g_assert(w->root);			/* the trace is in the timeline */
	char buf[TIMEFMT_LEN];
	g_autoptr(GString) bars = g_string_new(NULL);
	g_autofree char *name = markdown_code(w->root->name);

	g_string_append_printf(p->out, "\n## %u. %s: %s\n\n", n, name,
			       timefmt_duration(buf, span_duration(w->root)));
	put_request_properties(p, w);
	put_explanation(p, w);
	bars_append(bars, rows, p->options->utf8);
	markdown_block(p->out, bars->str);
	report_path(p->out, rows);
	report_phases(p->out, p->tl, trace_id);
	report_calls(p->out, rows);
	report_waits(p->out, rows);
	rows_free(rows);
}

/* Rows of the view traces are identified by the trace id of the root. */
static void put_requests(struct page *p, const struct rows *traces)
{
	guint n = MIN(traces->rows->len, p->options->worst);
	for (guint i = 0; i < n; i++)
		put_request(p, i + 1, ((const struct row *)traces->rows->pdata[i])->drill.trace_id);
}

char *report_markdown(const struct timeline *tl, const struct report_options *options,
		      unsigned *ret_n)
{
	struct page p = { .out = g_string_new(NULL), .tl = tl, .options = options };
	const struct view *v = view_find("traces");
	struct view_query q = VIEW_QUERY_INIT;
	bool sorted = options->sort >= 0;

	q.from_ns = options->from_ns;
	q.to_ns = options->to_ns;
	struct rows *traces = v->build(tl, &q);
	rows_filter(traces, v, options->filter);
	rows_sort(traces, v, sorted ? options->sort : view_column(v, "duration_ns"),
		  sorted ? options->descending : true);
	*ret_n = MIN(traces->rows->len, options->worst);
	put_head(&p, traces);
	put_bookmarks(&p);
	if (*ret_n) {
		put_summary(&p, v, traces);
		put_requests(&p, traces);
	}
	rows_free(traces);
	return g_string_free(p.out, FALSE);
}
