/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user has chosen and may keep: read from blktoprc before the screen opens
 * (ui/rc.h), changed on the screen, written only when W says so. Everything has a
 * value; what was never chosen has the default.
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

/* Of one view, as --columns and --sort take them: "pid,comm,busy_ns", "-busy_ns". NULL:
 * as the view has it. They may name columns that the view has no more: then they are
 * ignored, not lost. */
struct prefs_view {
	char *columns;
	char *sort;
};

struct recall;

#define PREFS_LEAST_MEMORY (16u << 20)

struct prefs {
	enum theme theme;
	struct style own[ROLE_N];	/* of the roles with has_own */
	bool has_own[ROLE_N];
	char *view;		/* id of the first one; NULL: chosen by what the trace holds */
	int64_t step_ns;
	bool mouse;
	bool cursor;		/* the terminal's cursor is seen on the selected row */
	bool utc;
	bool ascii;
	bool vi_keys;
	size_t memory;		/* bytes; 0: the program's default */
	GHashTable *views;	/* id -> struct prefs_view; owned */
	struct recall *recall;	/* lines typed in prompts (ui/recall.h); owned */
	GPtrArray *warnings;	/* char *: what was not understood, with the line */
};

struct prefs *prefs_new(void);
void prefs_free(struct prefs *p);		/* NULL is fine */

const struct prefs_view *prefs_view_get(const struct prefs *p, const char *id);	/* or NULL */
/* Copied; NULL: as the view has it. */
void prefs_view_set_columns(struct prefs *p, const char *id, const char *columns);
void prefs_view_set_sort(struct prefs *p, const char *id, const char *sort);

#endif
