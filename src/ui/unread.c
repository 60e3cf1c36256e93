/* SPDX-License-Identifier: GPL-2.0-only */
/* A range that was not read: see unread.h. */
#include "ui/unread.h"

#include "ui/frame.h"
#include "ui/strip.h"

#include "base/text.h"
#include "base/timefmt.h"

static char *percent_text(const struct app *app)
{
	return app->status.progress < 0 ? g_strdup("some") :
		g_strdup_printf("%d %%", CLAMP((int)(app->status.progress * 100), 0, 100));
}

/* Live: which packets on disk it can be decoded from. */
static char *stored_text(const struct app *app, int64_t to)
{
	char clock[TIMEFMT_LEN];
	int64_t from = app->status.stored_from_ns;

	if (from == TIME_UNKNOWN)
		return g_strdup("no packet of the session is stored on disk yet");
	if (to <= from)
		return g_strdup_printf("packets on disk begin at %s", timefmt_clock(clock, from));
	return g_strdup_printf("it is decoded from the packets on disk, which begin at %s",
			       timefmt_clock(clock, from));
}

static bool is_still_open(const struct app *app, int64_t to)
{
	size_t n = timeline_n_seconds(app->main);
	const struct second *last = n ? timeline_outline(app->main, n - 1) : NULL;

	return !last || to > (last->version ? last->end_ns : last->begin_ns);
}

/* Why there are no rows. */
static char *state_text(const struct app *app, int64_t from, int64_t to)
{
	g_autofree char *read = percent_text(app);
	char step[TIMEFMT_LEN];

	if (app->status.stored && is_still_open(app, to))
		return g_strdup_printf("this second is still open: it is decoded in steps of %s once it "
				       "is closed", timefmt_step(step, extent_fine_step(from, to)));
	if (extent_fine_step(from, to))
		return g_strdup_printf("it is decoded in steps of %s, in a moment",
				       timefmt_step(step, extent_fine_step(from, to)));
	if (extent_is_dropped(&app->extent, from, to))
		return g_strdup("no longer in memory (--memory): it is decoded again, in a moment");
	if (app->status.phase == UI_CANCELLED)
		return g_strdup_printf("not read: the load was stopped at %s of the trace", read);
	if (app->status.phase == UI_FAILED)
		return g_strdup_printf("not read: reading failed at %s of the trace", read);
	return g_strdup_printf("not read yet: %s of the trace is", read);
}

/* "06:08:38, 1 second: 12.4M in packets, 0.8 % of the trace; 1234 events were lost" */
static char *figures_text(const struct app *app, int64_t from, int64_t to)
{
	char clock[TIMEFMT_LEN], length[TIMEFMT_LEN], bytes[TIMEFMT_LEN];
	struct extent_sum sum;

	if (!extent_sum(&app->extent, from, to, &sum) || !sum.bytes)
		return g_strdup("no packet covers this time: nothing was recorded");
	return g_strdup_printf("%s, %s: %s in packets, %.2g %% of the trace",
			       timefmt_clock(clock, sum.from_ns),
			       timefmt_duration(length, sum.to_ns - sum.from_ns),
			       timefmt_bytes(bytes, sum.bytes),
			       app->outline->bytes ? 100.0 * (double)sum.bytes /
			       (double)app->outline->bytes : 0);
}

static void put(struct app *app, struct box box, unsigned y, enum role role, const char *text)
{
	if (y < box.rows)
		canvas_put(app->canvas, box.y + y, 1, box.cols > 2 ? box.cols - 2 : 0, role, text);
}

void unread_draw(struct app *app, struct place *p, struct box box)
{
	const struct completeness none = { 0 };
	bool loading = app->status.phase == UI_LOADING || app->status.phase == UI_OPENING;
	g_autofree char *state = NULL, *figures = NULL, *title = NULL, *keys = NULL, *legend = NULL;
	g_autofree char *lost = NULL, *losses = NULL;
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	state = state_text(app, from, to);
	figures = app->outline ? figures_text(app, from, to) : stored_text(app, to);
	lost = extent_lost_text(&app->extent, from, to);
	losses = lost ? g_strdup_printf("! lost in this range: %s", lost) : g_strdup("no losses known");
	title = g_strdup_printf("%s: %s", p->view->title, state);
	keys = g_strdup_printf("%sLeft, Right and b go elsewhere%s", loading &&
			       g_str_equal(app->status.reader, "native") ? "it is read next; " : "",
			       loading && nav_is_top(&app->nav) ? "; Esc stops the load" : "");
	frame_completeness(app, box.y, &none);
	put(app, (struct box){ box.y, 0, box.rows, box.cols + 1 }, 1, ROLE_TITLE, title);
	strip_draw_whole(app, box.y + 2);
	put(app, box, 5, ROLE_TEXT, figures);
	put(app, box, 6, lost ? ROLE_DISTRUST : ROLE_DIM, losses);
	put(app, box, 8, ROLE_DIM, keys);
	legend = g_strdup_printf("%s not read   %s read ahead: provisional   %s read   ! lost events",
				 app->glyphs->unread[2], app->glyphs->provisional, app->glyphs->spark[5]);
	put(app, box, 10, ROLE_DIM, legend);
	app->cursor_y = box.y + 1;
}
