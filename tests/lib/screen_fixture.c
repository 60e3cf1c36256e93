/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen without a terminal: see screen_fixture.h. */
#include "lib/screen_fixture.h"

#include "lib/canvas_text.h"
#include "lib/fake_timeline.h"

#include <string.h>

void fixture_press_key(struct fixture *f, int key)
{
	app_key(f->app, key);
	app_draw(f->app);
}

void fixture_press(struct fixture *f, const char *keys)
{
	for (; *keys; keys = g_utf8_next_char(keys))
		fixture_press_key(f, (int)g_utf8_get_char(keys));
}

void fixture_start_on(struct fixture *f, struct timeline *tl, bool counts_threads, const char *keys)
{
	*f = (struct fixture){ .options = { .at_ns = TIME_UNKNOWN, .counts_threads = counts_threads }, .tl = tl };
	f->app = app_new(&f->options, NULL, f->tl, true);
	app_resize(f->app, 24, 80);
	app_draw(f->app);
	fixture_press(f, keys);
}

void fixture_start(struct fixture *f, const char *keys)
{
	fixture_start_on(f, fake_timeline(), false, keys);
}

void fixture_stop(struct fixture *f)
{
	app_free(f->app);
	timeline_free(f->tl);
}

bool fixture_has(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);
	bool found = strstr(dump, text);

	if (!found)
		g_test_message("no '%s' in\n%s", text, dump);
	return found;
}

bool fixture_has_not(struct fixture *f, const char *text)
{
	g_autofree char *dump = canvas_dump(f->app->canvas);

	if (strstr(dump, text))
		g_test_message("'%s' in\n%s", text, dump);
	return !strstr(dump, text);
}

struct place *fixture_top(struct fixture *f)
{
	return app_place(f->app);
}
