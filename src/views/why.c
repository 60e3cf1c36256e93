/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict. It follows the tree down while one child covers most of the time,
 * then looks at the largest part of that span; for a wait it follows wakers while
 * these were only waiting for the next one.
 */
#include "views/why.h"

#include "base/timefmt.h"
#include "views/common.h"

#include <string.h>

#define MAX_HOPS 8		/* threads queueing behind each other */

/* "did BEFORE 5ms AFTER"; held: what a holder did meanwhile. */
static const struct phrase {
	const char *before, *after, *held;
} phrase[PART_N] = {
	[PART_USER] = { "computed ", "", "computed" },
	[PART_SYSCALL] = { "worked ", " in system calls", "was in system calls" },
	[PART_KERNEL] = { "ran ", " in the kernel", "ran in the kernel" },
	[PART_IRQ] = { "lost ", " to interrupts", "was interrupted" },
	[PART_PREEMPTED] = { "waited ", " for a CPU, preempted", "was preempted" },
	[PART_WAKEUP] = { "waited ", " for a CPU once woken", "waited for a CPU" },
	[PART_DISK] = { "waited ", " for the disk", "waited for the disk" },
	[PART_SOCKET] = { "waited ", " for a socket", "waited for a socket" },
	[PART_PIPE] = { "waited ", " for a pipe", "waited for a pipe" },
	[PART_FUTEX] = { "waited ", " for a lock", "waited for a lock" },
	[PART_TIMER] = { "slept ", "", "slept" },
	[PART_POLL] = { "waited ", " in poll", "polled" },
	[PART_FAULT] = { "waited ", " for page faults", "waited for page faults" },
	[PART_HANDOFF] = { "spent ", " between its threads", "handed over" },
	[PART_OTHER] = { "was blocked ", ", on what is not known", "was blocked" },
	[PART_UNKNOWN] = { "took ", ", the trace does not tell how", "" },
};

/* Who was told by the trace: wait's peers have a name. */
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
	/* "socket inet 10.0.0.1:80" after the word socket: once is enough. */
	const char *path = timeline_string(tl, f->path);
	size_t len = strlen(kind);
	return strncmp(path, kind, len) == 0 && path[len] == ' ' ? path + len + 1 : path;
}

/* Down the tree, while one child covers more than half. */
static int find_blamed(const struct tree *t, int node)
{
	for (;;) {
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
		node = child;
	}
}

/* The longest wait of the part in the span, or in its children of the same thread. */
static const struct span_wait *find_wait(const struct tree *t, int node, enum part part)
{
	const struct span *s = t->nodes[node].span;
	const struct span_wait *longest = why_longest_wait(s, part);
	int end = tree_end(t, node);
	for (int i = node + 1; !longest && i < end; i++) {
		if (!tree_same_thread(s, t->nodes[i].span))
			continue;
		const struct span_wait *w = why_longest_wait(t->nodes[i].span, part);
		if (w && (!longest || wait_blocked(w) > wait_blocked(longest)))
			longest = w;
	}
	return longest;
}

/* What a thread did in an interval, from the waits of its spans. */
struct activity {
	int64_t from, to;
	int64_t part[PART_N];
	const struct span_wait *longest;
	const struct span *span;	/* that holds the longest wait */
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

/* Follows who woke `w` back to the one that did not just wait for the next. */
static void find_culprit(struct history *h, const struct span_wait *w, struct why *why)
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
		bool told = ns * 2 >= to - from && a.longest;
		why->culprit = thread;
		why->culprit_part = told ? p : PART_N;
		why->culprit_trace = told ? a.span->trace_id : at ? at->trace_id : 0;
		why->culprit_span = told ? a.span->name : at ? at->name : 0;
		if (!told || p != PART_FUTEX || a.longest->waker == ID_NONE ||
		    a.longest->waker == thread)
			return;
		from = MAX(from, a.longest->begin_ns);
		to = a.longest->wake_ns;
		thread = a.longest->waker;
	}
}

void why_find(struct history *h, const struct tree *t, int node, struct why *ret)
{
	*ret = (struct why){ .node = find_blamed(t, node), .waker = ID_NONE, .culprit = ID_NONE,
			     .culprit_part = PART_N };
	const struct span *s = t->nodes[ret->node].span;
	ret->part = part_largest(s->part, &ret->ns, NULL);
	ret->wait = find_wait(t, ret->node, ret->part);
	if (!ret->wait)
		return;
	ret->waker = ret->wait->waker;
	if (ret->waker != ID_NONE && ret->part == PART_FUTEX)
		find_culprit(h, ret->wait, ret);
}

/* --- words --- */

static const char *duration(char buf[TIMEFMT_LEN], int64_t ns)
{
	return timefmt_duration(buf, ns);
}

/* What the part is about: the file of its longest wait, or the calls. */
static void add_object(GString *text, const struct history *h, const struct span *s,
		       const struct why *why, const char *before)
{
	const struct timeline *tl = h->tl;
	if (has_object(why->part) && why->wait) {
		const char *object = wait_object(tl, why->wait);
		if (object)
			g_string_append_printf(text, "%s%s", before, object);
		return;
	}
	const struct span_call *most = NULL;
	for (uint32_t i = 0; why->part == PART_SYSCALL && i < s->n_calls; i++)
		if (!most || s->calls[i].total_ns > most->total_ns)
			most = &s->calls[i];
	if (!most)
		return;
	g_string_append_printf(text, "%s%s", before, timeline_string(tl, most->name));
	if (most->count > 1)
		g_string_append_printf(text, ", %u times", most->count);
}

/* Whom it waited for: the holder of a lock, the waker of anything else. */
static void add_holder(GString *text, const struct history *h, const struct why *why, bool open)
{
	if (why->culprit == ID_NONE) {
		g_string_append(text, open ? "; holder ?" : "; who held it is not known");
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
	if (why->culprit_part < PART_N)
		g_string_append_printf(text, "%s holding it", phrase[why->culprit_part].held);
	else if (why->culprit_span)
		g_string_append_printf(text, "held it, in %s",
				       timeline_string(h->tl, why->culprit_span));
	else
		g_string_append(text, "woke it");
	if (why->culprit_trace)
		g_string_append_printf(text, " (%08x)", (unsigned)(why->culprit_trace >> 32));
}

static void add_waker(GString *text, const struct history *h, const struct why *why)
{
	const struct span_wait *w = why->wait;
	if (why->part == PART_TIMER || why->part == PART_PREEMPTED)
		return;			/* of a sleep the clock is the waker: says nothing */
	if (why->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, why->waker, w->wake_ns);
		g_string_append_printf(text, ", woken by %s", label);
	}
}

/* A client that waited much longer than its server worked: say how long that was. */
static void add_server(GString *text, const struct history *h, const struct tree *t,
		       const struct why *why)
{
	const struct span *client = t->nodes[why->node].span;
	char buf[TIMEFMT_LEN];
	for (int c = t->nodes[why->node].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *s = t->nodes[c].span;
		if (s->kind != SPAN_SERVER || s->span_id != client->span_id)
			continue;
		g_string_append_printf(text, "; %s had it for %s", timeline_string(h->tl, s->service),
				       duration(buf, span_duration(s)));
		return;
	}
}

/* What it did, on what, and who ended it. */
static void add_cause(GString *text, const struct history *h, const struct tree *t,
		      const struct why *why)
{
	const struct span *s = t->nodes[why->node].span;
	char buf[TIMEFMT_LEN];
	/* One wait that is most of it is told with the wakeup it ended in. */
	int64_t ns = why->ns;
	if (why->part == PART_FUTEX && why->wait && wait_blocked(why->wait) * 2 > ns)
		ns = why->wait->end_ns - why->wait->begin_ns;
	g_string_append_printf(text, "%s%s%s", phrase[why->part].before, duration(buf, ns),
			       phrase[why->part].after);
	add_object(text, h, s, why, ": ");
	if (why->part == PART_FUTEX && why->wait)
		add_holder(text, h, why, s->state == SPAN_OPEN);
	else if (why->wait)
		add_waker(text, h, why);
	if (why->part == PART_SOCKET)
		add_server(text, h, t, why);
}

/* ---- a second cause ---- */

#define OTHER_SHARE 32			/* of the whole, at least; */
#define OTHER_LEAST (5 * NS_PER_MS)	/* of waits, and so long; */
#define COMPUTED_SHARE 12		/* of computing, and of what is more than usual */

/* Of the span itself: less its direct children's of the same thread. */
static int64_t own_part(const struct tree *t, int i, enum part part)
{
	int64_t own = t->nodes[i].span->part[part];
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next)
		if (tree_same_thread(t->nodes[i].span, t->nodes[c].span))
			own -= t->nodes[c].span->part[part];
	return MAX(own, 0);
}

/* A lock, a sleep: whenever it was long. Computing: where that made the span unusual. */
static bool is_notable(const struct history *h, const struct span *s, enum part part, int64_t ns,
		       int64_t whole)
{
	if (part != PART_USER)
		return ns * OTHER_SHARE >= whole && ns >= OTHER_LEAST;
	if (ns * COMPUTED_SHARE < whole)
		return false;
	int64_t usual = history_usual(h, s), excess = span_duration(s) - usual;
	return usual >= 0 && excess * COMPUTED_SHARE >= whole && ns * 2 >= excess;
}

/* The longest of what the first cause does not tell already. */
static void find_other(const struct history *h, const struct tree *t, int asked,
		       const struct why *first, struct why *ret)
{
	static const enum part parts[] = { PART_FUTEX, PART_TIMER, PART_USER };
	int64_t whole = span_duration(t->nodes[asked].span);
	int end = tree_end(t, asked), told = tree_end(t, first->node);
	ret->node = -1;
	ret->ns = 0;
	for (int i = asked; i < end; i++) {
		for (size_t k = 0; k < G_N_ELEMENTS(parts); k++) {
			int64_t ns = own_part(t, i, parts[k]);
			bool same = parts[k] == first->part && i >= first->node && i < told;
			if (same || ns <= ret->ns || !is_notable(h, t->nodes[i].span, parts[k], ns, whole))
				continue;
			*ret = (struct why){ .node = i, .part = parts[k], .ns = ns, .waker = ID_NONE,
					     .culprit = ID_NONE, .culprit_part = PART_N };
		}
	}
}

/* "; and lock: waited 25ms for a lock; thumbd-w0/254 slept holding it" */
static void add_other(GString *text, const struct history *h, const struct tree *t, int asked,
		      const struct why *first)
{
	const struct span *top = t->nodes[asked].span;
	struct why other;
	find_other(h, t, asked, first, &other);
	if (other.node < 0)
		return;
	const struct span *s = t->nodes[other.node].span;
	other.wait = why_longest_wait(s, other.part);
	if (other.wait && other.part == PART_FUTEX) {
		other.waker = other.wait->waker;
		if (other.waker != ID_NONE)
			find_culprit((struct history *)h, other.wait, &other);
	}
	g_string_append(text, "; and ");
	if (other.node != asked) {
		g_string_append(text, timeline_string(h->tl, s->name));
		if (s->service != top->service)
			g_string_append_printf(text, " in %s", timeline_string(h->tl, s->service));
		g_string_append(text, ": ");
	}
	add_cause(text, h, t, &other);
}

char *why_sentence(const struct history *h, const struct tree *t, int asked,
		   const struct why *why)
{
	const struct span *s = t->nodes[why->node].span, *top = t->nodes[asked].span;
	const struct timeline *tl = h->tl;
	GString *text = g_string_new(NULL);
	if (why->node != asked) {
		g_string_append(text, timeline_string(tl, s->name));
		if (s->service != top->service)
			g_string_append_printf(text, " in %s", timeline_string(tl, s->service));
		g_string_append(text, ": ");
	}
	if (span_duration(s) <= 0) {
		g_string_append(text, "took no time");
		return g_string_free(text, FALSE);
	}
	add_cause(text, h, t, why);
	add_other(text, h, t, asked, why);
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

/* What it did, for a list: "slept 60ms", "disk 80ms /srv/thumb/x". */
static void add_short(GString *text, const struct history *h, const struct span *s,
		      const struct why *why)
{
	char buf[TIMEFMT_LEN];
	if (span_duration(s) <= 0) {
		g_string_append(text, "took no time");
		return;
	}
	if (has_object(why->part)) {
		g_string_append_printf(text, "%s %s", part_info[why->part].id,
				       duration(buf, why->ns));
		add_object(text, h, s, why, " ");
		return;
	}
	g_string_append_printf(text, "%s%s%s", phrase[why->part].before, duration(buf, why->ns),
			       phrase[why->part].after);
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
		g_string_append_printf(text, "%s: ", timeline_string(h->tl, s->name));
	else if (!has_object(why->part) && !lock && span_duration(s) > 0)
		g_string_append_printf(text, "%s: ", part_info[why->part].id);
	if (s->service != top->service)
		g_string_append_printf(text, "%s%s ", timeline_string(h->tl, s->service),
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
	g_autoptr(blk_tree) t = tree_new(h->tl, trace_id);
	struct why why;
	if (t->root < 0)
		return NULL;
	why_find(h, t, t->root, &why);
	return why_short(h, t, t->root, &why);
}
