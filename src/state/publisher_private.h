/* SPDX-License-Identifier: GPL-2.0-only */
/* What publisher.c and adopt.c share. Only for these. */
#ifndef BLK_STATE_PUBLISHER_PRIVATE_H
#define BLK_STATE_PUBLISHER_PRIVATE_H

#include "state/names.h"
#include "state/publisher.h"
#include "state/spans.h"

struct told {			/* what was last published of a thread */
	uint32_t thread;	/* slice's id, which may be another one's by now; ID_NONE: only an adopted
				 * second has it */
	int32_t tid;		/* by which it is among the lives; -1: it is not */
	uint32_t process;	/* registry's id, as the slice knows it */
	uint32_t shown;		/* and as it was published: adopt.c may know better, until the slice
				 * learns something else */
	bool kernel;
	guint n_comms;
	int64_t start_ns, exit_ns;
};

/* Numbers of what may still change, in order; of a run without end those that are over leave. */
struct alive {
	GArray *ids;		/* uint32_t */
	guint seen;		/* looked at so far */
};

/* Who had a number (tid, pid) of a host, by registry ids. */
struct lives {
	struct intmap newest;	/* host << 32 | number */
	GArray *before;		/* uint32_t, by id: who had it before; ID_NONE: nobody */
};

struct publisher {
	struct slice *s;
	struct names *names;
	struct spans *spans;
	uint32_t n_strings, n_hosts, n_files;
	GArray *threads;	/* struct told, by registry id */
	guint threads_told;	/* of these, published at least once */
	struct alive charged, told_threads, told_processes;
	GArray *processes;	/* struct process_info as published, leader mapped, by registry id */
	GArray *process_ids;	/* uint32_t: registry's id of a process of the names */
	GArray *process_names;	/* uint32_t, the other way; ID_NONE: only an adopted second has it */
	struct lives thread_lives, process_lives;
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

#endif
