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

void on_dump_ns(struct fed_event *f)
{
	enum ns_kind kind = f->cls->what;
	g_assert(kind < NS_N);
	event_task(f);
	int32_t tid = (int32_t)blk_int(f->ev, F(0));
	if (tid <= 0)
		return;
	struct thread *t = slice_thread(f->s, f->host, tid);
	int64_t ns = blk_int(f->ev, F(1)), pid = kind == NS_PID ? blk_int_or(f->ev, F(3), -1) : -1;
	int64_t level = kind == NS_PID ? blk_int_or(f->ev, F(2), 0) : 0;
	event_fact(f, t, &(struct fact){ .kind = FACT_NS, .a = kind, .b = ns, .c = pid,
					 .level = (uint8_t)CLAMP(level, 0, UINT8_MAX) });
	if (kind != NS_PID)
		return;
	int64_t inner = blk_int_or(f->ev, F(4), t->tid == t->pid ? pid : 0);
	if (!t->inner.tid || container_ns_is_first(NS_PID, t->inner.ns))	/* the innermost one comes first */
		contexts_learn_inner(f, t, inner, pid, ns);
}

/* A child is in its parent's namespaces, except for the pid namespace. The event has the child's tid in each pid
 * namespace, the outermost first. For a leader the last tid is the pid of its process there. */
#define VTIDS 4				/* number of tid fields, from F(6) on; with more levels the last is unknown */
void fork_ns(struct fed_event *f, struct thread *child)
{
	unsigned n = 0;

	if (!blk_has(f->ev, F(5)))
		return;
	while (n < VTIDS && blk_has(f->ev, F(6) + n))
		n++;
	int64_t vtid = n && n < VTIDS ? blk_int(f->ev, F(6) + n - 1) : 0;
	bool leads = blk_int(f->ev, F(1)) == blk_int_or(f->ev, F(3), -1);
	bool known = leads && vtid > 0 && vtid <= INT32_MAX;
	int64_t ns = blk_int(f->ev, F(5));
	event_fact(f, child, &(struct fact){ .kind = FACT_NS, .a = NS_PID, .b = ns, .c = known ? vtid : -1,
					     .level = (uint8_t)(known ? n - 1 : 0) });
	/* a thread is in the same process as its creator */
	uint32_t pid = child->creator == ID_NONE ? 0 : thread_at(f->s, child->creator)->inner.pid;
	contexts_learn_inner(f, child, vtid, leads ? vtid : pid, ns);
}
