/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of a slice (see slice.h): its registries, seconds, logs and caches. The parts have headers of their own in
 * state/kernel and state/spans. Only for src/state/.
 */
#ifndef BLK_STATE_SLICE_SLICE_STATE_H
#define BLK_STATE_SLICE_SLICE_STATE_H

#include "base/intmap.h"
#include "base/slab.h"
#include "base/strtab.h"
#include "state/kernel/cpu_types.h"
#include "state/kernel/facts.h"
#include "state/kernel/fdops.h"
#include "state/kernel/losses.h"
#include "state/kernel/thread_types.h"
#include "state/store/second.h"
#include "trace/event.h"

struct bin;
struct feed;

struct slice_host {
	char *name, *boot, *release;
	uint32_t preempt_flag;		/* the bit of prev_state that means "preempted": by kernel version */
	uint32_t id;			/* in the publication's registry; ID_NONE */
	bool has_kernel;		/* its kernel is traced */
	bool seen;			/* a record of it came */
	bool kernel_ended;		/* live: all streams of its kernel have ended */
	uint32_t n_open;		/* live: open streams of its kernel */
	int64_t begin, end;		/* ns; when it was traced: as in struct blk_host, see coverage.h */
};

/* Slots of ended threads, see thread_slots.h. */
struct thread_slots {
	GArray *free;		/* uint32_t: free slots */
	GArray *again;		/* uint32_t: slots reused since the publisher last looked */
	guint kept;		/* slots in use after the last thread_slots_free_ended() */
};

struct slice {
	/* Options, set before anything is fed; see slice.h. */
	bool from_start;		/* starts at the trace's beginning */
	bool stitching;			/* while it is merged with its neighbour */
	bool no_spans, live;		/* slice_without_spans(); slice_live() */
	bool no_fast_path;		/* slice_without_fast_path() */
	size_t path_bytes, path_room;	/* bytes of paths and their bound, see slice_bound_paths() */
	uint32_t unread_kinds;		/* bits: kinds of cells that are not made, see slice_reads() */
	int64_t window_from, window_to;	/* indexes of the bins of all before the window, and of all behind it */
	int64_t step;			/* length of a bin in ns, > 0 */
	void (*follow)(struct feed *f);	/* the call log's, called for each event; it calls cls->on. Or NULL */
	void *follower;			/* its data */

	uint64_t finished;		/* number of the entry of the call that finished last */
	bool has_functions, has_switches, has_calls;	/* the source has such event classes */
	int64_t first, last;		/* ns: coverage; INT64_MAX, INT64_MIN while empty */
	int64_t horizon;		/* ns: nothing older will come; INT64_MIN: unknown */
	uint64_t seq;			/* events so far: their numbers */
	uint64_t n_events;		/* the same, with events that were only counted */
	struct losses losses;
	GArray *voids;			/* struct time_void, see coverage.h; in order */

	/* Registries: ids of the slice. */
	struct strtab *strings;		/* forever */
	struct strtab *texts;		/* reftexts of annotations; forgotten when no annotation uses them */
	GArray *hosts;			/* struct slice_host */
	GPtrArray *threads;		/* struct thread *; read it with thread_at() */
	struct thread_slots slots;	/* free ones of .threads */
	struct intmap tid_last, tid_first;	/* host << 32 | tid -> the newest thread of the tid, the first one */
#define TID_CACHE 256
	struct thread *tid_cache[TID_CACHE];	/* the newest thread of tid n, by n mod slots; or NULL */
	GPtrArray *cpus;		/* struct cpu * */
	struct intmap cpu_map;		/* host << 32 | number -> index in .cpus */

	/* Seconds. */
	GHashTable *bins;		/* int64_t index -> struct bin */
	struct bin *bin_last;		/* the one used last; NULL */
	uint32_t epochs;		/* given out so far, see struct call_slot */
	struct bin *count_bin;		/* where struct class_info.count belongs; NULL: nothing is counted */
	int64_t kept_from;		/* bins before this index were dropped */
	struct trust forgotten;		/* the sum of theirs */
	struct cell_table unread[CELL_KIND_N];	/* of .unread_kinds: one cell that is written and never read */
	uint64_t generation;		/* counts published threads that were merged into others */

	/* Logs. */
	GArray *facts;			/* struct fact */
	guint facts_sorted;		/* this many, from the front, are known to be in order */
	GArray *annots;			/* struct annot */
	struct slab snaps;		/* owns their struct snap */
	GArray *binaries;		/* struct binary, in order */
	struct blocks *blocks;		/* block requests, see block.h */
	GArray *soft_wakes;		/* struct soft_wake */
	GHashTable *classes;		/* names of the event classes of all sources */
	struct fdops fdops;

	/* Of the current source. */
	const struct blk_tables *tables;
	GArray *streams, *class_infos;	/* struct stream_info; struct class_info */
	struct intmap irq_named;	/* host << 32 | code: a FACT_IRQ was written */
};

/* Ids of texts: a string; the same for a path or peer, within slice_bound_paths(); a text of an annotation. */
uint32_t slice_string(struct slice *s, struct blk_text t);
uint32_t slice_path(struct slice *s, struct blk_text t);
uint32_t slice_text(struct slice *s, struct blk_text t);
/* Index of the CPU, which is made if it is new. */
uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number);
/* The newest thread of the tid. It is made if there is none, or if that one has exited. */
struct thread *slice_thread(struct slice *s, uint32_t host, int32_t tid);
/* A new thread, forked at ts. The thread that had the tid before has ended. */
struct thread *slice_thread_born(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
/* The tid's thread has ended by then, if it has not exited: the tid is reused. */
void slice_tid_again(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
/* A new thread without a name (tid -1), which runs on the CPU; the CPU's idle task. */
struct thread *slice_anonymous(struct slice *s, struct cpu *c);
struct thread *slice_idle(struct slice *s, struct cpu *c);
/* Frees the thread's slot for reuse. */
void slice_thread_release(struct slice *s, struct thread *t);
/* Appends a fact, for the caller to fill. Valid until the next one. */
struct fact *slice_fact(struct slice *s, enum fact_kind kind, uint32_t thread, int64_t ts, uint64_t seq);

/* feed.c */
/* Adds the counts of events to their seconds: call it before bins are read. */
void slice_flush(struct slice *s);
/* The next records come from another source, with tables of its own. */
void slice_change_source(struct slice *s);
/* Drops all seconds so far. */
void slice_drop_seconds(struct slice *s);

/* The thread of the id, after merges. */
static inline struct thread *thread_at(const struct slice *s, uint32_t id)
{
	struct thread *t = g_ptr_array_index(s->threads, id);
	while (t->forward != ID_NONE)
		t = g_ptr_array_index(s->threads, t->forward);
	return t;
}

/* Is the host's kernel traced? */
static inline bool slice_has_kernel(const struct slice *s, uint32_t host)
{
	return g_array_index(s->hosts, struct slice_host, host).has_kernel;
}

/* Live, without a kernel trace: only the thread's own events show that it exists. */
static inline bool thread_tells_itself(const struct slice *s, const struct thread *t)
{
	return s->live && !slice_has_kernel(s, t->host);
}

/* The id after merges; ID_NONE stays. */
static inline uint32_t thread_follow(const struct slice *s, uint32_t id)
{
	if (id == ID_NONE)
		return id;
	for (;;) {
		const struct thread *t = g_ptr_array_index(s->threads, id);
		if (t->forward == ID_NONE)
			return id;
		id = t->forward;
	}
}

static inline struct cpu *cpu_at(const struct slice *s, uint32_t i)
{
	return g_ptr_array_index(s->cpus, i);
}

/* Did any loss end after this? */
static inline bool slice_lost_after(const struct slice *s, int64_t from)
{
	return s->losses.latest > from;
}

/* A kernel loss of the host in (from, to)? */
static inline bool slice_lost_between(const struct slice *s, uint32_t host, int64_t from, int64_t to,
				      int64_t *ret_begin)
{
	return slice_lost_after(s, from) && losses_find(&s->losses, host, true, from, to, ret_begin);
}

static inline uint64_t pair(uint32_t hi, uint32_t lo)
{
	return (uint64_t)hi << 32 | lo;
}

/* Are cells of the kind made? See slice_read_cells(). */
static inline bool slice_reads(const struct slice *s, enum cell_kind kind)
{
	return !(s->unread_kinds >> kind & 1);
}

#endif
