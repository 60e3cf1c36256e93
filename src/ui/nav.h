/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the user is: a stack of places (a view with what it is narrowed to, its
 * selection, its filter, its search) and one position in time that all of them share.
 * A place that is left is kept: who opens the same view again, narrowed to the same, finds
 * it as it was.
 */
#ifndef BLK_UI_NAV_H
#define BLK_UI_NAV_H

#include "ui/table.h"
#include "views/overview.h"
#include "views/process.h"
#include "views/view.h"
#include "views/waterfall.h"

/* Of the overview's three tables; a page of a process has a table for each enum
 * process_part, by its number; other views have only the first. */
enum pane { PANE_MAIN, PANE_SLOWEST, PANE_PROCESSES, PANE_FOURTH, PANE_N };
unsigned place_n_panes(const struct view *v);
const struct view *place_pane_view(const struct view *v, enum pane pane);

struct place {
	const struct view *view;
	struct view_query narrow;	/* all that the way here asked for, of which the view honours
					 * place_query() (app.h); texts are owned */
	char *host;			/* name of narrow.host: ids are one timeline's; or NULL */
	char *crumb;			/* what it was opened by, visible text; "": named after what
					 * it is narrowed to */
	bool lateral;			/* come to by a view's number, not by Enter */
	enum pane pane;			/* which has the cursor */
	struct table table[PANE_N];
	char *search;			/* text, or NULL */
	char *filter;			/* text, or NULL */
	struct expr *expr[PANE_N];	/* of it; NULL: rows of that pane are all shown */
	struct rows *rows;		/* as built last, or NULL */
	uint64_t version;		/* of the timeline they were built from */
	int64_t from_ns, to_ns;		/* and the range */
	waterfall_folds *folds;
	double zoom;			/* waterfall: 1 shows all */
	double pan;			/* its left edge, 0 .. 1 - 1 / zoom */
	unsigned bars;			/* enum bars (waterfall_bars.h) */
	int64_t mark_ns;		/* an instant to mark; TIME_UNKNOWN: none */
	uint64_t select_span;		/* to select once rows are there; 0: none */
	int select_kind;
	int32_t select_pid;		/* likewise; -1: none */
	struct phase_detail *detail;	/* phases: of the selected row (phase_detail.h) */
};

struct place *place_new(const struct view *view, const struct view_query *narrow,
			const char *crumb);
/* What the place is narrowed to, of that only what its view can be narrowed to. Texts are the place's. */
struct view_query place_query(const struct place *p);
void place_stale(struct place *p);	/* drops its rows: they are built again when they are needed */

/* What the cursor is in. */
struct focus {
	struct table *table;
	const struct view *view;
	struct rows *rows;
};
struct focus place_focus(struct place *p);
struct focus place_pane(struct place *p, enum pane pane);
const struct row *place_selected(struct place *p);	/* NULL: none */

/* How the position in time moves by itself. */
enum nav_mode {
	NAV_WORST,		/* to the worst second known, while nobody has touched it; of a
				 * trace in pieces to the last one until all is read */
	NAV_PAUSED,
	NAV_PLAY,		/* one step a second */
	NAV_FOLLOW,		/* the newest second */
};

struct nav {
	GPtrArray *stack;	/* struct place *, freed by it; never empty once shown */
	GPtrArray *left;	/* struct place * that were left, the last one last; without rows */
	enum nav_mode mode;
	int64_t cursor_ns;	/* begin of the step shown; TIME_UNKNOWN: nothing read yet */
	int64_t step_ns;
	int64_t a_ns, b_ns;	/* ends of the range, TIME_UNKNOWN: not set */
	bool fixed;		/* the cursor was asked for and need not be there yet */
	/* Of the whole trace, where its outline tells; TIME_UNKNOWN: as far as it is read. Only first_ns: of a
	 * live session, from where on it is kept. */
	int64_t first_ns, last_ns;
	bool reading;		/* and not all of it is read: nobody knows the worst second */
};

#define NAV_LEFT_MAX 64		/* places that are kept after they were left */

void nav_init(struct nav *nav);
void nav_clear(struct nav *nav);
struct place *nav_top(const struct nav *nav);		/* NULL while empty */
/* Both take the place over, and put the same one in its stead that was left before. */
void nav_push(struct nav *nav, struct place *p);
void nav_reset(struct nav *nav, struct place *root);
bool nav_pop(struct nav *nav);				/* false at the root */

/* Position in time. All return whether anything changed. */
bool nav_tick(struct nav *nav, const struct timeline *tl);	/* as the mode wants it */
bool nav_play(struct nav *nav, const struct timeline *tl);	/* one step of NAV_PLAY */
bool nav_seek(struct nav *nav, const struct timeline *tl, int64_t at_ns);
/* First and last instant one can go to; false: none is known. */
bool nav_bounds(const struct nav *nav, const struct timeline *tl, int64_t *ret_first,
		int64_t *ret_last);
bool nav_step(struct nav *nav, const struct timeline *tl, int steps);
bool nav_set_step(struct nav *nav, int64_t step_ns);	/* the nearest there is */
/* To the next one of 1 ms to 10 min, not below `finest`. */
bool nav_change_step(struct nav *nav, const struct timeline *tl, int direction, int64_t finest);
/* Is it a step that can be chosen? */
bool nav_is_step(int64_t step_ns);
/* What is shown: the range A-B, or the step at the cursor. */
void nav_range(const struct nav *nav, int64_t *ret_from, int64_t *ret_to);
bool nav_has_range(const struct nav *nav);

#endif
