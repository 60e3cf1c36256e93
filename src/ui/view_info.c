/* SPDX-License-Identifier: GPL-2.0-only */
/* What F7 shows of a view: see view_info.h. */
#include "ui/view_info.h"

#include "ui/help.h"
#include "ui/output.h"
#include "ui/screen_overview.h"
#include "ui/strip.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/narrowing.h"
#include "views/needs.h"
#include "views/repairs.h"
#include "views/spans.h"

#include <string.h>

static void add(GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add(GPtrArray *lines, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_ptr_array_add(lines, g_strdup_vprintf(format, ap));
	va_end(ap);
}

static void add_events(GPtrArray *lines, const struct app *app, const struct view *v)
{
	g_autoptr(GPtrArray) needs = needs_of(v, app->main);
	g_autoptr(GPtrArray) commands = needs_commands(v, app->main);
	g_autofree char *suggestion = output_suggestion(app);
	bool whole = app->status.phase != UI_LOADING && app->status.phase != UI_OPENING &&
		     app->status.phase != UI_LIVE;
	unsigned width = 24;

	for (guint i = 0; i < needs->len; i++)
		width = MAX(width, text_width(((const struct need *)needs->pdata[i])->events));
	add(lines, "Events it needs");
	PTR_EACH(const struct need, n, needs) {
		g_autofree char *events = text_pad(n->events, width);

		add(lines, "  %s %s", events, n->there ? "in this trace" :
		    whole ? "NOT in this trace: its figures are shown as -" :
		    "not in what was read so far");
	}
	if (!needs->len)
		add(lines, "  none in particular");
	if ((view_missing(app->main) & (MISSING_WAKINGS | MISSING_SWITCHES)) == MISSING_WAKINGS)
		add(lines, "  No wakeups here: time blocked includes waiting for a CPU.");
	add(lines, "%s", "");
	if (!commands->len)
		return;
	if (suggestion) {
		help_add_wrapped(lines, suggestion, app->canvas->cols, "  ");
		add(lines, "%s", "");
	}
	add(lines, "How to record them, in a new session or in the running one");
	PTR_EACH(const char, command, commands)
		add(lines, "  %s", command);
	add(lines, "  blktop --recipe prints a script that records everything that blktop reads");
	add(lines, "  " REPAIR_RECORD " records it, also without LTTng's modules");
	add(lines, "%s", "");
}

static void add_containers(GPtrArray *lines, const struct view *v)
{
	bool by = view_has_by(v, BY_CONTAINER), column = view_column(v, "container") >= 0;

	if (v->kind == VIEW_OVERVIEW || v->kind == VIEW_PROCESS || !v->n_columns)
		return;
	add(lines, "%s", "Containers");
	if (by)
		add(lines, "  H sums the rows by container (in batch mode: --by container)");
	if (column)
		add(lines, "  column container; in filters: container != host");
	if (!by && !column)
		add(lines, "  none: rows here do not belong to one process. See processes, spans and scheduler");
	add(lines, "%s", "");
}

static void add_completeness(GPtrArray *lines, const struct app *app, const struct completeness *t)
{
	struct completeness all = timeline_facts(app->main)->completeness;
	bool lost = t->lost_events || t->lost_packets, ever = all.lost_events || all.lost_packets;

	add(lines, "Completeness");
	add(lines, "  lost in this range: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
	    " packets%s", t->lost_events, t->lost_packets,
	    t->touched && !lost ? "; a loss overlaps it" : "");
	if (t->lost_ns) {
		char text[TIMEFMT_LEN];
		timefmt_duration(text, t->lost_ns);
		add(lines, "  events may be missing for %s of CPU time, on %d CPUs", text,
		    __builtin_popcountll(t->lost_cpus));
	}
	add(lines, "  lost in all that was read: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
	    " packets", all.lost_events, all.lost_packets);
	if (t->damaged || all.damaged)
		add(lines, "  damaged packets: %" G_GUINT64_FORMAT " in this range, %"
		    G_GUINT64_FORMAT " in all; the number of their events is unknown", t->damaged, all.damaged);
	const struct missing *missing = timeline_missing(app->main);
	g_autofree char *incomplete = missing ? missing_text(missing) : NULL;
	if (incomplete)
		add(lines, "  %s", incomplete);
	if (t->late)
		add(lines, "  late in this range: %" G_GUINT64_FORMAT " records that came after their second or trace "
		    "was dropped from memory, or after their stream's clock went back", t->late);
	if (t->reordered_pairs) {
		char text[TIMEFMT_LEN];
		timefmt_duration(text, t->reordered_max_ns);
		add(lines, "  clocks: %" G_GUINT64_FORMAT " pairs of events of two CPUs were stamped in the wrong "
		    "order, by %s at most, and were put in order", t->reordered_pairs, text);
	}
	g_autofree char *left_out = span_notes_left_out(app->main);
	if (left_out)
		add(lines, "  %s", left_out);
	uint64_t traces, spans;
	timeline_evicted(app->main, &traces, &spans);
	if (traces)
		add(lines, "  dropped for memory (--memory): %" G_GUINT64_FORMAT " traces of %"
		    G_GUINT64_FORMAT " spans, the slowest of each operation last", traces, spans);
	uint64_t thinned = timeline_facts(app->main)->n_thinned;
	if (thinned)
		add(lines, "  not in history: %" G_GUINT64_FORMAT " traces, which were not among the slowest of "
		    "their minute", thinned);
	add(lines, "  seen in part in this range: %" G_GUINT64_FORMAT " calls and disk requests; they began before "
	    "the first event, or the event of their beginning or end was lost", t->provisional);
	if ((ever || t->touched) && timeline_has_events(app->main)) {
		add(lines, "  %s", ever ? "The tracer discards events when its buffers are full. Next time:" :
		    "A piece of the trace is missing or damaged.");
		if (ever)
			add(lines, "  %s", repair_for_losses());
	}
	if (t->provisional) {
		add(lines, "  A state dump records names and files from before the recording:");
		g_autofree char *dump = repair_statedump(NULL);
		add(lines, "  %s", dump);
	}
	add(lines, "%s", "");
}

static void add_column(GPtrArray *lines, const struct column *c, unsigned cols)
{
	g_autofree char *begin = g_strdup_printf("  %-9s %-20s %-7s ", c->title, c->id,
						 value_unit(c->kind));
	unsigned used = (unsigned)strlen(begin);
	guint first = lines->len;
	g_autofree char *blank = g_strnfill(used, ' ');

	help_add_wrapped(lines, c->help ? c->help : "", MAX(cols, used + 20), blank);
	if (lines->len > first) {
		char *line = g_ptr_array_index(lines, first);

		memcpy(line, begin, MIN(used, strlen(line)));
	}
}

static void add_columns(GPtrArray *lines, const struct focus *f, unsigned cols)
{
	uint8_t shown[TABLE_MAX_COLUMNS];
	unsigned n = table_columns(f->table, f->view, f->rows, shown);
	bool any = false;

	if (f->view->n_columns)
		add(lines, "Columns shown, as far as they fit: title, id, unit, meaning");
	for (unsigned i = 0; i < n; i++)
		add_column(lines, &f->view->columns[shown[i]], cols);
	for (size_t i = 0; i < f->view->n_columns; i++) {
		if (memchr(shown, (int)i, n))
			continue;
		if (!any) {
			add(lines, "%s", "");
			add(lines, "Columns not shown (f shows them)");
		}
		any = true;
		add_column(lines, &f->view->columns[i], cols);
	}
	add(lines, "%s", "");
}

/* What the rows are narrowed to, as --only takes it, quoted for a shell. NULL: nothing; with *ret_more: something that
 * --only cannot express. */
static char *only_text(const struct app *app, const struct place *p, bool *ret_more)
{
	struct view_query q = place_query(p);
	g_autofree char *only = NULL, *visible = NULL;

	if (timeline_n_hosts(app->tl) < 2)
		q.host = ID_NONE;
	only = query_only_text(&q);
	*ret_more = !only && query_narrowed(&q);
	visible = only ? text_visible(only) : NULL;
	return visible ? text_shell_quote(visible) : NULL;
}

/* The command that prints the same rows. */
static void add_batch(GPtrArray *lines, const struct app *app, struct place *p,
		      const struct focus *f)
{
	g_autofree char *columns = table_chosen(f->table, f->view);
	g_autofree char *sort = table_chosen_sort(f->table, f->view);
	bool more;
	g_autofree char *only = only_text(app, p, &more);
	bool by = f->view->by_values;
	int64_t from, to;
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];

	if (f->view != p->view || app->nav.cursor_ns == TIME_UNKNOWN)
		return;
	nav_range(&app->nav, &from, &to);
	add(lines, more ? "In batch mode, but for all rows" : "The same in batch mode");
	add(lines, "  blktop -b --view %s --from %s --to %s%s%s", f->view->id,
	    timefmt_clock_ns(a, from), timefmt_clock_ns(b, to), by ? " --by " : "",
	    by ? view_by_words[p->narrow.by] : "");
	if (only)
		add(lines, "    --only %s", only);
	if (columns)
		add(lines, "    --columns %s", columns);
	if (sort)
		add(lines, "    --sort %s", sort);
}

/* The cause that the screen shows, or that of the selected row; NULL: there is none. g_free. */
char *view_info_why(struct place *p, const struct rows *rows)
{
	switch (p->view->kind) {
	case VIEW_OVERVIEW:
		return screen_overview_why(p);
	case VIEW_WATERFALL:
		return g_strdup(waterfall_of(p->rows)->why);
	default:
		return g_strdup(rows->explanation);
	}
}

static void add_why(GPtrArray *lines, struct place *p, const struct focus *f, unsigned cols)
{
	g_autofree char *why = view_info_why(p, f->rows), *visible = NULL;
	const struct row *row = table_selected(f->table, f->rows);
	struct value verdict = view_value(f->view, f->rows, row, "verdict");

	if (!why && verdict.kind == VALUE_TEXT)
		why = g_strdup(verdict.s);
	if (!why || !*why)
		return;
	visible = text_visible(why);
	add(lines, "Why");
	help_add_wrapped(lines, visible, cols, "  ");
	add(lines, "%s", "");
}

/* What stands above the tables of the first screen. */
static void add_head(GPtrArray *lines, struct app *app, unsigned cols)
{
	enum graph graph = strip_graph(app);
	g_autofree char *seconds = graph == GRAPH_N ? g_strdup("Graph: nothing is known of any second") :
		g_strdup_printf("Graph: %s of each second of the trace, the shown range in brackets (a: next graph)",
				graph_info[graph].title);

	add(lines, "Above the tables");
	help_add_wrapped(lines, "Gauges: share of the range in which each CPU ran threads, and a block device had "
			 "requests (views cpus and devices)", cols, "  ");
	help_add_wrapped(lines, seconds, cols, "  ");
	help_add_wrapped(lines, "DATA: what the shown range lost, and what the whole trace lost", cols, "  ");
	help_add_wrapped(lines, "WHY: why the selected requests are slow; without requests, what else stands out",
			 cols, "  ");
	help_add_wrapped(lines, "slow since: the second in which a cause of the slow requests began that lasts until "
			 "now, with pauses of at most 5 s; Enter on it goes there", cols, "  ");
	add(lines, "%s", "");
}

void view_info_open(struct app *app, struct place *p, enum command_id command)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	struct focus f = place_focus(p);
	g_autofree char *title = g_strdup_printf("Facts: %s", p->view->title);
	unsigned cols = app->canvas->cols > 4 ? app->canvas->cols - 2 : app->canvas->cols;

	add_why(lines, p, &f, cols);
	if (p->view->help) {
		help_add_wrapped(lines, p->view->help, cols, "  ");
		add(lines, "%s", "");
	}
	if (p->view->kind == VIEW_OVERVIEW)
		add_head(lines, app, cols);
	if (f.view != p->view && f.view->help) {
		add(lines, "The table with the cursor: %s", f.view->title);
		help_add_wrapped(lines, f.view->help, cols, "  ");
		add(lines, "%s", "");
	}
	add_events(lines, app, p->view);
	add_containers(lines, f.view);
	add_completeness(lines, app, &p->rows->completeness);
	add_columns(lines, &f, cols);
	add_batch(lines, app, p, &f);
	if (app->options->isolation) {
		add(lines, "%s", "");
		add(lines, "Isolation");
		help_add_wrapped(lines, app->options->isolation, cols, "  ");
	}
	popup_open(&app->popup, title, lines, false);
}
