/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: every figure that blktop has, each with its unit and the fields by which it can be split. A metric is a
 * figure of the cells of a second (the lists of state/store/schema.h), or of spans. A decomposition is a view of its
 * own: one row for each value of one or two fields.
 *
 *     const struct metric *m = metric_find("call.latency", &error);
 *     struct metric_query q = { .metric = m };
 *     metric_query_by(&q, "process,call", &error);
 *     struct view *v = metric_view_new(&q);		then as any other view
 *
 * A new figure in the schema is a new metric: nothing is to be done here, unless its key has a new meaning (metric.c:
 * meanings).
 */
#ifndef BLK_VIEWS_METRIC_H
#define BLK_VIEWS_METRIC_H

#include "views/view.h"

/* The fields by which metrics are split and filtered: name, kind of its values, title, width, help. */
#define METRIC_FIELD_LIST(X) \
	X(host, VALUE_TEXT, "HOST", 12, "name of the host") \
	X(container, VALUE_TEXT, "CONTAINER", 14, "the container of the process; host: none") \
	X(process, VALUE_TEXT, "PROCESS", 15, "name of the process, as it was last in the range") \
	X(pid, VALUE_ID, "PID", 7, "process id") \
	X(thread, VALUE_TEXT, "THREAD", 15, "name of the thread, as it was last in the range") \
	X(tid, VALUE_ID, "TID", 7, "thread id") \
	X(call, VALUE_TEXT, "SYSCALL", 16, "the system call") \
	X(file, VALUE_TEXT, "FILE", 30, "the file, socket or pipe") \
	X(errno, VALUE_TEXT, "ERRNO", 10, "the error that the call returned: ENOENT; none: it succeeded") \
	X(device, VALUE_TEXT, "DEVICE", 10, "the block or network device") \
	X(cpu, VALUE_ID, "CPU", 4, "number of the CPU") \
	X(priority, VALUE_ID, "PRIO", 5, "priority of the thread, as the kernel counts it") \
	X(interrupt, VALUE_TEXT, "INTERRUPT", 20, "the interrupt or softirq") \
	X(event, VALUE_TEXT, "EVENT", 30, "name of the event or of the counter") \
	X(waker, VALUE_TEXT, "WAKER", 20, "the thread that woke the thread") \
	X(peer, VALUE_TEXT, "PEER", 22, "address of the other machine") \
	X(direction, VALUE_TEXT, "DIRECTION", 9, "read, write or another kind of input and output") \
	X(part, VALUE_TEXT, "PART", 10, "what the thread did: user, disk, futex, ...") \
	X(service, VALUE_TEXT, "SERVICE", 14, "service of the span") \
	X(span, VALUE_TEXT, "SPAN", 16, "name of the span") \
	X(operation, VALUE_TEXT, "OPERATION", 16, "name of the trace's root span") \
	X(cause, VALUE_TEXT, "CAUSE", 10, "the part that explains most of its excess; none: within the usual") \
	X(error, VALUE_TEXT, "ERROR", 5, "yes: the span has a tag or annotation named error") \
	X(waited, VALUE_TEXT, "WAITED", 13, "of calls: for work, while working, unknown; no: it did not wait")

enum metric_field {
#define METRIC_FIELD_ENUM(id, kind, title, width, help) METRIC_BY_##id,
	METRIC_FIELD_LIST(METRIC_FIELD_ENUM)
#undef METRIC_FIELD_ENUM
	METRIC_FIELD_N
};
extern const char *const metric_field_words[METRIC_FIELD_N + 1];	/* "host", ...; NULL-terminated */
enum value_kind metric_field_kind(enum metric_field field);	/* VALUE_TEXT or VALUE_ID */

/* All are static and live for ever. */
struct metric {
	const char *id;			/* "call.latency" */
	const char *help;
	enum value_kind unit;		/* VALUE_NS, VALUE_BYTES or VALUE_COUNT */
	bool has_values;		/* single values with quantiles; else only their sum is known */
	uint32_t fields;		/* 1 << enum metric_field: may be split by them */
	uint32_t call_fields;		/* those of .fields that only single calls and events have: metric_calls.h */
	const char *const *needs;	/* as in struct view */
	uint32_t reads;			/* likewise */
	int kind;			/* private: enum cell_kind, or negative: of spans, of events */
	unsigned figure;		/* private: index of the field in the cell's layout; or which spans */
	const char *event, *event_field;	/* field:EVENT.FIELD: the event, "arg.FIELD"; else NULL */
};

size_t metrics_n(void);
const struct metric *metric_at(size_t i);	/* in the order of the schema; NULL: i is too large */
/* Also field:EVENT.FIELD, an integer field of any event. NULL: *error proposes the most similar one. One thread. */
const struct metric *metric_find(const char *id, GError **error);

bool metric_is_of_spans(const struct metric *m);	/* request.*, span.*; others are sums of cells */
/* Does the trace have the events that the metric needs? */
bool metric_is_recorded(const struct metric *m, const struct timeline *tl);

#define METRIC_SPLITS 2		/* by so many fields at once */

/* A metric, the fields it is split by, and which of its figures count. */
struct metric_query {
	const struct metric *metric;
	enum metric_field by[METRIC_SPLITS];
	unsigned n_by;			/* 0: one row */
	struct expr *where;		/* over the metric's fields; owned; NULL: all */
	uint32_t where_fields;		/* 1 << enum metric_field: those it names */
	const struct metric_calls *calls;	/* borrowed; must be set where metric_query_needs_calls() */
	/* What the range is compared with: as much time before it, all other time that is retained, or
	 * [against_from_ns, against_to_ns). */
	enum { METRIC_ALONE, METRIC_BEFORE, METRIC_HISTORY, METRIC_RANGE } against;
	int64_t against_from_ns, against_to_ns;
};

/* Parses "process,call". False: *error. */
bool metric_query_by(struct metric_query *q, const char *by, GError **error);
/* Parses an expression over the fields of the metric, also those that it is not split by. */
bool metric_query_where(struct metric_query *q, const char *where, GError **error);
void metric_query_clear(struct metric_query *q);
/* An expression that is true for this value of the field: "process == \"mysqld\"". NULL: it is unknown, which no
 * expression tests. Free with g_free(). */
char *metric_where_text(enum metric_field field, struct value value);
bool metric_query_has(const struct metric_query *q, enum metric_field field);	/* split or filtered by it? */
/* Does it need single calls or events (metric_calls.h)? Seconds do not have them. */
bool metric_query_needs_calls(const struct metric_query *q);

/* Rows of the decomposition, the largest sum first: the fields, then count and quantiles or the sum, its rate, and
 * its share of the sum of all rows. Compared: the largest difference first: sums a second now and before, their
 * difference, and its share of all differences (whatever their sign). `q` is borrowed: it must outlive the view; only
 * its instants may change. Free with metric_view_free(). */
struct view *metric_view_new(const struct metric_query *q);
void metric_view_free(struct view *v);		/* NULL is fine */

/* The sums of one second for one value of the fields. All is valid during the visit only. */
struct metric_value {
	const char *key;		/* names the value: the same in all seconds; raw bytes */
	const struct value *by;		/* query.n_by of them */
	const struct hist *values;	/* single values, none below 0; empty: the metric has only sums */
	int64_t sum;
	const struct span *slowest;	/* of requests and spans; NULL: none, or it was evicted */
	/* Evicted spans: those that .sum counts and .values does not, and those of the second of which it is unknown
	 * whether they belong to a value. */
	uint64_t without_values, left_out;
};
/* `value->key` NULL: the second has no further value. */
typedef void (*metric_visit)(void *data, const struct second *s, const struct metric_value *value);
/* Visits the values of each of the seconds [first, end), in no order, second after second. A span belongs to the second
 * in which it ended. */
void metric_each_second(const struct timeline *tl, const struct metric_query *q, size_t first, size_t end,
			metric_visit visit, void *data);
/* Of a metric of spans: how many spans that ended in [from_ns, to_ns) were evicted and are in none of its values, as
 * it is split or filtered by what is not known of them. 0: its values are exact. */
uint64_t metric_left_out(const struct timeline *tl, const struct metric_query *q, int64_t from_ns, int64_t to_ns);
struct range;
/* Says in rows->about how many evicted spans of the range the values have, and how many not (rows->left_out). */
void metric_describe_evicted(struct rows *rows, const struct metric_query *q, const struct range *range);
/* Visits the single spans behind a metric of spans that is not one by part: those that ended in [from_ns, to_ns), by
 * their ends. `by` has query.n_by values. */
typedef void (*metric_visit_span)(void *data, const struct span *s, int64_t ns, const struct value *by);
void metric_each_span(const struct timeline *tl, const struct metric_query *q, int64_t from_ns, int64_t to_ns,
		      metric_visit_span visit, void *data);

/* Are they durations, one by one? Then they have a distribution: views heatmap and distribution. */
static inline bool metric_has_durations(const struct metric *m)
{
	return m->has_values && m->unit == VALUE_NS;
}
/* What these views show if no metric was chosen: request.latency, of a timeline without spans call.latency. Static. */
const struct metric_query *metric_query_default(const struct timeline *tl);
/* A copy of such a view that needs and reads what the query does. Free with metric_view_free(). */
struct view *metric_view_of(const struct view *view, const struct metric_query *q);
/* The cells that it needs, as view.reads. *ret_spans: and spans. */
uint32_t metric_query_reads(const struct metric_query *q, bool *ret_spans);

#define BLK_METRIC_ERROR (blk_metric_error_quark())
GQuark blk_metric_error_quark(void);

#endif
