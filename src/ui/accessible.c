/* SPDX-License-Identifier: GPL-2.0-only */
/* Screens for screen readers: see accessible.h. */
#include "ui/accessible.h"

#include "ui/frame.h"
#include "ui/screen_timeline.h"
#include "ui/view_info.h"

#include "base/text.h"
#include "views/waterfall.h"

#define CELL_COLS 40		/* of one figure */
#define LEAST_ROWS 3		/* rows that are listed, whatever the selected row has to say */

struct accessible_page {
	struct app *app;
	struct box box;		/* what is left */
};

/* Writes a sentence, on as many lines as it needs. */
static void say(struct accessible_page *to, enum role role, const char *text)
{
	unsigned lines = frame_sentence(to->app, to->box, role, text);

	to->box.y += MIN(lines, to->box.rows);
	to->box.rows -= MIN(lines, to->box.rows);
}

static void sayf(struct accessible_page *to, enum role role, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void sayf(struct accessible_page *to, enum role role, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	say(to, role, text);
}

/* ---- what the screen is about ---- */

static void say_order(struct accessible_page *to, const struct place *p, const struct focus *f)
{
	bool descending;
	int sorted = table_sort_column(f->table, f->view, &descending);
	size_t n = f->rows->rows->len;

	sayf(to, ROLE_TITLE, "%s: %zu %s%s%s%s", f->view->title, n, n == 1 ? "row" : "rows",
	     sorted >= 0 ? ", sorted by " : "", sorted >= 0 ? f->view->columns[sorted].title : "",
	     sorted < 0 ? "" : descending ? ", highest first" : ", lowest first");
	if (f->table->only_tagged)
		say(to, ROLE_TITLE, "Only tagged rows are shown.");
	if (p->filter) {
		g_autofree char *filter = text_visible(p->filter);

		sayf(to, ROLE_TITLE, "Filter: %s", filter);
	}
}

static void say_completeness(struct accessible_page *to, const struct place *p)
{
	const struct completeness *c = &p->rows->completeness;

	if (to->app->cover.kind == COVER_UNREAD)
		say(to, ROLE_UNREAD, "Data: this range is not read yet");
	else if (c->lost_events || c->lost_packets || c->touched)
		sayf(to, ROLE_DISTRUST, "Data: %" G_GUINT64_FORMAT " events lost", c->lost_events);
	else
		say(to, ROLE_DIM, to->app->cover.kind == COVER_PROVISIONAL ? "Data: provisional" :
		    "Data: nothing lost");
}

static void say_labelled(struct accessible_page *to, const char *label, const char *text)
{
	g_autofree char *visible = text ? text_visible(text) : NULL;

	if (visible && *visible)
		sayf(to, ROLE_WHY, "%s: %s", label, visible);
}

static void say_sentences(struct accessible_page *to, struct place *p, const struct focus *f)
{
	const struct waterfall *w = p->view->kind == VIEW_WATERFALL ? waterfall_of(p->rows) : NULL;
	g_autofree char *why = view_info_why(p, f->rows);
	const struct row *row = table_selected(f->table, f->rows);
	g_autofree char *instant = w && row && p->mark_ns != TIME_UNKNOWN ?
		waterfall_instant(p->rows, (const struct waterfall_row *)row, p->mark_ns) : NULL;
	g_autofree char *cell = p->view->kind == VIEW_TIMELINE ? screen_timeline_text(to->app, p) : NULL;

	say_labelled(to, "Why", why);
	say_labelled(to, "About", f->rows->about);
	say_labelled(to, "At the time cursor", instant);
	if (cell)
		say(to, ROLE_WHY, cell);
}

/* ---- rows ---- */

/* "CPU% 12": a figure and its title. */
static char *figure(const struct focus *f, const struct row *row, unsigned column, const char *between)
{
	const struct column *c = &f->view->columns[column];
	g_autofree char *text = table_cell(c, column_value(c, row, f->rows), CELL_COLS);

	return g_strdup_printf("%s%s%s", c->title, between, *text ? text : "-");
}

static void draw_line(struct accessible_page *to, const struct focus *f, size_t i)
{
	const struct row *row = f->rows->rows->pdata[i];
	uint8_t columns[TABLE_MAX_COLUMNS];
	unsigned n = table_columns(f->table, f->view, f->rows, columns);
	bool selected = i == f->table->cursor;
	g_autoptr(GString) s = g_string_new(NULL);

	g_string_printf(s, "%zu%s%s%s", i + 1, selected ? " selected" : "", row->marked ? " marked" : "",
			keyset_has(&f->table->tags, row) ? " tagged" : "");
	for (unsigned k = 0; k < n; k++) {
		g_autofree char *text = figure(f, row, columns[k], " ");

		g_string_append_printf(s, "%s%s", k ? ", " : ": ", text);
	}
	canvas_put(to->app->canvas, to->box.y, 0, to->box.cols, selected ? ROLE_SELECTED : ROLE_TEXT, s->str);
	canvas_hit(to->app->canvas, to->box.y, 0, to->box.cols, HIT_ROW, f->table, (int64_t)i);
	if (selected)
		to->app->cursor_y = to->box.y;
	to->box.y++;
	to->box.rows--;
}

static void draw_rows(struct accessible_page *to, const struct focus *f, unsigned lines)
{
	struct table *t = f->table;
	size_t n = f->rows->rows->len;

	table_scroll(t, f->rows, MAX(lines, 1));
	for (size_t i = t->top; i < n && i < t->top + lines; i++)
		draw_line(to, f, i);
}

/* The figures of the selected row, one a line. */
static void say_selected(struct accessible_page *to, const struct focus *f)
{
	const struct row *row = table_selected(f->table, f->rows);
	uint8_t columns[TABLE_MAX_COLUMNS];
	unsigned n = table_columns(f->table, f->view, f->rows, columns);

	if (!row)
		return;
	sayf(to, ROLE_TITLE, "Row %zu of %u:", f->table->cursor + 1, f->rows->rows->len);
	for (unsigned k = 0; k < n && to->box.rows; k++) {
		g_autofree char *text = figure(f, row, columns[k], ": ");

		say(to, ROLE_TEXT, text);
	}
}

void accessible_draw(struct app *app, struct place *p, struct box box)
{
	struct accessible_page to = { app, box };
	struct focus f = place_focus(p);
	uint8_t columns[TABLE_MAX_COLUMNS];

	canvas_clear(app->canvas);
	app->cursor_y = box.y;
	app->cursor_x = 0;
	say_order(&to, p, &f);
	say_completeness(&to, p);
	say_sentences(&to, p, &f);
	if (!f.rows->rows->len) {
		say(&to, ROLE_DIM, frame_nothing(app, "No rows in this range."));
		return;
	}
	unsigned facts = table_columns(f.table, f.view, f.rows, columns) + 1;
	unsigned least = MIN(to.box.rows, LEAST_ROWS);

	draw_rows(&to, &f, MAX(to.box.rows > facts ? to.box.rows - facts : 0, least));
	say_selected(&to, &f);
}
