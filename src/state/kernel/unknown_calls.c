/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves the time of unresolved calls to the parts where it belongs; see unknown_calls.h. */
#include "state/kernel/unknown_calls.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/charge.h"
#include "state/kernel/coverage.h"
#include "state/kernel/locks.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"

#include "base/each.h"
#include "base/timefmt.h"

static void resolve_cell(struct slice *s, struct bin *b, uint32_t id, const struct resolution *v)
{
	struct built_thread_cell *c = cell_table_find(&b->table[CELL_thread], built_layout(CELL_thread),
						      &(struct built_thread_key){ .thread = id });
	if (!c)
		return;
	unsigned run = unresolved_run(v->from), block = unresolved_block(v->from);
	if (!c->part[run] && !c->part[block])
		return;
	int64_t ran = c->part[run], blocked = c->part[block];
	b->dirty = true;
	c->part[run] = 0;
	c->part[v->run_part] += ran;
	c->part[block] = 0;
	if (v->cause == WAIT_PART)
		c->part[v->part] += blocked;
	else if (blocked)
		bin_file(s, b, thread_at(s, id), v->call)->blocked_ns += blocked;
}

/* part[]: counters of a thread or of a snapshot. */
static void resolve_parts(int64_t part[PART_SLICE_N], const struct resolution *v)
{
	unsigned run = unresolved_run(v->from), block = unresolved_block(v->from);
	int64_t ran = part[run], blocked = part[block];
	part[run] = 0;
	part[v->run_part] += ran;
	part[block] = 0;
	if (v->cause == WAIT_PART)
		part[v->part] += blocked;
}

static void resolve_charged(struct thread *t, const struct resolution *v)
{
	unsigned run = unresolved_run(v->from), block = unresolved_block(v->from);
	ARRAY_EACH(struct charged, c, &t->charged) {
		if (c->part == run)
			c->part = (uint8_t)v->run_part;
		else if (c->part == block)
			c->part = v->cause == WAIT_PART ? v->part : PART_SLICE_N;
	}
}

static const uint8_t unresolved_cause[] = {
	[UNRESOLVED_INITIAL] = WAIT_UNRESOLVED, [UNRESOLVED_LOST] = WAIT_LOST, [UNRESOLVED_RESTART] = WAIT_RESTART,
};

/* The call continues the one that was resolved. */
static void continue_call(struct call *c, const struct resolution *v)
{
	c->restart = v->call ? RESTART_KNOWN : RESTART_NONE;
	c->interrupted &= v->call != NULL;
	if (!v->call)
		return;
	c->info = v->call->info;
	memcpy(c->arg, v->call->arg, sizeof c->arg);
}

static void continue_wait(struct wait *w, const struct resolution *v)
{
	struct call c = { .name = w->call.name, .seq = w->call.seq, .fd = w->call.fd };

	w->in_restart = false;
	continue_call(&c, v);
	w->call = wait_call(&c);
}

static void resolve_locks(struct slice *s, struct thread *t, const struct resolution *v, uint8_t cause)
{
	struct call c = t->st.call;

	lock_resolve_past(s, t, unresolved_cause[v->from], cause, v->part, v->call);
	if (v->from != UNRESOLVED_RESTART)
		return;
	c.restart = RESTART_KNOWN;
	continue_call(&c, v);
	lock_resolve_restart(s, t, v->call ? &c : NULL);
}

static void resolve_state(struct slice *s, struct thread *t, const struct resolution *v)
{
	uint8_t pending = unresolved_cause[v->from];
	enum unresolved stays = v->cause == WAIT_PART ? unresolved_of(v->part) : UNRESOLVED_N;
	uint8_t cause = stays == UNRESOLVED_N ? v->cause : unresolved_cause[stays];
	resolve_parts(t->st.part, v);
	resolve_charged(t, v);
	if (slice_counts_locks(s))
		resolve_locks(s, t, v, cause);
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t id = g_array_index(t->annots, uint32_t, i);
		const struct annot *a = &g_array_index(s->annots, struct annot, id);
		if (a->snap)
			resolve_parts(a->snap->part, v);
	}
	ARRAY_EACH(struct wait, w, &t->waits) {
		if (w->in_restart && v->from == UNRESOLVED_RESTART)
			continue_wait(w, v);
		if (w->cause != pending)
			continue;
		w->cause = cause & 0x3f;
		w->part = v->part;
	}
	if (t->st.wait_cause == pending) {
		t->st.wait_cause = cause;
		t->st.wait_part = v->part;
	}
	if (v->from == UNRESOLVED_RESTART && t->st.call.restart == RESTART_UNRESOLVED)
		continue_call(&t->st.call, v);
}

/* For the seconds that are not decoded. */
static void note_resolved(struct slice *s, const struct thread *t, const struct resolution *v)
{
	bool by_fd = v->cause == WAIT_FD;
	struct resolved x = {
		.thread = t->self, .from = v->from, .run_part = (uint8_t)v->run_part, .part = by_fd ? 0 : v->part,
		.by_fd = by_fd, .fd = by_fd ? v->call->fd : NO_FD, .seq = by_fd ? v->call->seq : 0,
	};

	g_array_append_val(s->packs.resolved, x);
	for (guint i = 0; t->aliases && i < t->aliases->len; i++) {
		x.thread = g_array_index(t->aliases, uint32_t, i);
		g_array_append_val(s->packs.resolved, x);
	}
}

void resolve(struct slice *s, struct thread *t, const struct resolution *v)
{
	int64_t *from = &t->unresolved_from[v->from];
	enum unresolved stays = v->cause == WAIT_PART ? unresolved_of(v->part) : UNRESOLVED_N;
	if (*from != INT64_MAX) {
		int64_t first = time_floor(*from, s->step) / s->step;
		TABLE_EACH(each, s->bins) {
			struct bin *b = each.value;
			if (b->index < first)
				continue;
			resolve_cell(s, b, t->self, v);
			for (guint i = 0; t->aliases && i < t->aliases->len; i++)
				resolve_cell(s, b, g_array_index(t->aliases, uint32_t, i), v);
		}
		if (s->packs.resolved)
			note_resolved(s, t, v);
		if (stays != UNRESOLVED_N)
			t->unresolved_from[stays] = MIN(t->unresolved_from[stays], *from);
		*from = INT64_MAX;
	}
	resolve_state(s, t, v);
}

void resolution_of_call(const struct call *c, struct resolution *v)
{
	*v = (struct resolution){ .run_part = PART_SYSCALL, .call = c };
	call_cause(c, &v->cause, &v->part);
	if (v->cause == WAIT_RESTART) {
		v->cause = WAIT_PART;
		v->part = PART_RESTART_BLOCK;
	}
}

const struct resolution was_user = { .run_part = PART_USER, .cause = WAIT_PART, .part = PART_FAULT };
const struct resolution was_lost = { .run_part = PART_USER, .cause = WAIT_PART, .part = PART_OTHER };
const struct resolution is_lost = {
	.run_part = PART_LOST_RUN, .cause = WAIT_PART, .part = PART_LOST_BLOCK
};

void resolution_of_exit(const struct rec *exit, struct resolution *v)
{
	struct call c = { .name = exit->name, .info = exit->info, .fd = NO_FD, .begin = TS_NONE };
	resolution_of_call(&c, v);
	v->call = NULL;
}

/* A child returns from its parent's fork: it was born in this call, whose fork event was lost. */
static bool returns_in_child(const struct rec *exit)
{
	return exit->info->twice && exit->arg[0] == 0;
}

/* If the thread may have begun in an older slice, merging resolves the time. */
void initial_ends(struct slice *s, struct thread *t, enum initial_end how,
	       const struct rec *by)
{
	g_assert(how != INITIAL_BY_EXIT || by);
	struct resolution v = how == INITIAL_BY_LOSS ? was_lost : was_user;
	t->initial_end = how;
	if (by)
		t->initial_exit = *by;
	if (!is_final(s, t))
		return;
	if (how == INITIAL_BY_EXIT) {
		resolution_of_exit(by, &v);
		slice_bin(s, by->ts)->completeness.provisional++;
		if (by->name && !returns_in_child(by))	/* it was in the call since the beginning */
			charge_busy(s, t, &(struct call){ .name = by->name, .busy_from = covered_from(s, t->host) },
				    by->ts);
	}
	resolve(s, t, &v);
}

void lost_ends(struct slice *s, struct thread *t, enum initial_end how,
		      const struct rec *by)
{
	g_assert(how != INITIAL_BY_EXIT || by);
	struct resolution v = how == INITIAL_BY_LOSS ? was_lost : was_user;
	if (how == INITIAL_BY_EXIT)
		resolution_of_exit(by, &v);
	v.from = UNRESOLVED_LOST;
	resolve(s, t, &v);
	if (!t->begins_lost || t->initial_end != INITIAL_OPEN)
		return;
	t->initial_end = how;	/* for the rest of the initial call */
	if (by)
		t->initial_exit = *by;
}

void unknown_ends(struct slice *s, struct thread *t, enum initial_end how,
			 const struct rec *by)
{
	if (t->st.call_state != CALL_UNRESOLVED)
		return;
	if (!t->st.call_lost) {
		initial_ends(s, t, how, by);
		return;
	}
	lost_ends(s, t, how, by);
	if (how == INITIAL_BY_EXIT)
		slice_bin(s, by->ts)->completeness.provisional++;
}

/* ---- traces without switches or without calls ---- */

enum part part_is_unknown(const struct slice *s, enum part part)
{
	if (!s->has_switches)
		return part == PART_HANDOFF ? part : PART_UNKNOWN;
	return part == PART_FAULT && !s->has_calls ? PART_OTHER : part;	/* without call events, "outside of a call"
									 * is unknown */
}

void parts_are_unknown(const struct slice *s, int64_t part[PART_N])
{
	if (s->has_switches && s->has_calls)
		return;
	if (s->has_switches) {
		part[PART_OTHER] += part[PART_FAULT];
		part[PART_FAULT] = 0;
		return;
	}
	int64_t handoff = part[PART_HANDOFF], all = -handoff;
	for (enum part p = 0; p < PART_N; p++) {
		all += part[p];
		part[p] = 0;
	}
	part[PART_HANDOFF] = handoff;
	part[PART_UNKNOWN] = all;
}
