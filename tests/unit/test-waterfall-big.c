/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request of 10,000 spans on the screen: what is out of sight costs nothing, and every
 * span is drawn where it is. Says how many pictures a second there are; that is no test, for
 * the machine may have other work.
 */
#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"
#include "ui/app.h"
#include "ui/screen.h"

#include "base/timefmt.h"

#include <string.h>

#define SPANS 10000
#define PICTURES 400

/* A root; below it 99 spans, and below each of them 100, one after another. */
static struct timeline *big_trace(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 1, 1, "worker");
	int64_t end = SPANS * INT64_C(10000);
	struct fake_span d = { .trace = 1, .id = 1, .name = "root", .service = "s", .thread = t,
			       .begin = 0, .end = end };

	fake_second(f, 0);
	fake_span(f, &d);
	for (unsigned i = 1; i < SPANS; i++) {
		bool inner = i % 101 == 1;
		unsigned first = i - (i - 1) % 101;
		char name[16];

		g_snprintf(name, sizeof name, "s%05u", i);
		d = (struct fake_span){ .trace = 1, .id = i + 1, .parent = inner ? 1 : first + 1,
			.name = name, .service = "s", .thread = t,
			.begin = i * INT64_C(10000), .end = i * INT64_C(10000) + 9000 };
		if (inner)
			d.end = MIN(d.begin + 101 * 10000, end);
		struct span *s = fake_span(f, &d);
		fake_annotate(s, d.begin + 4000, "half way");
	}
	return fake_done(f);
}

static bool shows(struct app *app, const char *text)
{
	g_autofree char *dump = canvas_dump(app->canvas);

	return strstr(dump, text) != NULL;
}

static void press(struct app *app, int key)
{
	app_key(app, key);
	app_draw(app);
}

static void test_scroll(void)
{
	struct ui_options options = { .at_ns = FAKE_T0 };
	struct timeline *tl = big_trace();
	struct app *app = app_new(&options, NULL, tl, true);
	const struct rows *rows;
	gint64 begin, took;

	app_resize(app, 45, 140);
	app_draw(app);
	press(app, UI_KEY_ENTER);
	g_assert_true(nav_top(&app->nav)->view == &view_waterfall);
	rows = app_place(app)->rows;
	g_assert_cmpuint(rows->rows->len, ==, SPANS);
	press(app, 'g');
	begin = g_get_monotonic_time();
	for (unsigned i = 0; i < PICTURES; i++)
		press(app, i % 2 ? UI_KEY_PGDN : 'j');
	took = g_get_monotonic_time() - begin;
	g_test_message("%u pictures of %u spans: %.0f a second", PICTURES, SPANS,
		       PICTURES * 1e6 / (double)MAX(took, 1));
	/* Nothing was built again, and what nobody looked at has no verdict. */
	g_assert_true(rows == app_place(app)->rows);
	for (unsigned i = 0; i < SPANS; i++)
		g_assert_null(((struct waterfall_row *)rows->rows->pdata[i])->why);
	press(app, 'G');
	g_assert_true(shows(app, "s09999"));
	press(app, 'g');
	g_assert_false(shows(app, "s09999"));
	g_assert_true(shows(app, "s00001"));
	app_free(app);
	timeline_free(tl);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/waterfall-big/scroll", test_scroll);
	return g_test_run();
}
