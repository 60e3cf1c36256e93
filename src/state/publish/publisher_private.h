/* SPDX-License-Identifier: GPL-2.0-only */
/* What publisher.c and adopt.c share. Only for these. */
#ifndef BLK_STATE_PUBLISH_PUBLISHER_PRIVATE_H
#define BLK_STATE_PUBLISH_PUBLISHER_PRIVATE_H

#include "state/names/names_private.h"
#include "state/publish/publisher.h"
#include "state/spans/spans.h"

struct thread_entry {			/* what was last published of a thread */
	uint32_t thread;	/* slice's id; ID_NONE: released, or only an adopted second has it */
	uint32_t before;	/* as in struct lives */
	uint32_t host;
	int32_t tid;		/* by which it is among the lives; -1: it is not */
	uint32_t process;	/* registry's id, as the slice knows it */
	uint32_t shown;		/* and as it was published: adopt.c may know better, until the slice
				 * learns something else */
	bool kernel;
	guint n_comms;
	int64_t start_ns, exit_ns;
	int64_t released;	/* when the slice released it (ns); TIME_UNKNOWN: it has not */
};

/* Numbers of what may still change, in order; of a run without end those that are over leave. */
struct alive {
	GArray *ids;		/* uint32_t */
	guint seen;		/* looked at so far */
};

struct process_entry {
	struct process_info info;	/* as published, leader mapped */
	uint32_t process;	/* its number in names.h; ID_NONE: released, or only an adopted second has it */
	uint32_t before;	/* as in struct lives */
	int64_t released;	/* as in struct thread_entry */
};

/* Which registry entries had a number (tid, pid) of a host: the newest one, and in its .before the one before it, and
 * so on; ID_NONE: none. */
struct owners {
	struct intmap newest;	/* host << 32 | number */
	struct pages *entries;
	size_t at_before;	/* offset of .before in an entry */
};

/* An entry that the slice released at that time (ns): it is dropped when the timeline retains nothing from before. */
struct released { int64_t at; uint32_t id; };

struct publisher {
	struct slice *s;
	struct names *names;
	struct spans *spans;
	uint32_t n_strings, n_hosts, n_files;
	struct pages threads;	/* struct thread_entry, by registry id */
	guint n_published;	/* numbers below it were published at least once */
	struct alive charged, open_threads, open_processes;
	struct pages processes;	/* struct process_entry, by registry id */
	struct owners tid_owners, pid_owners;
	GArray *released_threads, *released_processes;	/* struct released, the oldest first */
	GHashTable *classes;	/* names published */
	uint64_t generation;		/* only grows: see look_for_news() */
};

/* All that is new or has changed in the registries. */
void publisher_tell(struct publisher *p, struct publication *pub);
/* The registry's id of a slice's thread; a new one where it has none. */
uint32_t publisher_thread_id(struct publisher *p, uint32_t thread);
/* Coverage and totals. */
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

/* A new entry, not published yet. */
uint32_t publisher_add_thread(struct publisher *p, uint32_t host);
uint32_t publisher_add_process(struct publisher *p, uint32_t host, int32_t pid);

#endif
