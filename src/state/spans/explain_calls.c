/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls of spans. A call belongs to the innermost segment of its thread that contains the whole call. */
#include "state/spans/explain_calls.h"

#include "state/kernel/thread_logs.h"
#include "state/spans/explain.h"

#include "base/call_event.h"
#include "base/limits.h"
#include "base/sort.h"

/* ---- segments ---- */

static void add_segment(struct spans *sp, const struct annot *x, int64_t end, guint half)
{
	uint32_t thread = thread_follow(sp->s, x->thread);
	struct segment *last = sp->segments.len ? vec_at(&sp->segments, struct segment,
							 sp->segments.len - 1) : NULL;
	if (last && last->half == half && last->thread == thread && last->end == x->ts)
		last->end = end;
	else
		*vec_add(&sp->segments, struct segment) = (struct segment){ x->ts, end, thread, half };
}

static void add_segments(struct spans *sp, guint half)
{
	const struct half *h = half_at(sp, half);
	const struct annot *x = NULL;
	struct annot past;
	struct snap snap;
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *y = annot_of(sp, h, i);
		if (y->ts < h->begin || y->ts > h->end)
			continue;
		if (explain_back(sp, y, &past, &snap))
			add_segment(sp, &past, y->ts, half);
		if (x && x->snap && y->snap && x->thread == y->thread)
			add_segment(sp, x, y->ts, half);
		x = y;
	}
	if (x && h->end > x->ts && x->snap)
		add_segment(sp, x, h->end, half);
}

static int segment_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct segment *x = a, *y = b;
	return ORDER(x->thread, y->thread) ?: ORDER(x->begin, y->begin) ?: ORDER(y->end, x->end);
}

void spans_find_segments(struct spans *sp)
{
	sp->segments.len = 0;
	for (guint i = 0; i < sp->halves.len; i++)
		add_segments(sp, i);
	vec_sort(&sp->segments, sizeof(struct segment), segment_order, NULL);
}

/* ---- assigning calls to halves ---- */

/* Sorts sp->inner by half into *to. spans.starts gets the index where each half begins, and a final entry with the
 * end. */
static void group(struct spans *sp, struct vec *to)
{
	const struct inner *from = sp->inner.data;
	guint n = sp->inner.len, halves = sp->halves.len;
	sp->starts.len = to->len = 0;
	vec_grow(&sp->starts, halves + 2, sizeof(guint));
	vec_grow(to, n + 1, sizeof(struct inner));
	sp->starts.len = halves + 1;
	to->len = n;
	guint *starts = sp->starts.data;
	memset(starts, 0, (halves + 2) * sizeof *starts);
	for (guint i = 0; i < n; i++) {
		g_assert(from[i].half < halves);
		starts[from[i].half + 2]++;
	}
	for (guint i = 2; i <= halves; i++)
		starts[i] += starts[i - 1];
	for (guint i = 0; i < n; i++)
		*vec_at(to, struct inner, starts[from[i].half + 1]++) = from[i];
}

void spans_find_inner(struct spans *sp, void (*find)(struct spans *sp, guint first, guint end), struct vec *to,
		      size_t range_at)
{
	const struct segment *segs = sp->segments.data;
	sp->inner.len = 0;
	for (guint i = 0, end; i < sp->segments.len; i = end) {
		for (end = i + 1; end < sp->segments.len && segs[end].thread == segs[i].thread;)
			end++;
		find(sp, i, end);
	}
	group(sp, to);
	const guint *starts = sp->starts.data;
	for (guint i = 0; i < sp->halves.len; i++)
		*(struct inner_range *)(void *)((char *)half_at(sp, i) + range_at) =
			(struct inner_range){ starts[i], starts[i + 1] - starts[i] };
}

/* Index of the first call that ends at `from` or later. The log is in order of end time. */
static guint first_call(struct thread *t, int64_t from)
{
	return t->call_hint = vec_first_after(&t->calls, sizeof(struct done_call), offsetof(struct done_call, end),
					      from - 1, t->call_hint);
}

/* Position + 1 on the stack of the innermost segment that ends at `end` or later; 0: none. */
static guint innermost(const struct vec *stack, const struct segment *segs, int64_t end)
{
	guint k = stack->len;
	while (k > 0 && segs[*vec_at(stack, guint, k - 1)].end < end)
		k--;
	return k;
}

/* Number of calls from `from` on that end within the segment and begin before the next segment begins. */
static guint calls_inside(const struct thread *t, guint from, int64_t end, int64_t next_begin)
{
	const struct done_call *calls = t->calls.data;
	int64_t until = MIN(end, next_begin);
	guint i = from + 1;
	while (i < t->calls.len && calls[i].begin < until && calls[i].end <= end)
		i++;
	return i - from;
}

/* Finds the calls of one thread; its segments are first .. end - 1. */
static void find_calls(struct spans *sp, guint first, guint end)
{
	const struct segment *segs = sp->segments.data;
	struct thread *t = thread_at(sp->s, segs[first].thread);
	g_assert(first < end && end <= sp->segments.len && segs[end - 1].thread == segs[first].thread);
	const struct done_call *calls = t->calls.data;
	struct vec *stack = &sp->stack;
	guint next = first, n;
	int64_t last = segs[first].end;
	stack->len = 0;
	for (guint i = first + 1; i < end; i++)
		last = MAX(last, segs[i].end);
	for (guint i = first_call(t, segs[first].begin); i < t->calls.len && calls[i].end <= last; i += n) {
		for (; next < end && segs[next].begin <= calls[i].begin; next++)
			*vec_add(stack, guint) = next;
		while (stack->len && segs[*vec_at(stack, guint, stack->len - 1)].end <= calls[i].begin)
			stack->len--;
		guint k = innermost(stack, segs, calls[i].end), seg = k ? *vec_at(stack, guint, k - 1) : 0;
		n = 1;
		if (k && k == stack->len)
			n = calls_inside(t, i, segs[seg].end, next < end ? segs[next].begin : INT64_MAX);
		if (k)
			*vec_add(&sp->inner, struct inner) = (struct inner){ segs[seg].half, seg, i, n };
	}
}

void spans_find_calls(struct spans *sp)
{
	spans_find_inner(sp, find_calls, &sp->calls, offsetof(struct half, calls));
}

/* ---- calls of one half ---- */

static struct span_call *sum_of(struct vec *calls, uint32_t name)
{
	for (guint i = 0; i < calls->len; i++)
		if (vec_at(calls, struct span_call, i)->name == name)
			return vec_at(calls, struct span_call, i);
	struct span_call *fresh = vec_add(calls, struct span_call);
	*fresh = (struct span_call){ .name = name, .file = ID_NONE, .max_ns = -1 };
	return fresh;
}

static void count_call(struct vec *sums, const struct span_slow_call *c)
{
	struct span_call *sum = sum_of(sums, c->name);
	sum->count++;
	sum->errors += call_failed(c->ret);
	sum->total_ns += c->duration_ns;
	if (c->duration_ns > sum->max_ns) {
		sum->max_ns = c->duration_ns;
		sum->file = c->file;
	}
}

static void gather_calls(struct spans *sp, const struct inner *in)
{
	uint32_t thread = segment_at(sp, in->segment)->thread, shown = spans_map_thread(sp, thread);
	const struct done_call *c = vec_at(&thread_at(sp->s, thread)->calls, struct done_call, in->index);
	struct vec *slow = &sp->parts.slow;
	vec_grow(slow, slow->len + in->n, sizeof(struct span_slow_call));
	struct span_slow_call *to = vec_at(slow, struct span_slow_call, slow->len);
	slow->len += in->n;
	for (const struct done_call *end = c + in->n; c < end; c++, to++) {
		*to = (struct span_slow_call){
			.begin_ns = c->begin, .duration_ns = c->end - c->begin, .ret = c->ret, .name = c->name,
			.file = c->fd >= 0 ? names_file(sp->n, thread, c->fd, c->seq) : ID_NONE,
			.thread = shown, .wait = c->wait,
		};
		bool plain = c->wait && call_info(strtab_get(sp->s->strings, c->name))->dir == IO_DIR_PLAIN;
		if (plain)
			to->wait = to->file == ID_NONE ? CALL_NO_WAIT : names_wait_of(sp->n, to->file);
		count_call(&sp->parts.calls, to);
	}
}

static int slowest_call(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct span_slow_call *x = a, *y = b;
	return ORDER(y->duration_ns, x->duration_ns) ?: ORDER(x->begin_ns, y->begin_ns);
}

static int earliest_call(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct span_slow_call *x = a, *y = b;
	return ORDER(x->begin_ns, y->begin_ns);
}

static int largest_sum(gconstpointer a, gconstpointer b, gpointer strings)
{
	const struct span_call *x = a, *y = b;
	return ORDER(y->total_ns, x->total_ns) ?: strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

/* Is the array in strict order of begin time already? Usually it is, and need not be sorted. */
static bool in_order(const struct vec *slow)
{
	const struct span_slow_call *c = slow->data;
	for (guint i = 1; i < slow->len; i++)
		if (c[i - 1].begin_ns >= c[i].begin_ns)
			return false;
	return true;
}

void explain_calls(struct spans *sp, const struct half *h, struct span *span)
{
	struct vec *sums = &sp->parts.calls, *slow = &sp->parts.slow;
	sums->len = slow->len = 0;
	if (!h->calls.n)
		return;
	for (guint i = h->calls.first; i < h->calls.first + h->calls.n; i++)
		gather_calls(sp, vec_at(&sp->calls, struct inner, i));
	vec_sort(sums, sizeof(struct span_call), largest_sum, sp->s->strings);
	if (slow->len > LIMIT_SPAN_CALLS) {
		vec_sort(slow, sizeof(struct span_slow_call), slowest_call, NULL);
		span->n_slow_more = slow->len - LIMIT_SPAN_CALLS;
		slow->len = LIMIT_SPAN_CALLS;
	}
	if (span->n_slow_more || (h->calls.n > 1 && !in_order(slow)))	/* the calls of one run are in order */
		vec_sort(slow, sizeof(struct span_slow_call), earliest_call, NULL);
	span->slow = slow->data;
	span->n_slow = slow->len;
	span->calls = sums->data;
	span->n_calls = sums->len;
}
