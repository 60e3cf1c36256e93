/* SPDX-License-Identifier: GPL-2.0-only */
/* The flame view, painted: see screen_flame.h. */
#include "ui/screen_flame.h"

#include "ui/explain.h"
#include "ui/frame.h"
#include "ui/screen.h"
#include "ui/tables.h"
#include "ui/waterfall_bars.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/flame.h"

#include <string.h>

#define TALLEST 6		/* of a frame */
#define TEXT_COLS 4		/* less room than that has no shortened text */
#define FIGURES 44		/* columns of the figures in the sentence about a frame */

struct flame_state {
	uint64_t zoom_key;		/* row.key[0] of the frame as wide as the screen; 0: that of all */
};
static const struct state_kind state_kind = {
	.size = sizeof(struct flame_state), .position = sizeof(struct flame_state),
};

static struct flame_state *state_of(struct place *p)
{
	return place_state(p, &state_kind);
}

uint64_t screen_flame_zoomed(struct place *p)
{
	return p->view->kind == VIEW_FLAME ? state_of(p)->zoom_key : 0;
}

void screen_flame_zoom(struct place *p, uint64_t key)
{
	if (p->view->kind == VIEW_FLAME)
		state_of(p)->zoom_key = key;
}

/* ---- which frames are shown ---- */

static struct flame_row *frame_at(const struct place *p, guint i)
{
	return p->rows->rows->pdata[i];
}

static guint n_frames(const struct place *p)
{
	return p->rows->rows->len;
}

/* The frame that is as wide as the screen. */
static guint root_of(struct place *p)
{
	uint64_t key = state_of(p)->zoom_key;

	for (guint i = 0; key && i < n_frames(p); i++)
		if (frame_at(p, i)->row.key[0] == key)
			return i;
	return 0;
}

static guint selected_of(struct place *p)
{
	guint root = root_of(p), at = (guint)p->table[PANE_MAIN].cursor;
	return at > root && at < frame_at(p, root)->end ? at : root;
}

static guint parent_of(const struct place *p, guint i)
{
	guint at = i;
	while (at > 0 && frame_at(p, at)->row.depth >= frame_at(p, i)->row.depth)
		at--;
	return at;
}

static void prepare(struct app *app, struct place *p)
{
	tables_prepare(app, p, PANE_MAIN);
}

/* ---- drawing ---- */

struct flame_picture {
	struct app *app;
	struct place *p;
	struct box box;			/* of the frames */
	guint root, selected;
	unsigned lines, levels;		/* rows of a frame; frames above each other, all of them */
	unsigned top;			/* the first level that is shown */
	unsigned path_cols;		/* room for the path in the sentence below, of which the end matters */
};

static enum role role_of(const struct flame_row *r)
{
	enum part p = flame_mainly(r);
	if (r->kind == FLAME_PART || r->kind == FLAME_CALL || r->kind == FLAME_THREAD)
		return p < PART_N ? ROLE_PART + p : ROLE_PART + PART_SYSCALL;
	return ROLE_AXIS;
}

static char *percent_of(int64_t ns, int64_t of_ns)
{
	double share = of_ns ? 100.0 * (double)ns / (double)of_ns : 0;
	return g_strdup_printf(share < 9.95 ? "%.1f%%" : "%.0f%%", share);
}

static char *percent(const struct flame_row *r, const struct flame_row *of)
{
	return percent_of(r->total_ns, of->total_ns);
}

/* Text of a line of a frame: its name and its share of all; its time. */
static char *line_text(const struct flame_picture *d, const struct flame_row *r, unsigned line, unsigned cols)
{
	char took[TIMEFMT_LEN];
	g_autofree char *name = text_visible(r->name), *share = percent(r, frame_at(d->p, 0));
	g_autofree char *both = g_strdup_printf("%s %s", name, share);
	const char *text = line > 1 ? "" : line ? timefmt_duration(took, r->total_ns) :
		text_width(both) <= cols ? both : name;
	return text_width(text) <= cols || (cols >= TEXT_COLS && !line) ? text_clip(text, cols, d->app->glyphs->utf8) :
		g_strdup("");
}

/* One row of a frame. What has a part is in its colour, the name in reverse, the rest as letters of the part. Others
 * have an outline. */
static void draw_line(const struct flame_picture *d, const struct flame_row *r, unsigned line, unsigned y, unsigned x,
		      unsigned cols)
{
	struct canvas *c = d->app->canvas;
	enum role role = role_of(r);
	bool selected = r == frame_at(d->p, d->selected) && !line;
	char letter[2] = { r->kind == FLAME_PART ? part_info[role - ROLE_PART].letter : ' ', '\0' };
	unsigned edge = cols > 2 || selected ? 1 : 0;
	g_autofree char *text = line_text(d, r, line, cols - edge);
	unsigned named = *letter == ' ' ? cols : *text ? MIN(edge + text_width(text) + 1, cols) : edge;

	canvas_fill(c, y, x, cols, role, letter);
	if (role == ROLE_PART + PART_UNKNOWN)		/* its letter once: many '?' would look like a broken name */
		canvas_fill(c, y, x + named + 1, cols - MIN(named + 1, cols), role, " ");
	canvas_fill(c, y, x, named, role, " ");
	if (edge)
		canvas_put(c, y, x, 1, role, selected ? d->app->glyphs->cursor : d->app->glyphs->edge);
	canvas_put(c, y, x + edge, cols - edge, role == ROLE_AXIS && !line ? ROLE_CRUMB : role, text);
	if (role != ROLE_AXIS) {
		canvas_add_attr(c, y, x, named, STYLE_REVERSE);
		canvas_add_attr(c, y, x + named, cols - named, STYLE_FILL);
	} else if (line + 1 == d->lines) {
		canvas_add_attr(c, y, x, cols, STYLE_UNDERLINE);
	}
	if (selected) {
		canvas_set_role(c, y, x, edge + text_width(text), ROLE_SELECTED);
		canvas_add_attr(c, y, x, edge + text_width(text), STYLE_UNDERLINE);
	}
}

static void draw_frame(const struct flame_picture *d, guint i, unsigned x, unsigned end)
{
	const struct flame_row *r = frame_at(d->p, i);
	unsigned level = r->row.depth - frame_at(d->p, d->root)->row.depth;

	if (i == d->selected && end == x) {		/* too narrow, and must be seen */
		x = MIN(x, d->box.cols - 1);
		end = x + 1;
	}
	if (end == x || level < d->top)
		return;
	for (unsigned line = 0; line < d->lines; line++) {
		unsigned y = (level - d->top) * d->lines + line;

		if (y >= d->box.rows)
			return;
		draw_line(d, r, line, d->box.y + y, d->box.x + x, end - x);
		canvas_hit(d->app->canvas, d->box.y + y, d->box.x + x, end - x, HIT_ROW, &d->p->table[PANE_MAIN], i);
		if (i == d->selected && !line) {
			d->app->cursor_y = d->box.y + y;
			d->app->cursor_x = d->box.x + x;
		}
	}
}

/* Column of so much time after the beginning of the root frame. */
static unsigned column_of(const struct flame_picture *d, int64_t ns)
{
	double all = (double)frame_at(d->p, d->root)->total_ns;
	return (unsigned)((double)d->box.cols * (double)ns / all + 0.5);
}

/* Siblings lie side by side, from the left edge of their parent on. */
static void draw_frames(const struct flame_picture *d)
{
	unsigned at = 0, at_end = 0;

	for (guint i = d->root; i < frame_at(d->p, d->root)->end; i++) {
		const struct flame_row *r = frame_at(d->p, i);
		int64_t begin = r->begin_ns - frame_at(d->p, d->root)->begin_ns;

		if (i == d->selected) {
			at = column_of(d, begin);
			at_end = column_of(d, begin + r->total_ns);
		} else {
			draw_frame(d, i, column_of(d, begin), column_of(d, begin + r->total_ns));
		}
	}
	draw_frame(d, d->selected, at, at_end);		/* above its neighbours */
}

static unsigned count_levels(const struct place *p, guint root)
{
	unsigned deepest = 0;
	for (guint i = root; i < frame_at(p, root)->end; i++)
		deepest = MAX(deepest, frame_at(p, i)->row.depth);
	return deepest - frame_at(p, root)->row.depth + 1;
}

/* "thumbnail > send" */
static char *path_text(const struct place *p, guint i, const struct glyphs *glyphs)
{
	const struct flame_row *r = frame_at(p, i);
	GString *text = g_string_new(NULL);
	if (!r->parent)
		return g_string_free(g_string_append(text, r->name), FALSE);
	for (; r->parent; r = r->parent) {
		g_autofree char *name = text_visible(r->name);
		g_autofree char *more = text->len ? g_strdup_printf("%s %s ", name, glyphs->crumb) : g_strdup(name);
		g_string_prepend(text, more);
	}
	return g_string_free(text, FALSE);
}

static char *selected_text(const struct flame_picture *d)
{
	const struct flame_row *r = frame_at(d->p, d->selected), *all = frame_at(d->p, 0);
	char took[TIMEFMT_LEN], self[TIMEFMT_LEN];
	enum part part = flame_mainly(r);
	g_autofree char *share = percent(r, all), *of_parent = r->parent ? percent(r, r->parent) : NULL;
	g_autofree char *path = path_text(d->p, d->selected, d->app->glyphs);
	g_autofree char *clipped = text_clip_left(path, d->path_cols, d->app->glyphs->utf8);
	GString *s = g_string_new(clipped);

	g_string_append_printf(s, ": %s, %s of all", timefmt_duration(took, r->total_ns), share);
	if (of_parent && r->parent->parent)
		g_string_append_printf(s, ", %s of the frame above", of_parent);
	if (r->self_ns && r->self_ns != r->total_ns)
		g_string_append_printf(s, ", %s in no frame below", timefmt_duration(self, r->self_ns));
	if (part < PART_N && r->kind != FLAME_PART)
		g_string_append_printf(s, ", %s %.0f%%", part_info[part].id,
				       100.0 * (double)r->part[part] / (double)MAX(r->total_ns, 1));
	return g_string_free(s, FALSE);
}

static char *summary(const struct flame_picture *d)
{
	const struct flame_row *all = frame_at(d->p, 0);
	char took[TIMEFMT_LEN];
	g_autofree char *root = d->root ? path_text(d->p, d->root, d->app->glyphs) : NULL;
	return g_strdup_printf("Flame of %s: %s%s%s%s", all->name, timefmt_duration(took, all->total_ns),
			       root ? "   zoomed to " : "", root ? root : "", root ? " (Esc zooms out)" : "");
}

static void draw(struct app *app, struct place *p, struct box box)
{
	unsigned y = box.y, text_rows = box.rows >= 16 ? 2 : 1;
	struct flame_picture d = { .app = app, .p = p };

	if (!n_frames(p)) {
		canvas_put(app->canvas, y + 1, 1, box.cols, ROLE_DIM,
			   frame_nothing(app, p->view->nothing));
		return;
	}
	d.root = root_of(p);
	d.selected = selected_of(p);
	frame_completeness(app, y++, &p->rows->completeness);
	g_autofree char *line = summary(&d);
	canvas_put(app->canvas, y++, 0, box.cols, ROLE_TITLE, line);
	d.box = (struct box){ y, 0, box.y + box.rows - 1 - text_rows - y, box.cols };
	d.levels = count_levels(p, d.root);
	d.lines = CLAMP(d.box.rows / d.levels, 1, TALLEST);
	unsigned level = frame_at(p, d.selected)->row.depth - frame_at(p, d.root)->row.depth;
	d.top = level >= d.box.rows / d.lines ? level - d.box.rows / d.lines + 1 : 0;
	d.path_cols = text_rows * box.cols - FIGURES;	/* a screen has 60 columns */
	draw_frames(&d);
	g_autofree char *text = selected_text(&d);
	frame_sentence(app, (struct box){ d.box.y + d.box.rows, 0, text_rows, box.cols }, ROLE_WHY, text);
	bars_draw_legend(app, d.box, box.y + box.rows - 1, NULL, NULL, 0);
}

/* ---- commands ---- */

static void choose(struct place *p, guint i)
{
	table_select(&p->table[PANE_MAIN], p->rows, i);
}

/* To the frame beside it, at the same depth, also below another parent. */
static void move_beside(struct app *app, struct place *p, enum command_id id)
{
	int by = id == CMD_CURSOR_LEFT ? -1 : 1;
	guint root = root_of(p), end = frame_at(p, root)->end, at = selected_of(p);
	unsigned depth = frame_at(p, at)->row.depth;

	for (long i = (long)at + by; i > (long)root && i < (long)end; i += by)
		if (frame_at(p, (guint)i)->row.depth == depth) {
			choose(p, (guint)i);
			return;
		}
	app_message(app, by < 0 ? "this is the first frame in its line" : "this is the last frame in its line");
}

static void move_up(struct app *app, struct place *p, enum command_id id)
{
	if (id != CMD_UP)
		choose(p, root_of(p));
	else if (selected_of(p) != root_of(p))
		choose(p, parent_of(p, selected_of(p)));
	else
		app_message(app, state_of(p)->zoom_key ? "Esc zooms out" : "this is the top");
}

static void move_down(struct app *app, struct place *p, enum command_id id)
{
	guint at = selected_of(p);

	if (frame_at(p, at)->end == at + 1) {
		app_message(app, "there is no frame below");
		return;
	}
	do {
		at++;				/* the first child has the most time */
	} while (id != CMD_DOWN && frame_at(p, at)->end > at + 1);
	choose(p, at);
}

static void zoom_in(struct app *app, struct place *p, enum command_id id)
{
	guint at = selected_of(p);

	if (at == root_of(p))
		app_message(app, "arrows select a frame, Enter zooms to it, Esc zooms out");
	else
		state_of(p)->zoom_key = frame_at(p, at)->row.key[0];
}

static void zoom_out(struct place *p)
{
	guint root = root_of(p), parent = parent_of(p, root);

	state_of(p)->zoom_key = parent ? frame_at(p, parent)->row.key[0] : 0;
	choose(p, root);
}

static bool command(struct app *app, struct place *p, enum command_id id)
{
	static const struct screen_command moves[] = {
		{ CMD_CURSOR_LEFT, move_beside }, { CMD_CURSOR_RIGHT, move_beside }, { CMD_UP, move_up },
		{ CMD_PAGE_UP, move_up }, { CMD_TOP, move_up }, { CMD_DOWN, move_down }, { CMD_PAGE_DOWN, move_down },
		{ CMD_BOTTOM, move_down }, { CMD_DRILL, zoom_in },
	};

	if (!n_frames(p))
		return id == CMD_DRILL || id == CMD_CURSOR_LEFT || id == CMD_CURSOR_RIGHT;
	for (size_t i = 0; i < G_N_ELEMENTS(moves); i++)
		if (moves[i].id == id) {
			moves[i].run(app, p, id);
			return true;
		}
	if (id != CMD_BACK || !state_of(p)->zoom_key)
		return false;
	zoom_out(p);
	return true;
}

void screen_flame_open(struct app *app, struct place *p, enum command_id id)
{
	struct view_query q = VIEW_QUERY_INIT;

	if (app_is_shown(app, view_find("flame")))
		return;
	if (p->view->kind != VIEW_OVERVIEW && p->view->kind != VIEW_HEATMAP && p->view->kind != VIEW_DISTRIBUTION)
		q = place_selected_query(p);
	app_open(app, place_new(view_find("flame"), &q, p->view->kind == VIEW_WATERFALL ? "flame" : ""));
}

/* ---- the selected frame, in sentences ---- */

static const char *const kind_text[FLAME_KIND_N] = {
	[FLAME_ALL] = "all that the picture shows",
	[FLAME_HOST] = "a host: the time of its threads",
	[FLAME_OPERATION] = "an operation of a service: the time of its requests",
	[FLAME_PHASE] = "a phase: time of the requests in which this span was what they waited for",
	[FLAME_PROCESS] = "a process: the time of its threads",
	[FLAME_THREAD] = "a thread that was waited for, or whose time this is",
	[FLAME_CALL] = "a system call that the thread was in",
	[FLAME_PART] = "what the thread did meanwhile",
};

static void explain_parts(const struct flame_row *r, GPtrArray *lines)
{
	g_ptr_array_add(lines, g_strdup(r->kind == FLAME_PART ? "Its letter" : "What the threads did in it"));
	for (int part = 0; part < PART_N; part++) {
		char took[TIMEFMT_LEN];

		if (r->part[part] <= 0)
			continue;
		g_autofree char *share = percent_of(r->part[part], r->total_ns);
		g_ptr_array_add(lines, g_strdup_printf("  %c %s: %s; %s, %s", part_info[part].letter,
			part_info[part].id, part_info[part].help, timefmt_duration(took, r->part[part]), share));
	}
}

static void explain(struct app *app, struct place *p, GPtrArray *lines)
{
	if (!n_frames(p))
		return;
	const struct flame_row *r = frame_at(p, selected_of(p)), *all = frame_at(p, 0);
	char took[TIMEFMT_LEN], self[TIMEFMT_LEN];
	g_autofree char *path = path_text(p, selected_of(p), app->glyphs), *share = percent(r, all);
	g_autofree char *of_parent = r->parent ? percent(r, r->parent) : NULL;

	g_ptr_array_add(lines, g_strdup("The selected frame"));
	explain_add(lines, flame_kind_name[r->kind], "%s: %s", path, kind_text[r->kind]);
	explain_add(lines, "time", "%s, %s of all%s%s%s", timefmt_duration(took, r->total_ns), share,
		    of_parent ? ", " : "", of_parent ? of_parent : "", of_parent ? " of the frame above" : "");
	if (r->self_ns && r->self_ns != r->total_ns)
		explain_add(lines, "self", "%s in no frame below", timefmt_duration(self, r->self_ns));
	explain_add(lines, "width", "the time, in proportion; frames below are what it consists of, the longest at the "
		    "left. Left to right is no order in time");
	explain_parts(r, lines);
}

const struct screen screen_flame = {
	.draw = draw, .command = command, .prepare = prepare, .explain = explain, .rests = true,
};
