/* SPDX-License-Identifier: GPL-2.0-only */
/* Which screen shows a view, and the rows of a place: see screen.h. */
#include "ui/screen.h"

#include "ui/progressive.h"

#include "base/timefmt.h"

#define BUILD_REST 10
#define ENDED_SHOWN_NS (5 * NS_PER_S)	/* an exited process or thread stays in lists this long */

static const struct screen *const screens[VIEW_KIND_N] = {
	[VIEW_TABLE] = &screen_table, [VIEW_OVERVIEW] = &screen_overview, [VIEW_WATERFALL] = &screen_waterfall,
	[VIEW_PROCESS] = &screen_process, [VIEW_HEATMAP] = &screen_heatmap, [VIEW_DISTRIBUTION] = &screen_distribution,
	[VIEW_TIMELINE] = &screen_timeline, [VIEW_FLAME] = &screen_flame, [VIEW_PHASES] = &screen_phases,
	[VIEW_LOG] = &screen_log,
};

const struct screen *screen_of(const struct view *view)
{
	return screens[view->kind];
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

/* What the place's rows shall be built for. */
static struct view_query query_of(struct app *app, struct place *p)
{
	if (p->host)
		p->narrow.host = find_host(app->tl, p->host);
	struct view_query q = place_query(p);

	nav_range(&app->nav, &q.from_ns, &q.to_ns);
	q.ended_ns = ENDED_SHOWN_NS;
	q.alerts = app->options->alerts;
	q.names = app->main;
	if (screen_of(p->view)->query)
		screen_of(p->view)->query(app, p, &q);
	return q;
}

static bool is_same(const struct view_query *a, const struct view_query *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->cells == b->cells &&
	       a->latency_rows == b->latency_rows;
}

/* Is there something new? */
static bool is_outdated(const struct app *app, const struct place *p)
{
	bool rests = screen_of(p->view)->rests &&
		     g_get_monotonic_time() - p->built_us < BUILD_REST * p->build_cost_us;
	return p->version != timeline_facts(app->tl)->version && !rests;
}

static void build(struct app *app, struct place *p, const struct view_query *q)
{
	gint64 begun_us = g_get_monotonic_time();

	p->built = *q;
	p->rows = p->view->build(app->tl, q);
	p->version = timeline_facts(app->tl)->version;
	p->built_us = g_get_monotonic_time();
	p->build_cost_us = p->built_us - begun_us;
	screen_of(p->view)->prepare(app, p);
}

struct place *app_place(struct app *app)
{
	struct place *p = nav_top(&app->nav);

	progressive_choose(app, p);
	struct view_query q = query_of(app, p);
	if (p->rows && (is_outdated(app, p) || !is_same(&q, &p->built)))
		place_stale(p);
	if (!p->rows)
		build(app, p, &q);
	g_assert(p->rows);
	return p;
}
