/* SPDX-License-Identifier: GPL-2.0-only */
/* Joins reports, waits and calls with the span they belong to: see import_join.h. */
#include "export/import_join.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "export/attributes.h"

#include <string.h>

static guint hash_id(const void *v)
{
	const struct read_span *r = v;
	uint64_t x = (r->trace ^ r->id << 32 ^ r->id >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(x >> 32);
}

static gboolean equal_id(const void *va, const void *vb)
{
	const struct read_span *a = va, *b = vb;
	return a->trace == b->trace && a->id == b->id;
}

void joined_init(struct joined *j, struct import_names *names)
{
	*j = (struct joined){
		.names = names, .spans = g_ptr_array_new_with_free_func(read_span_free),
		.by_id = g_hash_table_new(hash_id, equal_id),
		.uppers = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
}

void joined_clear(struct joined *j)
{
	g_hash_table_unref(j->by_id);
	g_ptr_array_unref(j->spans);
	intmap_clear(&j->trace_at);
	g_array_unref(j->uppers);
}

struct read_span *joined_find(const struct joined *j, uint64_t trace, uint64_t id)
{
	const struct read_span key = { .trace = trace, .id = id };
	return g_hash_table_lookup(j->by_id, &key);
}

/* A trace id of 32 digits is shortened to its lower half, because some programs report only that. If two traces
 * differ only in the upper half, the later one gets another number. */
static void set_trace(struct joined *j, struct read_span *r)
{
	uint32_t at = r->upper ? intmap_get(&j->trace_at, r->trace) : INTMAP_NONE;
	if (r->upper && at == INTMAP_NONE) {
		intmap_set(&j->trace_at, r->trace, j->uppers->len);
		g_array_append_val(j->uppers, r->upper);
	} else if (r->upper && g_array_index(j->uppers, uint64_t, at) != r->upper) {
		r->trace = r->span->trace_id = export_other_id(r->upper, r->trace);
	}
}

/* ---- reports of one span ---- */

static bool has_annotation(const struct span *s, const struct span_annotation *a)
{
	for (uint32_t i = 0; i < s->n_annotations; i++)
		if (s->annotations[i].ts == a->ts && s->annotations[i].event == a->event)
			return true;
	return false;
}

static bool has_tag(const struct span *s, const struct span_tag *t)
{
	for (uint32_t i = 0; i < s->n_tags; i++)
		if (s->tags[i].key == t->key && s->tags[i].val == t->val)
			return true;
	return false;
}

static int compare_annotations(gconstpointer va, gconstpointer vb, gpointer unused)
{
	const struct span_annotation *a = va, *b = vb;
	(void)unused;
	return ORDER(a->ts, b->ts);
}

/* Sets a text that is still empty. */
static void learn_text(const char **text, const char *more)
{
	if (!**text)
		*text = reftext_ref(more);
}

/* Adds data that only the second report has. */
static void merge(struct read_span *to, const struct read_span *from)
{
	struct span *s = to->span;
	const struct span *more = from->span;
	uint32_t before = s->n_annotations;

	s->annotations = g_renew(struct span_annotation, s->annotations,
				 s->n_annotations + more->n_annotations);
	for (uint32_t i = 0; i < more->n_annotations && s->n_annotations < LIMIT_MERGED_FACTS; i++)
		if (!has_annotation(s, &more->annotations[i])) {
			s->annotations[s->n_annotations] = more->annotations[i];
			reftext_ref(s->annotations[s->n_annotations++].event);
		}
	if (s->n_annotations > before)
		sort_array(s->annotations, s->n_annotations, sizeof *s->annotations,
			   compare_annotations, NULL);
	s->tags = g_renew(struct span_tag, s->tags, s->n_tags + more->n_tags);
	for (uint32_t i = 0; i < more->n_tags && s->n_tags < LIMIT_MERGED_FACTS; i++)
		if (!has_tag(s, &more->tags[i])) {
			s->tags[s->n_tags] = more->tags[i];
			reftext_ref(s->tags[s->n_tags].key);
			reftext_ref(s->tags[s->n_tags].val);
			s->tags[s->n_tags++].ts = to->has_time ? s->begin_ns : more->begin_ns;
		}
	s->errors = MAX(s->errors, more->errors);
	if (from->has_time && (!to->has_time || (from->has_end && !to->has_end))) {
		s->begin_ns = more->begin_ns;
		s->end_ns = more->end_ns;
		s->state = more->state;
		memcpy(s->part, more->part, sizeof s->part);
		to->has_time = true;
		to->has_end = from->has_end;
	}
	s->parent_id = s->parent_id ? s->parent_id : more->parent_id;
	learn_text(&s->name, more->name);
	s->kind = s->kind != SPAN_LOCAL ? s->kind : more->kind;
	learn_text(&s->service, more->service);
}

/* Are these reports of the same span? An early report may have no kind or service yet. */
static bool is_same(const struct span *a, const struct span *b)
{
	bool kind = a->kind == b->kind || a->kind == SPAN_LOCAL || b->kind == SPAN_LOCAL;
	return kind && (a->service == b->service || !*a->service || !*b->service);
}

bool joined_add(struct joined *j, struct read_span *r)
{
	struct read_span *last = NULL;
	guint n = 0;

	set_trace(j, r);
	for (struct read_span *other = joined_find(j, r->trace, r->id); other; other = other->same, n++) {
		last = other;
		if (!is_same(other->span, r->span))
			continue;
		merge(other, r);
		read_span_free(r);
		return true;
	}
	if (n >= LIMIT_SAME_SPANS) {
		read_span_free(r);
		return false;
	}
	if (last)
		last->same = r;
	else
		g_hash_table_add(j->by_id, r);
	g_ptr_array_add(j->spans, r);
	return true;
}

/* ---- waits and calls ---- */

static bool is_kernel(const struct read_span *r)
{
	return read_attribute(r, "blktop.kernel") != NULL;
}

/* The span that contains a wait or call. If a wait is inside a call, the span is the call's parent. */
static struct read_span *owner_of(const struct joined *j, const struct read_span *r)
{
	const struct span *k = r->span;
	uint64_t parent = k->parent_id;

	for (int depth = 0; depth < 2; depth++) {
		struct read_span *p = parent ? joined_find(j, k->trace_id, parent) : NULL;
		parent = 0;
		for (; p; p = p->same) {
			if (!p->span)
				continue;
			if (!is_kernel(p) && p->span->service == k->service &&
			    p->span->begin_ns <= k->begin_ns && k->end_ns <= p->span->end_ns)
				return p;
			if (is_kernel(p))
				parent = p->span->parent_id;
		}
	}
	return NULL;
}

static uint32_t attribute_string(struct joined *j, const struct read_span *r, const char *key)
{
	const char *text = read_attribute(r, key);
	return import_string(j->names, text ? text : "");
}

static uint32_t attribute_file(struct joined *j, const struct read_span *r)
{
	return import_file(j->names, r->span->host, read_attribute(r, "blktop.file"),
			   read_attribute(r, "blktop.file_kind"));
}

static bool part_of(const char *id, enum part *ret)
{
	for (int p = 0; id && p < PART_N; p++)
		if (strcmp(id, part_info[p].id) == 0) {
			*ret = p;
			return true;
		}
	return false;
}

static bool make_wait(struct joined *j, const struct read_span *r, const struct span *in,
		      struct span_wait *ret)
{
	const struct span *k = r->span;
	const char *arg = read_attribute(r, "blktop.arg");
	int64_t wake, cpu, lock, joined;
	enum part part;

	*ret = (struct span_wait){ .begin_ns = k->begin_ns, .end_ns = k->end_ns, .thread = k->thread,
				     .cpu_holder = ID_NONE, .stopper = ID_NONE };
	if (!part_of(read_attribute(r, "blktop.part"), &part))
		return false;
	g_assert(k->begin_ns <= k->end_ns);
	ret->part = (uint8_t)part;
	ret->wake_ns = read_attribute_int(r, "blktop.wake_ns", &wake) ?
		CLAMP(wake, k->begin_ns, k->end_ns) : k->end_ns;
	ret->call = attribute_string(j, r, "blktop.syscall");
	ret->file = attribute_file(j, r);
	ret->waker = import_thread(j->names, in->host, read_attribute(r, "blktop.waker"), -1, NULL);
	ret->waker_irq = attribute_string(j, r, "blktop.waker_irq");
	ret->waker_call = attribute_string(j, r, "blktop.waker_syscall");
	ret->cpu = read_attribute_int(r, "blktop.cpu", &cpu) && cpu >= 0 && cpu < SPAN_NO_CPU ?
		(uint16_t)cpu : SPAN_NO_CPU;
	ret->arg = arg ? g_ascii_strtoull(arg, NULL, 16) : 0;
	ret->lock = read_attribute_int(r, "blktop.lock", &lock) && lock == 1;
	ret->joined = read_attribute_int(r, "blktop.joined", &joined) && joined == 1;
	return true;
}

static bool add_wait(struct span *s, const struct span_wait *w)
{
	if (s->n_waits >= LIMIT_SPAN_WAITS)
		return false;
	s->waits = g_renew(struct span_wait, s->waits, s->n_waits + 1);
	s->waits[s->n_waits++] = *w;
	return true;
}

/* Adds the wait to parents on the same thread as well, if it is among their retained waits. */
static void add_to_parents(const struct joined *j, const struct read_span *r,
			   const struct span_wait *w)
{
	for (int depth = 0; r && depth < LIMIT_SPAN_NESTING; depth++) {
		struct read_span *p = r->span->parent_id ?
			joined_find(j, r->trace, r->span->parent_id) : NULL;
		const struct span *child = r->span;
		r = NULL;
		for (; p && !r; p = p->same) {
			if (p->span && !is_kernel(p) && p->span != child && p->span->thread == w->thread &&
			    p->span->begin_ns <= w->begin_ns && w->end_ns <= p->span->end_ns)
				r = p;
		}
		if (r && r->span->n_waits < r->n_waits)
			add_wait(r->span, w);
	}
}

static bool take_wait(struct joined *j, const struct read_span *r, struct read_span *owner)
{
	struct span_wait w;
	if (!make_wait(j, r, owner->span, &w) || !add_wait(owner->span, &w))
		return false;
	if (w.thread != ID_NONE)
		add_to_parents(j, owner, &w);
	return true;
}

static void count_call(struct span *s, const struct span_slow_call *c)
{
	struct span_call *call = NULL;
	for (uint32_t i = 0; i < s->n_calls && !call; i++)
		if (s->calls[i].name == c->name)
			call = &s->calls[i];
	if (!call) {
		s->calls = g_renew(struct span_call, s->calls, s->n_calls + 1);
		call = &s->calls[s->n_calls++];
		*call = (struct span_call){ .name = c->name, .file = ID_NONE, .max_ns = -1 };
	}
	call->count++;
	call->errors += c->ret < 0;
	call->total_ns += c->duration_ns;
	if (c->duration_ns > call->max_ns) {
		call->max_ns = c->duration_ns;
		call->file = c->file;
	}
}

static bool take_call(struct joined *j, const struct read_span *r, struct span *s)
{
	struct span_slow_call c = { .begin_ns = r->span->begin_ns,
				    .duration_ns = span_duration(r->span), .thread = r->span->thread };
	if (s->n_slow >= LIMIT_SPAN_CALLS || !read_attribute(r, "blktop.syscall"))
		return false;
	c.name = attribute_string(j, r, "blktop.syscall");
	c.file = attribute_file(j, r);
	read_attribute_int(r, "blktop.ret", &c.ret);
	s->slow = g_renew(struct span_slow_call, s->slow, s->n_slow + 1);
	s->slow[s->n_slow++] = c;
	count_call(s, &c);
	return true;
}

/* Moves a wait or call into its span. It remains a span if it does not fit or has no owner. */
static void take_kernel(struct joined *j, struct read_span *r, bool is_wait)
{
	struct read_span *owner = r->has_time ? owner_of(j, r) : NULL;

	if (!owner || is_wait != (strcmp(read_attribute(r, "blktop.kernel"), "wait") == 0))
		return;
	/* The wait or call gets the owner's host. Its thread is looked up there by label: its process is unknown. */
	g_assert(owner != r && owner->span);
	r->span->host = owner->span->host;
	r->span->thread = import_thread(j->names, owner->span->host,
					read_attribute(r, "blktop.thread"), -1, NULL);
	if (is_wait ? take_wait(j, r, owner) : take_call(j, r, owner->span))
		g_clear_pointer(&r->span, span_unref);
	if (!r->span)
		g_clear_pointer(&r->attributes, g_hash_table_unref);
}

static int compare_calls(const void *va, const void *vb)
{
	const struct span_slow_call *a = va, *b = vb;
	return ORDER(a->begin_ns, b->begin_ns);
}

static int compare_waits(const void *va, const void *vb)
{
	const struct span_wait *a = va, *b = vb;
	return ORDER(a->begin_ns, b->begin_ns);
}

static void sort_kernel(struct span *s)
{
	if (s->n_slow > 1)
		qsort(s->slow, s->n_slow, sizeof *s->slow, compare_calls);
	if (s->n_waits > 1)
		qsort(s->waits, s->n_waits, sizeof *s->waits, compare_waits);
}

/* ---- the other end ---- */

static bool has_kind(const struct read_span *r, enum span_kind kind)
{
	for (; r; r = r->same)
		if (r->span && r->span->kind == kind)
			return true;
	return false;
}

static void add_peer_tag(struct span *s, const char *key, const char *val)
{
	if (!val || !*val)
		return;
	for (uint32_t i = 0; i < s->n_tags; i++)
		if (!strcmp(s->tags[i].key, key))
			return;
	s->tags = g_renew(struct span_tag, s->tags, s->n_tags + 1);
	s->tags[s->n_tags++] = (struct span_tag){ .ts = s->begin_ns, .key = reftext_new(key),
						  .val = reftext_new(val) };
}

/* Stores the remote endpoint as tags, unless the other half of the span was reported. */
static void set_peer(struct joined *j, const struct read_span *r)
{
	const struct read_span *same = joined_find(j, r->trace, r->id);
	enum span_kind other = r->span->kind == SPAN_CLIENT ? SPAN_SERVER : SPAN_CLIENT;
	g_autofree char *port = g_strdup_printf("%u", r->remote_port);

	if (r->span->kind != SPAN_LOCAL && has_kind(same, other))
		return;
	add_peer_tag(r->span, TAG_PEER_SERVICE, r->remote_service);
	add_peer_tag(r->span, "peer.ip", r->remote_ip);
	add_peer_tag(r->span, "peer.port", r->remote_port ? port : NULL);
}

/* ---- clocks ---- */

#define FURTHEST_NS (INT64_MAX / 2)	/* beginnings and annotations in files are earlier: MOST_US of zipkin_read.c */

static int64_t offset_of(const struct joined *j, const struct span *s, int64_t (*offset)(const char *clock))
{
	g_autofree char *clock = s->host == ID_NONE ? span_endpoint_clock(s->service, s->ip) :
		span_host_clock(g_ptr_array_index(j->names->host_names, s->host));
	return offset(clock);
}

/* Moves all instants of the span. A span that would begin before 1970, or end after the last instant, is not moved. */
static void move_span(struct span *s, int64_t ns)
{
	int64_t end;

	if (ns > FURTHEST_NS || ns < -FURTHEST_NS || s->begin_ns < -ns || __builtin_add_overflow(s->end_ns, ns, &end))
		return;
	s->begin_ns += ns;
	s->end_ns = end;
	for (uint32_t i = 0; i < s->n_annotations; i++)
		s->annotations[i].ts += ns;
	for (uint32_t i = 0; i < s->n_tags; i++)
		s->tags[i].ts += ns;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		s->waits[i].begin_ns += ns;
		s->waits[i].wake_ns += ns;
		s->waits[i].end_ns += ns;
	}
	for (uint32_t i = 0; i < s->n_slow; i++)
		s->slow[i].begin_ns += ns;
}

/* ---- finish ---- */

static void set_unknown(struct span *s)
{
	int64_t sum = 0;
	for (int p = 0; p < PART_N; p++)
		sum += s->part[p];
	if (sum == span_duration(s))
		return;
	memset(s->part, 0, sizeof s->part);
	s->part[PART_UNKNOWN] = span_duration(s);
}

void joined_finish(struct joined *j, int64_t (*offset)(const char *clock))
{
	/* Waits first: owner_of() needs the calls that contain them. */
	for (int waits = 1; waits >= 0; waits--)
		PTR_EACH(struct read_span, r, j->spans)
			if (r->span && is_kernel(r))
				take_kernel(j, r, waits);
	PTR_EACH(struct read_span, r, j->spans)
		if (r->span && !r->has_time) {
			j->without_time++;
			g_clear_pointer(&r->span, span_unref);
		}
	PTR_EACH(struct read_span, r, j->spans) {
		if (!r->span)
			continue;
		sort_kernel(r->span);
		set_unknown(r->span);
		if (offset)
			move_span(r->span, offset_of(j, r->span, offset));
		if (r->remote_service || r->remote_ip || r->remote_port)
			set_peer(j, r);
	}
	joined_set_self(j);
}
