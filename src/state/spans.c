/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans from annotations: grouping, halves, states, self time, publication. */
#include "state/spans.h"

#include "state/hops.h"
#include "state/pairs.h"
#include "state/rules_private.h"
#include "state/runs.h"

struct strace {			/* one trace */
	uint64_t id;
	guint n_annots;
	uint32_t first_annot, last_annot;	/* of a chain, see struct annot */
	GArray *slots;		/* struct slot, by span and kind; NULL: none yet */
	GHashTable *abandoned;	/* uint64_t ids of spans without an end; NULL: none */
	bool dirty, open;	/* open: published with open spans, or not closed yet */
	bool given_up;		/* there is no room for more of it */
	bool goes_on;		/* it had open spans, when it was published last */
	bool settled;		/* nothing that comes for others can change what was published */
	int64_t root_end, first, last;	/* root_end: TS_NONE; instants of annotations */
	guint published;	/* annotations, when it was published last */
	int64_t published_at;	/* and when that was */
};

enum core { CORE_NONE, CORE_CS, CORE_CR, CORE_SR, CORE_SS, CORE_START, CORE_END, CORE_N };

struct slot { uint64_t span; uint32_t kind, slot; };

struct spans {
	struct slice *s;
	struct names *n;
	struct pairs *pairs;
	spans_thread thread;
	void *thread_data;
	uint32_t core[CORE_N];		/* their strings */
	guint done;			/* annotations indexed */
	guint most;			/* annotations kept; 0: no bound */
	GPtrArray *traces;		/* struct strace * */
	struct intmap by_id;		/* of a trace -> in traces */
	struct intmap forgotten;	/* ids of traces */
	uint32_t n_slots;
	int64_t forgot_at;		/* instant; INT64_MIN: never */
	struct intmap irqs;		/* host and code -> text, while spans are published */
	/* While a trace is made: */
	GArray *ids;			/* uint32_t: its annotations, by span and time */
	GArray *halves;			/* struct half; their annotations are in ids */
	GArray *segments;		/* struct segment */
	GArray *children;		/* struct child */
};

struct slice *spans_slice(struct spans *sp)
{
	return sp->s;
}

struct names *spans_names(struct spans *sp)
{
	return sp->n;
}

/* Idle tasks, and those without a name, are nobody. */
static bool is_somebody(const struct slice *s, uint32_t thread)
{
	const struct thread *t = thread == ID_NONE ? NULL : thread_at(s, thread);
	return t && !t->idle && t->tid != -1;
}

uint32_t spans_map_thread(struct spans *sp, uint32_t thread)
{
	return is_somebody(sp->s, thread) ? sp->thread(sp->thread_data, thread) : ID_NONE;
}

uint32_t spans_irq_text(struct spans *sp, uint32_t host, uint32_t code)
{
	uint64_t key = (uint64_t)host << 32 | code;
	uint32_t text = intmap_get(&sp->irqs, key);
	if (text == INTMAP_NONE) {
		text = irq_text(sp->s, sp->n, host, code);
		intmap_set(&sp->irqs, key, text);
	}
	return text;
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
		sp->core[i] = strtab_add(s->strings, cores[i]);
	sp->thread = thread;
	sp->forgot_at = INT64_MIN;
	sp->thread_data = data;
	sp->traces = g_ptr_array_new_with_free_func(strace_free);
	sp->ids = g_array_new(false, false, sizeof(uint32_t));
	sp->halves = g_array_new(false, false, sizeof(struct half));
	sp->segments = g_array_new(false, false, sizeof(struct segment));
	sp->children = g_array_new(false, false, sizeof(struct child));
	return sp;
}

void spans_free(struct spans *sp)
{
	if (!sp)
		return;
	pairs_free(sp->pairs);
	g_ptr_array_unref(sp->traces);
	intmap_clear(&sp->by_id);
	intmap_clear(&sp->forgotten);
	intmap_clear(&sp->irqs);
	g_array_unref(sp->ids);
	g_array_unref(sp->halves);
	g_array_unref(sp->segments);
	g_array_unref(sp->children);
	g_free(sp);
}

static enum core core_of(const struct spans *sp, const struct annot *a)
{
	for (unsigned i = CORE_CS; a->type == ANNOT_EVENT && i < CORE_N; i++)
		if (a->key == sp->core[i])
			return (enum core)i;
	return CORE_NONE;
}

static bool is_end(enum core c)
{
	return c == CORE_CR || c == CORE_SS || c == CORE_END;
}

/* Its trace; NULL: that is forgotten, and the annotation too late. */
static struct strace *trace_of(struct spans *sp, const struct annot *a)
{
	struct strace *t = find_trace(sp, a->trace);
	if (t || intmap_get(&sp->forgotten, a->trace) != INTMAP_NONE)
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
	g_array_index(sp->s->annots, struct annot, id).next = ID_NONE;
	if (t->last_annot == ID_NONE)
		t->first_annot = id;
	else
		g_array_index(sp->s->annots, struct annot, t->last_annot).next = id;
	t->last_annot = id;
	t->n_annots++;
}

static void index_annots(struct spans *sp, int64_t now, bool final)
{
	bool pair_all = rules_installed() || sp->s->has_functions;
	for (; sp->done < sp->s->annots->len; sp->done++) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, sp->done);
		enum core c = core_of(sp, a);
		if (!final && pairs_must_wait(sp->pairs, a, now))
			return;
		if (pair_all)
			pairs_take(sp->pairs, a, c == CORE_SR || c == CORE_START, is_end(c));
		struct strace *t = trace_of(sp, a);
		if (!t) {
			slice_bin(sp->s, a->ts)->trust.late++;
			continue;
		}
		if (!a->parent && is_end(c) && a->mark == MARK_NONE)
			t->root_end = MAX(t->root_end, a->ts);
		t->first = MIN(t->first, a->ts);
		t->last = MAX(t->last, a->ts);
		chain_annot(sp, t, sp->done);
		t->dirty = true;
	}
}

/* ---- halves ---- */

struct grouping { const struct annot *annots; };

static int annot_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct grouping *g = data;
	const struct annot *x = &g->annots[*(const uint32_t *)a];
	const struct annot *y = &g->annots[*(const uint32_t *)b];
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Does the kernel's word on who made the annotation hold? Not where its trace does
 * not cover the CPU then, unless the annotation's own vtid agrees. */
static bool is_told(const struct spans *sp, const struct annot *a)
{
	const struct thread *t = thread_at(sp->s, a->thread);
	const struct cpu *c = cpu_at(sp->s, a->cpu);
	if (t->tid == -1 || t->idle)
		return false;
	return !a->by_kernel || t->tid == a->vtid ||
	       (a->ts >= c->kernel_from && a->ts <= c->kernel_to);
}

/* The thread of an annotation: the kernel's current task, else by its vtid. */
static uint32_t annot_thread(struct spans *sp, struct annot *a)
{
	a->thread = thread_follow(sp->s, a->thread);
	if (a->thread == ID_NONE || is_told(sp, a))
		return a->thread;
	uint32_t by_vtid = intmap_get(&sp->s->tid_last, pair(a->host, (uint32_t)a->vtid));
	if (a->vtid > 0 && by_vtid != INTMAP_NONE)
		a->thread = thread_follow(sp->s, by_vtid);
	if (!a->in_kernel)	/* else it may have a name later */
		g_clear_pointer(&a->snap, g_free);
	return a->thread;
}

/* A trace as it is published. */
struct making { struct strace *t; bool closed; int64_t now; };

static bool is_abandoned(const struct making *m, uint64_t span)
{
	return m->closed || (m->t->abandoned && g_hash_table_contains(m->t->abandoned, &span));
}

static uint32_t thread_of(struct spans *sp, const struct annot *a)
{
	return is_somebody(sp->s, a->thread) ? a->thread : ID_NONE;
}

/* What was joined by a key, over a loss of its like: another end and begin may lie in it. */
static bool lost_inside(const struct spans *sp, const struct half *h)
{
	const struct annot *a = &g_array_index(sp->s->annots, struct annot,
					       h->annots[0]);
	const GArray *losses = sp->s->losses;
	for (guint i = a->mark ? losses->len : 0; i > 0; i--) {
		const struct loss *l = &g_array_index(losses, struct loss, i - 1);
		if (l->max_end <= h->begin)
			return false;
		if (l->kernel == a->in_kernel && l->host == a->host && l->end > h->begin &&
		    l->begin < h->end)
			return true;
	}
	return false;
}

/* Begin, end and state of a half from its annotations. */
static void bound_half(struct spans *sp, struct half *h, const struct making *m)
{
	bool begun = false, ended = false;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, h->annots[i]);
		enum core c = core_of(sp, a);
		bool begins = (c == CORE_CS || c == CORE_SR || c == CORE_START) && !begun;
		if (!i || begins) {
			h->begin = a->ts;
			h->thread = thread_of(sp, a);
		}
		begun |= begins;
		if (is_end(c) || !ended)
			h->end = a->ts;
		ended |= is_end(c);
	}
	h->state = begun && ended ? SPAN_COMPLETE :
		   !ended && !is_abandoned(m, h->id) ? SPAN_OPEN : SPAN_PARTIAL;
	if (h->state == SPAN_OPEN)
		h->end = MAX(h->end, m->now);
	h->end = MAX(h->end, h->begin);
	if (h->state == SPAN_COMPLETE && lost_inside(sp, h))
		h->state = SPAN_PARTIAL;
}

static void add_half(struct spans *sp, const uint32_t *ids, guint n, enum span_kind kind)
{
	const struct annot *first = &g_array_index(sp->s->annots, struct annot, ids[0]);
	struct half h = {
		.annots = ids, .n_annots = n, .kind = kind, .id = first->span, .thread = ID_NONE,
	};
	for (guint i = 0; i < n && !h.parent; i++)
		h.parent = g_array_index(sp->s->annots, struct annot, ids[i]).parent;
	g_array_append_val(sp->halves, h);
}

/* Those of the server half behind the others, each in their order; returns how many are
 * before them. */
static guint move_back(uint32_t *ids, guint n, const bool *back)
{
	g_autofree uint32_t *behind = g_new(uint32_t, n);
	guint kept = 0, moved = 0;
	for (guint i = 0; i < n; i++) {
		if (back[i])
			behind[moved++] = ids[i];
		else
			ids[kept++] = ids[i];
	}
	memcpy(ids + kept, behind, moved * sizeof(*ids));
	return kept;
}

/* Which half an annotation belongs to that is not a core one: by thread, then by
 * service, else the client's. */
static bool of_server(const struct annot *a, const struct annot *client, const struct annot *server)
{
	if (a->thread == server->thread || a->thread == client->thread)
		return a->thread == server->thread && a->thread != client->thread;
	return a->service == server->service && a->service != client->service;
}

/* One span's annotations (sorted) into one or two halves. */
static void split_span(struct spans *sp, uint32_t *ids, guint n)
{
	const struct annot *annots = (const struct annot *)sp->s->annots->data;
	const struct annot *client = NULL, *server = NULL;
	for (guint i = 0; i < n; i++) {
		enum core c = core_of(sp, &annots[ids[i]]);
		if (!client && (c == CORE_CS || c == CORE_CR))
			client = &annots[ids[i]];
		if (!server && (c == CORE_SR || c == CORE_SS))
			server = &annots[ids[i]];
	}
	if (!client || !server) {
		add_half(sp, ids, n, client ? SPAN_CLIENT : server ? SPAN_SERVER : SPAN_LOCAL);
		return;
	}
	uint64_t parent = annots[ids[0]].parent;	/* of both, unless they tell others */
	g_autofree bool *back = g_new(bool, n);
	for (guint i = 0; i < n; i++) {
		const struct annot *a = &annots[ids[i]];
		enum core c = core_of(sp, a);
		back[i] = c == CORE_SR || c == CORE_SS ||
			  (c != CORE_CS && c != CORE_CR && of_server(a, client, server));
	}
	guint before = move_back(ids, n, back);
	add_half(sp, ids, before, SPAN_CLIENT);
	add_half(sp, ids + before, n - before, SPAN_SERVER);
	for (guint i = sp->halves->len - 2; parent && i < sp->halves->len; i++)
		g_array_index(sp->halves, struct half, i).parent = parent;
}

/* ---- a span from its half ---- */

static void fill_ids(struct spans *sp, struct half *h, const struct annot *a)
{
	struct span *span = h->span;
	span->trace_id = a->trace;
	span->span_id = h->id;
	span->parent_id = h->parent;
	span->kind = h->kind;
	span->state = h->state;
	span->name = a->rule == RULE_FUNCTION ? pairs_function(sp->pairs, a) : a->name;
	span->service = a->service;
	span->ip = a->ip;
	span->port = a->port;
	span->host = a->host;
	span->thread = spans_map_thread(sp, h->thread);
	span->tid = a->vtid;
	span->pid = a->vpid;
	span->begin_ns = h->begin;
	span->end_ns = h->end;
	if (h->thread == ID_NONE)
		return;
	const struct thread *t = thread_at(sp->s, h->thread);
	uint32_t process = names_process(sp->n, h->thread);
	if (t->tid != -1)
		span->tid = t->tid;
	if (process != ID_NONE)
		span->pid = names_process_info(sp->n, process)->pid;
}

static struct span *new_span(struct spans *sp, const struct half *h)
{
	guint n_events = 0;
	for (guint i = 0; i < h->n_annots; i++)
		n_events += g_array_index(sp->s->annots, struct annot, h->annots[i]).type == ANNOT_EVENT;
	return span_new_with(n_events, h->n_annots - n_events);
}

static void fill_annots(struct spans *sp, struct half *h)
{
	struct span_annotation *event = h->span->annotations;
	struct span_tag *tag = h->span->tags;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, h->annots[i]);
		const char *key = strtab_get(sp->s->strings, a->key);
		h->span->errors += (*key == 'e' || *key == 'E') && !g_ascii_strcasecmp(key, "error");
		if (a->type == ANNOT_EVENT)
			*event++ = (struct span_annotation){ a->ts, a->key,
							     spans_map_thread(sp, a->thread) };
		else
			*tag++ = (struct span_tag){ a->ts, a->key, a->val, a->type == ANNOT_INT };
	}
}

/* ---- publication ---- */

static int slot_order(gconstpointer a, gconstpointer b)
{
	const struct slot *x = a, *y = b;
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The slot that the span had before, among the trace's first n; ID_NONE: it is new. */
static uint32_t find_slot(const struct strace *t, guint n, const struct slot *key)
{
	const struct slot *have = n ? bsearch(key, t->slots->data, n, sizeof(*key), slot_order) : NULL;
	return have ? have->slot : ID_NONE;
}

static void give_slots(struct spans *sp, struct strace *t, struct publication *pub)
{
	if (!t->slots)
		t->slots = g_array_sized_new(false, false, sizeof(struct slot), sp->halves->len);
	guint before = t->slots->len;
	for (guint i = 0; i < sp->halves->len; i++) {
		struct span *span = g_array_index(sp->halves, struct half, i).span;
		struct slot s = { span->span_id, span->kind, 0 };
		s.slot = find_slot(t, before, &s);
		if (s.slot == ID_NONE) {
			s.slot = sp->n_slots++;
			g_array_append_val(t->slots, s);
		}
		span_seal(span);
		publication_add_span(pub, s.slot, span);
	}
	if (t->slots->len > before)
		g_array_sort(t->slots, slot_order);
}

#define FORGET_AFTER_NS INT64_C(60000000000)	/* a trace without an end is given up */

/* Closed 2 s after the root's end; without one, when it is given up. */
static bool is_closed(const struct strace *t, int64_t now)
{
	return t->given_up || (t->root_end != TS_NONE && now - t->root_end >= SPANS_LINGER_NS && now >= t->last) ||
	       now - t->last >= FORGET_AFTER_NS;
}

#define OFTEN 1000		/* annotations of a trace that may be published at any time */
#define NS_AN_ANNOT 10000	/* of longer ones: so much of the trace's time for each */

/* Does it have to be told (again)? */
static bool is_news(const struct strace *t, int64_t now, bool final)
{
	if (t->dirty || t->goes_on)
		return true;
	return !t->settled && (final || (t->open && is_closed(t, now)));
}

/* Is it worth its cost now? A long one is published when it is a quarter longer, or now
 * and then, so that all of it costs no more than a few times its length. */
static bool is_due(const struct strace *t, int64_t now, bool final)
{
	guint n = t->n_annots;
	if (!is_news(t, now, final))
		return false;
	return final || n <= OFTEN || is_closed(t, now) || n - t->published > t->published / 4 ||
	       now - t->published_at >= (int64_t)n * NS_AN_ANNOT;
}

/* Of hosts that have no kernel's trace the thread of an annotation is what it says itself. */
static bool is_told_all(const struct spans *sp, const struct annot *a)
{
	return !a->by_kernel && !a->in_kernel && !a->mark &&
	       !g_array_index(sp->s->hosts, struct slice_host, a->host).has_kernel;
}

static void sort_and_split(struct spans *sp, struct strace *t)
{
	struct grouping g = { (const struct annot *)sp->s->annots->data };
	g_array_set_size(sp->ids, 0);
	g_array_set_size(sp->halves, 0);
	t->settled = true;
	bool sorted = true;
	for (uint32_t i = t->first_annot, last = ID_NONE; i != ID_NONE; last = i, i = g.annots[i].next) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
		annot_thread(sp, a);
		t->settled &= is_told_all(sp, a);
		sorted &= last == ID_NONE || annot_order(&last, &i, &g) <= 0;
		g_array_append_val(sp->ids, i);
	}
	if (!sorted)
		g_array_sort_with_data(sp->ids, annot_order, &g);
	uint32_t *ids = (uint32_t *)sp->ids->data;
	for (guint i = 0, n; i < sp->ids->len; i += n) {
		for (n = 1; i + n < sp->ids->len && g.annots[ids[i + n]].span == g.annots[ids[i]].span;)
			n++;
		split_span(sp, &ids[i], n);
	}
}

static void publish_trace(struct spans *sp, struct strace *t, struct publication *pub, int64_t now)
{
	struct making m = { t, is_closed(t, now), now };
	GArray *halves = sp->halves;
	sort_and_split(sp, t);
	g_array_set_size(sp->segments, 0);
	t->open = !m.closed;
	t->goes_on = false;
	t->published = t->n_annots;
	t->published_at = now;
	for (guint i = 0; i < halves->len; i++) {
		struct half *h = &g_array_index(halves, struct half, i);
		h->span = new_span(sp, h);
		bound_half(sp, h, &m);
		t->goes_on |= h->state == SPAN_OPEN;
		fill_ids(sp, h, &g_array_index(sp->s->annots, struct annot, h->annots[0]));
		fill_annots(sp, h);
		explain_half(sp, h, i, now, sp->segments);
	}
	explain_calls(sp, halves, sp->segments);
	hops_find(sp, halves, sp->segments);
	spans_set_self(sp->halves, sp->children);
	give_slots(sp, t, pub);
	t->dirty = false;
}

static int trace_order(gconstpointer a, gconstpointer b)
{
	const struct strace *x = *(struct strace *const *)a, *y = *(struct strace *const *)b;
	return (x->id > y->id) - (x->id < y->id);
}

void spans_bound(struct spans *sp, size_t bytes)
{
	sp->most = (guint)MIN(bytes / sizeof(struct annot), G_MAXUINT / 2);
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct strace *x = *(struct strace *const *)a, *y = *(struct strace *const *)b;
	if (x->n_annots != y->n_annots)
		return x->n_annots > y->n_annots ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Until what stays has room, with some to spare. */
static void give_up(struct spans *sp, GPtrArray *due, int64_t now)
{
	guint n = 0;
	for (guint i = 0; i < due->len; i++) {
		const struct strace *t = g_ptr_array_index(due, i);
		n += is_closed(t, now) ? 0 : t->n_annots;
	}
	if (!sp->most || n <= sp->most)
		return;
	g_ptr_array_sort(due, longest_first);
	for (guint i = 0; i < due->len && n > sp->most / 2; i++) {
		struct strace *t = g_ptr_array_index(due, i);
		if (is_closed(t, now))
			continue;
		t->given_up = true;
		n -= t->n_annots;
	}
}

void spans_publish(struct spans *sp, struct publication *pub, int64_t now, bool final)
{
	index_annots(sp, now, final);
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
	intmap_clear(&sp->irqs);	/* names may be told later */
}

/* ---- forgetting ---- */

#define MAX_FORGOTTEN 250000
#define FORGET_EVERY_NS INT64_C(500000000)	/* all that is kept is walked for it: not at each refresh */
#define HOLLOW 4	/* an array is made anew when it holds less than a quarter of before */

static void forget_trace(struct spans *sp, guint i)
{
	struct strace *last = g_ptr_array_index(sp->traces, sp->traces->len - 1);
	const struct strace *t = g_ptr_array_index(sp->traces, i);
	intmap_set(&sp->forgotten, t->id, 1);
	intmap_set(&sp->by_id, last->id, i);
	intmap_remove(&sp->by_id, t->id);
	g_ptr_array_remove_index_fast(sp->traces, i);
}

/* Drops closed traces; the first instant that those left still need. */
static int64_t forget_traces(struct spans *sp, int64_t now)
{
	int64_t needed = now;
	if (sp->forgotten.n > MAX_FORGOTTEN)
		intmap_clear(&sp->forgotten);
	for (guint i = sp->traces->len; i-- > 0;) {
		const struct strace *t = g_ptr_array_index(sp->traces, i);
		if (t->dirty || (t->open && !is_closed(t, now)))
			needed = MIN(needed, t->first);
		else
			forget_trace(sp, i);
	}
	return needed;
}

static bool is_gone(uint64_t trace, void *data)
{
	const struct spans *sp = data;
	return intmap_get(&sp->by_id, trace) == INTMAP_NONE;
}

/* Keeps only the annotations of traces that are left; `map`: old to new number. */
static void compact_annots(struct spans *sp, uint32_t *map)
{
	GArray *all = sp->s->annots;
	guint kept = 0, done = 0;
	for (guint i = 0; i < all->len; i++) {
		struct annot *a = &g_array_index(all, struct annot, i);
		bool keep = i >= sp->done || intmap_get(&sp->by_id, a->trace) != INTMAP_NONE;
		map[i] = keep ? kept : ID_NONE;
		if (!keep) {
			g_free(a->snap);
			continue;
		}
		done += i < sp->done;
		g_array_index(all, struct annot, kept++) = *a;
	}
	if (all->len > OFTEN && kept < all->len / HOLLOW) {
		sp->s->annots = g_array_sized_new(false, true, sizeof(struct annot), kept + 1);
		g_array_append_vals(sp->s->annots, all->data, kept);
		g_array_unref(all);
	} else {
		g_array_set_size(all, kept);
	}
	for (guint i = 0; i < done; i++) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
		a->next = a->next == ID_NONE ? ID_NONE : map[a->next];
	}
	for (guint i = 0; i < sp->traces->len; i++) {
		struct strace *t = g_ptr_array_index(sp->traces, i);
		t->first_annot = map[t->first_annot];
		t->last_annot = map[t->last_annot];
	}
	sp->done = done;
}

static void trim_thread(struct thread *t, const uint32_t *map, int64_t needed)
{
	guint n = 0, kept = 0;
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t id = map[g_array_index(t->annots, uint32_t, i)];
		if (id != ID_NONE)
			g_array_index(t->annots, uint32_t, kept++) = id;
	}
	if (t->annots)
		g_array_set_size(t->annots, kept);
	for (guint i = 0; i < t->head->len; i++) {
		struct rec *r = &g_array_index(t->head, struct rec, i);
		if ((r->type == REC_SPAN || r->type == REC_MARK) && r->who != ID_NONE)
			r->who = map[r->who];
	}
	while (t->waits && n < t->waits->len && g_array_index(t->waits, struct wait, n).end < needed)
		n++;
	if (n) {
		g_array_remove_range(t->waits, 0, n);
		t->waits_base += n;
	}
	for (n = 0; t->calls && n < t->calls->len &&
	     g_array_index(t->calls, struct done_call, n).end < needed;)
		n++;
	if (n)
		g_array_remove_range(t->calls, 0, n);
	for (n = kept = 0; t->open && n < t->open->len; n++)
		if (g_array_index(t->open, struct open_span, n).since >= needed)
			g_array_index(t->open, struct open_span, kept++) =
				g_array_index(t->open, struct open_span, n);
	if (t->open)
		g_array_set_size(t->open, kept);
}

void spans_forget(struct spans *sp, int64_t now)
{
	if (sp->forgot_at != INT64_MIN && now - sp->forgot_at < FORGET_EVERY_NS)
		return;
	sp->forgot_at = now;
	int64_t needed = forget_traces(sp, now) - JUST_OUT_NS;
	g_autofree uint32_t *map = g_new(uint32_t, sp->s->annots->len + 1);
	compact_annots(sp, map);
	pairs_forget(sp->pairs, is_gone, sp);
	runs_forget(sp->s, needed);
	for (guint i = 0; i < sp->s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(sp->s->threads, i);
		if (t->forward == ID_NONE)
			trim_thread(t, map, needed);
	}
}
