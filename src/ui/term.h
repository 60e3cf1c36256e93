/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal, the only module that uses curses. It paints canvases (with 24-bit colours by ui/painter.h, else by
 * curses), reads keys, and restores the terminal in every
 * case: quit, signals, crashes, suspension.
 *
 *     if (!term_start(&options, &error)) ...
 *     while (...) { poll(term_fd(), term_signal_fd(), ...); key = term_key(); term_paint(c); }
 *     term_stop();
 *
 * One at a time in a process, on the caller's thread. While it is active, stderr is collected and written at the end.
 */
#ifndef BLK_UI_TERM_H
#define BLK_UI_TERM_H

#include "ui/canvas.h"
#include "ui/prefs.h"

#include <glib.h>

struct term_options {
	int color;		/* < 0 never, > 0 always, 0 by NO_COLOR and the terminal */
	int colors;		/* 256: at most; COLORS_RGB: 24-bit colours; 0: as COLORTERM and terminfo say */
	const struct prefs *prefs;	/* theme and roles, mouse; NULL: defaults, no mouse */
};
/* Why there can be no screen on stdout: no terminal, or TERM does not suffice; NULL: there can be one. Before
 * term_start(). */
const char *term_problem(void);
bool term_start(const struct term_options *options, GError **error);
void term_stop(void);
/* A message about the terminal ("TERM=foo is unknown: ..."), or NULL. */
const char *term_note(void);
bool term_is_utf8(void);

void term_size(unsigned *ret_rows, unsigned *ret_cols);
/* Paints; the hardware cursor goes to (y, x), shown if `show_cursor`. */
void term_paint(const struct canvas *c, unsigned y, unsigned x, bool show_cursor);
void term_redraw(void);			/* the next paint draws everything */
void term_suspend(void);		/* stops the process; returns when it continues */
/* Why the terminal may ignore term_copy(); NULL: no reason known. */
const char *term_copy_doubt(void);
void term_copy(const char *text);	/* to the terminal's clipboard (OSC 52) */

int term_fd(void);
/* The next key (ui/keys.h), UI_KEY_NONE when there is none now. Never waits. */
int term_key(void);

/* The mouse event of the last UI_KEY_MOUSE. */
enum term_button {
	TERM_BUTTON_OTHER, TERM_BUTTON_LEFT, TERM_WHEEL_UP, TERM_WHEEL_DOWN, TERM_DRAGGED, TERM_RELEASED,
};
struct term_mouse {
	enum term_button button;
	unsigned y, x;
};
struct term_mouse term_mouse(void);
/* on: clicks, dragging and wheel are reported as keys; off: the terminal uses the mouse. false: this terminal has no
 * mouse. */
bool term_set_mouse(bool on);

/* What was written to stderr since the last call; NULL: nothing. g_free. */
char *term_stderr(void);

/* Shows another theme from the next paint on. Returns the theme in effect: never THEME_AUTO; THEME_MONO if there are no
 * colours. */
enum theme term_set_theme(enum theme theme);
/* Can there be colours? Not if the user or the terminal has none. */
bool term_has_colors(void);
/* Has the terminal reported its background since the last call? Then call term_set_theme(). */
bool term_background_changed(void);

#endif
