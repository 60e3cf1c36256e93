/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's settings: read from blktoprc before the screen opens (ui/rc.h), changed on the screen, written only with
 * the key W. Everything has a value; the default if it was never chosen.
 *
 *     const struct prefs_view *mine = prefs_view_get(app->prefs, p->view->id);
 *     if (mine && mine->columns) ...
 *     prefs_view_set_columns(app->prefs, p->view->id, "pid,comm,busy_ns");
 */
#ifndef BLK_UI_PREFS_H
#define BLK_UI_PREFS_H

#include "ui/theme.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Settings of one view, as --columns and --sort take them: "pid,comm,busy_ns", "-busy_ns". NULL: the view's default.
 * Columns that the view does not have are ignored, and written again. */
struct prefs_view {
	char *columns;
	char *sort;
};

struct prompt_history;

#define PREFS_LEAST_MEMORY (16u << 20)

/* Threads that tables leave out: kernel threads; these and idle threads. */
enum hide { HIDE_NONE, HIDE_KERNEL, HIDE_IDLE, HIDE_N };

struct prefs {
	enum theme theme;
	struct style own[ROLE_N];	/* of the roles with has_own */
	bool has_own[ROLE_N];
	char *view;		/* id of the first view; NULL: depends on the trace */
	int64_t step_ns;
	bool mouse;
	bool cursor;		/* show the terminal's cursor on the selected row */
	bool accessible;	/* screens for screen readers (ui/accessible.h) */
	bool utc;
	bool ascii;
	bool vi_keys;
	enum hide hide;
	size_t memory;		/* bytes; 0: the program's default */
	char *presets;		/* as --presets takes it; NULL: auto */
	GHashTable *views;	/* id -> struct prefs_view; owned */
	struct prompt_history *prompt_history;	/* lines typed in prompts (ui/prompt_history.h); owned */
	GPtrArray *warnings;	/* char *: errors in blktoprc, with their line; owned */
};

struct prefs *prefs_new(void);
void prefs_free(struct prefs *p);		/* NULL is fine */

const struct prefs_view *prefs_view_get(const struct prefs *p, const char *id);	/* or NULL */
/* Copied; NULL: as the view has it. */
void prefs_view_set_columns(struct prefs *p, const char *id, const char *columns);
void prefs_view_set_sort(struct prefs *p, const char *id, const char *sort);

#endif
