/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's position: a stack of places (a view with its narrowing, selection, filter and search), and one position
 * in time for all of them. A place that was left is retained: the same view with the same narrowing opens again as it
 * was.
 */
#ifndef BLK_UI_NAV_H
#define BLK_UI_NAV_H

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

/* What a screen remembers of a place, in a struct of its own that only the screen knows. */
struct state_kind {
	size_t size;			/* of the struct */
	size_t position;		/* so many bytes at its beginning say where the user looks: the way back, and
					 * a place that is opened again, copy them. They own nothing */
	void (*init)(void *state);	/* NULL: all is 0 at first */
	void (*stale)(void *state);	/* the place's rows were dropped; NULL: nothing depends on them */
	void (*clear)(void *state);	/* NULL: it owns nothing */
};

/* What to select as soon as there are rows. */
struct place_target {
	uint64_t span;			/* 0: none */
	int kind;			/* the span's half; -1: any */
	int32_t pid, tid;		/* -1: none */
};

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
	uint64_t version;		/* timeline_facts()->version when they were built */
	struct view_query built;	/* what they were built for; its texts are those of .narrow */
	int64_t mark_ns;		/* an instant to mark, in timeline and waterfall the cursor; TIME_UNKNOWN:
					 * none */
	struct place_target select;
	void *state;			/* private to the screen, by place_state(); NULL: not used so far */
	const struct state_kind *state_kind;
	struct intmap *among;		/* the only traces of a list (.narrow.among), or NULL; owned */
	gint64 built_us, build_cost_us;	/* monotonic: when .rows were built, and how long that took */
	bool drawn;			/* keys act on what the screen shows */
	unsigned refs;
};

struct place *place_new(const struct view *view, const struct view_query *narrow,
			const char *crumb);		/* with one reference */
struct place *place_ref(struct place *p);
void place_unref(struct place *p);		/* NULL is fine */
/* The waterfall of a trace, with this span selected and this instant marked. */
struct place *place_new_at_span(uint64_t trace_id, uint64_t span_id, int span_kind, int64_t at_ns);
/* What the place is narrowed to, of that only what its view can be narrowed to. Texts are the place's. */
struct view_query place_query(const struct place *p);
/* The state of the place's screen, made when it is needed first. A place has one kind. */
void *place_state(struct place *p, const struct state_kind *kind);
/* The same, made by the caller with g_new(); replaces that of now. Takes it over. */
void place_take_state(struct place *p, const struct state_kind *kind, void *state);
/* Copies the position of another state of this kind (NULL: none). */
void place_set_position(struct place *p, const struct state_kind *kind, const void *state);
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
/* Sets A (end false) or B. The other one is cleared if it is not on its side. */
void nav_set_end(struct nav *nav, bool end, int64_t at_ns);
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
