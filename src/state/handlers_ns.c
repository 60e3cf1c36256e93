/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told of namespaces: in which ones processes are; their rows are in handlers.c. */
#include "state/slice_private.h"

#define F(n) (BLK_FIELD0 + (n))

static struct fact *ns_fact(struct feed *f, uint32_t thread, enum ns_kind kind, unsigned slot)
{
	struct fact *fact = slice_fact(f->s, FACT_NS, thread, f->ts, f->seq);
	fact->a = kind;
	fact->b = blk_int(f->ev, slot);
	fact->c = -1;
	return fact;
}

static struct fact *dumped(struct feed *f, enum ns_kind kind)
{
	handler_task(f);
	int32_t tid = (int32_t)blk_int(f->ev, F(0));
	return tid > 0 ? ns_fact(f, slice_thread(f->s, f->host, tid)->self, kind, F(1)) : NULL;
}

void on_dump_pid_ns(struct feed *f)
{
	struct fact *fact = dumped(f, NS_PID);
	if (!fact)
		return;
	fact->c = blk_int_or(f->ev, F(3), -1);
	fact->level = (uint8_t)CLAMP(blk_int_or(f->ev, F(2), 0), 0, UINT8_MAX);
}

void on_dump_cgroup_ns(struct feed *f)
{
	dumped(f, NS_CGROUP);
}

void on_dump_uts_ns(struct feed *f)
{
	dumped(f, NS_UTS);
}

/* Its other namespaces are those of its parent. */
void fork_ns(struct feed *f, uint32_t child)
{
	if (blk_has(f->ev, F(5)))
		ns_fact(f, child, NS_PID, F(5));
}
