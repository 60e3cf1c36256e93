/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A publication: what a worker hands to the owner of the timeline. Made on the
 * worker's thread, given away whole (a GAsyncQueue), applied on the main thread;
 * never touched by both. Ids are assigned by the worker: they only grow, entries of
 * threads and processes may be published again with more knowledge.
 *
 *     struct publication *p = publication_new();
 *     uint32_t id = first_string_id;              // worker counts on
 *     publication_add_string(p, id, "read"); ...
 *     g_ptr_array_add(p->seconds, second);        // takes the reference
 *     ...
 *     timeline_apply(tl, p);                      // takes p over
 */
#ifndef BLK_STATE_STORE_PUBLICATION_H
#define BLK_STATE_STORE_PUBLICATION_H

#include "state/store/timeline.h"

struct published_string { uint32_t id; char *s; };
struct published_host { uint32_t id; struct host_info info; };
struct published_thread { uint32_t id; struct thread_info info; struct name_at *names; }; /* names owned */
struct published_process { uint32_t id; struct process_info info; };
struct published_file { uint32_t id; struct file_info info; };
/* slot: stable place in the list; span owned. Again: read once more (adopt.h), to take the place of what was
 * told of the span; of an id with several halves, only of that of its service. */
enum span_again { SPAN_NEW, SPAN_AGAIN, SPAN_HALF_AGAIN };
struct published_span { uint32_t slot; struct span *span; enum span_again again; };

struct publication {
	GArray *strings, *hosts, *threads, *processes, *files;	/* of the structs above */
	GArray *ended_threads, *ended_processes;	/* uint32_t: ids to which no later publication refers */
	GPtrArray *seconds;		/* struct second *, owned; replaces one of the same begin_ns */
	GArray *spans;			/* struct published_span */
	size_t span_bytes;		/* what these hold, about */
	size_t beside_bytes;		/* bytes that its maker still holds, about */
	GPtrArray *classes;		/* char *, owned: event names the source knows (new ones) */
	bool has_coverage;
	int64_t first_ns, last_ns;	/* coverage so far */
	uint64_t n_events;		/* total so far */
	struct trust trust;		/* total so far */
};

struct publication *publication_new(void);
void publication_free(struct publication *p);		/* NULL is fine */
void publication_add_string(struct publication *p, uint32_t id, const char *s);
/* boot: NULL, "": not known. */
void publication_add_host(struct publication *p, uint32_t id, const char *name, const char *boot);
void publication_add_thread(struct publication *p, uint32_t id, const struct thread_info *info); /* copies names */
void publication_add_process(struct publication *p, uint32_t id, const struct process_info *info);
void publication_add_file(struct publication *p, uint32_t id, const struct file_info *info);
/* The span is sealed; takes the reference. */
void publication_add_span(struct publication *p, uint32_t slot, struct span *span);

/* Takes spans off p's end into one of its own, to be applied after p: so many, and those before
 * them of the same trace. NULL: p has no more than `most`. */
struct publication *publication_split(struct publication *p, guint most);

/* Takes p over (frees it). While more than the budget is held (and beside the timeline), old seconds are folded, to
 * 10 s, then to a minute (timeline_folded_until() tells); then the oldest seconds and spans
 * are dropped, never pinned traces (timeline_kept_from() tells). */
void timeline_apply(struct timeline *tl, struct publication *p);

/* For makers: an empty second / span with one reference, and their memory counted
 * into .bytes when complete. */
struct second *second_new(int64_t begin_ns, int64_t end_ns);
void second_seal(struct second *s);
/* Its cells of a kind are those of the table, which is empty then. */
void second_set_cells(struct second *s, struct cell_table *from, enum cell_kind kind);
struct span *span_new(void);
/* Calls it for each id in the span (of span.h; ID_NONE, too), which it may change. */
enum span_id { SPAN_ID_STRING, SPAN_ID_HOST, SPAN_ID_THREAD, SPAN_ID_FILE };
void span_each_id(struct span *s, void (*visit)(enum span_id kind, uint32_t *id, void *data), void *data);
/* A sealed copy with one reference, in one piece of memory with all its arrays; takes the references of its texts. */
struct span *span_pack(const struct span *s);
void span_seal(struct span *s);

#endif
