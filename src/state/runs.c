/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs of who ran where: see runs.h. */
#include "state/runs.h"

#include "state/sched.h"

/* ---- kept ---- */

static void append_run(struct cpu *c, int64_t ts, uint32_t thread)
{
	struct run r = { ts, thread };
	if (!c->runs)
		c->runs = g_array_new(false, true, sizeof r);
	if (c->runs->len)
		r.ts = MAX(ts, g_array_index(c->runs, struct run, c->runs->len - 1).ts);
	g_array_append_val(c->runs, r);
}

void runs_add(struct cpu *c, int64_t ts)
{
	append_run(c, ts, c->task ? c->task->self : ID_NONE);
}

void runs_queued(struct thread *t, int64_t ts, uint16_t cpu)
{
	struct queued q = { ts, cpu };
	t->st.queue_cpu = cpu;
	if (!t->sched.queued)
		t->sched.queued = g_array_new(false, true, sizeof q);
	g_array_append_val(t->sched.queued, q);
}

static void begin_with(struct cpu *c, int64_t ts)
{
	if (c->runs)
		g_array_set_size(c->runs, 0);
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

void runs_begin_join(struct slice *a)
{
	runs_begin(a, INT64_MIN);
}

void runs_map(struct cpu *b, const uint32_t *thread)
{
	for (guint i = 0; b->runs && i < b->runs->len; i++) {
		struct run *r = &g_array_index(b->runs, struct run, i);
		r->thread = r->thread == ID_NONE ? ID_NONE : thread[r->thread];
	}
}

void runs_join(struct cpu *c, const struct cpu *b)
{
	for (guint i = 1; b->runs && i < b->runs->len; i++) {
		const struct run *r = &g_array_index(b->runs, struct run, i);
		append_run(c, r->ts, r->thread);
	}
}

/* ---- asked for ---- */

/* The last entry at or before the instant; 0 where none is. */
static guint run_at(const GArray *runs, int64_t ts)
{
	guint lo = 0, hi = runs->len;
	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;
		if (g_array_index(runs, struct run, mid).ts <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

static uint32_t somebody(const struct slice *s, uint32_t id)
{
	id = thread_follow(s, id);
	if (id == ID_NONE)
		return ID_NONE;
	const struct thread *t = thread_at(s, id);
	return t->idle || t->tid != -1 ? id : ID_NONE;
}

void runs_between(const struct slice *s, const struct cpu *c, int64_t from, int64_t to,
		  runs_piece tell, void *data)
{
	guint i = c->runs ? run_at(c->runs, from) : 0;
	if (from < to && (!c->runs || !c->runs->len)) {
		tell(data, ID_NONE, from, to);
		return;
	}
	int64_t first = g_array_index(c->runs, struct run, i).ts;
	if (from < to && from < first) {
		tell(data, ID_NONE, from, MIN(first, to));
		from = MIN(first, to);
	}
	for (; from < to; i++) {
		bool last = i + 1 == c->runs->len;
		int64_t end = last ? to : MIN(g_array_index(c->runs, struct run, i + 1).ts, to);
		if (end <= from)
			continue;
		tell(data, somebody(s, g_array_index(c->runs, struct run, i).thread), from, end);
		from = end;
	}
}

static const struct cpu *cpu_of(const struct slice *s, uint32_t host, uint16_t number)
{
	uint32_t i = number == CPU_NONE ? INTMAP_NONE : intmap_get(&s->cpu_map, pair(host, number));
	return i == INTMAP_NONE ? NULL : cpu_at(s, i);
}

static int64_t runs_on_until(const struct slice *s, const struct thread *t, const struct cpu *c, int64_t at)
{
	if (c->host != t->host || !c->runs || !c->runs->len)
		return at;
	guint i = run_at(c->runs, at);
	const struct run *r = &g_array_index(c->runs, struct run, i);
	if (r->ts > at || somebody(s, r->thread) != t->self)
		return at;
	while (++i < c->runs->len) {
		r = &g_array_index(c->runs, struct run, i);
		if (somebody(s, r->thread) != t->self)
			return r->ts;
	}
	return INT64_MAX;
}

int64_t runs_until(const struct slice *s, const struct thread *t, const struct cpu *c, int64_t at)
{
	int64_t until = c ? runs_on_until(s, t, c, at) : at;
	for (guint i = 0; !c && until == at && i < s->cpus->len; i++)
		until = runs_on_until(s, t, cpu_at(s, i), at);
	return until;
}

int64_t runs_next(const struct slice *s, const struct thread *t, int64_t from, int64_t to, unsigned most)
{
	for (guint k = 0; k < s->cpus->len; k++) {
		const struct cpu *c = cpu_at(s, k);
		if (c->host != t->host || !c->runs || !c->runs->len)
			continue;
		guint i = run_at(c->runs, from), end = MIN(c->runs->len, i + most);
		for (; i < end; i++) {
			const struct run *r = &g_array_index(c->runs, struct run, i);
			if (r->ts >= to)
				break;
			if (r->ts > from && somebody(s, r->thread) == t->self)
				to = r->ts;
		}
	}
	return to;
}

static guint queued_at(const GArray *log, int64_t ts)	/* first entry at or behind it */
{
	guint lo = 0, hi = log ? log->len : 0;
	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;
		if (g_array_index(log, struct queued, mid).ts < ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void runs_runnable(const struct slice *s, const struct thread *t, const struct wait *w, int64_t from,
		   int64_t to, runs_queue tell, void *data)
{
	const GArray *log = t->sched.queued;
	bool preempted = w->cause == WAIT_PART && w->part == PART_PREEMPTED;
	uint16_t queue = w->off_cpu;
	int64_t at = MAX(preempted ? w->begin : w->wake, from), end = MIN(w->end, to);
	for (guint i = queued_at(log, w->begin); log && i < log->len && at < end; i++) {
		const struct queued *q = &g_array_index(log, struct queued, i);
		int64_t until = CLAMP(q->ts, at, end);
		if (q->ts > w->end)
			break;
		if (until > at)
			tell(data, cpu_of(s, t->host, queue), at, until);
		at = until;
		queue = q->cpu;
	}
	/* It ran elsewhere: when it was moved there, nobody saw. */
	if (w->cpu != ID_NONE && queue != sched_cpu(cpu_at(s, w->cpu)))
		queue = CPU_NONE;
	if (at < end)
		tell(data, cpu_of(s, t->host, queue), at, end);
}

/* ---- forgotten ---- */

void runs_forget(struct slice *s, int64_t before)
{
	for (guint i = 0; i < s->cpus->len; i++) {
		struct cpu *c = cpu_at(s, i);
		guint n = c->runs && c->runs->len ? run_at(c->runs, before) : 0;
		if (n)
			g_array_remove_range(c->runs, 0, n);
	}
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		guint n = t->forward == ID_NONE ? queued_at(t->sched.queued, before) : 0;
		if (n)
			g_array_remove_range(t->sched.queued, 0, n);
	}
}
