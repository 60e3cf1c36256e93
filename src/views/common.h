/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most views share: a row about a thread, a process or the machine, with the parts of its time and a latency;
 * the columns of such rows; and functions that sum seconds into them. Private to src/views/.
 */
#ifndef BLK_VIEWS_COMMON_H
#define BLK_VIEWS_COMMON_H

#include "views/view.h"

#include "base/intmap.h"

#include <stddef.h>

struct stat {
	uint64_t count;
	int64_t total, min, avg, p50, p95, p99, max;	/* ns; all but total are -1 if count is 0 */
};
struct stat stat_of(const struct hist *h);
struct stat stat_take(struct hist *h);	/* the same; the histogram is cleared */

/* Base of rows. Fields that a view does not use keep the values of common_new(). */
struct common {
	struct row row;
	const char *host, *boot;	/* NULL: unknown. .boot: of the host, for the order of hosts of one name */
	const char *comm;		/* NULL: unknown, or summed over several */
	const char *name;		/* what the row is about: a call, a path, a span */
	const char *service;
	const char *container;		/* NULL: unknown, or summed over several */
	int32_t pid, tid;		/* -1: unknown, or summed over several */
	int64_t start_ns;		/* of the process; distinguishes reused pids; or TIME_UNKNOWN */
	bool of_thread, kernel;		/* the row is a process or thread; of the kernel */
	int64_t part[PART_N];
	bool of_threads;		/* .part is of threads, whose PART_DISK includes PART_WRITEBACK: see
					 * part_word_of_threads() */
	bool parts_unknown;		/* every part but unknown_ns is shown as null */
	uint64_t errors;
	uint64_t partial;		/* spans of an unknown duration: not in .latency, their parts not in .part */
	struct hist latency;		/* being summed; common_finish() moves it to stat */
	struct stat stat;
};

/* A zeroed row of `size` bytes, at the end of rows. */
void *common_new(struct rows *rows, size_t size);
/* Sets the host of the row: its name, and which events are missing from it. */
void common_host(struct common *c, const struct rows *rows, uint32_t host);
/* The name of a block device of the host, its name string being `name`: from .names of the query where the rows'
 * timeline does not know it, else its numbers, "254:0". Valid as long as rows. */
const char *common_device(struct rows *rows, uint32_t host, uint32_t dev, uint32_t name);
/* Completes the rows: sets stat, sorts them in canonical order, and makes equal keys unique. `compare` NULL
 * means common_compare(): host, pid, tid, start, service, name, comm. Equal rows are in the order of their boots, then
 * of their parts and latencies, the largest first. */
void common_finish(struct rows *rows, GCompareFunc compare);
int common_compare(const struct common *a, const struct common *b);
void common_add_parts(struct common *c, const int64_t part[PART_N]);
/* Adds a span that has ended, without its errors. If its duration (ns) is not known, it counts as partial. */
void common_add_duration(struct common *c, bool is_known, int64_t ns, const int64_t part[PART_N]);
/* Adds a sum of evicted spans, with their errors. */
void common_add_sum(struct common *c, const struct span_sum *s);
/* The largest part and its time; PART_UNKNOWN if the sum is 0. */
enum part part_largest(const int64_t part[PART_N], int64_t *ret_ns, int64_t *ret_total);

/* The largest part and its share, "writeback 61%", owned by the rows; NULL: the sum is 0. */
const char *part_share(struct rows *rows, unsigned missing, const int64_t part[PART_N]);

/* enum missing_events: events missing from the row's host. */
unsigned row_missing(const struct row *row, const struct rows *rows);

/* Can the trace distinguish this part from others? `ns` is the time measured for it. */
bool part_is_known(unsigned missing, enum part part, int64_t ns);
/* Name of the part: "futex". "cpu" if the trace cannot distinguish user mode from system calls. */
const char *part_word(unsigned missing, enum part part);
/* The same of a thread's time: "file" where spans tell disk from writeback, since a thread's time is both. */
const char *part_word_of_threads(unsigned missing, enum part part);
/* Is the part two parts of spans? */
bool part_is_two_of_spans(unsigned missing, enum part part);

/* The seconds of a query: indexes [first, end), and the instants they cover. */
struct range {
	size_t first, end;
	int64_t from_ns, to_ns;		/* beginning of the first, end of the last of them */
	double seconds;			/* how much of it was recorded: range_seconds() */
};
struct range range_of(const struct timeline *tl, const struct view_query *q);
/* Does the span count in the range? An ended span counts at its end; an open one wherever it overlaps. */
bool range_has_span(const struct range *r, const struct span *s);

/* Does the thread pass the query's host, pid, tid? */
bool query_wants_thread(const struct view_query *q, const struct timeline *tl, uint32_t thread);
/* Which row of `by` a thread is summed into: an opaque key. */
#define GROUP_UNKNOWN 0x80000000u	/* | host: processes or containers that are unknown */
uint32_t group_key(const struct timeline *tl, enum view_by by, uint32_t thread);
/* Keys of rows are hashes of names, not of ids: so a row keeps its key in another timeline of the same trace.
 * key[0] is the name; key[1] distinguishes rows of the same name. */
uint64_t key_text(uint64_t key, const char *s);		/* adds a text to the hash; NULL and "" differ */
uint64_t key_int(uint64_t key, uint64_t n);

/* Names the row after its thread, process or host; sets drill and both keys. */
void group_fill(struct common *c, struct rows *rows, uint32_t thread);
/* Names a row by process; called for each of its threads. If the first thread of the process was never seen, the
 * row takes the name that all other threads share. is_first: this is the first call for the row. */
void group_name(struct common *c, const struct rows *rows, uint32_t thread, bool is_first);

/* For view.has_named of views with rows by thread: kernel_thread, 1 or 0; null: neither process nor thread. */
#define NAMED_KERNEL "kernel_thread"
bool common_has_named(const char *name);
struct value common_get_named(const void *row, const struct rows *rows, const char *name);

/* Index of rows by a 64-bit key, used while summing. */
struct row_map {
	struct intmap index;
	struct rows *rows;
};
/* The row of this key. Creates it and sets *ret_new if there is none. */
void *row_map_get(struct row_map *m, uint64_t key, size_t size, bool *ret_new);
void row_map_clear(struct row_map *m);

/* "comm/tid", owned by the rows; "?" for ID_NONE. */
const char *thread_label(struct rows *rows, uint32_t thread, int64_t at);
/* Name of the container of a process, owned by the rows; NULL: unknown. */
const char *container_label(struct rows *rows, uint32_t process);
char *thread_label_new(const struct timeline *tl, uint32_t thread, int64_t at);

/*
 * Where a column's value is from: the last argument of the COLUMN macros below. Either a member of the row's struct:
 * MEMBER(struct lock_row, waits), or with designated initializers of struct member:
 * MEMBER(struct open_row, usual_ns, .none = IF_NEGATIVE). Or the name of a getter, for what is computed.
 */
#define MEMBER(row_, name_, ...) \
	NULL, .member = { .type = MEMBER_TYPE(((row_ *)0)->name_), .offset = offsetof(row_, name_), __VA_ARGS__ }
/* A member of the struct that the row's member `to` points to. */
#define MEMBER_OF(row_, to_, name_, ...) \
	NULL, .member = { .type = MEMBER_TYPE(((row_ *)0)->to_->name_), .pointer = offsetof(row_, to_), \
			  .offset = offsetof(__typeof__(*((row_ *)0)->to_), name_), __VA_ARGS__ }
#define MEMBER_TYPE(m) _Generic((m), char *: MEMBER_TEXT, const char *: MEMBER_TEXT, bool: MEMBER_BOOL, \
	uint8_t: MEMBER_U8, uint16_t: MEMBER_U16, int32_t: MEMBER_I32, uint32_t: MEMBER_U32, int64_t: MEMBER_I64, \
	uint64_t: MEMBER_U64, double: MEMBER_DOUBLE)
/* What a member of the row is that is an int64_t and not known: its value is VALUE_NONE. */
#define FIGURE_NONE TIME_UNKNOWN
#define COMMON(name) MEMBER(struct common, name)
/* A duration of .stat. */
#define STAT(name) MEMBER(struct common, stat.name, .none = IF_NEGATIVE)

#define GETTER(name) struct value name(const struct row *row, const struct rows *rows)
/* Getters of struct common. */
GETTER(get_cpu);
GETTER(get_runnable);
GETTER(get_blocked);
GETTER(get_mainly);
/* One a part, as nanoseconds and as a share of all parts. */
#define PART_GETTER(id, part) GETTER(get_##id); GETTER(get_##id##_ratio);
PART_LIST(PART_GETTER)
#undef PART_GETTER
GETTER(get_file);		/* disk and writeback */
GETTER(get_count_rate);		/* stat.count a second of rows->seconds */
GETTER(get_runq_ratio);		/* share of parts that is runnable */

/*
 * Columns. N: a number, right aligned, largest first; T: a text. `w` columns wide on
 * the screen (0: batch only), dropped in order of falling priority `p` (0: never).
 */
#define COLUMN_N(id_, title_, kind_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = kind_, .width = w, .priority = p, \
	  .descending = true, .help = help_, .get = get_ }
#define COLUMN_ID(id_, title_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_ID, .width = w, .priority = p, \
	  .help = help_, .get = get_ }
#define COLUMN_T(id_, title_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_TEXT, .width = w, .priority = p, \
	  .align = ALIGN_LEFT, .help = help_, .get = get_ }
#define COLUMN_TIME(id_, title_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_TIME, .width = w, .priority = p, .help = help_, .get = get_ }
/* Not shown if no row has a value. */
#define COLUMN_OPTIONAL(id_, title_, kind_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = kind_, .width = w, .priority = p, \
	  .align = ALIGN_LEFT, .optional = true, .help = help_, .get = get_ }
/* A number that does not need spans that were dropped; `flag`: optional or descending. */
#define COLUMN_RETAINED(flag, id_, title_, kind_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = kind_, .width = w, .priority = p, .flag = true, \
	  .align = #flag[0] == 'o' ? ALIGN_LEFT : ALIGN_RIGHT, .of_retained = true, .help = help_, .get = get_ }
/* Partial spans, beside a count of those whose duration is known. */
#define COLUMN_PARTIAL \
	COLUMN_N("partial", "PARTIAL", VALUE_COUNT, 0, 0, \
		 "others that ended, of unknown duration (beginning, end or events in between are missing): they " \
		 "count only here and in errors", \
		 COMMON(partial)),
/* The column that takes the remaining width. */
#define COLUMN_FLEX(id_, title_, w, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_TEXT, .width = w, .align = ALIGN_LEFT, \
	  .flexible = true, .help = help_, .get = get_ }

#define COLUMN_HOST COLUMN_HOST_AT(8, 9)
#define COLUMN_HOST_AT(w, p) \
	{ .id = "host", .title = "HOST", .kind = VALUE_TEXT, .width = w, .priority = p, \
	  .align = ALIGN_LEFT, .of_hosts = true, .help = "host of the trace", .get = COMMON(host) }
/* Shown if a row has a container other than the host. */
#define COLUMN_CONTAINER \
	{ .id = "container", .title = "CONTAINER", .kind = VALUE_TEXT, .width = 17, .priority = 3, \
	  .align = ALIGN_LEFT, .optional = true, .usual = "host", \
	  .help = "host, or the container's hostname, or the namespace that identifies it; null: unknown", \
	  .get = COMMON(container) }
#define COLUMN_PART_NS(id, part) \
	COLUMN_N(#id "_ns", part_title(part), VALUE_NS, 0, 0, part_help(part), get_##id),
/* All parts in nanoseconds, for batch; the screen has its own ratio columns. */
#define COLUMNS_PARTS PART_LIST(COLUMN_PART_NS) \
	COLUMN_N("file_ns", "FILE", VALUE_NS, 0, 0, FILE_HELP, get_file),
#define FILE_HELP "blocked on a file or a sync: disk and writeback, which only spans can tell from each other"

/* In the help of every percentile: it is the upper bound of a histogram's bucket (base/hist.h). */
#define PERCENTILE_BOUND " (at most 3.2 % high)"

/* In the help of what is compared with the usual (history.h). */
#define USUAL_HELP "usual duration of the operation: the 25th percentile of all that are retained"
#define USUAL_TIMES(what) what ", in times of the usual (25th percentile) of its operation; slow from 1.75x on"

/* Latency columns of `stat`: total to max. */
#define COLUMNS_QUANTILES(w, what) \
	COLUMN_N("min_ns", "MIN", VALUE_NS, 0, 0, "shortest " what, STAT(min)), \
	COLUMN_N("avg_ns", "AVG", VALUE_NS, w, 5, "mean " what, STAT(avg)), \
	COLUMN_N("p50_ns", "p50", VALUE_NS, w, 4, "half of them take at most this" PERCENTILE_BOUND, STAT(p50)), \
	COLUMN_N("p95_ns", "p95", VALUE_NS, w, 6, "95 % of them take at most this" PERCENTILE_BOUND, STAT(p95)), \
	COLUMN_N("p99_ns", "p99", VALUE_NS, w, 2, "99 % of them take at most this" PERCENTILE_BOUND, STAT(p99)), \
	COLUMN_N("max_ns", "MAX", VALUE_NS, w, 1, "longest " what, STAT(max))

#endif
