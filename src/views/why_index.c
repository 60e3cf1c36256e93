/* SPDX-License-Identifier: GPL-2.0-only */
/* What verdicts share: see why_index.h. Nothing here recurses, or walks a subtree per span. */
#include "views/why_index.h"

#include "base/intmap.h"
#include "base/timefmt.h"

#define MOST_CPU_WAITS 2		/* in one sentence, of so many threads */
#define OTHER_LEAST (5 * NS_PER_MS)	/* of a lock, a sleep: so long; */
#define CPU_SHARE 5			/* of waits for a CPU, also of the whole; */
#define COMPUTED_SHARE 12		/* of computing, what is more than usual of it */
#define ALL_LOOKS 10000000		/* at one cause of each span of a tree: shared by them, */
#define LEAST_LOOKS 8			/* at least so many each */

/* Parts that are told besides the first cause. */
static const enum part other_parts[] = { PART_FUTEX, PART_TIMER, PART_USER, PART_PREEMPTED };
#define N_OTHER G_N_ELEMENTS(other_parts)

/* The greatest of any range of entries in logarithmic time; of equal ones the first. */
struct ranking {
	GArray *entries;
	int *top;			/* a tree of 2 n indexes: leaves from n on, 1 is the root */
};

struct entry {
	int64_t key;			/* what it is ranked by */
	int64_t ns;			/* of a cause: how long */
	uint64_t group;			/* of a wait: thread and part; entries are ordered by it, */
	int node;			/* then by node */
	const struct span_wait *wait;
};

struct why_index {
	int n;
	int *blamed;			/* by node */
	int *holder[PART_N];		/* by node, + 1; 0: not asked for */
	bool has_waits, has_others;	/* .waits, .others are made */
	struct ranking waits, others[N_OTHER];
	GArray *ranges;			/* scratch, struct range_left */
	struct intmap at;		/* -> .waited */
	GArray *waited;			/* struct why */
};

/* ---- ranking ---- */

static const struct entry *entry_at(const struct ranking *r, int i)
{
	return &g_array_index(r->entries, struct entry, i);
}

static int higher(const struct ranking *r, int a, int b)
{
	if (a < 0 || b < 0)
		return MAX(a, b);
	int64_t ka = entry_at(r, a)->key, kb = entry_at(r, b)->key;
	return ka != kb ? (ka > kb ? a : b) : MIN(a, b);
}

static void ranking_begin(struct ranking *r)
{
	r->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
}

static void ranking_end(struct ranking *r)
{
	int n = (int)r->entries->len;
	r->top = g_new(int, 2 * n + 1);
	for (int i = 0; i < n; i++)
		r->top[n + i] = i;
	for (int i = n - 1; i > 0; i--)
		r->top[i] = higher(r, r->top[2 * i], r->top[2 * i + 1]);
}

static void ranking_clear(struct ranking *r)
{
	if (r->entries)
		g_array_unref(r->entries);
	g_free(r->top);
}

/* The entry of [from, to) with the greatest key; -1: the range is empty. */
static int ranking_top(const struct ranking *r, int from, int to)
{
	int best = -1, n = (int)r->entries->len;
	for (from += n, to += n; from < to; from /= 2, to /= 2) {
		if (from % 2)
			best = higher(r, best, r->top[from++]);
		if (to % 2)
			best = higher(r, best, r->top[--to]);
	}
	return best;
}

/* The first entry that is not before this group and node. */
static int ranking_find(const struct ranking *r, uint64_t group, int node)
{
	int low = 0, high = (int)r->entries->len;
	while (low < high) {
		int mid = low + (high - low) / 2;
		const struct entry *e = entry_at(r, mid);
		if (e->group < group || (e->group == group && e->node < node))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- down the tree ---- */

static int find_blamed(const struct why_index *ix, const struct tree *t, int node)
{
	int64_t most = 0;
	int child = -1;
	for (int c = t->nodes[node].first_child; c >= 0; c = t->nodes[c].next) {
		int64_t covers = tree_covers(t, node, c);
		if (covers > most) {
			most = covers;
			child = c;
		}
	}
	if (child < 0 || most * 2 <= span_duration(t->nodes[node].span))
		return node;
	return ix->blamed[child];
}

int why_index_blamed(const struct why_index *ix, int node)
{
	return ix->blamed[node];
}

/* -1: it has it itself. */
static int next_holder(const struct tree *t, int node, enum part part)
{
	const struct span *s = t->nodes[node].span;
	for (int c = t->nodes[node].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *child = t->nodes[c].span;
		if (tree_same_thread(s, child) && part_ns(child, part) * 2 > part_ns(s, part))
			return c;
	}
	return -1;
}

int why_index_holder(struct why_index *ix, const struct tree *t, int node, enum part part)
{
	if (!ix->holder[part])
		ix->holder[part] = g_new0(int, ix->n);
	int *known = ix->holder[part], last = node;
	while (!known[last]) {
		int next = next_holder(t, last, part);
		if (next < 0)
			known[last] = last + 1;
		else
			last = next;
	}
	/* All on the way have the same one. */
	int holder = known[last] - 1;
	for (int i = node; !known[i]; i = next_holder(t, i, part))
		known[i] = holder + 1;
	return holder;
}

/* ---- waits ---- */

static uint64_t wait_group(uint32_t thread, enum part part)
{
	return (uint64_t)thread << 8 | part;
}

static int compare_entries(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->node - b->node;
}

static void add_waits(struct why_index *ix, const struct span *s, int node)
{
	bool seen[PART_N] = { false };
	for (uint32_t i = 0; i < s->n_waits; i++) {
		enum part part = s->waits[i].part;
		if (seen[part])
			continue;
		seen[part] = true;
		const struct span_wait *w = why_longest_wait(s, part);
		struct entry e = { .key = wait_blocked(w), .node = node, .wait = w,
				   .group = wait_group(s->thread, part) };
		g_array_append_val(ix->waits.entries, e);
	}
}

const struct span_wait *why_index_wait_below(struct why_index *ix, const struct tree *t, int node,
					     enum part part)
{
	uint32_t thread = t->nodes[node].span->thread;
	if (!ix->has_waits) {
		ix->has_waits = true;
		ranking_begin(&ix->waits);
		for (int i = 0; i < t->n; i++)
			if (t->nodes[i].span->thread != ID_NONE)
				add_waits(ix, t->nodes[i].span, i);
		g_array_sort(ix->waits.entries, compare_entries);
		ranking_end(&ix->waits);
	}
	if (thread == ID_NONE)
		return NULL;
	uint64_t group = wait_group(thread, part);
	int top = ranking_top(&ix->waits, ranking_find(&ix->waits, group, node + 1),
			      ranking_find(&ix->waits, group, tree_end(t, node)));
	return top < 0 ? NULL : entry_at(&ix->waits, top)->wait;
}

/* ---- other causes ---- */

/* Of the span itself: less its direct children's of the same thread. */
static int64_t own_part(const struct tree *t, int i, enum part part)
{
	const struct span *s = t->nodes[i].span;
	int64_t own = s->part[part];
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next)
		if (tree_same_thread(s, t->nodes[c].span))
			own -= t->nodes[c].span->part[part];
	/* What is mostly a lock: with the wakeup that it ended in. */
	if (part == PART_FUTEX && own * 2 > span_duration(s))
		own = span_duration(s);
	return MAX(own, 0);
}

/* All that a thread waited for a CPU in the span; 0 where the parent tells, which it does not
 * for the one that was asked about. */
static int64_t thread_runnable(const struct tree *t, int i, bool asked)
{
	const struct tree_node *node = &t->nodes[i];
	if (!asked && node->parent >= 0 && tree_same_thread(t->nodes[node->parent].span, node->span))
		return 0;
	return part_sum_runnable(node->span->part);
}

static int64_t cause_ns(const struct tree *t, int i, enum part part, bool asked)
{
	return part_is_runnable(part) ? thread_runnable(t, i, asked) : own_part(t, i, part);
}

/* A lock, a sleep: whenever it was long. Computing: where it did more than usual. */
static bool is_notable(enum part part, int64_t ns, int64_t usual, int64_t whole)
{
	if (part != PART_USER)
		return ns >= OTHER_LEAST && (!part_is_runnable(part) || ns * CPU_SHARE >= whole);
	return usual >= 0 && (ns - usual) * COMPUTED_SHARE >= whole;
}

/* Could it be notable in any span? */
static void add_other(struct ranking *r, struct history *h, const struct tree *t, int i, enum part part)
{
	struct entry e = { .ns = cause_ns(t, i, part, false), .node = i };
	e.key = e.ns;
	if (part == PART_USER && e.ns > 0) {
		int64_t usual = history_usual_user(h, t->nodes[i].span);
		e.key = usual < 0 ? 0 : e.ns - usual;
	}
	if (e.key > 0 && (part == PART_USER || e.key >= OTHER_LEAST))
		g_array_append_val(r->entries, e);
}

static void make_others(struct why_index *ix, struct history *h, const struct tree *t)
{
	ix->has_others = true;
	ix->ranges = g_array_new(FALSE, FALSE, 2 * sizeof(int));
	for (size_t k = 0; k < N_OTHER; k++) {
		ranking_begin(&ix->others[k]);
		for (int i = 0; i < t->n; i++)
			add_other(&ix->others[k], h, t, i, other_parts[k]);
		ranking_end(&ix->others[k]);
	}
}

/* The first cause tells of what is below it on its thread, too; a wait for a CPU of all that its
 * thread waited for one. */
static bool is_told(const struct tree *t, const struct why *told, unsigned n, int node, enum part part)
{
	unsigned n_cpu_waits = 0;
	for (unsigned k = 0; k < n; k++) {
		int at = told[k].node;
		bool cpu = part_is_runnable(told[k].part) && part_is_runnable(part);
		bool thread = tree_same_thread(t->nodes[at].span, t->nodes[node].span);
		bool below = node > at && node < tree_end(t, at);
		if (cpu && (node == at || thread || ++n_cpu_waits == MOST_CPU_WAITS))
			return true;
		if (told[k].part == part && (node == at || (k == 0 && below && thread)))
			return true;
	}
	return false;
}

/* One search for another cause. */
struct search {
	const struct tree *t;
	int asked;
	int64_t whole;			/* duration of that */
	const struct why *told;
	unsigned n_told;
	struct why *best;		/* .node -1: none yet */
	size_t best_k;			/* of its part in other_parts */
};

/* Of equal ones the first by node, then by part. */
static bool is_better(const struct search *x, int node, size_t k, int64_t ns)
{
	if (ns != x->best->ns || ns == 0)
		return ns > x->best->ns;
	return node != x->best->node ? node < x->best->node : k < x->best_k;
}

static void consider(struct search *x, int node, size_t k, int64_t ns, int64_t usual)
{
	enum part part = other_parts[k];
	ns = MIN(ns, tree_covers(x->t, x->asked, node));
	if (!is_better(x, node, k, ns) || !is_notable(part, ns, usual, x->whole) ||
	    is_told(x->t, x->told, x->n_told, node, part))
		return;
	x->best->node = node;
	x->best->part = part_is_runnable(part) ? larger_runnable(x->t->nodes[node].span) : part;
	x->best->ns = ns;
	x->best_k = k;
}

/* Can an entry with this key, or a lesser one, be the best? */
static bool is_worth(const struct search *x, size_t k, int64_t key)
{
	if (other_parts[k] == PART_USER)
		return key * COMPUTED_SHARE >= x->whole;
	return key >= x->best->ns && (!part_is_runnable(other_parts[k]) || key * CPU_SHARE >= x->whole);
}

static void push_range(GArray *ranges, int from, int to)
{
	int range[] = { from, to };
	if (from < to)
		g_array_append_vals(ranges, range, 1);
}

/* Those of one part below the asked one, the longest first, as long as they may be better. */
static void search_below(struct search *x, struct why_index *ix, size_t k)
{
	const struct ranking *r = &ix->others[k];
	int looks = MAX(ALL_LOOKS / ix->n, LEAST_LOOKS);
	g_array_set_size(ix->ranges, 0);
	push_range(ix->ranges, ranking_find(r, 0, x->asked + 1),
		   ranking_find(r, 0, tree_end(x->t, x->asked)));
	while (ix->ranges->len && looks-- > 0) {
		const int *last = &g_array_index(ix->ranges, int, 2 * (ix->ranges->len - 1));
		int from = last[0], to = last[1], top = ranking_top(r, from, to);
		const struct entry *e = entry_at(r, top);
		g_array_set_size(ix->ranges, ix->ranges->len - 1);
		if (!is_worth(x, k, e->key))
			continue;
		consider(x, e->node, k, e->ns, e->ns - e->key);
		int left = ranking_top(r, from, top), right = ranking_top(r, top + 1, to);
		bool left_last = left >= 0 && higher(r, left, right) == left;
		if (!left_last)
			push_range(ix->ranges, from, top);
		push_range(ix->ranges, top + 1, to);
		if (left_last)
			push_range(ix->ranges, from, top);
	}
}

bool why_index_other(struct why_index *ix, struct history *h, const struct tree *t, int asked,
		     const struct why *told, unsigned n_told, struct why *ret)
{
	const struct span *s = t->nodes[asked].span;
	struct search x = { .t = t, .asked = asked, .whole = span_duration(s), .told = told,
			    .n_told = n_told, .best = ret };
	*ret = (struct why){ .node = -1, .waker = ID_NONE, .culprit = ID_NONE };
	if (!ix->has_others)
		make_others(ix, h, t);
	for (size_t k = 0; k < N_OTHER; k++) {
		enum part part = other_parts[k];
		consider(&x, asked, k, cause_ns(t, asked, part, true),
			 part == PART_USER ? history_usual_user(h, s) : -1);
	}
	for (size_t k = 0; k < N_OTHER; k++)
		search_below(&x, ix, k);
	return ret->node >= 0;
}

/* ---- who was waited for ---- */

static uint64_t waited_key(int node, enum part part, bool own)
{
	return ((uint64_t)node * PART_N + part) * 2 + own;
}

const struct why *why_index_get(const struct why_index *ix, int node, enum part part, bool own)
{
	uint32_t at = intmap_get(&ix->at, waited_key(node, part, own));
	return at == INTMAP_NONE ? NULL : &g_array_index(ix->waited, struct why, at);
}

void why_index_set(struct why_index *ix, int node, enum part part, bool own, const struct why *why)
{
	intmap_set(&ix->at, waited_key(node, part, own), ix->waited->len);
	g_array_append_vals(ix->waited, why, 1);
}

/* ---- life ---- */

static void index_free(void *data)
{
	struct why_index *ix = data;
	for (int p = 0; p < PART_N; p++)
		g_free(ix->holder[p]);
	for (size_t k = 0; k < N_OTHER; k++)
		ranking_clear(&ix->others[k]);
	ranking_clear(&ix->waits);
	if (ix->ranges)
		g_array_unref(ix->ranges);
	g_array_unref(ix->waited);
	intmap_clear(&ix->at);
	g_free(ix->blamed);
	g_free(ix);
}

struct why_index *why_index_of(const struct tree *t)
{
	if (t->index)
		return t->index;
	struct why_index *ix = g_new0(struct why_index, 1);
	ix->n = t->n;
	ix->waited = g_array_new(FALSE, FALSE, sizeof(struct why));
	ix->blamed = g_new(int, t->n + 1);
	for (int i = t->n - 1; i >= 0; i--)
		ix->blamed[i] = find_blamed(ix, t, i);
	((struct tree *)t)->index = ix;
	((struct tree *)t)->free_index = index_free;
	return ix;
}
