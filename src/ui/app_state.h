/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all screens share: the user's position, the timelines that are shown, open prompts and popups,
 * and the message of the status line. Screens and commands work on it; app.h is the screen as a whole.
 * Main thread only.
 */
#ifndef BLK_UI_APP_STATE_H
#define BLK_UI_APP_STATE_H

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

/* What the loop shall do with the terminal: bits of app->requests. */
#define APP_REDRAW 1u
#define APP_SUSPEND 2u
#define APP_MOUSE 4u			/* switch mouse reporting to prefs->mouse */
#define APP_THEME 8u			/* show prefs->theme */

struct app;

/* What a list is for. */
struct pick {
	void (*picked)(struct app *app, void *data, size_t line);
	/* Commands of the list itself, which has the keys of CTX_CHOOSER then. false: not one of them. NULL: none. */
	bool (*command)(struct app *app, void *data, enum command_id command);
	void *data;			/* what the lines stand for */
	GDestroyNotify free;		/* frees .data when the list is closed; NULL: nothing does */
};

struct app {
	const struct ui_options *options;
	const struct ui_backend *backend;	/* NULL in some tests */
	struct prefs *prefs;		/* never NULL; options->prefs, or owned */
	struct timeline *tl;		/* the timeline that rows are built from: one of the next three */
	struct timeline *main;		/* everything that was read in order; the caller's */
	struct timeline *preview;	/* a few seconds that were read ahead, or NULL; owned */
	struct timeline *empty;		/* no seconds: shown for ranges that are not read; owned */
	struct log_state *lines;	/* of the log (screen_log.c), or NULL */
	struct outline *outline;	/* bytes and losses of a recorded trace, or NULL; one reference */
	struct extent extent;		/* which of the timelines covers which range */
	struct cover cover;		/* of the range that is shown */
	struct extent_strip *strip;	/* cache, made from extent; NULL: not made */
	uint64_t strip_version;		/* of main, when strip was made */
	gint64 reading_since_us;	/* monotonic; 0: reading never took time */
	gint64 loading_since_us;	/* monotonic: since the backend says that it loads; 0: it never did */
	int64_t last_event_ns;		/* of the trace; TIME_UNKNOWN */
	struct view_range shown_range;		/* the request that the backend got last; from_ns TIME_UNKNOWN: none */
	const struct glyphs *glyphs;
	enum theme theme;		/* in effect: dark, light or mono; the loop's if there is a terminal */
	bool no_colors;			/* other themes than mono cannot be shown */
	struct canvas *canvas;		/* owned */
	unsigned cursor_y, cursor_x;	/* of the hardware cursor */
	bool cursor_shown;
	struct nav nav;
	struct visits visits;		/* the way back and forth */
	enum graph graph;		/* of all seconds: the one that was chosen last */
	struct prompt prompt;
	struct popup popup;
	struct ui_status status;	/* as the backend gave it last */
	size_t search_from;		/* row at which the search began */
	char *message;			/* in the status line, or NULL; owned */
	bool message_is_error;
	struct messages *messages;	/* all messages with their time; owned */
	uint64_t messages_shown;	/* messages_version() of the popup's lines */
	bool coach;			/* the line of hints is shown */
	bool lanes_awaited;		/* by the waterfall: they are being decoded */
	int64_t drawn_ns;		/* .nav.cursor_ns when the screen was drawn last; TIME_UNKNOWN: never */
	bool moved_alone;		/* since then the program went to another second, and has not printed why */
	bool touched;			/* the user pressed a key that chooses: nothing moves by itself any more */
	bool quit;
	bool explain_below;		/* a popup was left to explain the row below it, which must be drawn first */
	bool more_keys;			/* the second key bar is shown, until the next key */
	bool quits_at_top;		/* the key of CMD_BACK is q: at the top it quits */
	unsigned waited;		/* seconds that playing has waited for a preview */
	unsigned requests;		/* APP_ bits */
	char *copy;			/* text for the clipboard, or NULL; owned, the loop takes it */
	struct {
		struct canvas_hit hit;
		gint64 at_us;		/* monotonic */
	} clicked;			/* the last click; a second one at once is a double click */
	/* The mouse is dragged over seconds of the strip, the graph or a heatmap: from the cell that was pressed to the
	 * one below the mouse. */
	struct {
		bool on;
		unsigned y;			/* the row that was pressed */
		int64_t from_ns, from_end_ns, to_ns, to_end_ns;		/* begin and end of these cells */
	} drag;
	const char *copy_doubt;		/* why the terminal may refuse the clipboard, or NULL */
	bool tree;			/* rows with parents are shown as a tree */
	struct pick pick;		/* of the open list */
	char *exporting;		/* words of the export whose file is asked for, or NULL; owned */
	GArray *bookmarked;		/* int64_t: instants of all bookmarks, ascending; NULL: not read; owned */
	char *picture;			/* SVG of the screen when D was pressed, or NULL; owned */
	char *rules;			/* the suggested rules, when their prompt was opened, or NULL; owned */
	char *save_over;		/* file that the next Enter overwrites, or NULL; owned */
};

/* --- messages --- */

/* A line for the status row. It is stored in the messages (key !) as well. */
void app_message(struct app *app, const char *format, ...) G_GNUC_PRINTF(2, 3);
void app_error(struct app *app, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Stores a message without showing it in the status row. */
void app_note(struct app *app, bool error, const char *text);
void app_show_messages(struct app *app);
/* Updates an open popup of messages. */
void app_refresh_messages(struct app *app);
/* Opens a list over the screen. Takes lines and pick->data over. */
void app_pick(struct app *app, const char *title, GPtrArray *lines, const struct pick *pick);
/* The list was closed, with the line that was picked; -1: none. */
void app_unpick(struct app *app, long line);

/* --- place and time --- */

/* Whose keys are in effect: an open list, else the screen; while a line is typed CTX_PROMPT is instead. */
enum context app_context(const struct app *app);
/* Is it the view that is shown? Then a message says so. */
bool app_is_shown(struct app *app, const struct view *view);
/* Opens a place one level deeper. Takes p over. */
void app_open(struct app *app, struct place *p);
void app_back(struct app *app);
/* To be called after the stack of places changed: protects its innermost trace from eviction. */
void app_pin(struct app *app);
/* Stops following and playing. */
void app_pause(struct app *app);
/* Pauses and goes to an instant; a range A-B moves with it, which a message says. */
void app_go_to(struct app *app, int64_t at_ns);
/* To be called after the position in time changed. */
void app_moved(struct app *app);
/* To be called before a command of the user that chooses something. */
void app_touch(struct app *app);
/* Replaces the first place by the view that options, settings or the trace ask for. */
void app_choose_root(struct app *app);
/* Does so, and moves to the instant that nav.mode asks for, as long as the user has not. */
void app_settle(struct app *app);
/* Id of the view to start with when none was chosen: depends on what the trace has. */
const char *app_automatic_view(const struct app *app);
/* Sets or (text NULL or "") clears the filter of a place. false: no table of the place understands it. */
bool app_filter(struct app *app, struct place *p, const char *text, GError **error);

struct table_style app_table_style(const struct app *app, bool active);

#endif
