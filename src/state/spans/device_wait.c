/* SPDX-License-Identifier: GPL-2.0-only */
/* Which part of a wait a block request was outstanding in: see device_wait.h. */
#include "state/spans/device_wait.h"

#include "base/each.h"
#include "base/sort.h"
#include "state/kernel/block.h"
#include "state/names/names.h"

#define BLOCK_SOFTIRQ 4			/* include/linux/interrupt.h */
#define IRQ_KIND UINT32_C(0xff000000)	/* of the codes in thread_record.h */

struct interval { int64_t begin, end; };

struct search {
	struct spans *sp;
	uint32_t thread, process;
	int64_t from, to;
	struct vec *intervals, *service;	/* struct interval: outstanding, and in the device */
	int64_t last_end;		/* of the request of .submitter */
	uint32_t submitter;
};

static bool may_wait_for(const struct search *x, const struct block_busy *b, uint32_t submitter)
{
	const struct names *n = x->sp->n;
	return b->read || submitter == ID_NONE || submitter == x->thread || names_is_kernel(n, submitter) ||
	       (x->process != ID_NONE && names_process(n, submitter) == x->process);
}

static void add_request(const struct block_busy *b, void *data)
{
	struct search *x = data;
	uint32_t submitter = thread_follow(x->sp->s, b->thread);
	if (!may_wait_for(x, b, submitter))
		return;
	struct interval v = { MAX(b->begin, x->from), MIN(b->end, x->to) };
	*vec_add(x->intervals, struct interval) = v;
	v.begin = MAX(v.begin, b->issue);
	if (v.begin < v.end)
		*vec_add(x->service, struct interval) = v;
	if (b->end <= x->to && b->end >= x->last_end) {
		x->last_end = b->end;
		x->submitter = submitter == x->thread ? ID_NONE : submitter;
	}
}

static int by_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct interval *x = a, *y = b;
	return ORDER(x->begin, y->begin);
}

static int64_t sum_of(struct vec *intervals)
{
	int64_t sum = 0, until = INT64_MIN;
	vec_sort(intervals, sizeof(struct interval), by_begin, NULL);
	ARRAY_EACH(const struct interval, x, intervals) {
		if (x->end <= until)
			continue;
		sum += x->end - MAX(x->begin, until);
		until = x->end;
	}
	return sum;
}

/* Did the end of a request wake the thread? Yes in a device's interrupt and in the softirq of block devices. Where the
 * trace has no interrupts, also if the waker seems to be a user thread, as that may have been interrupted. */
static bool woken_by_device(struct spans *sp, const struct wait *w)
{
	uint32_t waker = thread_follow(sp->s, w->waker), irq = w->waker_irq;
	if (irq)
		return irq == IRQ_SOFT(BLOCK_SOFTIRQ) || (irq & IRQ_KIND) == IRQ_HARD(0) || irq == IRQ_UNKNOWN;
	if (waker == ID_NONE || thread_at(sp->s, waker)->idle)
		return true;
	return !sp->s->has_interrupts && !names_is_kernel(sp->n, waker);
}

/* Did a user thread end the wait, which was thus for a lock that it held? Where the trace has no interrupts that is
 * unknown: it may have been interrupted. */
static bool woken_by_user(struct spans *sp, const struct wait *w)
{
	uint32_t waker = thread_follow(sp->s, w->waker);
	return sp->s->has_interrupts && !w->waker_irq && waker != ID_NONE && !thread_at(sp->s, waker)->idle &&
	       !names_is_kernel(sp->n, waker);
}

/* A request's completion is logged before its interrupt wakes the threads that wait for it, possibly much later. */
static void extend_last(struct search *x)
{
	if (x->last_end == INT64_MIN)
		return;
	struct interval rest = { MAX(x->last_end, x->from), x->to };
	*vec_add(x->intervals, struct interval) = rest;
	*vec_add(x->service, struct interval) = rest;
}

bool device_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t from, int64_t to,
		 struct device_wait *ret)
{
	*ret = (struct device_wait){ .submitter = ID_NONE };
	if (!sp->s->has_complete || !sp->s->has_issue || from >= to)
		return false;
	if (woken_by_user(sp, w))
		return true;
	struct search x = { .sp = sp, .thread = thread, .process = names_process(sp->n, thread), .from = from, .to = to,
			    .intervals = &sp->outstanding, .service = &sp->in_device,
			    .last_end = INT64_MIN, .submitter = ID_NONE };
	x.intervals->len = x.service->len = 0;
	blocks_each_busy(sp->s, thread_at(sp->s, thread)->host, from, to, add_request, &x);
	ret->by_device = to == w->wake && woken_by_device(sp, w);
	if (ret->by_device)
		extend_last(&x);
	ret->outstanding_ns = sum_of(x.intervals);
	ret->queue_ns = ret->outstanding_ns - sum_of(x.service);
	ret->submitter = x.submitter;
	g_assert(ret->queue_ns >= 0 && ret->outstanding_ns <= to - from);
	return true;
}
