/* SPDX-License-Identifier: GPL-2.0-only */
/* Merging two parts of one thread, left and right; see join_threads.h. */
#include "state/kernel/join_threads.h"

#include "base/each.h"
#include "base/limits.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/charge.h"
#include "state/kernel/contexts.h"
#include "state/kernel/counts.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/locks.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/threads.h"
#include "state/kernel/unknown_calls.h"

/* Resolves which call the right's first restart_syscall continued: the one that the left's final state is in or after.
 * Its entry or the exit before it may have been in the right's head, and was applied to the left. */
static void resolve_restart(struct slice *s, struct thread *l, struct thread *r)
{
	struct resolution v = { .from = UNRESOLVED_RESTART, .cause = WAIT_PART, .part = PART_OTHER };
	struct call c = l->st.call;
	bool known, open = l->st.call_state == CALL_UNRESOLVED && !l->st.call_lost && !is_final(s, l);
	if (open || r->unresolved_from[UNRESOLVED_RESTART] == INT64_MAX)
		return;
	if (r->initial_end == INITIAL_BY_EXIT)
		known = thread_exit_interrupts(s, l, &r->initial_exit, &c);
	else if (l->st.call_state == CALL_IN)
		known = r->initial_end == INITIAL_OPEN && c.restart;
	else
		known = l->st.call_state == CALL_NONE && c.interrupted;
	if (known && c.restart == RESTART_UNRESOLVED)
		return;
	if (known)
		resolution_of_call(&c, &v);
	v.from = UNRESOLVED_RESTART;
	v.run_part = PART_SYSCALL;
	resolve(s, r, &v);
}

/* Resolves the right's initial call from the left's final state. */
static void resolve_right(struct slice *s, struct thread *l, struct thread *r)
{
	struct resolution v = was_user;
	bool has_exit = r->initial_end == INITIAL_BY_EXIT;
	bool lost = l->st.call_state == CALL_UNRESOLVED;
	if (l->st.call_state == CALL_IN) {
		if (l->st.call.name)
			resolution_of_call(&l->st.call, &v);
		else
			v = (struct resolution){ .run_part = PART_SYSCALL, .part = PART_OTHER };
	} else if (lost && has_exit) {
		resolution_of_exit(&r->initial_exit, &v);
	} else if (lost && r->initial_end != INITIAL_BY_ENTER) {
		v = r->initial_end == INITIAL_OPEN ? is_lost : was_lost;
	}
	resolve(s, r, &v);
	ARRAY_EACH(struct wait, w, &r->waits) {
		if (w->in_initial_call && l->st.call_state == CALL_IN) {
			w->call = wait_call(&l->st.call);
			w->in_restart = l->st.call.restart == RESTART_UNRESOLVED;
		}
		w->in_initial_call = false;
	}
	if (slice_counts_locks(s))
		lock_resolve_initial(s, l, r);
	if (!has_exit) {
		const struct rec *by = &r->initial_exit;
		if (r->initial_end == INITIAL_BY_ENTER && by->type == REC_ENTER && by->info->no_exit &&
		    slice_counts_locks(s))
			lock_thread_ends(s, l, by->ts);
		if (r->initial_end != INITIAL_OPEN && l->st.call_state == CALL_IN && l->st.call.name)
			charge_busy(s, l, &l->st.call, r->initial_exit.ts);
		bool by_exec = r->initial_end == INITIAL_BY_LOSS && r->initial_exit.type == REC_ENDED &&
			       r->initial_exit.id != ID_NONE;
		if (by_exec && l->st.call_state == CALL_IN && l->st.call.name)
			thread_exec_continues(s, r->initial_exit.id, &l->st.call);
		if (lost && r->initial_end != INITIAL_OPEN)
			lost_ends(s, l, r->initial_end, &r->initial_exit);
		else if (r->initial_end == INITIAL_BY_ENTER && r->initial_exit.type == REC_ENTER &&
			 l->st.call_state == CALL_IN && l->st.call.name)
			slice_bin(s, r->initial_exit.ts)->completeness.provisional++;	/* a later call replaces it */
		return;
	}
	/* The exit ends the left's call, or counts as an exit without an entry. Its time is already charged. */
	struct rec e = r->initial_exit;
	int64_t woke_ns = l->woke_ns;
	if (slice_counts_locks(s) && lock_resolve_exit(s, l, r, e.ts))
		l->woke_ns = TS_NONE;		/* the release is noted */
	thread_exit_call(s, l, &e);
	l->woke_ns = woke_ns;
}

/* The left does not know the initial call either: it ends where the right's initial call ended. */
static void share_unresolved(struct slice *s, struct thread *l, struct thread *r)
{
	if (r->initial_end == INITIAL_OPEN)
		return;
	initial_ends(s, l, r->initial_end, &r->initial_exit);
}

static void append_log(struct vec *l, struct vec *r, size_t size)
{
	if (!l->len) {
		vec_free(l);
		*l = *r;
		*r = (struct vec){ 0 };
		return;
	}
	vec_append(l, r->data, r->len, size);
	vec_free(r);
}

/* Of the logged calls (call_log()), which ones are in spans (thread_was_in_span()) is known from the trace's beginning
 * on. These annotations and calls of a later slice follow what the thread's log has. */
static void drop_calls_outside(struct slice *s, struct thread *t, const GArray *annots, struct vec *calls)
{
	const struct annot *all = (const struct annot *)(const void *)s->annots->data;
	guint n_left = 0, next = 0, n = annots ? annots->len : 0;

	for (guint i = 0; i < calls->len; i++) {
		struct done_call call = *vec_at(calls, struct done_call, i);
		for (; next < n && all[g_array_index(annots, uint32_t, next)].ts < call.end; next++)
			thread_track_open(t, &all[g_array_index(annots, uint32_t, next)]);
		if (call.futex || s->looks_back || (t->open && t->open->len))
			*vec_at(calls, struct done_call, n_left++) = call;
	}
	calls->len = n_left;
	for (; next < n; next++)
		thread_track_open(t, &all[g_array_index(annots, uint32_t, next)]);
}

void thread_drop_calls_outside(struct slice *s, struct thread *t)
{
	g_clear_pointer(&t->open, g_array_unref);
	for (guint i = 0; i < t->head.len; i++) {		/* they come before its log */
		const struct rec *r = vec_at(&t->head, struct rec, i);
		if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
			thread_track_open(t, &g_array_index(s->annots, struct annot, r->id));
	}
	if (t->tid != -1)
		drop_calls_outside(s, t, t->annots, &t->calls);
}

static void append_logs(struct slice *s, struct thread *l, struct thread *r)
{
	if (r->out_ns != TS_NONE) {
		l->out_ns = r->out_ns;
		l->out_call = r->out_call;
	}
	uint64_t waits = l->waits_base + l->waits.len;
	for (guint i = 0; r->annots && i < r->annots->len; i++) {
		uint32_t id = g_array_index(r->annots, uint32_t, i);
		g_assert(id < s->annots->len);
		struct annot *a = &g_array_index(s->annots, struct annot, id);
		a->thread = l->self;
		if (!a->snap)
			continue;
		a->snap->wait_index += waits - r->waits_base;
		for (unsigned p = 0; p < PART_SLICE_N; p++)
			a->snap->part[p] += l->st.part[p];
	}
	if (s->from_start && l->tid != -1) {
		g_clear_pointer(&r->open, g_array_unref);
		drop_calls_outside(s, l, r->annots, &r->calls);
	}
	append_log(&l->waits, &r->waits, sizeof(struct wait));
	append_log(&l->calls, &r->calls, sizeof(struct done_call));
	append_log(&l->charged, &r->charged, sizeof(struct charged));
	if (l->charged.len > 2 * LIMIT_PAST_CHARGES)
		vec_drop(&l->charged, l->charged.len - LIMIT_PAST_CHARGES, sizeof(struct charged));
	GArray **const pairs[][2] = {
		{ &l->annots, &r->annots }, { &l->open, &r->open },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
		GArray **a = pairs[i][0], **b = pairs[i][1];
		if (*a && *b) {
			g_array_append_vals(*a, (*b)->data, (*b)->len);
			g_array_unref(*b);
		} else if (*b) {
			*a = *b;
		}
		*b = NULL;
	}
}

/* The left takes over what was charged under the right's ids. */
static void adopt_aliases(struct thread *l, struct thread *r)
{
	if (!l->aliases)
		l->aliases = g_array_new(false, false, sizeof(uint32_t));
	g_array_append_val(l->aliases, r->self);
	if (r->aliases)
		g_array_append_vals(l->aliases, r->aliases->data, r->aliases->len);
}

/* The state at the left's beginning is as unknown as that at the right's: its records do not tell it either. */
static void begin_as(struct thread *l, const struct thread *r)
{
	l->begins_lost = r->begins_lost;
	l->initial_end = r->initial_end;
	l->initial_exit = r->initial_exit;
}

/* The right's state is known: the left gets it, after the right's head was applied. */
static void adopt(struct slice *s, struct thread *l, struct thread *r)
{
	g_assert(thread_is_known(r));
	if (!thread_is_known(l) && is_final(s, l))
		thread_root(s, l);
	thread_order_end(s, l);
	bool left_is_open = !thread_is_known(l);
	bool left_is_known = l->st.call_state != CALL_UNRESOLVED || l->st.call_lost;
	bool right_unresolved = r->st.call_state == CALL_UNRESOLVED && !r->st.call_lost;
	if (!left_is_open && !r->begins_lost)
		resolve_restart(s, l, r);
	if (left_is_open)
		begin_as(l, r);
	else if (r->begins_lost && l->st.call_state == CALL_UNRESOLVED && r->initial_end != INITIAL_OPEN)
		lost_ends(s, l, r->initial_end, &r->initial_exit);
	else if (left_is_known && !r->begins_lost)
		resolve_right(s, l, r);
	append_logs(s, l, r);
	lock_join(s, l, r);
	struct tstate st = r->st;
	for (unsigned p = 0; p < PART_SLICE_N; p++)
		st.part[p] += l->st.part[p];
	st.returned_ns = MAX(st.returned_ns, l->st.returned_ns);
	if (right_unresolved) {
		st.call_state = l->st.call_state;
		st.call_lost = l->st.call_lost;
		st.call = l->st.call;
	}
	l->st = st;
	l->resolved = r->resolved;
	l->held = r->held;
	l->held_ns = r->held_ns;
	l->waiting = r->waiting;
	r->waiting = (struct vec){ 0 };
	if (l->known_from == TS_NONE)
		l->known_from = r->known_from;
	for (unsigned i = 0; i < UNRESOLVED_N; i++)
		l->unresolved_from[i] = MIN(l->unresolved_from[i], r->unresolved_from[i]);
	adopt_aliases(l, r);
	if (!left_is_open && !left_is_known && !r->begins_lost)
		share_unresolved(s, l, r);
	if (r->exit_ns != TS_NONE)
		l->exit_ns = r->exit_ns;
}

/* Also if the right's state is not known: usually its log has a wakeup from the head. */
static void append_queued(struct thread *l, struct thread *r)
{
	const struct vec *log = &r->sched.queued;
	ARRAY_EACH(const struct queued, q, log)
		runs_queued(l, q->ts, q->cpu);
	vec_free(&r->sched.queued);
}

void thread_append(struct slice *s, struct thread *l, struct thread *r)
{
	g_assert(l != r && l->self != r->self);	/* else thread_follow() would not end */
	r->forward = l->self;
	r->absorbed = true;
	s->generation += r->id != ID_NONE;
	counters_join(s, &l->counters, 0, l->host, &r->counters);
	if (l->idle || r->idle)
		return;
	lock_join_wakes(l, r);
	for (guint i = 0; i < r->head.len; i++)
		thread_record(s, l, vec_at(&r->head, struct rec, i));
	sched_append(s, l, r);
	append_queued(l, r);
	if (thread_is_known(r))
		adopt(s, l, r);
	else
		adopt_aliases(l, r);
	if (!l->name_last) {
		l->name_last = r->name_last;
		l->comm_stored = false;
	}
	contexts_join(&l->contexts, &r->contexts);
	l->pid_reported |= r->pid_reported;
	if (l->pid < 0)
		l->pid = r->pid;
	if (r->inner.tid)
		slice_inner_is(s, l, &r->inner);
}
