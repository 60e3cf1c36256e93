/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that change what the user may keep, and the one that keeps it. */
#include "ui/app.h"

#include <string.h>

static void toggle_mouse(struct app *app)
{
	app->prefs->mouse = !app->prefs->mouse;
	app->requests |= APP_MOUSE;
	app_say(app, app->prefs->mouse ?
		"mouse on: wheel, rows, headers, strip, path and keys can be clicked" :
		"mouse off: the terminal selects text to copy");
}

/* The first view is kept where it is another than the one that comes by itself. */
static void note_view(struct app *app)
{
	const struct place *root = g_ptr_array_index(app->nav.stack, 0);

	g_free(app->prefs->view);
	app->prefs->view = strcmp(root->view->id, app_automatic_view(app)) ? g_strdup(root->view->id) : NULL;
}

static void write_settings(struct app *app)
{
	g_autofree char *message = NULL;

	if (!app->backend || !app->backend->save_prefs) {
		app_error(app, "cannot write the settings: nobody keeps them here");
		return;
	}
	note_view(app);
	app->prefs->step_ns = app->nav.step_ns;
	if (app->backend->save_prefs(app->backend->data, &message))
		app_say(app, "%s", message ? message : "settings written");
	else
		app_error(app, "%s", message ? message : "cannot write the settings");
}

static void hide_coach(struct app *app)
{
	if (!app->coach)
		app_say(app, "no line of hints is shown");
	app->coach = false;
}

void settings_command(struct app *app, struct place *p, enum command_id command)
{
	if (command == CMD_MOUSE)
		toggle_mouse(app);
	else if (command == CMD_COACH)
		hide_coach(app);
	else
		write_settings(app);
}
