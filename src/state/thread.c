/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fold of one thread: records in, charges, waits, finished calls and snapshots
 * out. A thread that is not "hard" yet only collects its head; see slice.h.
 */
#include "state/slice_private.h"

#include "base/timefmt.h"

static struct thread *get(const struct slice *s, uint32_t id)
{
	return g_ptr_array_index(s->threads, id);
}

void thread_free(struct thread *t)
{
	if (t->head)
		g_array_unref(t->head);
	if (t->waits)
		g_array_unref(t->waits);
	if (t->calls)
		g_array_unref(t->calls);
	if (t->annots)
		g_array_unref(t->annots);
	if (t->open)
		g_array_unref(t->open);
	if (t->aliases)
		g_array_unref(t->aliases);
	g_free(t);
}

/* ---- charging the open state ---- */

static void cause_of_call(struct slice *s, const struct call *c, uint8_t *cause, uint8_t *part)
{
	const struct call_info *info = slice_call_info(s, c->name);
	*cause = WAIT_PART;
	*part = info->cause ? info->cause : PART_OTHER;
	if (info->by_fd) {
		*part = PART_OTHER;
		if (c->fd >= 0)
			*cause = WAIT_FD;
	}
}

static void set_wait_cause(struct slice *s, struct tstate *st)
{
	st->wait_cause = WAIT_PART;
	if (st->call_state == CALL_IN)
		cause_of_call(s, &st->call, &st->wait_cause, &st->wait_part);
	else if (st->call_state == CALL_NONE)
		st->wait_part = PART_FAULT;
	else
		st->wait_cause = st->call_lost ? WAIT_LOST : WAIT_SOFT;
}

/* Which part the open state is charged to; PART_SLICE_N: by the call's descriptor. */
static unsigned open_part(const struct tstate *st)
{
	switch ((enum run_state)st->run) {
	case RUN_ON:
		if (st->irq_depth)
			return PART_IRQ;
		if (st->call_state == CALL_IN)
			return PART_SYSCALL;
		if (st->call_state == CALL_NONE)
			return PART_USER;
		return st->call_lost ? PART_LOST_RUN : PART_SOFT_RUN;
	case RUN_BLOCKED:
		if (st->wait_cause == WAIT_FD)
			return PART_SLICE_N;
		if (st->wait_cause == WAIT_LOST)
			return PART_LOST_BLOCK;
		return st->wait_cause == WAIT_SOFT ? PART_SOFT_BLOCK : st->wait_part;
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

static void charge(struct slice *s, uint32_t id, struct thread *t, int64_t until)
{
	struct tstate *st = &t->st;
	if (st->run == RUN_DEAD || st->cursor == TS_NONE) {
		st->cursor = st->run == RUN_DEAD ? st->cursor : until;
		return;
	}
	if (until <= st->cursor)
		return;
	unsigned part = open_part(st);
	if (part == PART_SLICE_N) {
		charge_fd(s, id, &st->call, st->cursor, until);
	} else {
		charge_part(s, id, part, st->cursor, until);
		st->part[part] += until - st->cursor;
		if (part >= PART_N) {
			int64_t *from = &t->soft_from[part >= PART_LOST_RUN];
			*from = MIN(*from, st->cursor);
		}
	}
	st->cursor = until;
}

static void forget_call(struct tstate *st)
{
	st->call_state = CALL_SOFT;
	st->call_lost = true;
	memset(&st->call, 0, sizeof st->call);
}

static void unknown_ends(struct slice *s, uint32_t id, struct thread *t, enum soft_end how,
			 const struct rec *by);

/* What was known of it ends here. */
static void lose(struct slice *s, uint32_t id, struct thread *t)
{
	unknown_ends(s, id, t, SOFT_BY_LOSS, NULL);
	t->st.run = RUN_UNKNOWN;
	t->st.irq_depth = 0;
	forget_call(&t->st);
}

/* Off the CPU while events of any CPU were lost: nobody knows what it did since. */
static void settle(struct slice *s, uint32_t id, struct thread *t, int64_t ts)
{
	struct tstate *st = &t->st;
	int64_t lost;
	if (st->run == RUN_ON || st->run == RUN_DEAD || st->run == RUN_UNKNOWN ||
	    !slice_lost_between(s, t->host, st->cursor, ts, &lost))
		return;
	charge(s, id, t, lost);
	lose(s, id, t);
}

void thread_charge(struct slice *s, uint32_t id, int64_t until)
{
	struct thread *t = get(s, id);
	if (!t->hard || t->idle || t->forward != ID_NONE)
		return;
	settle(s, id, t, until);
	charge(s, id, t, until);
	if (t->st.call_state == CALL_IN && t->st.call.name)
		charge_busy(s, id, &t->st.call, until);
}

void thread_snapshot(const struct slice *s, const struct thread *t, int64_t at,
		     int64_t part[PART_SLICE_N])
{
	memcpy(part, t->st.part, sizeof t->st.part);
	unsigned p = open_part(&t->st);
	if (p < PART_SLICE_N && t->st.run != RUN_DEAD && t->st.cursor != TS_NONE && at > t->st.cursor)
		part[p] += at - t->st.cursor;
}

/* ---- the initial call, when it becomes known ---- */

/* What time in a call that is not known turns out to be. It is kept in two pairs of
 * parts: of the initial call, and of what follows a loss. */
struct verdict {
	bool lost;		/* the pair that follows a loss */
	unsigned run_part;	/* of time on the CPU in it */
	uint8_t cause, part;	/* of time blocked in it; WAIT_SOFT: leave it */
	const struct call *call;/* WAIT_FD: whose descriptor; may be NULL */
};

static void resolve_cell(struct slice *s, struct bin *b, uint32_t id, const struct verdict *v)
{
	uint32_t i = intmap_get(&b->thread_map, id);
	if (i == INTMAP_NONE)
		return;
	struct bin_thread *c = &g_array_index(b->threads, struct bin_thread, i);
	unsigned run = v->lost ? PART_LOST_RUN : PART_SOFT_RUN, block = run + 1;
	if (!c->part[run] && !c->part[block])
		return;
	int64_t ran = c->part[run], blocked = c->part[block];
	b->dirty = true;
	c->part[run] = 0;
	c->part[v->run_part] += ran;
	if (v->cause == WAIT_SOFT)
		return;
	c->part[block] = 0;
	if (v->cause == WAIT_PART)
		c->part[v->part] += blocked;
	else if (blocked)
		bin_file(s, b, id, v->call)->blocked_ns += blocked;
}

/* Counters: of a thread, or a snapshot of them. */
static void resolve_parts(int64_t part[PART_SLICE_N], const struct verdict *v)
{
	unsigned run = v->lost ? PART_LOST_RUN : PART_SOFT_RUN, block = run + 1;
	int64_t ran = part[run], blocked = part[block];
	part[run] = 0;
	part[v->run_part] += ran;
	if (v->cause == WAIT_SOFT)
		return;
	part[block] = 0;
	if (v->cause == WAIT_PART)
		part[v->part] += blocked;
}

static void resolve_state(struct slice *s, struct thread *t, const struct verdict *v)
{
	uint8_t pending = v->lost ? WAIT_LOST : WAIT_SOFT;
	resolve_parts(t->st.part, v);
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t id = g_array_index(t->annots, uint32_t, i);
		resolve_parts(g_array_index(s->annots, struct annot, id).part, v);
	}
	if (v->cause == WAIT_SOFT)
		return;
	for (guint i = 0; t->waits && i < t->waits->len; i++) {
		struct wait *w = &g_array_index(t->waits, struct wait, i);
		if (w->cause != pending)
			continue;
		w->cause = v->part == PART_LOST_BLOCK ? WAIT_LOST : v->cause;
		w->part = v->part;
	}
	if (t->st.wait_cause == pending) {
		t->st.wait_cause = v->part == PART_LOST_BLOCK ? WAIT_LOST : v->cause;
		t->st.wait_part = v->part;
	}
}

/* Moves what was charged softly to t (under id and its aliases) where it belongs. */
static void resolve(struct slice *s, uint32_t id, struct thread *t, const struct verdict *v)
{
	int64_t *from = &t->soft_from[v->lost];
	if (*from != INT64_MAX) {
		int64_t first = time_floor(*from, s->step) / s->step;
		GHashTableIter it;
		gpointer value;
		g_hash_table_iter_init(&it, s->bins);
		while (g_hash_table_iter_next(&it, NULL, &value)) {
			struct bin *b = value;
			if (b->index < first)
				continue;
			resolve_cell(s, b, id, v);
			for (guint i = 0; t->aliases && i < t->aliases->len; i++)
				resolve_cell(s, b, g_array_index(t->aliases, uint32_t, i), v);
		}
		if (v->part == PART_LOST_BLOCK)
			t->soft_from[1] = MIN(t->soft_from[1], *from);
		if (v->cause != WAIT_SOFT)
			*from = INT64_MAX;
	}
	resolve_state(s, t, v);
}

static void verdict_of_call(struct slice *s, const struct call *c, struct verdict *v)
{
	*v = (struct verdict){ .run_part = PART_SYSCALL, .call = c };
	cause_of_call(s, c, &v->cause, &v->part);
}

static const struct verdict was_user = { .run_part = PART_USER, .cause = WAIT_PART, .part = PART_FAULT };
static const struct verdict was_lost = { .run_part = PART_USER, .cause = WAIT_PART, .part = PART_OTHER };
static const struct verdict is_lost = {
	.run_part = PART_LOST_RUN, .cause = WAIT_PART, .part = PART_LOST_BLOCK
};

/* The unknown call ended with this exit; `final`: its entry will never be known. */
static void verdict_of_exit(struct slice *s, const struct rec *exit, bool final, struct verdict *v)
{
	struct call c = { .name = exit->name, .fd = NO_FD, .begin = TS_NONE };
	verdict_of_call(s, &c, v);
	v->call = NULL;
	if (slice_call_info(s, exit->name)->by_fd && !final)
		v->cause = WAIT_SOFT;
}

/* Nothing older can come that tells of the thread's initial call. */
static bool is_final(const struct slice *s, const struct thread *t)
{
	return s->rooted && t->tid != -1;
}

/* The initial call, unknown until now, ended; by a record, unless by a loss. */
static void soft_ends(struct slice *s, uint32_t id, struct thread *t, enum soft_end how,
		      const struct rec *by)
{
	struct verdict v = how == SOFT_BY_LOSS ? was_lost : was_user;
	t->soft_end = how;
	if (by)
		t->soft_exit = *by;
	if (how == SOFT_BY_EXIT) {
		verdict_of_exit(s, by, is_final(s, t), &v);
		if (is_final(s, t))
			slice_bin(s, by->ts)->trust.soft++;
	} else if (!is_final(s, t)) {
		return;		/* the left neighbour tells what it was */
	}
	resolve(s, id, t, &v);
}

/* A call unknown since a loss ended. */
static void lost_ends(struct slice *s, uint32_t id, struct thread *t, enum soft_end how,
		      const struct rec *by)
{
	struct verdict v = how == SOFT_BY_LOSS ? was_lost : was_user;
	if (how == SOFT_BY_EXIT)
		verdict_of_exit(s, by, true, &v);
	v.lost = true;
	resolve(s, id, t, &v);
	if (!t->begins_lost || t->soft_end != SOFT_OPEN)
		return;
	t->soft_end = how;	/* for what is left of it */
	if (by)
		t->soft_exit = *by;
}

static void unknown_ends(struct slice *s, uint32_t id, struct thread *t, enum soft_end how,
			 const struct rec *by)
{
	if (t->st.call_state != CALL_SOFT)
		return;
	if (!t->st.call_lost) {
		soft_ends(s, id, t, how, by);
		return;
	}
	lost_ends(s, id, t, how, by);
	if (how == SOFT_BY_EXIT)
		slice_bin(s, by->ts)->trust.soft++;
}

/* ---- the fold ---- */

static void take_call(struct slice *s, struct tstate *st, const struct rec *r)
{
	const struct call_info *info = slice_call_info(s, r->name);
	st->call_lost = false;
	if (info->no_exit && !g_str_has_prefix(info->name, "exit")) {
		st->call_state = CALL_NONE;	/* rt_sigreturn: back in user mode at once */
		return;
	}
	st->call_state = CALL_IN;
	st->call = (struct call){
		.begin = r->ts, .busy_from = r->ts, .seq = r->seq, .name = r->name,
		.text = r->text, .fd = r->fd, .cpu = r->cpu,
		.arg = { r->arg[0], r->arg[1], r->arg[2] },
	};
}

static void finish_wait(struct slice *s, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	bool woken = st->run == RUN_WOKEN;
	if (!woken && st->run != RUN_BLOCKED && st->run != RUN_PREEMPTED)
		return;
	if (woken)
		hist_add(&slice_bin(s, r->ts)->wakeup, r->ts - st->wake_ns);
	struct wait w = {
		.begin = st->off_ns, .wake = woken ? st->wake_ns : r->ts, .end = r->ts,
		.wake_seq = st->wake_seq, .cause = st->wait_cause, .part = st->wait_part,
		.waker = woken ? st->waker : ID_NONE, .waker_irq = woken ? st->waker_irq : 0,
		.cpu = r->cpu,
	};
	if (st->run == RUN_PREEMPTED) {
		w.cause = WAIT_PART;
		w.part = PART_PREEMPTED;
	}
	w.in_soft_call = st->call_state == CALL_SOFT && !st->call_lost;
	if (st->call_state == CALL_IN)
		w.call = st->call;
	if (!t->waits)
		t->waits = g_array_new(false, false, sizeof(struct wait));
	g_array_append_val(t->waits, w);
}

static void on_cpu(struct tstate *st, const struct rec *r)
{
	st->run = RUN_ON;
	st->cpu = r->cpu;
}

static void do_since(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	on_cpu(&t->st, r);
	t->st.irq_known = false;
	t->st.irq_depth = 0;
	if (r->state)
		forget_call(&t->st);
}

static void do_away(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	t->st.run = RUN_UNKNOWN;
	t->st.irq_depth = 0;
}

static void do_run(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	finish_wait(s, t, r);
	on_cpu(&t->st, r);
	t->st.irq_known = true;
	t->st.irq_depth = 0;
}

static void do_off(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	static const uint8_t state[] = {
		[OFF_BLOCKED] = RUN_BLOCKED, [OFF_PREEMPTED] = RUN_PREEMPTED, [OFF_DEAD] = RUN_DEAD,
	};
	t->st.run = state[r->state];
	t->st.off_ns = r->ts;
	t->st.irq_known = true;
	t->st.irq_depth = 0;
	t->st.wake_seq = 0;
	if (r->state == OFF_DEAD)
		t->exit_ns = r->ts;
	else
		set_wait_cause(s, &t->st);
}

static void do_wake(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	if (st->run == RUN_UNKNOWN) {	/* it was blocked, nobody knows since when */
		st->off_ns = r->ts;
		set_wait_cause(s, st);
	} else if (st->run != RUN_BLOCKED) {
		return;
	}
	st->run = RUN_WOKEN;
	st->wake_ns = r->ts;
	st->wake_seq = r->seq;
	st->waker = r->who;
	st->waker_irq = r->irq;
}

static void call_begins(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	unknown_ends(s, id, t, SOFT_BY_ENTER, r);
	on_cpu(&t->st, r);
	t->st.irq_known = true;
	t->st.irq_depth = 0;
}

static void do_enter(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	call_begins(s, id, t, r);
	if (t->st.call_state == CALL_IN && t->st.call.name)
		slice_bin(s, r->ts)->trust.soft++;	/* superseded: its exit was never seen */
	take_call(s, &t->st, r);
}

static void do_exit(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	bool twice = slice_call_info(s, r->name)->twice;
	on_cpu(st, r);
	st->irq_known = true;
	st->irq_depth = 0;
	if (st->call_state == CALL_IN && st->call.name && (st->call.name == r->name || !r->name)) {
		struct call c = st->call;
		st->call_state = CALL_NONE;
		call_finished(s, id, &c, r);
		return;
	}
	if (st->call_state == CALL_SOFT)
		unknown_ends(s, id, t, SOFT_BY_EXIT, r);
	else if (st->call_state == CALL_NONE ? !twice : st->call.name != 0)
		slice_bin(s, r->ts)->trust.soft++;
	st->call_state = CALL_NONE;
	st->call_lost = false;
}

/* Which spans it is in: their system calls are kept. */
static void track_open(struct thread *t, const struct annot *a, bool ends)
{
	struct open_span key = { a->trace, a->span, a->ts };
	if (!t->open)
		t->open = g_array_new(false, false, sizeof key);
	for (guint i = 0; i < t->open->len; i++) {
		const struct open_span *o = &g_array_index(t->open, struct open_span, i);
		if (o->trace != key.trace || o->span != key.span)
			continue;
		if (ends)
			g_array_remove_index(t->open, i);
		return;
	}
	if (!ends)
		g_array_append_val(t->open, key);
}

static void do_span(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	call_begins(s, id, t, r);	/* tracepoints of user space: it is in user mode */
	t->st.call_state = CALL_NONE;
	t->st.call_lost = false;
	struct annot *a = &g_array_index(s->annots, struct annot, r->who);
	a->thread = id;
	a->snapped = true;
	a->wait_index = t->waits_base + (t->waits ? t->waits->len : 0);
	memcpy(a->part, t->st.part, sizeof a->part);
	if (!t->annots)
		t->annots = g_array_new(false, false, sizeof(uint32_t));
	g_array_append_val(t->annots, r->who);
	track_open(t, a, r->state);
}

static void do_irq_in(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	t->st.irq_depth++;
}

static void do_irq_out(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	if (t->st.irq_depth)
		t->st.irq_depth--;
}

static void do_lost(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	lose(s, id, t);
}

typedef void (*fold)(struct slice *, uint32_t, struct thread *, const struct rec *);
static const fold folds[] = {
	[REC_SINCE] = do_since, [REC_AWAY] = do_away, [REC_RUN] = do_run, [REC_OFF] = do_off,
	[REC_WAKE] = do_wake, [REC_ENTER] = do_enter, [REC_EXIT] = do_exit,
	[REC_IRQ_IN] = do_irq_in, [REC_IRQ_OUT] = do_irq_out, [REC_SPAN] = do_span,
	[REC_LOST] = do_lost,
};

static void apply(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	settle(s, id, t, r->ts);
	if (r->type == REC_IRQ_OUT && !t->st.irq_depth && !t->st.irq_known && t->st.run == RUN_ON) {
		t->st.irq_depth = 1;	/* the handler began before anything was seen */
		t->st.irq_known = true;
	}
	charge(s, id, t, r->ts);
	folds[r->type](s, id, t, r);
}

/* ---- heads ---- */

/* The state right after the record that made the thread hard. */
static void begin_after(struct slice *s, struct thread *t, const struct rec *r)
{
	struct tstate *st = &t->st;
	st->cursor = r->ts;
	st->irq_known = true;
	st->call_state = CALL_SOFT;
	for (guint i = 0; i < t->head->len; i++) {
		const struct rec *h = &g_array_index(t->head, struct rec, i);
		if (h->type == REC_SINCE && h->state)
			st->call_lost = t->begins_lost = true;
	}
	t->soft_end = SOFT_OPEN;
	switch ((enum rec_type)r->type) {
	case REC_OFF:
		do_off(s, 0, t, r);
		break;
	case REC_ENTER:
		on_cpu(st, r);
		take_call(s, st, r);
		break;
	case REC_EXIT:
	case REC_SPAN:
		on_cpu(st, r);
		st->call_state = CALL_NONE;
		st->call_lost = false;
		break;
	case REC_LOST:
		st->run = RUN_UNKNOWN;
		forget_call(st);
		t->begins_lost = true;
		break;
	case REC_AWAY:
		st->run = RUN_UNKNOWN;
		break;
	default:
		on_cpu(st, r);
		break;
	}
	t->hard = true;
}

static void collect(struct slice *s, uint32_t id, struct thread *t, const struct rec *r)
{
	int64_t lost;
	if (r->type == REC_WAKE)	/* only the first can matter, and the first after a loss */
		for (guint i = t->head->len; i > 0; i--) {
			const struct rec *h = &g_array_index(t->head, struct rec, i - 1);
			if (h->type == REC_WAKE &&
			    !slice_lost_between(s, t->host, h->ts, r->ts, &lost))
				return;
		}
	g_array_append_val(t->head, *r);
	if (r->type == REC_WAKE || r->type == REC_SINCE ||
	    r->type == REC_IRQ_IN || r->type == REC_IRQ_OUT)
		return;
	if (is_final(s, t))
		thread_root(s, id);
	else
		begin_after(s, t, r);
}

void thread_record(struct slice *s, uint32_t id, const struct rec *r)
{
	struct thread *t = get(s, id);
	if (t->idle)
		return;
	if (t->seen_ns == TS_NONE)
		t->seen_ns = r->ts;
	if (t->hard)
		apply(s, id, t, r);
	else
		collect(s, id, t, r);
}

/* Begins at the trace's begin: what its head tells is all there is. */
void thread_root(struct slice *s, uint32_t id)
{
	struct thread *t = get(s, id);
	g_autoptr(GArray) head = t->head;
	t->head = g_array_new(false, false, sizeof(struct rec));
	t->hard = true;
	t->st.run = RUN_UNKNOWN;
	t->st.irq_known = true;
	t->st.call_state = CALL_SOFT;
	t->st.call_lost = t->fresh;
	t->st.cursor = t->fresh || s->first == INT64_MAX ? TS_NONE : s->first;
	for (guint i = 0; i < head->len; i++)
		apply(s, id, t, &g_array_index(head, struct rec, i));
}

void thread_born(struct slice *s, uint32_t id, int64_t ts)
{
	struct thread *t = get(s, id);
	t->fresh = t->hard = true;
	t->start_ns = t->seen_ns = ts;
	t->st.run = RUN_NEW;
	t->st.irq_known = true;
	t->st.cursor = t->st.off_ns = ts;
	t->st.call_state = CALL_IN;	/* it returns from its parent's fork, a call without a name */
}

void thread_patch_waker(struct slice *s, uint32_t id, uint64_t seq, uint32_t irq)
{
	struct thread *t = thread_at(s, id);
	if (t->st.wake_seq == seq) {
		t->st.waker_irq = irq;
		t->st.waker = ID_NONE;
	}
	for (guint i = t->waits ? t->waits->len : 0; i > 0; i--) {
		struct wait *w = &g_array_index(t->waits, struct wait, i - 1);
		if (w->wake_seq == seq) {
			w->waker_irq = irq;
			w->waker = ID_NONE;
			return;
		}
	}
	for (guint i = 0; i < t->head->len; i++) {
		struct rec *r = &g_array_index(t->head, struct rec, i);
		if (r->type == REC_WAKE && r->seq == seq) {
			r->irq = irq;
			r->who = ID_NONE;
		}
	}
}

/* ---- composition ---- */

/* What the right's initial call was, now that the left's last state is known. */
static void tell_right(struct slice *s, uint32_t left_id, struct thread *l, uint32_t right_id,
		       struct thread *r)
{
	struct verdict v = was_user;
	bool has_exit = r->soft_end == SOFT_BY_EXIT;
	bool lost = l->st.call_state == CALL_SOFT;
	if (l->st.call_state == CALL_IN) {
		if (l->st.call.name)
			verdict_of_call(s, &l->st.call, &v);
		else
			v = (struct verdict){ .run_part = PART_SYSCALL, .part = PART_OTHER };
	} else if (has_exit) {
		verdict_of_exit(s, &r->soft_exit, true, &v);
	} else if (lost && r->soft_end != SOFT_BY_ENTER) {
		v = r->soft_end == SOFT_OPEN ? is_lost : was_lost;
	}
	resolve(s, right_id, r, &v);
	for (guint i = 0; r->waits && i < r->waits->len; i++) {
		struct wait *w = &g_array_index(r->waits, struct wait, i);
		if (w->in_soft_call && l->st.call_state == CALL_IN)
			w->call = l->st.call;
		w->in_soft_call = false;
	}
	if (!has_exit) {
		if (lost && r->soft_end != SOFT_OPEN)
			lost_ends(s, left_id, l, r->soft_end, &r->soft_exit);
		else if (r->soft_end == SOFT_BY_ENTER && r->soft_exit.type == REC_ENTER &&
			 l->st.call_state == CALL_IN && l->st.call.name)
			slice_bin(s, r->soft_exit.ts)->trust.soft++;	/* superseded */
		return;
	}
	/* Its exit, fed to the left: pairs, or counts as loose. The time is charged. */
	struct rec e = r->soft_exit;
	do_exit(s, left_id, l, &e);
}

/* Both do not know the initial call: the right's end of it is the left's too. */
static void share_soft(struct slice *s, uint32_t left_id, struct thread *l, struct thread *r)
{
	if (r->soft_end == SOFT_OPEN)
		return;
	soft_ends(s, left_id, l, r->soft_end, &r->soft_exit);
}

static void append_logs(struct slice *s, uint32_t left_id, struct thread *l, struct thread *r)
{
	uint64_t waits = l->waits_base + (l->waits ? l->waits->len : 0);
	for (guint i = 0; r->annots && i < r->annots->len; i++) {
		uint32_t id = g_array_index(r->annots, uint32_t, i);
		struct annot *a = &g_array_index(s->annots, struct annot, id);
		a->thread = left_id;
		a->wait_index += waits - r->waits_base;
		for (unsigned p = 0; p < PART_SLICE_N; p++)
			a->part[p] += l->st.part[p];
	}
	GArray **const pairs[][2] = {
		{ &l->waits, &r->waits }, { &l->calls, &r->calls },
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

/* From here on what is charged under the right's ids is the left's. */
static void adopt_aliases(struct thread *l, uint32_t right_id, struct thread *r)
{
	if (!l->aliases)
		l->aliases = g_array_new(false, false, sizeof(uint32_t));
	g_array_append_val(l->aliases, right_id);
	if (r->aliases)
		g_array_append_vals(l->aliases, r->aliases->data, r->aliases->len);
}

/* The right is hard: the left, having seen the right's head, goes on as it. */
static void adopt(struct slice *s, uint32_t left_id, struct thread *l, uint32_t right_id,
		  struct thread *r)
{
	bool left_knows = l->st.call_state != CALL_SOFT || l->st.call_lost;
	bool right_soft = r->st.call_state == CALL_SOFT && !r->st.call_lost;
	if (r->begins_lost && l->st.call_state == CALL_SOFT && r->soft_end != SOFT_OPEN)
		lost_ends(s, left_id, l, r->soft_end, &r->soft_exit);
	else if (left_knows && !r->begins_lost)
		tell_right(s, left_id, l, right_id, r);
	append_logs(s, left_id, l, r);
	struct tstate st = r->st;
	for (unsigned p = 0; p < PART_SLICE_N; p++)
		st.part[p] += l->st.part[p];
	if (right_soft) {
		st.call_state = l->st.call_state;
		st.call_lost = l->st.call_lost;
		st.call = l->st.call;
	}
	l->st = st;
	l->hard = true;
	for (int i = 0; i < 2; i++)
		l->soft_from[i] = MIN(l->soft_from[i], r->soft_from[i]);
	adopt_aliases(l, right_id, r);
	if (!left_knows && !r->begins_lost)
		share_soft(s, left_id, l, r);
	if (r->exit_ns != TS_NONE)
		l->exit_ns = r->exit_ns;
}

/* It was on a CPU from the slice's begin on, as its anonymous part tells: what woke
 * it meanwhile was nothing. */
static void drop_wakes(struct thread *t, const struct thread *anonymous)
{
	const struct rec *first = (const struct rec *)anonymous->head->data;
	if (anonymous->head->len && first->type == REC_SINCE && first->state)
		return;		/* only since a loss */
	for (guint i = t->head->len; i > 0; i--)
		if (g_array_index(t->head, struct rec, i - 1).type == REC_WAKE)
			g_array_remove_index(t->head, i - 1);
}

void thread_append(struct slice *s, uint32_t left, uint32_t right)
{
	struct thread *l = get(s, left), *r = get(s, right);
	r->forward = left;
	if (l->idle || r->idle)
		return;
	if (!l->hard && r->tid == -1)
		drop_wakes(l, r);
	for (guint i = 0; i < r->head->len; i++)
		thread_record(s, left, &g_array_index(r->head, struct rec, i));
	if (r->hard)
		adopt(s, left, l, right, r);
	else
		adopt_aliases(l, right, r);
	if (l->seen_ns == TS_NONE)
		l->seen_ns = r->seen_ns;
	if (!l->name_last)
		l->name_last = r->name_last;
	l->pid_told |= r->pid_told;
}
