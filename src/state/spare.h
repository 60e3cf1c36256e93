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

/* Marks (used[number] = 1) whom logs, facts, annotations, bins and CPUs name. */
void spare_mark(const struct slice *s, guint8 *used);

/* It is nobody, until its place is given again; slice.c. */
void slice_thread_spare(struct slice *s, struct thread *t);
struct thread *thread_new(uint32_t self);	/* thread.c; owned by who asks, of no host yet */
void thread_reset(struct thread *t);		/* as thread_new() made it */

/* Has a loss ended it before anybody said who it was? Nothing will come of it. */
bool spare_is_lost(const struct slice *s, const struct thread *t);

/* Live, and no kernel tells of it: was it not heard of since before that instant? Nobody says when such a thread
 * ends. It may be heard of again: it gets another place then, and is the same one in the registry. */
bool spare_is_silent(const struct slice *s, const struct thread *t, int64_t before);

/* May its place be given again? It is over since before that instant, and has left nothing; or it
 * turned out to be another thread. Of a slice whose threads are all forwarded at once: spare_follow(). */
bool spare_is_over(const struct slice *s, const struct thread *t, int64_t before);
void spare_follow(struct slice *s);

/* After places were given free: they are nobody's alias. */
void spare_drop_aliases(struct slice *s);

#endif
