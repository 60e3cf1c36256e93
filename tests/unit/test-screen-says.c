/* SPDX-License-Identifier: GPL-2.0-only */
/* What the screen says about where it is: the shown second, the range, causes, hints, and what can be asked. */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/metric_place.h"
#include "ui/timeline_axis.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <stdio.h>
#include <string.h>

/* The column of the only arrow in reverse on row y; -1: there is none. */
static int arrow_at(const struct fixture *f, unsigned y)
{
	int found = -1;

	for (unsigned x = 0; x < f->app->canvas->cols; x++) {
		const struct cell *c = canvas_cell(f->app->canvas, y, x);

		if (strcmp(c->ch, "▼") || !(c->attr & STYLE_REVERSE))
			continue;
		g_assert_cmpint(found, ==, -1);
		found = (int)x;
	}
	return found;
}

/* No cell of the strip is a full block in reverse: it would be a hole. */
static void check_no_holes(const struct fixture *f)
{
	for (unsigned i = 0; i < f->app->canvas->rows * f->app->canvas->cols; i++) {
		const struct cell *c = &f->app->canvas->cells[i];

		g_assert_false((c->attr & STYLE_REVERSE) && !strcmp(c->ch, "█"));
	}
}

static void test_strip(void)
{
	struct fixture f;

	fixture_start(&f, "4");
	g_assert_cmpint(arrow_at(&f, 3), >, 8);
	check_no_holes(&f);
	fixture_press_key(&f, UI_KEY_LEFT);
	g_assert_cmpint(arrow_at(&f, 3), ==, -1);
	check_no_holes(&f);
	fixture_stop(&f);
}

/* The time cursor is on every row of the lanes, whatever is painted there. */
static void test_cursor(void)
{
	struct fixture f;
	unsigned x = 0, lanes = 0;

	fixture_start(&f, "v");
	for (unsigned y = 0; y < 24 && !x; y++) {
		for (unsigned i = 0; i < 80; i++)
			if (!strcmp(canvas_cell(f.app->canvas, y, i)->ch, "▼") &&
			    !(canvas_cell(f.app->canvas, y, i)->attr & STYLE_REVERSE))
				x = i;
	}
	for (unsigned y = 0; y < 24; y++) {
		g_autofree char *line = canvas_line(f.app->canvas, y);
		bool lane = strstr(line, "%│");

		if (!lane)
			continue;
		lanes++;
		g_assert_cmpstr(canvas_cell(f.app->canvas, y, x)->ch, ==, "│");
		g_assert_cmpint(canvas_cell(f.app->canvas, y, x)->role, ==, ROLE_HOT);
	}
	g_assert_cmpuint(x, >, 0);
	g_assert_cmpuint(lanes, >, 5);
	fixture_stop(&f);
}

/* A CPU that one thread keeps busy while a request waits. */
static struct timeline *busy_timeline(void)
{
	struct fake *made = fake_new();
	uint32_t flush = fake_thread(made, 0, 2, 17, "kworker"), serve = fake_thread(made, 0, 70, 71, "serve");
	struct second *s = fake_second(made, 0);

	fake_class(made, "sched_switch");
	fake_class(made, "zipkin:timestamp");
	s->n_cpus = 1;
	s->cpus = g_new0(struct cpu_cell, 1);
	s->cpus[0] = (struct cpu_cell){ .run_ns = FAKE_S };
	s->n_rans = 1;
	s->rans = g_new0(struct ran_cell, 1);
	s->rans[0] = (struct ran_cell){ .key = { flush, 0 }, .time_ns = FAKE_S };
	fake_cell(s, serve);
	fake_cell(s, flush);
	fake_span(made, &(struct fake_span){ .trace = 1, .id = 1, .name = "get", .service = "web", .thread = serve,
		.begin = 0, .end = FAKE_S / 2, .state = SPAN_COMPLETE });
	return fake_done(made);
}

static unsigned count_blocks(const struct fixture *f, bool reverse)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->app->canvas->rows * f->app->canvas->cols; i++) {
		const struct cell *c = &f->app->canvas->cells[i];

		n += c->role == ROLE_PART + PART_USER && !(c->attr & STYLE_REVERSE) == !reverse &&
			!strcmp(c->ch, reverse ? "k" : "█");
	}
	return n;
}

/* The lane of a busy CPU is a bar from end to end: the thread's name in reverse, and then full blocks. */
static void test_busy(void)
{
	static const char *const ways[] = { "v", "vzz" };

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		struct fixture f;

		fixture_start_on(&f, busy_timeline(), true, "");
		app_resize(f.app, 45, 140);
		fixture_press(&f, ways[i]);
		g_assert_true(fixture_has(&f, "kworker█"));
		g_assert_cmpuint(count_blocks(&f, false), >, 60);
		g_assert_cmpuint(count_blocks(&f, true), ==, 2);
		canvas_check_seen(f.app->canvas);
		fixture_stop(&f);
	}
}

/* Selected cells are seen in each scheme: figures as blocks in a table, and the rectangle of the heatmap. */
static void test_selected_blocks(void)
{
	static const char *const ways[] = { "jjjjj", "jjjjjj", "5i >j ", "i   >> " };

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		struct fixture f;

		fixture_start(&f, "");
		app_resize(f.app, 45, 140);
		fixture_press(&f, ways[i]);
		canvas_check_seen(f.app->canvas);
		fixture_stop(&f);
	}
}

/* The legend of the heatmap has each shade that is in its picture, in its colour unless colours are values. */
static void test_heat_legend(void)
{
	static const struct { const char *keys; bool by; unsigned cols; } ways[] = {
		{ "i", false, 80 }, { "i", false, 140 }, { "ib", true, 80 }, { "ibbb", true, 140 }, { "5i", false, 80 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		struct fixture f;
		unsigned legend = 0, shades = 0;

		fixture_start(&f, "");
		app_resize(f.app, 24, ways[i].cols);
		fixture_press(&f, ways[i].keys);
		for (unsigned y = 0; y < 24 && !legend; y++) {
			g_autofree char *line = canvas_line(f.app->canvas, y);

			legend = g_str_has_prefix(line, "by ") ? y : 0;
		}
		g_assert_cmpuint(legend, >, 0);
		for (unsigned k = 4 * ways[i].cols; k < legend * ways[i].cols; k++) {
			const struct cell *c = &f.app->canvas->cells[k];
			bool found = false;

			if (!strstr("░▒▓█", c->ch) || !*c->ch)
				continue;
			shades++;
			for (unsigned x = 0; x < ways[i].cols && !found; x++) {
				const struct cell *l = canvas_cell(f.app->canvas, legend, x);

				found = !strcmp(l->ch, c->ch) && (ways[i].by || l->role == c->role) &&
					(l->shade == c->shade || ways[i].cols < 100);
			}
			g_assert_true(found);
		}
		g_assert_cmpuint(shades, >, 5);
		fixture_stop(&f);
	}
}

/* The clock of the selected column is whole on the axis, in each column and at each width. */
static void test_heat_clock(void)
{
	for (unsigned cols = 60; cols < 200; cols += 7) {
		struct fixture f;

		fixture_start(&f, "");
		app_resize(f.app, 24, cols);
		fixture_press(&f, "i0");
		for (int i = 0; i < 8; i++) {
			char clock[TIMEFMT_LEN];
			bool found = false;

			timefmt_clock(clock, f.app->nav.cursor_ns);
			for (unsigned y = 4; y < 24 && !found; y++) {
				g_autofree char *line = canvas_line(f.app->canvas, y);

				found = strstr(line, "└") && strstr(line, clock);
			}
			g_test_message("%u columns: %s", cols, clock);
			g_assert_true(found);
			fixture_press(&f, "<");
		}
		fixture_stop(&f);
	}
}

/* The row of the timeline's axis; its text is in *ret. */
static unsigned axis_row(struct fixture *f, char **ret)
{
	for (unsigned y = 0; y < f->app->canvas->rows; y++) {
		*ret = canvas_line(f->app->canvas, y);
		if (g_str_has_prefix(*ret, " LANE "))
			return y;
		g_free(*ret);
	}
	g_assert_not_reached();
}

/* The axis is as long as the range, at each width and for each range; after zooming it is as long as the screen. */
/* Of the widths a third for each way, of the next way others; with ALL=1, as in make check-long, all. */
static bool is_tried(unsigned way, unsigned cols)
{
	return g_getenv("ALL") || (way + cols) % 3 == 0;
}

static void test_axis_fits(void)
{
	static const char *const ways[] = { "v", "v0", "bstart\rAb+1s\rBv", "v0R" };
	static const int64_t lengths[] = { FAKE_S, 6 * FAKE_S, 2 * FAKE_S, FAKE_S };

	for (unsigned i = 0; i < G_N_ELEMENTS(ways) * 140; i++) {
		unsigned way = i % G_N_ELEMENTS(ways), cols = 60 + i / G_N_ELEMENTS(ways);
		struct timeline_axis a, wide;
		struct fixture f;

		if (!is_tried(way, cols))
			continue;
		fixture_start(&f, "");
		app_resize(f.app, 24, cols);
		fixture_press(&f, ways[way]);
		g_assert_true(timeline_axis(f.app, fixture_top(&f), &a));
		g_assert_cmpint(a.to_ns - a.from_ns, ==, lengths[way]);
		app_resize(f.app, 24, cols + 70);
		app_draw(f.app);
		g_assert_true(timeline_axis(f.app, fixture_top(&f), &wide));
		g_assert_cmpint(wide.to_ns - wide.from_ns, ==, lengths[way]);
		g_assert_cmpuint(wide.x + wide.cells + 1, ==, cols + 70);	/* nothing is free at the right */
		g_assert_cmpint(wide.cell_ns, <=, a.cell_ns);
		fixture_press(&f, "zz");
		g_assert_true(timeline_axis(f.app, fixture_top(&f), &a));
		g_assert_cmpuint(a.x + a.cells + 1, ==, cols + 70);
		fixture_stop(&f);
	}
}

/* Ticks are in steps of 1, 2 or 5, at the cells that they name, and none of them is cut, wherever the cursor is. */
static void test_axis_ticks(void)
{
	for (unsigned i = 0; i < 60; i++) {
		g_autofree char *line = NULL;
		struct timeline_axis a;
		struct fixture f;
		unsigned y, ticks = 0;
		int64_t step = 0, last = 0;

		fixture_start(&f, "");
		app_resize(f.app, 24, 80 + 2 * i);
		fixture_press(&f, i % 3 ? "vz" : "v");
		for (unsigned k = 0; k < i && i % 2; k++)
			fixture_press_key(&f, UI_KEY_RIGHT);
		g_assert_true(timeline_axis(f.app, fixture_top(&f), &a));
		if (i % 2 == 0)		/* at the beginning it hides no tick */
			fixture_top(&f)->mark_ns = a.from_ns;
		app_draw(f.app);
		y = axis_row(&f, &line);
		g_assert_true(timeline_axis(f.app, fixture_top(&f), &a));
		for (unsigned x = a.x; x < f.app->canvas->cols; x++) {
			int64_t at;
			double number = 0;
			char unit = 0;
			g_autofree char *text = canvas_line(f.app->canvas, y);
			const char *from = g_utf8_offset_to_pointer(text, x < g_utf8_strlen(text, -1) ? x : 0);

			if (*from != '+')
				continue;
			g_assert_cmpint(sscanf(from, "+%lf%c", &number, &unit), ==, 2);
			g_assert_true(unit == 'm' || unit == 'u' || unit == 's');
			at = (int64_t)(number * (unit == 'm' ? 1e6 : unit == 'u' ? 1e3 : 1e9));
			g_assert_cmpint(at / a.cell_ns, ==, x - a.x);
			step = step && at - last >= step ? step : at - last;
			last = at;
			ticks++;
		}
		g_assert_cmpuint(ticks, >, 1);
		while (step % 10 == 0)
			step /= 10;
		g_assert_true(step == 1 || step == 2 || step == 5 || i % 2);
		fixture_stop(&f);
	}
}

/* Names in lanes are whole, wherever the cursor is. */
static void test_lane_names(void)
{
	for (unsigned i = 0; i < 12; i++) {
		struct fixture f;

		fixture_start_on(&f, busy_timeline(), true, "v");
		fixture_top(&f)->mark_ns = FAKE_T0 + i * 20 * FAKE_MS;
		app_draw(f.app);
		g_assert_true(fixture_has(&f, i == 7 ? "kworker│" : "kworker█"));
		fixture_stop(&f);
	}
}

/* Where a lane is unknown, it says why. */
static void test_lane_reasons(void)
{
	struct fixture f;
	struct fake *made = fake_new();
	struct second *s = fake_second(made, 0);

	fixture_start(&f, "v");
	g_assert_true(fixture_has(&f, "no event of it?"));
	app_resize(f.app, 24, 200);
	app_draw(f.app);
	g_assert_true(fixture_has(&f, "unknown: no event of it yet, or events were lost?"));
	fixture_stop(&f);
	fake_class(made, "sched_waking");		/* a kernel, but not what ran */
	s->n_cpus = 1;
	s->cpus = g_new0(struct cpu_cell, 1);
	s->cpus[0] = (struct cpu_cell){ .unknown_ns = FAKE_S };
	fake_cell(s, fake_thread(made, 0, 7, 8, "worker"))->part[PART_UNKNOWN] = FAKE_S;
	fixture_start_on(&f, fake_done(made), true, "v");
	g_assert_true(fixture_has(&f, "no sched_switch"));
	fixture_stop(&f);
}

/* A machine where one process and one CPU work, and `idle` others, CPUs, and a lane each, do not. */
static struct timeline *idle_machine(unsigned idle, enum part part)
{
	struct fake *made = fake_new();
	struct second *s = fake_second(made, 0);

	fake_class(made, "sched_switch");
	fake_class(made, "sched_waking");
	fake_class(made, "syscall_entry_read");
	fake_class(made, "irq_handler_entry");
	fake_cell(s, fake_thread(made, 0, 70, 70, "serve"))->part[PART_USER] = FAKE_S / 2;
	for (unsigned i = 0; i < idle; i++)
		fake_cell(s, fake_thread(made, 0, 100 + (int)i, 100 + (int)i, "sleeper"))->part[part] = FAKE_S;
	s->n_cpus = idle + 1;
	s->cpus = g_new0(struct cpu_cell, idle + 1);
	for (unsigned i = 0; i <= idle; i++)
		s->cpus[i] = (struct cpu_cell){ .cpu = (uint16_t)i, .run_ns = i == 1 ? FAKE_S / 2 : 0,
						.idle_ns = i == 1 ? FAKE_S / 2 : FAKE_S };
	return fake_done(made);
}

static void check_idle_line(struct fixture *f, unsigned rows)
{
	g_autofree char *line = g_strdup_printf("%u more, idle", rows);

	if (!fixture_has(f, line) && rows >= 3)
		g_test_message("no '%s' in %s", line, nav_top(&f->app->nav)->view->id);
	g_assert_true(rows < 3 ? fixture_has_not(f, "more, idle") : fixture_has(f, line));
}

/* Rows in which nothing happened are one line, wherever they are in the table, until Enter on it or a search shows
 * them. */
static void test_idle_rows(void)
{
	for (unsigned idle = 2; idle < 30; idle += 9) {
		struct fixture f;
		struct table *t;

		fixture_start_on(&f, idle_machine(idle, PART_OTHER), true, "1");
		app_resize(f.app, 60, 200);
		app_draw(f.app);
		check_idle_line(&f, idle);
		g_assert_true(idle < 3 ? fixture_has(&f, "sleeper") : fixture_has_not(&f, "sleeper"));
		fixture_press(&f, "4");
		check_idle_line(&f, idle);
		t = &nav_top(&f.app->nav)->table[PANE_MAIN];
		g_assert_cmpuint(nav_top(&f.app->nav)->rows->rows->len, ==, idle + 1);
		/* The line is one row for the cursor, and stands for no thread. */
		fixture_press(&f, "G");
		g_assert_true(idle < 3 || !table_selected(t, nav_top(&f.app->nav)->rows));
		g_assert_true(idle < 3 || fixture_has(&f, "Enter shows them"));
		fixture_press(&f, "k");
		g_assert_cmpuint(t->cursor, ==, idle < 3 ? 1 : 0);
		fixture_press(&f, "G\r");
		g_assert_true(fixture_has_not(&f, "more, idle"));
		if (idle >= 3) {
			g_assert_true(fixture_has(&f, "sleeper"));
			g_assert_cmpuint(t->cursor - t->top, <=, t->page / 2);	/* the others are seen, too */
			fixture_press(&f, "-");
			check_idle_line(&f, idle);
			fixture_press(&f, "/sleep\r");
			g_assert_true(fixture_has_not(&f, "more, idle"));
			g_assert_nonnull(table_selected(t, nav_top(&f.app->nav)->rows));
			fixture_press(&f, "-+");
			g_assert_true(fixture_has_not(&f, "more, idle"));
		}
		fixture_stop(&f);
	}
}

/* CPUs, lanes: also between other rows. The order stays. */
static void test_idle_lanes(void)
{
	struct fixture f;

	fixture_start_on(&f, idle_machine(8, PART_POLL), true, "");
	app_resize(f.app, 60, 200);
	app_key(f.app, UI_KEY_F(2));
	fixture_press(&f, "cpus\r");
	check_idle_line(&f, 7);			/* 2 to 8; 0 is alone */
	fixture_press(&f, "jjj\r");
	g_assert_cmpuint(nav_top(&f.app->nav)->table[PANE_MAIN].cursor, ==, 2);
	g_assert_true(fixture_has_not(&f, "more, idle"));
	fixture_press(&f, "v");
	check_idle_line(&f, 7);
	g_assert_true(fixture_has(&f, "8 more, idle") && fixture_has(&f, "serve"));
	fixture_press(&f, "G\r");
	g_assert_true(fixture_has_not(&f, "more, idle"));
	g_assert_true(fixture_has(&f, "sleeper"));
	fixture_stop(&f);
}

/* A thread that a lock holds up is not idle, nor is it known what a thread without events does. */
static void test_not_idle(void)
{
	static const enum part busy[] = { PART_FUTEX, PART_DISK, PART_WAKEUP, PART_SOCKET };
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(busy); i++) {
		fixture_start_on(&f, idle_machine(8, busy[i]), true, "4");
		g_assert_true(fixture_has_not(&f, "more, idle"));
		fixture_press(&f, "1");
		g_assert_true(fixture_has_not(&f, "more, idle"));
		fixture_stop(&f);
	}
	fixture_start_on(&f, idle_machine(8, PART_UNKNOWN), true, "4");
	g_assert_true(fixture_has(&f, "8 more, idle or without events"));
	/* Rows that the user sorts by a figure which they have, or selected or tagged, stay. */
	fixture_press(&f, "/sleep\r-");
	check_idle_line(&f, 8);
	fixture_stop(&f);
	fixture_start_on(&f, idle_machine(8, PART_POLL), true, "4");
	nav_top(&f.app->nav)->table[PANE_MAIN].sort = view_column(view_find("processes"), "blocked_ratio");
	place_stale(nav_top(&f.app->nav));
	app_draw(f.app);
	g_assert_true(fixture_has_not(&f, "more, idle"));
	fixture_stop(&f);
}

/* On no screen a figure is cut: not before an ellipsis, nor at the end of a line or column. */
static void test_whole_figures(void)
{
	static const char *const ways[] = { "", "jj\r", "2", "3", "4", "7", "i", "d", "v", "jj\rd", "4j\r" };
	g_autoptr(GRegex) cut = g_regex_new("(^|[ (])[0-9][0-9.]*[munk]?…|\\.[0-9]+[mun]( |$)|[0-9]\\.( |$)",
						  0, 0, NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(ways) * 70; i++) {
		struct fixture f;

		if (!is_tried(i % G_N_ELEMENTS(ways), i / G_N_ELEMENTS(ways)))
			continue;
		fixture_start(&f, "");
		app_resize(f.app, 15 + i % 12, 60 + i / G_N_ELEMENTS(ways));
		fixture_press(&f, ways[i % G_N_ELEMENTS(ways)]);
		for (unsigned y = 0; y < f.app->canvas->rows; y++) {
			g_autofree char *line = canvas_line(f.app->canvas, y);
			g_autoptr(GMatchInfo) match = NULL;

			if (g_regex_match(cut, line, 0, &match)) {
				g_autofree char *what = g_match_info_fetch(match, 0);

				g_test_message("'%s' at %u columns, '%s': %s", what, f.app->canvas->cols,
					       ways[i % G_N_ELEMENTS(ways)], line);
				g_test_fail();
			}
		}
		fixture_stop(&f);
	}
}

/* No word of the legend is cut, whatever the width: it is there as a whole or not at all. */
static void test_legend_words(void)
{
	static const char *const ways[] = { "jj\r", "v", "V" };

	for (unsigned i = 0; i < 3 * 60; i++) {
		static const char *const more[] = { "child", "critical", "annotation", "a", "thread", "runs", "cursor,",
						    "shown", "second", NULL };
		struct fixture f;
		unsigned cols = 60 + i / 3, letters = 0;

		fixture_start(&f, "");
		app_resize(f.app, 30, cols);
		fixture_press(&f, ways[i % 3]);
		g_autofree char *line = canvas_line(f.app->canvas, 27);
		g_auto(GStrv) words = g_strsplit(line, " ", -1);

		for (char **w = words; *w; w++) {
			bool known = g_utf8_strlen(*w, -1) <= 1 || g_strv_contains(more, *w);

			for (int part = 0; part < PART_N && !known; part++)
				known = !strcmp(*w, part_info[part].id);
			letters += known && strlen(*w) > 1;
			if (!known)
				g_test_message("'%s' in '%s'", *w, line);
			g_assert_true(known);
		}
		g_assert_cmpuint(letters, >, 0);
		fixture_stop(&f);
	}
}

/* What a phase mainly did is shown at each width, also where the state has no column of its own. */
static void test_main_state(void)
{
	static const struct { enum part part; const char *word; } states[] = {
		{ PART_WRITEBACK, "writeback 70%" }, { PART_PREEMPTED, "preempted 70%" }, { PART_IRQ, "irq 70%" },
		{ PART_DISK, "disk 70%" },
	};
	static const unsigned widths[] = { 140, 100, 80 };

	for (size_t i = 0; i < G_N_ELEMENTS(states) * G_N_ELEMENTS(widths); i++) {
		struct fake *made = fake_new();
		struct fixture f;
		uint32_t serve = fake_thread(made, 0, 70, 71, "serve");
		enum part part = states[i / G_N_ELEMENTS(widths)].part;

		fake_cell(fake_second(made, 0), serve);
		fake_class(made, "sched_switch");
		fake_class(made, "block_rq_issue");
		fake_class(made, "block_rq_complete");
		fake_class(made, "irq_handler_entry");
		fake_class(made, "zipkin:timestamp");
		fake_part(fake_span(made, &(struct fake_span){ .trace = 1, .id = 1, .name = "get", .service = "web",
			.thread = serve, .begin = 0, .end = FAKE_S / 2, .state = SPAN_COMPLETE }), part,
			  FAKE_S * 35 / 100);
		fixture_start_on(&f, fake_done(made), false, "");
		app_resize(f.app, 45, widths[i % G_N_ELEMENTS(widths)]);
		fixture_press(&f, "3");
		g_assert_true(fixture_has(&f, states[i / G_N_ELEMENTS(widths)].word));
		fixture_stop(&f);
	}
}

static void test_go(void)
{
	struct fixture f;
	int64_t at, length;

	fixture_start(&f, "4b-2s\r");
	at = f.app->nav.cursor_ns;
	g_assert_true(fixture_has(&f, "06:08:36: -2s from 06:08:38"));
	fixture_press(&f, "b+1s\r");
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at + NS_PER_S);
	g_assert_true(fixture_has(&f, "06:08:37: +1s from 06:08:36"));
	fixture_press(&f, "b06:08:36\rA");
	fixture_press(&f, "b+1s\r");		/* only one end: it goes to the other */
	g_assert_cmpint(f.app->nav.a_ns, ==, at);
	fixture_press(&f, "B");
	length = f.app->nav.b_ns - f.app->nav.a_ns;
	g_assert_cmpint(length, ==, 2 * NS_PER_S);
	g_assert_true(fixture_has(&f, "06:08:36-06:08:38 "));
	fixture_press(&f, "bstart\r");
	g_assert_true(fixture_has(&f, "06:08:35-06:08:37 "));
	g_assert_true(fixture_has(&f, "the range moved to 06:08:35-06:08:37: R clears it"));
	fixture_press(&f, "b+3s\r");		/* from where the range begins */
	g_assert_true(fixture_has(&f, "06:08:38-06:08:40 "));
	g_assert_cmpint(f.app->nav.b_ns - f.app->nav.a_ns, ==, length);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, f.app->nav.a_ns);
	fixture_stop(&f);
}

/* Words of a text that are on the screen, in this order, whatever is between them. */
static bool has_words(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	const char *at = dump;

	for (char **w = words; *w && at; w++) {
		at = strstr(at, *w);
		if (!at)
			g_test_message("no '%s' of '%s' in\n%s", *w, text, dump);
		at = at ? at + strlen(*w) : NULL;
	}
	return at;
}

static void test_why(void)
{
	struct fixture f;

	fixture_start(&f, "");
	struct focus causes = place_pane(fixture_top(&f), PANE_CAUSES);
	g_autofree char *why = overview_why(overview_of(fixture_top(&f)->rows), causes.rows->rows->pdata[0]);
	app_resize(f.app, 15, 60);
	app_draw(f.app);
	g_assert_cmpuint(strlen(why), >, 56);
	g_assert_true(fixture_has(&f, "F7: all"));
	fixture_press_key(&f, UI_KEY_F(7));
	g_assert_true(fixture_has(&f, "Facts: Overview") && has_words(&f, why));
	fixture_press(&f, "\033");
	app_resize(f.app, 24, 80);
	fixture_press(&f, "\r");
	const char *cause = waterfall_of(fixture_top(&f)->rows)->why;
	fixture_press_key(&f, UI_KEY_F(7));
	g_assert_true(fixture_has(&f, "Why") && has_words(&f, cause));
	fixture_stop(&f);
}

/* Hints are keys that work there. */
static void test_hints(void)
{
	static const struct { const char *keys, *has, *has_not; } screens[] = {
		{ "x", "Enter why · n next cause · X what changed · i heatmap · v timeline · x hide", "waker" },
		{ "4x", "Enter open · \\ filter · F7 what this means · Esc back · x hide", "waker" },
		{ "jj\rx", "Right time cursor · w waker · C compare with the usual · Esc back · x hide", "why ·" },
		{ "ix", "Enter list the cell · Space select · Esc back · x hide", "waker" },
		{ "vx", "z zoom · Enter open · Esc back · x hide", "waker ·" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(screens); i++) {
		struct fixture f;

		fixture_start(&f, screens[i].keys);
		g_assert_true(fixture_has(&f, screens[i].has) && fixture_has_not(&f, screens[i].has_not));
		fixture_press(&f, "x");
		g_assert_true(fixture_has_not(&f, "x hide") && fixture_has(&f, "hints off: x shows them"));
		fixture_press(&f, "x");
		g_assert_true(fixture_has(&f, "x hide") && fixture_has_not(&f, "hints off"));
		app_resize(f.app, 15, 60);	/* no room */
		app_draw(f.app);
		g_assert_true(fixture_has_not(&f, "x hide"));
		fixture_stop(&f);
	}
}

/* On the first screen, a process's row offers the whole machine, too. */
static void test_machine(void)
{
	struct fixture f;

	fixture_start(&f, "Gi");
	g_assert_true(fixture_has(&f, "Heatmap of"));
	g_assert_true(fixture_has(&f, "time in the run queue  of the whole machine"));
	g_assert_true(fixture_has(&f, "requests               of the whole machine"));
	fixture_press(&f, "\r");
	g_assert_true(fixture_has(&f, "sched.wakeup of") && fixture_has_not(&f, "of the whole"));
	fixture_press(&f, "\033ijjj\r");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_HEATMAP);
	g_assert_cmpstr(place_metric(fixture_top(&f))->query.metric->id, ==, "sched.wakeup");
	g_assert_cmpuint(place_metric(fixture_top(&f))->conditions->len, ==, 0);
	fixture_press(&f, "\033d\r");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_DISTRIBUTION);
	g_assert_cmpuint(place_metric(fixture_top(&f))->conditions->len, >, 0);
	fixture_stop(&f);
}

/* Two seconds; the trace begins in the last quarter of the first one. */
static struct timeline *begins_late(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 7, 7, "busy");

	fake_class(f, "sched_switch");
	for (unsigned i = 0; i < 2; i++) {
		struct second *s = fake_second(f, i);

		fake_cell(s, t)->part[PART_USER] = 100 * FAKE_MS;
		s->n_cpus = 1;
		s->cpus = g_new0(struct cpu_cell, 1);
		s->cpus[0] = (struct cpu_cell){ .run_ns = 100 * FAKE_MS, .idle_ns = (i ? 900 : 150) * FAKE_MS };
	}
	return fake_done(f);
}

/* Rates of a second that was traced in part are those of that part, and the screen says so. */
static void test_part(void)
{
	struct fixture f;

	fixture_start_on(&f, begins_late(), false, "4bstart\r");
	g_assert_true(fixture_has(&f, "traced for 250ms") && fixture_has(&f, " 40.0 "));
	fixture_press(&f, "bend\r");
	g_assert_true(fixture_has_not(&f, "traced for") && fixture_has(&f, " 10.0 "));
	fixture_press(&f, "A");
	fixture_press_key(&f, UI_KEY_LEFT);
	fixture_press(&f, "RAb+1s\rB");
	g_assert_true(fixture_has(&f, "traced for 1.25s") && fixture_has(&f, " 16.0 "));
	fixture_stop(&f);
}

/* Without the kernel's events no rows of dashes are shown, and no gauges of question marks. */
static void test_only_spans(void)
{
	struct fake *made = fake_new();
	struct fixture f;
	uint32_t thread = fake_thread(made, 0, 7, 8, "worker");
	struct second *s = fake_second(made, 0);

	fake_class(made, "zipkin:timestamp");
	fake_cell(s, thread);
	s->n_cpus = 1;
	s->cpus = g_new0(struct cpu_cell, 1);
	s->cpus[0] = (struct cpu_cell){ .unknown_ns = FAKE_S };
	fake_span(made, &(struct fake_span){ .trace = 1, .id = 1, .name = "get", .service = "web", .thread = thread,
		.begin = 0, .end = FAKE_S / 2, .state = SPAN_COMPLETE });
	fixture_start_on(&f, fake_done(made), false, "1");
	g_assert_true(fixture_has(&f, "how busy CPUs and disks were is unknown: no sched_switch"));
	g_assert_true(fixture_has_not(&f, "?%"));
	app_resize(f.app, 40, 120);
	app_draw(f.app);
	g_assert_true(fixture_has(&f, "what processes did is unknown: no sched_switch, no system calls"));
	g_assert_true(fixture_has_not(&f, "no process ran"));
	fixture_stop(&f);
}

/* A live session from which nothing has come yet. */
static struct {
	enum ui_phase phase;
	uint64_t n_events;
	const char *page;		/* NULL: the backend has nothing to add */
} silent;

static void silent_status(void *data, struct ui_status *ret)
{
	(void)data;
	*ret = (struct ui_status){ .phase = silent.phase, .progress = -1, .n_events = silent.n_events, .lag_ns = -1,
				   .index_progress = -1 };
}

static char *silent_page(void *data)
{
	(void)data;
	return g_strdup(silent.page);
}

static const struct ui_backend silent_backend = { .status = silent_status, .nothing = silent_page };

/* Where nothing came the screen says what to do, in each view, and not that it reads. */
static void test_silent(void)
{
	static const char page[] = "Nothing has come, as far as this sentence with more than eighty columns says so.\n"
		"What to do next:\n  lttng start";
	static const char *const views[] = { "1", "2", "4", "8", "v", "i", "L" };
	struct prefs *prefs = prefs_new();
	struct fixture f = { .options = { .at_ns = TIME_UNKNOWN, .live = true, .prefs = prefs } };

	silent.phase = UI_LIVE;
	silent.page = page;
	f.tl = timeline_new(1 << 20);
	f.app = app_new(&f.options, &silent_backend, f.tl, true);
	app_resize(f.app, 24, 80);
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		fixture_press(&f, views[i]);
		g_assert_true(fixture_has(&f, "Nothing has come") && fixture_has(&f, " so."));
		g_assert_true(fixture_has(&f, "   lttng start"));
		g_assert_true(fixture_has_not(&f, "reading ..."));
	}
	fixture_press(&f, "?");			/* the help is there as always */
	g_assert_true(fixture_has_not(&f, "Nothing has come"));
	fixture_press(&f, "\033");
	prefs->accessible = true;
	fixture_press(&f, "1");
	g_assert_true(fixture_has(&f, "Nothing has come") && fixture_has(&f, "lttng start"));
	prefs->accessible = false;

	silent.phase = UI_DONE;			/* the session has ended */
	fixture_press(&f, "1");
	g_assert_true(fixture_has(&f, "Nothing has come"));
	silent.n_events = 1;			/* its second is not closed yet */
	fixture_press(&f, "1");
	g_assert_true(fixture_has_not(&f, "Nothing has come"));
	silent.n_events = 0;
	silent.phase = UI_LOADING;		/* a recorded trace */
	fixture_press(&f, "1");
	g_assert_true(fixture_has_not(&f, "Nothing has come") && fixture_has(&f, "reading ..."));
	silent.phase = UI_LIVE;
	silent.page = NULL;
	fixture_press(&f, "1");
	g_assert_true(fixture_has(&f, "reading ..."));
	fixture_stop(&f);
	prefs_free(prefs);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/says/strip", test_strip);
	g_test_add_func("/says/cursor", test_cursor);
	g_test_add_func("/says/busy", test_busy);
	g_test_add_func("/says/selected-blocks", test_selected_blocks);
	g_test_add_func("/says/main-state", test_main_state);
	g_test_add_func("/says/heat-legend", test_heat_legend);
	g_test_add_func("/says/heat-clock", test_heat_clock);
	g_test_add_func("/says/legend-words", test_legend_words);
	g_test_add_func("/says/axis-fits", test_axis_fits);
	g_test_add_func("/says/axis-ticks", test_axis_ticks);
	g_test_add_func("/says/lane-names", test_lane_names);
	g_test_add_func("/says/lane-reasons", test_lane_reasons);
	g_test_add_func("/says/idle-lanes", test_idle_lanes);
	g_test_add_func("/says/not-idle", test_not_idle);
	g_test_add_func("/says/idle-rows", test_idle_rows);
	g_test_add_func("/says/whole-figures", test_whole_figures);
	g_test_add_func("/says/go", test_go);
	g_test_add_func("/says/part", test_part);
	g_test_add_func("/says/only-spans", test_only_spans);
	g_test_add_func("/says/silent", test_silent);
	g_test_add_func("/says/why", test_why);
	g_test_add_func("/says/hints", test_hints);
	g_test_add_func("/says/machine", test_machine);
	return g_test_run();
}
