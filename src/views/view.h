/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: columns, a function that builds rows, and the view that Enter opens. No drawing: the same rows are shown
 * on the screen and printed as text, CSV and JSON.
 *
 * A new view is a new file with one const struct view, and a row in registry.h. All functions run on the
 * thread that owns the timeline.
 */
#ifndef BLK_VIEWS_VIEW_H
#define BLK_VIEWS_VIEW_H

#include "base/expr.h"
#include "base/value.h"
#include "state/store/timeline.h"

enum view_kind {
	VIEW_TABLE, VIEW_OVERVIEW, VIEW_WATERFALL, VIEW_PROCESS, VIEW_HEATMAP, VIEW_DISTRIBUTION, VIEW_TIMELINE,
	VIEW_FLAME, VIEW_PHASES, VIEW_LOG, VIEW_KIND_N
};
enum view_by {
	BY_SYSTEM, BY_PROCESS, BY_THREAD, BY_CPU, BY_PRIORITY, BY_NAME, BY_SECOND,
	BY_CONTAINER, BY_CAUSE, BY_N
};
#define BY_THREADS (1u << BY_SYSTEM | 1u << BY_PROCESS | 1u << BY_THREAD)	/* rows of threads, summed */
extern const char *const view_by_words[BY_N + 1];	/* "system", ...; NULL-terminated */

/*
 * The range and the narrowing of a view. Seconds that overlap [from_ns, to_ns) count. A span or call belongs to the
 * second of its end, an open span to every second in which it is open. Enter on a row sets the
 * narrowing fields; zero, NULL and -1 mean "all".
 */
struct intmap;
struct metric_query;
struct alerts;
struct heatmap;

struct view_query {
	int64_t from_ns, to_ns;
	enum view_by by;
	uint64_t trace_id, span_id;	/* waterfall: the trace, and the selected span */
	bool trace_zero;		/* narrowed to the trace with id 0, which some programs write */
	int span_kind;			/* enum span_kind, or -1 */
	const char *operation;		/* name of a root span (phases, traces) */
	const char *service;
	int32_t pid, tid;		/* processes, syscalls, files; -1: all */
	uint32_t host;			/* ID_NONE: all */
	uint64_t container;		/* of container.h; 0: all */
	unsigned cells;			/* timeline: cells of each lane (lanes.h); 0: a row for each lane and second */
	int64_t ended_ns;		/* also show processes that ended up to this long before from_ns */
	const struct metric_query *metric;	/* views of metrics (metric.h); NULL: metric_query_default() */
	const struct metric_query *metric_other; /* distribution: beside .metric, in the same range; NULL: none */
	int64_t line_ns;		/* distribution: counts what took longer; 0: no line is set */
	unsigned latency_rows;		/* distribution: at most so many rows, as fine as fits; 0: one an octave */
	struct heatmap *heatmap;	/* heatmap: the size of its picture, what was counted; NULL: no picture */
	/* Names, and kinds of events, that a part of the trace, decoded alone, does not have; NULL: none. */
	const struct timeline *names;
	const struct alerts *alerts;	/* view alerts; NULL: there are no thresholds */
	const struct intmap *among;	/* all rows of these traces, whenever they ended; NULL: any trace */
	/* The other side of a comparison (compare, changed); trace 0: the typical span. */
	bool history;			/* changed: compare with all that is retained, not with the range before */
	bool quiet;			/* changed: compare with the quiet time before (overview_quiet_before()) */
	uint64_t other_trace, other_span;
	int other_kind;
	/* Upper halves of trace ids that were given with 32 digits: see narrow_resolve(). */
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

/* Of a row about something that may be in order: shown by its colour. */
enum row_state { ROW_PLAIN, ROW_GOOD, ROW_WARN, ROW_BAD };

/* Base of every row; a view's row type embeds it first. */
struct row {
	uint64_t key[2];	/* identity: the same after refresh, sort and time, and so is the selection.
				 * key[0] also holds in another timeline of the same trace; key[1]
				 * distinguishes rows of one name and may differ there */
	uint16_t depth;		/* in trees: 0 is a root */
	bool marked;		/* error, outlier: shown with '!' */
	bool open;		/* not ended yet */
	bool expandable;	/* in trees: has children (shown or hidden) */
	bool ended;		/* ended in the range or before it */
	uint8_t last;		/* listed after all rows that have less, whichever column they are sorted by: what waits
				 * for work, or may (waited_rank()) */
	uint8_t state;		/* enum row_state */
	char part;			/* letter of the part whose hue a column with DRAW_CALL has; 0: none */
	unsigned missing;		/* enum missing_events: events missing from its host, beside rows->missing */
	/* What Enter on this row narrows the next view to. */
	struct view_query drill;
};

/* Events that may be missing from a trace. Values that need them are unknown then, never 0. */
enum missing_events {
	MISSING_SWITCHES = 1 << 0,	/* sched_switch */
	MISSING_WAKINGS = 1 << 1,
	MISSING_CALLS = 1 << 2,
	MISSING_INTERRUPTS = 1 << 3,	/* of every kind */
	MISSING_RAISES = 1 << 4,		/* of softirqs */
	MISSING_TASKS = 1 << 5,		/* state dump of processes: which are kernel threads */
	MISSING_ISSUES = 1 << 6,		/* of block requests */
	MISSING_COMPLETIONS = 1 << 7,
	MISSING_INSERTS = 1 << 8,
	MISSING_MERGES = 1 << 9,
	MISSING_REQUEUES = 1 << 10,
	MISSING_RECEIVED = 1 << 11,	/* packets received */
	MISSING_SENT = 1 << 12,
	MISSING_TAKEN = 1 << 13,		/* packets that the device accepted (net_dev_xmit) */
	MISSING_HEADERS_IN = 1 << 14,	/* packets with headers: received */
	MISSING_HEADERS_OUT = 1 << 15,
	/* All that is missing where no kernel was traced. */
	MISSING_KERNEL = MISSING_SWITCHES | MISSING_WAKINGS | MISSING_CALLS | MISSING_INTERRUPTS | MISSING_TASKS |
			 MISSING_ISSUES | MISSING_RECEIVED | MISSING_SENT,
};

struct rows {
	GPtrArray *rows;		/* struct row *, freed by the array */
	GStringChunk *text;		/* owns the texts of the rows */
	GPtrArray *spans, *reftexts;	/* references to what the rows point to; NULL: none */
	const struct timeline *tl;
	struct view_query query;	/* the query; its strings are copied into text */
	struct completeness completeness;		/* completeness of the seconds that were summed */
	unsigned missing;			/* enum missing_events: events missing from all hosts */
	unsigned *host_missing;		/* by host: see rows_missing(); NULL if there is one host */
	double seconds;			/* of rows of cells: how much of the range was recorded; see range_seconds() */
	size_t n_before_filter;
	bool tree;			/* rows are in tree order: depth and expandable are set */
	/* About the table: .about says what it shows, .explanation explains it. NULL: none. */
	const char *about, *explanation;
	const char *dropped;		/* part of .about: what was dropped to save memory. NULL: nothing */
	/* Spans that were dropped to save memory, and of which it is unknown whether they belong here. If there are
	 * any, figures are unknown: column_value(). */
	uint64_t left_out;
	bool incomplete;		/* .dropped says INCOMPLETE, not only how many rows of a list are missing */
	const char *omitted;		/* part of .about: what is not listed, and where it is. NULL: nothing */
	/* Of a list of the longest: how many there are, of which those longer than .all_above_ns are all listed. 0: it
	 * lists all, or it is unknown. */
	uint64_t n_all;
	int64_t all_above_ns;
	void *extra;			/* data of the view: see overview.h, waterfall.h */
	void (*free_extra)(void *extra);
};

enum column_align { ALIGN_RIGHT, ALIGN_LEFT };
/* How the screen draws a text: as it is; its letters of parts in their colours; its digits 0 to 8 as a sparkline; as a
 * line of the log, with hues for its name, its texts and its error. */
enum column_drawing { DRAW_TEXT, DRAW_PARTS, DRAW_SPARK, DRAW_CALL };

/*
 * The member of a row that a column shows; MEMBER() of common.h makes one. Its value is VALUE_NONE for a text that is
 * NULL, an int32_t below 0, a uint32_t that is ID_NONE, an int64_t that is TIME_UNKNOWN, or where .pointer is NULL.
 */
enum member_type {
	MEMBER_NONE, MEMBER_TEXT, MEMBER_BOOL, MEMBER_U8, MEMBER_U16, MEMBER_I32, MEMBER_U32, MEMBER_I64,
	MEMBER_U64, MEMBER_DOUBLE
};
/* IF_ZERO: also an empty text. IF_LEFT_OUT: if rows.left_out, as figures are. */
enum member_none { IF_UNKNOWN, IF_NEGATIVE, IF_ZERO, IF_LEFT_OUT };

struct member {
	uint8_t type;			/* enum member_type; MEMBER_NONE: the column has a getter */
	uint8_t none;			/* enum member_none: for which other values it is VALUE_NONE */
	uint16_t offset;		/* of the member, in the row or in what .pointer points to */
	uint16_t pointer;		/* offset in the row of a pointer to the struct that has the member; 0: none */
	uint16_t known;			/* offset, beside the member, of a bool: is it known? 0: none */
	unsigned missing;		/* enum missing_events: VALUE_NONE if one of these is missing */
	const char *const *words;	/* the text of each value of a number; NULL: its value is the number */
};

struct column {
	const char *id;			/* "busy_ns": never changes, ends in its unit */
	const char *title;		/* "BUSY": on screen */
	enum value_kind kind;		/* unit of its values (texts: VALUE_TEXT) */
	uint8_t width;			/* columns wanted on screen; 0: batch only */
	uint8_t priority;		/* the highest is hidden first if the screen is narrow; 0: never */
	uint8_t align;			/* enum column_align */
	uint8_t drawing;		/* enum column_drawing */
	bool flexible;			/* its texts get room first (one per view) */
	bool optional;			/* not shown on screen if no row has a value */
	bool of_retained;		/* a figure that does not need spans that were dropped */
	bool of_hosts;			/* the host: shown on screen only if there are several hosts,
					 * or no other column names the rows */
	const char *usual;		/* of an optional column: a text that counts as no value,
					 * unless rows are containers */
	bool descending;		/* first direction when sorted by it */
	const char *help;		/* one line */
	/* Only column_value() reads these. */
	struct value (*get)(const struct row *row, const struct rows *rows);	/* NULL: the value of .member */
	struct member member;
};

/* The value of a row. Where spans are left out, a figure is unknown, never too small. */
struct value column_value(const struct column *c, const struct row *row, const struct rows *rows);

/* Narrowing fields of view_query that a view honours (narrowing.h). */
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
	const char *nothing;		/* screen text for a table without rows; NULL: a general one */
	const char *drill;		/* view id Enter opens, or NULL */
	const char *const *needs;	/* events it needs, NULL-terminated, or NULL */
	/* On the screen: what is said of rows in which nothing happened ("idle"), if one line stands for several of
	 * them; NULL: each is shown. */
	const char *idle;
	bool (*is_idle)(const struct row *row, const struct rows *rows);	/* NULL: all its figures are 0 */
	enum view_by default_by;	/* meaningful where it has thread rows */
	uint8_t only;			/* enum view_only */
	bool narrows_threads_only;	/* ONLY_THREADS narrows only rows by process, thread or container;
					 * other rows are narrowed by the host alone */
	uint16_t by_values;		/* values of view_query.by: BY_THREADS | 1 << BY_CPU ...; 0: none */
	bool decodes_all;		/* when requested before reading, all events are decoded, because
					 * their contexts may be counters */
	uint8_t by_counted;		/* those of by_values that have rows only if all events were counted
					 * by thread (subscriptions of the job) */
	bool on_screen;			/* false: batch only */
	bool of_span;			/* about one span: that of the query, else the root of a trace */
	bool has_steps;			/* each row is about one second, or step, of the range */
	bool lists_spans;		/* each row belongs to one trace; honours view_query.among */
	uint32_t reads;			/* the only cells of a second that it needs (slice_read_cells()),
					 * and no spans; 0: it may need everything */
	bool reads_spans;		/* it needs spans, too, although .reads is set */
	bool of_metric;			/* about the durations of view_query.metric */
	bool at_instant;		/* about the instant at the range's end; others sum whole seconds */
	/* Rows in canonical order, which never depends on ids. Never NULL. */
	struct rows *(*build)(const struct timeline *tl, const struct view_query *query);
	/* Further names that filters may use beside the columns. NULL: none. */
	bool (*has_named)(const char *name);
	struct value (*get_named)(const void *row, const struct rows *rows, const char *name);
	/* Moves rows below their parents, retains the order among siblings, and sets rows->tree.
	 * NULL: rows have no parents. */
	void (*arrange)(struct rows *rows);
};

extern const struct view *const view_all[];	/* NULL-terminated, in the order of keys 1..; see registry.h */
const struct view *view_find(const char *id);	/* NULL: no such view */
bool view_has_by(const struct view *v, enum view_by by);
enum view_by view_next_by(const struct view *v, enum view_by by);	/* cyclic */
/* Index of the column with this id. Else of the only column whose id without its unit is this: "duration" finds
 * duration_ns. -1: no such column. */
int view_column(const struct view *v, const char *id);
/* The value of that column; VALUE_NONE also if there is no such column, or no row (NULL). */
struct value view_value(const struct view *v, const struct rows *rows, const struct row *row, const char *id);
/* view_column() of a name that a user types, which may also be a title, and in any case: "max wait". Of several columns
 * with that title it is the only one that is shown on the screen, else EXPR_SEVERAL. */
int view_column_typed(const struct view *v, const char *name);

/* Filters with `filter` (NULL: all) and sorts by column (stable; -1: canonical
 * order), in place. */
void rows_filter(struct rows *rows, const struct view *v, const struct expr *filter);
void rows_sort(struct rows *rows, const struct view *v, int column, bool descending);
/* A text that begins with an operator is about the column that the view is sorted by: ">64ms". In a distribution it is
 * a line: it removes no row. */
struct expr *view_expr(const struct view *v, const char *text, GError **error);
/* Is the filter a line, as ">64ms" and ">= 64ms" are? *ret_ns: it is crossed by what takes longer; at least 1. */
bool view_line(const char *filter, int64_t *ret_ns);
/* "3 of 20 rows"; of a line in a list of the longest "14 of 3201", "at least 14 of 3201". g_free. */
char *rows_count_text(const struct rows *rows, const char *filter);
/* Removes the rows i with !keep[i]. */
void rows_keep(struct rows *rows, const bool *keep);
void rows_free(struct rows *rows);		/* NULL is fine */

/* Name of a query's container, which belongs to `host`. Free with g_free(). */
char *view_container_name(const struct timeline *tl, uint32_t host, uint64_t container);

unsigned view_missing(const struct timeline *tl);	/* enum missing_events: missing from all hosts */
/* Events missing from one host or from all. */
unsigned view_host_missing(const struct timeline *tl, uint32_t host);
/* Were events lost, on any host, in one of the seconds of the range? */
bool view_had_losses(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* Events missing from this host. If there are several hosts, an event counts as missing if the host never
 * reported one; it may also never have happened. */
unsigned rows_missing(const struct rows *rows, uint32_t host);

/* For builders. */
struct rows *rows_new(const struct timeline *tl, const struct view_query *query);
const char *rows_text(struct rows *rows, const char *s);	/* copies it into rows->text */
const char *rows_take_text(struct rows *rows, char *s);		/* the same; frees it with g_free() */

/* Where the sums of the range [from_ns, to_ns) end. The range of the trace's last second contains the last event, so it
 * ends 1 ns after it; sums of time end at the event. */
int64_t range_sum_end(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* Where they begin: in the first second of the timeline as late as the time of its CPUs does, else at from_ns. */
int64_t range_sum_begin(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* How much of [from_ns, to_ns) was recorded (ns, at least 0), from the trace's first record to its last event, without
 * the time between recordings. */
int64_t range_recorded(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* The same, if that is some of it but less than 99 %; else 0. */
int64_t range_recorded_part(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* range_recorded() in seconds, at least 1e-9: what rates divide by. */
double range_seconds(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
const char *rows_hold_text(struct rows *rows, const char *reftext);	/* takes a reference; returns it */

#endif
