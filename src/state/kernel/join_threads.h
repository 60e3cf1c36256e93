/* SPDX-License-Identifier: GPL-2.0-only */
/* Merging two parts of one thread: the earlier (left) takes over the later (right). */
#ifndef BLK_STATE_KERNEL_JOIN_THREADS_H
#define BLK_STATE_KERNEL_JOIN_THREADS_H

struct slice;
struct thread;

/* r becomes the continuation of l; from then on r forwards to l. */
void thread_append(struct slice *s, struct thread *l, struct thread *r);
/* The thread's log begins where the trace does, or it has no left part: drops its calls outside of spans. */
void thread_drop_calls_outside(struct slice *s, struct thread *t);

#endif
