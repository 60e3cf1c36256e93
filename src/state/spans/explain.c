/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts of a span: the difference of its thread's counters between two annotations, and the waits in between. The
 * parts sum exactly to the duration: time that no counter covers is unknown.
 */
#include "state/spans/explain.h"

#include "state/kernel/sched.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/unknown_calls.h"
#include "state/names/irq_text.h"
#include "state/spans/cpu_neighbours.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"

/* ---- parts ---- */

/* Adds the difference of a thread's counters between two snapshots; waits by descriptor are not included. */
static void add_difference(int64_t *restrict part, const int64_t *restrict from, const int64_t *restrict to)
{
	for (unsigned p = 0; p < PART_N; p++)
		part[p] += to[p] - from[p];
	part[PART_USER] += to[PART_UNRESOLVED_RUN] - from[PART_UNRESOLVED_RUN] +
			   to[PART_LOST_RUN] - from[PART_LOST_RUN];
	part[PART_OTHER] += to[PART_UNRESOLVED_BLOCK] - from[PART_UNRESOLVED_BLOCK] +
			    to[PART_LOST_BLOCK] - from[PART_LOST_BLOCK] +
			    to[PART_RESTART_BLOCK] - from[PART_RESTART_BLOCK];
}

static uint32_t wait_file(struct spans *sp, uint32_t thread, const struct wait *w)
{
	return names_file(sp->n, thread, w->call.fd, w->call.seq);
}

static enum part part_of_file(struct spans *sp, uint32_t file)
{
	return names_part_of(names_file_info(sp->n, file)->kind);
}

/* What the call waits for. A kernel thread has neither calls nor page faults. file: of WAIT_FD. */
static enum part part_of_call(struct spans *sp, uint32_t thread, const struct wait *w, uint32_t file)
{
	if (w->cause == WAIT_FD)
		return part_of_file(sp, file);
	if (w->cause != WAIT_PART || (w->part == PART_FAULT && names_is_kernel(sp->n, thread)))
		return PART_OTHER;
	return w->part;
}

static enum part part_of_wait(struct spans *sp, uint32_t thread, const struct wait *w, uint32_t file,
			      int64_t from, int64_t to, struct device_wait *ret)
{
	enum part part = part_of_call(sp, thread, w, file);
	from = MAX(from, w->begin);
	to = MIN(to, w->wake);
	if (part != PART_DISK || !device_wait(sp, thread, w, from, to, ret)) {
		*ret = (struct device_wait){ .outstanding_ns = MAX(to - from, 0), .submitter = ID_NONE };
		return part;
	}
	return ret->outstanding_ns * 2 < to - from ? PART_WRITEBACK : PART_DISK;
}

enum part explain_part(struct spans *sp, uint32_t thread, const struct wait *w, int64_t from, int64_t to,
		       struct device_wait *ret)
{
	uint32_t file = w->cause == WAIT_FD ? wait_file(sp, thread, w) : ID_NONE;
	return part_of_wait(sp, thread, w, file, from, to, ret);
}

/* The wait that the thread is in now, as if it ended at `now`; false: the thread does not wait. */
static bool open_wait(const struct thread *t, int64_t now, struct wait *w)
{
	const struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN;
	if (!t->resolved || (!woken && st->run != RUN_BLOCKED && st->run != RUN_PREEMPTED))
		return false;
	*w = (struct wait){
		.begin = st->off_ns, .wake = woken ? st->wake_ns : now, .end = now,
		.cause = st->run == RUN_PREEMPTED ? WAIT_PART : st->wait_cause,
		.part = st->run == RUN_PREEMPTED ? PART_PREEMPTED : st->wait_part,
		.waker = woken ? st->waker : ID_NONE, .waker_irq = woken ? st->waker_irq : 0,
		.cpu = ID_NONE, .off_cpu = st->off_cpu,
	};
	if (st->call_state == CALL_IN)
		w->call = wait_call(&st->call);
	return true;
}

static struct wait *wait_at(const struct thread *t, uint64_t index)
{
	if (index < t->waits_base || index - t->waits_base >= t->waits.len)
		return NULL;
	return vec_at(&t->waits, struct wait, index - t->waits_base);
}

/* ---- waits, stored with the span ---- */

guint explain_first_wait(struct thread *t, int64_t at)
{
	return t->wait_hint = vec_first_after(&t->waits, sizeof(struct wait), offsetof(struct wait, end), at,
					      t->wait_hint);
}

/* The call that the waker left at most JUST_OUT_NS before the wakeup: the call of its last wait; 0: none. */
static uint32_t waker_call(struct spans *sp, uint32_t waker, int64_t wake)
{
	struct thread *t = thread_at(sp->s, waker);
	guint next = explain_first_wait(t, wake);
	const struct wait *w = next ? vec_at(&t->waits, struct wait, next - 1) : NULL;
	if (t->out_ns != TS_NONE && t->out_ns <= wake && (!w || t->out_ns >= w->end))
		return wake - t->out_ns <= JUST_OUT_NS ? t->out_call : 0;
	return w && wake - w->end <= JUST_OUT_NS ? w->call.name : 0;
}

static bool is_futex(const struct wait *w)
{
	return w->cause == WAIT_PART && w->part == PART_FUTEX;
}

/* Was the thread ending at that instant? In exit(), the kernel wakes those who wait for it. */
static bool is_ending(const struct thread *t, int64_t at)
{
	const struct call *c = &t->st.call;
	return t->st.call_state == CALL_IN && c->name && info_of_call(c)->no_exit && c->begin <= at;
}

/* Does the waker's call show that the waker released the futex as a lock? *ret_ended: the call was its last one before
 * it ended, as in a join of musl. */
static bool is_release(struct thread *waker, const struct wait *w, bool *ret_ended)
{
	const struct tstate *st = &waker->st;
	uint64_t released;
	guint i = waker->call_hint = vec_first_after(&waker->calls, sizeof(struct done_call),
						     offsetof(struct done_call, end), w->wake - 1, waker->call_hint);
	const struct done_call *c = i < waker->calls.len ? vec_at(&waker->calls, struct done_call, i) : NULL;
	if (!w->call.futex)
		return false;
	if (c && c->begin <= w->wake) {
		*ret_ended = c->futex && st->returned_ns == c->end && is_ending(waker, INT64_MAX) &&
			     release_is_end(c->end, st->call.begin);
		return c->futex && c->released == w->call.futex;
	}
	return st->call_state == CALL_IN && st->call.name && st->call.begin <= w->wake &&
	       call_wakes_futex(&st->call, &released) && released == w->call.futex;
}

/* What the futex of a wait is. waker: ID_NONE: unknown. */
static void set_futex(struct spans *sp, struct span_wait *ret, const struct wait *w, uint32_t waker)
{
	struct thread *t = waker == ID_NONE ? NULL : thread_at(sp->s, waker);
	ret->arg = w->call.futex;
	bool ended = false, released = t && is_release(t, w, &ended);
	ret->joined = t && ((released && ended) || is_ending(t, w->wake));
	ret->lock = w->call.lock && !ret->joined && released;
}

#define LOOKED_BACK 16		/* signals before a stop, and waits between signal and stop */

/* Was the thread stopped, and went on, between the signal and the wait? */
static bool is_of_older_stop(struct thread *t, int64_t signal, const struct wait *w)
{
	guint next = explain_first_wait(t, w->begin);
	for (guint i = next; i > 0 && next - i < LOOKED_BACK; i--) {
		const struct wait *x = vec_at(&t->waits, struct wait, i - 1);
		if (x->end <= signal)
			return false;
		if (x->cause == WAIT_PART && x->part == PART_STOPPED)
			return true;
	}
	return next >= LOOKED_BACK;
}

/* The thread that sent the signal by which the thread, or its whole process, was stopped; ID_NONE: unknown. */
static uint32_t stopper_of(struct spans *sp, uint32_t thread, const struct wait *w)
{
	const struct vec *all = &sp->s->stops;
	guint next = vec_first_after(all, sizeof(struct stop_signal), offsetof(struct stop_signal, ts), w->begin,
				     all->len);
	uint32_t process = names_process(sp->n, thread);
	for (guint i = next; i > 0 && next - i < LOOKED_BACK; i--) {
		const struct stop_signal *x = vec_at(all, struct stop_signal, i - 1);
		uint32_t to = thread_follow(sp->s, x->thread), by = thread_follow(sp->s, x->sender);
		if (to != thread && (process == ID_NONE || names_process(sp->n, to) != process))
			continue;
		bool unknown = by == ID_NONE || thread_at(sp->s, by)->idle;
		return unknown || is_of_older_stop(thread_at(sp->s, thread), x->ts, w) ? ID_NONE : by;
	}
	return ID_NONE;
}

/* Has the wait a file? Also true for a call that waits for something other than its file. */
static bool has_file(const struct wait *w)
{
	return w->cause == WAIT_FD || (w->call.name && w->call.fd >= 0);
}

bool explain_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t begin, int64_t end,
		  struct span_wait *ret, struct device_wait *device)
{
	const struct slice *s = sp->s;
	uint32_t host = thread_at(s, thread)->host, irq = w->waker_irq;
	uint32_t waker = thread_follow(s, w->waker), file = has_file(w) ? wait_file(sp, thread, w) : ID_NONE;
	enum part part = part_of_wait(sp, thread, w, file, begin, end, device);
	if (waker != ID_NONE && thread_at(s, waker)->idle) {
		waker = ID_NONE;
		irq = irq ? irq : IRQ_UNKNOWN;
	}
	*ret = (struct span_wait){
		.begin_ns = MAX(w->begin, begin), .wake_ns = CLAMP(w->wake, begin, end),
		.end_ns = MIN(w->end, end), .part = (uint8_t)part, .thread = spans_map_thread(sp, thread),
		.call = w->call.name, .file = file, .cpu_holder = ID_NONE,
		.stopper = ID_NONE,
		.waker = spans_map_thread(sp, waker),
		.waker_irq = irq ? irq_text(&sp->irqs, sp->s, sp->n, host, irq) : 0,
		.waker_call = waker == ID_NONE ? 0 : waker_call(sp, waker, w->wake),
		.cpu = w->cpu == ID_NONE ? SPAN_NO_CPU : sched_cpu(cpu_at(s, w->cpu)),
	};
	if (is_futex(w))
		set_futex(sp, ret, w, waker);
	if (w->cause == WAIT_PART && w->part == PART_STOPPED)
		ret->stopper = spans_map_thread(sp, stopper_of(sp, thread, w));
	return ret->end_ns > ret->begin_ns;
}

static int longest_wait(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct span_wait *x = a, *y = b;
	int64_t dx = x->end_ns - x->begin_ns, dy = y->end_ns - y->begin_ns;
	return ORDER(dy, dx) ?: ORDER(x->begin_ns, y->begin_ns);
}

static int earliest_wait(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct span_wait *x = a, *y = b;
	return ORDER(x->begin_ns, y->begin_ns);
}

/* Is the array in strict order of begin time already? Usually it is, and need not be sorted. */
static bool in_order(const struct vec *waits)
{
	const struct span_wait *w = waits->data;
	for (guint i = 1; i < waits->len; i++)
		if (w[i - 1].begin_ns >= w[i].begin_ns)
			return false;
	return true;
}

static void set_waits(struct vec *waits, struct span *span)
{
	if (waits->len > LIMIT_SPAN_WAITS || !in_order(waits)) {
		vec_sort(waits, sizeof(struct span_wait), longest_wait, NULL);
		span->n_waits_more = waits->len - MIN(waits->len, LIMIT_SPAN_WAITS);
		waits->len -= span->n_waits_more;
		vec_sort(waits, sizeof(struct span_wait), earliest_wait, NULL);
	}
	span->n_waits = waits->len;
	span->waits = waits->data;
}

/* Parts and waits that the trace has no events for become unknown. */
static void set_unknown_parts(const struct slice *s, struct span *span, struct vec *waits)
{
	if (s->has_switches && s->has_calls)
		return;
	parts_are_unknown(s, span->part);
	if (!s->has_switches)
		waits->len = 0;
	ARRAY_EACH(struct span_wait, w, waits)
		w->part = (uint8_t)part_is_unknown(s, w->part);
}

/* Without insertions into the queue it is unknown how long requests were in it. */
static void set_disk_queue(const struct slice *s, struct span *span)
{
	span->disk_queue_known = s->has_calls && s->has_switches;
	if (span->part[PART_DISK])
		span->disk_queue_known &= s->has_insert && s->has_issue && s->has_complete;
	span->disk_queue_ns = span->disk_queue_known ? MIN(span->disk_queue_ns, span->part[PART_DISK]) : 0;
}

/* ---- one half ---- */

/* The part that a wait on a file is counted as at first: add_writeback() moves some of it. */
static enum part counted_part(const struct span_wait *w)
{
	return w->part == PART_WRITEBACK ? PART_DISK : (enum part)w->part;
}

/* The wait was counted as PART_DISK: moves its time without an outstanding request. */
static void add_writeback(struct span *span, const struct span_wait *w, const struct device_wait *d)
{
	int64_t ns = MIN(w->wake_ns - w->begin_ns - d->outstanding_ns, span->part[PART_DISK]);
	span->disk_queue_ns += d->queue_ns;
	if (ns <= 0)
		return;
	span->part[PART_DISK] -= ns;
	span->part[PART_WRITEBACK] += ns;
}

static struct device_wait take_wait(struct spans *sp, struct span *span, uint32_t thread, const struct wait *w,
				    int64_t begin, int64_t end)
{
	struct vec *waits = &sp->parts.waits;
	struct span_wait *stored_wait = vec_add(waits, struct span_wait);
	struct device_wait device;
	bool inside = explain_wait(sp, thread, w, begin, end, stored_wait, &device);
	uint32_t holder = neighbours_of_wait(&sp->parts.neighbour_list, thread, w, begin, end);
	if (w->cause == WAIT_FD)
		span->part[counted_part(stored_wait)] += MAX(stored_wait->wake_ns - stored_wait->begin_ns, 0);
	add_writeback(span, stored_wait, &device);
	stored_wait->cpu_holder = spans_map_thread(sp, holder);
	waits->len -= !inside;
	return device;
}

/* A wait that lies completely inside several spans of the trace. It is explained once for all of them. */
struct known_wait {
	struct span_wait stored_wait;
	const struct wait *wait;
	struct device_wait device;
	int64_t writeback_ns, disk_queue_ns;
	int64_t idle_ns;		/* its contribution to struct neighbour_list .idle */
	uint32_t n, first;		/* its entries in spans.known_neighbours */
	bool inside;
};

static const struct known_wait *find_known(const struct spans *sp, const struct wait *w)
{
	if (w->known >= sp->known.len)
		return NULL;
	const struct known_wait *k = vec_at(&sp->known, struct known_wait, w->known);
	return k->wait == w ? k : NULL;
}

static void take_known(struct spans *sp, struct span *span, const struct known_wait *k)
{
	g_assert(k->first + k->n <= sp->known_neighbours.len);
	struct neighbour_list *b = &sp->parts.neighbour_list;
	if (k->inside)
		*vec_add(&sp->parts.waits, struct span_wait) = k->stored_wait;
	if (k->wait->cause == WAIT_FD)
		span->part[counted_part(&k->stored_wait)] += k->wait->wake - k->wait->begin;
	span->part[PART_DISK] -= k->writeback_ns;
	span->part[PART_WRITEBACK] += k->writeback_ns;
	span->disk_queue_ns += k->disk_queue_ns;
	b->idle += k->idle_ns;
	vec_append(&b->all, vec_at(&sp->known_neighbours, struct neighbour, k->first), k->n, sizeof(struct neighbour));
}

static void take_whole(struct spans *sp, struct span *span, uint32_t thread, struct wait *w)
{
	struct neighbour_list *b = &sp->parts.neighbour_list;
	const struct known_wait *known = find_known(sp, w);
	if (known) {
		take_known(sp, span, known);
		return;
	}
	uint32_t n_neighbours = b->all.len, n_waits = sp->parts.waits.len;
	int64_t idle = b->idle, writeback = span->part[PART_WRITEBACK], queue = span->disk_queue_ns;
	struct device_wait device = take_wait(sp, span, thread, w, w->begin, w->end);
	w->known = sp->known.len;
	struct known_wait *k = vec_add(&sp->known, struct known_wait);
	k->wait = w;
	k->device = device;
	k->idle_ns = b->idle - idle;
	k->writeback_ns = span->part[PART_WRITEBACK] - writeback;
	k->disk_queue_ns = span->disk_queue_ns - queue;
	k->first = sp->known_neighbours.len;
	k->n = b->all.len - n_neighbours;
	k->inside = sp->parts.waits.len > n_waits;
	k->stored_wait = *vec_at(&sp->parts.waits, struct span_wait, n_waits);	/* valid even if not added */
	vec_append(&sp->known_neighbours, vec_at(&b->all, struct neighbour, n_neighbours), k->n,
		   sizeof(struct neighbour));
}

enum part explain_whole(struct spans *sp, uint32_t thread, const struct wait *w, struct device_wait *ret)
{
	const struct known_wait *known = find_known(sp, w);
	if (!known)
		return explain_part(sp, thread, w, w->begin, w->wake, ret);
	*ret = known->device;
	return (enum part)known->stored_wait.part;
}

/* Were the counters of x read before those of y? Borrowed ones may not be. */
static bool is_in_order(const struct annot *x, const struct annot *y)
{
	int64_t ns = 0;
	for (unsigned p = 0; p < PART_SLICE_N; p++)
		ns += y->snap->part[p] - x->snap->part[p];
	return ns >= 0;
}

/* Adds the thread's parts and waits from annotation x to y. Both are by this thread, as is every annotation in
 * between. */
static void explain_run(struct spans *sp, struct span *span, const struct annot *x, const struct annot *y)
{
	if (x == y)
		return;
	g_assert(x->snap && y->snap && x->thread != ID_NONE);
	if ((x->borrows || y->borrows) && !is_in_order(x, y))
		return;
	uint32_t id = thread_follow(sp->s, x->thread);
	const struct thread *t = thread_at(sp->s, id);
	add_difference(span->part, x->snap->part, y->snap->part);
	/* only those that are stored: a slice file may name any */
	uint64_t from = MAX(x->snap->wait_index, t->waits_base);
	uint64_t to = MIN(y->snap->wait_index, t->waits_base + t->waits.len);
	for (uint64_t i = from; i < to; i++) {
		struct wait *w = wait_at(t, i);
		if (w && w->begin >= x->ts && w->end <= y->ts)
			take_whole(sp, span, id, w);
		else if (w)
			take_wait(sp, span, id, w, x->ts, y->ts);
	}
}

/* The annotation's thread `ns` before it, or less if that is not known, as an annotation. False: nothing is known. */
static bool go_back(struct spans *sp, const struct annot *a, int64_t ns, struct annot *ret, struct snap *ret_snap)
{
	if (!a->snap || a->borrows || a->thread == ID_NONE)
		return false;
	struct thread *t = thread_at(sp->s, thread_follow(sp->s, a->thread));
	*ret_snap = *a->snap;
	*ret = *a;
	ret->snap = ret_snap;
	ret->ts = thread_look_back(t, a->ts - MIN(ns, SPANS_LOOK_BACK_NS), a->ts, ret_snap->part);
	ret_snap->wait_index = t->waits_base + explain_first_wait(t, ret->ts);
	return ret->ts < a->ts;
}

bool explain_back(struct spans *sp, const struct annot *a, struct annot *ret, struct snap *ret_snap)
{
	return a->mark == MARK_WHOLE && go_back(sp, a, (int64_t)a->address, ret, ret_snap);
}

/* ---- messages ---- */

/* What the thread that took the message did while it was on its way. `taken`: the event that took it. */
static void explain_way(struct spans *sp, const struct annot *taken, struct span_link *l)
{
	struct span way = { 0 };
	struct annot sent;
	struct snap snap;
	int64_t all = 0;
	sp->parts.waits.len = 0;
	neighbours_reset(&sp->parts.neighbour_list);
	if (l->out_ns >= l->in_ns || !go_back(sp, taken, l->in_ns - l->out_ns, &sent, &snap))
		return;
	explain_run(sp, &way, &sent, taken);
	for (unsigned p = 0; p < PART_N; p++)
		all += p == PART_UNKNOWN ? 0 : way.part[p];
	if (!sp->s->has_switches || all > taken->ts - sent.ts)
		return;
	l->ran_ns = part_sum_cpu(way.part);
	l->runnable_ns = part_sum_runnable(way.part);
	l->blocked_ns = all - l->ran_ns - l->runnable_ns;
	neighbours_sum(sp, &way);
	if (way.runqueue && way.runqueue->n && way.runqueue->top[0].ns >= way.runqueue->idle_ns)
		l->cpu_holder = way.runqueue->top[0].thread;
}

/* A link's annotation follows that of the event that took it. */
static void explain_links(struct spans *sp, const struct half *h, struct span *span)
{
	const struct annot *taken = NULL;
	uint32_t n = 0;
	for (guint i = 0; i < h->n_annots && span_n_links(span); i++) {
		const struct annot *a = annot_of(sp, h, i);
		bool is_link = a->mark == MARK_LINK_IN, is_due = a->mark == MARK_EVERY && span->is_late;
		taken = !is_link && !is_due && a->snap ? a : taken;
		if ((is_link || is_due) && taken && taken->ts == a->ts)
			explain_way(sp, taken, &span->links[is_due ? span->n_links : n]);
		n += is_link;
	}
}

/* ---- all of a half ---- */

/* May the past that is missing before a whole span's event have been dropped? */
static bool is_out_of_reach(const struct spans *sp, const struct annot *a)
{
	const struct thread *t = thread_at(sp->s, thread_follow(sp->s, a->thread));
	return (int64_t)a->address > SPANS_LOOK_BACK_NS || t->charged.len >= LIMIT_PAST_CHARGES;
}

/* Adds the time from the last annotation of an open span to `now`. */
static void explain_open(struct spans *sp, struct span *span, const struct annot *x, int64_t now)
{
	g_assert(x->snap && x->thread != ID_NONE);
	uint32_t id = thread_follow(sp->s, x->thread);
	const struct thread *t = thread_at(sp->s, id);
	int64_t part[PART_SLICE_N];
	struct wait w;
	thread_snapshot(t, now, part);
	add_difference(span->part, x->snap->part, part);
	for (uint64_t i = x->snap->wait_index; wait_at(t, i); i++)
		take_wait(sp, span, id, wait_at(t, i), x->ts, now);
	if (open_wait(t, now, &w) && w.begin >= x->ts)
		take_wait(sp, span, id, &w, x->ts, now);
}

struct loss_search { uint32_t host; bool found; };

static void note_kernel_loss(const struct loss *loss, int64_t ns, void *data)
{
	struct loss_search *search = data;
	(void)ns;
	search->found |= loss->kernel && loss->host == search->host;
}

/* Were kernel events of the span's host lost between its beginning and its end? */
static bool lost_meanwhile(const struct slice *s, const struct span *span)
{
	struct loss_search search = { .host = span->host };
	losses_each(&s->losses, span->begin_ns, span->end_ns, note_kernel_loss, &search);
	return search.found;
}

/* Is annotation i, without counters, between two of its thread that have them? Then it is left out. */
static bool is_bridged(const struct spans *sp, const struct half *h, guint i, const struct annot *x)
{
	const struct annot *y = annot_of(sp, h, i), *z = i + 1 < h->n_annots ? annot_of(sp, h, i + 1) : NULL;
	return x && x->snap && !y->snap && z && z->snap && z->ts <= h->end && x->thread == y->thread &&
	       y->thread == z->thread;
}

/* It was not the kernel's current task: the CPU was wrong, and the thread is unknown. */
static bool is_of_unknown(const struct annot *a)
{
	return a->by_kernel && a->thread == ID_NONE;
}

void explain_half(struct spans *sp, const struct half *h, struct span *span)
{
	int64_t *part = span->part, known = 0;
	const struct annot *x = NULL, *from = NULL;	/* from .. x: consecutive annotations by one thread */
	struct annot past;
	struct snap past_snap;
	explain_links(sp, h, span);
	sp->parts.waits.len = 0;
	neighbours_reset(&sp->parts.neighbour_list);
	for (guint i = 0; i < h->n_annots; i++) {
		const struct annot *y = annot_of(sp, h, i);
		if (y->ts < h->begin || y->ts > h->end || is_bridged(sp, h, i, x))
			continue;
		if (!x || x->thread != y->thread || !x->snap || !y->snap) {
			explain_run(sp, span, from, x);
			from = y;
			if (explain_back(sp, y, &past, &past_snap)) {
				explain_run(sp, span, &past, y);
				span->out_of_reach = past.ts > h->begin && is_out_of_reach(sp, y);
			}
		}
		if (x && x->thread != y->thread && !is_of_unknown(x) && !is_of_unknown(y))
			part[PART_HANDOFF] += y->ts - x->ts;
		x = y;
	}
	explain_run(sp, span, from, x);
	if (x && h->end > x->ts && x->snap)
		explain_open(sp, span, x, h->end);
	set_unknown_parts(sp->s, span, &sp->parts.waits);
	set_disk_queue(sp->s, span);
	set_waits(&sp->parts.waits, span);
	neighbours_sum(sp, span);
	for (unsigned p = 0; p < PART_N; p++)
		known += part[p];
	part[PART_UNKNOWN] += h->end - h->begin - known;
	span->lost = part[PART_UNKNOWN] > 0 && lost_meanwhile(sp->s, span);
}
