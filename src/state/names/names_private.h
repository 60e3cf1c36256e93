/* SPDX-License-Identifier: GPL-2.0-only */
/* What names.c and names_forget.c share: threads and processes as names know them. */
#ifndef BLK_STATE_NAMES_NAMES_PRIVATE_H
#define BLK_STATE_NAMES_NAMES_PRIVATE_H

#include "state/names/fdtable.h"
#include "state/names/names.h"

#include "base/pages.h"

struct thread_identity {			/* a thread as names know it */
	uint32_t process;
	bool kernel;
	bool exited;
	struct fdtable *table;	/* while its process is not known; names.all_tables owns it */
	GArray *comms;
	struct context_history told;	/* by its events */
};

/* A process ends with its last thread. Since Linux 6.16 the kernel says which one that is; before, while
 * its leader was not seen to end, there may be threads that are not known. */
struct lifetime {
	uint32_t alive;		/* threads known to be its own, that have not ended */
	bool leader_ended;
	bool others_run;	/* the thread that ended last was not the process's last one */
	bool all_ended;		/* the last thread has ended; exits of others may follow, from other CPUs */
	int64_t last_exit;	/* ns; TIME_UNKNOWN: none ended yet */
	uint64_t last_seq;	/* of that */
};

struct process {
	struct process_info info;	/* .leader: the slice's thread */
	struct process_ns process_ns;
	struct lifetime lifetime;
	struct fdtable *table;	/* names.all_tables owns it */
	uint32_t id;		/* in the publisher's registry; ID_NONE: not published yet */
	uint32_t n_threads;	/* known ones, also those that have ended */
};

/* What a descriptor was from one change to the next: one asks for it again and again. */
#define SEEN_SLOTS 256
struct seen {
	const struct fdtable *table;	/* NULL: nothing here */
	int64_t fd;
	uint64_t from, to;		/* seq: [from, to) */
	uint32_t file;
};

void identity_free(gpointer p);

struct names {
	struct slice *s;
	struct seen seen[SEEN_SLOTS];	/* until other facts come */
	GPtrArray *identities;	/* by thread id; NULL */
	GArray *anonymous;	/* uint32_t: threads with a person but no tid */
	struct pages processes;	/* struct process; one is dropped with its last thread */
	GPtrArray *all_tables;
	struct intmap pid_last;	/* host << 32 | pid -> process */
	struct intmap tid_last;	/* host << 32 | tid -> thread: the newest of a known process */
	GHashTable *by_address;	/* "host:address" of the state dump -> process + 1 */
	GArray *files;		/* struct file_info */
	GHashTable *file_ids;	/* struct file_info -> id + 1 */
	struct intmap irqs, devs;
	uint64_t n_facts;	/* applied since versions were forgotten */
	uint64_t generation;		/* see names_news() */
	uint64_t updated_to;	/* events: facts of those before it were applied */
};

static inline struct process *names_process_at(const struct names *n, uint32_t process)
{
	return pages_at(&n->processes, struct process, process);
}

/* The keys of names.file_ids. Free with g_hash_table_unref(). */
GHashTable *names_file_ids_new(void);
/* The number of the file; a new one gets the next. `path` is a string of the slice. */
uint32_t names_file_id(struct names *n, uint32_t host, enum file_kind kind, uint32_t path);
/* What the kernel's d_path and device names tell of a file's kind; FILE_UNKNOWN where the path is "". */
enum file_kind names_kind_of_path(const char *path, enum file_kind otherwise);

#endif
