/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts a thread's records in order where the clocks of CPUs are not; see thread_order.h. */
#include "state/kernel/thread_order.h"

#include "state/kernel/bin.h"
#include "state/kernel/coverage.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/unknown_calls.h"

#include "base/each.h"
#include "base/limits.h"

void order_count(struct slice *s, int64_t ts, int64_t ns)
{
	struct completeness *c = &slice_bin(s, ts)->completeness;
	c->reordered_pairs++;
	c->reordered_max_ns = MAX(c->reordered_max_ns, ns);
}

/* Index of the first record that tells the state after it; the head's length: there is none. */
static guint first_of_head(const struct thread *t)
{
	guint i = 0;
	while (i < t->head.len && thread_keeps_open(vec_at(&t->head, struct rec, i)))
		i++;
	return i;
}

/* ---- holding records ---- */

static uint16_t cpu_of(const struct slice *s, const struct rec *r)
{
	return sched_cpu(cpu_at(s, r->cpu));
}

/* What is missing before the switch-in? */
static enum held missing_before(const struct slice *s, const struct thread *t, const struct rec *run)
{
	const struct tstate *st = &t->st;
	if (s->follow)
		return HELD_NOT;
	if (st->run == RUN_ON)
		return st->on_cpu != CPU_NONE && st->on_cpu != cpu_of(s, run) ? HELD_RUNNING : HELD_NOT;
	bool unwoken = st->run == RUN_BLOCKED || (st->run == RUN_NEW && !st->wake_seq && s->has_new_wakes);
	return unwoken && s->has_wakes ? HELD_UNWOKEN : HELD_NOT;
}

bool thread_order_holds(struct slice *s, struct thread *t, const struct rec *r)
{
	g_assert(t->resolved && !t->held && !t->waiting.len);
	t->held = (uint8_t)missing_before(s, t, r);
	if (!t->held)
		return false;
	t->resolved = false;
	t->held_ns = r->ts;
	*vec_add(&t->waiting, struct rec) = *r;
	return true;
}

/* Applies what was collected. found: the missing record was applied, else the first one is applied as it is. A later
 * switch-in may be held in turn, unless all are applied as they are. */
static void release(struct slice *s, struct thread *t, bool found, bool all)
{
	struct vec waiting = t->waiting;
	t->waiting = (struct vec){ 0 };
	t->held = HELD_NOT;
	t->resolved = true;
	for (guint i = 0; i < waiting.len; i++) {
		const struct rec *r = vec_at(&waiting, struct rec, i);
		bool as_it_is = i ? all && r->type == REC_RUN : !found;
		(as_it_is ? thread_apply : thread_record)(s, t, r);
	}
	vec_free(&waiting);
}

void thread_order_end(struct slice *s, struct thread *t)
{
	while (t->held)
		release(s, t, false, false);
}

bool thread_order_decide(struct slice *s, struct thread *t)
{
	if (!thread_is_known(t) && is_final(s, t) && first_of_head(t) < t->head.len)
		thread_root(s, t);
	return thread_is_known(t);
}

void thread_order_finish(struct slice *s, struct thread *t)
{
	thread_order_end(s, t);
	t->st.woken_early = false;
}

static bool is_over(const struct thread *t, int64_t at)
{
	return covered_are_far(t->held_ns, at, CLOCK_SKEW_NS);
}

void thread_order_end_at(struct slice *s, struct thread *t, int64_t at)
{
	while (t->held && is_over(t, at))
		release(s, t, false, false);
}

/* Applies a record that belongs before those that were collected. last: it is the missing one. */
static void apply_before(struct slice *s, struct thread *t, const struct rec *r, bool last)
{
	struct rec before = *r;
	before.ts = t->held_ns;
	before.state = r->type == REC_WAKE ? 0 : r->state;
	t->resolved = true;
	thread_apply(s, t, &before);
	t->resolved = false;
	if (!last)
		return;
	order_count(s, t->held_ns, r->ts - t->held_ns);
	release(s, t, true, false);
}

void thread_order_record(struct slice *s, struct thread *t, const struct rec *r)
{
	bool is_end = r->type == REC_LOST || r->type == REC_ENDED || r->type == REC_AWAY;
	bool is_wake = r->type == REC_WAKE;
	g_assert(t->held && !t->resolved);
	if (is_end)
		thread_order_end(s, t);
	else
		thread_order_end_at(s, t, r->ts);
	if (!t->held) {
		thread_record(s, t, r);
	} else if (t->held == HELD_RUNNING && !is_wake && r->type != REC_RUN && cpu_of(s, r) == t->st.on_cpu) {
		apply_before(s, t, r, r->type == REC_OFF);
	} else if (t->held == HELD_UNWOKEN && is_wake) {
		apply_before(s, t, r, true);
	} else if (t->waiting.len < LIMIT_HELD_RECORDS) {
		*vec_add(&t->waiting, struct rec) = *r;
	} else {
		release(s, t, false, true);
		thread_record(s, t, r);
	}
}

/* ---- heads ---- */

static bool is_switch(const struct rec *r)
{
	return r->type == REC_RUN || r->type == REC_OFF;
}

/* Is the switch-in at head[i] the one after a switch-out, which ended a run on its own CPU? Then it waits for nothing,
 * or for its wakeup, which is in the head. */
static bool follows_switch_out(const struct thread *t, guint i)
{
	const struct rec *off = NULL;
	while (i-- > 0) {
		const struct rec *r = vec_at(&t->head, struct rec, i);
		if (!is_switch(r))
			continue;
		if (off)
			return r->type == REC_RUN && r->cpu == off->cpu;
		if (r->type == REC_RUN)
			return false;
		off = r;
	}
	return false;
}

bool thread_order_determines(const struct slice *s, const struct thread *t)
{
	guint i_first = first_of_head(t);
	const struct rec *first = vec_at(&t->head, struct rec, i_first);
	const struct rec *r = vec_at(&t->head, struct rec, t->head.len - 1);
	bool final = is_final(s, t), full = t->head.len - i_first > LIMIT_HELD_RECORDS;
	if (s->follow || full || r->type == REC_LOST || r->type == REC_ENDED)
		return true;
	if (t->tid == TID_ANONYMOUS)	/* see end_unproven() */
		return t->pid <= 0;
	if (r->type == REC_AWAY)	/* its call is still the one before */
		return r == first;
	bool begun = final || covered_are_far(s->first, r->ts, CLOCK_SKEW_NS);
	if (r == first && (final || r->type == REC_ENTER))
		return begun && r->type != REC_RUN && r->type != REC_EXIT;
	if (!begun || r == first || !covered_are_far(first->ts, r->ts, CLOCK_SKEW_NS))
		return false;
	for (guint i = t->head.len; !final && i > 0; i--) {
		const struct rec *h = vec_at(&t->head, struct rec, i - 1);
		if (covered_are_far(h->ts, r->ts, CLOCK_SKEW_NS))
			break;
		if (h->type == REC_RUN && !follows_switch_out(t, i - 1))
			return false;
	}
	return true;
}

/* A thread that returns from its fork is switched in first, and leaves the call before it makes another one. */
bool thread_order_is_young(const struct thread *t, int64_t ts)
{
	const struct rec *first = t->head.data;
	bool returned = false;
	if (thread_is_known(t) || t->tid <= 0 || !t->head.len || (first->type != REC_RUN && first->type != REC_EXIT) ||
	    covered_are_far(first->ts, ts, CLOCK_SKEW_NS))
		return false;
	ARRAY_EACH(const struct rec, r, &t->head) {
		if (r->type == REC_OFF || (r->type == REC_ENTER && !returned))
			return false;
		returned |= r->type == REC_EXIT;
	}
	return true;
}
