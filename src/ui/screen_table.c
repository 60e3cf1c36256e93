/* SPDX-License-Identifier: GPL-2.0-only */
/* Any view as one table: trust, what is shown, header and rows. */
#include "ui/screen.h"

#include "ui/frame.h"
#include "ui/strip.h"
#include "ui/tables.h"

#include "base/text.h"

static void prepare(struct app *app, struct place *p)
{
	tables_prepare(app, p, PANE_MAIN);
	for (guint i = 0; p->select_pid >= 0 && i < p->rows->rows->len; i++) {
		const struct row *row = g_ptr_array_index(p->rows->rows, i);

		if (row->drill.pid == p->select_pid) {
			table_select(&p->table[PANE_MAIN], p->rows, i);
			p->select_pid = -1;
		}
	}
}

static char *summary(struct app *app, struct place *p)
{
	static const char *const by[BY_N] = {
		"of hosts as a whole", "by process", "by thread", "by CPU", "by priority",
		"by name", "by second", "by container",
	};
	bool descending;
	int sorted = table_sort_column(&p->table[PANE_MAIN], p->view, &descending);
	g_autofree char *filter = p->filter ? text_visible(p->filter) : g_strdup("none");
	bool over_all = p->narrow.by == BY_SYSTEM &&
			(!p->view->has_by || timeline_n_hosts(app->tl) < 2);
	GString *s = g_string_new(NULL);

	if (p->rows->rows->len == p->rows->n_before_filter || !p->filter)
		g_string_append_printf(s, "%s: %u row%s", p->view->title, p->rows->rows->len,
				       p->rows->rows->len == 1 ? "" : "s");
	else
		g_string_append_printf(s, "%s: %u of %zu rows", p->view->title,
				       p->rows->rows->len, p->rows->n_before_filter);
	if (p->view->has_by || p->view->more_by)
		g_string_append_printf(s, " %s", over_all ? "over all" : by[p->narrow.by]);
	if (p->rows->tree)
		g_string_append(s, ", a tree");
	if (p->table[PANE_MAIN].only_tagged)
		g_string_append(s, ", only tagged ones (T)");
	if (sorted >= 0)
		g_string_append_printf(s, "   sort %s%s", p->view->columns[sorted].title,
				       descending ? "" : " (lowest first)");
	g_string_append_printf(s, "   filter %s%s", filter,
			       p->filter ? "   u clears it" : "");
	return g_string_free(s, FALSE);
}

static void draw_empty(struct app *app, struct place *p, struct box box)
{
	g_autofree char *lacks = view_lacks(p->view, app->main);
	const char *why = lacks ? "nothing in this range: events for it lack, F7 tells which" :
		p->view->nothing ? p->view->nothing :
		"nothing in this range: Left, Right step, n: next outlier";

	if (app->nav.cursor_ns == TIME_UNKNOWN)
		why = frame_nothing(app);
	else if (p->filter && p->rows->n_before_filter)
		why = "no row passes the filter: \\ changes it, empty shows all";
	canvas_put(app->canvas, box.y + 1, 1, box.cols, ROLE_DIM, why);
}

/* What the view says of all its rows. Returns the lines it took. */
static unsigned draw_sentences(struct app *app, struct place *p, struct box box)
{
	unsigned n = 0, room = box.rows > 14 ? 2 : 1;

	if (p->rows->about)
		n += frame_sentence(app, (struct box){ box.y, 0, room, box.cols }, ROLE_TITLE,
				   p->rows->about);
	if (!p->rows->verdict)
		return n;
	canvas_put(app->canvas, box.y + n, 0, 3, ROLE_KEY, "WHY");
	return n + frame_sentence(app, (struct box){ box.y + n, 4, room, box.cols - 4 }, ROLE_WHY,
				 p->rows->verdict);
}

static void draw(struct app *app, struct place *p, struct box box)
{
	struct table_style style = app_table_style(app, true);
	g_autofree char *line = summary(app, p), *clipped = NULL;
	unsigned said = draw_sentences(app, p, (struct box){ box.y + 3, 0, box.rows, box.cols });
	struct box table = { box.y + 3 + said, box.x, box.rows - 3 - said, box.cols };

	frame_trust(app, box.y, &p->rows->trust);
	clipped = text_clip(line, box.cols, app->glyphs->utf8);
	canvas_put(app->canvas, box.y + 1, 0, box.cols, ROLE_TITLE, clipped);
	strip_draw_whole(app, box.y + 2);
	app->cursor_y = table_draw(app->canvas, table, &p->table[PANE_MAIN], p->view, p->rows,
				   &style);
	if (!p->rows->rows->len)
		draw_empty(app, p, table);
}

const struct screen screen_table = { CTX_TABLE, draw, NULL, prepare };
