/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread of an event, by contexts and the CPU's task; see event_task.h. */
#include "state/kernel/event_task.h"

#include "state/kernel/cell_cache.h"
#include "state/kernel/contexts.h"
#include "state/kernel/cpu.h"
#include "state/kernel/facts.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"

static void keep_comm(struct thread *t, struct blk_text text)
{
	t->comm_stored = text.len < COMM_BYTES;
	if (!t->comm_stored)
		return;
	memset(&t->comm, 0, sizeof t->comm);
	memcpy(t->comm.word, text.str, text.len);
	memset(t->comm.mask, 0xff, text.len + 1);
}

void event_take_comm(struct fed_event *f, struct thread *t, struct blk_text text)
{
	const char *last = strtab_get(f->s->strings, t->name_last);
	bool same = strlen(last) == text.len && !memcmp(last, text.str, text.len);
	if (!same) {
		t->name_last = slice_string(f->s, text);
		event_fact(f, t, &(struct fact){ .kind = FACT_COMM, .text = t->name_last });
	}
	keep_comm(t, text);
}

/* The process of a kernel event; -1: the event does not tell it. */
static int64_t pid_of(const struct fed_event *f)
{
	bool virtual = !slice_follows_tasks(f->s, f->host) && !contexts_nested(f);
	return event_int(f->ev, BLK_CTX_PID, virtual ? event_int(f->ev, BLK_CTX_VPID, -1) : -1);
}

/* The thread of an event without a tid, if no switches are recorded: only its other contexts tell it. */
static int32_t reported_tid(const struct fed_event *f)
{
	int64_t vtid = contexts_nested(f) ? -1 : event_int(f->ev, BLK_CTX_VTID, -1), pid = pid_of(f);
	if (vtid >= 0 && vtid <= INT32_MAX)
		return (int32_t)vtid;
	return pid ? tid_of_process(pid) : 0;
}

void event_learn_pid(const struct fed_event *f, struct thread *t, int64_t pid, int64_t ppid)
{
	event_fact(f, t, &(struct fact){ .kind = FACT_PID, .a = pid, .b = ppid });
	t->pid_reported = true;
}

struct thread *event_task(struct fed_event *f)
{
	if (blk_has(f->ev, BLK_CTX_TID))
		cpu_context(f->s, f->c, f->ts, f->seq, (int32_t)event_int(f->ev, BLK_CTX_TID, 0));
	else if (G_UNLIKELY(!slice_follows_tasks(f->s, f->host)))
		cpu_context(f->s, f->c, f->ts, f->seq, reported_tid(f));
	else if (blk_has(f->ev, BLK_CTX_PID))
		cpu_process(f->s, f->c, f->ts, f->seq, (int32_t)CLAMP(pid_of(f), 0, INT32_MAX));
	struct thread *t = cpu_task(f->s, f->c);
	if (!t || G_UNLIKELY(t->tid == TID_UNPROVEN))
		return t;
	if (!t->pid_reported && pid_of(f) >= 0) {
		t->pid = (int32_t)pid_of(f);
		event_learn_pid(f, t, pid_of(f), blk_int_or(f->ev, BLK_CTX_PPID, -1));
	} else if (G_UNLIKELY(t->pid < 0)) {
		t->pid = (int32_t)event_int(f->ev, BLK_CTX_PID, -1);
	}
	event_learn_comm(f, t, BLK_CTX_PROCNAME);
	if (G_UNLIKELY(f->ev->layout != f->cls->placeless))
		contexts_learn(f, t);
	return t;
}

struct thread *user_thread(struct fed_event *f, bool *ret_by_kernel)
{
	int32_t vtid = (int32_t)blk_int_or(f->ev, BLK_CTX_VTID, -1);
	*ret_by_kernel = false;
	if (event_is_kernel(f) || event_follows_tasks(f)) {
		struct thread *t = cpu_task(f->s, f->c);
		*ret_by_kernel = t && (event_is_kernel(f) || !tid_is_unproven(t->tid));
		if (*ret_by_kernel)
			return t;
	}
	if (vtid <= 0 || event_is_kernel(f) || event_container(f))
		return NULL;
	struct thread *t = slice_thread(f->s, f->host, vtid);
	/* slice_live(): the event shows that the thread exists in this second. */
	if (thread_names_itself(f->s, t))
		cell_of_thread(f->s, bin_at(f->s, f->ts), t);
	t->last_event_ns = f->ts;
	return t;
}

int32_t user_pid(const struct fed_event *f)
{
	int32_t vpid = (int32_t)blk_int_or(f->ev, BLK_CTX_VPID, -1);
	return vpid < 0 ? blk_stream(f->s->tables, f->ev->stream)->vpid : vpid;
}

void user_learn(struct fed_event *f, struct thread *t)
{
	struct slice *s = f->s;
	int32_t reported = user_pid(f);
	uint32_t name = slice_string(s, blk_text(f->ev, BLK_CTX_PROCNAME));
	const char *registered = blk_stream(s->tables, f->ev->stream)->vpid_procname;
	if (!name && !t->name_last && registered && (t->tid < 0 || t->tid == reported))
		name = slice_string(s, (struct blk_text){ registered, (uint32_t)strlen(registered) });
	if (name && name != t->name_last) {
		event_fact(f, t, &(struct fact){ .kind = FACT_COMM, .text = name });
		t->name_last = name;
		t->comm_stored = false;
	}
	if (!t->pid_reported && reported > 0)
		event_learn_pid(f, t, reported, -1);
}
