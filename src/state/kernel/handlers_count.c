/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of events that are counted for a thread, and of what user space events report about their thread; see
 * handlers.h. */
#include "state/kernel/cell_cache.h"
#include "state/kernel/counts.h"
#include "state/kernel/cpu.h"
#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/slice/slice_state.h"

static void count(struct feed *f, uint32_t thread, enum count_kind kind)
{
	count_for(f->s, f->ts, f->host, thread, kind, f->cls->event, 1);
}

static void count_current(struct feed *f, enum count_kind kind)
{
	const struct thread *t = handler_task(f);
	count(f, t ? t->self : ID_NONE, kind);
}

void on_page_fault(struct feed *f)
{
	count_current(f, COUNT_FAULT);
}

void on_probe(struct feed *f)
{
	count_current(f, COUNT_PROBE);
}

bool feed_is_kernel(const struct feed *f)
{
	return g_array_index(f->s->streams, struct stream_info, f->ev->stream).kernel;
}

bool feed_follows_tasks(const struct feed *f)
{
	return slice_follows_tasks(f->s, f->host);
}

struct thread *user_thread(struct feed *f, bool *ret_by_kernel)
{
	int32_t vtid = (int32_t)blk_int_or(f->ev, BLK_CTX_VTID, -1);
	*ret_by_kernel = false;
	if (feed_is_kernel(f) || feed_follows_tasks(f)) {
		struct thread *t = cpu_task(f->s, f->c);
		*ret_by_kernel = t && (feed_is_kernel(f) || !tid_is_unproven(t->tid));
		if (*ret_by_kernel)
			return t;
	}
	if (vtid <= 0 || feed_is_kernel(f) || feed_container(f))
		return NULL;
	struct thread *t = slice_thread(f->s, f->host, vtid);
	/* slice_live(): the event shows that the thread exists in this second. */
	if (thread_names_itself(f->s, t))
		cell_of_thread(f->s, bin_at(f->s, f->ts), t);
	t->last_event_ns = f->ts;
	return t;
}

int32_t user_pid(const struct feed *f)
{
	int32_t vpid = (int32_t)blk_int_or(f->ev, BLK_CTX_VPID, -1);
	return vpid < 0 ? blk_stream(f->s->tables, f->ev->stream)->vpid : vpid;
}

void user_learn(struct feed *f, struct thread *t)
{
	struct slice *s = f->s;
	struct fact *fact;
	int32_t reported = user_pid(f);
	uint32_t name = slice_string(s, blk_text(f->ev, BLK_CTX_PROCNAME));
	const char *registered = blk_stream(s->tables, f->ev->stream)->vpid_procname;
	if (!name && !t->name_last && registered && (t->tid < 0 || t->tid == reported))
		name = slice_string(s, (struct blk_text){ registered, (uint32_t)strlen(registered) });
	if (name && name != t->name_last) {
		fact = slice_fact(s, FACT_COMM, t->self, f->ts, f->seq);
		fact->text = t->name_last = name;
		t->comm_stored = false;
	}
	int32_t pid = t->pid_reported ? -1 : reported;
	if (pid > 0) {
		fact = slice_fact(s, FACT_PID, t->self, f->ts, f->seq);
		fact->a = pid;
		fact->b = -1;
		t->pid_reported = true;
	}
}

/* The thread of a user space event on a host whose kernel trace does not tell which threads run. If the event has only
 * a pid, the thread stands for the process. */
static struct thread *user_of_event(struct feed *f)
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

void counted_event(struct feed *f, bool is_switch, bool counters)
{
	struct thread *t;
	if (!feed_is_kernel(f)) {
		/* An idle task counts, too: an anonymous task may later be identified as idle. */
		t = feed_follows_tasks(f) ? cpu_task(f->s, f->c) : user_of_event(f);
		if (counters)
			counters_of_thread(f, t);
	} else {
		t = handler_task(f);
		if (is_switch) {	/* a switch counts for the thread that leaves the CPU */
			cpu_context(f->s, f->c, f->ts, f->seq, (int32_t)blk_int(f->ev, BLK_FIELD0));
			t = cpu_task(f->s, f->c);
		}
	}
	count(f, t ? t->self : ID_NONE, COUNT_EVENT);
}

void counters_at_switch(struct feed *f, const struct thread *leaves)
{
	counters_read(f->s, &f->c->counters, f->c->n_losses, f, leaves ? leaves->self : ID_NONE);
}

void counters_of_thread(struct feed *f, struct thread *t)
{
	if (t && t->tid >= -1 && f->cls->n_counters)
		counters_read(f->s, &t->counters, 0, f, t->self);
}
