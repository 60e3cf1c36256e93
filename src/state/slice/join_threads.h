/* SPDX-License-Identifier: GPL-2.0-only */
/* Merging two parts of one thread: the earlier (left) takes over the later (right). */
#ifndef BLK_STATE_SLICE_JOIN_THREADS_H
#define BLK_STATE_SLICE_JOIN_THREADS_H

struct slice;
struct thread;

/* r becomes the continuation of l; from then on r forwards to l. */
void thread_append(struct slice *s, struct thread *l, struct thread *r);
/* A thread of a later slice that has no left part: its log is that of a slice that starts the trace, as s does. */
void thread_drop_calls_outside(struct slice *s, struct thread *t);

#endif
