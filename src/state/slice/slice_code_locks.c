/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for locks in a slice file: see slice_code.h and kernel/locks.h. */
#include "state/slice/slice_code.h"

#include "base/limits.h"
#include "state/kernel/locks.h"

enum { ROW_LOCK_WAIT = 3 };

void code_wait_call(struct coder *c, struct wait_call *w, const struct slice_counts *n)
{
	uint32_t name = w->name;
	bool lock = w->lock;

	code_string(c, &name, n);
	code_bool(c, &lock);
	code_i32(c, &w->fd);
	code_u64(c, &w->seq);
	w->lock = lock;
	w->name = name & 0x7fffffff;
}

/* Intervals are added up. */
static void check_interval(struct coder *c, int64_t begin, int64_t end)
{
	if (!coder_writes(c) && (begin == INT64_MIN || end == INT64_MAX || begin > end))
		coder_refuse(c, "a wait is wrong");
}

static void code_past_waits(struct coder *c, struct vec *past, uint32_t most)
{
	uint32_t len = code_len(c, past->len, 6, sizeof(struct past_wait));

	if (len > most) {
		coder_refuse(c, "a thread has too many waits");
		return;
	}
	for (uint32_t i = 0; i < len && !c->fault; i++) {
		struct past_wait fresh = { 0 };
		struct past_wait *w = coder_writes(c) ? vec_at(past, struct past_wait, i) : &fresh;
		code_ts(c, &w->begin);
		code_ts(c, &w->wake);
		code_ts(c, &w->end);
		check_interval(c, w->begin, w->end);
		code_below(c, &w->cause, WAIT_RESTART + 1);
		code_part(c, w->cause, &w->part);
		if (w->cause == WAIT_FD) {
			code_i32(c, &w->fd);
			code_seq(c, &w->seq);
		}
		if (!coder_writes(c))
			*vec_add(past, struct past_wait) = fresh;
	}
}

void code_past(struct coder *c, struct thread *t)
{
	code_past_waits(c, &t->past, 2 * LIMIT_HOLDER_WAITS);
	code_bool(c, &t->past_is_cut);
	code_u32(c, &t->initial_waits);
	code_u32(c, &t->n_releases);
	code_bool(c, &t->file_lock);
	code_ts(c, &t->ended_after);
	code_ts(c, &t->woke_ns);
	code_ts(c, &t->woke_from);
}

static void code_lock_wait(struct coder *c, struct lock_wait *w, const struct slice_counts *n)
{
	code_ts(c, &w->begin);
	code_ts(c, &w->wake);
	check_interval(c, w->begin, w->wake);
	code_seq(c, &w->wake_seq);
	code_id(c, &w->thread, n->threads, false);
	code_id(c, &w->waker, n->threads, true);
	code_wait_call(c, &w->call, n);
	code_below(c, &w->kind, LOCK_LEFT_OUT);
	code_bool(c, &w->in_initial_call);
	code_bool(c, &w->in_restart);
	code_bool(c, &w->got);
	code_bool(c, &w->failed);
}

static void code_release(struct coder *c, struct lock_release *r, const struct slice_counts *n)
{
	code_ts(c, &r->begin);
	code_ts(c, &r->end);
	check_interval(c, r->begin == TS_NONE ? r->end : r->begin, r->end);
	code_u64(c, &r->address);
	code_id(c, &r->thread, n->threads, false);
	code_bool(c, &r->ends);
	code_bool(c, &r->whole);
	code_past_waits(c, &r->past, LIMIT_HOLDER_WAITS + 1);
}

void code_locks(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	struct lock_log *l = &s->locks;
	uint32_t n_waits = code_len(c, l->waits.len, 12, sizeof(struct lock_wait));

	for (uint32_t i = 0; i < n_waits && !c->fault; i++) {
		struct lock_wait fresh = { 0 };
		coder_row(c, ROW_LOCK_WAIT);
		code_lock_wait(c, coder_writes(c) ? vec_at(&l->waits, struct lock_wait, i) : &fresh, n);
		l->last_wake_seq = MAX(l->last_wake_seq, fresh.wake_seq);
		if (!coder_writes(c))
			*vec_add(&l->waits, struct lock_wait) = fresh;
	}
	coder_row(c, 0);
	uint32_t n_releases = code_len(c, l->releases.len, 8, sizeof(struct lock_release));
	for (uint32_t i = 0; i < n_releases && !c->fault; i++) {
		struct lock_release fresh = { 0 };
		code_release(c, coder_writes(c) ? vec_at(&l->releases, struct lock_release, i) : &fresh, n);
		if (!coder_writes(c))
			*vec_add(&l->releases, struct lock_release) = fresh;
	}
}
