/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that is shown before all of it is read: see progressive.h. The screen chooses between timelines of the same
 * trace. Ids differ between timelines, so that the selection is found again by the rows' keys.
 */
#include "ui/progressive.h"

#include "ui/timeline_axis.h"

#include "base/timefmt.h"

/* A preview of more bytes takes too long: a request is cut to this, and the backend widens it later. */
#define LOOK_BYTES (16.0 * 1024 * 1024)

/* Loading that took longer than this is reported when it ends. */
#define WORTH_SAYING_US (2 * 1000 * 1000)

static void forget_strip(struct app *app)
{
	g_clear_pointer(&app->strip, extent_strip_free);
}

static bool take_outline(struct app *app)
{
	struct outline *o = app->backend->outline(app->backend->data);

	if (!o || o == app->outline) {
		outline_unref(o);
		return false;
	}
	outline_unref(app->outline);
	app->outline = o;
	forget_strip(app);
	return true;
}

/* A waterfall shows its whole trace, independent of the range. */
static struct cover waterfall_cover(const struct app *app, const struct place *p)
{
	const struct extent *e = &app->extent;
	bool in_main = timeline_trace_spans(app->main, p->narrow.trace_id) != NULL;
	bool in_preview = app->preview && timeline_trace_spans(app->preview, p->narrow.trace_id);

	if (in_preview && !(in_main && e->final_to_ns >= e->window.to_ns))
		return (struct cover){ COVER_PROVISIONAL, false };
	return (struct cover){ COVER_READ, false };
}

/* Does a place on the stack show a trace that only the present preview has? */
static bool holds_shown_trace(const struct app *app, const struct timeline *fresh)
{
	for (guint i = 0; app->preview && i < app->nav.stack->len; i++) {
		const struct place *p = g_ptr_array_index(app->nav.stack, i);
		uint64_t id = p->view->kind == VIEW_WATERFALL ? p->narrow.trace_id : 0;

		if (id && waterfall_cover(app, p).kind == COVER_PROVISIONAL && !timeline_trace_spans(fresh, id))
			return true;
	}
	return false;
}

static bool take_preview(struct app *app)
{
	struct decoded_range window;
	struct timeline *fresh = app->backend->preview(app->backend->data, &window);

	if (!fresh)
		return false;
	if (holds_shown_trace(app, fresh)) {
		timeline_free(fresh);
		app->shown_range.from_ns = TIME_UNKNOWN;	/* requested again when that place is left */
		return false;
	}
	if (app->tl == app->preview) {
		place_stale(nav_top(&app->nav));
		app->tl = app->empty;
	}
	if (app->preview)
		timeline_free(app->preview);
	app->preview = fresh;
	app->extent.window = window;
	forget_strip(app);
	return true;
}

/* Bounds of the time that can be gone to: first and last event, else beginning and end of the packets. */
static void set_bounds(struct app *app)
{
	int64_t first, last = app->outline->to_ns - 1, seen;

	app->nav.first_ns = app->outline->from_ns;
	if (timeline_coverage(app->main, &first, &seen))
		app->nav.first_ns = MAX(app->nav.first_ns, first);
	if (app->preview && app->extent.window.to_ns > last &&
	    timeline_coverage(app->preview, &first, &seen))
		app->last_event_ns = MIN(last, seen);
	app->nav.last_ns = app->last_event_ns != TIME_UNKNOWN ? app->last_event_ns : last;
	if (app->nav.reading || extent_is_dropped(&app->extent, app->outline->from_ns,
						   app->outline->from_ns + 1))
		return;
	app->nav.first_ns = app->nav.last_ns = TIME_UNKNOWN;	/* the timeline's bounds */
}

static int64_t final_to(const struct app *app)
{
	return app->status.phase == UI_DONE ? INT64_MAX : app->status.final_to_ns;
}

/* Resets a step below a second, which was chosen before it was known that it cannot be decoded. */
static void keep_to_seconds(struct app *app)
{
	if (app->nav.step_ns < NS_PER_S && timeline_n_seconds(app->main))
		nav_set_step(&app->nav, NS_PER_S);
}

/* A live session with packets on disk. The open second cannot be decoded, so following goes by whole seconds. The
 * oldest packet is the first instant that can be gone to. */
static bool take_stored(struct app *app)
{
	int64_t first, last, stored_from = app->status.stored_from_ns;

	app->extent.main = app->main;
	if (stored_from != TIME_UNKNOWN && timeline_coverage(app->main, &first, &last))
		app->nav.first_ns = MAX(first, stored_from);
	app->extent.final_to_ns = INT64_MAX;
	if (app->nav.mode == NAV_FOLLOW && app->nav.step_ns < NS_PER_S)
		nav_set_step(&app->nav, NS_PER_S);
	bool changed = take_preview(app);
	app->extent.preview = app->preview;
	return changed;
}

void progressive_take(struct app *app)
{
	const struct ui_backend *b = app->backend;
	bool was_reading = app->nav.reading, changed;
	int64_t final_ns;

	if (!b || !b->outline)
		return;
	b->status(b->data, &app->status);
	if (!app->empty)
		app->empty = timeline_new(0);
	changed = take_outline(app);
	if (!app->outline) {
		if (!app->status.stored)
			keep_to_seconds(app);
		else if (take_stored(app))
			app_settle(app);
		return;
	}
	changed |= take_preview(app);
	final_ns = final_to(app);
	changed |= final_ns != app->extent.final_to_ns;
	if (final_ns != app->extent.final_to_ns)
		forget_strip(app);
	app->extent.outline = app->outline;
	app->extent.main = app->main;
	app->extent.preview = app->preview;
	app->extent.final_to_ns = final_ns;
	app->nav.reading = !extent_is_whole(&app->extent);
	set_bounds(app);
	if (changed)
		app_settle(app);
	if (app->nav.reading && !app->reading_since_us)
		app->reading_since_us = g_get_monotonic_time();
	if (was_reading && !app->nav.reading &&
	    g_get_monotonic_time() - app->reading_since_us > WORTH_SAYING_US &&
	    !(app->message && app->message_is_error))
		app_message(app, "all was read");
}

/* Can evicted requests be needed for this range? When following, the newest are in memory. */
static bool is_about_requests(const struct app *app, const struct place *p, int64_t from, int64_t to)
{
	return app->nav.mode != NAV_FOLLOW && !p->view->reads && to - from <= VIEW_RANGE_LONGEST_NS;
}

/* Cells of the timeline come from a preview in their own steps; until it is there, from what covers the range. */
static struct cover timeline_cover(const struct app *app, const struct timeline_axis *a)
{
	const struct extent *e = &app->extent;
	int64_t step = timeline_axis_step(app, a);
	struct cover fine = { COVER_UNREAD, true };

	if (step && app->outline)
		fine = extent_fine_cover(e, a->from_ns, a->to_ns, step);
	else if (step)
		fine = extent_retained_cover(e, a->from_ns, a->to_ns, step, false);
	if (!fine.part)
		return fine;
	return app->outline ? extent_cover(e, a->from_ns, a->to_ns) :
		extent_retained_cover(e, a->from_ns, a->to_ns, 0, false);
}

void progressive_choose(struct app *app, struct place *p)
{
	struct timeline *const from[] = {
		[COVER_READ] = app->main, [COVER_PROVISIONAL] = app->preview, [COVER_UNREAD] = app->empty,
		[COVER_EXACT] = app->preview,
	};
	struct timeline_axis axis;
	int64_t begin, end;

	if (!app->outline && !app->status.stored)
		return;
	nav_range(&app->nav, &begin, &end);
	if (p->view->kind == VIEW_HEATMAP)	/* of all that is read */
		app->cover = (struct cover){ .kind = COVER_READ };
	else if (p->view->kind == VIEW_TIMELINE && timeline_axis(app, p, &axis))
		app->cover = timeline_cover(app, &axis);
	else if (p->view->kind == VIEW_WATERFALL && query_has_trace(&p->narrow))
		app->cover = waterfall_cover(app, p);
	else if (!app->outline)
		app->cover = extent_retained_cover(&app->extent, begin, end, extent_fine_step(begin, end),
					       is_about_requests(app, p, begin, end));
	else if (extent_fine_step(begin, end))
		app->cover = extent_fine_cover(&app->extent, begin, end,
					       extent_fine_step(begin, end));
	else
		app->cover = extent_cover(&app->extent, begin, end);
	g_assert(from[app->cover.kind]);
	if (from[app->cover.kind] == app->tl)
		return;
	place_stale(p);
	app->tl = from[app->cover.kind];
}

/* Packets of foreign traces may not say when they end: then only the whole trace can be read. */
static bool has_ends(const struct app *app)
{
	int64_t first, last;

	return app->status.phase != UI_DONE || !timeline_coverage(app->main, &first, &last) ||
	       last <= app->outline->to_ns;
}

bool progressive_decodes(const struct app *app)
{
	return ((app->outline && has_ends(app)) || app->status.stored) && app->backend && app->backend->show_range;
}

/* Must a range be decoded again that was read before? */
static bool is_asked_again(const struct app *app, const struct place *p, const struct view_range *l)
{
	const struct extent *e = &app->extent;

	if (!app->outline)
		return l->step_ns || extent_is_less(e, l->from_ns, l->to_ns,
						    is_about_requests(app, p, l->from_ns, l->to_ns));
	return l->step_ns || extent_is_folded(e->main, l->from_ns, l->to_ns, NULL, NULL) ||
	       extent_is_dropped(e, l->from_ns, MIN(l->to_ns, l->from_ns + 1));
}

static bool is_same_range(const struct view_range *a, const struct view_range *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->step_ns == b->step_ns &&
	       a->again == b->again;
}

/* The range on the screen, and the step below a second to decode it in. */
static void find_shown(const struct app *app, struct place *p, struct view_range *ret)
{
	struct timeline_axis axis;

	nav_range(&app->nav, &ret->from_ns, &ret->to_ns);
	ret->step_ns = extent_fine_step(ret->from_ns, ret->to_ns);
	if (p->view->kind != VIEW_TIMELINE || !timeline_axis(app, p, &axis))
		return;
	ret->from_ns = axis.from_ns;
	ret->to_ns = axis.to_ns;
	ret->step_ns = timeline_axis_step(app, &axis);
}

void progressive_show_range(struct app *app)
{
	struct place *p = nav_top(&app->nav);
	struct view_range l = { 0 };
	struct extent_sum sum;

	if (!progressive_decodes(app) || app->nav.cursor_ns == TIME_UNKNOWN ||
	    p->view->kind == VIEW_WATERFALL)
		return;
	find_shown(app, p, &l);
	if (!l.step_ns && extent_sum(&app->extent, l.from_ns, l.to_ns, &sum) &&
	    (double)sum.bytes > LOOK_BYTES) {
		double share = LOOK_BYTES / (double)sum.bytes;
		int64_t ns = (int64_t)(share * (double)(l.to_ns - l.from_ns));

		l.to_ns = l.from_ns + MAX(ns / NS_PER_S, 1) * NS_PER_S;
	}
	l.again = is_asked_again(app, p, &l);
	if (!app->outline && !l.again)
		return;
	if (is_same_range(&l, &app->shown_range))
		return;
	app->shown_range = l;
	app->backend->show_range(app->backend->data, &l);
}

const struct timeline *progressive_lanes(struct app *app, int64_t from_ns, int64_t to_ns, int64_t cell_ns)
{
	const struct decoded_range *w = &app->extent.window;
	int64_t step = timeline_axis_length(MAX(cell_ns / 4, 1));
	struct view_range l = { time_floor(from_ns, step), time_floor(to_ns, step) + step, step, true };
	int64_t first, last;

	app->lanes_awaited = false;
	if (step >= NS_PER_S || !progressive_decodes(app) || !timeline_axis_is_short(app, from_ns, to_ns) ||
	    !timeline_coverage(app->main, &first, &last))
		return NULL;
	/* Until all is read, the waterfall itself may come from a preview. */
	app->lanes_awaited = true;
	if (!extent_is_whole(&app->extent))
		return NULL;
	if (app->preview && w->step_ns <= step && w->from_ns <= MAX(l.from_ns, time_floor(first, step)) &&
	    w->to_ns >= MIN(l.to_ns, time_floor(last, step) + step)) {
		app->lanes_awaited = false;
		return app->preview;
	}
	if (!is_same_range(&l, &app->shown_range)) {
		app->shown_range = l;
		app->backend->show_range(app->backend->data, &l);
	}
	return NULL;
}

const struct extent_strip *progressive_strip(struct app *app)
{
	if (app->strip && app->strip_version != timeline_facts(app->main)->version)
		forget_strip(app);
	if (!app->strip) {
		struct extent read = { .main = app->main, .final_to_ns = INT64_MAX };

		app->strip = extent_strip_new(app->outline ? &app->extent : &read);
	}
	app->strip_version = timeline_facts(app->main)->version;
	return app->strip;
}

void progressive_clear(struct app *app)
{
	forget_strip(app);
	if (app->preview)
		timeline_free(app->preview);
	if (app->empty)
		timeline_free(app->empty);
	outline_unref(app->outline);
}
