/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which thread made the event that is being handled. For a kernel event it is the current task of its CPU. The event's
 * contexts confirm that task, correct it, or identify it. For a user space event it is the same task if the kernel is
 * traced; else it is the thread of the event's own contexts.
 */
#ifndef BLK_STATE_KERNEL_EVENT_TASK_H
#define BLK_STATE_KERNEL_EVENT_TASK_H

#include "state/kernel/event_class.h"
#include "state/kernel/thread_types.h"

#include <string.h>

/* Applies the contexts of a kernel event. Returns the CPU's current task; NULL: unknown. */
struct thread *event_task(struct fed_event *f);

/* The current task of the event's CPU, by the kernel trace; else the thread of a user space event's vtid; NULL:
 * unknown. */
struct thread *user_thread(struct fed_event *f, bool *ret_by_kernel);
/* Of a user space event: from its context or its buffer; -1: unknown. */
int32_t user_pid(const struct fed_event *f);
void user_learn(struct fed_event *f, struct thread *t);	/* its name and process, if no kernel trace provides them */

/* blk_int_or() with the common case inline. */
static inline int64_t event_int(const struct blk_event *ev, unsigned slot, int64_t absent)
{
	const struct blk_slot_layout *l = &ev->layout->slot[slot];
	const uint8_t *p = ev->data + l->off;
	uint64_t v8;
	uint32_t v4;
	if (l->repr != BLK_INT)
		return absent;
	if (l->big_endian || l->size < 4)
		return blk_int_or(ev, slot, absent);
	if (l->size == 8) {
		memcpy(&v8, p, 8);
		return (int64_t)GUINT64_FROM_LE(v8);
	}
	memcpy(&v4, p, 4);
	v4 = GUINT32_FROM_LE(v4);
	return l->is_signed ? (int64_t)(int32_t)v4 : (int64_t)v4;
}

/* The thread is of that process, and this of that parent (-1: unknown). */
void event_learn_pid(const struct fed_event *f, struct thread *t, int64_t pid, int64_t ppid);
/* The text is the thread's name. */
void event_take_comm(struct fed_event *f, struct thread *t, struct blk_text text);

/* True: the text is the thread's last reported name. False: it may be a new one. */
static inline bool event_same_comm(const struct thread *t, const struct blk_event *ev, unsigned slot)
{
	const struct blk_slot_layout *l = &ev->layout->slot[slot];
	const char *have = (const char *)t->comm.word;
	struct blk_text text;
	if (!t->comm_stored)
		return false;
	if (l->repr == BLK_TEXT_INLINE && l->size >= COMM_BYTES)
		return comm_is(&t->comm, ev->data + l->off);
	text = blk_text(ev, slot);
	return text.len < COMM_BYTES && !have[text.len] && !memcmp(have, text.str, text.len);
}

/* The field's text, if there is one, is the thread's name (NULL is fine). */
static inline void event_learn_comm(struct fed_event *f, struct thread *t, unsigned slot)
{
	if (t && !t->idle && blk_has(f->ev, slot) && !event_same_comm(t, f->ev, slot))
		event_take_comm(f, t, blk_text(f->ev, slot));
}

#endif
