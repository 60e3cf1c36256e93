/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges two neighbouring slices, left and right. The right's ids become the left's, the left's final state resolves
 * the right's unknowns, and the rest is added.
 */
#include "base/sort.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/charge.h"
#include "state/kernel/counts.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/irq.h"
#include "state/kernel/sched.h"
#include "state/kernel/thread_logs.h"
#include "state/slice/join_threads.h"
#include "state/slice/slice.h"
#include "state/slice/slice_state.h"
#include "state/spans/annot.h"

struct maps {			/* arrays: the right's id -> the left's id */
	uint32_t *string, *text, *host, *cpu, *channel;
	uint32_t *thread;	/* .thread: the right's threads are appended, so all ids are shifted by the same
				 * number */
	uint32_t n_threads;
	uint32_t annot_add;
	uint64_t seq_add;
};

static uint32_t map_thread(const struct maps *m, uint32_t id)
{
	g_assert(id == ID_NONE || id < m->n_threads);
	return id == ID_NONE ? ID_NONE : m->thread[id];
}

static uint32_t map_cpu(const struct maps *m, uint32_t cpu)
{
	return cpu == ID_NONE ? ID_NONE : m->cpu[cpu];
}

/* ---- registries ---- */

static uint32_t *map_strings(struct strtab *a, const struct strtab *b)
{
	uint32_t n = strtab_n(b);
	uint32_t *map = g_new(uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		map[i] = strtab_add(a, strtab_get(b, i));
	return map;
}

static uint32_t *map_hosts(struct slice *a, const struct slice *b)
{
	uint32_t *map = g_new(uint32_t, b->hosts->len + 1);
	for (guint i = 0; i < b->hosts->len; i++) {
		const struct slice_host *h = &g_array_index(b->hosts, struct slice_host, i);
		map[i] = ID_NONE;
		for (guint j = 0; j < a->hosts->len && map[i] == ID_NONE; j++) {
			struct slice_host *have = &g_array_index(a->hosts, struct slice_host, j);
			if (strcmp(have->name, h->name) || strcmp(have->boot, h->boot))
				continue;
			have->has_kernel |= h->has_kernel;
			machine_evidence_add(&have->evidence, &h->evidence);
			have->machine = machine_of(&have->evidence, have->boot);
			covered_join_host(have, h);
			map[i] = j;
		}
		if (map[i] != ID_NONE)
			continue;
		struct slice_host copy = *h;
		copy.name = g_strdup(h->name);
		copy.boot = g_strdup(h->boot);
		copy.release = g_strdup(h->release);
		map[i] = a->hosts->len;
		g_array_append_val(a->hosts, copy);
	}
	return map;
}

/* ---- moving the right's threads to the left ---- */

static void map_call(struct call *c, const struct maps *m)
{
	c->name = m->string[c->name];
	c->text = m->string[c->text];
	c->cpu = map_cpu(m, c->cpu);
	c->seq += m->seq_add;
}

static void map_rec(struct rec *r, const struct maps *m)
{
	r->seq += m->seq_add;
	r->cpu = map_cpu(m, r->cpu);
	if (r->type == REC_WAKE || r->type == REC_ENDED)
		r->id = map_thread(m, r->id);
	else if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
		r->id += m->annot_add;
	r->name = m->string[r->name];
	r->text = m->string[r->text];
}

static void map_logs(const struct slice *a, struct thread *t, const struct maps *m)
{
	for (guint i = 0; i < t->head.len; i++)
		map_rec(vec_at(&t->head, struct rec, i), m);
	for (guint i = 0; i < t->waits.len; i++) {
		struct wait *w = vec_at(&t->waits, struct wait, i);
		w->waker = map_thread(m, w->waker);
		w->cpu = map_cpu(m, w->cpu);
		w->run += w->cpu == ID_NONE ? 0 : cpu_at(a, w->cpu)->runs.len;
		w->wake_seq += w->wake_seq ? m->seq_add : 0;
		w->call.name = m->string[w->call.name];
		w->call.seq += w->call.fd >= 0 ? m->seq_add : 0;
	}
	for (guint i = 0; i < t->calls.len; i++) {
		struct done_call *c = vec_at(&t->calls, struct done_call, i);
		c->name = m->string[c->name];
		c->seq += m->seq_add;
	}
	for (guint i = 0; t->annots && i < t->annots->len; i++)
		g_array_index(t->annots, uint32_t, i) += m->annot_add;
	for (guint i = 0; t->aliases && i < t->aliases->len; i++)
		g_array_index(t->aliases, uint32_t, i) =
			map_thread(m, g_array_index(t->aliases, uint32_t, i));
}

static void move_threads(struct slice *a, struct slice *b, struct maps *m)
{
	m->n_threads = b->threads->len;
	m->thread = g_new(uint32_t, m->n_threads + 1);
	for (guint i = 0; i < m->n_threads; i++)
		m->thread[i] = a->threads->len + i;
	for (guint i = 0; i < m->n_threads; i++) {
		struct thread *t = g_ptr_array_index(b->threads, i);
		t->self = m->thread[i];
		t->cell_epoch = 0;
		memset(t->call_slot, 0, sizeof t->call_slot);
		memset(t->file_slot, 0, sizeof t->file_slot);
		memset(t->sched.slot, 0, sizeof t->sched.slot);
		t->sched.waker.epoch = 0;
		t->ran.epoch = 0;
		t->host = m->host[t->host];
		t->forward = map_thread(m, t->forward);
		if (t->tid == -1 || t->idle)
			t->start_cpu = m->cpu[t->start_cpu];
		t->creator = map_thread(m, t->creator);
		t->out_call = m->string[t->out_call];
		t->name_last = m->string[t->name_last];
		t->contexts.value[CONTEXT_HOSTNAME] = m->string[t->contexts.value[CONTEXT_HOSTNAME]];
		t->st.waker = map_thread(m, t->st.waker);
		t->st.wake_seq += t->st.wake_seq ? m->seq_add : 0;
		map_call(&t->st.call, m);
		map_rec(&t->initial_exit, m);
		map_logs(a, t, m);
		counters_map(t->counters, m->string, m->thread);
		g_ptr_array_add(a->threads, t);
	}
	g_ptr_array_set_size(b->threads, 0);
}

static void move_annots_and_facts(struct slice *a, struct slice *b, const struct maps *m)
{
	for (guint i = 0; i < b->annots->len; i++) {
		struct annot *x = &g_array_index(b->annots, struct annot, i);
		x->seq += m->seq_add;
		x->host = m->host[x->host];
		x->cpu = m->cpu[x->cpu];
		x->channel = m->channel[x->channel];
		x->thread = map_thread(m, x->thread);
		uint32_t *const texts[] = { &x->name, &x->service, &x->ip, &x->key, &x->val };
		for (size_t k = 0; k < G_N_ELEMENTS(texts); k++)
			*texts[k] = m->text[*texts[k]];
	}
	g_array_append_vals(a->annots, b->annots->data, b->annots->len);
	g_array_set_size(b->annots, 0);
	slab_take(&a->snaps, &b->snaps);
	for (guint i = 0; i < b->binaries->len; i++) {
		struct binary *x = &g_array_index(b->binaries, struct binary, i);
		x->host = m->host[x->host];
		x->path = m->string[x->path];
	}
	g_array_append_vals(a->binaries, b->binaries->data, b->binaries->len);
	for (guint i = 0; i < b->facts->len; i++) {
		struct fact *x = &g_array_index(b->facts, struct fact, i);
		x->seq += m->seq_add;
		x->host = m->host[x->host];
		x->thread = map_thread(m, x->thread);
		x->other = map_thread(m, x->other);
		x->text = m->string[x->text];
		if (x->kind == FACT_CONTEXT && x->flag)
			x->c = context_source(m->cpu[(uint32_t)x->c], (int32_t)(x->c >> 32));
	}
	g_array_append_vals(a->facts, b->facts->data, b->facts->len);
}

static void move_bins(struct slice *a, struct slice *b, const struct maps *m)
{
	struct cell_maps maps = {
		.thread = m->thread, .string = m->string, .host = m->host,
		.seq_add = m->seq_add,
	};
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, b->bins);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct bin *from = value;
		g_hash_table_iter_steal(&it);
		if (from->index >= a->retained_from && !g_hash_table_contains(a->bins, &from->index))
			bin_adopt(a, from, &maps);
		else
			bin_merge(a, slice_bin(a, from->index * a->step), from, &maps);
	}
	b->bin_last = NULL;
	sched_map_wakes(a, b, &maps);
}

/* ---- CPUs ---- */

/* The task at the border: the right's anonymous task is the left's current task, until an event of the right
 * identifies it. */
static void join_current(struct slice *a, struct cpu *c, const struct cpu *b, const struct maps *m)
{
	struct thread *l = cpu_task(a, c), *r = thread_at(a, map_thread(m, b->start));
	bool anonymous = !r->idle && r->tid == -1, named = b->named_ns != TS_NONE;
	if (!l && named && anonymous)		/* the left ends in a loss */
		thread_append(a, cpu_task_of_tid(a, c, b->named_tid), r);
	else if (l && anonymous)
		thread_append(a, l, r);
	if (!l || !named)
		return;
	c->before_ns = b->named_before_ns != INT64_MIN ? b->named_before_ns : c->kernel_to;
	cpu_context(a, c, b->named_ns, b->named_seq + m->seq_add, b->named_tid);
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

static int kind_of(const struct thread *t)
{
	return !t ? CPU_UNKNOWN : t->idle ? CPU_IDLE : t->tid == -1 ? CPU_UNKNOWN : CPU_RUN;
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
		charge_cpu(a, c, kind_of(left), left, c->cursor, b->first_ns);
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

struct join { struct slice *a, *b; const struct maps *m; };

static void join_thread(uint64_t key, uint32_t id, void *data)
{
	const struct join *j = data;
	struct slice *a = j->a;
	struct thread *r = g_ptr_array_index(a->threads, map_thread(j->m, id));
	uint64_t mapped = pair(r->host, (uint32_t)r->tid);
	const struct thread *last = thread_at(a, map_thread(j->m, intmap_get(&j->b->tid_last, key)));
	if (r->idle) {
		thread_append(a, slice_idle(a, cpu_at(a, r->start_cpu)), r);
		return;
	}
	if (!r->fresh) {
		struct thread *left = slice_thread(a, r->host, r->tid);
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

static int fact_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct fact *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void sort_range(GArray *facts, guint from, guint to)
{
	for (guint i = from + 1; i < to; i++)
		if (fact_order(&g_array_index(facts, struct fact, i - 1),
			       &g_array_index(facts, struct fact, i), NULL) > 0) {
			sort_array(&g_array_index(facts, struct fact, from), to - from,
				   sizeof(struct fact), fact_order, NULL);
			return;
		}
}

/* Merges the facts from `at` on with those before; both ranges are in order. */
static void merge_facts(GArray *facts, guint at)
{
	g_assert(at <= facts->len);
	guint n = facts->len - at, i = at, to = facts->len;
	g_autofree struct fact *new = g_memdup2(&g_array_index(facts, struct fact, at),
						n * sizeof(struct fact));
	struct fact *all = (struct fact *)facts->data;
	while (n > 0) {
		bool old = i > 0 && fact_order(&all[i - 1], &new[n - 1], NULL) > 0;
		all[--to] = old ? all[--i] : new[--n];
	}
}

/* Sorts three ranges: the left's facts, the right's, and those that merging wrote. */
static void sort_facts(struct slice *s, guint right, guint contexts)
{
	g_assert(s->facts_sorted <= right && right <= contexts && contexts <= s->facts->len);
	sort_range(s->facts, s->facts_sorted, right);
	if (s->facts_sorted && s->facts_sorted < right)
		sort_range(s->facts, 0, right);
	sort_range(s->facts, right, contexts);
	sort_range(s->facts, contexts, s->facts->len);
	if (contexts < s->facts->len)
		merge_facts(s->facts, contexts);
	s->facts_sorted = s->facts->len;
}

static void join_counters(struct slice *a, struct slice *b)
{
	uint64_t *to = (uint64_t *)&a->fdops;
	const uint64_t *from = (const uint64_t *)&b->fdops;
	for (size_t i = 0; i < sizeof a->fdops / sizeof *to; i++)
		if (from[i])
			to[i] = from[i] + a->seq;
	a->seq += b->seq;
	a->n_events += b->n_events;
	a->has_functions |= b->has_functions;
	a->has_switches |= b->has_switches;
	a->has_calls |= b->has_calls;
	a->has_insert |= b->has_insert;
	a->has_issue |= b->has_issue;
	a->has_complete |= b->has_complete;
	a->has_interrupts |= b->has_interrupts;
	a->tables = NULL;	/* the source's caches do not have b's names */
	GHashTableIter it;
	gpointer name;
	g_hash_table_iter_init(&it, b->classes);
	while (g_hash_table_iter_next(&it, &name, NULL))
		if (!g_hash_table_contains(a->classes, name))
			g_hash_table_add(a->classes, g_strdup(name));
}

struct slice *slice_stitch(struct slice *a, struct slice *b)
{
	struct maps m = { 0 };
	g_assert(a != b && !a->stitching);
	a->stitching = true;
	memset(a->tid_cache, 0, sizeof a->tid_cache);
	g_assert(!b->from_start && a->step == b->step);
	slice_flush(a);
	slice_flush(b);
	if (a->first == INT64_MAX)
		a->first = b->first;
	m.string = map_strings(a->strings, b->strings);
	m.text = map_strings(a->texts, b->texts);
	m.host = map_hosts(a, b);
	m.channel = channels_join(&a->channels, &b->channels);
	m.seq_add = a->seq;
	m.annot_add = a->annots->len;
	losses_join(&a->losses, &b->losses, m.host);
	covered_join(a, b);
	m.cpu = g_new(uint32_t, b->cpus->len + 1);
	g_autofree bool *untouched = g_new(bool, b->cpus->len + 1);
	for (guint i = 0; i < b->cpus->len; i++) {
		struct cpu *c = cpu_at(b, i);
		const struct thread *task = cpu_task(b, c);
		m.cpu[i] = slice_cpu(a, m.host[c->host], c->number);
		untouched[i] = task && task->self == c->start && !c->lost;
	}
	move_threads(a, b, &m);
	guint right = a->facts->len;
	bool logs = slice_keeps_logs(a);
	move_annots_and_facts(a, b, &m);
	if (!logs && slice_keeps_logs(a))
		runs_begin_join(a);
	guint contexts = a->facts->len;
	move_bins(a, b, &m);
	for (guint i = 0; i < b->cpus->len; i++) {
		struct cpu *c = cpu_at(b, i);
		for (guint k = 0; k < c->irq_head->len; k++) {
			struct irq_note *note = &g_array_index(c->irq_head, struct irq_note, k);
			note->thread = map_thread(&m, note->thread);
			note->seq += m.seq_add;
		}
		for (unsigned k = 0; k < IRQ_FRAMES; k++)
			c->irq[k].thread = map_thread(&m, c->irq[k].thread);
		counters_map(c->counters, m.string, m.thread);
		runs_map(c, m.thread);
		join_current(a, cpu_at(a, m.cpu[i]), c, &m);
	}
	struct join j = { a, b, &m };
	intmap_foreach(&b->tid_first, join_thread, &j);
	for (guint i = 0; i < b->cpus->len; i++)
		join_cpu(a, cpu_at(a, m.cpu[i]), cpu_at(b, i), untouched[i]);
	blocks_join(a, b, m.host, m.thread);
	if (a->from_start)
		sched_wakes_known(a);
	a->stitching = false;
	join_counters(a, b);
	sort_facts(a, right, contexts);
	a->first = MIN(a->first, b->first);
	a->last = MAX(a->last, b->last);
	a->horizon = MAX(a->horizon, b->horizon);
	slice_free(b);
	g_free(m.string);
	g_free(m.text);
	g_free(m.host);
	g_free(m.cpu);
	g_free(m.channel);
	g_free(m.thread);
	return a;
}
