/* SPDX-License-Identifier: GPL-2.0-only */
/* The way back and forth: every place, time, selection and filter where the user was comes back as it was left. */
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/screen_flame.h"
#include "ui/visits.h"

#include "base/timefmt.h"

#include <string.h>

static void back(struct fixture *f)
{
	fixture_press_key(f, UI_KEY_ALEFT);
}

static void forth(struct fixture *f)
{
	fixture_press_key(f, UI_KEY_ARIGHT);
}

static guint n_back(const struct fixture *f)
{
	return f->app->visits.back ? f->app->visits.back->len : 0;
}

static void test_views(void)
{
	struct fixture f;

	fixture_start(&f, "");
	back(&f);
	g_assert_true(fixture_has(&f, "no place before this one"));
	fixture_press(&f, "4j");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	fixture_press(&f, "\r5");
	g_assert_true(fixture_has(&f, "› Syscalls: pid 253"));
	fixture_press(&f, "1\033");
	back(&f);
	back(&f);
	g_assert_true(fixture_has(&f, "› Syscalls: pid 253"));
	g_assert_cmpuint(f.app->nav.stack->len, ==, 3);
	back(&f);
	g_assert_true(fixture_top(&f)->view->kind == VIEW_PROCESS);
	back(&f);
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	g_assert_true(fixture_has(&f, "back to Processes, 06:08:38"));
	back(&f);
	g_assert_true(fixture_top(&f)->view->kind == VIEW_OVERVIEW);
	for (int i = 0; i < 3; i++)
		forth(&f);
	g_assert_true(fixture_has(&f, "› Syscalls: pid 253"));
	/* From here on another way: the way forth is that no more. Esc goes up, and is a step on the way. */
	fixture_press(&f, "\033");
	forth(&f);
	g_assert_true(fixture_has(&f, "no place after this one"));
	back(&f);
	g_assert_true(fixture_has(&f, "› Syscalls: pid 253"));
	fixture_stop(&f);
}

/* Picks a view from the list of views. */
static void pick(struct fixture *f, const char *name)
{
	fixture_press_key(f, UI_KEY_F(2));
	fixture_press(f, name);
	fixture_press(f, "\r");
}

static const char *shown(struct fixture *f)
{
	return fixture_top(f)->view->id;
}

/* Views that were opened from the list or by number are steps that Esc and q go back, too; only then q quits. */
static void test_way(void)
{
	static const int keys[] = { UI_KEY_ESC, 'q', UI_KEY_BACKSPACE };
	struct fixture f;

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		int64_t at;

		fixture_start(&f, "");
		pick(&f, "scheduler");
		pick(&f, "slow spans");
		fixture_press(&f, "4gj");
		fixture_press_key(&f, UI_KEY_LEFT);
		at = f.app->nav.cursor_ns;
		fixture_press_key(&f, keys[i]);
		g_assert_cmpstr(shown(&f), ==, "slow-spans");
		g_assert_cmpint(f.app->nav.cursor_ns, ==, at);		/* steps in time are not undone */
		fixture_press_key(&f, UI_KEY_ALEFT);
		g_assert_cmpstr(shown(&f), ==, "processes");
		g_assert_cmpuint(fixture_top(&f)->table[PANE_MAIN].cursor, ==, 1);
		for (const char *const *id = (const char *const []){ "slow-spans", "scheduler", "overview", NULL };
		     *id; id++) {
			fixture_press_key(&f, keys[i]);
			g_assert_cmpstr(shown(&f), ==, *id);
		}
		g_assert_false(f.app->quit);
		fixture_press_key(&f, keys[i]);
		g_assert_cmpint(f.app->quit, ==, keys[i] == 'q');
		if (keys[i] != 'q')
			g_assert_true(fixture_has(&f, "loading stopped"));	/* the fixture is always opening */
		fixture_stop(&f);
	}
}

/* There and back again leaves no way behind; all views after each other can be gone back. */
static void test_way_bounded(void)
{
	struct fixture f;
	unsigned n = 0;

	fixture_start(&f, "41414");
	fixture_press(&f, "q");
	g_assert_cmpstr(shown(&f), ==, "overview");
	g_assert_true(nav_is_top(&f.app->nav));
	do {
		fixture_press(&f, "\t");
	} while (++n < 3 * NAV_WAY_MAX && strcmp(shown(&f), "flame"));
	g_assert_cmpstr(shown(&f), ==, "flame");
	g_assert_cmpuint(n, >, 20);
	for (unsigned i = 0; i < n; i++)
		fixture_press(&f, "q");
	g_assert_cmpstr(shown(&f), ==, "overview");
	g_assert_false(f.app->quit);
	fixture_press(&f, "Q");
	g_assert_true(f.app->quit);
	fixture_stop(&f);
}

static void test_time(void)
{
	struct fixture f;
	int64_t at;

	fixture_start(&f, "4");
	at = f.app->nav.cursor_ns;
	/* A run of steps is one. */
	for (int i = 0; i < 3; i++)
		fixture_press_key(&f, UI_KEY_LEFT);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at - 3 * NS_PER_S);
	g_assert_cmpuint(n_back(&f), ==, 2);
	fixture_press(&f, "bend\r");
	fixture_press(&f, "A");
	fixture_press(&f, "Z");
	g_assert_cmpuint(n_back(&f), ==, 5);
	back(&f);
	g_assert_cmpint(f.app->nav.step_ns, ==, NS_PER_S);
	g_assert_true(nav_has_range(&f.app->nav));
	back(&f);
	g_assert_false(nav_has_range(&f.app->nav));
	back(&f);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at - 3 * NS_PER_S);
	back(&f);
	g_assert_cmpint(f.app->nav.cursor_ns, ==, at);
	g_assert_cmpstr(fixture_top(&f)->view->id, ==, "processes");
	for (int i = 0; i < 3; i++)
		forth(&f);
	g_assert_true(nav_has_range(&f.app->nav));
	fixture_stop(&f);
}

static void test_filter(void)
{
	struct fixture f;

	fixture_start(&f, "4\\pid == 253\r");
	fixture_press(&f, "\\\025pid == 246\r");
	fixture_press(&f, "u");
	g_assert_true(fixture_has(&f, "filter none"));
	back(&f);
	g_assert_true(fixture_has(&f, "filter pid == 246"));
	back(&f);
	g_assert_true(fixture_has(&f, "filter pid == 253"));
	back(&f);
	g_assert_true(fixture_has(&f, "filter none"));
	forth(&f);
	g_assert_true(fixture_has(&f, "filter pid == 253"));
	fixture_stop(&f);
}

/* The selection of each visit, though both are the same place. */
static void test_selection(void)
{
	struct fixture f;

	fixture_start(&f, "4gA");
	g_assert_true(fixture_has(&f, "▶    246 thumbd"));
	fixture_press(&f, "jR");
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	fixture_press(&f, "G");
	back(&f);
	g_assert_true(fixture_has(&f, "▶    253 stored"));
	back(&f);
	g_assert_true(fixture_has(&f, "▶    246 thumbd"));
	fixture_stop(&f);
}

static void test_waterfall(void)
{
	struct fixture f;
	int64_t mark;

	fixture_start(&f, "jj\r");
	fixture_press_key(&f, UI_KEY_RIGHT);
	fixture_press(&f, "zz");
	mark = fixture_top(&f)->mark_ns;
	fixture_press(&f, "v");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_TIMELINE);
	fixture_press(&f, "z\r");
	back(&f);
	g_assert_true(fixture_top(&f)->view->kind == VIEW_TIMELINE);
	back(&f);
	g_assert_true(fixture_has(&f, "began "));
	g_assert_cmpint(fixture_top(&f)->mark_ns, ==, mark);
	g_assert_true(fixture_has(&f, "zoom 4x"));
	fixture_stop(&f);
}

/* The frame that was as wide as the screen. */
static void test_flame(void)
{
	struct fixture f;
	uint64_t zoom;

	fixture_start(&f, "Vj\r");
	zoom = screen_flame_zoomed(fixture_top(&f));
	g_assert_cmpuint(zoom, !=, 0);
	fixture_press(&f, "4");
	back(&f);
	g_assert_cmpuint(screen_flame_zoomed(fixture_top(&f)), ==, zoom);
	fixture_press(&f, "b+1s\r");
	fixture_press(&f, "\033");
	g_assert_cmpuint(screen_flame_zoomed(fixture_top(&f)), !=, zoom);
	back(&f);
	g_assert_cmpuint(screen_flame_zoomed(fixture_top(&f)), ==, zoom);
	fixture_stop(&f);
}

/* So many visits are retained and no more; places that nav has dropped live on in them. */
static void test_bounded(void)
{
	struct view_query q = VIEW_QUERY_INIT;
	struct fixture f;

	fixture_start(&f, "4");
	for (q.pid = 0; q.pid < VISITS_RETAINED; q.pid++) {
		struct visit *before = visits_begin(f.app);

		app_open(f.app, place_new(view_find("files"), &q, ""));
		visits_end(f.app, before);
		fixture_press(&f, "\033");
	}
	g_assert_cmpuint(n_back(&f), ==, VISITS_RETAINED);
	for (int i = 0; i < VISITS_RETAINED; i++)
		back(&f);
	g_assert_true(fixture_has_not(&f, "no place before"));
	g_assert_cmpuint(f.app->visits.forth->len, ==, VISITS_RETAINED);
	back(&f);
	g_assert_true(fixture_has(&f, "no place before"));
	forth(&f);
	g_assert_cmpstr(fixture_top(&f)->view->id, ==, "files");
	g_assert_cmpint(fixture_top(&f)->narrow.pid, ==, VISITS_RETAINED / 2);
	fixture_stop(&f);
}

/* Whatever is pressed, and wherever: the way back leads to the beginning, and forth again to the end. */
static void test_anything(void)
{
	static const char keys[] = "123456789\r\033jkgGzZABRnNvLidC<>u\t[]\x7f";
	g_autoptr(GRand) rand = g_rand_new_with_seed(5);

	for (int round = 0; round < 20; round++) {
		struct fixture f;
		struct place *end;

		fixture_start(&f, "");
		for (int i = 0; i < 60; i++) {
			fixture_press_key(&f, keys[g_rand_int_range(rand, 0, sizeof keys - 1)]);
			if (i % 5 == 4)
				fixture_press_key(&f, g_rand_boolean(rand) ? UI_KEY_ALEFT : UI_KEY_LEFT);
		}
		for (int i = 0; i < 3 && popup_is_open(&f.app->popup); i++)
			fixture_press(&f, "\033");
		end = nav_top(&f.app->nav);
		guint n = n_back(&f);
		g_assert_cmpuint(n, >, 0);
		for (guint i = 0; i < n; i++)
			back(&f);
		g_assert_cmpuint(n_back(&f), ==, 0);
		g_assert_true(fixture_top(&f)->view->kind == VIEW_OVERVIEW);
		for (guint i = 0; i < n; i++)
			forth(&f);
		g_assert_true(nav_top(&f.app->nav) == end);
		f.app->quit = false;
		fixture_stop(&f);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/visits/views", test_views);
	g_test_add_func("/visits/way", test_way);
	g_test_add_func("/visits/way-bounded", test_way_bounded);
	g_test_add_func("/visits/time", test_time);
	g_test_add_func("/visits/filter", test_filter);
	g_test_add_func("/visits/selection", test_selection);
	g_test_add_func("/visits/waterfall", test_waterfall);
	g_test_add_func("/visits/flame", test_flame);
	g_test_add_func("/visits/bounded", test_bounded);
	g_test_add_func("/visits/anything", test_anything);
	return g_test_run();
}
