/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the views see: closed seconds, spans, and the registries their ids point
 * into. The timeline belongs to the main thread, which alone changes it by
 * applying publications that a worker made (see publish.h); everything handed
 * out is const and stays valid until the next timeline_apply().
 *
 * Ids are dense from 0 and stable for the life of the timeline. Nothing may be ordered or printed by id.
 * Strings from traces are hostile: see base/text.h.
 */
#ifndef BLK_STATE_STORE_TIMELINE_H
#define BLK_STATE_STORE_TIMELINE_H

#include "base/missing.h"
#include "state/store/second.h"
#include "state/store/span.h"

#define TIME_UNKNOWN INT64_MIN

struct host_info {
	char *name;
	char *boot;			/* names its clock: hosts (containers) with the same one share it;
					 * "": not known */
};
void host_info_clear(struct host_info *h);

struct name_at {			/* a name from `since` on */
	int64_t since;
	uint32_t name;			/* string */
};

struct thread_info {
	uint32_t host;
	int32_t tid;
	uint32_t process;		/* timeline_process(); ID_NONE: unknown */
	bool kernel;			/* a kernel thread */
	int64_t start_ns, exit_ns;	/* TIME_UNKNOWN: before / not in the trace */
	const struct name_at *names;	/* by time */
	uint32_t n_names;
};

enum ns_kind { NS_PID, NS_CGROUP, NS_UTS, NS_N };

struct process_info {
	uint32_t host;
	int32_t pid;
	int32_t ppid;			/* -1: unknown */
	uint32_t leader;		/* thread; ID_NONE: never seen */
	int64_t start_ns, exit_ns;	/* TIME_UNKNOWN */
	uint32_t ns[NS_N];		/* namespaces it was in last, by inode; 0: unknown */
	int32_t vpid;			/* its pid in its pid namespace; -1: unknown */
	uint32_t hostname;		/* string: what it is told its host is called; 0: unknown */
	uint32_t hostname_key;		/* container_hostname_key() of it */
	uint32_t container;		/* the timeline's own: dense, over all hosts; ID_NONE:
					 * unknown. See container.h. */
};

/* With what their columns and JSON call them; which paths are of a kind, and what one waits for who waits for
 * such a file, is in names_files.c. */
#define FILE_KIND_LIST(X) \
	X(UNKNOWN, "unknown") X(REGULAR, "file") X(SOCKET, "socket") X(PIPE, "pipe") X(EVENT, "event") X(TTY, "tty") \
	X(OTHER, "other")
#define FILE_KIND_ENUM_(id, name) FILE_##id,
enum file_kind { FILE_KIND_LIST(FILE_KIND_ENUM_) FILE_KIND_N };
extern const char *const file_kind_name[FILE_KIND_N];	/* "file", "socket", ... */

struct file_info {
	uint32_t host;
	enum file_kind kind;
	uint32_t path;			/* string: path as passed, "socket tcp 10.0.0.1:80", "pipe", "fd 3" */
};

struct timeline;

/* memory_budget in bytes; 0: no bound. */
struct timeline *timeline_new(size_t memory_budget);
void timeline_free(struct timeline *tl);
typedef struct timeline blk_timeline;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_timeline, timeline_free)

/* Coverage: first event to last event of any stream so far; false while empty. */
bool timeline_coverage(const struct timeline *tl, int64_t *ret_first, int64_t *ret_last);

/* Closed seconds by time. Gaps (seconds without any event) have no entry. */
size_t timeline_n_seconds(const struct timeline *tl);
const struct second *timeline_second(const struct timeline *tl, size_t i);
/* Index of the first second with end_ns > at (n_seconds when there is none). */
size_t timeline_find(const struct timeline *tl, int64_t at);

/* Registries; NULL resp. "" for ids that do not exist. */
const char *timeline_string(const struct timeline *tl, uint32_t id);
const struct host_info *timeline_host(const struct timeline *tl, uint32_t id);
const struct thread_info *timeline_thread(const struct timeline *tl, uint32_t id);
const struct process_info *timeline_process(const struct timeline *tl, uint32_t id);
const struct file_info *timeline_file(const struct timeline *tl, uint32_t id);
uint32_t timeline_n_hosts(const struct timeline *tl);
/* The id of the first thread >= from; ID_NONE: none. In live runs, threads that ended are dropped when nothing retained
 * refers to them. */
uint32_t timeline_next_thread(const struct timeline *tl, uint32_t from);
/* What the processes of a container (of container.h) on the host say they are called there, if
 * it is not what the machine is called; NULL: nobody says. Of several names the first by the
 * alphabet. ret_several: other containers of the host are called so, too. */
const char *timeline_container_hostname(const struct timeline *tl, uint32_t host,
					uint64_t container, bool *ret_several);
/* The thread's name as it was last before `until` (its first one if all are later). */
const char *timeline_comm(const struct timeline *tl, uint32_t thread, int64_t until);

/* Spans, in order of publication; closed spans by end, open ones replaced in place. */
size_t timeline_n_spans(const struct timeline *tl);
const struct span *timeline_span(const struct timeline *tl, size_t i);
/* Indexes (uint32_t) of all spans of a trace, NULL when there is none. Unordered. */
const GArray *timeline_trace_spans(const struct timeline *tl, uint64_t trace_id);
/* What the spans kept of a trace tell together. */
struct trace_info {
	uint64_t trace_id;
	const struct span *root;	/* its true root, else the earliest of its spans */
	bool has_root;			/* .root is a true one */
	bool open, partial;		/* one of its spans is */
	int64_t begin_ns, end_ns;	/* of all its spans */
	uint32_t n_spans, errors;
};
/* In order of publication, as long as none is evicted. NULL: there is no such trace. */
size_t timeline_n_traces(const struct timeline *tl);
const struct trace_info *timeline_trace(const struct timeline *tl, size_t i);
const struct trace_info *timeline_find_trace(const struct timeline *tl, uint64_t trace_id);

/* Closed spans by what they do, since the begin: also those that were evicted. */
struct operation_info {
	const char *service, *name;	/* reftexts, held */
	bool server;			/* the server halves of that name */
	bool changed, loose;		/* private */
	struct hist duration;
	uint64_t evicted;		/* of these */
	struct extremes { int64_t min, max; } evicted_duration, evicted_user;	/* private */
	int64_t p50, p99;
	struct hist user;		/* the time on a CPU in user mode, of those that came */
	int64_t user_p50;
};
/* The operation of a span; NULL: none of it has ended (or, where memory is short, it is one of
 * too many). Stays where it is until the next timeline_apply(). */
const struct operation_info *timeline_operation(const struct timeline *tl, const struct span *s);

/* Pins a trace: it is neither dropped nor replaced while it is looked at. (Its open
 * spans do go on and close; new versions of closed ones wait until it is unpinned.) */
void timeline_pin(struct timeline *tl, uint64_t trace_id);	/* 0: nothing is pinned */

/* For who reads to the end and looks then: seconds stay as they are, whatever they take, and
 * spans get what they leave, at least an eighth of the budget. */
void timeline_keep_seconds(struct timeline *tl);
/* Told just before traces are evicted, mostly in order of their ends: all their spans are there
 * still. Not told what goes with its seconds. */
typedef void (*timeline_evicting)(void *data, const uint64_t *trace_ids, size_t n);
void timeline_tell_evicting(struct timeline *tl, timeline_evicting tell, void *data);
/* Told once: with the first publication that says since when there is something, before anything
 * of it can be evicted. timeline_coverage() tells it then. */
typedef void (*timeline_beginning)(void *data);
void timeline_tell_beginning(struct timeline *tl, timeline_beginning tell, void *data);
/* Traces of others than these instants are evicted first: these will be asked for. */
void timeline_keep_range(struct timeline *tl, int64_t from_ns, int64_t to_ns);
/* These are never evicted, and go on all the same. At most TIMELINE_KEPT; 0: none. */
#define TIMELINE_KEPT 4
void timeline_keep_traces(struct timeline *tl, const uint64_t *trace_ids, size_t n);

/*
 * When spans fill more than half of the memory budget, whole traces are evicted, oldest
 * first, but of every operation (service and name of the root) the slowest last. What they
 * were goes into sums by time, so that totals stay right: of the closed spans several times over,
 * in the ways that views ask for them. Steps of time are a second, and get coarser (for all)
 * where there are many sums.
 */
enum span_sum_of {
	SUM_SPAN,			/* each by service, name, kind; top: a request */
	SUM_PHASE,			/* each below the root of its tree; top: the root itself */
	SUM_SELF,			/* roots, without what their children cover */
	SUM_CALL,			/* each that another service asked for, as that one saw it */
	SUM_TRACE,			/* roots that traces are named after; top: true roots */
};
struct span_sum_key {
	enum span_sum_of of;
	enum span_kind kind;
	const char *service, *name;	/* reftexts, held; of calls only the service */
	const char *operation_service, *operation;	/* of the root; of a call the caller's service
							 * (NULL: from outside) */
	bool top;
	bool others;			/* of what had no room: no text is known */
};
struct span_sum {
	struct span_sum_key key;
	int64_t begin_ns, end_ns;	/* the first of them ended at, the last before (of phases:
					 * their root) */
	uint64_t count, errors;
	int64_t self_ns;
	int64_t parents_ns;		/* of phases: the spans they are children of, each once */
	int64_t part[PART_N];
	struct hist duration;
	struct hist gaps;		/* of calls: the caller's time less the called one's */
	uint64_t skewed;		/* of calls: those with less than none */
	int64_t slot;			/* private */
};
/* Evicted since the begin. */
void timeline_evicted(const struct timeline *tl, uint64_t *ret_traces, uint64_t *ret_spans);
/* Of the requests that ended at or after it none was evicted or dropped. TIME_UNKNOWN: none at all. */
int64_t timeline_requests_from(const struct timeline *tl);
size_t timeline_n_span_sums(const struct timeline *tl);
const struct span_sum *timeline_span_sum(const struct timeline *tl, size_t i);	/* unordered */

/* Is there an event of this name in the source (class known)? For "needs". */
bool timeline_has_event(const struct timeline *tl, const char *name);
bool timeline_has_events(const struct timeline *tl);	/* of any name; false: it was imported */
/* Did one come from that host, in a second that was applied? */
bool timeline_host_has_event(const struct timeline *tl, uint32_t host, const char *name);
bool timeline_host_has_calls(const struct timeline *tl, uint32_t host);
/* Anything with spans, with system calls? */
bool timeline_has_spans(const struct timeline *tl);
bool timeline_has_calls(const struct timeline *tl);

/* Totals over everything read, also what was dropped from memory since. (Of .corrected:
 * none; each second tells its own.) */
struct trust timeline_trust(const struct timeline *tl);
/* What is known to be missing, of all; NULL: a recorded trace, of which nothing like it is known. */
const struct missing *timeline_missing(const struct timeline *tl);
void timeline_set_missing(struct timeline *tl, const struct missing *m);
size_t timeline_bytes(const struct timeline *tl);		/* memory held, about */
size_t timeline_budget(const struct timeline *tl);
/* Oldest instant still kept in seconds; > first of coverage once old ones were dropped. */
int64_t timeline_kept_from(const struct timeline *tl);
/* Seconds before it may be folded: several are one, of 10 s or a minute (fold_ns), since
 * memory is short. TIME_UNKNOWN: none is. */
int64_t timeline_folded_until(const struct timeline *tl);
/* Grows with every timeline_apply() that changed anything. */
uint64_t timeline_version(const struct timeline *tl);
/* No two timelines of the process have the same, one after another neither. */
uint64_t timeline_serial(const struct timeline *tl);

#endif
