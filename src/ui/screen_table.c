/* SPDX-License-Identifier: GPL-2.0-only */
/* Any view as one table: completeness, summary, strip, header and rows. */
#include "ui/screen.h"

#include "ui/frame.h"
#include "ui/output.h"
#include "ui/strip.h"
#include "ui/tables.h"

#include "base/text.h"
#include "views/registry.h"

#include <string.h>

void screen_table_prepare(struct app *app, struct place *p)
{
	tables_prepare(app, p, PANE_MAIN);
	for (guint i = 0; p->select.pid >= 0 && i < p->rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(p->rows->rows, i);

		if (row->drill.pid == p->select.pid) {
			table_select(&p->table[PANE_MAIN], p->rows, i);
			p->select.pid = -1;
		}
	}
}

static char *summary(struct app *app, struct place *p)
{
	static const char *const by[BY_N] = {
		"of hosts as a whole", "by process", "by thread", "by CPU", "by priority",
		"by name", "by second", "by container", "by cause",
	};
	bool descending;
	int sorted = table_sort_column(&p->table[PANE_MAIN], p->view, &descending);
	g_autofree char *filter = p->filter ? text_visible(p->filter) : g_strdup("none");
	bool over_all = p->narrow.by == BY_SYSTEM &&
			(!view_has_by(p->view, BY_THREAD) || timeline_n_hosts(app->tl) < 2);
	g_autofree char *count = rows_count_text(p->rows, p->filter);
	GString *s = g_string_new(NULL);

	if (p->rows->rows->len == p->rows->n_before_filter || !p->filter)
		g_string_append_printf(s, "%s: %u row%s", p->view->title, p->rows->rows->len,
				       p->rows->rows->len == 1 ? "" : "s");
	else
		g_string_append_printf(s, "%s: %s", p->view->title, count);
	if (p->view->by_values)
		g_string_append_printf(s, " %s", over_all ? "over all" : by[p->narrow.by]);
	if (p->rows->tree)
		g_string_append(s, ", a tree");
	if (app->prefs->hide && p->view->has_named && p->view->has_named("kernel_thread"))
		g_string_append_printf(s, ", no kernel %sthreads (K)", app->prefs->hide == HIDE_IDLE ? "or idle " : "");
	if (p->table[PANE_MAIN].only_tagged)
		g_string_append(s, ", only tagged ones (T)");
	if (sorted >= 0)
		g_string_append_printf(s, "   sort %s%s", p->view->columns[sorted].title,
				       descending ? "" : " (lowest first)");
	g_string_append_printf(s, "   filter %s%s", filter,
			       p->filter ? "   u clears it" : "");
	if (view_column(p->view, "blocked_ratio") >= 0 && p->narrow.by != BY_THREAD)
		g_string_append(s, "   100%=1 thread");
	return g_string_free(s, FALSE);
}

/* The missing events are clipped first: the hint stays readable. */
static char *no_data_text(const struct app *app, const char *missing, unsigned cols)
{
	static const char begin[] = "No data: this trace has no ", hint[] = " (F7: how to record it)";
	unsigned used = (unsigned)(strlen(begin) + strlen(hint));
	g_autofree char *clipped = text_clip(missing, cols > used ? cols - used : 0, app->glyphs->utf8);

	return g_strconcat(begin, clipped, hint, NULL);
}

static void draw_empty(struct app *app, struct place *p, struct box box)
{
	g_autofree char *missing = output_missing(app, p->view);
	g_autofree char *no_data = missing ? no_data_text(app, missing, box.cols > 2 ? box.cols - 2 : 0) : NULL;
	const char *why = no_data ? no_data : p->view->nothing ? p->view->nothing :
		"nothing in this range: Left, Right step, n: next outlier";

	if (p->filter && p->rows->n_before_filter)
		why = "no row passes the filter: \\ changes it, empty shows all";
	canvas_put(app->canvas, box.y + 1, 1, box.cols, ROLE_DIM, frame_nothing(app, why));
}

/* The first view, and those that show nothing without spans. */
static bool says_suggestion(const struct app *app, const struct place *p)
{
	return p == app->nav.stack->pdata[0] || (p->view->needs && !strcmp(p->view->needs[0], NEED_SPANS));
}

/* The first view of a trace in which only programs recorded something; its timeline has their threads. g_free(). */
static char *timeline_hint(struct app *app, const struct place *p)
{
	bool events = p == app->nav.stack->pdata[0] && !strcmp(p->view->id, "events") && p->rows->rows->len;

	if (!events || (view_missing(app->main) & MISSING_KERNEL) != MISSING_KERNEL)
		return NULL;
	g_autofree char *keys = keys_of(CTX_TABLE, CMD_VIEW_TIMELINE);
	return *keys ? g_strdup_printf("%s shows when each thread recorded its events", keys) : NULL;
}

/* The view's sentences about all its rows. Returns the number of lines. */
static unsigned draw_sentences(struct app *app, struct place *p, struct box box)
{
	unsigned n = 0, room = box.rows > 14 ? 2 : 1;

	g_autofree char *suggestion = says_suggestion(app, p) ? output_suggestion(app) : NULL;
	g_autofree char *hint = timeline_hint(app, p);

	if (suggestion && hint) {
		g_autofree char *both = g_strdup_printf("%s%s %s", suggestion,
							g_str_has_suffix(suggestion, ".") ? "" : ";", hint);
		g_free(suggestion);
		suggestion = g_steal_pointer(&both);
	}
	if (!suggestion && hint)
		n += frame_sentence(app, (struct box){ box.y, 0, room, box.cols }, ROLE_DIM, hint);
	if (suggestion)
		n += frame_sentence(app, (struct box){ box.y, 0, room, box.cols }, ROLE_HOT, suggestion);
	if (p->rows->about)
		n += frame_sentence(app, (struct box){ box.y + n, 0, room, box.cols }, ROLE_TITLE,
				   p->rows->about);
	if (!p->rows->explanation)
		return n;
	return n + frame_why(app, (struct box){ box.y + n, 0, room, box.cols }, p->rows->explanation);
}

#define WIDE 160		/* columns for a table and the details of its row */
#define DETAIL_COLS 58
#define DETAIL_LEAST 44		/* where the table's texts need the room */
#define DETAIL_NAME 22		/* columns for the name of a value */

/* The values of the selected row, also of columns that are not shown; without times of 0. */
static void draw_detail(struct app *app, struct place *p, struct box box)
{
	const struct row *row = place_selected(p);
	unsigned y = box.y, end = box.y + box.rows;

	if (!row)
		return;
	for (unsigned i = box.y; i < end; i++)
		canvas_put(app->canvas, i, box.x - 2, 1, ROLE_AXIS, app->glyphs->edge);
	canvas_putf(app->canvas, y++, box.x, box.cols, ROLE_HEADER, "%-*s", (int)box.cols, "SELECTED ROW");
	for (size_t i = 0; i < p->view->n_columns && y < end; i++) {
		const struct column *c = &p->view->columns[i];
		struct value v = column_value(c, row, p->rows);
		bool blank = v.kind == VALUE_NONE || (v.kind == VALUE_NS && !v.i) || c->drawing != DRAW_TEXT;
		g_autofree char *text = blank ? NULL : v.kind == VALUE_TEXT ? g_strdup(v.s) :
			table_cell(c, v, box.cols - DETAIL_NAME);
		const struct box at = { y, box.x + DETAIL_NAME, MIN(end - y, 6), box.cols - DETAIL_NAME };

		if (!text || !*text)
			continue;
		canvas_put(app->canvas, y, box.x, DETAIL_NAME - 1, ROLE_DIM, c->id);
		y += MAX(frame_sentence(app, at, ROLE_TEXT, text), 1);
	}
}

static bool any_ended(const struct rows *rows)
{
	for (guint i = 0; i < rows->rows->len; i++)
		if (((const struct row *)rows->rows->pdata[i])->ended)
			return true;
	return false;
}

/* What signs in the strip and before rows mean, as far as there is room. */
static void draw_signs(struct app *app, struct place *p, unsigned y, unsigned x)
{
	for (unsigned i = 0; i < app->canvas->cols; i++) {
		if (strcmp(canvas_cell(app->canvas, y + 1, i)->ch, app->glyphs->sort_down) || !app->glyphs->utf8)
			continue;
		x = frame_add(app, y, x, ROLE_DIM, "   %s shown second", app->glyphs->sort_down);
		break;
	}
	if (any_ended(p->rows))
		frame_add(app, y, x, ROLE_DIM, "   %s ended", app->glyphs->ended);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	struct table_style style = app_table_style(app, true);
	g_autofree char *line = summary(app, p);
	unsigned lines = draw_sentences(app, p, (struct box){ box.y + 3, 0, box.rows, box.cols });
	bool wide = box.cols >= WIDE;
	unsigned wanted = table_wanted(&p->table[PANE_MAIN], p->view, p->rows) + 2;
	unsigned detail = CLAMP(box.cols - MIN(wanted, box.cols), DETAIL_LEAST, DETAIL_COLS);
	struct box table = { box.y + 3 + lines, box.x, box.rows - 3 - lines,
			     wide ? box.cols - detail - 2 : box.cols };

	frame_completeness(app, box.y, &p->rows->completeness);
	strip_draw_whole(app, box.y + 2);
	draw_signs(app, p, box.y + 1, canvas_put(app->canvas, box.y + 1, 0, box.cols, ROLE_TITLE, line));
	app->cursor_y = table_draw(app->canvas, table, &p->table[PANE_MAIN], p->view, p->rows,
				   &style);
	if (!p->rows->rows->len)
		draw_empty(app, p, table);
	if (wide)
		draw_detail(app, p, (struct box){ table.y, table.cols + 2, table.rows, detail });
}

const struct screen screen_table = { .draw = draw, .prepare = screen_table_prepare };
