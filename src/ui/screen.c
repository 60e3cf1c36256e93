/* SPDX-License-Identifier: GPL-2.0-only */
/* Which screen shows a view, and the rows of a place: see screen.h. */
#include "ui/screen.h"

#include "ui/progressive.h"
#include "ui/timeline_axis.h"

#include "base/timefmt.h"
#include "views/logview.h"

#include <string.h>

#define BUILD_REST 10
#define ENDED_SHOWN_NS (5 * NS_PER_S)	/* an exited process or thread stays in lists this long */

const struct screen *screen_of(const struct view *view)
{
	switch (view->kind) {
	case VIEW_OVERVIEW:
		return &screen_overview;
	case VIEW_WATERFALL:
		return &screen_waterfall;
	case VIEW_TIMELINE:
		return &screen_timeline;
	case VIEW_PROCESS:
		return &screen_process;
	case VIEW_HEATMAP:
		return &screen_heatmap;
	case VIEW_DISTRIBUTION:
		return &screen_distribution;
	case VIEW_FLAME:
		return &screen_flame;
	default:
		if (view == &view_log)
			return &screen_log;
		return strcmp(view->id, "phases") ? &screen_table : &screen_phases;
	}
}

enum context app_context(const struct app *app)
{
	return popup_is_open(&app->popup) ? (app->chooser ? CTX_CHOOSER : CTX_POPUP) :
		screen_of(nav_top(&app->nav)->view)->context;
}

/* The id of a host in this timeline; ids differ between timelines. An id that no host has if there is none yet. */
static uint32_t find_host(const struct timeline *tl, const char *name)
{
	for (uint32_t i = 0; i < timeline_n_hosts(tl); i++) {
		const struct host_info *host = timeline_host(tl, i);

		if (host && !g_strcmp0(host->name, name))
			return i;
	}
	return ID_NONE - 1;
}

/* The range of a place's rows: the one that is shown; of a heatmap all time, if no range A-B is set (0, 0). */
static void place_range(const struct app *app, const struct place *p, int64_t *ret_from, int64_t *ret_to)
{
	*ret_from = *ret_to = 0;
	if (p->view->kind != VIEW_HEATMAP || nav_has_range(&app->nav))
		nav_range(&app->nav, ret_from, ret_to);
}

static void build(struct app *app, struct place *p)
{
	gint64 begun_us = g_get_monotonic_time();
	struct timeline_axis axis;
	struct view_query q;

	if (p->host)
		p->narrow.host = find_host(app->tl, p->host);
	q = place_query(p);
	place_range(app, p, &q.from_ns, &q.to_ns);
	p->from_ns = q.from_ns;
	p->to_ns = q.to_ns;
	if (p->view->kind == VIEW_TIMELINE && timeline_axis(app, p, &axis)) {
		q.from_ns = axis.from_ns;
		q.to_ns = axis.to_ns;
		q.cells = axis.cells;
	}
	if (screen_of(p->view)->query)
		screen_of(p->view)->query(app, p, &q);
	q.ended_ns = ENDED_SHOWN_NS;
	q.alerts = app->options->alerts;
	q.names = app->main;
	p->rows = p->view->build(app->tl, &q);
	p->version = timeline_version(app->tl);
	p->built_us = g_get_monotonic_time();
	p->build_cost_us = p->built_us - begun_us;
	screen_of(p->view)->prepare(app, p);
}

/* Did the range change since the rows were built? */
static bool range_moved(const struct app *app, struct place *p)
{
	const struct view_query *q = &p->rows->query;
	struct timeline_axis axis;
	int64_t from, to;

	if (p->view->kind == VIEW_TIMELINE && timeline_axis(app, p, &axis) &&
	    (axis.from_ns != q->from_ns || axis.to_ns != q->to_ns || axis.cells != q->cells))
		return true;

	place_range(app, p, &from, &to);
	return from != p->from_ns || to != p->to_ns;
}

/* Is there something new? Rows of all time may take long: they are built again at most a tenth of the time. */
static bool is_outdated(const struct app *app, const struct place *p)
{
	bool rests = (p->view->kind == VIEW_HEATMAP || p->view->kind == VIEW_FLAME) &&
		     g_get_monotonic_time() - p->built_us < BUILD_REST * p->build_cost_us;
	return p->version != timeline_version(app->tl) && !rests;
}

struct place *app_place(struct app *app)
{
	struct place *p = nav_top(&app->nav);

	progressive_choose(app, p);
	bool (*is_resized)(const struct app *, const struct place *) = screen_of(p->view)->is_resized;
	if (p->rows && (is_outdated(app, p) || range_moved(app, p) || (is_resized && is_resized(app, p))))
		place_stale(p);
	if (!p->rows)
		build(app, p);
	g_assert(p->rows);
	return p;
}
