/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's position: a stack of places (a view with its narrowing, selection, filter and search), and one position
 * in time for all of them. A place that was left is retained: the same view with the same narrowing opens again as it
 * was.
 */
#ifndef BLK_UI_NAV_H
#define BLK_UI_NAV_H

#include "ui/metric_place.h"
#include "ui/table.h"
#include "views/overview.h"
#include "views/process.h"
#include "views/view.h"
#include "views/waterfall.h"

/* The tables of a view, in the order of the screen, from the top: the cursor and a search go through them in this
 * order. The page of a process has one for each enum process_part (same numbers), most views only the first. */
enum pane {
	PANE_MAIN, PANE_SECOND, PANE_THIRD, PANE_FOURTH, PANE_N,
	/* Those of the overview: */
	PANE_SINCE = PANE_MAIN, PANE_CAUSES, PANE_OPERATIONS, PANE_PROCESSES,
};
unsigned place_n_panes(const struct view *v);
const struct view *place_pane_view(const struct view *v, enum pane pane);

struct place {
	const struct view *view;
	struct view_query narrow;	/* all narrowing on the way here, of which the view uses place_query(); owns
					 * its texts */
	char *host;			/* name of narrow.host, whose id differs between timelines; or NULL */
	char *crumb;			/* visible text of the row that opened it; "": it is named by its narrowing */
	bool lateral;			/* opened by a view's number, not by Enter */
	enum pane pane;			/* the one with the cursor */
	struct table table[PANE_N];
	char *search;			/* text, or NULL */
	char *filter;			/* text, or NULL */
	struct expr *expr[PANE_N];	/* the filter for each pane; NULL: all its rows are shown */
	struct rows *rows;		/* NULL: must be built */
	uint64_t version;		/* timeline_version() when they were built */
	int64_t from_ns, to_ns;		/* the range they were built for */
	waterfall_folds *folds;
	double zoom;			/* waterfall: >= 1; 1 shows the whole trace */
	double pan;			/* waterfall: left edge, 0 .. 1 - 1 / zoom of the trace */
	unsigned bars;			/* enum bars (waterfall_bars.h) */
	int64_t mark_ns;		/* an instant to mark, in timeline and waterfall the cursor; TIME_UNKNOWN:
					 * none */
	int64_t axis_ns, cell_ns;	/* timeline (timeline_axis.h): begin and length of cells; .cell_ns 0: not
					 * chosen yet */
	int64_t axis_nav_ns, axis_nav_to_ns;	/* timeline: the range for which .axis_ns was set */
	bool axis_fits;			/* timeline: the axis is that range; it ends with it and follows it */
	uint64_t zoom_key;		/* flame: row.key[0] of the frame as wide as the screen; 0: that of all */
	uint64_t select_span;		/* span to select when rows were built; 0: none */
	int select_kind;		/* its half; -1: any */
	int32_t select_pid, select_tid;	/* process, thread to select, likewise; -1: none */
	struct metric_place *metric;	/* heatmap, distribution; NULL: not used so far, or another view; owned */
	struct intmap *among;		/* the only traces of a list (.narrow.among), or NULL; owned */
	gint64 built_us, build_cost_us;	/* monotonic: when .rows were built, and how long that took */
	struct phase_detail *detail;	/* phases: details of the selected row, or NULL */
	bool drawn;			/* keys act on what the screen shows */
	unsigned refs;
};

struct place *place_new(const struct view *view, const struct view_query *narrow,
			const char *crumb);		/* with one reference */
struct place *place_ref(struct place *p);
void place_unref(struct place *p);		/* NULL is fine */
/* What the place is narrowed to, of that only what its view can be narrowed to. Texts are the place's. */
struct view_query place_query(const struct place *p);
/* Of the views heatmap and distribution: what they show; if not set, of the default metric of the timeline. */
struct metric_place *place_metric(struct place *p, const struct timeline *tl);
void place_stale(struct place *p);	/* drops its rows: they are built again when they are needed */

/* A table with its view and rows. */
struct focus {
	struct table *table;
	const struct view *view;
	struct rows *rows;
};
struct focus place_focus(struct place *p);
struct focus place_pane(struct place *p, enum pane pane);
size_t place_n_lines(struct place *p, enum pane pane);	/* of its rows: see table.h */
const struct row *place_selected(struct place *p);	/* NULL: none */
/* The narrowing, and what the row (NULL is fine) adds to it. */
struct view_query query_by_row(const struct view_query *base, const struct row *row);
/* What the selected row, or the selected span of a waterfall, stands for. Texts belong to the place or the row. */
struct view_query place_selected_query(struct place *p);
/* The narrowing for a view that is opened beside this one; in a waterfall that of the selected span. */
struct view_query place_query_beside(struct place *p);

/* How the position in time moves without keys. */
enum nav_mode {
	NAV_WORST,		/* to the worst second known, until the user presses a key; while a trace is read in
				 * pieces to its last one */
	NAV_PAUSED,
	NAV_PLAY,		/* one step a second */
	NAV_FOLLOW,		/* the newest second that is over */
};

/* The views that were the first place before the one of now, the newest last, each at most once: the way back from a
 * view that was opened by its number or from the list. */
#define NAV_WAY_MAX 32		/* the oldest are forgotten */
struct nav_way {
	const struct view *view[NAV_WAY_MAX];
	unsigned n;
};

struct nav {
	GPtrArray *stack;	/* struct place *, references; never empty once shown */
	GPtrArray *left;	/* struct place * that were left, the newest last; without rows; references */
	struct nav_way way;
	enum nav_mode mode;
	int64_t cursor_ns;	/* beginning of the current step; TIME_UNKNOWN: nothing was read yet */
	int64_t step_ns;	/* nav_is_step() */
	int64_t a_ns, b_ns;	/* ends of the range A-B; TIME_UNKNOWN: not set */
	bool fixed;		/* cursor_ns was requested by --at, and may not have been read yet */
	/* Bounds of the trace, from its outline; TIME_UNKNOWN: those of the timeline. A live session with stored
	 * packets has first_ns only. */
	int64_t first_ns, last_ns;
	bool reading;		/* not everything was read, so the worst second is unknown */
};

#define NAV_LEFT_MAX 64		/* places that are retained after they were left */

void nav_init(struct nav *nav);
void nav_clear(struct nav *nav);
struct place *nav_top(const struct nav *nav);		/* NULL while empty */
/* Both take the place over, and use an equal one that was left before in its stead. */
void nav_push(struct nav *nav, struct place *p);
void nav_reset(struct nav *nav, struct place *root);
/* Resets to a view that is opened from the first place, of which nav->way then has the view; or to one that is on that
 * way, which then ends before it. */
void nav_open_root(struct nav *nav, struct place *root);
bool nav_pop(struct nav *nav);				/* also along nav->way; false at the top */
bool nav_is_top(const struct nav *nav);			/* no place to go back to with nav_pop() */
/* Makes these places (struct place *, at least one) the stack again. */
void nav_restore(struct nav *nav, const GPtrArray *places, const struct nav_way *way);

/* Position in time. All return whether it changed. */
bool nav_tick(struct nav *nav, const struct timeline *tl);	/* follows nav->mode */
/* The range A-B is all of the trace, in whole seconds. Without any, nothing happens. */
void nav_show_all(struct nav *nav, const struct timeline *tl);
bool nav_play(struct nav *nav, const struct timeline *tl);	/* one step of NAV_PLAY */
bool nav_seek(struct nav *nav, const struct timeline *tl, int64_t at_ns);
/* The same; a range A-B moves with it, and begins there, but never ends after the trace. That of the whole trace
 * cannot move: it is cleared. */
bool nav_go(struct nav *nav, const struct timeline *tl, int64_t at_ns);
/* First and last instant that nav_seek() accepts; false: unknown. */
bool nav_bounds(const struct nav *nav, const struct timeline *tl, int64_t *ret_first,
		int64_t *ret_last);
/* The steps that nav_seek() can go to, from the beginning of the first to the end of the last; false: unknown. */
bool nav_whole(const struct nav *nav, const struct timeline *tl, int64_t *ret_from, int64_t *ret_to);
/* A range moves by so many steps, but not past the ends of the trace. */
bool nav_step(struct nav *nav, const struct timeline *tl, int steps);
bool nav_set_step(struct nav *nav, int64_t step_ns);	/* to the nearest valid step */
/* To the next finer (-1) or coarser (1) step of 1 ms to 10 min. false: there is none, or it is below `finest`. */
bool nav_change_step(struct nav *nav, const struct timeline *tl, int direction, int64_t finest);
/* Is it one of the valid steps? */
bool nav_is_step(int64_t step_ns);
/* The range that is shown: A-B, or the step at the cursor. */
void nav_range(const struct nav *nav, int64_t *ret_from, int64_t *ret_to);
bool nav_has_range(const struct nav *nav);	/* A or B, or both */
bool nav_has_whole_range(const struct nav *nav);

/* Where the user was: visits.h. */
struct visits {
	GPtrArray *back, *forth;	/* struct visit *, the nearest last; NULL: none so far; owned */
	unsigned depth;			/* nested calls of visits_begin() */
	bool stepped;			/* set by commands that go one step in time */
	bool moving;			/* set by a command that goes back or forth itself */
	bool in_run;			/* the last visit began a run of steps */
};

#endif
