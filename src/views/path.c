/* SPDX-License-Identifier: GPL-2.0-only */
/* The critical path: see path.h. */
#include "views/path.h"

#include "base/each.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/sort.h"
#include "views/common.h"

#include <string.h>

#define CRITICAL_SHARE 10	/* at least one tenth of the parent's time */

/* The time of a span outside of its retained waits. How its parts alternate in there is not known. */
struct rest {
	bool on_cpu, mixed;
	enum part part;			/* the largest; with on_cpu the largest on a CPU */
	int64_t all, ns[PART_N];	/* the sum, and by part, none below 0 */
	int64_t placed, given[PART_N];	/* the same of what is on the path already */
};

struct path_walk {
	struct history *h;
	const struct tree *t;
	GArray *path;
	struct intmap at;		/* node -> .rests, filled at first use */
	GArray *rests;			/* struct rest */
	unsigned depth, steps;
};

static void walk_span(struct path_walk *w, int node, int64_t from, int64_t to);
static struct rest *rest_of(struct path_walk *w, int node);

static const struct span *span_at(const struct path_walk *w, int node)
{
	return w->t->nodes[node].span;
}

static bool is_same_kind(const struct path_segment *a, const struct path_segment *b)
{
	return a->on_cpu && b->on_cpu && a->span == b->span && a->thread == b->thread &&
	       a->part == b->part && a->depth == b->depth && a->via == b->via;
}

/* Adds the next `ns` of the rest to `part`, in the proportion of its parts. Once all of it is placed, each part has
 * exactly its time. */
static void rest_divide(struct rest *r, int64_t ns, int64_t part[PART_N])
{
	int64_t left = ns, until = r->placed + ns;
	for (unsigned p = 0; p < PART_N; p++) {
		int64_t want = until == r->all ? r->ns[p] :
			r->all ? (int64_t)((double)r->ns[p] * (double)until / (double)r->all) : 0;
		int64_t share = p == (unsigned)r->part ? 0 : CLAMP(want - r->given[p], 0, left);
		part[p] += share;
		r->given[p] += share;
		left -= share;
	}
	part[r->part] += left;
	r->given[r->part] += left;
	r->placed = until;
}

static void add(struct path_walk *w, const struct path_segment *s)
{
	struct path_segment *last = w->path->len ?
		&g_array_index(w->path, struct path_segment, w->path->len - 1) : NULL;
	if (s->end_ns <= s->begin_ns)
		return;
	if (last && is_same_kind(last, s)) {
		last->end_ns = s->end_ns;
		last->mixed |= s->mixed;
	} else {
		g_array_append_vals(w->path, s, 1);
		last = &g_array_index(w->path, struct path_segment, w->path->len - 1);
		last->holder_is_own = w->h && history_works_for(w->h, span_at(w, s->via), s->cpu_holder, s->begin_ns,
								s->end_ns);
	}
	if (s->divided)
		rest_divide(rest_of(w, s->via), s->end_ns - s->begin_ns, last->part_ns);
}

static void add_part_of(struct path_walk *w, const struct path_segment *s, int64_t from, int64_t to)
{
	struct path_segment piece = *s;
	piece.begin_ns = from;
	piece.end_ns = to;
	add(w, &piece);
}

/* ---- waker chain ---- */

/* A chain's link does not say in which mode its thread ran: that of the kernel's threads is known. */
static void find_mode(struct path_walk *w, struct path_segment *s)
{
	const struct thread_info *t = w->h && s->on_cpu ? timeline_thread(w->h->tl, s->thread) : NULL;
	if (t && t->kernel)
		s->part = PART_KERNEL;
}

int64_t path_part_ns(const struct path_segment *p, enum part part)
{
	return p->divided ? p->part_ns[part] : part == p->part ? p->end_ns - p->begin_ns : 0;
}

/* Sets the span on which the segment's thread worked. */
static void find_span(struct path_walk *w, struct path_segment *s)
{
	int64_t middle = s->begin_ns + (s->end_ns - s->begin_ns) / 2;
	s->node = -1;
	s->span = w->h && s->thread != ID_NONE ? history_span_at(w->h, s->thread, middle) : NULL;
	if (s->span && s->span->trace_id == w->t->trace_id)
		s->node = tree_find(w->t, s->span->span_id, (int)s->span->kind);
}

/* Adds the waker chain of the wait `s` within [from, to). False: the chain does not cover the interval. */
static bool add_chain(struct path_walk *w, const struct path_segment *s, int64_t from, int64_t to)
{
	const struct span *span = span_at(w, s->node);
	int64_t cursor = from;
	uint32_t first = 0;
	while (first < span->n_chain && span->chain[first].end_ns <= from)
		first++;
	for (uint32_t i = first; i < span->n_chain && cursor < to; i++) {
		if (span->chain[i].begin_ns > cursor)
			return false;
		cursor = span->chain[i].end_ns;
	}
	if (cursor < to)
		return false;
	for (uint32_t i = first; i < span->n_chain && span->chain[i].begin_ns < to; i++) {
		const struct chain_link *h = &span->chain[i];
		struct path_segment p = {
			.begin_ns = MAX(h->begin_ns, from), .end_ns = MIN(h->end_ns, to),
			.thread = h->thread, .part = h->part, .on_cpu = h->on_cpu, .mixed = h->mixed,
			.call = h->call, .file = h->file, .waker = h->waker,
			.waker_irq = h->waker_irq, .cpu_holder = h->cpu_holder, .depth = h->depth, .via = s->node };
		find_mode(w, &p);
		find_span(w, &p);
		add(w, &p);
	}
	return true;
}

static bool in_chain(const struct span *s, const struct span *child, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i < s->n_chain; i++)
		if (s->chain[i].begin_ns < MIN(to, child->end_ns) &&
		    s->chain[i].end_ns > MAX(from, child->begin_ns) && s->chain[i].thread == child->thread)
			return true;
	return false;
}

static bool has_chain(const struct span *s, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i < s->n_chain; i++)
		if (s->chain[i].begin_ns < to && s->chain[i].end_ns > from)
			return true;
	return false;
}

/* Latest end first; of equal ends, earliest beginning first. */
static int compare_ends(const void *va, const void *vb, void *data)
{
	const struct path_walk *w = data;
	int a = *(const int *)va, b = *(const int *)vb;
	int64_t ea = span_at(w, a)->end_ns, eb = span_at(w, b)->end_ns;
	return ORDER(eb, ea) ?: a - b;
}

/* Children on other threads that the wait may have been for. If the waker chain is known, only children on its
 * threads. */
static GArray *children_of(struct path_walk *w, const struct path_segment *s)
{
	const struct tree *t = w->t;
	const struct span *own = span_at(w, s->node);
	bool known = has_chain(own, s->begin_ns, s->end_ns);
	GArray *all = g_array_new(FALSE, FALSE, sizeof(int));
	for (int c = t->nodes[s->node].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *x = t->nodes[c].span;
		w->steps++;
		if (!tree_same_thread(x, own) && x->begin_ns < s->end_ns && x->end_ns > s->begin_ns &&
		    x->end_ns > x->begin_ns && (!known || in_chain(own, x, s->begin_ns, s->end_ns)))
			g_array_append_val(all, c);
	}
	g_array_sort_with_data(all, compare_ends, w);
	return all;
}

struct wait_piece { int64_t from, to; int child; };

/* Goes backwards from the end of the wait: takes the child that ended last, then the child that ended last before
 * that one began. */
static GArray *pieces_of(struct path_walk *w, const struct path_segment *s)
{
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(struct wait_piece));
	g_autoptr(GArray) children = children_of(w, s);
	int64_t cursor = s->end_ns;
	for (guint i = 0; i < children->len && cursor > s->begin_ns; i++) {
		int c = g_array_index(children, int, i);
		struct wait_piece p = { MAX(span_at(w, c)->begin_ns, s->begin_ns),
				   MIN(span_at(w, c)->end_ns, cursor), c };
		if (p.from >= p.to)
			continue;	/* a later child covers it */
		g_array_append_val(pieces, p);
		cursor = p.from;
	}
	return pieces;
}

static void add_alone(struct path_walk *w, const struct path_segment *s, int64_t from, int64_t to)
{
	if (from < to && (s->on_cpu || !add_chain(w, s, from, to)))
		add_part_of(w, s, from, to);
}

/* Waits for a device, a timer or a CPU: the path stays on the thread. */
static const bool is_own[PART_N] = {
	[PART_USER] = true, [PART_SYSCALL] = true, [PART_KERNEL] = true, [PART_IRQ] = true,
	[PART_PREEMPTED] = true, [PART_WAKEUP] = true, [PART_DISK] = true, [PART_TIMER] = true,
	[PART_FAULT] = true, [PART_STOPPED] = true,
};

/* A wait for other threads: the path goes to child spans, and between them to the waker chain or to the thread
 * itself. */
static void add_blocked(struct path_walk *w, const struct path_segment *s)
{
	if (is_own[s->part] || s->part == PART_WRITEBACK || w->depth >= LIMIT_PATH_DEPTH ||
	    w->steps > LIMIT_PATH_LOOKS) {
		add_alone(w, s, s->begin_ns, s->end_ns);
		return;
	}
	g_autoptr(GArray) pieces = pieces_of(w, s);
	int64_t cursor = s->begin_ns;
	for (guint i = pieces->len; i > 0; i--) {
		struct wait_piece p = g_array_index(pieces, struct wait_piece, i - 1);
		add_alone(w, s, cursor, p.from);
		w->depth++;
		walk_span(w, p.child, p.from, p.to);
		w->depth--;
		cursor = p.to;
	}
	add_alone(w, s, cursor, s->end_ns);
}

/* ---- the thread of one span ---- */

static struct path_segment of_node(const struct path_walk *w, int node, int64_t from, int64_t to)
{
	return (struct path_segment){ .begin_ns = from, .end_ns = to, .node = node, .via = node,
				      .span = span_at(w, node), .thread = span_at(w, node)->thread,
				      .part = PART_UNKNOWN,
				      .file = ID_NONE, .waker = ID_NONE, .cpu_holder = ID_NONE };
}

/* Is the wait also in a child on the same thread? Then the child's segment shows it. */
static bool in_child(const struct path_walk *w, int node, const struct span_wait *x)
{
	for (int c = w->t->nodes[node].first_child; c >= 0; c = w->t->nodes[c].next) {
		const struct span *s = span_at(w, c);
		if (s->begin_ns <= x->begin_ns && x->end_ns <= s->end_ns &&
		    tree_same_thread(s, span_at(w, node)))
			return true;
	}
	return false;
}

/* The time of a span without its retained waits and without its children. */
static struct rest find_rest(const struct path_walk *w, int node)
{
	const struct span *s = span_at(w, node);
	struct rest r = { .part = PART_UNKNOWN };
	int64_t *part = r.ns;
	tree_self_parts(w->t, node, part);
	part[PART_HANDOFF] = 0;		/* annotations mark handoffs */
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *x = &s->waits[i];
		if (in_child(w, node, x))
			continue;
		int64_t wake = x->part == PART_PREEMPTED ? x->end_ns : x->wake_ns;
		part[x->part] -= wake - x->begin_ns;
		part[PART_WAKEUP] -= x->end_ns - wake;
	}
	/* A wait on a file has one part, but may have time of both. */
	part[PART_DISK] += MIN(part[PART_WRITEBACK], 0);
	part[PART_WRITEBACK] += MIN(part[PART_DISK], 0);
	for (unsigned p = 0; p < PART_N; p++) {
		part[p] = MAX(part[p], 0);
		r.all += part[p];
		if (part[p] > part[r.part])
			r.part = p;
	}
	int64_t cpu = part_sum_cpu(part);
	r.on_cpu = cpu * 2 > r.all;
	for (unsigned p = PART_USER; r.on_cpu && p < PATH_MODES; p++)
		if (r.part >= PATH_MODES || part[p] > part[r.part])
			r.part = p;
	r.mixed = r.all != (r.on_cpu ? cpu : part[r.part]);
	return r;
}

/* Valid until the next call. */
static struct rest *rest_of(struct path_walk *w, int node)
{
	uint32_t at = intmap_get(&w->at, node);
	if (at == INTMAP_NONE) {
		struct rest r = find_rest(w, node);
		at = w->rests->len;
		g_array_append_val(w->rests, r);
		intmap_set(&w->at, node, at);
	}
	return &g_array_index(w->rests, struct rest, at);
}

static void add_rest_of(struct path_walk *w, int node, uint32_t thread, int64_t from, int64_t to)
{
	struct path_segment s = of_node(w, node, from, to);
	if (from >= to)
		return;
	const struct rest *r = rest_of(w, node);
	s.thread = thread;
	s.on_cpu = r->on_cpu;
	s.part = r->part;
	s.mixed = r->mixed;
	s.divided = true;
	add_blocked(w, &s);
}

static void add_handoff(struct path_walk *w, int node, int64_t from, int64_t to)
{
	struct path_segment s = of_node(w, node, from, to);
	s.thread = ID_NONE;
	s.part = PART_HANDOFF;
	if (from < to)
		add_blocked(w, &s);
}

/* Adds an interval outside of retained waits. If the span has several threads, annotations determine the thread. */
static void add_rest(struct path_walk *w, int node, int64_t from, int64_t to)
{
	const struct span *s = span_at(w, node);
	uint32_t thread = s->thread, n = 0;
	int64_t since = s->begin_ns;
	if (from >= to)
		return;
	if (s->part[PART_HANDOFF] > 0 && w->steps <= LIMIT_PATH_LOOKS)
		n = s->n_annotations;
	w->steps += n;
	for (uint32_t i = 0; i < n; i++) {
		const struct span_annotation *a = &s->annotations[i];
		if (a->thread == thread)
			add_rest_of(w, node, thread, MAX(since, from), MIN(a->ts, to));
		else
			add_handoff(w, node, MAX(since, from), MIN(a->ts, to));
		thread = a->thread;
		since = MAX(since, a->ts);
	}
	add_rest_of(w, node, thread, MAX(since, from), to);
}

static void add_wait(struct path_walk *w, int node, const struct span_wait *x, int64_t from, int64_t to)
{
	bool preempted = x->part == PART_PREEMPTED;
	int64_t wake = preempted ? from : CLAMP(x->wake_ns, from, to);
	struct path_segment s = of_node(w, node, from, wake);
	s.thread = x->thread;
	s.part = x->part;
	s.call = x->call;
	s.file = x->file;
	s.waker = x->waker;
	s.waker_irq = x->waker_irq;
	if (wake > from)
		add_blocked(w, &s);
	s = of_node(w, node, wake, to);
	s.thread = x->thread;
	s.part = preempted ? PART_PREEMPTED : PART_WAKEUP;
	s.cpu_holder = x->cpu_holder;
	add(w, &s);
}

/* Adds [from, to) of the span itself; no child on its thread overlaps it. */
static void add_own(struct path_walk *w, int node, int64_t from, int64_t to)
{
	const struct span *s = span_at(w, node);
	int64_t cursor = from;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *x = &s->waits[i];
		int64_t begin = MAX(x->begin_ns, cursor), end = MIN(x->end_ns, to);
		if (end <= begin)
			continue;
		add_rest(w, node, cursor, begin);
		add_wait(w, node, x, begin, end);
		cursor = end;
	}
	add_rest(w, node, cursor, to);
}

/* The next child on the same thread that overlaps [from, to). Children are sorted by beginning. */
static int next_inner(const struct path_walk *w, int c, const struct span *s, int64_t from, int64_t to)
{
	for (; c >= 0 && span_at(w, c)->begin_ns < to; c = w->t->nodes[c].next) {
		const struct span *x = span_at(w, c);
		if (tree_same_thread(x, s) && x->end_ns > from && x->end_ns > x->begin_ns)
			return c;
	}
	return -1;
}

struct inner_walk { int node, next; int64_t from, to; };

/* Adds the path on the span's thread; each instant belongs to the innermost span on it. The walk uses a
 * stack instead of recursion, because spans may nest deeply. */
static void walk_span(struct path_walk *w, int node, int64_t from, int64_t to)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(struct inner_walk));
	struct inner_walk top = { node, w->t->nodes[node].first_child, from, to };
	g_array_append_val(stack, top);
	while (stack->len) {
		struct inner_walk *in = &g_array_index(stack, struct inner_walk, stack->len - 1);
		int c = next_inner(w, in->next, span_at(w, in->node), in->from, in->to);
		if (c < 0) {
			struct inner_walk last = *in;
			g_array_set_size(stack, stack->len - 1);
			add_own(w, last.node, last.from, last.to);
			continue;
		}
		const struct span *x = span_at(w, c);
		struct inner_walk below = { c, w->t->nodes[c].first_child, MAX(x->begin_ns, in->from),
				       MIN(x->end_ns, in->to) };
		struct inner_walk own = *in;
		in->next = w->t->nodes[c].next;
		in->from = below.to;
		add_own(w, own.node, own.from, below.from);
		g_array_append_val(stack, below);
	}
}

static void walk_init(struct path_walk *w, struct history *h, const struct tree *t)
{
	*w = (struct path_walk){ .h = h, .t = t, .rests = g_array_new(FALSE, FALSE, sizeof(struct rest)),
			    .path = g_array_new(FALSE, FALSE, sizeof(struct path_segment)) };
}

/* Returns the path. */
static GArray *walk_clear(struct path_walk *w)
{
	g_array_unref(w->rests);
	intmap_clear(&w->at);
	return w->path;
}

static GArray *path_between(struct history *h, const struct tree *t, int node, int64_t from, int64_t to)
{
	struct path_walk w;
	walk_init(&w, h, t);
	walk_span(&w, node, from, to);
	return walk_clear(&w);
}

GArray *path_of(struct history *h, const struct tree *t, int node)
{
	const struct span *s = t->nodes[node].span;
	return path_between(h, t, node, s->begin_ns, s->end_ns);
}

/* ---- a trace with messages ---- */

/* A span that took a message, or the root: its piece of the path. */
struct hop {
	int node;
	int64_t from, to;
	const struct span_link *link;	/* the message; NULL: none */
};

/* The span above the node, or itself, that took a message; else the top of its tree. */
static int hop_above(const struct tree *t, int node)
{
	while (t->nodes[node].parent >= 0 && !span_message(t->nodes[node].span))
		node = t->nodes[node].parent;
	return node;
}

static int last_hop(const struct tree *t)
{
	int last = t->root;

	for (int i = 0; i < t->n; i++)
		if (t->nodes[i].span->end_ns > t->nodes[last].span->end_ns && span_message(t->nodes[i].span))
			last = i;
	return last;
}

/* From the last to the first. */
static GArray *hops_of(const struct tree *t)
{
	GArray *hops = g_array_new(FALSE, FALSE, sizeof(struct hop));
	int node = last_hop(t);
	int64_t to = t->nodes[node].span->end_ns;

	while (node >= 0) {
		const struct span *s = t->nodes[node].span;
		const struct span_link *l = span_message(s);
		int64_t from = CLAMP(l ? l->in_ns : s->begin_ns, s->begin_ns, s->end_ns);
		struct hop hop = { node, from, MIN(to, s->end_ns), l };
		if (hop.from > hop.to)
			break;			/* it goes on after it sent the message: nothing before explains that */
		g_array_append_val(hops, hop);
		bool goes_on = l && !l->unsure && hops->len < (guint)t->n;
		int sender = goes_on ? tree_find(t, l->span_id, -1) : -1;
		to = l ? MIN(l->out_ns, hop.from) : to;
		node = sender >= 0 ? hop_above(t, sender) : -1;
	}
	return hops;
}

/* A span that the sender's hop had begun may have sent the message later: what happened until then is unknown. */
static void add_message(struct path_walk *w, const struct hop *sender, const struct hop *hop)
{
	int64_t sent = CLAMP(hop->link->out_ns, sender->to, hop->from);
	struct path_segment before = of_node(w, sender->node, sender->to, sent);
	struct path_segment s = of_node(w, hop->node, sent, hop->from);

	before.thread = ID_NONE;
	add(w, &before);
	s.part = PART_HANDOFF;
	s.message = hop->link;
	s.cpu_holder = hop->link->cpu_holder;
	add(w, &s);
}

/* Before a message whose link is unsure, or whose sender is missing, nothing is known. */
static void walk_trace(struct path_walk *w)
{
	g_autoptr(GArray) hops = hops_of(w->t);
	const struct hop *first = &g_array_index(hops, struct hop, hops->len - 1);
	struct path_segment unknown = of_node(w, w->t->root, span_at(w, w->t->root)->begin_ns, first->from);

	unknown.thread = ID_NONE;
	add(w, &unknown);
	for (guint i = hops->len; i-- > 0;) {
		const struct hop *hop = &g_array_index(hops, struct hop, i);
		if (i + 1 < hops->len)
			add_message(w, hop + 1, hop);
		walk_span(w, hop->node, hop->from, hop->to);
	}
}

GArray *path_of_trace(struct history *h, const struct tree *t)
{
	struct path_walk w;

	walk_init(&w, h, t);
	walk_trace(&w);
	return walk_clear(&w);
}

void path_mark(struct tree *t)
{
	g_autofree int64_t *spent = g_new0(int64_t, t->n + 1);
	g_autoptr(GArray) path = t->root >= 0 ? path_of_trace(NULL, t) : NULL;
	for (guint i = 0; path && i < path->len; i++) {
		const struct path_segment *p = &g_array_index(path, struct path_segment, i);
		spent[p->via] += p->end_ns - p->begin_ns;
	}
	for (int i = t->n - 1; i > 0; i--)
		if (t->nodes[i].parent >= 0)
			spent[t->nodes[i].parent] += spent[i];
	for (int i = 0; i < t->n; i++) {
		int p = t->nodes[i].parent;
		t->nodes[i].critical = p >= 0 && (p == t->root || t->nodes[p].critical) && spent[i] > 0 &&
			spent[i] >= span_duration(t->nodes[p].span) / CRITICAL_SHARE;
	}
}

/* ---- shares ---- */

static void add_share(GArray *shares, int node, enum part part, int64_t ns)
{
	struct path_share share = { node, part, ns };
	if (ns > 0)
		g_array_append_val(shares, share);
}

/* What the waiting span's own thread was blocked on while the path was on its waker chain. */
static enum part waited_part(const struct span *s, int64_t at)
{
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].begin_ns <= at && at < s->waits[i].end_ns)
			return s->waits[i].part;
	return PART_UNKNOWN;
}

GArray *path_shares(const struct tree *t, int node)
{
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(struct path_share));
	struct path_walk w;
	walk_init(&w, NULL, t);
	if (node == PATH_TRACE)
		walk_trace(&w);
	else
		walk_span(&w, node, span_at(&w, node)->begin_ns, span_at(&w, node)->end_ns);
	ARRAY_EACH(const struct path_segment, p, w.path) {
		if (p->depth)
			add_share(shares, p->via, waited_part(t->nodes[p->via].span, p->begin_ns),
				  p->end_ns - p->begin_ns);
		for (unsigned part = 0; !p->depth && part < PART_N; part++)
			add_share(shares, p->via, part, path_part_ns(p, part));
	}
	g_array_unref(walk_clear(&w));
	return shares;
}

/* ---- culprit ---- */

struct spent {			/* time of one thread in one part */
	const struct path_segment *first;
	enum part part;
	bool on_cpu;			/* PART_UNKNOWN: in an unknown mode */
	int64_t ns, holder_ns;		/* .holder_ns: of its longest segment */
	uint32_t cpu_holder;
};

static void spend(GArray *all, const struct path_segment *p, enum part part, int64_t ns)
{
	bool on_cpu = part < PATH_MODES || (p->on_cpu && p->part == part);
	ARRAY_EACH(struct spent, x, all) {
		if (x->first->thread != p->thread || x->on_cpu != on_cpu || x->part != part)
			continue;
		x->ns += ns;
		if (ns > x->holder_ns) {
			x->holder_ns = ns;
			x->cpu_holder = p->cpu_holder;
		}
		return;
	}
	struct spent new = { p, part, on_cpu, ns, ns, p->cpu_holder };
	g_array_append_val(all, new);
}

static void spend_segment(GArray *all, const struct path_segment *p)
{
	for (unsigned part = 0; part < PART_N; part++) {
		int64_t ns = path_part_ns(p, part);
		if (ns)
			spend(all, p, part, ns);
	}
}

static int64_t spent_by(const GArray *all, uint32_t thread)
{
	int64_t ns = 0;
	ARRAY_EACH(const struct spent, x, all)
		ns += x->first->thread == thread ? x->ns : 0;
	return ns;
}

static void find_second(const GArray *all, struct path_culprit *c)
{
	ARRAY_EACH(const struct spent, x, all) {
		bool first = x->on_cpu == c->on_cpu && x->part == c->part;
		if (x->first->thread != c->thread || first || x->ns <= c->second_ns)
			continue;
		c->second_ns = x->ns;
		c->second = x->part;
		c->second_on_cpu = x->on_cpu;
	}
}

bool path_culprit(struct history *h, const struct tree *t, int node, int64_t from, int64_t to,
		  struct path_culprit *ret)
{
	g_autoptr(GArray) path = path_between(h, t, node, from, to);
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct spent));
	int64_t most = 0;
	*ret = (struct path_culprit){ .thread = ID_NONE, .cpu_holder = ID_NONE };
	ARRAY_EACH(const struct path_segment, p, path)
		if (p->thread != ID_NONE && p->thread != t->nodes[node].span->thread)
			spend_segment(all, p);
	ARRAY_EACH(const struct spent, x, all) {
		const struct path_segment *f = x->first;
		int64_t by_it = spent_by(all, f->thread);
		if (by_it < most || (by_it == most && (f->thread != ret->thread || x->ns <= ret->ns)))
			continue;
		most = by_it;
		*ret = (struct path_culprit){
			.thread = f->thread, .ns = x->ns, .part = x->part, .on_cpu = x->on_cpu, .span = f->span,
			.cpu_holder = x->cpu_holder };
	}
	find_second(all, ret);
	return ret->thread != ID_NONE;
}

/* ---- words ---- */

const char *path_state(const struct path_segment *p)
{
	return p->on_cpu ? "cpu" : part_info[p->part].id;
}

static void append_waker(GString *text, const struct timeline *tl, const struct path_segment *p)
{
	const char *irq = timeline_string(tl, p->waker_irq);
	if (p->waker != ID_NONE && p->part != PART_TIMER) {
		g_autofree char *label = thread_label_new(tl, p->waker, p->end_ns);
		g_string_append_printf(text, ", woken by %s", label);
	} else if (*irq && p->part != PART_TIMER) {
		g_string_append_printf(text, ", woken by %s", irq);
	}
}

char *path_words(const struct timeline *tl, const struct path_segment *p)
{
	const struct file_info *f = timeline_file(tl, p->file);
	const char *call = timeline_string(tl, p->call);
	GString *text = g_string_new(p->mixed ? "mostly " : NULL);
	if (p->on_cpu) {
		g_string_append(text, "cpu");
		if (p->part != PART_UNKNOWN && p->part != PART_KERNEL)	/* kernel threads have that mode only */
			g_string_append_printf(text, " %s", part_info[p->part].id);
		return g_string_free(text, FALSE);
	}
	g_string_append(text, part_info[p->part].id);
	if (p->message) {
		g_string_append_printf(text, ": %s on its way", p->message->name);
		return g_string_free(text, FALSE);
	}
	if (p->cpu_holder != ID_NONE) {
		g_autofree char *label = thread_label_new(tl, p->cpu_holder, p->end_ns);
		g_string_append_printf(text, p->holder_is_own ? " while %s works for it" : " behind %s", label);
	}
	if (*call)
		g_string_append_printf(text, ": %s", call);
	if (f)
		g_string_append_printf(text, "%s(%s)", *call ? "" : ": ", timeline_string(tl, f->path));
	append_waker(text, tl, p);
	return g_string_free(text, FALSE);
}
