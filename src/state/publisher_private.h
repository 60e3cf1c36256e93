/* SPDX-License-Identifier: GPL-2.0-only */
/* What publisher.c and adopt.c share. Only for these. */
#ifndef BLK_STATE_PUBLISHER_PRIVATE_H
#define BLK_STATE_PUBLISHER_PRIVATE_H

#include "state/names_private.h"
#include "state/publisher.h"
#include "state/spans.h"

struct told {			/* what was last published of a thread */
	uint32_t thread;	/* slice's id; ID_NONE: the slice has forgotten it, or only an adopted
				 * second has it */
	uint32_t before;	/* as in struct lives */
	uint32_t host;
	int32_t tid;		/* by which it is among the lives; -1: it is not */
	uint32_t process;	/* registry's id, as the slice knows it */
	uint32_t shown;		/* and as it was published: adopt.c may know better, until the slice
				 * learns something else */
	bool kernel;
	guint n_comms;
	int64_t start_ns, exit_ns;
	int64_t released;	/* as in struct released; TIME_UNKNOWN: it is not */
};

/* Numbers of what may still change, in order; of a run without end those that are over leave. */
struct alive {
	GArray *ids;		/* uint32_t */
	guint seen;		/* looked at so far */
};

struct told_process {
	struct process_info info;	/* as published, leader mapped */
	uint32_t process;	/* the names' number of it; ID_NONE: they have forgotten it, or only an adopted
				 * second has it */
	uint32_t before;	/* as in struct lives */
	int64_t released;	/* as in struct released; TIME_UNKNOWN: it is not */
};

/* Who had a number (tid, pid) of a host, by registry ids: the newest, and by the entry's .before who had it before
 * that one, and so on; ID_NONE: nobody. */
struct lives {
	struct intmap newest;	/* host << 32 | number */
	struct pages *entries;
	size_t at_before;	/* offset of .before in an entry */
};

/* An entry that the slice forgot, at that time (ns): it is dropped when nothing of before is kept any more. */
struct released { int64_t at; uint32_t id; };

struct publisher {
	struct slice *s;
	struct names *names;
	struct spans *spans;
	uint32_t n_strings, n_hosts, n_files;
	struct pages threads;	/* struct told, by registry id */
	guint threads_told;	/* numbers below it were published at least once */
	struct alive charged, told_threads, told_processes;
	struct pages processes;	/* struct told_process, by registry id */
	struct lives thread_lives, process_lives;
	GArray *released_threads, *released_processes;	/* struct released, the oldest first */
	GHashTable *classes;	/* names published */
	uint64_t news;		/* only grows: see look_for_news() */
};

/* All that is new or has changed in the registries. */
void publisher_tell(struct publisher *p, struct publication *pub);
/* The registry's id of a slice's thread; a new one where it has none. */
uint32_t publisher_thread_id(struct publisher *p, uint32_t thread);
/* Coverage and totals. */
void publisher_totals(const struct publisher *p, struct publication *pub);
void lives_add(struct lives *l, uint32_t host, int32_t number, uint32_t id);
uint32_t lives_before(const struct lives *l, uint32_t id);
uint32_t lives_newest(const struct lives *l, uint32_t host, int32_t number);	/* ID_NONE: nobody */

static inline struct told *told_thread(const struct publisher *p, uint32_t id)
{
	return pages_at(&p->threads, struct told, id);
}

static inline struct told_process *told_process(const struct publisher *p, uint32_t id)
{
	return pages_at(&p->processes, struct told_process, id);
}

/* A new entry, with nothing told of it yet. */
uint32_t publisher_add_thread(struct publisher *p, uint32_t host);
uint32_t publisher_add_process(struct publisher *p, uint32_t host, int32_t pid);

#endif
