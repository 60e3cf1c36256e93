/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places of threads that are over: given again, as a run without end would have more and more of
 * them. Only where nothing that is kept names them: who is marked stays. A place is never freed, so
 * that a number that was overlooked is a wrong thread's, not a wild pointer.
 */
#ifndef BLK_STATE_SPARE_H
#define BLK_STATE_SPARE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct slice;
struct thread;

struct spare {
	GArray *free;		/* uint32_t: numbers of threads that nobody is */
	GArray *again;		/* those given since the publisher looked */
	guint kept;		/* threads when it was looked for them last */
};

void spare_init(struct spare *p);
void spare_clear(struct spare *p);

/* A number to give again, or ID_NONE. */
uint32_t spare_take(struct spare *p);

/* Have threads become so many that it is worth looking? */
bool spare_is_due(const struct slice *s);

/* By slot: 1 if logs, facts, annotations, bins or CPUs refer to its thread, else 0. Free with g_free(). Shortens chains
 * of forwarded threads. */
guint8 *spare_mark_used(struct slice *s);

/* Frees the slots of threads that ended before that time (ns) and are not marked. Calls release() just before for each
 * and marks it SPARE_FREED. */
#define SPARE_FREED 2
void spare_free(struct slice *s, guint8 *used, int64_t before, void (*release)(struct thread *t, void *data),
		void *data);

/* Frees the slot for reuse; slice.c. */
void slice_thread_spare(struct slice *s, struct thread *t);
struct thread *thread_new(uint32_t self);	/* thread.c; owned by who asks, of no host yet */
void thread_reset(struct thread *t);		/* as thread_new() made it */

/* Has a loss ended it before anybody said who it was? Nothing will come of it. */
bool spare_is_lost(const struct slice *s, const struct thread *t);

/* Live, without a kernel trace of its host: has the thread had no event since before that time (ns)? There is no event
 * of its end. If it has events later it gets another slot, and the same registry entry. */
bool spare_is_silent(const struct slice *s, const struct thread *t, int64_t before);

#endif
