/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop: waits for keys, the backend, signals and the clock. Keys come first. Results of the backend are applied
 * at most ten times a second, so that the screen stays responsive while a trace loads.
 */
#include "ui/app.h"

#include "ui/mouse.h"
#include "ui/output.h"
#include "ui/screen_log.h"
#include "ui/term.h"
#include "ui/term_signal.h"
#include "ui/progressive.h"

#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define PUMP_US (100 * 1000)
#define TICK_US (1000 * 1000)

enum { POLL_KEYS, POLL_SIGNALS, POLL_BACKEND, POLL_N };

struct loop {
	struct app *app;
	const struct ui_backend *backend;
	gint64 pumped_us, ticked_us;	/* monotonic */
	int fd;				/* polled if there is no backend; 0: none */
	int signal;			/* the signal that ends it; 0: none */
	bool dirty;			/* must be painted */
};

static struct term_options term_options(const struct ui_options *o)
{
	int color = o->color == UI_COLOR_NEVER ? -1 : o->color == UI_COLOR_AUTO ? 0 : 1;
	int colors = o->color == UI_COLOR_256 ? 256 : o->color == UI_COLOR_TRUECOLOR ? COLORS_RGB : 0;

	return (struct term_options){ color, colors, o->prefs };
}

static void take_signals(struct loop *l)
{
	struct term_signals s = term_signals();

	l->signal = s.end;
	if (s.stop)
		term_suspend();
	if (s.resumed)
		term_redraw();
	if (s.stop || s.resumed || s.resized) {
		unsigned rows, cols;

		term_size(&rows, &cols);
		if (l->app && (rows != l->app->canvas->rows || cols != l->app->canvas->cols))
			app_resize(l->app, rows, cols);
		l->dirty = true;
	}
}

/* Waits for a key, a signal, the backend or the clock. false: the terminal was closed. */
static bool wait_for(struct loop *l, bool pump_later)
{
	gint64 now = g_get_monotonic_time(), until = l->ticked_us + TICK_US;
	int fd = l->backend ? l->backend->fd(l->backend->data) : l->fd > 0 ? l->fd : -1;
	struct pollfd fds[POLL_N] = {
		[POLL_KEYS] = { term_fd(), POLLIN, 0 },
		[POLL_SIGNALS] = { term_signal_fd(), POLLIN, 0 },
		[POLL_BACKEND] = { pump_later ? -1 : fd, POLLIN, 0 },
	};

	if (pump_later)
		until = MIN(until, l->pumped_us + PUMP_US);
	if (poll(fds, POLL_N, (int)CLAMP((until - now + 999) / 1000, 0, 1000)) < 0)
		return errno == EINTR || errno == EAGAIN;
	return !(fds[POLL_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void paint(struct loop *l)
{
	app_draw(l->app);
	term_paint(l->app->canvas, l->app->cursor_y, l->app->cursor_x,
		   l->app->cursor_shown || l->app->prefs->cursor || l->app->prefs->accessible);
	l->dirty = false;
}

/* A click refers to the picture on the screen: pending changes are painted first. */
static void take_mouse(struct loop *l)
{
	static const enum app_mouse what[] = {
		[TERM_BUTTON_OTHER] = APP_OTHER_BUTTON, [TERM_BUTTON_LEFT] = APP_CLICK, [TERM_WHEEL_UP] = APP_WHEEL_UP,
		[TERM_WHEEL_DOWN] = APP_WHEEL_DOWN, [TERM_DRAGGED] = APP_DRAG, [TERM_RELEASED] = APP_RELEASE,
	};
	struct term_mouse m = term_mouse();

	/* Dragging refers to the row that was pressed. */
	if (l->dirty && m.button != TERM_DRAGGED)
		paint(l);
	app_mouse(l->app, what[m.button], m.y, m.x, g_get_monotonic_time());
}

static void take_keys(struct loop *l)
{
	int key;

	while (!l->app->quit && (key = term_key()) != UI_KEY_NONE) {
		if (key == UI_KEY_MOUSE)
			take_mouse(l);
		else
			app_key(l->app, key);
		l->dirty = true;
		/* Keys after a suspend must wait until it was carried out. */
		if (l->app->requests)
			break;
	}
}

static void take_requests(struct loop *l)
{
	struct app *app = l->app;

	if (app->copy) {
		term_copy(app->copy);
		g_clear_pointer(&app->copy, g_free);
	}
	if (app->requests & APP_REDRAW)
		term_redraw();
	if (app->requests & APP_SUSPEND)
		term_suspend();
	if (app->requests & APP_THEME)
		app->theme = term_set_theme(app->prefs->theme);
	if ((app->requests & APP_MOUSE) && !term_set_mouse(app->prefs->mouse)) {
		app->prefs->mouse = !app->prefs->mouse;		/* restored, since W would store it */
		app_error(app, "this terminal has no mouse");
	}
	app->requests = 0;
}

/* The terminal answered late. */
static void take_background(struct loop *l)
{
	if (!term_background_changed())
		return;
	l->app->theme = term_set_theme(l->app->prefs->theme);
	l->dirty = true;
}

static void take_messages(struct loop *l)
{
	bool is_error = false;

	if (!l->backend || !l->backend->next_message)
		return;
	for (char *text; (text = l->backend->next_message(l->backend->data, &is_error)); g_free(text)) {
		if (is_error)
			app_error(l->app, "%s", text);
		else
			app_message(l->app, "%s", text);
	}
}

static void tick(struct loop *l)
{
	g_autofree char *messages = term_stderr();

	if (messages)
		app_error(l->app, "%s", messages);
	take_messages(l);
	app_second_passed(l->app);
	l->ticked_us = g_get_monotonic_time();
	l->dirty = true;
}

/* Applies what the backend has. true: not yet, the last time was less than PUMP_US ago. */
static bool pump(struct loop *l)
{
	gint64 now = g_get_monotonic_time();
	int fd = l->backend->fd(l->backend->data);
	struct pollfd p = { fd, POLLIN, 0 };

	if (fd < 0 || poll(&p, 1, 0) <= 0)
		return false;
	if (now - l->pumped_us < PUMP_US)
		return true;
	if (l->backend->pump(l->backend->data))
		app_timeline_changed(l->app);
	progressive_take(l->app);
	screen_log_take(l->app);
	output_saved_trace(l->app);
	l->pumped_us = g_get_monotonic_time();
	l->dirty = true;
	return false;
}

static void run(struct loop *l)
{
	while (!l->app->quit && !l->signal) {
		bool later = pump(l);

		take_keys(l);
		take_requests(l);
		take_background(l);
		if (g_get_monotonic_time() - l->ticked_us >= TICK_US)
			tick(l);
		take_signals(l);
		if (l->app->quit || l->signal)
			break;
		if (l->dirty)
			paint(l);
		if (!wait_for(l, later))
			l->signal = SIGHUP;
	}
}

int ui_run(const struct ui_options *options, const struct ui_backend *backend,
	   struct timeline *tl)
{
	struct loop l = { .backend = backend, .dirty = true };
	struct term_options term = term_options(options);
	g_autoptr(GError) error = NULL;
	unsigned rows, cols;

	if (!term_start(&term, &error)) {
		fprintf(stderr, "blktop: %s\n", error->message);
		return 1;
	}
	l.app = app_new(options, backend, tl, term_is_utf8());
	l.app->copy_doubt = term_copy_doubt();
	l.app->theme = term_set_theme(l.app->prefs->theme);
	l.app->no_colors = !term_has_colors();
	term_size(&rows, &cols);
	app_resize(l.app, rows, cols);
	if (term_note())
		app_message(l.app, "%s", term_note());
	if (options->message)
		app_message(l.app, "%s", options->message);
	l.ticked_us = g_get_monotonic_time();
	run(&l);
	term_stop();
	app_free(l.app);
	return l.signal ? 128 + l.signal : 0;
}

/* --- the list that is shown alone --- */

/* Without a choice the lines are a text, which is wrapped. */
static void pick_lines(struct popup *popup, const struct ui_pick *pick)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < pick->lines->len; i++)
		g_ptr_array_add(lines, text_visible(g_ptr_array_index(pick->lines, i)));
	if (popup->lines)
		g_ptr_array_unref(popup->lines);
	popup->lines = lines;
	g_clear_pointer(&popup->wrapped, g_ptr_array_unref);
	popup->is_list = pick->n_choices > 0;
	g_free(popup->title);
	popup->title = g_strdup(pick->title);
	if (popup->cursor >= lines->len)
		popup->cursor = lines->len ? lines->len - 1 : 0;
}

static void pick_paint(struct popup *popup, struct canvas *c, const struct glyphs *g)
{
	unsigned at = 0, rows, cols;

	term_size(&rows, &cols);
	if (rows != c->rows || cols != c->cols)
		canvas_resize(c, rows, cols);
	if (!app_too_small(c)) {
		at = popup_draw(popup, c, g);
		bar_draw(c, rows - 1, CTX_POPUP, false);
	}
	term_paint(c, at, 0, false);
}

/* -2: undecided; -1: cancelled; else the line that was picked. */
static int pick_key(struct popup *popup, int key)
{
	enum command_id command = keys_find(CTX_POPUP, key);

	if (command == CMD_QUIT)
		return -1;
	if (command == CMD_REDRAW)
		term_redraw();
	if (command == CMD_SUSPEND)
		term_suspend();
	if (command == CMD_DRILL && !popup->is_list)
		return -2;
	switch (popup_command(popup, command)) {
	case POPUP_PICKED:
		return (int)popup->cursor;
	case POPUP_LEFT:
		return -1;
	default:
		return -2;
	}
}

/* The wheel moves, a click selects, a click on the selected line picks. */
static int pick_mouse(struct popup *popup, const struct canvas *c)
{
	struct term_mouse m = term_mouse();
	struct canvas_hit h = canvas_hit_at(c, m.y, m.x);

	if (m.button == TERM_WHEEL_UP || m.button == TERM_WHEEL_DOWN)
		popup_command(popup, m.button == TERM_WHEEL_UP ? CMD_UP : CMD_DOWN);
	if (m.button != TERM_BUTTON_LEFT)
		return -2;
	if (h.hit == HIT_KEY)
		return pick_key(popup, (int)h.value);
	if (h.hit != HIT_LINE)
		return -2;
	if (popup->cursor == (size_t)h.value)
		return (int)popup->cursor;
	popup->cursor = (size_t)h.value;
	return -2;
}

int ui_pick(const struct ui_options *options, struct ui_pick *pick)
{
	struct loop l = { .dirty = true, .fd = pick->fd };
	struct term_options term = term_options(options);
	struct popup popup = { 0 };
	g_autoptr(GError) error = NULL;
	struct canvas *c;
	const struct glyphs *g;
	int key, picked = -2;

	if (!term_start(&term, &error)) {
		fprintf(stderr, "blktop: %s\n", error->message);
		return -1;
	}
	c = canvas_new(24, 80);
	c->ascii_only = !term_is_utf8();
	g = glyphs_get(term_is_utf8() && !options->ascii);
	c->ascii_cut = !g->utf8;
	popup_open(&popup, pick->title, NULL, true);
	pick_lines(&popup, pick);
	l.ticked_us = g_get_monotonic_time();
	while (picked == -2 && !l.signal) {
		pick_paint(&popup, c, g);
		if (!wait_for(&l, false))
			l.signal = SIGHUP;
		while (picked == -2 && (key = term_key()) != UI_KEY_NONE)
			picked = key == UI_KEY_MOUSE ? pick_mouse(&popup, c) :
				pick_key(&popup, key);
		if (picked >= (int)pick->n_choices)
			picked = -2;
		if (pick->refresh && pick->refresh(pick, pick->data))
			pick_lines(&popup, pick);
		if (picked == -2 && pick->chosen)
			picked = 0;
		if (g_get_monotonic_time() - l.ticked_us >= TICK_US)
			l.ticked_us = g_get_monotonic_time();
		if (!l.signal)
			take_signals(&l);
	}
	term_stop();
	popup_close(&popup);
	canvas_free(c);
	/* The terminal is as it was: the signal may end us as it would have. */
	if (l.signal)
		raise(l.signal);
	return picked >= 0 && !l.signal ? picked : -1;
}
