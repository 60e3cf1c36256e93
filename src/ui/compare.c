/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys C and X: see compare.h. */
#include "ui/compare.h"

#include "views/narrowing.h"
#include "views/overview.h"

/* The span of a row; of a trace its root. false: the row has none. */
static bool span_of(const struct row *row, struct view_query *q)
{
	if (!row || !query_has_trace(&row->drill))
		return false;
	query_set_trace(q, row->drill.trace_id);
	q->span_id = row->drill.span_id;
	q->span_kind = row->drill.span_kind;
	return true;
}

static void set_other(struct view_query *q, const struct row *row)
{
	q->other_trace = row->drill.trace_id;
	q->other_span = row->drill.span_id;
	q->other_kind = row->drill.span_kind;
}

/* Chooses what is compared. false: not possible, which was reported. */
static bool choose(struct app *app, struct place *p, struct view_query *q)
{
	struct focus f = place_focus(p);
	const struct row *tagged[2] = { NULL, NULL }, *here = table_selected(f.table, f.rows);
	unsigned n = table_tagged(f.table, f.rows, tagged);

	if (n > 2) {
		app_message(app, "%u rows are tagged: two can be compared, U untags all", n);
		return false;
	}
	if (n == 2 && here == tagged[1]) {
		tagged[1] = tagged[0];
		tagged[0] = here;
	}
	/* One tagged row and the cursor on another one are two, too. */
	if (n == 1 && here && here != tagged[0]) {
		tagged[1] = tagged[0];
		tagged[0] = here;
		n = 2;
	}
	if (!span_of(n ? tagged[0] : here, q) || (n == 2 && !tagged[1]->drill.trace_id)) {
		app_error(app, "cannot compare: select a trace or a span first");
		return false;
	}
	if (n == 2)
		set_other(q, tagged[1]);
	return true;
}

/* From the quiet time before to the range before, to all history, and to the quiet time again. */
static void switch_history(struct app *app, struct place *p)
{
	bool quiet = p->narrow.quiet, history = p->narrow.history;

	p->narrow.quiet = history;
	p->narrow.history = !quiet && !history;
	app_message(app, p->narrow.history ? "compared with all other history: C goes on to the quiet time before" :
		    p->narrow.quiet ? "compared with the quiet time before: C goes on to the time before the range" :
		    "compared with the same time before the range: C goes on to all other history");
	place_stale(p);
}

/* What changed, against the quiet time before; without one, against all other history. */
static void open_changed(struct app *app, struct place *p)
{
	struct view_query q = place_query(p);
	struct place *to;
	int64_t begin, end;

	if (p->view == view_find("changed")) {
		app_message(app, "this is what changed: C compares with another time, H by operation or cause");
		return;
	}
	query_widen(&q, ONLY_SERVICE | ONLY_OPERATION);
	nav_range(&app->nav, &begin, &end);
	bool quiet = overview_quiet_before(app->tl, begin, end, &begin, &end);
	q.quiet = quiet;
	q.history = !quiet;
	to = place_new(view_find("changed"), &q, "");
	to->narrow.by = BY_CAUSE;
	app_open(app, to);
	/* A place that was left may have been compared with something else. */
	nav_top(&app->nav)->narrow.quiet = quiet;
	nav_top(&app->nav)->narrow.history = !quiet;
	if (!quiet)
		app_message(app, "there is no quiet time before: compared with all other history");
}

static void forget_other(struct app *app, struct place *p)
{
	if (!p->narrow.other_trace) {
		app_message(app, "compared with the usual: to compare two, tag them in a list and press C");
		return;
	}
	p->narrow.other_trace = p->narrow.other_span = 0;
	p->narrow.other_kind = -1;
	app_message(app, "compared with the usual");
	place_stale(p);
}

void compare_command(struct app *app, struct place *p, enum command_id command)
{
	struct view_query q = VIEW_QUERY_INIT;
	g_autofree char *crumb = NULL;

	if (command == CMD_CHANGED && !timeline_facts(app->tl)->has_spans) {
		app_message(app, "what changed compares requests, and this trace has none so far");
		return;
	}
	if (command == CMD_CHANGED) {
		open_changed(app, p);
		return;
	}
	if (p->view == view_find("changed")) {
		switch_history(app, p);
		return;
	}
	if (p->view == view_find("compare")) {
		forget_other(app, p);
		return;
	}
	if (!choose(app, p, &q))
		return;
	crumb = q.other_trace ? g_strdup_printf("%08x with %08x", value_short_id(q.trace_id),
						value_short_id(q.other_trace)) :
		g_strdup_printf("%08x with the usual", value_short_id(q.trace_id));
	app_open(app, place_new(view_find("compare"), &q, crumb));
}
