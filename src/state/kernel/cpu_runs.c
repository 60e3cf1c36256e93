/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes and searches the logs of the threads that ran on each CPU; see cpu_runs.h. */
#include "state/kernel/cpu_runs.h"

#include "base/each.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"


/* ---- writing ---- */

static void append_run(struct cpu *c, int64_t ts, uint32_t thread)
{
	guint n = c->runs.len;
	int64_t last = n ? vec_at(&c->runs, struct run, n - 1)->ts : INT64_MIN;
	*vec_add(&c->runs, struct run) = (struct run){ MAX(ts, last), thread };
}

void runs_add(struct cpu *c, int64_t ts)
{
	append_run(c, ts, c->task ? c->task->self : ID_NONE);
}

void runs_queued(struct thread *t, int64_t ts, uint16_t cpu)
{
	t->st.queue_cpu = cpu;
	*vec_add(&t->sched.queued, struct queued) = (struct queued){ ts, cpu };
}

static void begin_with(struct cpu *c, int64_t ts)
{
	c->runs.len = 0;
	runs_add(c, ts);
}

void runs_start(const struct slice *s, struct cpu *c)
{
	if (slice_keeps_logs(s))
		begin_with(c, INT64_MIN);
}

void runs_begin(struct slice *s, int64_t ts)
{
	for (guint i = 0; i < s->cpus->len; i++)
		begin_with(cpu_at(s, i), ts);
}

void runs_map(struct cpu *b, const uint32_t *thread)
{
	ARRAY_EACH(struct run, r, &b->runs)
		r->thread = r->thread == ID_NONE ? ID_NONE : thread[r->thread];
}

void runs_join(struct cpu *c, const struct cpu *b)
{
	for (guint i = 1; i < b->runs.len; i++) {
		const struct run *r = vec_at(&b->runs, struct run, i);
		append_run(c, r->ts, r->thread);
	}
}

/* ---- searching ---- */

/* Index of the last entry at or before the instant; 0 if there is none. */
static guint run_at(struct cpu *c, int64_t ts)
{
	guint after = vec_first_after(&c->runs, sizeof(struct run), offsetof(struct run, ts), ts, c->run_hint);
	return c->run_hint = after ? after - 1 : 0;
}

static uint32_t identified_thread(const struct slice *s, uint32_t id)
{
	id = thread_follow(s, id);
	if (id == ID_NONE)
		return ID_NONE;
	g_assert(id < s->threads->len);
	const struct thread *t = thread_at(s, id);
	return t->idle || t->tid != -1 ? id : ID_NONE;
}

void runs_between(const struct slice *s, struct cpu *c, int64_t from, int64_t to,
		  runs_piece callback, void *data)
{
	const struct run *runs = c->runs.data;
	guint i = run_at(c, from);
	if (!c->runs.len) {
		if (from < to)
			callback(data, ID_NONE, from, to);
		return;
	}
	int64_t first = runs[i].ts;
	if (from < to && from < first) {
		callback(data, ID_NONE, from, MIN(first, to));
		from = MIN(first, to);
	}
	for (; from < to; i++) {
		bool last = i + 1 == c->runs.len;
		int64_t end = last ? to : MIN(runs[i + 1].ts, to);
		if (end <= from)
			continue;
		callback(data, identified_thread(s, runs[i].thread), from, end);
		from = end;
	}
}

static struct cpu *cpu_of(const struct slice *s, uint32_t host, uint16_t number)
{
	uint32_t i = number == CPU_NONE ? INTMAP_NONE : intmap_get(&s->cpu_map, pair(host, number));
	return i == INTMAP_NONE ? NULL : cpu_at(s, i);
}

static int64_t runs_on_until(const struct slice *s, const struct thread *t, struct cpu *c, int64_t at)
{
	if (c->host != t->host || !c->runs.len)
		return at;
	guint i = run_at(c, at);
	const struct run *r = vec_at(&c->runs, struct run, i);
	if (r->ts > at || identified_thread(s, r->thread) != t->self)
		return at;
	while (++i < c->runs.len) {
		r = vec_at(&c->runs, struct run, i);
		if (identified_thread(s, r->thread) != t->self)
			return r->ts;
	}
	return INT64_MAX;
}

int64_t runs_until(const struct slice *s, const struct thread *t, struct cpu *c, int64_t at)
{
	int64_t until = c ? runs_on_until(s, t, c, at) : at;
	for (guint i = 0; !c && until == at && i < s->cpus->len; i++)
		until = runs_on_until(s, t, cpu_at(s, i), at);
	return until;
}

int64_t runs_next(const struct slice *s, const struct thread *t, int64_t from, int64_t to, unsigned most)
{
	for (guint k = 0; k < s->cpus->len; k++) {
		struct cpu *c = cpu_at(s, k);
		if (c->host != t->host || !c->runs.len)
			continue;
		guint i = run_at(c, from), end = MIN(c->runs.len, i + most);
		for (; i < end; i++) {
			const struct run *r = vec_at(&c->runs, struct run, i);
			if (r->ts >= to)
				break;
			if (r->ts > from && identified_thread(s, r->thread) == t->self)
				to = r->ts;
		}
	}
	return to;
}

static guint queued_at(struct thread *t, int64_t ts)	/* Index of the first entry at or after the instant. */
{
	if (ts == INT64_MIN)
		return 0;
	return t->sched.queued_hint = vec_first_after(&t->sched.queued, sizeof(struct queued),
						      offsetof(struct queued, ts), ts - 1, t->sched.queued_hint);
}

void runs_runnable(const struct slice *s, struct thread *t, const struct wait *w, int64_t from,
		   int64_t to, runs_queue callback, void *data)
{
	const struct vec *log = &t->sched.queued;
	bool preempted = w->cause == WAIT_PART && w->part == PART_PREEMPTED;
	uint16_t queue = w->off_cpu;
	int64_t at = MAX(preempted ? w->begin : w->wake, from), end = MIN(w->end, to);
	for (guint i = log->len ? queued_at(t, w->begin) : 0; i < log->len && at < end; i++) {
		const struct queued *q = vec_at(log, struct queued, i);
		int64_t until = CLAMP(q->ts, at, end);
		if (q->ts > w->end)
			break;
		if (until > at)
			callback(data, cpu_of(s, t->host, queue), at, until);
		at = until;
		queue = q->cpu;
	}
	if (at >= end)
		return;
	struct cpu *c = w->cpu == ID_NONE ? cpu_of(s, t->host, queue) : runs_ran_on(s, w);
	if (w->cpu != ID_NONE && queue != sched_cpu(c))
		c = NULL;	/* it ran on another CPU: the migration event is missing */
	callback(data, c, at, end);
}

/* ---- dropping old entries ---- */

void runs_forget(struct slice *s, int64_t before)
{
	for (guint i = 0; i < s->cpus->len; i++) {
		struct cpu *c = cpu_at(s, i);
		vec_drop(&c->runs, run_at(c, before), sizeof(struct run));
		c->run_hint = 0;
	}
	PTR_EACH(struct thread, t, s->threads) {
		vec_drop(&t->sched.queued, t->forward == ID_NONE ? queued_at(t, before) : 0, sizeof(struct queued));
		t->sched.queued_hint = 0;
	}
}
