/* SPDX-License-Identifier: GPL-2.0-only */
/* What wakers did: see hops.h. */
#include "state/hops.h"

#include "state/behind.h"
#include "state/runs.h"

#include <string.h>

#define SHARE 32		/* waits of less than that part of their span are not looked behind */
#define SHARE_OF_WAIT 8		/* and so are waits of wakers, against the span's wait */
#define MOST_TOLD 6		/* waits of one thread told one by one: the longest */
#define MOST_DEPTH 8		/* wakers of wakers */
#define MOST_STEPS 4096		/* waits that are looked at for one wait of the span */

struct chain {
	struct spans *sp;
	GArray *hops;			/* struct span_hop, in order of time */
	uint32_t thread[MOST_DEPTH + 1];	/* who waits for whom */
	guint first;			/* of this wait */
	unsigned depth, steps;
	int64_t least;			/* shorter waits of wakers are not looked behind */
};

/* What is told in one: running, and waits too short to be told. */
struct mix {
	int64_t from, to;		/* from: TS_NONE where nothing is open */
	int64_t part[PART_N];		/* of the waits */
};

static void add_hop(struct chain *c, struct span_hop h)
{
	h.thread = spans_map_thread(c->sp, c->thread[c->depth]);
	h.depth = (uint8_t)c->depth;
	if (h.end_ns > h.begin_ns)
		g_array_append_val(c->hops, h);
}

static struct span_hop plain_hop(int64_t from, int64_t to, enum part part)
{
	return (struct span_hop){ .begin_ns = from, .end_ns = to, .part = (uint8_t)part, .file = ID_NONE,
				  .waker = ID_NONE, .behind = ID_NONE };
}

/* ---- running ---- */

static void begin_mix(struct mix *m)
{
	memset(m, 0, sizeof *m);
	m->from = TS_NONE;
}

static void end_mix(struct chain *c, struct mix *m)
{
	if (m->from == TS_NONE)
		return;
	struct span_hop h = plain_hop(m->from, m->to, PART_UNKNOWN);
	int64_t most = 0, waited = 0;
	for (unsigned p = 0; p < PART_N; p++) {
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
	add_hop(c, h);
	begin_mix(m);
}

static void extend(struct mix *m, int64_t from, int64_t to)
{
	if (m->from == TS_NONE)
		m->from = from;
	m->to = to;
}

/* It is new, and has not run yet: that is not logged as a wait. */
static bool is_first(const struct thread *t, int64_t before)
{
	return t->fresh && !t->waits_base &&
	       (!t->waits || !t->waits->len || before <= g_array_index(t->waits, struct wait, 0).begin);
}

/* In no wait: it ran, as far as the CPU's log tells. */
static void add_run(struct chain *c, struct mix *m, const struct cpu *cpu, int64_t from, int64_t to)
{
	const struct slice *s = spans_slice(c->sp);
	const struct thread *t = thread_at(s, c->thread[c->depth]);
	for (int64_t until; from < to; from = until) {
		until = MIN(runs_until(s, t, cpu, from), to);
		cpu = NULL;
		if (until > from) {
			extend(m, from, until);
			continue;
		}
		bool unborn = t->fresh && from < t->start_ns;
		until = unborn ? MIN(t->start_ns, to) : runs_next(s, t, from, to, MOST_STEPS);
		end_mix(c, m);
		add_hop(c, plain_hop(from, until, !unborn && is_first(t, to) ? PART_WAKEUP : PART_UNKNOWN));
	}
}

/* ---- waits ---- */

static bool is_preempted(const struct wait *w)
{
	return w->cause == WAIT_PART && w->part == PART_PREEMPTED;
}

/* Who has to be asked why it lasted; ID_NONE: nobody. */
static uint32_t waker_of(struct spans *sp, uint32_t thread, const struct wait *w)
{
	struct slice *s = spans_slice(sp);
	uint32_t waker = is_preempted(w) ? ID_NONE : thread_follow(s, w->waker);
	if (waker == ID_NONE || thread_at(s, waker)->idle || thread_at(s, waker)->tid == -1 ||
	    names_is_kernel(spans_names(sp), waker))
		return ID_NONE;
	enum part p = explain_part(sp, thread, w);
	return p == PART_DISK || p == PART_FAULT || p == PART_TIMER ? ID_NONE : waker;
}

static bool in_chain(const struct chain *c, uint32_t thread)
{
	for (unsigned i = 0; i <= c->depth; i++)
		if (c->thread[i] == thread)
			return true;
	return false;
}

static void add_thread(struct chain *c, int64_t from, int64_t to);

/* Blocked from .. to: what its waker did then, where that is a thread to be asked. */
static void add_blocked(struct chain *c, const struct wait *w, int64_t from, int64_t to)
{
	uint32_t waker = waker_of(c->sp, c->thread[c->depth], w);
	struct span_wait told;
	if (waker != ID_NONE && to - from >= c->least && c->depth < MOST_DEPTH &&
	    c->hops->len - c->first < SPAN_MAX_HOPS && !in_chain(c, waker)) {
		c->thread[++c->depth] = waker;
		add_thread(c, from, to);
		c->depth--;
		return;
	}
	if (to <= from || !explain_wait(c->sp, c->thread[c->depth], w, from, to, &told))
		return;
	struct span_hop h = plain_hop(from, to, told.part);
	h.call = told.call;
	h.file = told.file;
	h.waker = told.waker;
	h.waker_irq = told.waker_irq;
	add_hop(c, h);
}

static void add_runnable(struct chain *c, const struct wait *w, int64_t from, int64_t to)
{
	struct behind *b = behind_new(spans_slice(c->sp));
	uint32_t longest = behind_wait(b, c->thread[c->depth], w, from, to);
	struct span_hop h = plain_hop(from, to, is_preempted(w) ? PART_PREEMPTED : PART_WAKEUP);
	h.behind = longest == ID_NONE ? ID_NONE : spans_map_thread(c->sp, longest);
	behind_free(b);
	add_hop(c, h);
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
	extend(m, from, to);
	m->part[is_preempted(w) ? PART_PREEMPTED : PART_WAKEUP] += to - wake;
	m->part[explain_part(c->sp, c->thread[c->depth], w)] += wake - from;
}

/* ---- a thread ---- */

static const struct wait *wait_in(const struct thread *t, guint i, int64_t to)
{
	if (!t->waits || i >= t->waits->len)
		return NULL;
	const struct wait *w = &g_array_index(t->waits, struct wait, i);
	return w->begin < to ? w : NULL;
}

/* How long a wait has to be to be told by itself; G_MAXINT64: there are too many to look at. */
static int64_t least_told(struct chain *c, const struct thread *t, int64_t from, int64_t to)
{
	int64_t most[MOST_TOLD + 1] = { 0 };	/* the longest first, and one more */
	const struct wait *w;
	for (guint i = explain_first_wait(t, from); (w = wait_in(t, i, to)); i++) {
		int64_t ns = MIN(w->end, to) - MAX(w->begin, from);
		unsigned k = MOST_TOLD;
		if (++c->steps > MOST_STEPS)
			return G_MAXINT64;
		if (ns <= most[k])
			continue;
		for (; k > 0 && most[k - 1] < ns; k--)
			most[k] = most[k - 1];
		most[k] = ns;
	}
	return most[MOST_TOLD] + 1;	/* equal ones are all told, or none of them */
}

static void add_thread(struct chain *c, int64_t from, int64_t to)
{
	struct slice *s = spans_slice(c->sp);
	const struct thread *t = thread_at(s, c->thread[c->depth]);
	int64_t least = least_told(c, t, from, to), cursor = from;
	const struct cpu *cpu = NULL;
	const struct wait *w;
	struct mix m;
	begin_mix(&m);
	if (least == G_MAXINT64) {
		add_hop(c, plain_hop(from, to, PART_UNKNOWN));
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
		cpu = w->cpu == ID_NONE ? NULL : cpu_at(s, w->cpu);
	}
	add_run(c, &m, cpu, cursor, to);
	end_mix(c, &m);
}

/* ---- of the spans ---- */

/* The wait of a segment: long enough, and woken by a thread. */
static void look_behind(struct spans *sp, GArray **hops, const struct segment *seg, const struct half *h,
			const struct wait *w)
{
	int64_t from = MAX(w->begin, seg->begin), to = MIN(w->wake, seg->end);
	if (to <= from || (to - from) * SHARE < h->end - h->begin)
		return;
	uint32_t waker = waker_of(sp, seg->thread, w);
	if (waker == ID_NONE || waker == seg->thread)
		return;
	if (!*hops)
		*hops = g_array_new(false, false, sizeof(struct span_hop));
	struct chain c = { .sp = sp, .hops = *hops, .first = (*hops)->len,
			   .thread = { seg->thread, waker }, .depth = 1,
			   .least = (to - from) / SHARE_OF_WAIT };
	add_thread(&c, from, to);
}

static int earlier_hop(gconstpointer a, gconstpointer b)
{
	const struct span_hop *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* segs[0..n) are a thread's segments, by begin: the same way as its calls go. */
static void of_thread(struct spans *sp, GArray *halves, GArray **hops, const struct segment *segs, guint n)
{
	const struct thread *t = thread_at(spans_slice(sp), segs->thread);
	g_autoptr(GArray) stack = g_array_new(false, false, sizeof(guint));
	const struct wait *w;
	guint next = 0;
	for (guint i = explain_first_wait(t, segs->begin); (w = wait_in(t, i, INT64_MAX)); i++) {
		for (; next < n && segs[next].begin <= w->begin; next++)
			g_array_append_val(stack, next);
		while (stack->len && segs[g_array_index(stack, guint, stack->len - 1)].end <= w->begin)
			g_array_set_size(stack, stack->len - 1);
		if (!stack->len && next == n)
			break;
		if (!stack->len)
			continue;
		const struct segment *seg = &segs[g_array_index(stack, guint, stack->len - 1)];
		look_behind(sp, &hops[seg->half], seg, &g_array_index(halves, struct half, seg->half), w);
	}
}

void hops_find(struct spans *sp, GArray *halves, const GArray *segments)
{
	if (!segments->len)
		return;
	g_autofree GArray **hops = g_new0(GArray *, halves->len + 1);
	for (guint i = 0, n; i < segments->len; i += n) {
		const struct segment *first = &g_array_index(segments, struct segment, i);
		for (n = 1; i + n < segments->len && first[n].thread == first->thread;)
			n++;
		of_thread(sp, halves, hops, first, n);
	}
	for (guint i = 0; i < halves->len; i++) {
		struct span *span = g_array_index(halves, struct half, i).span;
		if (!hops[i])
			continue;
		g_array_sort(hops[i], earlier_hop);	/* of several threads, one after the other */
		span->n_hops = hops[i]->len;
		span->hops = (struct span_hop *)g_array_free(hops[i], false);
	}
}
