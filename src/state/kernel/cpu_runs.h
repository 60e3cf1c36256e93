/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs: which thread ran on each CPU and when, and on which CPU's run queue a thread waited. They are written only
 * while spans exist that need them.
 *
 * Merging appends logs. A CPU's log begins with an entry at INT64_MIN: the anonymous task of the slice's beginning
 * (struct cpu, .start). Merging drops that entry, since the left neighbour knows the task.
 */
#ifndef BLK_STATE_KERNEL_CPU_RUNS_H
#define BLK_STATE_KERNEL_CPU_RUNS_H

#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"

struct run { int64_t ts; uint32_t thread; };	/* the thread that runs from ts on; ID_NONE: unknown */
struct queued { int64_t ts; uint16_t cpu; };	/* the CPU number where the thread runs or waits from ts on */

/* Are logs needed? In a slice from the trace's beginning only after its first annotation, unless spans may begin before
 * theirs. */
static inline bool slice_keeps_logs(const struct slice *s)
{
	return !s->no_spans && (!s->from_start || s->annots->len || s->looks_back);
}

void runs_add(struct cpu *c, int64_t ts);
void runs_queued(struct thread *t, int64_t ts, uint16_t cpu);

/* c->task runs on the CPU from ts on. */
static inline void cpu_runs(const struct slice *s, struct cpu *c, int64_t ts)
{
	if (G_UNLIKELY(slice_keeps_logs(s)))
		runs_add(c, ts);
}

/*
 * An event shows that the thread is on this CPU's run queue. Only changes are logged: usually it is the CPU where the
 * thread last ran. If the thread's state is not known yet, all are logged: which wakeup counts is decided later.
 */
static inline void thread_queued(const struct slice *s, struct thread *t, int64_t ts, uint16_t cpu)
{
	if (G_UNLIKELY(cpu != t->st.queue_cpu || !t->resolved) && slice_keeps_logs(s))
		runs_queued(t, ts, cpu);
}

void runs_start(const struct slice *s, struct cpu *c);	/* c: a new CPU */
/* The logs of all CPUs begin at ts, with the current tasks: at the first annotation of a slice from the trace's
 * beginning; in a merge at INT64_MIN, before CPUs are joined. */
void runs_begin(struct slice *s, int64_t ts);
void runs_map(struct cpu *b, const uint32_t *thread);	/* maps b's thread ids to a's: thread[id] */
void runs_join(struct cpu *c, const struct cpu *b);	/* appends b's log; its ids must be mapped already */
/* Drops entries that ended before the time (ns). */
void runs_forget(struct slice *s, int64_t before);

/* The CPU where the thread ran after the wait; NULL: unknown. Sets the hint for the next search in its log. */
static inline struct cpu *runs_ran_on(const struct slice *s, const struct wait *w)
{
	struct cpu *c = w->cpu == ID_NONE ? NULL : cpu_at(s, w->cpu);
	if (c)
		c->run_hint = w->run;
	return c;
}

/*
 * Calls callback() for each piece of [from, to), without gaps, with the thread that ran on the CPU. It may be an idle
 * task; ID_NONE: unknown.
 */
typedef void (*runs_piece)(void *data, uint32_t thread, int64_t from, int64_t to);
void runs_between(const struct slice *s, struct cpu *c, int64_t from, int64_t to,
		  runs_piece callback, void *data);

/* The end of the thread's run that contains the instant, on the CPU (NULL: any CPU of its host). The instant itself
 * if no log shows that it ran. */
int64_t runs_until(const struct slice *s, const struct thread *t, struct cpu *c, int64_t at);

/* The instant of the thread's next switch-in in (from, to). `to`: there is none among the next `most` entries of
 * each log. */
int64_t runs_next(const struct slice *s, const struct thread *t, int64_t from, int64_t to, unsigned most);

/* Calls callback() for each piece of the wait in [from, to) in which the thread was runnable. cpu: the CPU of its run
 * queue; NULL: unknown. */
typedef void (*runs_queue)(void *data, struct cpu *cpu, int64_t from, int64_t to);
void runs_runnable(const struct slice *s, struct thread *t, const struct wait *w, int64_t from,
		   int64_t to, runs_queue callback, void *data);

#endif
