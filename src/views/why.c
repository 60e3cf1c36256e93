/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict. It follows the tree down while one child covers most of the time, looks
 * at the largest part of that span, and goes on to the child that has most of this part;
 * for a wait it follows wakers while these were only waiting for the next one. Other
 * causes follow, the longest first.
 */
#include "views/why.h"

#include "base/timefmt.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/path.h"
#include "views/why_index.h"

#include <string.h>

#define MAX_HOPS 8		/* threads queueing behind each other */

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

/* The largest part of its time, with the two runnable ones as one. */
static enum part find_part(const struct span *s, int64_t *ret_ns)
{
	enum part p = part_largest(s->part, ret_ns, NULL);
	int64_t runnable = part_sum_runnable(s->part);
	if (!part_is_runnable(p) && runnable <= *ret_ns)
		return p;
	*ret_ns = runnable;
	return larger_runnable(s);
}

/* The longest wait of the part in the span; where none is kept of it, in what is below it on
 * the same thread. */
static const struct span_wait *find_wait(const struct tree *t, int node, enum part part)
{
	const struct span_wait *longest = why_longest_wait(t->nodes[node].span, part);
	return longest ? longest : why_index_wait_below(why_index_of(t), t, node, part);
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

/* Follows who woke `w` back to the one that did not just wait for the next, as far as spans tell. */
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
		bool told = ns * 2 >= to - from && a.longest;
		why->culprit = thread;
		why->culprit_did = told ? part_info[p].held : NULL;
		why->culprit_ns = told ? ns : 0;
		why->culprit_trace = told ? a.span->trace_id : at ? at->trace_id : 0;
		why->culprit_span = told ? a.span->name : at ? at->name : NULL;
		if (!told || p != PART_FUTEX || a.longest->waker == ID_NONE ||
		    a.longest->waker == thread)
			return;
		from = MAX(from, a.longest->begin_ns);
		to = a.longest->wake_ns;
		thread = a.longest->waker;
	}
}

/* NULL: nobody knows. */
static const char *did_what(enum part p, bool on_cpu)
{
	return on_cpu && p == PART_UNKNOWN ? "ran" : *part_info[p].held ? part_info[p].held : NULL;
}

/* As the critical path has it; where that knows nobody, as the spans of the waker do. */
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

/* Nobody but it had to act: the waker was a messenger. */
static bool waits_for_others(enum part p)
{
	return p == PART_FUTEX || p == PART_SOCKET || p == PART_PIPE || p == PART_POLL || p == PART_OTHER;
}

/* Its longest wait of the part that is in none of its children. */
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

/* Many spans blame the same one for the same part: whom that waited for is found once. `own`: in
 * a wait that is in none of its children. */
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
	/* An open one lasts longer than who called it, as far as the trace tells. */
	ret->ns = MIN(part_ns(t->nodes[ret->node].span, ret->part), tree_covers(t, node, ret->node));
	find_waited(h, t, false, ret);
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
		return;			/* they were its children's, mostly */
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
		return;			/* of a sleep the clock is the waker: says nothing */
	if (why->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, why->waker, w->wake_ns);
		g_string_append_printf(text, ", woken by %s", label);
	}
}

#define MEANWHILE_SHARE 4		/* of a wait is worth telling */

/* Of the thread that it waited for, where no span tells: what that did for longest. */
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

/* A client: say how long its server worked. true: that is what the wait was for, mostly. */
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

/* What would tell more, and is not in the trace: words for that; NULL: nothing lacks. */
static const char *lacks_for(unsigned lacks, enum part part)
{
	if (part == PART_UNKNOWN && lacks & LACKS_SWITCHES)
		return "no sched_switch in the trace";
	if ((part == PART_USER || part == PART_OTHER) && lacks & LACKS_CALLS)
		return "no system calls in the trace";
	return part_is_blocked(part) && lacks & LACKS_WAKINGS ? "or for a CPU: no wakeups in the trace" : NULL;
}

static bool is_lock(const struct why *why)
{
	return why->part == PART_FUTEX && why->wait && why->wait->lock;
}

/* "waited 5ms for a CPU": both kinds together, unless one is nearly all of it. */
static void add_did(GString *text, const struct history *h, const struct span *s, const struct why *why,
		    int64_t ns)
{
	char buf[TIMEFMT_LEN];
	const char *lacks = lacks_for(view_host_lacking(h->tl, s->host), why->part);
	int64_t less = MIN(s->part[PART_PREEMPTED], s->part[PART_WAKEUP]);
	bool both = part_is_runnable(why->part) && less * 8 > part_sum_runnable(s->part);
	const char *before = part_info[why->part].before, *after = part_info[why->part].after;
	const char *call = why->part == PART_OTHER && why->wait ? timeline_string(h->tl, why->wait->call) : "";
	if (both)
		after = " for a CPU";
	else if (is_lock(why))
		after = " for a lock";
	if (lacks && why->part == PART_USER)	/* perhaps in the kernel */
		g_string_append_printf(text, "ran %s", duration(buf, ns));
	else if (*call)
		g_string_append_printf(text, "%s%s in %s", before, duration(buf, ns), call);
	else
		g_string_append_printf(text, "%s%s%s", before, duration(buf, ns), after);
	if (lacks)
		g_string_append_printf(text, " (%s)", lacks);
}

/* "waited 12ms for a CPU, behind ffmpeg/77 9.8ms" */
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

/* It was over when its time was. */
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

/* What it did, on what, and who ended it. */
static void add_cause(GString *text, const struct history *h, const struct tree *t,
		      const struct why *why)
{
	const struct span *s = t->nodes[why->node].span;
	/* One wait that is most of it is told with the wakeup it ended in. */
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

#define MOST_CAUSES 8			/* in one sentence; */

/* "lock in stored: "; nothing for the span that was asked about. */
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

/* "; and lock: waited 25ms for a lock; thumbd-w0/254 slept holding it" */
static void add_others(GString *text, const struct history *h, const struct tree *t, int asked,
		       const struct why *first)
{
	struct why told[MOST_CAUSES] = { *first };
	for (unsigned n = 1; n < MOST_CAUSES; n++) {
		struct why *other = &told[n];
		if (!why_index_other(why_index_of(t), (struct history *)h, t, asked, told, n, other))
			return;
		find_waited((struct history *)h, t, true, other);
		g_string_append(text, "; and ");
		add_where(text, t, asked, other->node);
		add_cause(text, h, t, other);
	}
}

/* Of a span that lacks its other end nobody knows how long it took. */
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

/* What it did, for a list: "slept 60ms", "disk 80ms /srv/thumb/x". */
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
		g_string_append_printf(text, "%s: ", part_word(view_host_lacking(h->tl, s->host), why->part));
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
