/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ran on each CPU when, and on which CPU's run queue a thread waited: logs, kept while
 * there are spans to be explained by them. Only for src/state/.
 *
 * Logs of neighbours are appended. A slice's CPU begins with an entry at INT64_MIN: the
 * task that the left neighbour knows (struct cpu, .start); stitching drops it.
 */
#ifndef BLK_STATE_KERNEL_CPU_RUNS_H
#define BLK_STATE_KERNEL_CPU_RUNS_H

#include "state/kernel/thread_logs.h"
#include "state/slice/slice_state.h"

struct run { int64_t ts; uint32_t thread; };	/* runs since then; ID_NONE: not known */
struct queued { int64_t ts; uint16_t cpu; };	/* a thread that is, or waits, on that CPU since */

/* May anybody ask what happened now? Of a rooted slice nobody may, before its first span. */
static inline bool slice_keeps_logs(const struct slice *s)
{
	return !s->no_spans && (!s->from_start || s->annots->len);
}

void runs_add(struct cpu *c, int64_t ts);
void runs_queued(struct thread *t, int64_t ts, uint16_t cpu);

/* Since ts c->task runs there. */
static inline void cpu_runs(const struct slice *s, struct cpu *c, int64_t ts)
{
	if (G_UNLIKELY(slice_keeps_logs(s)))
		runs_add(c, ts);
}

/*
 * The trace says on which CPU's queue it is. That is where it ran last, mostly; of a thread
 * that is not hard nobody knows which wakeup will count.
 */
static inline void thread_queued(const struct slice *s, struct thread *t, int64_t ts, uint16_t cpu)
{
	if (G_UNLIKELY(cpu != t->st.queue_cpu || !t->hard) && slice_keeps_logs(s))
		runs_queued(t, ts, cpu);
}

void runs_start(const struct slice *s, struct cpu *c);	/* of a new CPU */
/* A rooted slice's first span began: from here on logs are kept. */
void runs_begin(struct slice *s, int64_t ts);
/* Before the CPUs are joined: a's logs, which are kept from now on, begin with its tasks. */
void runs_begin_join(struct slice *a);
void runs_map(struct cpu *b, const uint32_t *thread);	/* to a's threads */
void runs_join(struct cpu *c, const struct cpu *b);	/* b's, mapped, to a's */
void runs_forget(struct slice *s, int64_t before);

/* Where the thread ran again; what is asked of that CPU next is near there, mostly. NULL: not known. */
static inline struct cpu *runs_ran_on(const struct slice *s, const struct wait *w)
{
	struct cpu *c = w->cpu == ID_NONE ? NULL : cpu_at(s, w->cpu);
	if (c)
		c->run_hint = w->run;
	return c;
}

/*
 * Who ran on the CPU within [from, to), piece by piece, without gaps. thread: ID_NONE where
 * that is not known; else it may be an idle task.
 */
typedef void (*runs_piece)(void *data, uint32_t thread, int64_t from, int64_t to);
void runs_between(const struct slice *s, struct cpu *c, int64_t from, int64_t to,
		  runs_piece tell, void *data);

/* Until when the thread, which runs on some CPU (NULL: whichever) of its host at the instant, ran on there;
 * the instant itself where nobody knows that it did. */
int64_t runs_until(const struct slice *s, const struct thread *t, struct cpu *c, int64_t at);

/* When it is switched in somewhere within (from, to); to: never, or `most` entries of a log do not tell. */
int64_t runs_next(const struct slice *s, const struct thread *t, int64_t from, int64_t to, unsigned most);

/* When it could have run within the wait, piece by piece; cpu: on whose queue, NULL: unknown. */
typedef void (*runs_queue)(void *data, struct cpu *cpu, int64_t from, int64_t to);
void runs_runnable(const struct slice *s, struct thread *t, const struct wait *w, int64_t from,
		   int64_t to, runs_queue tell, void *data);

#endif
