/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a slice; only for src/state/. See slice.h for the ideas. */
#ifndef BLK_STATE_SLICE_SLICE_PRIVATE_H
#define BLK_STATE_SLICE_SLICE_PRIVATE_H

#include "base/hist.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/slab.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "state/names/contexts.h"
#include "state/kernel/scheduling.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/losses.h"
#include "state/store/second.h"
#include "state/slice/slice.h"
#include "state/kernel/thread_slots.h"
#include "state/kernel/syscalls.h"

#define NO_FD (-1)
#define PATH_UNKNOWN "?"	/* of a file that was opened, nobody knows which */
#define TS_NONE INT64_MIN

/* ---- records of one thread: what its fold eats ---- */

enum rec_type {
	REC_SINCE,		/* is on the CPU since here; .state: after a loss */
	REC_AWAY,		/* not on its CPU any more, nobody saw it go */
	REC_RUN,		/* switched in on .cpu */
	REC_OFF,		/* switched out; .state */
	REC_WAKE,		/* woken by .who, or by the interrupt .irq */
	REC_ENTER, REC_EXIT,	/* system call .name */
	REC_IRQ_IN, REC_IRQ_OUT,
	REC_SPAN,		/* annotation .who was made by this thread */
	REC_MARK,		/* the same by the kernel: it may be in a call */
	REC_LOST,		/* events of its CPU are lost from here on */
	REC_GONE,		/* its tid is another's: it ended by now, unseen */
};

enum off_state { OFF_BLOCKED, OFF_PREEMPTED, OFF_DEAD };

struct rec {
	int64_t ts;
	uint64_t seq;		/* number of the event in the slice */
	uint8_t type;		/* enum rec_type */
	uint8_t state;		/* REC_OFF: enum off_state */
	uint32_t cpu;		/* index in slice.cpus */
	uint32_t who;		/* REC_WAKE: waker; REC_SPAN: annotation */
	uint32_t irq;		/* REC_WAKE: IRQ_* code, 0: a task */
	uint32_t name;		/* REC_ENTER, REC_EXIT: string */
	int32_t fd;		/* REC_ENTER: its descriptor, or NO_FD */
	uint32_t text;		/* REC_ENTER: path; REC_EXIT: peer (strings) */
	const struct call_info *info;	/* REC_ENTER, REC_EXIT: of .name */
	int64_t arg[3];		/* REC_ENTER: call's own; REC_EXIT: [0] ret, [1] [2] new fds;
				 * REC_RUN: [0] priority; REC_WAKE: [0] .who may be wrong */
};

#define IRQ_HARD(n) (UINT32_C(0x40000000) | ((uint32_t)(n) & 0xffffff))
#define IRQ_SOFT(n) (UINT32_C(0x80000000) | ((uint32_t)(n) & 0xffffff))
#define IRQ_VECTOR(n) (UINT32_C(0x41000000) | ((uint32_t)(n) & 0xffffff))	/* of the CPU itself */
#define IRQ_TIMER UINT32_C(0x42000000)			/* a high resolution timer */
#define IRQ_UNKNOWN UINT32_C(0xc0000000)

/* ---- threads ---- */

enum run_state {
	RUN_UNKNOWN,		/* since .cursor */
	RUN_ON,
	RUN_BLOCKED, RUN_PREEMPTED,
	RUN_WOKEN,		/* was blocked, woken at .wake_ns */
	RUN_NEW,		/* forked, never ran yet */
	RUN_DEAD,
};

enum call_state {
	CALL_SOFT,		/* the initial call: not known */
	CALL_NONE,
	CALL_IN,
};

/* How the period of the initial call ended in this slice. */
enum soft_end { SOFT_OPEN, SOFT_BY_ENTER, SOFT_BY_EXIT, SOFT_BY_LOSS };

/* Why a thread is blocked: a part, or by the descriptor of its call. */
enum wait_cause { WAIT_PART, WAIT_FD, WAIT_SOFT, WAIT_LOST };

struct call {
	int64_t begin;
	int64_t busy_from;	/* busy time is charged up to here */
	uint64_t seq;
	uint32_t name, text, cpu;
	int32_t fd;
	const struct call_info *info;	/* of .name; NULL: not looked up */
	int64_t arg[3];		/* where they are looked at; of those that move bytes how many
				 * are asked for (-1: untold), and the target (or NO_FD) */
};

struct tstate {
	union {
		struct {
			uint8_t run;		/* enum run_state */
			uint8_t call_state;	/* enum call_state */
			bool call_lost;		/* CALL_SOFT that no neighbour can tell */
			bool irq_known;
			uint16_t irq_depth;
			uint8_t wait_cause;	/* enum wait_cause, while blocked or woken */
			uint8_t wait_part;
		};
		uint64_t word;		/* all of these, to be compared at once */
	};
	uint32_t waker, waker_irq;
	int64_t cursor;		/* charged up to here; TS_NONE: nothing yet */
	struct call call;	/* CALL_IN */
	int64_t off_ns, wake_ns;
	uint64_t wake_seq;	/* of the waking event; RUN_NEW: 0 before it */
	bool wake_soft;		/* an interrupt of before the slice may be the waker */
	uint16_t off_cpu, queue_cpu;	/* numbers: it left at .off_ns; queued since. CPU_NONE */
	int64_t part[PART_SLICE_N];	/* charged since the slice's begin; without WAIT_FD */
};

struct open_span { uint64_t trace, span; int64_t since; };
/*
 * Where a thread's cells are in a bin: valid while .epoch is the epoch of the bin's
 * array, which changes whenever its cells move. So charging is an addition, mostly.
 */
struct call_slot { uint32_t epoch, name; struct call_cell *cell; };
struct file_slot { uint32_t epoch; int32_t fd; struct built_file_cell *cell; };
#define CALL_SLOTS_BITS 2
#define FILE_SLOTS 4

/* A name of less than 16 bytes as words: what follows its NUL in an event is rubbish. */
#define COMM_BYTES 16
struct comm { uint64_t word[2], mask[2]; };

struct thread {
	uint32_t self;		/* its own id */
	uint32_t host;		/* index in slice.hosts */
	int32_t tid;		/* -1: anonymous */
	int32_t pid;		/* as .pid_told told it; 0: not */
	int32_t task_tid;	/* the same as events tell it: 0 for idle tasks */
	uint32_t forward;	/* absorbed into that thread; ID_NONE: itself */
	union {
		struct {
			bool hard;	/* .st is known; else .head holds what came so far */
			bool fresh;	/* began in this slice */
			bool idle;	/* a CPU's idle task */
			bool pid_reported;	/* a FACT_PID was written for it in this slice */
			bool begins_lost;	/* what it began with is unknown for good: after a loss */
			bool comm_kept;	/* .comm means .name_last */
			bool absorbed;	/* .forward is set */
			uint8_t soft_end;	/* enum soft_end: what ended the initial call */
		};
		uint64_t flags;		/* all of these, to be compared at once */
	};
	struct comm comm;
	uint32_t cell_epoch;
	struct built_thread_cell *cell;
	struct tstate st;
	struct call_slot call_slot[1 << CALL_SLOTS_BITS];
	struct file_slot file_slot[FILE_SLOTS];
	struct thread_sched sched;
	int64_t start_ns, exit_ns;	/* TS_NONE */
	int64_t last_event_ns;	/* its last one of user space; TS_NONE */
	uint32_t start_cpu, creator;	/* anonymous: its CPU; .fresh: the thread that made it, or ID_NONE */
	struct vec head;	/* struct rec */
	struct vec waits;	/* struct wait */
	uint64_t waits_base;	/* waits dropped before the first */
	int64_t out_ns;		/* end of the last wait before those; TS_NONE */
	uint32_t out_call;	/* string: the call it was in, or 0 */
	struct vec calls;	/* struct done_call */
	uint32_t wait_hint;	/* where waits were looked for last, see explain_first_wait() */
	uint32_t call_hint;	/* and calls */
	GArray *annots;		/* uint32_t: annotations by it, in order */
	GArray *open;		/* struct open_span: begun by it, not ended */
	GArray *aliases;	/* uint32_t: ids forwarded to this one */
	struct rec soft_exit;	/* the record that ended the initial call */
	int64_t soft_from[2];	/* earliest charge to PART_SOFT_*, PART_LOST_*; INT64_MAX */
	GArray *counters;	/* struct counter, of those it tells of itself; or NULL */
	uint32_t id;		/* in the publication's registry; ID_NONE */
	uint32_t name_last;	/* string: comm last told */
	struct contexts told;	/* by its events, last */
};

/* ---- CPUs ---- */

struct cpu {
	uint32_t self;		/* its own index */
	uint32_t host, number;
	struct thread *task;	/* who runs; NULL: lost. Read it with cpu_task() */
	struct thread *idle;	/* its idle task; NULL: not seen yet */
	uint32_t cell_epoch;
	struct cpu_cell *cell;
	uint32_t start;		/* the anonymous thread of the slice's begin */
	int64_t named_ns;	/* when that one was named; TS_NONE */
	uint64_t named_seq;
	int32_t named_tid;	/* as what; 0: idle */
	bool first_known;	/* .first_ns: charged from there on */
	int64_t first_ns;	/* instant of the first switch or loss */
	bool lost;		/* between LOST_BEGIN and LOST_END */
	int64_t kernel_from, kernel_to;	/* its first and last kernel event */
	int64_t cursor, since;	/* charged up to here; its last loss ended there, or INT64_MIN */
	struct irq_frame irq[IRQ_FRAMES];	/* stack of handlers */
	struct raise raise[SOFTIRQS];
	union {
		struct {
			uint16_t irq_depth;
			bool irq_known;	/* else: handlers may run that began before the slice */
			uint8_t raised;	/* by the task, in no handler: bits of INLINE_SOFTIRQS */
		};
		uint32_t irq_word;	/* all, to be compared at once */
	};
	int64_t irq_since;	/* TS_NONE */
	GArray *irq_head;	/* struct irq_note: what came while that was not known */
	GArray *counters;	/* struct counter; or NULL */
	struct vec runs;	/* struct run, see runs.h */
	uint32_t run_hint;	/* where it was looked into last */
	uint32_t n_losses;	/* that began, or were going on when the slice began */
};

/* ---- facts about names: by thread and instant, resolved by names.c ---- */

enum fact_kind {
	FACT_COMM,		/* thread has the name .text */
	FACT_PID,		/* thread belongs to process .a (ppid .b or -1) */
	FACT_FORK,		/* .other (child) by thread; child's pid .a, parent's pid .b */
	FACT_EXEC,		/* close-on-exec; .other: the thread it was until then, or none */
	FACT_EXIT,		/* .a: 1: the process's last thread, 0: others go on, -1: unknown */
	FACT_KERNEL,		/* thread is a kernel thread */
	FACT_OPEN,		/* fd .a is the file .text below dirfd .b; kind .kind, cloexec .flag */
	FACT_NAME,		/* fd .a, a socket, has the peer .text */
	FACT_CLOSE,		/* fd .a (to .b) */
	FACT_DUP,		/* fd .a becomes also .b; cloexec .flag */
	FACT_CLOEXEC,		/* fd .a (to .b): cloexec = .flag */
	FACT_DUMP_TABLE,	/* thread's table has the address .a (pid .b) */
	FACT_DUMP_FD,		/* table .a (address) or pid .c: fd .b is .text */
	FACT_IRQ,		/* irq code .a has the name .text */
	FACT_DEV,		/* device .a has the name .text */
	FACT_NS,		/* thread's process is in the namespace .b of kind .a; pid there .c or -1 */
	FACT_CONTEXT,		/* thread's own events tell .b or .text of kind .a; .flag: see .c in contexts.h */
};

struct fact {
	int64_t ts;
	uint64_t seq;
	uint8_t kind;
	uint8_t file_kind;	/* enum file_kind */
	uint8_t level;		/* FACT_NS: of the pid namespace */
	bool flag;
	uint32_t host;
	uint32_t thread, other;
	uint32_t text;
	int64_t a, b, c;
};

/* ---- bins: one second under construction ---- */

struct bin_slow {
	uint32_t thread, name, cpu;
	int32_t fd;
	int64_t begin, duration, ret;
	uint64_t seq;
};

enum cpu_kind { CPU_RUN, CPU_IDLE, CPU_UNKNOWN, CPU_IRQ };

struct bin {
	int64_t index, after;	/* floor(ts / step), and behind it: the next, but for voids (covered.h) */
	int64_t begin, end;	/* of that second */
	uint32_t version;	/* times published */
	bool dirty, soft, again;	/* changed since; not all was known then; its turn, if there are news */
	uint64_t generation;		/* the publisher's count of them then */
	struct cell_table table[CELL_KIND_N];	/* by built_layout() */
	uint32_t epoch[CELL_KIND_N];		/* see struct call_slot */
	GArray *slow;				/* struct bin_slow, the slowest first */
	int64_t slow_from;	/* shorter calls are none of the slowest; 0 while there is room */
	struct trust trust;
};

/* ---- block requests, annotations ---- */

enum block_what {
	BLOCK_INSERT, BLOCK_ISSUE, BLOCK_COMPLETE, BLOCK_REQUEUE,
	BLOCK_MERGE, BLOCK_BACKMERGE, BLOCK_FRONTMERGE,
};

struct block_event {
	int64_t ts;
	uint64_t sector, sectors, bytes;
	uint32_t host, dev;
	uint32_t thread;	/* the task at that instant; ID_NONE: none, or not known */
	uint8_t what;		/* enum block_what */
	uint8_t dir;		/* enum block_dir */
	bool error;
};

enum annot_type { ANNOT_EVENT, ANNOT_STRING, ANNOT_INT };

/*
 * What begins or ends a span without telling its ids: .trace is the key, .parent that of
 * the parent, .span the rule's number (so that annotations of one span are alike in them).
 * Which belong together is known at the end, see pairs.h.
 */
enum annot_mark { MARK_NONE, MARK_BEGIN, MARK_END, MARK_TAG };	/* a tag: of the one before it */
#define RULE_FUNCTION UINT32_MAX	/* key: the thread */

struct binary {			/* a program or library in a process, since .ts */
	int64_t ts;
	uint64_t base, size;
	uint32_t host, path;
	int32_t vpid;
};

struct snap {			/* of a thread at an instant */
	uint64_t wait_index;	/* waits of the thread before it */
	int64_t part[PART_SLICE_N];	/* its counters */
};

struct annot {
	int64_t ts;
	uint64_t seq;
	uint64_t trace, span, parent;
	uint8_t type;		/* enum annot_type */
	uint8_t mark;		/* enum annot_mark */
	bool by_kernel;		/* .thread comes from the kernel trace */
	bool in_kernel;		/* an event of the kernel: nobody but that knows its thread */
	uint32_t name, service, ip;	/* texts, as the next two */
	uint32_t key, val;	/* event, or key and value */
	uint32_t port;
	uint32_t host;
	uint32_t thread;	/* the kernel's current task; ID_NONE: unknown */
	int32_t vpid, vtid;
	uint32_t cpu;		/* index in slice.cpus */
	uint32_t rule;		/* of a mark: number of its rule, or RULE_FUNCTION */
	uint32_t next;		/* of its trace: the one that came next, ID_NONE; see spans.c */
	uint64_t address;	/* of a function; 0: an exit that does not say (cyg_profile_fast's) */
	struct snap *snap;	/* NULL: its thread's account is not known; the slice's */
};

struct slice_host {
	char *name, *boot, *release;
	uint32_t preempt_flag, id;	/* in prev_state: by kernel version; in the publication's registry */
	bool has_kernel, seen, over;	/* .seen: a record of it came; .over: see covered_stream() */
	uint32_t n_open;		/* likewise: its kernel's streams */
	int64_t begin, end;		/* as in struct blk_host, see covered.h */
};

/* What a source's indexes mean here. */
struct stream_info {
	uint32_t host, cpu;	/* .cpu: index in slice.cpus; ID_NONE: no record came yet */
	uint32_t stream_cpu;	/* as in struct blk_stream */
	bool kernel;
	struct cpu *c;
	struct cpu *plain;	/* .c, of a kernel's stream once a record of it came; or NULL */
};

struct feed;
typedef void (*handler)(struct feed *f);

enum event_kind { KIND_ANY, KIND_ENTRY, KIND_EXIT, KIND_SWITCH, KIND_WAKE };	/* see plain.c */

#define NOWHERE UINT32_MAX
struct plan {			/* where the short way finds things in records of this layout */
	const struct blk_layout *layout;	/* NULL: not looked at yet */
	uint64_t flags_mask, flags;	/* of the thread before it */
	uint64_t word_mask, word;	/* of its state */
	uint32_t tid, comm;	/* contexts: offsets, or NOWHERE */
	uint32_t arg;		/* entry: fd, or NOWHERE; exit: ret; wakeup: tid; switch: prev_tid */
	uint32_t size;		/* entry: bytes asked for; or NOWHERE */
	uint32_t op;		/* entry: what a call that looks at its arguments wants; or NOWHERE */
	bool usual;		/* contexts: .tid and .comm, this one inline, and no .places */
	uint8_t comm_repr;	/* of all names: BLK_TEXT_INLINE or BLK_TEXT_REF; or BLK_NONE */
	uint32_t state, next, prev_comm, next_comm, prev_prio, next_prio;	/* of a switch */
	uint32_t futex[3];	/* entry: its address, operation and value, all plain; or NOWHERE */
	const struct strtab *places;	/* contexts_any(): the slice's; else NULL */
};

/* What each event looks at comes first: few lines of the cache. */
struct class_info {
	uint64_t count;		/* events not in slice.count_bin yet */
	uint32_t host;		/* of .count */
	uint16_t row;
	uint8_t kind;		/* enum event_kind */
	bool wants_args;	/* arguments of the call are looked at */
	const struct call_info *info;	/* of .name */
	uint32_t name;		/* string: of the event, or of its system call */
	uint8_t n_counters, call;	/* .call: enum call_event */
	struct plan plan;
	const struct blk_layout *placeless;	/* one that is not contexts_any() */
	uint32_t event;		/* string: the event's own name */
	handler on;		/* of .row */
	uint32_t counter[LIMIT_EVENT_COUNTERS];	/* strings: what its counters are called */
};

/*
 * The newest event that changed a descriptor, by its number: of a process; by a thread whose
 * process is not told yet; by anybody; all of them at once. Slots are shared (mod their
 * number), so it may be told too new, never too old.
 */
#define FDOP_SLOTS 1024
#define FDOP_OWN_SLOTS 4096
struct fdops {
	uint64_t own[FDOP_OWN_SLOTS], loose[FDOP_SLOTS], any[FDOP_SLOTS], all;
};

struct slice {
	bool from_start, stitching;
	bool no_spans, live;		/* nobody will ask for them, nor for what only they need; slice_live() */
	bool no_fast_path;			/* see slice_without_plain() */
	size_t path_bytes, path_room;	/* see slice_bound_paths() */
	handler follow;			/* the log's, called for each event; it calls cls->on. Or NULL */
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

/* plain.c */
/* Takes events from the front as long as they go the short way: returns how many. */
size_t feed_fast(struct slice *s, const struct blk_event *ev, size_t n);
/* False: the layout is unusual, its events have no short way. */
bool plan_learn(struct plan *p, const struct strtab *strings, const struct blk_layout *l,
		enum event_kind kind);

/* feed.c */
void slice_flush(struct slice *s);	/* counts events where they belong: before bins are read */
void slice_change_source(struct slice *s);	/* what comes next has tables of its own */
void slice_drop_seconds(struct slice *s);	/* nobody will ask for what was counted until now */

/* slice.c */
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

/* Never NULL. */
static inline const struct call_info *info_of_call(const struct call *c)
{
	return c->info ? c->info : call_info("");
}

static inline bool comm_is(const struct comm *c, const void *bytes)	/* 16 of them */
{
	uint64_t word[2];
	memcpy(word, bytes, sizeof word);
	return !(((c->word[0] ^ word[0]) & c->mask[0]) | ((c->word[1] ^ word[1]) & c->mask[1]));
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

/* bin.c */
struct bin *slice_bin(struct slice *s, int64_t ts);
/* Where in its table the cell of the key is, zeroed when it is new. */
uint32_t bin_cell_at(struct slice *s, struct bin *b, enum cell_kind kind, const void *key);

/* The cell of the key (a struct kind##_key). The sizes are known where it is called: most are found at once. */
static inline void *bin_cell(struct slice *s, struct bin *b, enum cell_kind kind, const void *key, size_t key_size,
			     size_t size)
{
	struct cell_table *t = &b->table[kind];
	const uint32_t *word = key;
	uint32_t sum = 0;

	if (!slice_reads(s, kind))
		return s->unread[kind].cells;
	for (size_t i = 0; i < key_size / sizeof *word; i++)
		sum = (sum ^ word[i]) * UINT32_C(0x9e3779b1);
	uint32_t *at = &t->recent[sum >> 29];
	if (*at >= t->n || memcmp(t->cells + *at * size, key, key_size))
		*at = bin_cell_at(s, b, kind, key);
	return t->cells + *at * size;
}
#define BIN_CELL(s, b, kind, ...) \
	((struct kind##_cell *)bin_cell(s, b, CELL_##kind, &(struct kind##_key){ __VA_ARGS__ }, \
					sizeof(struct kind##_key), sizeof(struct kind##_cell)))
struct built_file_cell *bin_file(struct slice *s, struct bin *b, const struct thread *t, const struct call *call);
void bin_event(struct slice *s, struct bin *b, uint32_t host, uint32_t name, uint64_t count);
void bin_slow(struct bin *b, const struct bin_slow *c);
void bin_free(struct bin *b);
void bin_drop_cells(struct slice *s, struct bin *b);	/* it is published for the last time */
void bin_merge(struct slice *s, struct bin *into, struct bin *from,
	       const struct cell_maps *maps);	/* frees from */
void bin_adopt(struct slice *s, struct bin *b, const struct cell_maps *maps);	/* of a second s has not */

/* charge.c: an interval, split at the borders of seconds */
void charge_part(struct slice *s, struct thread *t, unsigned part, int64_t from, int64_t to);
void charge_fd(struct slice *s, struct thread *t, const struct call *c, int64_t from, int64_t to);
void charge_busy(struct slice *s, struct thread *t, struct call *c, int64_t to);
void charge_cpu(struct slice *s, struct cpu *c, enum cpu_kind kind, int64_t from, int64_t to);

/* thread.c: the fold */
void thread_record(struct slice *s, struct thread *t, const struct rec *r);
struct waking {
	int64_t ts;
	uint64_t seq;
	uint32_t cpu, who, irq;	/* as in struct rec */
	bool soft;		/* perhaps not .who */
};
void thread_wake(struct slice *s, struct thread *t, const struct waking *w);
void thread_run(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu,
		int16_t prio);
void thread_off(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu, enum off_state state);
void thread_root(struct slice *s, struct thread *t);	/* begins at the trace's begin */
void thread_born(struct thread *t, int64_t ts);		/* forked */
void thread_exit_call(struct slice *s, struct thread *t, const struct rec *exit);	/* time is charged */
void thread_append(struct slice *s, struct thread *l, struct thread *r);	/* r becomes l's end (join.c) */
void thread_charge(struct slice *s, struct thread *t, int64_t until);	/* open state, up to there */
void thread_patch_waker(struct slice *s, uint32_t id, uint64_t seq, uint32_t irq, uint32_t who);
void thread_snapshot(const struct thread *t, int64_t at, int64_t part[PART_SLICE_N]);
struct wait_call wait_call(const struct call *c);	/* thread.c */
void thread_log_wait(const struct slice *s, struct thread *t, int64_t ts, uint32_t cpu);	/* it ends there */
void thread_free(struct thread *t);

/* calls.c: finished calls */
void call_finished(struct slice *s, struct thread *t, struct call *c, const struct rec *exit);
void call_facts_at_entry(struct slice *s, const struct thread *t, const struct rec *r);
/* Descriptors it may have changed. */
void call_exit_bump(struct slice *s, const struct thread *t, const struct rec *r);
/* It may be one of the slowest. */
void call_slow(struct slice *s, struct bin *b, const struct thread *t, const struct call *c, int64_t ts, int64_t ret);
void call_count_target(struct slice *s, struct bin *b, struct thread *t, const struct call *c,
		       const struct call_info *info, int64_t ts, int64_t ret);	/* of IO_BOTH */
/* Of an exit whose entry is not known for good: which descriptors it made, or what it closed. */
void call_facts_of_exit(struct slice *s, const struct thread *t, const struct rec *exit);
void call_keep(struct thread *t, const struct call *c, int64_t ts, int64_t ret);

static inline enum off_state off_state_of(const struct slice *s, uint32_t host, int64_t prev_state)
{
	uint32_t flag = g_array_index(s->hosts, struct slice_host, host).preempt_flag;
	if (prev_state == 0 || (prev_state & flag))
		return OFF_PREEMPTED;
	/* EXIT_DEAD 16, EXIT_ZOMBIE 32; before Linux 4.14 also TASK_DEAD 64 */
	if (prev_state & (flag == 256 ? 16 | 32 : 16 | 32 | 64))
		return OFF_DEAD;
	return OFF_BLOCKED;
}

/* cpu.c */
struct switching {
	int64_t ts;
	uint64_t seq;
	int32_t prev_tid, next_tid;
	int16_t prev_prio, next_prio;	/* or PRIO_NONE */
	enum off_state prev_state;
};
void cpu_switch(struct slice *s, struct cpu *c, const struct switching *w);
/* Its thread `tid`; 0: its idle task. */
struct thread *cpu_task_of_tid(struct slice *s, struct cpu *c, int32_t tid);
/* A context named its task, and that is not the one known; see cpu_context(). */
void cpu_other_task(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid);
void cpu_irq_in(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code);
void cpu_irq_out(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code);
/* The CPU's own account of a handler, without its task's; for stitching. */
void cpu_irq_note(struct slice *s, struct cpu *c, const struct irq_note *n);
uint32_t cpu_waker(struct slice *s, struct cpu *c, uint32_t woken, uint64_t seq, uint32_t *ret_irq);
bool cpu_waker_soft(const struct slice *s, const struct cpu *c);	/* may it be another one? */
void cpu_lost_begin(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq);
void cpu_lost_end(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq);
void cpu_charge(struct slice *s, struct cpu *c, int64_t until);
void cpu_finish(struct slice *s, struct cpu *c, int64_t until);	/* the end of coverage */
void cpu_free(struct cpu *c);

/* The current task, under the name it has by now; NULL: lost. */
static inline struct thread *cpu_task(const struct slice *s, struct cpu *c)
{
	if (c->task && c->task->forward != ID_NONE)
		c->task = thread_at(s, c->task->forward);
	return c->task;
}

static inline void cpu_no_irq(struct cpu *c)	/* a call or switch: no handler runs */
{
	c->irq_known = true;
	c->irq_depth = 0;
	c->raised = 0;
}

/* An event's context says that task `tid` runs. */
static inline void cpu_context(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	const struct thread *t = cpu_task(s, c);
	if (t && t->task_tid != tid)
		cpu_other_task(s, c, ts, seq, tid);
}

/* irq_text.c: "irq 34 nvme0q1", "softirq NET_RX"; a string. cache: texts made before (empty at first); clear it when
 * names may have changed. */
struct names;
uint32_t irq_text(struct intmap *cache, struct slice *s, const struct names *names, uint32_t host, uint32_t code);

/* block.c */
struct blocks *blocks_new(void);
void blocks_free(struct blocks *k);
void blocks_each_asker(const struct blocks *k, void (*each)(uint32_t thread, void *data), void *data);
void block_tell(struct slice *s, const struct block_event *e);
void blocks_charge(struct slice *s, int64_t until);	/* devices in use, up to there */
/* What b was told goes to a; maps of b's ids to a's. Takes it from b. */
void blocks_join(struct slice *a, struct slice *b, const uint32_t *host, const uint32_t *thread);

/* handlers_count.c */
bool feed_is_kernel(const struct feed *f);	/* an event of the kernel's tracer */
bool feed_has_kernel(const struct feed *f);	/* is its host's kernel traced? */
void on_page_fault(struct feed *f);
void on_probe(struct feed *f);
/* Before its handler; counters: it has none that takes its perf counters. */
void counted_event(struct feed *f, bool is_switch, bool counters);
/* The kernel's current task of its CPU; of an event of user space else by vtid. */
struct thread *user_thread(struct feed *f, bool *ret_by_kernel);
void counters_at_switch(struct feed *f, const struct thread *leaves);	/* NULL: not known */
void counters_of_thread(struct feed *f, struct thread *t);	/* NULL is fine */

/* handlers_io.c */
void on_block_insert(struct feed *f);
void on_block_issue(struct feed *f);
void on_block_complete(struct feed *f);
void on_block_requeue(struct feed *f);
void on_block_merge(struct feed *f);
void on_block_backmerge(struct feed *f);
void on_block_frontmerge(struct feed *f);
void on_net_receive(struct feed *f);
void on_net_queue(struct feed *f);
void on_net_send(struct feed *f);
struct thread *handler_task(struct feed *f);	/* what an event's contexts tell; the current task */
void handler_pid(struct feed *f, struct thread *t, int64_t pid);	/* a FACT_PID was written */

/* handlers.c */
struct feed {			/* one event on its way */
	struct slice *s;
	const struct blk_event *ev;
	struct class_info *cls;
	struct cpu *c;
	int64_t ts;
	uint64_t seq;
	uint32_t cpu, host;
};
/* handlers_spans.c */
void on_timestamp(struct feed *f);
void on_keyval_string(struct feed *f);
void on_keyval_integer(struct feed *f);
void on_function_entry(struct feed *f);
void on_function_exit(struct feed *f);
void on_binary(struct feed *f);
void on_ruled(struct feed *f);		/* an event that rules ask for */
handler slice_handler(unsigned row);
handler slice_base_handler(unsigned row);	/* without rules; NULL: nobody asked */
enum event_kind slice_event_kind(unsigned row);
/* The table without rules: its rows, their handlers, and whether they follow threads, calls and names. */
const struct blk_subscription *slice_base_subscriptions(size_t *ret_n);
handler slice_base_row_handler(size_t row);
bool slice_base_row_follows(size_t row);

#endif
