/* SPDX-License-Identifier: GPL-2.0-only */
/* Grouping annotations by trace, making and publishing their spans, and dropping closed traces; see spans.h. */
#include "state/spans/spans.h"

#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/threads.h"
#include "state/spans/cpu_neighbours.h"
#include "state/spans/explain.h"
#include "state/spans/explain_calls.h"
#include "state/spans/pairs.h"
#include "state/spans/span_halves.h"
#include "state/spans/span_self.h"
#include "state/spans/waker_chain.h"
#include "state/store/publication.h"
#include "state/store/severity.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"

struct strace {
	uint64_t id;
	guint n_annots;
	uint32_t first_annot, last_annot;	/* list of its annotations, linked by struct annot .next */
	GArray *slots;		/* struct slot, by span and kind; NULL: none yet */
	GHashTable *abandoned;	/* uint64_t ids of spans without an end; NULL: none */
	bool dirty, open;	/* .open: published with open spans, or not closed yet */
	bool given_up;		/* the memory bound is reached: nothing more is added */
	bool goes_on;		/* it had open spans when it was last published */
	bool may_end;		/* one of its spans was published as one that may end */
	bool settled;		/* later events cannot change what was published */
	int64_t root_end, first, last;	/* root_end: TS_NONE; instants of annotations */
	guint published;	/* number of annotations when it was last published */
	int64_t published_at;	/* and the instant */
};

/* A trace is closed 2 s after its root ends, or when it is given up. */
static inline bool strace_closed(const struct strace *t, int64_t now)
{
	return t->given_up || (t->root_end != TS_NONE && now - t->root_end >= SPANS_LINGER_NS && now >= t->last) ||
	       now - t->last > LIMIT_OPEN_TRACE_SECONDS * NS_PER_S;
}

/* nth: index among the halves of that kind; each belongs to another service */
struct slot { uint64_t span; uint16_t kind, nth; uint32_t slot; };

/* Is it a real thread: not idle, and identified? */
static bool is_real_thread(const struct slice *s, uint32_t thread)
{
	const struct thread *t = thread == ID_NONE ? NULL : thread_at(s, thread);
	return t && thread_is_identified(t);
}

static void strace_free(gpointer p)
{
	struct strace *t = p;
	g_clear_pointer(&t->slots, g_array_unref);
	g_clear_pointer(&t->abandoned, g_hash_table_unref);
	g_free(t);
}

static struct strace *find_trace(const struct spans *sp, uint64_t id)
{
	uint32_t i = intmap_get(&sp->by_id, id);
	return i == INTMAP_NONE ? NULL : g_ptr_array_index(sp->traces, i);
}

static void abandon(void *data, uint64_t trace, uint64_t span)
{
	struct spans *sp = data;
	struct strace *t = find_trace(sp, trace);
	if (!t)
		return;
	if (!t->abandoned)
		t->abandoned = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_hash_table_add(t->abandoned, g_memdup2(&span, sizeof span));
	t->dirty = true;
}

struct spans *spans_new(struct slice *s, struct names *n, spans_thread thread, void *data)
{
	struct spans *sp = g_new0(struct spans, 1);
	sp->s = s;
	sp->n = n;
	sp->pairs = pairs_new(s, abandon, sp);
	static const char *const cores[CORE_N] = {
		[CORE_CS] = "cs", [CORE_CR] = "cr", [CORE_SR] = "sr", [CORE_SS] = "ss",
		[CORE_START] = "start", [CORE_END] = "end",
	};
	for (unsigned i = CORE_CS; i < CORE_N; i++)
		sp->core[i] = strtab_add(s->texts, cores[i]);
	for (unsigned i = CORE_CS; i < CORE_N; i++)
		if (sp->core[i] < CORE_KEYS)
			sp->core_of[sp->core[i]] = (uint8_t)i;
	sp->thread = thread;
	sp->forgot_at = sp->forgotten.unknown_to = sp->forgotten.last[0] = sp->forgotten.last[1] = INT64_MIN;
	sp->thread_data = data;
	sp->traces = g_ptr_array_new_with_free_func(strace_free);
	sp->parts.neighbour_list.s = sp->parts.chain_neighbours.s = s;
	return sp;
}

void spans_free(struct spans *sp)
{
	if (!sp)
		return;
	pairs_free(sp->pairs);
	g_ptr_array_unref(sp->traces);
	intmap_clear(&sp->by_id);
	intmap_clear(&sp->forgotten.ids[0]);
	intmap_clear(&sp->forgotten.ids[1]);
	intmap_clear(&sp->irqs);
	intmap_clear(&sp->agreed);
	struct parts_of_span *p = &sp->parts;
	struct vec *const rooms[] = {
		&sp->ids, &sp->halves, &sp->segments, &sp->children, &sp->calls, &sp->chains,
		&sp->inner, &sp->stack, &sp->starts, &sp->known, &sp->known_neighbours,
		&sp->outstanding, &sp->in_device, &p->annotations, &p->tags, &p->linked, &p->waits,
		&p->calls, &p->slow, &p->links, &p->neighbour_list.all, &p->chain_neighbours.all,
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rooms); i++)
		vec_free(rooms[i]);
	g_free(sp);
}

/* May the annotation belong to a dropped trace? For traces whose ids were dropped only the time of the newest
 * annotation is known. */
static bool forgotten_has(const struct forgotten *f, const struct annot *a)
{
	return intmap_get(&f->ids[0], a->trace) != INTMAP_NONE ||
	       intmap_get(&f->ids[1], a->trace) != INTMAP_NONE || a->ts <= f->unknown_to;
}

/* The annotation's trace; NULL: the trace was dropped, so the annotation is late. */
static struct strace *trace_of(struct spans *sp, const struct annot *a)
{
	struct strace *t = find_trace(sp, a->trace);
	if (t || forgotten_has(&sp->forgotten, a))
		return t;
	t = g_new0(struct strace, 1);
	t->id = a->trace;
	t->first_annot = t->last_annot = ID_NONE;
	t->root_end = t->last = TS_NONE;
	t->first = INT64_MAX;
	intmap_set(&sp->by_id, t->id, sp->traces->len);
	g_ptr_array_add(sp->traces, t);
	return t;
}

static void chain_annot(struct spans *sp, struct strace *t, uint32_t id)
{
	g_assert(id < sp->s->annots->len && (t->first_annot == ID_NONE) == (t->last_annot == ID_NONE));
	if (t->last_annot == ID_NONE)
		t->first_annot = id;
	else
		g_array_index(sp->s->annots, struct annot, t->last_annot).next = id;
	t->last_annot = id;
	t->n_annots++;
}

/* Notes the process if the event's CPU and thread agree: then its tids are those of the kernel, not of a container. */
static void note_agreement(struct spans *sp, const struct annot *a)
{
	uint32_t thread = a->by_kernel && !a->in_kernel && a->vtid > 0 ? thread_follow(sp->s, a->thread) : ID_NONE;
	if (thread != ID_NONE && thread_at(sp->s, thread)->tid == a->vtid)
		intmap_set(&sp->agreed, pair(a->host, (uint32_t)a->vpid), 1);
	if (sp->agreed.n > AGREED_RETAINED)
		intmap_clear(&sp->agreed);
}

static void index_annots(struct spans *sp, int64_t now, bool final)
{
	bool pair_all = rules_installed() || sp->s->has_functions;
	for (; sp->done < sp->s->annots->len; sp->done++) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, sp->done);
		enum core c = spans_core(sp, a);
		a->next = ID_NONE;	/* claims, late and foreign ones are in no list */
		if (a->claims) {
			a->trace = sp->done ? (a - 1)->trace : a->trace;	/* that of a mark is known now */
			continue;
		}
		note_agreement(sp, a);
		if (!final && pairs_must_wait(sp->pairs, a, now))
			return;
		enum pairs_result taken = !pair_all && a->mark == MARK_NONE ? PAIRS_TAKEN :
			pairs_take(sp->pairs, a, c == CORE_SR || c == CORE_START, core_is_end(c));
		if (taken == PAIRS_FOREIGN)
			continue;
		struct strace *t = trace_of(sp, a);
		if (!t) {
			slice_bin(sp->s, a->ts)->completeness.late++;
			continue;
		}
		if (!a->parent && core_is_end(c) && a->mark == MARK_NONE)
			t->root_end = MAX(t->root_end, a->ts);
		t->first = MIN(t->first, a->mark == MARK_WHOLE ? a->ts - (int64_t)a->address : a->ts);
		t->last = MAX(t->last, a->ts);
		chain_annot(sp, t, sp->done);
		t->dirty = true;
		if (taken == PAIRS_ALONE)
			abandon(sp, a->trace, a->span);
	}
}

/* ---- halves ---- */

static int annot_order(gconstpointer a, gconstpointer b, gpointer annots)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct annot *x = (const struct annot *)annots + i, *y = (const struct annot *)annots + k;
	return ORDER(x->span, y->span) ?: ORDER(x->ts, y->ts) ?: ORDER(i, k);
}

/* Is the thread that the kernel trace reports for the annotation certain? It is not outside of the kernel trace's
 * coverage of the CPU, unless the annotation's vtid agrees. */
static bool is_certain(const struct spans *sp, const struct annot *a)
{
	const struct thread *t = thread_at(sp->s, a->thread);
	const struct cpu *c = cpu_at(sp->s, a->cpu);
	if (!thread_is_identified(t))
		return false;
	return !a->by_kernel || t->tid == a->vtid || (a->vtid > 0 && t->inner.tid == (uint32_t)a->vtid) ||
	       (a->ts >= c->kernel_from && a->ts <= c->kernel_to);
}

/* The claim of another thread to annotation i, if the current task of the event's CPU did not make it; else NULL. The
 * process is known by events whose CPU and thread agree. */
static const struct annot *claim_of(const struct spans *sp, uint32_t i)
{
	const struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
	const struct annot *claim = i + 1 < sp->s->annots->len ? a + 1 : NULL;
	if (!claim || !claim->claims)
		return NULL;
	uint32_t task = thread_follow(sp->s, a->thread);
	bool agrees = task != ID_NONE && thread_at(sp->s, task)->tid == a->vtid;
	bool known = intmap_get(&sp->agreed, pair(a->host, (uint32_t)a->vpid)) != INTMAP_NONE;
	return !agrees && known ? claim : NULL;
}

/* The thread of the annotation's own tid, if it is of the annotation's process; else ID_NONE. */
static uint32_t thread_of_vtid(const struct spans *sp, const struct annot *a)
{
	uint32_t thread = a->vtid > 0 ? intmap_get(&sp->s->tid_last, pair(a->host, (uint32_t)a->vtid)) : INTMAP_NONE;
	if (thread == INTMAP_NONE || thread_at(sp->s, thread)->only_claimed)
		return ID_NONE;
	thread = thread_follow(sp->s, thread);
	uint32_t process = names_process(sp->n, thread);
	bool fits = process == ID_NONE || a->vpid < 0 || names_process_info(sp->n, process)->pid == a->vpid;
	return fits && !names_is_kernel(sp->n, thread) ? thread : ID_NONE;
}

/* The annotation is of the thread of its own tid. What that did until then is known if its claim has a snapshot. */
static void take_claim(struct spans *sp, struct annot *a, const struct annot *claim)
{
	uint32_t thread = claim->snap && claim->thread != ID_NONE ? thread_follow(sp->s, claim->thread) : ID_NONE;
	uint32_t own = thread_of_vtid(sp, a);
	if (own == ID_NONE)
		return;
	a->thread = own;
	if (thread != own) {
		slab_put(&sp->s->snaps, g_steal_pointer(&a->snap));
		return;
	}
	a->snap = a->snap ? a->snap : slab_get(&sp->s->snaps, sizeof *a->snap);
	*a->snap = *claim->snap;
}

/* Has the kernel's current task another tid in its pid namespace than the annotation? Then the event's CPU proves
 * nothing. */
static bool is_refuted(const struct spans *sp, const struct annot *a)
{
	const struct thread *t = a->thread == ID_NONE ? NULL : thread_at(sp->s, a->thread);
	return t && a->by_kernel && !a->in_kernel && a->vtid > 0 && thread_is_identified(t) &&
	       t->inner.tid && t->inner.tid != (uint32_t)a->vtid && t->tid != a->vtid;
}

static const struct thread *with_inner_tid(const struct spans *sp, const struct annot *a, const struct annot *claim)
{
	const struct thread *t = claim && claim->thread != ID_NONE ? thread_at(sp->s, claim->thread) : NULL;
	struct inner_ids ids = { .tid = (uint32_t)a->vtid, .pid = (uint32_t)MAX(a->vpid, 0) };
	return t && t->inner.tid == ids.tid ? t : slice_inner_thread(sp->s, a->host, &ids);
}

/* The thread is the one that has the annotation's tid in its pid namespace; ID_NONE: there is none. */
static void take_inner(struct spans *sp, struct annot *a, const struct annot *claim)
{
	const struct thread *own = with_inner_tid(sp, a, claim);
	slab_put(&sp->s->snaps, g_steal_pointer(&a->snap));
	a->thread = own ? own->self : ID_NONE;
	if (!own || !claim || !claim->snap || thread_follow(sp->s, claim->thread) != own->self)
		return;
	a->snap = slab_get(&sp->s->snaps, sizeof *a->snap);
	*a->snap = *claim->snap;
}

/* The kernel's current task is not certain: the thread of the annotation's own tid. */
static void take_vtid(struct spans *sp, struct annot *a)
{
	uint32_t by_vtid = intmap_get(&sp->s->tid_last, pair(a->host, (uint32_t)a->vtid));
	if (a->vtid > 0 && by_vtid != INTMAP_NONE && !thread_at(sp->s, by_vtid)->only_claimed)
		a->thread = thread_follow(sp->s, by_vtid);
	if (!a->in_kernel)	/* a kernel event's thread may be identified later */
		slab_put(&sp->s->snaps, g_steal_pointer(&a->snap));
}

/* Before the first record that tells a thread's state all its time is unknown: then its counters are known to be 0. */
static void snap_before_known(struct spans *sp, struct annot *a)
{
	const struct thread *t = thread_at(sp->s, a->thread);
	if (t->fresh || t->known_from == TS_NONE || a->ts > t->known_from || !thread_is_identified(t))
		return;
	a->snap = slab_get(&sp->s->snaps, sizeof *a->snap);
	*a->snap = (struct snap){ 0 };
}

#define LOOKED_AT 8		/* annotations: they have a snapshot, unless they are of another thread */

/* What the thread did at the annotation is lost. The counters are those of its next annotation, of an end those of the
 * one before: what is known between them is known of the span. */
static void borrow_snap(struct spans *sp, struct annot *a)
{
	const struct annot *all = (const struct annot *)(const void *)sp->s->annots->data;
	const struct thread *t = thread_at(sp->s, a->thread);
	guint n = t->annots ? t->annots->len : 0;
	guint low = (guint)FIRST_INDEX(i, n, all[g_array_index(t->annots, uint32_t, i)].ts >= a->ts);
	bool ends = core_is_end(spans_core(sp, a));

	for (guint i = 0; i < LOOKED_AT && (ends ? low > i : low + i < n); i++) {
		const struct annot *x = &all[g_array_index(t->annots, uint32_t, ends ? low - 1 - i : low + i)];
		if (!x->snap || x->borrows || thread_follow(sp->s, x->thread) != t->self)
			continue;
		a->snap = slab_get(&sp->s->snaps, sizeof *a->snap);
		*a->snap = *x->snap;
		a->borrows = true;
		return;
	}
}

/* Sets the thread of annotation i: the kernel's current task, else the thread of its vtid. */
static void annot_thread(struct spans *sp, uint32_t i)
{
	struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
	const struct annot *next = i + 1 < sp->s->annots->len ? a + 1 : NULL, *claim = claim_of(sp, i);
	if (a->borrows)		/* the lender's counters may have been corrected since */
		slab_put(&sp->s->snaps, g_steal_pointer(&a->snap));
	a->borrows = false;
	if (claim)
		take_claim(sp, a, claim);
	else if (is_refuted(sp, a))
		take_inner(sp, a, next && next->claims ? next : NULL);
	a->thread = thread_follow(sp->s, a->thread);
	if (a->thread != ID_NONE && !is_certain(sp, a))
		take_vtid(sp, a);
	if (a->thread == ID_NONE || a->in_kernel)
		return;
	if (!a->snap)
		snap_before_known(sp, a);
	if (!a->snap)
		borrow_snap(sp, a);
}

/* How a trace is published. */
struct trace_making { struct strace *t; bool closed; int64_t now; };

static bool is_abandoned(const struct trace_making *m, uint64_t span)
{
	return m->closed || (m->t->abandoned && g_hash_table_contains(m->t->abandoned, &span));
}

static uint32_t thread_of(struct spans *sp, const struct annot *a)
{
	return is_real_thread(sp->s, a->thread) ? a->thread : ID_NONE;
}

/* Was the half joined by a key across a loss? The lost events may include another end and beginning. */
static bool lost_inside(const struct spans *sp, const struct half *h)
{
	const struct annot *a = &g_array_index(sp->s->annots, struct annot,
					       h->annots[0]);
	int64_t begin;
	return a->mark && a->mark != MARK_WHOLE &&
	       losses_find(&sp->s->losses, a->host, a->in_kernel, h->begin, h->end, &begin);
}

/* Is it unknown when one of the half's annotations was, as the clock of its stream went back? */
static bool is_unsure(const struct spans *sp, const struct half *h)
{
	struct intmap streams = { 0 };		/* that were looked at */
	bool found = false;
	for (guint i = 0; sp->s->losses.backs->len && i < h->n_annots && !found; i++) {
		const struct annot *a = annot_of(sp, h, i);
		uint64_t stream = (uint64_t)a->cpu << 1 | a->in_kernel;
		bool is_new = intmap_get(&streams, stream) == INTMAP_NONE;
		if (is_new)
			intmap_set(&streams, stream, 0);
		found = a->is_unsure || (is_new && losses_clock_back(&sp->s->losses, a->host, a->in_kernel,
								     cpu_at(sp->s, a->cpu)->number, h->begin, h->end));
	}
	intmap_clear(&streams);
	return found;
}

/* The half has no end yet. If its end may be in a part of the trace that was not recorded, it is not known to be open:
 * it is partial, and lasted at least until that part. Else it is open until `now`. */
static void bound_open(const struct spans *sp, struct half *h, int64_t now)
{
	const struct annot *a = annot_of(sp, h, h->n_annots - 1);
	int64_t to = MAX(h->end, now), until = channels_known_until(&sp->s->channels, a->channel, h->end, to), lost;
	if (losses_find(&sp->s->losses, a->host, a->in_kernel, h->end, to, &lost))
		until = MIN(until, MAX(lost, h->end));
	h->end = until;
	h->state = until < to ? SPAN_PARTIAL : SPAN_OPEN;
	h->may_end = h->state == SPAN_PARTIAL && sp->s->live;
}

/* Sets the begin, end and state of a half from its annotations. */
static void bound_half(struct spans *sp, struct half *h, const struct trace_making *m)
{
	g_assert(h->n_annots > 0);
	bool begun = false, ended = false;
	h->may_end = false;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, h->annots[i]);
		enum core c = spans_core(sp, a);
		bool begins = (c == CORE_CS || c == CORE_SR || c == CORE_START) && !begun;
		bool whole = a->mark == MARK_WHOLE;
		if (!i || begins || whole) {
			h->begin = whole ? a->ts - (int64_t)a->address : a->ts;
			h->thread = thread_of(sp, a);
		}
		begun |= begins || whole;
		if (core_is_end(c) || !ended)
			h->end = a->ts;
		ended |= core_is_end(c);
	}
	h->state = begun && ended ? SPAN_COMPLETE :
		   !ended && !is_abandoned(m, h->id) ? SPAN_OPEN : SPAN_PARTIAL;
	if (h->state == SPAN_OPEN)
		bound_open(sp, h, m->now);
	if (h->end < h->begin)		/* the end is of another span, or from another clock: duration unknown */
		h->state = SPAN_PARTIAL;
	h->end = MAX(h->end, h->begin);
	if (h->state == SPAN_COMPLETE && (lost_inside(sp, h) || is_unsure(sp, h)))
		h->state = SPAN_PARTIAL;
}

/* Sets the ids of the half's thread: those of the kernel trace, else those of its first annotation. */
static void identify_half(struct spans *sp, struct half *h)
{
	const struct annot *a = annot_of(sp, h, 0);
	h->host = a->host;
	h->tid = a->vtid;
	h->pid = a->vpid;
	if (h->thread == ID_NONE)
		return;
	const struct thread *t = thread_at(sp->s, h->thread);
	uint32_t process = names_process(sp->n, h->thread);
	if (t->tid != -1)
		h->tid = t->tid;
	if (process != ID_NONE)
		h->pid = names_process_info(sp->n, process)->pid;
}

/* ---- a span from its half ---- */

static const char *text_of(const struct spans *sp, uint32_t id)
{
	return strtab_take(sp->s->texts, id);
}

static void fill_ids(struct spans *sp, const struct half *h, struct span *span)
{
	const struct annot *a = annot_of(sp, h, 0);
	span->trace_id = a->trace;
	span->span_id = h->id;
	span->parent_id = h->parent;
	span->kind = h->kind;
	span->state = h->state;
	span->name = a->rule == RULE_FUNCTION ? reftext_ref(pairs_function(sp->pairs, a)) : text_of(sp, a->name);
	span->service = text_of(sp, a->service);
	span->ip = text_of(sp, a->ip);
	span->port = a->port;
	span->host = a->host;
	span->thread = spans_map_thread(sp, h->thread);
	span->tid = h->tid;
	span->pid = h->pid;
	span->begin_ns = h->begin;
	span->end_ns = h->end;
}

static bool is_error(struct spans *sp, uint32_t key)
{
	if (key < CORE_KEYS && sp->no_error[key])
		return false;
	bool error = !g_ascii_strcasecmp(strtab_get(sp->s->texts, key), "error");
	if (key < CORE_KEYS)
		sp->no_error[key] = !error;
	return error;
}

/* A note is of the thread that the span is on, also if the kernel's trace does not know the thread then. */
static void add_note(struct spans *sp, const struct half *h, const struct annot *a)
{
	uint32_t thread = thread_of(sp, a);
	*vec_add(&sp->parts.annotations, struct span_annotation) = (struct span_annotation){
		a->ts, text_of(sp, a->key), spans_map_thread(sp, thread == ID_NONE ? h->thread : thread), true,
		a->severity };
}

static struct span_link link_of(const struct spans *sp, const struct annot *a)
{
	int64_t lost;
	return (struct span_link){
		.out_ns = a->out_ts, .in_ns = a->ts, .trace_id = a->address, .span_id = a->parent,
		.name = text_of(sp, a->key), .cpu_holder = ID_NONE,
		.unsure = losses_find(&sp->s->losses, a->port >> 1, a->port & 1, a->out_ts, a->ts, &lost),
	};
}

/* See span_late(). Events that were lost since the span before it may have had another one. */
static bool late_of(const struct spans *sp, const struct annot *a, struct span_link *ret)
{
	int64_t lost, every = (int64_t)a->address;
	if (losses_find(&sp->s->losses, a->host, a->in_kernel, a->out_ts, a->ts, &lost))
		return false;
	*ret = (struct span_link){ .out_ns = a->out_ts + every, .in_ns = a->ts, .every_ns = every,
				   .name = text_of(sp, a->key), .cpu_holder = ID_NONE };
	return true;
}

static void fill_annots(struct spans *sp, const struct half *h, struct span *span)
{
	struct vec *events = &sp->parts.annotations, *tags = &sp->parts.tags, *linked = &sp->parts.linked;
	const struct annot *every = NULL;
	events->len = tags->len = linked->len = 0;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *a = annot_of(sp, h, i);
		if (a->mark == MARK_LINK_IN) {
			*vec_add(linked, struct span_link) = link_of(sp, a);
			continue;
		}
		if (a->mark == MARK_EVERY) {
			every = a;
			continue;
		}
		if (a->type == ANNOT_NOTE) {
			add_note(sp, h, a);
			continue;
		}
		span->errors += is_error(sp, a->key);
		if (a->type == ANNOT_EVENT)
			*vec_add(events, struct span_annotation) = (struct span_annotation){
				a->ts, text_of(sp, a->key), spans_map_thread(sp, a->thread), false, SEVERITY_NONE };
		else
			*vec_add(tags, struct span_tag) = (struct span_tag){
				a->ts, text_of(sp, a->key), text_of(sp, a->val), a->type == ANNOT_INT };
	}
	span->annotations = events->data;
	span->n_annotations = events->len;
	span->tags = tags->data;
	span->n_tags = tags->len;
	span->n_links = linked->len;
	span->is_late = every && late_of(sp, every, vec_add(linked, struct span_link));
	span->links = linked->data;
}

/* ---- publication ---- */

static int slot_order(gconstpointer a, gconstpointer b)
{
	const struct slot *x = a, *y = b;
	return ORDER(x->span, y->span) ?: ORDER(x->kind, y->kind) ?: ORDER(x->nth, y->nth);
}

/* The slot of the span in the last publication, among the trace's first n slots; ID_NONE: the span is new. */
static uint32_t find_slot(const struct strace *t, guint n, const struct slot *key)
{
	const struct slot *have = n ? bsearch(key, t->slots->data, n, sizeof(*key), slot_order) : NULL;
	return have ? have->slot : ID_NONE;
}

static void publish_half(struct spans *sp, struct strace *t, guint n_slots, const struct half *h,
			 struct publication *pub)
{
	struct span made = { .self_ns = h->self_ns, .may_end = h->may_end };
	fill_ids(sp, h, &made);
	fill_annots(sp, h, &made);
	explain_half(sp, h, &made);
	explain_calls(sp, h, &made);
	chain_follow(sp, h, &made);
	struct slot s = { h->id, h->kind, h->nth, 0 };
	s.slot = find_slot(t, n_slots, &s);
	if (s.slot == ID_NONE) {
		s.slot = sp->n_slots++;
		g_array_append_val(t->slots, s);
	}
	g_assert(made.begin_ns <= made.end_ns && made.self_ns >= 0);
	publication_add_span(pub, s.slot, span_pack(&made));
}

static void publish_halves(struct spans *sp, struct strace *t, struct publication *pub)
{
	if (!t->slots)
		t->slots = g_array_sized_new(false, false, sizeof(struct slot), sp->halves.len);
	guint before = t->slots->len;
	for (guint i = 0; i < sp->halves.len; i++)
		publish_half(sp, t, before, half_at(sp, i), pub);
	if (t->slots->len > before)
		g_array_sort(t->slots, slot_order);
}

#define OFTEN 1000		/* annotations: shorter traces may be published at any time */
#define NS_AN_ANNOT 10000	/* longer traces: ns of the trace's time to wait per annotation */

/* Has it changed since it was last published? */
static bool has_changed(const struct strace *t, int64_t now, bool final)
{
	if (t->dirty || t->goes_on)
		return true;
	return (!t->settled || t->may_end) && (final || (t->open && strace_closed(t, now)));
}

/* Is it time to publish the trace? A long trace is published after it grew by a quarter, or after a time
 * proportional to its length. So the total cost stays a small multiple of the length. */
static bool is_due(const struct strace *t, int64_t now, bool final)
{
	guint n = t->n_annots;
	if (!has_changed(t, now, final))
		return false;
	return final || n <= OFTEN || strace_closed(t, now) || n - t->published > t->published / 4 ||
	       now - t->published_at >= (int64_t)n * NS_AN_ANNOT;
}

/* Is the annotation's thread final? Without a kernel trace it is the thread that the annotation names. */
static bool has_final_thread(const struct spans *sp, const struct annot *a)
{
	return !a->by_kernel && !a->in_kernel && !a->mark &&
	       !slice_has_kernel(sp->s, a->host);
}

/* Prefetches a snapshot: snapshots are scattered in memory. */
static inline void fetch_snap(const struct snap *snap)
{
	for (size_t i = 0; snap && i < sizeof *snap; i += 64)
		__builtin_prefetch((const char *)snap + i);
}

static void sort_and_split(struct spans *sp, struct strace *t)
{
	struct annot *annots = (struct annot *)sp->s->annots->data;
	sp->ids.len = sp->halves.len = 0;
	t->settled = true;
	for (uint32_t i = t->first_annot; i != ID_NONE; i = annots[i].next) {
		annot_thread(sp, i);
		t->settled &= has_final_thread(sp, &annots[i]);
		fetch_snap(annots[i].snap);
		*vec_add(&sp->ids, uint32_t) = i;
	}
	vec_sort(&sp->ids, sizeof(uint32_t), annot_order, annots);
	uint32_t *ids = sp->ids.data;
	for (guint i = 0, n; i < sp->ids.len; i += n) {
		for (n = 1; i + n < sp->ids.len && annots[ids[i + n]].span == annots[ids[i]].span;)
			n++;
		spans_split(sp, &ids[i], n);
	}
}

static void publish_trace(struct spans *sp, struct strace *t, struct publication *pub, int64_t now)
{
	struct trace_making m = { t, strace_closed(t, now), now };
	sp->known.len = sp->known_neighbours.len = 0;
	sort_and_split(sp, t);
	t->open = !m.closed;
	t->goes_on = t->may_end = false;
	t->published = t->n_annots;
	t->published_at = now;
	for (guint i = 0; i < sp->halves.len; i++) {
		bound_half(sp, half_at(sp, i), &m);
		identify_half(sp, half_at(sp, i));
		t->goes_on |= half_at(sp, i)->state == SPAN_OPEN;
		t->may_end |= half_at(sp, i)->may_end;
	}
	spans_find_segments(sp);
	spans_find_calls(sp);
	chain_find(sp);
	spans_set_self(sp);
	publish_halves(sp, t, pub);
	t->dirty = false;
}

/* Order of time: then the threads' logs are read in memory order. */
static int trace_order(gconstpointer a, gconstpointer b)
{
	const struct strace *x = *(struct strace *const *)a, *y = *(struct strace *const *)b;
	return ORDER(x->first, y->first) ?: ORDER(x->id, y->id);
}

struct notes_left_out spans_left_out(const struct spans *sp)
{
	return pairs_left_out(sp->pairs);
}

void spans_bound(struct spans *sp, size_t bytes)
{
	sp->room = bytes;
}

/* Number of annotations that fit into spans.room, given the mean length of their texts. */
static guint spans_most(const struct spans *sp)
{
	size_t texts = strtab_bytes(sp->s->texts) / MAX(sp->s->annots->len, 1);
	return (guint)MIN(sp->room / (sizeof(struct annot) + texts), G_MAXUINT / 2);
}

/* Traces whose root has ended come first, the oldest first: few annotations will follow. Then the longest trace
 * first. */
static int nearest_end_first(gconstpointer a, gconstpointer b)
{
	const struct strace *x = *(struct strace *const *)a, *y = *(struct strace *const *)b;
	bool x_ended = x->root_end != TS_NONE, y_ended = y->root_end != TS_NONE;
	if (x_ended != y_ended)
		return x_ended ? -1 : 1;
	if (x_ended && x->root_end != y->root_end)
		return x->root_end < y->root_end ? -1 : 1;
	return ORDER(y->n_annots, x->n_annots) ?: ORDER(x->id, y->id);
}

/* Gives up open traces until the rest needs at most half of the bound. */
static void give_up(struct spans *sp, GPtrArray *due, int64_t now)
{
	guint n = 0, most = spans_most(sp);
	PTR_EACH(const struct strace, t, due)
		n += strace_closed(t, now) ? 0 : t->n_annots;
	if (!sp->room || n <= most)
		return;
	g_ptr_array_sort(due, nearest_end_first);
	for (guint i = 0; i < due->len && n > most / 2; i++) {
		struct strace *t = g_ptr_array_index(due, i);
		if (strace_closed(t, now))
			continue;
		t->given_up = true;
		n -= t->n_annots;
	}
}

void spans_publish(struct spans *sp, struct publication *pub, int64_t now, bool final)
{
	index_annots(sp, now, final);
	for (guint i = 0; final && i < sp->s->annots->len; i++)
		note_agreement(sp, &g_array_index(sp->s->annots, struct annot, i));
	g_autoptr(GPtrArray) due = g_ptr_array_new();
	g_ptr_array_extend(due, sp->traces, NULL, NULL);
	if (!final)
		give_up(sp, due, now);
	for (guint i = due->len; i > 0; i--)
		if (!is_due(g_ptr_array_index(due, i - 1), now, final))
			g_ptr_array_remove_index_fast(due, i - 1);
	g_ptr_array_sort(due, trace_order);
	for (guint i = 0; i < due->len; i++)
		publish_trace(sp, g_ptr_array_index(due, i), pub, now);
	g_assert(sp->done <= sp->s->annots->len);
	intmap_clear(&sp->irqs);	/* names may change later */
}

/* ---- live: dropping closed traces, and the log entries that only they needed ---- */

#define FEW 1000		/* annotations: fewer are not worth compacting */
#define FORGET_EVERY_NS INT64_C(500000000)	/* dropping walks everything retained, so not at each refresh */
#define FEW_TEXTS (64u << 10)	/* bytes of texts: fewer are not worth a search for unused ones */
#define HOLLOW 4	/* an array is reallocated when less than 1/HOLLOW of its entries remain */

static void remember(struct forgotten *f, const struct strace *t)
{
	if (f->ids[0].n >= FORGOTTEN_RETAINED) {
		f->unknown_to = MAX(f->unknown_to, f->last[1]);
		intmap_clear(&f->ids[1]);
		f->ids[1] = f->ids[0];
		f->last[1] = f->last[0];
		f->ids[0] = (struct intmap){ 0 };
		f->last[0] = INT64_MIN;
	}
	intmap_set(&f->ids[0], t->id, 1);
	f->last[0] = MAX(f->last[0], t->last);
}

static void forget_trace(struct spans *sp, guint i)
{
	struct strace *last = g_ptr_array_index(sp->traces, sp->traces->len - 1);
	const struct strace *t = g_ptr_array_index(sp->traces, i);
	remember(&sp->forgotten, t);
	intmap_set(&sp->by_id, last->id, i);
	intmap_remove(&sp->by_id, t->id);
	g_ptr_array_remove_index_fast(sp->traces, i);
}

/* Drops closed traces. Returns the first instant that the remaining traces need. */
static int64_t forget_traces(struct spans *sp, int64_t now)
{
	int64_t needed = now;
	for (guint i = sp->traces->len; i-- > 0;) {
		const struct strace *t = g_ptr_array_index(sp->traces, i);
		if (t->dirty || (t->open && !strace_closed(t, now)))
			needed = MIN(needed, t->first);
		else
			forget_trace(sp, i);
	}
	return needed;
}

static bool is_dropped(uint64_t trace, void *data)
{
	const struct spans *sp = data;
	return intmap_get(&sp->by_id, trace) == INTMAP_NONE;
}

/* Drops texts that no annotation uses. Published spans hold their own references. */
static void forget_texts(struct spans *sp)
{
	const struct slice *s = sp->s;
	size_t bytes = strtab_bytes(s->texts);
	if (bytes <= sp->texts_retained + MAX(sp->texts_retained, FEW_TEXTS))
		return;
	g_autofree guint8 *used = g_new0(guint8, strtab_n(s->texts));
	for (unsigned i = CORE_CS; i < CORE_N; i++)
		used[sp->core[i]] = 1;
	ARRAY_EACH(const struct annot, a, s->annots)
		used[a->name] = used[a->service] = used[a->ip] = used[a->key] = used[a->val] = 1;
	strtab_forget(s->texts, used);
	memset(sp->no_error, 0, sizeof sp->no_error);
	sp->texts_retained = strtab_bytes(s->texts);
}

/* Drops channels that have ended and that no annotation uses. */
static void forget_channels(struct spans *sp)
{
	struct slice *s = sp->s;
	g_autofree guint8 *used = g_new0(guint8, s->channels.all->len + 1);
	for (guint i = 0; i < s->annots->len; i++)
		used[g_array_index(s->annots, struct annot, i).channel] = 1;
	channels_forget(&s->channels, used);
}

/* Drops the annotations of dropped traces. map: old index -> new one, or ID_NONE. */
static void compact_annots(struct spans *sp, uint32_t *map)
{
	GArray *all = sp->s->annots;
	guint n_left = 0, done = 0;
	for (guint i = 0; i < all->len; i++) {
		struct annot *a = &g_array_index(all, struct annot, i);
		bool keep = i >= sp->done || intmap_get(&sp->by_id, a->trace) != INTMAP_NONE;
		map[i] = keep ? n_left : ID_NONE;
		if (!keep) {
			slab_put(&sp->s->snaps, a->snap);
			continue;
		}
		done += i < sp->done;
		g_array_index(all, struct annot, n_left++) = *a;
	}
	if (all->len > FEW && n_left < all->len / HOLLOW) {
		sp->s->annots = g_array_sized_new(false, true, sizeof(struct annot), n_left + 1);
		g_array_append_vals(sp->s->annots, all->data, n_left);
		g_array_unref(all);
	} else {
		g_array_set_size(all, n_left);
	}
	for (guint i = 0; i < done; i++) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
		g_assert(a->next == ID_NONE || map[a->next] != ID_NONE);	/* of the same trace: retained, too */
		a->next = a->next == ID_NONE ? ID_NONE : map[a->next];
	}
	PTR_EACH(struct strace, t, sp->traces) {
		t->first_annot = map[t->first_annot];
		t->last_annot = map[t->last_annot];
		g_assert(t->first_annot < done && t->last_annot < done);
	}
	sp->done = done;
}

/* Frees empty logs: an array never shrinks, and exited threads are retained. */
static void free_logs(struct thread *t)
{
	GArray **logs[] = { &t->annots, &t->open };
	if (!t->waits.len)
		vec_free(&t->waits);
	if (!t->calls.len)
		vec_free(&t->calls);
	if (!t->charged.len)
		vec_free(&t->charged);
	for (size_t k = 0; k < G_N_ELEMENTS(logs); k++)
		if (*logs[k] && !(*logs[k])->len)
			g_clear_pointer(logs[k], g_array_unref);
}

static void trim_thread(struct thread *t, const uint32_t *map, int64_t needed)
{
	guint n = 0, n_left = 0;
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t id = map[g_array_index(t->annots, uint32_t, i)];
		if (id != ID_NONE)
			g_array_index(t->annots, uint32_t, n_left++) = id;
	}
	if (t->annots)
		g_array_set_size(t->annots, n_left);
	struct rec *r;
	for (guint i = 0; (r = thread_pending(t, i)); i++) {
		if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
			r->id = map[r->id];
	}
	while (n < t->waits.len && vec_at(&t->waits, struct wait, n)->end < needed)
		n++;
	vec_drop(&t->waits, n, sizeof(struct wait));
	t->waits_base += n;
	for (n = 0; n < t->calls.len && vec_at(&t->calls, struct done_call, n)->end < needed;)
		n++;
	vec_drop(&t->calls, n, sizeof(struct done_call));
	/* the entry before what is needed stays: it tells from when on the rest is known */
	for (n = 0; n + 1 < t->charged.len && vec_at(&t->charged, struct charged, n + 1)->until < needed;)
		n++;
	vec_drop(&t->charged, n, sizeof(struct charged));
	for (n = n_left = 0; t->open && n < t->open->len; n++)
		if (g_array_index(t->open, struct open_span, n).since >= needed)
			g_array_index(t->open, struct open_span, n_left++) =
				g_array_index(t->open, struct open_span, n);
	if (t->open)
		g_array_set_size(t->open, n_left);
	free_logs(t);
}

#define STOPS_LEAST 64		/* newest signals that are retained: a process may stop later */

static void forget_stops(struct vec *stops, int64_t needed)
{
	guint n = 0;
	while (n + STOPS_LEAST < stops->len && vec_at(stops, struct stop_signal, n)->ts < needed)
		n++;
	vec_drop(stops, n, sizeof(struct stop_signal));
}

void spans_forget(struct spans *sp, int64_t now)
{
	bool crowded = sp->room && sp->s->annots->len > spans_most(sp);
	if (sp->forgot_at != INT64_MIN && now - sp->forgot_at < FORGET_EVERY_NS && !crowded)
		return;
	sp->forgot_at = now;
	int64_t needed = forget_traces(sp, now) - JUST_OUT_NS - (sp->s->looks_back ? SPANS_LOOK_BACK_NS : 0);
	g_autofree uint32_t *map = g_new(uint32_t, sp->s->annots->len + 1);
	compact_annots(sp, map);
	forget_texts(sp);
	forget_channels(sp);
	pairs_forget(sp->pairs, is_dropped, sp);
	runs_forget(sp->s, needed);
	blocks_forget(sp->s, needed);
	forget_stops(&sp->s->stops, needed);
	PTR_EACH(struct thread, t, sp->s->threads)
		if (t->forward == ID_NONE)
			trim_thread(t, map, needed);
}
