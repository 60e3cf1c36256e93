/* SPDX-License-Identifier: GPL-2.0-only */
/* Clipboard, saved tables and traces, snapshots: see output.h. */
#include "ui/output.h"

#include "ui/svg.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"
#include "views/needs.h"
#include "views/registry.h"
#include "views/repairs.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <string.h>

const char *output_provisional_note(const struct app *app)
{
	return app->cover.kind == COVER_PROVISIONAL ? "provisional, may change: " : "";
}

/* --- copy --- */

/* The titles of the columns (row NULL), or the row's values. "PID 253, NAME stored" if both. */
static char *row_text(const struct focus *f, const struct row *row, bool both, const char *between)
{
	uint8_t columns[TABLE_MAX_COLUMNS];
	unsigned n = table_columns(f->table, f->view, f->rows, columns);
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < n; i++) {
		const struct column *c = &f->view->columns[columns[i]];
		g_autofree char *text = row ? table_cell(c, column_value(c, row, f->rows), 40) : g_strdup(c->title);

		g_string_append_printf(s, "%s%s%s%s", i ? between : "", both ? c->title : "", both ? " " : "", text);
	}
	return g_string_free(s, FALSE);
}

/* A header and the tagged rows, separated by tabs. Rows beyond LIMIT_COPY_BYTES are left out. *ret_n: rows copied. */
static char *tagged_text(const struct focus *f, unsigned *ret_n)
{
	g_autofree char *header = row_text(f, NULL, false, "\t");
	GString *s = g_string_new(header);

	g_string_append_c(s, '\n');
	*ret_n = 0;
	PTR_EACH(const struct row, row, f->rows->rows) {
		if (!keyset_has(&f->table->tags, row))
			continue;
		g_autofree char *line = row_text(f, row, false, "\t");
		if (s->len + strlen(line) + 1 > LIMIT_COPY_BYTES)
			break;
		g_string_append_printf(s, "%s\n", line);
		++*ret_n;
	}
	return g_string_free(s, FALSE);
}

static char *cause_text(const struct app *app, const struct waterfall *w)
{
	g_autofree char *why = text_visible(w->why ? w->why : "");
	g_autofree char *name = text_visible(w->root->name);
	char duration[TIMEFMT_LEN];

	return g_strdup_printf("%016" G_GINT64_MODIFIER "x %s %s: %s", w->trace_id, name,
			       timefmt_duration(duration, w->end_ns - w->begin_ns), why);
}

/* "1e9873c2aa104f01 thumbnail 97.3ms: slept 59.9ms" of a row that has a cause; else NULL. */
static char *row_cause(const struct focus *f, const struct row *row)
{
	static const char *const ids[] = { "name", "duration_ns", "open_ns" };
	struct value explanation = view_value(f->view, f->rows, row, "verdict");
	GString *s;

	if (explanation.kind != VALUE_TEXT)
		return NULL;
	s = g_string_new(NULL);
	if (query_has_trace(&row->drill))
		g_string_append_printf(s, "%016" G_GINT64_MODIFIER "x", row->drill.trace_id);
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		int column = view_column(f->view, ids[i]);
		g_autofree char *text = column < 0 ? NULL :
			table_cell(&f->view->columns[column],
				   column_value(&f->view->columns[column], row, f->rows), 40);

		if (text)
			g_string_append_printf(s, "%s%s", s->len ? " " : "", text);
	}
	g_autofree char *why = text_visible(explanation.s);
	g_string_append_printf(s, ": %s", why);
	return g_string_free(s, FALSE);
}

/* The conclusion of a comparison, else the row's cause; NULL: there is neither. */
static char *sentence(const struct focus *f, const struct row *row)
{
	g_autofree char *about = NULL, *explanation = NULL;

	if (!f->rows->explanation)
		return row_cause(f, row);
	about = text_visible(f->rows->about ? f->rows->about : f->view->title);
	explanation = text_visible(f->rows->explanation);
	return g_strdup_printf("%s: %s", about, explanation);
}

/* Cuts the text to LIMIT_COPY_BYTES at a whole character. */
static void bound(char *text)
{
	if (strlen(text) > LIMIT_COPY_BYTES)
		*g_utf8_find_prev_char(text, text + LIMIT_COPY_BYTES) = '\0';
}

void output_copy(struct app *app, struct place *p, enum command_id command)
{
	const struct waterfall *w = p->view->kind == VIEW_WATERFALL ? waterfall_of(p->rows) : NULL;
	struct focus f = place_focus(p);
	const struct row *row = table_selected(f.table, f.rows);
	unsigned tagged = table_n_tagged(f.table, f.rows), n = 0;
	g_autofree char *what = NULL;

	g_clear_pointer(&app->copy, g_free);
	if (!tagged && !row && !(w && w->root)) {
		app_message(app, "no row to copy");
		return;
	}
	app->copy = tagged ? tagged_text(&f, &n) : w && w->root ? cause_text(app, w) :
		sentence(&f, row);
	if (!app->copy)
		app->copy = row_text(&f, row, true, ", ");
	bound(app->copy);
	if (tagged)
		what = g_strdup_printf("%u of %u tagged rows", n, tagged);
	app_message(app, "copied%s%s%s: %s", app->copy_doubt ? " (" : "",
		app->copy_doubt ? app->copy_doubt : "", app->copy_doubt ? ")" : "",
		what ? what : app->copy);
}

/* --- save --- */

/* "blktop-traces-140305.txt", with the beginning of the range. */
static char *default_name(const struct app *app, const char *what, const char *suffix)
{
	char clock[TIMEFMT_LEN];
	GString *s = g_string_new(NULL);
	int64_t from, to;

	nav_range(&app->nav, &from, &to);
	timefmt_clock(clock, from);
	g_string_printf(s, "blktop-%s-", what);
	for (const char *c = clock; *c; c++) {
		if (*c != ':')
			g_string_append_c(s, *c);
	}
	g_string_append(s, suffix);
	return g_string_free(s, FALSE);
}

void output_save(struct app *app, struct place *p, enum command_id command)
{
	output_save_with(app, p, ".txt");
}

void output_save_with(struct app *app, struct place *p, const char *suffix)
{
	struct focus f = place_focus(p);
	g_autofree char *name = NULL;

	g_clear_pointer(&app->save_over, g_free);
	if (!app->backend || !app->backend->save_view) {
		app_error(app, "cannot save: not available here");
		return;
	}
	name = default_name(app, f.view->id, suffix);
	prompt_open(&app->prompt, PROMPT_SAVE, name);
}

/* The view with the columns that the user chose, else with all. */
static struct view view_to_save(const struct focus *f, struct column *columns)
{
	struct view v = *f->view;

	if (f->table->n_chosen) {
		for (unsigned i = 0; i < f->table->n_chosen; i++)
			columns[i] = f->view->columns[f->table->chosen[i]];
		v.columns = columns;
		v.n_columns = f->table->n_chosen;
	}
	return v;
}

/* The tagged rows if there are any, else all. The rows stay owned by f->rows. */
static GPtrArray *rows_to_save(const struct focus *f)
{
	bool all = !table_n_tagged(f->table, f->rows);
	GPtrArray *some = g_ptr_array_new();

	PTR_EACH(struct row, row, f->rows->rows)
		if (all || keyset_has(&f->table->tags, row))
			g_ptr_array_add(some, row);
	return some;
}

static enum ui_saved save(struct app *app, struct place *p, const char *path, bool force, char **ret_message)
{
	struct focus f = place_focus(p);
	struct column columns[TABLE_MAX_COLUMNS];
	struct view view = view_to_save(&f, columns);
	g_autoptr(GPtrArray) some = rows_to_save(&f);
	struct rows rows = *f.rows;
	struct ui_save what = { .view = &view, .rows = &rows, .path = path, .force = force };

	rows.rows = some;
	return app->backend->save_view(app->backend->data, &what, ret_message);
}

/* Did the user press Enter a second time to overwrite this file? */
static bool may_overwrite(struct app *app, const char *path)
{
	bool force = app->save_over && g_str_equal(app->save_over, path);

	g_clear_pointer(&app->save_over, g_free);
	return force;
}

/* Shows the result. false: the prompt stays open. */
static bool show_saved(struct app *app, const char *path, enum ui_saved saved, const char *message, GError **error)
{
	const char *reason;

	switch (saved) {
	case UI_SAVED:
		app_message(app, "%s%s", output_provisional_note(app), message ? message : "saved");
		return true;
	case UI_SAVE_EXISTS:
		app->save_over = g_strdup(path);
		return fail(error, BLK_EXPR_ERROR, 0, "exists: Enter overwrites it");
	default:
		/* Beside the line there is room for the reason only; the message list has all of it. */
		reason = message ? strrchr(message, ':') : NULL;
		g_set_error(error, BLK_EXPR_ERROR, 0, "%s", reason ? reason + 2 : "cannot save");
		app_error(app, "%s", message ? message : "cannot save");
		return false;
	}
}

/* Saves the text, or (NULL) the rows of the place. false and *error: not written; the prompt stays open. */
static bool save_file(struct app *app, struct place *p, const char *text, const char *path, GError **error)
{
	g_autofree char *message = NULL;
	struct ui_save_text what = { .path = path, .text = text, .force = may_overwrite(app, path) };

	if (!*path) {
		app_message(app, "nothing saved");
		return true;
	}
	enum ui_saved saved = text ? app->backend->save_text(app->backend->data, &what, &message) :
		save(app, p, path, what.force, &message);
	return show_saved(app, path, saved, message, error);
}

bool output_save_as(struct app *app, struct place *p, const char *path, GError **error)
{
	return save_file(app, p, NULL, path, error);
}

/* --- the screen as a picture --- */

/* Pictures have all colours, whatever the terminal has. */
static enum scheme scheme_of(const struct app *app)
{
	enum ui_color color = app->options->color;

	return theme_choose(color == UI_COLOR_NEVER ? -1 : color >= UI_COLOR_ALWAYS, app->theme, COLORS_RGB,
			    g_getenv("NO_COLOR"), BACKGROUND_UNKNOWN, NULL);
}

char *output_picture(const struct app *app)
{
	return svg_of_canvas(app->canvas, scheme_of(app), app->prefs);
}

void output_screenshot(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *name = NULL;

	g_clear_pointer(&app->save_over, g_free);
	if (!app->backend || !app->backend->save_text) {
		app_error(app, "cannot save a picture: not available here");
		return;
	}
	g_free(app->picture);
	app->picture = output_picture(app);	/* before the prompt is drawn over it */
	name = default_name(app, p->view->id, ".svg");
	prompt_open(&app->prompt, PROMPT_SCREENSHOT, name);
}

bool output_screenshot_as(struct app *app, const char *path, GError **error)
{
	if (*path && !g_str_has_suffix(path, ".svg")) {
		may_overwrite(app, path);	/* another name was typed since */
		return fail(error, BLK_EXPR_ERROR, 0, "a picture is SVG: name it .svg");
	}
	return save_file(app, NULL, app->picture, path, error);
}

/* --- suggested rules --- */

char *output_suggestion(const struct app *app)
{
	bool asks = app->backend && app->backend->suggestion && app->backend->suggested_spans;
	const char *text = asks ? app->backend->suggestion(app->backend->data) : NULL;
	g_autofree char *keys = text ? keys_of(CTX_TABLE, CMD_SUGGEST) : NULL;

	if (text && g_str_has_suffix(text, "."))
		return g_strdup(text);
	return text ? g_strdup_printf("%s. %s shows them as spans", text, keys && *keys ? keys : "suggested-spans") :
		NULL;
}

char *output_missing(const struct app *app, const struct view *v)
{
	g_autofree char *missing = view_missing_text(v, app->main), *suggestion = output_suggestion(app);

	g_autofree char *spans = repair_words(NEED_SPANS);
	if (!missing || !suggestion || !g_str_has_prefix(missing, spans))
		return g_steal_pointer(&missing);
	g_autofree char *keys = keys_of(CTX_TABLE, CMD_SUGGEST);
	return g_strdup_printf("%s (%s: from pairs of events)%s", spans, keys, missing + strlen(spans));
}

/* Makes spans: the caller reads again and opens a new screen. If it has, saves the rules. */
void output_suggest(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *message = NULL;
	bool has = app->backend && app->backend->suggested_spans;

	g_clear_pointer(&app->rules, g_free);
	g_clear_pointer(&app->save_over, g_free);
	if (has && app->backend->suggested_spans(app->backend->data, &app->rules, &message)) {
		app->quit = true;
	} else if (!app->rules || !app->backend->save_text) {
		app_error(app, "%s", message ? message : "no rules are suggested here");
	} else {
		prompt_open(&app->prompt, PROMPT_RULES, "suggested.spans");
	}
}

bool output_rules_as(struct app *app, const char *path, GError **error)
{
	return save_file(app, NULL, app->rules, path, error);
}

/* --- a range as a trace --- */

void output_save_trace(struct app *app, struct place *p, enum command_id command)
{
	if (!app->backend || !app->backend->save_trace) {
		app_error(app, "cannot save a trace: there are no packets to save%s",
			  app->options->live ? " (--no-spool, or see !)" : "");
		return;
	}
	if (app->nav.cursor_ns == TIME_UNKNOWN) {
		app_error(app, "cannot save a trace: nothing is read yet");
		return;
	}
	g_autofree char *name = default_name(app, "trace", "");
	prompt_open(&app->prompt, PROMPT_TRACE, name);
}

bool output_save_trace_as(struct app *app, const char *line, GError **error)
{
	struct ui_save_trace what = { .path = line };
	g_autofree char *message = NULL;

	if (g_str_has_prefix(line, "statedump ")) {
		what.statedump = true;
		what.path = line + strlen("statedump ");
	}
	if (!*what.path) {
		app_message(app, "nothing saved");
		return true;
	}
	nav_range(&app->nav, &what.from_ns, &what.to_ns);
	if (app->backend->save_trace(app->backend->data, &what, &message)) {
		app_message(app, "%s", message ? message : "saving the range as a trace ...");
		return true;
	}
	return fail(error, BLK_EXPR_ERROR, 0, "%s", message ? message : "cannot save");
}

void output_saved_trace(struct app *app)
{
	bool done;
	g_autofree char *message = app->backend && app->backend->saved_trace ?
		app->backend->saved_trace(app->backend->data, &done) : NULL;

	if (message && done)
		app_message(app, "%s", message);
	else if (message)
		app_error(app, "%s", message);
}

void output_snapshot(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *message = NULL;
	bool has = app->backend && app->backend->snapshot;

	if (has && app->backend->snapshot(app->backend->data, &message))
		app_message(app, "%s", message);
	else
		app_error(app, "%s", message ? message : "no snapshots here");
}

/* Ends this screen: the caller reads again and opens a new one. */
void output_align(struct app *app, struct place *p, enum command_id command)
{
	g_autofree char *message = NULL;
	bool has = app->backend && app->backend->align;

	if (has && app->backend->align(app->backend->data, &message))
		app->quit = true;
	else
		app_error(app, "%s", message ? message : "no clocks to move here");
}
