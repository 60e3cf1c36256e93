/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clicks and the wheel, on the picture of the story; the picture's colours; and what
 * hostile widths do to it. GENERATE=1 writes tests/golden/ anew.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"
#include "ui/mouse.h"

#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

#define MS 1000		/* of the mouse's clock */

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
	gint64 now_us;
};

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = UI_DONE, .progress = 1, .n_events = 131000,
				   .lag_ns = -1, .index_progress = -1 };
	g_strlcpy(ret->source, "demo kernel+ust", sizeof ret->source);
}

static void cancel(void *data)
{
	(void)data;
}

static const struct ui_backend backend = { .status = status, .cancel = cancel };

static void start(struct fixture *f, unsigned rows, unsigned cols)
{
	f->options.at_ns = TIME_UNKNOWN;
	f->tl = fake_timeline();
	f->now_us = 1000000000;
	f->app = app_new(&f->options, &backend, f->tl, true);
	app_resize(f->app, rows, cols);
	app_draw(f->app);
}

static void stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
}

static void press(struct fixture *f, const char *keys)
{
	for (; *keys; keys++) {
		app_key(f->app, *keys);
		app_draw(f->app);
	}
}

/* Where a text begins on the screen, in cells. */
static void find(struct fixture *f, const char *text, unsigned *ret_y, unsigned *ret_x)
{
	g_autofree char *dump = NULL;

	for (unsigned y = 0; y < f->app->canvas->rows; y++) {
		g_autofree char *line = canvas_line(f->app->canvas, y);
		char *at = strstr(line, text);

		if (at) {
			*at = '\0';
			*ret_y = y;
			*ret_x = text_width(line);
			return;
		}
	}
	dump = canvas_dump(f->app->canvas);
	g_test_message("no '%s' in\n%s", text, dump);
	g_assert_not_reached();
}

static void mouse(struct fixture *f, enum app_mouse what, const char *text, unsigned right)
{
	unsigned y, x;

	find(f, text, &y, &x);
	f->now_us += 1000 * MS;
	app_mouse(f->app, what, y, x + right, f->now_us);
	app_draw(f->app);
}

static void click(struct fixture *f, const char *text)
{
	mouse(f, APP_CLICK, text, 0);
}

static void click_twice(struct fixture *f, const char *text)
{
	unsigned y, x;

	find(f, text, &y, &x);
	f->now_us += 1000 * MS;
	app_mouse(f->app, APP_CLICK, y, x, f->now_us);
	app_draw(f->app);
	app_mouse(f->app, APP_CLICK, y, x, f->now_us + 150 * MS);
	app_draw(f->app);
}

static char *selected(struct fixture *f)
{
	return canvas_line(f->app->canvas, f->app->cursor_y);
}

static void check_selected(struct fixture *f, const char *text)
{
	g_autofree char *line = selected(f);

	g_assert_true(g_str_has_prefix(line, f->app->glyphs->cursor));
	if (!strstr(line, text))
		g_test_message("'%s' is no '%s'", line, text);
	g_assert_nonnull(strstr(line, text));
}

static void check_title(struct fixture *f, const char *text)
{
	g_autofree char *line = canvas_line(f->app->canvas, 0);

	g_assert_true(g_str_has_prefix(line, text));
}

static void test_rows(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	click(&f, "stored                18.1");
	check_selected(&f, "stored");
	g_assert_cmpint(nav_top(&f.app->nav)->pane, ==, PANE_PROCESSES);
	g_assert_true(f.app->touched);
	click(&f, "1 thumbnail 68.4ms");
	check_selected(&f, "68.4ms");
	/* Too slow for a double click, then one, then another row. */
	click(&f, "1 thumbnail 68.4ms");
	check_title(&f, "Overview › demo");
	click_twice(&f, "1 thumbnail 68.4ms");
	check_title(&f, "Overview › 7f8efb3a8bed4f37");
	click(&f, "encode");
	check_selected(&f, "encode");
	/* On nothing, nothing happens. */
	app_mouse(f.app, APP_CLICK, 3, 79, f.now_us);
	app_mouse(f.app, APP_CLICK, 500, 500, f.now_us);
	check_selected(&f, "encode");
	click(&f, "Overview");
	check_title(&f, "Overview › demo");
	stop(&f);
}

static void test_headers(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4");
	mouse(&f, APP_CLICK, "   PID", 3);
	g_assert_cmpstr(f.app->message, ==, "sorted by PID, lowest first");
	mouse(&f, APP_CLICK, "   PID", 3);
	g_assert_cmpstr(f.app->message, ==, "sorted by PID, highest first");
	click(&f, "CPU%");
	g_assert_cmpstr(f.app->message, ==, "sorted by CPU%, highest first");
	stop(&f);
}

static void test_time(void)
{
	struct fixture f = { 0 };
	int64_t at;

	start(&f, 24, 80);
	at = f.app->nav.cursor_ns;
	/* A second is four cells of the strip: the first and the last one. */
	mouse(&f, APP_CLICK, "      0│", 8);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at - 3 * NS_PER_S);
	g_assert_cmpint(f.app->nav.mode, ==, NAV_PAUSED);
	check_title(&f, "Overview › demo kernel+ust                     06:08:35");
	mouse(&f, APP_WHEEL_DOWN, "      0│", 9);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at - 2 * NS_PER_S);
	mouse(&f, APP_WHEEL_UP, "      0│", 9);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at - 3 * NS_PER_S);
	stop(&f);
}

/* From one second to another, in either direction, in the strip, the graph and the heatmap. */
static void test_drag(void)
{
	static const struct { const char *keys, *row; unsigned first, cells; } rows[] = {
		{ "", "      0│", 8, 4 }, { "4", "p99    │", 8, 4 }, { "i", "67.1ms", 9, 1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		for (int backwards = 0; backwards < 2; backwards++) {
			struct fixture f = { 0 };
			unsigned y, x, from, to;

			start(&f, 24, 80);
			press(&f, rows[i].keys);
			find(&f, rows[i].row, &y, &x);
			x = rows[i].first;
			while (canvas_hit_at(f.app->canvas, y, x).hit != HIT_TIME)
				x++;
			while (canvas_hit_at(f.app->canvas, y, x).value < FAKE_T0 + FAKE_S)
				x++;
			to = x;
			while (canvas_hit_at(f.app->canvas, y, to).value < FAKE_T0 + 3 * FAKE_S)
				to++;
			from = backwards ? to : x;
			to = backwards ? x : to;
			app_mouse(f.app, APP_CLICK, y, from, f.now_us);
			app_draw(f.app);
			app_mouse(f.app, APP_DRAG, y, (from + to) / 2, f.now_us);
			app_draw(f.app);
			g_assert_false(nav_has_range(&f.app->nav));
			app_mouse(f.app, APP_RELEASE, y - 1, to, f.now_us);	/* another row does not matter */
			app_draw(f.app);
			g_assert_cmpint(f.app->nav.a_ns, ==, FAKE_T0 + FAKE_S);
			g_assert_cmpint(f.app->nav.b_ns, ==, FAKE_T0 + 4 * FAKE_S);
			g_assert_cmpstr(f.app->message, ==, "range 06:08:36-06:08:39: R clears it");
			/* It is over. */
			app_mouse(f.app, APP_DRAG, y, 70, f.now_us);
			app_mouse(f.app, APP_RELEASE, y, 70, f.now_us);
			g_assert_cmpint(f.app->nav.b_ns, ==, FAKE_T0 + 4 * FAKE_S);
			stop(&f);
		}
	}
}

/* A click is no range; beyond the seconds the last one counts; what is no second is not dragged. */
static void test_drag_ends(void)
{
	struct fixture f = { 0 };
	unsigned y, x;

	start(&f, 24, 80);
	press(&f, "4");
	find(&f, "p99    │", &y, &x);
	app_mouse(f.app, APP_CLICK, y, 9, f.now_us);
	app_mouse(f.app, APP_RELEASE, y, 10, f.now_us);		/* the same second */
	g_assert_false(nav_has_range(&f.app->nav));
	app_draw(f.app);
	app_mouse(f.app, APP_CLICK, y, 9, f.now_us);
	app_mouse(f.app, APP_RELEASE, y, 79, f.now_us);
	g_assert_cmpint(f.app->nav.a_ns, ==, FAKE_T0);
	g_assert_cmpint(f.app->nav.b_ns, ==, FAKE_T0 + 6 * FAKE_S);
	press(&f, "R");
	app_mouse(f.app, APP_CLICK, y + 2, 9, f.now_us);
	app_mouse(f.app, APP_RELEASE, y, 9, f.now_us);
	g_assert_false(nav_has_range(&f.app->nav));
	/* Back is where the button was pressed, not the range. */
	app_mouse(f.app, APP_CLICK, y, 9, f.now_us);
	app_mouse(f.app, APP_RELEASE, y, 20, f.now_us);
	app_key(f.app, UI_KEY_ALEFT);
	g_assert_false(nav_has_range(&f.app->nav));
	press(&f, "?");
	app_mouse(f.app, APP_CLICK, y, 9, f.now_us);
	app_mouse(f.app, APP_RELEASE, y, 20, f.now_us);
	g_assert_false(nav_has_range(&f.app->nav));
	stop(&f);
}

/* A range moves with clicks and keys, but never past the ends of the trace. That of the whole trace is cleared. */
static void test_range_ends(void)
{
	struct fixture f = { 0 };
	const struct nav *nav;
	unsigned y, x;

	start(&f, 24, 80);
	nav = &f.app->nav;
	press(&f, "40");
	find(&f, "p99    │", &y, &x);
	g_assert_cmpint(nav->b_ns, ==, FAKE_T0 + 6 * FAKE_S);
	press(&f, ">");
	app_mouse(f.app, APP_CLICK, y, 49, f.now_us);
	app_draw(f.app);
	g_assert_false(nav_has_range(nav));
	g_assert_cmpint(nav->cursor_ns, ==, FAKE_T0 + 5 * FAKE_S);
	g_assert_nonnull(strstr(f.app->message, "the range was the whole trace; now 06:08:40 is shown"));
	press(&f, "bstart\rAb+1s\rB");
	g_assert_cmpint(nav->b_ns - nav->a_ns, ==, 2 * FAKE_S);
	app_mouse(f.app, APP_CLICK, y, 49, f.now_us + 5000 * MS);
	g_assert_cmpint(nav->a_ns, ==, FAKE_T0 + 4 * FAKE_S);
	g_assert_cmpint(nav->b_ns, ==, FAKE_T0 + 6 * FAKE_S);
	app_draw(f.app);
	for (unsigned i = 0; i < 3; i++)
		app_key(f.app, UI_KEY_RIGHT);
	g_assert_cmpint(nav->b_ns, ==, FAKE_T0 + 6 * FAKE_S);
	g_assert_cmpstr(f.app->message, ==, "the range ends with the trace: R clears it");
	for (unsigned i = 0; i < 9; i++)
		app_key(f.app, UI_KEY_LEFT);
	g_assert_cmpint(nav->a_ns, ==, FAKE_T0);
	g_assert_cmpint(nav->b_ns, ==, FAKE_T0 + 2 * FAKE_S);
	g_assert_cmpstr(f.app->message, ==, "the range begins with the trace: R clears it");
	stop(&f);
}

static void test_keys_and_lists(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	click(&f, "F2Views");
	g_assert_true(popup_is_open(&f.app->popup));
	click(&f, "5 Syscalls");
	check_selected(&f, "5 Syscalls");
	click_twice(&f, "4 Processes");
	g_assert_false(popup_is_open(&f.app->popup));
	check_title(&f, "Processes");
	click(&f, "1Over");
	check_title(&f, "Overview");
	click(&f, "?");
	mouse(&f, APP_WHEEL_DOWN, "Help:", 0);
	g_assert_cmpuint(f.app->popup.top, ==, 3);
	mouse(&f, APP_WHEEL_UP, "Help:", 0);
	g_assert_cmpuint(f.app->popup.top, ==, 0);
	press(&f, "q/foo");
	/* While a line is typed only its own keys can be clicked. */
	click(&f, "thumbnail");
	g_assert_cmpint(f.app->prompt.kind, ==, PROMPT_SEARCH);
	click(&f, "Esc:cancel");
	g_assert_cmpint(f.app->prompt.kind, ==, PROMPT_NONE);
	stop(&f);
}

static void test_wheel(void)
{
	struct fixture f = { 0 };

	start(&f, 24, 80);
	press(&f, "4");
	press(&f, "g");
	mouse(&f, APP_WHEEL_DOWN, "PID", 0);
	g_assert_cmpuint(nav_top(&f.app->nav)->table[PANE_MAIN].cursor, ==, 3);
	mouse(&f, APP_WHEEL_UP, "PID", 0);
	mouse(&f, APP_WHEEL_UP, "PID", 0);
	g_assert_cmpuint(nav_top(&f.app->nav)->table[PANE_MAIN].cursor, ==, 0);
	stop(&f);
}

/* Anywhere, at any size, between any keys: it lives, and the cursor is on the screen. */
static void test_anywhere(void)
{
	static const unsigned sizes[][2] = { { 24, 80 }, { 45, 140 }, { 15, 60 }, { 4, 20 } };
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);

	for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
		struct fixture f = { 0 };

		start(&f, sizes[s][0], sizes[s][1]);
		for (int i = 0; i < 1500; i++) {
			unsigned y = (unsigned)g_rand_int_range(rand, 0, (gint32)sizes[s][0] + 1);
			unsigned x = (unsigned)g_rand_int_range(rand, 0, (gint32)sizes[s][1] + 1);

			f.now_us += g_rand_int_range(rand, 0, 600) * MS;
			app_mouse(f.app, (enum app_mouse)g_rand_int_range(rand, 0, 5), y, x, f.now_us);
			if (i % 7 == 0)
				app_key(f.app, "123456789\t\r\033jkq/?\\!F"[g_rand_int_range(rand, 0, 20)]);
			f.app->quit = false;
			app_draw(f.app);
			g_assert_cmpuint(f.app->cursor_y, <, f.app->canvas->rows);
		}
		stop(&f);
	}
}

/* For braille displays and readers the terminal's cursor is where the selection is. */
static void test_cursor(void)
{
	static const char *const ways[] = { "", "4", "5", "\r", "2", "3" };

	for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
		struct fixture f = { 0 };

		start(&f, 24, 80);
		press(&f, ways[w]);
		for (const char *key = "jjkGgj"; *key; key++) {
			char one[2] = { *key, 0 };

			press(&f, one);
			check_selected(&f, "");
		}
		press(&f, "1\033");
		app_key(f.app, UI_KEY_F(2));
		app_draw(f.app);
		app_key(f.app, UI_KEY_DOWN);
		app_key(f.app, UI_KEY_DOWN);
		app_draw(f.app);
		check_selected(&f, "3 Phases");
		stop(&f);
	}
}

/* --- messages --- */

static void test_messages_grow(void)
{
	struct fixture f = { 0 };
	unsigned y, x;

	start(&f, 24, 80);
	press(&f, "!");
	find(&f, "none so far", &y, &x);
	for (int i = 0; i < 100; i++)
		app_error(f.app, "message %d", i);
	app_draw(f.app);
	find(&f, "! message 99", &y, &x);	/* its end stays in sight */
	press(&f, "g");
	find(&f, "! message 0", &y, &x);
	app_message(f.app, "one more");
	app_draw(f.app);
	find(&f, "! message 0", &y, &x);	/* who reads above is left there */
	press(&f, "G");
	find(&f, "one more", &y, &x);
	stop(&f);
}

/* --- colours --- */

static char *color_name(int32_t color)
{
	return color >= 0 && color & COLOR_RGB ? g_strdup_printf("#%06x", (unsigned)color & 0xffffff) :
		g_strdup_printf("%d", color);
}

/* A screen with what a terminal of this scheme is told before each change. */
static char *painted(const struct canvas *c, enum scheme scheme)
{
	GString *s = g_string_new(NULL);

	for (unsigned y = 0; y < c->rows; y++) {
		g_autofree char *last = g_strdup("");

		for (unsigned x = 0; x < c->cols; x++) {
			const struct cell *cell = canvas_cell(c, y, x);
			struct style role = theme_style(scheme, cell->role);
			struct look look = cell_look(cell, scheme, &role);
			unsigned attr = role.attr | cell->attr;
			g_autofree char *fg = color_name(look.style.fg), *bg = color_name(look.style.bg);
			g_autofree char *now = g_strdup_printf("%s/%s/%s%s%s%s", fg, bg,
				attr & STYLE_BOLD ? "B" : "", attr & STYLE_DIM ? "D" : "",
				attr & STYLE_REVERSE ? "R" : "", attr & STYLE_UNDERLINE ? "U" : "");

			if (!strcmp(now, "-1/-1/"))
				*now = '\0';
			if (strcmp(now, last)) {
				g_string_append_printf(s, "{%s}", now);
				g_free(last);
				last = g_strdup(now);
			}
			g_string_append(s, look.ch);
		}
		while (s->len && s->str[s->len - 1] == ' ')
			g_string_truncate(s, s->len - 1);
		g_string_append_c(s, '\n');
	}
	return g_string_free(s, FALSE);
}

static void check_golden(const char *name, char *text)
{
	const char *top = g_getenv("SRCDIR") ? g_getenv("SRCDIR") : ".";
	g_autofree char *path = g_strdup_printf("%s/tests/golden/%s.txt", top, name);
	g_autoptr(GRegex) memory = g_regex_new("mem [0-9.KMG/]+", 0, 0, NULL);
	g_autofree char *is = g_regex_replace_literal(memory, text, -1, 0, "mem -", 0, NULL);
	g_autofree char *expected = NULL;
	g_autoptr(GError) error = NULL;

	if (g_getenv("GENERATE")) {
		g_assert_true(g_file_set_contents(path, is, -1, &error));
		return;
	}
	g_file_get_contents(path, &expected, NULL, &error);
	g_assert_no_error(error);
	if (strcmp(is, expected)) {
		g_test_message("%s: is\n%s\nshould be\n%s", path, is, expected);
		g_test_fail();
	}
}

static void test_painted(void)
{
	static const struct { const char *name; enum scheme scheme; } schemes[] = {
		{ "mono", SCHEME_MONO }, { "light", SCHEME_LIGHT_256 }, { "dark", SCHEME_DARK_256 },
		{ "rgb", SCHEME_DARK_RGB }, { "light-rgb", SCHEME_LIGHT_RGB },
	};
	static const struct { const char *name, *keys; } screens[] = {
		{ "overview", "" }, { "waterfall", "jj\r" }, { "processes", "4" },
		{ "heatmap", "i" }, { "heatmap-by", "ib" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(screens); i++) {
		struct fixture f = { 0 };

		start(&f, 24, 80);
		press(&f, screens[i].keys);
		for (size_t k = 0; k < G_N_ELEMENTS(schemes); k++) {
			g_autofree char *text = painted(f.app->canvas, schemes[k].scheme);
			g_autofree char *name = g_strdup_printf("painted-%s-%s", screens[i].name,
								schemes[k].name);

			check_golden(name, text);
			if (schemes[k].scheme == SCHEME_MONO)
				g_assert_false(g_regex_match_simple("\\{[0-9]", text, 0, 0));
		}
		stop(&f);
	}
}

/* --- hostile widths --- */

/* Wide, combining, invisible, unassigned, right-to-left, broken: whatever is put, a row
 * has as many columns as it has, and holds nothing that the terminal would obey. */
static void test_hostile_widths(void)
{
	static const char *const bits[] = {
		"a", " ", "\u4f5c", "\u0301", "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309",
		"\U0001f468\u200d\U0001f469", "\ufe0f", "\u2764", "\u1100\u1161", "\u202e", "\u2066",
		"\ufdfa", "\U000e0001", "\ufffe", "\x1b[2J", "\x7f", "\xc2\x9b", "\xff", "\xe4\xbd",
		"\U0001f1e9\U0001f1ea", "\u200b", "\u00ad", "\u0e33",
	};
	g_autoptr(GRand) rand = g_rand_new_with_seed(11);

	for (int round = 0; round < 2000; round++) {
		unsigned cols = (unsigned)g_rand_int_range(rand, 1, 30), counted = 0;
		struct canvas *c = canvas_new(1, cols);
		g_autofree char *line = NULL;

		for (int n = 0; n < 6; n++) {
			g_autoptr(GString) s = g_string_new(NULL);
			unsigned x = (unsigned)g_rand_int_range(rand, 0, (gint32)cols);
			unsigned width = (unsigned)g_rand_int_range(rand, 0, 32);

			for (int i = 0; i < 8; i++)
				g_string_append(s, bits[g_rand_int_range(rand, 0, G_N_ELEMENTS(bits))]);
			if (n % 2)
				canvas_put(c, 0, x, width, ROLE_TEXT, s->str);
			else
				canvas_put_right(c, 0, x, width, ROLE_TEXT, s->str);
		}
		for (unsigned x = 0; x < cols; x++) {
			const struct cell *cell = canvas_cell(c, 0, x);

			g_assert_true(g_utf8_validate(cell->ch, -1, NULL));
			g_assert_cmpuint(text_width(cell->ch), ==, cell->width);
			g_assert_true(cell->width < 2 || (x + 1 < cols && !canvas_cell(c, 0, x + 1)->width));
			g_assert_true(cell->width > 0 || (x > 0 && canvas_cell(c, 0, x - 1)->width == 2));
			counted += cell->width;
		}
		g_assert_cmpuint(counted, ==, cols);
		line = canvas_line(c, 0);
		g_autofree char *visible = text_visible(line);
		g_assert_cmpstr(line, ==, visible);
		canvas_free(c);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/mouse/rows", test_rows);
	g_test_add_func("/mouse/headers", test_headers);
	g_test_add_func("/mouse/time", test_time);
	g_test_add_func("/mouse/drag", test_drag);
	g_test_add_func("/mouse/drag-ends", test_drag_ends);
	g_test_add_func("/mouse/range-ends", test_range_ends);
	g_test_add_func("/mouse/keys-and-lists", test_keys_and_lists);
	g_test_add_func("/mouse/wheel", test_wheel);
	g_test_add_func("/mouse/anywhere", test_anywhere);
	g_test_add_func("/cursor/on-the-selection", test_cursor);
	g_test_add_func("/messages/grow", test_messages_grow);
	g_test_add_func("/painted/schemes", test_painted);
	g_test_add_func("/canvas/hostile-widths", test_hostile_widths);
	return g_test_run();
}
