/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen: ncurses, keys, widgets and the loop. Knows views and nothing of
 * where data comes from: what it wants done it asks of its backend, as requests.
 * The caller's thread; one at a time in a process.
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
	uint64_t late;		/* live: events that came too late, and were moved to the present */
	char stalled[64];	/* live: a stream that the others go on without, "chan_0", or "" */
	int64_t stalled_ns;	/* .stalled: what comes after it lacks events; INT64_MIN */
	char banner[256];	/* "relay gone since 12:00:05: Connection refused; trying again", or "" */
	bool calm;		/* .banner is of no fault */
	char reader[160];	/* "native", "babeltrace2: WHY", or "": visible text */
	unsigned pieces_done, pieces;	/* 0: not read in pieces */
	int64_t final_to_ns;	/* of a trace with an outline: final before it; TIME_UNKNOWN */
	double index_progress;	/* 0..1 of the packet index; < 0: none is used */
	bool kept;		/* live: packets are kept, and looks (.look) are decoded from them */
	int64_t kept_from_ns;	/* the oldest one's begin; TIME_UNKNOWN: none yet */
};

struct ui_export {
	uint64_t trace_id, span_id;	/* span_id 0: the whole trace */
	bool trace_zero;		/* the trace of the id 0 */
	const char *format;		/* of backend->export_formats; NULL: the first */
	bool with_kernel;		/* waits and long calls as child spans, too */
	const char *path;		/* NULL: the default name in the current directory */
	const struct timeline *tl;	/* it is in: the timeline, or a preview */
};

struct ui_save {
	const struct view *view;	/* with the columns to write, in order */
	const struct rows *rows;
	const char *path;		/* .csv, .json, anything else: text */
	bool force;			/* over an old file: somebody was asked */
};
struct ui_save_trace {
	int64_t from_ns, to_ns;
	bool statedump;			/* with what names processes, from before it */
	const char *path;		/* the directory to make */
};
enum ui_saved { UI_SAVED, UI_SAVE_EXISTS, UI_SAVE_FAILED };

/* What the screen asks of the program. All on the screen's thread, all quick. */
struct ui_backend {
	void *data;
	int (*fd)(void *data);				/* poll()ed; readable: call pump */
	bool (*pump)(void *data);			/* applies what arrived; did the timeline change? */
	void (*status)(void *data, struct ui_status *ret);
	void (*cancel)(void *data);			/* Esc: stop loading; what is read stays */
	/* One line for the status row (g_free): the absolute path, spans, bytes and the scp
	 * line, or what failed. true: written. */
	bool (*export_span)(void *data, const struct ui_export *what, char **ret_message);
	const char *const *export_formats;	/* its, by id; NULL-terminated; NULL: it asks for none */
	/* s: writes these rows as the file's suffix says; or NULL. The line (g_free) as above. */
	enum ui_saved (*save_view)(void *data, const struct ui_save *what, char **ret_message);
	/* S: begins to save a range as a trace; NULL: there is none to save from. false: why
	 * not, else NULL or a line. saved_trace, after pump: the line as above when it is done
	 * or has failed, else NULL. */
	bool (*save_trace)(void *data, const struct ui_save_trace *what, char **ret_message);
	char *(*saved_trace)(void *data, bool *ret_done);
	/* W: writes options->prefs; message as above. NULL: nobody keeps them. */
	bool (*save_prefs)(void *data, char **ret_message);
	/* Something that happened outside of the screen: a line (g_free), NULL: nothing. Asked
	 * once a second. May be NULL. */
	char *(*told)(void *data, bool *ret_error);
	/* P: asks for a snapshot of the tracer's buffers; true: it is being taken. *ret_message
	 * (g_free) says what. NULL: there is none here. */
	bool (*snapshot)(void *data, char **ret_message);
	/* M: moves the clocks of hosts. true: the screen is to end, as all is read again; else
	 * *ret_message (g_free) says why not. NULL: there is nothing that could be read again. */
	bool (*align)(void *data, char **ret_message);
	/* A message of the screen, for the journal. May be NULL. */
	void (*note)(void *data, const char *text);
	/* A key that was pressed, and what it does, for who looks for a fault. May be NULL. */
	void (*debug)(void *data, const char *text);
	/* Of traces that are shown before they are read; NULL: there are none. After pump: a
	 * reference to the newest outline, or NULL; and a new preview, which is the screen's
	 * from now on, or NULL. look tells which instants are on the screen. Of a live session
	 * only what status.kept decodes. */
	struct outline *(*outline)(void *data);
	struct timeline *(*preview)(void *data, struct decoded_range *ret);
	void (*look)(void *data, const struct view_range *look);
	/* The log of a recorded trace; NULL: there is none. ask: in place of what was asked
	 * before. After pump: the answer, the screen's from now on, or NULL. */
	void (*log_ask)(void *data, const struct journal_want *want);
	struct journal_window *(*log_take)(void *data);
};

struct prefs;

enum ui_color { UI_COLOR_AUTO, UI_COLOR_ALWAYS, UI_COLOR_NEVER };

struct ui_options {
	bool live;			/* begins in FOLLOW; else paused on the worst second (while
					 * a trace in pieces is read: on its last one) */
	bool ascii;			/* no UTF-8 glyphs */
	bool coach;			/* --demo: one line of hints at the bottom */
	enum ui_color color;
	const char *start_view;		/* NULL: overview with spans, else processes */
	const char *start_by;		/* of view_by_words, for start_view; NULL: its own */
	bool counts_threads;		/* events are counted by thread, too */
	const char *filter;		/* or NULL */
	struct prefs *prefs;		/* ui/prefs.h, stays the caller's; NULL: all as shipped */
	int64_t step_ns;		/* to begin with; 0: 1 s */
	int64_t at_ns;			/* where to begin; TIME_UNKNOWN: the worst second / newest */
	const char *say;		/* at the begin; or NULL */
};

/* Runs until the user quits: 0; 128 + signal when a signal ended it. The terminal
 * is given back in every case, crashes included. */
int ui_run(const struct ui_options *options, const struct ui_backend *backend,
	   struct timeline *tl);

/* A list to pick one line from (sessions of a relay). Index, or -1 when left. `refresh`
 * (may be NULL) is called often, also when fd is readable, and may replace the lines. */
struct ui_pick {
	const char *title;
	GPtrArray *lines;		/* char *: visible text, columns aligned by the caller */
	guint n_choices;		/* the first so many can be picked, the others only tell */
	bool chosen;			/* set by refresh: as if the first one was picked */
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
