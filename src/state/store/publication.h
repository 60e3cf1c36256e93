/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A publication: what a worker hands to the owner of the timeline. The worker fills it and gives it away whole
 * (a GAsyncQueue); the main thread applies it with timeline_apply(). No two threads use it at the same time.
 * The worker assigns the ids. Ids only grow; an entry may be published again when more is known of it.
 *
 *     struct publication *p = publication_new();
 *     publication_add_string(p, next_string_id++, "read"); ...
 *     g_ptr_array_add(p->seconds, second);        // takes the reference
 *     ...
 *     timeline_apply(tl, p);                      // takes p over
 */
#ifndef BLK_STATE_STORE_PUBLICATION_H
#define BLK_STATE_STORE_PUBLICATION_H

#include "state/store/registry.h"
#include "state/store/second.h"
#include "state/store/span.h"

struct published_string { uint32_t id; char *s; };
struct published_host { uint32_t id; struct host_info info; };
struct published_thread { uint32_t id; struct thread_info info; struct name_at *names; }; /* names owned */
struct published_process { uint32_t id; struct process_info info; };
struct host_event { uint32_t host, name; };	/* the host had events of the class; name: string id */
struct published_file { uint32_t id; struct file_info info; };
/* A corrected span was decoded again (publish/adopt.h) and replaces its published version. If several halves have
 * its id, SPAN_HALF_CORRECTED replaces only the half of the same service. */
enum span_correction { SPAN_NEW, SPAN_CORRECTED, SPAN_HALF_CORRECTED };
struct published_span {
	uint32_t slot;			/* stable place of the span: a later version has the same one */
	struct span *span;		/* owned */
	enum span_correction correction;
};

struct publication {
	GArray *strings, *hosts, *threads, *processes, *files;	/* of the structs above */
	GArray *ended_threads, *ended_processes;	/* uint32_t: ids to which no later publication refers */
	GPtrArray *seconds;		/* struct second *, owned; replaces one of the same begin_ns */
	struct second_reader *reader;	/* of outlines among them, and of all that follow; a reference. NULL: none */
	GArray *host_events;		/* struct host_event: what outlines do not list */
	GArray *spans;			/* struct published_span */
	size_t span_bytes;		/* memory of .spans, approximate */
	size_t beside_bytes;		/* memory that the worker still holds, approximate */
	GPtrArray *classes;		/* char *, owned: names of event classes that are new in the source */
	bool has_coverage;
	int64_t first_ns, last_ns;	/* coverage so far; valid with .has_coverage */
	uint64_t n_events;		/* total so far */
	uint64_t n_thinned;		/* of history (slice_history.h): dropped traces, total so far */
	struct completeness completeness;		/* total so far */
	struct notes_left_out notes;			/* likewise */
};

struct publication *publication_new(void);
void publication_free(struct publication *p);		/* NULL is fine */
void publication_add_string(struct publication *p, uint32_t id, const char *s);
/* boot: NULL or "": unknown. */
void publication_add_host(struct publication *p, uint32_t id, const char *name, const char *boot);
void publication_add_thread(struct publication *p, uint32_t id, const struct thread_info *info); /* copies names */
void publication_add_process(struct publication *p, uint32_t id, const struct process_info *info);
void publication_add_file(struct publication *p, uint32_t id, const struct file_info *info);
/* Takes the reference. The span must be sealed. */
void publication_add_span(struct publication *p, uint32_t slot, struct span *span);

/* Moves the last `most` spans of p to a new publication, to be applied after p. It moves more spans if a trace
 * would be split otherwise. Returns NULL if p has at most `most` spans. */
struct publication *publication_split(struct publication *p, guint most);

#endif
