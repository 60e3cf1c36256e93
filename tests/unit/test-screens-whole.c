/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Screens of a trace that is shown before it is read: nothing but its outline, a
 * preview, half of it read, stopped. GENERATE=1 writes tests/golden/ anew: look at the
 * difference.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/span_feed.h"
#include "state/store/coarsen.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "ui/app.h"
#include "ui/progressive.h"

#include "base/timefmt.h"

#include <stdlib.h>
#include <string.h>

/* A backend that gives what a test laid down, and writes down what is looked at. */
static struct {
	enum ui_phase phase;
	const char *reader;
	double progress;
	unsigned pieces;
	int64_t final_to;
	struct outline *outline;
	struct timeline *preview;
	struct decoded_range window;
	unsigned show_ranges, cancels;
	struct view_range show_range;
	struct ui_export exported;
	bool stored;
	const char *stalled;
	int64_t stalled_ns;
} seen;

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = seen.phase, .progress = seen.progress,
		.n_events = 1310000, .events_per_s = 16200000, .lag_ns = -1,
		.pieces_done = seen.pieces * 2 / 5, .pieces = seen.pieces,
		.final_to_ns = seen.final_to, .index_progress = 1,
		.stored = seen.stored, .stored_from_ns = FAKE_T0 };
	ret->stalled_ns = seen.stalled_ns;
	g_strlcpy(ret->stalled, seen.stalled ? seen.stalled : "", sizeof ret->stalled);
	g_strlcpy(ret->source, "big kernel+ust", sizeof ret->source);
	g_strlcpy(ret->reader, seen.reader, sizeof ret->reader);
}

static struct outline *give_outline(void *data)
{
	return seen.outline ? outline_ref(seen.outline) : NULL;
}

static struct timeline *give_preview(void *data, struct decoded_range *ret)
{
	*ret = seen.window;
	return g_steal_pointer(&seen.preview);
}

static void show_range(void *data, const struct view_range *show_range)
{
	seen.show_ranges++;
	seen.show_range = *show_range;
}

static void cancel(void *data)
{
	seen.cancels++;
	seen.phase = UI_CANCELLED;
}

static bool export_span(void *data, const struct ui_export *what, char **ret_message)
{
	seen.exported = *what;
	return true;
}

static const char *const formats[] = { "zipkin", "json", NULL };
static const struct ui_backend backend = {
	.status = status, .cancel = cancel, .export_span = export_span, .export_formats = formats,
	.outline = give_outline,
	.preview = give_preview, .show_range = show_range,
};

/* [from, to) in seconds of the story; some are busier, one is empty, two have losses. */
static struct outline *outline_new(int from, int to)
{
	struct outline *o = g_new0(struct outline, 1);

	g_atomic_ref_count_init(&o->refs);
	o->from_ns = FAKE_T0 + from * FAKE_S;
	o->to_ns = FAKE_T0 + to * FAKE_S;
	o->step_ns = FAKE_S;
	o->begin_ns = o->from_ns;
	o->complete = true;
	o->n = (size_t)(to - from);
	o->cell = g_new0(struct outline_cell, o->n + 1);
	for (size_t i = 0; i < o->n; i++) {
		o->cell[i].bytes = (uint64_t)(1 + i * 7 % 11) << 20;
		o->bytes += o->cell[i].bytes;
	}
	o->cell[o->n / 2].bytes = 0;
	o->cell[o->n / 3].lost_events = 12345;
	o->cell[o->n - 2].lost_packets = 3;
	return o;
}

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
};

static void begin(void)
{
	outline_unref(seen.outline);
	memset(&seen, 0, sizeof seen);
	seen.phase = UI_LOADING;
	seen.reader = "native";
	seen.progress = 0.42;
	seen.pieces = 40;
	seen.final_to = TIME_UNKNOWN;
}

static void start(struct fixture *f, struct timeline *tl, unsigned rows, unsigned cols)
{
	if (!f->options.at_ns)
		f->options.at_ns = TIME_UNKNOWN;
	f->tl = tl;
	f->app = app_new(&f->options, &backend, f->tl, true);
	app_resize(f->app, rows, cols);
	app_draw(f->app);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
	g_clear_pointer(&seen.outline, outline_unref);
}

static void take(struct fixture *f)
{
	progressive_take(f->app);
	app_draw(f->app);
}

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys)) {
		app_key(f->app, (int)g_utf8_get_char(keys));
		app_draw(f->app);
	}
}

static void press_key(struct fixture *f, int key)
{
	app_key(f->app, key);
	app_draw(f->app);
}

static char *screen(struct fixture *f)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	g_autoptr(GRegex) memory = g_regex_new("mem [0-9.KMG/]+", 0, 0, NULL);

	return g_regex_replace_literal(memory, dump, -1, 0, "mem -", 0, NULL);
}

static void check(struct fixture *f, const char *text, bool wanted)
{
	g_autofree char *dump = screen(f);

	if ((strstr(dump, text) != NULL) != wanted)
		g_test_message("%s'%s' in\n%s", wanted ? "no " : "", text, dump);
	g_assert_true((strstr(dump, text) != NULL) == wanted);
}

static void check_golden(struct fixture *f, const char *name)
{
	const char *top = g_getenv("SRCDIR") ? g_getenv("SRCDIR") : ".";
	g_autofree char *path = g_strdup_printf("%s/tests/golden/%s.txt", top, name);
	g_autofree char *text = screen(f), *ink = canvas_ink(f->app->canvas, SCHEME_DARK_256), *expected = NULL;
	g_autofree char *dump = g_strconcat(text, "----\n", ink, NULL);
	g_autoptr(GError) error = NULL;

	canvas_check_seen(f->app->canvas);

	if (g_getenv("GENERATE")) {
		g_assert_true(g_file_set_contents(path, dump, -1, &error));
		return;
	}
	g_file_get_contents(path, &expected, NULL, &error);
	g_assert_no_error(error);
	if (strcmp(dump, expected)) {
		g_test_message("%s: is\n%s\nshould be\n%s", path, dump, expected);
		g_test_fail();
	}
}

/* --- the stages --- */

/* A timeline with one second of three processes, whose ids come in the order asked for:
 * main and preview number the same things differently. */
static struct timeline *processes_at(unsigned second, bool backwards, unsigned calls)
{
	static const struct { int32_t pid; const char *comm; } all[] = {
		{ 100, "alpha" }, { 200, "beta" }, { 300, "gamma" },
	};
	struct fake *f = fake_new();
	struct second *s = fake_second(f, second);

	for (int i = 0; i < 3; i++) {
		int k = backwards ? 2 - i : i;
		uint32_t t = fake_thread(f, 0, all[k].pid, all[k].pid, all[k].comm);

		fake_call(s, t, fake_string(f, k == 1 ? "futex" : "read"), calls * (unsigned)(k + 1),
			  1000 * 1000);
		fake_call(s, t, fake_string(f, "write"), 1, 2000);
		fake_cell(s, t)->part[PART_USER] = (k + 1) * 100 * FAKE_MS;
	}
	return fake_done(f);
}

static struct timeline *stage_outline(void)
{
	seen.outline = outline_new(-34, 6);
	seen.final_to = TIME_UNKNOWN;
	return timeline_new(0);
}

/* The story is the end of the trace, and nothing is read but a preview of it. */
static struct timeline *stage_preview(void)
{
	struct timeline *tl = stage_outline();

	seen.preview = fake_timeline();
	seen.window.from_ns = FAKE_T0 + 2 * FAKE_S;
	seen.window.to_ns = FAKE_T0 + 6 * FAKE_S;
	return tl;
}

/* The story is its begin, and what is read. */
static struct timeline *stage_half(void)
{
	seen.outline = outline_new(0, 40);
	seen.final_to = FAKE_T0 + 6 * FAKE_S;
	return fake_timeline();
}

static struct timeline *stage_stopped(void)
{
	seen.phase = UI_CANCELLED;
	return stage_half();
}

static struct timeline *stage_fallback(void)
{
	seen.reader = "babeltrace2: metadata:12: an event header with 40 bit timestamps, which "
		"no tracer of LTTng writes";
	seen.pieces = 0;
	return stage_half();
}

static struct timeline *stage_plain(void)
{
	seen.outline = outline_new(-39, 1);
	seen.preview = processes_at(0, false, 10);
	seen.window.from_ns = FAKE_T0;
	seen.window.to_ns = FAKE_T0 + FAKE_S;
	return timeline_new(0);
}

/* All is read; a finer step was asked for, and is there. */
static struct timeline *stage_fine(void)
{
	struct timeline *tl = stage_half();

	seen.phase = UI_DONE;
	seen.final_to = INT64_MAX;
	seen.preview = processes_at(5, false, 10);
	seen.window = (struct decoded_range){
		.from_ns = FAKE_T0 + 5 * FAKE_S, .to_ns = FAKE_T0 + 6 * FAKE_S,
		.step_ns = 100 * FAKE_MS, .exact = true,
	};
	return tl;
}

/* All is read, and the first ten seconds were folded since. */
static struct timeline *stage_folded(void)
{
	struct timeline *tl = processes_at(0, false, 10);
	struct publication *p = publication_new();
	struct second *s = second_ref((struct second *)timeline_second(tl, 0));
	struct second *folded = second_coarsen(&s, 1, 10 * FAKE_S);

	folded->begin_ns = FAKE_T0 - 15 * FAKE_S;
	folded->end_ns = folded->sums_end_ns = FAKE_T0 - 5 * FAKE_S;
	second_unref(s);
	g_ptr_array_add(p->seconds, folded);
	p->has_coverage = true;
	p->first_ns = FAKE_T0 - 15 * FAKE_S;
	p->last_ns = FAKE_T0 + FAKE_S - 1;
	timeline_apply(tl, p);
	seen.outline = outline_new(-15, 1);
	seen.final_to = INT64_MAX;
	seen.phase = UI_DONE;
	return tl;
}

static struct timeline *stage_fine_provisional(void)
{
	struct timeline *tl = stage_fine();

	seen.window.exact = false;
	return tl;
}

static const struct golden {
	const char *name, *keys;
	struct timeline *(*stage)(void);
	unsigned rows, cols;
	bool ascii;
} goldens[] = {
	{ "whole-outline-80x24", "", stage_outline, 24, 80, false },
	{ "whole-outline-140x45", "", stage_outline, 45, 140, false },
	{ "whole-outline-ascii", "", stage_outline, 24, 80, true },
	{ "whole-preview-80x24", "b-2s\r", stage_preview, 24, 80, false },
	{ "whole-preview-140x45", "b-2s\r", stage_preview, 45, 140, false },
	{ "whole-preview-ascii", "b-2s\r", stage_preview, 24, 80, true },
	{ "whole-preview-trace", "b-2s\rjj\r", stage_preview, 24, 80, false },
	{ "whole-preview-part", "b-2s\rZ", stage_preview, 24, 80, false },
	{ "whole-processes-80x24", "", stage_plain, 24, 80, false },
	{ "whole-processes-ascii", "", stage_plain, 24, 80, true },
	{ "whole-half-80x24", "bworst\r", stage_half, 24, 80, false },
	{ "whole-half-140x45", "bworst\r", stage_half, 45, 140, false },
	{ "whole-half-ascii", "bworst\r", stage_half, 24, 80, true },
	{ "whole-half-unread", "b50%\r", stage_half, 24, 80, false },
	{ "whole-half-processes", "bworst\r4", stage_half, 24, 80, false },
	{ "whole-half-part", "bworst\rAb+6s\rB", stage_half, 24, 80, false },
	{ "whole-stopped-80x24", "bend\r", stage_stopped, 24, 80, false },
	{ "whole-fine-80x24", "4b+2.3s\rz", stage_fine, 24, 80, false },
	{ "whole-fine-140x45", "4b+2.3s\rz", stage_fine, 45, 140, false },
	{ "whole-fine-soft", "4b+2.3s\rz", stage_fine_provisional, 24, 80, false },
	{ "whole-fine-unread", "4b+2.3s\rzz", stage_fine, 24, 80, false },
	{ "whole-fine-ascii", "4b+2.3s\rzz", stage_fine, 15, 60, true },
	{ "whole-folded-80x24", "4b-9s\r", stage_folded, 24, 80, false },
	{ "whole-folded-ascii", "4b-9s\r", stage_folded, 24, 80, true },
	{ "whole-fallback-80x24", "bworst\r", stage_fallback, 24, 80, false },
	{ "whole-fallback-140x45", "bworst\r", stage_fallback, 45, 140, false },
};

static void test_golden(const void *data)
{
	const struct golden *g = data;
	struct fixture f = { .options = { .ascii = g->ascii } };

	begin();
	start(&f, g->stage(), g->rows, g->cols);
	press(&f, g->keys);
	check_golden(&f, g->name);
	stop(&f);
}

/* --- lanes --- */

static void start_read(struct fixture *f, unsigned rows, unsigned cols)
{
	struct timeline *tl;

	begin();
	tl = stage_half();
	seen.phase = UI_DONE;
	seen.final_to = INT64_MAX;
	start(f, tl, rows, cols);
}

/* Of the request, three steps with a thread on CPU 1. */
static struct timeline *fine_steps(const struct view_range *range)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 246, 256, "thumbd-w2");

	fake_class(f, "sched_switch");
	for (unsigned i = 0; i < 3; i++) {
		struct second *s = fake_second(f, i);

		s->begin_ns = range->from_ns + (10 + i) * range->step_ns;
		s->end_ns = s->sums_end_ns = s->begin_ns + range->step_ns;
		fake_cell(s, t)->part[PART_USER] = range->step_ns;
		s->n_cpus = s->n_rans = 1;
		s->cpus = g_new0(struct cpu_cell, 1);
		s->cpus[0] = (struct cpu_cell){ .cpu = 1, .run_ns = range->step_ns };
		s->rans = g_new0(struct ran_cell, 1);
		s->rans[0] = (struct ran_cell){ .key = { t, 1 }, .time_ns = range->step_ns };
	}
	return fake_done(f);
}

/* The timeline asks for steps of a cell, shows whole seconds meanwhile, and then the steps. */
static void test_timeline_steps(void)
{
	struct fixture f = { 0 };
	struct view_range asked;

	start_read(&f, 24, 80);
	press(&f, "bworst\rv");
	check(&f, "a cell is 20.0ms (of whole seconds, decoding ...)", true);
	asked = seen.show_range;
	g_assert_true(asked.again && asked.step_ns == 20 * FAKE_MS && asked.from_ns % asked.step_ns == 0);
	seen.preview = fine_steps(&asked);
	seen.window = (struct decoded_range){ asked.from_ns, asked.to_ns, asked.step_ns, false };
	take(&f);
	check(&f, "decoding", false);
	check(&f, "          ███", true);
	check(&f, "          uuu", true);
	press(&f, "z");
	check(&f, "a cell is 10.0ms (of whole seconds, decoding ...)", true);
	g_assert_cmpint(seen.show_range.step_ns, ==, 10 * FAKE_MS);
	for (unsigned i = 0; i < 30; i++)
		press(&f, "z");
	check(&f, "1 ns is the shortest cell", true);
	g_assert_cmpint(seen.show_range.step_ns, ==, 1);
	for (unsigned i = 0; i < 60; i++)
		press(&f, "Z");
	check(&f, "all of the trace is shown", true);
	g_assert_cmpint(seen.show_range.step_ns, ==, 0);
	stop(&f);
}

/* The waterfall is drawn at once; its lanes appear when they are decoded. */
static void test_waterfall_lanes(void)
{
	struct fixture f = { 0 };
	struct view_range asked;

	start_read(&f, 45, 140);
	press(&f, "bworst\rjj\r");
	check(&f, "began ", true);
	check(&f, "What else ran", false);
	asked = seen.show_range;
	g_assert_true(asked.again && asked.step_ns > 0 && asked.step_ns < FAKE_MS);
	seen.preview = fine_steps(&asked);
	seen.window = (struct decoded_range){ asked.from_ns, asked.to_ns, asked.step_ns, false };
	take(&f);
	check(&f, "What else ran", true);
	check(&f, "CPU1  thumbd-w2/256", true);
	check(&f, "woken by thumbd-w0/254", true);
	check_golden(&f, "whole-lanes-140x45");
	take(&f);
	g_assert_true(seen.show_range.from_ns == asked.from_ns);
	press(&f, "\033");
	stop(&f);
}

/* --- what the keys do --- */

/* What was folded is decoded again. */
static void test_folded_again(void)
{
	struct fixture f = { 0 };

	begin();
	start(&f, stage_folded(), 24, 80);
	press(&f, "4b-9s\r");
	app_draw(f.app);
	g_assert_true(seen.show_range.again);
	g_assert_cmpint(seen.show_range.step_ns, ==, 0);
	press(&f, "z");
	app_draw(f.app);
	g_assert_true(seen.show_range.again);
	g_assert_cmpint(seen.show_range.step_ns, ==, 100 * FAKE_MS);
	press(&f, "Zbend\r");
	app_draw(f.app);
	g_assert_false(seen.show_range.again);
	stop(&f);
}

/* The first screen is the trace's end; one can go anywhere at once. */
static void test_go(void)
{
	struct fixture f = { 0 };

	begin();
	start(&f, stage_outline(), 24, 80);
	check(&f, "06:08:40 loading 42%", true);
	check(&f, "not read yet: 42 % of the trace is", true);
	check(&f, "06:08:40, 1.00s:", true);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0 + 5 * FAKE_S);
	g_assert_cmpint(seen.show_range.to_ns, ==, FAKE_T0 + 6 * FAKE_S);
	press_key(&f, UI_KEY_LEFT);
	check(&f, "06:08:39", true);
	check(&f, "! lost in this range: 3 packets", true);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0 + 4 * FAKE_S);
	press(&f, "bstart\r");
	check(&f, "06:08:01", true);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0 - 34 * FAKE_S);
	press_key(&f, UI_KEY_LEFT);
	check(&f, "this is the first second", true);
	unsigned show_ranges = seen.show_ranges;
	press(&f, "\fjk4");
	g_assert_cmpuint(seen.show_ranges, ==, show_ranges);	/* nothing else is looked at */
	press(&f, "bend\r");
	check(&f, "06:08:40", true);
	press_key(&f, UI_KEY_RIGHT);
	check(&f, "this is the newest second", true);
	press(&f, "bworst\r");
	check(&f, "nothing is read yet", true);
	press(&f, "n");
	check(&f, "no other cause in what is read so far", true);
	stop(&f);
}

/* At the end of reading the screen goes to the worst second and says so, unless the user has chosen one. */
static void test_moved(void)
{
	for (int touched = 0; touched < 2; touched++) {
		struct fixture f = { 0 };
		int64_t at;

		begin();
		start(&f, stage_half(), 24, 80);
		if (touched)
			press_key(&f, UI_KEY_LEFT);
		at = f.app->nav.cursor_ns;
		check(&f, "moved to", false);
		seen.phase = UI_DONE;
		seen.final_to = INT64_MAX;
		take(&f);
		check(&f, "all read; shown: the second with the most delayed request; b end: the last one", !touched);
		g_assert_true((f.app->nav.cursor_ns == at) == touched);
		take(&f);
		press(&f, "h\033");
		take(&f);
		check(&f, "moved to", false);
		stop(&f);
	}
}

/* A preview comes, what is read takes over: the selection stays on its thing. */
static void test_swap(void)
{
	struct fixture f = { 0 };

	begin();
	seen.outline = outline_new(-39, 1);
	start(&f, processes_at(0, true, 1000), 24, 80);
	check(&f, "not read yet", true);
	seen.preview = processes_at(0, false, 10);
	seen.window.from_ns = FAKE_T0;
	seen.window.to_ns = FAKE_T0 + FAKE_S;
	take(&f);
	check(&f, "~ provisional: what came before is not read yet", true);
	press(&f, "/beta\r");
	check(&f, "▶beta", true);
	press(&f, "\r");
	check(&f, "beta", true);
	press(&f, "/futex\r");
	check(&f, "▶", true);
	seen.final_to = FAKE_T0 + FAKE_S;
	seen.progress = 1;
	take(&f);
	check(&f, "provisional:", false);
	g_autofree char *dump = screen(&f);
	g_assert_nonnull(g_strstr_len(dump, -1, "▶"));
	g_assert_true(g_regex_match_simple("▶ *futex", dump, 0, 0) ||
		      g_regex_match_simple("▶.*futex", dump, 0, 0));
	g_assert_null(strstr(dump, "gamma"));		/* narrowed to the process still */
	press(&f, "\033");
	check(&f, "▶beta", true);
	stop(&f);
}

/* A trace opened from the preview stays when another preview takes its place, and is
 * shown whole once that part is read. */
static void test_trace_stays(void)
{
	struct fixture f = { 0 };

	begin();
	start(&f, stage_preview(), 24, 80);
	press(&f, "b-2s\rjj\r");
	check(&f, "~provisional", true);
	check(&f, "began ", true);
	press(&f, "e");
	g_assert_true(seen.exported.tl == f.app->preview);
	press_key(&f, UI_KEY_LEFT);
	check(&f, "began ", true);
	seen.preview = processes_at(1, false, 10);
	seen.window.from_ns = FAKE_T0 + FAKE_S;
	seen.window.to_ns = FAKE_T0 + 2 * FAKE_S;
	take(&f);
	check(&f, "began ", true);
	check(&f, "lock: waited", true);
	press(&f, "\033");
	stop(&f);
}

static void test_stop(void)
{
	struct fixture f = { 0 };

	begin();
	start(&f, stage_half(), 24, 80);
	check(&f, "native 42%, 16 of 40 parts, 1.31M events, 16.2M/s; Esc stops the load", true);
	press(&f, "\033");
	g_assert_cmpuint(seen.cancels, ==, 1);
	check(&f, "stopped at 42%", true);
	check(&f, "not read: the load was stopped at 42 % of the trace", true);
	press(&f, "bworst\r");
	check(&f, "REQUESTS", true);
	press(&f, "\033");
	check(&f, "this is the top", true);
	g_assert_cmpuint(seen.cancels, ==, 1);
	stop(&f);
}

/* Playing waits for what is read out of turn, but not for ever. */
static void test_play(void)
{
	struct fixture f = { 0 };

	begin();
	start(&f, stage_outline(), 24, 80);
	press(&f, "bstart\rp");
	for (int i = 0; i < 3; i++)
		app_second_passed(f.app);
	app_draw(f.app);
	check(&f, "06:08:01 loading", true);
	app_second_passed(f.app);
	app_draw(f.app);
	check(&f, "06:08:02 loading", true);
	stop(&f);
}

/* Read to its end: as if it had been read before it was shown. */
static void test_done(void)
{
	struct fixture f = { 0 };

	begin();
	seen.outline = outline_new(0, 9);
	start(&f, fake_timeline(), 24, 80);
	check(&f, "06:08:43 loading", true);
	seen.phase = UI_DONE;
	take(&f);
	check(&f, "06:08:38 PAUSED", true);
	check(&f, "▶    1 thumbnail 97.3ms", true);
	check(&f, "history 06:08:35-06:08:", true);
	/* Packets may reach beyond the last event: the strip says how long there are events. */
	press(&f, "4");
	int64_t first, last;
	char length[TIMEFMT_LEN];
	g_assert_true(timeline_coverage(f.tl, &first, &last));
	g_autofree char *recorded = g_strdup_printf("%s: ", timefmt_duration(length, last - first));
	check(&f, recorded, true);
	check(&f, "9.00s: ", false);
	stop(&f);
}

/* Two seconds: one request in the first, only work in both. */
static struct timeline *work_after_request(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 100, "alpha");

	fake_span(f, &(struct fake_span){ .trace = 0x1234, .id = 0x1234, .name = "request",
		.service = "web", .thread = t, .begin = 100 * FAKE_MS, .end = 300 * FAKE_MS,
		.state = SPAN_COMPLETE });
	for (unsigned i = 0; i < 2; i++)
		fake_cell(fake_second(f, i), t)->part[PART_USER] = 100 * FAKE_MS;
	return fake_done(f);
}

/* The last second has processes alone, and is shown first. The cursor does not stay in
 * their table when the worst second is known. */
static void test_done_after_idle(void)
{
	struct fixture f = { .options = { .start_view = "overview" } };

	begin();
	seen.outline = outline_new(0, 2);
	seen.preview = work_after_request();
	seen.window.from_ns = FAKE_T0 + FAKE_S;
	seen.window.to_ns = FAKE_T0 + 2 * FAKE_S;
	start(&f, work_after_request(), 24, 80);
	take(&f);
	check(&f, "06:08:36 loading", true);
	check(&f, "▶alpha", true);
	seen.phase = UI_DONE;
	seen.final_to = INT64_MAX;
	take(&f);
	check(&f, "06:08:35 PAUSED", true);
	check(&f, "▶    1 request ", true);
	stop(&f);
}

/* Whatever was pressed, a screen has its lines, in visible text, and the first one is the header. */
static void check_frame(struct fixture *f)
{
	app_resize(f->app, 24, 80);
	app_draw(f->app);
	g_autofree char *text = screen(f);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	g_assert_cmpuint(g_strv_length(lines), ==, 25);		/* the last one is empty */
	g_assert_true(g_utf8_validate(text, -1, NULL));
	g_assert_true(*lines[0] != '\0');
	for (size_t i = 0; lines[i]; i++) {
		g_assert_cmpint(g_utf8_strlen(lines[i], -1), <=, 80);
		for (const char *c = lines[i]; *c; c++)
			g_assert_false(g_ascii_iscntrl(*c));
	}
}

static void test_every_key(void)
{
	struct timeline *(*const stages[])(void) = {
		stage_outline, stage_preview, stage_half, stage_stopped, stage_fallback, stage_plain,
	};
	static const unsigned sizes[][2] = { { 24, 80 }, { 15, 60 }, { 45, 140 }, { 3, 10 } };
	g_autoptr(GRand) rand = g_rand_new_with_seed(20261121);

	for (size_t s = 0; s < G_N_ELEMENTS(stages) * 8; s++) {
		struct fixture f = { .options = { .ascii = s & 1 } };

		begin();
		start(&f, stages[s % G_N_ELEMENTS(stages)](), 24, 80);
		for (int i = 0; i < 200; i++) {
			const unsigned *size = sizes[g_rand_int_range(rand, 0, 4)];

			if (g_rand_int_range(rand, 0, 20) == 0)
				app_resize(f.app, size[0], size[1]);
			if (g_rand_int_range(rand, 0, 30) == 0) {
				seen.preview = g_rand_boolean(rand) ? fake_timeline() :
					processes_at(1, i & 1, 5);
				seen.window.from_ns = FAKE_T0;
				seen.window.to_ns = FAKE_T0 + g_rand_int_range(rand, 1, 7) * FAKE_S;
				take(&f);
			}
			if (g_rand_int_range(rand, 0, 50) == 0)
				seen.final_to = FAKE_T0 + g_rand_int_range(rand, 1, 7) * FAKE_S;
			press_key(&f, ui_bindings[g_rand_int_range(rand, 0,
							(int)ui_n_bindings)].key);
			f.app->quit = false;
		}
		check_frame(&f);
		if (seen.preview)
			timeline_free(g_steal_pointer(&seen.preview));
		stop(&f);
	}
}

/* A live session: one closed second, and one that is open. */
static void start_live(struct fixture *f, bool stored)
{
	struct timeline *tl = processes_at(0, false, 10), *more = processes_at(1, false, 10);
	struct publication *p = publication_new();
	struct second *open = second_ref((struct second *)timeline_second(more, 0));

	begin();
	seen.phase = UI_LIVE;
	seen.stored = stored;
	open->version = 0;
	g_ptr_array_add(p->seconds, open);
	p->has_coverage = true;
	p->first_ns = FAKE_T0;
	p->last_ns = FAKE_T0 + 2 * FAKE_S - 1;
	timeline_apply(tl, p);
	timeline_free(more);
	f->options.live = true;
	start(f, tl, 24, 80);
	take(f);
	check(f, "LIVE", true);
}

/* Steps below a second of what is closed are asked for, and shown as they come. */
static void test_stored(void)
{
	struct fixture f = { 0 };

	start_live(&f, true);
	g_assert_cmpuint(seen.show_ranges, ==, 0);
	press(&f, "4z");
	take(&f);
	check(&f, "PAUSED  range 100ms step 100ms", true);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0);
	g_assert_cmpint(seen.show_range.to_ns, ==, FAKE_T0 + 100 * FAKE_MS);
	g_assert_cmpint(seen.show_range.step_ns, ==, 100 * FAKE_MS);
	g_assert_true(seen.show_range.again);
	check(&f, "it is decoded in steps of 100ms, in a moment", true);
	check(&f, "from the packets on disk, which begin at", true);
	seen.preview = processes_at(0, false, 3);
	seen.window = (struct decoded_range){ FAKE_T0, FAKE_T0 + FAKE_S, 100 * FAKE_MS, false };
	take(&f);
	check(&f, "provisional: what came before", true);
	check(&f, "alpha", true);
	press(&f, "b06:08:36.5\r");
	take(&f);
	check(&f, "this second is still open", true);
	press(&f, "F");
	take(&f);
	check(&f, "LIVE", true);
	check(&f, "step 1s", true);
	check(&f, "alpha", true);
	stop(&f);
}

#define REQUESTS 2000			/* 20 s of them, of which a small budget holds some */

/* Requests that take 1 to 5 ms, one every 10 ms, as a live session tells them. */
static struct timeline *requests(size_t budget, unsigned from, unsigned to)
{
	struct timeline *tl = timeline_new(budget);
	struct model *m = model_new(&(struct model_options){ .live = true });
	struct span_feed *feed = span_feed_new(m);

	for (unsigned n = from; n < to; n++) {
		int64_t at = FAKE_T0 + n * 10 * FAKE_MS;
		span_feed_mark(feed, &(struct span_mark){ .ts = at, .trace = n + 1, .span = n + 1, .event = "start",
							   .name = "get", .service = "web", .vtid = 7 });
		span_feed_mark(feed, &(struct span_mark){ .ts = at + (1 + n % 5) * FAKE_MS, .trace = n + 1,
							   .span = n + 1, .event = "end", .name = "get",
							   .service = "web", .vtid = 7 });
		struct publication *p = n % 20 ? NULL : model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	timeline_apply(tl, model_publish(m, true));
	span_feed_free(feed);
	model_free(m);
	return tl;
}

/* Requests of a second that memory has no room for are decoded again when one goes back there,
 * at steps of a second; the line of trust says how far back which are. */
static void test_requests_again(void)
{
	struct fixture f = { .options = { .live = true, .start_view = "traces" } };
	struct timeline *tl = requests(1 << 20, 0, REQUESTS);
	char clock[TIMEFMT_LEN], until[TIMEFMT_LEN], line[64];

	begin();
	seen.phase = UI_LIVE;
	seen.stored = true;
	int64_t from = timeline_facts(tl)->requests_from;
	g_assert_cmpint(from, >, FAKE_T0 + 5 * FAKE_S);
	g_assert_cmpint(from, <, FAKE_T0 + 19 * FAKE_S);
	start(&f, tl, 24, 80);
	take(&f);
	g_assert_cmpuint(seen.show_ranges, ==, 0);
	timefmt_clock(until, time_floor(from - 1, FAKE_S) + FAKE_S);
	g_snprintf(line, sizeof line, "   req %s-, pkt %s-", until, timefmt_clock(clock, FAKE_T0));
	check(&f, line, true);
	app_resize(f.app, 24, 140);
	app_draw(f.app);
	g_snprintf(line, sizeof line, ", requests since %s, packets since %s", until, clock);
	check(&f, line, true);
	/* What is there is not asked for, what is not is. */
	press(&f, "p");
	g_assert_cmpuint(seen.show_ranges, ==, 0);
	g_snprintf(line, sizeof line, "b%s\r", timefmt_clock(clock, FAKE_T0 + 3 * FAKE_S));
	press(&f, line);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0 + 3 * FAKE_S);
	g_assert_cmpint(seen.show_range.to_ns, ==, FAKE_T0 + 4 * FAKE_S);
	g_assert_cmpint(seen.show_range.step_ns, ==, 0);
	g_assert_true(seen.show_range.again);
	check(&f, "decoded again", false);
	seen.preview = requests(0, 300, 500);
	seen.window = (struct decoded_range){ FAKE_T0 + 3 * FAKE_S, FAKE_T0 + 5 * FAKE_S, FAKE_S, true };
	take(&f);
	check(&f, "decoded again", true);
	g_assert_cmpuint(nav_top(&f.app->nav)->rows->rows->len, ==, 100);
	press(&f, "F");
	take(&f);
	check(&f, "decoded again", false);
	stop(&f);
}

/* One can go back to seconds that are not in memory at all, as far as packets are kept. */
static void test_dropped_again(void)
{
	struct fixture f = { .options = { .live = true, .start_view = "traces" } };
	struct timeline *tl = requests(1 << 18, 0, 10 * REQUESTS);
	char clock[TIMEFMT_LEN], line[64];

	begin();
	seen.phase = UI_LIVE;
	seen.stored = true;
	g_assert_cmpint(timeline_retained_from(tl), >, FAKE_T0 + 10 * FAKE_S);
	start(&f, tl, 24, 80);
	take(&f);
	g_snprintf(line, sizeof line, "b%s\r", timefmt_clock(clock, FAKE_T0 + 5 * FAKE_S));
	press(&f, line);
	g_assert_cmpint(seen.show_range.from_ns, ==, FAKE_T0 + 5 * FAKE_S);
	g_assert_true(seen.show_range.again);
	check(&f, "no longer in memory (--memory): it is decoded again", true);
	check(&f, "from the packets on disk, which begin at", true);
	seen.preview = requests(0, 500, 700);
	seen.window = (struct decoded_range){ FAKE_T0 + 5 * FAKE_S, FAKE_T0 + 7 * FAKE_S, FAKE_S, true };
	take(&f);
	check(&f, "decoded again", true);
	g_assert_cmpuint(nav_top(&f.app->nav)->rows->rows->len, ==, 100);
	stop(&f);
}

/* Nothing is kept: says why there are no finer steps. */
static void test_not_stored(void)
{
	struct fixture f = { 0 };

	start_live(&f, false);
	press(&f, "4z");
	take(&f);
	check(&f, "no packets of this session are stored", true);
	check(&f, "LIVE", true);
	g_assert_cmpuint(seen.show_ranges, ==, 0);
	stop(&f);
}

/* What lacks a stream's events is not told to be fine; what it had said before is. */
static void test_stalled(void)
{
	struct fixture f = { 0 };

	start_live(&f, false);
	check(&f, "DATA ok lost 0", true);
	seen.stalled = "chan_0";
	seen.stalled_ns = FAKE_T0 + FAKE_S / 2;
	app_draw(f.app);
	check(&f, "DATA ! NO DATA from chan_0 lost 0", true);
	seen.stalled_ns = FAKE_T0 + 9 * FAKE_S;
	app_draw(f.app);
	check(&f, "DATA ok lost 0", true);
	seen.stalled = "a-name-that-is-longer-than-what-there-is-room-for";
	seen.stalled_ns = INT64_MIN;
	app_draw(f.app);
	check(&f, "DATA ! NO DATA from a-name-that-is-longer", true);
	check(&f, "room-for", false);
	seen.stalled = NULL;
	app_draw(f.app);
	check(&f, "NO DATA", false);
	stop(&f);
}

int main(int argc, char **argv)
{
	timefmt_set_utc(true);
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(goldens); i++) {
		g_autofree char *path = g_strdup_printf("/golden/%s", goldens[i].name);

		g_test_add_data_func(path, &goldens[i], test_golden);
	}
	g_test_add_func("/whole/go", test_go);
	g_test_add_func("/whole/moved", test_moved);
	g_test_add_func("/whole/swap", test_swap);
	g_test_add_func("/whole/trace-stays", test_trace_stays);
	g_test_add_func("/whole/stop", test_stop);
	g_test_add_func("/whole/play", test_play);
	g_test_add_func("/whole/done", test_done);
	g_test_add_func("/whole/done-after-idle", test_done_after_idle);
	g_test_add_func("/whole/every-key", test_every_key);
	g_test_add_func("/whole/kept", test_stored);
	g_test_add_func("/whole/not-kept", test_not_stored);
	g_test_add_func("/whole/requests-again", test_requests_again);
	g_test_add_func("/whole/dropped-again", test_dropped_again);
	g_test_add_func("/whole/stalled", test_stalled);
	g_test_add_func("/whole/folded-again", test_folded_again);
	g_test_add_func("/whole/timeline-steps", test_timeline_steps);
	g_test_add_func("/whole/waterfall-lanes", test_waterfall_lanes);
	return g_test_run();
}
