/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as an HTML page: see report.h. It is well-formed XML, has no script, and forbids itself to load anything.
 * Colours follow the reader's light or dark setting; printed it is light.
 */
#include "export/report.h"

#include "base/color.h"
#include "base/timefmt.h"
#include "export/html.h"
#include "export/report_head.h"
#include "export/report_range.h"
#include "export/report_svg.h"
#include "views/heatmap.h"
#include "views/waterfall.h"

#define ROWS 12			/* of a table */

struct html_report {
	GString *out;
	const struct timeline *tl;
	const struct report_options *options;
};

static const char style_rules[] =
	":root{color-scheme:light dark;--text:#1f2328;--dim:#59636e;--back:#fff;--line:#d1d9e0;--soft:#f6f8fa;"
	"--why:#9a6700;--bar:#0969da;--bad:#cf222e}\n"
	"body{margin:0 auto;max-width:75rem;padding:1rem;font:15px/1.45 system-ui,sans-serif;color:var(--text);"
	"background:var(--back);overflow-wrap:anywhere}\n"
	"h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid var(--line)}"
	"h3{font-size:1rem;margin-bottom:.3rem}\n"
	"code{font-family:ui-monospace,monospace;font-size:.93em}\n"
	".legend,.more,.axis{color:var(--dim);font-size:.87rem}.why{color:var(--why);font-weight:600}\n"
	"table{border-collapse:collapse;width:100%;font-size:.87rem;margin:.5rem 0}"
	"th,td{text-align:left;vertical-align:top;padding:.2rem .5rem;border-bottom:1px solid var(--line)}"
	"th{color:var(--dim);font-weight:600}.r{text-align:right;font-variant-numeric:tabular-nums}"
	"td.r{white-space:nowrap}.facts th{width:9rem}\n"
	".axis{display:flex;justify-content:space-between;gap:1rem;margin:.2rem 0}\n"
	"svg{display:block;overflow:hidden}.graph svg{width:100%;height:8rem;background:var(--soft)}"
	".graph svg.heat{height:14rem}.legend svg{display:inline;vertical-align:-1px}\n"
	".g-request,.g-cpu{fill:var(--bar)}.g-cpu{opacity:.7}\n"
	".span{display:grid;grid-template-columns:minmax(0,28%) 5rem minmax(0,1fr);gap:.5rem;align-items:center;"
	"font-size:.87rem}.span:nth-child(odd){background:var(--soft)}.span svg{width:100%;height:1.1rem}"
	".took{text-align:right}.critical .name{font-weight:600}\n"
	"@media(max-width:40rem){thead{display:none}tr,td{display:block}td,td.r{text-align:left;border:0;"
	"padding:.1rem 0;white-space:normal}tr{border-bottom:1px solid var(--line);padding:.4rem 0}"
	"td[data-label]::before{content:attr(data-label) \" \";color:var(--dim)}"
	".facts th{display:block;border:0;padding:0;width:auto}"
	".span{grid-template-columns:minmax(0,1fr) 5rem}.span svg{grid-column:1/3}}\n"
	"@media print{body{max-width:none;padding:0}h2,h3{break-after:avoid}.span,tr,.graph{break-inside:avoid}"
	"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

static const char dark_rules[] =
	":root{--text:#e6edf3;--dim:#9198a1;--back:#0d1117;--line:#3d444d;--soft:#161b22;--why:#d29922;--bar:#58a6ff;"
	"--bad:#f85149}\n";

/* Shades of a heatmap: little to much, as on the screen. */
static void put_heat_styles(GString *out, bool dark)
{
	for (unsigned i = 0; i < HEAT_STEPS; i++)
		g_string_append_printf(out, ".heat-%u{fill:#%06x}", i + 1,
				       gradient_color(GRADIENT_DEPTH, !dark, (double)i / (HEAT_STEPS - 1)));
	g_string_append_c(out, '\n');
}

static void put_begin(struct html_report *p)
{
	g_autofree char *label = html_text(p->options->label);
	g_string_append(p->out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
			"<meta http-equiv=\"Content-Security-Policy\" "
			"content=\"default-src 'none'; style-src 'unsafe-inline'\"/>"
			"<meta name=\"generator\" content=\"blktop " BLKTOP_VERSION "\"/>\n");
	g_string_append_printf(p->out, "<title>blktop: %s</title>\n<style>\n%s", label, style_rules);
	svg_part_styles(p->out, false);
	put_heat_styles(p->out, false);
	g_string_append_printf(p->out, "@media screen and (prefers-color-scheme:dark){%s", dark_rules);
	svg_part_styles(p->out, true);
	put_heat_styles(p->out, true);
	g_string_append_printf(p->out, "}\n</style></head><body>\n<h1>Report of %s</h1>\n", label);
}

static void put_property(void *data, const char *what, const char *html)
{
	g_string_append_printf(data, "<tr><th>%s</th><td>%s</td></tr>\n", what, html);
}

static const struct report_markup markup = { html_code, html_text, "<strong>", "</strong>" };

static void put_head(struct html_report *p, const struct rows *traces)
{
	g_string_append(p->out, "<table class=\"facts\"><tbody>\n");
	report_head(p->tl, p->options, &markup, &traces->completeness, traces->rows->len, put_property, p->out);
	g_string_append(p->out, "</tbody></table>\n");
}

static void put_bookmark(void *data, const char *clock, const char *view, const char *where, const char *note)
{
	g_string_append_printf(data, "<li><strong>%s</strong> %s%s%s%s%s</li>\n", clock, view, *where ? " " : "", where,
			       *note ? ": " : "", note);
}

static void put_bookmarks(struct html_report *p)
{
	g_autoptr(GString) list = g_string_new(NULL);
	if (report_bookmarks(p->options, &markup, put_bookmark, list))
		g_string_append_printf(p->out, "<h2>Bookmarks</h2>\n<ul>\n%s</ul>\n", list->str);
}

static void put_rows(GString *out, const char *heading, const struct report_table *t, const struct view *v,
		     const struct rows *rows)
{
	if (rows->rows->len)
		g_string_append_printf(out, "<%s>%s</%s>\n", heading, t->title, heading);
	html_rows(out, v, rows, t->columns, t->max, t->rows);
}

static void put_range_table(void *data, const struct report_table *t, const struct view *v, const struct rows *rows)
{
	put_rows(data, "h2", t, v, rows);
}

static void put_request_table(void *data, const struct report_table *t, const struct view *v, const struct rows *rows)
{
	put_rows(data, "h3", t, v, rows);
}

/* ---- requests ---- */

static void put_summary(struct html_report *p, const struct rows *traces)
{
	static const char *const columns[] = {
		"trace_id", "service", "name", "begin_ns", "duration_ns", "x_usual_ratio", "errors", "state", "why",
		NULL
	};
	g_string_append(p->out, "<h2>The worst requests</h2>\n");
	html_rows(p->out, view_find("traces"), traces, columns, MAX(p->options->worst, ROWS), "requests");
}

static void put_request_properties(struct html_report *p, const struct waterfall *w)
{
	g_autofree char *text = report_request(w, &markup, false);
	g_string_append_printf(p->out, "<p>%s</p>\n<p class=\"why\">", text);
	html_append(p->out, w->why ? w->why : "no single cause stands out");
	g_string_append(p->out, "</p>\n");
}

static void put_request_tables(struct html_report *p, uint64_t trace_id)
{
	static const char *const path[] = { "at_ns", "duration_ns", "comm", "name", "what", NULL };
	static const char *const phases[] = {
		"name", "service", "kind", "count", "total_ns", "self_ns", "share_ratio", NULL
	};
	static const char *const calls[] = { "comm", "tid", "syscall", "count", "errors", "total_ns", "max_ns", NULL };
	static const struct report_table tables[] = {
		{ "Critical path, its longest pieces", "path", BY_THREAD, "duration_ns", path, ROWS, "pieces" },
		{ "Phases", "phases", BY_SYSTEM, "total_ns", phases, ROWS, "phases" },
		{ "System calls of its spans", "syscalls", BY_THREAD, "total_ns", calls, ROWS, "rows" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		report_rows(p->tl, p->options, &tables[i], &trace_id, put_request_table, p->out);
}

static void put_request(struct html_report *p, guint n, uint64_t trace_id, bool seen[PART_N])
{
	struct view_query q = VIEW_QUERY_INIT;
	char took[TIMEFMT_LEN];
	query_set_trace(&q, trace_id);
	struct rows *rows = view_waterfall.build(p->tl, &q);
	const struct waterfall *w = waterfall_of(rows);
	g_assert(w->root);			/* the trace is in the timeline */
	g_string_append_printf(p->out, "<h2 id=\"request-%u\">%u. ", n, n);
	html_append(p->out, w->root->name);
	g_string_append_printf(p->out, ": %s%s</h2>\n", w->has_root ? "" : "&gt;",
			       timefmt_duration(took, span_duration(w->root)));
	put_request_properties(p, w);
	svg_waterfall(p->out, rows, seen);
	rows_free(rows);
	put_request_tables(p, trace_id);
}

/* Rows of the view traces are identified by the trace id of the root. */
static void put_requests(struct html_report *p, const struct rows *traces, bool seen[PART_N])
{
	guint n = MIN(traces->rows->len, p->options->worst);
	if (!n)
		return;
	put_summary(p, traces);
	for (guint i = 0; i < n; i++)
		put_request(p, i + 1, ((const struct row *)traces->rows->pdata[i])->drill.trace_id, seen);
}

/* ---- what the trace cannot tell ---- */

static void put_question(void *data, const char *question, const char *answer, const char *missing)
{
	g_string_append(data, "<tr><td data-label=\"QUESTION\">");
	html_append(data, question);
	g_string_append_printf(data, "</td><td data-label=\"ANSWER\">%s</td><td data-label=\"NOT RECORDED\">", answer);
	html_append(data, missing);
	g_string_append(data, "</td></tr>\n");
}

static void put_questions(struct html_report *p)
{
	g_string_append(p->out, "<h2>What this trace can tell</h2>\n<table><thead><tr><th>QUESTION</th><th>ANSWER</th>"
			"<th>NOT RECORDED</th></tr></thead><tbody>\n");
	report_questions(p->tl, put_question, p->out);
	g_string_append(p->out, "</tbody></table>\n<p class=\"more\">blktop --doctor prints the commands that record "
			"what is missing.</p>\n");
}

char *report_html(const struct timeline *tl, const struct report_options *options)
{
	struct html_report p = { .out = g_string_new(NULL), .tl = tl, .options = options };
	bool seen[PART_N] = { false };
	struct rows *traces = report_traces(tl, options);

	put_begin(&p);
	put_head(&p, traces);
	put_bookmarks(&p);
	g_string_append(p.out, "<h2>Overview</h2>\n");
	svg_seconds(p.out, tl, options, traces);
	report_causes(tl, options, put_range_table, p.out);
	svg_heatmap(p.out, tl, options);
	svg_flame(p.out, tl, options, seen);
	put_requests(&p, traces, seen);
	g_string_append(p.out, "<h2>Colours of states</h2>\n");
	svg_legend(p.out, seen);
	report_machine(tl, options, put_range_table, p.out);
	put_questions(&p);
	g_string_append(p.out, "</body></html>\n");
	rows_free(traces);
	return g_string_free(p.out, FALSE);
}
