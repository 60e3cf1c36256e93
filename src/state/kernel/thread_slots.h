/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reuses the slots of ended threads, since a live run creates threads without end. A slot is freed only when nothing
 * retained refers to its thread. The slot's memory is never freed. So an overlooked reference names a wrong thread,
 * but is not a wild pointer.
 */
#ifndef BLK_STATE_KERNEL_THREAD_SLOTS_H
#define BLK_STATE_KERNEL_THREAD_SLOTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct slice;
struct thread;
struct thread_slots;	/* slice_state.h */

void thread_slots_init(struct thread_slots *p);
void thread_slots_clear(struct thread_slots *p);

/* Takes a free slot; ID_NONE: none is free. */
uint32_t thread_slots_take(struct thread_slots *p);

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
