/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a process lives: its namespaces, its hostname, its pid there. Two tell of it, and are
 * kept apart: the state dump and forks, and contexts of events (pid_ns, cgroup_ns, uts_ns,
 * vpid, hostname), which the process itself was recorded with and so count for more.
 *
 * Contexts come with every event, so a fact is written only where a thread's event tells
 * another thing than its last one did. A slice does not know what was told before it, and
 * writes some twice: that is nothing new to the thread when facts are applied, and skipped.
 * Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_CONTEXTS_H
#define BLK_STATE_NAMES_CONTEXTS_H

#include "state/store/timeline.h"
#include "trace/event.h"

enum context_kind { CONTEXT_VPID = NS_N, CONTEXT_HOSTNAME, CONTEXT_N };	/* from 0: enum ns_kind */

struct contexts { uint32_t value[CONTEXT_N]; };	/* inode, pid, string; 0: not told */

struct fact;
struct feed;
struct slice;
struct thread;
struct strtab;

/* Does any event of the layout tell of it? */
static inline bool contexts_any(const struct blk_layout *l)
{
	return l->slot[BLK_CTX_HOSTNAME].repr | l->slot[BLK_CTX_PID_NS].repr |
	       l->slot[BLK_CTX_CGROUP_NS].repr | l->slot[BLK_CTX_UTS_NS].repr |
	       l->slot[BLK_CTX_VPID].repr;
}

/* handlers_ns.c: what the event's contexts tell of the thread that made it (NULL is fine). */
void contexts_learn(struct feed *f, struct thread *t);
bool contexts_known(const struct strtab *strings, const struct contexts *told,
		    const struct blk_event *ev);	/* do they tell nothing new? */
/* .c of a fact that user space tells while the kernel says who runs: the CPU, and the thread's own
 * word on who it is; 0: none that could be compared. */
static inline int64_t context_teller(uint32_t cpu, int32_t vtid)
{
	return (int64_t)vtid << 32 | cpu;
}
/* The right's are newer. */
void contexts_join(struct contexts *left, const struct contexts *right);

/* handlers_ns.c: the state dump's, and forks */
void on_dump_pid_ns(struct feed *f);
void on_dump_cgroup_ns(struct feed *f);
void on_dump_uts_ns(struct feed *f);
void fork_ns(struct feed *f, uint32_t child);

/* ---- names_ns.c: facts applied ---- */

struct context_history {
	struct contexts is;
	uint64_t seq[CONTEXT_N];	/* of the event that told it first, after it was another */
};

struct process_ns {			/* of a process */
	struct contexts dumped;
	struct context_history told;
	uint32_t level;			/* of its dumped pid namespace, while its dumped vpid is known */
};

/* Does a FACT_CONTEXT tell of its thread? Before the kernel's trace began on its CPU nobody knows
 * who ran there; behind its end, only whoever says that it is the one. */
bool context_holds(const struct slice *s, const struct fact *f);
/* A FACT_CONTEXT: false when it is nothing new to the one who told it. */
bool context_update(struct context_history *by, const struct fact *f);
/* Of each kind what was told last: by whichever of a process's threads. */
void context_merge(struct context_history *into, const struct context_history *also);
void process_ns_dump(struct process_ns *d, const struct fact *f, int32_t pid);	/* a FACT_NS */
void process_ns_fork(struct process_ns *child, const struct process_ns *parent);
/* What comes of it, to info: .ns, .vpid, .hostname, .hostname_key. host: the machine's name */
void process_ns_resolve(const struct process_ns *d, struct process_info *info,
		     const struct strtab *strings, const char *host);

#endif
