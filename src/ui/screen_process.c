/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of a process: facts, threads, files, system calls and slowest calls. */
#include "ui/screen.h"

#include "ui/frame.h"
#include "ui/panes.h"
#include "ui/strip.h"
#include "ui/tables.h"

#include "base/text.h"

#include <string.h>

#define WIDE 130		/* columns for two tables side by side */
G_STATIC_ASSERT((int)PANE_N == (int)PROCESS_PARTS);

static void prepare(struct app *app, struct place *p)
{
	for (enum pane i = PANE_MAIN; i < PANE_N; i++) {
		struct focus f = place_pane(p, i);

		if (!f.table->n_chosen)
			table_choose(f.table, f.view, process_part_columns((enum process_part)i));
		tables_prepare(app, p, i);
	}
	if (!place_focus(p).rows->rows->len)
		panes_command(app, p, CMD_TOP);
}

/* Adds "  LABEL fact" if the fact is known and fits. */
static unsigned add(struct app *app, struct place *p, unsigned y, unsigned x, const char *label,
		    const char *id)
{
	/* The pid inside a PID namespace differs from the host's only in a container. */
	bool same = !strcmp(id, "vpid") && !process_fact(p->rows, "container");
	const char *text = same ? NULL : process_fact(p->rows, id);
	g_autofree char *visible = text ? text_visible(text) : NULL;

	return visible ? frame_add(app, y, x, ROLE_TEXT, "%s%s %s", x ? "   " : "", label, visible) : x;
}

/* A line with the process's identity, and one with what it did. */
static void draw_process_facts(struct app *app, struct place *p, unsigned y)
{
	static const struct { const char *label, *id; } lines[2][8] = {
		{ { "pid", "pid" }, { "parent", "ppid" }, { "threads", "threads" }, { "on", "host" },
		  { "in", "container" }, { "pid there", "vpid" }, { "began", "start_ns" },
		  { "ended", "exit_ns" } },
		{ { "CPU", "cpu_ratio" }, { "run queue", "runnable_ratio" },
		  { "calls", "syscalls" }, { "read", "read_bytes" }, { "written", "write_bytes" },
		  { "user", "user_ns" }, { "system", "syscall_ns" }, { "blocked", "blocked_ratio" } },
	};
	const char *comm = process_fact(p->rows, "comm");
	g_autofree char *name = text_visible(comm ? comm : "-");

	for (unsigned k = 0; k < 2; k++) {
		unsigned x = k ? 0 : canvas_put(app->canvas, y, 0, app->canvas->cols / 2, ROLE_CRUMB,
						name);

		for (unsigned i = 0; i < G_N_ELEMENTS(lines[k]); i++)
			x = add(app, p, y + k, x, lines[k][i].label, lines[k][i].id);
	}
}

static void draw_pane(struct app *app, struct place *p, enum pane pane, struct box box)
{
	struct table_style style = app_table_style(app, p->pane == pane);
	struct focus f = place_pane(p, pane);
	unsigned at;

	if (!box.rows)
		return;
	at = table_draw(app->canvas, box, f.table, f.view, f.rows, &style);
	if (p->pane == pane)
		app->cursor_y = at;
	if (!f.rows->rows->len && box.rows > 1)
		canvas_putf(app->canvas, box.y + 1, box.x + 1, box.cols - 1, ROLE_DIM,
			    "%s: none in this range", f.view->title);
}

/* Tables one below the other; each gets the rows it has, as far as there is room. */
static void draw_stacked(struct app *app, struct place *p, struct box box)
{
	static const enum pane order[PANE_N] = { 0, 1, 2, 3 };
	bool gaps = box.rows >= 20;
	unsigned rows[PANE_N], y = box.y, fixed = PROCESS_PARTS + (gaps ? PROCESS_PARTS - 1 : 0);

	panes_share(p, box.rows > fixed ? box.rows - fixed : 0, order, PANE_N, rows);
	for (enum pane i = PANE_MAIN; i < PANE_N; i++) {
		unsigned h = 1 + rows[i];

		if (y + h > box.y + box.rows)
			return;
		draw_pane(app, p, i, (struct box){ y, box.x, h, box.cols });
		y += h + gaps;
	}
}

static void draw_side_by_side(struct app *app, struct place *p, struct box box)
{
	unsigned half = (box.cols - 2) / 2, rows = (box.rows - 1) / 2;

	for (enum pane i = PANE_MAIN; i < PANE_N; i++)
		draw_pane(app, p, i, (struct box){ box.y + i / 2 * (rows + 1),
						   box.x + i % 2 * (half + 2), rows, half });
}

static void draw(struct app *app, struct place *p, struct box box)
{
	bool tall = box.rows >= 16;
	unsigned used = tall ? 4 : 3;
	struct box tables = { box.y + used, box.x, box.rows - used, box.cols };

	frame_completeness(app, box.y, &p->rows->completeness);
	if (process_page_of(p->rows)->pid < 0) {
		canvas_put(app->canvas, box.y + 2, 1, box.cols, ROLE_DIM,
			   "this process did nothing in this range: Left and Right step");
		return;
	}
	draw_process_facts(app, p, box.y + 1);
	if (tall)
		strip_draw_whole(app, box.y + 3);
	if (box.cols >= WIDE && tall)
		draw_side_by_side(app, p, tables);
	else
		draw_stacked(app, p, tables);
}

const struct screen screen_process = { .draw = draw, .command = panes_command, .prepare = prepare };
