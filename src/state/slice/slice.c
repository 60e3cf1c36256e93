/* SPDX-License-Identifier: GPL-2.0-only */
/* Creates and frees a slice; its registries of texts, threads and CPUs. */
#include "state/slice/slice.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/event_class.h"
#include "state/kernel/irq.h"
#include "state/kernel/locks.h"
#include "state/kernel/pack_notes.h"
#include "state/kernel/sched.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/thread_slots.h"
#include "state/slice/slice_state.h"

#include "base/sort.h"
#include "base/timefmt.h"

static void host_clear(gpointer p)
{
	struct slice_host *h = p;
	g_free(h->name);
	g_free(h->boot);
	g_free(h->release);
}

static void bin_free_value(gpointer p)
{
	bin_free(p);
}

struct slice *slice_new(bool from_start, int64_t step_ns)
{
	g_assert(step_ns > 0);
	struct slice *s = g_new0(struct slice, 1);
	s->from_start = from_start;
	s->step = step_ns;
	s->seq = 1;		/* 0 is no event */
	s->first = INT64_MAX;
	s->last = s->retained_from = s->horizon = s->window_from = INT64_MIN;
	s->window_to = s->traced_from = INT64_MAX;
	s->traced_to = INT64_MIN;
	s->strings = strtab_new();
	s->texts = strtab_new_reftexts();
	s->hosts = g_array_new(false, true, sizeof(struct slice_host));
	g_array_set_clear_func(s->hosts, host_clear);
	s->threads = g_ptr_array_new();
	s->cpus = g_ptr_array_new();
	s->bins = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, bin_free_value);
	s->facts = g_array_new(false, true, sizeof(struct fact));
	losses_init(&s->losses);
	channels_init(&s->channels);
	s->voids = g_array_new(false, true, sizeof(struct time_void));
	s->annots = g_array_new(false, true, sizeof(struct annot));
	thread_slots_init(&s->slots);
	s->binaries = g_array_new(false, true, sizeof(struct binary));
	s->blocks = blocks_new();
	s->provisional_wakes = g_array_new(false, true, sizeof(struct provisional_wake));
	s->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->streams = g_array_new(false, true, sizeof(struct stream_info));
	s->class_infos = g_array_new(false, true, sizeof(struct class_info));
	return s;
}

/* ---- memory of what was read from files ---- */

static gssize most_memory = G_MAXSSIZE;		/* bytes */
static gssize all_taken;			/* atomic: what all slices take, without what their files allow */

void slice_bound_memory(size_t bytes)
{
	most_memory = (gssize)MIN(bytes, (size_t)G_MAXSSIZE);
}

void slice_take(struct slice *s, gssize bytes)
{
	s->taken += bytes;
	g_atomic_pointer_add(&all_taken, bytes);
}

uint64_t slice_room(void)
{
	gssize taken = g_atomic_pointer_add(&all_taken, 0);

	return taken < 0 ? (uint64_t)most_memory + (uint64_t)-taken : (uint64_t)MAX(most_memory - taken, 0);
}

void slice_free(struct slice *s)
{
	if (!s)
		return;
	slice_take(s, -s->taken);
	for (guint i = 0; i < s->threads->len; i++)
		thread_free(g_ptr_array_index(s->threads, i));
	for (guint i = 0; i < s->cpus->len; i++)
		cpu_free(g_ptr_array_index(s->cpus, i));
	g_ptr_array_unref(s->threads);
	g_ptr_array_unref(s->cpus);
	g_hash_table_unref(s->bins);
	packs_clear(&s->packs);
	blocks_free(s->blocks);
	g_hash_table_unref(s->classes);
	g_array_unref(s->hosts);
	g_array_unref(s->facts);
	losses_clear(&s->losses);
	channels_clear(&s->channels);
	g_array_unref(s->voids);
	g_array_unref(s->annots);
	slab_clear(&s->snaps);
	thread_slots_clear(&s->slots);
	g_array_unref(s->binaries);
	g_array_unref(s->provisional_wakes);
	vec_free(&s->stops);
	lock_log_clear(&s->locks);
	g_array_unref(s->streams);
	g_array_unref(s->class_infos);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		cell_table_clear(&s->unread[k], built_layout(k));
	intmap_clear(&s->tid_last);
	intmap_clear(&s->inner_last);
	intmap_clear(&s->tid_first);
	intmap_clear(&s->cpu_map);
	intmap_clear(&s->irq_named);
	strtab_free(s->strings);
	strtab_free(s->texts);
	g_free(s);
}

void slice_window(struct slice *s, int64_t from, int64_t to)
{
	g_assert(from <= to);
	s->window_from = time_floor(from, s->step) / s->step - 1;
	s->window_to = time_floor(to, s->step) / s->step;
}

void slice_live(struct slice *s)
{
	s->live = true;
}

void slice_bound_paths(struct slice *s, size_t bytes)
{
	s->path_room = bytes;
}

void slice_without_spans(struct slice *s)
{
	s->no_spans = true;
}

bool slice_is_without_spans(const struct slice *s)
{
	return s->no_spans;
}

void slice_read_cells(struct slice *s, uint32_t kinds)
{
	static const char no_key[sizeof(struct flow_key)] = { 0 };
	const uint32_t always = READS(thread) | READS(event) | READS(cpu) | READS(loss);

	s->unread_kinds = kinds ? ~(kinds | always) : 0;
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		if (!slice_reads(s, k))
			cell_table_get(&s->unread[k], built_layout(k), no_key, NULL);
}

void slice_without_fast_path(struct slice *s)
{
	s->no_fast_path = true;
}

uint64_t slice_n_events(const struct slice *s)
{
	return s->n_events;
}

int64_t slice_step(const struct slice *s)
{
	return s->step;
}

size_t slice_span_bytes(const struct slice *s)
{
	return s->annots->len * sizeof(struct annot) + strtab_bytes(s->texts);
}

int64_t slice_first(const struct slice *s)
{
	return s->first;
}

int64_t slice_last(const struct slice *s)
{
	return s->last;
}

uint32_t slice_string(struct slice *s, struct blk_text t)
{
	return strtab_add_len(s->strings, t.str, t.len);
}

#define PATH_BYTES 256		/* estimate: bytes of a file in registries besides its path */

/* Shortens a path to its folder or address and a star; `more`: to the kind of socket and a star, or a star. The buffer
 * has room for a byte more. */
static void shorten_path(char *path, bool more)
{
	char *kind = g_str_has_prefix(path, "socket ") ? strchr(path + strlen("socket "), ' ') : NULL;
	char *slash = strrchr(path, '/'), *end = more ? kind : slash ? slash : strrchr(path, ':');

	strcpy(end ? end + 1 : path, "*");
}

uint32_t slice_path(struct slice *s, struct blk_text t)
{
	if (!s->path_room || strtab_has(s->strings, t.str, t.len))
		return slice_string(s, t);
	g_autofree char *path = g_strdup_printf("%.*s ", (int)MIN(t.len, LIMIT_TEXT_BYTES), t.str);
	path[strlen(path) - 1] = '\0';		/* room for the star */
	if (s->path_bytes >= s->path_room)
		shorten_path(path, s->path_bytes >= 2 * s->path_room);
	if (!strtab_has(s->strings, path, strlen(path)))
		s->path_bytes += strlen(path) + PATH_BYTES;
	return strtab_add(s->strings, path);
}

uint32_t slice_text(struct slice *s, struct blk_text t)
{
	return strtab_add_len(s->texts, t.str, t.len);
}

struct fact *slice_fact(struct slice *s, enum fact_kind kind, uint32_t thread, int64_t ts,
			uint64_t seq)
{
	g_assert(thread == ID_NONE || thread < s->threads->len);
	struct fact f = {
		.ts = ts, .seq = seq, .kind = kind, .thread = thread, .other = ID_NONE,
		.host = thread == ID_NONE ? 0 : thread_at(s, thread)->host,
	};
	g_array_append_val(s->facts, f);
	return &g_array_index(s->facts, struct fact, s->facts->len - 1);
}

static int fact_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct fact *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

void slice_sort_facts(struct slice *s, guint from, guint to)
{
	struct fact *all = (struct fact *)(void *)s->facts->data;
	for (guint i = from + 1; i < to; i++)
		if (all[i - 1].seq > all[i].seq) {
			sort_array(&all[from], to - from, sizeof(struct fact), fact_order, NULL);
			return;
		}
}

/* ---- threads ---- */

static struct thread *slice_thread_new(struct slice *s, uint32_t host, int32_t tid)
{
	uint32_t id = thread_slots_take(&s->slots);
	struct thread *t = id == ID_NONE ? thread_new(s->threads->len) : thread_at(s, id);
	g_assert(t->self == (id == ID_NONE ? s->threads->len : id) && t->tid == -1 && t->forward == ID_NONE);
	if (id == ID_NONE)
		g_ptr_array_add(s->threads, t);
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

void slice_thread_release(struct slice *s, struct thread *t)
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

/* ---- CPUs ---- */

uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number)
{
	uint32_t i = intmap_get(&s->cpu_map, pair(host, number));
	if (i != INTMAP_NONE)
		return i;
	g_assert(host < s->hosts->len);
	struct cpu *c = g_new0(struct cpu, 1);
	c->self = i = s->cpus->len;
	c->host = host;
	c->number = number;
	c->cursor = !s->from_start ? TS_NONE : s->first == INT64_MAX ? s->first : covered_from(s, host);
	c->irq_since = c->named_ns = c->named_left_ns = TS_NONE;
	c->kernel_from = INT64_MAX;
	c->kernel_to = c->before_ns = c->since = INT64_MIN;
	c->irq_head = g_array_new(false, false, sizeof(struct irq_note));
	c->irq_known = s->from_start;
	irq_raises_init(s, c);
	g_ptr_array_add(s->cpus, c);
	intmap_set(&s->cpu_map, pair(host, number), i);
	c->task = slice_anonymous(s, c);
	c->start = c->task->self;
	runs_start(s, c);
	if (s->from_start && s->first != INT64_MAX)
		thread_record(s, c->task, &(struct rec){ .type = REC_SINCE, .ts = c->cursor,
							 .cpu = i, .id = ID_NONE });
	return i;
}
