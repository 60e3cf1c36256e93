/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen without a terminal: takes keys, draws on a canvas, asks the backend.
 * loop.c joins it to the terminal, tests to nothing.
 *
 *     struct app *app = app_new(&options, &backend, tl, true);
 *     app_resize(app, 24, 80);
 *     app_key(app, UI_KEY_ENTER);
 *     app_draw(app);		// app->canvas holds the screen
 *     app_free(app);
 *
 * Rows are built when they are looked at. After timeline_apply() the owner calls
 * app_timeline_changed() before anything else: rows point into the timeline. Then, and
 * whenever the backend may have something, whole_take().
 */
#ifndef BLK_UI_APP_H
#define BLK_UI_APP_H

#include "ui/canvas.h"
#include "ui/glyphs.h"
#include "ui/keys.h"
#include "ui/messages.h"
#include "ui/nav.h"
#include "ui/popup.h"
#include "ui/prefs.h"
#include "ui/prompt.h"
#include "ui/ui.h"
#include "views/extent.h"

#define APP_MIN_ROWS 15
#define APP_MIN_COLS 60

/* Nothing fits? Draws that, and which size does. */
bool app_too_small(struct canvas *c);

/* What the loop does for the screen, with the terminal. */
#define APP_REDRAW 1u
#define APP_SUSPEND 2u
#define APP_MOUSE 4u			/* as prefs->mouse says */

struct app {
	const struct ui_options *options;
	const struct ui_backend *backend;	/* may be NULL in tests */
	struct prefs *prefs;		/* of the options, or its own; never NULL */
	struct timeline *tl;		/* whose rows are shown: one of these */
	struct timeline *main;		/* what is read, for good */
	struct timeline *preview;	/* a few seconds out of turn, or NULL */
	struct timeline *nothing;	/* no seconds at all: of what is not read */
	struct log_state *lines;	/* of the log (screen_log.c), or NULL */
	struct outline *outline;	/* of a trace shown before it is read, or NULL */
	struct extent extent;		/* of these */
	struct cover cover;		/* of what is shown */
	struct extent_strip *strip;	/* made from extent, when main had this version; NULL: no */
	uint64_t strip_version;
	gint64 reading_since_us;	/* monotonic; 0: it was read at once */
	int64_t last_event_ns;		/* of the trace; TIME_UNKNOWN */
	struct view_range look;		/* what the backend was told last; from TIME_UNKNOWN: nothing */
	const struct glyphs *glyphs;
	struct canvas *canvas;
	unsigned cursor_y, cursor_x;	/* where the hardware cursor belongs */
	bool cursor_shown;
	struct nav nav;
	struct prompt prompt;
	struct popup popup;
	struct ui_status status;
	int64_t prompt_from_ns;		/* cursor when a prompt was opened */
	size_t search_from;		/* row the search began at */
	char *message;			/* in the status line, or NULL */
	bool message_is_error;
	struct messages *messages;	/* all of them, with their time */
	uint64_t messages_shown;	/* version of the popup that shows them */
	bool coach;			/* its line is shown */
	bool touched;			/* the user did something: nothing moves by itself */
	bool quit;
	unsigned waited;		/* seconds, for what is to be played next */
	unsigned requests;		/* APP_ bits */
	char *copy;			/* to the clipboard, or NULL */
	struct {
		struct canvas_hit hit;
		gint64 at_us;
	} clicked;			/* last: twice the same is a double click */
	const char *copy_doubt;		/* why the terminal may not take it, or NULL */
	bool tree;			/* rows that have parents are shown as a tree */
	/* Of a list that is open: what is done with the line picked; NULL: nothing. */
	void (*picked)(struct app *app, size_t line);
	struct chooser *chooser;	/* columns.c: its state while it is open, or NULL */
	char *save_over;		/* file that the next Enter writes over, or NULL */
};

struct app *app_new(const struct ui_options *options, const struct ui_backend *backend,
		    struct timeline *tl, bool utf8);
void app_free(struct app *app);
void app_resize(struct app *app, unsigned rows, unsigned cols);
void app_key(struct app *app, int key);
void app_timeline_changed(struct app *app);
void app_settle(struct app *app);	/* first screen and cursor, where nobody has chosen */
void app_second_passed(struct app *app);	/* for what plays by itself */
void app_draw(struct app *app);

/* The mouse (mouse.c), on the picture that was drawn last. */
enum app_mouse { APP_CLICK, APP_WHEEL_UP, APP_WHEEL_DOWN };
void app_mouse(struct app *app, enum app_mouse what, unsigned y, unsigned x, gint64 now_us);

/* A line for the status row, kept in the log. */
void app_say(struct app *app, const char *format, ...) G_GNUC_PRINTF(2, 3);
void app_error(struct app *app, const char *format, ...) G_GNUC_PRINTF(2, 3);
void app_show_messages(struct app *app);

/* For screens and commands. */
struct place *app_place(struct app *app);	/* with its rows built; never NULL */
void app_open(struct app *app, struct place *p);	/* one level deeper; takes it over */
void app_back(struct app *app);
void app_pause(struct app *app);		/* nothing moves by itself from now on */
void app_moved(struct app *app);		/* position in time changed */
enum context app_context(const struct app *app);
/* The view that comes first where nobody chose one: by what there is to show. */
const char *app_automatic_view(const struct app *app);
bool app_filter(struct app *app, struct place *p, const char *text, GError **error);
void app_command(struct app *app, enum command_id command);
void app_touch(struct app *app);		/* the user does something: nothing moves by itself */
void settings_command(struct app *app, struct place *p, enum command_id command);
void app_prompt_done(struct app *app, const char *text);	/* a prompt's line was taken */
void app_search(struct app *app, int direction, bool from_here);

/* From place to place (moves.c). */
void moves_command(struct app *app, struct place *p, enum command_id command);
/* What the selected row, or span, is of. Texts are the place's or the row's. */
struct view_query moves_selected(struct place *p);
/* What the view honours of all that the way to the place narrowed it to. Texts are the place's. */
struct view_query place_query(const struct place *p);
/* Its part of the breadcrumb: to what it is narrowed, and to what its view cannot be. g_free. */
char *place_crumb(const struct app *app, const struct place *p);

/* A list over the screen, of which one line is picked; takes lines over. */
void app_pick(struct app *app, const char *title, GPtrArray *lines,
	      void (*picked)(struct app *app, size_t line));

/* C (compare.c). */
void compare_command(struct app *app, struct place *p, enum command_id command);

/* Tables (tables.c): filters, sorts, arranges what a pane shows. */
void tables_prepare(struct app *app, struct place *p, enum pane pane);
void tables_command(struct app *app, struct place *p, enum command_id command);
void tables_say_sort(struct app *app, const struct focus *f);	/* and keeps it */
/* Columns and order from a list (chooser.c). */
void chooser_open(struct app *app, struct place *p, enum command_id command);
bool chooser_command(struct app *app, enum command_id command);	/* while it is open */
void chooser_free(struct app *app);
/* What leaves the screen (output.c). */
void output_copy(struct app *app, struct place *p, enum command_id command);
void output_save(struct app *app, struct place *p, enum command_id command);
bool output_save_as(struct app *app, const char *path, GError **error);
void output_save_trace(struct app *app, struct place *p, enum command_id command);
bool output_save_trace_as(struct app *app, const char *line, GError **error);
void output_saved_trace(struct app *app);	/* after pump: tells what was saved */
void output_snapshot(struct app *app, struct place *p, enum command_id command);
void output_align(struct app *app, struct place *p, enum command_id command);
const char *output_soft_note(const struct app *app);
/* What a view is about and lacks (facts.c). */
void facts_open(struct app *app, struct place *p, enum command_id command);

/* A kind of screen. */
struct screen {
	enum context context;
	/* Draws in the box below the title; sets app->cursor_y. */
	void (*draw)(struct app *app, struct place *p, struct box box);
	/* Commands of its own; false: not one of them. NULL: none. */
	bool (*command)(struct app *app, struct place *p, enum command_id command);
	/* After the rows were built: sorts, filters, finds the selection. */
	void (*prepare)(struct app *app, struct place *p);
};
extern const struct screen screen_table, screen_overview, screen_waterfall, screen_phases;
extern const struct screen screen_process;
const struct screen *screen_of(const struct view *view);

/* A trace that is shown before it is read (whole.c): takes outline and preview from the
 * backend; decides which timeline shows a place (the rows of another one are dropped);
 * tells the backend what is looked at; the strip of its whole time. */
void whole_take(struct app *app);
void whole_choose(struct app *app, struct place *p);
void whole_look(struct app *app);
bool whole_decodes(const struct app *app);	/* can steps below a second be asked for? */
const struct extent_strip *whole_strip(struct app *app);
void whole_clear(struct app *app);

/* The strip (strip.c). One row, and another below it for marks if there is room. */
struct strip_data {
	const struct overview_point *points;
	size_t n;
	int64_t max_ns;			/* -1: no p99, but bytes */
	double max_bytes;
};
unsigned strip_cell(const struct strip_data *s, size_t point, unsigned cells);
void strip_draw_cells(struct app *app, const struct strip_data *s, unsigned y, unsigned x,
		      unsigned cells, bool marks_below);
/* Of the whole trace, in one row: bytes or p99 or events, losses, gaps, the range. */
void strip_draw_whole(struct app *app, unsigned y);
/* What is known of a range that is not read (unread.c). */
void unread_draw(struct app *app, struct place *p, struct box box);

/* Shared drawing (frame.c). */
void frame_draw(struct app *app, struct place *p);	/* title, status, coach, key bar */
struct box frame_body(const struct app *app);		/* what is left for the screen */
/* "TRUST ok lost 0 soft 0   history ..." */
const char *frame_nothing(const struct app *app);	/* as long as there is no instant to look at: why */
void frame_trust(struct app *app, unsigned y, const struct trust *trust);
/* Texts from (y, x) on, each only where it fits whole. Returns the column after them. */
/* A sentence about all rows, on as many lines as it needs of those there are. Returns how many. */
unsigned frame_sentence(struct app *app, struct box box, enum role role, const char *text);
unsigned frame_add(struct app *app, unsigned y, unsigned x, enum role role, const char *format,
		   ...) G_GNUC_PRINTF(5, 6);
struct table_style app_table_style(const struct app *app, bool active);

#endif
