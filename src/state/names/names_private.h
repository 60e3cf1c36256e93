/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of names. Only for names.c and the publisher (publish/). */
#ifndef BLK_STATE_NAMES_NAMES_PRIVATE_H
#define BLK_STATE_NAMES_NAMES_PRIVATE_H

#include "state/names/fdtable.h"
#include "state/names/names.h"

#include "base/pages.h"

struct context_history {
	struct contexts is;		/* current values */
	uint64_t seq[CONTEXT_N];	/* event that changed it to the current value */
};

struct process_ns {			/* namespaces of a process */
	struct contexts dumped;		/* from the state dump, or inherited by fork */
	struct context_history by_events;
	uint32_t level;			/* of its dumped pid namespace; valid while its dumped vpid is known */
};

struct table_since { uint64_t seq; struct fdtable *table; };	/* used from that event on; owned */

/* The clone call that a thread is in: its fork event tells whether the child is a process. */
struct clone_call {
	bool known;		/* its entry was recorded, and no fork since */
	int64_t flags;		/* CLONE_* bits; -1: unknown */
	uint64_t seq;		/* of the entry */
};

struct thread_identity {			/* what is known of a thread, by its number in the slice */
	uint32_t process;	/* number; ID_NONE: unknown */
	bool kernel;
	bool user;		/* it made a system call */
	bool exited;
	struct fdtable *table;	/* while its process is not known; names.all_tables owns it */
	GArray *own_tables;	/* struct table_since, by seq: tables that its process does not use; NULL: none. .table
				 * NULL: the process's again */
	struct clone_call clone;
	GArray *comms;		/* struct name_at, by time; NULL: none */
	struct context_history by_events;	/* from contexts of its events */
};

/* A process ends with its last thread. Since Linux 6.16, sched_process_exit shows whether the thread is the last
 * one. For older kernels: until the leader's exit, there may be unknown threads. */
struct lifetime {
	uint32_t alive;		/* number of its known threads that have not ended */
	bool leader_ended;
	bool others_run;	/* the kernel reported that other threads remain after the latest exit */
	bool all_ended;		/* the kernel reported the exit of the last thread; exits of others may follow, from
				 * other CPUs */
	int64_t last_exit;	/* ns; TIME_UNKNOWN: no thread ended yet */
	uint64_t last_seq;	/* event of the latest exit */
};

struct process {
	struct process_info info;	/* .leader: the slice's thread */
	struct process_ns process_ns;
	struct lifetime lifetime;
	struct fdtable *table;	/* its first; names.all_tables owns it */
	GArray *tables;		/* struct table_since, by seq: those after the first; NULL: none */
	int64_t dump_address;	/* of its table in the state dump; 0: unknown */
	uint32_t id;		/* in the publisher's registry; ID_NONE: not published yet */
	uint32_t n_threads;	/* known ones, also those that have ended */
};

/* A cached answer of names_file(): the file of a descriptor from one change to the next. */
#define LOOKUP_SLOTS 256
struct cached_lookup {
	const struct fdtable *table;	/* NULL: empty */
	int64_t fd;
	uint64_t from, to;		/* events: [from, to) */
	uint32_t file;
};

void identity_free(gpointer p);

struct names {
	struct slice *s;
	struct cached_lookup lookups[LOOKUP_SLOTS];	/* valid until the next names_update() */
	GPtrArray *identities;	/* struct thread_identity by thread number; NULL: none */
	GArray *anonymous;	/* uint32_t: threads with an identity but without a tid */
	struct pages processes;	/* struct process; a process is dropped with its last thread */
	GPtrArray *all_tables;	/* struct fdtable, owned */
	GPtrArray *losses;	/* by host: GArray of uint64_t seq, see fdtable_new() */
	struct intmap pid_last;	/* host << 32 | pid -> process */
	struct intmap tid_last;	/* host << 32 | tid -> thread: the newest of a known process */
	GHashTable *by_address;	/* "host:address" of the state dump -> process + 1 */
	GArray *files;		/* struct file_info */
	GHashTable *file_ids;	/* struct file_info -> id + 1 */
	struct intmap irqs, devs;	/* host << 32 | code or device -> string */
	uint64_t n_facts;	/* applied since the last names_forget() */
	uint64_t generation;		/* see names_generation() */
	uint64_t updated_to;	/* seq: facts of events before it were applied */
};

static inline struct process *names_process_at(const struct names *n, uint32_t process)
{
	return pages_at(&n->processes, struct process, process);
}

/* The keys of names.file_ids. Free with g_hash_table_unref(). */
GHashTable *names_file_ids_new(void);
/* The number of the file; a new file gets the next number. `path` is a string of the slice. */
uint32_t names_file_id(struct names *n, uint32_t host, enum file_kind kind, uint32_t path);
/* The kind of a file by its path as the kernel prints it (d_path); `otherwise` for other paths, FILE_UNKNOWN for "". */
enum file_kind names_kind_of_path(const char *path, enum file_kind otherwise);

#endif
