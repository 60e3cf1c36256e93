/* SPDX-License-Identifier: GPL-2.0-only */
/* The screens for screen readers: in every view the terminal's cursor is on the selected row, and nothing is drawn. */
#include "lib/screen_fixture.h"
#include "lib/canvas_text.h"

#include "views/registry.h"

#include <string.h>

static char *line_at(struct app *app, unsigned y)
{
	g_autofree char *dump = canvas_dump(app->canvas);
	g_auto(GStrv) lines = g_strsplit(dump, "\n", -1);

	g_assert_cmpuint(y, <, g_strv_length(lines));
	return g_strdup(lines[y]);
}

static void start(struct fixture *f, const char *keys)
{
	fixture_start(f, "");
	f->app->prefs->accessible = true;
	f->app->glyphs = glyphs_get(false);
	app_draw(f->app);
	fixture_press(f, keys);
}

/* The cursor is on the line of the selected row, which says its number. */
static void check_cursor(struct fixture *f)
{
	struct focus at = place_focus(fixture_top(f));
	g_autofree char *want = g_strdup_printf("%zu selected", at.table->cursor + 1);
	g_autofree char *line = line_at(f->app, f->app->cursor_y);

	if (at.rows->rows->len && !g_str_has_prefix(line, want))
		g_error("%s: the cursor is on '%s', not on '%s'", at.view->id, line, want);
	g_assert_cmpuint(f->app->cursor_x, ==, 0);
}

static void check_text_only(struct fixture *f)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	for (const char *c = dump; *c; c = g_utf8_next_char(c)) {
		gunichar u = g_utf8_get_char(c);

		if (u >= 0x2500 && u < 0x2600)
			g_error("a box or bar is drawn:\n%s", dump);
	}
	g_assert_null(strstr(dump, "|"));
}

static void test_views(void)
{
	struct fixture f;
	unsigned n = 0, with_rows = 0;

	start(&f, "");
	for (size_t i = 0; view_all[i]; i++)
		n += view_all[i]->on_screen;
	for (unsigned i = 0; i < n; i++) {
		check_cursor(&f);
		check_text_only(&f);
		fixture_press(&f, "j");
		check_cursor(&f);
		fixture_press(&f, "G");
		check_cursor(&f);
		with_rows += place_focus(fixture_top(&f)).rows->rows->len > 0;
		fixture_press(&f, "\t");
	}
	g_assert_cmpuint(with_rows, >, n / 2);
	fixture_stop(&f);
}

/* The figures of the selected row are one a line; the sentence about a cause, and the timeline's, are there. */
static void test_facts(void)
{
	struct fixture f;

	start(&f, "4");
	g_assert_true(fixture_has(&f, "\nRow 1 of "));
	g_assert_true(fixture_has(&f, "\nNAME: "));
	g_assert_true(fixture_has(&f, "\nPID: "));
	fixture_press(&f, "v");
	g_assert_true(fixture_has(&f, "\ncursor "));
	fixture_press(&f, "1");
	g_assert_true(fixture_has(&f, "\nWhy: "));
	fixture_press(&f, "jj\r");
	fixture_press_key(&f, UI_KEY_RIGHT);
	g_assert_true(fixture_has(&f, "\nAt the time cursor: "));
	fixture_press(&f, "?");
	g_assert_true(fixture_has_not(&f, "Enter:ok"));
	fixture_stop(&f);
}

static void test_prompt(void)
{
	struct fixture f;

	start(&f, "4\\pid");
	g_assert_true(f.app->cursor_shown);
	g_assert_cmpuint(f.app->cursor_x, >=, 3);
	g_assert_cmpuint(f.app->cursor_y, ==, 22);
	fixture_stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/accessible/views", test_views);
	g_test_add_func("/accessible/facts", test_facts);
	g_test_add_func("/accessible/prompt", test_prompt);
	return g_test_run();
}
