/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: columns, a row builder and a drill target; pure data, no drawing. The
 * same rows are shown on the screen and printed as text, CSV and JSON.
 *
 * A new view is one new file with one const struct view, named in the registry
 * (view.c). Everything here runs on the thread that owns the timeline.
 */
#ifndef BLK_VIEWS_VIEW_H
#define BLK_VIEWS_VIEW_H

#include "base/expr.h"
#include "base/value.h"
#include "state/store/timeline.h"

enum view_kind { VIEW_TABLE, VIEW_OVERVIEW, VIEW_TREE, VIEW_WATERFALL, VIEW_PROCESS };
enum view_by {
	BY_SYSTEM, BY_PROCESS, BY_THREAD, BY_CPU, BY_PRIORITY, BY_NAME, BY_SECOND,
	BY_CONTAINER, BY_N
};
extern const char *const view_by_words[BY_N + 1];	/* "system", ...; NULL-terminated */

/*
 * What is asked. Seconds count when they overlap [from_ns, to_ns); a span or call
 * belongs to the second of its end, an open span to every second it is open in.
 * The narrowing fields are set by drilling; zero/NULL/-1 mean "all".
 */
struct intmap;

struct view_query {
	int64_t from_ns, to_ns;
	enum view_by by;
	uint64_t trace_id, span_id;	/* waterfall: the trace, and the selected span */
	bool trace_zero;		/* the trace of the id 0, which some writers make; see below */
	int span_kind;			/* enum span_kind, or -1 */
	const char *operation;		/* name of a root span (phases, traces) */
	const char *service;
	int32_t pid, tid;		/* processes, syscalls, files; -1: all */
	uint32_t host;			/* ID_NONE: all */
	uint64_t container;		/* of container.h; 0: all */
	int64_t gone_ns;		/* rows of what ended so long before from_ns are kept */
	const struct intmap *among;	/* lists: of these traces all, whenever they ended; NULL: of any */
	/* What a comparison is against (compare, changed); trace 0: what is usual. */
	bool history;			/* changed: all that is kept, not the range before */
	uint64_t other_trace, other_span;
	int other_kind;
	/* Of ids that were given with 32 digits, the first halves: see narrow_resolve(). */
	uint64_t trace_upper, other_upper;
};
#define VIEW_QUERY_INIT \
	{ .span_kind = -1, .pid = -1, .tid = -1, .host = ID_NONE, .other_kind = -1 }

/* Is it narrowed to one trace? */
static inline bool query_has_trace(const struct view_query *q)
{
	return q->trace_id || q->trace_zero;
}

static inline void query_set_trace(struct view_query *q, uint64_t trace_id)
{
	q->trace_id = trace_id;
	q->trace_zero = !trace_id;
}

/* Base of every row; a view's row type embeds it first. */
struct row {
	uint64_t key[2];	/* stable identity: selection survives refresh, sort, time, and
				 * another timeline of the same trace; key[1] tells namesakes apart
				 * (and may differ there) */
	uint16_t depth;		/* in trees: 0 is a root */
	bool marked;		/* error, outlier: shown with '!' */
	bool open;		/* not ended yet */
	bool expandable;	/* in trees: has children (shown or hidden) */
	bool gone;		/* ended within the range, or before it */
	/* What Enter on this row narrows the next view to; unset ones stay "all". */
	struct view_query drill;
};

/* What a trace may lack. Cells that need it are unknown then, never 0. */
enum lack {
	LACKS_SWITCHES = 1 << 0,	/* sched_switch */
	LACKS_WAKINGS = 1 << 1,
	LACKS_CALLS = 1 << 2,
	LACKS_INTERRUPTS = 1 << 3,	/* all kinds of them */
	LACKS_RAISES = 1 << 4,		/* of softirqs */
	LACKS_TASKS = 1 << 5,		/* the state dump: who is a kernel thread */
	LACKS_ISSUES = 1 << 6,		/* of block requests */
	LACKS_COMPLETIONS = 1 << 7,
	LACKS_INSERTS = 1 << 8,
	LACKS_MERGES = 1 << 9,
	LACKS_REQUEUES = 1 << 10,
	LACKS_RECEIVED = 1 << 11,	/* packets */
	LACKS_SENT = 1 << 12,
	LACKS_TAKEN = 1 << 13,		/* by the device */
	LACKS_HEADERS_IN = 1 << 14,	/* packets with headers: received */
	LACKS_HEADERS_OUT = 1 << 15,
};

struct rows {
	GPtrArray *rows;		/* struct row *, freed by the array */
	GStringChunk *text;		/* texts of the rows live here */
	GPtrArray *spans, *reftexts;	/* those the rows point to, referenced; NULL: none */
	const struct timeline *tl;
	struct view_query query;	/* as asked (strings copied into text) */
	struct trust trust;		/* of the seconds summed */
	unsigned lacks;			/* enum lack: none of the hosts tells it */
	unsigned *host_lacks;		/* of each of several hosts: rows_lacks(); NULL: of one */
	size_t n_before_filter;
	bool tree;			/* arranged as one: depth and expandable are set */
	/* Sentences about all of it: what it shows, and what that comes to. NULL: none. */
	const char *about, *verdict;
	const char *dropped;		/* in .about, too: what memory had no room for. NULL: nothing */
	void *extra;			/* the view's own (overview, waterfall: see their headers) */
	void (*free_extra)(void *extra);
};

enum column_align { ALIGN_RIGHT, ALIGN_LEFT };

struct column {
	const char *id;			/* "busy_ns": stable, ends in its unit */
	const char *title;		/* "BUSY": on screen */
	enum value_kind kind;		/* unit of its values (texts: VALUE_TEXT) */
	uint8_t width;			/* columns wanted on screen; 0: batch only */
	uint8_t priority;		/* dropped from the screen first when high; 0: never */
	uint8_t align;			/* enum column_align */
	bool flexible;			/* takes what room is left (one per view) */
	bool optional;			/* not shown on screen where no row has it (as ids) */
	bool of_hosts;			/* its host: shown on screen only where there are several,
					 * or nothing else names the rows */
	const char *usual;		/* optional ones: a text that is as good as none (but
					 * where rows are containers) */
	bool descending;		/* first direction when sorted by it */
	const char *help;		/* one line */
	struct value (*get)(const struct row *row, const struct rows *rows);
};

/* What a view's rows can be narrowed to: the fields of view_query that it honours (narrowing.h). */
enum view_only {
	ONLY_TRACE = 1 << 0,
	ONLY_SPAN = 1 << 1,
	ONLY_PID = 1 << 2,
	ONLY_TID = 1 << 3,
	ONLY_SERVICE = 1 << 4,
	ONLY_OPERATION = 1 << 5,
	ONLY_HOST = 1 << 6,
	ONLY_CONTAINER = 1 << 7,
	ONLY_THREADS = ONLY_PID | ONLY_TID | ONLY_HOST | ONLY_CONTAINER,
	ONLY_SPANS = ONLY_TRACE | ONLY_SPAN | ONLY_THREADS | ONLY_SERVICE | ONLY_OPERATION,
};

struct view {
	const char *id;			/* "syscalls" */
	const char *title;		/* "Syscalls" */
	const char *help;		/* one paragraph */
	enum view_kind kind;
	const struct column *columns;
	size_t n_columns;
	const char *default_sort;	/* column id */
	const char *nothing;		/* what it means on the screen that there is no row; NULL:
					 * that there is nothing in the range */
	const char *drill;		/* view id Enter opens, or NULL */
	const char *const *needs;	/* events it needs, NULL-terminated, or NULL */
	enum view_by default_by;	/* meaningful where it has thread rows */
	bool has_by;			/* honours view_query.by: system, process, thread */
	uint8_t only;			/* enum view_only */
	bool only_by;			/* but of ONLY_THREADS the host alone narrows rows that are not by
					 * process, thread or container */
	uint8_t more_by;		/* and these: 1 << BY_CPU, ... */
	bool counts_all;		/* asked for before a trace is read it wants all events looked at,
					 * as their contexts may be counters */
	uint8_t counted_by;		/* of these, by which there are only rows where all events
				 * were counted by thread (job's subscriptions) */
	bool on_screen;			/* false: batch only */
	bool of_span;			/* tells of one span, that of the query; without one of a trace's root */
	bool lists_spans;		/* each row is of one trace, and honours view_query.among */
	uint32_t reads;			/* it needs no spans, and only these cells of a second
					 * (slice_read_cells()); 0: it may need everything */
	bool at_instant;		/* tells of the range's end; others sum its whole seconds */
	/* Rows in canonical order (never by id); never NULL. */
	struct rows *(*build)(const struct timeline *tl, const struct view_query *query);
	/* What filters know besides the columns, by name; NULL: nothing. */
	bool (*has_named)(const char *name);
	struct value (*get_named)(const void *row, const struct rows *rows, const char *name);
	/* Puts rows below their parents, each parent's in the order they are in; sets tree.
	 * NULL: the rows have no parents. */
	void (*arrange)(struct rows *rows);
};

extern const struct view *const view_all[];	/* NULL-terminated, in order of the keys 1.. */
const struct view *view_find(const char *id);	/* NULL: no such view */
bool view_has_by(const struct view *v, enum view_by by);
enum view_by view_next_by(const struct view *v, enum view_by by);	/* round and round */
/* The column of the id; or (where there is none, and only one fits) of the id without its unit's
 * suffix: "duration" is duration_ns. -1: no such column. */
int view_column(const struct view *v, const char *id);

/* Filters with `filter` (NULL: all) and sorts by column (stable; -1: canonical
 * order), in place. */
void rows_filter(struct rows *rows, const struct view *v, const struct expr *filter);
void rows_sort(struct rows *rows, const struct view *v, int column, bool descending);
struct expr *view_expr(const struct view *v, const char *text, GError **error);
/* Takes out the rows that are not to be kept. */
void rows_keep(struct rows *rows, const bool *keep);
void rows_free(struct rows *rows);		/* NULL is fine */

/* What a query's container is called; `host` is its host, too. Free with g_free. */
char *view_container_name(const struct timeline *tl, uint32_t host, uint64_t container);

unsigned view_lacking(const struct timeline *tl);	/* enum lack */
/* The same of one host, as rows_lacks() has it. */
unsigned view_host_lacking(const struct timeline *tl, uint32_t host);
/* What the events of this host lack. Of one host among several what never came from it: none of
 * its events may have happened, too, but nothing tells that. */
unsigned rows_lacks(const struct rows *rows, uint32_t host);

/* For builders. */
struct rows *rows_new(const struct timeline *tl, const struct view_query *query);
const char *rows_text(struct rows *rows, const char *s);	/* kept with the rows */
const char *rows_hold_text(struct rows *rows, const char *reftext);	/* refers to it; returns it; NULL is fine */

#endif
