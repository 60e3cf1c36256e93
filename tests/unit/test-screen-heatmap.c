/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heatmap and distribution on the screen: which metric a row opens, moving, rectangles and what they say, what Enter
 * lists, sizes; on the story of tests/lib/fake_timeline.h.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/metric_place.h"
#include "ui/app.h"
#include "ui/screen.h"
#include "views/distribution.h"
#include "views/heat_difference.h"
#include "views/view.h"

#include "base/timefmt.h"

#include <string.h>

static uint64_t total(struct fixture *f)
{
	const struct rows *rows = fixture_top(f)->rows;
	return fixture_top(f)->view == &view_heatmap ? heat_grid_of(rows)->total : distribution_of(rows)->side[0].count;
}

/* Of every table: i and d open durations, one by one, of the selected row, or say that there are none. */
static void test_every_view(void)
{
	for (size_t i = 0; view_all[i]; i++) {
		for (const char *key = "id"; *key && view_all[i]->on_screen && !view_all[i]->of_metric; key++) {
			const struct view_query all = VIEW_QUERY_INIT;
			struct fixture f;
			if (view_all[i]->kind == VIEW_WATERFALL || view_all[i]->kind == VIEW_PROCESS)
				continue;
			fixture_start(&f, "");
			app_open(f.app, place_new(view_all[i], &all, ""));
			app_draw(f.app);
			guint n = fixture_top(&f)->rows->rows->len;
			fixture_press(&f, (char[]){ *key, 0 });
			g_test_message("%s %c", view_all[i]->id, *key);
			if (!fixture_top(&f)->view->of_metric) {
				g_assert_true(fixture_has(&f, "has no durations, one by one"));
			} else {
				g_assert_true(metric_has_durations(place_metric(fixture_top(&f))->query.metric));
				g_assert_true(!n || *key != 'i' || total(&f) > 0 || view_all[i]->drill == NULL ||
					      !strcmp(view_all[i]->id, "scheduler"));
			}
			fixture_stop(&f);
		}
	}
}

/* A row's heatmap is of that row: as many durations as the row has in all time. */
static void test_of_row(void)
{
	struct fixture f;
	fixture_start(&f, "5i");
	g_assert_true(fixture_has(&f, "call.latency of write pid 253: 45 calls"));
	fixture_press(&f, "\033jjjjd");
	g_assert_true(fixture_has(&f, "call.latency of recvfrom pid 253"));
	g_assert_cmpuint(total(&f), ==, 9);
	fixture_press(&f, "i");
	g_assert_true(fixture_top(&f)->view == &view_heatmap && fixture_has(&f, "call.latency of recvfrom pid 253"));
	fixture_stop(&f);
	/* The selected span of a waterfall; a thread of a process page. */
	fixture_start(&f, "j\rji");
	g_assert_true(fixture_has(&f, "span.latency of store: 39 spans"));
	fixture_stop(&f);
	fixture_start(&f, "4\rjd");
	g_assert_true(fixture_has(&f, "sched.wakeup of pid 246 tid"));
	fixture_stop(&f);
}

/* Enter lists the requests of a cell, and no others. */
static void test_enter(void)
{
	struct fixture f;
	fixture_start(&f, "i");
	for (int cell = 0; cell < 12; cell++) {
		for (int i = 0; i < cell; i++)
			fixture_press(&f, "j");
		fixture_press(&f, "\r");
		if (fixture_top(&f)->view != &view_heatmap) {
			const struct rows *rows = fixture_top(&f)->rows;
			int column = view_column(view_find("traces"), "duration_ns");
			g_assert_true(fixture_top(&f)->view == view_find("traces"));
			g_assert_cmpuint(rows->rows->len, >, 0);
			guint n = rows->rows->len;
			int64_t least = INT64_MAX, most = 0;
			for (guint i = 0; i < n; i++) {
				struct value v = column_value(&view_find("traces")->columns[column],
							      rows->rows->pdata[i], rows);
				least = MIN(least, v.i);
				most = MAX(most, v.i);
			}
			fixture_press(&f, "\033");
			const struct rows *cells = fixture_top(&f)->rows;
			uint64_t found = 0;
			for (guint i = 0; i < cells->rows->len; i++) {
				const struct heat_cell *c = cells->rows->pdata[i];
				int bits = heat_grid_of(cells)->bits;
				if (c->begin_ns == f.app->nav.cursor_ns && latency_row(bits, least) == c->level &&
				    latency_row(bits, most) == c->level)
					found = c->count;
			}
			g_assert_cmpuint(found, ==, n);
		} else {
			g_assert_true(fixture_has(&f, "the cell is empty"));
		}
		fixture_press(&f, "g");
	}
	fixture_stop(&f);
}

/* A rectangle: what Enter lists is in it, what is different follows from two counts by hand. */
static void test_rectangle(void)
{
	struct fixture f;
	fixture_start(&f, "i jj ");		/* second 3, of the 3 that took longest */
	g_assert_true(fixture_has(&f, "rectangle 06:08:38 58.7ms-101ms: 3 requests 68.4ms 96.3ms 97.3ms"));
	g_assert_true(fixture_has(&f, "different: "));
	fixture_press(&f, "\r");
	g_assert_cmpuint(fixture_top(&f)->rows->rows->len, ==, 3);
	fixture_press(&f, "\033U");
	g_assert_true(fixture_has(&f, "cell 06:08:38"));
	fixture_press(&f, " ");
	fixture_press_key(&f, UI_KEY_LEFT);
	fixture_press(&f, "\r");
	g_assert_true(fixture_top(&f)->view == &view_heatmap);		/* empty */
	fixture_stop(&f);
}

static void test_difference(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 10, 10, "a"), b = fake_thread(f, 0, 20, 20, "b");
	uint32_t read = fake_string(f, "read"), write = fake_string(f, "write");
	for (unsigned i = 0; i < 4; i++) {
		fake_call(fake_second(f, i), a, read, 10, 2000);
		fake_call(fake_second(f, i), b, write, 10, 2000);
		fake_call(fake_second(f, i), b, read, 3, FAKE_MS * 20);
		fake_call(fake_second(f, i), a, read, 1, FAKE_MS * 20);
	}
	struct timeline *tl = fake_done(f);
	struct metric_query q = { .metric = metric_find("call.latency", NULL) };
	const struct heat_rectangle r = { FAKE_T0 + FAKE_S, FAKE_T0 + 3 * FAKE_S, 1 << 24, INT64_MAX };
	g_autoptr(GArray) found = heat_differences(tl, &q, &r, 0, 0);
	g_assert_cmpuint(found->len, >=, 2);
	/* Inside: 2 seconds of 4 reads, 3 of them by b. Outside: 88 - 8 calls, 42 by a, 46 reads. */
	const struct heat_difference *first = &g_array_index(found, struct heat_difference, 0);
	g_assert_cmpint(first->field, ==, METRIC_BY_call);
	g_assert_cmpstr(first->value, ==, "read");
	g_assert_cmpuint(first->inside, ==, 8);
	g_assert_cmpuint(first->all_inside, ==, 8);
	g_assert_cmpuint(first->outside, ==, 48);
	g_assert_cmpuint(first->all_outside, ==, 88);
	const struct heat_difference *second = &g_array_index(found, struct heat_difference, 1);
	g_assert_cmpint(second->field, ==, METRIC_BY_process);
	g_assert_cmpstr(second->value, ==, "b");
	g_assert_cmpuint(second->inside, ==, 6);
	g_assert_cmpuint(second->outside, ==, 46);
	timeline_free(tl);
}

/* Two tagged rows side by side; C cycles what is compared. */
static void test_compared(void)
{
	struct fixture f;
	fixture_start(&f, "5jjj  d");
	g_assert_true(distribution_of(fixture_top(&f)->rows)->side[1].known);
	g_assert_true(fixture_has(&f, "clock_nanosleep pid 666 and recvfrom pid 253"));
	fixture_press(&f, "C");
	g_assert_false(distribution_of(fixture_top(&f)->rows)->side[1].known);
	fixture_press(&f, "C");
	g_assert_true(fixture_has(&f, "compared with the same time before"));
	fixture_press(&f, "C");
	g_assert_true(fixture_has(&f, "compared with all other history"));
	fixture_press(&f, "C");
	g_assert_true(fixture_has(&f, "not compared"));
	fixture_press(&f, "\033g   d");
	g_assert_true(fixture_has(&f, "rows are tagged: two can be shown"));
	fixture_stop(&f);
}

/* Any size, any key: what is drawn stays in the canvas, and the sum is the same. */
static void test_sizes(void)
{
	static const char keys[] = "jkgG <>bHAR U\r\033idCn";
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	struct fixture f;
	fixture_start(&f, "i");
	for (unsigned rows = 15; rows < 70; rows += 6)
		for (unsigned cols = 60; cols < 210; cols += 23) {
			app_resize(f.app, rows, cols);
			app_draw(f.app);
			g_assert_cmpuint(total(&f), ==, 39);
			g_assert_cmpuint(heat_grid_of(fixture_top(&f)->rows)->n_columns, <=, cols);
		}
	for (int i = 0; i < 3000; i++) {
		if (i % 50 == 0)
			app_resize(f.app, (unsigned)g_rand_int_range(rand, 15, 60),
				   (unsigned)g_rand_int_range(rand, 60, 200));
		fixture_press_key(&f, i % 5 ? keys[g_rand_int_range(rand, 0, sizeof keys - 1)] :
			  g_rand_boolean(rand) ? UI_KEY_LEFT : UI_KEY_RIGHT);
		if (!fixture_top(&f)->view->of_metric && i % 20 == 0)
			fixture_press(&f, "1i");
	}
	fixture_stop(&f);
}

/* The column of the instant's cell in a row that is hit as time; G_MAXUINT: in none. */
static unsigned column_of(const struct canvas *c, unsigned y, int64_t at)
{
	for (unsigned x = 0; x < c->cols; x++) {
		struct canvas_hit hit = canvas_hit_at(c, y, x);
		if (hit.hit == HIT_TIME && hit.value == at)
			return x;
	}
	return G_MAXUINT;
}

static unsigned row_with(const struct canvas *c, const char *what)
{
	for (unsigned y = 0; y < c->rows; y++) {
		g_autofree char *line = canvas_line(c, y);
		if (strstr(line, what))
			return y;
	}
	g_assert_not_reached();
}

/* A second is in the column that it has in the strip of a table. */
static void test_columns(void)
{
	struct fixture f;
	fixture_start(&f, "");
	for (unsigned cols = 60; cols < 210; cols += 9) {
		const struct canvas *c = f.app->canvas;
		unsigned in_strip[8];
		size_t n = timeline_n_seconds(f.tl);
		g_assert_cmpuint(n, <=, G_N_ELEMENTS(in_strip));
		app_resize(f.app, 40, cols);
		fixture_press(&f, "2");
		for (size_t i = 0; i < n; i++)
			in_strip[i] = column_of(c, row_with(c, "p99 "), timeline_second(f.tl, i)->begin_ns);
		fixture_press(&f, "1i");
		const struct heat_grid *g = heat_grid_of(fixture_top(&f)->rows);
		g_assert_cmpuint(g->n_columns, >, 1);
		g_assert_true(fixture_has(&f, "39 ≥"));	/* the last row: all of them */
		for (uint64_t i = 0; i < g->n_columns; i++) {
			int64_t begin = g->begin_ns + (int64_t)i * g->cell_ns;
			unsigned x = column_of(c, row_with(c, "└"), begin);
			g_assert_cmpuint(x, !=, G_MAXUINT);
			for (size_t k = 0; k < n; k++)
				if (timeline_second(f.tl, k)->begin_ns == begin)
					g_assert_cmpuint(x, ==, in_strip[k]);
		}
	}
	fixture_stop(&f);
}

/* Hostile names stay visible text, and one too long for an expression is left out. */
static void test_hostile(void)
{
	struct fake *f = fake_new();
	g_autofree char *longest = g_strnfill(200000, '"');
	uint32_t t = fake_thread(f, 0, 10, 10, FAKE_HOSTILE_COMM);
	fake_class(f, "syscall_entry_read");
	fake_call(fake_second(f, 0), t, fake_string(f, longest), 1, INT64_MAX);
	struct fixture x;
	fixture_start_on(&x, fake_done(f), false, "5i");
	g_assert_true(fixture_top(&x)->view == &view_heatmap);
	g_assert_cmpuint(total(&x), ==, 1);
	fixture_press(&x, "bbbbbb  \rd");
	fixture_stop(&x);
}

/* Live: seconds that come are in the next frame, or soon after it. */
static void test_grows(void)
{
	struct fixture f;
	fixture_start(&f, "5i");
	uint64_t before = total(&f);
	struct publication *p = publication_new();
	struct second *s = second_new(FAKE_T0 + 6 * FAKE_S, FAKE_T0 + 7 * FAKE_S);
	const struct second *last = timeline_second(f.tl, timeline_n_seconds(f.tl) - 1);
	for (uint32_t i = 0; i < last->n_calls; i++)
		fake_call(s, last->calls[i].thread, last->calls[i].name, 7, FAKE_MS);
	second_seal(s);
	g_ptr_array_add(p->seconds, s);
	timeline_apply(f.tl, p);
	app_timeline_changed(f.app);
	for (gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
	     total(&f) == before && g_get_monotonic_time() < end;)
		app_draw(f.app);
	g_assert_cmpuint(total(&f), ==, before + 7);
	fixture_stop(&f);
}

/* Nothing is read. */
static void test_empty(void)
{
	struct fixture f;
	fixture_start_on(&f, timeline_new(0), false, "1i \r<>bUdC\r");
	fixture_stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/screen/heatmap/every-view", test_every_view);
	g_test_add_func("/screen/heatmap/of-row", test_of_row);
	g_test_add_func("/screen/heatmap/enter", test_enter);
	g_test_add_func("/screen/heatmap/rectangle", test_rectangle);
	g_test_add_func("/screen/heatmap/difference", test_difference);
	g_test_add_func("/screen/heatmap/compared", test_compared);
	g_test_add_func("/screen/heatmap/sizes", test_sizes);
	g_test_add_func("/screen/heatmap/columns", test_columns);
	g_test_add_func("/screen/heatmap/hostile", test_hostile);
	g_test_add_func("/screen/heatmap/grows", test_grows);
	g_test_add_func("/screen/heatmap/empty", test_empty);
	return g_test_run();
}
