/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves a slice's contents into another slice; see moving.h. */
#include "state/slice/moving.h"

#include "base/each.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/contexts.h"
#include "state/kernel/counts.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/facts.h"
#include "state/kernel/locks.h"
#include "state/kernel/sched.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/threads.h"
#include "state/slice/pack.h"
#include "state/slice/slice.h"

static uint32_t map_cpu(const struct moving *m, uint32_t cpu)
{
	return cpu == ID_NONE ? ID_NONE : m->cpu[cpu];
}

/* ---- registries ---- */

uint32_t *moving_strings(struct strtab *a, const struct strtab *b)
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
			covered_add_host(a, have);
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
		covered_add_host(a, &copy);
	}
	return map;
}

void moving_registries(struct moving *m, struct slice *a, const struct slice *b, bool follows)
{
	m->string = moving_strings(a->strings, b->strings);
	m->text = moving_strings(a->texts, b->texts);
	m->host = map_hosts(a, b);
	m->channel = channels_join(&a->channels, &b->channels, follows);
	m->seq_add = a->seq;
	m->annot_add = a->annots->len;
	losses_join(&a->losses, &b->losses, m->host);
}

/* ---- threads ---- */

static void map_call(struct call *c, const struct moving *m)
{
	c->name = m->string[c->name];
	c->text = m->string[c->text];
	c->cpu = map_cpu(m, c->cpu);
	c->seq += m->seq_add;
}

static void map_rec(struct rec *r, const struct moving *m)
{
	r->seq += m->seq_add;
	r->cpu = map_cpu(m, r->cpu);
	if (r->type == REC_WAKE || r->type == REC_ENDED)
		r->id = moved_thread(m, r->id);
	else if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
		r->id += m->annot_add;
	r->name = m->string[r->name];
	r->text = m->string[r->text];
}

static void map_logs(struct thread *t, const struct moving *m)
{
	struct rec *r;
	for (guint i = 0; (r = thread_pending(t, i)); i++)
		map_rec(r, m);
	ARRAY_EACH(struct wait, w, &t->waits) {
		w->waker = moved_thread(m, w->waker);
		w->run += w->cpu == ID_NONE ? 0 : m->n_runs[w->cpu];
		w->cpu = map_cpu(m, w->cpu);
		w->wake_seq += w->wake_seq ? m->seq_add : 0;
		w->call.name = m->string[w->call.name];
		w->call.seq += w->call.fd >= 0 ? m->seq_add : 0;
	}
	ARRAY_EACH(struct done_call, c, &t->calls) {
		c->name = m->string[c->name];
		c->seq += c->futex ? 0 : m->seq_add;
	}
	for (guint i = 0; t->annots && i < t->annots->len; i++)
		g_array_index(t->annots, uint32_t, i) += m->annot_add;
	for (guint i = 0; t->aliases && i < t->aliases->len; i++)
		g_array_index(t->aliases, uint32_t, i) =
			moved_thread(m, g_array_index(t->aliases, uint32_t, i));
}

void moving_threads(struct moving *m, struct slice *a, struct slice *b)
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
		t->forward = moved_thread(m, t->forward);
		if (t->tid == -1 || t->idle)
			t->start_cpu = m->cpu[t->start_cpu];
		t->creator = moved_thread(m, t->creator);
		t->out_call = m->string[t->out_call];
		t->name_last = m->string[t->name_last];
		t->contexts.value[CONTEXT_HOSTNAME] = m->string[t->contexts.value[CONTEXT_HOSTNAME]];
		t->st.waker = moved_thread(m, t->st.waker);
		t->st.wake_seq += t->st.wake_seq ? m->seq_add : 0;
		map_call(&t->st.call, m);
		map_rec(&t->initial_exit, m);
		map_logs(t, m);
		for (uint32_t k = 0; k < t->past.len; k++)
			vec_at(&t->past, struct past_wait, k)->seq += m->seq_add;
		counters_map(t->counters, m->string, m->thread);
		g_ptr_array_add(a->threads, t);
	}
	g_ptr_array_set_size(b->threads, 0);
}

static int stop_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct stop_signal *x = a, *y = b;
	return x->ts != y->ts ? (x->ts > y->ts) - (x->ts < y->ts) : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Slices that are united have the same time. */
static void move_stops(struct vec *a, struct vec *b)
{
	bool in_order = !a->len || !b->len || vec_at(a, struct stop_signal, a->len - 1)->ts <=
			vec_at(b, struct stop_signal, 0)->ts;
	vec_append(a, b->data, b->len, sizeof(struct stop_signal));
	vec_free(b);
	if (!in_order)
		vec_sort(a, sizeof(struct stop_signal), stop_order, NULL);
}

void moving_logs(const struct moving *m, struct slice *a, struct slice *b)
{
	ARRAY_EACH(struct annot, x, b->annots) {
		x->host = m->host[x->host];
		x->cpu = m->cpu[x->cpu];
		x->channel = m->channel[x->channel];
		x->thread = moved_thread(m, x->thread);
		uint32_t *const texts[] = { &x->name, &x->service, &x->ip, &x->key, &x->val };
		for (size_t k = 0; k < G_N_ELEMENTS(texts); k++)
			*texts[k] = m->text[*texts[k]];
	}
	g_array_append_vals(a->annots, b->annots->data, b->annots->len);
	g_array_set_size(b->annots, 0);
	slab_take(&a->snaps, &b->snaps);
	ARRAY_EACH(struct binary, x, b->binaries) {
		x->host = m->host[x->host];
		x->path = m->string[x->path];
	}
	g_array_append_vals(a->binaries, b->binaries->data, b->binaries->len);
	ARRAY_EACH(struct stop_signal, x, &b->stops) {
		x->thread = moved_thread(m, x->thread);
		x->sender = moved_thread(m, x->sender);
	}
	move_stops(&a->stops, &b->stops);
	lock_move(a, b, m->thread, m->string, m->seq_add);
	ARRAY_EACH(struct fact, x, b->facts) {
		x->seq += m->seq_add;
		x->host = m->host[x->host];
		x->thread = moved_thread(m, x->thread);
		x->other = moved_thread(m, x->other);
		x->text = m->string[x->text];
		if (x->kind == FACT_CONTEXT && x->flag)
			x->c = context_source(m->cpu[(uint32_t)x->c], (int32_t)(x->c >> 32));
	}
	g_array_append_vals(a->facts, b->facts->data, b->facts->len);
}

void moving_seconds(const struct moving *m, struct slice *a, struct slice *b)
{
	struct cell_maps maps = {
		.thread = m->thread, .string = m->string, .host = m->host,
		.seq_add = m->seq_add,
	};
	packs_join(a, b, m);
	TABLE_EACH(each, b->bins) {
		struct bin *from = each.value;
		g_hash_table_iter_steal(&each.it);
		if (from->index >= a->retained_from && !g_hash_table_contains(a->bins, &from->index))
			bin_adopt(a, from, &maps);
		else
			bin_merge(a, slice_bin(a, from->index * a->step), from, &maps);
	}
	b->bin_last = NULL;
	sched_map_wakes(a, b, &maps);
}

/* ---- the rest ---- */

void moving_cpu(const struct moving *m, struct cpu *c)
{
	ARRAY_EACH(struct irq_note, note, c->irq_head) {
		note->thread = moved_thread(m, note->thread);
		note->seq += m->seq_add;
	}
	for (unsigned k = 0; k < IRQ_FRAMES; k++)
		c->irq[k].thread = moved_thread(m, c->irq[k].thread);
	counters_map(c->counters, m->string, m->thread);
	runs_map(c, m->thread);
}

void moving_known(struct slice *a, const struct slice *b)
{
	uint64_t *to = (uint64_t *)&a->fdops;
	const uint64_t *from = (const uint64_t *)&b->fdops;
	for (size_t i = 0; i < sizeof a->fdops / sizeof *to; i++)
		if (from[i])
			to[i] = from[i] + a->seq;
	a->has_functions |= b->has_functions;
	a->has_switches |= b->has_switches;
	a->has_wakes |= b->has_wakes;
	a->has_calls |= b->has_calls;
	a->has_insert |= b->has_insert;
	a->has_issue |= b->has_issue;
	a->has_complete |= b->has_complete;
	a->has_interrupts |= b->has_interrupts;
	a->looks_back |= b->looks_back;
	a->has_new_wakes |= b->has_new_wakes;
}

void moving_counts(struct slice *a, const struct slice *b)
{
	a->seq += b->seq;
	a->n_events += b->n_events;
	a->history |= b->history;
	a->n_thinned += b->n_thinned;
	a->tables = NULL;	/* the source's caches do not have b's names */
	TABLE_EACH(each, b->classes)
		if (!g_hash_table_contains(a->classes, each.key))
			g_hash_table_add(a->classes, g_strdup(each.key));
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
		bool old = i > 0 && all[i - 1].seq > new[n - 1].seq;
		all[--to] = old ? all[--i] : new[--n];
	}
}

void moving_sort_facts(struct slice *s, guint right, guint contexts)
{
	g_assert(s->facts_sorted <= right && right <= contexts && contexts <= s->facts->len);
	slice_sort_facts(s, s->facts_sorted, right);
	if (s->facts_sorted && s->facts_sorted < right)
		slice_sort_facts(s, 0, right);
	slice_sort_facts(s, right, contexts);
	slice_sort_facts(s, contexts, s->facts->len);
	if (contexts < s->facts->len)
		merge_facts(s->facts, contexts);
	s->facts_sorted = s->facts->len;
}

/* ---- the end ---- */

void moving_end(struct moving *m, struct slice *a, struct slice *b)
{
	a->first = MIN(a->first, b->first);
	a->last = MAX(a->last, b->last);
	a->horizon = MAX(a->horizon, b->horizon);
		/* What a slice from the trace's beginning has is published, and then the timeline's. */
	if (!a->from_start)
		slice_take(a, b->taken);
	slice_free(b);
	g_free(m->string);
	g_free(m->text);
	g_free(m->host);
	g_free(m->channel);
	g_free(m->cpu);
	g_free(m->n_runs);
	g_free(m->thread);
}

void moving_inner(const struct moving *m, struct slice *a)
{
	for (uint32_t i = 0; i < m->n_threads; i++) {
		struct thread *t = g_ptr_array_index(a->threads, moved_thread(m, i));
		if (!t->absorbed && t->inner.tid)
			slice_inner_is(a, t, &t->inner);
	}
}
