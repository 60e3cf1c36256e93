/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of one thread in a slice: what it is doing (struct tstate), and its logs. Changed by thread.h. All ids are
 * the slice's.
 */
#ifndef BLK_STATE_KERNEL_THREAD_TYPES_H
#define BLK_STATE_KERNEL_THREAD_TYPES_H

#include "base/vec.h"
#include "state/kernel/syscalls.h"
#include "state/kernel/thread_record.h"
#include "state/store/registry.h"

#include <glib.h>
#include <string.h>

enum context_kind { CONTEXT_VPID = NS_N, CONTEXT_HOSTNAME, CONTEXT_N };	/* from 0: enum ns_kind */

struct contexts { uint32_t value[CONTEXT_N]; };	/* inode, pid or string id; 0: unknown; see contexts.h */

/* Known values of `right`, which are newer, replace those of `left`. */
static inline void contexts_join(struct contexts *left, const struct contexts *right)
{
	for (unsigned k = 0; k < CONTEXT_N; k++)
		left->value[k] = right->value[k] ? right->value[k] : left->value[k];
}

/*
 * Threads that are not threads of the trace have negative ids. A thread below TID_ANONYMOUS is of a process, and it is
 * unknown which of its threads it is: the event has only a pid. TID_UNPROVEN is any task of the host. What such a
 * thread was doing between two events is unknown, and its calls are not paired.
 */
#define TID_ANONYMOUS (-1)		/* one task of a CPU, until it is identified */
#define TID_UNPROVEN (-1 - (1 << 30))	/* the others are of pids below 1 << 30: Linux has at most 1 << 22 */

static inline int32_t tid_of_process(int64_t pid)
{
	return pid > 0 && pid < -1 - TID_UNPROVEN ? (int32_t)(-1 - pid) : TID_UNPROVEN;
}

static inline bool tid_is_unproven(int32_t tid)
{
	return tid < TID_ANONYMOUS && tid >= TID_UNPROVEN;
}

#define CPU_NONE UINT16_MAX		/* no CPU, or unknown */
#define PRIO_NONE INT16_MIN		/* the event has no priority */

enum run_state {
	RUN_UNKNOWN,		/* unknown since .cursor */
	RUN_ON,			/* running on a CPU */
	RUN_BLOCKED, RUN_PREEMPTED,
	RUN_WOKEN,		/* was blocked, woken at .wake_ns, runnable */
	RUN_NEW,		/* forked, has not run yet: runnable */
	RUN_DEAD,
};

enum call_state {
	CALL_UNRESOLVED,		/* unresolved: in a call that began before the slice, or in none */
	CALL_NONE,
	CALL_IN,
};

/* What a thread's records wait for, see thread_order.h. */
enum held { HELD_NOT, HELD_RUNNING, HELD_UNWOKEN };

/* What ended the unresolved initial call in this slice. */
enum initial_end { INITIAL_OPEN, INITIAL_BY_ENTER, INITIAL_BY_EXIT, INITIAL_BY_LOSS };

/* What a blocked thread's time is charged to: a part, its call's descriptor, or an unresolved part. */
enum wait_cause { WAIT_PART, WAIT_FD, WAIT_UNRESOLVED, WAIT_LOST, WAIT_RESTART };

/*
 * Does the call continue one that ended with ERESTART_RESTARTBLOCK? Then .info and .arg are those of the continued
 * call. RESTART_UNRESOLVED: that call is, or follows, the unresolved initial call.
 */
enum restart { RESTART_NONE, RESTART_KNOWN, RESTART_UNRESOLVED };

struct call {
	int64_t begin;
	int64_t busy_from;	/* busy time is charged up to here */
	uint64_t seq;		/* of the entry event */
	uint32_t name, text;	/* string ids; .text: path or address in the entry */
	uint32_t cpu;		/* index in slice.cpus */
	int32_t fd;		/* or NO_FD */
	const struct call_info *info;	/* of .name; NULL: not looked up yet */
	int64_t arg[3];		/* the arguments that are used later. For calls that move bytes: [0] requested bytes
				 * (-1: unknown), [1] target descriptor (or NO_FD) */
	uint8_t restart;	/* enum restart */
	bool interrupted;	/* CALL_NONE: the last call, which a restart_syscall continues if it is the next one */
};

struct tstate {
	union {
		struct {
			uint8_t run;		/* enum run_state */
			uint8_t call_state;	/* enum call_state */
			bool call_lost;		/* CALL_UNRESOLVED that stays unknown, since events were lost */
			bool irq_known;		/* .irq_depth is exact */
			uint16_t irq_depth;	/* interrupt handlers that are running on its CPU */
			uint8_t wait_cause;	/* enum wait_cause, while blocked or woken */
			uint8_t wait_part;	/* WAIT_PART: enum part */
		};
		uint64_t word;		/* these fields, compared at once by the fast path */
	};
	uint32_t waker, waker_irq;	/* RUN_WOKEN: thread or ID_NONE; IRQ_* code or 0 */
	int64_t cursor;		/* time is charged up to here; TS_NONE: nothing yet */
	struct call call;	/* CALL_IN */
	int64_t returned_ns;	/* its last exit from a call, or loss; TS_NONE: none */
	int64_t off_ns, wake_ns;
	uint64_t wake_seq;	/* number of the waking event; RUN_NEW: 0 before it; RUN_ON: of the last one since its
				 * switch-in, or 0 */
	bool wake_provisional;		/* .waker is provisional: an interrupt from before the slice may be the waker */
	bool woken_early;		/* RUN_BLOCKED: the last wakeup is stamped before the switch-out */
	uint16_t on_cpu, off_cpu, queue_cpu;	/* CPU numbers or CPU_NONE. .on_cpu: where it ran last; .off_cpu: that
						 * it left at .off_ns; .queue_cpu: of its run queue */
	int64_t part[PART_SLICE_N];	/* ns charged since the slice's beginning, without WAIT_FD */
};

struct open_span { uint64_t trace, span; int64_t since; };

/*
 * Caches of where a thread's cells are in a bin. Valid while .epoch equals the epoch of the bin's array, which changes
 * when its cells move. So most charges are one addition.
 */
struct cell_slot { uint32_t epoch, key; void *cell; };	/* .key: what the cells of the kind differ in, for the thread */
#define CALL_SLOTS_BITS 2
#define FILE_SLOTS 4
#define SCHED_SLOTS 4

/* Where the scheduler placed a thread. */
struct thread_sched {
	uint16_t last_cpu;		/* CPU number of its last switch; CPU_NONE: no switch yet */
	uint16_t first_cpu;		/* CPU number of its first switch in the slice, at .first_ns */
	int16_t first_prio;
	int64_t first_ns;
	struct vec queued;		/* struct queued, see cpu_runs.h */
	uint32_t queued_hint;		/* index in .queued where the last search ended */
	struct cell_slot slot[SCHED_SLOTS];
	struct cell_slot waker;
};

/* A name of less than 16 bytes, as words. The mask excludes the bytes after its NUL: events do not zero them. */
#define COMM_BYTES 16
struct comm { uint64_t word[2], mask[2]; };

/* A thread's tid and pid in its own pid namespace, and the inode of that; 0: unknown. */
struct inner_ids { uint32_t tid, pid, ns; };

struct thread {
	uint32_t self;		/* its own id */
	uint32_t host;		/* index in slice.hosts */
	int32_t tid;		/* below 0: see TID_ANONYMOUS */
	int32_t task_tid;	/* tid as in events: 0 for idle tasks */
	int32_t pid;		/* the last that a kernel event reported; -1: none */
	struct inner_ids inner;	/* as kernel events report them */
	uint32_t forward;	/* id of the thread it was merged into; ID_NONE: none */
	union {
		struct {
			bool resolved;	/* .st is known; else .head holds the records so far */
			bool fresh;	/* it began in this slice: forked, or its tid was reused */
			bool idle;	/* a CPU's idle task */
			bool pid_reported;	/* a FACT_PID was written for it in this slice */
			bool begins_lost;	/* its initial state stays unknown, since events were lost */
			bool comm_stored;	/* .comm is the text of .name_last */
			bool absorbed;	/* .forward has been set */
			uint8_t initial_end;	/* enum initial_end: what ended the initial call */
		};
		uint64_t flags;		/* these fields, compared at once by the fast path */
	};
	bool user_reported;	/* a FACT_USER was written for it in this slice */
	struct comm comm;
	uint32_t cell_epoch;	/* of .cell, see struct cell_slot */
	struct built_thread_cell *cell;
	struct tstate st;
	struct cell_slot ran, call_slot[1 << CALL_SLOTS_BITS], file_slot[FILE_SLOTS];
	struct thread_sched sched;
	int64_t known_from;	/* ns: the first record that tells its state; TS_NONE: none so far */
	bool only_claimed;	/* only user-space events name its tid, which may be one of a container */
	int64_t start_ns, exit_ns;	/* TS_NONE: unknown, or not yet */
	int64_t last_event_ns;	/* its last user space event; TS_NONE */
	uint32_t start_cpu, creator;	/* .start_cpu: of an anonymous thread; .creator: if .fresh, the thread that
					 * forked it, or ID_NONE */
	struct vec head;	/* struct rec; only while not .resolved */
	uint8_t held;		/* enum held; if set, .st is known, and .resolved is not set */
	int64_t held_ns;	/* instant of the first record of .waiting */
	struct vec waiting;	/* struct rec: records that are applied later, see thread_order.h */
	struct vec waits;	/* struct wait, in order of time */
	uint64_t waits_base;	/* number of waits that were dropped from the front of .waits */
	int64_t out_ns;		/* end of its last wait that was not logged in .waits; TS_NONE */
	uint32_t out_call;	/* string: the call of that wait; 0: none */
	struct vec calls;	/* struct done_call */
	struct vec charged;	/* struct charged: what its time was charged to; empty unless slice.looks_back */
	struct vec past;	/* struct past_wait (locks.h): its newest waits, in order; at most twice
				 * LIMIT_HOLDER_WAITS */
	bool past_is_cut;	/* older ones of the slice were dropped */
	uint32_t initial_waits;	/* so many noted waits (slice.locks) in its initial call are not resolved, at most */
	uint32_t n_releases;	/* so many releases were noted there, at most */
	bool file_lock;		/* a wait for a file's lock was noted, and its call has not ended */
	int64_t ended_after;	/* the return (ns) from the call before exit(), if that followed at once; or TS_NONE */
	int64_t woke_ns;	/* when it last woke a thread that may have waited for a lock; TS_NONE: never */
	int64_t woke_from;	/* begin of the earliest wait that it ended so in its call, or before (ns) */
	uint32_t wait_hint;	/* index in .waits where the last search ended, see explain_first_wait() */
	uint32_t call_hint;	/* the same for .calls */
	uint32_t charged_hint;	/* the same for .charged, see thread_look_back() */
	GArray *annots;		/* uint32_t: its annotations (slice.annots), in order; NULL: none */
	GArray *open;		/* struct open_span: begun by it and not ended, in order; NULL: none */
	int64_t left_ns;	/* when one of them ended that had begun before that instant; TS_NONE */
	GArray *aliases;	/* uint32_t: ids of threads that were merged into it; NULL: none */
	struct rec initial_exit;	/* the record that ended the initial call */
	int64_t unresolved_from[UNRESOLVED_N];	/* ns: the earliest charge to each kind of unresolved time, or before;
						 * INT64_MAX: none */
	GArray *counters;	/* struct counter, from its own events; NULL: none */
	uint32_t id;		/* in the publication's registry; ID_NONE: not published */
	uint32_t name_last;	/* string id: comm of its last event */
	struct contexts contexts;	/* contexts of its last events */
};

/* What the fast path compares at once are all of the fields beside it. */
G_STATIC_ASSERT(offsetof(struct tstate, waker) == sizeof(uint64_t));
G_STATIC_ASSERT(offsetof(struct thread, user_reported) == offsetof(struct thread, flags) + sizeof(uint64_t));
G_STATIC_ASSERT(sizeof ((struct comm *)NULL)->word == COMM_BYTES);
G_STATIC_ASSERT(TID_UNPROVEN < TID_ANONYMOUS);

/* Is it one thread of the trace, with a tid? */
static inline bool thread_is_identified(const struct thread *t)
{
	return !t->idle && t->tid >= 0;
}

/* Its process, as kernel events report it: of an idle task 0; -1: unknown. */
static inline int32_t thread_process(const struct thread *t)
{
	if (t->idle)
		return 0;
	return tid_is_unproven(t->tid) && t->tid != TID_UNPROVEN ? -1 - t->tid : t->pid;
}

/* Record i of those that the thread collected and were not applied, or only in this slice; NULL: there are no more. */
static inline struct rec *thread_pending(const struct thread *t, guint i)
{
	const struct vec *v = i < t->head.len ? &t->head : &t->waiting;
	i -= v == &t->head ? 0 : t->head.len;
	return i < v->len ? vec_at(v, struct rec, i) : NULL;
}

/* Was a span of the thread open just before the instant? The order of its events at that instant says nothing: it is
 * not known where a slice begins. */
static inline bool thread_was_in_span(const struct thread *t, int64_t at)
{
	return t->left_ns == at || (t->open && t->open->len && g_array_index(t->open, struct open_span, 0).since < at);
}

static inline bool thread_is_known(const struct thread *t)	/* Is .st known? */
{
	return t->resolved || t->held;
}

/* Never NULL. */
static inline const struct call_info *info_of_call(const struct call *c)
{
	return c->info ? c->info : call_info("");
}

/* bytes: COMM_BYTES bytes. */
static inline bool comm_is(const struct comm *c, const void *bytes)
{
	uint64_t word[2];
	memcpy(word, bytes, sizeof word);
	return !(((c->word[0] ^ word[0]) & c->mask[0]) | ((c->word[1] ^ word[1]) & c->mask[1]));
}

#endif
