/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of an exported span: see attributes.h. */
#include "export/attributes.h"

#include "base/json_write.h"
#include "base/sort.h"
#include "base/text.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/spans.h"

#include <string.h>

struct list {
	GArray *attributes;
	GHashTable *at;			/* key -> index; the keys are owned by the attributes */
};

static void clear_attribute(void *v)
{
	struct attribute *f = v;
	g_free(f->key);
	g_free(f->text);
}

static struct list list_new(void)
{
	struct list l = { g_array_new(FALSE, TRUE, sizeof(struct attribute)),
			  g_hash_table_new(g_str_hash, g_str_equal) };
	g_array_set_clear_func(l.attributes, clear_attribute);
	return l;
}

static GArray *list_end(struct list *l)
{
	g_hash_table_unref(l->at);
	return l->attributes;
}

/* Takes ownership of the text. */
static struct attribute *set_text(struct list *l, const char *key, char *text)
{
	char *name = json_valid_text(key);
	void *known;

	if (g_hash_table_lookup_extended(l->at, name, NULL, &known)) {
		struct attribute *f = &g_array_index(l->attributes, struct attribute, GPOINTER_TO_UINT(known));
		g_free(name);
		g_free(f->text);
		f->text = text;
		f->is_int = false;
		return f;
	}
	struct attribute f = { .key = name, .text = text };
	g_hash_table_insert(l->at, name, GUINT_TO_POINTER(l->attributes->len));
	g_array_append_val(l->attributes, f);
	return &g_array_index(l->attributes, struct attribute, l->attributes->len - 1);
}

static void set_string(struct list *l, const char *key, const char *text)
{
	if (*text)
		set_text(l, key, json_valid_text(text));
}

static void set_int(struct list *l, const char *key, int64_t n)
{
	struct attribute *f = set_text(l, key, g_strdup_printf("%" G_GINT64_FORMAT, n));
	f->is_int = true;
	f->n = n;
}

static void set_thread(struct list *l, const struct timeline *tl, const char *key,
		       uint32_t thread, int64_t at)
{
	if (thread == ID_NONE)
		return;
	g_autofree char *label = thread_label_new(tl, thread, at);
	set_string(l, key, label);
}

/* ---- of a span ---- */

static bool is_exported_elsewhere(const char *key)
{
	return strcmp(key, TAG_TRACE_ID) == 0 || strcmp(key, TAG_KIND) == 0;
}

static void set_tags(struct list *l, const struct span *s)
{
	for (uint32_t i = 0; i < s->n_tags; i++) {
		const char *key = s->tags[i].key, *val = s->tags[i].val;
		if (is_exported_elsewhere(key))
			continue;
		if (s->tags[i].is_int)
			set_int(l, key, g_ascii_strtoll(val, NULL, 10));
		else
			set_text(l, key, json_valid_text(val));
	}
}

const char *attributes_tag(const struct span *s, const char *key)
{
	for (uint32_t i = s->n_tags; i > 0; i--)
		if (strcmp(s->tags[i - 1].key, key) == 0)
			return s->tags[i - 1].val;
	return NULL;
}

uint64_t export_other_id(uint64_t upper, uint64_t lower)
{
	uint64_t x = (upper ^ upper >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	x = lower ^ (x ^ x >> 32);
	return x ? x : 1;
}

/* Other programs may write a tag of this name, so its value is checked. */
static bool is_whole_id(const char *text, const struct span *s)
{
	if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32)
		return false;
	g_autofree char *half = g_strndup(text, 16);
	uint64_t upper = g_ascii_strtoull(half, NULL, 16), lower = g_ascii_strtoull(text + 16, NULL, 16);
	return lower == s->trace_id || export_other_id(upper, lower) == s->trace_id;
}

uint64_t export_parent_id(const struct span *s)
{
	return s->parent_id == s->span_id ? 0 : s->parent_id;
}

char *export_trace_id(const struct span *s, size_t digits)
{
	const char *whole = attributes_tag(s, TAG_TRACE_ID);
	g_autofree char *low = text_id(s->trace_id);
	if (whole && is_whole_id(whole, s))
		return g_strdup(whole);
	return g_strdup_printf("%s%s", digits > 16 ? "0000000000000000" : "", low);
}

static void set_waker(struct list *l, const struct timeline *tl, const struct span *s)
{
	const struct span_wait *w = why_longest_wait(s, PART_N);
	if (!w || w->part == PART_PREEMPTED)
		return;
	if (w->waker != ID_NONE)
		set_thread(l, tl, "blktop.waker", w->waker, w->wake_ns);
	else
		set_string(l, "blktop.waker", timeline_string(tl, w->waker_irq));
}

static void set_neighbour(struct list *l, const struct timeline *tl, const struct span *s)
{
	int64_t ns;
	if (attributes_tag(s, "blktop.neighbour"))
		return;		/* imported: only the name remains */
	g_autofree char *label = neighbour_main(tl, s, &ns);
	if (!label)
		return;
	set_string(l, "blktop.neighbour", label);
	set_int(l, "blktop.neighbour_ns", ns);
}

static void set_parts(struct list *l, const struct span *s)
{
	for (int p = 0; p < PART_N; p++) {
		g_autofree char *key = g_strdup_printf("blktop.part.%s_ns", part_info[p].id);
		if (s->part[p])
			set_int(l, key, s->part[p]);
	}
}

/* What of the trace is missing: its first root says so, and each span without its parent. */
static void set_missing(struct list *l, const struct timeline *tl, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	const GArray *missing = timeline_missing_spans(tl, s->trace_id);

	if (timeline_parent_is_missing(tl, s))
		set_string(l, "blktop.parent_state", "missing");
	if (node == t->root && missing)
		set_int(l, "blktop.missing_spans", missing->len);
	if (node == t->root && t->nodes[node].orphan)
		set_string(l, "blktop.trace_duration_bound", "at least");
}

GArray *attributes_of_span(struct history *h, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	const struct host_info *host = timeline_host(h->tl, s->host);
	struct list l = list_new();
	struct why why;

	set_tags(&l, s);
	/* The explanation in an imported file was made with more data than the import has. */
	if (!attributes_tag(s, "blktop.why")) {
		why_find(h, t, node, &why);
		g_autofree char *sentence = why_sentence(h, t, node, &why);
		if (sentence)
			set_string(&l, "blktop.why", sentence);
	}
	set_parts(&l, s);
	set_neighbour(&l, h->tl, s);
	set_int(&l, "blktop.begin_ns", s->begin_ns);
	set_int(&l, "blktop.duration_ns", span_duration(s));
	set_int(&l, "blktop.self_ns", s->self_ns);
	set_string(&l, "blktop.state", span_state_name[s->state]);
	set_missing(&l, h->tl, t, node);
	set_thread(&l, h->tl, "blktop.thread", s->thread, s->end_ns);
	if (s->pid >= 0)
		set_int(&l, "blktop.pid", s->pid);
	if (host)
		set_string(&l, "blktop.host", host->name);
	set_waker(&l, h->tl, s);
	if (s->n_waits)
		set_int(&l, TAG_WAITS, s->n_waits);
	return list_end(&l);
}

/* The server half is a child of the client half. */
int export_other_half(const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	int parent = t->nodes[node].parent;

	if (s->kind == SPAN_SERVER && parent >= 0 &&
	    t->nodes[parent].span->span_id == s->span_id &&
	    t->nodes[parent].span->kind == SPAN_CLIENT)
		return parent;
	for (int c = t->nodes[node].first_child; s->kind == SPAN_CLIENT && c >= 0;
	     c = t->nodes[c].next)
		if (t->nodes[c].span->span_id == s->span_id &&
		    t->nodes[c].span->kind == SPAN_SERVER)
			return c;
	return -1;
}

bool attributes_is_core(const struct span *s, const struct span_annotation *a)
{
	static const char *const core[] = { "cs", "cr", "sr", "ss" };
	for (size_t i = 0; s->kind != SPAN_LOCAL && !a->is_note && i < G_N_ELEMENTS(core); i++)
		if (strcmp(a->event, core[i]) == 0)
			return true;
	return false;
}

/* ---- of the kernel ---- */

uint64_t derived_id(const struct span *s, uint64_t salt)
{
	const uint64_t words[] = { s->trace_id, s->span_id, s->kind, salt };
	uint64_t x = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {	/* splitmix64 */
		x = (x ^ words[i]) + UINT64_C(0x9e3779b97f4a7c15);
		x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
		x ^= x >> 31;
	}
	return x ? x : 1;
}

static bool is_same_wait(const struct span_wait *a, const struct span_wait *b)
{
	return a->thread == b->thread && a->begin_ns == b->begin_ns && a->end_ns == b->end_ns;
}

/* Does a child span have the wait as well? Then it is exported with the child. */
static bool is_below(const struct tree *t, int node, const struct span_wait *w)
{
	for (int c = t->nodes[node].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *s = t->nodes[c].span;
		for (uint32_t i = 0; i < s->n_waits; i++)
			if (is_same_wait(w, &s->waits[i]))
				return true;
	}
	return false;
}

static int compare_kernel(const void *va, const void *vb)
{
	const struct kernel_span *a = va, *b = vb;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(b->end_ns, a->end_ns) ?:
	       (a->call == NULL) - (b->call == NULL);
}

/* The system call of the same thread that contains the wait. */
static uint64_t call_around(const GArray *all, guint i)
{
	const struct kernel_span *k = &g_array_index(all, struct kernel_span, i);
	for (guint j = i; j > 0; j--) {
		const struct kernel_span *c = &g_array_index(all, struct kernel_span, j - 1);
		if (c->call && c->thread == k->thread && c->end_ns >= k->end_ns)
			return c->id;
	}
	return 0;
}

static void add_kernel(GArray *all, const struct span *s, struct kernel_span k)
{
	uint64_t salt = ((uint64_t)k.begin_ns << 1 | (k.call != NULL)) ^ (uint64_t)k.end_ns << 32;
	k.parent_id = s->span_id;
	k.id = derived_id(s, salt);
	g_array_append_val(all, k);
}

#define LONG_SHARE 100			/* a long call takes at least this part of its span */
#define LONG_NS 10000			/* and at least so long */

/* Is the call worth a span of its own: long, or one in which the thread waited? */
static bool is_slow(const struct span *s, const struct span_slow_call *c)
{
	int64_t end = c->begin_ns + c->duration_ns;
	if (c->duration_ns >= MAX(span_duration(s) / LONG_SHARE, LONG_NS))
		return true;
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].thread == c->thread && s->waits[i].begin_ns >= c->begin_ns && s->waits[i].end_ns <= end)
			return true;
	return false;
}

GArray *kernel_spans(const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	GArray *all = g_array_new(FALSE, TRUE, sizeof(struct kernel_span));

	for (uint32_t i = 0; i < s->n_slow; i++) {
		const struct span_slow_call *c = &s->slow[i];
		if (is_slow(s, c))
			add_kernel(all, s, (struct kernel_span){ .begin_ns = c->begin_ns, .call = c,
				.end_ns = c->begin_ns + c->duration_ns, .thread = c->thread });
	}
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		if (!is_below(t, node, w))
			add_kernel(all, s, (struct kernel_span){ .begin_ns = w->begin_ns, .wait = w,
				.end_ns = w->end_ns, .thread = w->thread });
	}
	g_array_sort(all, compare_kernel);
	for (guint i = 0; i < all->len; i++) {
		struct kernel_span *k = &g_array_index(all, struct kernel_span, i);
		uint64_t call = k->wait ? call_around(all, i) : 0;
		if (call)
			k->parent_id = call;
	}
	return all;
}

char *kernel_span_name(const struct timeline *tl, const struct kernel_span *k)
{
	if (k->call)
		return g_strdup(timeline_string(tl, k->call->name));
	if (k->wait->part == PART_PREEMPTED)
		return g_strdup(part_info[k->wait->part].id);
	return g_strdup_printf("blocked: %s", part_info[k->wait->part].id);
}

static void set_file(struct list *l, const struct timeline *tl, uint32_t file)
{
	const struct file_info *f = timeline_file(tl, file);
	if (!f)
		return;
	set_string(l, "blktop.file", timeline_string(tl, f->path));
	set_string(l, "blktop.file_kind", file_kind_name[f->kind]);
}

static void set_wait(struct list *l, const struct timeline *tl, const struct span_wait *w)
{
	set_string(l, "blktop.part", part_info[w->part].id);
	if (w->part != PART_PREEMPTED)
		set_int(l, "blktop.wake_ns", w->wake_ns);
	set_string(l, "blktop.syscall", timeline_string(tl, w->call));
	set_file(l, tl, w->file);
	g_autofree char *arg = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", w->arg);
	if (w->arg)
		set_string(l, "blktop.arg", arg);
	if (w->lock)
		set_int(l, "blktop.lock", 1);
	if (w->joined)
		set_int(l, "blktop.joined", 1);
	set_thread(l, tl, "blktop.waker", w->waker, w->wake_ns);
	set_string(l, "blktop.waker_irq", timeline_string(tl, w->waker_irq));
	set_string(l, "blktop.waker_syscall", timeline_string(tl, w->waker_call));
	if (w->cpu != SPAN_NO_CPU)
		set_int(l, "blktop.cpu", w->cpu);
}

GArray *attributes_of_kernel(const struct timeline *tl, const struct kernel_span *k)
{
	struct list l = list_new();

	set_string(&l, "blktop.kernel", k->call ? "syscall" : "wait");
	set_int(&l, "blktop.begin_ns", k->begin_ns);
	set_int(&l, "blktop.duration_ns", k->end_ns - k->begin_ns);
	set_thread(&l, tl, "blktop.thread", k->thread, k->end_ns);
	if (k->wait) {
		set_wait(&l, tl, k->wait);
	} else {
		set_string(&l, "blktop.syscall", timeline_string(tl, k->call->name));
		set_file(&l, tl, k->call->file);
		set_int(&l, "blktop.ret", k->call->ret);
	}
	return list_end(&l);
}
