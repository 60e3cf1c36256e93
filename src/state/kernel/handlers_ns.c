/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of events that report the namespaces of processes: the state dump, and forks. */
#include "state/kernel/contexts.h"
#include "state/kernel/event_task.h"
#include "state/kernel/facts.h"
#include "state/kernel/handlers.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"
#include "state/store/container.h"

#define F(n) (BLK_FIELD0 + (n))

static struct fact *ns_fact(struct fed_event *f, uint32_t thread, enum ns_kind kind, unsigned slot)
{
	struct fact *fact = slice_fact(f->s, FACT_NS, thread, f->ts, f->seq);
	fact->a = kind;
	fact->b = blk_int(f->ev, slot);
	fact->c = -1;
	return fact;
}

static struct fact *dumped(struct fed_event *f, enum ns_kind kind)
{
	event_task(f);
	int32_t tid = (int32_t)blk_int(f->ev, F(0));
	return tid > 0 ? ns_fact(f, slice_thread(f->s, f->host, tid)->self, kind, F(1)) : NULL;
}

void on_dump_pid_ns(struct fed_event *f)
{
	struct fact *fact = dumped(f, NS_PID);
	if (!fact)
		return;
	fact->c = blk_int_or(f->ev, F(3), -1);
	fact->level = (uint8_t)CLAMP(blk_int_or(f->ev, F(2), 0), 0, UINT8_MAX);
	struct thread *t = slice_thread(f->s, f->host, (int32_t)blk_int(f->ev, F(0)));
	int64_t tid = blk_int_or(f->ev, F(4), t->tid == t->pid ? fact->c : 0);
	if (!t->inner.tid || container_ns_is_first(NS_PID, t->inner.ns))	/* the innermost one comes first */
		contexts_learn_inner(f, t, tid, fact->c, fact->b);
}

void on_dump_ns(struct fed_event *f)
{
	dumped(f, f->cls->what);
}

/* A child is in its parent's namespaces, except for the pid namespace. The event has the child's tid in each pid
 * namespace, the outermost first. For a leader the last tid is the pid of its process there. */
#define VTIDS 4				/* number of tid fields, from F(6) on; with more levels the last is unknown */
void fork_ns(struct fed_event *f, uint32_t child)
{
	unsigned n = 0;

	if (!blk_has(f->ev, F(5)))
		return;
	struct fact *fact = ns_fact(f, child, NS_PID, F(5));
	while (n < VTIDS && blk_has(f->ev, F(6) + n))
		n++;
	int64_t vtid = n && n < VTIDS ? blk_int(f->ev, F(6) + n - 1) : 0;
	bool leads = blk_int(f->ev, F(1)) == blk_int_or(f->ev, F(3), -1);
	const struct thread *t = thread_at(f->s, child);
	uint32_t pid = t->creator == ID_NONE ? 0 : thread_at(f->s, t->creator)->inner.pid;	/* the same process */
	contexts_learn_inner(f, thread_at(f->s, child), vtid, leads ? vtid : pid, fact->b);
	if (vtid <= 0 || vtid > INT32_MAX || blk_int(f->ev, F(1)) != blk_int_or(f->ev, F(3), -1))
		return;
	fact->c = vtid;
	fact->level = (uint8_t)(n - 1);
}
