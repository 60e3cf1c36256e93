/* SPDX-License-Identifier: GPL-2.0-only */
/* The time axis of the timeline's screen: see timeline_axis.h. */
#include "ui/timeline_axis.h"

#include "base/timefmt.h"
#include "views/lanes.h"

#define LONGEST_CELL (INT64_C(100000000) * NS_PER_S)	/* three years: no sum overflows */
#define FEWEST_CELLS 10
/* A longer range is not decoded in fine steps: it would take too long. */
#define FINE_BYTES (64.0 * 1024 * 1024)

struct axis_state {
	int64_t from_ns, cell_ns;	/* begin and length of cells; .cell_ns 0: not chosen yet */
	int64_t nav_ns, nav_to_ns;	/* the range for which .from_ns was set */
	bool fits;			/* the axis is that range; it ends with it and follows it */
};
static const struct state_kind state_kind = {
	.size = sizeof(struct axis_state), .position = sizeof(struct axis_state),
};

static struct axis_state *state_of(struct place *p)
{
	return place_state(p, &state_kind);
}

/* The fewest columns for names, with their edge. What the cells leave free is added, so that they end at the right. */
static unsigned name_cols(const struct app *app)
{
	return CLAMP(app->canvas->cols * 22 / 100, app->canvas->cols < 72 ? 18 : 23, 36);
}

static unsigned cells_of(const struct app *app)
{
	unsigned cols = app->canvas->cols, names = name_cols(app);

	return cols > names + FEWEST_CELLS + 1 ? cols - names - 1 : FEWEST_CELLS;
}

/* The next longer length of 1, 2, 5, 10, ... */
static int64_t next_length(int64_t cell_ns)
{
	int64_t digit = cell_ns;

	while (digit >= 10)
		digit /= 10;
	return digit == 2 ? cell_ns / 2 * 5 : cell_ns * 2;
}

int64_t timeline_axis_length_from(int64_t ns)
{
	int64_t cell = 1;

	while (cell < LONGEST_CELL && cell < ns)
		cell = next_length(cell);
	return cell;
}

/* Do cells of this length begin and end with the range and with seconds? */
static bool divides(int64_t cell, int64_t from_ns, int64_t to_ns)
{
	return !(from_ns % cell) && !(to_ns % cell) && (!(NS_PER_S % cell) || !(cell % NS_PER_S));
}

/* The shortest length of which so many cells cover the range: one of 1, 2 or 5, or between them, if it divides it. */
static int64_t fitting_length(int64_t from_ns, int64_t to_ns, unsigned cells)
{
	static const uint16_t thousandths[] = { 1000, 1250, 1600, 2000, 2500, 3125, 4000, 5000, 6250, 8000 };
	int64_t least = (to_ns - from_ns + cells - 1) / cells, most = timeline_axis_length_from(least), unit = 1000;

	while (unit * 10 <= most)
		unit *= 10;
	for (int64_t u = unit / 10; u <= unit; u *= 10) {
		for (size_t i = 0; i < G_N_ELEMENTS(thousandths); i++) {
			int64_t cell = u / 100 * thousandths[i] / 10;

			if (cell >= MAX(least, 1) && cell < most && divides(cell, from_ns, to_ns))
				return cell;
		}
	}
	return most;
}

/* The bounds of the trace; false: unknown. */
static bool bounds(const struct app *app, int64_t *ret_first, int64_t *ret_last)
{
	return nav_bounds(&app->nav, app->main, ret_first, ret_last) && *ret_first <= *ret_last;
}

static void set_begin(struct axis_state *s, int64_t from_ns)
{
	s->from_ns = time_floor(from_ns, s->cell_ns);
}

void timeline_axis_fit(const struct app *app, struct place *p, int64_t from_ns, int64_t to_ns)
{
	struct axis_state *s = state_of(p);

	s->cell_ns = fitting_length(from_ns, MAX(to_ns, from_ns + 1), cells_of(app));
	set_begin(s, from_ns);
	p->mark_ns = from_ns + (to_ns - from_ns) / 2;
	nav_range(&app->nav, &s->nav_ns, &s->nav_to_ns);
	s->fits = from_ns == s->nav_ns && to_ns == s->nav_to_ns;
}

/* Follows the range. If the axis fits it, it does so at each width of the screen. */
static void follow(const struct app *app, struct place *p, int64_t from, int64_t to)
{
	struct axis_state *s = state_of(p);
	int64_t mark = p->mark_ns + from - s->nav_ns;

	if (s->fits) {
		timeline_axis_fit(app, p, from, to);
		p->mark_ns = mark >= from && mark < to ? mark : p->mark_ns;
		return;
	}
	p->mark_ns = mark;
	set_begin(s, s->from_ns + from - s->nav_ns);
	s->nav_ns = from;
	s->nav_to_ns = to;
}

bool timeline_axis(const struct app *app, struct place *p, struct timeline_axis *ret)
{
	struct axis_state *s = state_of(p);
	int64_t from, to, mark = p->mark_ns;

	if (app->nav.cursor_ns == TIME_UNKNOWN)
		return false;
	nav_range(&app->nav, &from, &to);
	if (s->cell_ns && mark == TIME_UNKNOWN)
		p->mark_ns = from + (to - from) / 2;
	if (!s->cell_ns) {
		timeline_axis_fit(app, p, from, to);
		p->mark_ns = mark >= from && mark < to ? mark : p->mark_ns;
	} else if (s->fits || from != s->nav_ns) {
		follow(app, p, from, to);
	}
	ret->cells = cells_of(app);
	if (s->fits)
		ret->cells = (unsigned)CLAMP((to - s->from_ns + s->cell_ns - 1) / s->cell_ns, 1, (int64_t)ret->cells);
	ret->x = MIN(MAX(app->canvas->cols, ret->cells + 1) - ret->cells - 1, app->canvas->cols / 2);
	ret->x = MAX(ret->x, name_cols(app));
	ret->cell_ns = s->cell_ns;
	ret->from_ns = s->from_ns;
	ret->to_ns = s->from_ns + s->cell_ns * (int64_t)ret->cells;
	return true;
}

void timeline_axis_stay(const struct app *app, struct place *p)
{
	struct axis_state *s = state_of(p);

	nav_range(&app->nav, &s->nav_ns, &s->nav_to_ns);
	s->fits = false;
}

unsigned timeline_axis_cursor(const struct place *p, const struct timeline_axis *a)
{
	return (unsigned)CLAMP((p->mark_ns - a->from_ns) / a->cell_ns, 0, (int64_t)a->cells - 1);
}

/* The cell of the cursor stays where it is. */
bool timeline_axis_zoom(const struct app *app, struct place *p, bool in)
{
	struct axis_state *s = state_of(p);
	struct timeline_axis a;
	int64_t first, last, cell;

	if (!timeline_axis(app, p, &a) || !bounds(app, &first, &last) || (in && a.cell_ns == 1) ||
	    (!in && (a.from_ns <= first && a.to_ns > last)) || (!in && a.cell_ns >= LONGEST_CELL))
		return false;
	cell = timeline_axis_cursor(p, &a);
	s->cell_ns = in ? timeline_axis_length(MAX(a.cell_ns / 2, 1)) : timeline_axis_length_from(2 * a.cell_ns);
	s->fits = false;
	set_begin(s, p->mark_ns - cell * s->cell_ns);
	if (!in && s->from_ns < first)
		set_begin(s, first);
	return true;
}

void timeline_axis_scroll(const struct app *app, struct place *p, int cells)
{
	struct axis_state *s = state_of(p);
	struct timeline_axis a;
	int64_t first, last;

	if (!timeline_axis(app, p, &a) || !bounds(app, &first, &last))
		return;
	s->fits = false;
	set_begin(s, CLAMP(a.from_ns + cells * a.cell_ns, time_floor(first, a.cell_ns), time_floor(last, a.cell_ns)));
	timeline_axis(app, p, &a);
	p->mark_ns = CLAMP(p->mark_ns, a.from_ns, a.to_ns - 1);
}

bool timeline_axis_move(const struct app *app, struct place *p, int cells)
{
	struct axis_state *s = state_of(p);
	struct timeline_axis a;
	int64_t first, last, to;

	if (!timeline_axis(app, p, &a) || !bounds(app, &first, &last))
		return false;
	to = a.from_ns + ((int64_t)timeline_axis_cursor(p, &a) + cells) * a.cell_ns;
	if (to + a.cell_ns <= first || to > last)
		return false;
	p->mark_ns = to;
	s->fits = s->fits && to >= a.from_ns && to < a.to_ns;
	if (to < a.from_ns)
		set_begin(s, MAX(to - (int64_t)a.cells / 4 * a.cell_ns, first));
	else if (to >= a.to_ns)
		set_begin(s, a.from_ns + ((to - a.to_ns) / a.cell_ns + 1 + a.cells / 4) * a.cell_ns);
	return true;
}

int64_t timeline_axis_length(int64_t ns)
{
	int64_t cell = 1;

	while (cell < LONGEST_CELL && next_length(cell) <= ns)
		cell = next_length(cell);
	return cell;
}

bool timeline_axis_is_short(const struct app *app, int64_t from_ns, int64_t to_ns)
{
	struct extent_sum sum;

	return to_ns - from_ns <= VIEW_RANGE_LONGEST_NS &&
	       !(extent_sum(&app->extent, from_ns, to_ns, &sum) && (double)sum.bytes > FINE_BYTES);
}

int64_t timeline_axis_step(const struct app *app, const struct timeline_axis *a)
{
	return a->cell_ns < NS_PER_S && timeline_axis_is_short(app, a->from_ns, a->to_ns) ? a->cell_ns : 0;
}

uint32_t timeline_axis_ran(struct app *app, struct place *p)
{
	const struct lane_row *r = (const struct lane_row *)(const void *)table_selected(&p->table[PANE_MAIN], p->rows);
	struct timeline_axis a;

	if (!r || r->kind != LANE_CPU || !r->cells || !timeline_axis(app, p, &a) || p->rows->query.cells != a.cells)
		return ID_NONE;
	return r->cells[timeline_axis_cursor(p, &a)].thread;
}
