/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces, hostname and vpid of a process. There are two sources, stored separately: the state dump and forks; and
 * contexts of events (pid_ns, cgroup_ns, uts_ns, vpid, hostname). Contexts come from the process itself and so
 * take precedence.
 *
 * Every event has its contexts, so a fact is written only where they differ from those of the thread's previous event.
 * A slice does not know the state before it and repeats some facts; these change nothing and are skipped.
 * Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_CONTEXTS_H
#define BLK_STATE_NAMES_CONTEXTS_H

#include "state/store/timeline.h"
#include "trace/event.h"

enum context_kind { CONTEXT_VPID = NS_N, CONTEXT_HOSTNAME, CONTEXT_N };	/* from 0: enum ns_kind */

struct contexts { uint32_t value[CONTEXT_N]; };	/* inode, pid or string id; 0: unknown */

struct fact;
struct feed;
struct slice;
struct thread;
struct strtab;

/* Do events of the layout have any of these contexts? */
static inline bool contexts_any(const struct blk_layout *l)
{
	return l->slot[BLK_CTX_HOSTNAME].repr | l->slot[BLK_CTX_PID_NS].repr |
	       l->slot[BLK_CTX_CGROUP_NS].repr | l->slot[BLK_CTX_UTS_NS].repr |
	       l->slot[BLK_CTX_VPID].repr;
}

/* kernel/handlers_ns.c: is the event known to be of a pid namespace other than the host's first one? */
bool contexts_nested(const struct feed *f);
/* kernel/handlers_ns.c: writes facts for changed contexts of the event's thread (NULL is fine). */
void contexts_learn(struct feed *f, struct thread *t);
bool contexts_known(const struct strtab *strings, const struct contexts *by_events,
		    const struct blk_event *ev);	/* do the event's contexts equal `by_events`? */
/* The value of .c in a FACT_CONTEXT from a user-space event on a CPU that the kernel's trace covers: the CPU, and the
 * event's own vtid (0: none that could be compared). */
static inline int64_t context_source(uint32_t cpu, int32_t vtid)
{
	return (int64_t)vtid << 32 | cpu;
}
/* Known values of `right`, which are newer, replace those of `left`. */
void contexts_join(struct contexts *left, const struct contexts *right);

/* kernel/handlers_ns.c: namespaces in the state dump, and forks */
void on_dump_pid_ns(struct feed *f);
void on_dump_cgroup_ns(struct feed *f);
void on_dump_uts_ns(struct feed *f);
void fork_ns(struct feed *f, uint32_t child);

#endif
