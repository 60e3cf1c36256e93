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

/* By number: 1 for the threads that logs, facts, annotations, bins and CPUs name, else 0. Free with g_free(). Where a
 * slice's threads are forwarded, they are so at once from here on. */
guint8 *spare_mark_used(struct slice *s);

/* Frees the slots of the threads that are over since before that instant (ns) and not marked: calls release for each
 * just before. They are marked SPARE_FREED. */
#define SPARE_FREED 2
void spare_free(struct slice *s, guint8 *used, int64_t before, void (*release)(struct thread *t, void *data),
		void *data);

/* Frees the slot for reuse; slice.c. */
void slice_thread_spare(struct slice *s, struct thread *t);
struct thread *thread_new(uint32_t self);	/* thread.c; owned by who asks, of no host yet */
void thread_reset(struct thread *t);		/* as thread_new() made it */

/* Has a loss ended it before anybody said who it was? Nothing will come of it. */
bool spare_is_lost(const struct slice *s, const struct thread *t);

/* Live, and no kernel tells of it: was it not heard of since before that instant? Nobody says when such a thread
 * ends. It may be heard of again: it gets another place then, and is the same one in the registry. */
bool spare_is_silent(const struct slice *s, const struct thread *t, int64_t before);

#endif
