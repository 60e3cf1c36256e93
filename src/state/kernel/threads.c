/* SPDX-License-Identifier: GPL-2.0-only */
/* A slice's threads by their ids, and the slots of those that ended; see threads.h. */
#include "state/kernel/threads.h"

#include "base/each.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/facts.h"
#include "state/kernel/locks.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_order.h"

#define FEW 512		/* threads: fewer are not worth a search */

/* ---- threads by their ids ---- */

/* A free slot; ID_NONE: none is free. */
static uint32_t take_slot(struct thread_slots *p)
{
	if (!p->free->len)
		return ID_NONE;
	uint32_t id = g_array_index(p->free, uint32_t, p->free->len - 1);
	g_assert(id != ID_NONE);
	g_array_set_size(p->free, p->free->len - 1);
	g_array_append_val(p->again, id);
	return id;
}

static struct thread *slice_thread_new(struct slice *s, uint32_t host, int32_t tid)
{
	uint32_t id = take_slot(&s->slots);
	struct thread *t = id == ID_NONE ? thread_new(s->threads->len) : thread_at(s, id);
	g_assert(t->self == (id == ID_NONE ? s->threads->len : id) && t->tid == -1 && t->forward == ID_NONE);
	if (id == ID_NONE)
		g_ptr_array_add(s->threads, t);
	g_assert(s->threads->len <= IRQ_HARD(0));	/* a waker is a thread, or the code of an interrupt */
	t->host = host;
	t->tid = t->task_tid = tid;
	return t;
}

static void unregister(struct intmap *tids, uint64_t key, uint32_t id)
{
	if (intmap_get(tids, key) == id)
		intmap_remove(tids, key);
}

#define INNER_SEVERAL (UINT32_MAX - 1)	/* in .inner_last: threads of several namespaces */
G_STATIC_ASSERT(INNER_SEVERAL != INTMAP_NONE);

static uint64_t inner_key(uint32_t host, uint32_t tid, uint32_t pid, uint32_t ns)
{
	uint64_t h = pair(host, tid) * UINT64_C(0x9e3779b97f4a7c15);
	return (h ^ h >> 32 ^ pair(ns, pid)) * UINT64_C(0xff51afd7ed558ccd);
}

static void inner_forget(struct slice *s, const struct thread *t)
{
	const struct inner_ids *ids = &t->inner;
	if (!ids->tid)
		return;
	unregister(&s->inner_last, inner_key(t->host, ids->tid, 0, 0), t->self);
	unregister(&s->inner_last, inner_key(t->host, ids->tid, ids->pid, 0), t->self);
	unregister(&s->inner_last, inner_key(t->host, ids->tid, 0, ids->ns), t->self);
}

static void release_slot(struct slice *s, struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	g_assert(t->tid != -1 || t->resolved || t->forward != ID_NONE);	/* else it is free already */
	struct thread **slot = &s->tid_cache[(uint32_t)t->tid % TID_CACHE];
	unregister(&s->tid_last, key, t->self);
	unregister(&s->tid_first, key, t->self);
	if (*slot == t)
		*slot = NULL;
	inner_forget(s, t);
	thread_reset(t);
	g_array_append_val(s->slots.free, t->self);
}

static void thread_register(struct slice *s, struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	s->tid_cache[(uint32_t)t->tid % TID_CACHE] = t;
	intmap_set(&s->tid_last, key, t->self);
	if (intmap_get(&s->tid_first, key) == INTMAP_NONE)
		intmap_set(&s->tid_first, key, t->self);
}

struct thread *slice_thread(struct slice *s, uint32_t host, int32_t tid)
{
	struct thread **slot = &s->tid_cache[(uint32_t)tid % TID_CACHE], *t = *slot;
	if (t && t->tid == tid && t->host == host && t->forward == ID_NONE && t->st.run != RUN_DEAD) {
		t->only_claimed = false;
		return t;
	}
	uint32_t id = intmap_get(&s->tid_last, pair(host, (uint32_t)tid));
	t = NULL;
	if (id != INTMAP_NONE) {
		t = *slot = thread_at(s, id);
		t->only_claimed = false;
		if (!(t->resolved && t->st.run == RUN_DEAD))
			return t;
	}
	bool again = t;
	t = slice_thread_new(s, host, tid);
	t->fresh = again;	/* the tid is reused after its exit: the fork event is missing */
	thread_register(s, t);
	if (again)
		thread_root(s, t);
	return t;
}

static struct thread *inner_at(const struct slice *s, uint64_t key, uint32_t host, const struct inner_ids *ids)
{
	uint32_t id = intmap_get(&s->inner_last, key);
	struct thread *t = id == INTMAP_NONE || id == INNER_SEVERAL ? NULL : thread_at(s, id);
	if (!t || t->host != host || t->inner.tid != ids->tid || t->st.run == RUN_DEAD)
		return NULL;
	bool pids = !ids->pid || !t->inner.pid || ids->pid == t->inner.pid;
	return pids && (!ids->ns || !t->inner.ns || ids->ns == t->inner.ns) ? t : NULL;
}

static void inner_set(struct slice *s, struct thread *t, uint32_t pid, uint32_t ns)
{
	struct inner_ids ids = { t->inner.tid, pid, ns };
	uint64_t key = inner_key(t->host, ids.tid, pid, ns);
	const struct thread *before = inner_at(s, key, t->host, &ids);
	bool several = intmap_get(&s->inner_last, key) == INNER_SEVERAL ||
		       (before && before != t && before->inner.ns != t->inner.ns);
	intmap_set(&s->inner_last, key, several ? INNER_SEVERAL : t->self);
}

void slice_inner_is(struct slice *s, struct thread *t, const struct inner_ids *ids)
{
	t->inner = (struct inner_ids){ ids->tid, ids->pid ? ids->pid : t->inner.pid, ids->ns ? ids->ns : t->inner.ns };
	inner_set(s, t, 0, 0);
	inner_set(s, t, t->inner.pid, 0);
	inner_set(s, t, 0, t->inner.ns);
}

struct thread *slice_inner_thread(const struct slice *s, uint32_t host, const struct inner_ids *ids)
{
	struct thread *t = inner_at(s, inner_key(host, ids->tid, 0, ids->ns), host, ids);
	if (!t)
		t = inner_at(s, inner_key(host, ids->tid, ids->pid, 0), host, ids);
	return t ? t : inner_at(s, inner_key(host, ids->tid, 0, 0), host, ids);
}

void slice_tid_again(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq)
{
	uint32_t id = intmap_get(&s->tid_last, pair(host, (uint32_t)tid));
	struct thread *t = id == INTMAP_NONE ? NULL : thread_at(s, id);
	bool claimed = t && t->only_claimed && s->from_start;	/* it is not there */
	if (t && !claimed && !(t->resolved && t->st.run == RUN_DEAD))
		thread_record(s, t, &(struct rec){ .type = REC_ENDED, .ts = ts, .seq = seq,
						      .id = ID_NONE });
}

struct thread *slice_thread_born(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq)
{
	uint32_t id = intmap_get(&s->tid_last, pair(host, (uint32_t)tid));
	struct thread *t = id == INTMAP_NONE ? NULL : thread_at(s, id);
	if (!t || !thread_order_is_young(t, ts)) {
		slice_tid_again(s, host, tid, ts, seq);
		t = slice_thread_new(s, host, tid);
		thread_register(s, t);
	}
	thread_born(s, t, ts);
	return t;
}

struct thread *slice_thread_exec(struct slice *s, struct thread *caller, int32_t tid, int64_t ts, uint64_t seq)
{
	slice_tid_again(s, caller->host, tid, ts, seq);
	struct thread *t = slice_thread_new(s, caller->host, tid);
	thread_register(s, t);
	thread_born_by_exec(s, t, caller->self, ts);
	return t;
}

struct thread *slice_anonymous(struct slice *s, struct cpu *c)
{
	struct thread *t = slice_thread_new(s, c->host, -1);
	t->start_cpu = c->self;
	return t;
}

/* Idle tasks have tid 0 on every CPU. Here an idle task's tid has bit 31 set and the CPU number in the lower bits. */
int32_t slice_idle_tid(const struct cpu *c)
{
	return (int32_t)(UINT32_C(0x80000000) | c->number);
}

struct thread *slice_idle(struct slice *s, struct cpu *c)
{
	if (c->idle)
		return c->idle;
	struct thread *t = slice_thread_new(s, c->host, slice_idle_tid(c));
	t->idle = t->resolved = true;
	t->task_tid = 0;
	t->comm_stored = true;	/* .comm.mask is 0: any name matches */
	t->start_cpu = c->self;
	thread_register(s, t);
	c->idle = t;
	return t;
}

/* ---- slots of ended threads ---- */

void thread_slots_init(struct thread_slots *p)
{
	p->free = g_array_new(false, false, sizeof(uint32_t));
	p->again = g_array_new(false, false, sizeof(uint32_t));
}

void thread_slots_clear(struct thread_slots *p)
{
	g_array_unref(p->free);
	g_array_unref(p->again);
}

bool thread_slots_are_due(const struct slice *s)
{
	return (s->live || s->follow) &&
	       s->threads->len - s->slots.free->len > FEW + s->slots.used + s->slots.used / 4;
}

/* ---- marking threads that are referred to ---- */

static void mark(const struct slice *s, guint8 *used, uint32_t thread)
{
	if (thread == ID_NONE)
		return;
	g_assert(thread < s->threads->len && thread_follow(s, thread) < s->threads->len);
	used[thread] = 1;
	used[thread_follow(s, thread)] = 1;
}

/* Marks threads that are keys of cells of this kind. */
static void mark_kind(const struct slice *s, guint8 *used, const struct bin *b, enum cell_kind kind)
{
	const struct cell_layout *l = built_layout(kind);
	const struct cell_table *t = &b->table[kind];
	for (const struct cell_field *f = l->fields; f < l->fields + l->n_keys; f++)
		for (uint32_t i = 0; f->role == CELL_IS_THREAD && i < t->n; i++)
			mark(s, used, *(const uint32_t *)(const void *)((char *)cell_table_at(t, l, i) + f->offset));
}

static void mark_bins(const struct slice *s, guint8 *used)
{
	TABLE_EACH(each, s->bins) {
		const struct bin *b = each.value;
		for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
			mark_kind(s, used, b, k);
		BIN_EACH_SLOW(b, x)
			mark(s, used, x->thread);
	}
}

static void mark_thread(const struct slice *s, guint8 *used, const struct thread *t)
{
	mark(s, used, t->creator);
	mark(s, used, t->st.waker);
	for (uint32_t i = 0; i < t->waits.len; i++)
		mark(s, used, vec_at(&t->waits, struct wait, i)->waker);
	ARRAY_EACH(const struct rec, r, &t->waiting)
		if (r->type == REC_WAKE)
			mark(s, used, r->id);
}

static void mark_cpu(const struct slice *s, guint8 *used, const struct cpu *c)
{
	mark(s, used, c->start);
	if (c->task)
		mark(s, used, c->task->self);
	for (uint32_t i = 0; i < c->runs.len; i++)
		mark(s, used, vec_at(&c->runs, struct run, i)->thread);
	for (unsigned i = 0; i < MIN(c->irq_depth, IRQ_FRAMES); i++)
		mark(s, used, c->irq[i].thread);
}

struct marking { const struct slice *s; guint8 *used; };

static void mark_asker(uint32_t thread, void *data)
{
	const struct marking *m = data;
	mark(m->s, m->used, thread);
}

static void mark_all(const struct slice *s, guint8 *used)
{
	mark_bins(s, used);
	for (guint i = 0; i < s->annots->len; i++)
		mark(s, used, g_array_index(s->annots, struct annot, i).thread);
	for (guint i = 0; i < s->stops.len; i++) {
		mark(s, used, vec_at(&s->stops, struct stop_signal, i)->thread);
		mark(s, used, vec_at(&s->stops, struct stop_signal, i)->sender);
	}
	for (uint32_t i = 0; i < s->locks.waits.len; i++) {
		mark(s, used, vec_at(&s->locks.waits, struct lock_wait, i)->thread);
		mark(s, used, vec_at(&s->locks.waits, struct lock_wait, i)->waker);
	}
	for (uint32_t i = 0; i < s->locks.releases.len; i++)
		mark(s, used, vec_at(&s->locks.releases, struct lock_release, i)->thread);
	ARRAY_EACH(const struct fact, f, s->facts) {
		mark(s, used, f->thread);
		mark(s, used, f->other);
	}
	for (guint i = 0; i < s->cpus->len; i++)
		mark_cpu(s, used, cpu_at(s, i));
	blocks_each_thread(s->blocks, mark_asker, &(struct marking){ s, used });
	PTR_EACH(const struct thread, t, s->threads)
		if (t->st.run != RUN_DEAD)
			mark_thread(s, used, t);
}

static void forward_at_once(struct slice *s)
{
	PTR_EACH(struct thread, t, s->threads)
		t->forward = thread_follow(s, t->forward);
}

guint8 *thread_slots_mark_used(struct slice *s)
{
	guint8 *used = g_malloc0(s->threads->len);

	forward_at_once(s);
	mark_all(s, used);
	return used;
}

bool thread_is_lost(const struct slice *s, const struct thread *t)
{
	return t->tid == -1 && t->resolved && t->st.run == RUN_UNKNOWN && t->forward == ID_NONE &&
	       cpu_at(s, t->start_cpu)->task != t;
}

/* Was it merged into another thread, which has its logs? */
static bool is_another(const struct thread *t, int64_t before)
{
	return t->forward != ID_NONE && t->st.cursor < before;
}

bool thread_is_silent(const struct slice *s, const struct thread *t, int64_t before)
{
	return thread_names_itself(s, t) && !t->resolved && t->tid != -1 && t->forward == ID_NONE && !t->absorbed &&
	       t->last_event_ns != TS_NONE && t->last_event_ns < before;
}

static bool is_dead(const struct slice *s, const struct thread *t, int64_t before)
{
	if (t->tid == -1)
		return thread_is_lost(s, t) && t->st.cursor < before;
	return t->resolved && t->st.run == RUN_DEAD && t->exit_ns != TS_NONE && t->exit_ns < before &&
	       t->tid > 0 && !t->idle && t->forward == ID_NONE && !t->absorbed;
}

/* Can the slot be freed? The thread ended before that time (ns) and has no logs, or was merged into another thread. */
static bool is_over(const struct slice *s, const struct thread *t, int64_t before)
{
	return is_another(t, before) ||
	       ((is_dead(s, t, before) || thread_is_silent(s, t, before)) &&
		!t->aliases && !t->head.len && !t->waits.len && !t->calls.len &&
		!(t->annots && t->annots->len) && !(t->open && t->open->len));
}

/* Removes freed slots from lists of merged threads. */
static void drop_aliases(struct slice *s)
{
	PTR_EACH(struct thread, t, s->threads) {
		guint n_left = 0;
		for (guint k = 0; t->aliases && k < t->aliases->len; k++) {
			uint32_t id = g_array_index(t->aliases, uint32_t, k);
			g_assert(id < s->threads->len);
			if (((struct thread *)g_ptr_array_index(s->threads, id))->forward != ID_NONE)
				g_array_index(t->aliases, uint32_t, n_left++) = id;
		}
		if (t->aliases)
			g_array_set_size(t->aliases, n_left);
		if (!n_left)
			g_clear_pointer(&t->aliases, g_array_unref);
	}
}

void thread_slots_free_ended(struct slice *s, guint8 *used, int64_t before,
			     void (*release)(struct thread *t, void *data), void *data)
{
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		if (used[i] || !is_over(s, t, before))
			continue;
		release(t, data);
		release_slot(s, t);
		used[i] = THREAD_SLOT_FREED;
	}
	drop_aliases(s);
	g_assert(s->slots.free->len <= s->threads->len);
	s->slots.used = s->threads->len - s->slots.free->len;
}
