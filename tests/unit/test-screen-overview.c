/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first screen: the cursor goes through it from the top, its lines stay where they are, since when it is slow, and
 * which causes are listed.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/app.h"
#include "ui/screen.h"
#include "views/causes.h"
#include "views/registry.h"

#include "base/limits.h"

#include <string.h>

#define QUIET 10		/* seconds before the incident */
#define SECONDS 20

/* ---- the cursor ---- */

/* The row of the screen that is selected; 0: none. */
static unsigned selected_y(struct fixture *f)
{
	const struct canvas *c = f->app->canvas;
	unsigned at = 0;

	app_draw(f->app);
	for (unsigned y = 1; y < c->rows; y++) {
		for (unsigned x = 0; x < c->cols; x++) {
			if (canvas_cell(c, y, x)->role == ROLE_SELECTED) {
				g_assert_true(at == 0 || at == y);
				at = y;
			}
		}
	}
	return at;
}

/* The first row with the text, or 0. */
static unsigned find_y(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	const char *at = strstr(dump, text);
	unsigned y = 0;

	for (const char *p = dump; at && p < at; p++)
		y += *p == '\n';
	return y;
}

static void check_order(struct fixture *f)
{
	unsigned y, before = 0, n = 0;

	fixture_press_key(f, UI_KEY_HOME);
	y = selected_y(f);
	g_assert_cmpuint(y, ==, find_y(f, "slow since"));
	for (; y != before; y = selected_y(f), n++) {
		g_assert_cmpuint(y, >, before);
		before = y;
		fixture_press_key(f, UI_KEY_DOWN);
	}
	/* The line, the rows of three tables. */
	g_assert_cmpuint(n, ==, 1 + 5 + 2 + 5);
	fixture_press_key(f, UI_KEY_END);
	g_assert_cmpuint(selected_y(f), ==, before);
	for (; n > 1; n--) {
		fixture_press_key(f, UI_KEY_UP);
		y = selected_y(f);
		g_assert_cmpuint(y, <, before);
		before = y;
	}
	fixture_press_key(f, UI_KEY_UP);
	g_assert_cmpuint(selected_y(f), ==, before);
}

/* Where all rows are shown, each key moves the cursor in its direction. */
static void test_order(void)
{
	static const struct { unsigned rows, cols; } sizes[] = { { 45, 140 }, { 40, 80 } };

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		struct fixture f = { 0 };

		fixture_start(&f, "");
		app_resize(f.app, sizes[i].rows, sizes[i].cols);
		app_draw(f.app);
		check_order(&f);
		fixture_stop(&f);
	}
}

/* Side by side: the tables on the left, then the one on the right. */
static void test_order_wide(void)
{
	struct fixture f = { 0 };
	static const enum pane order[] = { PANE_SINCE, PANE_CAUSES, PANE_OPERATIONS, PANE_PROCESSES };
	unsigned n = 0;

	fixture_start(&f, "");
	app_resize(f.app, 60, 200);
	fixture_press(&f, "g");
	for (enum pane last = PANE_N; n < G_N_ELEMENTS(order); fixture_press(&f, "j")) {
		if (fixture_top(&f)->pane != last)
			g_assert_cmpint(fixture_top(&f)->pane, ==, order[n++]);
		last = fixture_top(&f)->pane;
	}
	fixture_stop(&f);
}

/* WHY has as many lines for every row and every second. */
static void test_why_lines(void)
{
	struct fixture f = { 0 };

	fixture_start(&f, "");
	unsigned y = find_y(&f, "REQS"), normal = 0;
	g_assert_cmpuint(y, >, 0);
	for (int i = 0; i < 12; i++) {
		fixture_press(&f, "j");
		g_assert_cmpuint(find_y(&f, "REQS"), ==, y);
		g_assert_true(fixture_has(&f, "WHY "));
		normal += find_y(&f, ": normal") > 0;
	}
	g_assert_cmpuint(normal, >, 0);
	for (int i = 0; i < 5; i++) {
		fixture_press_key(&f, UI_KEY_LEFT);
		g_assert_cmpuint(find_y(&f, "REQS"), ==, y);
	}
	fixture_stop(&f);
}

/* ---- an incident ---- */

struct incident {
	struct fake *f;
	uint32_t worker, holder;
	uint64_t id;
};

/* A request of `ms`, of which it waited all but 10 ms: for a lock, or (disk) for the disk. */
static void add_request(struct incident *w, int64_t at, int64_t ms, enum part part)
{
	uint64_t id = ++w->id;
	struct span *s = fake_span(w->f, &(struct fake_span){ .trace = id, .id = id, .name = "get", .service = "front",
		.thread = w->worker, .begin = at, .end = at + ms * FAKE_MS });

	if (ms > 10)
		fake_wait(s, part, at + FAKE_MS, at + (ms - 9) * FAKE_MS, 0, part == PART_FUTEX ? w->holder : ID_NONE,
			  fake_string(w->f, "futex"));
}

/* Ten good requests a second; from second `from` on also one that waited for a lock, and `disk` ms for a disk in the
 * last second. */
static struct timeline *incident(unsigned from, unsigned every, unsigned n_locks)
{
	struct incident w = { .f = fake_new() };

	w.worker = fake_thread(w.f, 0, 70, 71, "serve");
	w.holder = fake_thread(w.f, 0, 80, 80, "holder");
	fake_class(w.f, "sched_switch");
	fake_class(w.f, "zipkin:timestamp");
	for (unsigned s = 0; s < SECONDS; s++) {
		struct second *second = fake_second(w.f, s);

		for (int i = 0; i < 5; i++)
			fake_cell(second, fake_thread(w.f, 0, 90 + i, 90 + i, "other"))->part[PART_USER] = FAKE_MS;
		for (unsigned i = 0; i < 10; i++)
			add_request(&w, s * FAKE_S + i * 90 * FAKE_MS, 10, PART_USER);
		for (unsigned i = 0; s >= from && (s - from) % every == 0 && i < n_locks; i++)
			add_request(&w, s * FAKE_S + (300 + i) * FAKE_MS, 60, PART_FUTEX);
	}
	add_request(&w, (SECONDS - 1) * FAKE_S + 100 * FAKE_MS, 400, PART_DISK);
	add_request(&w, (SECONDS - 1) * FAKE_S + 200 * FAKE_MS, 300, PART_TIMER);
	add_request(&w, (SECONDS - 1) * FAKE_S + 200 * FAKE_MS, 200, PART_SOCKET);
	add_request(&w, (SECONDS - 1) * FAKE_S + 200 * FAKE_MS, 190, PART_PIPE);
	add_request(&w, (SECONDS - 1) * FAKE_S + 200 * FAKE_MS, 180, PART_POLL);
	add_request(&w, (SECONDS - 1) * FAKE_S + 200 * FAKE_MS, 170, PART_FAULT);
	return fake_done(w.f);
}

static int64_t since_of(struct timeline *tl, unsigned second, bool *ret_earlier)
{
	return (overview_since(tl, FAKE_T0 + second * FAKE_S, FAKE_T0 + (second + 1) * FAKE_S, ret_earlier) - FAKE_T0) /
	       FAKE_S;
}

static void test_since(void)
{
	struct timeline *tl = incident(QUIET, 1, 10);
	bool earlier;

	g_assert_cmpint(since_of(tl, SECONDS - 1, &earlier), ==, QUIET);
	g_assert_false(earlier);
	g_assert_cmpint(since_of(tl, QUIET, NULL), ==, QUIET);
	g_assert_cmpint(overview_since(tl, FAKE_T0 + FAKE_S, FAKE_T0 + 2 * FAKE_S, NULL), ==, TIME_UNKNOWN);
	timeline_free(tl);
	/* A pause of less than CAUSES_PAUSE_S is none; a longer one ends it. */
	tl = incident(QUIET - 5, CAUSES_PAUSE_S - 1, 10);
	g_assert_cmpint(since_of(tl, QUIET - 5 + 3 * (CAUSES_PAUSE_S - 1), NULL), ==, QUIET - 5);
	timeline_free(tl);
	tl = incident(QUIET - 7, CAUSES_PAUSE_S + 1, 10);
	g_assert_cmpint(since_of(tl, QUIET - 7 + 2 * (CAUSES_PAUSE_S + 1), NULL), ==,
			QUIET - 7 + 2 * (CAUSES_PAUSE_S + 1));
	timeline_free(tl);
	/* It was slow when the recording began. */
	tl = incident(0, 1, 1);
	g_assert_cmpint(since_of(tl, SECONDS - 2, &earlier), ==, 0);
	g_assert_true(earlier);
	timeline_free(tl);
}

/* On the first screen; Enter on the line goes there, and so does `b since`. */
static void test_since_on_screen(void)
{
	struct fixture f = { 0 };

	fixture_start_on(&f, incident(QUIET, 1, 10), false, "");
	g_assert_true(fixture_has(&f, "06:08:54 ") && fixture_has(&f, "slow since 06:08:45, 9.00s before this"));
	fixture_press(&f, "k\r");
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + QUIET * FAKE_S);
	g_assert_true(fixture_has(&f, "slow since 06:08:45, which is shown"));
	fixture_press(&f, "\r");
	g_assert_true(fixture_has(&f, "this is the first slow second"));
	fixture_press(&f, "bworst\rbsince\r");
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + QUIET * FAKE_S);
	fixture_press_key(&f, UI_KEY_LEFT);
	g_assert_true(fixture_has(&f, "no request that ended here is slower than usual"));
	fixture_press(&f, "bsince\r");
	g_assert_true(fixture_has(&f, "no request is slower than usual here: n finds the next"));
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + (QUIET - 1) * FAKE_S);
	/* A filter of the tables leaves the line. */
	fixture_press(&f, "bworst\r\\get\r");
	g_assert_true(fixture_has(&f, "slow since 06:08:45"));
	fixture_stop(&f);
}

/* The slow range is compared with what was before it was slow, by one key. */
static void test_changed(void)
{
	struct fixture f = { 0 };

	fixture_start_on(&f, incident(QUIET, 1, 10), false, "X");
	g_assert_true(fixture_has(&f, "What changed") && fixture_has(&f, "WHY against the quiet time before, "
								    "06:08:35-06:08:45: get: "));
	g_assert_true(fixture_has(&f, "futex +"));
	fixture_press(&f, "C");
	g_assert_true(fixture_has(&f, "WHY against 06:08:53-06:08:54: "));
	fixture_press(&f, "C");
	g_assert_true(fixture_has(&f, "WHY against all other history: "));
	fixture_press(&f, "X");
	g_assert_true(fixture_has(&f, "this is what changed"));
	/* Another time it is the quiet time again. */
	fixture_press(&f, "\033X");
	g_assert_true(fixture_has(&f, "WHY against the quiet time before, "));
	fixture_stop(&f);
	/* In the first second nothing was before. */
	fixture_start_on(&f, incident(QUIET, 1, 10), false, "bstart\nX");
	g_assert_true(fixture_has(&f, "there is no quiet time before: compared with all other history"));
	g_assert_true(fixture_has(&f, "WHY against all other history: "));
	fixture_stop(&f);
	/* Without requests it says so, and the bar does not offer it. */
	struct fake *made = fake_new();
	fake_class(made, "sched_switch");
	fake_cell(fake_second(made, 0), fake_thread(made, 0, 70, 70, "serve"))->part[PART_USER] = FAKE_S / 2;
	fixture_start_on(&f, fake_done(made), false, "X");
	g_assert_true(fixture_has(&f, "what changed compares requests, and this trace has none so far"));
	g_assert_true(fixture_has(&f, "Overview") && fixture_has_not(&f, "X:changed"));
	fixture_stop(&f);
	/* Each of several causes is named, in the service that they are in. */
	fixture_start(&f, "X");
	g_assert_true(fixture_has(&f, "store in stored") && fixture_has(&f, "rows by cause"));
	fixture_stop(&f);
}

/* ---- order of causes ---- */

/* Ten requests that lost 50 ms each come before one that lost 390 ms. */
static void test_ranked(void)
{
	struct timeline *tl = incident(QUIET, 1, 10);
	struct view_query q = VIEW_QUERY_INIT;

	q.from_ns = FAKE_T0 + (SECONDS - 1) * FAKE_S;
	q.to_ns = q.from_ns + FAKE_S;
	struct rows *rows = view_causes.build(tl, &q);
	g_assert_cmpuint(rows->rows->len, >=, 8);
	for (guint i = 0; i + 1 < rows->rows->len; i++) {
		struct cause a = cause_of(rows->rows->pdata[i]), b = cause_of(rows->rows->pdata[i + 1]);

		g_assert_cmpint(a.state, <=, b.state);
		if (a.state == b.state)
			g_assert_cmpint(a.lost_ns, >=, b.lost_ns);
	}
	g_assert_cmpuint(cause_of(rows->rows->pdata[0]).n, ==, 10);
	/* The usual is a value of a histogram. */
	g_assert_cmpint(cause_of(rows->rows->pdata[0]).lost_ns / (10 * FAKE_MS), ==, 49);
	g_assert_cmpint(cause_of(rows->rows->pdata[1]).lost_ns / FAKE_MS, ==, 389);
	rows_free(rows);
	timeline_free(tl);
}

/* What has no room is said; where all have room, nothing is. */
static void test_hidden(void)
{
	struct fixture f = { 0 };

	fixture_start_on(&f, incident(QUIET, 1, 10), false, "");
	g_assert_true(fixture_has(&f, "3 more: 3 requests lost 509ms; 10 normal"));
	/* Scrolled down, it is about the rows above. */
	fixture_press(&f, "jjjjjj");
	g_assert_true(fixture_has_not(&f, "3 more: 3 requests lost 509ms"));
	g_assert_true(fixture_has(&f, " more: "));
	app_resize(f.app, 45, 140);
	app_draw(f.app);
	g_assert_true(fixture_has_not(&f, " more: ") && fixture_has(&f, " LOST "));
	fixture_stop(&f);
}

/* ---- without spans ---- */

static struct timeline *kernel_only(void)
{
	struct fake *f = fake_new();
	uint32_t hog = fake_thread(f, 0, 70, 71, "hog"), tar = fake_thread(f, 0, 80, 80, "tar");

	fake_class(f, "sched_switch");
	for (unsigned s = 0; s < 4; s++) {
		struct second *second = fake_second(f, s);

		fake_cell(second, hog)->part[PART_USER] = 600 * FAKE_MS;
		fake_cell(second, tar)->part[PART_WAKEUP] = (s == 2 ? 90 : 10) * FAKE_MS;
		fake_cell(second, tar)->part[PART_DISK] = (s == 1 ? 50 : 30) * FAKE_MS;
		fake_ran(second, hog, 0, 400 * FAKE_MS);
		fake_ran(second, hog, 1, 200 * FAKE_MS);
		fake_ran(second, tar, 0, 500 * FAKE_MS);
	}
	return fake_done(f);
}

/* The first screen is the overview, too. It says which second is shown, and which thread had the CPUs. */
static void test_kernel_only(void)
{
	struct fixture f = { 0 };

	fixture_start_on(&f, kernel_only(), false, "");
	g_assert_true(fixture_has(&f, "06:08:37 ") && fixture_has(&f, "Overview"));
	g_assert_true(fixture_has(&f,
				 "WHY threads waited 90.0ms for CPUs and 30.0ms for disks, more than in any other"));
	g_assert_true(fixture_has(&f, "hog/71 had a CPU longest, for 600ms"));
	g_assert_true(fixture_has_not(&f, "slow since") && fixture_has_not(&f, "slower than usual"));
	fixture_press_key(&f, UI_KEY_LEFT);
	g_assert_true(fixture_has(&f, "WHY threads waited 10.0ms for CPUs and 50.0ms for disks; hog/71 had a CPU"));
	/* Of a range, nothing is said about other seconds. */
	fixture_press(&f, "0");
	g_assert_true(fixture_has(&f, "WHY threads waited 120ms for CPUs and 140ms for disks; hog/71"));
	fixture_stop(&f);
}

/* ---- live ---- */

static struct timeline *live(bool only_open)
{
	struct fake *f = fake_new();
	uint32_t worker = fake_thread(f, 0, 70, 71, "serve");

	for (unsigned s = only_open ? 3 : 0; s < 4; s++) {
		fake_cell(fake_second(f, s), worker)->part[PART_USER] = FAKE_MS;
		for (unsigned i = 0; i < (s == 3 ? 2 : 8); i++)
			fake_span(f, &(struct fake_span){ .trace = s * 10 + i + 1, .id = s * 10 + i + 1, .name = "get",
				.service = "front", .thread = worker, .begin = s * FAKE_S + i * FAKE_MS,
				.end = s * FAKE_S + (i + 1) * FAKE_MS });
	}
	fake_second(f, 3)->version = 0;
	return fake_done(f);
}

/* A cell of the graph above a second. */
static enum role graph_role(struct fixture *f, unsigned second)
{
	for (unsigned y = 0; y < f->app->canvas->rows; y++) {
		for (unsigned x = 0; x < f->app->canvas->cols; x++) {
			const struct canvas_hit h = canvas_hit_at(f->app->canvas, y, x);
			const struct cell *cell = canvas_cell(f->app->canvas, y, x);

			if (h.hit == HIT_TIME && h.value == FAKE_T0 + second * FAKE_S && strcmp(cell->ch, " "))
				return (enum role)cell->role;
		}
	}
	g_assert_not_reached();
}

/* The newest second that is over is followed; the open one is marked where it is shown. */
static void test_live(void)
{
	struct fixture f = { .options = { .live = true } };

	fixture_start_on(&f, live(false), false, "");
	f.app->nav.mode = NAV_FOLLOW;
	app_timeline_changed(f.app);
	app_draw(f.app);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + 2 * FAKE_S);
	g_assert_true(fixture_has(&f, "8 of 8 requests") || fixture_has(&f, "     8 get"));
	g_assert_true(fixture_has_not(&f, "not over yet"));
	g_assert_cmpint(graph_role(&f, 1), ==, ROLE_SPARK);
	g_assert_cmpint(graph_role(&f, 3), ==, ROLE_DIM);
	fixture_press_key(&f, UI_KEY_RIGHT);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + 3 * FAKE_S);
	g_assert_true(fixture_has(&f, "06:08:38 opening, not over yet  range 1s"));
	fixture_press(&f, "F");
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + 2 * FAKE_S);
	/* A longer step has the open second in it. */
	fixture_press(&f, "ZF");
	g_assert_true(fixture_has(&f, ", not over yet"));
	fixture_stop(&f);
}

/* Before a second is over, there is nothing but the open one. */
static void test_live_begins(void)
{
	struct fixture f = { .options = { .live = true } };

	fixture_start_on(&f, live(true), false, "F");
	g_assert_cmpint(f.app->nav.cursor_ns, ==, FAKE_T0 + 3 * FAKE_S);
	g_assert_true(fixture_has(&f, "not over yet"));
	fixture_stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/overview/order", test_order);
	g_test_add_func("/overview/order-wide", test_order_wide);
	g_test_add_func("/overview/why-lines", test_why_lines);
	g_test_add_func("/overview/since", test_since);
	g_test_add_func("/overview/since-on-screen", test_since_on_screen);
	g_test_add_func("/overview/changed", test_changed);
	g_test_add_func("/overview/causes-ranked", test_ranked);
	g_test_add_func("/overview/causes-hidden", test_hidden);
	g_test_add_func("/overview/kernel-only", test_kernel_only);
	g_test_add_func("/overview/live", test_live);
	g_test_add_func("/overview/live-begins", test_live_begins);
	return g_test_run();
}
