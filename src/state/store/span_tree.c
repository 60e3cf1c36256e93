/* SPDX-License-Identifier: GPL-2.0-only */
/* Builds the tree of a trace's spans. Nothing here recurses: a trace can have any depth. */
#include "state/store/span_tree.h"

#include "base/each.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/sort.h"
#include "state/store/span_cycles.h"
#include "state/store/span_fit.h"

#include <string.h>

#define FEW 8		/* up to this many spans of one id are compared one by one; more are indexed */

/* What a child and its parent have in common, the strongest first: as span_fit(), but without the time. */
enum { BY_SERVICE_THREAD, BY_SERVICE_PROCESS, BY_SERVICE, BY_THREAD, BY_PROCESS, BY_KIND, BY_N };

/* State while a tree is built. All indexes are into .spans. */
struct tree_builder {
	struct span **spans;		/* n, in canonical order (compare_spans()) */
	int *parent, *first_child, *next;
	bool *orphan;
	int n;
	int *by_id;			/* indexes ordered by span id, then canonically */
	/* For ids with more than FEW spans: the best span of each service, thread etc.
	 * pair(place of the id's first span in by_id, .number of the key) -> place in by_id. */
	struct intmap best[BY_N];
	struct intmap number[BY_N];	/* key -> its number; see keys_of() */
};

static int compare_spans(const void *va, const void *vb, void *unused)
{
	const struct span *a = *(struct span *const *)va, *b = *(struct span *const *)vb;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(b->end_ns, a->end_ns) ?: ORDER(a->kind, b->kind) ?:
	       ORDER(a->span_id, b->span_id) ?: strcmp(a->service, b->service) ?: a->tid - b->tid;
}

static int compare_ids(const void *va, const void *vb, void *data)
{
	const struct tree_builder *b = data;
	int x = *(const int *)va, y = *(const int *)vb;
	return ORDER(b->spans[x]->span_id, b->spans[y]->span_id) ?: x - y;
}

/* The first place in by_id with this span id or a greater one. */
static int find_id(const struct tree_builder *b, uint64_t id)
{
	return (int)FIRST_INDEX(i, (size_t)b->n, b->spans[b->by_id[i]]->span_id >= id);
}

bool tree_same_thread(const struct span *a, const struct span *b)
{
	return a->thread != ID_NONE && a->thread == b->thread;
}

/* ---- parents ---- */

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Does the id with its first span at that place have more than FEW spans? */
static bool is_many(const struct tree_builder *b, int first)
{
	return first + FEW < b->n &&
	       b->spans[b->by_id[first + FEW]]->span_id == b->spans[b->by_id[first]]->span_id;
}

static uint32_t number_of(struct intmap *numbers, uint64_t key, bool add)
{
	return add ? intmap_add(numbers, key, numbers->n) : intmap_get(numbers, key);
}

/* Sets the numbers of the span's keys; INTMAP_NONE: it has no such key, or (not add) no other span has it. */
static void keys_of(struct tree_builder *b, const struct span_maker *m, bool add, uint32_t key[BY_N])
{
	bool thread = m->thread != ID_NONE;
	memset(key, 0xff, BY_N * sizeof *key);
	key[BY_SERVICE] = number_of(&b->number[BY_SERVICE], m->service, add);
	if (m->has_process)
		key[BY_PROCESS] = number_of(&b->number[BY_PROCESS], m->process, add);
	if (thread)
		key[BY_THREAD] = m->thread;
	if (thread && key[BY_SERVICE] != INTMAP_NONE)
		key[BY_SERVICE_THREAD] = number_of(&b->number[BY_SERVICE_THREAD], pair(key[BY_SERVICE], m->thread),
						   add);
	if (key[BY_PROCESS] != INTMAP_NONE && key[BY_SERVICE] != INTMAP_NONE)
		key[BY_SERVICE_PROCESS] = number_of(&b->number[BY_SERVICE_PROCESS],
						    pair(key[BY_SERVICE], key[BY_PROCESS]), add);
	key[BY_KIND] = SPAN_SERVER;
}

/* A server half is preferred to a client half, else the first span. */
static void index_span(struct tree_builder *b, int first, int place)
{
	const struct span *s = b->spans[b->by_id[place]];
	const struct span_maker m = span_maker_of(s);
	uint32_t key[BY_N];
	keys_of(b, &m, true, key);
	key[BY_KIND] = s->kind;
	for (unsigned i = 0; i < BY_N; i++) {
		if (key[i] == INTMAP_NONE)
			continue;
		uint64_t at = pair((uint32_t)first, key[i]);
		uint32_t have = intmap_get(&b->best[i], at);
		if (have == INTMAP_NONE ||
		    (s->kind == SPAN_SERVER && b->spans[b->by_id[have]]->kind != SPAN_SERVER))
			intmap_set(&b->best[i], at, (uint32_t)place);
	}
}

static void index_many(struct tree_builder *b)
{
	for (int first = 0, next; first < b->n; first = next) {
		bool many = is_many(b, first);
		uint64_t id = b->spans[b->by_id[first]]->span_id;
		for (next = first; next < b->n && b->spans[b->by_id[next]]->span_id == id; next++)
			if (many)
				index_span(b, first, next);
	}
}

/* The place in by_id of the best parent, for an id with more than FEW spans. */
static int best_of_many(struct tree_builder *b, const struct span *s, int first)
{
	const struct span_maker m = span_maker_of(s);
	uint32_t key[BY_N];
	keys_of(b, &m, false, key);
	for (unsigned i = s->kind == SPAN_SERVER ? BY_THREAD : 0; i < BY_N; i++) {
		uint32_t at = key[i] == INTMAP_NONE ? INTMAP_NONE :
			intmap_get(&b->best[i], pair((uint32_t)first, key[i]));
		if (at == INTMAP_NONE)
			continue;
		g_assert(b->spans[b->by_id[at]]->span_id == s->parent_id);
		return (int)at;
	}
	return first;
}

static int best_of_few(const struct tree_builder *b, const struct span *s, int first)
{
	const struct span_maker m = span_maker_of(s);
	unsigned best_fit = 0;
	int best = -1;
	for (int k = first; k < b->n && b->spans[b->by_id[k]]->span_id == s->parent_id; k++) {
		const struct span_maker p = span_maker_of(b->spans[b->by_id[k]]);
		if (span_fit(&m, &p) > best_fit) {
			best_fit = span_fit(&m, &p);
			best = k;
		}
	}
	return best;
}

/* The place in by_id of the first client half for a server half; -1: none. */
static int find_client(const struct tree_builder *b, const struct span *s)
{
	int first = find_id(b, s->span_id);
	g_assert(first < b->n && b->spans[b->by_id[first]]->span_id == s->span_id);	/* at least s itself */
	if (is_many(b, first)) {
		uint32_t at = intmap_get(&b->best[BY_KIND], pair((uint32_t)first, SPAN_CLIENT));
		return at == INTMAP_NONE ? -1 : (int)at;
	}
	for (int k = first; k < b->n && b->spans[b->by_id[k]]->span_id == s->span_id; k++)
		if (b->spans[b->by_id[k]]->kind == SPAN_CLIENT)
			return k;
	return -1;
}

static int find_parent(struct tree_builder *b, int i)
{
	const struct span *s = b->spans[i];
	int place = s->kind == SPAN_SERVER ? find_client(b, s) : -1;
	if (place < 0 && s->parent_id != 0 && s->parent_id != s->span_id) {
		int first = find_id(b, s->parent_id);
		place = is_many(b, first) && b->spans[b->by_id[first]]->span_id == s->parent_id ?
			best_of_many(b, s, first) : best_of_few(b, s, first);
	}
	return place < 0 ? -1 : b->by_id[place];
}

static void link_spans(struct tree_builder *b)
{
	index_many(b);
	for (int i = 0; i < b->n; i++) {
		b->parent[i] = find_parent(b, i);
		b->first_child[i] = b->next[i] = -1;
	}
	span_break_cycles(b->parent, b->n);
	for (int i = b->n - 1; i >= 0; i--) {
		int p = b->parent[i];
		b->orphan[i] = p < 0 && b->spans[i]->parent_id != 0;
		if (p < 0)
			continue;
		b->next[i] = b->first_child[p];
		b->first_child[p] = i;
	}
}

/* Appends the subtree of `top` to the nodes, parents before children. place[i] becomes the node of span i. */
static void append_subtree(struct tree *t, const struct tree_builder *b, int top, int *place)
{
	int i = top;
	while (i >= 0) {
		int p = b->parent[i];
		g_assert(t->n < b->n);
		struct tree_node *node = &t->nodes[t->n];
		*node = (struct tree_node){ .span = span_ref(b->spans[i]), .first_child = -1,
			.next = -1, .parent = p < 0 ? -1 : place[p], .orphan = b->orphan[i] };
		g_assert(p < 0 || node->parent < t->n);	/* place[] was set: parents come first */
		if (p >= 0)
			node->depth = MIN(t->nodes[node->parent].depth + 1, UINT16_MAX);
		place[i] = t->n++;
		if (b->first_child[i] >= 0) {
			i = b->first_child[i];
			t->nodes[t->n - 1].first_child = t->n;
			continue;
		}
		while (i != top && b->next[i] < 0)
			i = b->parent[i];
		if (i == top)
			return;
		t->nodes[place[i]].next = t->n;
		i = b->next[i];
	}
}

static void sort_spans(struct tree_builder *b)
{
	sort_array(b->spans, b->n, sizeof(*b->spans), compare_spans, NULL);
	b->by_id = g_new(int, b->n + 1);
	for (int i = 0; i < b->n; i++)
		b->by_id[i] = i;
	sort_array(b->by_id, b->n, sizeof(*b->by_id), compare_ids, b);
}

/* The root that the trace is named after, by the same rule as in lists (span_is_better_root()). */
static int main_root(const struct tree *t)
{
	int best = t->n ? 0 : -1;
	for (int i = 1; i < t->n; i++)
		if (t->nodes[i].parent < 0 &&
		    span_is_better_root(t->nodes[i].span, t->nodes[best].span))
			best = i;
	return best;
}

static int compare_nodes(const void *va, const void *vb, void *data)
{
	const struct tree *t = data;
	int x = *(const int *)va, y = *(const int *)vb;
	const struct span *a = t->nodes[x].span, *b = t->nodes[y].span;
	return ORDER(a->span_id, b->span_id) ?: ORDER(a->kind, b->kind) ?: x - y;
}

/* Children come after their parents, so one pass from the last node computes all ends. */
static void finish(struct tree *t)
{
	t->by_id = g_new(int, t->n + 1);
	for (int i = 0; i < t->n; i++) {
		t->by_id[i] = i;
		t->nodes[i].end = i + 1;
	}
	for (int i = t->n - 1; i >= 0; i--) {
		int p = t->nodes[i].parent;
		g_assert(p < i);
		if (p >= 0)
			t->nodes[p].end = MAX(t->nodes[p].end, t->nodes[i].end);
	}
	sort_array(t->by_id, t->n, sizeof(*t->by_id), compare_nodes, t);
}

struct tree *tree_new(uint64_t trace_id, struct span **spans, int n)
{
	struct tree *t = g_new0(struct tree, 1);
	struct tree_builder b = { .spans = spans, .n = n };
	sort_spans(&b);
	t->trace_id = trace_id;
	t->nodes = g_new(struct tree_node, b.n + 1);
	b.parent = g_new(int, 3 * b.n + 1);
	b.first_child = b.parent + b.n;
	b.next = b.first_child + b.n;
	b.orphan = g_new0(bool, b.n + 1);
	link_spans(&b);
	g_autofree int *place = g_new(int, b.n + 1);
	for (int i = 0; i < b.n; i++)
		if (b.parent[i] < 0)
			append_subtree(t, &b, i, place);
	g_assert(t->n == n);				/* without cycles each span is below a root */
	finish(t);
	t->root = main_root(t);
	for (unsigned i = 0; i < BY_N; i++) {
		intmap_clear(&b.best[i]);
		intmap_clear(&b.number[i]);
	}
	g_free(b.by_id);
	g_free(b.parent);
	g_free(b.orphan);
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	for (int i = 0; i < t->n; i++)
		span_unref(t->nodes[i].span);
	g_free(t->by_id);
	g_free(t->nodes);
	g_free(t);
}

/* The first place in by_id with this id and kind, or after them. */
static int find_place(const struct tree *t, uint64_t id, int kind)
{
	return (int)FIRST_INDEX(i, (size_t)t->n, (ORDER(t->nodes[t->by_id[i]].span->span_id, id) ?:
						  ORDER((int)t->nodes[t->by_id[i]].span->kind, kind)) >= 0);
}

int tree_find(const struct tree *t, uint64_t span_id, int kind)
{
	g_assert(kind <= (int)SPAN_SERVER);
	int first = -1, last = kind < 0 ? SPAN_SERVER : kind;
	for (int k = MAX(kind, 0); k <= last; k++) {
		int place = find_place(t, span_id, k), i = place < t->n ? t->by_id[place] : -1;
		if (i >= 0 && t->nodes[i].span->span_id == span_id &&
		    (int)t->nodes[i].span->kind == k && (first < 0 || i < first))
			first = i;
	}
	return first;
}

void tree_self_parts(const struct tree *t, int i, int64_t part[PART_N])
{
	const struct span *s = t->nodes[i].span;
	memcpy(part, s->part, sizeof(s->part));
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *child = t->nodes[c].span;
		for (int p = 0; p < PART_N && tree_same_thread(s, child); p++)
			part[p] = MAX(part[p] - child->part[p], 0);
	}
}

bool tree_is_call(const struct tree *t, int i, const struct span **ret_caller)
{
	const struct tree_node *node = &t->nodes[i];
	const struct span *p = node->parent < 0 ? NULL : t->nodes[node->parent].span;
	*ret_caller = p;
	return node->span->state != SPAN_OPEN && !node->orphan &&
	       !(p && p->service == node->span->service);
}

const char *tree_called_outside(const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span;
	if (s->kind != SPAN_CLIENT || s->state == SPAN_OPEN)
		return NULL;
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next)
		if (t->nodes[c].span->service != s->service)
			return NULL;
	for (uint32_t k = s->n_tags; k > 0; k--) {
		const struct span_tag *tag = &s->tags[k - 1];
		if (strcmp(tag->key, TAG_PEER_SERVICE) == 0)
			return tag->val != s->service && *tag->val ? tag->val : NULL;
	}
	return NULL;
}

const struct span *tree_call_span(const struct span *caller, const struct span *s)
{
	bool half = caller && caller->kind == SPAN_CLIENT && caller->span_id == s->span_id &&
		    caller->state != SPAN_OPEN;
	return half ? caller : s;
}

bool tree_call_gap(const struct span *caller, const struct span *s, int64_t *ret)
{
	if (!caller || caller->kind != SPAN_CLIENT || span_is_message(caller) || !span_has_duration(caller) ||
	    !span_has_duration(s))
		return false;
	*ret = span_duration(caller) - span_duration(s);
	return true;
}
