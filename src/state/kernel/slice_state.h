/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of a slice (slice.h): its registries, seconds, logs and caches. Parts of it have their own headers in
 * state/kernel and state/spans. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_SLICE_STATE_H
#define BLK_STATE_KERNEL_SLICE_STATE_H

#include "base/intmap.h"
#include "base/machine.h"
#include "base/slab.h"
#include "base/strtab.h"
#include "state/kernel/channels.h"
#include "state/kernel/cpu_types.h"
#include "state/kernel/event_class.h"
#include "state/kernel/fdops.h"
#include "state/kernel/losses.h"
#include "state/kernel/thread_types.h"
#include "state/store/second.h"
#include "trace/event.h"

struct bin;

struct slice_host {
	char *name, *boot, *release;
	struct machine_evidence evidence;
	enum machine machine;		/* by the evidence: whose system call numbers its kernel has */
	uint32_t preempt_flag;		/* bit of prev_state that means "preempted"; depends on the kernel version */
	bool empty_unreported;		/* its kernel has no completion events of block requests without data */
	uint32_t id;			/* in the publication's registry; ID_NONE */
	bool has_kernel;		/* its kernel is traced */
	bool kernel_left;		/* live: its kernel is not traced until its next event: the session was
					 * stopped, or all streams have ended */
	uint32_t n_open;		/* live: open streams of its kernel */
	int64_t begin, end;		/* ns: of its packets, as in struct blk_host */
	int64_t first;			/* ns: its first record; INT64_MIN: it had none */
};

/* What unresolved time of a thread became: see struct resolution (unknown_calls.h). */
struct resolved {
	uint32_t thread;
	uint8_t run_part, part;
	uint8_t from;			/* enum unresolved */
	bool by_fd;			/* blocked on the descriptor, not .part */
	int32_t fd;
	uint64_t seq;			/* of the call */
};

/* Seconds, facts and block events that are not decoded, see slice/pack.h. All zero: none. */
struct packs {
	GPtrArray *all;		/* struct pack *, owned; NULL: none */
	GArray *resolved;	/* struct resolved, in order: what .all does not have yet; NULL: there are no packs */
	GArray *pending;	/* struct pack_pending; NULL: none */
	struct intmap by_thread;	/* thread -> its newest one in .pending */
};

/* What may be waits for locks, see locks.h. All zero: none. */
struct lock_log {
	struct vec waits;	/* struct lock_wait */
	struct vec releases;	/* struct lock_release */
	uint64_t last_wake_seq;	/* no wait has a greater .wake_seq */
};

/* Slots of ended threads, see threads.h. */
struct thread_slots {
	GArray *free;		/* uint32_t: free slots */
	GArray *again;		/* uint32_t: slots reused since the publisher last looked */
	guint used;		/* slots in use after the last thread_slots_free_ended() */
};

G_STATIC_ASSERT(CELL_KIND_N <= 32);	/* slice.unread_kinds has a bit for each */

struct slice {
	/* Options, set before anything is fed; see slice.h. */
	bool from_start;		/* no older slice exists */
	bool stitching;			/* a merge with its neighbour is running */
	bool no_spans, live;		/* slice_without_spans(); slice_live() */
	bool no_fast_path;		/* slice_without_fast_path() */
	bool looks_back;		/* of an event of rules, what came before it is needed: rules_look_back() */
	bool history;			/* it was folded and thinned: see slice_history.h */
	uint64_t n_thinned;		/* number of traces that were dropped by that */
	size_t path_bytes, path_room;	/* bytes of paths and their bound, see slice_bound_paths() */
	uint32_t unread_kinds;		/* bits by kind of cells that are not made, see slice_reads() */
	int64_t window_from, window_to;	/* index of the bin for all before the window, of the bin for all after it */
	int64_t step;			/* length of a bin in ns, > 0 */
	gssize taken;			/* bytes of memory: see slice_take() */
	void (*follow)(struct fed_event *f);	/* the call log's handler, which calls the row's; or NULL */
	void *follower;			/* the call log's data */

	uint64_t finished;		/* entry number of the call that finished last */
	bool has_functions, has_switches, has_wakes, has_calls;	/* its source has such event classes */
	bool has_insert, has_issue, has_complete, has_interrupts;	/* block_rq_*, irq_handler_entry; read or not */
	bool has_new_wakes;		/* sched_wakeup_new */
	int64_t first, last;		/* ns: coverage; INT64_MAX, INT64_MIN while empty */
	int64_t traced_from, traced_to;	/* ns: least .begin and greatest .end of all hosts */
	int64_t horizon;		/* ns: no older record will come; INT64_MIN: unknown */
	uint64_t seq;			/* numbers the events, from 1 on: the next number */
	uint64_t n_events;		/* the same, including events that were only counted */
	struct losses losses;
	struct channels channels;
	GArray *voids;			/* struct time_void, in order; see coverage.h */

	/* Registries: ids of the slice. */
	struct strtab *strings;		/* never freed before the slice */
	struct strtab *texts;		/* reftexts of annotations; dropped when no annotation uses them */
	GArray *hosts;			/* struct slice_host */
	GPtrArray *threads;		/* struct thread *; read it with thread_at() */
	struct thread_slots slots;	/* free ones of .threads */
	struct intmap tid_last, tid_first;	/* host << 32 | tid -> newest thread of the tid, first thread of the
						 * tid */
	struct intmap inner_last;	/* host and inner ids -> thread, see slice_inner_thread() */
#define TID_CACHE 256
	struct thread *tid_cache[TID_CACHE];	/* the newest thread of tid n, by n mod slots; or NULL */
	GPtrArray *cpus;		/* struct cpu * */
	struct intmap cpu_map;		/* host << 32 | number -> index in .cpus */

	/* Seconds. */
	GHashTable *bins;		/* int64_t index -> struct bin */
	struct bin *bin_last;		/* last used bin, or NULL */
	uint32_t epochs;		/* number of epochs assigned so far, see struct cell_slot */
	struct bin *count_bin;		/* the bin of struct class_info.count; NULL: nothing is counted */
	int64_t retained_from;		/* bins before this index were dropped */
	struct completeness forgotten;		/* sum of the dropped bins' completeness */
	struct cell_table unread[CELL_KIND_N];	/* for .unread_kinds: one cell that is written and never read */
	uint64_t generation;		/* number of published threads that were merged into others */

	struct packs packs;		/* more seconds and logs */

	/* Logs. */
	GArray *facts;			/* struct fact */
	guint facts_sorted;		/* this many facts, from the first on, are in order */
	GArray *annots;			/* struct annot */
	struct slab snaps;		/* owns the annotations' struct snap */
	GArray *binaries;		/* struct binary, in order */
	struct blocks *blocks;		/* block requests, see block.h */
	GArray *provisional_wakes;		/* struct provisional_wake */
	struct vec stops;		/* struct stop_signal, in order of time */
	struct lock_log locks;
	GHashTable *classes;		/* names of the event classes of all sources, a set */
	struct fdops fdops;

	/* The current source: */
	const struct blk_tables *tables;
	GArray *streams, *class_infos;	/* struct stream_info; struct class_info */
	struct intmap irq_named;	/* host << 32 | code: a FACT_IRQ was written */
};

/* The thread of the id, with merges applied. */
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

/* Does the host's kernel trace tell which thread runs on a CPU, between events that name their thread? */
static inline bool slice_follows_tasks(const struct slice *s, uint32_t host)
{
	const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, host);
	return h->has_kernel && !machine_has_no_switches(&h->evidence);
}

/* Is it an event of the kernel's tracer? */
static inline bool event_is_kernel(const struct fed_event *f)
{
	return g_array_index(f->s->streams, struct stream_info, f->ev->stream).kernel;
}

/* Does its host's kernel trace tell which threads run? */
static inline bool event_follows_tasks(const struct fed_event *f)
{
	return slice_follows_tasks(f->s, f->host);
}

/* String: the hostname of the container whose session daemon recorded the user space event, beside the trace of its
 * machine's kernel; 0: none. The event's pids are of a pid namespace that is unknown. */
static inline uint32_t event_container(const struct fed_event *f)
{
	return g_array_index(f->s->streams, struct stream_info, f->ev->stream).hostname;
}

/* Live, without a kernel trace: only the thread's own events show that it exists. */
static inline bool thread_names_itself(const struct slice *s, const struct thread *t)
{
	return s->live && !slice_has_kernel(s, t->host);
}

/* The id with merges applied; ID_NONE stays. */
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

/* Did any loss end after the instant? */
static inline bool slice_lost_after(const struct slice *s, int64_t from)
{
	return s->losses.latest > from;
}

/* Were kernel events of the host lost in (from, to)? */
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
