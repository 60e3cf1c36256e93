/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums up the threads that ran while a span's thread was runnable; see cpu_neighbours.h. */
#include "state/spans/cpu_neighbours.h"

#include "state/kernel/cpu_runs.h"
#include "state/kernel/slice_state.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"

static void add_piece(void *data, uint32_t thread, int64_t from, int64_t to)
{
	struct neighbour_list *b = data;
	struct neighbour n = { thread == ID_NONE ? NULL : thread_at(b->s, thread), to - from };
	if (!n.thread)
		return;
	if (n.thread->idle) {
		b->idle += n.ns;
		return;
	}
	*vec_add(&b->all, struct neighbour) = n;
}

static void add_queue(void *data, struct cpu *cpu, int64_t from, int64_t to)
{
	struct neighbour_list *b = data;
	if (cpu)
		runs_between(b->s, cpu, from, to, add_piece, b);
}

/* Orders by tid and times, not by id: ids depend on where the trace was cut. */
static int thread_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct thread *x = ((const struct neighbour *)a)->thread;
	const struct thread *y = ((const struct neighbour *)b)->thread;
	return ORDER(x->tid, y->tid) ?: ORDER(x->start_ns, y->start_ns) ?: ORDER(x->exit_ns, y->exit_ns) ?:
	       ORDER(x, y);
}

static int longest_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct neighbour *x = a, *y = b;
	return ORDER(y->ns, x->ns) ?: thread_order(a, b, data);
}

#define FEW 32		/* entries: up to this many, a linear search is faster than sorting */

/* Searches entries from `from` to `end` for the thread. Returns `end` if there is none. */
static guint same_thread(const struct vec *all, guint from, guint end, const struct thread *thread)
{
	while (from < end && vec_at(all, struct neighbour, from)->thread != thread)
		from++;
	return from;
}

/* Merges the entries of each thread and sorts the threads by time, the longest first. */
static void sum_up(struct vec *all)
{
	bool few = all->len <= FEW;
	guint n_left = 0;
	if (all->len < 2)
		return;
	if (!few)
		vec_sort(all, sizeof(struct neighbour), thread_order, NULL);
	ARRAY_EACH(const struct neighbour, n, all) {
		guint at = same_thread(all, few || !n_left ? 0 : n_left - 1, n_left, n->thread);
		if (at < n_left)
			vec_at(all, struct neighbour, at)->ns += n->ns;
		else
			*vec_at(all, struct neighbour, n_left++) = *n;
	}
	all->len = n_left;
	vec_sort(all, sizeof(struct neighbour), longest_first, NULL);
}

/* The thread that ran longest among the entries from `first` on; ID_NONE: idle time is longer. */
static uint32_t longest_of(const struct neighbour_list *b, guint first, int64_t idle)
{
	guint n = b->all.len - first;
	if (!n)
		return ID_NONE;
	struct vec copy = { 0 };
	struct neighbour longest = *vec_at(&b->all, struct neighbour, first);
	if (n > 1) {
		vec_append(&copy, vec_at(&b->all, struct neighbour, first), n, sizeof longest);
		sum_up(&copy);
		longest = *vec_at(&copy, struct neighbour, 0);
		vec_free(&copy);
	}
	return longest.ns >= idle ? longest.thread->self : ID_NONE;
}

uint32_t neighbours_of_wait(struct neighbour_list *b, uint32_t thread, const struct wait *w, int64_t begin, int64_t end)
{
	guint first = b->all.len;
	int64_t idle = b->idle;
	runs_runnable(b->s, thread_at(b->s, thread), w, begin, end, add_queue, b);
	return longest_of(b, first, b->idle - idle);
}

void neighbours_sum(struct spans *sp, struct span *span)
{
	struct neighbour_list *b = &sp->parts.neighbour_list;
	struct span_runqueue *r = (struct span_runqueue *)(void *)sp->parts.neighbours;
	int64_t runnable = part_sum_runnable(span->part);
	if (runnable <= 0)
		return;
	sum_up(&b->all);
	guint n = MIN(b->all.len, LIMIT_SPAN_NEIGHBOURS);
	*r = (struct span_runqueue){ .n = n, .n_more = b->all.len - n, .idle_ns = b->idle,
				   .unknown_ns = runnable - b->idle };
	for (guint i = 0; i < b->all.len; i++) {
		const struct neighbour *x = vec_at(&b->all, struct neighbour, i);
		r->unknown_ns -= x->ns;
		if (i < n)
			r->top[i] = (struct span_neighbour){ spans_map_thread(sp, x->thread->self), x->ns };
		else
			r->more_ns += x->ns;
	}
	span->runqueue = r;
}
