/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path of the most frequent kernel events: entries and exits of system calls, switches, wakeups. If
 * everything is as expected it does the same as their handlers. Else it does nothing, and the handler is called.
 * tests/unit/test-plain.c compares both.
 */
#include "state/kernel/fast_path.h"

#include "state/kernel/bin.h"
#include "state/kernel/calls.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/charge.h"
#include "state/kernel/contexts.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/kernel/irq.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_state.h"

/* ---- offsets of fields in records of one layout ---- */

/* The state that the current thread must have: known, running, with name and pid reported. */
static void plan_flags(struct fast_plan *p, bool pid, enum event_kind kind)
{
	bool call = kind == KIND_ENTRY || kind == KIND_EXIT;
	struct thread mask = { .resolved = true, .absorbed = true, .idle = call, .pid_reported = pid,
			       .comm_stored = p->comm_repr };
	struct thread want = { .resolved = true, .pid_reported = pid, .comm_stored = p->comm_repr };
	mask.st.run = UINT8_MAX;
	mask.st.irq_depth = UINT16_MAX;
	want.st.run = RUN_ON;
	if (call) {
		mask.st.irq_known = want.st.irq_known = true;
		mask.st.call_state = UINT8_MAX;
		want.st.call_state = kind == KIND_ENTRY ? CALL_NONE : CALL_IN;
	}
	p->flags_mask = mask.flags;
	p->flags = want.flags;
	p->word_mask = mask.st.word;
	p->word = want.st.word;
}

static bool is_number(const struct blk_slot_layout *l, unsigned size)
{
	return !l->big_endian && l->repr == BLK_INT && l->size >= size;
}

static bool is_comm(const struct blk_slot_layout *l, uint8_t repr)
{
	return l->repr == repr && (repr == BLK_TEXT_REF ||
				   (repr == BLK_TEXT_INLINE && l->size >= COMM_BYTES));
}

/* Finds the fields of one kind of event. */
static bool plan_fields(struct fast_plan *p, const struct blk_slot_layout *f, enum event_kind kind)
{
	p->arg = f[0].repr ? f[0].off : NOWHERE;
	p->size = kind == KIND_ENTRY && f[5].repr ? f[5].off : NOWHERE;
	p->op = is_number(&f[2], 4) && f[2].size == 4 && f[2].is_signed ? f[2].off : NOWHERE;
	bool futex = kind == KIND_ENTRY && is_number(&f[2], 8) && is_number(&f[3], 4) && is_number(&f[4], 4);
	for (unsigned i = 0; i < G_N_ELEMENTS(p->futex); i++)
		p->futex[i] = futex ? f[2 + i].off : NOWHERE;
	if (kind == KIND_ENTRY)
		return (!f[0].repr || is_number(&f[0], 4)) &&
		       (!f[5].repr || is_number(&f[5], 8));
	if (kind == KIND_EXIT)
		return is_number(&f[0], 8);
	if (kind == KIND_WAKE) {
		p->op = is_number(&f[1], 4) ? f[1].off : NOWHERE;
		return is_number(&f[0], 4);
	}
	p->state = f[1].off;
	p->next = f[2].off;
	p->prev_comm = f[3].off;
	p->next_comm = f[4].off;
	p->prev_prio = f[5].repr ? f[5].off : NOWHERE;
	p->next_prio = f[6].repr ? f[6].off : NOWHERE;
	if ((f[5].repr && !is_number(&f[5], 4)) || (f[6].repr && !is_number(&f[6], 4)))
		return false;
	if (!p->comm_repr)
		p->comm_repr = f[3].repr;
	return is_number(&f[0], 4) && is_number(&f[1], 8) && is_number(&f[2], 4) &&
	       is_comm(&f[3], p->comm_repr) && is_comm(&f[4], p->comm_repr);
}

bool plan_learn(struct fast_plan *p, const struct strtab *strings, const struct blk_layout *l,
		enum event_kind kind)
{
	const struct blk_slot_layout *tid = &l->slot[BLK_CTX_TID];
	const struct blk_slot_layout *comm = &l->slot[BLK_CTX_PROCNAME];
	*p = (struct fast_plan){ .layout = l, .tid = NOWHERE, .comm = NOWHERE, .comm_repr = comm->repr };
	bool usable = plan_fields(p, &l->slot[BLK_FIELD0], kind);
	usable &= !tid->repr || is_number(tid, 4);
	usable &= tid->repr || l->slot[BLK_CTX_PID].repr == BLK_NONE;	/* see cpu_process() */
	usable &= !comm->repr || is_comm(comm, p->comm_repr);
	if (tid->repr)
		p->tid = tid->off;
	if (comm->repr)
		p->comm = comm->off;
	plan_flags(p, l->slot[BLK_CTX_PID].repr != BLK_NONE, kind);
	p->places = contexts_any(l) ? strings : NULL;
	p->usual = p->tid != NOWHERE && p->comm != NOWHERE && comm->repr == BLK_TEXT_INLINE && !p->places;
	if (!usable)
		p->layout = NULL;
	return usable;
}

static inline uint64_t load8(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return GUINT64_FROM_LE(v);
}

static inline uint32_t load4(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return GUINT32_FROM_LE(v);
}

static inline bool equal_bytes(const char *a, const char *b, uint32_t n)
{
	if (n >= 8)
		return load8(a) == load8(b) && load8(a + n - 8) == load8(b + n - 8);
	if (n >= 4)
		return load4(a) == load4(b) && load4(a + n - 4) == load4(b + n - 4);
	for (uint32_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Is the text at `off` the thread's name? t->comm must be valid. */
static inline bool known_comm(const struct thread *t, const uint8_t *data, const struct fast_plan *p,
			      uint32_t off)
{
	const char *have = (const char *)t->comm.word;
	struct blk_text text;
	if (p->comm_repr == BLK_TEXT_INLINE)
		return comm_is(&t->comm, data + off);
	memcpy(&text, data + off, sizeof text);
	return text.len < COMM_BYTES && !have[text.len] && equal_bytes(have, text.str, text.len);
}

/* ---- threads of the event ---- */

/* The current task, if it is in the expected state and the event's contexts match it; else NULL. */
static inline G_ALWAYS_INLINE struct thread *plain_task(const struct blk_event *ev,
							const struct fast_plan *p, const struct cpu *c)
{
	struct thread *t = c->task;
	if (!t || (t->flags & p->flags_mask) != p->flags)
		return NULL;
	if (G_LIKELY(p->usual))
		return (int32_t)load4(ev->data + p->tid) == t->task_tid &&
		       comm_is(&t->comm, ev->data + p->comm) ? t : NULL;
	if (p->tid != NOWHERE && (int32_t)load4(ev->data + p->tid) != t->task_tid)
		return NULL;
	if (p->places && !t->idle && !contexts_known(p->places, &t->contexts, ev))
		return NULL;
	return p->comm == NOWHERE || known_comm(t, ev->data, p, p->comm) ? t : NULL;
}

/* The newest thread of the tid, if the cache has it; else NULL. */
static inline struct thread *known_tid(const struct slice *s, uint32_t host, int32_t tid)
{
	struct thread *t = s->tid_cache[(uint32_t)tid % TID_CACHE];
	return t && t->tid == tid && t->host == host && !t->absorbed && t->resolved &&
	       t->st.run != RUN_DEAD ? t : NULL;
}

/* ---- system calls ---- */

static inline void plain_futex(const uint8_t *data, const uint32_t at[3], int64_t arg[3])
{
	arg[0] = (int64_t)load8(data + at[0]);
	arg[1] = (int32_t)load4(data + at[1]);
	arg[2] = (int32_t)load4(data + at[2]);
}

static inline void plain_entry(const struct blk_event *ev, const struct class_info *cls,
			       struct thread *t, uint32_t cpu, uint64_t seq)
{
	const struct fast_plan *p = &cls->plan;
	struct call *call = &t->st.call;
	t->st.call_lost = false;
	t->st.call_state = CALL_IN;
	call->begin = call->busy_from = ev->ts;
	call->seq = seq;
	call->name = cls->name;
	call->text = 0;
	call->cpu = cpu;
	call->restart = RESTART_NONE;
	call->fd = p->arg == NOWHERE ? NO_FD : (int32_t)load4(ev->data + p->arg);
	call->info = cls->info;
	if (cls->wants_args) {		/* only the first argument; for a futex also the operation and the value */
		if (p->futex[0] != NOWHERE)
			plain_futex(ev->data, p->futex, call->arg);
		else if (p->op != NOWHERE)
			call->arg[0] = (int32_t)load4(ev->data + p->op);
		else
			for (unsigned i = 0; i < G_N_ELEMENTS(call->arg); i++)
				call->arg[i] = blk_int_or(ev, BLK_FIELD0 + 2 + i, i == 2 ? 0 : -1);
	} else {
		call->arg[0] = p->size == NOWHERE ? -1 : (int64_t)load8(ev->data + p->size);
	}
}

static inline void plain_exit(struct slice *s, struct bin *b, const struct blk_event *ev,
			      const struct class_info *cls, struct thread *t)
{
	const struct call *call = &t->st.call;
	struct built_thread_cell *bt = t->cell;	/* valid: plain_caller() has charged it */
	int64_t ret = (int64_t)load8(ev->data + cls->plan.arg);
	t->st.call_state = CALL_NONE;
	t->st.returned_ns = ev->ts;
	t->st.call.interrupted = G_UNLIKELY(call_is_interrupted(ret)) && call_can_restart(cls->info);
	struct call_cell *bc = cell_of_call(s, b, t, cls->name);
	bc->busy_ns += ev->ts - call->busy_from;
	call_count(s, b, t, bt, bc, call, cls->info, ev->ts, ret);
	if (G_UNLIKELY(t->open || t->left_ns == ev->ts || !s->from_start || t->tid == -1 || cls->info->locks ||
		       s->looks_back))
		call_log(s, t, call, ev->ts, ret);
}

static const struct cpu no_irq = { .irq_known = true };

/* The thread that begins or ends a call, charged up to ts; NULL: the case is not the expected one. */
static inline G_ALWAYS_INLINE struct thread *plain_caller(struct slice *s, struct bin *b,
							  const struct blk_event *ev,
							  const struct class_info *cls,
							  const struct cpu *c, bool exits)
{
	const struct fast_plan *p = &cls->plan;
	struct thread *t = cls->info->restarts ? NULL : plain_task(ev, p, c);
	if (!t || (t->st.word & p->word_mask) != p->word || c->irq_word != no_irq.irq_word ||
	    t->st.cursor < b->begin || ev->ts < t->st.cursor)
		return NULL;
	enum part part = exits ? PART_SYSCALL : PART_USER;
	/* An exit must match the pending call, which must have begun in this second. */
	if (exits &&
	    (t->st.call.name != cls->name || t->st.call.busy_from < b->begin))
		return NULL;
	int64_t ns = ev->ts - t->st.cursor;
	if (G_UNLIKELY(s->looks_back))
		thread_note_charge(t, part, t->st.cursor, ev->ts);
	cell_of_thread(s, b, t)->part[part] += ns;
	t->st.part[part] += ns;
	t->st.cursor = ev->ts;
	return t;
}

/* ---- scheduler ---- */

static inline int16_t prio_at(const uint8_t *data, uint32_t off)
{
	return off == NOWHERE ? PRIO_NONE : sched_prio((int32_t)load4(data + off));
}

static G_NO_INLINE bool fast_switch(struct slice *s, struct bin *b, const struct blk_event *ev,
				struct class_info *cls, struct cpu *c, uint64_t seq)
{
	const struct fast_plan *p = &cls->plan;
	const uint8_t *data = ev->data;
	struct thread *prev = plain_task(ev, p, c);
	if (!prev || (int32_t)load4(data + p->arg) != prev->task_tid || c->cursor < b->begin ||
	    ev->ts < c->cursor)
		return false;
	if (!prev->idle && !(prev->comm_stored && known_comm(prev, data, p, p->prev_comm)))
		return false;
	int32_t tid = (int32_t)load4(data + p->next);
	struct thread *next = tid ? known_tid(s, c->host, tid) : c->idle;
	if (!next || (tid && !(next->comm_stored && known_comm(next, data, p, p->next_comm))))
		return false;
	cpu_no_irq(c);
	if (G_UNLIKELY(cls->n_counters))
		counters_at_switch(&(struct fed_event){ .s = s, .ev = ev, .cls = cls, .c = c, .ts = ev->ts,
						   .host = c->host }, prev);
	if (ev->ts > c->cursor) {
		*cpu_figure(s, b, c, prev->idle ? CPU_IDLE : CPU_RUN) += ev->ts - c->cursor;
		if (!prev->idle)
			*ran_figure(s, b, prev, c->number) += ev->ts - c->cursor;
	}
	c->cursor = ev->ts;
	enum off_state state = off_state_of(s, c->host, (int64_t)load8(data + p->state));
	int16_t next_prio = prio_at(data, p->next_prio);
	int16_t prev_prio = prio_at(data, p->prev_prio);
	sched_out(s, prev, ev->ts, sched_cpu(c), prev_prio, state == OFF_PREEMPTED);
	thread_off(s, prev, ev->ts, seq, c->self, prev_prio, state);
	c->task = next;
	cpu_runs(s, c, ev->ts);
	thread_run(s, next, ev->ts, seq, c->self, next_prio);
	return true;
}

static G_NO_INLINE bool fast_wake(struct slice *s, const struct blk_event *ev,
			      const struct class_info *cls, struct cpu *c, uint64_t seq)
{
	const struct fast_plan *p = &cls->plan;
	const struct thread *t = plain_task(ev, p, c);
	int32_t tid = (int32_t)load4(ev->data + p->arg);
	struct thread *woken = tid > 0 ? known_tid(s, c->host, tid) : NULL;
	if (!t || !woken || !c->irq_known)
		return false;
	if (woken->st.run != RUN_ON && wakeup_is_ignored(s, woken))	/* most wakeups have two events */
		return true;
	struct waking w = { .ts = ev->ts, .seq = seq, .cpu = c->self, .waker = t->self };
	const struct irq_frame *frame = cpu_irq_frame(c);
	if (frame) {
		w.waker = irq_frame_waker(frame);
		w.irq = frame->code;
	}
	thread_wake(s, woken, &w);
	if (p->op != NOWHERE)
		thread_queued(s, woken, ev->ts, (uint16_t)load4(ev->data + p->op));
	return true;
}

/* ---- a batch ---- */

static inline bool plain_event(struct slice *s, struct bin *b, const struct blk_event *ev,
			       struct class_info *cls, struct cpu *c, uint64_t seq)
{
	struct thread *t;
	switch (cls->kind) {
	case KIND_ENTRY:
		t = plain_caller(s, b, ev, cls, c, false);
		if (t)
			plain_entry(ev, cls, t, c->self, seq);
		return t;
	case KIND_EXIT:
		t = plain_caller(s, b, ev, cls, c, true);
		if (t)
			plain_exit(s, b, ev, cls, t);
		return t;
	case KIND_SWITCH:
		return fast_switch(s, b, ev, cls, c, seq);
	default:
		return fast_wake(s, ev, cls, c, seq);
	}
}

/* The tables already describe each record's stream and class: they are delivered before it. */
size_t feed_fast(struct slice *s, const struct blk_event *ev, size_t n)
{
	struct bin *b = s->count_bin;
	if (!b)
		return 0;
	const struct stream_info *streams = (const struct stream_info *)s->streams->data;
	struct class_info *classes = (struct class_info *)s->class_infos->data;
	int64_t end = b->end, last = MAX(s->last, b->begin);
	if (s->live && end - last > COVERED_SILENT_NS)
		end = last + COVERED_SILENT_NS;		/* a pause is looked for in slice_feed() */
	const struct blk_event *e = ev, *stop = ev + n;
	uint64_t seq = s->seq;
	for (; e < stop && e->layout; e++) {
		struct class_info *cls = &classes[e->cls];
		struct cpu *c = streams[e->stream].plain;
		if (cls->plan.layout != e->layout || !c || cls->host != c->host ||
		    e->ts < last || e->ts >= end)
			break;
		if (!plain_event(s, b, e, cls, c, seq))
			break;
		seq++;
		cls->count++;
		last = e->ts;
		c->kernel_to = last;
	}
	size_t done = (size_t)(e - ev);
	g_assert(b == s->count_bin && last >= s->last);	/* no handler has changed the second */
	if (done)
		s->last = last;
	s->seq += done;
	s->n_events += done;
	return done;
}
