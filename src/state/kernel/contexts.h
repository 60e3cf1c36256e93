/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces, hostname and vpid of a process. There are two sources, stored separately: the state dump and forks; and
 * contexts of events (pid_ns, cgroup_ns, uts_ns, vpid, hostname). Contexts come from the process itself and so
 * take precedence. The state dump and forks: handlers_ns.c.
 *
 * Every event has its contexts, so a fact is written only where they differ from those of the thread's previous event.
 * A slice does not know the state before it and repeats some facts; these change nothing and are skipped.
 * Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_CONTEXTS_H
#define BLK_STATE_KERNEL_CONTEXTS_H

#include "trace/event.h"

struct contexts;
struct fed_event;
struct strtab;
struct thread;

/* Do events of the layout have any of these contexts? */
static inline bool contexts_any(const struct blk_layout *l)
{
	return l->slot[BLK_CTX_HOSTNAME].repr | l->slot[BLK_CTX_PID_NS].repr |
	       l->slot[BLK_CTX_CGROUP_NS].repr | l->slot[BLK_CTX_UTS_NS].repr |
	       l->slot[BLK_CTX_VPID].repr;
}

/* Is the event known to be of a pid namespace other than the host's first one? */
bool contexts_nested(const struct fed_event *f);
/* Writes facts for changed contexts of the event's thread (NULL is fine). */
void contexts_learn(struct fed_event *f, struct thread *t);
bool contexts_known(const struct strtab *strings, const struct contexts *by_events,
		    const struct blk_event *ev);	/* do the event's contexts equal `by_events`? */
/* The value of .c in a FACT_CONTEXT from a user-space event on a CPU that the kernel's trace covers: the CPU, and the
 * event's own vtid (0: none that could be compared). */
static inline int64_t context_source(uint32_t cpu, int32_t vtid)
{
	return (int64_t)vtid << 32 | cpu;
}
/* The kernel says that the thread has these ids in its pid namespace; what is no id is unknown. */
void contexts_learn_inner(struct fed_event *f, struct thread *t, int64_t tid, int64_t pid, int64_t ns);

#endif
