/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of events that are counted for a thread; see handlers.h. */
#include "state/kernel/cell_cache.h"
#include "state/kernel/contexts.h"
#include "state/kernel/counts.h"
#include "state/kernel/cpu.h"
#include "state/kernel/event_task.h"
#include "state/kernel/handlers.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"

static void count(struct fed_event *f, uint32_t thread, enum count_kind kind)
{
	count_for(f->s, f->ts, f->host, thread, kind, f->cls->event, 1);
}

void on_counted_for_task(struct fed_event *f)
{
	const struct thread *t = event_task(f);
	count(f, t ? t->self : ID_NONE, f->cls->what);
}

/* The thread of a user space event on a host whose kernel trace does not tell which threads run. If the event has only
 * a pid, the thread stands for the process. */
static struct thread *user_of_event(struct fed_event *f)
{
	bool by_kernel;
	struct thread *t = user_thread(f, &by_kernel);
	int32_t pid = user_pid(f);
	if (!t && pid > 0)
		t = slice_thread(f->s, f->host, tid_of_process(pid));
	if (t)
		t->last_event_ns = f->ts;
	if (t)
		user_learn(f, t);
	return t;
}

void counted_event(struct fed_event *f, bool is_switch, bool counters)
{
	struct thread *t;
	bool by_cpu = false;
	if (!event_is_kernel(f)) {
		by_cpu = !event_follows_tasks(f);
		/* An idle task counts, too: an anonymous task may later be identified as idle. */
		t = by_cpu ? user_of_event(f) : cpu_task(f->s, f->c);
		if (counters)
			counters_of_thread(f, t);
	} else {
		t = event_task(f);
		if (is_switch) {	/* a switch counts for the thread that leaves the CPU */
			cpu_context(f->s, f->c, f->ts, f->seq, (int32_t)blk_int(f->ev, BLK_FIELD0));
			t = cpu_task(f->s, f->c);
		}
	}
	if (!t && by_cpu)
		count_on_cpu(f->s, f->ts, f->host, blk_stream(f->s->tables, f->ev->stream)->cpu, f->cls->event);
	else
		count(f, t ? t->self : ID_NONE, COUNT_EVENT);
}

void counters_at_switch(struct fed_event *f, const struct thread *leaves)
{
	counters_read(f->s, &f->c->counters, f->c->n_losses, f, leaves ? leaves->self : ID_NONE);
}

void counters_of_thread(struct fed_event *f, struct thread *t)
{
	if (t && t->tid >= -1 && f->cls->n_counters)
		counters_read(f->s, &t->counters, 0, f, t->self);
}
