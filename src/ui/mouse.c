/* SPDX-License-Identifier: GPL-2.0-only */
/* Clicks, dragging and the wheel: see mouse.h. The canvas has what is at a cell (canvas_hit_at()). */
#include "ui/mouse.h"

#include "ui/app.h"
#include "ui/commands.h"
#include "ui/explain.h"
#include "ui/screen.h"
#include "ui/tables.h"
#include "ui/visits.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define DOUBLE_CLICK_US (400 * 1000)
#define WHEEL_ROWS 3

/* The pane of a table; -1: the table is not of this place. */
static int pane_of(const struct place *p, const void *table)
{
	for (int i = 0; i < PANE_N; i++) {
		if (table == &p->table[i])
			return i;
	}
	return -1;
}

static bool same(const struct canvas_hit *a, const struct canvas_hit *b)
{
	return a->hit == b->hit && a->of == b->of && a->value == b->value && a->y == b->y;
}

static void click_row(struct app *app, struct place *p, const struct canvas_hit *h, unsigned x, bool twice)
{
	const struct screen *screen = screen_of(p->view);
	int pane = pane_of(p, h->of);
	struct focus f;

	if (pane < 0)
		return;
	app_touch(app);
	p->pane = (enum pane)pane;
	f = place_focus(p);
	table_select(f.table, f.rows, (size_t)h->value);
	if (screen->click)
		screen->click(app, p, x);
	if (twice)
		app_command(app, CMD_DRILL);
}

/* Sorts by this column; again: inverts the order. */
static void click_header(struct app *app, struct place *p, const struct canvas_hit *h)
{
	int pane = pane_of(p, h->of);
	struct focus f;

	if (pane < 0 || p->view->kind == VIEW_WATERFALL || p->view->kind == VIEW_TIMELINE)
		return;
	app_touch(app);
	p->pane = (enum pane)pane;
	f = place_focus(p);
	tables_sort_by(app, &f, (size_t)h->value);
}

static void click_time(struct app *app, int64_t at_ns)
{
	app_touch(app);
	app_go_to(app, at_ns);
}

/* --- dragging over seconds --- */

/* Begin and end of the cell at or nearest to column x of a row of seconds. false: the row has none. */
static bool cell_at(const struct app *app, unsigned y, unsigned x, int64_t *ret_begin, int64_t *ret_end)
{
	const struct canvas *c = app->canvas;
	struct canvas_hit h = { 0 };
	int64_t first, last;

	for (unsigned off = 0; off < c->cols && h.hit != HIT_TIME; off++) {
		h = canvas_hit_at(c, y, x + off);
		if (h.hit != HIT_TIME && off <= x)
			h = canvas_hit_at(c, y, x - off);
	}
	if (h.hit != HIT_TIME)
		return false;
	*ret_begin = h.value;
	*ret_end = nav_bounds(&app->nav, app->main, &first, &last) ?
		time_floor(MAX(last - 1, h.value), app->nav.step_ns) + app->nav.step_ns : h.value + app->nav.step_ns;
	for (unsigned i = 0; i < c->cols; i++) {
		struct canvas_hit next = canvas_hit_at(c, y, i);

		if (next.hit == HIT_TIME && next.value > h.value)
			*ret_end = MIN(*ret_end, next.value);
	}
	return true;
}

static void begin_drag(struct app *app, unsigned y, unsigned x)
{
	app->drag.y = y;
	app->drag.on = cell_at(app, y, x, &app->drag.from_ns, &app->drag.from_end_ns);
	app->drag.to_ns = app->drag.from_ns;
	app->drag.to_end_ns = app->drag.from_end_ns;
}

/* The range is from the cell that was pressed to the one where the button was released, both included. */
static void end_drag(struct app *app)
{
	struct nav *nav = &app->nav;
	char a[TIMEFMT_LEN], b[TIMEFMT_LEN];

	if (app->drag.from_ns == app->drag.to_ns)
		return;
	nav->a_ns = MIN(app->drag.from_ns, app->drag.to_ns);
	nav->b_ns = MAX(app->drag.from_end_ns, app->drag.to_end_ns);
	nav_seek(nav, app->main, nav->a_ns);
	app_message(app, "range %s-%s: R clears it", timefmt_clock(a, nav->a_ns), timefmt_clock(b, nav->b_ns));
	app_moved(app);
}

static void drag(struct app *app, unsigned x, bool released)
{
	if (!app->drag.on)
		return;
	cell_at(app, app->drag.y, x, &app->drag.to_ns, &app->drag.to_end_ns);
	app->drag.on = !released;
	if (released)
		end_drag(app);
}

static void click_crumb(struct app *app, size_t depth)
{
	app_touch(app);
	while (app->nav.stack->len > depth + 1)
		app_back(app);
}

static void click_line(struct app *app, size_t line, bool twice)
{
	app->popup.cursor = line;
	if (twice)
		app_command(app, CMD_DRILL);
}

static void click(struct app *app, const struct canvas_hit *h, unsigned x, bool twice)
{
	struct place *p;

	if (h->hit == HIT_KEY) {
		app_key(app, (int)h->value);
		return;
	}
	/* An open prompt ignores clicks. */
	if (app->prompt.kind != PROMPT_NONE)
		return;
	g_clear_pointer(&app->message, g_free);
	if (popup_is_open(&app->popup)) {
		if (h->hit == HIT_LINE)
			click_line(app, (size_t)h->value, twice);
		return;
	}
	p = app_place(app);
	if (h->hit == HIT_ROW)
		click_row(app, p, h, x, twice);
	else if (h->hit == HIT_HEADER)
		click_header(app, p, h);
	else if (h->hit == HIT_TIME)
		click_time(app, h->value);
	else if (h->hit == HIT_CRUMB)
		click_crumb(app, (size_t)h->value);
}

static void wheel(struct app *app, const struct canvas_hit *h, int direction)
{
	struct place *p;
	int pane;

	if (app->prompt.kind != PROMPT_NONE)
		return;
	if (popup_is_open(&app->popup)) {
		for (int i = 0; i < WHEEL_ROWS; i++)
			popup_command(&app->popup, direction < 0 ? CMD_UP : CMD_DOWN);
		return;
	}
	app_touch(app);
	p = app_place(app);
	/* Over the strip the wheel steps through time. */
	if (h->hit == HIT_TIME) {
		app_command(app, direction < 0 ? CMD_TIME_BACK : CMD_TIME_FORWARD);
		return;
	}
	pane = h->hit == HIT_ROW || h->hit == HIT_HEADER ? pane_of(p, h->of) : (int)p->pane;
	if (pane >= 0)
		p->pane = (enum pane)pane;
	for (int i = 0; i < WHEEL_ROWS; i++)
		app_command(app, direction < 0 ? CMD_UP : CMD_DOWN);
}

static void explain_at(struct app *app, unsigned y, unsigned x)
{
	g_autofree char *text = NULL;

	if (app->prompt.kind != PROMPT_NONE || popup_is_open(&app->popup))
		return;
	text = explain_cell(app, app_place(app), y, x);
	if (!text) {
		app_message(app, "the right button explains a cell of a table or a bar: there is none here");
	} else if (text_width(text) <= app->canvas->cols) {
		app_message(app, "%s", text);
	} else {
		GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

		g_ptr_array_add(lines, g_strdup_printf("  %s", text));
		popup_open(&app->popup, "Explain", lines, false);
	}
}

static void take_mouse(struct app *app, enum app_mouse what, unsigned y, unsigned x, gint64 now_us)
{
	struct canvas_hit h = canvas_hit_at(app->canvas, y, x);
	bool twice = same(&h, &app->clicked.hit) && now_us - app->clicked.at_us < DOUBLE_CLICK_US;

	if (what == APP_DRAG || what == APP_RELEASE) {
		drag(app, x, what == APP_RELEASE);
		return;
	}
	app->drag.on = false;
	if (what == APP_OTHER_BUTTON) {
		explain_at(app, y, x);
		return;
	}
	if (what != APP_CLICK) {
		wheel(app, &h, what == APP_WHEEL_UP ? -1 : 1);
		return;
	}
	app->clicked.hit = h;
	/* A third click counts as a first one. */
	app->clicked.at_us = twice ? 0 : now_us;
	if (h.hit == HIT_TIME && app->prompt.kind == PROMPT_NONE && !popup_is_open(&app->popup))
		begin_drag(app, y, x);
	if (h.hit != HIT_NONE)
		click(app, &h, x, twice);
}

void app_mouse(struct app *app, enum app_mouse what, unsigned y, unsigned x, gint64 now_us)
{
	struct visit *before = visits_begin(app);

	take_mouse(app, what, y, x, now_us);
	visits_end(app, before);
}
