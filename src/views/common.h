/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most views share: a row that is about a thread, a process or the machine,
 * with parts of time and a latency; its columns; and how seconds are summed into
 * such rows. Private to src/views/.
 */
#ifndef BLK_VIEWS_COMMON_H
#define BLK_VIEWS_COMMON_H

#include "views/view.h"

#include "base/intmap.h"

struct stat {
	uint64_t count;
	int64_t total, min, avg, p50, p95, p99, max;	/* but total: -1 when count is 0 */
};
struct stat stat_of(const struct hist *h);

/* Base of the rows; what a view does not use stays as common_new() made it. */
struct common {
	struct row row;
	const char *host;		/* NULL: unknown */
	const char *comm;		/* NULL: unknown, or summed over several */
	const char *name;		/* what the row is about: a call, a path, a span */
	const char *service;
	const char *container;		/* NULL: unknown, or summed over several */
	int32_t pid, tid;		/* -1: unknown, or summed over several */
	int64_t start_ns;		/* TIME_UNKNOWN; tells reused pids apart */
	int64_t part[PART_N];
	unsigned lacks;			/* enum lack: of its host (common_host()) */
	bool parts_unknown;		/* nothing is known: all but unknown_ns are null */
	uint64_t errors;
	struct hist latency;		/* while it is summed; emptied by common_finish() */
	struct stat stat;
};

/* A zeroed row of `size` bytes, at the end of rows. */
void *common_new(struct rows *rows, size_t size);
/* Says whose host's it is: what it is called, and what its events lack. */
void common_host(struct common *c, const struct rows *rows, uint32_t host);
/* Fills in stat, orders the rows canonically; compare may be NULL (host, pid, tid,
 * start, service, name, comm); gives rows with equal keys keys of their own. */
void common_finish(struct rows *rows, GCompareFunc compare);
int common_compare(const struct common *a, const struct common *b);
void common_add_parts(struct common *c, const int64_t part[PART_N]);
/* The largest part and how much; PART_UNKNOWN for no time at all. */
enum part part_largest(const int64_t part[PART_N], int64_t *ret_ns, int64_t *ret_total);

/* enum lack, of the row's host. */
unsigned row_lacks(const struct row *row, const struct rows *rows);
/* The value; null where the row's host lacks one of these. */
struct value unless_lacking(const struct row *row, const struct rows *rows, unsigned lacks, struct value value);

/* Does the trace have the events that tell this part from others? `ns`: what it told of it. */
bool part_is_known(unsigned lacks, enum part part, int64_t ns);
/* "futex"; "cpu" where the trace does not tell what a thread did there. */
const char *part_word(unsigned lacks, enum part part);

/* The seconds of a query: indexes [first, end), and the instants they cover. */
struct range {
	size_t first, end;
	int64_t from_ns, to_ns;		/* borders of those seconds */
	double seconds;			/* between these, at least 1 ns */
};
struct range range_of(const struct timeline *tl, const struct view_query *q);
/* Does the span belong there? Closed ones by their end, open ones when they overlap. */
bool range_has_span(const struct range *r, const struct span *s);

/* Does the thread pass the query's host, pid, tid? */
bool query_wants_thread(const struct view_query *q, const struct timeline *tl, uint32_t thread);
/* Which row of `by` a thread is summed into: an opaque key. */
#define GROUP_UNKNOWN 0x80000000u	/* | host: of processes or containers that nobody knows */
uint32_t group_key(const struct timeline *tl, enum view_by by, uint32_t thread);
/* Identities of rows are made of what things are called, so that a row is the same one
 * in another timeline of the same trace: key[0] is the name, key[1] tells namesakes
 * apart. */
uint64_t key_text(uint64_t key, const char *s);		/* key, and a text (NULL is one, too) */
uint64_t key_int(uint64_t key, uint64_t n);

/* Names the row after its thread, process or host; sets drill and both keys. */
void group_fill(struct common *c, struct rows *rows, uint32_t thread);
/* By process, for each of its threads: where its first one was never seen, the name that all
 * others have. is_first: of this row. */
void group_name(struct common *c, const struct rows *rows, uint32_t thread, bool is_first);

/* Rows by a 64 bit key while summing. */
struct row_map {
	struct intmap index;
	struct rows *rows;
};
/* The row of this key, made (ret_new) when there is none. */
void *row_map_get(struct row_map *m, uint64_t key, size_t size, bool *ret_new);
void row_map_clear(struct row_map *m);

/* "comm/tid", kept with the rows; "?" for no thread. */
const char *thread_label(struct rows *rows, uint32_t thread, int64_t at);
/* Name of the container that a process is in, kept with the rows; NULL: unknown. */
const char *container_label(struct rows *rows, uint32_t process);
char *thread_label_new(const struct timeline *tl, uint32_t thread, int64_t at);

/* Getters of struct common. */
#define GETTER(name) struct value name(const struct row *row, const struct rows *rows)
GETTER(get_host);
GETTER(get_pid);
GETTER(get_tid);
GETTER(get_comm);
GETTER(get_container);
GETTER(get_name);
GETTER(get_service);
GETTER(get_errors);
GETTER(get_count);
GETTER(get_total);
GETTER(get_min);
GETTER(get_avg);
GETTER(get_p50);
GETTER(get_p95);
GETTER(get_p99);
GETTER(get_max);
GETTER(get_cpu);
GETTER(get_runnable);
GETTER(get_blocked);
GETTER(get_mainly);
/* One a part, as nanoseconds and as a share of all parts. */
#define PART_GETTER(id, part) GETTER(get_##id); GETTER(get_##id##_ratio);
PART_LIST(PART_GETTER)
#undef PART_GETTER
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
/* Not shown where no row has it. */
#define COLUMN_OPTIONAL(id_, title_, kind_, w, p, help_, get_) \
	{ .id = id_, .title = title_, .kind = kind_, .width = w, .priority = p, \
	  .align = ALIGN_LEFT, .optional = true, .help = help_, .get = get_ }
/* The one that takes what room is left. */
#define COLUMN_FLEX(id_, title_, w, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_TEXT, .width = w, .align = ALIGN_LEFT, \
	  .flexible = true, .help = help_, .get = get_ }

#define COLUMN_HOST COLUMN_HOST_AT(8, 9)
#define COLUMN_HOST_AT(w, p) \
	{ .id = "host", .title = "HOST", .kind = VALUE_TEXT, .width = w, .priority = p, \
	  .align = ALIGN_LEFT, .of_hosts = true, .get = get_host, .help = "host of the trace" }
/* Shown where there are others than the host itself. */
#define COLUMN_CONTAINER \
	{ .id = "container", .title = "CONTAINER", .kind = VALUE_TEXT, .width = 17, .priority = 3, \
	  .align = ALIGN_LEFT, .optional = true, .usual = "host", .get = get_container, \
	  .help = "host, or its hostname there, or the namespace that sets it apart; null: unknown" }
#define COLUMN_PART_NS(id, part) \
	COLUMN_N(#id "_ns", part_title(part), VALUE_NS, 0, 0, part_help(part), get_##id),
/* All parts in nanoseconds, for batch; the screen has its own ratio columns. */
#define COLUMNS_PARTS PART_LIST(COLUMN_PART_NS)

/* In the help of every percentile: it is the upper bound of a histogram's bucket (base/hist.h). */
#define PERCENTILE_BOUND " (at most 3.2 % high)"

/* Latency columns of `stat`: total to max. */
#define COLUMNS_QUANTILES(w, what) \
	COLUMN_N("min_ns", "MIN", VALUE_NS, 0, 0, "shortest " what, get_min), \
	COLUMN_N("avg_ns", "AVG", VALUE_NS, w, 5, "mean " what, get_avg), \
	COLUMN_N("p50_ns", "p50", VALUE_NS, w, 4, "half of them take at most this" PERCENTILE_BOUND, get_p50), \
	COLUMN_N("p95_ns", "p95", VALUE_NS, w, 6, "95 % of them take at most this" PERCENTILE_BOUND, get_p95), \
	COLUMN_N("p99_ns", "p99", VALUE_NS, w, 2, "99 % of them take at most this" PERCENTILE_BOUND, get_p99), \
	COLUMN_N("max_ns", "MAX", VALUE_NS, w, 1, "longest " what, get_max)

#endif
