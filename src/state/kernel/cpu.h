/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows a CPU: its current task, interrupt handlers, running and idle time, losses. */
#ifndef BLK_STATE_KERNEL_CPU_H
#define BLK_STATE_KERNEL_CPU_H

#include "state/kernel/slice_state.h"

/* A sched_switch. */
struct switching {
	int64_t ts;
	uint64_t seq;
	int32_t prev_tid, next_tid;
	int16_t prev_prio, next_prio;	/* or PRIO_NONE */
	enum off_state prev_state;
};
void cpu_switch(struct slice *s, struct cpu *c, const struct switching *w);
/* The thread with the tid; 0: the CPU's idle task. */
struct thread *cpu_task_of_tid(struct slice *s, struct cpu *c, int32_t tid);
/* What the CPU's time is charged to while t is its task; NULL: unknown. */
enum cpu_kind cpu_kind_of(const struct slice *s, const struct cpu *c, const struct thread *t);
/* An event's context has another tid than the current task; see cpu_context(). */
void cpu_other_task(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid);
/* Merging: b is the same CPU in the slice after s. An event (at b->named_ns, with the number seq) identified b's first
 * task, which is the current task of c. */
void cpu_join_named(struct slice *s, struct cpu *c, const struct cpu *b, uint64_t seq);
/* The thread with the tid is the current task from now on, without a switch: its event is missing, or exec gave the
 * task another tid. The current task must be known. */
void cpu_replace(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid);
/* The thread, which is not the leader, called exec: it continues with this tid, the leader's. */
void cpu_exec(struct slice *s, struct cpu *c, struct thread *caller, int64_t ts, uint64_t seq, int32_t tid);
/* An interrupt handler begins; ends. code: IRQ_* */
void cpu_irq_in(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code);
void cpu_irq_out(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, uint32_t code);
/* For merging: follows a handler without charging the task. */
void cpu_irq_note(struct slice *s, struct cpu *c, const struct irq_note *n);
/* The thread (or ID_NONE) and the interrupt (or 0) that wake the thread `woken` on this CPU now. */
uint32_t cpu_waker(struct slice *s, struct cpu *c, uint32_t woken, uint64_t seq, uint32_t *ret_irq);
bool cpu_waker_is_provisional(const struct slice *s, const struct cpu *c);	/* is that waker provisional? */
void cpu_lost_begin(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq);
void cpu_lost_end(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq);
/* Charges the CPU's time up to the end of a closed second, at most to the end of coverage. */
void cpu_charge(struct slice *s, struct cpu *c, int64_t until);
void cpu_finish(struct slice *s, struct cpu *c, int64_t until);
void cpu_free(struct cpu *c);

/* An event's context has another pid than the current task; see cpu_process(). */
void cpu_other_process(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t pid);
/* Merging: r, the task of the beginning of the slice after s, is unidentified. It is the current task of s, or a thread
 * of another process. */
void cpu_join_anonymous(struct slice *s, struct cpu *c, struct thread *r);

/* The current task, with merges of threads applied; NULL: unknown, since events are lost. */
static inline struct thread *cpu_task(const struct slice *s, struct cpu *c)
{
	if (c->task && c->task->forward != ID_NONE)
		c->task = thread_at(s, c->task->forward);
	return c->task;
}

static inline void cpu_no_irq(struct cpu *c)	/* call it at a call or switch: no handler runs then */
{
	c->irq_known = true;
	c->irq_depth = 0;
	c->raised = 0;
}

/* An event's context has this tid, so it is the running task's. */
static inline void cpu_context(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t tid)
{
	const struct thread *t = cpu_task(s, c);
	if (t && t->task_tid != tid)
		cpu_other_task(s, c, ts, seq, tid);
}

/* An event has no tid, and its context has this pid. If the current task is of another process, it has changed. */
static inline void cpu_process(struct slice *s, struct cpu *c, int64_t ts, uint64_t seq, int32_t pid)
{
	const struct thread *t = cpu_task(s, c);
	int32_t known = t ? thread_process(t) : pid;
	if (known < 0 ? !pid : known != pid)
		cpu_other_process(s, c, ts, seq, pid);
}

/* Converts prev_state of a switch. Its bits depend on the host's kernel version. */
static inline enum off_state off_state_of(const struct slice *s, uint32_t host, int64_t prev_state)
{
	uint32_t flag = g_array_index(s->hosts, struct slice_host, host).preempt_flag;
	if (prev_state == 0 || (prev_state & flag))
		return OFF_PREEMPTED;
	/* EXIT_DEAD 16, EXIT_ZOMBIE 32; before Linux 4.14 also TASK_DEAD 64 */
	if (prev_state & (flag == 256 ? 16 | 32 : 16 | 32 | 64))
		return OFF_DEAD;
	return prev_state & (4 | 8) ? OFF_STOPPED : OFF_BLOCKED;	/* __TASK_STOPPED, __TASK_TRACED */
}

/* Index of the CPU, which is created if it is new. */
uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number);

#endif
