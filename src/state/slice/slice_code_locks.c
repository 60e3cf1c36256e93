/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for locks in a slice file: see slice_code.h and kernel/locks.h. */
#include "state/slice/slice_code.h"

#include "base/each.h"
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

static void code_past_wait(struct coder *c, void *element, const struct slice_counts *n)
{
	struct past_wait *w = element;

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
}

static void code_past_waits(struct coder *c, struct vec *past, uint32_t most, const struct slice_counts *n)
{
	code_vec(c, past, sizeof(struct past_wait), 0, 6, code_past_wait, n);
	if (past->len > most)
		coder_refuse(c, "a thread has too many waits");
}

void code_past(struct coder *c, struct thread *t, const struct slice_counts *n)
{
	code_past_waits(c, &t->past, 2 * LIMIT_HOLDER_WAITS, n);
	code_bool(c, &t->past_is_cut);
	code_u32(c, &t->initial_waits);
	code_u32(c, &t->n_releases);
	code_bool(c, &t->file_lock);
	code_ts(c, &t->ended_after);
	code_ts(c, &t->woke_ns);
	code_ts(c, &t->woke_from);
}

static void code_lock_wait(struct coder *c, void *element, const struct slice_counts *n)
{
	struct lock_wait *w = element;

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

static void code_release(struct coder *c, void *element, const struct slice_counts *n)
{
	struct lock_release *r = element;

	code_ts(c, &r->begin);
	code_ts(c, &r->end);
	check_interval(c, r->begin == TS_NONE ? r->end : r->begin, r->end);
	code_u64(c, &r->address);
	code_id(c, &r->thread, n->threads, false);
	code_bool(c, &r->ends);
	code_bool(c, &r->whole);
	code_past_waits(c, &r->past, LIMIT_HOLDER_WAITS + 1, n);
}

void code_locks(struct coder *c, struct slice *s, const struct slice_counts *n)
{
	struct lock_log *l = &s->locks;

	code_vec(c, &l->waits, sizeof(struct lock_wait), ROW_LOCK_WAIT, 12, code_lock_wait, n);
	ARRAY_EACH(const struct lock_wait, w, &l->waits)
		if (!coder_writes(c))
			l->last_wake_seq = MAX(l->last_wake_seq, w->wake_seq);
	code_vec(c, &l->releases, sizeof(struct lock_release), 0, 8, code_release, n);
}
