/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of open spans by key and by thread; see pairs.h. */
#include "state/spans/pairs.h"

#include "state/kernel/annot.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/slice_state.h"
#include "state/spans/link_outs.h"
#include "state/spans/lookups.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/mix.h"
#include "base/reftext.h"

#include <stdio.h>

#define RULE_BLKKIN (RULE_FUNCTION - 1)
#define SEARCHED_FRAMES 64		/* a function's end searches this many frames, from the innermost outwards */
#define NAMED_WITHIN_NS INT64_C(2000000000)

/* An open span. */
struct begun_span {
	uint64_t trace, span, parent;
	uint64_t key;		/* for functions: the address */
	uint64_t thread;	/* key of the thread where it began */
	int64_t ts;		/* when it began */
	uint32_t rule;
	guint n_notes;		/* on the thread's list */
};

struct pairs {
	struct slice *s;
	pairs_abandon abandon;
	void *data;
	GHashTable *by_key;	/* uint64_t -> GArray of struct begun_span, innermost last */
	GHashTable *by_thread;	/* the same */
	GHashTable *sizes;	/* traces of functions: uint64_t id -> number of spans */
	struct lookups *lookups;	/* tables of rules */
	GHashTable *joined;	/* uint64_t: trace -> spans in it whose parent is a link */
	struct link_outs *outs;
	struct begun_span linked;	/* room for find_parent() */
	GHashTable *names;	/* of functions: uint64_t -> reftext */
	guint names_of;		/* number of binaries when .names was filled */
	int64_t ts;		/* instant of the newest mark */
	unsigned n_at_ts;	/* earlier marks at .ts */
	struct annot last;	/* the newest mark that is no tag */
	bool alone;		/* .last begins a span, and its end cannot be identified */
	bool foreign;		/* .last is an end that belongs to no span, see is_foreign(), or such a note */
	struct notes_left_out left_out;
};

static void frames_free(gpointer p)
{
	g_array_unref(p);
}

static GHashTable *frames_table(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, frames_free);
}

static void unref_text(gpointer p)
{
	reftext_unref(p);
}

struct pairs *pairs_new(struct slice *s, pairs_abandon abandon, void *data)
{
	struct pairs *p = g_new0(struct pairs, 1);
	p->s = s;
	p->abandon = abandon;
	p->data = data;
	p->by_key = frames_table();
	p->by_thread = frames_table();
	p->sizes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->lookups = lookups_new(s);
	p->joined = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->outs = link_outs_new();
	p->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, unref_text);
	return p;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	g_hash_table_unref(p->by_key);
	g_hash_table_unref(p->by_thread);
	g_hash_table_unref(p->sizes);
	g_hash_table_unref(p->joined);
	link_outs_free(p->outs);
	g_hash_table_unref(p->names);
	lookups_free(p->lookups);
	g_free(p);
}

/* ---- threads ---- */

/* The event's thread from the kernel trace; NULL: idle, unknown after a loss, or not identified yet. */
static const struct thread *kernel_thread(const struct pairs *p, const struct annot *a)
{
	uint32_t thread = thread_follow(p->s, a->thread);
	const struct thread *t = thread == ID_NONE ? NULL : thread_at(p->s, thread);
	return t && thread_is_identified(t) ? t : NULL;
}

bool pairs_must_wait(const struct pairs *p, const struct annot *a, int64_t now)
{
	bool asks = a->in_kernel || (a->by_kernel && a->vtid <= 0);
	if (!a->mark || !asks || a->thread == ID_NONE || now - a->ts > NAMED_WITHIN_NS)
		return false;
	const struct thread *t = thread_at(p->s, a->thread);
	return !t->idle && t->tid == -1;
}

/* 0: the thread is unknown. The CPU does not identify it: other threads of the process may have run there. */
static uint64_t thread_key(const struct pairs *p, const struct annot *a)
{
	uint64_t h = mix(1, a->host);
	if (!a->in_kernel && a->vtid > 0)
		return mix(h, (uint64_t)a->vtid);
	const struct thread *t = a->in_kernel || a->by_kernel ? kernel_thread(p, a) : NULL;
	return t ? mix(h, (uint64_t)t->tid) : 0;
}

/* ---- frames ---- */

static GArray *frames_of(GHashTable *table, uint64_t key)
{
	GArray *frames = g_hash_table_lookup(table, &key);
	if (!frames) {
		frames = g_array_new(false, false, sizeof(struct begun_span));
		g_hash_table_insert(table, g_memdup2(&key, sizeof key), frames);
	}
	return frames;
}

static struct begun_span *innermost(GHashTable *table, uint64_t key)
{
	GArray *frames = g_hash_table_lookup(table, &key);
	g_assert(!frames || frames->len > 0);	/* empty ones are removed */
	return frames ? &g_array_index(frames, struct begun_span, frames->len - 1) : NULL;
}

/* The innermost span of the rule. */
static const struct begun_span *innermost_of(GHashTable *table, uint64_t key, uint32_t rule)
{
	GArray *frames = g_hash_table_lookup(table, &key);
	for (guint i = frames ? frames->len : 0; i > 0; i--) {
		const struct begun_span *f = &g_array_index(frames, struct begun_span, i - 1);
		if (f->rule == rule)
			return f;
	}
	return NULL;
}

/* Removes the span. It can lie below all others of its thread, as spans of one thread may end in any order; a span that
 * stayed would be the parent of later ones. */
static void take_out(GHashTable *table, uint64_t key, const struct begun_span *f)
{
	GArray *frames = g_hash_table_lookup(table, &key);
	for (guint i = frames ? frames->len : 0; i > 0; i--) {
		const struct begun_span *have = &g_array_index(frames, struct begun_span, i - 1);
		if (have->trace != f->trace || have->span != f->span)
			continue;
		g_array_remove_index(frames, i - 1);
		if (!frames->len)
			g_hash_table_remove(table, &key);
		return;
	}
}

static void push_to(GHashTable *table, uint64_t key, const struct begun_span *f)
{
	GArray *frames = frames_of(table, key);

	if (frames->len >= LIMIT_OPEN_SPANS)
		g_array_remove_range(frames, 0, LIMIT_OPEN_SPANS / 4);
	g_array_append_vals(frames, f, 1);
}

static void push(struct pairs *p, const struct begun_span *f)
{
	bool is_rule = f->rule != RULE_FUNCTION && f->rule != RULE_BLKKIN;
	if (f->thread && !(is_rule && rule_at(f->rule)->async))
		push_to(p->by_thread, f->thread, f);
	if (f->rule != RULE_FUNCTION)
		push_to(p->by_key, f->key, f);
}

static void pop(struct pairs *p, struct begun_span f)
{
	take_out(p->by_key, f.key, &f);
	take_out(p->by_thread, f.thread, &f);
}

/* ---- ids ---- */

static uint64_t new_id(struct pairs *p, const struct annot *a)
{
	const struct slice_host *h = &g_array_index(p->s->hosts, struct slice_host, a->host);
	const struct thread *t = a->in_kernel ? kernel_thread(p, a) : NULL;
	p->n_at_ts = a->ts == p->ts ? p->n_at_ts + 1 : 0;
	p->ts = a->ts;
	uint64_t instant = mix((uint64_t)a->ts, 0);	/* mixed first: instants and numbers are both small */
	uint64_t id = mix_text(p->n_at_ts ? mix(instant, p->n_at_ts) : instant, h->name);
	id = mix_text(mix_text(id, "|"), h->boot);
	id = mix_text(id, a->rule == RULE_FUNCTION ? "" : rule_at(a->rule)->name);
	id = mix(mix(id, (uint64_t)(t ? t->tid : a->vtid)), cpu_at(p->s, a->cpu)->number);
	return id ? id : 1;
}

/* Gives the annotation a new span, in the parent's trace or in a new trace. */
static void join(struct pairs *p, struct annot *a, const struct begun_span *parent)
{
	a->span = new_id(p, a);
	a->trace = parent ? parent->trace : a->span;
	a->parent = parent ? parent->span : 0;
}

/* ---- functions ---- */

static guint add_to(GHashTable *table, uint64_t trace)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(table, &trace)) + 1;
	g_hash_table_insert(table, g_memdup2(&trace, sizeof trace), GUINT_TO_POINTER(n));
	return n;
}

/* Bounds traces of functions: when a trace is full, the next function begins a new one. Its parent id still refers
 * to the old trace. */
static void count_function(struct pairs *p, struct annot *a, const struct begun_span *parent)
{
	if (!parent || parent->rule != RULE_FUNCTION)
		return;
	if (add_to(p->sizes, a->trace) >= LIMIT_TRACE_FUNCTIONS)
		a->trace = a->span;
}

static void function_begins(struct pairs *p, struct annot *a)
{
	uint64_t thread = thread_key(p, a);
	const struct begun_span *parent = innermost(p->by_thread, thread);
	join(p, a, parent);
	count_function(p, a, parent);
	p->alone = !thread;
	if (p->alone)
		return;
	struct begun_span f = { .trace = a->trace, .span = a->span, .parent = a->parent, .key = a->address,
			   .thread = thread, .ts = a->ts, .rule = RULE_FUNCTION };
	push(p, &f);
}

/* Removes the function at `at` and those that it called: their exits are missing. */
static void unwind(struct pairs *p, GArray *frames, guint at)
{
	g_assert(at < frames->len);
	guint n_left = at;
	for (guint i = at + 1; i < frames->len; i++) {
		const struct begun_span *f = &g_array_index(frames, struct begun_span, i);
		if (f->rule == RULE_FUNCTION)
			p->abandon(p->data, f->trace, f->span);
		else
			g_array_index(frames, struct begun_span, n_left++) = *f;
	}
	g_array_set_size(frames, n_left);
}

/* An exit without an address belongs to the innermost function. */
static void function_ends(struct pairs *p, struct annot *a)
{
	uint64_t thread = thread_key(p, a);
	GArray *frames = thread ? g_hash_table_lookup(p->by_thread, &thread) : NULL;
	for (guint i = frames ? frames->len : 0, n = 0; i > 0 && n < SEARCHED_FRAMES; i--, n++) {
		struct begun_span f = g_array_index(frames, struct begun_span, i - 1);
		if (f.rule != RULE_FUNCTION || (a->address && f.key != a->address))
			continue;
		unwind(p, frames, i - 1);
		if (!frames->len)
			g_hash_table_remove(p->by_thread, &thread);
		a->trace = f.trace;
		a->span = f.span;
		a->parent = f.parent;
		return;
	}
	join(p, a, NULL);
}

/* The newest earlier binary that contains the address, else the first later one. */
static const struct binary *binary_at(const struct pairs *p, const struct annot *a)
{
	const struct binary *best = NULL;
	ARRAY_EACH(const struct binary, b, p->s->binaries) {
		bool holds = b->host == a->host && b->vpid == a->vpid &&
			     a->address >= b->base && a->address - b->base < b->size;
		if (holds && (!best || b->ts <= a->ts))
			best = b;
	}
	return best;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *pairs_function(struct pairs *p, const struct annot *a)
{
	char text[256];
	if (!a->address)
		return strtab_get(p->s->texts, 0);
	uint64_t key = mix(mix(mix(4, a->host), (uint64_t)a->vpid), a->address);
	if (p->names_of != p->s->binaries->len)
		g_hash_table_remove_all(p->names);
	p->names_of = p->s->binaries->len;
	gpointer have = g_hash_table_lookup(p->names, &key);
	if (have)
		return have;
	const struct binary *b = binary_at(p, a);
	if (b)
		snprintf(text, sizeof text, "%.200s+0x%" G_GINT64_MODIFIER "x",
			 base_name(strtab_get(p->s->strings, b->path)), a->address - b->base);
	else
		snprintf(text, sizeof text, "0x%" G_GINT64_MODIFIER "x", a->address);
	const char *name = reftext_new(text);
	g_hash_table_insert(p->names, g_memdup2(&key, sizeof key), (gpointer)name);
	return name;
}

/* ---- rules ---- */

static uint64_t rule_key(uint32_t rule, const struct annot *a, uint64_t key, bool by_thread,
			 uint64_t thread)
{
	uint64_t h = mix(mix(mix(3, rule), a->host), key);
	return by_thread ? mix(h, thread) : h;
}

/* The span that sent what this one takes. NULL: there is none, its trace takes no more spans, or is full. */
static const struct begun_span *linked_parent(struct pairs *p, const struct annot *a)
{
	const struct link_out *out = a->parent == RULE_NO_KEY ? NULL : link_outs_find(p->outs, a->parent);
	if (!out || out->closed || add_to(p->joined, out->trace) > LIMIT_LINKED_SPANS)
		return NULL;
	p->linked = (struct begun_span){ .trace = out->trace, .span = out->span };
	return &p->linked;
}

static const struct begun_span *find_parent(struct pairs *p, const struct rule *r,
				       const struct annot *a, uint64_t thread)
{
	if (r->parent == PARENT_NONE)
		return NULL;
	if (r->parent == PARENT_LINK)
		return linked_parent(p, a);
	if (r->parent == PARENT_THREAD)
		return innermost(p->by_thread, thread);
	if (r->parent_on_thread)
		return innermost_of(p->by_thread, thread, r->parent_rule);
	if (a->parent == RULE_NO_KEY)
		return NULL;
	return innermost(p->by_key, rule_key(r->parent_rule, a, a->parent,
					     r->parent_key.by_thread, thread));
}

static void rule_begins(struct pairs *p, struct annot *a)
{
	const struct rule *r = rule_at(a->rule);
	uint64_t thread = thread_key(p, a);
	uint64_t key = rule_key(a->rule, a, a->trace, r->begin_key.by_thread, thread);
	bool alone = a->trace == RULE_NO_KEY || (r->begin_key.by_thread && !thread);
	const struct begun_span *before = r->nested || alone ? NULL : innermost(p->by_key, key);
	if (before) {			/* its end is missing */
		p->abandon(p->data, before->trace, before->span);
		pop(p, *before);
	}
	join(p, a, find_parent(p, r, a, thread));
	p->alone = alone;
	if (p->alone)
		return;
	struct begun_span f = { .trace = a->trace, .span = a->span, .parent = a->parent, .key = key, .thread = thread,
			   .ts = a->ts, .rule = a->rule };
	push(p, &f);
}

/* Does an end without a beginning belong to no span of the rule? Its beginning was not wanted (begin_if), and the rule
 * does not say which ends are (end_if). */
static bool is_foreign(const struct rule *r)
{
	return r->begin.only_if && !r->end.only_if;
}

static void rule_ends(struct pairs *p, struct annot *a)
{
	const struct rule *r = rule_at(a->rule);
	uint64_t thread = thread_key(p, a);
	uint64_t key = rule_key(a->rule, a, a->trace, r->end_key.by_thread, thread);
	bool alone = a->trace == RULE_NO_KEY || (r->end_key.by_thread && !thread);
	const struct begun_span *f = alone ? NULL : innermost(p->by_key, key);
	p->foreign = !f && is_foreign(r);
	if (p->foreign)
		return;
	if (!f) {
		join(p, a, NULL);
		return;
	}
	a->trace = f->trace;
	a->span = f->span;
	a->parent = f->parent;
	pop(p, *f);
}

/* ---- notes ---- */

static void note(struct pairs *p, struct annot *a)
{
	uint64_t thread = thread_key(p, a);
	struct begun_span *f = thread ? innermost(p->by_thread, thread) : NULL;

	p->foreign = !f || f->n_notes >= LIMIT_SPAN_NOTES;
	if (!f)
		p->left_out.alone++;
	else if (p->foreign)
		p->left_out.over++;
	if (p->foreign)
		return;
	f->n_notes++;
	a->trace = f->trace;
	a->span = f->span;
	a->parent = f->parent;
}

struct notes_left_out pairs_left_out(const struct pairs *p)
{
	return p->left_out;
}

/* ---- links ---- */

static enum pairs_result link_sent(struct pairs *p, struct annot *a)
{
	uint64_t key = a->address;
	a->trace = p->last.trace;
	a->span = p->last.span;
	if (!p->foreign && key != RULE_NO_KEY)
		link_outs_put(p->outs, &(struct link_out){ .key = key, .trace = a->trace, .span = a->span, .ts = a->ts,
							    .host = a->host, .in_kernel = a->in_kernel });
	return PAIRS_FOREIGN;
}

/* The message may be one that was dropped. */
static void note_evicted(struct pairs *p, const struct annot *a)
{
	if (!rule_is_installed(a->rule))	/* the file of the slice is wrong */
		return;
	const struct rule *r = rule_at(a->rule);
	g_hash_table_add(p->s->classes, rule_keyless_name(r, p->last.mark == MARK_BEGIN ? &r->begin : &r->end,
							  RULE_LINK_OUT));
}

static enum pairs_result link_taken(struct pairs *p, struct annot *a)
{
	const struct link_out *out = link_outs_find(p->outs, a->address);
	a->trace = p->last.trace;
	a->span = p->last.span;
	if (!p->foreign && !out && link_outs_evicted(p->outs))
		note_evicted(p, a);
	if (p->foreign || !out)
		return PAIRS_FOREIGN;
	a->address = out->trace;
	a->parent = out->span;
	a->out_ts = out->ts;
	a->port = out->host << 1 | out->in_kernel;
	return PAIRS_TAKEN;
}

/* The ns that the text says; 0: it is no such number. */
static int64_t every_ns(const struct pairs *p, const struct annot *a)
{
	const char *text = strtab_get(p->s->texts, a->val);
	uint64_t ns;
	return g_ascii_string_to_unsigned(text, 10, 1, INT64_MAX / 2, &ns, NULL) ? (int64_t)ns : 0;
}

/* When was the span due? So many ns after the one before it with its key. */
static enum pairs_result every_taken(struct pairs *p, struct annot *a)
{
	uint64_t key = mix(mix(rule_key(a->rule, a, a->address, false, 0), (uint64_t)a->vpid), MARK_EVERY);
	int64_t ns = p->foreign || p->alone ? 0 : every_ns(p, a);
	const struct link_out *last = ns ? link_outs_find(p->outs, key) : NULL;
	const struct link_out before = last ? *last : (struct link_out){ .ts = INT64_MAX };
	a->trace = p->last.trace;
	a->span = p->last.span;
	a->parent = p->last.parent;
	if (!ns)
		return PAIRS_FOREIGN;
	link_outs_put(p->outs, &(struct link_out){ .key = key, .trace = a->trace, .span = a->span, .ts = a->ts,
						    .host = a->host, .in_kernel = a->in_kernel });
	if (before.ts > a->ts || a->ts - before.ts <= ns)
		return PAIRS_FOREIGN;
	a->out_ts = before.ts;
	a->address = (uint64_t)ns;
	return PAIRS_TAKEN;
}

/* One event is the span. Its parent is the innermost span of its thread that is open still, and was when it began. */
static void rule_is_whole(struct pairs *p, struct annot *a)
{
	uint64_t thread = thread_key(p, a);
	const GArray *frames = rule_at(a->rule)->parent == PARENT_THREAD && thread ?
		g_hash_table_lookup(p->by_thread, &thread) : NULL;
	const struct begun_span *parent = NULL;
	for (guint i = frames ? frames->len : 0; i > 0 && !parent; i--) {
		const struct begun_span *f = &g_array_index(frames, struct begun_span, i - 1);
		parent = f->ts <= a->ts - (int64_t)a->address ? f : NULL;
	}
	join(p, a, parent);
}

/* ---- BlkKin's ---- */

static void blkkin(struct pairs *p, const struct annot *a, bool opens, bool ends)
{
	uint64_t key = mix(mix(mix(5, a->trace), a->span), a->host);
	const struct begun_span *have = opens || ends ? innermost(p->by_key, key) : NULL;
	if (ends && have)
		pop(p, *have);
	if (!opens || have)
		return;
	struct begun_span f = { .trace = a->trace, .span = a->span, .parent = a->parent, .key = key,
			   .thread = thread_key(p, a), .ts = a->ts, .rule = RULE_BLKKIN };
	push(p, &f);
}

enum pairs_result pairs_take(struct pairs *p, struct annot *a, bool opens, bool ends)
{
	bool function = a->rule == RULE_FUNCTION;
	p->alone = false;
	if (a->mark == MARK_NONE) {
		blkkin(p, a, opens, ends);
		return PAIRS_TAKEN;
	}
	if (!function && a->mark != MARK_TAG && !rule_is_installed(a->rule)) {
		if (!g_hash_table_contains(p->s->classes, RULES_ABSENT_CLASS))
			g_hash_table_add(p->s->classes, g_strdup(RULES_ABSENT_CLASS));
		p->foreign = true;
		return PAIRS_FOREIGN;
	}
	if (a->mark == MARK_DEFINE) {
		lookups_define(p->lookups, a);
		return PAIRS_FOREIGN;
	}
	if (a->looks_up)
		lookups_resolve(p->lookups, a);
	if (a->mark == MARK_TAG) {
		a->trace = p->last.trace;
		a->span = p->last.span;
		a->parent = p->last.parent;
		return p->foreign ? PAIRS_FOREIGN : PAIRS_TAKEN;
	}
	if (a->mark == MARK_LINK_OUT || a->mark == MARK_LINK_IN)
		return (a->mark == MARK_LINK_OUT ? link_sent : link_taken)(p, a);
	if (a->mark == MARK_EVERY)
		return every_taken(p, a);
	p->foreign = false;
	if (a->mark == MARK_NOTE)
		note(p, a);
	else if (a->mark == MARK_WHOLE)
		rule_is_whole(p, a);
	else if (a->mark == MARK_BEGIN)
		(function ? function_begins : rule_begins)(p, a);
	else
		(function ? function_ends : rule_ends)(p, a);
	p->last = *a;
	return p->foreign ? PAIRS_FOREIGN : p->alone ? PAIRS_ALONE : PAIRS_TAKEN;
}

static void forget_in(GHashTable *table, bool (*evicted)(uint64_t, void *), void *data)
{
	TABLE_EACH(each, table) {
		GArray *frames = each.value;
		guint n_left = 0;
		for (guint i = 0; i < frames->len; i++)
			if (!evicted(g_array_index(frames, struct begun_span, i).trace, data))
				g_array_index(frames, struct begun_span, n_left++) =
					g_array_index(frames, struct begun_span, i);
		g_array_set_size(frames, n_left);
		if (!n_left)
			g_hash_table_iter_remove(&each.it);
	}
}

void pairs_forget(struct pairs *p, bool (*evicted)(uint64_t trace, void *data), void *data)
{
	forget_in(p->by_key, evicted, data);
	forget_in(p->by_thread, evicted, data);
	link_outs_close(p->outs, evicted, data);
	GHashTable *const tables[] = { p->sizes, p->joined };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		TABLE_EACH(each, tables[i])
			if (evicted(*(uint64_t *)each.key, data))
				g_hash_table_iter_remove(&each.it);
}
