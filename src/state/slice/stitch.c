/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges two neighbouring slices, left and right. The right's ids become the left's, the left's final state resolves
 * the right's unknowns, and the rest is added.
 */
#include "base/each.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/charge.h"
#include "state/kernel/counts.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/irq.h"
#include "state/kernel/join_threads.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/threads.h"
#include "state/slice/moving.h"
#include "state/slice/pack.h"
#include "state/slice/slice.h"

/* ---- CPUs ---- */

/* The task at the border: the right's anonymous task is the left's current task, until an event of the right
 * identifies it. */
static void join_current(struct slice *a, struct cpu *c, const struct cpu *b, const struct moving *m)
{
	struct thread *l = cpu_task(a, c), *r = thread_at(a, moved_thread(m, b->start));
	bool anonymous = !r->idle && r->tid == -1, named = b->named_ns != TS_NONE;
	if (!l && named && anonymous)		/* the left ends in a loss */
		thread_append(a, cpu_task_of_tid(a, c, b->named_tid), r);
	else if (l && anonymous)
		cpu_join_anonymous(a, c, r);
	if (!l || !named)
		return;
	c->before_ns = b->named_before_ns != INT64_MIN ? b->named_before_ns : c->kernel_to;
	cpu_join_named(a, c, b, b->named_seq + m->seq_add);
}

static void join_irqs(struct slice *a, struct cpu *c, const struct cpu *b)
{
	for (guint i = 0; i < b->irq_head->len; i++)
		cpu_irq_note(a, c, &g_array_index(b->irq_head, struct irq_note, i));
	if (!b->irq_known)
		return;
	memcpy(c->irq, b->irq, sizeof c->irq);
	c->irq_word = b->irq_word;
	c->irq_since = b->irq_since;
}

static void join_cpu(struct slice *a, struct cpu *c, struct cpu *b, bool untouched)
{
	struct thread *left = cpu_task(a, c);
	c->kernel_from = MIN(c->kernel_from, b->kernel_from);
	c->kernel_to = MAX(c->kernel_to, b->kernel_to);
	c->since = MAX(c->since, b->since);
	if (b->first_known && c->cursor == TS_NONE) {
		c->first_known = true;
		c->first_ns = b->first_ns;
	} else if (b->first_known) {
		charge_cpu(a, c, cpu_kind_of(a, c, left), left, c->cursor, b->first_ns);
	}
	if (b->first_known)
		c->cursor = b->cursor;
	join_irqs(a, c, b);
	irq_raises_join(a, c, b);
	if (slice_keeps_logs(a))
		runs_join(c, b);
	counters_join(a, &c->counters, c->n_losses, c->host, &b->counters);
	c->n_losses += b->n_losses;
	if (!(c->lost && untouched)) {
		c->task = cpu_task(a, b);
		c->lost = b->lost;
	}
}

/* ---- threads ---- */

struct join { struct slice *a, *b; const struct moving *m; };

/* The left's thread of the tid of r. If both are only claimed, it stays so; NULL: no event shows that there is one. */
static struct thread *left_of(struct slice *a, const struct thread *r)
{
	uint32_t id = intmap_get(&a->tid_last, pair(r->host, (uint32_t)r->tid));
	const struct thread *known = id == INTMAP_NONE ? NULL : thread_at(a, id);
	bool claimed = r->only_claimed && (!known || known->only_claimed);
	bool ended = known && known->resolved && known->st.run == RUN_DEAD;

	if ((claimed && a->from_start) || (r->only_claimed && ended))
		return NULL;
	struct thread *left = slice_thread(a, r->host, r->tid);
	left->only_claimed = claimed;
	return left;
}

static void join_thread(uint64_t key, uint32_t id, void *data)
{
	const struct join *j = data;
	struct slice *a = j->a;
	struct thread *r = g_ptr_array_index(a->threads, moved_thread(j->m, id));
	uint64_t mapped = pair(r->host, (uint32_t)r->tid);
	const struct thread *last = thread_at(a, moved_thread(j->m, intmap_get(&j->b->tid_last, key)));
	if (r->idle) {
		thread_append(a, slice_idle(a, cpu_at(a, r->start_cpu)), r);
		return;
	}
	if (!r->fresh) {
		struct thread *left = left_of(a, r);
		if (left)
			thread_append(a, left, r);
		if (last == r || last == left)
			return;
	} else if (r->start_ns != TS_NONE) {
		slice_tid_again(a, r->host, r->tid, r->start_ns, 0);
	}
	if (intmap_get(&a->tid_first, mapped) == INTMAP_NONE)
		intmap_set(&a->tid_first, mapped, r->self);
	intmap_set(&a->tid_last, mapped, last->self);
}

void slice_begins_trace(struct slice *s)
{
	PTR_EACH(struct thread, t, s->threads)
		if (!t->absorbed)
			thread_drop_calls_outside(s, t);
}

struct slice *slice_stitch(struct slice *a, struct slice *b)
{
	struct moving m = { 0 };
	g_assert(a != b && !a->stitching);
	a->stitching = true;
	memset(a->tid_cache, 0, sizeof a->tid_cache);
	g_assert(!b->from_start && a->step == b->step);
	g_assert(!a->from_start || !packs_n(&b->packs));
	slice_flush(a);
	slice_flush(b);
	if (a->first == INT64_MAX)
		a->first = b->first;
	moving_registries(&m, a, b, true);
	covered_join(a, b);
	m.cpu = g_new(uint32_t, b->cpus->len + 1);
	m.n_runs = g_new(uint32_t, b->cpus->len + 1);
	g_autofree bool *untouched = g_new(bool, b->cpus->len + 1);
	for (guint i = 0; i < b->cpus->len; i++) {
		struct cpu *c = cpu_at(b, i);
		const struct thread *task = cpu_task(b, c);
		m.cpu[i] = slice_cpu(a, m.host[c->host], c->number);
		m.n_runs[i] = cpu_at(a, m.cpu[i])->runs.len;
		untouched[i] = task && task->self == c->start && !c->lost;
	}
	bool logs = slice_keeps_logs(a);
	moving_known(a, b);
	moving_threads(&m, a, b);
	guint right = a->facts->len;
	moving_logs(&m, a, b);
	if (!logs && slice_keeps_logs(a))
		runs_begin(a, INT64_MIN);
	guint contexts = a->facts->len;
	moving_seconds(&m, a, b);
	for (guint i = 0; i < b->cpus->len; i++) {
		moving_cpu(&m, cpu_at(b, i));
		join_current(a, cpu_at(a, m.cpu[i]), cpu_at(b, i), &m);
	}
	struct join j = { a, b, &m };
	intmap_foreach(&b->tid_first, join_thread, &j);
	for (uint32_t i = 0; a->from_start && i < m.n_threads; i++) {
		struct thread *t = g_ptr_array_index(a->threads, moved_thread(&m, i));
		if (!t->absorbed)
			thread_drop_calls_outside(a, t);
	}
	moving_inner(&m, a);
	for (guint i = 0; i < b->cpus->len; i++)
		join_cpu(a, cpu_at(a, m.cpu[i]), cpu_at(b, i), untouched[i]);
	blocks_join(a, b, m.host, m.thread);
	if (a->from_start)
		sched_wakes_known(a);
	a->stitching = false;
	moving_counts(a, b);
	moving_sort_facts(a, right, contexts);
	moving_end(&m, a, b);
	return a;
}
