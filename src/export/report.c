/* SPDX-License-Identifier: GPL-2.0-only */
/* The report about the worst requests: see report.h. */
#include "export/report.h"

#include "base/text.h"
#include "base/timefmt.h"
#include "export/bars.h"
#include "export/markdown.h"
#include "export/report_head.h"
#include "export/report_range.h"
#include "export/report_tables.h"
#include "views/waterfall.h"

#include <string.h>

struct markdown_report {
	GString *out;
	const struct timeline *tl;
	const struct report_options *options;
};

static void put_property(void *data, const char *what, const char *markdown)
{
	struct markdown_report *p = data;
	markdown_cell(p->out, what);
	markdown_cell(p->out, markdown);
	markdown_row_end(p->out);
}

static const struct report_markup markup = { markdown_code, markdown_text, "**", "**" };

static void put_head(struct markdown_report *p, const struct rows *traces)
{
	g_autofree char *label = markdown_code(p->options->label);
	g_string_append_printf(p->out, "# %s %s\n\n", traces->rows->len ? "Slow requests in" : "Report of", label);
	markdown_head(p->out, "|");
	report_head(p->tl, p->options, &markup, &traces->completeness, traces->rows->len, put_property, p);
}

static void put_bookmark(void *data, const char *clock, const char *view, const char *where, const char *note)
{
	g_string_append_printf(data, "- **%s** %s%s%s%s%s\n", clock, view, *where ? " " : "", where, *note ? ": " : "",
			       note);
}

static void put_bookmarks(struct markdown_report *p)
{
	g_autoptr(GString) list = g_string_new(NULL);
	if (report_bookmarks(p->options, &markup, put_bookmark, list))
		g_string_append_printf(p->out, "\n## Bookmarks\n\n%s", list->str);
}

static void put_summary(struct markdown_report *p, const struct rows *traces)
{
	static const char *const columns[] = {
		"trace_id", "service", "name", "begin_ns", "duration_ns", "x_usual_ratio", "errors",
		"state", "why", NULL
	};
	g_string_append(p->out, "\n## The worst\n\n");
	markdown_rows(p->out, view_find("traces"), traces, columns, p->options->worst, "requests");
}

/* --- one request --- */

static void put_explanation(struct markdown_report *p, const struct waterfall *w)
{
	g_autofree char *why = markdown_text(w->why ? w->why : "no single cause stands out");
	g_string_append_printf(p->out, "> **Why:** %s\n\n", why);
}

static void put_request_properties(struct markdown_report *p, const struct waterfall *w)
{
	g_autofree char *text = report_request(w, &markup, true);
	g_string_append_printf(p->out, "%s\n\n", text);
}

static void put_request(struct markdown_report *p, unsigned n, uint64_t trace_id)
{
	struct view_query q = VIEW_QUERY_INIT;
	query_set_trace(&q, trace_id);
	struct rows *rows = view_waterfall.build(p->tl, &q);
	const struct waterfall *w = waterfall_of(rows);
	g_assert(w->root);			/* the trace is in the timeline */
	char buf[TIMEFMT_LEN];
	g_autoptr(GString) bars = g_string_new(NULL);
	g_autofree char *name = markdown_code(w->root->name);

	g_string_append_printf(p->out, "\n## %u. %s: %s%s\n\n", n, name, w->has_root ? "" : ">",
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
static void put_requests(struct markdown_report *p, const struct rows *traces)
{
	guint n = MIN(traces->rows->len, p->options->worst);
	for (guint i = 0; i < n; i++)
		put_request(p, i + 1, ((const struct row *)traces->rows->pdata[i])->drill.trace_id);
}

/* --- a range without requests --- */

static void put_table(void *data, const struct report_table *t, const struct view *v, const struct rows *rows)
{
	if (!rows->rows->len)
		return;
	g_string_append_printf(data, "\n## %s\n\n", t->title);
	markdown_rows(data, v, rows, t->columns, t->max, t->rows);
}

static void put_question(void *data, const char *question, const char *answer, const char *missing)
{
	g_autofree char *text = markdown_text(question), *words = markdown_text(missing);

	markdown_cell(data, text);
	markdown_cell(data, answer);
	markdown_cell(data, words);
	markdown_row_end(data);
}

static void put_range(struct markdown_report *p)
{
	report_machine(p->tl, p->options, put_table, p->out);
	g_string_append(p->out, "\n## What this trace can tell\n\n");
	markdown_head(p->out, "Question|Answer|Not recorded");
	report_questions(p->tl, put_question, p->out);
	g_string_append(p->out, "\nblktop --doctor prints the commands that record what is missing.\n");
}

char *report_markdown(const struct timeline *tl, const struct report_options *options,
		      unsigned *ret_n)
{
	struct markdown_report p = { .out = g_string_new(NULL), .tl = tl, .options = options };
	struct rows *traces = report_traces(tl, options);

	*ret_n = MIN(traces->rows->len, options->worst);
	put_head(&p, traces);
	put_bookmarks(&p);
	if (*ret_n) {
		put_summary(&p, traces);
		put_requests(&p, traces);
	} else {
		put_range(&p);
	}
	rows_free(traces);
	return g_string_free(p.out, FALSE);
}
