/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All screens on the story of tests/lib/fake_timeline.h, as text, and what the keys
 * do to them. GENERATE=1 writes tests/golden/ anew: look at the difference.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "lib/made_alerts.h"
#include "ui/app.h"
#include "ui/screen.h"

#include "base/timefmt.h"

#include <stdlib.h>
#include <string.h>

/* A backend that writes down what it is asked. */

static struct {
	struct ui_export exported;
	char *path;
	unsigned exports, saves, cancels;
	enum ui_phase phase;
	const char *banner;
	bool calm;
	bool fails, exists;
	unsigned saved_rows;
	size_t saved_columns;
} seen;

static bool export_span(void *data, const struct ui_export *what, char **ret_message)
{
	seen.exported = *what;
	g_free(seen.path);
	seen.path = g_strdup(what->path);
	seen.exports++;
	*ret_message = g_strdup(seen.fails ? "cannot write: no space left" : "wrote /tmp/x, 8 spans");
	return !seen.fails;
}

static enum ui_saved save_view(void *data, const struct ui_save *what, char **ret_message)
{
	seen.saves++;
	seen.saved_rows = what->rows->rows->len;
	seen.saved_columns = what->view->n_columns;
	g_free(seen.path);
	seen.path = g_strdup(what->path);
	if (seen.exists && !what->force)
		return UI_SAVE_EXISTS;
	*ret_message = g_strdup(seen.fails ? "no space left" : "wrote /tmp/view.txt");
	return seen.fails ? UI_SAVE_FAILED : UI_SAVED;
}

static void cancel(void *data)
{
	seen.cancels++;
}

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = seen.phase, .progress = 0.43, .n_events = 131000,
				   .events_per_s = 1200000, .lag_ns = 600 * FAKE_MS };
	g_strlcpy(ret->source, seen.phase == UI_LIVE ? "relay1/web1 prod kernel+ust" :
		  "demo kernel+ust", sizeof ret->source);
	g_strlcpy(ret->banner, seen.banner ? seen.banner : "", sizeof ret->banner);
	ret->calm = seen.calm;
}

static const char *const formats[] = { "zipkin", "json", NULL };
static const struct ui_backend backend = {
	.status = status, .cancel = cancel, .export_span = export_span, .export_formats = formats,
	.save_view = save_view,
};

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
	struct made_alerts made;
};

static const char *const thresholds[] = { "p99 of any > 3 x usual", "losses > 0", "max of any > 1s warn 1ms", NULL };

static void start_on(struct fixture *f, struct timeline *tl, unsigned rows, unsigned cols)
{
	g_free(seen.path);
	memset(&seen, 0, sizeof seen);
	seen.phase = f->options.live ? UI_LIVE : UI_DONE;
	if (!f->options.at_ns)
		f->options.at_ns = TIME_UNKNOWN;
	f->tl = tl;
	made_alerts_init(&f->made, thresholds, tl);
	f->options.alerts = f->made.alerts;
	f->app = app_new(&f->options, &backend, f->tl, true);
	app_resize(f->app, rows, cols);
	app_draw(f->app);
}

static void start(struct fixture *f, unsigned rows, unsigned cols)
{
	start_on(f, fake_timeline(), rows, cols);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	made_alerts_clear(&f->made);
	timeline_free(f->tl);
}

/* Keys as characters; \r Enter, \033 Esc. */
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

	/* How much memory it takes is not what these tests are about. */
	return g_regex_replace_literal(memory, dump, -1, 0, "mem -", 0, NULL);
}

static void check_has(struct fixture *f, const char *text)
{
	g_autofree char *dump = screen(f);

	if (!strstr(dump, text))
		g_test_message("no '%s' in\n%s", text, dump);
	g_assert_nonnull(strstr(dump, text));
}

static void check_has_not(struct fixture *f, const char *text)
{
	g_autofree char *dump = screen(f);

	if (strstr(dump, text))
		g_test_message("'%s' in\n%s", text, dump);
	g_assert_null(strstr(dump, text));
}

static void check_text(const char *name, const char *text)
{
	const char *top = g_getenv("SRCDIR") ? g_getenv("SRCDIR") : ".";
	g_autofree char *path = g_strdup_printf("%s/tests/golden/%s.txt", top, name);
	g_autofree char *expected = NULL;
	g_autoptr(GError) error = NULL;

	if (g_getenv("GENERATE")) {
		g_assert_true(g_file_set_contents(path, text, -1, &error));
		return;
	}
	g_file_get_contents(path, &expected, NULL, &error);
	g_assert_no_error(error);
	if (strcmp(text, expected)) {
		g_test_message("%s: is\n%s\nshould be\n%s", path, text, expected);
		g_test_fail();
	}
}

static void check_golden(struct fixture *f, const char *name)
{
	g_autofree char *dump = screen(f), *ink = canvas_ink(f->app->canvas, SCHEME_DARK_256);
	g_autofree char *both = g_strconcat(dump, "----\n", ink, NULL);

	canvas_check_seen(f->app->canvas);
	check_text(name, both);
}

static void check_clean(struct fixture *f)
{
	const struct canvas *c = f->app->canvas;

	for (unsigned y = 0; y < c->rows; y++) {
		for (unsigned x = 0; x < c->cols; x++) {
			for (const char *p = canvas_cell(c, y, x)->ch; *p; p = g_utf8_next_char(p))
				g_assert_false(g_unichar_iscntrl(g_utf8_get_char(p)));
		}
	}
}

/* Goldens: how to come to a screen, and at which size. */

static const struct golden {
	const char *name, *keys;
	unsigned rows, cols;
	bool ascii, live, coach;
} goldens[] = {
	{ "overview-live", "", 24, 80, false, true, false },
	{ "overview-coach", "", 24, 80, false, false, true },
	{ "waterfall-zoomed", "jj\rzz]", 24, 80, false, false, false },
	{ "waterfall-folded", "jj\rgj*", 24, 80, false, false, false },
	{ "waterfall-slow-store", "j\r", 24, 80, false, false, false },
	{ "waterfall-open", "jjj\r", 24, 80, false, false, false },
	{ "waterfall-waker", "jj\rw", 24, 80, false, false, false },
	{ "waterfall-detail", "jj\r\r", 24, 80, false, false, false },
	{ "waterfall-calls", "jj\r5", 24, 80, false, false, false },
	{ "waterfall-200x50", "jj\r", 50, 200, false, false, false },
	{ "timeline-200x50", "v", 50, 200, false, false, false },
	{ "timeline-zoomed", "vzzzjj", 24, 80, false, false, false },
	{ "timeline-tagged", "4   v", 24, 80, false, false, false },
	{ "timeline-of-waterfall", "jj\rv", 24, 80, false, false, false },
	{ "flame-200x50", "V", 50, 200, false, false, false },
	{ "flame-zoomed", "Vj\r", 24, 80, false, false, false },
	{ "flame-of-process", "4V", 24, 80, false, false, false },
	{ "operation-80x24", "jjjjjj\r", 24, 80, false, false, false },
	{ "processes-threads", "4H", 24, 80, false, false, false },
	{ "processes-tree", "4t", 24, 80, false, false, false },
	{ "processes-tagged", "4  k", 24, 80, false, false, false },
	{ "columns-80x24", "4f", 24, 80, false, false, false },
	{ "sort-80x24", "4o", 24, 80, false, false, false },
	{ "range-processes", "4b-2s\rAb+2s\rB", 24, 80, false, false, false },
	{ "overview-200x50", "", 50, 200, false, false, false },
	{ "traces-200x50", "2", 50, 200, false, false, false },
	{ "processes-160x30", "4", 30, 160, false, false, false },
	{ "lost-processes", "4b-1s\r", 45, 140, false, false, false },
	{ "range-80x24", "b-2s\rAb+2s\rB", 24, 80, false, false, false },
	{ "lost-80x24", "b-1s\r", 24, 80, false, false, false },
	{ "heatmap-200x50", "i", 50, 200, false, false, false },
	{ "heatmap-by", "jijbbbbbbbbb", 24, 80, false, false, false },
	{ "heatmap-by-ascii", "jijbbbbbbbbb", 24, 80, true, false, false },
	{ "heatmap-rectangle", "5i >j ", 24, 80, false, false, false },
	{ "distribution-200x50", "d", 50, 200, false, false, false },
	{ "distribution-two", "5  d", 24, 80, false, false, false },
	{ "distribution-compared", "dC", 24, 80, false, false, false },
	{ "help-heatmap", "i?", 24, 80, false, false, false },
	{ "help-80x24", "?", 24, 80, false, false, false },
	{ "help-140x45", "?", 45, 140, false, false, false },
	{ "messages-80x24", "xs\ry!", 24, 80, false, false, false },
	{ "accessible-overview", "", 24, 80, false, false, false },
	{ "accessible-processes", "4jj", 24, 80, false, false, false },
	{ "accessible-waterfall", "jj\r", 45, 140, false, false, false },
	{ "accessible-timeline", "vj", 24, 80, false, false, false },
	{ "accessible-heatmap", "i", 15, 60, false, false, false },
	{ "too-small", "", 14, 59, false, false, false },
	{ "much-too-small", "", 5, 20, false, false, false },
};

static void test_golden(const void *data)
{
	const struct golden *g = data;
	struct prefs *prefs = prefs_new();
	struct fixture f = { .options = { .ascii = g->ascii, .live = g->live, .coach = g->coach, .prefs = prefs } };

	prefs->accessible = g_str_has_prefix(g->name, "accessible-");
	start(&f, g->rows, g->cols);
	press(&f, g->keys);
	if (!strcmp(g->name, "messages-80x24")) {
		/* Their times are of now. */
		check_has(&f, "wrote /tmp/view.txt");
		check_has(&f, "copied: ");
	} else {
		check_golden(&f, g->name);
	}
	stop(&f);
	prefs_free(prefs);
}

/* A request that a noisy neighbour kept from its CPU, then a lock whose holder has no span. */
static struct timeline *noisy_timeline(void)
{
	struct fake *f = fake_new();
	uint32_t serve = fake_thread(f, 0, 70, 71, "serve"), janitor = fake_thread(f, 0, 70, 72, "janitor");
	uint32_t ffmpeg = fake_thread(f, 0, 77, 77, "ffmpeg"), other = fake_thread(f, 0, 78, 78, "cron");
	struct span *root = fake_span(f, &(struct fake_span){ .trace = FAKE_VICTIM, .id = 1, .name = "get",
		.service = "front", .thread = serve, .begin = 0, .end = 100 * FAKE_MS });
	fake_second(f, 0);
	fake_class(f, "sched_switch");
	fake_class(f, "sched_waking");
	fake_class(f, "zipkin:timestamp");
	fake_wait(root, PART_PREEMPTED, 10 * FAKE_MS, 60 * FAKE_MS, 0, ID_NONE, 0)->cpu_holder = ffmpeg;
	fake_wait(root, PART_FUTEX, 65 * FAKE_MS, 90 * FAKE_MS, 2 * FAKE_MS, janitor, fake_string(f, "futex"));
	fake_link(root, janitor, PART_TIMER, 65 * FAKE_MS, 85 * FAKE_MS)->call = fake_string(f, "clock_nanosleep");
	fake_link(root, janitor, PART_WAKEUP, 85 * FAKE_MS, 87 * FAKE_MS)->cpu_holder = other;
	fake_link(root, janitor, PART_N, 87 * FAKE_MS, 88 * FAKE_MS);
	fake_cpu_holder(root, ffmpeg, 43 * FAKE_MS);
	fake_cpu_holder(root, other, 5 * FAKE_MS);
	root->runqueue->idle_ns = 3 * FAKE_MS;
	root->runqueue->unknown_ns = 1 * FAKE_MS;
	return fake_done(f);
}

static void test_noisy(void)
{
	struct fixture f = { 0 };

	start_on(&f, noisy_timeline(), 45, 100);
	press(&f, "\r\r");
	check_has(&f, "Runnable behind");
	check_has(&f, "janitor/72");
	check_golden(&f, "waterfall-neighbour");
	stop(&f);
}

/* Every view in every size: a view that is added is in it by itself. */

static const struct size {
	const char *name;
	unsigned rows, cols;
	bool ascii, mono;
} sizes[] = {
	{ "80x24", 24, 80, false, false }, { "140x45", 45, 140, false, false },
	{ "60x15", 15, 60, false, false }, { "ascii", 24, 80, true, false },
	{ "mono", 24, 80, true, true },
};

/* Those that one comes to by other keys than their number or name. */
static const struct { const char *view, *keys; } ways[] = {
	{ "overview", "" }, { "waterfall", "jj\r" }, { "phases", "3jjjjj" },
};

struct matrix {
	const struct view *view;
	const struct size *size;
};

static char attr_letter(const struct cell *cell)
{
	static const char letters[] = " bdBrRRRuUuURRRR";	/* by bold, dim, reverse, underline */

	return letters[(theme_style(SCHEME_MONO, cell->role).attr | cell->attr) & 15];
}

/* Without colours there are attributes: b bold, u underlined, U both, r reverse. */
static char *attributes(const struct canvas *c)
{
	GString *s = g_string_new(NULL);

	for (unsigned y = 0; y < c->rows; y++) {
		gsize begin = s->len;

		for (unsigned x = 0; x < c->cols; x++)
			g_string_append_c(s, attr_letter(canvas_cell(c, y, x)));
		while (s->len > begin && s->str[s->len - 1] == ' ')
			g_string_truncate(s, s->len - 1);
		g_string_append_c(s, '\n');
	}
	return g_string_free(s, FALSE);
}

static void test_matrix(const void *data)
{
	const struct matrix *m = data;
	struct fixture f = { .options = { .ascii = m->size->ascii } };
	g_autofree char *name = g_strdup_printf("%s-%s", m->view->id, m->size->name);
	const char *keys = "";

	f.options.start_view = m->view->id;
	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		if (strcmp(ways[i].view, m->view->id))
			continue;
		f.options.start_view = NULL;
		keys = ways[i].keys;
	}
	start(&f, m->size->rows, m->size->cols);
	press(&f, keys);
	g_assert_true(nav_top(&f.app->nav)->view == m->view);
	check_clean(&f);
	if (m->size->mono) {
		g_autofree char *map = attributes(f.app->canvas), *text = screen(&f);
		g_autofree char *both = g_strconcat(text, "----\n", map, NULL);

		canvas_check_seen(f.app->canvas);
		check_text(name, both);
	} else {
		check_golden(&f, name);
	}
	stop(&f);
}

static void add_matrix(void)
{
	for (size_t v = 0; view_all[v]; v++) {
		for (size_t i = 0; i < G_N_ELEMENTS(sizes) && view_all[v]->on_screen; i++) {
			struct matrix *m = g_new(struct matrix, 1);
			g_autofree char *path = g_strdup_printf("/matrix/%s-%s", view_all[v]->id,
								sizes[i].name);

			*m = (struct matrix){ view_all[v], &sizes[i] };
			g_test_add_data_func_full(path, m, test_matrix, g_free);
		}
	}
}

/* Nobody knows whose the flow is: Enter shows the row, and no other view. */
static void test_peer_of_nobody(void)
{
	struct fixture f = { .options = { .start_view = "peers" } };

	start(&f, 24, 80);
	press(&f, "\r");
	g_assert_cmpstr(nav_top(&f.app->nav)->view->id, ==, "peers");
	check_has(&f, "10.0.0.77:51234");
	check_has(&f, "Esc:back");
	press(&f, "\033H");
	check_has(&f, "by name");
	check_has(&f, "FLOWS");
	check_has_not(&f, "51234");
	stop(&f);
}

/* The walk of a newcomer: six keys from the start to the reason and the file. */

static void test_walk(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	check_has(&f, "06:08:38 PAUSED");
	check_has(&f, "▶    1 thumbnail 97.3ms");
	press(&f, "jj\r");
	check_has(&f, "WHY lock: waited 53.2ms for a lock; thumbd-w0/254 slept holding it");
	check_has(&f, "began ");
	press(&f, "w");
	check_has(&f, "7f8efb3a8bed4f37 › 1e9873c2aa104f01");
	check_has(&f, "woken by thumbd-w0/254");
	press(&f, "e");
	check_has(&f, "wrote /tmp/x, 8 spans");
	g_assert_cmpuint(seen.exports, ==, 1);
	g_assert_cmphex(seen.exported.trace_id, ==, FAKE_HOLDER);
	g_assert_null(seen.exported.path);
	g_assert_null(seen.exported.format);
	press(&f, "\033");
	check_has(&f, "lock: waited 53.2ms");
	press(&f, "q");
	check_has(&f, "REQUESTS");
	g_assert_false(f.app->quit);
	press(&f, "q");
	g_assert_true(f.app->quit);
	stop(&f);
}

/* A time of day is looked for in the whole trace, from the cursor on. */
static void test_time_of_days(void)
{
	struct fixture f = { 0 };
	struct fake *fake = fake_new();

	for (int i = 0; i <= 2 * 86400; i += 43200)
		fake_second(fake, i);
	start_on(&f, fake_done(fake), 24, 80);
	press(&f, "bstart\rb18:08:35\r");
	check_has(&f, "18:08:35 is 2026-11-21 18:08:35 UTC, one of 2 such times in the trace");
	check_has(&f, "18:08:35 PAUSED");
	press(&f, "b06:08:35\r");
	check_has(&f, "06:08:35 is 2026-11-22 06:08:35 UTC, one of 3 such times in the trace");
	press(&f, "b2026-11-22 18:08:35\r");
	check_has(&f, "18:08:35 PAUSED");
	press(&f, "b06:08:30\r");
	check_has(&f, "06:08:30 is 2026-11-23 06:08:30 UTC, one of 2 such times in the trace");
	press(&f, "b@9223372036854775807\r");
	check_has(&f, "out of the range of times");
	stop(&f);
}

static void test_time(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press_key(&f, UI_KEY_LEFT);
	check_has(&f, "06:08:37 PAUSED");
	check_has(&f, "DATA ! LOST");
	press_key(&f, UI_KEY_RIGHT);
	press_key(&f, UI_KEY_RIGHT);
	check_has(&f, "06:08:39 PAUSED");
	press(&f, "bstart\r");
	check_has(&f, "06:08:35 PAUSED");
	press_key(&f, UI_KEY_LEFT);
	check_has(&f, "06:08:35 PAUSED");
	check_has(&f, "this is the first second");
	press(&f, "n");
	check_has(&f, "06:08:38 PAUSED");
	press(&f, "b12 o'clock\r");
	check_has(&f, "12 o'clock");
	press(&f, "\033b06:08:36\r");
	check_has(&f, "06:08:36 PAUSED");
	press(&f, "bworst\r");
	check_has(&f, "06:08:38 PAUSED");
	press(&f, "b06:09:00\r");
	check_has(&f, "outside the trace");
	press(&f, "bworst\rz");
	check_has(&f, "1 s is the finest step here");
	press(&f, "Z");
	check_has(&f, "06:08:30 PAUSED  range 10s step 10s");
	press(&f, "z");
	check_has(&f, "06:08:35 PAUSED  range 1s step 1s");
	press(&f, "bworst\rA");
	press_key(&f, UI_KEY_RIGHT);
	press_key(&f, UI_KEY_RIGHT);
	press(&f, "B");
	check_has(&f, "06:08:38-06:08:41 PAUSED  range 3s step 1s");
	press(&f, "R");
	check_has(&f, "06:08:40 PAUSED  range 1s step 1s");
	stop(&f);
}

static void test_play(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "bstart\rp");
	check_has(&f, "06:08:35 PLAYING");
	app_second_passed(f.app);
	app_draw(f.app);
	check_has(&f, "06:08:36 PLAYING");
	for (int i = 0; i < 10; i++)
		app_second_passed(f.app);
	app_draw(f.app);
	check_has(&f, "06:08:40 PAUSED");
	stop(&f);
}

static void test_live(void)
{
	struct fixture f = { .options = { .live = true } };

	start(&f, 24, 80);
	check_has(&f, "06:08:40 LIVE lag 0.6s");
	press_key(&f, UI_KEY_LEFT);
	check_has(&f, "06:08:39 PAUSED");
	app_timeline_changed(f.app);
	app_draw(f.app);
	check_has(&f, "06:08:39 PAUSED");
	press(&f, "F");
	check_has(&f, "06:08:40 LIVE");
	press_key(&f, UI_KEY_LEFT);
	press(&f, "A");
	check_has(&f, "06:08:39-");
	press(&f, "F");
	check_has(&f, "06:08:40 LIVE lag 0.6s");
	press(&f, "p");
	check_has(&f, "06:08:40 PAUSED");
	press(&f, "p");
	check_has(&f, "06:08:40 LIVE");
	seen.banner = "relay gone since 12:00:05: Connection refused; trying again";
	press(&f, "\f");
	check_has(&f, "relay gone since");
	/* What is no fault gives way to the filter's line. */
	seen.banner = "no event since 12:00:05";
	seen.calm = true;
	press(&f, "\f");
	check_has(&f, "no event since");
	press(&f, "4\\pid == 253\r");
	check_has(&f, "rows, filter: pid == 253");
	stop(&f);
}

static void test_filter(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4\\pid == 253\r");
	check_has(&f, "1 of 5 rows");
	check_has(&f, "filter pid == 253");
	check_has_not(&f, "thumbd");
	/* A bad one is told of and changes nothing. */
	press(&f, "\\\025nonsense == 1\r");
	check_has(&f, "nonsense");
	press(&f, "\033");
	check_has(&f, "1 of 5 rows");
	press(&f, "\\\025\r");
	check_has(&f, "thumbd");
	check_has(&f, "filter none");
	stop(&f);
}

static void test_search(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4/stor\r");
	check_has(&f, "▶    253 stored");
	press(&f, "n");
	check_has(&f, "▶    253 stored");
	press(&f, "/no such thing\r");
	check_has(&f, "no row holds");
	press(&f, "1\033/kworker\r");
	check_has(&f, "▶kworker/0:1");
	stop(&f);
}

static void test_sort(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4j");
	check_has(&f, "▶    253 stored");
	press(&f, ">");
	check_has(&f, "sorted by RUNQ%");
	check_has(&f, "▶    253 stored");		/* the thing, not the place */
	press(&f, "<<I");
	check_has(&f, "▶    253 stored");
	stop(&f);
}

static void test_drill(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "jjjjj\r");		/* the first one below the requests by cause */
	check_has(&f, "Overview › send");
	press(&f, "3");
	check_has(&f, "› Phases: send");
	press(&f, "7");
	check_has(&f, "› Spans: send");
	press(&f, "\033");
	check_has(&f, "Overview › send");
	check_has_not(&f, "Spans: send");
	press(&f, "\033" "4\r");
	check_has(&f, "Processes › thumbd");
	check_has(&f, "futex");
	check_has_not(&f, "stored");
	stop(&f);
}

static void test_export(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "jj\rgj");
	press(&f, "E");
	check_has(&f, "Export as");
	check_has(&f, "json      the selected span");
	press(&f, "jjj\r/tmp/a b.json\r");
	g_assert_cmpuint(seen.exports, ==, 1);
	g_assert_cmpstr(seen.exported.format, ==, "json");
	g_assert_false(seen.exported.with_kernel);
	g_assert_cmphex(seen.exported.trace_id, ==, FAKE_VICTIM);
	g_assert_cmphex(seen.exported.span_id, !=, 0);
	g_assert_cmpstr(seen.path, ==, "/tmp/a b.json");
	press(&f, "E");
	check_has(&f, "again: json span /tmp/a b.json");
	press(&f, "jj\r\r");
	g_assert_cmphex(seen.exported.span_id, ==, 0);
	g_assert_null(seen.path);
	seen.fails = true;
	press(&f, "e");
	check_has(&f, "cannot write: no space left");
	press(&f, "\033" "4e");
	check_has(&f, "select a trace or a span first");
	g_assert_cmpuint(seen.exports, ==, 3);
	seen.fails = false;
	press(&f, "E");
	check_has(&f, "csv       the rows of Processes");
	check_has_not(&f, "again: json");
	press(&f, "j\r\r");
	g_assert_cmpstr(seen.path, ==, "blktop-processes-060838.csv");
	press(&f, "E");
	check_has(&f, "again: rows .csv");
	seen.saves = 0;
	press(&f, "\033s\r");
	g_assert_cmpuint(seen.saves, ==, 1);
	g_assert_cmpstr(seen.path, ==, "blktop-processes-060838.txt");
	check_has(&f, "wrote /tmp/view.txt");
	stop(&f);
}

static void test_copy(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "jj\ry");
	g_assert_nonnull(strstr(f.app->copy, "7f8efb3a8bed4f37 thumbnail 68.4ms: lock: waited"));
	stop(&f);
}

static void test_loading(void)
{
	struct fixture f = { 0 };

	start_on(&f, timeline_new(0), 24, 80);
	seen.phase = UI_LOADING;
	press(&f, "\f");
	check_has(&f, "--:--:-- loading 43%");
	check_has(&f, "Esc stops the load");
	check_has_not(&f, "left");			/* in the first second nobody knows */
	f.app->loading_since_us -= 43 * G_USEC_PER_SEC;
	press(&f, "\f");
	check_has(&f, "57s left; Esc stops the load");
	f.app->loading_since_us -= 10 * 43 * G_USEC_PER_SEC;
	app_resize(f.app, 24, 120);
	press(&f, "\f");
	check_has(&f, "│████▎     │ 43%");
	check_has(&f, "10min left; Esc stops the load");
	app_resize(f.app, 24, 80);
	press(&f, "bstart\r");
	check_has(&f, "nothing is read yet");
	press(&f, "\033");
	g_assert_cmpuint(seen.cancels, ==, 0);	/* it was the prompt's */
	press(&f, "\033");
	g_assert_cmpuint(seen.cancels, ==, 1);
	check_has(&f, "what was read stays");
	/* Every key there is, on nothing at all. */
	for (size_t i = 0; i < ui_n_bindings; i++) {
		press_key(&f, ui_bindings[i].key);
		press(&f, "\033\033");
	}
	stop(&f);
}

/* A trace without spans opens with its processes. */
static void test_no_spans(void)
{
	struct fixture f = { 0 };
	struct fake *fake = fake_new();
	uint32_t t = fake_thread(fake, 0, 100, 100, "plain");

	fake_call(fake_second(fake, 0), t, fake_string(fake, "read"), 3, 1000);
	start_on(&f, fake_done(fake), 24, 80);
	check_has(&f, "Overview › demo");
	check_has(&f, "plain");
	check_has(&f, "no request ended so far");
	stop(&f);
}

/* Whatever is typed wherever, at whatever size: no crash, nothing raw, a whole screen. */
static void test_random_keys(void)
{
	static const unsigned random_sizes[][2] = { { 24, 80 }, { 15, 60 }, { 45, 140 }, { 16, 200 },
					     { 60, 61 }, { 3, 10 }, { 1, 1 } };
	g_autoptr(GRand) rand = g_rand_new_with_seed(20261121);
	int rounds = g_test_slow() ? 200 : 20;

	for (int round = 0; round < rounds; round++) {
		struct fixture f = { .options = { .live = round & 1, .ascii = round & 2,
						  .coach = round & 4 } };

		start(&f, 24, 80);
		for (int i = 0; i < 400; i++) {
			int key = ui_bindings[g_rand_int_range(rand, 0, (int)ui_n_bindings)].key;

			if (g_rand_int_range(rand, 0, 40) == 0) {
				const unsigned *size = random_sizes[g_rand_int_range(rand, 0, 7)];

				app_resize(f.app, size[0], size[1]);
			}
			if (g_rand_int_range(rand, 0, 10) == 0)
				app_timeline_changed(f.app);
			press_key(&f, key);
			check_clean(&f);
			f.app->quit = false;
		}
		stop(&f);
	}
}

static void test_hostile(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4");
	check_has(&f, "ev\\x1b[31mil");
	for (const char *view = "123456789"; *view; view++) {
		press_key(&f, *view);
		check_clean(&f);
	}
	stop(&f);
}

/* Every command that a screen's tables name does something there or says why not. */
static void test_every_key(void)
{
	static const struct { enum context context; const char *keys; } screens[] = {
		{ CTX_OVERVIEW, "" }, { CTX_TABLE, "4" }, { CTX_WATERFALL, "jj\r" }, { CTX_TIMELINE, "v" },
	};

	for (size_t s = 0; s < G_N_ELEMENTS(screens); s++) {
		for (size_t i = 0; i < ui_n_bindings; i++) {
			struct fixture f = { 0 };

			if (!(ui_bindings[i].contexts & screens[s].context))
				continue;
			start(&f, 24, 80);
			press(&f, screens[s].keys);
			g_assert_cmpint(app_context(f.app), ==, screens[s].context);
			press_key(&f, ui_bindings[i].key);
			check_has_not(&f, "does nothing here");
			check_clean(&f);
			stop(&f);
		}
	}
}

int main(int argc, char **argv)
{
	timefmt_set_utc(true);
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(goldens); i++) {
		g_autofree char *path = g_strdup_printf("/golden/%s", goldens[i].name);

		g_test_add_data_func(path, &goldens[i], test_golden);
	}
	g_test_add_func("/screens/peer-of-nobody", test_peer_of_nobody);
	g_test_add_func("/golden/waterfall-neighbour", test_noisy);
	add_matrix();
	g_test_add_func("/screens/walk", test_walk);
	g_test_add_func("/screens/time", test_time);
	g_test_add_func("/screens/time-of-days", test_time_of_days);
	g_test_add_func("/screens/play", test_play);
	g_test_add_func("/screens/live", test_live);
	g_test_add_func("/screens/filter", test_filter);
	g_test_add_func("/screens/search", test_search);
	g_test_add_func("/screens/sort", test_sort);
	g_test_add_func("/screens/drill", test_drill);
	g_test_add_func("/screens/export", test_export);
	g_test_add_func("/screens/copy", test_copy);
	g_test_add_func("/screens/loading", test_loading);
	g_test_add_func("/screens/no-spans", test_no_spans);
	g_test_add_func("/screens/hostile", test_hostile);
	g_test_add_func("/screens/every-key", test_every_key);
	g_test_add_func("/screens/random-keys", test_random_keys);
	return g_test_run();
}
