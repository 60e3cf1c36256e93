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
	uint32_t preempt_flag, id;	/* in prev_state: by kernel version; in the publication's registry */
	bool has_kernel, seen, over;	/* .seen: a record of it came; .over: see covered_stream() */
	uint32_t n_open;		/* likewise: its kernel's streams */
	int64_t begin, end;		/* as in struct blk_host, see covered.h */
};

/* Slots of ended threads, see thread_slots.h. */
struct thread_slots {
	GArray *free;		/* uint32_t: free slots */
	GArray *again;		/* uint32_t: slots reused since the publisher last looked */
	guint kept;		/* slots in use after the last thread_slots_free_ended() */
};

struct slice {
	bool from_start, stitching;
	bool no_spans, live;		/* nobody will ask for them, nor for what only they need; slice_live() */
	bool no_fast_path;			/* see slice_without_plain() */
	size_t path_bytes, path_room;	/* see slice_bound_paths() */
	void (*follow)(struct feed *f);	/* the log's, called for each event; it calls cls->on. Or NULL */
	void *follower;			/* its data */
	uint64_t finished;		/* number of the entry of the call that finished last */
	bool has_functions, has_switches, has_calls;	/* such events may come */
	int64_t step;
	int64_t first, last;		/* coverage; INT64_MAX, INT64_MIN */
	uint64_t seq;			/* events so far */
	uint64_t n_events;		/* with tallies */
	struct strtab *strings;
	struct strtab *texts;		/* reftexts: what annotations say; may be forgotten with these */
	GArray *hosts;			/* struct slice_host */
	GPtrArray *threads;		/* struct thread * */
	struct thread_slots slots;		/* of these, nobody */
	struct intmap tid_last, tid_first;	/* host << 32 | tid */
#define TID_CACHE 256
	struct thread *tid_cache[TID_CACHE];	/* the newest life of tid n, mod slots; or NULL */
	GPtrArray *cpus;		/* struct cpu * */
	struct intmap cpu_map;		/* host << 32 | number */
	GHashTable *bins;		/* int64_t index -> struct bin */
	uint32_t unread_kinds;		/* see slice_reads() */
	struct cell_table unread[CELL_KIND_N];	/* of these: one cell that is written and never read */
	struct bin *bin_last;		/* cache */
	uint32_t epochs;		/* handed out, see struct call_slot */
	uint64_t generation;			/* published threads that turned out to be others */
	struct bin *count_bin;		/* events are counted in classes for it; NULL */
	int64_t kept_from;		/* bins before this index are forgotten */
	int64_t window_from, window_to;	/* indexes of the bins of all before, and all behind it */
	struct trust forgotten;		/* their sums */
	GArray *facts;			/* struct fact */
	guint facts_sorted;		/* so many from the front are known to be in order */
	struct losses losses;
	GArray *voids;			/* struct time_void, see covered.h */
	GArray *annots;			/* struct annot */
	struct slab snaps;		/* theirs */
	GArray *binaries;		/* struct binary, in order */
	struct blocks *blocks;		/* block requests, see block.c */
	GArray *soft_wakes;		/* struct soft_wake */
	GHashTable *classes;		/* names of known event classes */
	struct fdops fdops;
	int64_t horizon;		/* the newest one told; INT64_MIN: none */

	/* caches for one set of tables */
	const struct blk_tables *tables;
	GArray *streams, *class_infos;	/* struct stream_info; struct class_info */
	struct intmap irq_named;	/* host << 32 | code: a FACT_IRQ was written */
};

uint32_t slice_string(struct slice *s, struct blk_text t);
uint32_t slice_path(struct slice *s, struct blk_text t);	/* of a file or peer: see slice_bound_paths() */
uint32_t slice_text(struct slice *s, struct blk_text t);
uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number);
struct thread *slice_thread(struct slice *s, uint32_t host, int32_t tid);	/* of its newest life */
/* Forked: who had the tid until then is gone. */
struct thread *slice_thread_born(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
void slice_tid_again(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
struct thread *slice_anonymous(struct slice *s, struct cpu *c);
struct thread *slice_idle(struct slice *s, struct cpu *c);
struct fact *slice_fact(struct slice *s, enum fact_kind kind, uint32_t thread, int64_t ts, uint64_t seq);

/* feed.c */
/* Adds the counts of events to their seconds: call it before bins are read. */
void slice_flush(struct slice *s);
/* The next records come from another source, with tables of its own. */
void slice_change_source(struct slice *s);
/* Drops all seconds so far. */
void slice_drop_seconds(struct slice *s);

static inline struct thread *thread_at(const struct slice *s, uint32_t id)
{
	struct thread *t = g_ptr_array_index(s->threads, id);
	while (t->forward != ID_NONE)
		t = g_ptr_array_index(s->threads, t->forward);
	return t;
}

/* Does a kernel tell of the host? */
static inline bool slice_has_kernel(const struct slice *s, uint32_t host)
{
	return g_array_index(s->hosts, struct slice_host, host).has_kernel;
}

/* See slice_live(): no kernel tells of it. */
static inline bool thread_tells_itself(const struct slice *s, const struct thread *t)
{
	return s->live && !slice_has_kernel(s, t->host);
}

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

void slice_thread_release(struct slice *s, struct thread *t);	/* frees its slot for reuse */

#endif
