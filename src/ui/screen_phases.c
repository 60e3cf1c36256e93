/* SPDX-License-Identifier: GPL-2.0-only */
/* The phases of an operation as a table, and below it details of the selected phase (phase_detail.h). */
#include "ui/frame.h"
#include "ui/screen.h"

#include "ui/phase_detail.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define DETAIL_ROWS 6		/* of the lower part, with its title and the worst requests */

struct phases_state { struct phase_detail *detail; };	/* of the selected row, or NULL */

static void clear(void *state)
{
	g_clear_pointer(&((struct phases_state *)state)->detail, phase_detail_free);
}

static const struct state_kind state_kind = { .size = sizeof(struct phases_state), .stale = clear, .clear = clear };

static const struct phase_detail *detail_of(struct place *p)
{
	const struct row *row = place_selected(p);
	struct phases_state *s = place_state(p, &state_kind);

	if (s->detail && row && memcmp(s->detail->key, row->key, sizeof row->key))
		clear(s);
	if (!s->detail && row)
		s->detail = phase_detail_new(p->view, p->rows, row);
	return s->detail;
}

static void draw_calls(struct app *app, const struct phase_detail *d, struct box box)
{
	struct canvas *c = app->canvas;

	canvas_put(c, box.y, box.x, box.cols - 20, ROLE_CRUMB, d->name);
	canvas_put_right(c, box.y, box.x + box.cols - 20, 20, ROLE_HEADER, "calls  time    max");
	for (guint i = 0; i < d->calls->len && i + 1 < box.rows; i++) {
		const struct phase_sum *call = &g_array_index(d->calls, struct phase_sum, i);
		bool user = call->id == ID_NONE;
		char count[TIMEFMT_LEN], max[TIMEFMT_LEN];
		g_autofree char *name = text_visible(user ? "(user)" :
						     timeline_string(app->tl, call->id));
		g_autofree char *figures = g_strdup_printf("%5s %4.0f%% %6s",
			user ? "-" : timefmt_count(count, call->count),
			d->sum_ns ? 100.0 * (double)call->total_ns / (double)d->sum_ns : 0,
			user ? "" : timefmt_duration(max, call->max_ns));

		canvas_put(c, box.y + 1 + i, box.x + 1, box.cols - 20, ROLE_TEXT, name);
		canvas_put_right(c, box.y + 1 + i, box.x + box.cols - 18, 18, ROLE_TEXT, figures);
	}
	if (!d->calls->len && box.rows > 1)
		canvas_put(c, box.y + 1, box.x + 1, box.cols - 20, ROLE_DIM, "not known");
}

static void draw_spread(struct app *app, const struct phase_detail *d, struct box box)
{
	struct canvas *c = app->canvas;
	uint64_t most = 1;

	canvas_putf(c, box.y, box.x, box.cols, ROLE_HEADER, "latency (%" G_GUINT64_FORMAT ")", d->n);
	for (int b = 0; b < PHASE_BUCKETS; b++)
		most = MAX(most, d->spread[b]);
	for (unsigned b = 0; b < PHASE_BUCKETS && b + 1 < box.rows; b++) {
		unsigned room = box.cols > 16 ? box.cols - 16 : 0;
		unsigned eighths = (unsigned)(d->spread[b] * room * 8 / most);
		char bound[TIMEFMT_LEN], count[TIMEFMT_LEN];

		canvas_putf(c, box.y + 1 + b, box.x, 9, ROLE_TEXT, "<=%6s",
			    timefmt_duration(bound, d->bound_ns[b]));
		frame_bar(app, box.y + 1 + b, box.x + 9, ROLE_SPARK, d->spread[b] ? MAX(eighths, 1) : 0, MAX(room, 1));
		canvas_put_right(c, box.y + 1 + b, box.x + box.cols - 6, 6, ROLE_TEXT,
				 timefmt_count(count, d->spread[b]));
	}
}

static void draw_wakers(struct app *app, const struct phase_detail *d, struct box box)
{
	struct canvas *c = app->canvas;

	canvas_put(c, box.y, box.x, box.cols, ROLE_HEADER, "woken by");
	for (guint i = 0; i < d->wakers->len && i + 1 < box.rows; i++) {
		const struct phase_sum *w = &g_array_index(d->wakers, struct phase_sum, i);
		const struct thread_info *t = timeline_thread(app->tl, w->id);
		g_autofree char *comm = text_visible(timeline_comm(app->tl, w->id, G_MAXINT64));
		g_autofree char *tid = t ? g_strdup_printf("/%d", t->tid) : g_strdup("/?");
		g_autofree char *clipped = NULL, *label = NULL;
		unsigned room = box.cols > 12 + strlen(tid) ? box.cols - 12 - (unsigned)strlen(tid) : 0;
		char time[TIMEFMT_LEN];
		g_autofree char *after = g_strdup_printf("%" G_GUINT64_FORMAT "x %6s", w->count,
							 timefmt_duration(time, w->total_ns));

		clipped = text_clip(comm, room, app->glyphs->utf8);
		label = g_strconcat(clipped, tid, NULL);
		canvas_put(c, box.y + 1 + i, box.x, box.cols - 12, ROLE_TEXT, label);
		canvas_put_right(c, box.y + 1 + i, box.x + box.cols - 12, 12, ROLE_TEXT, after);
	}
	if (!d->wakers->len && box.rows > 1)
		canvas_put(c, box.y + 1, box.x, box.cols, ROLE_DIM, "not known");
}

static void draw_worst(struct app *app, const struct phase_detail *d, unsigned y)
{
	struct canvas *c = app->canvas;
	unsigned x = canvas_put(c, y, 0, c->cols, ROLE_HEADER, "WORST");
	g_autofree char *of = g_strdup_printf(" %s%s%s", d->service ? d->service : "",
					      d->service ? "/" : "", d->name);

	/* Phases of several services can have the same name. In little room the service is left out. */
	x += canvas_put(c, y, x, c->cols / 3, ROLE_CRUMB, of);

	for (unsigned i = 0; i < d->n_worst; i++) {
		char time[TIMEFMT_LEN];

		if (x + 20 > c->cols)
			break;
		x += canvas_putf(c, y, x, c->cols, ROLE_TEXT, "   %08x %s",
				 value_short_id(d->worst[i].trace_id), timefmt_duration(time, d->worst[i].ns));
	}
}

/* Rows of the details, with title and worst requests: as many as there is something to say. */
static unsigned rows_of(const struct phase_detail *d, unsigned most)
{
	unsigned lines = MAX(MAX(d->calls->len, d->wakers->len), PHASE_BUCKETS);

	return MIN(lines + 2, most);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	const struct phase_detail *d = detail_of(p);
	unsigned rows = d ? rows_of(d, DETAIL_ROWS + (box.rows > 30 ? 4 : 0)) : 0, y;
	unsigned calls = box.cols * 2 / 5, half = (box.cols - calls) * 2 / 5;

	if (!d || box.rows < rows + 7) {
		screen_table.draw(app, p, box);
		return;
	}
	box.rows -= rows + 1;
	screen_table.draw(app, p, box);
	y = box.y + box.rows + 1;
	draw_calls(app, d, (struct box){ y, 0, rows - 1, calls });
	draw_spread(app, d, (struct box){ y, calls + 2, rows - 1, half });
	draw_wakers(app, d, (struct box){ y, calls + half + 4, rows - 1,
					  box.cols - calls - half - 4 });
	draw_worst(app, d, y + rows - 1);
}

const struct screen screen_phases = { .draw = draw, .prepare = screen_table_prepare };
