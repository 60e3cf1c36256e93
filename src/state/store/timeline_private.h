/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a timeline: timeline.c keeps it, timeline_budget.c makes room. */
#ifndef BLK_STATE_STORE_TIMELINE_PRIVATE_H
#define BLK_STATE_STORE_TIMELINE_PRIVATE_H

#include "base/intmap.h"
#include "base/pages.h"
#include "state/store/span_sums.h"
#include "state/store/timeline.h"

/* With what a walk over all spans needs, so that it stays in this array. */
struct span_entry {
	struct span *span;
	uint64_t trace_id;
	int64_t end_ns;
	size_t bytes;
	uint32_t slot;
	bool open;
	bool corrected;			/* the model's later versions count no more */
};

struct trace_entry {
	struct trace_info info;
	GArray *indexes;		/* of uint32_t: in spans */
	size_t bytes;			/* of its spans */
	bool stale;			/* .info has to be counted anew */
};

struct container_entry {
	uint64_t container;		/* of container.h */
	uint32_t host;
	uint32_t hostname;		/* string: what its processes say; 0: nothing */
	bool several;			/* others of the host are called so */
};

struct timeline {
	struct pages strings;		/* char *, owned */
	struct pages hosts;		/* struct host_info */
	struct pages threads;		/* struct thread_info, names owned */
	struct pages processes;		/* struct process_info */
	struct pages files;		/* struct file_info */
	GArray *ended_threads, *ended_processes;	/* uint32_t: only spans may refer to them */
	guint ended_left;		/* how many of these spans referred to at the last look */
	GHashTable *classes;		/* event names, a set */
	GHashTable *host_events;	/* "HOST NAME": what came from whom, a set */
	struct intmap by_host_event;	/* host and string: it is in there */
	GPtrArray *seconds;		/* struct second *, by begin_ns */
	GArray *spans;			/* struct span_entry */
	struct intmap by_slot;		/* slot -> index in spans */
	struct intmap by_container;	/* host and container -> process_info.container */
	GArray *containers;		/* struct container_entry */
	bool has_hostnames;		/* that are not the machine's */
	struct intmap by_trace;		/* trace id -> index in traces */
	GArray *traces;			/* struct trace_entry */
	GArray *stale_traces;		/* uint64_t: their ids */
	GArray *operations;		/* struct operation_info */
	struct intmap by_operation;	/* service, name, server -> index in operations */
	GArray *changed_operations;	/* uint32_t: indexes */
	bool loose_operations;		/* there are such among these */
	size_t operation_bytes;
	uint64_t serial;
	uint64_t pinned;		/* trace id, 0: none */
	GArray *held_back;		/* struct span_entry: new versions for the pinned trace */
	bool has_coverage, has_spans, has_calls, has_corrected;
	int64_t first_ns, last_ns;
	int64_t dropped_until;		/* seconds that began before it were dropped */
	int64_t folded_until;		/* seconds that began before it may be folded */
	uint64_t n_events, version;
	struct trust trust;
	struct missing missing;		/* has_missing */
	bool has_missing;
	size_t budget;
	bool whole_seconds;		/* they are never folded, nor dropped */
	timeline_evicting evicting;	/* NULL: nobody is told */
	void *evicting_data;
	timeline_beginning beginning;	/* NULL: nobody is told (any more) */
	void *beginning_data;
	int64_t wanted_from, wanted_to;	/* traces of then are evicted after others; equal: of any time */
	uint64_t kept[TIMELINE_KEPT];	/* trace ids that are never evicted; 0: none */
	size_t beside_bytes;		/* what is held for spans that are to come */
	size_t second_bytes, span_bytes;
	uint64_t evicted_traces, evicted_spans;
	int64_t evicted_until;		/* the last of these ended before it; TIME_UNKNOWN: none did */
	GByteArray *evicted_slots;	/* a bit a slot, from .evicted_from on: evicted after its end */
	uint32_t evicted_from;		/* multiple of 8; slots before it were evicted or are in the timeline */
	struct span_sums sums;		/* of evicted spans */
	size_t sum_bytes;
	size_t registry_bytes;
	struct intmap long_texts;	/* reftext that is no part of span.bytes -> how often spans say it */
	size_t text_bytes;		/* of these texts */
};

void timeline_drop_ended(struct timeline *tl);	/* drops ended threads and processes to which no span refers */

/* timeline_traces.c: what spans tell together. */
void traces_init(struct timeline *tl);
void traces_clear(struct timeline *tl);
/* A span that is new in the list. */
void traces_add(struct timeline *tl, const struct span_entry *entry, uint32_t index);
/* Before and after another version of a span takes its place. */
void traces_replace(struct timeline *tl, const struct span_entry *old,
		    const struct span_entry *fresh, uint32_t index);
/* A span that goes, but still counts. */
void traces_count_evicted(struct timeline *tl, const struct span *s);
/* After a publication was applied: counts what it left to be counted. */
void traces_settle(struct timeline *tl);
/* A trace without spans; the last one takes its place. */
void traces_forget(struct timeline *tl, uint32_t i);
size_t traces_bytes(const struct timeline *tl);

/* timeline_containers.c */
uint32_t containers_id(struct timeline *tl, const struct process_info *p);	/* for .container */
void containers_name(struct timeline *tl);	/* processes changed, or what they are called */

/* timeline.c: a span's memory is no longer the timeline's. */
void timeline_uncount(struct timeline *tl, const struct span_entry *entry);

/* timeline_budget.c */
void timeline_keep_budget(struct timeline *tl);
/* Was a span of that slot evicted? It counts as it was then, and does not come back. */
bool timeline_is_evicted(const struct timeline *tl, uint32_t slot);

#endif
