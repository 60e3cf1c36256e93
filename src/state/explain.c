/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a span took its time: the difference of its thread's counters between two
 * annotations, with the waits in between; and its system calls. The parts sum to the
 * duration exactly: what no counter tells is unknown.
 */
#include "state/behind.h"
#include "state/spans.h"
#include "state/unknown.h"

#include <stdio.h>

#define USUAL_CALLS 4		/* of a span, or waits: lists of them begin with so much room */

/* ---- parts ---- */

/* Counters of a thread between two snapshots; without waits by descriptor. */
static void add_difference(int64_t part[PART_N], const int64_t *from, const int64_t *to)
{
	for (unsigned p = 0; p < PART_N; p++)
		part[p] += to[p] - from[p];
	part[PART_USER] += to[PART_SOFT_RUN] - from[PART_SOFT_RUN] +
			   to[PART_LOST_RUN] - from[PART_LOST_RUN];
	part[PART_OTHER] += to[PART_SOFT_BLOCK] - from[PART_SOFT_BLOCK] +
			    to[PART_LOST_BLOCK] - from[PART_LOST_BLOCK];
}

enum part explain_part(struct spans *sp, uint32_t thread, const struct wait *w)
{
	if (w->cause == WAIT_PART)
		return w->part;
	if (w->cause != WAIT_FD)
		return PART_OTHER;
	uint32_t file = names_file(spans_names(sp), thread, w->call.fd, w->call.begin, w->call.seq);
	return names_part_of(names_file_info(spans_names(sp), file)->kind);
}

/* The wait a thread is in now, as if it ended at `now`; false: it is in none. */
static bool open_wait(const struct thread *t, int64_t now, struct wait *w)
{
	const struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN;
	if (!t->hard || (!woken && st->run != RUN_BLOCKED && st->run != RUN_PREEMPTED))
		return false;
	*w = (struct wait){
		.begin = st->off_ns, .wake = woken ? st->wake_ns : now, .end = now,
		.cause = st->run == RUN_PREEMPTED ? WAIT_PART : st->wait_cause,
		.part = st->run == RUN_PREEMPTED ? PART_PREEMPTED : st->wait_part,
		.waker = woken ? st->waker : ID_NONE, .waker_irq = woken ? st->waker_irq : 0,
		.cpu = ID_NONE, .off_cpu = st->off_cpu,
	};
	if (st->call_state == CALL_IN)
		w->call = st->call;
	return true;
}

static const struct wait *wait_at(const struct thread *t, uint64_t index)
{
	if (!t->waits || index < t->waits_base || index - t->waits_base >= t->waits->len)
		return NULL;
	return &g_array_index(t->waits, struct wait, index - t->waits_base);
}

/* ---- waits, kept with the span ---- */

guint explain_first_wait(const struct thread *t, int64_t at)
{
	guint lo = 0, hi = t->waits ? t->waits->len : 0;
	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;
		if (g_array_index(t->waits, struct wait, mid).end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* What the waker came out of just before: its last wait, if that was in a call. */
static uint32_t waker_call(struct spans *sp, uint32_t waker, int64_t wake)
{
	const struct thread *t = thread_at(spans_slice(sp), waker);
	guint next = explain_first_wait(t, wake);
	const struct wait *w = next ? &g_array_index(t->waits, struct wait, next - 1) : NULL;
	if (t->out_ns != TS_NONE && t->out_ns <= wake && (!w || t->out_ns >= w->end))
		return wake - t->out_ns <= JUST_OUT_NS ? t->out_call : 0;
	return w && wake - w->end <= JUST_OUT_NS ? w->call.name : 0;
}

bool explain_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t begin, int64_t end,
		  struct span_wait *ret)
{
	struct slice *s = spans_slice(sp);
	uint32_t host = thread_at(s, thread)->host, irq = w->waker_irq;
	uint32_t waker = thread_follow(s, w->waker);
	if (waker != ID_NONE && thread_at(s, waker)->idle) {
		waker = ID_NONE;
		irq = IRQ_UNKNOWN;
	}
	*ret = (struct span_wait){
		.begin_ns = MAX(w->begin, begin), .wake_ns = CLAMP(w->wake, begin, end),
		.end_ns = MIN(w->end, end), .part = explain_part(sp, thread, w),
		.thread = spans_map_thread(sp, thread), .call = w->call.name, .file = ID_NONE,
		.behind = ID_NONE,
		.waker = waker == ID_NONE ? ID_NONE : spans_map_thread(sp, waker),
		.waker_irq = irq ? spans_irq_text(sp, host, irq) : 0,
		.waker_call = waker == ID_NONE ? 0 : waker_call(sp, waker, w->wake),
		.cpu = w->cpu == ID_NONE ? ID_NONE : cpu_at(s, w->cpu)->number,
		.arg = w->cause == WAIT_PART && w->part == PART_FUTEX ? (uint64_t)w->call.arg[0] : 0,
	};
	if (w->cause == WAIT_FD || (w->call.name && w->call.fd >= 0))
		ret->file = names_file(spans_names(sp), thread, w->call.fd, w->call.begin, w->call.seq);
	return ret->end_ns > ret->begin_ns;
}

static int longest_wait(gconstpointer a, gconstpointer b)
{
	const struct span_wait *x = a, *y = b;
	int64_t dx = x->end_ns - x->begin_ns, dy = y->end_ns - y->begin_ns;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int earliest_wait(gconstpointer a, gconstpointer b)
{
	const struct span_wait *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Each one before the next, none alike: as they mostly come, so that nothing need be sorted. */
static bool is_ordered(const GArray *list, GCompareFunc compare)
{
	gsize size = g_array_get_element_size((GArray *)list);
	for (guint i = 1; i < list->len; i++)
		if (compare(list->data + (i - 1) * size, list->data + i * size) >= 0)
			return false;
	return true;
}

static void set_waits(struct span *span, GArray *kept)
{
	if (!kept)
		return;
	if (kept->len > SPAN_MAX_WAITS || !is_ordered(kept, earliest_wait)) {
		g_array_sort(kept, longest_wait);
		span->n_waits_more = kept->len - MIN(kept->len, SPAN_MAX_WAITS);
		g_array_set_size(kept, MIN(kept->len, SPAN_MAX_WAITS));
		g_array_sort(kept, earliest_wait);
	}
	span->n_waits = kept->len;
	span->waits = g_memdup2(kept->data, kept->len * sizeof(struct span_wait));
	g_array_unref(kept);
}

/* Of what is not recorded nothing is said. */
static void untold(const struct slice *s, struct span *span, GArray *waits)
{
	parts_untold(s, span->part);
	if (waits && !s->has_switches)
		g_array_set_size(waits, 0);
	for (guint i = 0; waits && i < waits->len; i++) {
		struct span_wait *w = &g_array_index(waits, struct span_wait, i);
		w->part = part_untold(s, w->part);
	}
}

/* ---- one half ---- */

/* What a half's waits are gathered in. */
struct waits { GArray **kept; struct behind *behind; };

static void take_wait(struct spans *sp, struct half *h, const struct waits *to, uint32_t thread,
		      const struct wait *w, int64_t begin, int64_t end)
{
	if (w->cause == WAIT_FD)
		h->span->part[explain_part(sp, thread, w)] += w->wake - w->begin;
	struct span_wait kept;
	uint32_t behind = behind_wait(to->behind, thread, w, begin, end);
	if (!explain_wait(sp, thread, w, begin, end, &kept))
		return;
	kept.behind = behind == ID_NONE ? ID_NONE : spans_map_thread(sp, behind);
	if (!*to->kept)
		*to->kept = g_array_sized_new(false, false, sizeof kept, USUAL_CALLS);
	g_array_append_val(*to->kept, kept);
}

/* The thread's account from annotation x to y, both by it. */
static void explain_run(struct spans *sp, struct half *h, const struct annot *x,
			const struct annot *y, const struct waits *to)
{
	uint32_t id = thread_follow(spans_slice(sp), x->thread);
	const struct thread *t = thread_at(spans_slice(sp), id);
	add_difference(h->span->part, x->snap->part, y->snap->part);
	for (uint64_t i = x->snap->wait_index; i < y->snap->wait_index; i++) {
		const struct wait *w = wait_at(t, i);
		if (w)
			take_wait(sp, h, to, id, w, x->ts, y->ts);
	}
}

/* From the last annotation of an open span to now. */
static void explain_open(struct spans *sp, struct half *h, const struct annot *x, int64_t now,
			 const struct waits *to)
{
	uint32_t id = thread_follow(spans_slice(sp), x->thread);
	const struct thread *t = thread_at(spans_slice(sp), id);
	int64_t part[PART_SLICE_N];
	struct wait w;
	thread_snapshot(t, now, part);
	add_difference(h->span->part, x->snap->part, part);
	for (uint64_t i = x->snap->wait_index; wait_at(t, i); i++)
		take_wait(sp, h, to, id, wait_at(t, i), x->ts, now);
	if (open_wait(t, now, &w) && w.begin >= x->ts)
		take_wait(sp, h, to, id, &w, x->ts, now);
}

static const struct annot *annot_at(struct spans *sp, const struct half *h, guint i)
{
	return &g_array_index(spans_slice(sp)->annots, struct annot, h->annots[i]);
}

static void add_segment(struct spans *sp, GArray *segments, const struct annot *x, int64_t end,
			size_t index)
{
	uint32_t thread = thread_follow(spans_slice(sp), x->thread);
	struct segment *last = segments->len ? &g_array_index(segments, struct segment,
							      segments->len - 1) : NULL;
	if (last && last->half == index && last->thread == thread && last->end == x->ts) {
		last->end = end;
		return;
	}
	struct segment seg = { thread, x->ts, end, index };
	g_array_append_val(segments, seg);
}

void explain_half(struct spans *sp, struct half *h, size_t index, int64_t now, GArray *segments)
{
	int64_t *part = h->span->part, known = 0;
	GArray *kept = NULL;
	struct waits to = { &kept, behind_new(spans_slice(sp)) };
	const struct annot *x = NULL;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *y = annot_at(sp, h, i);
		if (y->ts < h->begin || y->ts > h->end)
			continue;
		if (x && x->thread != y->thread)
			part[PART_HANDOFF] += y->ts - x->ts;
		else if (x && x->snap && y->snap)
			explain_run(sp, h, x, y, &to);
		if (x && x->snap && y->snap && x->thread == y->thread)
			add_segment(sp, segments, x, y->ts, index);
		x = y;
	}
	if (x && h->end > x->ts && x->snap) {
		explain_open(sp, h, x, h->end, &to);
		add_segment(sp, segments, x, h->end, index);
	}
	untold(spans_slice(sp), h->span, kept);
	set_waits(h->span, kept);
	h->span->behind = behind_end(to.behind, sp, part_sum_runnable(part));
	for (unsigned p = 0; p < PART_N; p++)
		known += p == PART_UNKNOWN ? 0 : part[p];
	part[PART_UNKNOWN] = h->end - h->begin - known;
}

/* ---- system calls ---- */

static int segment_order(gconstpointer a, gconstpointer b)
{
	const struct segment *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

struct gathered { GArray *calls, *slow; };	/* of one half */

static void gather_call(struct spans *sp, struct gathered *g, uint32_t thread, const struct done_call *c)
{
	struct span_call *sum = NULL;
	int64_t took = c->end - c->begin;
	if (!g->calls) {
		g->calls = g_array_sized_new(false, true, sizeof(struct span_call), USUAL_CALLS);
		g->slow = g_array_sized_new(false, false, sizeof(struct span_slow_call), USUAL_CALLS);
	}
	for (guint i = 0; i < g->calls->len && !sum; i++)
		if (g_array_index(g->calls, struct span_call, i).name == c->name)
			sum = &g_array_index(g->calls, struct span_call, i);
	if (!sum) {
		struct span_call new = { .name = c->name, .file = ID_NONE, .max_ns = -1 };
		g_array_append_val(g->calls, new);
		sum = &g_array_index(g->calls, struct span_call, g->calls->len - 1);
	}
	uint32_t file = c->fd >= 0 ? names_file(spans_names(sp), thread, c->fd, c->begin, c->seq) : ID_NONE;
	sum->count++;
	sum->errors += is_error(c->ret);
	sum->total_ns += took;
	if (took > sum->max_ns) {
		sum->max_ns = took;
		sum->file = file;
	}
	struct span_slow_call slow = {
		.begin_ns = c->begin, .duration_ns = took, .ret = c->ret, .name = c->name,
		.file = file, .thread = spans_map_thread(sp, thread),
	};
	g_array_append_val(g->slow, slow);
}

static int slowest_call(gconstpointer a, gconstpointer b)
{
	const struct span_slow_call *x = a, *y = b;
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int earliest_call(gconstpointer a, gconstpointer b)
{
	const struct span_slow_call *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

#define SPAN_MAX_SLOW 64

static int largest_sum(gconstpointer a, gconstpointer b, gpointer strings)
{
	const struct span_call *x = a, *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static void set_calls(struct spans *sp, struct half *h, struct gathered *g)
{
	struct span *span = h->span;
	if (!g->calls)
		return;
	if (g->calls->len > 1)
		g_array_sort_with_data(g->calls, largest_sum, spans_slice(sp)->strings);
	if (g->slow->len > SPAN_MAX_SLOW || !is_ordered(g->slow, earliest_call)) {
		g_array_sort(g->slow, slowest_call);
		span->n_slow_more = g->slow->len - MIN(g->slow->len, SPAN_MAX_SLOW);
		g_array_set_size(g->slow, MIN(g->slow->len, SPAN_MAX_SLOW));
		g_array_sort(g->slow, earliest_call);
	}
	span->n_slow = g->slow->len;
	span->slow = g_memdup2(g->slow->data, g->slow->len * sizeof(struct span_slow_call));
	span->n_calls = g->calls->len;
	span->calls = g_memdup2(g->calls->data, g->calls->len * sizeof(struct span_call));
	g_array_unref(g->slow);
	g_array_unref(g->calls);
}

/* The first call that ends then or later: they are in the order in which they ended. */
static guint first_call(const GArray *calls, int64_t from)
{
	guint low = 0, high = calls ? calls->len : 0;
	while (low < high) {
		guint mid = low + (high - low) / 2;
		if (g_array_index(calls, struct done_call, mid).end < from)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The calls of one thread (segs[0..n) are its segments, by begin) to the innermost
 * segment that holds them whole. */
static void assign_calls(struct spans *sp, const struct segment *segs, guint n, struct gathered *all)
{
	const struct thread *t = thread_at(spans_slice(sp), segs->thread);
	g_autoptr(GArray) stack = g_array_new(false, false, sizeof(guint));
	guint next = 0;
	int64_t last = segs->end;
	for (guint i = 1; i < n; i++)
		last = MAX(last, segs[i].end);
	for (guint i = first_call(t->calls, segs->begin); t->calls && i < t->calls->len; i++) {
		const struct done_call *c = &g_array_index(t->calls, struct done_call, i);
		if (c->end > last)
			break;
		while (next < n && segs[next].begin <= c->begin)
			g_array_append_val(stack, next), next++;
		while (stack->len && segs[g_array_index(stack, guint, stack->len - 1)].end <= c->begin)
			g_array_set_size(stack, stack->len - 1);
		for (guint k = stack->len; k > 0; k--) {
			const struct segment *seg = &segs[g_array_index(stack, guint, k - 1)];
			if (seg->end < c->end)
				continue;
			gather_call(sp, &all[seg->half], segs->thread, c);
			break;
		}
	}
}

void explain_calls(struct spans *sp, GArray *halves, GArray *segments)
{
	if (!segments->len)
		return;
	struct gathered *all = g_new0(struct gathered, halves->len + 1);
	g_array_sort(segments, segment_order);
	for (guint i = 0, n; i < segments->len; i += n) {
		const struct segment *first = &g_array_index(segments, struct segment, i);
		for (n = 1; i + n < segments->len && first[n].thread == first->thread;)
			n++;
		assign_calls(sp, first, n, all);
	}
	for (guint i = 0; i < halves->len; i++)
		set_calls(sp, &g_array_index(halves, struct half, i), &all[i]);
	g_free(all);
}
