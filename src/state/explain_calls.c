/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls of spans: each is the innermost segment's of its thread that holds it whole.
 */
#include "state/spans_private.h"

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
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *y = annot_of(sp, h, i);
		if (y->ts < h->begin || y->ts > h->end)
			continue;
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
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

void spans_find_segments(struct spans *sp)
{
	sp->segments.len = 0;
	for (guint i = 0; i < sp->halves.len; i++)
		add_segments(sp, i);
	vec_sort(&sp->segments, sizeof(struct segment), segment_order, NULL);
}

/* ---- whose a call is ---- */

void spans_group(struct spans *sp, struct vec *to)
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
	for (guint i = 0; i < n; i++)
		starts[from[i].half + 2]++;
	for (guint i = 2; i <= halves; i++)
		starts[i] += starts[i - 1];
	for (guint i = 0; i < n; i++)
		*vec_at(to, struct inner, starts[from[i].half + 1]++) = from[i];
}

/* The first call that ends then or later: they are in the order in which they ended. */
static guint first_call(struct thread *t, int64_t from)
{
	return t->call_hint = vec_first_after(&t->calls, sizeof(struct done_call), offsetof(struct done_call, end),
					      from - 1, t->call_hint);
}

/* The calls of one thread, whose segments are first .. end. */
static void find_calls(struct spans *sp, guint first, guint end)
{
	const struct segment *segs = sp->segments.data;
	struct thread *t = thread_at(sp->s, segs[first].thread);
	struct vec *stack = &sp->stack;
	guint next = first;
	int64_t last = segs[first].end;
	stack->len = 0;
	for (guint i = first + 1; i < end; i++)
		last = MAX(last, segs[i].end);
	for (guint i = first_call(t, segs[first].begin); i < t->calls.len; i++) {
		const struct done_call *c = vec_at(&t->calls, struct done_call, i);
		if (c->end > last)
			break;
		for (; next < end && segs[next].begin <= c->begin; next++)
			*vec_add(stack, guint) = next;
		while (stack->len && segs[*vec_at(stack, guint, stack->len - 1)].end <= c->begin)
			stack->len--;
		for (guint k = stack->len; k > 0; k--) {
			guint seg = *vec_at(stack, guint, k - 1);
			if (segs[seg].end < c->end)
				continue;
			*vec_add(&sp->inner, struct inner) = (struct inner){ segs[seg].half, seg, i };
			break;
		}
	}
}

void spans_find_calls(struct spans *sp)
{
	const struct segment *segs = sp->segments.data;
	sp->inner.len = 0;
	for (guint i = 0, end; i < sp->segments.len; i = end) {
		for (end = i + 1; end < sp->segments.len && segs[end].thread == segs[i].thread;)
			end++;
		find_calls(sp, i, end);
	}
	spans_group(sp, &sp->calls);
	const guint *starts = sp->starts.data;
	for (guint i = 0; i < sp->halves.len; i++) {
		half_at(sp, i)->calls = starts[i];
		half_at(sp, i)->n_calls = starts[i + 1] - starts[i];
	}
}

/* ---- of one half ---- */

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

static struct span_call *sum_of(struct vec *calls, uint32_t name)
{
	for (guint i = 0; i < calls->len; i++)
		if (vec_at(calls, struct span_call, i)->name == name)
			return vec_at(calls, struct span_call, i);
	struct span_call *fresh = vec_add(calls, struct span_call);
	*fresh = (struct span_call){ .name = name, .file = ID_NONE, .max_ns = -1 };
	return fresh;
}

/* Its number among the calls stands for its file, until it is known which are kept. */
static void gather_call(struct spans *sp, const struct done_call *c, uint32_t thread, guint number)
{
	struct span_call *sum = sum_of(&sp->parts.calls, c->name);
	int64_t took = c->end - c->begin;
	sum->count++;
	sum->errors += is_error(c->ret);
	sum->total_ns += took;
	if (took > sum->max_ns) {
		sum->max_ns = took;
		sum->file = number;
	}
	*vec_add(&sp->parts.slow, struct span_slow_call) = (struct span_slow_call){
		.begin_ns = c->begin, .duration_ns = took, .ret = c->ret, .name = c->name,
		.file = number, .thread = thread,
	};
}

static const struct done_call *call_at(const struct spans *sp, const struct inner *in, uint32_t *ret_thread)
{
	*ret_thread = segment_at(sp, in->segment)->thread;
	return vec_at(&thread_at(sp->s, *ret_thread)->calls, struct done_call, in->index);
}

static uint32_t file_of(struct spans *sp, guint number)
{
	uint32_t thread;
	const struct done_call *c = call_at(sp, vec_at(&sp->calls, struct inner, number), &thread);
	return c->fd >= 0 ? names_file(sp->n, thread, c->fd, c->begin, c->seq) : ID_NONE;
}

static int slowest_call(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct span_slow_call *x = a, *y = b;
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int earliest_call(gconstpointer a, gconstpointer b, gpointer data)
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

/* None alike: as they mostly come, so that nothing need be sorted. */
static bool in_order(const struct vec *slow)
{
	const struct span_slow_call *c = slow->data;
	for (guint i = 1; i < slow->len; i++)
		if (c[i - 1].begin_ns >= c[i].begin_ns)
			return false;
	return true;
}

static void set_calls(struct spans *sp, const struct half *h, struct span *span)
{
	struct vec *sums = &sp->parts.calls, *slow = &sp->parts.slow;
	vec_sort(sums, sizeof(struct span_call), largest_sum, sp->s->strings);
	bool sorted = slow->len <= SPAN_MAX_SLOW && in_order(slow);
	if (!sorted) {
		vec_sort(slow, sizeof(struct span_slow_call), slowest_call, NULL);
		span->n_slow_more = slow->len - MIN(slow->len, SPAN_MAX_SLOW);
		slow->len -= span->n_slow_more;
		vec_sort(slow, sizeof(struct span_slow_call), earliest_call, NULL);
	}
	for (guint i = 0; i < slow->len; i++) {
		struct span_slow_call *c = vec_at(slow, struct span_slow_call, i);
		c->file = file_of(sp, c->file);
	}
	for (guint i = 0; i < sums->len; i++) {
		struct span_call *c = vec_at(sums, struct span_call, i);
		c->file = sorted ? vec_at(slow, struct span_slow_call, c->file - h->calls)->file
				 : file_of(sp, c->file);
	}
	span->slow = slow->data;
	span->n_slow = slow->len;
	span->calls = sums->data;
	span->n_calls = sums->len;
}

void explain_calls(struct spans *sp, const struct half *h, struct span *span)
{
	uint32_t last = ID_NONE, shown = ID_NONE, thread;
	sp->parts.calls.len = sp->parts.slow.len = 0;
	for (guint i = h->calls; i < h->calls + h->n_calls; i++) {
		const struct done_call *c = call_at(sp, vec_at(&sp->calls, struct inner, i), &thread);
		if (thread != last)
			shown = spans_map_thread(sp, thread);
		last = thread;
		gather_call(sp, c, shown, i);
	}
	if (h->n_calls)
		set_calls(sp, h, span);
}
