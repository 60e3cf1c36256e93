/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds and frees slots of ended threads; see thread_slots.h. */
#include "state/kernel/thread_slots.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/locks.h"
#include "state/slice/slice_state.h"


#define FEW 512		/* threads: fewer are not worth a search */

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

uint32_t thread_slots_take(struct thread_slots *p)
{
	if (!p->free->len)
		return ID_NONE;
	uint32_t id = g_array_index(p->free, uint32_t, p->free->len - 1);
	g_assert(id != ID_NONE);
	g_array_set_size(p->free, p->free->len - 1);
	g_array_append_val(p->again, id);
	return id;
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
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, s->bins);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		const struct bin *b = value;
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
	for (uint32_t i = 0; i < t->waiting.len; i++) {
		const struct rec *r = vec_at(&t->waiting, struct rec, i);
		if (r->type == REC_WAKE)
			mark(s, used, r->id);
	}
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
	for (guint i = 0; i < s->facts->len; i++) {
		const struct fact *f = &g_array_index(s->facts, struct fact, i);
		mark(s, used, f->thread);
		mark(s, used, f->other);
	}
	for (guint i = 0; i < s->cpus->len; i++)
		mark_cpu(s, used, cpu_at(s, i));
	blocks_each_thread(s->blocks, mark_asker, &(struct marking){ s, used });
	for (guint i = 0; i < s->threads->len; i++) {
		const struct thread *t = g_ptr_array_index(s->threads, i);
		if (t->st.run != RUN_DEAD)
			mark_thread(s, used, t);
	}
}

static void forward_at_once(struct slice *s)
{
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		t->forward = thread_follow(s, t->forward);
	}
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
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
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
		slice_thread_release(s, t);
		used[i] = THREAD_SLOT_FREED;
	}
	drop_aliases(s);
	g_assert(s->slots.free->len <= s->threads->len);
	s->slots.used = s->threads->len - s->slots.free->len;
}
