/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applies records to a thread's state: charges time, logs waits and calls, takes snapshots. See thread.h; "head" is
 * explained in slice.h.
 */
#include "state/kernel/thread.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/calls.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/charge.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/thread_state.h"
#include "state/kernel/unknown_calls.h"


struct thread *thread_new(uint32_t self)
{
	struct thread *t = g_new(struct thread, 1);
	*t = (struct thread){
		.self = self, .tid = -1, .task_tid = -1, .pid = -1,
		.forward = ID_NONE, .creator = ID_NONE, .id = ID_NONE,
		.start_ns = TS_NONE, .exit_ns = TS_NONE, .last_event_ns = TS_NONE, .out_ns = TS_NONE,
		.known_from = TS_NONE, .woke_ns = TS_NONE, .ended_after = TS_NONE,
		.left_ns = TS_NONE,
		.unresolved_from = { INT64_MAX, INT64_MAX, INT64_MAX },
		.st = { .cursor = TS_NONE, .returned_ns = TS_NONE, .waker = ID_NONE, .on_cpu = CPU_NONE,
			.off_cpu = CPU_NONE, .queue_cpu = CPU_NONE },
		.sched.last_cpu = CPU_NONE,
	};
	return t;
}

static void clear(struct thread *t)
{
	vec_free(&t->head);
	vec_free(&t->waiting);
	vec_free(&t->waits);
	vec_free(&t->calls);
	vec_free(&t->charged);
	vec_free(&t->past);
	g_clear_pointer(&t->annots, g_array_unref);
	g_clear_pointer(&t->open, g_array_unref);
	g_clear_pointer(&t->aliases, g_array_unref);
	g_clear_pointer(&t->counters, g_array_unref);
	vec_free(&t->sched.queued);
}

void thread_free(struct thread *t)
{
	clear(t);
	g_free(t);
}

void thread_reset(struct thread *t)
{
	struct thread *fresh = thread_new(t->self);
	clear(t);
	*t = *fresh;
	g_free(fresh);
}

/* ---- charging the current state ---- */

/* The part that the current state is charged to; PART_SLICE_N: the cell of the call's descriptor. */
static inline unsigned open_part(const struct tstate *st)
{
	switch ((enum run_state)st->run) {
	case RUN_ON:
		if (st->irq_depth)
			return PART_IRQ;
		if (st->call_state == CALL_IN)
			return PART_SYSCALL;
		if (st->call_state == CALL_NONE)
			return PART_USER;
		return st->call_lost ? PART_LOST_RUN : PART_UNRESOLVED_RUN;
	case RUN_BLOCKED:
		if (st->wait_cause == WAIT_FD)
			return PART_SLICE_N;
		if (st->wait_cause == WAIT_LOST)
			return PART_LOST_BLOCK;
		if (st->wait_cause == WAIT_RESTART)
			return PART_RESTART_BLOCK;
		return st->wait_cause == WAIT_UNRESOLVED ? PART_UNRESOLVED_BLOCK : st->wait_part;
	case RUN_PREEMPTED:
		return PART_PREEMPTED;
	case RUN_WOKEN:
	case RUN_NEW:
		return PART_WAKEUP;
	case RUN_UNKNOWN:
	case RUN_DEAD:
		break;
	}
	return PART_UNKNOWN;
}

/* Is it being made by its creator? It is not runnable before its sched_wakeup_new, if that is recorded. */
static inline bool is_being_made(const struct slice *s, const struct tstate *st)
{
	return st->run == RUN_NEW && !st->wake_seq && s->has_new_wakes;
}

static inline void charge(struct slice *s, struct thread *t, int64_t until)
{
	struct tstate *st = &t->st;
	if (st->run == RUN_DEAD || st->cursor == TS_NONE) {
		st->cursor = st->run == RUN_DEAD ? st->cursor : until;
		return;
	}
	if (until <= st->cursor)
		return;
	unsigned part = is_being_made(s, st) ? PART_OTHER : open_part(st);
	if (G_UNLIKELY(s->looks_back))
		thread_note_charge(t, part, st->cursor, until);
	if (part == PART_SLICE_N) {
		charge_fd(s, t, &st->call, st->cursor, until);
	} else {
		g_assert(part < PART_SLICE_N);
		struct bin *b = bin_of_all(s, st->cursor, until);
		if (b)
			cell_of_thread(s, b, t)->part[part] += until - st->cursor;
		else
			charge_part(s, t, part, st->cursor, until);
		st->part[part] += until - st->cursor;
		if (part >= PART_N) {
			int64_t *from = &t->unresolved_from[unresolved_of(part)];
			*from = MIN(*from, st->cursor);
		}
	}
	st->cursor = until;
}

/* The most frequent case: a known part within the current second. False: use the general way. */
static inline G_ALWAYS_INLINE bool charge_within(struct slice *s, struct thread *t, enum part part,
						 int64_t until)
{
	struct tstate *st = &t->st;
	struct bin *b = s->bin_last;
	if (!b || st->cursor < b->begin || until > b->end || until <= st->cursor)
		return false;
	int64_t ns = until - st->cursor;
	if (G_UNLIKELY(s->looks_back))
		thread_note_charge(t, part, st->cursor, until);
	b->dirty = true;
	cell_of_thread(s, b, t)->part[part] += ns;
	st->part[part] += ns;
	st->cursor = until;
	return true;
}

/* Ends a pending call without an exit: it is busy until ts. */
static void end_unfinished_call(struct slice *s, struct thread *t, int64_t ts)
{
	if (t->st.call_state == CALL_IN && t->st.call.name)
		charge_busy(s, t, &t->st.call, ts);
}

static void forget_call(struct tstate *st)
{
	st->call_state = CALL_UNRESOLVED;
	st->call_lost = true;
	memset(&st->call, 0, sizeof st->call);
}

/* After a loss the current state is unknown, also after an end: the thread's or that of its records (`why`). */
static void lose_by(struct slice *s, struct thread *t, enum rec_type why, uint32_t id)
{
	end_unfinished_call(s, t, t->st.cursor);
	unknown_ends(s, t, INITIAL_BY_LOSS, &(struct rec){ .type = why, .ts = t->st.cursor, .id = id });
	t->st.run = RUN_UNKNOWN;
	t->st.irq_depth = 0;
	t->st.returned_ns = MAX(t->st.returned_ns, t->st.cursor);
	forget_call(&t->st);
}

static void lose(struct slice *s, struct thread *t)
{
	lose_by(s, t, REC_LOST, ID_NONE);
}

/* If any CPU lost events while the thread was off its CPU, its state is unknown from the loss's beginning on. */
static inline void settle(struct slice *s, struct thread *t, int64_t ts)
{
	struct tstate *st = &t->st;
	int64_t lost;
	/* Its CPU and call are unknown already. In a call, the thread can only have left its CPU without an event. */
	bool nowhere = st->run == RUN_UNKNOWN && st->call_state != CALL_IN;
	if (st->run == RUN_ON || st->run == RUN_DEAD || nowhere ||
	    !slice_lost_between(s, t->host, st->cursor, ts, &lost))
		return;
	charge(s, t, lost);
	lose(s, t);
}

/*
 * Was it woken before its switch-out, or is it blocked? Its next wakeup or switch-in tells. Its time is charged then,
 * or when it has been off for this time (ns): it is blocked.
 */
#define UNDECIDED_NS INT64_C(1000000000)

static inline bool is_undecided(const struct thread *t, int64_t at)
{
	return t->st.run == RUN_BLOCKED && t->st.woken_early &&
	       !covered_are_far(t->st.off_ns, at, UNDECIDED_NS);
}

void thread_charge(struct slice *s, struct thread *t, int64_t until)
{
	thread_order_end_at(s, t, until);
	if (!t->resolved || t->idle || t->forward != ID_NONE || is_undecided(t, until))
		return;
	if (t->tid == -1 && t->st.run == RUN_UNKNOWN)
		return;		/* an anonymous task ends at the loss */
	until = covered_until(s, t->host, until);
	settle(s, t, until);
	charge(s, t, until);
	if (t->st.call_state == CALL_IN && t->st.call.name)	/* exited threads were in exit_group */
		charge_busy(s, t, &t->st.call, t->st.run == RUN_DEAD ? MIN(t->exit_ns, until) : until);
}

void thread_snapshot(const struct thread *t, int64_t at, int64_t part[PART_SLICE_N])
{
	memcpy(part, t->st.part, sizeof t->st.part);
	unsigned p = open_part(&t->st);
	if (p < PART_SLICE_N && t->st.run != RUN_DEAD && t->st.cursor != TS_NONE && at > t->st.cursor)
		part[p] += at - t->st.cursor;
}

/* ---- applying records ---- */

/* A successful exec ends in the new program. If that has another word size, arm64 keeps the call's number, which means
 * another call there. */
static bool new_program_begins(const struct call *c, const struct rec *exit)
{
	return c->info->fdop == FDOP_EXEC && exit->arg[0] == 0;
}

/* Does the exit end the call c that the thread is in? */
static bool is_exit_of(const struct call *c, uint8_t call_state, const struct rec *exit)
{
	return call_state == CALL_IN && c->name &&
	       (c->name == exit->name || !exit->name || new_program_begins(c, exit));
}

/* May the left slice know the call that the thread is in, or that it is in none? */
static bool is_left_open(const struct slice *s, const struct thread *t, const struct tstate *st)
{
	return st->call_state == CALL_UNRESOLVED && !st->call_lost && !is_final(s, t);
}

static void is_unresolved_restart(struct thread *t, struct call *c, int64_t ts)
{
	c->restart = RESTART_UNRESOLVED;
	t->unresolved_from[UNRESOLVED_RESTART] = MIN(t->unresolved_from[UNRESOLVED_RESTART], ts);
}

/* c, a restart_syscall, begins: it continues the call before if that was interrupted. There is another one in between
 * if a signal handler ran: rt_sigreturn. */
static void restart_call(const struct slice *s, struct thread *t, struct call *c)
{
	const struct call *before = &t->st.call;
	bool continues = t->st.call_state == CALL_NONE && before->interrupted;
	if (is_left_open(s, t, &t->st) || (continues && before->restart == RESTART_UNRESOLVED)) {
		is_unresolved_restart(t, c, c->begin);
	} else if (continues) {
		c->restart = RESTART_KNOWN;
		c->info = before->info;
		memcpy(c->arg, before->arg, sizeof c->arg);
	}
}

bool thread_exit_interrupts(const struct slice *s, const struct thread *t, const struct rec *exit, struct call *ret)
{
	const struct tstate *st = &t->st;
	if (!call_is_interrupted(exit->arg[0]))
		return false;
	*ret = st->call;
	if (st->call_state == CALL_UNRESOLVED)		/* the exit tells which call it was */
		*ret = (struct call){ .name = exit->name, .info = exit->info, .fd = NO_FD };
	if (is_left_open(s, t, st))
		ret->restart = RESTART_UNRESOLVED;
	ret->interrupted = (st->call_state == CALL_UNRESOLVED || is_exit_of(&st->call, st->call_state, exit)) &&
			   call_can_restart(info_of_call(ret));
	return ret->interrupted;
}

static void take_call(struct slice *s, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	const struct call_info *info = r->info;
	if (info->no_call) {
		st->call_lost = false;
		st->call_state = CALL_NONE;	/* rt_sigreturn returns to user mode at once */
		st->call.interrupted = false;
		return;
	}
	struct call c = {
		.begin = r->ts, .busy_from = r->ts, .seq = r->seq, .name = r->name,
		.text = r->text, .fd = r->fd, .cpu = r->cpu, .info = info,
		.arg = { r->arg[0], r->arg[1], r->arg[2] },
	};
	if (info->restarts)
		restart_call(s, t, &c);
	if (info->no_exit && slice_counts_locks(s))
		lock_thread_ends(s, t, r->ts);
	st->call_lost = false;
	st->call_state = CALL_IN;
	st->call = c;
}

static inline void runs_on(struct slice *s, struct tstate *st, const struct rec *r)
{
	if (st->run != RUN_ON)
		st->wake_seq = 0;
	st->run = RUN_ON;
	st->on_cpu = sched_cpu(cpu_at(s, r->cpu));
}

static void do_since(struct slice *s, struct thread *t, const struct rec *r)
{
	if (r->state == 2 && t->st.run == RUN_ON && t->st.on_cpu == sched_cpu(cpu_at(s, r->cpu)))
		return;
	runs_on(s, &t->st, r);
	t->st.irq_known = false;
	t->st.irq_depth = 0;
	if (r->state == 1)
		forget_call(&t->st);
}

static void do_away(struct slice *s, struct thread *t, const struct rec *r)
{
	t->st.run = RUN_UNKNOWN;
	t->st.irq_depth = 0;
}

static void do_run(struct slice *s, struct thread *t, const struct rec *r)
{
	run(s, t, r->ts, r->cpu, (int16_t)r->arg[0]);
}

static void do_off(struct slice *s, struct thread *t, const struct rec *r)
{
	off(s, t, r->ts, sched_cpu(cpu_at(s, r->cpu)), (int16_t)r->arg[0], r->state);
}

static void do_wake(struct slice *s, struct thread *t, const struct rec *r)
{
	wake(s, t, &(struct waking){ .ts = r->ts, .seq = r->seq, .waker = r->id, .irq = r->irq,
				     .provisional = r->arg[0] != 0 });
}

/* A wakeup of a running thread: no time is charged. */
static void note_wake(struct thread *t, const struct rec *r)
{
	if (t->st.run == RUN_ON)
		do_wake(NULL, t, r);
}

static void call_begins(struct slice *s, struct thread *t, const struct rec *r)
{
	unknown_ends(s, t, INITIAL_BY_ENTER, r);
	end_unfinished_call(s, t, r->ts);
	runs_on(s, &t->st, r);
	t->st.irq_known = true;
	t->st.irq_depth = 0;
}

static void do_enter(struct slice *s, struct thread *t, const struct rec *r)
{
	call_begins(s, t, r);
	if (t->st.call_state == CALL_IN && t->st.call.name)
		slice_bin(s, r->ts)->completeness.provisional++;	/* a new entry replaces it: no exit */
	take_call(s, t, r);
}

/* Ends a call that an exec took over: it counts for the thread that made it. */
static void exec_returns(struct slice *s, const struct thread *t, struct call *c, const struct rec *r)
{
	charge_busy(s, thread_at(s, t->self), c, r->ts);
	call_counts(s, thread_at(s, t->creator), c, r);
}

void thread_exec_continues(struct slice *s, uint32_t leader, const struct call *c)
{
	struct thread *t = thread_at(s, leader);
	struct call call = *c;
	call.busy_from = t->start_ns;
	if (call.restart) {
		call.restart = RESTART_NONE;
		call.info = call_info("");
	}
	if (t->st.call_state == CALL_IN && t->st.call.begin == TS_NONE) {
		t->st.call = call;
	} else if (t->fresh && t->initial_end == INITIAL_BY_EXIT) {	/* it returned already, in the right slice */
		t->initial_end = INITIAL_OPEN;
		exec_returns(s, t, &call, &t->initial_exit);
	}
}

/* The exit of a call whose entry is missing. c: what a restart_syscall continues; NULL: nothing. */
static void take_interrupted(struct thread *t, const struct call *c, int64_t ts)
{
	t->st.call.interrupted = false;
	if (!c)
		return;
	t->st.call = *c;
	if (c->restart == RESTART_UNRESOLVED)
		is_unresolved_restart(t, &t->st.call, ts);
}

void thread_exit_call(struct slice *s, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	bool twice = r->info->twice;
	runs_on(s, st, r);
	st->irq_known = true;
	st->irq_depth = 0;
	st->returned_ns = r->ts;
	struct call after;
	bool interrupts = thread_exit_interrupts(s, t, r, &after);
	if (is_exit_of(&st->call, st->call_state, r)) {
		st->call_state = CALL_NONE;
		if (t->fresh && st->call.begin < t->start_ns)
			exec_returns(s, t, &st->call, r);
		else
			call_finished(s, t, &st->call, r);
		st->call.interrupted = interrupts;
		return;
	}
	end_unfinished_call(s, t, r->ts);
	if (st->call_state == CALL_IN && st->call.begin == TS_NONE) {	/* its caller's state is not known yet */
		t->initial_end = INITIAL_BY_EXIT;
		t->initial_exit = *r;
	}
	if (s->follow)
		call_facts_of_exit(s, t, r);
	if (lock_in_unknown_call(s, st) && slice_counts_locks(s))
		lock_unknown_call_ended(s, t, r->ts);
	if (st->call_state == CALL_UNRESOLVED)
		unknown_ends(s, t, INITIAL_BY_EXIT, r);
	else if (st->call_state == CALL_NONE ? !twice : st->call.name != 0)
		slice_bin(s, r->ts)->completeness.provisional++;
	take_interrupted(t, interrupts ? &after : NULL, r->ts);
	st->call_state = CALL_NONE;
	st->call_lost = false;
}

#define SEARCHED_SPANS 64	/* newest open spans to search: a thread may work for thousands at a time */

/* Ids of functions and nested rules are not known yet, so an end removes the innermost span with the same key. */
void thread_track_open(struct thread *t, const struct annot *a)
{
	struct open_span key = { a->trace, a->span, a->ts };
	if (!t->open)
		t->open = g_array_new(false, false, sizeof key);
	guint to = t->open->len > SEARCHED_SPANS ? t->open->len - SEARCHED_SPANS : 0;
	for (guint i = t->open->len; i > to; i--) {
		const struct open_span *o = &g_array_index(t->open, struct open_span, i - 1);
		if (o->trace != key.trace || o->span != key.span)
			continue;
		if (a->ends && o->since < a->ts)
			t->left_ns = a->ts;
		if (a->ends)
			g_array_remove_index(t->open, i - 1);
		return;
	}
	if (!a->ends)
		g_array_append_val(t->open, key);
}

/* Stores the thread's counters with the annotation. */
static void do_mark(struct slice *s, struct thread *t, const struct rec *r)
{
	if (r->id == ID_NONE)
		return;		/* its trace was dropped */
	g_assert(r->id < s->annots->len);	/* spans_forget() renumbers the records of heads, too */
	struct annot *a = &g_array_index(s->annots, struct annot, r->id);
	a->thread = t->self;
	if (!a->snap)
		a->snap = slab_get(&s->snaps, sizeof *a->snap);
	a->snap->wait_index = t->waits_base + t->waits.len;
	memcpy(a->snap->part, t->st.part, sizeof a->snap->part);
	if (!t->annots)
		t->annots = g_array_new(false, false, sizeof(uint32_t));
	g_array_append_val(t->annots, r->id);
	thread_track_open(t, a);
}

static bool is_in_kernel(const struct thread *t)
{
	return t->st.call_state == CALL_IN && t->st.call.name;
}

static void do_span(struct slice *s, struct thread *t, const struct rec *r)
{
	if (is_in_kernel(t))
		return;		/* the event is of another thread */
	call_begins(s, t, r);	/* a user space tracepoint: the thread is in user mode */
	t->st.call_state = CALL_NONE;
	t->st.call_lost = t->st.call.interrupted = false;
	do_mark(s, t, r);
}

static void do_irq_in(struct slice *s, struct thread *t, const struct rec *r)
{
	t->st.irq_depth++;
}

static void do_irq_out(struct slice *s, struct thread *t, const struct rec *r)
{
	if (t->st.irq_depth)
		t->st.irq_depth--;
}

static void do_lost(struct slice *s, struct thread *t, const struct rec *r)
{
	lose(s, t);
}

static void do_ended(struct slice *s, struct thread *t, const struct rec *r)
{
	struct call call = t->st.call;
	bool in_call = t->st.call_state == CALL_IN && call.name;
	lose_by(s, t, REC_ENDED, r->id);
	t->st.run = RUN_DEAD;
	t->exit_ns = r->ts;
	if (in_call && r->id != ID_NONE)
		thread_exec_continues(s, r->id, &call);
}

typedef void (*fold)(struct slice *, struct thread *, const struct rec *);
static const fold folds[] = {
	[REC_SINCE] = do_since, [REC_AWAY] = do_away, [REC_RUN] = do_run, [REC_OFF] = do_off,
	[REC_WAKE] = do_wake, [REC_ENTER] = do_enter, [REC_EXIT] = thread_exit_call,
	[REC_IRQ_IN] = do_irq_in, [REC_IRQ_OUT] = do_irq_out, [REC_SPAN] = do_span,
	[REC_MARK] = do_mark,
	[REC_LOST] = do_lost, [REC_ENDED] = do_ended,
};

G_STATIC_ASSERT(G_N_ELEMENTS(folds) == REC_ENDED + 1);

static inline void note_known(struct thread *t, int64_t ts)
{
	if (t->known_from == TS_NONE && t->st.run != RUN_UNKNOWN)
		t->known_from = ts;
}

void thread_apply(struct slice *s, struct thread *t, const struct rec *r)
{
	g_assert(t->resolved && r->type < G_N_ELEMENTS(folds) && folds[r->type]);
	/* A claim, by an event of user space, changes no state. A slice that does not know its task's tid yet may have
	 * applied later records. */
	if (r->type == REC_MARK && r->state && (t->st.run != RUN_ON || t->st.cursor > r->ts || is_in_kernel(t)))
		return;
	settle(s, t, r->ts);
	if (r->type == REC_IRQ_OUT && !t->st.irq_depth && !t->st.irq_known && t->st.run == RUN_ON) {
		t->st.irq_depth = 1;	/* the handler began before the first event */
		t->st.irq_known = true;
	}
	charge(s, t, r->ts);
	folds[r->type](s, t, r);
	note_known(t, r->ts);
}

/* ---- heads ---- */

static bool is_of_call(const struct rec *r)
{
	return r->type == REC_ENTER || r->type == REC_EXIT || (r->type == REC_SPAN && !r->state);
}

/* What the records before r, the last one, mean for the state: a loss hides its call; it was woken, and ran. */
static void look_at_head(struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	for (guint i = 0; i + 1 < t->head.len; i++) {
		const struct rec *h = vec_at(&t->head, struct rec, i);
		if ((h->type == REC_SINCE && h->state == 1) || is_of_call(h))
			st->call_lost = t->begins_lost = h->type == REC_SINCE;
		if (h->type == REC_WAKE)
			woken_by(st, &(struct waking){ .ts = h->ts, .seq = h->seq, .waker = h->id, .irq = h->irq,
						       .provisional = h->arg[0] != 0 });
		else if (h->type == REC_RUN)
			st->wake_seq = 0;
		st->cursor = MAX(st->cursor, h->ts);
	}
	if (r->type != REC_OFF)
		st->wake_seq = 0;
}

/* Sets the state after r, the first record that determines it. */
static void begin_after(struct slice *s, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	struct call after;
	bool interrupts;
	g_assert(!t->resolved);
	st->cursor = r->ts;
	st->irq_known = true;
	st->call_state = CALL_UNRESOLVED;
	look_at_head(t, r);
	t->initial_end = INITIAL_OPEN;
	switch ((enum rec_type)r->type) {
	case REC_OFF:
		do_off(s, t, r);
		break;
	case REC_ENTER:
		runs_on(s, st, r);
		take_call(s, t, r);
		break;
	case REC_EXIT:
		st->returned_ns = r->ts;
		interrupts = thread_exit_interrupts(s, t, r, &after);
		take_interrupted(t, interrupts ? &after : NULL, r->ts);
		/* fall through */
	case REC_SPAN:
		runs_on(s, st, r);
		st->call_state = CALL_NONE;
		st->call_lost = false;
		break;
	case REC_LOST:
		st->run = RUN_UNKNOWN;
		forget_call(st);
		t->begins_lost = true;
		break;
	case REC_ENDED:
		st->run = RUN_DEAD;
		forget_call(st);
		t->begins_lost = true;
		t->exit_ns = r->ts;
		break;
	case REC_AWAY:
		st->run = RUN_UNKNOWN;
		break;
	default:
		runs_on(s, st, r);
		break;
	}
	t->resolved = true;
	note_known(t, r->ts);
}

const struct rec *thread_last_told(const struct thread *t)
{
	for (guint i = t->head.len; i > 0; i--)
		if (!thread_keeps_open(vec_at(&t->head, struct rec, i - 1)))
			return vec_at(&t->head, struct rec, i - 1);
	return NULL;
}

/* Of wakeups in a row, the first one counts if the thread is blocked, the last one if it is about to be. */
static bool replaces_wake(const struct slice *s, const struct thread *t, const struct rec *r)
{
	int64_t lost;
	if (r->type != REC_WAKE || t->head.len < 2)
		return false;
	const struct rec *a = vec_at(&t->head, struct rec, t->head.len - 2), *b = a + 1;
	return a->type == REC_WAKE && b->type == REC_WAKE && !slice_lost_between(s, t->host, a->ts, r->ts, &lost);
}

static void collect(struct slice *s, struct thread *t, const struct rec *r)
{
	if (r->type == REC_MARK && r->state && s->from_start)
		return;		/* it is not known to run */
	if (replaces_wake(s, t, r))
		t->head.len--;
	*vec_add(&t->head, struct rec) = *r;
	if (thread_keeps_open(r) || !thread_order_determines(s, t))
		return;
	if (is_final(s, t) || (s->from_start && t->pid > 0))
		thread_root(s, t);
	else
		begin_after(s, t, r);
}

/* A record of a thread that is not resolved. */
static void add_pending(struct slice *s, struct thread *t, const struct rec *r)
{
	if (t->held)
		thread_order_record(s, t, r);
	else
		collect(s, t, r);
}

/* ---- the most frequent records, without a struct rec ---- */

void thread_run(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu,
		int16_t prio)
{
	if (t->idle)
		return;
	struct rec r = { .type = REC_RUN, .ts = ts, .seq = seq, .cpu = cpu, .arg = { prio } };
	if (!t->resolved) {
		add_pending(s, t, &r);
		return;
	}
	bool woken = t->st.run == RUN_WOKEN;
	if ((!woken && t->st.run != RUN_PREEMPTED) || slice_lost_after(s, t->st.cursor) ||
	    !charge_within(s, t, woken ? PART_WAKEUP : PART_PREEMPTED, ts)) {
		settle(s, t, ts);
		if (is_undecided(t, ts))
			woken_before_off(&t->st);
		charge(s, t, ts);
		if (thread_order_holds(s, t, &r))
			return;
	}
	run(s, t, ts, cpu, prio);
	note_known(t, ts);
}

void thread_off(struct slice *s, struct thread *t, int64_t ts, uint64_t seq, uint32_t cpu, int16_t prio,
		enum off_state state)
{
	if (t->idle)
		return;
	if (!t->resolved) {
		add_pending(s, t, &(struct rec){ .type = REC_OFF, .ts = ts, .seq = seq, .cpu = cpu,
						 .state = state, .arg = { prio } });
		return;
	}
	bool in_call = t->st.call_state == CALL_IN;
	if (t->st.run != RUN_ON || t->st.irq_depth || (!in_call && t->st.call_state != CALL_NONE) ||
	    !charge_within(s, t, in_call ? PART_SYSCALL : PART_USER, ts)) {
		settle(s, t, ts);
		charge(s, t, ts);
	}
	off(s, t, ts, sched_cpu(cpu_at(s, cpu)), prio, state);
	note_known(t, ts);
}

void thread_wake(struct slice *s, struct thread *t, const struct waking *w)
{
	if (t->idle)
		return;
	if ((!t->resolved || lock_may_be(s, &t->st)) && slice_counts_locks(s))
		lock_wakes(s, t, w->waker, w->ts);
	if (!t->resolved) {
		add_pending(s, t, &(struct rec){ .type = REC_WAKE, .ts = w->ts, .seq = w->seq,
					     .cpu = w->cpu, .id = w->waker, .irq = w->irq,
					     .arg = { w->provisional } });
		return;
	}
	if (wakeup_is_ignored(s, t)) {
		if (t->st.run == RUN_ON)
			woken_by(&t->st, w);
		return;
	}
	settle(s, t, w->ts);
	charge(s, t, w->ts);
	wake(s, t, w);
	note_known(t, w->ts);
}

void thread_record(struct slice *s, struct thread *t, const struct rec *r)
{
	if (t->idle)
		return;
	if (tid_is_unproven(t->tid)) {
		if (r->type == REC_ENTER || r->type == REC_EXIT)
			call_unpaired(s, t, r);
	} else if (!t->resolved)
		add_pending(s, t, r);
	else if (r->type == REC_RUN)
		thread_run(s, t, r->ts, r->seq, r->cpu, (int16_t)r->arg[0]);
	else if (r->type == REC_WAKE && (t->st.run == RUN_ON || r->state))
		note_wake(t, r);
	else
		thread_apply(s, t, r);
}

void thread_root(struct slice *s, struct thread *t)
{
	g_assert(!t->resolved);
	struct vec head = t->head;
	t->head = (struct vec){ 0 };
	t->resolved = true;
	t->st.run = RUN_UNKNOWN;
	t->st.irq_known = true;
	t->st.call_state = CALL_UNRESOLVED;
	t->st.call_lost = t->fresh;
	bool one = t->tid != -1 && !(tid_is_unproven(t->tid) && slice_has_kernel(s, t->host));
	bool before = !t->fresh && one && s->first != INT64_MAX;
	t->st.cursor = before ? covered_from(s, t->host) : TS_NONE;
	for (guint i = 0; i < head.len; i++)
		thread_record(s, t, vec_at(&head, struct rec, i));
	vec_free(&head);
}

static void born_at(struct thread *t, int64_t ts)
{
	t->fresh = t->resolved = true;
	t->start_ns = t->known_from = ts;
	t->st.run = RUN_NEW;
	t->st.irq_known = true;
	t->st.cursor = t->st.off_ns = ts;
	t->st.call_state = CALL_IN;	/* it is inside its parent's fork: a call without a name */
}

void thread_born(struct slice *s, struct thread *t, int64_t ts)
{
	struct vec head = t->head;
	g_assert(!thread_is_known(t));
	t->head = (struct vec){ 0 };
	born_at(t, head.len ? MIN(ts, vec_at(&head, struct rec, 0)->ts) : ts);
	if (head.len)
		order_count(s, ts, ts - t->start_ns);
	for (guint i = 0; i < head.len; i++)
		thread_record(s, t, vec_at(&head, struct rec, i));
	vec_free(&head);
}

void thread_born_by_exec(struct slice *s, struct thread *t, uint32_t caller, int64_t ts)
{
	t->fresh = t->resolved = true;
	t->start_ns = ts;
	t->creator = caller;
	t->st.irq_known = true;
	t->st.cursor = ts;
	t->st.call_lost = true;
	if (!s->has_calls)
		return;
	t->st.call_state = CALL_IN;
	t->st.call = (struct call){ .begin = TS_NONE, .info = call_info("execve"), .fd = NO_FD };
}

void thread_patch_waker(struct slice *s, uint32_t id, uint64_t seq, uint32_t irq, uint32_t waker)
{
	struct thread *t = thread_at(s, id);
	sched_patch_waker(s, seq, irq);
	lock_patch_waker(s, seq, waker);
	if (t->st.wake_seq == seq) {
		t->st.waker_irq = irq;
		t->st.waker = waker;
	}
	for (guint i = t->waits.len; i > 0; i--) {
		struct wait *w = vec_at(&t->waits, struct wait, i - 1);
		if (w->wake_seq == seq) {
			w->waker_irq = irq;
			w->waker = waker;
			return;
		}
	}
	struct rec *r;
	for (guint i = 0; (r = thread_pending(t, i)); i++) {
		if (r->type == REC_WAKE && r->seq == seq) {
			r->irq = irq;
			r->id = waker;
		}
	}
}
