/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline: all closed seconds, spans and registries; the only source of views. It belongs to the main thread,
 * which changes it only with timeline_apply(), from publications that a worker made (publication.h). Pointers that it
 * returns are const and valid until the next timeline_apply() or timeline_unload().
 *
 * Ids are dense from 0 and stable for the life of the timeline. Nothing may be ordered or printed by id. Strings from
 * traces are hostile; see base/text.h.
 */
#ifndef BLK_STATE_STORE_TIMELINE_H
#define BLK_STATE_STORE_TIMELINE_H

#include "base/missing.h"
#include "state/store/registry.h"
#include "state/store/second.h"
#include "state/store/span.h"
#include "state/store/span_sums.h"

struct publication;
struct tree;
struct timeline;

/* memory_budget in bytes; 0: no bound. */
struct timeline *timeline_new(size_t memory_budget);
void timeline_free(struct timeline *tl);
typedef struct timeline blk_timeline;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_timeline, timeline_free)

/* Applies p and frees it. While more than the budget is in use, old seconds are folded to 10 s, then to a minute
 * (timeline_facts()->folded_until); then the oldest seconds and spans are dropped (timeline_retained_from()), but never
 * retained or pinned traces. */
void timeline_apply(struct timeline *tl, struct publication *p);

/* Coverage: from the first to the last event of any stream so far; false while empty. */
bool timeline_coverage(const struct timeline *tl, int64_t *ret_first, int64_t *ret_last);

/* Closed seconds by time. Gaps (seconds without any event) have no entry. */
size_t timeline_n_seconds(const struct timeline *tl);
const struct second *timeline_second(const struct timeline *tl, size_t i);
/* The same without its cells, slow calls and wakeups, which may not be there: times, completeness and totals. Use it
 * for what looks at many seconds: timeline_second() may have to read the rest from a file. */
const struct second *timeline_outline(const struct timeline *tl, size_t i);
/* Frees cells that can be read again, those that were looked at the longest ago, if they have more than half of the
 * budget. If any were freed, the version grows, as pointers into seconds are not valid any more. Call it once for each
 * key, or after each range that is printed. */
void timeline_unload(struct timeline *tl);
/* Index of the first second with end_ns > at; n_seconds: there is none. */
size_t timeline_find(const struct timeline *tl, int64_t at);

/* Registries. For an unknown id they return NULL, or "" for a string. */
const char *timeline_string(const struct timeline *tl, uint32_t id);
const struct host_info *timeline_host(const struct timeline *tl, uint32_t id);
const struct thread_info *timeline_thread(const struct timeline *tl, uint32_t id);
const struct process_info *timeline_process(const struct timeline *tl, uint32_t id);
const struct file_info *timeline_file(const struct timeline *tl, uint32_t id);
uint32_t timeline_n_hosts(const struct timeline *tl);
/* The id of the first thread >= from; ID_NONE: none. In live runs, threads that ended are dropped when no retained
 * second or span refers to them. */
uint32_t timeline_next_thread(const struct timeline *tl, uint32_t from);
/* The hostname that processes of a container (of container.h) on the host see, if it is not the machine's; NULL:
 * unknown. If there are several, the alphabetically first one. ret_several: another container of the host has the
 * same hostname. */
const char *timeline_container_hostname(const struct timeline *tl, uint32_t host,
					uint64_t container, bool *ret_several);
/* A label for a container: its hostname ("web-1"), plus the namespace if two containers of the host have the same
 * hostname; else container_name_new(). NULL: unknown. Free with g_free. */
char *timeline_container_label_new(const struct timeline *tl, uint32_t host, uint64_t container);
/* The thread's latest name before `until` (its first one if all are later). */
const char *timeline_comm(const struct timeline *tl, uint32_t thread, int64_t until);

/* Spans, in order of publication; closed spans by end, open ones replaced in place. */
size_t timeline_n_spans(const struct timeline *tl);
const struct span *timeline_span(const struct timeline *tl, size_t i);
/* The first index from i on of a span that begins before `to` and ends at `from` (ns) or later; timeline_n_spans():
 * there is none. Others are skipped without a look at each. */
size_t timeline_next_span(const struct timeline *tl, size_t i, int64_t from, int64_t to);
#define TIMELINE_EACH_SPAN(tl, i, from, to) \
	for (size_t i = timeline_next_span(tl, 0, from, to); i < timeline_n_spans(tl); \
	     i = timeline_next_span(tl, i + 1, from, to))
/* Indexes (uint32_t) of all spans of a trace, unordered. NULL: no such trace. */
const GArray *timeline_trace_spans(const struct timeline *tl, uint64_t trace_id);
/* The spans of a trace as a tree (span_tree.h); empty when there is no such trace. Free with tree_free(). */
struct tree *timeline_tree_new(const struct timeline *tl, uint64_t trace_id);
/* Summary of the stored spans of a trace. */
struct trace_info {
	uint64_t trace_id;
	const struct span *root;	/* its true root, else the earliest of its spans */
	bool has_root;			/* .root is a true root */
	bool open, partial;		/* one of its spans is open / partial */
	bool may_end;			/* one of its spans is open, or may end (struct span) */
	int64_t begin_ns, end_ns;	/* of all its spans */
	int64_t taken_ns;		/* end of the last span that took a message of the trace; INT64_MIN: none did */
	uint32_t n_spans, errors;
};
/* Does it go on by messages after its root's end? */
static inline bool trace_has_messages(const struct trace_info *t)
{
	return t->taken_ns > t->root->end_ns;
}
/* How long (ns) the trace took: its root, or from there to the end of the last span that took one of its messages. */
static inline int64_t trace_duration(const struct trace_info *t)
{
	return MAX(t->root->end_ns, t->taken_ns) - t->root->begin_ns;
}
/* Traces in order of publication. NULL: no such trace. */
size_t timeline_n_traces(const struct timeline *tl);
const struct trace_info *timeline_trace(const struct timeline *tl, size_t i);
/* As timeline_next_span(), of traces. */
size_t timeline_next_trace(const struct timeline *tl, size_t i, int64_t from, int64_t to);
#define TIMELINE_EACH_TRACE(tl, i, from, to) \
	for (size_t i = timeline_next_trace(tl, 0, from, to); i < timeline_n_traces(tl); \
	     i = timeline_next_trace(tl, i + 1, from, to))
const struct trace_info *timeline_find_trace(const struct timeline *tl, uint64_t trace_id);
/* Ids that spans of the trace name as their parent, and that no span of it has: uint64_t, in order, each once. NULL:
 * none. Computed at first use after a change; valid until the next one. */
const GArray *timeline_missing_spans(const struct timeline *tl, uint64_t trace_id);
bool timeline_parent_is_missing(const struct timeline *tl, const struct span *s);

/* Statistics of closed spans by service and name, over the whole run, evicted spans included. Times are ns. */
struct operation_info {
	const char *service, *name;	/* reftexts, referenced */
	bool server;			/* of server halves; else of all other spans */
	bool changed;			/* private: the quantiles are stale */
	bool loose;			/* private: minimum and maximum are stale */
	struct hist duration;
	uint64_t evicted;		/* how many of these spans were evicted */
	struct extremes { int64_t min, max; } evicted_duration;	/* private */
	int64_t p25, p99;		/* of .duration */
};
/* The operation of a span. NULL: no span of it has ended, or memory is short and there are too many operations. */
const struct operation_info *timeline_operation(const struct timeline *tl, const struct span *s);

/* Pins a trace while it is shown: it is neither evicted nor replaced. Its open spans still change and close. New
 * versions of closed spans are held back until it is unpinned. */
void timeline_pin(struct timeline *tl, uint64_t trace_id);	/* 0: nothing is pinned */

/* For batch runs, which print after the last event: seconds are never folded or dropped, however much memory they
 * need. Spans get the rest of the budget, at least an eighth of it. */
void timeline_retain_seconds(struct timeline *tl);
/* Seconds that begin at that time (ns) or later are neither folded nor dropped, as they are to be read yet; INT64_MAX,
 * as at the beginning: only the newest ones are not. */
void timeline_retain_seconds_from(struct timeline *tl, int64_t from_ns);
/* Called just before traces are evicted, mostly in order of their ends. All their spans are still stored. */
typedef void (*timeline_evicting)(void *data, const uint64_t *trace_ids, size_t n);
void timeline_on_evicting(struct timeline *tl, timeline_evicting call, void *data);
/*
 * For batch runs that print seconds as they close, without spans. Seconds that begin outside of [from_ns, to_ns) and
 * need more than a share of the budget are dropped, but for the newest few, and none of them comes back. Seconds are
 * never folded. call (NULL: none) is called just before, with the end of the last of them (ns).
 */
typedef void (*timeline_dropping)(void *data, int64_t until_ns);
void timeline_retain_range(struct timeline *tl, int64_t from_ns, int64_t to_ns, timeline_dropping call, void *data);
/* Called once: with the first publication that has coverage, before any of it can be evicted. timeline_coverage()
 * is valid then. */
typedef void (*timeline_beginning)(void *data);
void timeline_on_beginning(struct timeline *tl, timeline_beginning call, void *data);
/* Traces outside of [from_ns, to_ns) are evicted first: the others will be needed. */
void timeline_prefer_range(struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* These traces are never evicted, but may still change. At most TIMELINE_RETAINED; n 0: none. */
#define TIMELINE_RETAINED 4
void timeline_retain_traces(struct timeline *tl, const uint64_t *trace_ids, size_t n);

/* When spans need more than their share of the memory budget, whole traces are evicted, the oldest first. The
 * slowest traces of each operation (service and name of the root) are evicted last. The spans are added to sums
 * (span_sums.h). */
void timeline_evicted(const struct timeline *tl, uint64_t *ret_traces, uint64_t *ret_spans);	/* totals of the run */
/* The sums of evicted spans, of steps that overlap [from_ns, to_ns); in no order within a step. Those of the last
 * seconds are by second. */
struct sum_place timeline_first_sum(const struct timeline *tl, int64_t from_ns, int64_t to_ns);
void timeline_next_sum(const struct timeline *tl, struct sum_place *at);
#define TIMELINE_EACH_SUM(tl, at, from, to) \
	for (struct sum_place at = timeline_first_sum(tl, from, to); at.sum; timeline_next_sum(tl, &at))
/* Sums of spans that end at that time (ns) or later stay by second, whatever memory they need; INT64_MAX, as at the
 * beginning: all may be folded. */
void timeline_retain_sums(struct timeline *tl, int64_t from_ns);
/* The length of a second of the timeline, if it is not 1 s; before the first publication. */
void timeline_set_step(struct timeline *tl, int64_t step_ns);

/* Does the source have an event class of this name? */
bool timeline_has_event(const struct timeline *tl, const char *name);
/* Does a class of its names pass `has`? */
bool timeline_any_event(const struct timeline *tl, bool (*has)(const char *name, const void *data), const void *data);
char **timeline_event_names(const struct timeline *tl);	/* of all classes, in no order (g_strfreev()) */
size_t timeline_n_event_names(const struct timeline *tl);
bool timeline_has_events(const struct timeline *tl);	/* of any name; false: the spans were imported */
/* Did the host have such an event (or such a system call) in an applied second? */
bool timeline_host_has_event(const struct timeline *tl, uint32_t host, const char *name);
bool timeline_host_has_calls(const struct timeline *tl, uint32_t host);
/* Has, or had, a thread of the thread's process a span? If the process is unknown, the thread itself. */
bool timeline_has_spans_of(const struct timeline *tl, uint32_t thread);

/* What is known of all that was applied. */
struct timeline_facts {
	bool has_spans, has_calls;	/* or had them */
	bool has_hostless;		/* spans of an unknown host, as in files of spans */
	bool has_unpaired;		/* system calls whose entries and exits no event pairs, call_cell.unpaired */
	struct completeness completeness;	/* dropped seconds included. .corrected is 0: only seconds have it */
	struct notes_left_out notes;	/* annotations that no span has */
	uint64_t n_thinned;		/* traces that history does not have (publication.n_thinned); nothing else is
					 * known of them */
	int64_t requests_from;		/* ns: no request that ended then or later was evicted or dropped. TIME_UNKNOWN:
					 * no request was */
	int64_t folded_until;		/* ns: seconds before may be folded to 10 s or a minute (second.fold_ns).
					 * TIME_UNKNOWN: none is */
	size_t budget;			/* bytes */
	uint64_t version;		/* grows with every timeline_apply() that changed anything */
	uint64_t serial;		/* unique among all timelines of this process, freed ones included */
};
const struct timeline_facts *timeline_facts(const struct timeline *tl);

/* Data known to be missing in the whole input; NULL: unknown, as for a recorded trace. */
const struct missing *timeline_missing(const struct timeline *tl);
void timeline_set_missing(struct timeline *tl, const struct missing *m);
size_t timeline_bytes(const struct timeline *tl);		/* memory in use, approximate */
/* The oldest instant (ns) that a second covers; after the beginning of coverage once seconds were dropped. */
int64_t timeline_retained_from(const struct timeline *tl);

#endif
