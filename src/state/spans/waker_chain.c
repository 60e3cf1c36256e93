/* SPDX-License-Identifier: GPL-2.0-only */
/* Following wakers backwards; see waker_chain.h. */
#include "state/spans/waker_chain.h"

#include "state/kernel/cpu_runs.h"
#include "state/kernel/unknown_calls.h"
#include "state/spans/cpu_neighbours.h"
#include "state/spans/explain.h"
#include "state/spans/explain_calls.h"

#include "base/limits.h"
#include "base/sort.h"

#include <string.h>

#define SHARE 32		/* a wait shorter than this fraction (1/n) of its span is not followed */
#define SHARE_OF_WAIT 8		/* a waker's wait shorter than this fraction (1/n) of the span's wait is not followed */
#define ENOUGH_LINKS 64		/* links of one wait: beyond this no further waker is followed */
#define MOST_SHOWN 6		/* waits of one thread with a link of their own: the longest ones */

struct chain {
	struct spans *sp;
	struct vec *links;		/* struct chain_link, in order of time */
	uint32_t thread[LIMIT_WAKER_DEPTH + 1];	/* each thread waits for the next one */
	guint first;			/* index of the first link of this wait */
	unsigned depth, steps;
	int64_t least;			/* ns: shorter waits of wakers are not followed */
};

/* Running time and short waits, combined into one link. */
struct mix {
	int64_t from, to;		/* .from: TS_NONE if there is none to combine */
	bool waits;			/* it includes waits */
	int64_t part[PART_N];		/* ns, of the waits */
};

static void add_link(struct chain *c, struct chain_link h)
{
	G_STATIC_ASSERT(LIMIT_WAKER_DEPTH <= UINT8_MAX);
	g_assert(c->depth >= 1 && c->depth <= LIMIT_WAKER_DEPTH);	/* 0 is the span's thread */
	h.thread = spans_map_thread(c->sp, c->thread[c->depth]);
	h.depth = (uint8_t)c->depth;
	if (h.end_ns > h.begin_ns)
		*vec_add(c->links, struct chain_link) = h;
}

static struct chain_link plain_link(int64_t from, int64_t to, enum part part)
{
	return (struct chain_link){ .begin_ns = from, .end_ns = to, .part = (uint8_t)part, .file = ID_NONE,
				  .waker = ID_NONE, .cpu_holder = ID_NONE };
}

static bool in_chain(const struct chain *c, uint32_t thread)
{
	for (unsigned i = 0; i <= c->depth; i++)
		if (c->thread[i] == thread)
			return true;
	return false;
}

static void add_thread(struct chain *c, int64_t from, int64_t to);

/* Is the interval long enough to follow, and is the thread not in the chain already? */
static bool may_follow(const struct chain *c, uint32_t thread, int64_t from, int64_t to)
{
	return thread != ID_NONE && to - from >= c->least && c->depth < LIMIT_WAKER_DEPTH &&
	       c->links->len - c->first < ENOUGH_LINKS && !in_chain(c, thread);
}

static void follow(struct chain *c, uint32_t thread, int64_t from, int64_t to)
{
	g_assert(c->depth < LIMIT_WAKER_DEPTH);	/* ensured by may_follow() */
	c->thread[++c->depth] = thread;
	add_thread(c, from, to);
	c->depth--;
}

/* ---- running time ---- */

static void begin_mix(struct mix *m)
{
	m->from = TS_NONE;
	m->waits = false;
}

static void end_mix(struct chain *c, struct mix *m)
{
	if (m->from == TS_NONE)
		return;
	struct chain_link h = plain_link(m->from, m->to, PART_UNKNOWN);
	int64_t most = 0, waited = 0;
	for (unsigned p = 0; m->waits && p < PART_N; p++) {
		waited += m->part[p];
		if (m->part[p] > most) {
			most = m->part[p];
			h.part = (uint8_t)p;
		}
	}
	h.mixed = waited > 0;
	h.on_cpu = waited * 2 <= m->to - m->from;
	if (h.on_cpu)
		h.part = PART_UNKNOWN;
	add_link(c, h);
	begin_mix(m);
}

static void extend(struct mix *m, int64_t from, int64_t to)
{
	if (m->from == TS_NONE)
		m->from = from;
	m->to = to;
}

/* Is it the time between the thread's fork and its first run? It is not logged as a wait. */
static bool is_first(const struct thread *t, int64_t before)
{
	return t->fresh && !t->waits_base &&
	       (!t->waits.len || before <= vec_at(&t->waits, struct wait, 0)->begin);
}

/* Follows the creator, for time before the thread existed. False: the creator is unknown, or cannot be followed. */
static bool add_creator(struct chain *c, struct mix *m, const struct thread *t, int64_t from, int64_t to)
{
	uint32_t creator = thread_follow(c->sp->s, t->creator);
	if (!may_follow(c, creator, from, to))
		return false;
	end_mix(c, m);
	follow(c, creator, from, to);
	return true;
}

/* Adds time outside of waits: running, if the CPU's log shows it. */
static void add_run(struct chain *c, struct mix *m, struct cpu *cpu, int64_t from, int64_t to)
{
	const struct slice *s = c->sp->s;
	const struct thread *t = thread_at(s, c->thread[c->depth]);
	for (int64_t until; from < to; from = until) {
		until = MIN(runs_until(s, t, cpu, from), to);
		cpu = NULL;
		if (until > from) {
			extend(m, from, until);
			continue;
		}
		bool unborn = t->fresh && from < t->start_ns;
		until = unborn ? MIN(t->start_ns, to) : runs_next(s, t, from, to, LIMIT_WAKER_LOOKS);
		if (unborn && add_creator(c, m, t, from, until))
			continue;
		end_mix(c, m);
		add_link(c, plain_link(from, until, !unborn && is_first(t, to) ? PART_WAKEUP : PART_UNKNOWN));
	}
}

/* ---- waits ---- */

static bool is_preempted(const struct wait *w)
{
	return w->cause == WAIT_PART && w->part == PART_PREEMPTED;
}

static bool is_followable(struct spans *sp, uint32_t thread)
{
	return thread != ID_NONE && thread_is_identified(thread_at(sp->s, thread));
}

/* A page fault during which mostly no request was outstanding: it waited for a lock. */
static bool is_fault_without_request(struct spans *sp, uint32_t thread, const struct wait *w, struct device_wait *ret)
{
	return device_wait(sp, thread, w, w->begin, w->wake, ret) && ret->outstanding_ns * 2 < w->wake - w->begin;
}

/* The waker that explains the wait's length; ID_NONE: none. */
static uint32_t waker_of(struct spans *sp, uint32_t thread, const struct wait *w)
{
	struct slice *s = sp->s;
	if (is_preempted(w))
		return ID_NONE;
	struct device_wait d;
	uint32_t waker = thread_follow(s, w->waker);
	enum part p = part_is_unknown(s, explain_whole(sp, thread, w, &d));
	if (p == PART_WRITEBACK || (p == PART_FAULT && is_fault_without_request(sp, thread, w, &d))) {
		/* For the waker, also a kernel thread; or, if the end of a request ended it, for its submitter. */
		uint32_t worker = d.by_device ? d.submitter : waker;
		return is_followable(sp, worker) ? worker : ID_NONE;
	}
	if (p == PART_DISK || p == PART_TIMER || p == PART_FAULT || p == PART_STOPPED || !is_followable(sp, waker))
		return ID_NONE;
	return names_is_kernel(sp->n, waker) ? ID_NONE : waker;
}

/* Adds blocked time [from, to) and follows the waker if possible. */
static void add_blocked(struct chain *c, const struct wait *w, int64_t from, int64_t to)
{
	uint32_t waker = waker_of(c->sp, c->thread[c->depth], w);
	struct span_wait explained;
	struct device_wait d;
	if (may_follow(c, waker, from, to)) {
		follow(c, waker, from, to);
		return;
	}
	if (to <= from || !explain_wait(c->sp, c->thread[c->depth], w, from, to, &explained, &d))
		return;
	struct chain_link h = plain_link(from, to, explained.part);
	h.call = explained.call;
	h.file = explained.file;
	h.waker = explained.waker;
	h.waker_irq = explained.waker_irq;
	add_link(c, h);
}

static void add_runnable(struct chain *c, const struct wait *w, int64_t from, int64_t to)
{
	struct neighbour_list *b = &c->sp->parts.chain_neighbours;
	neighbours_reset(b);
	uint32_t longest = neighbours_of_wait(b, c->thread[c->depth], w, from, to);
	struct chain_link h = plain_link(from, to, is_preempted(w) ? PART_PREEMPTED : PART_WAKEUP);
	h.cpu_holder = spans_map_thread(c->sp, longest);
	add_link(c, h);
}

static int64_t wake_of(const struct wait *w, int64_t from, int64_t to)
{
	return CLAMP(is_preempted(w) ? w->begin : w->wake, from, to);
}

static void add_wait(struct chain *c, const struct wait *w, int64_t from, int64_t to)
{
	int64_t wake = wake_of(w, from, to);
	add_blocked(c, w, from, wake);
	if (to > wake)
		add_runnable(c, w, wake, to);
}

static void mix_wait(struct chain *c, struct mix *m, const struct wait *w, int64_t from, int64_t to)
{
	int64_t wake = wake_of(w, from, to);
	struct device_wait d;
	extend(m, from, to);
	if (!m->waits)
		memset(m->part, 0, sizeof m->part);
	m->waits = true;
	m->part[is_preempted(w) ? PART_PREEMPTED : PART_WAKEUP] += to - wake;
	m->part[explain_part(c->sp, c->thread[c->depth], w, from, wake, &d)] += wake - from;
}

/* ---- one thread ---- */

static const struct wait *wait_in(const struct thread *t, guint i, int64_t to)
{
	if (i >= t->waits.len)
		return NULL;
	const struct wait *w = vec_at(&t->waits, struct wait, i);
	return w->begin < to ? w : NULL;
}

/* Minimum length (ns) of a wait with a link of its own; G_MAXINT64: no wait gets one, as there are too many. */
static int64_t least_shown(struct chain *c, struct thread *t, int64_t from, int64_t to)
{
	int64_t most[MOST_SHOWN + 1] = { 0 };	/* the longest first, plus the next shorter one */
	const struct wait *w;
	for (guint i = explain_first_wait(t, from); (w = wait_in(t, i, to)); i++) {
		int64_t ns = MIN(w->end, to) - MAX(w->begin, from);
		unsigned k = MOST_SHOWN;
		if (++c->steps > LIMIT_WAKER_LOOKS)
			return G_MAXINT64;
		if (ns <= most[k])
			continue;
		for (; k > 0 && most[k - 1] < ns; k--)
			most[k] = most[k - 1];
		most[k] = ns;
	}
	return most[MOST_SHOWN] + 1;	/* so that waits of equal length are treated alike */
}

static void add_thread(struct chain *c, int64_t from, int64_t to)
{
	struct slice *s = c->sp->s;
	struct thread *t = thread_at(s, c->thread[c->depth]);
	int64_t least = least_shown(c, t, from, to), cursor = from;
	struct cpu *cpu = NULL;
	const struct wait *w;
	struct mix m;
	begin_mix(&m);
	if (least == G_MAXINT64) {
		add_link(c, plain_link(from, to, PART_UNKNOWN));
		return;
	}
	for (guint i = explain_first_wait(t, from); (w = wait_in(t, i, to)); i++) {
		int64_t begin = MAX(w->begin, cursor), end = MIN(w->end, to);
		add_run(c, &m, cpu, cursor, begin);
		if (MIN(w->end, to) - MAX(w->begin, from) < least) {
			mix_wait(c, &m, w, begin, end);
		} else {
			end_mix(c, &m);
			add_wait(c, w, begin, end);
		}
		cursor = MAX(cursor, end);
		cpu = runs_ran_on(s, w);
	}
	add_run(c, &m, cpu, cursor, to);
	end_mix(c, &m);
}

/* ---- all spans ---- */

/* Can the wait have a thread to follow? One on a file may be followed to the submitter of a request. */
static bool has_waker(const struct wait *w)
{
	return w->waker != ID_NONE || w->cause == WAIT_FD ||
	       (w->cause == WAIT_PART && (w->part == PART_DISK || w->part == PART_FAULT));
}

static bool is_long(const struct segment *seg, const struct half *h, const struct wait *w)
{
	int64_t from = MAX(w->begin, seg->begin), to = MIN(w->wake, seg->end);
	return to > from && (to - from) * SHARE >= h->end - h->begin;
}

/* Finds the waits of one thread; its segments are first .. end - 1. Same method as find_calls(). */
static void find_waits(struct spans *sp, guint first, guint end)
{
	const struct segment *segs = sp->segments.data;
	struct thread *t = thread_at(sp->s, segs[first].thread);
	struct vec *stack = &sp->stack;
	const struct wait *w;
	guint next = first;
	stack->len = 0;
	for (guint i = explain_first_wait(t, segs[first].begin); (w = wait_in(t, i, INT64_MAX)); i++) {
		for (; next < end && segs[next].begin <= w->begin; next++)
			*vec_add(stack, guint) = next;
		while (stack->len && segs[*vec_at(stack, guint, stack->len - 1)].end <= w->begin)
			stack->len--;
		if (!stack->len && next == end)
			break;
		if (!stack->len)
			continue;
		guint seg = *vec_at(stack, guint, stack->len - 1);
		if (has_waker(w) && is_long(&segs[seg], half_at(sp, segs[seg].half), w))
			*vec_add(&sp->inner, struct inner) = (struct inner){ segs[seg].half, seg, i, 1 };
	}
}

void chain_find(struct spans *sp)
{
	spans_find_inner(sp, find_waits, &sp->chains, offsetof(struct half, chains));
}

static void follow_wait(struct spans *sp, const struct inner *in)
{
	const struct segment *seg = segment_at(sp, in->segment);
	const struct wait *w = vec_at(&thread_at(sp->s, seg->thread)->waits, struct wait, in->index);
	int64_t from = MAX(w->begin, seg->begin), to = MIN(w->wake, seg->end);
	uint32_t waker = waker_of(sp, seg->thread, w);
	if (waker == ID_NONE || waker == seg->thread)
		return;
	struct chain c = { .sp = sp, .links = &sp->parts.links, .first = sp->parts.links.len,
			   .thread = { seg->thread, waker }, .depth = 1,
			   .least = (to - from) / SHARE_OF_WAIT };
	add_thread(&c, from, to);
}

static int earlier_link(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct chain_link *x = a, *y = b;
	return ORDER(x->begin_ns, y->begin_ns);
}

void chain_follow(struct spans *sp, const struct half *h, struct span *span)
{
	struct vec *links = &sp->parts.links;
	links->len = 0;
	for (guint i = h->chains.first; i < h->chains.first + h->chains.n; i++)
		follow_wait(sp, vec_at(&sp->chains, struct inner, i));
	vec_sort(links, sizeof(struct chain_link), earlier_link, NULL);	/* links of several threads overlap */
	span->chain = links->data;
	span->n_chain = links->len;
}
