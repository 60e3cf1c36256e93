/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen as its caller sees it. It shows views of a timeline, and asks its backend to load, export, save and so on.
 * Everything runs on the caller's thread, one screen at a time in a process.
 */
#ifndef BLK_UI_UI_H
#define BLK_UI_UI_H

#include "base/view_range.h"
#include "base/outline.h"
#include "views/logview.h"
#include "views/view.h"

#include <stdio.h>

enum ui_phase { UI_OPENING, UI_LOADING, UI_LIVE, UI_DONE, UI_CANCELLED, UI_FAILED };

struct ui_status {
	enum ui_phase phase;
	char source[128];	/* "demo kernel+ust", "relay1/web1 prod": visible text */
	double progress;	/* 0..1, < 0 unknown */
	uint64_t n_events;
	double events_per_s;
	int64_t lag_ns;		/* live: < 0 unknown */
	uint64_t late;		/* live: events that came too late and were counted at the time of arrival */
	char stalled[64];	/* live: a stream that is no longer waited for, "chan_0", or "" */
	int64_t stalled_ns;	/* from here on events of .stalled are missing; INT64_MIN: none is stalled */
	char banner[256];	/* "relay gone since 12:00:05: Connection refused; trying again", or "" */
	bool calm;		/* .banner reports no fault */
	char reader[160];	/* "native", "babeltrace2: WHY", or "": visible text */
	unsigned pieces_done, pieces;	/* 0: the trace is not read in pieces */
	int64_t final_to_ns;	/* with an outline: figures before this instant are final; TIME_UNKNOWN: none is */
	double index_progress;	/* 0..1 of the packet index; < 0: none is used */
	bool stored;		/* live: packets are stored on disk, and requests (.show_range) are decoded from them */
	int64_t stored_from_ns;	/* beginning of the oldest stored packet; TIME_UNKNOWN: none yet */
};

struct ui_export {
	uint64_t trace_id, span_id;	/* span_id 0: the whole trace */
	bool trace_zero;		/* trace_id 0 means the trace with id 0, not "none" */
	const char *format;		/* of backend->export_formats; NULL: the first */
	bool with_kernel;		/* adds waits and long calls as child spans */
	const char *path;		/* NULL: the default name in the current directory */
	const struct timeline *tl;	/* the timeline that has it: the main one, or a preview */
};

struct ui_save {
	const struct view *view;	/* with the columns to write, in order */
	const struct rows *rows;
	const char *path;		/* its suffix is the format's (views/rows_format.h); any other: text */
	bool force;			/* overwrite an existing file: the user agreed */
};
struct ui_save_text {
	const char *text;		/* what the file shall have */
	const char *path;
	bool force;			/* overwrite an existing file: the user agreed */
};
struct ui_save_trace {
	int64_t from_ns, to_ns;
	bool statedump;			/* includes the state dump from before the range, which names processes */
	const char *path;		/* the directory to create */
};
enum ui_saved { UI_SAVED, UI_SAVE_EXISTS, UI_SAVE_FAILED };

/* What the screen asks of the program. Called on the screen's thread; must not block. Functions that "may be NULL" are
 * not available then. Messages and texts that are returned are freed with g_free. */
struct ui_backend {
	void *data;
	int (*fd)(void *data);				/* when it is readable, pump is called; -1: none */
	bool (*pump)(void *data);			/* applies what arrived; true: the timeline changed */
	void (*status)(void *data, struct ui_status *ret);
	/* While no event is known of a live session, or when it ended without any: why, and what to do next. One
	 * sentence a line; a command is indented by two blanks. NULL: nothing to add. May be NULL. */
	char *(*nothing)(void *data);
	void (*cancel)(void *data);			/* stops loading; what was read is retained */
	/* true: written, and the message has path, spans, bytes and the scp command; false: it says what failed. */
	bool (*export_span)(void *data, const struct ui_export *what, char **ret_message);
	const char *const *export_formats;	/* ids, NULL-terminated; may be NULL */
	/* Key s: writes the rows in the format of the path's suffix. May be NULL. Message as above. */
	enum ui_saved (*save_view)(void *data, const struct ui_save *what, char **ret_message);
	/* Key D: writes a text to a file. May be NULL. Message as above. */
	enum ui_saved (*save_text)(void *data, const struct ui_save_text *what, char **ret_message);
	/* Key S: starts to save a range as a trace. May be NULL. false: the message says why not. saved_trace is called
	 * after pump: NULL, or the message when saving has ended; *ret_done: it succeeded. */
	bool (*save_trace)(void *data, const struct ui_save_trace *what, char **ret_message);
	char *(*saved_trace)(void *data, bool *ret_done);
	/* Key W: writes options->prefs to blktoprc. May be NULL. Message as above. */
	bool (*save_prefs)(void *data, char **ret_message);
	/* Keys m and ': the text of the trace's bookmarks (views/bookmarks.h). May be NULL. read: *ret_text NULL if
	 * there are none; false: *ret_message says why they cannot be read or written. */
	bool (*read_bookmarks)(void *data, char **ret_text, size_t *ret_len, char **ret_message);
	bool (*write_bookmarks)(void *data, const char *text, char **ret_message);
	/* A message about something that happened outside the screen; NULL: no more. Called once a second. May be
	 * NULL. */
	char *(*next_message)(void *data, bool *ret_error);
	/* Key P: takes a snapshot of the tracer's buffers. May be NULL. true: requested; the message says so, or why
	 * not. */
	bool (*snapshot)(void *data, char **ret_message);
	/* Key M: aligns the clocks of hosts. May be NULL. true: the screen shall end, since the trace is read again;
	 * false: the message says why not. */
	bool (*align)(void *data, char **ret_message);
	/* What pairs of events look like spans, for traces without spans: visible text, borrowed until pump; NULL:
	 * nothing, or not known yet. With a full stop at its end, key Y cannot make them. May be NULL. */
	const char *(*suggestion)(void *data);
	/* Key Y: makes spans of them. May be NULL. true: the screen shall end, since the trace is read again. false:
	 * *ret_rules is a text to save, of the suggested rules that are in use; or NULL, and the message says why
	 * there are none. */
	bool (*suggested_spans)(void *data, char **ret_rules, char **ret_message);
	/* The line of the view list about presets that fit the trace (visible text, g_free): which are used, and what
	 * Enter does; NULL: none fits. May be NULL. */
	char *(*presets)(void *data);
	/* Switches them on or off, also in options->prefs. true: the screen shall end, since the trace is read again;
	 * false: the message says why not. */
	bool (*switch_presets)(void *data, char **ret_message);
	/* Gets every message of the screen, for the log file. May be NULL. */
	void (*note)(void *data, const char *text);
	/* Gets every key that is pressed, with its command, for the log file at level debug. May be NULL. */
	void (*debug)(void *data, const char *text);
	/* For traces that are shown before they are read; all three may be NULL. outline and preview are called after
	 * pump: a reference to the newest outline, or NULL; a new preview, which the screen then owns, or NULL. look
	 * says which range is on the screen. A live session has only previews of what status.stored allows. */
	struct outline *(*outline)(void *data);
	struct timeline *(*preview)(void *data, struct decoded_range *ret);
	void (*show_range)(void *data, const struct view_range *show_range);
	/* The log (views/logview.h); both may be NULL. log_ask replaces the request before. log_take is called after
	 * pump: the answer, which the screen then owns, or NULL. */
	void (*log_ask)(void *data, const struct calllog_want *want);
	struct calllog_window *(*log_take)(void *data);
};

/* Smaller screens show only that they are too small. */
#define APP_MIN_ROWS 15
#define APP_MIN_COLS 60

struct prefs;

/* When there are colours. 256, TRUECOLOR: always; the terminal has at most 256, or 24 bits. */
enum ui_color { UI_COLOR_AUTO, UI_COLOR_NEVER, UI_COLOR_ALWAYS, UI_COLOR_256, UI_COLOR_TRUECOLOR };

struct ui_options {
	bool live;			/* starts with following; else paused on the worst second, or on the last one
					 * while a trace is read in pieces */
	bool watched;			/* .live: what comes are slices of a directory */
	bool ascii;			/* no UTF-8 glyphs */
	bool coach;			/* --demo: one line of hints at the bottom */
	enum ui_color color;
	const char *start_view;		/* NULL: overview with spans, else processes */
	const char *start_by;		/* one of view_by_words, for start_view; NULL: the view's default */
	const struct metric_query *start_metric;	/* of a start_view of metrics; NULL or without a metric: the
							 * default */
	bool counts_threads;		/* events were counted by thread, too */
	const char *filter;		/* or NULL */
	struct prefs *prefs;		/* the caller's; NULL: defaults */
	int64_t step_ns;		/* first step; 0: that of prefs */
	int64_t at_ns;			/* first instant; TIME_UNKNOWN: as .live says */
	const char *message;		/* first message, or NULL */
	const char *isolation;		/* what F7 says about filters (base/isolation.h), or NULL */
	const struct alerts *alerts;	/* of view alerts; NULL: there are no thresholds */
};

/* Runs until the user quits. Returns 0; 1: the screen cannot start, which was printed; 128 + signal: a signal ended it.
 * The terminal is restored in every case, also after a crash. */
int ui_run(const struct ui_options *options, const struct ui_backend *backend,
	   struct timeline *tl);

/* The first screen as a picture (ui/svg.h), without a terminal. The backend must have read everything; a step below a
 * second, and the log, are waited for. Free with g_free. */
char *ui_screenshot(const struct ui_options *options, const struct ui_backend *backend, struct timeline *tl,
		    unsigned rows, unsigned cols);

/* A list from which one line is picked. Returns its index; -1: cancelled. `refresh` (may be NULL) is called once a
 * second and when fd is readable; it may change title and lines, and returns whether it did. Without a choice the lines
 * are a text: they are wrapped, and those that do not begin with a blank are headings. */
struct ui_pick {
	const char *title;
	GPtrArray *lines;		/* char *: visible text, columns aligned by the caller */
	guint n_choices;		/* the first n_choices lines can be picked, the others are information */
	bool chosen;			/* set by refresh: picks the first line */
	int fd;				/* -1: none */
	bool (*refresh)(struct ui_pick *pick, void *data);
	void *data;
};
int ui_pick(const struct ui_options *options, struct ui_pick *pick);

/* The keys as sections of a man page, from the tables the screen itself uses. */
void ui_print_keys(FILE *out);
/* Tab-separated: where, key, command; for tests. */
void ui_print_bindings(FILE *out);

#endif
