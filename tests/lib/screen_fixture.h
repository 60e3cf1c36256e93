/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen at 80x24 without a terminal, on a timeline: press keys, and look at what it draws. */
#ifndef BLK_TESTS_SCREEN_FIXTURE_H
#define BLK_TESTS_SCREEN_FIXTURE_H

#include "ui/app.h"
#include "ui/screen.h"

struct fixture {
	struct ui_options options;
	struct timeline *tl;
	struct app *app;
};

/* On the story of fake_timeline.h, or on `tl`, which it takes over; then presses the keys. */
void fixture_start(struct fixture *f, const char *keys);
void fixture_start_on(struct fixture *f, struct timeline *tl, bool counts_threads, const char *keys);
void fixture_stop(struct fixture *f);
void fixture_press_key(struct fixture *f, int key);		/* enum ui_key too */
void fixture_press(struct fixture *f, const char *keys);	/* UTF-8 */
/* Does the screen have the text? If not as expected, the screen is part of the test's messages. */
bool fixture_has(struct fixture *f, const char *text);
bool fixture_has_not(struct fixture *f, const char *text);
struct place *fixture_top(struct fixture *f);

#endif
