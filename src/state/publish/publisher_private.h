/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of a publisher. Only for publisher.c and adopt.c. */
#ifndef BLK_STATE_PUBLISH_PUBLISHER_PRIVATE_H
#define BLK_STATE_PUBLISH_PUBLISHER_PRIVATE_H

#include "state/names/names_private.h"
#include "state/publish/publisher.h"
#include "state/spans/spans.h"

struct thread_entry {			/* a thread in the registry, as it was last published */
	uint32_t thread;	/* number in the slice; ID_NONE: released, or only an adopted second refers to it */
	uint32_t before;	/* the entry that had the tid before; see struct owners */
	uint32_t host;
	int32_t tid;		/* its number in tid_owners; -1: not in it */
	uint32_t process;	/* registry id, from names.h */
	uint32_t published_process;		/* as it was published: adopt.c may know better, until .process
						 * changes */
	bool kernel;
	guint n_comms;		/* names published; G_MAXUINT: publish it in any case */
	int64_t start_ns, exit_ns;
	int64_t released;	/* when the slice released it (ns); TIME_UNKNOWN: it has not */
};

/* Ids of entries that may still change, in order. In live runs, settled ones are removed. */
struct live_ids {
	GArray *ids;		/* uint32_t */
	guint n_added;		/* ids below it were added */
};

struct process_entry {
	struct process_info info;	/* as published, leader mapped */
	uint32_t process;	/* its number in names.h; ID_NONE: released, or only an adopted second refers to it */
	uint32_t before;	/* the entry that had the pid before; see struct owners */
	int64_t released;	/* as in struct thread_entry */
};

/* Which registry entries had a number (tid or pid) on a host, as linked lists: .newest has the newest entry, the
 * .before of an entry the one before it; ID_NONE: none. */
struct owners {
	struct intmap newest;	/* host << 32 | number -> id */
	struct pages *entries;
	size_t at_before;	/* offset of .before in an entry */
};

/* An entry that the slice released at that time (ns). It is dropped when the timeline has no older second. */
struct released { int64_t at; uint32_t id; };

struct publisher {
	struct slice *s;
	struct names *names;
	struct spans *spans;
	struct lock_counter *locks;
	uint32_t n_strings, n_hosts, n_files;	/* published so far */
	struct pages threads;	/* struct thread_entry, by registry id */
	guint n_published;	/* threads with ids below it were published at least once */
	struct live_ids charged;	/* threads to charge, by number in the slice */
	struct live_ids open_threads;	/* registry ids */
	struct live_ids open_processes;	/* process numbers of names.h */
	struct pages processes;	/* struct process_entry, by registry id */
	struct owners tid_owners, pid_owners;
	GArray *released_threads, *released_processes;	/* struct released, the oldest first */
	GHashTable *classes;	/* names of event classes published, a set */
	uint64_t generation;		/* only grows: see update_generation() */
};

/* Adds all registry entries that are new or have changed. */
void publisher_publish_registries(struct publisher *p, struct publication *pub);
/* The registry id of a slice's thread; assigns one if needed. */
uint32_t publisher_thread_id(struct publisher *p, uint32_t thread);
/* Sets coverage and totals. */
void publisher_totals(const struct publisher *p, struct publication *pub);
void owners_add(struct owners *l, uint32_t host, int32_t number, uint32_t id);
uint32_t owners_before(const struct owners *l, uint32_t id);
uint32_t owners_newest(const struct owners *l, uint32_t host, int32_t number);	/* ID_NONE: none */

static inline struct thread_entry *thread_entry(const struct publisher *p, uint32_t id)
{
	return pages_at(&p->threads, struct thread_entry, id);
}

static inline struct process_entry *process_entry(const struct publisher *p, uint32_t id)
{
	return pages_at(&p->processes, struct process_entry, id);
}

/* Adds an entry, which is not published yet. Returns its id. */
uint32_t publisher_add_thread(struct publisher *p, uint32_t host);
uint32_t publisher_add_process(struct publisher *p, uint32_t host, int32_t pid);

#endif
