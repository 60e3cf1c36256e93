/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of exports: see export_picker.h. */
#include "ui/export_picker.h"

#include "ui/output.h"
#include "ui/screen.h"

#include "base/expr.h"
#include "base/fail.h"
#include "base/text.h"
#include "views/rows_format.h"

#include <string.h>

#define HISTORY "export"	/* kind of its lines in the history: "json trace with-kernel FILE", "rows .csv" */
#define RECENT 3
#define ROWS "rows "		/* before a suffix */
#define RANGE "range"

/* The list while it is made. */
struct export_list {
	GPtrArray *lines;	/* char * */
	GArray *choices;	/* struct export_choice: of each line */
};

/* A line of the list. */
struct export_choice {
	char *words;		/* "json trace with-kernel" */
	char *path;		/* of a recent one; "": the default name */
};

static void choice_clear(void *data)
{
	struct export_choice *c = data;

	g_free(c->words);
	g_free(c->path);
}

static const char *const *export_formats(const struct app *app)
{
	static const char *const none[] = { NULL };

	return app->backend && app->backend->export_formats ? app->backend->export_formats : none;
}

static const char *find_format(const struct app *app, const char *word)
{
	for (const char *const *f = export_formats(app); *f; f++)
		if (!strcmp(word, *f))
			return *f;
	return NULL;
}

/* ---- spans ---- */

/* The trace and span that the cursor is on; false: none. */
static bool selected_span(struct place *p, struct ui_export *ret)
{
	struct view_query q = place_selected_query(p);

	ret->trace_id = q.trace_id;
	ret->trace_zero = q.trace_zero;
	ret->span_id = q.span_id;
	return query_has_trace(&q);
}

static bool export_now(struct app *app, const struct ui_export *what)
{
	g_autofree char *message = NULL;
	bool done;

	if (!app->backend) {
		app_error(app, "cannot export: not available here");
		return false;
	}
	done = app->backend->export_span &&
	       app->backend->export_span(app->backend->data, what, &message);
	if (done)
		app_message(app, "%s%s", output_provisional_note(app), message ? message : "exported");
	else
		app_error(app, "%s", message ? message : "cannot export");
	return done;
}

/* Takes the words of a choice; returns the rest of the line, the path. */
static const char *parse(const struct app *app, const char *line, struct ui_export *what)
{
	while (*line) {
		const char *end = strchr(line, ' ');
		g_autofree char *word = end ? g_strndup(line, (gsize)(end - line)) : g_strdup(line);
		const char *format = find_format(app, word);

		if (format)
			what->format = format;
		else if (!strcmp(word, "with-kernel"))
			what->with_kernel = true;
		else if (!strcmp(word, "trace"))
			what->span_id = 0;
		else if (*word && strcmp(word, "span"))
			break;
		line = end ? end + 1 : line + strlen(line);
	}
	return line;
}

/* ---- the list ---- */

static void add(struct export_list *list, const char *words, const char *path, const char *text)
{
	struct export_choice c = { g_strdup(words), g_strdup(path) };

	g_array_append_val(list->choices, c);
	g_ptr_array_add(list->lines, g_strdup(text));
}

static void add_recent(struct app *app, struct export_list *list, bool has_span)
{
	unsigned n = 0;
	const char *line;

	for (size_t back = 0; n < RECENT && (line = prompt_history_get(app->prompt.history, HISTORY, back)); back++) {
		bool rows = g_str_has_prefix(line, ROWS) || !strcmp(line, RANGE);
		struct ui_export what = { .span_id = 1 };
		const char *path = rows ? "" : parse(app, line, &what);
		g_autofree char *words = rows ? g_strdup(line) : g_strndup(line, (gsize)(path - line));
		g_autofree char *shown = text_visible(line), *text = g_strdup_printf("again: %s", shown);

		if (!rows && (!has_span || !what.format))
			continue;
		add(list, g_strchomp(words), path, text);
		n++;
	}
}

static void add_spans(struct app *app, struct export_list *list, const struct ui_export *selected)
{
	static const struct { const char *words, *what; } targets[] = {
		{ "span", "the selected span and what is below it" }, { "trace", "the whole trace" },
		{ "trace with-kernel", "the whole trace, with waits and long calls as spans" },
	};

	for (const char *const *f = export_formats(app); *f; f++) {
		for (size_t i = selected->span_id ? 0 : 1; i < G_N_ELEMENTS(targets); i++) {
			g_autofree char *words = g_strdup_printf("%s %s", *f, targets[i].words);
			g_autofree char *text = g_strdup_printf("%-9s %s", *f, targets[i].what);

			add(list, words, "", text);
		}
	}
}

static void add_rows(struct app *app, struct export_list *list, struct place *p)
{
#define FORMAT_(name, id, suffix, use, range) { "." #suffix, #id, ROWS_##use },
	static const struct { const char *suffix, *id; enum rows_use use; } formats[] = { ROWS_FORMATS(FORMAT_) };
	struct focus f = place_focus(p);
	const char *which = table_n_tagged(f.table, f.rows) ? "tagged rows" : "rows";

	for (size_t i = 0; app->backend && app->backend->save_view && i < G_N_ELEMENTS(formats); i++) {
		g_autofree char *words = g_strdup_printf(ROWS "%s", formats[i].suffix);
		g_autofree char *text = g_strdup_printf("%-9s the %s of %s", formats[i].id, which, f.view->title);

		if (formats[i].use != ROWS_PATHS)	/* of few views only */
			add(list, words, "", text);
	}
	if (app->backend && app->backend->save_trace)
		add(list, RANGE, "", "LTTng     the range that is shown, as a trace");
}

static void picked(struct app *app, void *data, size_t line)
{
	const struct export_choice *c = &g_array_index((GArray *)data, struct export_choice, line);

	if (g_str_has_prefix(c->words, ROWS) || !strcmp(c->words, RANGE))
		prompt_history_add(app->prompt.history, HISTORY, c->words);
	if (g_str_has_prefix(c->words, ROWS)) {
		output_save_with(app, app_place(app), c->words + strlen(ROWS));
	} else if (!strcmp(c->words, RANGE)) {
		output_save_trace(app, app_place(app), CMD_SAVE_TRACE);
	} else {
		g_free(app->exporting);
		app->exporting = g_strdup(c->words);
		prompt_open(&app->prompt, PROMPT_EXPORT, c->path);
	}
}

static void open_list(struct app *app, struct place *p)
{
	struct export_list list = {
		g_ptr_array_new_with_free_func(g_free), g_array_new(false, false, sizeof(struct export_choice)),
	};
	struct ui_export selected = { 0 };
	bool has_span = selected_span(p, &selected);

	g_array_set_clear_func(list.choices, choice_clear);
	if (app->prompt.history)
		add_recent(app, &list, has_span);
	if (has_span)
		add_spans(app, &list, &selected);
	add_rows(app, &list, p);
	if (list.lines->len) {
		app_pick(app, has_span ? "Export as" : "Export as (of requests: select a trace or a span first)",
			 list.lines, &(struct pick){ .picked = picked, .data = list.choices,
						     .free = (GDestroyNotify)g_array_unref });
		return;
	}
	g_ptr_array_unref(list.lines);
	g_array_unref(list.choices);
	app_error(app, "cannot export: not available here");
}

bool export_picker_file(struct app *app, const char *path, GError **error)
{
	struct ui_export what = { .tl = app->tl, .path = *path ? path : NULL };
	const char *words = app->exporting ? app->exporting : "";

	if (!selected_span(app_place(app), &what))
		return fail(error, BLK_EXPR_ERROR, 0, "select a trace or a span first");
	parse(app, words, &what);
	if (export_now(app, &what)) {
		g_autofree char *line = g_strdup_printf("%s%s%s", words, *path ? " " : "", path);

		prompt_history_add(app->prompt.history, HISTORY, line);
	}
	return true;
}

void export_picker_command(struct app *app, struct place *p, enum command_id command)
{
	struct ui_export what = { .tl = app->tl };

	if (command == CMD_EXPORT_AS)
		open_list(app, p);
	else if (selected_span(p, &what))
		export_now(app, &what);
	else
		app_error(app, "cannot export: select a trace or a span first");
}
