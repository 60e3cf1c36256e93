/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of a slice, by their ids in the trace.
 *
 * Reuses the slots of ended threads, since a live run creates threads without end. A slot is freed only when nothing
 * retained refers to its thread. The slot's memory is never freed. So an overlooked reference names a wrong thread,
 * but is not a wild pointer.
 */
#ifndef BLK_STATE_KERNEL_THREADS_H
#define BLK_STATE_KERNEL_THREADS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct inner_ids;
struct slice;
struct thread;
struct thread_slots;	/* slice_state.h */

/* The newest thread of the tid. It is created if there is none, or if the newest one has exited. */
struct thread *slice_thread(struct slice *s, uint32_t host, int32_t tid);
/* A new thread, forked at ts. The thread that had the tid before has ended. */
struct thread *slice_thread_born(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
/* The kernel says that the thread has these ids in its pid namespace. */
void slice_inner_is(struct slice *s, struct thread *t, const struct inner_ids *ids);
/* The running thread that has these ids in its pid namespace; NULL: there is none, or there are several. */
struct thread *slice_inner_thread(const struct slice *s, uint32_t host, const struct inner_ids *ids);
/* `caller` called exec at ts and continues as the leader, with this tid. The leader so far has ended. */
struct thread *slice_thread_exec(struct slice *s, struct thread *caller, int32_t tid, int64_t ts, uint64_t seq);
/* The tid is reused: its thread has ended by then, even if its exit is missing. */
void slice_tid_again(struct slice *s, uint32_t host, int32_t tid, int64_t ts, uint64_t seq);
/* slice_anonymous(): a new thread without identity (tid -1), which runs on the CPU. slice_idle(): the CPU's idle
 * task. */
struct thread *slice_anonymous(struct slice *s, struct cpu *c);
struct thread *slice_idle(struct slice *s, struct cpu *c);
int32_t slice_idle_tid(const struct cpu *c);	/* the thread id that its idle task has in slices; in traces it is 0 */

void thread_slots_init(struct thread_slots *p);
void thread_slots_clear(struct thread_slots *p);

/* Are there enough threads to make a search for ended ones worthwhile? */
bool thread_slots_are_due(const struct slice *s);

/* For each slot: 1 if logs, facts, annotations, bins or CPUs refer to its thread, else 0. Free it with g_free().
 * Shortens chains of forwarded threads. */
guint8 *thread_slots_mark_used(struct slice *s);

/* Frees the slots of threads that ended before that time (ns) and are not marked. Calls release() for each just
 * before it is freed, and marks it THREAD_SLOT_FREED. */
#define THREAD_SLOT_FREED 2
void thread_slots_free_ended(struct slice *s, guint8 *used, int64_t before,
			     void (*release)(struct thread *t, void *data), void *data);

/* Was the thread anonymous when a loss began? Then it will not be identified. */
bool thread_is_lost(const struct slice *s, const struct thread *t);

/* Live, without a kernel trace of its host: has the thread had no event since before that time (ns)? No event shows
 * its end. If it has events later, it gets another slot and the same registry entry. */
bool thread_is_silent(const struct slice *s, const struct thread *t, int64_t before);

#endif
