/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of a timeline. Only for timeline.c (publications), timeline_traces.c (traces and operations),
 * timeline_containers.c and timeline_budget.c (memory). */
#ifndef BLK_STATE_STORE_TIMELINE_PRIVATE_H
#define BLK_STATE_STORE_TIMELINE_PRIVATE_H

#include "base/intmap.h"
#include "base/pages.h"
#include "state/store/timeline.h"

/* A stored span. The copied fields let a walk over all spans stay in this array. */
struct span_entry {
	struct span *span;
	uint64_t trace_id;
	int64_t begin_ns, end_ns;
	size_t bytes;			/* span.bytes */
	uint32_t slot;			/* published_span.slot */
	bool open;
	bool corrected;			/* decoded again: later versions from the model are ignored */
};

struct trace_entry {
	struct trace_info info;
	GArray *indexes;		/* uint32_t, in timeline.spans; never empty */
	size_t bytes;			/* of its spans */
	GArray *missing;		/* uint64_t: see timeline_missing_spans(); NULL: none, or not .missing_known */
	bool missing_known;
	bool stale;			/* .info must be recomputed */
};

/* The times of TIMES_BLOCK neighbours in an array: none begins before .begin, none ends after .end. */
struct block_times { int64_t begin, end; };
#define TIMES_BLOCK 256u

/* The element i of the array takes this time. blocks: struct block_times, of the array. */
void times_widen(GArray *blocks, size_t i, int64_t begin, int64_t end);
/* The first index from i on, and below n, of which the block has times within [from, to). */
size_t times_skip(const GArray *blocks, size_t i, size_t n, int64_t from, int64_t to);

struct container_entry {
	uint64_t container;		/* of container.h */
	uint32_t host;
	uint32_t hostname;		/* string: the hostname its processes see; 0: unknown */
	bool several;			/* another container of the host has the same hostname */
};

/* Seconds in a file. What a look at one changes is here, as looks do not change the timeline. */
struct stored_seconds {
	struct second_reader *reader;
	uint64_t now;			/* counts looks */
	size_t held;			/* bytes of cells that were read */
};

struct timeline {
	struct timeline_facts facts;
	struct pages strings;		/* char *, owned */
	struct pages hosts;		/* struct host_info */
	struct pages threads;		/* struct thread_info, names owned */
	struct pages processes;		/* struct process_info */
	struct pages files;		/* struct file_info */
	GArray *ended_threads, *ended_processes;	/* uint32_t ids; only spans may still refer to them */
	guint ended_left;		/* how many of these remained after the last timeline_drop_ended() */
	GHashTable *classes;		/* event names, a set */
	GHashTable *host_events;	/* "HOST NAME": events that each host had, a set */
	struct intmap by_host_event;	/* host << 32 | string: the pair is in .host_events */
	GPtrArray *seconds;		/* struct second *, by begin_ns */
	struct stored_seconds *stored;	/* NULL: there are none. Else no second is folded or dropped */
	GArray *spans;			/* struct span_entry */
	GArray *span_times;		/* struct block_times, of .spans */
	struct intmap by_slot;		/* slot -> index in spans */
	struct intmap by_container;	/* host and container -> process_info.container */
	GArray *containers;		/* struct container_entry */
	bool has_hostnames;		/* a process sees a hostname that is not its machine's */
	struct intmap by_trace;		/* trace id -> index in traces */
	GArray *traces;			/* struct trace_entry */
	GArray *trace_times;		/* struct block_times, of .traces */
	size_t missing_bytes;		/* of all .missing */
	GArray *stale_traces;		/* uint64_t: ids of traces with .stale */
	GArray *operations;		/* struct operation_info */
	struct intmap by_operation;	/* service, name, server -> index in operations */
	GArray *changed_operations;	/* uint32_t: indexes */
	bool loose_operations;		/* one of the operations is .loose */
	size_t operation_bytes;		/* of texts and histograms of operations */
	uint64_t pinned;		/* trace id, 0: none */
	GArray *held_back;		/* struct span_entry: new versions for the pinned trace */
	struct intmap span_threads, span_processes;	/* id -> 1: it has, or had, a span */
	bool has_coverage, has_corrected;
	int64_t first_ns, last_ns;
	int64_t dropped_until;		/* seconds that began before it were dropped */
	uint64_t n_events;
	struct missing missing;		/* valid with has_missing */
	bool has_missing;
	int64_t seconds_from;		/* timeline_retain_seconds_from() */
	bool retain_seconds;		/* seconds are never folded or dropped */
	timeline_evicting on_evicting;	/* NULL: none */
	void *evicting_data;
	bool retains_range;		/* seconds are dropped, never folded, unless they begin in [.retained_begin, */
	int64_t retained_begin, retained_end;	/* .retained_end) */
	timeline_dropping on_dropping;	/* NULL: none */
	void *dropping_data;
	timeline_beginning on_beginning;	/* NULL: none, or it was called already */
	void *beginning_data;
	int64_t preferred_from, preferred_to;	/* ns; traces in it are evicted after others; equal: no preference */
	uint64_t retained[TIMELINE_RETAINED];	/* trace ids that are never evicted; 0: none */
	size_t beside_bytes;		/* publication.beside_bytes of the latest publication */
	size_t second_bytes;		/* of stored seconds only the outlines; see .stored */
	size_t span_bytes;
	uint64_t evicted_traces, evicted_spans;
	GByteArray *evicted_slots;	/* one bit per slot, from .evicted_from on: its closed span was evicted */
	uint32_t evicted_from;		/* multiple of 8; a slot below it was evicted unless it is stored */
	struct span_sums sums;		/* of evicted spans */
	size_t sum_bytes;		/* of .sums */
	size_t registry_bytes;		/* of strings and names of threads */
	struct intmap long_texts;	/* reftext that span.bytes does not count -> its number of uses in spans */
	size_t text_bytes;		/* of these texts */
};

static inline const struct second *second_at(const struct timeline *tl, size_t i)
{
	return i < tl->seconds->len ? g_ptr_array_index(tl->seconds, i) : NULL;
}

static inline bool is_in_retained_range(const struct timeline *tl, const struct second *s)
{
	return tl->retains_range && s->begin_ns >= tl->retained_begin && s->begin_ns < tl->retained_end;
}

/* Its part of .second_bytes. */
static inline size_t second_held(const struct second *s)
{
	return s->place.stored ? sizeof *s : s->bytes;
}

/* ---- timeline_traces.c: traces and operations ---- */

void traces_init(struct timeline *tl);
void traces_clear(struct timeline *tl);
/* A span was added to the list at `index`. */
void traces_add(struct timeline *tl, const struct span_entry *entry, uint32_t index);
/* The version `fresh` is about to replace `old` at `index`. */
void traces_replace(struct timeline *tl, const struct span_entry *old,
		    const struct span_entry *fresh, uint32_t index);
/* A span is evicted; its operation still counts it. */
void traces_count_evicted(struct timeline *tl, const struct span *s);
/* Computes stale traces and operations, once after each publication. */
void traces_settle(struct timeline *tl);
/* Removes the traces that have no spans; the others stay in order. */
void traces_compact(struct timeline *tl);
size_t traces_bytes(const struct timeline *tl);

/* ---- timeline_containers.c ---- */

uint32_t containers_id(struct timeline *tl, const struct process_info *p);	/* for process_info.container */
void containers_name(struct timeline *tl);	/* finds the hostnames again, after processes changed */

/* timeline.c: the index of the first second that begins at `begin_ns` or later. */
size_t timeline_first_from(const struct timeline *tl, int64_t begin_ns);
/* timeline.c: subtracts a span's memory. */
void timeline_uncount_span(struct timeline *tl, const struct span_entry *entry);

/* ---- timeline_budget.c ---- */

/* Evicts and folds until the memory in use is within the budget. */
void timeline_enforce_budget(struct timeline *tl);
/* Drops ended threads and processes to which no span refers. */
void timeline_drop_ended(struct timeline *tl);
/* Was the span of that slot evicted? The sums contain it as it was then; later versions are ignored. */
bool timeline_is_evicted(const struct timeline *tl, uint32_t slot);

#endif
