/* SPDX-License-Identifier: GPL-2.0-only */
/* The graphics of the HTML report: see report_svg.h. */
#include "export/report_svg.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "export/bars.h"
#include "export/html.h"
#include "views/flame.h"
#include "views/graph.h"
#include "views/heatmap.h"

#include <string.h>

#define BARS 300		/* of a graph: more seconds are joined */
#define CELLS 300		/* of a bar of a span */
#define HEAT_ROWS 40
#define FRAMES 60		/* of the flame */
#define HEIGHT 100		/* of a graph, in its own units */

/* ---- colours ---- */

#define SHADES 4

/* By enum part_hue; on white and on black. */
static const struct { const char *light[SHADES], *dark[SHADES]; } hues[HUE_N] = {
	[HUE_GREEN] = { { "#2da44e", "#1a7f37", "#0f6b5c", "#7a9a1f" },
			{ "#3fb950", "#7ee787", "#2ea98f", "#b5d35a" } },
	[HUE_YELLOW] = { { "#bf8700", "#e0b030" }, { "#d29922", "#f2cc60" } },
	[HUE_MAGENTA] = { { "#a626a4" }, { "#d670d6" } },
	[HUE_RED] = { { "#cf222e", "#f0706a", "#a40e26" }, { "#f85149", "#ff938a", "#c93c37" } },
	[HUE_BLUE] = { { "#0969da", "#4f5bd5", "#3aa0d8" }, { "#58a6ff", "#8a8fff", "#79c0e8" } },
	[HUE_GREY] = { { "#8c959f" }, { "#8b949e" } },
	[HUE_OUTLINE] = { { "#c8d1da" }, { "#484f58" } },
	[HUE_NONE] = { { "#d8dee4", "#c0c7cf" }, { "#30363d", "#3c444d" } },
};

void svg_part_styles(GString *out, bool dark)
{
	for (enum part p = 0; p < PART_N; p++) {
		enum part_hue hue = part_groups[part_group_of(p)].hue;
		const char *const *shades = dark ? hues[hue].dark : hues[hue].light;
		g_string_append_printf(out, ".p-%s{fill:%s}", part_info[p].id, shades[part_shade(p)]);
	}
	g_string_append_printf(out, ".p-child{fill:%s}\n", dark ? "#21262d" : "#eaeef2");
}

void svg_legend(GString *out, const bool seen[PART_N])
{
	g_string_append(out, "<p class=\"legend\">");
	for (int p = 0; p < PART_N; p++) {
		if (!seen[p])
			continue;
		g_string_append_printf(out, "<span title=\"%s\"><svg width=\"12\" height=\"12\"><rect class=\"p-%s\" "
				       "width=\"12\" height=\"12\"/></svg>\302\240%s</span> ", part_info[p].help,
				       part_info[p].id, part_info[p].id);
	}
	g_string_append(out, "</p>\n");
}

/* ---- graphs of seconds ---- */

struct bars_of_seconds {
	int64_t from_ns, bar_ns;
	unsigned n;
	int64_t slowest_ns[BARS];	/* -1: no request ended */
	double cpu[BARS];		/* share; -1: unknown */
};

static unsigned bar_at(const struct bars_of_seconds *b, int64_t at)
{
	int64_t i = (at - b->from_ns) / b->bar_ns;
	return (unsigned)CLAMP(i, 0, (int64_t)b->n - 1);
}

static void count_seconds(struct bars_of_seconds *b, const struct timeline *tl, const struct report_options *o,
			  const struct rows *traces)
{
	b->from_ns = time_floor(o->from_ns, NS_PER_S);
	int64_t seconds = MAX((o->to_ns - b->from_ns + NS_PER_S - 1) / NS_PER_S, 1);
	b->bar_ns = (seconds + BARS - 1) / BARS * NS_PER_S;
	b->n = (unsigned)CLAMP((o->to_ns - b->from_ns + b->bar_ns - 1) / b->bar_ns, 1, BARS);
	for (unsigned i = 0; i < b->n; i++) {
		b->slowest_ns[i] = -1;
		b->cpu[i] = -1;
	}
	const struct view *v = view_find("traces");
	const struct column *ends = &v->columns[view_column(v, "end_ns")];
	const struct column *durations = &v->columns[view_column(v, "duration_ns")];
	for (guint i = 0; i < traces->rows->len; i++) {
		struct value end = column_value(ends, traces->rows->pdata[i], traces);
		struct value took = column_value(durations, traces->rows->pdata[i], traces);
		unsigned at = bar_at(b, end.i);
		b->slowest_ns[at] = MAX(b->slowest_ns[at], took.i);
	}
	for (size_t i = timeline_find(tl, o->from_ns); i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		double figure[GRAPH_N];
		if (s->begin_ns >= o->to_ns)
			break;
		graph_unknown(figure);
		graph_of_second(s, figure);
		unsigned at = bar_at(b, s->begin_ns);
		b->cpu[at] = MAX(b->cpu[at], figure[GRAPH_CPU]);
	}
}

/* One bar: a share of the height, with a tooltip. */
static void put_bar(GString *out, unsigned i, double share, const char *class, const char *title)
{
	double height = CLAMP(share, 0.01, 1) * HEIGHT;
	char y[G_ASCII_DTOSTR_BUF_SIZE], h[G_ASCII_DTOSTR_BUF_SIZE];
	g_string_append_printf(out, "<rect class=\"%s\" x=\"%u.05\" y=\"%s\" width=\"0.9\" "
			       "height=\"%s\"><title>%s</title></rect>\n", class, i,
			       g_ascii_formatd(y, sizeof y, "%.2f", HEIGHT - height),
			       g_ascii_formatd(h, sizeof h, "%.2f", height), title);
}

static void put_graph_begin(GString *out, const struct bars_of_seconds *b, const char *name, const char *most)
{
	g_string_append_printf(out, "<div class=\"graph\"><p class=\"axis\"><span>%s</span><span>%s</span></p>\n"
			       "<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %u %u\" "
			       "preserveAspectRatio=\"none\">\n",
			       name, most, name, b->n, HEIGHT);
}

static void put_graph_end(GString *out, const struct bars_of_seconds *b, const struct report_options *o)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN], bar[TIMEFMT_LEN];
	g_string_append_printf(out, "</svg>\n<p class=\"axis\"><span>%s</span><span>a bar is %s</span><span>%s</span>"
			       "</p></div>\n", timefmt_clock(from, o->from_ns), timefmt_step(bar, b->bar_ns),
			       timefmt_clock(to, o->to_ns));
}

static char *bar_clock(const struct bars_of_seconds *b, unsigned i, char buf[TIMEFMT_LEN])
{
	return timefmt_clock(buf, b->from_ns + i * b->bar_ns);
}

void svg_seconds(GString *out, const struct timeline *tl, const struct report_options *o, const struct rows *traces)
{
	g_autofree struct bars_of_seconds *b = g_new0(struct bars_of_seconds, 1);
	int64_t most = 0;
	bool cpu = false;
	char buf[TIMEFMT_LEN], clock[TIMEFMT_LEN];
	count_seconds(b, tl, o, traces);
	for (unsigned i = 0; i < b->n; i++) {
		most = MAX(most, b->slowest_ns[i]);
		cpu |= b->cpu[i] >= 0;
	}
	if (most > 0) {
		put_graph_begin(out, b, "slowest request", timefmt_duration(buf, most));
		for (unsigned i = 0; i < b->n; i++) {
			g_autofree char *title = g_strdup_printf("%s: %s", bar_clock(b, i, clock),
								 timefmt_duration(buf, b->slowest_ns[i]));
			if (b->slowest_ns[i] >= 0)
				put_bar(out, i, (double)b->slowest_ns[i] / (double)most, "g-request", title);
		}
		put_graph_end(out, b, o);
	}
	if (!cpu)
		return;
	put_graph_begin(out, b, "CPU in use", "100 %");
	for (unsigned i = 0; i < b->n; i++) {
		g_autofree char *title = g_strdup_printf("%s: %.0f %%", bar_clock(b, i, clock), b->cpu[i] * 100);
		if (b->cpu[i] >= 0)
			put_bar(out, i, b->cpu[i], "g-cpu", title);
	}
	put_graph_end(out, b, o);
}

/* ---- heatmap ---- */

static void put_heat_cell(GString *out, const struct heat_grid *g, const struct heat_cell *c, unsigned top)
{
	char at[TIMEFMT_LEN], low[TIMEFMT_LEN], high[TIMEFMT_LEN];
	int64_t to = latency_row_high(g->bits, c->level);
	g_string_append_printf(out, "<rect class=\"heat-%u\" x=\"%" G_GUINT64_FORMAT "\" y=\"%u\" width=\"1\" "
			       "height=\"1\" data-n=\"%" G_GUINT64_FORMAT "\"><title>%" G_GUINT64_FORMAT
			       " of %s to %s at %s</title></rect>\n",
			       heat_step(g, c->count), c->column, top - c->level, c->count, c->count,
			       timefmt_duration(low, latency_row_low(g->bits, c->level)),
			       to == INT64_MAX ? "more" : timefmt_duration(high, to), timefmt_clock(at, c->begin_ns));
}

static void put_heat(GString *out, const struct rows *rows)
{
	const struct heat_grid *g = heat_grid_of(rows);
	unsigned low = UINT_MAX, top = 0;
	char buf[TIMEFMT_LEN], from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	PTR_EACH(const struct heat_cell, c, rows->rows) {
		low = MIN(low, c->level);
		top = MAX(top, c->level);
	}
	int64_t most = latency_row_high(g->bits, top);
	g_string_append_printf(out, "<h2>Heatmap</h2>\n<div class=\"graph\"><p class=\"axis\"><span>%s: %"
			       G_GUINT64_FORMAT " in all, at most %" G_GUINT64_FORMAT " in a cell</span><span>%s</span>"
			       "</p>\n<svg role=\"img\" aria-label=\"heatmap\" class=\"heat\" "
			       "viewBox=\"0 0 %" G_GUINT64_FORMAT " %u\" "
			       "preserveAspectRatio=\"none\">\n", g->metric->metric->id, g->total, g->most,
			       most == INT64_MAX ? "more" : timefmt_duration(buf, most), MAX(g->n_columns, 1),
			       top - low + 1);
	for (guint i = 0; i < rows->rows->len; i++)
		put_heat_cell(out, g, rows->rows->pdata[i], top);
	g_string_append_printf(out, "</svg>\n<p class=\"axis\"><span>%s</span><span>%s</span><span>%s</span></p>"
			       "</div>\n", timefmt_clock(from, g->begin_ns),
			       timefmt_duration(buf, latency_row_low(g->bits, low)),
			       timefmt_clock(to, g->begin_ns + (int64_t)g->n_columns * g->cell_ns));
}

void svg_heatmap(GString *out, const struct timeline *tl, const struct report_options *o)
{
	struct view_query q = VIEW_QUERY_INIT;
	/* few seconds: the cells are those of the view */
	bool joined = (o->to_ns - o->from_ns) / NS_PER_S > BARS;
	struct heatmap *h = joined ? heatmap_new(BARS, HEAT_ROWS) : NULL;
	q.from_ns = o->from_ns;
	q.to_ns = o->to_ns;
	q.heatmap = h;
	struct rows *rows = view_heatmap.build(tl, &q);
	if (rows->rows->len)
		put_heat(out, rows);
	rows_free(rows);
	heatmap_free(h);
}

/* ---- flame ---- */

static void put_frame(GString *out, const struct flame_row *r, const struct flame_row *all, bool seen[PART_N])
{
	char took[TIMEFMT_LEN];
	double unit = (double)CELLS / (double)all->total_ns, x = (double)r->begin_ns * unit;
	g_string_append_printf(out, "<div class=\"span\" data-ns=\"%" G_GINT64_FORMAT "\"><span class=\"name\" "
			       "style=\"padding-left:%uem\">", r->total_ns, MIN((unsigned)r->row.depth, 12));
	html_append(out, r->name);
	g_string_append_printf(out, "</span><span class=\"took\">%s</span><svg viewBox=\"0 0 %d 1\" "
			       "preserveAspectRatio=\"none\">", timefmt_duration(took, r->total_ns), CELLS);
	for (int p = 0; p < PART_N; p++) {
		char at[G_ASCII_DTOSTR_BUF_SIZE], width[G_ASCII_DTOSTR_BUF_SIZE];
		double cells = (double)r->part[p] * unit;
		if (cells < 0.1)
			continue;
		seen[p] = true;
		g_string_append_printf(out, "<rect class=\"p-%s\" x=\"%s\" width=\"%s\" height=\"1\">"
				       "<title>%s</title></rect>", part_info[p].id,
				       g_ascii_formatd(at, sizeof at, "%.2f", x),
				       g_ascii_formatd(width, sizeof width, "%.2f", cells), part_info[p].help);
		x += cells;
	}
	g_string_append(out, "</svg></div>\n");
}

void svg_flame(GString *out, const struct timeline *tl, const struct report_options *o, bool seen[PART_N])
{
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = o->from_ns;
	q.to_ns = o->to_ns;
	struct rows *rows = view_find("flame")->build(tl, &q);
	unsigned n = 0;
	if (rows->rows->len)
		g_string_append(out, "<h2>Where the time went</h2>\n<div class=\"waterfall\">\n");
	for (guint i = 0; i < rows->rows->len && n < FRAMES; i++) {
		const struct flame_row *r = rows->rows->pdata[i], *all = rows->rows->pdata[0];
		if (r->total_ns < all->total_ns / 100)
			continue;
		put_frame(out, r, all, seen);
		n++;
	}
	if (rows->rows->len)
		g_string_append_printf(out, "</div>\n<p class=\"more\">%u of %u frames: those of at least 1 %%</p>\n",
				       n, rows->rows->len);
	rows_free(rows);
}

/* ---- waterfall ---- */

/* Cells of one state are one rectangle. */
static void put_states(GString *out, const char *cells, bool seen[PART_N])
{
	for (unsigned i = 0, end; i < CELLS; i = end) {
		enum part part = part_of_letter(cells[i]);
		for (end = i + 1; end < CELLS && cells[end] == cells[i]; end++)
			;
		if (cells[i] == ' ')
			continue;
		if (part < PART_N)
			seen[part] = true;
		const char *id = part < PART_N ? part_info[part].id : "child";
		const char *help = part < PART_N ? part_info[part].help : "in a child span";
		g_string_append_printf(out, "<rect class=\"p-%s\" x=\"%u\" width=\"%u\" height=\"1\"><title>%s</title>"
				       "</rect>", id, i, end - i, help);
	}
}

static void put_span(GString *out, const struct rows *rows, const struct waterfall_row *r, bool seen[PART_N])
{
	const struct waterfall *w = waterfall_of(rows);
	char cells[CELLS], took[TIMEFMT_LEN];
	waterfall_strip(rows, r, w->begin_ns, MAX(w->end_ns, w->begin_ns + 1), CELLS, cells);
	g_string_append_printf(out, "<div class=\"span%s\"><span class=\"name\" style=\"padding-left:%uem\">",
			       r->critical ? " critical" : "", MIN((unsigned)r->row.depth, 12));
	html_append(out, r->name);
	g_string_append_printf(out, "</span><span class=\"took\">%s</span><svg viewBox=\"0 0 %d 1\" "
			       "preserveAspectRatio=\"none\">", timefmt_duration(took, span_duration(r->span)), CELLS);
	put_states(out, cells, seen);
	g_string_append(out, "</svg></div>\n");
}

void svg_waterfall(GString *out, const struct rows *rows, bool seen[PART_N])
{
	const struct waterfall *w = waterfall_of(rows);
	g_autofree bool *keep = g_new0(bool, w->n_all + 1);
	size_t left_out = bars_choose(w, keep);
	g_string_append(out, "<div class=\"waterfall\">\n");
	for (size_t i = 0; i < w->n_all; i++)
		if (keep[i])
			put_span(out, rows, w->all[i], seen);
	g_string_append(out, "</div>\n");
	if (left_out)
		g_string_append_printf(out, "<p class=\"more\">and %" G_GSIZE_FORMAT " shorter spans</p>\n", left_out);
}
