/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What keys do to spans: comparing, tagging, copying verdicts, bars and states, and the way
 * from a span to its calls and to its thread's second.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"
#include "ui/mouse.h"
#include "ui/waterfall_bars.h"
#include "state/store/severity.h"

#include "base/timefmt.h"

#include <string.h>

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
};

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys)) {
		app_key(f->app, (int)g_utf8_get_char(keys));
		app_draw(f->app);
	}
}

static void start_on(struct fixture *f, struct timeline *tl, unsigned rows, unsigned cols, const char *keys)
{
	*f = (struct fixture){ .options = { .at_ns = TIME_UNKNOWN }, .tl = tl };
	f->app = app_new(&f->options, NULL, f->tl, true);
	app_resize(f->app, rows, cols);
	app_draw(f->app);
	press(f, keys);
}

static void start(struct fixture *f, unsigned rows, unsigned cols, const char *keys)
{
	start_on(f, fake_timeline(), rows, cols, keys);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
}

static bool shows(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	return strstr(dump, text) != NULL;
}

static void check_has(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	if (!strstr(dump, text))
		g_test_message("no '%s' in\n%s", text, dump);
	g_assert_nonnull(strstr(dump, text));
}

static const char *view_of(struct fixture *f)
{
	return nav_top(&f->app->nav)->view->id;
}

static void test_compare_usual(void)
{
	struct fixture f;

	start(&f, 24, 80, "jj\rC");	/* the victim's lock span */
	g_assert_cmpstr(view_of(&f), ==, "compare");
	check_has(&f, "7f8efb3a with the usual");
	check_has(&f, "7f8efb3a lock 54.7ms against the usual");
	check_has(&f, "WHY took 54.7ms longer");
	press(&f, "y");
	g_assert_true(g_str_has_prefix(f.app->copy, "7f8efb3a lock 54.7ms against the usual"));
	g_assert_nonnull(strstr(f.app->copy, ": took 54.7ms longer"));
	press(&f, "\033");
	check_has(&f, "began ");
	stop(&f);
}

static void test_compare_two(void)
{
	struct fixture f;

	start(&f, 24, 80, "2g  C");	/* the first two traces */
	g_assert_cmpstr(view_of(&f), ==, "compare");
	check_has(&f, " with ");
	check_has(&f, "against ");
	g_assert_false(shows(&f, "the usual"));
	press(&f, "C");
	check_has(&f, "against the usual");
	press(&f, "\033");
	press(&f, " C");		/* a third one is tagged */
	check_has(&f, "two can be compared");
	g_assert_cmpstr(view_of(&f), ==, "traces");
	press(&f, "4C");
	check_has(&f, "select a trace or a span first");
	stop(&f);
}

static void test_tags_in_waterfall(void)
{
	struct fixture f;

	start(&f, 24, 80, "jj\rg ");
	check_has(&f, "●");
	press(&f, "jj C");		/* thumbnail and decode */
	g_assert_cmpstr(view_of(&f), ==, "compare");
	check_has(&f, "7f8efb3a with 7f8efb3a");
	press(&f, "\033U");
	g_assert_false(shows(&f, "●"));
	stop(&f);
}

static void test_changed_against(void)
{
	struct fixture f;

	start(&f, 24, 80, "");
	nav_reset(&f.app->nav, place_new(view_find("changed"), &(struct view_query)VIEW_QUERY_INIT, ""));
	app_draw(f.app);
	check_has(&f, "WHY against 06:08:37-06:08:38: thumbnail takes");
	press(&f, "C");
	check_has(&f, "WHY against all other history: thumbnail takes");
	press(&f, "H");
	check_has(&f, "by name");
	check_has(&f, "lock");
	press(&f, "C");
	check_has(&f, "WHY against the quiet time before, 06:08:35-06:08:38: ");
	press(&f, "C");
	check_has(&f, "WHY against 06:08:37-06:08:38");
	press(&f, "y");
	g_assert_true(g_str_has_prefix(f.app->copy, "What changed: against 06:08:37"));
	stop(&f);
}

static void test_copy_explanation(void)
{
	struct fixture f;

	start(&f, 24, 80, "2gy");
	g_assert_nonnull(strstr(f.app->copy, "thumbnail"));
	g_assert_nonnull(strstr(f.app->copy, ": "));
	press(&f, "/1e98\ry");
	g_assert_cmpstr(f.app->copy, ==, "1e9873c2aa104f01 thumbnail 97.3ms: slept 59.9ms "
			"(59.9ms of 73.7ms over the usual)");
	stop(&f);
}

static void test_bars(void)
{
	struct fixture f;

	start(&f, 24, 80, "jj\r");
	g_assert_false(shows(&f, "█│"));
	check_has(&f, "ffff");
	press(&f, "t");
	check_has(&f, "and thread states below them");
	check_has(&f, "██");
	check_has(&f, "ffff");
	press(&f, "t");
	check_has(&f, "bars only");
	g_assert_false(shows(&f, "ffff"));
	check_has(&f, "┊ annotation");
	press(&f, "t");
	check_has(&f, "thread states as letters");
	g_assert_false(shows(&f, "█│"));
	stop(&f);
}

static void press_key(struct fixture *f, int key)
{
	app_key(f->app, key);
	app_draw(f->app);
}

/* The time cursor: exact at the instants of the story, by keys and by clicks. */
static void test_cursor(void)
{
	struct fixture f;
	struct place *p;
	int64_t begin;

	start(&f, 24, 80, "jj\r");	/* the victim's lock span: it waits from 50 us on */
	p = nav_top(&f.app->nav);
	begin = FAKE_T0 + 3 * FAKE_S + 884 * FAKE_MS;
	g_assert_false(shows(&f, "cursor +"));
	press_key(&f, UI_KEY_RIGHT);
	g_assert_cmpint(p->mark_ns, ==, begin + 100000);
	check_has(&f, "cursor +100us  thumbd-w2/256: running");
	p->mark_ns = begin + 10 * FAKE_MS;
	app_draw(f.app);
	check_has(&f, "cursor +10.0ms  thumbd-w2/256: futex for 9.85ms of 53.2ms, in ");
	check_has(&f, "woken by thumbd-w0/254");
	p->mark_ns = begin + 54 * FAKE_MS;
	app_draw(f.app);
	check_has(&f, "thumbd-w2/256: wakeup for 610us of 1.40ms, in ");
	press_key(&f, UI_KEY_RIGHT);
	g_assert_cmpint(p->mark_ns, >, begin + 54 * FAKE_MS);
	press(&f, "g");			/* the root: the child on the same thread is looked at */
	p->mark_ns = begin + 10 * FAKE_MS;
	app_draw(f.app);
	check_has(&f, "thumbd-w2/256 in lock: futex for 9.85ms of 53.2ms");
	press(&f, "G");
	check_has(&f, "cursor +10.0ms  store has not begun");
	press_key(&f, UI_KEY_LEFT);
	press(&f, "<");
	check_has(&f, "the screen still shows this trace");
	app_mouse(f.app, APP_CLICK, 8, 79 - 2, 0);
	app_draw(f.app);
	g_assert_cmpint(p->mark_ns, >, begin + 60 * FAKE_MS);
	stop(&f);
}

/* Of a folded row, the mark of the critical path is that of the rows below it. */
static void test_folded_mark(void)
{
	struct fixture f;

	start(&f, 24, 80, "j\r");	/* the slow store is below send */
	check_has(&f, "*store");
	press(&f, "gjjjjj-");
	g_assert_false(shows(&f, "store  "));
	check_has(&f, "▸*send");
	stop(&f);
}

/* Both ends of a bar are within an eighth of a cell of where they are. */
static void test_eighths(void)
{
	struct fixture f;
	struct span s = { .begin_ns = 0, .end_ns = 0 };
	struct waterfall_row row = { .span = &s };
	struct bars_axis axis = { .from_ns = 0, .to_ns = 800, .x = 1, .cells = 10 };

	start(&f, 24, 80, "");
	for (s.begin_ns = 0; s.begin_ns < 800; s.begin_ns += 10) {
		for (s.end_ns = s.begin_ns + 10; s.end_ns <= 800; s.end_ns += 10) {
			int64_t ink = 0;

			canvas_clear(f.app->canvas);
			bars_draw_bar(f.app, &axis, &row, 0);
			for (unsigned x = 0; x < axis.cells; x++) {
				const struct cell *c = canvas_cell(f.app->canvas, 0, axis.x + x);
				int n = 0;

				while (n < 9 && strcmp(f.app->glyphs->eighth[n], c->ch))
					n++;
				g_assert_cmpint(n, <, 9);
				ink += c->attr & STYLE_REVERSE ? 8 - n : n;
			}
			g_assert_cmpint(ink, ==, (s.end_ns - s.begin_ns) / 10);
		}
	}
	stop(&f);
}

/* Warnings and errors are letters; of those in one cell, the most severe one. */
static void test_ticks(void)
{
	struct fixture f;
	struct span_annotation said[] = {
		{ .ts = 160, .severity = 9 }, { .ts = 240, .severity = SEVERITY_WARNING },
		{ .ts = 320, .severity = SEVERITY_ERROR }, { .ts = 325, .severity = 9 },
		{ .ts = 330, .severity = SEVERITY_END - 1 }, { .ts = 400 },
	};
	struct span s = { .end_ns = 800, .annotations = said, .n_annotations = G_N_ELEMENTS(said) };
	struct waterfall_row row = { .span = &s };
	struct bars_axis axis = { .from_ns = 0, .to_ns = 800, .x = 1, .cells = 10 };

	start(&f, 24, 80, "");
	const char *plain = f.app->glyphs->annotation, *bar = f.app->glyphs->eighth[8];
	const char *const want[] = { bar, bar, plain, "W", "F", plain, bar, bar, bar, bar };
	canvas_clear(f.app->canvas);
	bars_draw_bar(f.app, &axis, &row, 0);
	for (unsigned x = 0; x < axis.cells; x++)
		g_assert_cmpstr(canvas_cell(f.app->canvas, 0, axis.x + x)->ch, ==, want[x]);
	stop(&f);
}

/* A message's way to the span is a line in front of it; what was sent before the window begins at its edge. */
static void test_messages(void)
{
	struct fixture f;
	struct span_link links[] = {
		{ .out_ns = 160, .in_ns = 400 }, { .out_ns = 450, .in_ns = 500 }, { .out_ns = 300, .in_ns = 250 },
		{ .out_ns = 640, .in_ns = 720 }, { .out_ns = -100, .in_ns = 80 }, { .out_ns = 900, .in_ns = 1000 },
	};
	struct span s = { .begin_ns = 400, .end_ns = 560, .links = links, .n_links = G_N_ELEMENTS(links) };
	struct waterfall_row row = { .span = &s };
	struct bars_axis axis = { .from_ns = 0, .to_ns = 800, .x = 1, .cells = 10 };

	start(&f, 24, 80, "");
	const char *way = f.app->glyphs->message, *bar = f.app->glyphs->eighth[8];
	const char *const want[] = { way, " ", way, way, way, bar, bar, " ", way, " " };
	canvas_clear(f.app->canvas);
	bars_draw_messages(f.app, &axis, &s, 0);
	bars_draw_bar(f.app, &axis, &row, 0);
	for (unsigned x = 0; x < axis.cells; x++)
		g_assert_cmpstr(canvas_cell(f.app->canvas, 0, axis.x + x)->ch, ==, want[x]);
	stop(&f);
}

static void test_way_down(void)
{
	struct fixture f;

	start(&f, 24, 80, "jj\r");	/* the victim's lock, on thread 256 */
	press(&f, "5");
	check_has(&f, "Syscalls inside of lock");
	press(&f, "\033");
	nav_seek(&f.app->nav, f.tl, FAKE_T0);
	press(&f, "4");
	g_assert_cmpstr(view_of(&f), ==, "processes");
	check_has(&f, "Processes: tid 256");
	check_has(&f, "06:08:38");	/* the second in which it began */
	check_has(&f, "by thread");
	check_has(&f, "1 row");
	stop(&f);
}

static void test_detail(void)
{
	static const char *const parts[] = {
		"trace 7f8efb3a8bed4f37", "parent 7f8efb3a8bed4f37", "service thumbd", "host web1",
		"begin 06:08:38.884100000  +100us", "self 54.7ms", "slept holding it", "97.3%  futex",
		"woken by thumbd-w0/254", "On threads", "thumbd-w2/256", "System calls, by name",
	};
	struct fixture f;

	start(&f, 60, 140, "jj\r\r");
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		check_has(&f, parts[i]);
	press(&f, "\033G\r");		/* store, which has tags */
	check_has(&f, "bytes = 131072");
	press(&f, "\033kk\r");		/* the client's half of send */
	check_has(&f, "half of the client");
	check_has(&f, "Annotations");
	stop(&f);
}

/* A request whose root is missing: its list and its waterfall say so, the page of its span too. */
static void test_missing_root(void)
{
	struct fake *fake = fake_new();
	struct fake_span desc = { .trace = 0xf2, .id = 2, .parent = 1, .name = "kid", .service = "svc",
				  .thread = ID_NONE, .begin = 0, .end = 20 * FAKE_MS, .state = SPAN_COMPLETE };
	struct fixture f = { .options = { .at_ns = TIME_UNKNOWN } };

	fake_second(fake, 0);
	fake_span(fake, &desc);
	f.tl = fake_done(fake);
	f.app = app_new(&f.options, NULL, f.tl, true);
	app_resize(f.app, 24, 100);
	app_draw(f.app);
	press(&f, "2");
	g_assert_cmpstr(view_of(&f), ==, "traces");
	check_has(&f, ">20.0ms");
	check_has(&f, "incompl");
	check_has(&f, "f2 ");
	press(&f, "\r");
	check_has(&f, "kid   >20.0ms");
	check_has(&f, "1 span, 1 missing");
	press(&f, "\r");
	check_has(&f, "parent 0000000000000001 (missing)");
	stop(&f);
}

/* A waker without a span: that thread is opened, at that instant, in the time of the request. */
static void test_waker_without_span(void)
{
	static const struct { const char *comm; int32_t pid, tid; } wakers[] = {
		{ "janitor", 300, 301 }, { "alone", 400, 400 }, { "nameless", -1, 77 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wakers); i++) {
		struct fake *fake = fake_new();
		uint32_t worker = fake_thread(fake, 0, 100, 101, "worker");
		uint32_t waker = fake_thread(fake, 0, wakers[i].pid, wakers[i].tid, wakers[i].comm);
		struct second *s = fake_second(fake, 0);
		struct span *span = fake_span(fake, &(struct fake_span){ .trace = FAKE_VICTIM, .id = 1, .name = "get",
			.service = "web", .thread = worker, .begin = 10 * FAKE_MS, .end = 90 * FAKE_MS });
		struct fixture f;

		fake_wait(span, PART_FUTEX, 20 * FAKE_MS, 80 * FAKE_MS, 0, waker, fake_string(fake, "futex"));
		fake_class(fake, "sched_switch");
		fake_class(fake, "sched_waking");
		fake_cell(s, worker)->part[PART_USER] = 5 * FAKE_MS;
		fake_cell(s, waker)->part[PART_USER] = 5 * FAKE_MS;
		start_on(&f, fake_done(fake), 24, 80, "2\rw");
		struct place *p = nav_top(&f.app->nav);
		g_assert_cmpstr(p->view->id, ==, "timeline");
		g_assert_cmpint(p->mark_ns, ==, FAKE_T0 + 80 * FAKE_MS);
		g_assert_cmpint(p->narrow.pid, ==, wakers[i].pid);
		check_has(&f, wakers[i].comm);
		check_has(&f, "woken by");
		app_key(f.app, UI_KEY_ESC);
		g_assert_true(nav_top(&f.app->nav)->view->kind == VIEW_WATERFALL);
		stop(&f);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/screen-spans/compare-usual", test_compare_usual);
	g_test_add_func("/screen-spans/compare-two", test_compare_two);
	g_test_add_func("/screen-spans/tags", test_tags_in_waterfall);
	g_test_add_func("/screen-spans/changed", test_changed_against);
	g_test_add_func("/screen-spans/copy", test_copy_explanation);
	g_test_add_func("/screen-spans/bars", test_bars);
	g_test_add_func("/screen-spans/waker-without-span", test_waker_without_span);
	g_test_add_func("/screen-spans/cursor", test_cursor);
	g_test_add_func("/screen-spans/folded-mark", test_folded_mark);
	g_test_add_func("/screen-spans/eighths", test_eighths);
	g_test_add_func("/screen-spans/ticks", test_ticks);
	g_test_add_func("/screen-spans/messages", test_messages);
	g_test_add_func("/screen-spans/way-down", test_way_down);
	g_test_add_func("/screen-spans/detail", test_detail);
	g_test_add_func("/screen-spans/missing-root", test_missing_root);
	return g_test_run();
}
