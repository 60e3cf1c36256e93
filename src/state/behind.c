/* SPDX-License-Identifier: GPL-2.0-only */
/* Who ran instead: see behind.h. */
#include "state/behind.h"

#include "state/runs.h"

struct neighbour {
	const struct thread *thread;
	int64_t ns;
};

struct behind {
	const struct slice *s;
	GArray *all;		/* struct neighbour: each time one ran; NULL: never */
	int64_t idle;
};

struct behind *behind_new(struct slice *s)
{
	struct behind *b = g_new0(struct behind, 1);
	b->s = s;
	return b;
}

static void add_piece(void *data, uint32_t thread, int64_t from, int64_t to)
{
	struct behind *b = data;
	struct neighbour n = { thread == ID_NONE ? NULL : thread_at(b->s, thread), to - from };
	if (!n.thread)
		return;
	if (n.thread->idle) {
		b->idle += n.ns;
		return;
	}
	if (!b->all)
		b->all = g_array_new(false, false, sizeof n);
	g_array_append_val(b->all, n);
}

static void add_queue(void *data, const struct cpu *cpu, int64_t from, int64_t to)
{
	struct behind *b = data;
	if (cpu)
		runs_between(b->s, cpu, from, to, add_piece, b);
}

/* By what they are, never by the slice's numbers. */
static int thread_order(gconstpointer a, gconstpointer b)
{
	const struct thread *x = ((const struct neighbour *)a)->thread;
	const struct thread *y = ((const struct neighbour *)b)->thread;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->exit_ns != y->exit_ns)
		return x->exit_ns < y->exit_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct neighbour *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return thread_order(a, b);
}

/* One entry a thread, the longest first. */
static void sum_up(GArray *all)
{
	guint kept = 0;
	g_array_sort(all, thread_order);
	for (guint i = 0; i < all->len; i++) {
		const struct neighbour *n = &g_array_index(all, struct neighbour, i);
		struct neighbour *last = kept ? &g_array_index(all, struct neighbour, kept - 1) : NULL;
		if (last && last->thread == n->thread)
			last->ns += n->ns;
		else
			g_array_index(all, struct neighbour, kept++) = *n;
	}
	g_array_set_size(all, kept);
	g_array_sort(all, longest_first);
}

void behind_free(struct behind *b)
{
	if (b->all)
		g_array_unref(b->all);
	g_free(b);
}

/* Of those from the first on, against what was idle meanwhile. */
static uint32_t longest_of(const struct behind *b, guint first, int64_t idle)
{
	g_autoptr(GArray) one = NULL;
	const struct neighbour *n = NULL;
	if (b->all && b->all->len > first)
		n = &g_array_index(b->all, struct neighbour, first);
	if (n && b->all->len > first + 1) {
		one = g_array_new(false, false, sizeof *n);
		g_array_append_vals(one, n, b->all->len - first);
		sum_up(one);
		n = &g_array_index(one, struct neighbour, 0);
	}
	return n && n->ns >= idle ? n->thread->self : ID_NONE;
}

uint32_t behind_wait(struct behind *b, uint32_t thread, const struct wait *w, int64_t begin, int64_t end)
{
	guint first = b->all ? b->all->len : 0;
	int64_t idle = b->idle;
	runs_runnable(b->s, thread_at(b->s, thread), w, begin, end, add_queue, b);
	return longest_of(b, first, b->idle - idle);
}

struct span_behind *behind_end(struct behind *b, struct spans *sp, int64_t runnable)
{
	struct span_behind *r = NULL;
	g_autoptr(GArray) all = b->all;
	if (runnable > 0) {
		if (!all)
			all = g_array_new(false, false, sizeof(struct neighbour));
		sum_up(all);
		uint32_t n = MIN(all->len, SPAN_MAX_NEIGHBOURS);
		r = g_malloc0(sizeof *r + n * sizeof r->top[0]);
		r->n = n;
		r->n_more = all->len - n;
		r->idle_ns = b->idle;
		r->unknown_ns = runnable - b->idle;
		for (guint i = 0; i < all->len; i++) {
			const struct neighbour *x = &g_array_index(all, struct neighbour, i);
			r->unknown_ns -= x->ns;
			if (i >= n) {
				r->more_ns += x->ns;
				continue;
			}
			r->top[i].thread = spans_map_thread(sp, x->thread->self);
			r->top[i].ns = x->ns;
		}
	}
	g_free(b);
	return r;
}
