/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of a slow span: the phases and parts whose time is most above their usual (usual.h), each with the wait
 * and the thread behind it, and the sentences about them.
 */
#include "views/why.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/neighbours.h"
#include "views/path.h"
#include "views/usual.h"

#include <string.h>

#define MAX_HOPS 8		/* threads in a queue for locks */
#define REST_SHARE 10		/* a further cause has more than this share (1/10) of the excess */
#define REST_SHARE_UNUSUAL 4	/* the same if the usual is unknown */

/* Does a wait of this part have a file or peer as its object? */
static bool has_object(enum part p)
{
	return p == PART_DISK || p == PART_WRITEBACK || p == PART_SOCKET || p == PART_PIPE;
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

static bool part_is_runnable(enum part p)
{
	return p == PART_PREEMPTED || p == PART_WAKEUP;
}

/* ---- the thread behind a wait ---- */

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
static void ask_spans(struct history *h, const struct span_wait *w, struct why_cause *why)
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
		bool mostly = ns * 2 >= to - from && a.longest;
		why->culprit = thread;
		why->culprit_did = mostly ? part_info[p].held : NULL;
		why->culprit_ns = mostly ? ns : 0;
		why->culprit_trace = mostly ? a.span->trace_id : at ? at->trace_id : 0;
		why->culprit_span = mostly ? a.span->name : at ? at->name : NULL;
		if (!mostly || p != PART_FUTEX || a.longest->waker == ID_NONE ||
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
	if (on_cpu && (p == PART_UNKNOWN || p == PART_KERNEL))
		return "ran";
	return *part_info[p].held ? part_info[p].held : NULL;
}

/* From the critical path. If it has no thread for a lock's wait, from the spans of the waker. */
static void find_culprit(struct history *h, const struct tree *t, int node, struct why_cause *why)
{
	const struct span_wait *w = why->wait;
	struct path_culprit c;
	if (!w)
		return;
	why->waker = w->waker;
	if (!path_culprit(h, t, node, w->begin_ns, w->wake_ns, &c)) {
		if (why->part == PART_FUTEX && w->waker != ID_NONE)
			ask_spans(h, w, why);
		return;
	}
	why->culprit = c.thread;
	why->culprit_did = did_what(c.part, c.on_cpu);
	why->culprit_ns = c.ns;
	why->culprit_cpu_holder = c.cpu_holder;
	why->culprit_behind_own = history_works_for(h, t->nodes[node].span, c.cpu_holder, w->begin_ns, w->wake_ns);
	why->culprit_also = c.second_ns ? did_what(c.second, c.second_on_cpu) : NULL;
	why->culprit_also_ns = c.second_ns;
	why->culprit_trace = c.span ? c.span->trace_id : 0;
	why->culprit_span = c.span ? c.span->name : NULL;
}

/* Does the wait depend on other threads? Otherwise the waker only delivers an event. */
static bool waits_for_others(enum part p)
{
	return p == PART_FUTEX || p == PART_SOCKET || p == PART_PIPE || p == PART_POLL || p == PART_OTHER ||
	       p == PART_WRITEBACK || p == PART_FAULT;
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

/* The span that was on the thread longest in an interval. */
struct busy { int64_t from, to, ns; const struct span *span; };

static void note_busy(const struct span *s, void *data)
{
	struct busy *b = data;
	int64_t ns = MIN(s->end_ns, b->to) - MAX(s->begin_ns, b->from);
	if (ns < b->ns || (ns == b->ns && b->span && span_duration(s) <= span_duration(b->span)))
		return;
	b->ns = ns;
	b->span = s;
}

/* The span that the thread of `s` was in for at least half of the `ns` of a message's way, or of a delay; .span NULL:
 * none. */
static struct busy busy_of(struct history *h, const struct span *s, const struct span_link *l, int64_t ns)
{
	struct busy b = { .from = l->out_ns, .to = l->in_ns };
	history_spans_of(h, s->thread, l->out_ns, l->in_ns, note_busy, &b);
	if (b.ns * 2 < ns)
		b.span = NULL;
	return b;
}

static void find_message(struct history *h, const struct span *s, struct why_cause *c)
{
	c->message = c->part == PART_HANDOFF ? span_message(s) : NULL;
	if (!c->message)
		return;
	struct busy b = busy_of(h, s, c->message, c->ns);
	if (b.span)
		c->culprit_span = b.span->name;
	else if (c->message->runnable_ns * 2 >= c->ns)
		c->culprit = c->message->cpu_holder;
}

/* Finds the wait and its waker. */
static void find_waited(struct history *h, const struct tree *t, struct why_cause *c)
{
	c->waker = c->culprit = c->culprit_cpu_holder = ID_NONE;
	find_message(h, t->nodes[c->node].span, c);
	if (part_is_runnable(c->part) || c->message)
		return;
	c->wait = own_wait(t, c->node, c->part);
	if (!c->wait)
		return;
	c->waker = c->wait->waker;
	if (waits_for_others(c->part))
		find_culprit(h, t, c->node, c);
}

/* ---- causes ---- */

static enum part larger_runnable(const struct span *s)
{
	return s->part[PART_PREEMPTED] >= s->part[PART_WAKEUP] ? PART_PREEMPTED : PART_WAKEUP;
}

/* Of a span far down in a large tree, only its own parts. node: or PATH_TRACE. */
static void find_shares(struct shares *s, const struct tree *t, int node)
{
	if (node == PATH_TRACE || tree_is_walked(t, node))
		shares_init(s, t, node);
	else
		shares_init_alone(s, t, node);
}

/* The largest excess first; of equal ones the earlier span. */
static int compare_causes(const void *va, const void *vb)
{
	const struct why_cause *a = va, *b = vb;
	return ORDER(b->excess_ns, a->excess_ns) ?: a->node - b->node ?: ORDER(a->part, b->part);
}

/* An open span below may last longer than the explained one: only the time inside counts, as the path has it. node: or
 * PATH_TRACE. */
static void find_causes(struct history *h, const struct tree *t, int node, const struct shares *usual, struct why *ret)
{
	g_autoptr(GArray) causes = g_array_new(FALSE, FALSE, sizeof(struct why_cause));
	int share = usual ? REST_SHARE : REST_SHARE_UNUSUAL;
	struct shares s;
	find_shares(&s, t, node);
	ARRAY_EACH(const struct share, x, s.list) {
		int64_t excess = x->ns - (usual ? usual_ns(usual, x) : 0);
		struct why_cause c = { .node = x->node, .part = x->part, .ns = x->ns,
				       .excess_ns = MIN(excess, ret->excess_ns) };
		if (part_is_runnable(c.part))
			c.part = larger_runnable(t->nodes[c.node].span);
		g_array_append_val(causes, c);
	}
	shares_clear(&s);
	g_array_sort(causes, compare_causes);
	for (guint i = 0; i < causes->len && ret->n < WHY_CAUSES; i++) {
		struct why_cause *c = &g_array_index(causes, struct why_cause, i);
		if (c->excess_ns <= 0 || (i && c->excess_ns * share <= ret->excess_ns))
			break;
		find_waited(h, t, c);
		ret->cause[ret->n++] = *c;
	}
	if (ret->n)
		ret->node = ret->cause[0].node;
}

/* Sets .excess_ns. False: it is within the usual. */
static bool is_slow(struct why *why)
{
	why->excess_ns = why->ns - MAX(why->usual_ns, 0);
	if (why->ns > 0 && (why->usual_ns < 0 || !usual_includes(why->usual_ns, why->ns)))
		return true;
	why->excess_ns = 0;
	return false;
}

void why_find(struct history *h, const struct tree *t, int node, struct why *ret)
{
	const struct span *s = t->nodes[node].span;
	*ret = (struct why){ .node = node, .ns = span_duration(s), .usual_ns = usual_duration(h, s) };
	if (is_slow(ret))
		find_causes(h, t, node, usual_of(h, s), ret);
}

void why_find_trace(struct history *h, const struct tree *t, struct why *ret)
{
	const struct trace_info *info = timeline_find_trace(h->tl, t->trace_id);
	if (!info || !trace_has_messages(info)) {
		why_find(h, t, t->root, ret);
		return;
	}
	*ret = (struct why){ .node = t->root, .ns = trace_duration(info),
			     .usual_ns = usual_trace_duration(h, info) };
	if (is_slow(ret))
		find_causes(h, t, PATH_TRACE, usual_of_trace(h, info), ret);
}

/* ---- words ---- */

/* Appends the object of the part: the file of its longest wait, or the system call. */
static void add_object(GString *text, const struct history *h, const struct span *s, const struct why_cause *c,
		       const char *before)
{
	const struct timeline *tl = h->tl;
	if ((has_object(c->part) || c->part == PART_OTHER) && c->wait) {
		const char *object = wait_object(tl, c->wait);
		if (object && strcmp(object, part_info[c->part].id) != 0)
			g_string_append_printf(text, "%s%s", before, object);
		return;
	}
	const struct span_call *most = NULL;
	for (uint32_t i = 0; c->part == PART_SYSCALL && i < s->n_calls; i++)
		if (!most || s->calls[i].total_ns > most->total_ns)
			most = &s->calls[i];
	if (!most || most->total_ns * 2 < c->ns)
		return;			/* most calls belong to its children */
	g_string_append_printf(text, "%s%s", before, timeline_string(tl, most->name));
	if (most->count > 1)
		g_string_append_printf(text, ", %u times", most->count);
}

/* Appends the holder of a lock. */
static void add_holder(GString *text, const struct history *h, const struct why_cause *c, bool open)
{
	if (c->culprit == ID_NONE) {
		g_string_append(text, open ? "; holder ?" : "; its holder is unknown");
		if (c->wait->arg)
			g_string_append_printf(text, " (futex 0x%" G_GINT64_MODIFIER "x)", c->wait->arg);
		return;
	}
	if (c->culprit != c->waker) {
		g_autofree char *label = thread_label_new(h->tl, c->waker, c->wait->wake_ns);
		g_string_append_printf(text, " behind %s", label);
	}
	g_autofree char *label = thread_label_new(h->tl, c->culprit, c->wait->wake_ns);
	g_string_append_printf(text, "; %s ", label);
	if (c->culprit_did)
		g_string_append_printf(text, "%s holding it", c->culprit_did);
	else if (c->culprit_span && *c->culprit_span)
		g_string_append_printf(text, "held it, in %s", c->culprit_span);
	else
		g_string_append(text, "woke it");
	if (c->culprit_trace)
		g_string_append_printf(text, " (%08x)", value_short_id(c->culprit_trace));
}

/* Did the wait end with the waker's end? */
static bool is_join(const struct why_cause *c)
{
	return c->part == PART_FUTEX && c->wait && c->wait->joined && c->waker != ID_NONE;
}

static void add_waker(GString *text, const struct history *h, const struct why_cause *c)
{
	if (c->waker == ID_NONE || c->part == PART_TIMER || is_join(c))
		return;			/* the waker of a sleep is the timer: not informative; of a join it was named */
	g_autofree char *label = thread_label_new(h->tl, c->waker, c->wait->wake_ns);
	g_string_append_printf(text, ", %s by %s", c->part == PART_STOPPED ? "continued" : "woken", label);
}

#define MEANWHILE_SHARE 4		/* minimum share (1/4) of the wait that is reported */

/* Appends what the awaited thread did for longest. */
static void add_meanwhile(GString *text, const struct history *h, const struct why_cause *c)
{
	char buf[TIMEFMT_LEN];
	if (c->culprit == ID_NONE || !c->culprit_did || c->culprit_ns * MEANWHILE_SHARE < wait_blocked(c->wait))
		return;
	g_autofree char *label = thread_label_new(h->tl, c->culprit, c->wait->wake_ns);
	g_string_append_printf(text, "; %s %s for %s of it", label, c->culprit_did,
			       timefmt_duration(buf, c->culprit_ns));
	if (c->culprit_cpu_holder != ID_NONE) {
		g_autofree char *behind = thread_label_new(h->tl, c->culprit_cpu_holder, c->wait->wake_ns);
		g_string_append_printf(text, c->culprit_behind_own ? ", while %s worked for the same request" :
				       ", behind %s", behind);
	}
	if (c->culprit_also && c->culprit_also_ns * MEANWHILE_SHARE >= wait_blocked(c->wait))
		g_string_append_printf(text, ", %s for %s", c->culprit_also,
				       timefmt_duration(buf, c->culprit_also_ns));
}

/* Words for events that are missing for a more precise cause; NULL: none. */
static const char *missing_for(unsigned missing, enum part part)
{
	if (part == PART_UNKNOWN && missing & MISSING_SWITCHES)
		return "the trace has no sched_switch events";
	if ((part == PART_USER || part == PART_OTHER) && missing & MISSING_CALLS)
		return "the trace has no system calls";
	if (part == PART_DISK && missing & (MISSING_ISSUES | MISSING_COMPLETIONS))
		return "or for the kernel's writing: the trace has no block requests";
	return part_is_blocked(part) && missing & MISSING_WAKINGS ? "or for a CPU: the trace has no wakeups" : NULL;
}

static bool is_lock(const struct why_cause *c)
{
	return c->part == PART_FUTEX && c->wait && c->wait->lock;
}

/* Did a user thread end a wait for a file? It had a lock of the file, as only the kernel's threads write. */
static bool is_file_lock(const struct history *h, const struct why_cause *c, unsigned missing)
{
	if (c->part != PART_WRITEBACK || !c->wait || c->waker == ID_NONE)
		return false;
	if (missing & (MISSING_INTERRUPTS | MISSING_TASKS))
		return false;
	const struct thread_info *waker = timeline_thread(h->tl, c->waker);
	return waker && !waker->kernel && !*timeline_string(h->tl, c->wait->waker_irq);
}

/* "waited 5ms for a CPU": sums both runnable parts, unless one is less than 1/8. */
static void add_did(GString *text, const struct history *h, const struct span *s, const struct why_cause *c)
{
	char buf[TIMEFMT_LEN];
	unsigned events = view_host_missing(h->tl, s->host);
	const char *missing = missing_for(events, c->part);
	int64_t less = MIN(s->part[PART_PREEMPTED], s->part[PART_WAKEUP]);
	const char *before = part_info[c->part].before, *after = part_info[c->part].after;
	const char *call = c->part == PART_OTHER && c->wait ? timeline_string(h->tl, c->wait->call) : "";
	const char *ns = timefmt_duration(buf, c->ns);
	g_autofree char *ended = is_join(c) ? thread_label_new(h->tl, c->waker, c->wait->wake_ns) : NULL;
	g_autofree char *for_ended = ended ? g_strdup_printf(" for thread %s", ended) : NULL;
	if (part_is_runnable(c->part) && less * 8 > part_sum_runnable(s->part))
		after = " for a CPU";
	else if (is_lock(c))
		after = " for a lock";
	else if (is_file_lock(h, c, events))
		after = " for a lock of the file";
	else if (for_ended)
		after = for_ended;
	if (missing && c->part == PART_USER)	/* without system call events it may have been in the kernel */
		g_string_append_printf(text, "ran %s", ns);
	else if (*call)
		g_string_append_printf(text, "%s%s in %s", before, ns, call);
	else
		g_string_append_printf(text, "%s%s%s", before, ns, after);
	if (missing && c->part == PART_UNKNOWN)
		g_string_append_printf(text, ": %s", missing);
	else if (missing)
		g_string_append_printf(text, " (%s)", missing);
	else if (c->part == PART_UNKNOWN && s->lost)
		g_string_append(text, " (events were lost meanwhile)");
	else if (c->part == PART_UNKNOWN && s->out_of_reach)
		g_string_append_printf(text, " (its event came at its end; a thread's past is kept for %d s)",
				       LIMIT_PAST_SECONDS);
}

#define THROTTLED_LEAST (10 * NS_PER_MS)	/* an idle CPU takes less to begin with a thread */

/* Appends ", behind ffmpeg/77 9.8ms", or that a thread of the same request ran. */
static void add_neighbour(GString *text, const struct history *h, const struct span *s, int64_t all)
{
	char buf[TIMEFMT_LEN];
	int64_t ns = 0, own_ns = 0;
	g_autofree char *label = neighbour_main(h->tl, s, &ns), *own = neighbour_of_request(h->tl, s, &own_ns);
	if (own && own_ns > ns && own_ns >= s->runqueue->idle_ns && own_ns <= all)
		g_string_append_printf(text, ", while %s worked for the same request %s", own,
				       timefmt_duration(buf, own_ns));
	else if (label && ns >= s->runqueue->idle_ns && ns <= all)
		g_string_append_printf(text, ", behind %s %s", label, timefmt_duration(buf, ns));
	else if (s->runqueue && s->runqueue->idle_ns * 2 > all && s->runqueue->idle_ns >= THROTTLED_LEAST)
		g_string_append_printf(text, ", which was idle for %s: as when a CPU quota (cpu.max) throttles",
				       timefmt_duration(buf, s->runqueue->idle_ns));
	else if (s->runqueue && s->runqueue->idle_ns * 2 > all)
		g_string_append(text, ", an idle one");
}

/* The poll returned 0: its timeout expired. */
static bool timed_out(const struct span *s, const struct why_cause *c)
{
	const struct span_wait *w = c->wait;
	for (uint32_t i = 0; c->part == PART_POLL && w && i < s->n_slow; i++) {
		const struct span_slow_call *x = &s->slow[i];
		if (x->name == w->call && x->begin_ns <= w->begin_ns && w->end_ns <= x->begin_ns + x->duration_ns)
			return !x->ret;
	}
	return false;
}

/* Appends " holding the lock that 9 others waited for". A thread that releases a lock after its wait had it all the
 * time, as it could not take it meanwhile. */
static void add_held_up(GString *text, struct history *h, const struct span_wait *w)
{
	unsigned n = history_held_up(h, w->thread, w->begin_ns, w->end_ns);
	if (n == 1)
		g_string_append(text, " holding the lock that another thread waited for");
	else if (n)
		g_string_append_printf(text, " holding the lock that %u others waited for", n);
}

/* ---- messages ---- */

/* What the span that the message waited for did: "slept", "waited for a CPU, behind hog/7". */
static void add_busy(GString *text, const struct history *h, const struct busy *b)
{
	int64_t ns;
	enum part p = part_largest(b->span->part, NULL, NULL);
	g_autofree char *label = part_is_runnable(p) ? neighbour_main(h->tl, b->span, &ns) : NULL;
	g_string_append_printf(text, " was in %s", b->span->name);
	if (*part_info[p].held)
		g_string_append_printf(text, ", which %s", part_info[p].held);
	if (label)
		g_string_append_printf(text, ", behind %s", label);
}

/* Appends what the thread that took the message, or was late, did meanwhile: most of the `ns`, or nothing. */
static void add_way(GString *text, struct history *h, const struct span_link *l, int64_t ns, const struct span *s)
{
	char buf[TIMEFMT_LEN];
	struct busy b = busy_of(h, s, l, ns);
	g_autofree char *label = thread_label_new(h->tl, s->thread, l->in_ns);
	g_autofree char *behind = l->cpu_holder == ID_NONE ? NULL : thread_label_new(h->tl, l->cpu_holder, l->in_ns);
	if (b.span) {
		g_string_append_printf(text, "; %s", label);
		add_busy(text, h, &b);
		g_string_append_printf(text, ", for %s of it", timefmt_duration(buf, b.ns));
	} else if (l->runnable_ns * 2 >= ns) {
		g_string_append_printf(text, "; %s waited for a CPU for %s of it", label,
				       timefmt_duration(buf, l->runnable_ns));
		if (behind)
			g_string_append_printf(text, ", behind %s", behind);
	} else if (l->ran_ns * 2 >= ns) {
		g_string_append_printf(text, "; %s ran for %s of it", label, timefmt_duration(buf, l->ran_ns));
	} else if (l->blocked_ns * 2 >= ns) {
		g_string_append_printf(text, "; %s waited for it for %s", label, timefmt_duration(buf, l->blocked_ns));
	}
}

#define LATE_SHARE 10		/* a span that is late by less than this part (1/n) of its period is in time */

static bool is_late(const struct span_link *l)
{
	return l && (l->in_ns - l->out_ns) >= l->every_ns / LATE_SHARE;
}

/* "; began 38ms late: p/7 was in other, which slept, for 37ms of it". */
static void add_late(GString *text, struct history *h, const struct span *s)
{
	const struct span_link *l = span_late(s);
	char buf[TIMEFMT_LEN];
	if (!is_late(l))
		return;
	g_string_append_printf(text, "%s%s began %s late", text->len ? "; " : "", s->name,
			       timefmt_duration(buf, l->in_ns - l->out_ns));
	add_way(text, h, l, l->in_ns - l->out_ns, s);
}

static void add_message(GString *text, struct history *h, const struct why_cause *c, const struct span *s)
{
	char buf[TIMEFMT_LEN];
	g_string_append_printf(text, "the message to %s", s->name);
	if (*s->service)
		g_string_append_printf(text, " (%s)", s->service);
	g_string_append_printf(text, " was on its way for %s", timefmt_duration(buf, c->ns));
	add_way(text, h, c->message, c->ns, s);
}

/* ---- sentences ---- */

/* Appends what the span did, on which object, and which thread ended the wait. */
static void add_cause(GString *text, struct history *h, const struct tree *t, const struct why_cause *c)
{
	const struct span *s = t->nodes[c->node].span;
	add_did(text, h, s, c);
	add_object(text, h, s, c, ": ");
	if (c->part == PART_STOPPED && c->wait && c->wait->stopper != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, c->wait->stopper, c->wait->begin_ns);
		g_string_append_printf(text, " by %s", label);
	}
	if (c->part == PART_DISK && s->disk_queue_known && s->disk_queue_ns * 2 > s->part[PART_DISK])
		g_string_append(text, ", mostly in its queue");
	if (part_is_runnable(c->part))
		add_neighbour(text, h, s, c->ns);
	if (is_lock(c)) {
		add_holder(text, h, c, s->state == SPAN_OPEN);
		return;
	}
	if (timed_out(s, c)) {
		g_string_append(text, ", until its time was over");
		return;
	}
	if (!c->wait)
		return;
	add_waker(text, h, c);
	if (c->culprit != ID_NONE)
		add_meanwhile(text, h, c);
	else
		add_held_up(text, h, c->wait);
}

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

/* If one end of the span is missing, its duration is unknown. */
static const char *no_time(const struct span *s)
{
	return s->state == SPAN_COMPLETE ? "took no time" : "only one instant of it is known";
}

static char *share_of(const struct why *why, const struct why_cause *c)
{
	char part[TIMEFMT_LEN], all[TIMEFMT_LEN];
	return g_strdup_printf("%s of %s%s", timefmt_duration(part, c->excess_ns),
			       timefmt_duration(all, why->excess_ns), why->usual_ns < 0 ? "" : " over the usual");
}

char *why_sentence(struct history *h, const struct tree *t, int asked, const struct why *why)
{
	GString *text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];
	if (why->ns <= 0)
		g_string_append(text, no_time(t->nodes[asked].span));
	for (unsigned i = 0; i < why->n; i++) {
		const struct why_cause *c = &why->cause[i];
		g_string_append(text, i ? "; and " : "");
		if (c->message) {
			add_message(text, h, c, t->nodes[c->node].span);
		} else {
			add_where(text, t, asked, c->node);
			add_cause(text, h, t, c);
		}
		g_autofree char *share = i ? g_strdup_printf("+%s", timefmt_duration(buf, c->excess_ns)) :
			share_of(why, c);
		g_string_append_printf(text, " (%s)", share);
	}
	add_late(text, h, t->nodes[asked].span);
	return g_string_free(text, !text->len);
}

static void add_short_lock(GString *text, const struct history *h, const struct why_cause *c)
{
	if (c->wait && c->waker != ID_NONE) {
		g_autofree char *label = thread_label_new(h->tl, c->waker, c->wait->wake_ns);
		g_string_append_printf(text, "woken by %s", label);
	} else if (c->wait && c->wait->arg) {
		g_string_append_printf(text, "0x%" G_GINT64_MODIFIER "x, holder ?", c->wait->arg);
	} else {
		g_string_append(text, "holder ?");
	}
}

/* For a list: "slept 60ms", "disk 80ms /srv/thumb/x". */
static void add_short(GString *text, const struct history *h, const struct span *s, const struct why_cause *c)
{
	char buf[TIMEFMT_LEN];
	if (has_object(c->part)) {
		g_string_append_printf(text, "%s %s", part_info[c->part].id, timefmt_duration(buf, c->ns));
		add_object(text, h, s, c, " ");
		return;
	}
	add_did(text, h, s, c);
	if (c->part == PART_SYSCALL)
		add_object(text, h, s, c, ": ");
}

/* NULL: it was in time. */
static char *short_late(const struct span *s)
{
	const struct span_link *l = span_late(s);
	char buf[TIMEFMT_LEN];
	return is_late(l) ? g_strdup_printf("began %s late", timefmt_duration(buf, l->in_ns - l->out_ns)) : NULL;
}

/* "message to take /scan: 20ms, behind hog/7". */
static char *short_message(const struct history *h, const struct why_cause *c, const struct span *s)
{
	char buf[TIMEFMT_LEN];
	g_autofree char *label = c->culprit == ID_NONE ? NULL : thread_label_new(h->tl, c->culprit, c->message->in_ns);
	const char *behind = label ? label : c->culprit_span;
	return g_strdup_printf("message to %s: %s%s%s", s->name, timefmt_duration(buf, c->ns),
			       behind ? ", behind " : "", behind ? behind : "");
}

char *why_short(struct history *h, const struct tree *t, int asked, const struct why *why)
{
	const struct why_cause *c = &why->cause[0];
	const struct span *top = t->nodes[asked].span, *s = why->n ? t->nodes[c->node].span : top;
	if (why->ns <= 0)
		return g_strdup(no_time(top));
	if (!why->n)
		return short_late(top);
	if (c->message)
		return short_message(h, c, s);
	GString *text = g_string_new(NULL);
	bool lock = c->part == PART_FUTEX;
	if (c->node != asked)
		g_string_append_printf(text, "%s: ", s->name);
	else if (!has_object(c->part) && !lock)
		g_string_append_printf(text, "%s: ", part_word(view_host_missing(h->tl, s->host), c->part));
	if (s->service != top->service)
		g_string_append_printf(text, "%s%s ", s->service, has_object(c->part) || lock ? "," : "");
	if (lock) {
		g_string_append(text, "futex, ");
		add_short_lock(text, h, c);
	} else {
		add_short(text, h, s, c);
	}
	return g_string_free(text, FALSE);
}

static char *words_of_trace(struct history *h, uint64_t trace_id,
			    char *(*words)(struct history *, const struct tree *, int, const struct why *))
{
	g_autoptr(blk_tree) t = timeline_tree_new(h->tl, trace_id);
	struct why why;
	if (t->root < 0)
		return NULL;
	why_find_trace(h, t, &why);
	return words(h, t, t->root, &why);
}

char *why_trace(struct history *h, uint64_t trace_id)
{
	return words_of_trace(h, trace_id, why_short);
}

char *why_trace_sentence(struct history *h, uint64_t trace_id)
{
	return words_of_trace(h, trace_id, why_sentence);
}
