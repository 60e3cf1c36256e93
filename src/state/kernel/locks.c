/* SPDX-License-Identifier: GPL-2.0-only */
/* Notes what may be waits for locks, and their ends; see locks.h. */
#include "state/kernel/locks.h"

#include "state/kernel/thread_logs.h"

#include "base/each.h"
#include "base/limits.h"

#include <fcntl.h>

#define SETLKW_OF_64 14			/* F_SETLKW64 of machines with 32 bits */

void lock_log_clear(struct lock_log *l)
{
	for (uint32_t i = 0; i < l->releases.len; i++)
		vec_free(&vec_at(&l->releases, struct lock_release, i)->past);
	vec_free(&l->releases);
	vec_free(&l->waits);
}

void lock_log_each_event(const struct lock_log *l, GArray *events)
{
	for (uint32_t i = 0; i < l->waits.len; i++)
		if (vec_at(&l->waits, struct lock_wait, i)->call.fd >= 0)
			g_array_append_val(events, vec_at(&l->waits, struct lock_wait, i)->call.seq);
	for (uint32_t i = 0; i < l->releases.len; i++) {
		const struct vec *past = &vec_at(&l->releases, struct lock_release, i)->past;
		for (uint32_t k = 0; k < past->len; k++)
			g_array_append_val(events, vec_at(past, struct past_wait, k)->seq);
	}
}

/* ---- what holders did ---- */

void lock_past_add(struct slice *s, struct thread *t, int64_t ts)
{
	const struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN, preempted = st->run == RUN_PREEMPTED;
	if (t->past.len == 2 * LIMIT_HOLDER_WAITS) {
		vec_drop(&t->past, LIMIT_HOLDER_WAITS, sizeof(struct past_wait));
		t->past_is_cut = true;
	}
	*vec_add(&t->past, struct past_wait) = (struct past_wait){
		.begin = st->off_ns, .wake = woken ? st->wake_ns : ts, .end = ts,
		.seq = st->call.seq, .fd = st->call.fd,
		.cause = preempted ? WAIT_PART : st->wait_cause, .part = preempted ? PART_PREEMPTED : st->wait_part,
	};
}

/* ---- waits ---- */

/* The kind of lock that the call may wait for. ret: the call, for a log. */
static enum lock_kind kind_of_call(const struct call *c, struct wait_call *ret)
{
	const struct call_info *info = info_of_call(c);
	bool set = c->arg[1] == F_SETLKW || c->arg[1] == SETLKW_OF_64 || c->arg[1] == F_OFD_SETLKW;
	*ret = wait_call(c);
	if (info->cause == PART_FUTEX)
		return ret->lock ? LOCK_FUTEX : LOCK_NONE;
	if (!info->locks || c->restart || (info->fdop == FDOP_FCNTL && !set))
		return LOCK_NONE;
	if (info->fdop == FDOP_FCNTL)
		ret->fd = (int32_t)c->arg[0];
	return ret->fd < 0 ? LOCK_NONE : info->fdop == FDOP_FCNTL ? LOCK_RECORD : LOCK_FLOCK;
}

void lock_woken(struct slice *s, struct thread *t)
{
	const struct tstate *st = &t->st;
	bool initial = lock_in_unknown_call(s, st), in = st->call_state == CALL_IN;
	bool restart = in && st->call.restart == RESTART_UNRESOLVED;
	struct lock_wait w = {
		.begin = st->off_ns, .wake = st->wake_ns, .wake_seq = st->wake_seq, .thread = t->self,
		.waker = st->waker, .in_initial_call = initial, .in_restart = restart, .call.fd = -1,
	};
	if ((st->wait_cause == WAIT_PART && st->wait_part == PART_STOPPED) || w.wake <= w.begin)
		return;
	if (in)
		w.kind = (uint8_t)kind_of_call(&st->call, &w.call);
	if (w.kind == LOCK_NONE && !initial && !restart)
		return;
	t->initial_waits += initial;
	t->file_lock |= lock_is_of_file(w.kind);
	*vec_add(&s->locks.waits, struct lock_wait) = w;
	s->locks.last_wake_seq = MAX(s->locks.last_wake_seq, w.wake_seq);
}

void lock_wakes(struct slice *s, const struct thread *t, uint32_t waker, int64_t ts)
{
	const struct tstate *st = &t->st;
	struct wait_call call;
	bool restart = st->call_state == CALL_IN && st->call.restart == RESTART_UNRESOLVED;
	bool open = !t->resolved || lock_in_unknown_call(s, st) || restart;
	if (waker == ID_NONE || (!open && (st->call_state != CALL_IN || !kind_of_call(&st->call, &call))))
		return;
	struct thread *by = thread_at(s, waker);
	int64_t from = open || st->run != RUN_BLOCKED ? INT64_MIN : st->off_ns;
	by->woke_from = by->woke_ns < by->st.call.begin ? from : MIN(by->woke_from, from);
	by->woke_ns = MAX(by->woke_ns, ts);
}

void lock_patch_waker(struct slice *s, uint64_t seq, uint32_t waker)
{
	for (uint32_t i = seq > s->locks.last_wake_seq ? 0 : s->locks.waits.len; i > 0; i--) {
		struct lock_wait *w = vec_at(&s->locks.waits, struct lock_wait, i - 1);
		if (w->wake_seq != seq)
			continue;
		w->waker = waker;
		return;
	}
}

/* ---- calls ---- */

/* The newest waits of the thread that ended after the instant. One more than the limit shows that there were more. */
static void copy_past(struct lock_release *r, const struct thread *t, int64_t from)
{
	uint32_t n = t->past.len, first = n;
	while (first > 0 && n - first <= LIMIT_HOLDER_WAITS &&
	       vec_at(&t->past, struct past_wait, first - 1)->end > from)
		first--;
	r->whole = !first && !t->past_is_cut;
	vec_append(&r->past, vec_at(&t->past, struct past_wait, first), n - first, sizeof(struct past_wait));
}

static void note_release(struct slice *s, struct thread *t, int64_t begin, int64_t end, uint64_t address, int64_t from)
{
	struct lock_release r = { .begin = begin, .end = end, .address = address, .thread = t->self };
	copy_past(&r, t, from);
	*vec_add(&s->locks.releases, struct lock_release) = r;
	t->n_releases++;
}

static void file_lock_ended(struct slice *s, struct thread *t, const struct call *c, int64_t ret)
{
	bool any = false;
	for (uint32_t i = s->locks.waits.len; t->file_lock && i > 0; i--) {
		struct lock_wait *w = vec_at(&s->locks.waits, struct lock_wait, i - 1);
		bool file = lock_is_of_file(w->kind);
		if (!file || thread_follow(s, w->thread) != t->self)
			continue;
		if (w->call.seq != c->seq) {
			any |= !w->got && !w->failed;
			continue;
		}
		w->got = ret == 0;
		w->failed = !w->got;
	}
	t->file_lock = any;
}

void lock_call_ended(struct slice *s, struct thread *t, const struct call *c, int64_t ts, int64_t ret)
{
	uint64_t address = 0;
	if (t->file_lock)
		file_lock_ended(s, t, c, ret);
	if (t->woke_ns < c->begin)
		return;
	if (!call_wakes_futex(c, &address))
		address = 0;
	note_release(s, t, c->begin, ts, address, t->woke_from);
}

void lock_unknown_call_ended(struct slice *s, struct thread *t, int64_t ts)
{
	note_release(s, t, TS_NONE, ts, 0, INT64_MIN);
}

/* The thread's last release was its end, if it has returned from no call since. */
static void mark_end(struct slice *s, const struct thread *t)
{
	for (uint32_t i = t->n_releases ? s->locks.releases.len : 0; i > 0; i--) {
		struct lock_release *r = vec_at(&s->locks.releases, struct lock_release, i - 1);
		if (r->end == t->ended_after && thread_follow(s, r->thread) == t->self)
			r->ends = true;
	}
}

void lock_thread_ends(struct slice *s, struct thread *t, int64_t ts)
{
	if (t->st.returned_ns == TS_NONE || !release_is_end(t->st.returned_ns, ts))
		return;
	t->ended_after = t->st.returned_ns;
	mark_end(s, t);
}

/* ---- merging slices: what r noted is at the end of the logs ---- */

void lock_resolve_initial(struct slice *s, struct thread *l, struct thread *r)
{
	for (uint32_t i = s->locks.waits.len; r->initial_waits && i > 0; i--) {
		struct lock_wait *w = vec_at(&s->locks.waits, struct lock_wait, i - 1);
		if (!w->in_initial_call || thread_follow(s, w->thread) != thread_follow(s, r->self))
			continue;
		w->in_initial_call = false;
		r->initial_waits--;
		if (l->st.call_state != CALL_IN)
			continue;
		w->kind = (uint8_t)kind_of_call(&l->st.call, &w->call);
		w->in_restart = l->st.call.restart == RESTART_UNRESOLVED;
		l->file_lock |= lock_is_of_file(w->kind);
	}
}

bool lock_resolve_exit(struct slice *s, const struct thread *l, const struct thread *r, int64_t ts)
{
	for (uint32_t i = r->n_releases ? s->locks.releases.len : 0; i > 0; i--) {
		struct lock_release *x = vec_at(&s->locks.releases, struct lock_release, i - 1);
		uint64_t address = 0;
		if (x->begin != TS_NONE || x->end != ts || thread_follow(s, x->thread) != thread_follow(s, r->self))
			continue;
		if (l->st.call_state == CALL_IN && l->st.call.name && call_wakes_futex(&l->st.call, &address))
			x->address = address;
		x->begin = l->st.call.begin;
		return true;
	}
	return false;
}

/* What the thread did before the slice of the release. */
static void put_before(struct lock_release *x, const struct thread *l)
{
	struct vec past = { 0 };
	uint32_t n = MIN(l->past.len, LIMIT_HOLDER_WAITS + 1 - MIN(x->past.len, LIMIT_HOLDER_WAITS + 1));
	vec_append(&past, vec_at(&l->past, struct past_wait, l->past.len - n), n, sizeof(struct past_wait));
	vec_append(&past, x->past.data, x->past.len, sizeof(struct past_wait));
	vec_free(&x->past);
	x->past = past;
	x->whole = n == l->past.len && !l->past_is_cut;
}

void lock_join_wakes(struct thread *l, const struct thread *r)
{
	if (r->woke_ns == TS_NONE)
		return;
	l->woke_from = INT64_MIN;	/* r's is of its newest call, but its head may end an earlier one */
	l->woke_ns = MAX(l->woke_ns, r->woke_ns);
}

void lock_join(struct slice *s, struct thread *l, struct thread *r)
{
	for (uint32_t i = s->locks.releases.len, left = r->n_releases; left && i > 0; i--) {
		struct lock_release *x = vec_at(&s->locks.releases, struct lock_release, i - 1);
		if (x->thread != r->self)
			continue;
		left--;
		x->thread = l->self;
		if (x->whole)
			put_before(x, l);
	}
	l->n_releases += r->n_releases;
	if (r->ended_after != TS_NONE) {		/* a release at its beginning was applied to l */
		l->ended_after = r->ended_after;
		mark_end(s, l);
	}
	if (r->past_is_cut)
		vec_free(&l->past);
	vec_append(&l->past, r->past.data, r->past.len, sizeof(struct past_wait));
	vec_free(&r->past);
	if (l->past.len > 2 * LIMIT_HOLDER_WAITS) {
		vec_drop(&l->past, l->past.len - LIMIT_HOLDER_WAITS - 1, sizeof(struct past_wait));
		l->past_is_cut = true;
	}
	l->past_is_cut |= r->past_is_cut;
	l->file_lock |= r->file_lock;
	l->initial_waits += r->initial_waits;
}

void lock_move(struct slice *a, struct slice *b, const uint32_t *thread, const uint32_t *string, uint64_t seq_add)
{
	ARRAY_EACH(struct lock_wait, w, &b->locks.waits) {
		w->thread = thread[w->thread];
		w->waker = w->waker == ID_NONE ? ID_NONE : thread[w->waker];
		w->wake_seq += seq_add;
		a->locks.last_wake_seq = MAX(a->locks.last_wake_seq, w->wake_seq);
		w->call.name = string[w->call.name];
		w->call.seq += w->call.fd >= 0 ? seq_add : 0;
	}
	ARRAY_EACH(struct lock_release, r, &b->locks.releases) {
		r->thread = thread[r->thread];
		for (uint32_t k = 0; k < r->past.len; k++)
			vec_at(&r->past, struct past_wait, k)->seq += seq_add;
	}
	vec_append(&a->locks.waits, b->locks.waits.data, b->locks.waits.len, sizeof(struct lock_wait));
	vec_append(&a->locks.releases, b->locks.releases.data, b->locks.releases.len, sizeof(struct lock_release));
	vec_free(&b->locks.waits);
	vec_free(&b->locks.releases);
}

/* ---- unresolved calls ---- */

static void resolve_list(struct vec *past, uint8_t pending, uint8_t cause, uint8_t part, const struct call *call)
{
	ARRAY_EACH(struct past_wait, w, past) {
		if (w->cause != pending)
			continue;
		w->cause = cause;
		w->part = part;
		if (cause == WAIT_FD) {
			w->fd = call->fd;
			w->seq = call->seq;
		}
	}
}

void lock_resolve_past(struct slice *s, struct thread *t, uint8_t pending, uint8_t cause, uint8_t part,
		       const struct call *call)
{
	resolve_list(&t->past, pending, cause, part, call);
	for (uint32_t i = s->locks.releases.len, left = t->n_releases; left && i > 0; i--) {
		struct lock_release *r = vec_at(&s->locks.releases, struct lock_release, i - 1);
		if (r->thread != t->self)
			continue;
		left--;
		if (r->past.len)
			resolve_list(&r->past, pending, cause, part, call);
	}
}

void lock_resolve_restart(struct slice *s, struct thread *t, const struct call *c)
{
	ARRAY_EACH(struct lock_wait, w, &s->locks.waits) {
		if (!w->in_restart || thread_follow(s, w->thread) != t->self)
			continue;
		w->in_restart = false;
		w->kind = c ? (uint8_t)kind_of_call(c, &w->call) : LOCK_NONE;
	}
}
