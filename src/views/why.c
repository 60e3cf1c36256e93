/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explains a span. It follows the tree down while one child covers most of the time, and takes the largest part of
 * that span. It then goes on to the child that has most of this part.
 *
 * For a wait it follows the waker chain while the wakers were themselves waiting. Further causes follow, the longest
 * first.
 */
#include "views/why.h"

#include "base/intmap.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/path.h"

#include <string.h>

#define MAX_HOPS 8		/* threads in a queue for locks */

/* Does a wait of this part have a file or peer as its object? */
static bool has_object(enum part p)
{
	return p == PART_DISK || p == PART_SOCKET || p == PART_PIPE;
}

const struct span_wait *why_longest_wait(const struct span *s, enum part part)
{
	const struct span_wait *longest = NULL;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		if (part != PART_N && w->part != part)
			continue;
		if (!longest || wait_blocked(w) > wait_blocked(longest) ||
		    (wait_blocked(w) == wait_blocked(longest) && w->begin_ns < longest->begin_ns))
			longest = w;
	}
	return longest;
}

const char *wait_object(const struct timeline *tl, const struct span_wait *w)
{
	const struct file_info *f = timeline_file(tl, w->file);
	const char *kind = part_info[w->part].id;
	if (!f)
		return NULL;
	/* The path may begin with the kind ("socket inet 10.0.0.1:80"): do not repeat it. */
	const char *path = timeline_string(tl, f->path);
	size_t len = strlen(kind);
	return strncmp(path, kind, len) == 0 && path[len] == ' ' ? path + len + 1 : path;
}

/* ---- caches of a tree for all its explanations ---- */

/* Preempted or woken: in both cases the thread is runnable and waits for a CPU. */
static bool part_is_runnable(enum part p)
{
	return p == PART_PREEMPTED || p == PART_WAKEUP;
}

static enum part larger_runnable(const struct span *s)
{
	return s->part[PART_PREEMPTED] >= s->part[PART_WAKEUP] ? PART_PREEMPTED : PART_WAKEUP;
}

/* The time of a part; for a runnable part, of both runnable parts. */
static int64_t part_ns(const struct span *s, enum part p)
{
	return part_is_runnable(p) ? part_sum_runnable(s->part) : s->part[p];
}

#define MOST_CPU_WAITS 2		/* threads with CPU waits in one sentence */
#define OTHER_LEAST (5 * NS_PER_MS)	/* a lock or sleep is reported from this duration on */
#define CPU_SHARE 5			/* waits for a CPU: also at least this share (1/5) of the whole */
#define COMPUTED_SHARE 12		/* computing: its excess over the median is at least this share (1/12) of the
					 * whole */
#define ALL_LOOKS 10000000		/* limit of visited spans for one cause, shared by all spans of a tree */
#define LEAST_LOOKS 8			/* minimum of these for each span */

/* Parts that are reported besides the first cause. */
static const enum part other_parts[] = { PART_FUTEX, PART_TIMER, PART_USER, PART_PREEMPTED };
#define N_OTHER G_N_ELEMENTS(other_parts)

/* Finds the entry with the greatest key of any range in logarithmic time; of equal keys the first. */
struct ranking {
	GArray *entries;
	int *top;			/* a tree of 2 n indexes: leaves from n on, 1 is the root */
};

struct entry {
	int64_t key;			/* rank */
	int64_t ns;			/* duration of a cause */
	uint64_t group;			/* of a wait: thread and part. Entries are sorted by group, */
	int node;			/* then by node */
	const struct span_wait *wait;
};

struct why_index {
	int n;
	int *blamed;			/* by node: the blamed node */
	int *holder[PART_N];		/* by node: the holder's node + 1; 0: not computed yet */
	bool has_waits, has_others;	/* .waits, .others are filled */
	struct ranking waits, others[N_OTHER];
	GArray *ranges;			/* scratch buffer */
	struct intmap at;		/* node, part and `own` -> index in .waited */
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

/* The first entry that is not before this group and node in the sort order. */
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

static int why_index_blamed(const struct why_index *ix, int node)
{
	return ix->blamed[node];
}

/* The child on the same thread that has most of the part; -1: none, the node itself has it. */
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

static int why_index_holder(struct why_index *ix, const struct tree *t, int node, enum part part)
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
	/* All nodes on the way have the same holder. */
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

static const struct span_wait *why_index_wait_below(struct why_index *ix, const struct tree *t, int node,
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

/* The part of the span without its direct children on the same thread. */
static int64_t own_part(const struct tree *t, int i, enum part part)
{
	const struct span *s = t->nodes[i].span;
	int64_t own = s->part[part];
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next)
		if (tree_same_thread(s, t->nodes[c].span))
			own -= t->nodes[c].span->part[part];
	/* If most of the span is a lock, count the final wakeup as well. */
	if (part == PART_FUTEX && own * 2 > span_duration(s))
		own = span_duration(s);
	return MAX(own, 0);
}

/* Time that the thread waited for a CPU in the span. 0 if a parent on the same thread includes it, unless the span
 * is the requested one. */
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

/* Locks and sleeps are notable from a fixed duration on. Computing is notable if it exceeds the median. */
static bool is_notable(enum part part, int64_t ns, int64_t usual, int64_t whole)
{
	if (part != PART_USER)
		return ns >= OTHER_LEAST && (!part_is_runnable(part) || ns * CPU_SHARE >= whole);
	return usual >= 0 && (ns - usual) * COMPUTED_SHARE >= whole;
}

/* Adds the span if the cause could be notable in a tree of any duration. */
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

/* Is the cause already reported? The first cause includes spans below it on the same thread. A wait for a CPU
 * includes all such waits of its thread. */
static bool is_stated(const struct tree *t, const struct why *stated, unsigned n, int node, enum part part)
{
	unsigned n_cpu_waits = 0;
	for (unsigned k = 0; k < n; k++) {
		int at = stated[k].node;
		bool cpu = part_is_runnable(stated[k].part) && part_is_runnable(part);
		bool thread = tree_same_thread(t->nodes[at].span, t->nodes[node].span);
		bool below = node > at && node < tree_end(t, at);
		if (cpu && (node == at || thread || ++n_cpu_waits == MOST_CPU_WAITS))
			return true;
		if (stated[k].part == part && (node == at || (k == 0 && below && thread)))
			return true;
	}
	return false;
}

/* One search for another cause. */
struct search {
	const struct tree *t;
	int asked;
	int64_t whole;			/* duration of the requested span */
	const struct why *stated;
	unsigned n_stated;
	struct why *best;		/* .node -1: none yet */
	size_t best_k;			/* index of its part in other_parts */
};

/* Of equal durations, the first by node, then by part. */
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
	    is_stated(x->t, x->stated, x->n_stated, node, part))
		return;
	x->best->node = node;
	x->best->part = part_is_runnable(part) ? larger_runnable(x->t->nodes[node].span) : part;
	x->best->ns = ns;
	x->best_k = k;
}

/* Can an entry with this key or a lower one be the best? */
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

/* Searches spans below the requested one for this part, longest first, while they can be better. */
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

static bool why_index_other(struct why_index *ix, struct history *h, const struct tree *t, int asked,
		     const struct why *stated, unsigned n_stated, struct why *ret)
{
	const struct span *s = t->nodes[asked].span;
	struct search x = { .t = t, .asked = asked, .whole = span_duration(s), .stated = stated,
			    .n_stated = n_stated, .best = ret };
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

/* ---- waker chain ---- */

static uint64_t waited_key(int node, enum part part, bool own)
{
	return ((uint64_t)node * PART_N + part) * 2 + own;
}

static const struct why *why_index_get(const struct why_index *ix, int node, enum part part, bool own)
{
	uint32_t at = intmap_get(&ix->at, waited_key(node, part, own));
	return at == INTMAP_NONE ? NULL : &g_array_index(ix->waited, struct why, at);
}

static void why_index_set(struct why_index *ix, int node, enum part part, bool own, const struct why *why)
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

static struct why_index *why_index_of(const struct tree *t)
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

/* ---- the first cause ---- */

/* The largest part; both runnable parts count as one. */
static enum part find_part(const struct span *s, int64_t *ret_ns)
{
	enum part p = part_largest(s->part, ret_ns, NULL);
	int64_t runnable = part_sum_runnable(s->part);
	if (!part_is_runnable(p) && runnable <= *ret_ns)
		return p;
	*ret_ns = runnable;
	return larger_runnable(s);
}

/* The longest wait of the part in the span. If none is retained, in spans below it on the same thread. */
static const struct span_wait *find_wait(const struct tree *t, int node, enum part part)
{
	const struct span_wait *longest = why_longest_wait(t->nodes[node].span, part);
	return longest ? longest : why_index_wait_below(why_index_of(t), t, node, part);
}

/* What a thread did in an interval, computed from the waits of its spans. */
struct activity {
	int64_t from, to;
	int64_t part[PART_N];
	const struct span_wait *longest;
	const struct span *span;	/* the span with the longest wait */
	GHashTable *seen;		/* begin_ns of waits counted (spans nest) */
};

static void add_activity(const struct span *s, void *data)
{
	struct activity *a = data;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		int64_t from = MAX(w->begin_ns, a->from), to = MIN(w->end_ns, a->to);
		if (to <= from || !g_hash_table_add(a->seen, (gpointer)&w->begin_ns))
			continue;
		a->part[w->part] += to - from;
		if (!a->longest || wait_blocked(w) > wait_blocked(a->longest)) {
			a->longest = w;
			a->span = s;
		}
	}
}

/* Follows the wakers of `w`, as far as they have spans, to the first one that did not mainly wait for a lock. */
static void ask_spans(struct history *h, const struct span_wait *w, struct why *why)
{
	int64_t from = w->begin_ns, to = w->wake_ns;
	uint32_t thread = w->waker;
	for (int hop = 0; hop < MAX_HOPS; hop++) {
		g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
		struct activity a = { .from = from, .to = to, .seen = seen };
		const struct span *at = history_span_at(h, thread, to - 1);
		history_spans_of(h, thread, from, to, add_activity, &a);
		int64_t ns;
		enum part p = part_largest(a.part, &ns, NULL);
		bool stated = ns * 2 >= to - from && a.longest;
		why->culprit = thread;
		why->culprit_did = stated ? part_info[p].held : NULL;
		why->culprit_ns = stated ? ns : 0;
		why->culprit_trace = stated ? a.span->trace_id : at ? at->trace_id : 0;
		why->culprit_span = stated ? a.span->name : at ? at->name : NULL;
		if (!stated || p != PART_FUTEX || a.longest->waker == ID_NONE ||
		    a.longest->waker == thread)
			return;
		from = MAX(from, a.longest->begin_ns);
		to = a.longest->wake_ns;
		thread = a.longest->waker;
	}
}

/* NULL: unknown. */
static const char *did_what(enum part p, bool on_cpu)
{
	return on_cpu && p == PART_UNKNOWN ? "ran" : *part_info[p].held ? part_info[p].held : NULL;
}

/* From the critical path. If it has no thread for a lock's wait, from the spans of the waker. */
static void find_culprit(struct history *h, const struct tree *t, int node, struct why *why)
{
	const struct span_wait *w = why->wait;
	struct path_culprit c;
	if (!w || w->waker == ID_NONE)
		return;
	why->waker = w->waker;
	if (!path_culprit(h, t, node, w->begin_ns, w->wake_ns, &c)) {
		if (why->part == PART_FUTEX)
			ask_spans(h, w, why);
		return;
	}
	why->culprit = c.thread;
	why->culprit_did = did_what(c.part, c.on_cpu);
	why->culprit_ns = c.ns;
	why->culprit_also = c.second_ns ? did_what(c.second, c.second_on_cpu) : NULL;
	why->culprit_also_ns = c.second_ns;
	why->culprit_trace = c.span ? c.span->trace_id : 0;
	why->culprit_span = c.span ? c.span->name : NULL;
}

/* Does the wait depend on other threads? Otherwise the waker only delivers an event. */
static bool waits_for_others(enum part p)
{
	return p == PART_FUTEX || p == PART_SOCKET || p == PART_PIPE || p == PART_POLL || p == PART_OTHER;
}

/* The longest wait of the part that overlaps no child on the same thread. */
static const struct span_wait *own_wait(const struct tree *t, int node, enum part part)
{
	const struct span *s = t->nodes[node].span;
	const struct span_wait *longest = NULL;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		bool below = w->part != part;
		for (int c = t->nodes[node].first_child; c >= 0 && !below; c = t->nodes[c].next) {
			const struct span *child = t->nodes[c].span;
			below = tree_same_thread(s, child) && w->begin_ns < child->end_ns &&
				w->end_ns > child->begin_ns;
		}
		if (!below && (!longest || wait_blocked(w) > wait_blocked(longest)))
			longest = w;
	}
	return longest;
}

/* Finds the wait and its waker. Cached, because many spans blame the same span for the same part. own: only waits
 * outside of its children. */
static void find_waited(struct history *h, const struct tree *t, bool own, struct why *why)
{
	struct why_index *ix = why_index_of(t);
	const struct why *known = why_index_get(ix, why->node, why->part, own);
	if (known) {
		int64_t ns = why->ns;
		*why = *known;
		why->ns = ns;
		return;
	}
	if (own)
		why->wait = part_is_runnable(why->part) ? NULL : own_wait(t, why->node, why->part);
	else
		why->wait = find_wait(t, why->node, why->part);
	if (why->wait && !own)
		why->waker = why->wait->waker;
	if (own ? why->part == PART_FUTEX : waits_for_others(why->part))
		find_culprit(h, t, why->node, why);
	why_index_set(ix, why->node, why->part, own, why);
}

void why_find(struct history *h, const struct tree *t, int node, struct why *ret)
{
	struct why_index *ix = why_index_of(t);
	*ret = (struct why){ .node = why_index_blamed(ix, node), .waker = ID_NONE, .culprit = ID_NONE };
	ret->part = find_part(t->nodes[ret->node].span, &ret->ns);
	ret->node = why_index_holder(ix, t, ret->node, ret->part);
	/* An open span may last longer than its caller: only the time inside the caller counts. */
	ret->ns = MIN(part_ns(t->nodes[ret->node].span, ret->part), tree_covers(t, node, ret->node));
	find_waited(h, t, false, ret);
}

/* --- words --- */

static const char *duration(char buf[TIMEFMT_LEN], int64_t ns)
{
	return timefmt_duration(buf, ns);
}

/* Appends the object of the part: the file of its longest wait, or the system call. */
static void add_object(GString *text, const struct history *h, const struct span *s,
		       const struct why *why, const char *before)
{
	const struct timeline *tl = h->tl;
	if ((has_object(why->part) || why->part == PART_OTHER) && why->wait) {
		const char *object = wait_object(tl, why->wait);
		if (object && strcmp(object, part_info[why->part].id) != 0)
			g_string_append_printf(text, "%s%s", before, object);
		return;
	}
	const struct span_call *most = NULL;
	for (uint32_t i = 0; why->part == PART_SYSCALL && i < s->n_calls; i++)
		if (!most || s->calls[i].total_ns > most->total_ns)
			most = &s->calls[i];
	if (!most || most->total_ns * 2 < why->ns)
		return;			/* most calls belong to its children */
	g_string_append_printf(text, "%s%s", before, timeline_string(tl, most->name));
	if (most->count > 1)
		g_string_append_printf(text, ", %u times", most->count);
}

/* Appends the holder of a lock. */
static void add_holder(GString *text, const struct history *h, const struct why *why, bool open)
{
	if (why->culprit == ID_NONE) {
		g_string_append(text, open ? "; holder ?" : "; its holder is unknown");
		if (why->wait->arg)
			g_string_append_printf(text, " (futex 0x%" G_GINT64_MODIFIER "x)",
					       why->wait->arg);
		return;
	}
	if (why->culprit != why->waker) {
		g_autofree char *label = thread_label_new(h->tl, why->waker, why->wait->wake_ns);
		g_string_append_printf(text, " behind %s", label);
	}
	g_autofree char *label = thread_label_new(h->tl, why->culprit, why->wait->wake_ns);
	g_string_append_printf(text, "; %s ", label);
	if (why->culprit_did)
		g_string_append_printf(text, "%s holding it", why->culprit_did);
	else if (why->culprit_span && *why->culprit_span)
		g_string_append_printf(text, "held it, in %s",
				       why->culprit_span);
	else
		g_string_append(text, "woke it");
	if (why->culprit_trace)
		g_string_append_printf(text, " (%08x)", (unsigned)(why->culprit_trace >> 32));
}

static void add_waker(GString *text, const struct history *h, const struct why *why)
{
	const struct span_wait *w = why->wait;
	if (why->part == PART_TIMER || part_is_runnable(why->part))
		return;			/* the waker of a sleep is the timer: not informative */
	if (why->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, why->waker, w->wake_ns);
		g_string_append_printf(text, ", woken by %s", label);
	}
}

#define MEANWHILE_SHARE 4		/* minimum share (1/4) of the wait that is reported */

/* Appends what the awaited thread did for longest. */
static void add_meanwhile(GString *text, const struct history *h, const struct why *why)
{
	char buf[TIMEFMT_LEN];
	if (why->culprit == ID_NONE || !why->culprit_did || why->culprit_ns * MEANWHILE_SHARE < wait_blocked(why->wait))
		return;
	g_autofree char *label = thread_label_new(h->tl, why->culprit, why->wait->wake_ns);
	g_string_append_printf(text, "; %s %s for %s of it", label, why->culprit_did,
			       duration(buf, why->culprit_ns));
	if (why->culprit_also && why->culprit_also_ns * MEANWHILE_SHARE >= wait_blocked(why->wait))
		g_string_append_printf(text, ", %s for %s", why->culprit_also,
				       duration(buf, why->culprit_also_ns));
}

/* For a client: appends how long the server worked. Returns true if that is at least half of the wait. */
static bool add_server(GString *text, const struct tree *t, const struct why *why)
{
	const struct span *client = t->nodes[why->node].span;
	char buf[TIMEFMT_LEN];
	for (int c = t->nodes[why->node].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *s = t->nodes[c].span;
		if (s->kind != SPAN_SERVER || s->span_id != client->span_id)
			continue;
		g_string_append_printf(text, "; %s had it for %s", s->service,
				       duration(buf, span_duration(s)));
		return !why->wait || span_duration(s) * 2 >= wait_blocked(why->wait);
	}
	return false;
}

/* Words for events that are missing for a more precise cause; NULL: none. */
static const char *missing_for(unsigned missing, enum part part)
{
	if (part == PART_UNKNOWN && missing & MISSING_SWITCHES)
		return "no sched_switch in the trace";
	if ((part == PART_USER || part == PART_OTHER) && missing & MISSING_CALLS)
		return "no system calls in the trace";
	return part_is_blocked(part) && missing & MISSING_WAKINGS ? "or for a CPU: no wakeups in the trace" : NULL;
}

static bool is_lock(const struct why *why)
{
	return why->part == PART_FUTEX && why->wait && why->wait->lock;
}

/* "waited 5ms for a CPU": sums both runnable parts, unless one is less than 1/8. */
static void add_did(GString *text, const struct history *h, const struct span *s, const struct why *why,
		    int64_t ns)
{
	char buf[TIMEFMT_LEN];
	const char *missing = missing_for(view_host_missing(h->tl, s->host), why->part);
	int64_t less = MIN(s->part[PART_PREEMPTED], s->part[PART_WAKEUP]);
	bool both = part_is_runnable(why->part) && less * 8 > part_sum_runnable(s->part);
	const char *before = part_info[why->part].before, *after = part_info[why->part].after;
	const char *call = why->part == PART_OTHER && why->wait ? timeline_string(h->tl, why->wait->call) : "";
	if (both)
		after = " for a CPU";
	else if (is_lock(why))
		after = " for a lock";
	if (missing && why->part == PART_USER)	/* without system call events it may have been in the kernel */
		g_string_append_printf(text, "ran %s", duration(buf, ns));
	else if (*call)
		g_string_append_printf(text, "%s%s in %s", before, duration(buf, ns), call);
	else
		g_string_append_printf(text, "%s%s%s", before, duration(buf, ns), after);
	if (missing)
		g_string_append_printf(text, " (%s)", missing);
}

/* Appends ", behind ffmpeg/77 9.8ms". */
static void add_neighbour(GString *text, const struct history *h, const struct span *s, int64_t all)
{
	char buf[TIMEFMT_LEN];
	int64_t ns;
	g_autofree char *label = neighbour_main(h->tl, s, &ns);
	if (label && ns >= s->runqueue->idle_ns && ns <= all)
		g_string_append_printf(text, ", behind %s %s", label, duration(buf, ns));
	else if (s->runqueue && s->runqueue->idle_ns * 2 > all)
		g_string_append(text, ", an idle one");
}

/* The poll returned 0: its timeout expired. */
static bool timed_out(const struct span *s, const struct why *why)
{
	const struct span_wait *w = why->wait;
	for (uint32_t i = 0; why->part == PART_POLL && w && i < s->n_slow; i++) {
		const struct span_slow_call *c = &s->slow[i];
		if (c->name == w->call && c->begin_ns <= w->begin_ns && w->end_ns <= c->begin_ns + c->duration_ns)
			return !c->ret;
	}
	return false;
}

/* Appends what the span did, on which object, and which thread ended the wait. */
static void add_cause(GString *text, const struct history *h, const struct tree *t,
		      const struct why *why)
{
	const struct span *s = t->nodes[why->node].span;
	/* If one wait is most of the time, count its final wakeup as well. */
	int64_t ns = why->ns;
	if (why->part == PART_FUTEX && why->wait && wait_blocked(why->wait) * 2 > ns)
		ns = why->wait->end_ns - why->wait->begin_ns;
	add_did(text, h, s, why, ns);
	add_object(text, h, s, why, ": ");
	if (part_is_runnable(why->part))
		add_neighbour(text, h, s, ns);
	if (is_lock(why)) {
		add_holder(text, h, why, s->state == SPAN_OPEN);
		return;
	}
	if (timed_out(s, why)) {
		g_string_append(text, ", until its time was over");
		return;
	}
	if (why->wait)
		add_waker(text, h, why);
	if (why->part != PART_SOCKET || !add_server(text, t, why))
		add_meanwhile(text, h, why);
}

/* ---- more causes ---- */

#define MOST_CAUSES 8			/* in one sentence */

/* Appends "lock in stored: "; nothing for the requested span. */
static void add_where(GString *text, const struct tree *t, int asked, int node)
{
	const struct span *s = t->nodes[node].span, *top = t->nodes[asked].span;
	if (node == asked)
		return;
	g_string_append(text, s->name);
	if (s->service != top->service)
		g_string_append_printf(text, " in %s", s->service);
	g_string_append(text, ": ");
}

/* Appends further causes: "; and lock: waited 25ms for a lock; thumbd-w0/254 slept holding it". */
static void add_others(GString *text, const struct history *h, const struct tree *t, int asked,
		       const struct why *first)
{
	struct why stated[MOST_CAUSES] = { *first };
	for (unsigned n = 1; n < MOST_CAUSES; n++) {
		struct why *other = &stated[n];
		if (!why_index_other(why_index_of(t), (struct history *)h, t, asked, stated, n, other))
			return;
		find_waited((struct history *)h, t, true, other);
		g_string_append(text, "; and ");
		add_where(text, t, asked, other->node);
		add_cause(text, h, t, other);
	}
}

/* If one end of the span is missing, its duration is unknown. */
static const char *no_time(const struct span *s)
{
	return s->state == SPAN_COMPLETE ? "took no time" : "only one instant of it is known";
}

char *why_sentence(const struct history *h, const struct tree *t, int asked,
		   const struct why *why)
{
	GString *text = g_string_new(NULL);
	add_where(text, t, asked, why->node);
	if (span_duration(t->nodes[why->node].span) <= 0) {
		g_string_append(text, no_time(t->nodes[why->node].span));
		return g_string_free(text, FALSE);
	}
	add_cause(text, h, t, why);
	add_others(text, h, t, asked, why);
	return g_string_free(text, FALSE);
}

static void add_short_lock(GString *text, const struct history *h, const struct why *why)
{
	if (why->wait && why->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, why->waker, why->wait->wake_ns);
		g_string_append_printf(text, "woken by %s", label);
	} else if (why->wait && why->wait->arg) {
		g_string_append_printf(text, "0x%" G_GINT64_MODIFIER "x, holder ?", why->wait->arg);
	} else {
		g_string_append(text, "holder ?");
	}
}

/* For a list: "slept 60ms", "disk 80ms /srv/thumb/x". */
static void add_short(GString *text, const struct history *h, const struct span *s,
		      const struct why *why)
{
	char buf[TIMEFMT_LEN];
	if (span_duration(s) <= 0) {
		g_string_append(text, no_time(s));
		return;
	}
	if (has_object(why->part)) {
		g_string_append_printf(text, "%s %s", part_info[why->part].id,
				       duration(buf, why->ns));
		add_object(text, h, s, why, " ");
		return;
	}
	add_did(text, h, s, why, why->ns);
	if (why->part == PART_SYSCALL)
		add_object(text, h, s, why, ": ");
}

char *why_short(const struct history *h, const struct tree *t, int asked,
		const struct why *why)
{
	const struct span *s = t->nodes[why->node].span, *top = t->nodes[asked].span;
	GString *text = g_string_new(NULL);
	bool lock = why->part == PART_FUTEX && span_duration(s) > 0;
	if (why->node != asked)
		g_string_append_printf(text, "%s: ", s->name);
	else if (!has_object(why->part) && !lock && span_duration(s) > 0)
		g_string_append_printf(text, "%s: ", part_word(view_host_missing(h->tl, s->host), why->part));
	if (s->service != top->service)
		g_string_append_printf(text, "%s%s ", s->service,
				       has_object(why->part) || lock ? "," : "");
	if (lock) {
		g_string_append(text, "futex, ");
		add_short_lock(text, h, why);
	} else {
		add_short(text, h, s, why);
	}
	return g_string_free(text, FALSE);
}

char *why_trace(struct history *h, uint64_t trace_id)
{
	g_autoptr(blk_tree) t = timeline_tree_new(h->tl, trace_id);
	struct why why;
	if (t->root < 0)
		return NULL;
	why_find(h, t, t->root, &why);
	return why_short(h, t, t->root, &why);
}
