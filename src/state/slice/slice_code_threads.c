/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of threads and CPUs of a slice file: see slice_code.h. Caches are not stored. */
#include "state/kernel/threads.h"
#include "state/slice/slice_code.h"

#include "base/limits.h"
#include "base/sort.h"
#include "state/kernel/counts.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_logs.h"

/* ---- calls and records ---- */

/* What is known of a call does not always follow from its name: its row in the table. 0: not looked up, 1: nothing. */
static void code_call_info(struct coder *c, const struct call_info **info)
{
	const struct call_info *first = call_info_at(0);
	uint32_t n = 0, row = 0;

	while (call_info_at(n))
		n++;
	if (coder_writes(c) && *info)
		row = *info >= first && *info < first + n ? (uint32_t)(*info - first) + 2 : 1;
	code_id(c, &row, n + 2, false);
	if (!coder_writes(c))
		*info = row >= 2 ? call_info_at(row - 2) : row ? call_info("") : NULL;
}

static void code_args(struct coder *c, int64_t arg[3])
{
	for (int i = 0; i < 3; i++)
		code_i64(c, &arg[i]);
}

/* The code of an interrupt; 0: none. */
static void code_irq(struct coder *c, uint32_t *irq)
{
	code_u32(c, irq);
	if ((*irq && *irq < IRQ_HARD(0)) || *irq > IRQ_UNKNOWN) {
		coder_refuse(c, "an interrupt is wrong");
		*irq = 0;
	}
}

static void code_call(struct coder *c, struct call *x, const struct slice_counts *n)
{
	code_ts(c, &x->begin);
	code_ts(c, &x->busy_from);
	code_seq(c, &x->seq);
	code_string(c, &x->name, n);
	code_string(c, &x->text, n);
	code_id(c, &x->cpu, n->cpus, false);
	code_i32(c, &x->fd);
	code_call_info(c, &x->info);
	code_args(c, x->arg);
	code_below(c, &x->restart, RESTART_UNRESOLVED + 1);
	code_bool(c, &x->interrupted);
}

static void code_rec(struct coder *c, struct rec *r, const struct slice_counts *n)
{
	code_ts(c, &r->ts);
	code_seq(c, &r->seq);
	code_below(c, &r->type, REC_ENDED + 1);
	bool call = r->type == REC_ENTER || r->type == REC_EXIT;
	code_u8(c, &r->state);
	if (r->type == REC_OFF && r->state > OFF_STOPPED)
		coder_refuse(c, "a thread's record is wrong");
	code_id(c, &r->cpu, n->cpus, false);
	if (r->type == REC_SPAN || r->type == REC_MARK)
		code_id(c, &r->id, n->annots, true);	/* none: the slice is without spans */
	else
		code_id(c, &r->id, n->threads, true);
	code_irq(c, &r->irq);
	code_string(c, &r->name, n);
	code_string(c, &r->text, n);
	code_i32(c, &r->fd);
	code_args(c, r->arg);
	if (call)
		code_call_info(c, &r->info);
	if (call && !r->info)
		coder_refuse(c, "a thread's record is wrong");
}

/* ---- logs of a thread ---- */

/* Sets of rows, see coder_row(). */
enum { ROW_HEAD = 1, ROW_WAIT, ROW_CALL, ROW_QUEUED, ROW_NOTE, ROW_RUN, ROW_CHARGED };

static void code_event(struct coder *c, void *element, const struct slice_counts *n)
{
	code_rec(c, element, n);
	coder_check_event(c, ((struct rec *)element)->ts);
}

void code_part(struct coder *c, uint8_t cause, uint8_t *part)
{
	if (cause == WAIT_PART)
		code_below(c, part, PART_N);
	else
		code_u8(c, part);
}

static void code_wait(struct coder *c, void *element, const struct slice_counts *n)
{
	struct wait *w = element;
	uint8_t cause = w->cause;
	bool initial = w->in_initial_call, restart = w->in_restart;

	code_ts(c, &w->begin);
	code_ts(c, &w->wake);
	code_ts(c, &w->end);
	code_seq(c, &w->wake_seq);
	code_below(c, &cause, WAIT_RESTART + 1);
	code_bool(c, &initial);
	code_bool(c, &restart);
	code_part(c, cause, &w->part);
	code_u16(c, &w->off_cpu);
	code_id(c, &w->waker, n->threads, true);
	code_irq(c, &w->waker_irq);
	code_id(c, &w->cpu, n->cpus, true);
	code_wait_call(c, &w->call, n);
	w->cause = cause & 0x3f;
	w->in_restart = restart;
	w->in_initial_call = initial;
}

static void code_done_call(struct coder *c, void *element, const struct slice_counts *n)
{
	struct done_call *x = element;

	code_ts(c, &x->begin);
	code_ts(c, &x->end);
	code_i64(c, &x->ret);
	code_bool(c, &x->futex);
	if (x->futex)
		code_u64(c, &x->released);
	else
		code_seq(c, &x->seq);
	code_string(c, &x->name, n);
	code_i32(c, &x->fd);
	code_below(c, &x->wait, CALL_WAIT_N);
}

static void code_charged(struct coder *c, void *element, const struct slice_counts *n)
{
	struct charged *x = element;

	code_ts(c, &x->until);
	code_u8(c, &x->part);
	if (x->part > PART_SLICE_N && x->part != CHARGED_NOT)
		coder_refuse(c, "a thread's time is wrong");
}

static void code_queued(struct coder *c, void *element, const struct slice_counts *n)
{
	struct queued *q = element;

	code_ts(c, &q->ts);
	code_u16(c, &q->cpu);
}

static void code_open(struct coder *c, void *element, const struct slice_counts *n)
{
	struct open_span *o = element;

	code_u64(c, &o->trace);
	code_u64(c, &o->span);
	code_ts(c, &o->since);
}

static void code_counter(struct coder *c, void *element, const struct slice_counts *n)
{
	struct counter *x = element;

	code_string(c, &x->name, n);
	code_u32(c, &x->losses);
	code_u64(c, &x->first);
	code_u64(c, &x->last);
	code_event_ts(c, &x->first_ts);
	code_id(c, &x->first_thread, n->threads, true);
}

/* ---- threads ---- */

/* What a running call does follows from its name; it is charged from an instant of the slice on. */
static void check_call(struct coder *c, const struct tstate *st)
{
	const struct call *x = &st->call;

	if (st->call_state != CALL_IN || !x->name)
		return;
	if (!x->info || (!coder_writes(c) && (x->busy_from < c->from || x->busy_from > c->to)))
		coder_refuse(c, "a thread's call is wrong");
}

static void code_state(struct coder *c, struct tstate *st, const struct slice_counts *n)
{
	code_below(c, &st->run, RUN_DEAD + 1);
	code_below(c, &st->call_state, CALL_IN + 1);
	code_bool(c, &st->call_lost);
	code_bool(c, &st->irq_known);
	code_u16(c, &st->irq_depth);
	code_below(c, &st->wait_cause, WAIT_RESTART + 1);
	code_part(c, st->wait_cause, &st->wait_part);
	code_id(c, &st->waker, n->threads, true);
	code_irq(c, &st->waker_irq);
	code_ts(c, &st->cursor);
	code_call(c, &st->call, n);
	check_call(c, st);
	code_ts(c, &st->returned_ns);
	code_ts(c, &st->off_ns);
	code_ts(c, &st->wake_ns);
	code_seq(c, &st->wake_seq);
	code_bool(c, &st->wake_provisional);
	code_bool(c, &st->woken_early);
	code_u16(c, &st->on_cpu);
	code_u16(c, &st->off_cpu);
	code_u16(c, &st->queue_cpu);
	for (unsigned p = 0; p < PART_SLICE_N; p++)
		code_ns(c, &st->part[p]);
}

static void code_identity(struct coder *c, struct thread *t, const struct slice_counts *n)
{
	code_id(c, &t->host, n->hosts, false);
	code_i32(c, &t->tid);
	code_i32(c, &t->task_tid);
	code_i32(c, &t->pid);
	code_u32(c, &t->inner.tid);
	code_u32(c, &t->inner.pid);
	code_u32(c, &t->inner.ns);
	code_id(c, &t->forward, n->threads, true);
	code_bool(c, &t->resolved);
	code_below(c, &t->held, HELD_UNWOKEN + 1);
	if (t->held)
		code_ts(c, &t->held_ns);
	code_bool(c, &t->fresh);
	code_bool(c, &t->idle);
	code_bool(c, &t->pid_reported);
	code_bool(c, &t->begins_lost);
	code_bool(c, &t->absorbed);
	code_below(c, &t->initial_end, INITIAL_BY_LOSS + 1);
	if (t->tid == -1 || t->idle)
		code_id(c, &t->start_cpu, n->cpus, false);
	code_bool(c, &t->only_claimed);
	code_ts(c, &t->known_from);
	code_ts(c, &t->start_ns);
	code_ts(c, &t->exit_ns);
	code_ts(c, &t->last_event_ns);
	code_id(c, &t->creator, n->threads, true);
	code_string(c, &t->name_last, n);
	for (unsigned k = 0; k < CONTEXT_N; k++)
		if (k == CONTEXT_HOSTNAME)
			code_string(c, &t->contexts.value[k], n);
		else
			code_u32(c, &t->contexts.value[k]);
	if (!coder_writes(c))
		t->comm_stored = t->idle;	/* as slice_idle() */
}

/* 0 stands for no instant only where nothing is charged from there on. */
static void check_instants(struct coder *c, const struct thread *t)
{
	if (!t->st.cursor || !t->start_ns || !t->exit_ns)
		coder_refuse(c, "a thread's instants are wrong");
}

/* Time is charged up to an instant of an event. */
static void check_charged(struct coder *c, int64_t to)
{
	if (!coder_writes(c) && to > c->last)
		coder_refuse(c, "an event is outside of the coverage");
}

static void code_thread(struct coder *c, struct thread *t, const struct slice_counts *n)
{
	code_identity(c, t, n);
	code_state(c, &t->st, n);
	code_u16(c, &t->sched.last_cpu);
	code_u16(c, &t->sched.first_cpu);
	code_i16(c, &t->sched.first_prio);
	code_ts(c, &t->sched.first_ns);
	code_vec(c, &t->sched.queued, sizeof(struct queued), ROW_QUEUED, 2, code_queued, n);
	code_vec(c, &t->head, sizeof(struct rec), ROW_HEAD, 13, code_event, n);
	code_vec(c, &t->waiting, sizeof(struct rec), ROW_HEAD, 13, code_event, n);
	if (!t->held != !t->waiting.len || (t->held && t->resolved))
		coder_refuse(c, "a thread's records are wrong");
	code_vec(c, &t->waits, sizeof(struct wait), ROW_WAIT, 15, code_wait, n);
	check_instants(c, t);
	code_u64(c, &t->waits_base);
	code_ts(c, &t->out_ns);
	code_string(c, &t->out_call, n);
	code_vec(c, &t->calls, sizeof(struct done_call), ROW_CALL, 8, code_done_call, n);
	code_vec(c, &t->charged, sizeof(struct charged), ROW_CHARGED, 2, code_charged, n);
	code_past(c, t, n);
	code_ids(c, &t->annots, n->annots);
	code_array(c, &t->open, sizeof(struct open_span), 0, 3, code_open, n);
	code_ids(c, &t->aliases, n->threads);
	code_rec(c, &t->initial_exit, n);
	if (t->initial_end == INITIAL_BY_LOSS)		/* it may have no instant */
		check_charged(c, t->initial_exit.ts);
	else if (t->initial_end != INITIAL_OPEN)
		coder_check_event(c, t->initial_exit.ts);
	for (unsigned i = 0; i < UNRESOLVED_N; i++)
		code_ts(c, &t->unresolved_from[i]);
	code_array(c, &t->counters, sizeof(struct counter), 0, 6, code_counter, n);
}

/* A thread that was merged into another one forwards to it; no chain of these may be a circle. */
static bool has_circle(const struct slice *s)
{
	g_autofree guint8 *seen = g_malloc0(s->threads->len + 1u);	/* 1: on the way, 2: done */

	for (guint i = 0; i < s->threads->len; i++) {
		guint at = i;
		while (at != ID_NONE && !seen[at]) {
			seen[at] = 1;
			at = ((struct thread *)g_ptr_array_index(s->threads, at))->forward;
		}
		if (at != ID_NONE && seen[at] == 1)
			return true;
		for (at = i; at != ID_NONE && seen[at] == 1;) {
			seen[at] = 2;
			at = ((struct thread *)g_ptr_array_index(s->threads, at))->forward;
		}
	}
	return false;
}

/* A thread that was merged into another one is of the same id, unless its id was unknown. */
static bool has_other_ids(const struct slice *s)
{
	for (guint i = 0; i < s->threads->len; i++) {
		const struct thread *t = g_ptr_array_index(s->threads, i), *into = thread_at(s, i);
		if (t->tid != -1 && (into->tid != t->tid || into->host != t->host))
			return true;
	}
	return false;
}

static void collect_id(uint64_t key, uint32_t id, void *data)
{
	g_array_append_val(data, id);
}

/* The keys follow from the threads. */
static void code_tids(struct coder *c, struct slice *s, struct intmap *tids)
{
	g_autoptr(GArray) ids = g_array_new(false, false, sizeof(uint32_t));

	if (coder_writes(c)) {
		intmap_foreach(tids, collect_id, ids);
		g_array_sort(ids, order_u32);
	}
	GArray *all = coder_writes(c) ? ids : NULL;
	code_ids(c, &all, s->threads->len);
	for (guint i = 0; !coder_writes(c) && !c->fault && all && i < all->len; i++) {
		uint32_t id = g_array_index(all, uint32_t, i);
		const struct thread *t = g_ptr_array_index(s->threads, id);
		uint64_t key = pair(t->host, (uint32_t)t->tid);
		if (t->tid == -1 || intmap_get(tids, key) != INTMAP_NONE)
			coder_refuse(c, "a thread id is wrong");
		intmap_set(tids, key, id);
	}
	if (!coder_writes(c) && all)
		g_array_unref(all);
}

static void same_tids(uint64_t key, uint32_t id, void *data)
{
	struct { struct coder *c; const struct intmap *other; } *both = data;
	if (intmap_get(both->other, key) == INTMAP_NONE)
		coder_refuse(both->c, "a thread id is wrong");
}

void code_threads(struct coder *c, struct slice *s, struct slice_counts *n)
{
	for (uint32_t i = 0; i < n->threads && !c->fault; i++) {
		coder_take(c, sizeof(struct thread) + CODER_OWN_BYTES);
		struct thread *t = coder_writes(c) ? g_ptr_array_index(s->threads, i) : thread_new(i);
		if (!coder_writes(c))
			g_ptr_array_add(s->threads, t);
		code_thread(c, t, n);
		coder_bound(c, LIMIT_SLICE_BYTES);
	}
	if (s->threads->len != n->threads || has_circle(s)) {
		coder_refuse(c, "a thread continues itself");
		return;
	}
	if (!coder_writes(c) && has_other_ids(s))
		coder_refuse(c, "a thread continues another one's");
	for (uint32_t i = 0; i < n->threads && !coder_writes(c); i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		if (t->inner.tid && t->forward == ID_NONE)
			slice_inner_is(s, t, &t->inner);
	}
	code_tids(c, s, &s->tid_last);
	code_tids(c, s, &s->tid_first);
	struct { struct coder *c; const struct intmap *other; } both = { c, &s->tid_first };
	intmap_foreach(&s->tid_last, same_tids, &both);
	both.other = &s->tid_last;
	intmap_foreach(&s->tid_first, same_tids, &both);
}

/* ---- CPUs ---- */

static void code_frame(struct coder *c, struct irq_frame *f, const struct slice_counts *n)
{
	code_irq(c, &f->code);
	code_id(c, &f->thread, n->threads, true);
	code_bool(c, &f->inlined);
	code_ts(c, &f->since);
	code_ns(c, &f->nested);
}

static void code_note(struct coder *c, void *element, const struct slice_counts *n)
{
	struct irq_note *x = element;

	code_ts(c, &x->ts);
	code_seq(c, &x->seq);
	code_u32(c, &x->code);
	code_below(c, &x->kind, IRQ_ENDED + 1);
	code_id(c, &x->thread, n->threads, true);
	if (x->kind == IRQ_WOKE && x->thread == ID_NONE)
		coder_refuse(c, "a wakeup has no thread");
	if (x->kind == IRQ_BEGAN || x->kind == IRQ_ENDED)
		coder_check_event(c, x->ts);
}

static void code_run(struct coder *c, void *element, const struct slice_counts *n)
{
	struct run *r = element;

	code_ts(c, &r->ts);
	code_id(c, &r->thread, n->threads, true);
}

/* A thread that a CPU points at; NULL: none. */
static void code_task(struct coder *c, const struct slice *s, struct thread **t)
{
	uint32_t id = coder_writes(c) && *t ? (*t)->self : ID_NONE;

	code_id(c, &id, s->threads->len, true);
	if (!coder_writes(c))
		*t = id == ID_NONE ? NULL : g_ptr_array_index(s->threads, id);
}

static void code_irqs(struct coder *c, struct cpu *x, const struct slice_counts *n)
{
	for (unsigned i = 0; i < IRQ_FRAMES; i++)
		code_frame(c, &x->irq[i], n);
	for (unsigned i = 0; i < SOFTIRQS; i++) {
		code_ts(c, &x->raise[i].since);
		code_bool(c, &x->raise[i].closed);
		code_ts(c, &x->raise[i].unraised);
		code_ts(c, &x->raise[i].first_raise);
		code_ts(c, &x->raise[i].first_entry);
	}
	code_u16(c, &x->irq_depth);
	code_bool(c, &x->irq_known);
	code_u8(c, &x->raised);
	code_ts(c, &x->irq_since);
	code_array(c, &x->irq_head, sizeof(struct irq_note), ROW_NOTE, 5, code_note, n);
}

static void code_cpu(struct coder *c, const struct slice *s, struct cpu *x, const struct slice_counts *n)
{
	code_id(c, &x->host, n->hosts, false);
	code_u32(c, &x->number);
	code_task(c, s, &x->task);
	code_task(c, s, &x->idle);
	if (x->idle && !(x->idle->idle && x->idle->start_cpu == x->self && x->idle->host == x->host))
		coder_refuse(c, "a CPU's idle task is wrong");
	code_id(c, &x->start, n->threads, false);
	code_ts(c, &x->named_ns);
	code_seq(c, &x->named_seq);
	code_i32(c, &x->named_tid);
	code_ts(c, &x->named_left_ns);
	code_ts(c, &x->named_before_ns);
	code_bool(c, &x->first_known);
	code_ts(c, &x->first_ns);
	code_bool(c, &x->lost);
	code_ts(c, &x->kernel_from);
	code_ts(c, &x->kernel_to);
	code_ts(c, &x->before_ns);
	code_ts(c, &x->cursor);
	code_ts(c, &x->since);
	code_irqs(c, x, n);
	code_array(c, &x->counters, sizeof(struct counter), 0, 6, code_counter, n);
	code_vec(c, &x->runs, sizeof(struct run), ROW_RUN, 2, code_run, n);
	code_u32(c, &x->n_losses);
}

/* An anonymous task of the beginning belongs to its CPU alone. The current task is unknown only in a loss. */
static void check_start(struct coder *c, const struct slice *s, const struct cpu *x)
{
	const struct thread *t = s->threads->len ? thread_at(s, x->start) : NULL;

	if (!t || (t->tid == -1 && !t->idle && t->start_cpu != x->self))
		coder_refuse(c, "a CPU's first task is another one's");
	if (!x->cursor || (x->first_known && !x->first_ns))
		coder_refuse(c, "a CPU's instants are wrong");
	if (x->first_known)
		check_charged(c, x->first_ns);
	for (unsigned i = 0; i < MIN(x->irq_depth, IRQ_FRAMES); i++)
		if (!x->irq[i].since)
			coder_refuse(c, "a CPU's instants are wrong");
	if (x->lost != !x->task)		/* as cpu_lost_begin() and cpu_lost_end() leave it */
		coder_refuse(c, "a CPU's task is wrong");
}

/* As slice_idle() makes idle tasks. */
static void check_idle_tasks(struct coder *c, const struct slice *s)
{
	for (guint i = 0; i < s->threads->len && !c->fault; i++) {
		const struct thread *t = g_ptr_array_index(s->threads, i);
		const struct cpu *x = t->idle ? cpu_at(s, t->start_cpu) : NULL;
		if (x && (x->host != t->host || slice_idle_tid(x) != t->tid))
			coder_refuse(c, "an idle task is another CPU's");
	}
}

void code_cpus(struct coder *c, struct slice *s, struct slice_counts *n)
{
	for (uint32_t i = 0; i < n->cpus && !c->fault; i++) {
		coder_take(c, sizeof(struct cpu) + CODER_OWN_BYTES);
		struct cpu *x = coder_writes(c) ? cpu_at(s, i) : g_new0(struct cpu, 1);
		if (!coder_writes(c)) {
			x->self = i;
			x->irq_head = g_array_new(false, false, sizeof(struct irq_note));
			g_ptr_array_add(s->cpus, x);
		}
		code_cpu(c, s, x, n);
		if (coder_writes(c))
			continue;
		check_start(c, s, x);
		if (intmap_get(&s->cpu_map, pair(x->host, x->number)) != INTMAP_NONE)
			coder_refuse(c, "a CPU is there twice");
		intmap_set(&s->cpu_map, pair(x->host, x->number), i);
	}
	if (!coder_writes(c))
		check_idle_tasks(c, s);
}
