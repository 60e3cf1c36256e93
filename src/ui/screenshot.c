/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen as a picture, without a terminal: ui_screenshot() of ui.h. */
#include "ui/app.h"
#include "ui/output.h"
#include "ui/progressive.h"
#include "ui/screen_log.h"
#include "ui/screen_timeline.h"

#include <poll.h>

/* How long figures that must be decoded first are waited for, and the exact ones after provisional ones. */
#define PICTURE_US (20 * 1000 * 1000)
#define EXACT_US (2 * 1000 * 1000)
#define SLICE_MS 20

static bool is_waiting(struct app *app, gint64 waited_us)
{
	if (screen_log_is_waiting(app) || screen_timeline_is_waiting(app) || app->cover.kind == COVER_UNREAD)
		return waited_us < PICTURE_US;
	return (app->cover.kind == COVER_PROVISIONAL || app->lanes_awaited) && waited_us < EXACT_US;
}

char *ui_screenshot(const struct ui_options *options, const struct ui_backend *backend, struct timeline *tl,
		    unsigned rows, unsigned cols)
{
	struct app *app = app_new(options, backend, tl, true);
	gint64 since = g_get_monotonic_time();
	char *svg;

	app_resize(app, rows, cols);
	app_draw(app);			/* asks for what is not read yet */
	while (is_waiting(app, g_get_monotonic_time() - since)) {
		struct pollfd fd = { .fd = backend->fd(backend->data), .events = POLLIN };

		poll(&fd, 1, SLICE_MS);
		if (backend->pump(backend->data))
			app_timeline_changed(app);
		progressive_take(app);
		screen_log_take(app);
		app_draw(app);
	}
	svg = output_picture(app);
	app_free(app);
	return svg;
}
